// Checked launches, loops over an index range, temporary storage for CUB.
#pragma once

#include "core/cuda.cuh"
#include "core/search.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <source_location>
#include <string>
#include <type_traits>

namespace spargo::detail {

inline void check_cuda(cudaError_t status, const char* call, const std::source_location& from) {
  if (status != cudaSuccess) throw_cuda_error(status, call, from.file_name(), static_cast<int>(from.line()));
}

// Context, stream (the context's own by default) and source line of a launch; errors name the line.
struct launch_site {
  using line = std::source_location;
  launch_site(const context<device>& c, const line& l = line::current()) : launch_site(c, c.stream(), l) {}
  launch_site(const context<device>& c, cudaStream_t s, const line& l = line::current()) : ctx(c), stream(s), from(l) {}

  const context<device>& ctx;
  cudaStream_t stream;
  line from;
};

// Grid size, block size, dynamic shared memory per block.
struct launch_shape {
  launch_shape(dim3 b, dim3 t, std::size_t bytes = 0) : blocks(b), threads(t), shared_bytes(bytes) {}
  launch_shape(std::int64_t b, int t, std::size_t bytes = 0)
      : launch_shape(dim3(static_cast<unsigned>(b)), dim3(static_cast<unsigned>(t)), bytes) {
    if (b > INT32_MAX) throw error(error_code::unsupported, "launch: " + std::to_string(b) + " blocks exceed a grid");
  }

  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes;
};

[[nodiscard]] inline launch_shape one_thread_each(std::int64_t items, int threads) {
  return {div_up(items, std::int64_t{threads}), threads};
}

// One block per tile, columns along x. The y dimension is limited to the largest grid.
[[nodiscard]] inline launch_shape image_shape(std::int64_t rows, std::int64_t cols, std::int64_t tile_rows,
                                              std::int64_t tile_cols, dim3 threads) {
  launch_shape shape(div_up(cols, tile_cols), 1);
  shape.blocks.y = static_cast<unsigned>(std::min<std::int64_t>(div_up(rows, tile_rows), 65535));
  shape.threads = threads;
  return shape;
}

template <class... T>
void launch_kernel(const launch_site& at, const launch_shape& shape, void (*kernel)(T...),
                   std::type_identity_t<T>... arguments) {
  kernel<<<shape.blocks, shape.threads, shape.shared_bytes, at.stream>>>(arguments...);
  check_cuda(cudaGetLastError(), "a launch", at.from);
}

inline constexpr int block_threads = 256;

// Blocks of a grid-stride loop: one per `units_per_block`, at most twice what fills the device, at least 1.
inline unsigned blocks_for(const context<device>& ctx, std::int64_t units, std::int64_t units_per_block) {
  const std::int64_t most = 2 * std::int64_t{ctx.properties().multiprocessors} *
                            std::max(1, ctx.properties().max_threads_per_multiprocessor / block_threads);
  return static_cast<unsigned>(std::clamp<std::int64_t>(div_up(units, units_per_block), 1, most));
}

// Launch shape of a grid-stride loop with blocks of block_threads.
[[nodiscard]] inline launch_shape grid_stride(const context<device>& ctx, std::int64_t units,
                                              std::int64_t units_per_block = block_threads) {
  return {blocks_for(ctx, units, units_per_block), block_threads};
}

template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(std::int64_t size, F f) {
  for (std::int64_t i = global_thread(); i < size; i += grid_threads()) f(i);
}

// f(i) for every i in [0, size), one thread each; asynchronous. `f` is a __device__ lambda.
template <class F>
void for_each(const launch_site& at, std::int64_t size, F f) {
  if (size <= 0) return;
  const device_guard guard(at.ctx);
  launch_kernel(at, grid_stride(at.ctx, size), for_each_kernel<F>, size, f);
}

// Calls the CUB device algorithm call(storage, bytes) twice: for its size, then to run it.
template <class F>
void with_temporary_storage(const launch_site& at, F&& call) {
  const device_guard guard(at.ctx);
  std::size_t bytes = 0;
  check_cuda(call(static_cast<void*>(nullptr), bytes), "CUB", at.from);
  array<unsigned char, device> storage(at.ctx, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)));
  check_cuda(call(static_cast<void*>(storage.data()), bytes), "CUB", at.from);
}

}  // namespace spargo::detail
