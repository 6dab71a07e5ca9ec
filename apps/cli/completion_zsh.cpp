// Completion for zsh: a function for each command, whose flags _arguments knows.
#include "cli/completion.hpp"

#include <fmt/format.h>

namespace spargo::apps {

namespace {

std::string in_quotes(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// Text within a specification of _arguments or _describe.
std::string escaped(std::string text) {
  text = replaced(text, "\\", "\\\\");
  for (const char* special : {"[", "]", ":"}) text = replaced(text, special, std::string("\\") + special);
  return text;
}

// What completes a value: words, files, or nothing (the message with the type).
std::string action_of(const completed_option& option, const char* files) {
  const std::string words = joined(option.words);
  if (!option.file) return words.empty() ? " " : "(" + words + ")";
  return words.empty() ? files : "{compadd -- " + words + "; " + files + "}";
}

std::string arguments_of(const completed_command& of, const std::string& inputs) {
  std::string text = "  _arguments -S";
  for (const completed_option& flag : of.flags) {
    std::string spec = flag.names.front() + (flag.takes_value ? "=" : "") + "[" + escaped(flag.about) + "]";
    if (flag.takes_value) spec += ":" + escaped(flag.type) + ":" + action_of(flag, "_files");
    text += " \\\n    " + in_quotes(spec);
  }
  for (std::size_t k = 0; k < of.arguments.size(); ++k) {
    const completed_option& each = of.arguments[k];
    text +=
        " \\\n    " + in_quotes(fmt::format("{}:{}:{}", k + 1, escaped(each.type), action_of(each, inputs.c_str())));
  }
  return text + "\n";
}

}  // namespace

std::string zsh_script(const completed_program& of) {
  const std::string function = "_" + of.identifier();
  std::string text = fmt::format(
      "#compdef {0}\n# Completion of {0} for zsh; written by `spargo help --completion zsh`.\n\n"
      "{1}_inputs() {{\n  _files\n  compadd -S '' -- {2}\n}}\n",
      of.name, function, joined(generator_prefixes()));
  for (const completed_command& each : of.commands) {
    text += fmt::format("\n{}-{}() {{\n{}}}\n", function, each.name, arguments_of(each, function + "_inputs"));
  }
  text += fmt::format("\n{}() {{\n", function);
  if (of.by_command) {
    text += "  if ((CURRENT == 2)); then\n    local -a commands=(\n";
    for (const completed_command& each : of.commands) {
      text += "      " + in_quotes(each.name + ":" + escaped(each.about)) + "\n";
    }
    text += fmt::format(
        "    )\n    _describe -t commands command commands\n"
        "    return\n  fi\n"
        "  local command={}-$words[2]\n  (($+functions[$command])) || return 1\n"
        "  shift words\n  ((CURRENT--))\n  $command\n}}\n",
        function);
  } else {
    text += fmt::format("  {}-{}\n}}\n", function, of.commands.front().name);
  }
  // Loaded from a folder of fpath its first call completes; sourced, it registers itself.
  return text + fmt::format("\nif [[ $funcstack[1] == {0} ]]; then\n  {0} \"$@\"\nelse\n  compdef {0} {1}\nfi\n",
                            function, of.name);
}

}  // namespace spargo::apps
