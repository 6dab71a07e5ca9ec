#pragma once

#include "core/cuda.cuh"

#include <mutex>

namespace spargo::detail {

// Raises the kernel's limit to at least `bytes`. Other plans launch the same kernel, so it is never lowered.
template <class... T>
void allow_shared(void (*kernel)(T...), std::size_t bytes) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  cudaFuncAttributes now{};
  SPARGO_CUDA_TRY(cudaFuncGetAttributes(&now, kernel));
  if (now.maxDynamicSharedSizeBytes >= static_cast<int>(bytes)) return;
  SPARGO_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

}  // namespace spargo::detail
