#include "cli/completion.hpp"

#include "cli/flags.hpp"
#include "cli/help.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace spargo::apps {

namespace {

// Descriptions are shown in a line beside the flag: the first clause, at most.
std::string first_clause(const std::string& description) {
  constexpr std::size_t width = 70;
  std::string clause = description.substr(0, std::min(description.find("; "), description.find(". ")));
  if (clause.size() > width) clause = clause.substr(0, clause.rfind(' ', width)) + " ...";
  return clause;
}

completed_option completed(CLI::Option& option) {
  completed_option of;
  for (const std::string& name : option.get_lnames()) of.names.push_back("--" + name);
  of.about = first_clause(option.get_description());
  of.type = option.get_positional() ? option.get_name() : option.get_type_name();
  of.takes_value = takes_value(option);
  of.words = words_of(option);
  of.file = option.get_positional() ? of.words.empty()
                                    : of.type == "FILE" || (of.type == "X" && !of.words.empty()) ||
                                          of.type.ends_with(".png") || of.type.ends_with(".html");
  return of;
}

completed_command completed(const command& which) {
  const declared_command declared = declare_command(which, which.name);
  completed_command of{which.name, which.summary, {}, {}};
  for (CLI::Option* option : declared.app->get_options()) {
    if (option->get_positional()) {
      of.arguments.push_back(completed(*option));
    } else if (!option->get_group().empty() && !option->get_lnames().empty()) {
      of.flags.push_back(completed(*option));
    }
  }
  return of;
}

std::string script(shell of, const completed_program& program) {
  switch (of) {
    case shell::zsh:
      return zsh_script(program);
    case shell::fish:
      return fish_script(program);
    default:
      return bash_script(program);
  }
}

}  // namespace

const std::vector<std::string>& shell_names() {
  static const std::vector<std::string> names{"bash", "zsh", "fish"};
  return names;
}

shell shell_of(const std::string& name) {
  const auto at = std::find(shell_names().begin(), shell_names().end(), name);
  return static_cast<shell>(at - shell_names().begin());
}

std::string completed_program::identifier() const {
  std::string text = name;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

std::vector<std::string> generator_prefixes() {
  std::vector<std::string> found;
  std::istringstream words{std::string(help_on_generators)};
  for (std::string word; words >> word;) {
    if (word.starts_with("gen:")) found.push_back(word.substr(0, word.find('=') + 1));
  }
  return found;
}

std::string joined(const std::vector<std::string>& words) { return CLI::detail::join(words, " "); }

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string completion(shell of, const std::vector<const command*>& commands) {
  completed_program program{"spargo", {}, true};
  for (const command* each : commands) program.commands.push_back(completed(*each));
  return script(of, program);
}

std::string completion(shell of, const command& which, const std::string& program) {
  return script(of, {program, {completed(which)}, false});
}

}  // namespace spargo::apps
