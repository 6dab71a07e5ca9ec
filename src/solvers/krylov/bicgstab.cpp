// BiCGSTAB, preconditioned on the right (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992).
#include "core/instantiate.hpp"
#include "solvers/krylov/iteration.hpp"

#include <fmt/format.h>

namespace spargo::detail::krylov {

namespace {

template <class V>
[[nodiscard]] V narrowed(sum_of<V> s) {
  if constexpr (complex_type<V>) {
    using R = real_of<V>;
    return {static_cast<R>(s.real()), static_cast<R>(s.imag())};
  } else {
    return static_cast<V>(s);
  }
}

// Below rounding of the product of the norms: a division by it would have no correct digit.
template <class V>
[[nodiscard]] bool vanishes(sum_of<V> dot, double norms) {
  constexpr double eps = static_cast<double>(std::numeric_limits<real_of<V>>::epsilon());
  return !(std::abs(dot) > eps * eps * norms);
}

// s = r - alpha v, in r; returns its norm.
template <class V>
double half_step(const system<V>& of, V alpha, const V* v, V* r) {
  double sum = 0;
  of.passes.sum(
      1,
      [&](std::int64_t first, std::int64_t last, double* out) {
        for (std::int64_t i = first; i < last; ++i) r[i] -= multiply(alpha, v[i]);
        *out = sum_terms<double>(first, last, [&](std::int64_t i) { return square(r[i]); });
      },
      &sum);
  return std::sqrt(sum);
}

// The sums (t, s) and (t, t).
template <class V>
sum_of<V> stabiliser(const system<V>& of, const V* t, const V* s, double& tt) {
  using S = sum_of<V>;
  double sums[3];
  of.passes.sum(
      doubles_of<S> + 1,
      [&](std::int64_t first, std::int64_t last, double* out) {
        store(sum_terms<S>(first, last, [&](std::int64_t i) { return inner(t[i], s[i]); }), out);
        out[doubles_of<S>] = sum_terms<double>(first, last, [&](std::int64_t i) { return square(t[i]); });
      },
      sums);
  tt = sums[doubles_of<S>];
  return load<S>(sums);
}

// x += alpha p + omega s, r = s - omega t; returns (shadow, r), sets rr to (r, r).
template <class V>
sum_of<V> full_step(iteration<V>& run, V alpha, const V* p, V omega, const V* s, const V* t, const V* shadow,
                    double& rr) {
  using S = sum_of<V>;
  V* const x = run.x;
  V* const r = run.r;
  double sums[3];
  run.of.passes.sum(
      doubles_of<S> + 1,
      [&](std::int64_t first, std::int64_t last, double* out) {
        for (std::int64_t i = first; i < last; ++i) {
          x[i] += multiply(alpha, p[i]) + multiply(omega, s[i]);
          r[i] -= multiply(omega, t[i]);
        }
        store(sum_terms<S>(first, last, [&](std::int64_t i) { return inner(shadow[i], r[i]); }), out);
        out[doubles_of<S>] = sum_terms<double>(first, last, [&](std::int64_t i) { return square(r[i]); });
      },
      sums);
  rr = sums[doubles_of<S>];
  return load<S>(sums);
}

}  // namespace

template <class V>
krylov_outcome bicgstab(iteration<V>& run) {
  using S = sum_of<V>;
  const system<V>& of = run.of;
  V* const x = run.x;
  V* const r = run.r;  // also s, between the half steps
  V* const shadow = run.vector(0);
  V* const p = run.vector(1);
  V* const v = run.vector(2);
  V* const t = run.vector(3);
  std::copy_n(r, of.n(), shadow);
  std::copy_n(r, of.n(), p);
  const double shadow_norm = run.residual;
  S rho = shadow_norm * shadow_norm;
  while (run.goes_on()) {
    const V* const p_hat = of.preconditioned(p, run.vector(4));
    of.product(p_hat, v);
    const S shadow_v = of.dot(shadow, v);
    if (!std::isfinite(std::abs(shadow_v))) return run.failed(krylov_outcome::not_finite, "A p");
    if (vanishes<V>(shadow_v, shadow_norm * of.norm(v))) {
      return run.failed(krylov_outcome::breakdown, "(r0, A p) is 0");
    }
    const V alpha = narrowed<V>(rho / shadow_v);
    const double s_norm = half_step(of, alpha, v, r);
    if (!std::isfinite(s_norm)) return run.failed(krylov_outcome::not_finite, "the residual");
    const V* const s_hat = of.preconditioned(r, run.vector(5));
    double tt = 0;
    S ts{};
    if (s_norm > run.wanted) {
      of.product(s_hat, t);
      ts = stabiliser(of, t, r, tt);
      if (!std::isfinite(tt)) return run.failed(krylov_outcome::not_finite, "A s");
    }
    if (vanishes<V>(ts, s_norm * std::sqrt(tt))) {  // also after the last half step
      of.passes.each([&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) x[i] += multiply(alpha, p_hat[i]);
      });
      run.count(s_norm);
      if (s_norm <= run.wanted) break;
      return run.failed(krylov_outcome::breakdown, "(A s, s) is 0");
    }
    const V omega = narrowed<V>(ts / tt);
    double rr = 0;
    const S next = full_step(run, alpha, p_hat, omega, s_hat, t, shadow, rr);
    if (!std::isfinite(rr)) return run.failed(krylov_outcome::not_finite, "the residual");
    run.count(std::sqrt(rr));
    if (!run.goes_on()) break;
    if (vanishes<V>(next, shadow_norm * run.residual)) {
      return run.failed(krylov_outcome::breakdown, "(r0, r) is 0");
    }
    const V beta = narrowed<V>(next / rho * (rho / shadow_v) / (ts / tt));
    rho = next;
    of.passes.each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) p[i] = r[i] + multiply(beta, p[i] - multiply(omega, v[i]));
    });
  }
  return krylov_outcome::converged;
}

#define INSTANTIATE(V) template krylov_outcome bicgstab(iteration<V>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
