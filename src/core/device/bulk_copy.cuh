// Bulk copies from global to shared memory, which run beside the threads and report on a barrier (compute capability
// 9.0; PTX ISA, "mbarrier" and "cp.async.bulk").
//
// One thread initialises the barrier, expects the bytes of all copies of a phase and starts them; the others may wait
// once a block barrier has made the initialisation visible. Addresses and sizes are multiples of 16 bytes. In code for
// earlier chips (`has_hopper_blocks` is false) nothing may call them, and they are empty.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/device_features.cuh>

#include <cstdint>

namespace spargo::detail {

inline constexpr int bulk_line = 16;  // bytes: what bulk copies are aligned to

// For one arrival a phase, visible to the copies that this thread starts.
__device__ inline void bulk_initialize(std::uint64_t* barrier) {
  if constexpr (has_hopper_blocks) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
}

__device__ inline void bulk_expect(std::uint64_t* barrier, unsigned bytes) {
  if constexpr (has_hopper_blocks) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
  }
}

__device__ inline void bulk_copy(void* to, const void* from, unsigned bytes, std::uint64_t* barrier) {
  if constexpr (has_hopper_blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
  }
}

__device__ inline void bulk_wait(std::uint64_t* barrier, unsigned phase) {
  if constexpr (has_hopper_blocks) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(phase)
        : "memory");
  }
}

}  // namespace spargo::detail
