// Launches of kernels that have a barrier over their whole grid.
#pragma once

#include "core/cuda.cuh"

#include <string>
#include <type_traits>

namespace spargo::detail {

// As many blocks as can be resident together, which the barrier needs. `operation` is for the message if there are
// none.
template <class... T>
[[nodiscard]] unsigned cooperative_blocks(const context<device>& ctx, void (*kernel)(T...), int threads,
                                          const char* operation) {
  int cooperative = 0;
  SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx.ordinal()));
  if (cooperative == 0) {
    throw error(error_code::unsupported, std::string(operation) + ": the device cannot launch cooperative kernels");
  }
  int resident = 0;
  SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, 0));
  if (resident == 0) {
    throw error(error_code::unsupported, std::string(operation) + ": no block of the kernel fits a multiprocessor");
  }
  return static_cast<unsigned>(resident * ctx.properties().multiprocessors);
}

template <class... T>
void launch_cooperative(const context<device>& ctx, void (*kernel)(T...), unsigned blocks, int threads,
                        std::type_identity_t<T>... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  SPARGO_CUDA_TRY(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(static_cast<unsigned>(threads)), pointers, 0,
                                              ctx.stream()));
}

}  // namespace spargo::detail
