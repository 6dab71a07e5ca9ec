// Host multiplication for all value types. std::complex's operator* calls a library function per entry to repair NaN
// products, which a sparse product does not need.
#pragma once

#include <spargo/core/types.hpp>

namespace spargo::detail {

template <real_type V>
[[nodiscard]] inline V multiply(V a, V b) {
  return a * b;
}
template <class R>
[[nodiscard]] inline std::complex<R> multiply(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// alpha * sum + beta * y; beta = 0 does not read y.
template <value_type V>
inline void update(V& y, V alpha, V sum, V beta) {
  const V product = multiply(alpha, sum);
  y = beta == V{} ? product : product + multiply(beta, y);
}

}  // namespace spargo::detail
