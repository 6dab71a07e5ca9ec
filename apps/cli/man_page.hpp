// Manual pages, generated from the commands' flags and closing help paragraphs.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace spargo::apps {

[[nodiscard]] std::string man_page(const std::vector<const command*>& commands);

// spargo-NAME(1).
[[nodiscard]] std::string man_page(const command& which);

}  // namespace spargo::apps
