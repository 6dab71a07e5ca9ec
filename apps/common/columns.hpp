// --columns, and what a report says of an edge list's columns and direction.
#pragma once

#include "common/input.hpp"

#include <string>

namespace CLI {
class App;
}

namespace spargo::apps {

class report;

void add_columns_flag(CLI::App& app, std::string& columns);

// Rows and keys where the file has a header line or says whether its edges are directed; nothing for other inputs.
// `directed`: what the graph is.
void report_columns(report& out, const input_description& input, bool directed);

}  // namespace spargo::apps
