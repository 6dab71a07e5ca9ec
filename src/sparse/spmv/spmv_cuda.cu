#include "core/device/early_launch.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/device.cuh"

namespace spargo::detail::spmv {

namespace {

// Carries of one row that one thread adds: nearly all rows have one or two.
constexpr int carries_per_thread = 8;
// For longer runs, carries in flight per lane of the warp. merge_path, H200, cold, microseconds, a row of a million
// among 2.9 million entries with 1, 4 and 8: 35.5, 27.1 and 27.2 in fp32, 39.5, 31.7 and 30.2 in fp64.
constexpr int carries_in_flight = 8;

template <class D>
__global__ void __launch_bounds__(threads_per_block) scale_kernel(D beta, D* y, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (i < size) y[i] = beta == D{} ? D{} : beta * y[i];
}

template <class D>
__global__ void __launch_bounds__(threads_per_block) conjugate_kernel(D* values, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (i < size) values[i] = conj(values[i]);
}

// The carries of `row` among tiles next, next + warp_size, ...: a lane's part of a run of equal rows.
template <class D, class I>
__device__ D long_run(const I* rows, const D* carries, std::int64_t next, std::int64_t tiles, I row) {
  D sum{};
  for (bool more = true; more; next += carries_in_flight * warp_size) {
    bool mine[carries_in_flight];
#pragma unroll
    for (int u = 0; u < carries_in_flight; ++u) {
      const std::int64_t k = next + u * warp_size;
      mine[u] = k < tiles && rows[k] == row;
    }
    D carry[carries_in_flight];
#pragma unroll
    for (int u = 0; u < carries_in_flight; ++u) {
      const std::int64_t k = next + u * warp_size;
      carry[u] = mine[u] ? carries[k] : D{};
    }
#pragma unroll
    for (int u = 0; u < carries_in_flight; ++u) {
      if (mine[u]) sum += carry[u];
    }
    more = mine[carries_in_flight - 1];
  }
  return sum;
}

// One thread per run of tiles of the same row; the warp adds those beyond the first carries_per_thread tiles.
template <class D, class I>
__global__ void __launch_bounds__(threads_per_block)
    add_carries_kernel(const I* rows, const D* carries, std::int64_t tiles, D alpha, D* y) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  const I row = first < tiles && (first == 0 || rows[first - 1] != rows[first]) ? rows[first] : I{-1};
  std::int64_t next = first;
  D sum{};
  wait_for_kernel_in_front();  // it writes all carries and rows of y
  for (; row >= 0 && next < tiles && next < first + carries_per_thread && rows[next] == row; ++next)
    sum += carries[next];
  unsigned longer = __ballot_sync(full_mask, row >= 0 && next < tiles && rows[next] == row ? 1 : 0);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (; longer != 0; longer &= longer - 1) {
    const int owner = __ffs(static_cast<int>(longer)) - 1;
    const I long_row = __shfl_sync(full_mask, row, owner);
    const D rest = group_sum(long_run(rows, carries, first + owner + carries_per_thread, tiles, long_row), warp_size);
    if (lane == owner) sum += rest;
  }
  if (row >= 0) y[row] = multiply_add(alpha, sum, y[row]);
}

}  // namespace

template <class V>
void scale(const context<device>& ctx, V beta, V* y, std::int64_t size) {
  if (size == 0 || beta == V{1}) return;
  const device_guard guard(ctx);
  launch_kernel(ctx, one_thread_each(size, threads_per_block), scale_kernel<device_value_t<V>>, to_device_value(beta),
                device_cast(y), size);
}

template <class V>
void conjugate(const context<device>& ctx, V* values, std::int64_t size) {
  if constexpr (complex_type<V>) {
    if (size == 0) return;
    const device_guard guard(ctx);
    launch_kernel(ctx, one_thread_each(size, threads_per_block), conjugate_kernel<device_value_t<V>>,
                  device_cast(values), size);
  }
}

template <class D, class I>
void add_carries(const context<device>& ctx, const I* rows, const D* carries, std::int64_t tiles, D alpha, D* y) {
  // Launched while the previous kernel ends, for which it waits: saves 1.5 of R-MAT 22's 460 microseconds on an H200.
  // One thread per tile: 2 to 10 microseconds less than one warp per tile.
  launch_early(ctx, one_thread_each(tiles, threads_per_block), add_carries_kernel<D, I>, rows, carries, tiles, alpha,
               y);
}

#define INSTANTIATE(V)                                              \
  template void scale(const context<device>&, V, V*, std::int64_t); \
  template void conjugate(const context<device>&, V*, std::int64_t);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I)                                                                             \
  template void add_carries(const context<device>&, const I*, const device_value_t<V>*, std::int64_t, \
                            device_value_t<V>, device_value_t<V>*);
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE)

}  // namespace spargo::detail::spmv
