// Preconditioned MINRES (Paige, Saunders, SIAM J. Numer. Anal. 12, 1975; the recurrences of Elman, Silvester and
// Wathen, "Finite Elements and Fast Iterative Solvers", algorithm 6.1).
//
// The residual vector has a recurrence of its own, r = s^2 r + eta c v / gamma (Choi, thesis, 2006), which gives its
// 2-norm under any M, where the method itself knows the norm in M^-1.
#include "core/hypotenuse.hpp"
#include "core/instantiate.hpp"
#include "solvers/krylov/iteration.hpp"

#include <fmt/format.h>

#include <utility>

namespace spargo::detail::krylov {

namespace {

// The Lanczos vectors v and z = M^-1 v of three consecutive steps, and the directions w of two.
template <class V>
struct lanczos_vectors {
  V* v_before;
  V* v;
  V* z;       // scaled by 1 / gamma
  V* v_next;  // holds A z first
  V* z_next;
  V* w_before;
  V* w;
};

// v_next = A z - (delta / gamma) v - (gamma / gamma_before) v_before, z_next = M^-1 v_next; returns their inner
// product.
template <class V>
double next_vector(const system<V>& of, lanczos_vectors<V>& l, double with_v, double with_before) {
  using R = real_of<V>;
  const R a = static_cast<R>(with_v);
  const R b = static_cast<R>(with_before);
  of.passes.each([&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) l.v_next[i] -= a * l.v[i] + b * l.v_before[i];
  });
  const V* const z = of.preconditioned(l.v_next, l.z_next);
  if (z != l.z_next) std::copy_n(z, of.n(), l.z_next);
  return std::real(of.dot(l.v_next, l.z_next));
}

// The step from one iterate to the next.
struct rotation {
  double alpha1, alpha2, alpha3;
  double step;      // c eta
  double keep;      // s^2
  double residual;  // eta c / gamma of the next step
};

// w, x and r; returns |r|.
template <class V>
double advance(iteration<V>& run, lanczos_vectors<V>& l, const rotation& by) {
  using R = real_of<V>;
  const R inverse = static_cast<R>(1 / by.alpha1);
  const R a2 = static_cast<R>(by.alpha2);
  const R a3 = static_cast<R>(by.alpha3);
  const R step = static_cast<R>(by.step);
  const R keep = static_cast<R>(by.keep);
  const R part = static_cast<R>(by.residual);
  V* const x = run.x;
  V* const r = run.r;
  double sum = 0;
  run.of.passes.sum(
      1,
      [&](std::int64_t first, std::int64_t last, double* out) {
        for (std::int64_t i = first; i < last; ++i) {
          const V next = (l.z[i] - a3 * l.w_before[i] - a2 * l.w[i]) * inverse;
          l.w_before[i] = next;
          x[i] += step * next;
          r[i] = keep * r[i] + part * l.v_next[i];
        }
        *out = sum_terms<double>(first, last, [&](std::int64_t i) { return square(r[i]); });
      },
      &sum);
  std::swap(l.w, l.w_before);
  return std::sqrt(sum);
}

}  // namespace

template <class V>
krylov_outcome minres(iteration<V>& run) {
  using R = real_of<V>;
  const system<V>& of = run.of;
  lanczos_vectors<V> l{run.vector(0), run.vector(1), run.vector(2), run.vector(3),
                       run.vector(4), run.vector(5), run.vector(6)};
  for (V* zero : {l.v_before, l.w_before, l.w}) std::fill_n(zero, of.n(), V{});
  std::copy_n(run.r, of.n(), l.v);
  std::copy_n(of.preconditioned(l.v, l.z_next), of.n(), l.z);
  const double start = std::real(of.dot(l.v, l.z));
  if (!(start > 0)) return run.failed(krylov_outcome::breakdown, fmt::format("r'z is {:.3g}", start));
  double gamma_before = 1, gamma = std::sqrt(start);
  double eta = gamma;
  double s_before = 0, s = 0, c_before = 1, c = 1;
  while (run.goes_on()) {
    const R inverse = static_cast<R>(1 / gamma);
    of.passes.each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) l.z[i] *= inverse;
    });
    of.product(l.z, l.v_next);
    const double delta = std::real(of.dot(l.z, l.v_next));
    if (!std::isfinite(delta)) return run.failed(krylov_outcome::not_finite, "z'Az");
    const double square = next_vector(of, l, delta / gamma, run.done == 0 ? 0.0 : gamma / gamma_before);
    if (!std::isfinite(square)) return run.failed(krylov_outcome::not_finite, "A z");
    if (square < 0) return run.failed(krylov_outcome::breakdown, fmt::format("v'z is {:.3g}", square));
    const double gamma_next = std::sqrt(square);
    const double alpha0 = c * delta - c_before * s * gamma;
    rotation by{detail::hypotenuse(alpha0, gamma_next), s * delta + c_before * c * gamma, s_before * gamma, 0, 0, 0};
    if (!(by.alpha1 > 0)) {
      if (run.is_rounding()) return krylov_outcome::stagnated;
      return run.failed(krylov_outcome::breakdown, "the matrix is singular");
    }
    c_before = std::exchange(c, alpha0 / by.alpha1);
    s_before = std::exchange(s, gamma_next / by.alpha1);
    by.step = c * eta;
    by.keep = s * s;
    eta *= -s;
    by.residual = gamma_next > 0 ? eta * c / gamma_next : 0;
    const double next = advance(run, l, by);
    gamma_before = std::exchange(gamma, gamma_next);
    V* const oldest = l.v_before;
    l.v_before = std::exchange(l.v, std::exchange(l.v_next, oldest));
    std::swap(l.z, l.z_next);
    run.count(next);
    if (!(gamma > 0)) break;
  }
  return krylov_outcome::converged;
}

#define INSTANTIATE(V) template krylov_outcome minres(iteration<V>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
