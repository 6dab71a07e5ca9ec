// Counting sort of rows by bin: blocks count their rows of each bin, then reserve room for them with an atomic add.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "sparse/spgemm/device/bins.hpp"

namespace spargo::detail::spgemm {

namespace {

constexpr int slots = 16;  // of bins, at least row_bins::most

// Adds the rows of each bin to its counter, and writes them where the counters stood (`rows` null: not).
template <class I>
__global__ void __launch_bounds__(block_threads)
    group_kernel(const std::uint8_t* bins, std::int64_t size, count64* counters, I* rows) {
  __shared__ unsigned counts[slots];
  __shared__ count64 starts[slots];
  const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads; first < size; first += step) {
    if (threadIdx.x < slots) counts[threadIdx.x] = 0;
    __syncthreads();
    const std::int64_t r = first + threadIdx.x;
    const int bin = r < size ? bins[r] : no_bin;
    const unsigned peers = __match_any_sync(full_mask, bin);
    const unsigned below = __popc(peers & ((1U << lane_id()) - 1));
    unsigned place = 0;
    if (bin != no_bin && below == 0) place = atomicAdd(&counts[bin], static_cast<unsigned>(__popc(peers)));
    place = shuffle(place, __ffs(static_cast<int>(peers)) - 1) + below;
    __syncthreads();
    if (threadIdx.x < slots && counts[threadIdx.x] != 0) {
      starts[threadIdx.x] = atomicAdd(&counters[threadIdx.x], count64{counts[threadIdx.x]});
    }
    __syncthreads();
    if (rows != nullptr && bin != no_bin) rows[starts[bin] + place] = static_cast<I>(r);
    __syncthreads();
  }
}

}  // namespace

template <class I>
row_bins<I> group_rows(const context<device>& ctx, span<const std::uint8_t, device> bins) {
  static_assert(slots >= row_bins<I>::most);
  row_bins<I> grouped;
  if (bins.empty()) return grouped;
  const device_guard guard(ctx);
  array<count64, device> counters(ctx, slots);
  fill_zero(ctx, counters);
  const auto group = [&](I* rows) {
    launch_kernel(ctx, grid_stride(ctx, bins.size()), group_kernel<I>, bins.data(), bins.size(), counters.data(), rows);
  };
  group(nullptr);
  const array<count64, host> counts = to_host(ctx, std::as_const(counters).view());
  std::array<count64, slots> starts{};
  for (int b = 0; b < row_bins<I>::most; ++b) {
    starts[b] = static_cast<count64>(grouped.first[b]);
    grouped.first[b + 1] = grouped.first[b] + static_cast<std::int64_t>(counts[b]);
  }
  grouped.rows = {ctx, grouped.first.back()};
  copy<count64>(ctx, span<const count64, host>(starts), counters.view());
  group(grouped.rows.data());
  ctx.synchronize();  // `starts` is read
  return grouped;
}

#define INSTANTIATE(I) template row_bins<I> group_rows(const context<device>&, span<const std::uint8_t, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::spgemm
