// Bulk copies between global and shared memory, which run beside the threads (compute capability 9.0; PTX ISA,
// "cp.async.bulk"). Those into shared memory report their bytes to a barrier (barrier.cuh).
//
// Addresses and sizes are multiples of 16 bytes. In code for earlier chips (`has_hopper_blocks` is false) nothing may
// call these, and they are empty.
#pragma once

#include "core/device/barrier.cuh"

namespace spargo::detail {

inline constexpr int bulk_line = 16;  // bytes: what bulk copies are aligned to

// Into shared memory; the bytes count towards the barrier's phase, which expects them.
__device__ __forceinline__ void bulk_copy(void* to, const void* from, unsigned bytes, const shared_barrier& barrier) {
  if constexpr (has_hopper_blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(barrier.address())
                 : "memory");
  }
}

// Into global memory, as a group of the thread's.
__device__ __forceinline__ void bulk_store(void* to, const void* from, unsigned bytes) {
  if constexpr (has_hopper_blocks) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

// Until shared memory is no longer read by this thread's stores.
__device__ __forceinline__ void wait_for_bulk_reads() {
  if constexpr (has_hopper_blocks) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Between this thread's ordinary accesses to shared memory and bulk copies that start after the next barrier.
__device__ __forceinline__ void fence_for_bulk_copies() {
  if constexpr (has_hopper_blocks) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace spargo::detail
