// Shared by the reduction kernels: combining over a block, and loads.
#pragma once

#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "primitives/reduce/backend.hpp"

namespace spargo::detail::reduce {

// In the order of a tree. Overwrites the items.
template <class Op, class T, int Items>
__device__ __forceinline__ T combine_all(T (&item)[Items]) {
#pragma unroll
  for (int half = Items / 2; half > 0; half /= 2) {
#pragma unroll
    for (int j = 0; j < half; ++j) item[j] = Op::apply(item[j], item[j + half]);
  }
  return item[0];
}

// The block's value, in thread 0; see block_reduce_tree.
template <class Op, class T, int Warps>
__device__ T reduce_block(T value, T (&of_warps)[Warps]) {
  return block_reduce_tree(
      value, of_warps, [](T a, T b) { return Op::apply(a, b); }, Op::identity);
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
