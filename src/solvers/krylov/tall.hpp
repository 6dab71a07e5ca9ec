// Products of a tall, narrow matrix with a vector: the vectors v_0 .. v_{k-1}, one after the other in memory, n each.
#pragma once

#include "solvers/krylov/iteration.hpp"

namespace spargo::detail::krylov {

// h = V^H w; returns (w, w). h has k sums.
template <class V>
double project(const block_passes& passes, const V* basis, std::int64_t k, const V* w, sum_of<V>* h,
               std::vector<double>& sums) {
  using S = sum_of<V>;
  constexpr std::int64_t d = doubles_of<S>;
  const std::int64_t n = passes.size();
  passes.sum(
      k * d + 1,
      [&](std::int64_t first, std::int64_t last, double* out) {
        for (std::int64_t j = 0; j < k; ++j) {
          const V* const v = basis + j * n;
          store(sum_terms<S>(first, last, [&](std::int64_t i) { return inner(v[i], w[i]); }), out + j * d);
        }
        out[k * d] = sum_terms<double>(first, last, [&](std::int64_t i) { return square(w[i]); });
      },
      sums.data());
  for (std::int64_t j = 0; j < k; ++j) h[j] = load<S>(sums.data() + j * d);
  return sums[static_cast<std::size_t>(k * d)];
}

// w += V c; returns (w, w). c has k numbers.
template <class V>
double add_combination(const block_passes& passes, const V* basis, std::int64_t k, const V* c, V* w) {
  const std::int64_t n = passes.size();
  double ww = 0;
  passes.sum(
      1,
      [&](std::int64_t first, std::int64_t last, double* out) {
        for (std::int64_t j = 0; j < k; ++j) {
          const V* const v = basis + j * n;
          const V by = c[j];
          for (std::int64_t i = first; i < last; ++i) w[i] += multiply(by, v[i]);
        }
        *out = sum_terms<double>(first, last, [&](std::int64_t i) { return square(w[i]); });
      },
      &ww);
  return ww;
}

// Makes w orthogonal to the basis by classical Gram-Schmidt, a second time where w lost half of its square ("twice is
// enough": Giraud, Langou, Rozloznik, Numer. Math. 101, 2005). h gets the coefficients; returns |w|, and |w| before in
// `before`. `minus` has room for k numbers, `again` for k sums, `sums` for doubles_of<S> * k + 1.
template <class V>
double orthogonalise(const block_passes& passes, const V* basis, std::int64_t k, V* w, sum_of<V>* h, double& before,
                     std::vector<V>& minus, std::vector<sum_of<V>>& again, std::vector<double>& sums) {
  using R = real_of<V>;
  double ww = project(passes, basis, k, w, h, sums);
  before = std::sqrt(ww);
  const auto subtract = [&](const sum_of<V>* by) {
    for (std::int64_t j = 0; j < k; ++j) {
      if constexpr (complex_type<V>) {
        minus[static_cast<std::size_t>(j)] = {static_cast<R>(-by[j].real()), static_cast<R>(-by[j].imag())};
      } else {
        minus[static_cast<std::size_t>(j)] = static_cast<R>(-by[j]);
      }
    }
    return add_combination(passes, basis, k, minus.data(), w);
  };
  const double all = ww;
  ww = subtract(h);
  if (ww < 0.5 * all) {
    (void)project(passes, basis, k, w, again.data(), sums);
    ww = subtract(again.data());
    for (std::int64_t j = 0; j < k; ++j) h[j] += again[static_cast<std::size_t>(j)];
  }
  return std::sqrt(ww);
}

}  // namespace spargo::detail::krylov
