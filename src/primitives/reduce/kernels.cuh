// Shared by the reduction kernels: combining over a warp and over a block.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "primitives/reduce/backend.hpp"

namespace spargo::detail::reduce {

template <class Op, class T>
__device__ T reduce_warp(T value) {
  return warp_reduce_to_first(value, [](T a, T b) { return Op::apply(a, b); });
}

// The block's value, in thread 0. `of_warp`: one shared element per warp, reusable after a barrier.
template <class Op, int Threads, class T>
__device__ T reduce_block(T value, T* of_warp) {
  constexpr int warps = Threads / warp_size;
  static_assert(Threads % warp_size == 0 && warps <= warp_size);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  value = reduce_warp<Op>(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) value = reduce_warp<Op>(lane < warps ? of_warp[lane] : Op::identity);
  return value;
}

// item_of with floating-point products rounded: otherwise the compiler would fuse them with additions on some paths
// only, and the bits would depend on the range's alignment.
template <source_kind Source, class T>
__device__ __forceinline__ T device_item(T a, T b) {
  if constexpr (Source == source_kind::products && std::same_as<T, float>) {
    return __fmul_rn(a, b);
  } else if constexpr (Source == source_kind::products && std::same_as<T, double>) {
    return __dmul_rn(a, b);
  } else {
    return item_of<Source>(a, b);
  }
}

template <source_kind Source, class T>
__device__ T load_item(const operands<T>& in, std::int64_t i) {
  if constexpr (Source == source_kind::values) {
    return in.a[i];
  } else {
    return device_item<Source>(in.a[i], in.b[i]);
  }
}

}  // namespace spargo::detail::reduce
