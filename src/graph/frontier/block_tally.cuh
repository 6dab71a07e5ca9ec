// Adds what the threads of a block have counted to counters of the grid: sums of warps, then of the block, then one
// atomic for each counter. Atomics of all warps on the same few addresses would serialize.
#pragma once

#include "core/device/warp.cuh"

#include <type_traits>

namespace spargo::detail {

// A tally is a struct of count64, 0 if nothing was counted. combine(k, a, b) combines two values of its k-th counter;
// merge(k, to, value) does so atomically in `total`, for values that are not 0. All threads of the block call it.
template <class Tally, class Combine, class Merge>
__device__ __forceinline__ void merge_tally(std::type_identity_t<Tally>* total, const Tally& mine,
                                            const Combine& combine, const Merge& merge) {
  constexpr int counters = sizeof(Tally) / sizeof(count64);
  static_assert(std::is_trivial_v<Tally> && sizeof(Tally) == counters * sizeof(count64));
  __shared__ count64 of_warps[counters][warp_size];
  const int lane = lane_id();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const auto reduced = [&](int k, count64 value) {
    return warp_reduce_to_first(value, [&](count64 a, count64 b) { return combine(k, a, b); });
  };
  __syncthreads();  // of_warps may still be read; and without it nvcc copies the code into its callers' branches
#pragma unroll
  for (int k = 0; k < counters; ++k) {
    const count64 of_warp = reduced(k, reinterpret_cast<const count64*>(&mine)[k]);
    if (lane == 0) of_warps[k][warp] = of_warp;
  }
  __syncthreads();
  if (warp >= counters) return;
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
