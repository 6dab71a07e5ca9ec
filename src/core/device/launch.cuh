// Launch shapes, loops over an index range, and temporary storage for CUB.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/array.hpp>

#include <algorithm>

namespace spargo::detail {

inline constexpr int block_threads = 256;

// Blocks of a grid-stride loop: enough to fill the device twice over, none without work.
inline unsigned blocks_for(const context<device>& ctx, std::int64_t units, std::int64_t units_per_block) {
  const std::int64_t most = 2 * std::int64_t{ctx.properties().multiprocessors} *
                            std::max(1, ctx.properties().max_threads_per_multiprocessor / block_threads);
  return static_cast<unsigned>(std::clamp<std::int64_t>(div_up(units, units_per_block), 1, most));
}

template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(std::int64_t size, F f) {
  for (std::int64_t i = global_thread(); i < size; i += grid_threads()) f(i);
}

// f(i) for every i in [0, size), each by one thread; asynchronous. `f` is a __device__ lambda.
template <class F>
void for_each(const context<device>& ctx, std::int64_t size, F f) {
  if (size <= 0) return;
  const device_guard guard(ctx);
  for_each_kernel<<<blocks_for(ctx, size, block_threads), block_threads, 0, ctx.stream()>>>(size, f);
  SPARGO_CUDA_TRY(cudaGetLastError());
}

// The first i in [0, size] with i == size or values[i] >= wanted; values ascend.
template <class T>
__device__ std::int64_t lower_bound(const T* values, std::int64_t size, std::int64_t wanted) {
  std::int64_t first = 0;
  while (size > 0) {
    const std::int64_t half = size / 2;
    if (values[first + half] < wanted) {
      first += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return first;
}

// call(storage, bytes) is a CUB device algorithm: asked for its size first, then run.
template <class F>
void with_temporary_storage(const context<device>& ctx, F&& call) {
  const device_guard guard(ctx);
  std::size_t bytes = 0;
  SPARGO_CUDA_TRY(call(static_cast<void*>(nullptr), bytes));
  array<unsigned char, device> storage(ctx, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)));
  SPARGO_CUDA_TRY(call(static_cast<void*>(storage.data()), bytes));
}

}  // namespace spargo::detail
