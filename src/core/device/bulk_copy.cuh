// Asynchronous bulk copies between global and shared memory (compute capability 9.0; PTX ISA, "cp.async.bulk"). Those
// into shared memory report their bytes to a barrier (barrier.cuh).
//
// Addresses and sizes are multiples of 16 bytes. On earlier chips (`has_hopper_blocks` is false) these functions are
// empty and must not be called.
#pragma once

#include "core/device/barrier.cuh"

namespace spargo::detail {

inline constexpr int bulk_line = 16;  // alignment of bulk copies in bytes

// Into shared memory. The barrier's phase must expect the bytes.
__device__ __forceinline__ void bulk_copy(void* to, const void* from, unsigned bytes, const shared_barrier& barrier) {
  if constexpr (has_hopper_blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(barrier.address())
                 : "memory");
  }
}

// Into global memory, as a bulk group of this thread.
__device__ __forceinline__ void bulk_store(void* to, const void* from, unsigned bytes) {
  if constexpr (has_hopper_blocks) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

// Waits until this thread's stores no longer read shared memory.
__device__ __forceinline__ void wait_for_bulk_reads() {
  if constexpr (has_hopper_blocks) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Orders this thread's ordinary accesses to shared memory before bulk copies that start after the next barrier.
__device__ __forceinline__ void fence_for_bulk_copies() {
  if constexpr (has_hopper_blocks) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace spargo::detail
