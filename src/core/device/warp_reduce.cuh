// Sums, maxima and unions of a whole warp's words, in all lanes (PTX ISA, "redux.sync"; shuffles before compute
// capability 8.0).
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/device_features.cuh>

namespace spargo::detail {

// By exchange with the lane at distance 16, 8, ... 1.
template <class T, class F>
__device__ __forceinline__ T fold_warp(T value, F combine) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(full_mask, value, distance));
  }
  return value;
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  static_assert(sizeof(T) == 4);
  if constexpr (has_warp_reductions) {
    return __reduce_add_sync(full_mask, value);
  } else {
    return fold_warp(value, [](T a, T b) { return a + b; });
  }
}

template <class T>
__device__ __forceinline__ T warp_max(T value) {
  static_assert(sizeof(T) == 4);
  if constexpr (has_warp_reductions) {
    return __reduce_max_sync(full_mask, value);
  } else {
    return fold_warp(value, [](T a, T b) { return a > b ? a : b; });
  }
}

template <class T>
__device__ __forceinline__ T warp_or(T value) {
  static_assert(sizeof(T) == 4);
  if constexpr (has_warp_reductions) {
    return __reduce_or_sync(full_mask, value);
  } else {
    return fold_warp(value, [](T a, T b) { return a | b; });
  }
}

}  // namespace spargo::detail
