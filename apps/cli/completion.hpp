// Completion for shells, generated from the commands' flags.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

enum class shell { bash, zsh, fish };
[[nodiscard]] const std::vector<std::string>& shell_names();
[[nodiscard]] shell shell_of(const std::string& name);  // one of shell_names()

// A script that completes `spargo`: its commands with their flags, values and files.
[[nodiscard]] std::string completion(shell of, const std::vector<const command*>& commands);

// The same for a single-command program.
[[nodiscard]] std::string completion(shell of, const command& which, const std::string& program);

// The input of all three scripts.
struct completed_option {
  std::vector<std::string> names;  // "--device"; empty for an argument
  std::string about;               // the first clause of its description
  std::string type;                // "DEVICE"
  bool takes_value = false;
  std::vector<std::string> words;  // possible or suggested values
  bool file = false;               // a value may be a file's name
};
struct completed_command {
  std::string name;
  std::string about;
  std::vector<completed_option> flags;  // without hidden ones
  std::vector<completed_option> arguments;
};
struct completed_program {
  std::string name;
  std::vector<completed_command> commands;
  bool by_command = true;  // the first argument is the command's name; else there is one command

  // For names of shell functions.
  [[nodiscard]] std::string identifier() const;
};

[[nodiscard]] std::string bash_script(const completed_program& of);
[[nodiscard]] std::string zsh_script(const completed_program& of);
[[nodiscard]] std::string fish_script(const completed_program& of);

// "gen:rmat:scale=" and so on: the part that is common to all specs.
[[nodiscard]] std::vector<std::string> generator_prefixes();

[[nodiscard]] std::string joined(const std::vector<std::string>& words);
[[nodiscard]] std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace spargo::apps
