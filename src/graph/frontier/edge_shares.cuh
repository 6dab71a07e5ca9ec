// Distributes all edges of a graph over warps in equal shares, regardless of row boundaries.
#pragma once

#include "core/device/warp.cuh"
#include "core/search.hpp"

#include <cstdint>

namespace spargo::detail {

struct edge_range {
  std::int64_t first_vertex;
  std::int64_t past_vertex;
  std::int64_t first;
  std::int64_t past;
};

// Warp w of the grid gets edges [first + w * share, first + (w + 1) * share), clipped to the range. Each lane calls
// visit(e, v) for its edges, e ascending, and enter(v) before the first edge of each new v.
template <class O, class Enter, class Visit>
__device__ __forceinline__ void for_each_edge_in_share(const O* offsets, const edge_range& range, std::int64_t share,
                                                       Enter enter, Visit visit) {
  const std::int64_t begin = range.first + global_thread() / warp_size * share;
  const std::int64_t past = begin + share < range.past ? begin + share : range.past;
  std::int64_t e = begin + lane_id();
  if (e >= past) return;
  // The last vertex whose edges begin at or before e.
  std::int64_t v = first_where(range.first_vertex + 1, range.past_vertex,
                               [&](std::int64_t u) { return static_cast<std::int64_t>(offsets[u]) > e; }) -
                   1;
  auto end = static_cast<std::int64_t>(offsets[v + 1]);
  enter(v);
  for (; e < past; e += warp_size) {
    while (e >= end) {
      ++v;
      end = static_cast<std::int64_t>(offsets[v + 1]);
      enter(v);
    }
    visit(e, v);
  }
}

}  // namespace spargo::detail
