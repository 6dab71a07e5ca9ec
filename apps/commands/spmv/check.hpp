// An independent check of y = A x and of y = A^T x: every row recomputed sequentially in float64 (complex128), straight
// from CSR.
//
// Row i is right when |y_i - r_i| <= eps * (n_i + 2) * s_i + n_i * tiny, where r_i is the recomputed value,
// s_i = sum_k |a_ik| |x_k| and n_i the row's length; eps is that of y's precision, tiny its smallest subnormal. That is
// what any order of summation achieves (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).
// The reference's own rounding is within the "+ 2" for fp32; for fp64 it has the same bound as y, hence the factor 2.
// A row whose terms are not finite must give the same: NaN where the reference has NaN, the same infinity where it has
// one. A row of finite terms that may overflow y's range may give anything that is not finite.
#pragma once

#include <spargo/formats/csr.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace spargo::apps {

struct spmv_check {
  bool valid = true;
  double max_error = 0;         // the largest |y_i - r_i| / s_i over the rows that are finite
  std::int64_t worst_row = -1;  // from 0; the first wrong row, else the row of max_error
  double bound = 0;             // eps * (n_i + 2) there, to hold max_error against
};

namespace detail {

template <value_type V>
struct reference_of {
  using type = double;
};
template <complex_type V>
struct reference_of<V> {
  using type = std::complex<double>;
};

inline bool is_finite(double v) { return std::isfinite(v); }
inline bool is_finite(const std::complex<double>& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); }

// Of two results that are not both finite.
inline bool same_class(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b; }
inline bool same_class(const std::complex<double>& a, const std::complex<double>& b) {
  // Products of complex infinities differ among correct multiplications (C99, annex G): only "not finite" is certain.
  return !is_finite(a) && !is_finite(b);
}

// What a row of y must be.
template <class Reference>
struct reference_row {
  Reference sum{};
  double scale = 0;
  double length = 0;
  bool finite_terms = true;

  void add(const Reference& a, const Reference& b) {
    sum += a * b;
    scale += std::abs(a) * std::abs(b);
    length += 1;
    finite_terms = finite_terms && is_finite(a) && is_finite(b);
  }
};

// Compares y[row]; for ascending rows.
template <value_type V, class Reference>
void check_row(std::int64_t row, const reference_row<Reference>& expected, V y, spmv_check& result) {
  using real = decltype(std::abs(V()));
  constexpr double eps = std::numeric_limits<real>::epsilon();
  constexpr double tiny = std::numeric_limits<real>::denorm_min();
  constexpr double largest = std::numeric_limits<real>::max();
  // Each complex product is four real ones and two sums.
  constexpr double factor = complex_type<V> ? 4.0 : 2.0;

  const auto& [sum, scale, length, finite_terms] = expected;
  const Reference got(y);
  bool right = true;
  double error = 0;
  if (finite_terms && is_finite(got) && is_finite(sum)) {
    const double difference = std::abs(got - sum);
    error = scale > 0 ? difference / scale : difference;
    right = difference <= factor * (eps * (length + 2) * scale + length * tiny);
  } else if (finite_terms) {
    right = !is_finite(got) && !(scale < largest);
  } else {
    right = same_class(sum, got);
  }
  if (result.valid && (!right || error > result.max_error || result.worst_row < 0)) {
    result.worst_row = row;
    result.bound = factor * eps * (length + 2);
  }
  result.valid = result.valid && right;
  result.max_error = std::max(result.max_error, error);
}

}  // namespace detail

template <value_type V, index_type I, index_type O>
[[nodiscard]] spmv_check check_spmv(const csr_view<const V, I, O, host>& matrix, span<const V, host> x,
                                    span<const V, host> y) {
  using reference = typename detail::reference_of<V>::type;
  spmv_check result;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    detail::reference_row<reference> expected;
    for (O k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      expected.add(reference(matrix.values[k]), reference(x[matrix.indices[k]]));
    }
    detail::check_row(row, expected, y[row], result);
  }
  return result;
}

// The same for y = A^T x: an element of y for each column. Takes 32 bytes for each of them, 40 if complex.
template <value_type V, index_type I, index_type O>
[[nodiscard]] spmv_check check_transposed_spmv(const csr_view<const V, I, O, host>& matrix, span<const V, host> x,
                                               span<const V, host> y) {
  using reference = typename detail::reference_of<V>::type;
  std::vector<detail::reference_row<reference>> expected(static_cast<std::size_t>(matrix.cols));
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (O k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      expected[static_cast<std::size_t>(matrix.indices[k])].add(reference(matrix.values[k]), reference(x[row]));
    }
  }
  spmv_check result;
  for (std::int64_t c = 0; c < matrix.cols; ++c) {
    detail::check_row(c, expected[static_cast<std::size_t>(c)], y[c], result);
  }
  return result;
}

}  // namespace spargo::apps
