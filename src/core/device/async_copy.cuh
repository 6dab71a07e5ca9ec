// Asynchronous copies from global to shared memory that bypass registers (PTX ISA, "cp.async"; ordinary loads and
// stores before compute capability 8.0).
//
// A thread waits only for the copies that it started; it may read those of others after a subsequent barrier.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/device_features.cuh>

namespace spargo::detail {

template <int Bytes>
struct copied_word;
template <>
struct copied_word<4> {
  using type = unsigned;
};
template <>
struct copied_word<8> {
  using type = uint2;
};
template <>
struct copied_word<16> {
  using type = uint4;
};

// 4, 8 or 16 bytes, aligned to their size, through the L1 cache.
template <int Bytes>
__device__ __forceinline__ void copy_bytes_async(unsigned shared, const void* from) {
  if constexpr (has_async_copies) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(Bytes) : "memory");
  } else {
    using word = typename copied_word<Bytes>::type;
    *static_cast<word*>(__cvta_shared_to_generic(shared)) = *static_cast<const word*>(from);
  }
}

// 16 bytes, bypassing the L1 cache.
__device__ __forceinline__ void copy_line_async(void* to, const void* from) {
  if constexpr (has_async_copies) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
  } else {
    *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
  }
}

template <class D>
__device__ void copy_async(D* shared, const D* from) {
  copy_bytes_async<static_cast<int>(sizeof(D))>(shared_address(shared), from);
}

__device__ __forceinline__ void commit_copies() {
  if constexpr (has_async_copies) asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for all groups except the last `Pending`.
template <int Pending>
__device__ __forceinline__ void wait_for_groups() {
  if constexpr (has_async_copies) asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// Waits for all copies of this thread.
__device__ __forceinline__ void wait_for_copies() {
  if constexpr (has_async_copies) asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace spargo::detail
