// The basis of a restarted method on a device.
//
// Idea: classical Gram-Schmidt, always twice, the first time to the vectors that the caller names; a third time where
// the norm shows that the second took more than rounding errors away. A pass of sums takes tiles of w into shared
// memory and gives a warp each vector's part in turn; blocks write their sums, and a second kernel adds those in the
// order of blocks. Ritz vectors are made for some rows at a time, so that the basis needs no copy. Cost:
// orthogonalising vector k reads the named vectors twice and all twice, and has one synchronisation.
#include "core/instantiate.hpp"
#include "solvers/krylov/passes.cuh"
#include "solvers/krylov/sums.cuh"
#include "solvers/krylov/tall_basis.hpp"

#include <spargo/core/threaded_copy.hpp>

namespace spargo::detail::krylov {

namespace {

struct tall_tuning {
  static constexpr int threads = 512;  // each has one pack of a tile
  static constexpr int warps = threads / warp_size;
  static constexpr int blocks_per_sm = 2;
  static constexpr int columns = 4;  // of a rotation, a thread
  static constexpr std::int64_t rows = 1 << 16;
};

// The sums of conj(v_j) w for j < k and then of |w|^2, per block and per each of the `shares` warps that split a
// vector: partial[(j * shares + share) * blocks + block].
template <class D>
__global__ void __launch_bounds__(tall_tuning::threads, tall_tuning::blocks_per_sm)
    project_kernel(const pack<D>* basis, std::int64_t stride, std::int64_t k, int shares, const pack<D>* w,
                   sum_on_device<D>* partial) {
  using S = sum_on_device<D>;
  constexpr int threads = tall_tuning::threads;
  __shared__ pack<D> tile[threads];
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t blocks = gridDim.x;
  for (std::int64_t start = std::int64_t{blockIdx.x} * threads; start < stride; start += blocks * threads) {
    __syncthreads();  // the tile before is read
    if (start + thread < stride) tile[thread] = w[start + thread];
    __syncthreads();
    const auto length = static_cast<int>(stride - start < threads ? stride - start : threads);
    for (std::int64_t item = thread / warp_size; item < (k + 1) * shares; item += tall_tuning::warps) {
      const std::int64_t j = item / shares;
      const int share = static_cast<int>(item % shares);
      const pack<D>* const v = basis + j * stride + start;
      S sum{};
#pragma unroll 4
      for (int p = share * warp_size + lane_id(); p < length; p += shares * warp_size) {
        const pack<D> left = j < k ? v[p] : tile[p];
        const pack<D> right = tile[p];
#pragma unroll
        for (int e = 0; e < pack<D>::size; ++e) sum = with_product(left.v[e], right.v[e], sum);
      }
      sum = warp_reduce(sum, plus{});
      if (lane_id() != 0) continue;
      S& so_far = partial[item * blocks + blockIdx.x];
      so_far = start == std::int64_t{blockIdx.x} * threads ? sum : so_far + sum;
    }
  }
}

// A warp for each sum.
template <class S>
__global__ void __launch_bounds__(block_threads)
    add_blocks_kernel(const S* partial, std::int64_t blocks, std::int64_t count, S* to) {
  const std::int64_t j = global_thread() / warp_size;
  if (j >= count) return;
  S sum{};
  for (std::int64_t b = lane_id(); b < blocks; b += warp_size) sum = sum + partial[j * blocks + b];
  sum = warp_reduce(sum, plus{});
  if (lane_id() == 0) to[j] = sum;
}

// w -= V by.
template <class D>
__global__ void __launch_bounds__(block_threads)
    combine_kernel(const pack<D>* basis, std::int64_t stride, std::int64_t k, const sum_on_device<D>* by, pack<D>* w) {
  for (std::int64_t i = global_thread(); i < stride; i += grid_threads()) {
    pack<D> sum = w[i];
    const pack<D>* v = basis + i;
#pragma unroll 8
    for (std::int64_t j = 0; j < k; ++j, v += stride) {
      const D minus = -narrowed<D>(by[j]);
      const pack<D> mine = *v;
#pragma unroll
      for (int e = 0; e < pack<D>::size; ++e) sum.v[e] = multiply_add(minus, mine.v[e], sum.v[e]);
    }
    w[i] = sum;
  }
}

// Rows [0, rows) of columns of V S: s[c * m + j]; made[c * rows + i].
template <class D>
__global__ void __launch_bounds__(block_threads)
    rotate_kernel(const D* basis, std::int64_t stride, std::int64_t m, std::int64_t rows, const real_part_t<D>* s,
                  std::int64_t count, D* made) {
  constexpr int columns = tall_tuning::columns;
  const std::int64_t groups = (count + columns - 1) / columns;
  for (std::int64_t t = global_thread(); t < groups * rows; t += grid_threads()) {
    const std::int64_t first = t / rows * columns;
    const std::int64_t i = t % rows;
    D sums[columns] = {};
    for (std::int64_t j = 0; j < m; ++j) {
      const D v = basis[j * stride + i];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        if (first + c < count) sums[c] = add_scaled(s[(first + c) * m + j], v, sums[c]);
      }
    }
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      if (first + c < count) made[(first + c) * rows + i] = sums[c];
    }
  }
}

}  // namespace

template <class V>
tall_basis<V, device>::tall_basis(const context<device>& ctx, std::int64_t n, std::int64_t most)
    : ctx_(ctx),
      n_(n),
      stride_(div_up(n, std::int64_t{64}) * 64),
      most_(most),
      blocks_(
          std::clamp<std::int64_t>(div_up(stride_ / pack<device_value_t<V>>::size, std::int64_t{tall_tuning::threads}),
                                   1, std::int64_t{tall_tuning::blocks_per_sm} * ctx.properties().multiprocessors)),
      vectors_(ctx, stride_ * (most + 1)),
      numbers_(ctx, parts * (most + 2) * (3 + blocks_)) {
  fill_zero(ctx_, vectors_.view());
}

// V^H w for the vectors from `first` to k, and |w|^2 behind, at their places in `to`.
template <class V>
void tall_basis<V, device>::project(std::int64_t first, std::int64_t k, const V* w, double* to) {
  using D = device_value_t<V>;
  using S = sum_on_device<D>;
  auto* const partial = reinterpret_cast<S*>(sums(3));  // of most_ + 2 sums a block
  const std::int64_t count = k - first + 1;
  const auto shares = std::max<std::int64_t>(1, std::min<std::int64_t>(tall_tuning::warps, most_ + 2) / count);
  launch_kernel(ctx_, {blocks_, tall_tuning::threads}, project_kernel<D>, packed(vector(first)),
                stride_ / pack<D>::size, k - first, static_cast<int>(shares), packed(w), partial);
  launch_kernel(ctx_, one_thread_each(count * warp_size, block_threads), add_blocks_kernel<S>, partial,
                shares * blocks_, count, reinterpret_cast<S*>(to + first * parts));
}

template <class V>
void tall_basis<V, device>::combine(std::int64_t first, std::int64_t k, const double* by, V* w) {
  using D = device_value_t<V>;
  if (k == first) return;
  launch_kernel(ctx_, grid_stride(ctx_, stride_ / pack<D>::size), combine_kernel<D>, packed(vector(first)),
                stride_ / pack<D>::size, k - first, reinterpret_cast<const sum_on_device<D>*>(by + first * parts),
                packed(w));
}

template <class V>
double tall_basis<V, device>::norm(const V* w) {
  project(0, 0, w, sums(2));
  return std::sqrt(to_host(ctx_, std::as_const(numbers_).view().subspan(sums(2) - numbers_.data(), 1))[0]);
}

template <class V>
void tall_basis<V, device>::randomize(std::int64_t k, std::uint64_t& seed) {
  const device_guard guard(ctx_);
  for_each(ctx_, n_, [to = device_cast(vector(k)), start = seed] __device__(std::int64_t i) {
    std::uint64_t at = start + static_cast<std::uint64_t>(i) * random_step;
    const auto number = static_cast<real_of<V>>(random_number(at));
    if constexpr (complex_type<V>) {
      to[i] = {number, 0};
    } else {
      to[i] = number;
    }
  });
  seed += static_cast<std::uint64_t>(n_) * random_step;
}

template <class V>
double tall_basis<V, device>::orthogonalise(std::int64_t k, sum_of<V>* h, double& before, std::int64_t first) {
  const device_guard guard(ctx_);
  V* const w = vector(k);
  project(first, k, w, sums(0));
  combine(first, k, sums(0), w);
  std::fill_n(h, k, sum_of<V>{});
  for (int again = 0;; ++again) {
    project(0, k, w, sums(1));
    combine(0, k, sums(1), w);
    project(0, 0, w, sums(2));
    const auto all = to_host(ctx_, std::as_const(numbers_).view().subspan(0, (2 * (most_ + 2) + 1) * parts));
    const auto sum = [&](int pass, std::int64_t j) {
      return load<sum_of<V>>(all.data() + (pass * (most_ + 2) + j) * parts);
    };
    if (again == 0) {
      for (std::int64_t j = first; j < k; ++j) h[j] = sum(0, j);
      before = std::sqrt(std::real(sum(0, k)));
    }
    for (std::int64_t j = 0; j < k; ++j) h[j] += sum(1, j);
    const double left = std::real(sum(2, 0));
    if (first == 0 || again == 1 || !(left < 0.5 * std::real(sum(1, k)))) return std::sqrt(left);
  }
}

template <class V>
void tall_basis<V, device>::scale(std::int64_t k, double by) {
  using D = device_value_t<V>;
  const device_guard guard(ctx_);
  const auto factor = static_cast<real_part_t<D>>(by);
  for_each(ctx_, stride_,
           [v = device_cast(vector(k)), factor] __device__(std::int64_t i) { v[i] = add_scaled(factor, v[i], D{}); });
}

template <class V>
void tall_basis<V, device>::copy(std::int64_t from, std::int64_t to) {
  spargo::copy<V>(ctx_, span<const V, device>(vector(from), n_), span<V, device>(vector(to), n_));
}

template <class V>
double tall_basis<V, device>::subtract(std::int64_t from, double by, std::int64_t to) {
  using D = device_value_t<V>;
  const device_guard guard(ctx_);
  const auto minus = static_cast<real_part_t<D>>(-by);
  for_each(ctx_, stride_,
           [v = device_cast(vector(from)), w = device_cast(vector(to)), minus] __device__(std::int64_t i) {
             w[i] = add_scaled(minus, v[i], w[i]);
           });
  return norm(vector(to));
}

template <class V>
void tall_basis<V, device>::rotate(const small_matrix& s, const std::vector<std::int64_t>& columns) {
  using D = device_value_t<V>;
  using R = real_part_t<D>;
  const device_guard guard(ctx_);
  const std::int64_t count = std::ssize(columns);
  std::vector<R> numbers;
  for (const std::int64_t c : columns) {
    for (std::int64_t j = 0; j < s.n; ++j) numbers.push_back(static_cast<R>(s(j, c)));
  }
  const array<R, device> by = to_device(ctx_, span<const R, host>(numbers));
  const std::int64_t most_rows = std::min(tall_tuning::rows, n_);
  array<V, device> made(ctx_, count * most_rows);
  D* const from = device_cast(made.data());
  for (std::int64_t first = 0; first < n_; first += most_rows) {
    const std::int64_t rows = std::min(most_rows, n_ - first);
    D* const to = device_cast(vectors_.data()) + first;
    launch_kernel(ctx_, grid_stride(ctx_, rows * div_up(count, std::int64_t{tall_tuning::columns})), rotate_kernel<D>,
                  to, stride_, s.n, rows, by.data(), count, from);
    for_each(ctx_, count * rows, [from, to, rows, stride = stride_] __device__(std::int64_t k) {
      to[k / rows * stride + k % rows] = from[k];
    });
  }
  ctx_.synchronize();  // `numbers` is read
}

template <class V>
array<V, host> tall_basis<V, device>::first(std::int64_t count) const {
  const context<host> threads;
  array<V, host> copied(threads, n_ * count);
  const bool is_packed = stride_ == n_;
  for (std::int64_t k = 0; k < (is_packed ? 1 : count); ++k) {
    const std::int64_t length = is_packed ? n_ * count : n_;
    copy_to_host_by_threads(ctx_, threads, vectors_.data() + k * stride_, copied.data() + k * n_,
                            static_cast<std::size_t>(length) * sizeof(V));
  }
  return copied;
}

#define INSTANTIATE(V) template class tall_basis<V, device>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
