// Launches with their checks.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/types.hpp>

#include <type_traits>

namespace spargo::detail {

struct launch_shape {
  std::int64_t blocks;
  int threads;  // of a block
  std::size_t shared_bytes = 0;
};

// A thread for each item, in blocks of so many.
[[nodiscard]] inline launch_shape one_thread_each(std::int64_t items, int threads) {
  return {div_up(items, std::int64_t{threads}), threads};
}

// On the context's stream.
template <class... T>
void launch_kernel(const context<device>& ctx, const launch_shape& shape, void (*kernel)(T...),
                   std::type_identity_t<T>... arguments) {
  kernel<<<static_cast<unsigned>(shape.blocks), static_cast<unsigned>(shape.threads), shape.shared_bytes,
           ctx.stream()>>>(arguments...);
  SPARGO_CUDA_TRY(cudaGetLastError());
}

}  // namespace spargo::detail
