// Multiplication for all value types on the host. std::complex's operator* repairs NaN products through a library
// call for every entry; a sparse product neither needs nor wants that.
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

// alpha * sum + beta * y, where beta = 0 leaves y unread.
template <value_type V>
inline void update(V& y, V alpha, V sum, V beta) {
  const V product = multiply(alpha, sum);
  y = beta == V{} ? product : product + multiply(beta, y);
}

}  // namespace spargo::detail
