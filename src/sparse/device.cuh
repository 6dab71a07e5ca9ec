// Shared by the kernels of all sparse products: launches and loads.
#pragma once

#include "core/device/complex.cuh"
#include "core/device/launch.cuh"

#include <cstdint>
#include <type_traits>

namespace spargo::detail {

// Reads x through the read-only path.
__device__ inline float read(const float* p) { return __ldg(p); }
__device__ inline double read(const double* p) { return __ldg(p); }
__device__ inline device_complex<float> read(const device_complex<float>* p) {
  const float2 v = __ldg(reinterpret_cast<const float2*>(p));
  return {v.x, v.y};
}
__device__ inline device_complex<double> read(const device_complex<double>* p) {
  const double2 v = __ldg(reinterpret_cast<const double2*>(p));
  return {v.x, v.y};
}

// Streaming load of data read once, so that x stays in the caches.
template <class T>
__device__ T read_once(const T* p) {
  if constexpr (sizeof(T) == 4) {
    return __ldcs(p);
  } else {
    using word = std::conditional_t<sizeof(T) == 8, uint2, uint4>;
    const word raw = __ldcs(reinterpret_cast<const word*>(p));
    T value;
    __builtin_memcpy(&value, &raw, sizeof(value));
    return value;
  }
}

// y = alpha * sum + beta * y; beta = 0 does not read y.
template <class D>
__device__ void update(D& y, D alpha, D sum, D beta) {
  const D product = alpha * sum;
  y = beta == D{} ? product : multiply_add(beta, y, product);
}

}  // namespace spargo::detail
