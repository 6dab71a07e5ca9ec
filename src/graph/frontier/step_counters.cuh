// Counters of the steps of a persistent grid, such as the levels of a search.
//
// All blocks add to the counters of a step and read them after the grid barrier that ends it. Three sets rotate: a step
// fills one and clears the next. That one was read before the step's barrier and is filled after it, so one barrier per
// step suffices.
#pragma once

#include "core/device/warp.cuh"

#include <type_traits>

namespace spargo::detail {

template <class C>
inline constexpr int words_of = sizeof(C) / sizeof(count64);

// Reads counters, a struct of count64, from the L2 cache, where atomics of other blocks take effect.
template <class C>
[[nodiscard]] __device__ __forceinline__ C load_counters(const C* from) {
  static_assert(std::is_trivially_copyable_v<C> && sizeof(C) == words_of<C> * sizeof(count64));
  C counters;
#pragma unroll
  for (int k = 0; k < words_of<C>; ++k) {
    reinterpret_cast<count64*>(&counters)[k] = __ldcg(reinterpret_cast<const count64*>(from) + k);
  }
  return counters;
}

// In device memory. `turn` is the set that the last step has filled; every thread of the grid keeps it, from 0 on.
template <class C>
struct step_counters {
  C sets[3];

  [[nodiscard]] __device__ C* filled(int turn) { return sets + turn; }

  // Returns the set that this step fills, and has the grid's first block clear the next one. All threads call it, after
  // the barrier of the last step.
  [[nodiscard]] __device__ C* begin_step(int turn) {
    C* const filling = sets + (turn + 1) % 3;
    C* const next = sets + (turn + 2) % 3;
    if constexpr (words_of<C> <= warp_size) {
      if (global_thread() == 0) *next = {};
    } else if (blockIdx.x == 0) {
      for (unsigned k = threadIdx.x; k < words_of<C>; k += blockDim.x) reinterpret_cast<count64*>(next)[k] = 0;
    }
    return filling;
  }
};

// At a step's end: advanced at its start, the turn would make BFS's wide levels spill registers.
[[nodiscard]] __device__ inline int next_turn(int turn) { return (turn + 1) % 3; }

// Adds what a block's threads have counted to the grid's counters: sums of warps, then of the block, then one atomic
// for each counter, since atomics of all warps on the same few addresses would serialize. A tally is a struct of
// count64, 0 where nothing was counted. combine(k, a, b) combines two values of its k-th counter; merge(k, to, value)
// does so atomically in `total`, for values that are not 0. All threads call it, at least a warp per counter.
template <class Tally, class Combine, class Merge>
__device__ __forceinline__ void merge_tally(std::type_identity_t<Tally>* total, const Tally& mine,
                                            const Combine& combine, const Merge& merge) {
  static_assert(std::is_trivial_v<Tally> && sizeof(Tally) == words_of<Tally> * sizeof(count64));
  __shared__ count64 of_warps[words_of<Tally>][warp_size];
  const int lane = lane_id();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const auto reduced = [&](int k, count64 value) {
    return warp_reduce_to_first(value, [&](count64 a, count64 b) { return combine(k, a, b); });
  };
  __syncthreads();  // of_warps may still be read; and without it nvcc copies the code into its callers' branches
#pragma unroll
  for (int k = 0; k < words_of<Tally>; ++k) {
    const count64 of_warp = reduced(k, reinterpret_cast<const count64*>(&mine)[k]);
    if (lane == 0) of_warps[k][warp] = of_warp;
  }
  __syncthreads();
  if (warp >= words_of<Tally>) return;
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  const count64 of_block = reduced(warp, lane < warps ? of_warps[warp][lane] : 0);
  if (lane == 0 && of_block != 0) merge(warp, reinterpret_cast<count64*>(total) + warp, of_block);
}

// All counters are sums.
template <class Tally>
__device__ __forceinline__ void add_tally(std::type_identity_t<Tally>* total, const Tally& mine) {
  merge_tally(
      total, mine, [](int, count64 a, count64 b) { return a + b; },
      [](int, count64* to, count64 value) { atomicAdd(to, value); });
}

}  // namespace spargo::detail
