// The choice between push and pull in a direction-optimizing search: one pure rule for the host and the device.
//
// A push costs the out-edges of the frontier. A pull costs at worst the edges of all unreached vertices, but stops at a
// vertex's first reached neighbour, so it wins when the frontier holds a fair share of the unexplored edges. The search
// returns to pushing once the frontier is small and shrinking, since a pull visits every unreached vertex regardless of
// the frontier's size. Beamer, Asanovic, Patterson: Direction-Optimizing Breadth-First Search, SC 2012.
#pragma once

#include <spargo/graph/bfs.hpp>

#include <cstdint>

namespace spargo::detail::bfs {

struct direction_rule {
  // Push to pull when frontier_edges > unexplored_edges / alpha. 15 is the GAP suite's value; a flat optimum
  // (10 to 20) on R-MAT graphs, where pull skips about nine edges in ten.
  std::int64_t alpha = 15;
  // Pull to push when the frontier shrinks and holds fewer than vertices / beta. 18: the GAP suite's value.
  std::int64_t beta = 18;
  // Never pull for fewer than vertices / 64 edges: a pull reads at least the bitmap, so it cannot pay off at the end of
  // a long search (the last corner of a grid), where the first condition alone would choose it.
  std::int64_t floor = 64;
};

// State after a finished level; `next` is the frontier it found.
struct frontier_facts {
  std::int64_t vertices = 0;          // of the graph
  std::int64_t previous = 0;          // size of the frontier just expanded
  std::int64_t next = 0;              // size of the frontier to expand now
  std::int64_t next_edges = 0;        // its out-edges (may be 0 while pulling)
  std::int64_t unexplored_edges = 0;  // out-edges of all vertices not reached before `next`
};

// The direction of the next level: push or pull, never automatic.
[[nodiscard]] SPARGO_HD constexpr bfs_direction next_direction(bfs_direction current, const frontier_facts& f,
                                                               const direction_rule& rule = {}) {
  if (current == bfs_direction::pull) {
    const bool shrinking = f.next < f.previous;
    return shrinking && f.next <= f.vertices / rule.beta ? bfs_direction::push : bfs_direction::pull;
  }
  const bool large_share = f.next_edges > f.unexplored_edges / rule.alpha;
  return large_share && f.next_edges > f.vertices / rule.floor ? bfs_direction::pull : bfs_direction::push;
}

}  // namespace spargo::detail::bfs
