// Value types of kernels: real ones unchanged, complex ones as a pair with plain arithmetic.
//
// `std::complex` multiplication checks for NaN and calls the host's library; kernels use the textbook formula with
// fused multiply-adds. The layout is that of std::complex, aligned so that an element is one load: 8 bytes for float
// parts, 16 for double. Device arrays are aligned to 256.
#pragma once

#include <spargo/core/types.hpp>

namespace spargo::detail {

template <class T>
struct alignas(2 * sizeof(T)) device_complex {
  T re;
  T im;
};

template <class T>
__host__ __device__ constexpr device_complex<T> operator+(device_complex<T> a, device_complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__host__ __device__ constexpr device_complex<T> operator-(device_complex<T> a, device_complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
__host__ __device__ constexpr device_complex<T> operator-(device_complex<T> a) {
  return {-a.re, -a.im};
}
template <class T>
__host__ __device__ constexpr device_complex<T> operator*(device_complex<T> a, device_complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
__host__ __device__ constexpr device_complex<T>& operator+=(device_complex<T>& a, device_complex<T> b) {
  return a = a + b;
}
template <class T>
__host__ __device__ constexpr bool operator==(device_complex<T> a, device_complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
__host__ __device__ constexpr device_complex<T> conj(device_complex<T> a) {
  return {a.re, -a.im};
}

// The quotient, without overflow or loss on the way: both are scaled to parts of at most 2 by powers of 2.
template <class T>
__device__ int exponent_of(device_complex<T> a) {
  const T larger = fmax(fabs(a.re), fabs(a.im));
  return larger > 0 && isfinite(larger) ? ilogb(larger) : 0;
}
template <class T>
__device__ device_complex<T> operator/(device_complex<T> a, device_complex<T> b) {
  const int of_a = exponent_of(a);
  const int of_b = exponent_of(b);
  const device_complex<T> x{scalbn(a.re, -of_a), scalbn(a.im, -of_a)};
  const device_complex<T> y{scalbn(b.re, -of_b), scalbn(b.im, -of_b)};
  const device_complex<T> turned = x * conj(y);
  const T square = y.re * y.re + y.im * y.im;
  return {scalbn(turned.re / square, of_a - of_b), scalbn(turned.im / square, of_a - of_b)};
}

// a * b + c, one rounding per fused step.
__device__ inline float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }
template <class T>
__device__ device_complex<T> multiply_add(device_complex<T> a, device_complex<T> b, device_complex<T> c) {
  return {multiply_add(a.re, b.re, multiply_add(-a.im, b.im, c.re)),
          multiply_add(a.re, b.im, multiply_add(a.im, b.re, c.im))};
}

template <class V>
struct device_value {
  using type = V;
};
template <class T>
struct device_value<std::complex<T>> {
  using type = device_complex<T>;
};
template <class V>
struct device_value<const V> {
  using type = const typename device_value<V>::type;
};
// The kernel's type for V: `device_value_t<const std::complex<float>>` is `const device_complex<float>`.
template <class V>
using device_value_t = typename device_value<V>::type;

static_assert(sizeof(device_complex<float>) == sizeof(std::complex<float>));
static_assert(sizeof(device_complex<double>) == sizeof(std::complex<double>));

template <class V>
device_value_t<V>* device_cast(V* values) {
  return reinterpret_cast<device_value_t<V>*>(values);
}
// Converts a host value, such as alpha, to a kernel argument.
template <class V>
device_value_t<V> to_device_value(V value) {
  if constexpr (complex_type<V>) {
    return {value.real(), value.imag()};
  } else {
    return value;
  }
}

}  // namespace spargo::detail
