// Completion for fish: a line for each command, flag and argument.
#include "cli/completion.hpp"

#include <fmt/format.h>

namespace spargo::apps {

namespace {

std::string in_quotes(std::string text) {
  text = replaced(text, "\\", "\\\\");
  return "'" + replaced(text, "'", "\\'") + "'";
}

// -x: a value and no files; -r -F: a value, files too.
std::string values_of(const completed_option& option) {
  std::string text = option.file ? " -r -F" : " -x";
  if (!option.words.empty()) text += " -a " + in_quotes(joined(option.words));
  return text;
}

void add(const completed_command& of, const std::string& begins, std::string& to) {
  for (const completed_option& flag : of.flags) {
    to += begins + " -l " + flag.names.front().substr(2) + (flag.takes_value ? values_of(flag) : "") + " -d " +
          in_quotes(flag.about) + "\n";
  }
  for (const completed_option& argument : of.arguments) {
    if (!argument.words.empty()) to += begins + " -a " + in_quotes(joined(argument.words)) + "\n";
    if (argument.file) to += begins + " -F -a " + in_quotes(joined(generator_prefixes())) + "\n";
  }
}

}  // namespace

std::string fish_script(const completed_program& of) {
  const std::string complete = "complete -c " + of.name;
  std::string text = fmt::format(
      "# Completion of {0} for fish; written by `spargo help --completion fish`.\n\n{1} -f\n", of.name, complete);
  if (!of.by_command) {
    add(of.commands.front(), complete, text);
    return text;
  }
  const std::string function = "__" + of.identifier() + "_command";
  text += fmt::format(
      "\n# Whether the command is this one; without an argument, whether there is none yet.\n"
      "function {}\n    set -l words (commandline -opc)\n    test \"$words[2..2]\" = \"$argv[1..1]\"\nend\n\n",
      function);
  for (const completed_command& each : of.commands) {
    text += fmt::format("{} -n {} -a {} -d {}\n", complete, function, each.name, in_quotes(each.about));
  }
  text += fmt::format("{0} -n {1} -l help\n{0} -n {1} -l version\n", complete, function);
  for (const completed_command& each : of.commands)
    add(each, fmt::format("{} -n '{} {}'", complete, function, each.name), text);
  return text;
}

}  // namespace spargo::apps
