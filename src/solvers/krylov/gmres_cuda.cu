// Restarted GMRES on a device, preconditioned on the right as on the host (gmres.cpp).
//
// Idea: classical Gram-Schmidt, always twice, in three passes over the basis V: h = V^H w; w -= V h and g = V^H w, tile
// by tile, so that the second reading of a tile finds it in a cache; w -= V g and |w|. The block that ends last adds
// the sums and rotates the Hessenberg matrix's new column. A product goes from `z` to `w`, whatever the iteration, and
// a last pass moves w into the basis: every iteration is the same kernels, and one graph holds several. At the end of a
// cycle the host enqueues the solution of the triangle and the combination, and asks for the true residual: one
// synchronisation a cycle besides the looks at chunks. Where passes cannot apply M, they write to w, free at that time,
// what M is applied to. Over ranks another kernel, after each pass, takes the sums of all; each device keeps the same
// Hessenberg matrix.
// Cost of iteration k: the product, k vectors of traffic three times, and 8 more.
#include "core/instantiate.hpp"
#include "solvers/krylov/passes.cuh"
#include "solvers/krylov/sums.cuh"
#include "sparse/algebra/magnitude.hpp"

#include <limits>

namespace spargo::detail::krylov {

namespace {

struct gram_tuning {
  static constexpr int threads = 512;  // each has one pack of a tile
  static constexpr int warps = threads / warp_size;
  static constexpr int blocks_per_sm = 2;
};

// --- Sums of either type ---------------------------------------------------------------------------------------------

__device__ inline double real_part_of(double a) { return a; }
__device__ inline double real_part_of(device_complex<double> a) { return a.re; }
__device__ inline double conjugated(double a) { return a; }
__device__ inline device_complex<double> conjugated(device_complex<double> a) { return conj(a); }
__device__ inline double times(double by, double a) { return by * a; }
__device__ inline device_complex<double> times(double by, device_complex<double> a) { return {by * a.re, by * a.im}; }

// --- The cycle's memory ----------------------------------------------------------------------------------------------

struct cycle_numbers {
  std::int64_t k;  // columns; vectors of the basis but one
  double size;     // |A z| of the column in the making
  double below;    // the same without its part in the basis
};

template <class D>
struct cycle {
  using S = sum_on_device<D>;

  std::int64_t restart;
  std::int64_t stride;  // packs from a vector of the basis to the next
  pack<D>* basis;       // restart vectors
  pack<D>* z;           // M^-1 of the newest one
  pack<D>* w;           // A z
  pack<D>* x;
  const pack<D>* r;
  const pack<D>* inverse;
  S* triangle;    // columns of `restart` elements
  S* right;       // restart + 1; in the end the coefficients
  S* sine;        // restart
  S* projection;  // restart + 1: of the first pass, with (w, w)
  S* correction;  // restart + 1
  S* partial;     // (restart + 1) * most blocks
  double* cosine;

  __device__ S* column(std::int64_t j) const { return triangle + j * restart; }
};

// In doubles, for `blocks` blocks.
[[nodiscard]] constexpr std::int64_t numbers_needed(std::int64_t restart, std::int64_t parts, std::int64_t blocks) {
  return parts * (restart * restart + 4 * (restart + 1) + (restart + 1) * blocks) + restart;
}

// --- Gram-Schmidt ----------------------------------------------------------------------------------------------------

// With cosines and sines of the columns before; the warp's lanes take the old rotations in turn, so that loads are
// coalesced and only arithmetic is one after the other. Returns |right[k + 1]|, the residual's norm, in lane 0.
template <class D>
__device__ double rotate(const cycle<D>& of, std::int64_t k, double below) {
  using S = sum_on_device<D>;
  S* const h = of.column(k);
  S moving = of.projection[0] + of.correction[0];
  for (std::int64_t base = 0; base < k; base += warp_size) {
    const std::int64_t i = base + lane_id();
    double cosine = 1;
    S sine{};
    S next{};
    S mine{};
    if (i < k) {
      cosine = of.cosine[i];
      sine = of.sine[i];
      next = of.projection[i + 1] + of.correction[i + 1];
    }
    const int count = static_cast<int>(k - base < warp_size ? k - base : warp_size);
    for (int turn = 0; turn < count; ++turn) {
      const double c = shuffle(cosine, turn);
      const S s = shuffle(sine, turn);
      const S lower = shuffle(next, turn);
      const S upper = times(c, moving) + conjugated(s) * lower;
      moving = times(c, lower) - s * moving;
      if (lane_id() == turn) mine = upper;
    }
    if (i < k) h[i] = mine;
  }
  if (lane_id() != 0) return 0;
  const double size = algebra::magnitude(moving);
  const double length = hypot(size, below);
  double cosine = 1;
  S sine{};
  if (length > 0 && size > 0) {
    const S direction = times(1 / size, moving);
    cosine = size / length;
    sine = times(below / length, conjugated(direction));
    moving = times(length, direction);
  } else if (length > 0) {
    cosine = 0;
    sine = S{1};
    moving = S{below};
  }
  h[k] = moving;
  of.cosine[k] = cosine;
  of.sine[k] = sine;
  const S before = of.right[k];
  of.right[k] = times(cosine, before);
  of.right[k + 1] = -(sine * before);
  return algebra::magnitude(of.right[k + 1]);
}

enum class gram { first, second, last };

// The column is complete: the residual, and whether the cycle goes on.
template <class D>
__device__ void end_column(const cycle<D>& of, double square, device_state& all) {
  constexpr double eps = static_cast<double>(std::numeric_limits<real_part_t<D>>::epsilon());
  run_state& s = all.run;
  auto& n = numbers_of<cycle_numbers>(s);
  double below = sqrt(square);
  const bool is_finite = isfinite(below);
  const bool is_invariant = !(below > eps * n.size);  // the subspace: it has the solution, unless A is singular
  if (is_invariant) below = 0;
  const double residual = is_finite ? rotate(of, n.k, below) : 0;
  __syncwarp();
  if (lane_id() != 0) return;
  if (is_finite) {
    n.below = below;
    ++n.k;
    count_iteration(all, residual * residual);
    if (is_invariant && s.stop == halt::none) s.stop = halt::finished;
  } else {
    s.stop = halt::basis_not_finite;
  }
  s.active = s.stop == halt::none ? 1 : 0;
}

template <gram Part>
__device__ bool enters(run_state& s) {
  return Part == gram::first ? enter_iteration(s) : s.active != 0;
}
// Sums of a part: the last one is (w, w), in the second part not needed.
template <gram Part>
__device__ std::int64_t first_sum(std::int64_t count) {
  return Part == gram::last ? count : 0;
}
template <gram Part>
__device__ std::int64_t last_sum(std::int64_t count) {
  return Part == gram::second ? count - 1 : count;
}

// Sum j, in one thread.
template <gram Part, class D>
__device__ void take_sum(const cycle<D>& of, std::int64_t j, std::int64_t count, sum_on_device<D> sum, run_state& s) {
  if (j < count) {
    (Part == gram::first ? of.projection : of.correction)[j] = sum;
  } else if (Part == gram::first) {
    numbers_of<cycle_numbers>(s).size = sqrt(real_part_of(sum));
  } else {
    numbers_of<cycle_numbers>(s).below = real_part_of(sum);
  }
}
// All threads of a block; they have taken the sums.
template <gram Part, class D>
__device__ void end_part(const cycle<D>& of, device_state& all) {
  __syncthreads();
  if (Part == gram::first && threadIdx.x == 0) all.run.active = 1;
  if (Part == gram::last && threadIdx.x < warp_size) end_column(of, numbers_of<cycle_numbers>(all.run).below, all);
}

// The end of a part over ranks; one block.
template <gram Part, class D>
__global__ void __launch_bounds__(gram_tuning::threads)
    finish_gram_kernel(cycle<D> of, device_state* state, rank_numbers ranks) {
  using S = sum_on_device<D>;
  constexpr int parts = sizeof(S) / sizeof(double);
  if (!enters<Part>(state->run)) return;
  const std::int64_t count = numbers_of<cycle_numbers>(state->run).k + 1;
  for (std::int64_t j = first_sum<Part>(count) + threadIdx.x; j <= last_sum<Part>(count); j += blockDim.x) {
    S sum;
    if constexpr (parts == 1) {
      sum = total_of(ranks, j);
    } else {
      sum = {total_of(ranks, 2 * j), total_of(ranks, 2 * j + 1)};
    }
    take_sum<Part>(of, j, count, sum, state->run);
  }
  end_part<Part>(of, *state);
}

template <gram Part, class D>
__global__ void __launch_bounds__(gram_tuning::threads, gram_tuning::blocks_per_sm)
    gram_kernel(cycle<D> of, device_state* state, rank_boxes out) {
  using S = sum_on_device<D>;
  constexpr int threads = gram_tuning::threads;
  constexpr int warps = gram_tuning::warps;
  __shared__ pack<D> tile[threads];
  if (!enters<Part>(state->run)) return;
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / warp_size;
  const std::int64_t count = numbers_of<cycle_numbers>(state->run).k + 1;
  const std::int64_t blocks = gridDim.x;
  const S* const by = Part == gram::second ? of.projection : of.correction;
  for (std::int64_t start = std::int64_t{blockIdx.x} * threads; start < of.stride; start += blocks * threads) {
    pack<D> w{};
    if (start + thread < of.stride) {
      w = of.w[start + thread];
      if constexpr (Part != gram::first) {
        const pack<D>* v = of.basis + start + thread;
#pragma unroll 8
        for (std::int64_t j = 0; j < count; ++j, v += of.stride) {
          const D minus = -narrowed<D>(by[j]);
          const pack<D> mine = *v;
#pragma unroll
          for (int e = 0; e < pack<D>::size; ++e) w.v[e] = multiply_add(minus, mine.v[e], w.v[e]);
        }
        of.w[start + thread] = w;
      }
    }
    __syncthreads();  // the tile before is read
    tile[thread] = w;
    __syncthreads();
    const auto length = static_cast<int>(of.stride - start < threads ? of.stride - start : threads);
    // Downwards: the vectors that the loop above has read last are the likeliest in a cache.
    for (std::int64_t j = last_sum<Part>(count) - warp; j >= first_sum<Part>(count); j -= warps) {
      S sum{};
      const auto add = [&](const pack<D>& a, const pack<D>& b) {
#pragma unroll
        for (int e = 0; e < pack<D>::size; ++e) sum = with_product(a.v[e], b.v[e], sum);
      };
      if (j < count) {
        const pack<D>* const v = of.basis + j * of.stride + start;
#pragma unroll 8
        for (int p = lane_id(); p < length; p += warp_size) add(v[p], tile[p]);
      } else {
        for (int p = lane_id(); p < length; p += warp_size) add(tile[p], tile[p]);
      }
      sum = warp_reduce(sum, plus{});
      if (lane_id() == 0) {
        S& so_far = of.partial[j * blocks + blockIdx.x];
        so_far = start == std::int64_t{blockIdx.x} * threads ? sum : so_far + sum;
      }
    }
  }
  __threadfence();  // every warp has written sums
  __syncthreads();
  if (!block_arrives_last(&state->run.arrived, gridDim.x)) return;
  const std::int64_t written = of.stride > 0 ? blocks : 0;  // a rank may have no rows
  for (std::int64_t j = last_sum<Part>(count) - warp; j >= first_sum<Part>(count); j -= warps) {
    S sum{};
    for (std::int64_t b = lane_id(); b < written; b += warp_size) sum = sum + read_l2(&of.partial[j * blocks + b]);
    sum = warp_reduce(sum, plus{});
    if (lane_id() != 0) continue;
    if (out.count == 0) take_sum<Part>(of, j, count, sum, state->run);
    for (int b = 0; b < out.count; ++b) reinterpret_cast<S*>(out.boxes[b])[j] = sum;
  }
  if (out.count == 0) end_part<Part>(of, *state);
}

// --- The other passes ------------------------------------------------------------------------------------------------

// v = `from` / norm, z = M^-1 v.
template <class D>
__device__ void add_vector(const cycle<D>& of, std::int64_t k, std::int64_t i, pack<D> v, real_part_t<D> by) {
#pragma unroll
  for (int e = 0; e < pack<D>::size; ++e) v.v[e] = add_scaled(by, v.v[e], D{});
  of.basis[k * of.stride + i] = v;
  of.z[i] = preconditioned(of.inverse, i, v);
}

// The first vector of a cycle.
template <class D>
struct first_vector_pass : cycle<D> {
  static constexpr int count = 0;
  static constexpr bool backwards = false;
  real_part_t<D> by = 0;

  __device__ bool enter(const run_state& s) {
    by = static_cast<real_part_t<D>>(1 / s.residual);
    if (global_thread() == 0) this->right[0] = sum_on_device<D>{s.residual};
    return true;
  }
  __device__ void operator()(std::int64_t i) const { add_vector<D>(*this, 0, i, this->r[i], by); }
};

template <class D>
struct next_vector_pass : cycle<D> {
  static constexpr int count = 0;
  static constexpr bool backwards = true;
  std::int64_t k = 0;
  real_part_t<D> by = 0;

  __device__ bool enter(const run_state& s) {
    const auto& n = numbers_of<cycle_numbers>(s);
    k = n.k;
    by = static_cast<real_part_t<D>>(1 / n.below);
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i) const { add_vector<D>(*this, k, i, this->w[i], by); }
};

// The coefficients of the basis, in `right`; none if the triangle is singular.
template <class D>
__global__ void __launch_bounds__(block_threads) solve_kernel(cycle<D> of, device_state* state) {
  using S = sum_on_device<D>;
  __shared__ S solved;
  __shared__ bool is_singular;
  const std::int64_t k = numbers_of<cycle_numbers>(state->run).k;
  for (std::int64_t i = k - 1; i >= 0; --i) {
    const S* const column = of.column(i);
    if (threadIdx.x == 0) {
      const S pivot = column[i];
      is_singular = pivot == S{};
      if (!is_singular) of.right[i] = solved = of.right[i] / pivot;
    }
    __syncthreads();
    if (is_singular) break;
    for (std::int64_t j = threadIdx.x; j < i; j += blockDim.x) of.right[j] = of.right[j] - column[j] * solved;
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  if (is_singular) state->run.stop = halt::is_singular;
  state->run.active = is_singular ? 0 : 1;
}

// x += M^-1 V y; with the vector M^-1 V y still to be made, w = V y.
template <class D>
struct combine_pass : cycle<D> {
  static constexpr int count = 0;
  static constexpr bool backwards = true;
  bool is_applied_later = false;
  std::int64_t k = 0;

  __device__ bool enter(const run_state& s) {
    k = numbers_of<cycle_numbers>(s).k;
    return s.active != 0;
  }
  __device__ void operator()(std::int64_t i) const {
    pack<D> sum{};
    const pack<D>* v = this->basis + i;
#pragma unroll 4
    for (std::int64_t j = 0; j < k; ++j, v += this->stride) {
      const D by = narrowed<D>(this->right[j]);
      const pack<D> mine = *v;
#pragma unroll
      for (int e = 0; e < pack<D>::size; ++e) sum.v[e] = multiply_add(by, mine.v[e], sum.v[e]);
    }
    if (is_applied_later) {
      this->w[i] = sum;
      return;
    }
    add_step(i, preconditioned(this->inverse, i, sum));
  }
  __device__ void add_step(std::int64_t i, const pack<D>& step) const {
    pack<D> x = this->x[i];
#pragma unroll
    for (int e = 0; e < pack<D>::size; ++e) x.v[e] = x.v[e] + step.v[e];
    this->x[i] = x;
  }
};
// x += z
template <class D>
struct step_pass : combine_pass<D> {
  __device__ void operator()(std::int64_t i) const { this->add_step(i, this->z[i]); }
};

template <gram Part, class D>
void orthogonalise(const context<device>& ctx, device_workspace& work, const launch_shape& shape, const cycle<D>& c) {
  work.reduce([&](const rank_boxes& out) { launch_kernel(ctx, shape, gram_kernel<Part, D>, c, work.state(), out); },
              [&](const rank_numbers& ranks) {
                launch_kernel(ctx, {1, gram_tuning::threads}, finish_gram_kernel<Part, D>, c, work.state(), ranks);
              });
}

[[nodiscard]] std::int64_t most_blocks(const context<device>& ctx) {
  return std::int64_t{gram_tuning::blocks_per_sm} * ctx.properties().multiprocessors;
}

}  // namespace

template <class V>
void reserve_gmres(const context<device>& ctx, device_workspace& work, std::int64_t restart) {
  using D = device_value_t<V>;
  work.reserve(numbers_needed(restart, sizeof(sum_on_device<D>) / sizeof(double), most_blocks(ctx)));
}

template <class V>
krylov_outcome gmres(iteration<V, device>& run) {
  using D = device_value_t<V>;
  using S = sum_on_device<D>;
  const system<V, device>& of = run.of;
  device_workspace& work = *of.work;
  const device_guard guard(of.ctx);
  const std::int64_t packs = packs_of(of);
  const std::int64_t restart = run.restart;
  reserve_gmres<V>(of.ctx, work, restart);
  cycle<D> c{};
  c.restart = restart;
  c.stride = packs;
  c.basis = packed(run.work);
  V* const z = run.vector(restart);
  V* const w = run.vector(restart + 1);
  c.z = packed(z);
  c.w = packed(w);
  c.x = packed(run.x);
  c.r = packed(run.r);
  c.inverse = of.inverse.empty() ? nullptr : packed(of.inverse.data());
  c.triangle = reinterpret_cast<S*>(work.numbers());
  c.right = c.triangle + restart * restart;
  c.sine = c.right + restart + 1;
  c.projection = c.sine + restart + 1;
  c.correction = c.projection + restart + 1;
  c.partial = c.correction + restart + 1;
  c.cosine = reinterpret_cast<double*>(c.partial + (restart + 1) * most_blocks(of.ctx));
  const auto blocks =
      std::clamp<std::int64_t>(div_up(packs, std::int64_t{gram_tuning::threads}), 1, most_blocks(of.ctx));
  const launch_shape shape(blocks, gram_tuning::threads);
  const bool applies = of.applies();
  cycle<D> vectors = c;  // of the passes that make M's argument
  if (applies) vectors.z = c.w;
  const auto begin = [&] {
    work.run(first_vector_pass<D>{vectors}, packs);
    if (applies) of.apply(w, z);
  };
  const auto step = [&] {
    of.product(z, w);
    orthogonalise<gram::first>(of.ctx, work, shape, c);
    orthogonalise<gram::second>(of.ctx, work, shape, c);
    orthogonalise<gram::last>(of.ctx, work, shape, c);
    work.run(next_vector_pass<D>{vectors}, packs);
    if (applies) of.apply(w, z);
  };
  const std::int64_t most = run.most;
  while (run.goes_on()) {
    const double before = run.residual;
    run.most = std::min(most, run.done + restart);
    work.repeat(run, krylov_method::gmres, of.captures, begin, step,
                {static_cast<int>(std::min<std::int64_t>(device_tuning::first_chunk, run.most - run.done)), 1,
                 device_tuning::most_chunk});
    run.most = most;
    const krylov_outcome outcome = work.outcome(run);
    if (outcome != krylov_outcome::converged) return outcome;
    launch_kernel(of.ctx, {1, block_threads}, solve_kernel<D>, c, work.state());
    work.run(combine_pass<D>{c, applies}, packs);
    if (applies) {
      of.apply(w, z);
      work.run(step_pass<D>{{c}}, packs);
    }
    run.residual = of.residual(run.b, run.x, run.r);
    if (work.seen().stop == halt::is_singular) return run.failed(krylov_outcome::breakdown, "the matrix is singular");
    if (!std::isfinite(run.residual)) return run.failed(krylov_outcome::not_finite, "A x");
    if (!(run.residual < before * (1 - 1e-10)) && run.residual > run.wanted) {
      return run.is_rounding() ? krylov_outcome::stagnated
                               : run.failed(krylov_outcome::stagnated, "a cycle reduced the residual by nothing");
    }
  }
  return krylov_outcome::converged;
}

#define INSTANTIATE(V)                                                                     \
  template void reserve_gmres<V>(const context<device>&, device_workspace&, std::int64_t); \
  template krylov_outcome gmres(iteration<V, device>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
