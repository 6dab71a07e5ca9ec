// How much shared memory a kernel may be launched with.
#pragma once

#include "core/cuda.cuh"

#include <mutex>

namespace spargo::detail {

// At least `bytes` of dynamic shared memory on the current device. The limit is the kernel's, which other plans launch
// as well, so it is never lowered.
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
