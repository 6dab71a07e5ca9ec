// Copies of one element from global to shared memory that no register waits for (PTX ISA, "cp.async").
//
// Each thread waits for the copies that it started; what others started it may read after a barrier behind that.
#pragma once

namespace spargo::detail {

// Of 4, 8 or 16 bytes, aligned to as many.
template <class D>
__device__ void copy_async(D* shared, const D* from) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
      "l"(from), "n"(sizeof(D))
      : "memory");
}

// For all that the thread has started.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace spargo::detail
