// What the single-pass scan needs of Hopper: barriers in shared memory that count arrivals and bytes, and the copies of
// whole tiles between global and shared memory that run beside the threads (PTX ISA 8.x: mbarrier, cp.async.bulk).
#pragma once

#include <cstdint>

namespace spargo::detail {

// An object in shared memory. A phase ends when all arrivals and all announced bytes have come; phases alternate
// between 0 and 1. An arrival releases what its thread did before, a wait acquires it.
class tile_barrier {
 public:
  __device__ void initialize(int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
  }
  __device__ void arrive() {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address()) : "memory");
  }
  // Arrives, and makes the phase last until that many bytes have been copied in as well.
  __device__ void arrive_expecting(std::uint32_t bytes) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
  }
  __device__ void wait(int phase) {
    std::uint32_t done = 0;
    while (done == 0) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address()), "r"(phase)
                   : "memory");
    }
  }
  [[nodiscard]] __device__ std::uint32_t address() const {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(&state_));
  }

 private:
  std::uint64_t state_;
};

// Addresses and bytes are multiples of 16. The bytes count towards the barrier's phase.
__device__ inline void start_load(void* shared, const void* global, std::uint32_t bytes, const tile_barrier& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global), "r"(bytes), "r"(barrier.address())
               : "memory");
}

__device__ inline void start_store(void* global, const void* shared, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until shared memory is no longer read by this thread's stores.
__device__ inline void wait_stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// Between this thread's ordinary accesses to shared memory and copies that start after the next barrier.
__device__ inline void fence_for_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace spargo::detail
