// Reductions and prefix sums over a block, and the block of a grid that finishes last.
//
// All threads of the block call them; the block is one-dimensional and consists of whole warps. Values pass between the
// warps through the caller's shared memory, one element per warp:
//
//   __shared__ count64 of_warps[block_threads / warp_size];
//   const count64 sum = block_sum(mine, of_warps);
//   if (threadIdx.x == 0) atomicAdd(total, sum);
//
// Each costs one barrier, between writing and reading that memory; another one must precede its next use. Results
// depend on the values and the number of threads only, in floating point too. `warps`: the warps of a block that has
// fewer than the memory has room for.
#pragma once

#include "core/device/warp.cuh"

namespace spargo::detail {

// Combines one value per warp, given by lane 0, in the order of the warps; the result is in thread 0. For few warps.
template <class T, int Warps, class F>
__device__ __forceinline__ T fold_warps(T of_warp, T (&of_warps)[Warps], F combine, int warps = Warps) {
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = of_warp;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < warps; ++w) of_warp = combine(of_warp, of_warps[w]);
  }
  return of_warp;
}
template <class T, int Warps, class F>
__device__ __forceinline__ T block_reduce(T value, T (&of_warps)[Warps], F combine, int warps = Warps) {
  return fold_warps(warp_reduce(value, combine), of_warps, combine, warps);
}
template <class T, int Warps>
__device__ __forceinline__ T block_sum(T value, T (&of_warps)[Warps], int warps = Warps) {
  if constexpr (std::integral<T>)
    value = warp_sum(value);
  else
    value = warp_reduce(value, plus{});
  return fold_warps(value, of_warps, plus{}, warps);
}

// The result is in thread 0. The first warp combines the warps' values, in a tree, for many warps or where latency
// matters; `identity` fills it up.
template <class T, int Warps, class F>
__device__ __forceinline__ T block_reduce_tree(T value, T (&of_warps)[Warps], F combine, T identity) {
  static_assert(Warps <= warp_size);
  value = warp_reduce_to_first(value, combine);
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = value;
  __syncthreads();
  if (threadIdx.x < warp_size) {
    value = warp_reduce_to_first(lane_id() < Warps ? of_warps[lane_id()] : identity, combine);
  }
  return value;
}

// Every thread gets the result; all lanes of a warp give its value.
template <class T, int Warps, class F>
__device__ __forceinline__ T fold_warps_to_all(T of_warp, T (&of_warps)[Warps], F combine) {
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = of_warp;
  __syncthreads();
  T all = of_warps[0];
  for (int w = 1; w < Warps; ++w) all = combine(all, of_warps[w]);
  return all;
}

// --- Scans ----------------------------------------------------------------

// A value's exclusive prefix sum, and the sum over the block.
template <class T>
struct prefix_sum {
  T before;
  T total;
};

// Over the warps' values, which lane `from` gives.
template <class T, int Warps>
__device__ __forceinline__ prefix_sum<T> scan_warps(T of_warp, T (&of_warps)[Warps], int from = 0, int warps = Warps) {
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  if (lane_id() == from) of_warps[warp] = of_warp;
  __syncthreads();
  prefix_sum<T> sum{};
  for (int w = 0; w < warps; ++w) {
    const T value = of_warps[w];
    sum.before += w < warp ? value : T{};
    sum.total += value;
  }
  return sum;
}

// Over the threads' values. Every thread gets the total.
template <class T, int Warps>
__device__ __forceinline__ prefix_sum<T> block_exclusive_sum(T value, T (&of_warps)[Warps], int warps = Warps) {
  const T upto = warp_inclusive_sum(value);
  prefix_sum<T> sum = scan_warps(upto, of_warps, warp_size - 1, warps);
  sum.before += upto - value;
  return sum;
}

// --- The last block -------------------------------------------------------

// Whether the calling thread is the last of `count` to call it with this counter, which starts at 0 and is 0 again
// afterwards. The last one sees what the others wrote before their calls.
__device__ __forceinline__ bool arrives_last(unsigned* arrived, unsigned count) {
  __threadfence();  // write before counting; read only after all are counted
  const bool last = atomicInc(arrived, count - 1) == count - 1;
  __threadfence();
  return last;
}

// The same for blocks, with what thread 0 of each wrote. All threads of a block get the answer; a barrier must precede
// the next call.
__device__ __forceinline__ bool block_arrives_last(unsigned* arrived, unsigned count) {
  __shared__ bool last;
  if (threadIdx.x == 0) last = arrives_last(arrived, count);
  __syncthreads();
  return last;
}

}  // namespace spargo::detail
