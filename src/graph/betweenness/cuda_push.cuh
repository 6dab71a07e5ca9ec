// Pushes a listed level to a dense one, as its own kernel with full occupancy and edges in flight per thread.
//
// A warp takes a pair, or a chunk of a longer row. Sums are exact, so their order does not matter.
#pragma once

#include "graph/betweenness/cuda_list.cuh"

namespace spargo::detail::betweenness {

// One warp pushes `size` edges of a pair.
template <class I, class O>
__device__ __forceinline__ void push_row(const search<I, O>& s, int depth, const I* row, int size, int lane, double own,
                                         thread_tally& tally) {
  const unsigned next = forward_code(depth + 1);
  for (int at = lane_id(); at < size; at += warp_size) {
    const std::int64_t v = __ldcs(row + at);
    const unsigned code = __ldcg(s.states + v) >> (2 * lane) & 3;
    if (code != 0 && code != next) continue;
    if (code == 0) {
      const O begin = s.out.offsets[v];
      const O end = s.out.offsets[v + 1];
      if (claim_pair(s.states, v, lane, next)) {
        ++tally.pairs;
        ++tally.found;
        tally.edges += static_cast<count64>(end - begin);
        s.levels[v * 4 + lane] = depth + 1;
      }
    }
    const double sum = atomicAdd(s.numbers + v * 4 + lane, own) + own;
    tally.largest = fmax(tally.largest, sum);
  }
}

template <class I, class O>
__global__ void __launch_bounds__(256) push_kernel(const __grid_constant__ search<I, O> s, const int depth,
                                                   const std::int64_t begin, const std::int64_t end) {
  const grid_position my;
  const edge_set<I, O>& rows = s.out;
  thread_tally tally;
  for_each_chunk(s, my, rows, depth, [&](const pair_chunk& chunk, std::int64_t v, int lane) {
    push_row(s, depth, rows.indices + chunk.first, chunk.edges, lane, __ldcg(s.numbers + v * 4 + lane), tally);
  });
  for (std::int64_t place = begin + my.warp; place < end; place += my.warps) {
    const entry_of<I> entry = s.list[place];
    const O first = rows.offsets[entry / 4];
    const O degree = rows.offsets[entry / 4 + 1] - first;
    if (degree > cuda_tuning::chunk) continue;
    push_row(s, depth, rows.indices + first, static_cast<int>(degree), static_cast<int>(entry % 4), s.numbers[entry],
             tally);
  }
  __syncwarp();
  add_tally(s.control->found.filled(0), tally);
}

}  // namespace spargo::detail::betweenness
