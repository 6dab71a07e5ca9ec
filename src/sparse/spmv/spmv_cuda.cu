// The small device parts of a product: row profile, scaling, carries, and the order of unsorted COO entries.
#include "core/device/early_launch.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/device.cuh"

namespace spargo::detail {

namespace {

struct profile_counters {
  unsigned long long longest;
  unsigned long long empty_rows;
  unsigned long long long_entries;
  unsigned long long sampled_pairs;
  unsigned long long near_pairs;
};

// The sample of neighbouring rows: enough that a share near one half is told within a percent, too few to take time.
constexpr std::int64_t sampled_rows = 8192;
constexpr int sampled_entries = 16;  // of a row, at most
constexpr std::int64_t near = 32;    // columns apart: within a cache line or two

// Carries of one row that a single thread adds: nearly all rows have one or two.
constexpr int carries_a_thread = 8;
// Of a row with more, that a lane of its warp has in flight. merge_path, H200, cold, microseconds, a row of a million
// amid 2.9 million entries with 1, 4 and 8: 35.5, 27.1 and 27.2 in fp32, 39.5, 31.7 and 30.2 in fp64.
constexpr int carries_in_flight = 8;

// Integers only, so the atomics do not disturb determinism.
template <class O>
__global__ void __launch_bounds__(spmv_threads)
    profile_kernel(const O* offsets, std::int64_t rows, std::int64_t limit, profile_counters* counters) {
  profile_counters mine{};
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * spmv_threads;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x; row < rows; row += step) {
    const auto length = static_cast<unsigned long long>(offsets[row + 1] - offsets[row]);
    mine.longest = length > mine.longest ? length : mine.longest;
    mine.empty_rows += length == 0 ? 1 : 0;
    mine.long_entries += static_cast<std::int64_t>(length) > limit ? length : 0;
  }
  mine = {warp_max(mine.longest), warp_sum(mine.empty_rows), warp_sum(mine.long_entries)};
  if (threadIdx.x % warp_size == 0) {
    atomicMax(&counters->longest, mine.longest);
    atomicAdd(&counters->empty_rows, mine.empty_rows);
    atomicAdd(&counters->long_entries, mine.long_entries);
  }
}

template <class I, class O>
__global__ void __launch_bounds__(spmv_threads) locality_kernel(const O* offsets, const I* indices, std::int64_t rows,
                                                                std::int64_t samples, profile_counters* counters) {
  const std::int64_t sample = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  unsigned long long pairs = 0;
  unsigned long long close = 0;
  if (sample < samples) {
    const std::int64_t row = (rows - 1) / samples * sample;
    const O first = offsets[row];
    const O second = offsets[row + 1];
    const O length = min(second - first, offsets[row + 2] - second);
    pairs = static_cast<unsigned long long>(min(length, O{sampled_entries}));
    for (O k = 0; k < static_cast<O>(pairs); ++k) {
      const auto apart = static_cast<std::int64_t>(indices[second + k]) - static_cast<std::int64_t>(indices[first + k]);
      close += apart <= near && apart >= -near ? 1 : 0;
    }
  }
  pairs = warp_sum(pairs);
  close = warp_sum(close);
  if (threadIdx.x % warp_size == 0) {
    atomicAdd(&counters->sampled_pairs, pairs);
    atomicAdd(&counters->near_pairs, close);
  }
}

template <class D>
__global__ void __launch_bounds__(spmv_threads) scale_kernel(D beta, D* y, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (i < size) y[i] = beta == D{} ? D{} : beta * y[i];
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

// A thread a run of tiles of the same row; what a run has beyond its first carries_a_thread tiles, its warp adds.
template <class D, class I>
__global__ void __launch_bounds__(spmv_threads)
    add_carries_kernel(const I* rows, const D* carries, std::int64_t tiles, D alpha, D* y) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  const I row = first < tiles && (first == 0 || rows[first - 1] != rows[first]) ? rows[first] : I{-1};
  std::int64_t next = first;
  D sum{};
  wait_for_kernel_in_front();  // it leaves all carries and rows of y
  for (; row >= 0 && next < tiles && next < first + carries_a_thread && rows[next] == row; ++next) sum += carries[next];
  unsigned longer = __ballot_sync(full_mask, row >= 0 && next < tiles && rows[next] == row ? 1 : 0);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (; longer != 0; longer &= longer - 1) {
    const int owner = __ffs(static_cast<int>(longer)) - 1;
    const I long_row = __shfl_sync(full_mask, row, owner);
    const D rest = group_sum(long_run(rows, carries, first + owner + carries_a_thread, tiles, long_row), warp_size);
    if (lane == owner) sum += rest;
  }
  if (row >= 0) y[row] = multiply_add(alpha, sum, y[row]);
}

}  // namespace

template <class I, class O>
row_profile profile_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix) {
  const device_guard guard(ctx);
  array<profile_counters, device> counters(ctx, 1);
  fill_zero(ctx, counters.view());
  const std::int64_t rows = matrix.rows;
  const std::int64_t most_blocks = 8LL * ctx.properties().multiprocessors;
  const std::int64_t blocks = std::min(div_up(rows, spmv_threads), most_blocks);
  if (rows > 0) {
    profile_kernel<<<static_cast<unsigned>(blocks), spmv_threads, 0, ctx.stream()>>>(
        matrix.offsets.data(), rows, long_row_limit(rows, matrix.nnz()), counters.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
  }
  if (rows > 1) {
    const std::int64_t samples = std::min(rows - 1, sampled_rows);
    locality_kernel<<<grid_of(samples, spmv_threads), spmv_threads, 0, ctx.stream()>>>(
        matrix.offsets.data(), matrix.indices.data(), rows, samples, counters.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
  }
  const auto there = to_host(ctx, std::as_const(counters).view());
  return {rows,
          matrix.nnz(),
          static_cast<std::int64_t>(there[0].longest),
          static_cast<std::int64_t>(there[0].empty_rows),
          static_cast<std::int64_t>(there[0].long_entries),
          static_cast<std::int64_t>(there[0].sampled_pairs),
          static_cast<std::int64_t>(there[0].near_pairs)};
}

template <class V>
void scale(const context<device>& ctx, V beta, V* y, std::int64_t size) {
  if (size == 0 || beta == V{1}) return;
  const device_guard guard(ctx);
  scale_kernel<<<grid_of(size, spmv_threads), spmv_threads, 0, ctx.stream()>>>(to_device_value(beta), device_cast(y),
                                                                               size);
  SPARGO_CUDA_TRY(cudaGetLastError());
}

template <class D, class I>
void add_carries(const context<device>& ctx, const I* rows, const D* carries, std::int64_t tiles, D alpha, D* y) {
  // Launched while the kernel before ends, for which it waits: 1.5 microseconds of R-MAT 22's 460 on an H200. A thread
  // a tile: 2 to 10 microseconds less than one warp per tile.
  launch_early(ctx, grid_of(tiles, spmv_threads), spmv_threads, &add_carries_kernel<D, I>, rows, carries, tiles, alpha,
               y);
}

#define INSTANTIATE(I, O) \
  template row_profile profile_rows(const context<device>&, const csr_pattern_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V) template void scale(const context<device>&, V, V*, std::int64_t);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I)                                                                             \
  template void add_carries(const context<device>&, const I*, const device_value_t<V>*, std::int64_t, \
                            device_value_t<V>, device_value_t<V>*);
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE)

}  // namespace spargo::detail
