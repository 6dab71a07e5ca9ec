// Completion for bash, written from the commands' flags: no word of them stands anywhere else.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace spargo::apps {

// A script that completes `spargo`: its commands, and each one's flags, values and files.
[[nodiscard]] std::string bash_completion(const std::vector<const command*>& commands);

// The same for a program that is one command.
[[nodiscard]] std::string bash_completion(const command& which, const std::string& program);

}  // namespace spargo::apps
