#include "cli/help.hpp"

#include "cli/flags.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>
#include <utility>

namespace spargo::apps {

void append_wrapped(std::string& to, std::string_view text, std::size_t indent, std::size_t used, std::size_t width) {
  std::istringstream words{std::string(text)};
  bool fresh = true;  // only indentation on this line so far
  for (std::string word; words >> word;) {
    if (!fresh && used + 1 + word.size() > width) {
      to += "\n" + std::string(indent, ' ');
      used = indent;
      fresh = true;
    }
    if (!fresh) to += ' ';
    to += word;
    used += word.size() + (fresh ? 0 : 1);
    fresh = false;
  }
  to += '\n';
}

namespace {

bool names_word(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; at += word.size()) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string with_words(std::string text, const CLI::Option& option) {
  auto& checked = const_cast<CLI::Option&>(option);  // NOLINT(cppcoreguidelines-pro-type-const-cast): CLI11's getters
  std::vector<std::string> missing = words_of(checked);
  const std::size_t all = missing.size();
  missing.erase(
      std::remove_if(missing.begin(), missing.end(), [&](const auto& word) { return names_word(text, word); }),
      missing.end());
  if (missing.empty()) return text;
  std::string other = "?";
  const bool takes_others = (*checked.get_validator(0))(other).empty();
  if (!text.empty()) text += missing.size() == all && !takes_others ? ": " : "; also ";
  for (std::size_t k = 0; k < missing.size(); ++k) {
    text += (k == 0 ? "" : k + 1 < missing.size() ? ", " : " or ") + missing[k];
  }
  return text;
}

namespace {

class help_formatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    std::string text;
    append_wrapped(text, app->get_description(), 0, 0);
    return text + "\n";
  }

  // A command's own options come before the common ones.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::vector<std::string> groups = app->get_groups();
    std::stable_partition(groups.begin(), groups.end(),
                          [](const std::string& g) { return g != help_style::shared_group; });
    std::stable_partition(groups.begin(), groups.end(), [](const std::string& g) { return g == "Options"; });
    std::string text = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
    for (const std::string& group : groups) {
      const auto members =
          app->get_options([&](const CLI::Option* o) { return o->get_group() == group && o->nonpositional(); });
      if (!group.empty() && !members.empty()) text += make_group(group, false, members);  // else hidden
    }
    return text + "\n" + make_footer(app);
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    std::string text = "  " + (positional ? make_option_name(option, true) : names_of(*option));
    if (!positional) text += make_option_opts(option);
    const std::size_t indent = help_style::names + 2;
    if (text.size() + 2 > indent) {
      text += "\n" + std::string(indent, ' ');
    } else {
      text.resize(indent, ' ');
    }
    append_wrapped(text, with_words(option->get_description(), *option), indent, indent);
    return text;
  }

  // "-h, --help"; alternative spellings are accepted but not shown.
  static std::string names_of(const CLI::Option& option) {
    std::string text;
    for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
    if (option.get_lnames().empty()) return text;
    return text + (text.empty() ? "--" : ", --") + option.get_lnames().front();
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0 && !option->get_type_name().empty()) text += " " + option->get_type_name();
    if (option->get_type_size() != 0 && !option->get_default_str().empty()) text += "=" + option->get_default_str();
    return text;
  }
};

}  // namespace

void use_help_format(CLI::App& app) {
  const auto formatter = std::make_shared<help_formatter>();
  formatter->label("Positionals", "Arguments");
  app.formatter(formatter);
}

std::string flags_in_line(const CLI::App& app, flag_owner owner) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    const bool shared = option->get_group() == help_style::shared_group;
    if (option->get_positional() || option->get_group().empty() || shared != (owner == flag_owner::all)) continue;
    if (!option->get_lnames().empty()) text += " --" + option->get_lnames().front();
  }
  return text;
}

std::string help_examples(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::string text = "Examples:\n";
  for (const std::string& each : arguments) text += "  " + app.get_name() + " " + each + "\n";
  return text + "\n";
}

}  // namespace spargo::apps
