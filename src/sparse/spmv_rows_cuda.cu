// CSR products on the device in which a thread or a group of threads owns whole rows.
//
// row_per_thread: one thread a row. Its loads lie a row's length apart from its neighbours', but for rows of a few
// entries all of them hit the same cache lines soon after each other; the kernel for a row length has all entries of
// its row in flight at once. row_per_warp: a group of 2 to 32 lanes a row, so that lanes read side by side; groups of a
// whole warp load 16 bytes a lane, and rows far too long for their group are left to the block. No atomics, one writer
// an element: deterministic. No workspace.
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
  // Entries a lane, at most, before a row is left to a warp, and entries before it is left to the whole block.
  static constexpr int group_limit = 8;
  static constexpr int warp_limit = 256;
  // From this mean on a whole warp loads 16 bytes a lane: two full rounds of the warp.
  static constexpr double wide_mean = 96.0;
  // Entries of a row in flight, one kernel each; it must fit the rows. 5-point Laplacian 4096 x 4096 with 4, 5, 6, 7,
  // 8, ms on an H200: fp32 0.238, 0.209, 0.222, 0.240, 0.243; fp64 0.378, 0.315, 0.362, 0.327, 0.321.
  static constexpr int least_unrolled = 3;
  static constexpr int most_unrolled = 8;
};

// Blocks a multiprocessor: as many as there are threads for, where a row's entries fit 32 registers.
template <class D, class I, class O>
inline constexpr int row_blocks_resident = sizeof(D) + sizeof(I) > 12 ? 3 : (sizeof(O) == 4 ? 8 : 6);

template <int Unroll, class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads, row_blocks_resident<D, I, O>)
    row_per_thread_kernel(csr_arguments<D, I, O> a, const D* __restrict__ x, D alpha, D beta, D* __restrict__ y) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (row >= a.rows) return;
  const O end = a.offsets[row + 1];
  D sum{};
#pragma unroll 1
  for (O e = a.offsets[row]; e < end; e += Unroll) {
    const I* const indices = a.entries.indices + e;
    const D* const values = a.entries.values + e;
    const int here = end - e < Unroll ? static_cast<int>(end - e) : Unroll;
    D value[Unroll];
    I index[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      index[u] = u < here ? __ldg(indices + u) : I{-1};
      value[u] = u < here ? read(values + u) : D{};
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      if (index[u] >= 0) sum = multiply_add(value[u], read(x + index[u]), sum);
    }
  }
  update(y[row], alpha, sum, beta);
}

// The sum over entries first, first + step, ... below end, four of them in flight.
template <class D, class I>
__device__ D strided_dot(const device_entries<D, I>& a, std::int64_t first, std::int64_t end, int step, const D* x) {
  D sum{};
#pragma unroll 4
  for (std::int64_t e = first; e < end; e += step) sum = multiply_add(a.values[e], read(x + a.indices[e]), sum);
  return sum;
}

// The rows of a block that are too long for their groups, as places in the block, in any order: each row's own order of
// sums is fixed.
struct waiting_rows {
  int count;
  int rows[spmv_threads / 2];  // the narrowest groups have two lanes

  __device__ void add(int row) { rows[atomicAdd(&count, 1)] = row; }
};

// `width` lanes a row; rows of more than `group_limit` entries wait for a warp, of more than `warp_limit` for the
// whole block. The lanes of a last, partial warp stay for the sum over lanes.
template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    row_per_group_kernel(csr_arguments<D, I, O> a, int width, int group_limit, int warp_limit, const D* __restrict__ x,
                         D alpha, D beta, D* __restrict__ y) {
  __shared__ waiting_rows for_warps;
  __shared__ waiting_rows for_block;
  __shared__ D warp_sums[spmv_threads / warp_size];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * (spmv_threads / width);
  const auto sum_of = [&](std::int64_t row, int lane, int lanes) {
    return strided_dot(a.entries, static_cast<std::int64_t>(a.offsets[row]) + lane,
                       static_cast<std::int64_t>(a.offsets[row + 1]), lanes, x);
  };
  if (thread == 0) for_warps.count = for_block.count = 0;
  __syncthreads();

  const std::int64_t row = first_row + thread / width;
  const int lane = thread & (width - 1);
  const bool inside = row < a.rows;
  const std::int64_t length = inside ? static_cast<std::int64_t>(a.offsets[row + 1] - a.offsets[row]) : 0;
  if (length > group_limit && lane == 0) (length > warp_limit ? for_block : for_warps).add(thread / width);
  D sum = group_sum(inside && length <= group_limit ? sum_of(row, lane, width) : D{}, width);
  if (lane == 0 && inside && length <= group_limit) update(y[row], alpha, sum, beta);
  __syncthreads();

  for (int i = thread / warp_size; i < for_warps.count; i += spmv_threads / warp_size) {
    const std::int64_t long_row = first_row + for_warps.rows[i];
    sum = group_sum(sum_of(long_row, thread % warp_size, warp_size), warp_size);
    if (thread % warp_size == 0) update(y[long_row], alpha, sum, beta);
  }
  for (int i = 0; i < for_block.count; ++i) {
    const std::int64_t long_row = first_row + for_block.rows[i];
    sum = group_sum(sum_of(long_row, thread, spmv_threads), warp_size);
    if (thread % warp_size == 0) warp_sums[thread / warp_size] = sum;
    __syncthreads();
    if (thread == 0) {
      for (int w = 1; w < spmv_threads / warp_size; ++w) sum += warp_sums[w];
      update(y[long_row], alpha, sum, beta);
    }
    __syncthreads();  // before the next row's sums
  }
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

template <class V, class I, class O>
class device_rows final : public spmv_executor<V> {
  using D = device_value_t<V>;
  using kernel = void (*)(csr_arguments<D, I, O>, const D*, D, D, D*);

 public:
  device_rows(const context<device>& ctx, const csr_view<const V, I, O, device>& a, spmv_algorithm algorithm,
              const row_profile& profile)
      : ctx_(ctx), arguments_{entries_of(a.values.data(), a.indices.data(), a.nnz()), a.offsets.data(), a.rows} {
    if (algorithm == spmv_algorithm::row_per_thread) {
      kernel_ = row_kernel_for(profile.longest);
      return;
    }
    const double mean = static_cast<double>(a.nnz()) / static_cast<double>(a.rows);
    width_ = 2;
    while (width_ < warp_size && mean > tuning::entries_per_lane * width_) width_ *= 2;
    if (mean >= tuning::wide_mean) kernel_ = &row_per_warp_kernel<D, I, O>;
  }

  void run(V alpha_value, const V* x_values, V beta_value, V* y_values) const override {
    const device_guard guard(ctx_);
    const D* const x = device_cast(x_values);
    D* const y = device_cast(y_values);
    const D alpha = to_device_value(alpha_value);
    const D beta = to_device_value(beta_value);
    const unsigned grid = grid_of(arguments_.rows, spmv_threads / width_);
    if (kernel_ != nullptr) {
      kernel_<<<grid, spmv_threads, 0, ctx_.stream()>>>(arguments_, x, alpha, beta, y);
    } else {
      row_per_group_kernel<<<grid, spmv_threads, 0, ctx_.stream()>>>(arguments_, width_, tuning::group_limit * width_,
                                                                     tuning::warp_limit, x, alpha, beta, y);
    }
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

 private:
  // The kernel whose reach is the longest row's length; for longer rows, or when it is not known (0), the widest.
  template <int Unroll = tuning::least_unrolled>
  [[nodiscard]] static kernel row_kernel_for(std::int64_t longest) {
    if constexpr (complex_type<V>) {
      return &row_per_thread_kernel<4, D, I, O>;
    } else if constexpr (Unroll == tuning::most_unrolled) {
      return &row_per_thread_kernel<Unroll, D, I, O>;
    } else {
      if (longest > 0 && longest <= Unroll) return &row_per_thread_kernel<Unroll, D, I, O>;
      return row_kernel_for<Unroll + 1>(longest);
    }
  }

  context<device> ctx_;
  csr_arguments<D, I, O> arguments_;
  int width_ = 1;
  kernel kernel_ = nullptr;  // null: row_per_group_kernel
};

}  // namespace

template <class V, class I, class O>
spmv_executor_ptr<V> make_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                   spmv_algorithm algorithm, const row_profile& profile) {
  if (algorithm == spmv_algorithm::merge_path) return make_merge_executor<V, I, O>(ctx, matrix);
  if (algorithm == spmv_algorithm::row_blocks) return make_blocks_executor<V, I, O>(ctx, matrix);
  return std::make_unique<device_rows<V, I, O>>(ctx, matrix, algorithm, profile);
}

#define INSTANTIATE(V, I, O)                                                                                  \
  template spmv_executor_ptr<V> make_executor(const context<device>&, const csr_view<const V, I, O, device>&, \
                                              spmv_algorithm, const row_profile&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
