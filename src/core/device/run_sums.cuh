// Sums of runs of values, each from left to right.
#pragma once

#include "core/device/complex.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"

namespace spargo::detail {

// sums[s] = values[starts[s]] + ... + values[starts[s + 1] - 1], from left to right; 0 for an empty run. One thread
// sums a short run; the whole warp sums a long one, loading 32 values at once and adding them in order.
template <class T, class Start>
__global__ void __launch_bounds__(block_threads)
    sum_runs_kernel(const T* values, const Start* starts, std::int64_t runs, T* sums) {
  constexpr std::int64_t short_run = 32;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  // Uniform over the warp, so that all its lanes reach every collective.
  for (std::int64_t base = global_thread() - lane; base < runs; base += grid_threads()) {
    const std::int64_t run = base + lane;
    const std::int64_t begin = run < runs ? starts[run] : Start{0};
    const std::int64_t end = run < runs ? starts[run + 1] : Start{0};
    T sum{};
    if (end - begin > 0 && end - begin <= short_run) {
      sum = values[begin];
      for (std::int64_t k = begin + 1; k < end; ++k) sum = sum + values[k];
    }
    for (unsigned rest = __ballot_sync(full_mask, end - begin > short_run); rest != 0; rest &= rest - 1) {
      const int of = __ffs(static_cast<int>(rest)) - 1;
      const std::int64_t last = shuffle(end, of);
      std::int64_t k = shuffle(begin, of);
      T total = values[k];
      for (++k; k < last; k += warp_size) {
        const T mine = k + lane < last ? values[k + lane] : T{};
        const int count = static_cast<int>(last - k < warp_size ? last - k : warp_size);
        for (int j = 0; j < count; ++j) total = total + shuffle(mine, j);
      }
      if (lane == of) sum = total;
    }
    if (run < runs) sums[run] = sum;
  }
}

template <class V, class Start>
void sum_runs(const context<device>& ctx, const V* values, const Start* starts, std::int64_t runs, V* sums) {
  if (runs == 0) return;
  const device_guard guard(ctx);
  launch_kernel(ctx, grid_stride(ctx, runs), sum_runs_kernel<device_value_t<V>, Start>, device_cast(values), starts,
                runs, device_cast(sums));
}

}  // namespace spargo::detail
