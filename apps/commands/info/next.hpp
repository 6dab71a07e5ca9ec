// What to try after `info`.
#pragma once

#include "cli/report.hpp"
#include "input/input.hpp"

#include <string>

namespace spargo::apps {

// Rows of commands for this input, which the report's keys describe. Nothing for a stream, which is gone. `flags`: how
// to read the file, as in " --undirected".
void suggest_next(report& out, const input_description& input, bool graph, const std::string& flags);

}  // namespace spargo::apps
