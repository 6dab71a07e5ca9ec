// Barriers in shared memory that count arrivals and bytes (compute capability 9.0; PTX ISA, "mbarrier").
//
// A barrier is one 8-byte word. A phase ends when all arrivals and all expected bytes have come; phases alternate
// between 0 and 1. An arrival releases what its thread did before, a wait acquires it. In code for earlier chips
// (`has_hopper_blocks` is false) nothing may call these, and they are empty.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/device_features.cuh>

#include <cstdint>

namespace spargo::detail {

// By one thread, for so many arrivals a phase.
__device__ __forceinline__ void mbarrier_init(unsigned address, int arrivals) {
  if constexpr (has_hopper_blocks) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
}
// Makes the thread's initialised barriers visible to copies that it starts and, once the cluster's barrier has been
// passed, to the cluster's other blocks.
__device__ __forceinline__ void mbarrier_init_fence() {
  if constexpr (has_hopper_blocks) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned address) {
  if constexpr (has_hopper_blocks) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address) : "memory");
}
// Arrives, and makes the phase last until that many bytes have been copied in as well.
__device__ __forceinline__ void mbarrier_expect_tx(unsigned address, unsigned bytes) {
  if constexpr (has_hopper_blocks) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
  }
}
// Arrives at the barrier at the same place in block `rank` of the cluster. It orders nothing but the tensor cores'
// reads, which their wait has seen to the end: release at the scope of the cluster would wait for every store of the
// thread to reach the L2 cache (matmul of 8192 x 8192 x 8192 on an H200: 2.05 ms for 1.40).
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

// Whether the phase of that parity has ended, maybe after a short wait; sees what was copied in before.
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
// Until it has. The compiler does not see the loop, and unrolls those around it.
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

// The same as an object in shared memory.
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
