// A linear system for the methods, and what they share: products, preconditioning, sums, the number of iterations.
#pragma once

#include "solvers/krylov/blocks.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/solvers/krylov.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace spargo::detail::krylov {

// v * 2^exponent in two steps, since the power alone may be out of range.
template <class V>
[[nodiscard]] inline V times_power(V v, int exponent) {
  using R = real_of<V>;
  const int half = exponent / 2;
  return v * std::ldexp(R{1}, half) * std::ldexp(R{1}, exponent - half);
}

// Throws invalid_data: an element of `what` is not finite.
[[noreturn]] void refuse_element(const char* what, std::int64_t row);

// Of four complex vectors with the basis of gmres.
[[nodiscard]] constexpr std::int64_t sums_of_pass(std::int64_t restart) { return 8 * (restart + 1); }

// A and M. A is multiplied by 2^-exponent, which brings its largest element near 1. Of the device: device_system.hpp.
template <class V, class Space = host>
struct system;

template <class V>
struct system<V, host> {
  context<host> ctx;
  linear_operator<V, host> a{};
  int exponent = 0;
  array<V, host> inverse{};               // of the diagonal, if M is one
  linear_operator<V, host> inverse_of{};  // M^-1 of the caller; no function otherwise
  const collective* ranks = nullptr;      // n is then the number of this rank's rows
  std::int64_t ghosts = 0;                // elements behind those of a vector, which a product may write
  block_passes passes{};

  [[nodiscard]] std::int64_t n() const { return a.size; }
  [[nodiscard]] std::int64_t all_rows() const { return ranks == nullptr ? n() : ranks->rows(); }
  [[nodiscard]] std::int64_t stride() const { return n() + ghosts; }  // between vectors of the work space
  [[nodiscard]] bool is_plain() const { return inverse.empty() && !inverse_of.run; }
  // Once n is known; `restart` of gmres.
  void prepare(krylov_method /*method*/, std::int64_t restart) {
    passes = {ctx, n(), sums_of_pass(restart)};
    passes.distribute(ranks, stride());
  }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return inverse.size() * static_cast<std::int64_t>(sizeof(V)) + passes.bytes();
  }

  // to = 2^by * from; they may be the same.
  void scale(const V* from, int by, V* to) const {
    passes.each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) to[i] = times_power(from[i], by);
    });
  }
  // The largest part of an element. Throws invalid_data for one that is not finite.
  double largest(const char* what, span<const V, host> v) const {
    std::int64_t bad = -1;
    const double most = largest(v, bad);
    if (bad >= 0) refuse_element(what, bad);
    return most;
  }
  // The first element that is not finite in `bad`, -1: none.
  double largest(span<const V, host> v, std::int64_t& bad) const {
    bad = -1;
    double most = 0;
    for (std::int64_t i = 0; i < v.size(); ++i) {
      const auto re = static_cast<double>(std::real(v[i]));
      const auto im = static_cast<double>(std::imag(v[i]));
      if (!std::isfinite(re) || !std::isfinite(im)) {
        bad = i;
        break;
      }
      most = std::max({most, std::abs(re), std::abs(im)});
    }
    if (ranks != nullptr) ranks->largest(most, bad);
    return most;
  }

  void product(const V* x, V* y) const {
    a.run(span<const V, host>(x, n()), span<V, host>(y, n()));
    if (exponent == 0) return;
    scale(y, -exponent, y);
  }

  // M^-1 r: in z, or r itself where there is no M.
  [[nodiscard]] const V* preconditioned(const V* r, V* z) const {
    if (is_plain()) return r;
    if (inverse.empty()) {
      inverse_of.run(span<const V, host>(r, n()), span<V, host>(z, n()));
    } else {
      passes.each([&](std::int64_t first, std::int64_t last) {
        const V* const d = inverse.data();
        for (std::int64_t i = first; i < last; ++i) z[i] = multiply(d[i], r[i]);
      });
    }
    return z;
  }

  [[nodiscard]] sum_of<V> dot(const V* u, const V* v) const {
    double sums[2];
    using S = sum_of<V>;
    passes.sum(
        doubles_of<S>,
        [&](std::int64_t first, std::int64_t last, double* out) {
          store(sum_terms<S>(first, last, [&](std::int64_t i) { return inner(u[i], v[i]); }), out);
        },
        sums);
    return load<S>(sums);
  }
  [[nodiscard]] double norm(const V* v) const {
    double sum = 0;
    passes.sum(
        1,
        [&](std::int64_t first, std::int64_t last, double* out) {
          *out = sum_terms<double>(first, last, [&](std::int64_t i) { return square(v[i]); });
        },
        &sum);
    return std::sqrt(sum);
  }
  // r = b - A x; returns its norm.
  double residual(const V* b, const V* x, V* r) const {
    product(x, r);
    double sum = 0;
    passes.sum(
        1,
        [&](std::int64_t first, std::int64_t last, double* out) {
          for (std::int64_t i = first; i < last; ++i) r[i] = b[i] - r[i];
          *out = sum_terms<double>(first, last, [&](std::int64_t i) { return square(r[i]); });
        },
        &sum);
    return std::sqrt(sum);
  }
};

// A run: vectors, the tolerance and the count. A method starts from x with residual r and returns once `residual` is at
// most `wanted`, the iterations are used up, or it cannot go on. x is usable on return; r need not be its residual.
template <class V, class Space = host>
struct iteration {
  const system<V, Space>& of;
  const V* b;
  V* x;
  V* r;
  V* work;            // vectors of n elements, as many as vectors_of(method)
  double scale;       // |b|
  double wanted;      // |r| at the end
  double residual;    // |r|
  std::int64_t most;  // iterations
  std::int64_t restart;
  std::int64_t done = 0;
  std::vector<double> history{};
  std::string detail{};  // of a breakdown

  [[nodiscard]] bool goes_on() const { return residual > wanted && done < most; }
  [[nodiscard]] V* vector(std::int64_t k) const { return work + k * of.stride(); }

  void count(double next) {
    residual = next;
    ++done;
    history.push_back(residual / scale);
    interruption::look();
  }
  [[nodiscard]] krylov_outcome failed(krylov_outcome outcome, std::string why) {
    detail = std::move(why);
    return outcome;
  }
  // Whether the residual is at the level of rounding, where a breakdown only means that it cannot be reduced further.
  [[nodiscard]] bool is_rounding() const {
    return residual <= static_cast<double>(std::numeric_limits<real_of<V>>::epsilon()) * scale;
  }
};

// Vectors of n elements in iteration::work.
[[nodiscard]] constexpr std::int64_t vectors_of(krylov_method method, std::int64_t restart) {
  switch (method) {
    case krylov_method::cg:
      return 3;
    case krylov_method::minres:
      return 7;
    case krylov_method::bicgstab:
      return 6;
    default:
      return restart + 2;
  }
}

template <class V>
[[nodiscard]] krylov_outcome cg(iteration<V>& run);
template <class V>
[[nodiscard]] krylov_outcome minres(iteration<V>& run);
template <class V>
[[nodiscard]] krylov_outcome bicgstab(iteration<V>& run);
template <class V>
[[nodiscard]] krylov_outcome gmres(iteration<V>& run);

}  // namespace spargo::detail::krylov
