// Barriers in shared memory that count arrivals and bytes (compute capability 9.0; PTX ISA, "mbarrier").
//
// A barrier is one 8-byte word. A phase ends when all arrivals and all expected bytes have come; phases alternate
// between 0 and 1. An arrival releases the thread's earlier writes, a wait acquires them. On earlier chips
// (`has_hopper_blocks` is false) these functions are empty and must not be called.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/device_features.cuh>

#include <cstdint>

namespace spargo::detail {

// By one thread; `arrivals` per phase.
__device__ __forceinline__ void mbarrier_init(unsigned address, int arrivals) {
  if constexpr (has_hopper_blocks) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
}
// Makes initialised barriers visible to this thread's copies and, after the cluster's barrier, to its other blocks.
__device__ __forceinline__ void mbarrier_init_fence() {
  if constexpr (has_hopper_blocks) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned address) {
  if constexpr (has_hopper_blocks) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address) : "memory");
}
// Arrives, and adds `bytes` to the bytes that the phase waits for.
__device__ __forceinline__ void mbarrier_expect_tx(unsigned address, unsigned bytes) {
  if constexpr (has_hopper_blocks) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
  }
}
// Arrives at the barrier at the same address in block `rank` of the cluster. Orders only the tensor cores' reads, which
// have already been waited for. Release at cluster scope would wait until all of the thread's stores reach the L2 cache
// (matmul of 8192 x 8192 x 8192 on an H200: 2.05 ms instead of 1.40).
__device__ __forceinline__ void mbarrier_arrive_at(unsigned address, unsigned rank) {
  if constexpr (has_hopper_blocks) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
        "}\n" ::"r"(address),
        "r"(rank)
        : "memory");
  }
}

// Whether the phase of this parity has ended; may wait briefly. If so, its copied bytes are visible.
__device__ __forceinline__ bool mbarrier_try_wait(unsigned address, unsigned parity) {
  unsigned done = 1;
  if constexpr (has_hopper_blocks) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address), "r"(parity)
                 : "memory");
  }
  return done != 0;
}
// Waits until the phase has ended. The loop is in assembly, so that the compiler still unrolls the loops around it.
__device__ __forceinline__ void mbarrier_wait(unsigned address, unsigned parity) {
  if constexpr (has_hopper_blocks) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}" ::"r"(address),
        "r"(parity)
        : "memory");
  }
}

// A barrier as an object in shared memory.
class shared_barrier {
 public:
  [[nodiscard]] __device__ unsigned address() const { return shared_address(&state_); }
  __device__ void init(int arrivals) { mbarrier_init(address(), arrivals); }
  __device__ void arrive() { mbarrier_arrive(address()); }
  __device__ void expect_tx(unsigned bytes) { mbarrier_expect_tx(address(), bytes); }
  __device__ bool try_wait(unsigned parity) { return mbarrier_try_wait(address(), parity); }
  __device__ void wait(unsigned parity) { mbarrier_wait(address(), parity); }

 private:
  std::uint64_t state_;
};

}  // namespace spargo::detail
