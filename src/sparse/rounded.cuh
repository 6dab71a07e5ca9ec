// Products and sums in kernels, rounded one by one as on the host: the compiler fuses none of them.
#pragma once

#include "core/device/complex.cuh"

namespace spargo::detail {

__device__ __forceinline__ float rounded_product(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double rounded_product(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float rounded_sum(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double rounded_sum(double a, double b) { return __dadd_rn(a, b); }
template <class T>
__device__ __forceinline__ device_complex<T> rounded_product(device_complex<T> a, device_complex<T> b) {
  return {rounded_sum(rounded_product(a.re, b.re), -rounded_product(a.im, b.im)),
          rounded_sum(rounded_product(a.re, b.im), rounded_product(a.im, b.re))};
}
template <class T>
__device__ __forceinline__ device_complex<T> rounded_sum(device_complex<T> a, device_complex<T> b) {
  return {rounded_sum(a.re, b.re), rounded_sum(a.im, b.im)};
}

}  // namespace spargo::detail
