// Conjugate gradients on a device: a product and two passes an iteration.
//
// Idea: the sums p'q, r'Mq and q'Mq of one pass give alpha and predict the next r'Mr, so that x, r and p change in one
// pass, which sums the true r'Mr for the next alpha (predict and recompute: Meurant, Parallel Computing 5, 1987; Chen
// and Carson, SIAM J. Sci. Comput. 42, 2020). Invariant: `active` is set by the first pass for the second one of the
// same iteration. Cost: the product, and 10 vectors of traffic (12 with a diagonal M). Passes run through the vectors
// in opposite directions, so that each finds in the L2 cache what the one before it touched last. An M that passes
// cannot apply takes the textbook's iteration (cg.cpp): four passes, 12 vectors of traffic and M's.
#include "core/instantiate.hpp"
#include "solvers/krylov/passes.cuh"
#include "solvers/krylov/small_system.hpp"

namespace spargo::detail::krylov {

namespace {

// p = z, and r'z.
template <class D>
struct first_pass {
  static constexpr int count = 1;
  static constexpr bool backwards = false;
  const pack<D>* r;
  const pack<D>* inverse;
  const pack<D>* applied;  // z, if passes cannot apply M
  pack<D>* p;

  __device__ bool enter(const run_state&) { return true; }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> ri = r[i];
    const pack<D> z = applied != nullptr ? applied[i] : preconditioned(inverse, i, ri);
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(ri.v[k], z.v[k]);
    p[i] = z;
  }
  __device__ void finish(const sums<1>& all, device_state& of) const { of.run.rho = all.v[0]; }
};

// alpha, and whether the iteration goes on. `next`: the next r'z, if it is known.
__device__ inline void take_curvature(run_state& s, double curvature, double next) {
  const double alpha = s.rho / curvature;
  s.failed = curvature;
  if (!isfinite(curvature)) {
    s.stop = halt::curvature_not_finite;
  } else if (!(curvature > 0)) {
    s.stop = halt::curvature_not_positive;
  } else if (!(s.rho > 0)) {
    s.failed = s.rho;
    s.stop = halt::product_not_positive;
  } else if (!isfinite(alpha) || !isfinite(next)) {
    s.stop = halt::residual_not_finite;
  }
  s.alpha = alpha;
  s.active = s.stop == halt::none ? 1 : 0;
}

// alpha and beta.
template <class D>
struct curvature_pass {
  static constexpr int count = 3;
  static constexpr bool backwards = true;
  const pack<D>* p;
  const pack<D>* q;
  const pack<D>* r;
  const pack<D>* inverse;

  __device__ bool enter(run_state& s) { return enter_iteration(s); }
  __device__ void operator()(std::int64_t i, sums<3>& mine) const {
    const pack<D> pi = p[i];
    const pack<D> qi = q[i];
    const pack<D> ri = r[i];
    const pack<D> mq = preconditioned(inverse, i, qi);
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      mine.v[0] += dot_term(pi.v[k], qi.v[k]);
      mine.v[1] += dot_term(ri.v[k], mq.v[k]);
      mine.v[2] += dot_term(qi.v[k], mq.v[k]);
    }
  }
  __device__ void finish(const sums<3>& all, device_state& of) const {
    run_state& s = of.run;
    const double alpha = s.rho / all.v[0];
    const double next = s.rho - 2 * alpha * all.v[1] + alpha * alpha * all.v[2];
    take_curvature(s, all.v[0], next);
    s.beta = next > 0 ? next / s.rho : 0;
  }
};

// x, r and p; the residual.
template <class D>
struct update_pass {
  static constexpr int count = 2;
  static constexpr bool backwards = false;
  pack<D>* x;
  pack<D>* r;
  pack<D>* p;
  const pack<D>* q;
  const pack<D>* inverse;
  real_part_t<D> alpha = 0;
  real_part_t<D> beta = 0;

  __device__ bool enter(const run_state& s) {
    alpha = static_cast<real_part_t<D>>(s.alpha);
    beta = static_cast<real_part_t<D>>(s.beta);
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i, sums<2>& mine) const {
    const pack<D> qi = q[i];
    pack<D> xi = x[i];
    pack<D> ri = r[i];
    pack<D> pi = p[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      xi.v[k] = add_scaled(alpha, pi.v[k], xi.v[k]);
      ri.v[k] = add_scaled(-alpha, qi.v[k], ri.v[k]);
    }
    x[i] = xi;
    r[i] = ri;
    const pack<D> z = preconditioned(inverse, i, ri);
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      mine.v[0] += dot_term(ri.v[k], ri.v[k]);
      mine.v[1] += dot_term(ri.v[k], z.v[k]);
      pi.v[k] = add_scaled(beta, pi.v[k], z.v[k]);
    }
    p[i] = pi;
  }
  __device__ void finish(const sums<2>& all, device_state& of) const {
    of.run.rho = all.v[1];
    count_iteration(of, all.v[0]);
  }
};

// --- With an M that passes cannot apply ------------------------------------------------------------------------------

template <class D>
struct applied_vectors {
  pack<D>* x;
  pack<D>* r;
  pack<D>* p;
  const pack<D>* q;
  const pack<D>* z;
};

// alpha
template <class D>
struct alpha_pass : applied_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = true;

  __device__ bool enter(run_state& s) { return enter_iteration(s); }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> p = this->p[i];
    const pack<D> q = this->q[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(p.v[k], q.v[k]);
  }
  __device__ void finish(const sums<1>& all, device_state& of) const { take_curvature(of.run, all.v[0], 0); }
};

// r, and its norm.
template <class D>
struct shorten_pass : applied_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = false;
  real_part_t<D> minus_alpha = 0;

  __device__ bool enter(const run_state& s) {
    minus_alpha = -static_cast<real_part_t<D>>(s.alpha);
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> q = this->q[i];
    pack<D> r = this->r[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      r.v[k] = add_scaled(minus_alpha, q.v[k], r.v[k]);
      mine.v[0] += dot_term(r.v[k], r.v[k]);
    }
    this->r[i] = r;
  }
  // The iteration's other passes run even if it is the last: x still lacks this step.
  __device__ void finish(const sums<1>& all, device_state& of) const { count_iteration(of, all.v[0]); }
};

// beta
template <class D>
struct beta_pass : applied_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = true;

  __device__ bool enter(const run_state& s) { return s.active != 0; }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> r = this->r[i];
    const pack<D> z = this->z[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(r.v[k], z.v[k]);
  }
  __device__ void finish(const sums<1>& all, device_state& of) const {
    of.run.beta = all.v[0] / of.run.rho;
    of.run.rho = all.v[0];
  }
};

// x and p.
template <class D>
struct move_pass : applied_vectors<D> {
  static constexpr int count = 0;
  static constexpr bool backwards = false;
  real_part_t<D> alpha = 0;
  real_part_t<D> beta = 0;

  __device__ bool enter(const run_state& s) {
    alpha = static_cast<real_part_t<D>>(s.alpha);
    beta = static_cast<real_part_t<D>>(s.beta);
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i) const {
    const pack<D> z = this->z[i];
    pack<D> x = this->x[i];
    pack<D> p = this->p[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      x.v[k] = add_scaled(alpha, p.v[k], x.v[k]);
      p.v[k] = add_scaled(beta, p.v[k], z.v[k]);
    }
    this->x[i] = x;
    this->p[i] = p;
  }
};

}  // namespace

template <class V>
krylov_outcome cg(iteration<V, device>& run) {
  using D = device_value_t<V>;
  const system<V, device>& of = run.of;
  device_workspace& work = *of.work;
  const device_guard guard(of.ctx);
  const std::int64_t packs = packs_of(of);
  V* const p_values = run.vector(0);
  V* const q_values = run.vector(1);
  pack<D>* const x = packed(run.x);
  pack<D>* const r = packed(run.r);
  pack<D>* const p = packed(p_values);
  const pack<D>* const q = packed(q_values);
  const pack<D>* const inverse = of.inverse.empty() ? nullptr : packed(of.inverse.data());
  V* const z_values = run.vector(2);
  const pack<D>* const z = of.applies() ? packed(z_values) : nullptr;
  // The state's start sets rho to 0: the first pass comes behind it.
  const auto begin = [&] {
    if (of.applies()) of.apply(run.r, z_values);
    work.run(first_pass<D>{r, inverse, z, p}, packs);
  };
  if (of.applies()) {
    const applied_vectors<D> vectors{x, r, p, q, z};
    work.repeat(run, krylov_method::cg, of.captures, begin, [&] {
      of.product(p_values, q_values);
      work.run(alpha_pass<D>{vectors}, packs);
      work.run(shorten_pass<D>{vectors}, packs);
      of.apply(run.r, z_values);
      work.run(beta_pass<D>{vectors}, packs);
      work.run(move_pass<D>{vectors}, packs);
    });
  } else if (of.small != nullptr) {
    work.follow_kernel(run, begin, [&](int iterations) {
      of.small->enqueue(of.ctx, {run.x, run.r, p_values, of.inverse.data()}, iterations, work.state());
    });
  } else {
    work.repeat(run, krylov_method::cg, of.captures, begin, [&] {
      of.product(p_values, q_values);
      work.run(curvature_pass<D>{p, q, r, inverse}, packs);
      work.run(update_pass<D>{x, r, p, q, inverse}, packs);
    });
  }
  return work.outcome(run);
}

#define INSTANTIATE(V) template krylov_outcome cg(iteration<V, device>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
