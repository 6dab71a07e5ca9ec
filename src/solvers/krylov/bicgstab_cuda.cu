// BiCGSTAB on a device, preconditioned on the right as on the host (bicgstab.cpp): two products and five passes an
// iteration. Scalars are complex for every type of values. An M that passes cannot apply is applied between them.
#include "core/instantiate.hpp"
#include "solvers/krylov/passes.cuh"
#include "sparse/algebra/magnitude.hpp"

#include <limits>

namespace spargo::detail::krylov {

namespace {

using complex64 = device_complex<double>;

struct stabilised_numbers {
  complex64 rho;
  complex64 shadow_v;
  complex64 alpha;
  complex64 omega;
  complex64 beta;
  double shadow_norm;
  double half_norm;
  int is_last;  // x takes half a step
};

// Below rounding of the product of the norms.
template <class D>
__device__ bool vanishes(complex64 dot, double norms) {
  constexpr double eps = static_cast<double>(std::numeric_limits<real_part_t<D>>::epsilon());
  return !(algebra::magnitude(dot) > eps * eps * norms);
}

template <class D>
__device__ D narrowed(complex64 a) {
  if constexpr (std::is_floating_point_v<D>) {
    return static_cast<D>(a.re);
  } else {
    return {static_cast<real_part_t<D>>(a.re), static_cast<real_part_t<D>>(a.im)};
  }
}

// conj(a) * b, added to two sums.
template <class D>
__device__ void add_product(D a, D b, double* to) {
  to[0] += dot_term(a, b);
  if constexpr (!std::is_floating_point_v<D>) {
    to[1] +=
        static_cast<double>(a.re) * static_cast<double>(b.im) - static_cast<double>(a.im) * static_cast<double>(b.re);
  }
}

template <class D>
struct stabilised_vectors {
  pack<D>* x;
  pack<D>* r;  // also s, between the half steps
  pack<D>* shadow;
  pack<D>* p;
  pack<D>* v;
  pack<D>* t;
  pack<D>* p_hat;  // p and r themselves without M
  pack<D>* s_hat;
  const pack<D>* inverse;
};

template <class D>
struct begin_pass : stabilised_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = false;

  __device__ bool enter(const run_state&) { return true; }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> r = this->r[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(r.v[k], r.v[k]);
    this->shadow[i] = r;
    this->p[i] = r;
    if (this->inverse != nullptr) this->p_hat[i] = preconditioned(this->inverse, i, r);
  }
  __device__ void finish(const sums<1>& all, device_state& of) const {
    auto& n = numbers_of<stabilised_numbers>(of.run);
    n.rho = {all.v[0], 0};
    n.shadow_norm = sqrt(all.v[0]);
  }
};

// alpha = rho / (shadow, v)
template <class D>
struct direction_pass : stabilised_vectors<D> {
  static constexpr int count = 3;
  static constexpr bool backwards = true;

  __device__ bool enter(run_state& s) { return enter_iteration(s); }
  __device__ void operator()(std::int64_t i, sums<3>& mine) const {
    const pack<D> shadow = this->shadow[i];
    const pack<D> v = this->v[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      add_product(shadow.v[k], v.v[k], mine.v);
      mine.v[2] += dot_term(v.v[k], v.v[k]);
    }
  }
  __device__ void finish(const sums<3>& all, device_state& of) const {
    run_state& s = of.run;
    auto& n = numbers_of<stabilised_numbers>(s);
    n.shadow_v = {all.v[0], all.v[1]};
    if (!isfinite(algebra::magnitude(n.shadow_v))) {
      s.stop = halt::direction_not_finite;
    } else if (vanishes<D>(n.shadow_v, n.shadow_norm * sqrt(all.v[2]))) {
      s.stop = halt::shadow_vanishes;
    }
    n.alpha = n.rho / n.shadow_v;
    s.active = s.stop == halt::none ? 1 : 0;
  }
};

// s = r - alpha v
template <class D>
struct half_pass : stabilised_vectors<D> {
  static constexpr int count = 1;
  static constexpr bool backwards = false;
  D minus_alpha{};

  __device__ bool enter(const run_state& s) {
    minus_alpha = -narrowed<D>(numbers_of<stabilised_numbers>(s).alpha);
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> v = this->v[i];
    pack<D> r = this->r[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      r.v[k] = multiply_add(minus_alpha, v.v[k], r.v[k]);
      mine.v[0] += dot_term(r.v[k], r.v[k]);
    }
    this->r[i] = r;
    if (this->inverse != nullptr) this->s_hat[i] = preconditioned(this->inverse, i, r);
  }
  __device__ void finish(const sums<1>& all, device_state& of) const {
    run_state& s = of.run;
    numbers_of<stabilised_numbers>(s).half_norm = sqrt(all.v[0]);
    if (isfinite(all.v[0])) return;
    s.stop = halt::residual_not_finite;
    s.active = 0;
  }
};

// omega = (t, s) / (t, t)
template <class D>
struct stabiliser_pass : stabilised_vectors<D> {
  static constexpr int count = 3;
  static constexpr bool backwards = true;

  __device__ bool enter(const run_state& s) { return s.active != 0; }
  __device__ void operator()(std::int64_t i, sums<3>& mine) const {
    const pack<D> t = this->t[i];
    const pack<D> r = this->r[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      add_product(t.v[k], r.v[k], mine.v);
      mine.v[2] += dot_term(t.v[k], t.v[k]);
    }
  }
  __device__ void finish(const sums<3>& all, device_state& of) const {
    run_state& s = of.run;
    auto& n = numbers_of<stabilised_numbers>(s);
    const complex64 ts{all.v[0], all.v[1]};
    const bool is_small = !(n.half_norm > s.wanted);
    if (!is_small && !isfinite(all.v[2])) {
      s.stop = halt::stabiliser_not_finite;
      s.active = 0;
      return;
    }
    n.is_last = is_small || vanishes<D>(ts, n.half_norm * sqrt(all.v[2])) ? 1 : 0;
    n.omega = n.is_last != 0 ? complex64{0, 0} : ts / complex64{all.v[2], 0};
  }
};

// x += alpha p + omega s, r = s - omega t
template <class D>
struct full_pass : stabilised_vectors<D> {
  static constexpr int count = 3;
  static constexpr bool backwards = false;
  D alpha{};
  D omega{};
  bool is_last = false;

  __device__ bool enter(const run_state& s) {
    const auto& n = numbers_of<stabilised_numbers>(s);
    alpha = narrowed<D>(n.alpha);
    omega = narrowed<D>(n.omega);
    is_last = n.is_last != 0;
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i, sums<3>& mine) const {
    const pack<D> p = this->p_hat[i];
    pack<D> x = this->x[i];
    if (is_last) {
#pragma unroll
      for (int k = 0; k < pack<D>::size; ++k) x.v[k] = multiply_add(alpha, p.v[k], x.v[k]);
      this->x[i] = x;
      return;
    }
    const pack<D> s = this->s_hat[i];
    const pack<D> t = this->t[i];
    const pack<D> shadow = this->shadow[i];
    pack<D> r = this->r[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      x.v[k] = multiply_add(omega, s.v[k], multiply_add(alpha, p.v[k], x.v[k]));
      r.v[k] = multiply_add(-omega, t.v[k], r.v[k]);
      add_product(shadow.v[k], r.v[k], mine.v);
      mine.v[2] += dot_term(r.v[k], r.v[k]);
    }
    this->x[i] = x;
    this->r[i] = r;
  }
  __device__ void finish(const sums<3>& all, device_state& of) const {
    run_state& s = of.run;
    auto& n = numbers_of<stabilised_numbers>(s);
    count_iteration(of, is_last ? n.half_norm * n.half_norm : all.v[2]);
    if (is_last && s.residual > s.wanted) s.stop = halt::stabiliser_vanishes;
    const complex64 next{all.v[0], all.v[1]};
    if (s.stop == halt::none && vanishes<D>(next, n.shadow_norm * s.residual)) s.stop = halt::rho_vanishes;
    n.beta = next / n.rho * (n.rho / n.shadow_v / n.omega);
    n.rho = next;
    s.active = s.stop == halt::none ? 1 : 0;
  }
};

// p = r + beta (p - omega v)
template <class D>
struct search_pass : stabilised_vectors<D> {
  static constexpr int count = 0;
  static constexpr bool backwards = true;
  D beta{};
  D omega{};

  __device__ bool enter(const run_state& s) {
    const auto& n = numbers_of<stabilised_numbers>(s);
    beta = narrowed<D>(n.beta);
    omega = narrowed<D>(n.omega);
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i) const {
    const pack<D> r = this->r[i];
    const pack<D> v = this->v[i];
    pack<D> p = this->p[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      p.v[k] = multiply_add(beta, multiply_add(-omega, v.v[k], p.v[k]), r.v[k]);
    }
    this->p[i] = p;
    if (this->inverse != nullptr) this->p_hat[i] = preconditioned(this->inverse, i, p);
  }
};

}  // namespace

template <class V>
krylov_outcome bicgstab(iteration<V, device>& run) {
  using D = device_value_t<V>;
  const system<V, device>& of = run.of;
  device_workspace& work = *of.work;
  const device_guard guard(of.ctx);
  const std::int64_t packs = packs_of(of);
  const bool is_plain = of.is_plain();
  V* const p = run.vector(1);
  V* const p_hat = is_plain ? p : run.vector(4);
  V* const s_hat = is_plain ? run.r : run.vector(5);
  const stabilised_vectors<D> vectors{
      packed(run.x), packed(run.r),         packed(run.vector(0)),
      packed(p),     packed(run.vector(2)), packed(run.vector(3)),
      packed(p_hat), packed(s_hat),         of.inverse.empty() ? nullptr : packed(of.inverse.data())};
  const auto begin = [&] {
    work.run(begin_pass<D>{vectors}, packs);
    if (of.applies()) of.apply(p, p_hat);
  };
  work.repeat(run, krylov_method::bicgstab, of.captures, begin, [&] {
    of.product(p_hat, run.vector(2));
    work.run(direction_pass<D>{vectors}, packs);
    work.run(half_pass<D>{vectors}, packs);
    if (of.applies()) of.apply(run.r, s_hat);
    of.product(s_hat, run.vector(3));
    work.run(stabiliser_pass<D>{vectors}, packs);
    work.run(full_pass<D>{vectors}, packs);
    work.run(search_pass<D>{vectors}, packs);
    if (of.applies()) of.apply(p, p_hat);
  });
  return work.outcome(run);
}

#define INSTANTIATE(V) template krylov_outcome bicgstab(iteration<V, device>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
