// Any input as an unweighted graph.
#pragma once

#include "input/read.hpp"

#include <spargo/graph/graph.hpp>

#include <cstdint>
#include <variant>

namespace spargo::apps {

using any_graph = std::variant<graph<std::int32_t, std::int32_t, host>, graph<std::int32_t, std::int64_t, host>,
                               graph<std::int64_t, std::int64_t, host>>;

// Whether the input is a graph, not a matrix: a graph as text, a snapshot with ids, or a generated graph.
[[nodiscard]] bool is_graph(const input_description& input);

// Throws invalid_data.
void expect_square(const input_description& input);
void expect_square(std::int64_t rows, std::int64_t cols, const std::string& name);

// The edges, through the cache if it is on. Throws invalid_data if the matrix is not square.
[[nodiscard]] any_coo<pattern> read_graph_entries(const context<host>& ctx, const input_description& input,
                                                  const read_options& options, input_cache& cache);

// Builds the graph and frees the entries. A triangle is expanded for a directed graph only.
[[nodiscard]] any_graph make_graph(const context<host>& ctx, any_coo<pattern> read, const graph_options& options);

}  // namespace spargo::apps
