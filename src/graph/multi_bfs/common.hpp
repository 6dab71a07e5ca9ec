// What the host and the device multi-source search share: checks, the choice of a width and of a direction, and
// the bookkeeping of counts.
#pragma once

#include <spargo/graph/multi_bfs.hpp>

#include "graph/bfs/common.hpp"

#include <algorithm>
#include <cstdint>

namespace spargo::detail::multi_bfs {

struct choice {
  multi_bfs_algorithm algorithm = multi_bfs_algorithm::one_word;  // never automatic
  bfs_direction direction = bfs_direction::push;                  // automatic: level by level; else forced

  [[nodiscard]] int words() const { return algorithm == multi_bfs_algorithm::four_words ? 4 : 1; }
  [[nodiscard]] std::int64_t batch() const { return 64 * words(); }
};

// Throws unsupported when a pull is forced that the graph cannot do, invalid_argument unless max_sources >= 1.
[[nodiscard]] choice choose(bool can_pull, std::int64_t max_sources, const multi_bfs_options& options);

// Throws invalid_argument when there are more than max_sources.
void check_sources(std::int64_t sources, std::int64_t max_sources);

// Which way a level should be walked. Pushing costs the edges of the frontier, each an atomic or a random write;
// pulling costs the edges of the vertices that some search has yet to find (at worst: a vertex stops at the neighbour
// that completes it) and a look at every vertex.
struct level_facts {
  std::int64_t vertices = 0;          // of the graph
  std::int64_t frontier_edges = 0;    // out-edges of the vertices that some search has just found
  std::int64_t unfinished_edges = 0;  // in-edges of the vertices that some search has not found
};

[[nodiscard]] SPARGO_HD constexpr bool pulls(const level_facts& f, std::int64_t alpha) {
  return f.frontier_edges > (f.unfinished_edges + f.vertices) / alpha;
}

// Whether it pays to look for searches that lag before a pull: finding their vertices costs a look at all of them, and
// only a pull of many edges can save more. `edges` of the graph.
[[nodiscard]] SPARGO_HD constexpr bool may_split(const level_facts& f, std::int64_t edges) {
  return f.frontier_edges > edges / 4;
}

// Adds to a source's counts that it has found `found` vertices at `level`.
SPARGO_HD inline void add_level(multi_bfs_counts& to, std::int64_t found, std::int32_t level) {
  if (found == 0) return;
  to.reached += found;
  to.distance_sum += found * level;
  to.eccentricity = level;
}

}  // namespace spargo::detail::multi_bfs
