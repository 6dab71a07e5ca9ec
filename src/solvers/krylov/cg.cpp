// Preconditioned conjugate gradients (Hestenes, Stiefel, Journal of Research of the NBS 49, 1952).
//
// An iteration is a product and three passes: p'q; r and z with r'z and r'r; x and p. Without M z is r.
#include "core/instantiate.hpp"
#include "solvers/krylov/iteration.hpp"

#include <fmt/format.h>

namespace spargo::detail::krylov {

namespace {

// r -= alpha q; z = M^-1 r. Returns Re(r, z) and sets `rr` to (r, r).
template <class V>
double shorten(const system<V>& of, real_of<V> alpha, const V* q, V* r, V* z, double& rr) {
  const V* const d = of.inverse.empty() ? nullptr : of.inverse.data();
  double sums[2];
  of.passes.sum(
      2,
      [&](std::int64_t first, std::int64_t last, double* out) {
        for (std::int64_t i = first; i < last; ++i) r[i] -= alpha * q[i];
        out[0] = sum_terms<double>(first, last, [&](std::int64_t i) { return square(r[i]); });
        out[1] = out[0];
        if (d == nullptr) return;
        for (std::int64_t i = first; i < last; ++i) z[i] = multiply(d[i], r[i]);
        out[1] = sum_terms<double>(first, last, [&](std::int64_t i) { return real_inner(r[i], z[i]); });
      },
      sums);
  rr = sums[0];
  if (!of.inverse_of.run) return sums[1];
  return std::real(of.dot(r, of.preconditioned(r, z)));
}

}  // namespace

template <class V>
krylov_outcome cg(iteration<V>& run) {
  using R = real_of<V>;
  const system<V>& of = run.of;
  V* const x = run.x;
  V* const p = run.vector(0);
  V* const q = run.vector(1);
  V* const z = run.vector(2);
  const V* const direction = of.preconditioned(run.r, z);
  std::copy_n(direction, of.n(), p);
  double rho = std::real(of.dot(run.r, direction));
  while (run.goes_on()) {
    of.product(p, q);
    const double curvature = std::real(of.dot(p, q));
    if (!std::isfinite(curvature)) return run.failed(krylov_outcome::not_finite, "p'Ap");
    if (!(curvature > 0)) {
      if (run.is_rounding()) return krylov_outcome::stagnated;
      return run.failed(krylov_outcome::not_positive_definite, fmt::format("p'Ap is {:.3g}", curvature));
    }
    if (!(rho > 0)) return run.failed(krylov_outcome::breakdown, fmt::format("r'z is {:.3g}", rho));
    const R alpha = static_cast<R>(rho / curvature);
    double rr = 0;
    const double next = shorten(of, alpha, q, run.r, z, rr);
    const R beta = static_cast<R>(next / rho);
    const V* const steepest = direction == run.r ? run.r : z;
    of.passes.each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const V pi = p[i];
        x[i] += alpha * pi;
        p[i] = steepest[i] + beta * pi;
      }
    });
    rho = next;
    run.count(std::sqrt(rr));
  }
  return krylov_outcome::converged;
}

#define INSTANTIATE(V) template krylov_outcome cg(iteration<V>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
