// Counting on the device. Few bins: a copy in each block's shared memory, added to the result at the end. Many:
// atomics on the result itself, one for all the lanes of a warp that hold the same key, so that skewed keys do
// not queue up at one address. Integer counts come out the same in any order.
#include "primitives/backend.hpp"
#include "primitives/launch.cuh"

namespace spargo::detail {

namespace {

struct tuning {
  static constexpr std::int64_t shared_bins = 4096;    // 16 KiB: eight blocks still fit a multiprocessor
  static constexpr std::int64_t keys_per_thread = 16;  // so that zeroing and adding the copy is a small part
};

__device__ void add(std::int32_t* count, unsigned n) { atomicAdd(count, static_cast<int>(n)); }
__device__ void add(std::int64_t* count, unsigned n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(count), static_cast<unsigned long long>(n));
}

template <class Key, class Count>
__global__ void __launch_bounds__(block_threads)
    count_in_shared(const Key* keys, std::int64_t size, Count* counts, int bins) {
  __shared__ unsigned own[tuning::shared_bins];
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += block_threads) own[b] = 0;
  __syncthreads();
  for (std::int64_t i = global_thread(); i < size; i += grid_threads()) {
    const Key key = keys[i];
    if (key >= 0 && key < bins) atomicAdd(&own[key], 1U);
  }
  __syncthreads();
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += block_threads) {
    if (own[b] != 0) add(&counts[b], own[b]);
  }
}

template <class Key, class Count>
__global__ void __launch_bounds__(block_threads)
    count_in_global(const Key* keys, std::int64_t size, Count* counts, std::int64_t bins) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  // The bound is the warp's, so that all its lanes reach every collective.
  for (std::int64_t first = global_thread() - lane; first < size; first += grid_threads()) {
    const std::int64_t i = first + lane;
    const std::int64_t key = i < size ? std::int64_t{keys[i]} : -1;
    const bool inside = key >= 0 && key < bins;
    const unsigned peers = __match_any_sync(full_mask, static_cast<unsigned long long>(inside ? key : -1));
    if (inside && __ffs(static_cast<int>(peers)) - 1 == lane) {
      add(&counts[key], static_cast<unsigned>(__popc(peers)));
    }
  }
}

}  // namespace

template <class Key, class Count>
void histogram(const context<device>& ctx, span<const Key, device> keys, span<Count, device> counts) {
  const device_guard guard(ctx);
  const unsigned blocks = blocks_for(ctx, keys.size(), block_threads * tuning::keys_per_thread);
  if (counts.size() <= tuning::shared_bins) {
    count_in_shared<<<blocks, block_threads, 0, ctx.stream()>>>(keys.data(), keys.size(), counts.data(),
                                                                static_cast<int>(counts.size()));
  } else {
    count_in_global<<<blocks, block_threads, 0, ctx.stream()>>>(keys.data(), keys.size(), counts.data(), counts.size());
  }
  SPARGO_CUDA_TRY(cudaGetLastError());
}

#define INSTANTIATE(Key, Count) \
  template void histogram(const context<device>&, span<const Key, device>, span<Count, device>);
INSTANTIATE(std::int32_t, std::int32_t)
INSTANTIATE(std::int32_t, std::int64_t)
INSTANTIATE(std::int64_t, std::int32_t)
INSTANTIATE(std::int64_t, std::int64_t)
#undef INSTANTIATE

}  // namespace spargo::detail
