// The largest change of a sweep, over all cells.
//
// Magnitudes are not negative, so their bits as integers have the same order, with NaN above infinity: an integer
// maximum in device memory is exact and keeps NaN in any order. The present value is read first, so few warps write.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "primitives/stencil/backend.hpp"

namespace spargo::detail::stencil {

// new - old of values already rounded, never fused with the product that gave `next`.
__device__ inline float change_of(float next, float old) { return __fsub_rn(next, old); }
__device__ inline double change_of(double next, double old) { return __dsub_rn(next, old); }

// Call with all lanes of the warp; `moved` is not negative, or NaN; *residual starts as 0.
template <class T>
__device__ void raise_residual(T moved, T* residual) {
  moved = warp_reduce(moved, [](T a, T b) { return larger_magnitude(a, b); });
  if (threadIdx.x % warp_size != 0) return;
  using bits = std::conditional_t<std::same_as<T, float>, unsigned, unsigned long long>;
  bits mine = 0;
  if constexpr (std::same_as<T, float>) {
    mine = __float_as_uint(moved) & 0x7fffffffU;  // the sign of a NaN may be set
  } else {
    mine = static_cast<bits>(__double_as_longlong(moved)) & 0x7fffffffffffffffULL;
  }
  auto* largest = reinterpret_cast<bits*>(residual);
  if (mine > *static_cast<volatile bits*>(largest)) atomicMax(largest, mine);
}

}  // namespace spargo::detail::stencil
