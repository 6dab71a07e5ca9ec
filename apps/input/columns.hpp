// --columns, and the report about an edge list's columns and direction.
#pragma once

#include "cli/flags.hpp"
#include "input/input.hpp"

#include <string>
#include <vector>

namespace spargo {
struct padded_id;
}

namespace spargo::apps {

class report;
struct common_flags;

void add_columns_flag(flag_set app, common_flags& flags);
[[nodiscard]] id_kind ids_of(const common_flags& flags);

// Rows and keys if the file has a header line or gives its direction. `directed`: of the graph.
void report_columns(report& out, const input_description& input, bool directed);

// Names the columns of numbers that are not used and might be weights, and how to use them; empty if there are none.
[[nodiscard]] std::string unused_weights(const input_description& input);

// For input_facts::warnings: at most one, of an id that loses leading zeros.
[[nodiscard]] std::vector<std::string> warnings_of(const padded_id& id);

// Warns of what the reader found, and of an edge list without edges, the key "lists_no_edges".
void report_contents(report& out, const input_description& input, const input_facts& facts);

// The key "ids", and a row if vertices have names.
void report_ids(report& out, const vertex_names& names);

}  // namespace spargo::apps
