// Graphs of the DIMACS challenges: shortest paths (.gr, the 9th) and colouring (.col, the 2nd).
//
// `c` begins a comment. One line `p sp VERTICES ARCS` and as many `a SOURCE TARGET WEIGHT`, which are directed; or
// `p edge VERTICES EDGES` (or `p col`) and as many `e U V`, which are not; a file may list these from both ends. Lines
// `n`, `d`, `v` and `x` of colouring problems, which say nothing of edges, are passed over. Vertices count from 1. The
// problem line of some edge files counts every edge twice: they are read.
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
  // Arcs as listed; or of undirected edges a triangle, on and below the diagonal, as often as listed, all 1.
  coo_matrix<double, I, host> entries;
  std::int64_t first_vertex = -1;     // the first one named
  std::int64_t rounded_integers = 0;  // weights past what float64 holds exactly
  bool counted_twice = false;         // the problem line has twice the number of edges that are listed
};

// Throws `io`, `parse` with line and column (also where the number of lines is not the declared one), or `unsupported`
// for another problem and for more vertices than I holds.
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT dimacs_graph<I> read_dimacs(const context<host>& ctx, const input_file& file,
                                                        const read_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
