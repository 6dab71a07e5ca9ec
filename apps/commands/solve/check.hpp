// An independent check of a solution: the residual of A x = b, row by row in float64 (complex128), straight from CSR.
//
// The residual reported is right if it differs from this one by no more than what rounding allows: in row i
// 4 eps (n_i + 2) (|b_i| + sum_k |a_ik| |x_k|) for n_i entries, in the 2-norm over all rows.
#pragma once

#include <spargo/formats/csr.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spargo::apps {

struct residual_check {
  double relative_residual = 0;  // |b - A x| / |b|; 0 if b is
  double rounding = 0;           // of it
  bool valid = true;             // the reported residual agrees
};

// Sums of squares of numbers of any size: those seen so far, over the square of the largest.
class scaled_norm {
 public:
  void add(double v) {
    if (!(v > 0)) return;
    if (v > largest_) {
      sum_ = sum_ * (largest_ / v) * (largest_ / v) + 1;
      largest_ = v;
    } else {
      sum_ += (v / largest_) * (v / largest_);
    }
  }
  void add(const scaled_norm& other) {
    if (!(other.largest_ > 0)) return;
    const double larger = std::max(largest_, other.largest_);
    const auto part = [&](const scaled_norm& of) { return of.sum_ * (of.largest_ / larger) * (of.largest_ / larger); };
    sum_ = part(*this) + part(other);
    largest_ = larger;
  }
  // This norm over another one.
  [[nodiscard]] double over(const scaled_norm& other) const {
    return other.largest_ > 0 ? largest_ / other.largest_ * std::sqrt(sum_ / other.sum_) : 0;
  }

 private:
  double largest_ = 0;
  double sum_ = 0;
};

// Of some rows.
struct residual_norms {
  scaled_norm residual{}, right{}, rounding{};
  bool is_finite = true;

  void add(const residual_norms& others) {
    residual.add(others.residual);
    right.add(others.right);
    rounding.add(others.rounding);
    is_finite = is_finite && others.is_finite;
  }
  [[nodiscard]] residual_check against(double reported) const {
    residual_check found{residual.over(right), rounding.over(right), is_finite};
    found.valid = is_finite && std::abs(found.relative_residual - reported) <= found.rounding + 1e-6 * reported;
    return found;
  }
};

template <value_type V, index_type I, index_type O>
[[nodiscard]] residual_norms residual_of(const csr_view<const V, I, O, host>& a, span<const V, host> b,
                                         span<const V, host> x) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  residual_norms norms;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    V sum = b[row];
    double scale = std::abs(b[row]);
    for (O k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
      const V product = a.values[k] * x[a.indices[k]];
      sum -= product;
      scale += std::abs(product);
    }
    norms.is_finite = norms.is_finite && std::isfinite(std::abs(sum));
    norms.residual.add(std::abs(sum));
    norms.right.add(std::abs(b[row]));
    norms.rounding.add(4 * eps * (static_cast<double>(a.offsets[row + 1] - a.offsets[row]) + 2) * scale);
  }
  return norms;
}

}  // namespace spargo::apps
