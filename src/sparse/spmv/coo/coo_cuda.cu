// COO products on the device. y is scaled first; then
//
// coo_atomic: one thread per entry adds to y atomically: entries in any order, not deterministic;
// coo_segmented: entries sorted by row, in tiles of fixed size. A block stages the products of its tile (see
// sparse/spmv/device.cuh), finds where rows begin, sums each segment and adds it to y. A first segment that continues
// the previous tile's row becomes a carry instead, and a second kernel adds each row's carries in tile order. One
// writer per element at a time, fixed order: deterministic. The plan sorts unsorted entries once and keeps a sorted
// copy of the pattern; products then first gather the values.
#include "core/instantiate.hpp"
#include "formats/convert/backend.hpp"
#include "sparse/spmv/device.cuh"

namespace spargo::detail::spmv {

namespace {

__device__ void atomic_add(float* y, float v) { atomicAdd(y, v); }
__device__ void atomic_add(double* y, double v) { atomicAdd(y, v); }
template <class T>
__device__ void atomic_add(device_complex<T>* y, device_complex<T> v) {
  atomicAdd(&y->re, v.re);
  atomicAdd(&y->im, v.im);
}

template <class D, class I>
__global__ void __launch_bounds__(threads_per_block)
    coo_atomic_kernel(device_entries<D, I> a, const I* rows, const D* x, D alpha, D* y) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (e < a.nnz) atomic_add(y + rows[e], alpha * (a.values[e] * read(x + a.indices[e])));
}

// Lists the positions in the tile at which a row begins, ascending; returns their number. `end` - `begin` is at most
// the stage capacity. Called by the whole block; ends with a barrier.
template <class D, class I>
__device__ int find_segments(const I* rows, std::int64_t begin, std::int64_t end, int* bounds, int* counts) {
  constexpr int rounds = stage_capacity<D> / threads_per_block;
  constexpr int warps = threads_per_block / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  unsigned heads[rounds];
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const std::int64_t e = begin + r * threads_per_block + static_cast<int>(threadIdx.x);
    const bool head = e < end && (e == begin || rows[e] != rows[e - 1]);
    heads[r] = __ballot_sync(full_mask, head ? 1 : 0);
    if (lane == 0) counts[r * warps + warp] = __popc(heads[r]);
  }
  __syncthreads();
  int total = 0;
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    int before = total;
    for (int w = 0; w < warps; ++w) {
      before += w < warp ? counts[r * warps + w] : 0;
      total += counts[r * warps + w];
    }
    if ((heads[r] >> lane & 1U) != 0) {
      bounds[before + __popc(heads[r] & ((1U << lane) - 1))] = r * threads_per_block + static_cast<int>(threadIdx.x);
    }
  }
  if (threadIdx.x == 0) bounds[total] = static_cast<int>(end - begin);
  __syncthreads();
  return total;
}

template <class D, class I>
__global__ void __launch_bounds__(threads_per_block)
    coo_segmented_kernel(device_entries<D, I> a, const I* rows, const I* carry_rows, D* carries, const D* x, D alpha,
                         D* y) {
  __shared__ D products[stage_elements<D>];
  __shared__ int bounds[stage_capacity<D> + 1];
  __shared__ int counts[stage_capacity<D> / warp_size];
  __shared__ long_segments<D> list;
  const std::int64_t tile = blockIdx.x;
  const std::int64_t begin = tile * stage_capacity<D>;
  const std::int64_t end = begin + stage_capacity<D> < a.nnz ? begin + stage_capacity<D> : a.nnz;
  const bool continues = carry_rows[tile] >= 0;
  if (threadIdx.x == 0) list.count = 0;
  stage_products(a, x, begin, end, products);
  const int segments = find_segments<D>(rows, begin, end, bounds, counts);
  sum_segments(products, bounds, segments, list, [&](int j, D sum) {
    if (j == 0 && continues) {
      carries[tile] = sum;
    } else {
      D& target = y[rows[begin + bounds[j]]];
      target = multiply_add(alpha, sum, target);
    }
  });
}

template <class D, class I>
__global__ void __launch_bounds__(threads_per_block)
    coo_carry_rows_kernel(const I* rows, std::int64_t tiles, I* carry_rows) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (tile >= tiles) return;
  const std::int64_t e = tile * stage_capacity<D>;
  carry_rows[tile] = e > 0 && rows[e] == rows[e - 1] ? rows[e] : I{-1};
}

template <class I>
__global__ void __launch_bounds__(threads_per_block) descends_kernel(const I* rows, std::int64_t nnz, int* found) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  const bool descends = e > 0 && e < nnz && rows[e] < rows[e - 1];
  if (__any_sync(full_mask, descends ? 1 : 0) != 0 && threadIdx.x % warp_size == 0) atomicExch(found, 1);
}

template <class D>
__global__ void __launch_bounds__(threads_per_block)
    gather_kernel(const D* from, const std::uint32_t* order, D* to, std::int64_t size) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (k < size) to[k] = from[order[k]];
}

template <class I>
bool is_sorted(const context<device>& ctx, span<const I, device> rows) {
  array<int, device> found(ctx, 1);
  fill_zero(ctx, found.view());
  launch_kernel(ctx, one_thread_each(rows.size(), threads_per_block), descends_kernel<I>, rows.data(), rows.size(),
                found.data());
  return to_host(ctx, std::as_const(found).view())[0] == 0;
}

template <class V, class I>
class device_coo_atomic final : public executor<V> {
 public:
  device_coo_atomic(const context<device>& ctx, const coo_view<const V, I, device>& a) : ctx_(ctx), a_(a) {}

  void run(V alpha, const V* x, V beta, V* y) const override {
    const device_guard guard(ctx_);
    scale(ctx_, beta, y, a_.rows);
    launch_kernel(ctx_, one_thread_each(a_.nnz(), threads_per_block), coo_atomic_kernel<device_value_t<V>, I>,
                  entries_of(a_.values.data(), a_.col_indices.data(), a_.nnz()), a_.row_indices.data(), device_cast(x),
                  to_device_value(alpha), device_cast(y));
  }

 private:
  context<device> ctx_;
  coo_view<const V, I, device> a_;
};

template <class V, class I>
class device_coo_segments final : public executor<V> {
  using D = device_value_t<V>;

 public:
  device_coo_segments(const context<device>& ctx, const coo_view<const V, I, device>& a)
      : ctx_(ctx), a_(a), tiles_(div_up(a.nnz(), stage_capacity<D>)) {
    const device_guard guard(ctx);
    if (!is_sorted(ctx, a.row_indices)) {
      sorted_ = sort_pattern<I>("spmv", ctx, a);
      ordered_values_ = {ctx, a.nnz()};
      a_.row_indices = std::as_const(sorted_.row_indices).view();
      a_.col_indices = std::as_const(sorted_.col_indices).view();
    }
    carry_rows_ = {ctx, tiles_};
    carries_ = {ctx, tiles_};
    launch_kernel(ctx, one_thread_each(tiles_, threads_per_block), coo_carry_rows_kernel<D, I>, a_.row_indices.data(),
                  tiles_, carry_rows_.data());
  }

  void run(V alpha_value, const V* x, V beta, V* y_values) const override {
    const device_guard guard(ctx_);
    const D alpha = to_device_value(alpha_value);
    D* const y = device_cast(y_values);
    D* const carries = device_cast(carries_.data());
    const V* values = a_.values.data();
    scale(ctx_, beta, y_values, a_.rows);
    if (!ordered_values_.empty()) {
      launch_kernel(ctx_, one_thread_each(a_.nnz(), threads_per_block), gather_kernel<D>, device_cast(values),
                    sorted_.order.data(), device_cast(ordered_values_.data()), a_.nnz());
      values = ordered_values_.data();
    }
    launch_kernel(ctx_, {tiles_, threads_per_block}, coo_segmented_kernel<D, I>,
                  entries_of(values, a_.col_indices.data(), a_.nnz()), a_.row_indices.data(), carry_rows_.data(),
                  carries, device_cast(x), alpha, y);
    add_carries<D, I>(ctx_, carry_rows_.data(), carries, tiles_, alpha, y);
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(V)) * (carries_.size() + ordered_values_.size()) +
           static_cast<std::int64_t>(sizeof(I)) * carry_rows_.size() + sorted_.bytes();
  }

 private:
  context<device> ctx_;
  coo_view<const V, I, device> a_;
  std::int64_t tiles_;
  sorted_entries<I, device> sorted_;
  mutable array<V, device> ordered_values_;  // written by each run
  array<I, device> carry_rows_;
  mutable array<V, device> carries_;  // written by each run
};

}  // namespace

template <class V, class I>
executor_ptr<V> make_executor(const context<device>& ctx, const coo_view<const V, I, device>& matrix,
                              spmv_algorithm algorithm) {
  if (algorithm == spmv_algorithm::coo_atomic) return std::make_unique<device_coo_atomic<V, I>>(ctx, matrix);
  return std::make_unique<device_coo_segments<V, I>>(ctx, matrix);
}

#define INSTANTIATE(V, I) \
  template executor_ptr<V> make_executor(const context<device>&, const coo_view<const V, I, device>&, spmv_algorithm);
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE)

}  // namespace spargo::detail::spmv
