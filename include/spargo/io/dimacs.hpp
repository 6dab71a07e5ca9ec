// Graphs of the DIMACS challenges: shortest paths (.gr, the 9th) and colouring (.col, the 2nd).
//
// `c` begins a comment. Either one line `p sp VERTICES ARCS` and as many directed arcs `a SOURCE TARGET WEIGHT`, or `p
// edge VERTICES EDGES` (or `p col`) and as many undirected edges `e U V`, which a file may list from both ends. Lines
// `n`, `d`, `v` and `x` of colouring problems do not describe edges and are skipped. Vertices count from 1. Edge files
// whose problem line counts every edge twice are accepted.
// Limits: lines of at most 1 MiB (comments of any length). One thread parses; memory is up to twice the result.
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class dimacs_problem { shortest_path, edge };

template <index_type I>
struct dimacs_graph {
  dimacs_problem problem = dimacs_problem::shortest_path;
  // Arcs as listed; undirected edges as one triangle, on and below the diagonal, as often as listed, with value 1.
  coo_matrix<double, I, host> entries;
  std::int64_t first_vertex = -1;     // first in the file
  std::int64_t rounded_integers = 0;  // weights that float64 cannot represent exactly
  bool counted_twice = false;         // the problem line counts every edge twice
};

// Throws `io`, `parse` with line and column (also if the number of lines differs from the declared one), or
// `unsupported` for another problem or more vertices than I can hold.
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT dimacs_graph<I> read_dimacs(const context<host>& ctx, const input_file& file,
                                                        const read_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
