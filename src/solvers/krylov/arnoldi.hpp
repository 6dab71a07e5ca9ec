// The orthonormal basis of a Krylov space and the Hessenberg matrix H with A M^-1 V = V H, by classical Gram-Schmidt.
//
// Idea: the basis is what an iteration reads most, so two steps share its readings: w and A M^-1 w lose their parts in
// the basis together, and H's second column follows from A M^-1 w by linearity. That amplifies its rounding errors by
// at most |A w| / |w orthogonal to V|; beyond 100 the second step is dropped, and steps come one by one.
// A second projection follows only where the loss of orthogonality passes the square root of eps (Simon, Linear Algebra
// and its Applications 61, 1984): below it residuals differ by that from those of an orthogonal basis. The loss is
// bounded from the coefficients; where the bound passes, it is measured, and so is that of the last two vectors.
// Cost: a step reads the basis once, and some more for measures; with two projections of each vector it is four times.
#pragma once

#include "solvers/krylov/tall.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace spargo::detail::krylov {

template <class V>
class arnoldi {
 public:
  using S = sum_of<V>;

  // basis: restart + 1 vectors, the first of them given; z: one more.
  arnoldi(const system<V>& of, V* basis, V* z, std::int64_t restart)
      : of_(of),
        basis_(basis),
        z_(z),
        rows_(static_cast<std::size_t>(restart) + 1),
        entries_(rows_ * static_cast<std::size_t>(restart)),
        below_(rows_),
        lost_(rows_),
        sums_(2 * rows_),
        again_(4 * rows_),
        minus_(2 * rows_) {}

  void start() { lost_[0] = 0; }

  // Adds a column of H, and a vector unless the space is invariant; two of them if `may_pair` and it pays. Returns how
  // many; 0: a product is not finite.
  int extend(std::int64_t k, bool may_pair) {
    const std::int64_t n = of_.stride();
    V* const w = basis_ + (k + 1) * n;
    product(basis_ + k * n, w);
    if (may_pair && pairs_ && size_ > least_size && size_ < 1 / least_size) {
      product(w, w + n);
      if (extend_by_two(k + 1, {w, w + n})) return 2;
      pairs_ = false;
    } else {
      totals_ = {project<1, V>(of_.passes, basis_, k + 1, {w}, sums_.data())};
      left_ = {add_combinations<1, V>(of_.passes, basis_, k + 1, negated(1, k + 1, sums_), {w})};
    }
    return extend_by_one(k + 1, w) ? 1 : 0;
  }

  // Rows 0 .. k; `below` is the element under them, 0 where the space is invariant.
  [[nodiscard]] const S* column(std::int64_t k) const { return entries_.data() + static_cast<std::size_t>(k) * rows_; }
  [[nodiscard]] double below(std::int64_t k) const { return below_[static_cast<std::size_t>(k)]; }

 private:
  static constexpr double eps = static_cast<double>(std::numeric_limits<real_of<V>>::epsilon());
  static constexpr double least_size = 0x1p-30;  // of |A v| and its inverse: A A v is in range then
  static constexpr double least_left = 1e-4;     // squares: 1 / 100 of w is orthogonal to the basis
  inline static const double most_lost = std::sqrt(eps);

  void product(const V* v, V* w) const { of_.product(of_.preconditioned(v, z_), w); }

  // -h in V.
  const V* negated(int vectors, std::int64_t k, const std::vector<S>& h) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(vectors * k); ++j) {
      minus_[j] = -static_cast<V>(h[j]);
    }
    return minus_.data();
  }

  // A bound on |V^H w| after h = V^H w was subtracted: off the diagonal column j of V^H V has the norm lost_[j].
  [[nodiscard]] double lost_by(std::int64_t k, const S* h, double size) const {
    double sum = 2 * eps * size;
    double squares = 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
      sum += lost_[j] * (std::abs(h[j]) + std::sqrt(squares));
      squares += std::norm(h[j]);
    }
    return sum;
  }

  [[nodiscard]] static double norm_of(const S* h, std::int64_t count) {
    double squares = 0;
    for (std::int64_t j = 0; j < count; ++j) squares += std::norm(h[j]);
    return std::sqrt(squares);
  }

  // again_ = V^H w, which shows what is lost; lost_ becomes exact for the last two vectors, which w depends on most.
  template <int W>
  void measure(std::int64_t k, const std::array<V*, W>& w) {
    std::array<V*, W + 2> all{};
    std::copy(w.begin(), w.end(), all.begin());
    for (std::int64_t back = 1; back <= 2; ++back) {
      all[static_cast<std::size_t>(W + back - 1)] = basis_ + std::max<std::int64_t>(k - back, 0) * of_.stride();
    }
    (void)project<W + 2, V>(of_.passes, basis_, k, all, again_.data());
    for (std::int64_t back = 1; back <= std::min<std::int64_t>(k, 2); ++back) {
      lost_[static_cast<std::size_t>(k - back)] = norm_of(again_.data() + (W + back - 1) * k, k - back);
    }
  }

  // w -= V again_; returns the products of the w that are left.
  template <int W>
  gram_of<W, V> subtract_again(std::int64_t k, const std::array<V*, W>& w) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(W * k); ++j) sums_[j] += again_[j];
    return add_combinations<W, V>(of_.passes, basis_, k, negated(W, k, again_), w);
  }

  // w lost its part in the basis of k vectors once.
  bool extend_by_one(std::int64_t k, V* w) {
    size_ = std::sqrt(totals_[0]);
    double left = left_[0];
    double lost = lost_by(k, sums_.data(), size_);
    if (!(lost <= most_lost * std::sqrt(left))) {
      measure<1>(k, {w});
      lost = norm_of(again_.data(), k);
    }
    if (!(lost <= most_lost * std::sqrt(left))) {
      lost = lost_by(k, again_.data(), std::sqrt(left));
      left = subtract_again<1>(k, {w})[0];
    }
    if (!std::isfinite(left)) return false;
    S* const h = entries_.data() + static_cast<std::size_t>(k - 1) * rows_;
    std::copy_n(sums_.begin(), k, h);
    double below = std::sqrt(left);
    if (!(below > eps * size_)) below = 0;
    below_[static_cast<std::size_t>(k - 1)] = below;
    if (below > 0) {
      lost_[static_cast<std::size_t>(k)] = lost / below;
      const auto by = static_cast<real_of<V>>(1 / below);
      of_.passes.each([&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) w[i] *= by;
      });
    }
    return true;
  }

  // What is left of w[1]^2 without its part along w[0].
  [[nodiscard]] static double second_of(const gram_of<2, V>& g) { return g[2] - (g[1] * g[1] + g[3] * g[3]) / g[0]; }

  // False, and w[0] is as extend_by_one expects it: w[1] is of no use.
  bool extend_by_two(std::int64_t k, const std::array<V*, 2>& w) {
    const gram_of<2, V> before = project<2, V>(of_.passes, basis_, k, {w[0], w[1]}, sums_.data());
    gram_of<2, V> g = add_combinations<2, V>(of_.passes, basis_, k, negated(2, k, sums_), w);
    totals_ = {before[0]};
    left_ = {g[0]};
    const auto is_usable = [&] { return g[0] > least_left * before[0] && second_of(g) > least_left * before[2]; };
    if (!is_usable()) return false;
    const S* const h0 = sums_.data();
    const S* const h1 = h0 + k;
    // Relative to what is left; w[1] loses its part along w[0] as well.
    std::array<double, 2> lost{};
    const auto relative = [&](double of0, double of1) {
      lost[0] = of0 / std::sqrt(g[0]);
      lost[1] = (of1 + std::sqrt(g[2]) * (lost[0] + 2 * eps)) / std::sqrt(second_of(g));
    };
    const auto is_much = [&] { return !(std::max(lost[0], lost[1]) <= most_lost); };
    relative(lost_by(k, h0, std::sqrt(before[0])), lost_by(k, h1, std::sqrt(before[2])));
    if (is_much()) {
      measure<2>(k, w);
      relative(norm_of(again_.data(), k), norm_of(again_.data() + k, k));
    }
    if (is_much()) {
      const double lost0 = lost_by(k, again_.data(), std::sqrt(g[0]));
      const double lost1 = lost_by(k, again_.data() + k, std::sqrt(g[2]));
      g = subtract_again<2>(k, w);
      left_ = {g[0]};
      if (!is_usable()) return false;
      relative(lost0, lost1);
    }
    const double below0 = std::sqrt(g[0]);
    const double below1 = std::sqrt(second_of(g));
    S along;  // w[1]'s part along w[0]
    if constexpr (complex_type<V>) {
      along = {g[1] / g[0], g[3] / g[0]};
    } else {
      along = g[1] / g[0];
    }
    of_.passes.each([&](std::int64_t first, std::int64_t last) {
      const auto by0 = static_cast<real_of<V>>(1 / below0);
      const auto by1 = static_cast<real_of<V>>(1 / below1);
      const V minus = -static_cast<V>(along);
      for (std::int64_t i = first; i < last; ++i) {
        w[1][i] = (w[1][i] + multiply(minus, w[0][i])) * by1;
        w[0][i] *= by0;
      }
    });
    set_columns(k, h0, h1, along, below0, below1);
    lost_[static_cast<std::size_t>(k)] = lost[0];
    lost_[static_cast<std::size_t>(k + 1)] = lost[1];
    size_ = std::sqrt(before[0]);
    return true;
  }

  // With w = V h0 + below0 v, and A w = V h1 + along below0 v + below1 v': A v = (A w - V H h0) / below0.
  void set_columns(std::int64_t k, const S* h0, const S* h1, S along, double below0, double below1) {
    S* const first = entries_.data() + static_cast<std::size_t>(k - 1) * rows_;
    S* const second = first + rows_;
    std::copy_n(h0, k, first);
    below_[static_cast<std::size_t>(k - 1)] = below0;
    below_[static_cast<std::size_t>(k)] = below1 / below0;
    std::copy_n(h1, k, second);
    second[k] = along * below0;
    for (std::int64_t j = 0; j < k; ++j) {
      for (std::int64_t i = 0; i <= j; ++i) second[i] -= column(j)[i] * h0[j];
      second[j + 1] -= below_[static_cast<std::size_t>(j)] * h0[j];
    }
    for (std::int64_t i = 0; i <= k; ++i) second[i] /= below0;
  }

  const system<V>& of_;
  V* basis_;
  V* z_;
  std::size_t rows_;
  std::vector<S> entries_;
  std::vector<double> below_;
  std::vector<double> lost_;
  std::vector<S> sums_;
  std::vector<S> again_;
  std::vector<V> minus_;
  gram_of<1, V> totals_{};  // |w|^2 before and after the first projection
  gram_of<1, V> left_{};
  double size_ = 0;  // |A v|
  bool pairs_ = true;
};

}  // namespace spargo::detail::krylov
