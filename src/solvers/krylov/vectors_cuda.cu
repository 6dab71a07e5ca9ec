// Vectors of a linear system on a device: scaling, largest elements, residuals, norms.
#include "core/instantiate.hpp"
#include "solvers/krylov/passes.cuh"
#include "solvers/krylov/small_system.hpp"
#include "sparse/algebra/magnitude.hpp"

#include <cmath>
#include <cstring>

namespace spargo::detail::krylov {

namespace {

template <class D>
struct norm_pass {
  static constexpr int count = 1;
  static constexpr bool backwards = false;
  const pack<D>* v;

  __device__ bool enter(const run_state&) { return true; }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> a = v[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) mine.v[0] += dot_term(a.v[k], a.v[k]);
  }
  __device__ void finish(const sums<1>& all, device_state& of) const { of.run.result = all.v[0]; }
};

// r = b - r
template <class D>
struct residual_pass {
  static constexpr int count = 1;
  static constexpr bool backwards = true;  // the product has just written its end
  const pack<D>* b;
  pack<D>* r;

  __device__ bool enter(const run_state&) { return true; }
  __device__ void operator()(std::int64_t i, sums<1>& mine) const {
    const pack<D> right = b[i];
    pack<D> rest = r[i];
#pragma unroll
    for (int k = 0; k < pack<D>::size; ++k) {
      rest.v[k] = right.v[k] - rest.v[k];
      mine.v[0] += dot_term(rest.v[k], rest.v[k]);
    }
    r[i] = rest;
  }
  __device__ void finish(const sums<1>& all, device_state& of) const { of.run.result = all.v[0]; }
};

__device__ inline double largest_part(float v) { return fabs(static_cast<double>(v)); }
__device__ inline double largest_part(double v) { return fabs(v); }
template <class T>
__device__ double largest_part(device_complex<T> v) {
  const double re = largest_part(v.re);
  const double im = largest_part(v.im);
  return re > im || isnan(re) ? re : im;
}

template <class D>
__global__ void __launch_bounds__(block_threads) largest_kernel(const D* v, std::int64_t n, device_state* state) {
  double most = 0;
  for (std::int64_t i = global_thread(); i < n; i += grid_threads()) {
    const double size = largest_part(v[i]);
    if (isfinite(size)) {
      most = size > most ? size : most;
    } else {
      atomicMin(&state->bad_row, static_cast<count64>(i));
    }
  }
  most = warp_reduce(most, maximum{});
  if (lane_id() == 0) atomicMax(&state->largest, static_cast<count64>(__double_as_longlong(most)));
}

template <class D>
__device__ D inverse_of(D v, bool by_magnitude) {
  return by_magnitude ? D{1 / static_cast<real_part_t<D>>(algebra::magnitude(v))} : D{1} / v;
}

}  // namespace

template <class V>
void system<V, device>::make_work() {
  if (work == nullptr) work = std::make_shared<device_workspace>(ctx);
}

template <class V>
const int* system<V, device>::active() const {
  return &work->state()->run.active;
}

template <class V>
void system<V, device>::prepare(krylov_method method, std::int64_t restart) {
  make_work();
  work->distribute(ranks == nullptr ? nullptr : ranks->on_devices());
  if (method == krylov_method::gmres) reserve_gmres<V>(ctx, *work, restart);
}

template <class V>
std::int64_t system<V, device>::bytes() const noexcept {
  return inverse.size() * static_cast<std::int64_t>(sizeof(V)) + work->bytes() +
         (small == nullptr ? 0 : small->bytes());
}

template <class V>
void system<V, device>::product(const V* x, V* y) const {
  a.run(span<const V, device>(x, n()), span<V, device>(y, n()));
  if (exponent != 0) scale(y, -exponent, y);
}

template <class V>
void system<V, device>::scale(const V* from, int by, V* to) const {
  const power<real_of<V>> factor(by);
  for_each(ctx, n(), [source = device_cast(from), target = device_cast(to), factor] __device__(std::int64_t i) {
    target[i] = factor(source[i]);
  });
}

template <class V>
double system<V, device>::largest(const char* what, span<const V, device> v) const {
  std::int64_t bad = -1;
  const double most = largest(v, bad);
  if (bad >= 0) refuse_element(what, bad);
  return most;
}

template <class V>
double system<V, device>::largest(span<const V, device> v, std::int64_t& bad) const {
  bad = -1;
  double most = 0;
  if (!v.empty()) {
    const device_guard guard(ctx);
    device_state* const state = work->state();
    SPARGO_CUDA_TRY(cudaMemsetAsync(&state->largest, 0, sizeof(state->largest), ctx.stream()));
    SPARGO_CUDA_TRY(cudaMemsetAsync(&state->bad_row, 0xff, sizeof(state->bad_row), ctx.stream()));
    launch_kernel(ctx, grid_stride(ctx, v.size()), largest_kernel<device_value_t<V>>, device_cast(v.data()), v.size(),
                  state);
    const device_state& seen = work->read();
    bad = static_cast<std::int64_t>(seen.bad_row);
    std::memcpy(&most, &seen.largest, sizeof(most));
  }
  if (ranks != nullptr) ranks->largest(most, bad);
  return most;
}

template <class V>
double system<V, device>::norm(const V* v) const {
  const device_guard guard(ctx);
  return std::sqrt(work->result(norm_pass<device_value_t<V>>{packed(v)}, packs_of(*this)));
}

template <class V>
double system<V, device>::residual(const V* b, const V* x, V* r) const {
  const device_guard guard(ctx);
  product(x, r);
  return std::sqrt(work->result(residual_pass<device_value_t<V>>{packed(b), packed(r)}, packs_of(*this)));
}

template <class V>
array<V, device> inverted(const system<V, device>& of, const array<V, device>& diagonal, bool by_magnitude) {
  array<V, device> inverse(of.ctx, of.stride());
  fill_zero(of.ctx, inverse.view());
  const power<real_of<V>> factor(-of.exponent);
  for_each(of.ctx, of.n(),
           [from = device_cast(diagonal.data()), to = device_cast(inverse.data()), factor,
            by_magnitude] __device__(std::int64_t i) { to[i] = inverse_of(factor(from[i]), by_magnitude); });
  return inverse;
}

#define INSTANTIATE(V)               \
  template struct system<V, device>; \
  template array<V, device> inverted(const system<V, device>&, const array<V, device>&, bool);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
