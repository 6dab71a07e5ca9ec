// Kernels that start while the one in front of them still runs, and wait for its end themselves (programmatic dependent
// launch, compute capability 9.0; one after the other before that).
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/device_features.cuh>

namespace spargo::detail {

// Until everything that the kernel in front has written is there. A kernel of `launch_early` calls it before it reads
// or writes any of that.
__device__ __forceinline__ void wait_for_kernel_in_front() {
  if constexpr (has_hopper_blocks) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the kernel behind start as soon as all blocks have come here and there is room.
__device__ __forceinline__ void start_kernel_behind() {
  if constexpr (has_hopper_blocks) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Only where the code that runs is Hopper's or later: other code does not wait.
template <class... Parameters, class... Arguments>
void launch_early(const context<device>& ctx, dim3 blocks, int threads, void (*kernel)(Parameters...),
                  Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = ctx.stream();
  config.attrs = &early;
  config.numAttrs = ctx.properties().code_capability >= hopper_capability ? 1 : 0;
  SPARGO_CUDA_TRY(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

}  // namespace spargo::detail
