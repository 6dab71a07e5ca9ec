#include "cli/usage.hpp"

#include "cli/flags.hpp"
#include "cli/help.hpp"
#include "cli/nearest.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace spargo::apps {

namespace {

// Common flags listed in short help.
constexpr std::array<std::string_view, 9> most_used = {"output", "device", "devices", "threads",   "json",
                                                       "report", "top",    "print",   "undirected"};

bool is_main(const CLI::Option& option) {
  if (option.get_positional() || option.get_group() == "Options") return true;
  const std::vector<std::string>& names = option.get_lnames();
  return !names.empty() && std::find(most_used.begin(), most_used.end(), names.front()) != most_used.end();
}

// The first "; " outside parentheses; npos: none.
std::size_t end_of_clause(std::string_view text) {
  int depth = 0;
  for (std::size_t k = 0; k + 1 < text.size(); ++k) {
    depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
    if (depth == 0 && text.substr(k, 2) == "; ") return k;
  }
  return std::string_view::npos;
}

// "none" of "none" and of "none: nothing is divided"; empty for other clauses.
std::string_view choice_of(std::string_view text) {
  const std::string_view words = text.substr(0, std::min(text.find(": "), text.size()));
  const bool explained = words.size() < text.size();
  const bool named = words.find_first_of(explained ? "(,=" : " (,=") == std::string_view::npos;
  return named && words != "default" && std::count(words.begin(), words.end(), ' ') <= 2 ? words : std::string_view();
}

// The first clause, or more if it is too short; of "cg: ...; minres: ..." the other names as well.
std::string clause(std::string description) {
  constexpr std::size_t least = 16;
  constexpr std::string_view below = " (see below)";
  if (description.ends_with(below)) description.resize(description.size() - below.size());
  const std::size_t end = end_of_clause(description);
  if (end == std::string::npos || end < least) return description;
  std::string text = description.substr(0, end);
  std::string others;
  for (std::string_view rest = description; !choice_of(text).empty();) {
    const std::size_t next = end_of_clause(rest);
    if (next == std::string_view::npos) return text + "; also " + others;
    rest.remove_prefix(next + 2);
    const std::string_view name = choice_of(rest.substr(0, std::min(end_of_clause(rest), rest.size())));
    if (name.empty()) break;
    others += (others.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

// "  --damping D            the share of ..."
std::string line_of(const CLI::Option& option) {
  std::string text = "  ";
  if (option.get_positional()) {
    text += option.get_name();
  } else {
    text += "--" + option.get_lnames().front();
    if (takes_value(option)) text += " " + option.get_type_name();
  }
  const std::size_t indent = help_style::names + 2;
  if (text.size() + 2 > indent) {
    text += "\n" + std::string(indent, ' ');
  } else {
    text.resize(indent, ' ');
  }
  append_wrapped(text, with_words(clause(option.get_description()), option), indent, indent);
  return text;
}

std::string first_example(const std::string& footer) {
  constexpr std::string_view title = "Examples:\n";
  const std::size_t at = footer.find(title);
  if (at == std::string::npos) return {};
  const std::size_t first = at + title.size();
  return footer.substr(first, footer.find('\n', first) - first);
}

std::vector<std::string_view> flags_of(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.emplace_back(name);
  }
  return names;
}

// The flag that a single letter may mean: one that begins with it, preferably one that all commands have.
std::string_view flag_of(char letter, const std::vector<std::string_view>& known) {
  const auto begins = [&](std::string_view name) { return name.starts_with(letter); };
  for (const std::string_view name : most_used) {
    if (begins(name) && std::find(known.begin(), known.end(), name) != known.end()) return name;
  }
  const auto first = std::find_if(known.begin(), known.end(), begins);
  return first == known.end() ? std::string_view() : *first;
}

// "--top", or "--toleranse (did you mean --tolerance?)". `on_ranks`: of a command that several processes run.
std::string unknown(const std::string& flag, const std::vector<std::string_view>& known, bool on_ranks) {
  const std::size_t dashes = flag.find_first_not_of('-');
  const std::string name = flag.substr(0, flag.find('='));
  const std::string_view word = std::string_view(name).substr(std::min(dashes, name.size()));
  std::string_view nearest = word.size() == 1 ? flag_of(word[0], known) : nearest_word(word, known);
  // What other programs call it.
  if (word == "ranks") {
    return name + (on_ranks ? " (of spargo plan; mpirun -n P runs P processes)" : " (not on several processes)");
  }
  if (word == "devices") return name + " (not on several GPUs; did you mean --device?)";
  const auto has = [&](std::string_view each) { return std::find(known.begin(), known.end(), each) != known.end(); };
  if (word == "format" && has("print")) nearest = "print";
  if (word == "picture" || word == "png" || word == "svg" || word == "draw" || (word == "plot" && !has("plot"))) {
    for (const std::string_view each : {"report", "spy", "plot", "image"}) nearest = has(each) ? each : nearest;
  }
  return nearest.empty() ? name : fmt::format("{} (did you mean --{}?)", name, nearest);
}

bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.' && word != "--";
}

// CLI11's "Could not convert: --p = x": only numbers are converted.
std::string no_number(const std::string& what) {
  const std::size_t name = what.find("--");
  const std::size_t equals = what.find(" = ", name);
  if (name == std::string::npos || equals == std::string::npos) return what;
  const std::string value = what.substr(equals + 3);
  double number = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = end == value.data() + value.size() && !value.empty() && status != std::errc::invalid_argument;
  return fmt::format("{}: {} is {}", what.substr(name, equals - name), value,
                     is_number ? "out of range (expected a whole number of 0 or more)" : "not a number");
}

// CLI11's "--top: 1 required K missing".
std::string no_value(const std::string& what) {
  constexpr std::string_view before = ": 1 required ";
  constexpr std::string_view after = " missing";
  const std::size_t at = what.find(before);
  if (at == std::string::npos || !what.ends_with(after)) return what;
  const std::size_t type = at + before.size();
  return fmt::format("{} takes a value, {}, and none follows", what.substr(0, at),
                     what.substr(type, what.size() - after.size() - type));
}

}  // namespace

std::string short_help(const CLI::App& app, const std::string& command) {
  std::string text;
  append_wrapped(text, app.get_description(), 0, 0);
  text += "\nUsage: " + app.get_name() + " [OPTIONS]";
  std::string arguments;
  std::string flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || !is_main(*option)) continue;
    if (option->get_positional()) {
      text += option->get_required() ? " " + option->get_name() : " [" + option->get_name() + "]";
      arguments += line_of(*option);
    } else if (!option->get_lnames().empty()) {
      flags += line_of(*option);
    }
  }
  text += "\n" + arguments + (flags.empty() ? "" : "\nMain flags:\n" + flags);
  const std::string example = first_example(app.get_footer());
  if (!example.empty()) text += "\nExample:\n" + example + "\n";
  append_wrapped(text += "\n", "All flags, inputs and exit codes: spargo help " + command, 0, 0);
  return text;
}

std::string flag_as_value(const CLI::App& app) {
  const std::vector<std::string_view> known = flags_of(app);
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.starts_with("--")) continue;
      const std::string_view name = std::string_view(value).substr(2, value.find('=') - 2);
      if (std::find(known.begin(), known.end(), name) == known.end()) continue;
      return fmt::format("{} takes a value, and {} follows", option->get_name(), value);
    }
  }
  return {};
}

std::string explain(const CLI::App& app, const CLI::ParseError& e) {
  if (std::string swallowed = flag_as_value(app); !swallowed.empty()) return swallowed;
  const std::vector<std::string> words = app.remaining();
  std::string flags;
  std::string others;
  const std::vector<std::string_view> known = flags_of(app);
  const bool on_ranks = app.get_footer().starts_with("Started by mpirun");  // declare_command
  for (const std::string& word : words) {
    std::string& to = is_flag(word) ? flags : others;
    to += (to.empty() ? "" : ", ") + (is_flag(word) ? unknown(word, known, on_ranks) : word);
  }
  // CLI11 reports a missing argument before an unknown flag.
  if (!flags.empty()) return "unknown flag: " + flags;
  if (dynamic_cast<const CLI::ConversionError*>(&e) != nullptr) return no_number(e.what());
  if (dynamic_cast<const CLI::ExtrasError*>(&e) == nullptr) return no_value(e.what());
  return "unexpected argument: " + others;
}

}  // namespace spargo::apps
