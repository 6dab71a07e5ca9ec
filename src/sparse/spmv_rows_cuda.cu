// CSR products on the device in which a thread, a group of threads or a block owns whole rows.
//
// row_per_thread: one thread a row; neighbouring threads read far apart. row_per_warp: a group of 2 to 32 lanes a
// row, so that lanes read side by side; groups of a whole warp load 16 bytes a lane. row_blocks: a block owns
// consecutive rows, stages all their entries (see spmv_device.cuh), and sums rows from shared memory by small groups
// (CSR-stream of Greathouse and Daga, SC 2014, without its row-block list: the rows a block owns follow from the mean
// length, and blocks whose entries exceed the stage go to a second kernel that takes them in several passes). No
// atomics, one writer an element: deterministic. No workspace.
#include "core/instantiate.hpp"
#include "sparse/spmv_device.cuh"

#include <algorithm>

namespace spargo::detail {

namespace {

template <class D, class I, class O>
struct csr_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
};

struct tuning {
  // Entries a lane, at least, before a group is widened: below, lanes idle.
  static constexpr double entries_per_lane = 2.0;
  // From this mean on a whole warp loads 16 bytes a lane: two full rounds of the warp.
  static constexpr double wide_mean = 96.0;
  static constexpr int widest_block_group = 16;
};

template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    row_per_thread_kernel(csr_arguments<D, I, O> a, const D* x, D alpha, D beta, D* y) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (row >= a.rows) return;
  const O end = a.offsets[row + 1];
  D sum{};
  for (O e = a.offsets[row]; e < end; ++e) {
    sum = multiply_add(a.entries.values[e], read(x + a.entries.indices[e]), sum);
  }
  update(y[row], alpha, sum, beta);
}

// `width` lanes a row. The lanes of a last, partial warp stay for the sum over lanes.
template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    row_per_group_kernel(csr_arguments<D, I, O> a, int width, const D* x, D alpha, D beta, D* y) {
  const int lane = static_cast<int>(threadIdx.x) & (width - 1);
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (spmv_threads / width) + static_cast<int>(threadIdx.x) / width;
  D sum{};
  if (row < a.rows) {
    const std::int64_t end = a.offsets[row + 1];
    for (std::int64_t e = a.offsets[row] + lane; e < end; e += width) {
      sum = multiply_add(a.entries.values[e], read(x + a.entries.indices[e]), sum);
    }
  }
  sum = group_sum(sum, width);
  if (lane == 0 && row < a.rows) update(y[row], alpha, sum, beta);
}

// A warp a row, four entries a lane and load; entries of other rows in the first and last load are left out.
template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    row_per_warp_kernel(csr_arguments<D, I, O> a, const D* x, D alpha, D beta, D* y) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (spmv_threads / warp_size) + threadIdx.x / warp_size;
  if (row >= a.rows) return;  // warps leave as a whole
  const std::int64_t begin = a.offsets[row];
  const std::int64_t end = a.offsets[row + 1];
  D sum{};
#pragma unroll 2
  for (std::int64_t e = (begin & ~std::int64_t{3}) + 4 * lane; e < end; e += 4 * warp_size) {
    quad<D> values;
    quad<I> indices;
    load_entries(a.entries, e, values, indices);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (e + j >= begin && e + j < end) sum = multiply_add(values.v[j], read(x + indices.v[j]), sum);
    }
  }
  sum = group_sum(sum, warp_size);
  if (lane == 0) update(y[row], alpha, sum, beta);
}

// The sum of a full stage, by the whole block; the result is the same in every thread.
template <class D>
__device__ D sum_stage(const D* products, D* warp_sums) {
  D sum{};
  for (int k = static_cast<int>(threadIdx.x); k < stage_capacity<D>; k += spmv_threads) sum += products[skewed<D>(k)];
  sum = group_sum(sum, warp_size);
  if (threadIdx.x % warp_size == 0) warp_sums[threadIdx.x / warp_size] = sum;
  __syncthreads();
  sum = warp_sums[0];
  for (int w = 1; w < spmv_threads / warp_size; ++w) sum += warp_sums[w];
  return sum;
}

// The rows of a block: blockIdx.x * (spmv_threads / width) and as many more, `width` lanes each.
struct block_rows {
  std::int64_t first;
  std::int64_t last;
  std::int64_t row;  // the thread's; maybe past the end
  int lane;

  __device__ block_rows(std::int64_t rows, int width)
      : first(static_cast<std::int64_t>(blockIdx.x) * (spmv_threads / width)),
        last(first + spmv_threads / width < rows ? first + spmv_threads / width : rows),
        row(first + static_cast<int>(threadIdx.x) / width),
        lane(static_cast<int>(threadIdx.x) & (width - 1)) {}
};

// Where a block's staging begins, and whether one stage holds its entries.
template <class O>
__device__ std::int64_t stage_origin(const O* offsets, std::int64_t first_row) {
  return static_cast<std::int64_t>(offsets[first_row]) & ~std::int64_t{3};
}
template <class D>
__device__ bool fits_stage(std::int64_t origin, std::int64_t end) {
  return end - origin <= stage_capacity<D>;
}

// Blocks whose entries fit the stage; the others are left to the next kernel.
template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    row_blocks_kernel(csr_arguments<D, I, O> a, int width, const D* x, D alpha, D beta, D* y) {
  __shared__ D products[stage_elements<D>];
  const block_rows here(a.rows, width);
  const std::int64_t end = a.offsets[here.last];
  const std::int64_t origin = stage_origin(a.offsets, here.first);
  if (!fits_stage<D>(origin, end)) return;  // the whole block
  const bool active = here.row < here.last;
  const int row_begin = active ? static_cast<int>(a.offsets[here.row] - origin) : 0;
  const int row_end = active ? static_cast<int>(a.offsets[here.row + 1] - origin) : 0;
  stage_products(a.entries, x, origin, end, products);
  __syncthreads();
  D sum{};
#pragma unroll 2
  for (int k = row_begin + here.lane; k < row_end; k += width) sum += products[skewed<D>(k)];
  sum = group_sum(sum, width);
  if (here.lane == 0 && active) update(y[here.row], alpha, sum, beta);
}

__device__ std::int64_t clamp(std::int64_t v, std::int64_t low, std::int64_t high) {
  return v < low ? low : (v > high ? high : v);
}

// Blocks whose entries exceed the stage, stage after stage. One within a single row is summed by all threads.
template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    row_blocks_passes_kernel(csr_arguments<D, I, O> a, int width, const D* x, D alpha, D beta, D* y) {
  __shared__ D products[stage_elements<D>];
  __shared__ D warp_sums[spmv_threads / warp_size];
  const block_rows here(a.rows, width);
  const std::int64_t end = a.offsets[here.last];
  std::int64_t origin = stage_origin(a.offsets, here.first);
  if (fits_stage<D>(origin, end)) return;  // the whole block
  const bool active = here.row < here.last;
  const std::int64_t row_begin = active ? static_cast<std::int64_t>(a.offsets[here.row]) : end;
  const std::int64_t row_end = active ? static_cast<std::int64_t>(a.offsets[here.row + 1]) : end;
  D sum{};
  for (; origin < end; origin += stage_capacity<D>) {  // the same trips for the whole block
    const std::int64_t stop = origin + stage_capacity<D> < end ? origin + stage_capacity<D> : end;
    stage_products(a.entries, x, origin, stop, products);
    const bool mine = row_begin <= origin && row_end >= origin + stage_capacity<D>;
    if (__syncthreads_or(mine ? 1 : 0) != 0) {
      const D total = sum_stage(products, warp_sums);
      if (mine && here.lane == 0) sum += total;
    } else {
      const int first = static_cast<int>(clamp(row_begin, origin, stop) - origin);
      const int last = static_cast<int>(clamp(row_end, origin, stop) - origin);
      for (int k = first + here.lane; k < last; k += width) sum += products[skewed<D>(k)];
    }
    __syncthreads();  // before the next stage overwrites this one
  }
  sum = group_sum(sum, width);
  if (here.lane == 0 && active) update(y[here.row], alpha, sum, beta);
}

// Whether any block's entries exceed the stage.
template <class D, class O>
__global__ void __launch_bounds__(spmv_threads)
    oversized_kernel(const O* offsets, std::int64_t rows, std::int64_t rows_a_block, std::int64_t blocks, int* found) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (block >= blocks) return;
  const std::int64_t first = block * rows_a_block;
  const std::int64_t last = first + rows_a_block < rows ? first + rows_a_block : rows;
  if (!fits_stage<D>(stage_origin(offsets, first), offsets[last])) atomicExch(found, 1);
}

template <class V, class I, class O>
class device_rows final : public spmv_executor<V> {
  using D = device_value_t<V>;

 public:
  device_rows(const context<device>& ctx, const csr_view<const V, I, O, device>& a, spmv_algorithm algorithm)
      : ctx_(ctx),
        arguments_{entries_of(a.values.data(), a.indices.data(), a.nnz()), a.offsets.data(), a.rows},
        algorithm_(algorithm) {
    const double mean = static_cast<double>(a.nnz()) / static_cast<double>(a.rows);
    if (algorithm == spmv_algorithm::row_blocks) {
      width_ = 1;
      while (width_ < tuning::widest_block_group && mean * (spmv_threads / width_) > stage_capacity<D>) width_ *= 2;
      oversized_ = any_oversized();
    } else if (algorithm == spmv_algorithm::row_per_warp) {
      width_ = 2;
      while (width_ < warp_size && mean > tuning::entries_per_lane * width_) width_ *= 2;
      wide_ = mean >= tuning::wide_mean;
    }
  }

  void run(V alpha_value, const V* x_values, V beta_value, V* y_values) const override {
    const device_guard guard(ctx_);
    const D* const x = device_cast(x_values);
    D* const y = device_cast(y_values);
    const D alpha = to_device_value(alpha_value);
    const D beta = to_device_value(beta_value);
    const unsigned grid = grid_of(arguments_.rows, spmv_threads / width_);
    if (algorithm_ == spmv_algorithm::row_blocks) {
      row_blocks_kernel<<<grid, spmv_threads, 0, ctx_.stream()>>>(arguments_, width_, x, alpha, beta, y);
      if (oversized_) {
        SPARGO_CUDA_TRY(cudaGetLastError());
        row_blocks_passes_kernel<<<grid, spmv_threads, 0, ctx_.stream()>>>(arguments_, width_, x, alpha, beta, y);
      }
    } else if (algorithm_ == spmv_algorithm::row_per_thread) {
      row_per_thread_kernel<<<grid, spmv_threads, 0, ctx_.stream()>>>(arguments_, x, alpha, beta, y);
    } else if (wide_) {
      row_per_warp_kernel<<<grid, spmv_threads, 0, ctx_.stream()>>>(arguments_, x, alpha, beta, y);
    } else {
      row_per_group_kernel<<<grid, spmv_threads, 0, ctx_.stream()>>>(arguments_, width_, x, alpha, beta, y);
    }
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

 private:
  // Synchronises the stream.
  [[nodiscard]] bool any_oversized() const {
    const device_guard guard(ctx_);
    const std::int64_t rows_a_block = spmv_threads / width_;
    const std::int64_t blocks = div_up(arguments_.rows, rows_a_block);
    array<int, device> found(ctx_, 1);
    fill_zero(ctx_, found.view());
    oversized_kernel<D><<<grid_of(blocks, spmv_threads), spmv_threads, 0, ctx_.stream()>>>(
        arguments_.offsets, arguments_.rows, rows_a_block, blocks, found.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    return to_host(ctx_, std::as_const(found).view())[0] != 0;
  }

  context<device> ctx_;
  csr_arguments<D, I, O> arguments_;
  spmv_algorithm algorithm_;
  bool oversized_ = false;
  int width_ = 1;
  bool wide_ = false;
};

}  // namespace

template <class V, class I, class O>
spmv_executor_ptr<V> make_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                   spmv_algorithm algorithm, const row_profile&) {
  if (algorithm == spmv_algorithm::merge_path) return make_merge_executor<V, I, O>(ctx, matrix);
  return std::make_unique<device_rows<V, I, O>>(ctx, matrix, algorithm);
}

#define INSTANTIATE(V, I, O)                                                                                  \
  template spmv_executor_ptr<V> make_executor(const context<device>&, const csr_view<const V, I, O, device>&, \
                                              spmv_algorithm, const row_profile&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
