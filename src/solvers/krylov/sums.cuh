// Sums of products in fp64 on a device, real or complex, of vectors of any type.
#pragma once

#include "core/device/complex.cuh"

#include <type_traits>

namespace spargo::detail::krylov {

template <class D>
using sum_on_device = std::conditional_t<std::is_floating_point_v<D>, double, device_complex<double>>;

template <class D>
__device__ D narrowed(sum_on_device<D> a) {
  if constexpr (std::is_floating_point_v<D>) {
    return static_cast<D>(a);
  } else {
    using R = decltype(D{}.re);
    return {static_cast<R>(a.re), static_cast<R>(a.im)};
  }
}

// sum + conj(a) * b
template <class D>
__device__ sum_on_device<D> with_product(D a, D b, sum_on_device<D> sum) {
  if constexpr (std::is_floating_point_v<D>) {
    return multiply_add(static_cast<double>(a), static_cast<double>(b), sum);
  } else {
    const device_complex<double> left{a.re, -a.im};
    const device_complex<double> right{b.re, b.im};
    return multiply_add(left, right, sum);
  }
}

}  // namespace spargo::detail::krylov
