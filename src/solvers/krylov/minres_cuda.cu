// MINRES on a device, with the recurrences of the host (minres.cpp): a product and three passes an iteration. The
// Lanczos vectors move in place, so that every iteration is the same kernels and one graph holds several. An M that
// passes cannot apply is applied between them, which is a pass more.
#include "core/instantiate.hpp"
#include "solvers/krylov/passes.cuh"

namespace spargo::detail::krylov {

namespace {

struct lanczos_numbers {
  double gamma_before, gamma, gamma_next;
  double eta;
  double c_before, c;
  double s_before, s;
  double with_v, with_before;  // of the next Lanczos vector
  double delta;
  double alpha1, alpha2, alpha3;  // of the next direction
  double step;                    // of x
  double keep, residual;          // of r
};

template <class D>
struct lanczos_vectors {
  pack<D>* x;
  pack<D>* r;
  pack<D>* v_before;
  pack<D>* v;
  pack<D>* z;  // M^-1 v / gamma
  pack<D>* v_next;
  pack<D>* w_before;
  pack<D>* w;
  const pack<D>* inverse;
  const pack<D>* applied;  // M^-1 v_next where passes cannot apply M; null otherwise
};

// v = r, z = M^-1 r, the rest 0.
template <class D>
struct start_pass : lanczos_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = false;

  __device__ bool enter(const run_state&) { return true; }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> r = this->r[i];
    const pack<D> z = this->applied != nullptr ? this->z[i] : preconditioned(this->inverse, i, r);
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(r.v[k], z.v[k]);
    this->v[i] = r;
    this->z[i] = z;
    this->v_before[i] = {};
    this->w_before[i] = {};
    this->w[i] = {};
  }
  __device__ void finish(const sums<1>& all, device_state& of) const {
    auto& n = numbers_of<lanczos_numbers>(of.run);
    n = {};
    n.gamma_before = 1;
    n.gamma = sqrt(all.v[0]);
    n.eta = n.gamma;
    n.c_before = 1;
    n.c = 1;
    of.run.failed = all.v[0];
    if (!(all.v[0] > 0)) of.run.stop = halt::product_not_positive;
  }
};

template <class D>
struct scale_pass : lanczos_vectors<D> {  // z /= gamma, of the start
  static constexpr int count = 0;
  static constexpr bool backwards = false;
  real_part_t<D> by = 0;

  __device__ bool enter(const run_state& s) {
    by = static_cast<real_part_t<D>>(1 / numbers_of<lanczos_numbers>(s).gamma);
    return s.stop == halt::none;
  }
  __device__ void operator()(std::int64_t i) const {
    pack<D> z = this->z[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) z.v[k] = add_scaled(by, z.v[k], D{});
    this->z[i] = z;
  }
};

// delta = z'Az
template <class D>
struct delta_pass : lanczos_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = true;

  __device__ bool enter(run_state& s) { return enter_iteration(s); }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> z = this->z[i];
    const pack<D> next = this->v_next[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(z.v[k], next.v[k]);
  }
  __device__ void finish(const sums<1>& all, device_state& of) const {
    auto& n = numbers_of<lanczos_numbers>(of.run);
    n.delta = all.v[0];
    n.with_v = n.delta / n.gamma;
    n.with_before = n.gamma / n.gamma_before;
    if (!isfinite(n.delta)) of.run.stop = halt::lanczos_not_finite;
    of.run.active = of.run.stop == halt::none ? 1 : 0;
  }
};

// v_next -= with_v v + with_before v_before, and v_next' M^-1 v_next.
template <class D>
struct next_pass : lanczos_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = false;
  real_part_t<D> with_v = 0;
  real_part_t<D> with_before = 0;

  __device__ bool enter(const run_state& s) {
    const auto& n = numbers_of<lanczos_numbers>(s);
    with_v = static_cast<real_part_t<D>>(n.with_v);
    with_before = static_cast<real_part_t<D>>(n.with_before);
    return s.active != 0;
  }
  __device__ pack<D> orthogonal(std::int64_t i) const {
    const pack<D> v = this->v[i];
    const pack<D> before = this->v_before[i];
    pack<D> next = this->v_next[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      next.v[k] = add_scaled(-with_before, before.v[k], add_scaled(-with_v, v.v[k], next.v[k]));
    }
    this->v_next[i] = next;
    return next;
  }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> next = orthogonal(i);
    const pack<D> z = preconditioned(this->inverse, i, next);
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(next.v[k], z.v[k]);
  }
  __device__ void finish(const sums<1>& all, device_state& of) const {
    run_state& s = of.run;
    auto& n = numbers_of<lanczos_numbers>(s);
    s.failed = all.v[0];
    n.gamma_next = sqrt(all.v[0]);
    const double alpha0 = n.c * n.delta - n.c_before * n.s * n.gamma;
    n.alpha1 = hypot(alpha0, n.gamma_next);
    n.alpha2 = n.s * n.delta + n.c_before * n.c * n.gamma;
    n.alpha3 = n.s_before * n.gamma;
    if (!isfinite(all.v[0])) {
      s.stop = halt::lanczos_not_finite;
    } else if (all.v[0] < 0) {
      s.stop = halt::lanczos_not_positive;
    } else if (!(n.alpha1 > 0)) {
      s.stop = halt::is_singular;
    }
    n.c_before = n.c;
    n.c = alpha0 / n.alpha1;
    n.s_before = n.s;
    n.s = n.gamma_next / n.alpha1;
    n.step = n.c * n.eta;
    n.keep = n.s * n.s;
    n.eta = -n.s * n.eta;
    n.residual = n.gamma_next > 0 ? n.eta * n.c / n.gamma_next : 0;
    s.active = s.stop == halt::none ? 1 : 0;
  }
};

// The same in two passes, between which M is applied.
template <class D>
struct orthogonal_pass : next_pass<D> {
  static constexpr int count = 0;

  __device__ void operator()(std::int64_t i) const { (void)this->orthogonal(i); }
};
template <class D>
struct applied_pass : next_pass<D> {
  static constexpr bool backwards = true;

  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> next = this->v_next[i];
    const pack<D> z = this->applied[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(next.v[k], z.v[k]);
  }
};

// w, x and r; the Lanczos vectors move on.
template <class D>
struct advance_pass : lanczos_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = true;
  using R = real_part_t<D>;
  R inverse1 = 0, alpha2 = 0, alpha3 = 0, step = 0, keep = 0, residual = 0, inverse_gamma = 0;

  __device__ bool enter(const run_state& s) {
    const auto& n = numbers_of<lanczos_numbers>(s);
    inverse1 = static_cast<R>(1 / n.alpha1);
    alpha2 = static_cast<R>(n.alpha2);
    alpha3 = static_cast<R>(n.alpha3);
    step = static_cast<R>(n.step);
    keep = static_cast<R>(n.keep);
    residual = static_cast<R>(n.residual);
    inverse_gamma = n.gamma_next > 0 ? static_cast<R>(1 / n.gamma_next) : R{0};
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> z = this->z[i];
    const pack<D> w = this->w[i];
    const pack<D> next = this->v_next[i];
    pack<D> moved = this->w_before[i];
    pack<D> x = this->x[i];
    pack<D> r = this->r[i];
    pack<D> z_next = this->applied != nullptr ? this->applied[i] : preconditioned(this->inverse, i, next);
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      const D rest = add_scaled(-alpha2, w.v[k], add_scaled(-alpha3, moved.v[k], z.v[k]));
      moved.v[k] = add_scaled(inverse1, rest, D{});
      x.v[k] = add_scaled(step, moved.v[k], x.v[k]);
      r.v[k] = add_scaled(residual, next.v[k], add_scaled(keep, r.v[k], D{}));
      z_next.v[k] = add_scaled(inverse_gamma, z_next.v[k], D{});
      mine.v[0] += dot_term(r.v[k], r.v[k]);
    }
    this->x[i] = x;
    this->r[i] = r;
    this->w_before[i] = w;
    this->w[i] = moved;
    this->v_before[i] = this->v[i];
    this->v[i] = next;
    this->z[i] = z_next;
  }
  __device__ void finish(const sums<1>& all, device_state& of) const {
    auto& n = numbers_of<lanczos_numbers>(of.run);
    n.gamma_before = n.gamma;
    n.gamma = n.gamma_next;
    count_iteration(of, all.v[0]);
    if (!(n.gamma > 0) && of.run.stop == halt::none) of.run.stop = halt::finished;
  }
};

}  // namespace

template <class V>
krylov_outcome minres(iteration<V, device>& run) {
  using D = device_value_t<V>;
  const system<V, device>& of = run.of;
  device_workspace& work = *of.work;
  const device_guard guard(of.ctx);
  const std::int64_t packs = packs_of(of);
  const lanczos_vectors<D> vectors{packed(run.x),
                                   packed(run.r),
                                   packed(run.vector(0)),
                                   packed(run.vector(1)),
                                   packed(run.vector(2)),
                                   packed(run.vector(3)),
                                   packed(run.vector(4)),
                                   packed(run.vector(5)),
                                   of.inverse.empty() ? nullptr : packed(of.inverse.data()),
                                   of.applies() ? packed(run.vector(6)) : nullptr};
  const auto begin = [&] {
    if (of.applies()) of.apply(run.r, run.vector(2));
    work.run(start_pass<D>{vectors}, packs);
    work.run(scale_pass<D>{vectors}, packs);
  };
  work.repeat(run, krylov_method::minres, of.captures, begin, [&] {
    of.product(run.vector(2), run.vector(3));
    work.run(delta_pass<D>{vectors}, packs);
    if (of.applies()) {
      work.run(orthogonal_pass<D>{{vectors}}, packs);
      of.apply(run.vector(3), run.vector(6));
      work.run(applied_pass<D>{{vectors}}, packs);
    } else {
      work.run(next_pass<D>{vectors}, packs);
    }
    work.run(advance_pass<D>{vectors}, packs);
  });
  return work.outcome(run);
}

#define INSTANTIATE(V) template krylov_outcome minres(iteration<V, device>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
