// Kernels that start while the one in front of them still runs, and wait for its end themselves (programmatic dependent
// launch, compute capability 9.0; one after the other before that).
#pragma once

#include "core/device/launch.cuh"

#include <spargo/core/device_features.cuh>

#include <type_traits>

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
template <class... T>
void launch_early(const launch_site& at, const launch_shape& shape, void (*kernel)(T...),
                  std::type_identity_t<T>... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  const bool can = at.ctx.properties().code_capability >= hopper_capability;
  const cudaLaunchConfig_t config{shape.blocks, shape.threads, shape.shared_bytes, at.stream, &early, can ? 1U : 0U};
  check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), "a launch", at.from);
}

}  // namespace spargo::detail
