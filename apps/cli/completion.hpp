// Bash completion, generated from the commands' flags.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace spargo::apps {

// A script that completes `spargo`: its commands with their flags, values and files.
[[nodiscard]] std::string bash_completion(const std::vector<const command*>& commands);

// The same for a single-command program.
[[nodiscard]] std::string bash_completion(const command& which, const std::string& program);

}  // namespace spargo::apps
