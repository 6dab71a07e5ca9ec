#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "sparse/row_profile.hpp"

#include <algorithm>
#include <utility>

namespace spargo::detail {

namespace {

constexpr int threads = 256;

struct profile_counters {
  unsigned long long longest;
  unsigned long long empty_rows;
  unsigned long long long_entries;
  unsigned long long sampled_pairs;
  unsigned long long near_pairs;
};

// Sample of neighbouring rows: estimates a share near one half within a percent, and is fast.
constexpr std::int64_t sampled_rows = 8192;
constexpr int sampled_entries = 16;  // per row, at most
constexpr std::int64_t near = 32;    // columns apart: within one or two cache lines

// Integers only, so atomics are deterministic.
template <class O>
__global__ void __launch_bounds__(threads)
    profile_kernel(const O* offsets, std::int64_t rows, std::int64_t limit, profile_counters* counters) {
  profile_counters mine{};
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; row < rows; row += step) {
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
__global__ void __launch_bounds__(threads) locality_kernel(const O* offsets, const I* indices, std::int64_t rows,
                                                           std::int64_t samples, profile_counters* counters) {
  const std::int64_t sample = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
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

}  // namespace

template <class I, class O>
row_profile profile_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix) {
  const device_guard guard(ctx);
  array<profile_counters, device> counters(ctx, 1);
  fill_zero(ctx, counters.view());
  const std::int64_t rows = matrix.rows;
  const std::int64_t most_blocks = 8LL * ctx.properties().multiprocessors;
  const std::int64_t blocks = std::min(div_up(rows, threads), most_blocks);
  if (rows > 0) {
    launch_kernel(ctx, {blocks, threads}, profile_kernel<O>, matrix.offsets.data(), rows,
                  long_row_limit(rows, matrix.nnz()), counters.data());
  }
  if (rows > 1) {
    const std::int64_t samples = std::min(rows - 1, sampled_rows);
    launch_kernel(ctx, one_thread_each(samples, threads), locality_kernel<I, O>, matrix.offsets.data(),
                  matrix.indices.data(), rows, samples, counters.data());
  }
  const auto counted = to_host(ctx, std::as_const(counters).view());
  return {rows,
          matrix.nnz(),
          static_cast<std::int64_t>(counted[0].longest),
          static_cast<std::int64_t>(counted[0].empty_rows),
          static_cast<std::int64_t>(counted[0].long_entries),
          static_cast<std::int64_t>(counted[0].sampled_pairs),
          static_cast<std::int64_t>(counted[0].near_pairs)};
}

#define INSTANTIATE(I, O) \
  template row_profile profile_rows(const context<device>&, const csr_pattern_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
