#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "sparse/pattern_fingerprint.hpp"

#include <algorithm>
#include <utility>

namespace spargo::detail {

namespace {

constexpr int threads = 256;

// An integer sum, so the order of atomics does not matter.
template <class T>
__global__ void __launch_bounds__(threads)
    fingerprint_kernel(std::uint64_t array, const T* items, std::int64_t count, unsigned long long* sum) {
  unsigned long long mine = 0;
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t k = std::int64_t{blockIdx.x} * threads + threadIdx.x; k < count; k += step) {
    mine += fingerprint_of(array, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(items[k]));
  }
  mine = warp_sum(mine);
  if (threadIdx.x % warp_size == 0) atomicAdd(sum, mine);
}

template <class T>
void add(const context<device>& ctx, std::uint64_t array, const span<const T, device>& items, unsigned long long* sum) {
  if (items.empty()) return;
  const std::int64_t most = 16LL * ctx.properties().multiprocessors;
  const std::int64_t blocks = std::min(div_up(items.size(), threads), most);
  launch_kernel(ctx, {blocks, threads}, fingerprint_kernel<T>, array, items.data(), items.size(), sum);
}

}  // namespace

template <class I, class O>
std::uint64_t pattern_fingerprint(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix) {
  const device_guard guard(ctx);
  array<unsigned long long, device> sum(ctx, 1);
  fill_zero(ctx, sum.view());
  add<O>(ctx, 0, matrix.offsets, sum.data());
  add<I>(ctx, 1, matrix.indices, sum.data());
  return to_host(ctx, std::as_const(sum).view())[0];
}

#define INSTANTIATE(I, O) \
  template std::uint64_t pattern_fingerprint(const context<device>&, const csr_pattern_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
