// Numbers of any value type, for oracles.
#pragma once

#include <spargo/core/types.hpp>

#include <complex>

namespace spargo::test {

template <class V>
struct real_part {
  using type = V;
};
template <class R>
struct real_part<std::complex<R>> {
  using type = R;
};
template <class V>
using real_t = typename real_part<V>::type;

// re + im i; re for real types.
template <class V>
V number(double re, double im) {
  if constexpr (complex_type<V>) {
    return V(static_cast<real_t<V>>(re), static_cast<real_t<V>>(im));
  } else {
    return static_cast<V>(re);
  }
}

template <class V>
std::complex<long double> widened(V v) {
  return {static_cast<long double>(std::real(v)), static_cast<long double>(std::imag(v))};
}

}  // namespace spargo::test
