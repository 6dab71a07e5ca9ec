// Programmatic dependent launch: a kernel starts while its predecessor still runs and waits for its end itself (compute
// capability 9.0; earlier chips run the kernels one after the other).
#pragma once

#include "core/device/launch.cuh"

#include <spargo/core/device_features.cuh>

#include <type_traits>

namespace spargo::detail {

// Waits until all writes of the preceding kernel are visible. Call it before touching any of that memory.
__device__ __forceinline__ void wait_for_kernel_in_front() {
  if constexpr (has_hopper_blocks) asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the next kernel start once all blocks have called this and there is room.
__device__ __forceinline__ void start_kernel_behind() {
  if constexpr (has_hopper_blocks) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Only for Hopper code or later: other code does not wait for its predecessor.
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
