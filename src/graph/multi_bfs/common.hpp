// Shared by the host and device multi-source searches: checks, the choice of word count and direction, and counters.
#pragma once

#include <spargo/graph/multi_bfs.hpp>

#include "graph/bfs/common.hpp"

#include <algorithm>
#include <cstdint>

namespace spargo::detail::multi_bfs {

struct choice {
  multi_bfs_algorithm algorithm = multi_bfs_algorithm::one_word;  // never automatic
  bfs_direction direction = bfs_direction::push;                  // automatic: chosen per level; else forced

  [[nodiscard]] int words() const { return algorithm == multi_bfs_algorithm::four_words ? 4 : 1; }
  [[nodiscard]] std::int64_t batch() const { return 64 * words(); }
};

// Throws unsupported for a forced pull that the graph does not allow, invalid_argument unless max_sources >= 1.
[[nodiscard]] choice choose(bool can_pull, std::int64_t max_sources, const multi_bfs_options& options);

// Throws invalid_argument if there are more than max_sources.
void check_sources(std::int64_t sources, std::int64_t max_sources);

// Direction of a level. A push costs the frontier's edges, each an atomic or a random write. A pull visits every vertex
// and costs at worst the in-edges of vertices that some search has not reached: a vertex stops once it is complete.
struct level_facts {
  std::int64_t vertices = 0;          // of the graph
  std::int64_t frontier_edges = 0;    // out-edges of vertices that some search has just reached
  std::int64_t unfinished_edges = 0;  // in-edges of vertices that some search has not reached
};

[[nodiscard]] SPARGO_HD constexpr bool pulls(const level_facts& f, std::int64_t alpha) {
  return f.frontier_edges > (f.unfinished_edges + f.vertices) / alpha;
}

// Whether to look for lagging searches before a pull: listing their vertices scans all vertices, and only a pull of
// many edges can save more. `edges` of the graph.
[[nodiscard]] SPARGO_HD constexpr bool may_split(const level_facts& f, std::int64_t edges) {
  return f.frontier_edges > edges / 4;
}

// Adds `found` vertices at `level` to a source's counts.
SPARGO_HD inline void add_level(multi_bfs_counts& to, std::int64_t found, std::int32_t level) {
  if (found == 0) return;
  to.reached += found;
  to.distance_sum += found * level;
  to.eccentricity = level;
}

// Of one vertex, over the sources of all runs so far that reach it, itself excluded.
struct distance_sum {
  std::int64_t weighted = 0;  // sum of sum_rule::weight of the distances
  std::int64_t sources = 0;   // their number
};

// Distances are summed, or their inverses in fixed point: integers, so that the order of additions does not matter and
// both backends get the same bits.
struct sum_rule {
  double scale = 0;  // 0: distances; else a power of two: inverses times `scale`, each rounded

  [[nodiscard]] SPARGO_HD std::int64_t weight(std::int64_t distance) const {
    return scale == 0 ? distance : static_cast<std::int64_t>(scale / static_cast<double>(distance) + 0.5);
  }
};

}  // namespace spargo::detail::multi_bfs
