// Louvain and Leiden on the device: sums of values by label.
#pragma once

#include "graph/communities/cuda_row_groups.cuh"

namespace spargo::detail::communities {

// Adds value[v], or 1 if value is null, to sum[label[v]] for every v whose label is not below 0. A block adds up the
// values of labels that repeat within a warp before: many atomics to few places wait for each other.
template <class I, class T>
__global__ void __launch_bounds__(block_threads)
    sum_by_label_kernel(std::int64_t n, const I* label, const std::int64_t* value, T* sum) {
  constexpr unsigned slots = 512;
  __shared__ I labels[slots];
  __shared__ count64 sums[slots];
  for (unsigned s = threadIdx.x; s < slots; s += block_threads) {
    labels[s] = -1;
    sums[s] = 0;
  }
  __syncthreads();
  const std::int64_t end = (n + warp_size - 1) / warp_size * warp_size;
  for (std::int64_t v = global_thread(); v < end; v += grid_threads()) {
    const I own = v < n ? label[v] : I{-1};
    const bool repeats = __popc(__match_any_sync(full_mask, own)) > 1;
    if (own < 0) continue;
    const unsigned at = static_cast<unsigned>(own) * 0x9e3779b1U / (~0U / slots + 1);
    I there = repeats ? *static_cast<volatile I*>(labels + at) : I{-2};
    if (there == -1) there = compare_swap(labels + at, I{-1}, own);
    const std::int64_t mine = value != nullptr ? value[v] : 1;
    if (there == -1 || there == own) {
      add_to(sums + at, static_cast<count64>(mine));
    } else {
      add_to(sum + own, static_cast<T>(mine));
    }
  }
  __syncthreads();
  for (unsigned s = threadIdx.x; s < slots; s += block_threads) {
    if (sums[s] != 0) add_to(sum + labels[s], static_cast<T>(sums[s]));
  }
}
template <class I, class T>
void sum_by_label(const context<device>& ctx, std::int64_t n, const I* label, const std::int64_t* value, T* sum) {
  if (n == 0) return;
  const device_guard guard(ctx);
  launch_kernel(ctx, grid_stride(ctx, n, 8 * block_threads), sum_by_label_kernel<I, T>, n, label, value, sum);
}

}  // namespace spargo::detail::communities
