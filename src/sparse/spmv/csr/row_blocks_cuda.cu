// Device CSR products in which a block owns consecutive rows and stages all their entries in shared memory.
//
// CSR-stream of Greathouse and Daga (SC 2014) without its row-block list: the entries of 4 to 128 consecutive rows are
// contiguous, so two bulk copies load them; loads occupy no registers, and L1 is left to x. Then 1 to 32 neighbouring
// lanes sum a row: with few lanes per row, a warp's gathers of x come from the same position in many neighbouring rows,
// which in stencils and bands are adjacent. Invariant: a block's number determines its rows, so there is no list. A
// block whose entries exceed the stage reads them from global memory, long rows by a warp or by all its threads. Each
// row's lanes sum in a fixed order: deterministic. Cost: each entry is read once; no workspace. Not for columns without
// locality: the stage takes L1 space from their gathers.
#include "core/device/block.cuh"
#include "core/device/bulk_copy.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/device.cuh"

#include <algorithm>
#include <cmath>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Approximate entries per block: bytes in flight against L1 space for x (27-point 160^3, fp64, 32, 28, 19 rows:
  // 0.342, 0.353, 0.397 ms on an H200; more in sparse_tuning.txt).
  static constexpr double block_entries = 900;
  static constexpr int least_rows = 4;
  static constexpr int most_rows = 128;
  // Least threads, 64 and 128: 27-point fp64 0.3444, 0.3417; fp32 0.240, 0.257.
  static constexpr int threads_of_4_bytes = 64;
  static constexpr int threads = 128;
  // Most entries in flight per lane.
  static constexpr int most_unrolled = 8;
  // Largest stage relative to the mean block; a larger one costs every block more cache than it saves.
  static constexpr double widest_stage = 2.0;
  // In a block that exceeds its stage, rows of at most this many entries per lane are summed by their lanes, rows of at
  // most this many entries by a warp (zenios: all threads on one row after the other took 72 us).
  static constexpr std::int64_t lane_entries = 64;
  static constexpr std::int64_t warp_entries = 2048;
  static constexpr int stage_bytes = 46 * 1024;  // the limit without opt-in
};

template <class D, class I, class O>
struct blocks_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
  int width;     // lanes per row, a power of two
  int capacity;  // entries of the stage, a multiple of four
};

// A block's rows and entries: [begin, end), staged from `origin`, a multiple of four.
template <class O>
struct block_range {
  std::int64_t first;
  std::int64_t last;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t origin;

  __device__ block_range(const O* offsets, std::int64_t rows, std::int64_t rows_per_block, std::int64_t block)
      : first(block * rows_per_block),
        last(first + rows_per_block < rows ? first + rows_per_block : rows),
        begin(offsets[first]),
        end(offsets[last]),
        origin(begin & ~std::int64_t{3}) {}
};

// Stages entries origin .. origin + count - 1 in shared memory: whole quads within the arrays by bulk copies, the rest
// (everything of unaligned arrays, else up to three entries at the matrix's end) by threads. Returns whether to wait
// for a bulk copy. The caller then needs a block barrier.
template <class D, class I>
__device__ bool stage_entries(const device_entries<D, I>& a, std::int64_t origin, int count, D* values, I* indices,
                              shared_barrier& arrived) {
  const std::int64_t available = (a.nnz - origin) & ~std::int64_t{3};
  const int quads = (count + 3) & ~3;
  const int bulk = has_hopper_blocks && a.aligned ? static_cast<int>(quads < available ? quads : available) : 0;
  if (threadIdx.x == 0 && bulk > 0) {
    arrived.init(1);
    mbarrier_init_fence();
    arrived.expect_tx(static_cast<unsigned>(bulk * (sizeof(D) + sizeof(I))));
    bulk_copy(values, a.values + origin, static_cast<unsigned>(bulk * sizeof(D)), arrived);
    bulk_copy(indices, a.indices + origin, static_cast<unsigned>(bulk * sizeof(I)), arrived);
  }
  for (int k = bulk + static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) {
    values[k] = a.values[origin + k];
    indices[k] = a.indices[origin + k];
  }
  return bulk > 0;
}

// The sum over entries first, first + step, ... below last of `values` and `indices`, with Unroll gathers in flight.
template <int Unroll, class D, class I, class Count>
__device__ D dot(const D* values, const I* indices, Count first, Count last, Count step, const D* x) {
  D sum{};
  for (Count k = first; k < last; k += Unroll * step) {
    D value[Unroll];
    I index[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      const bool inside = k + u * step < last;
      index[u] = inside ? indices[k + u * step] : I{-1};
      value[u] = inside ? values[k + u * step] : D{};
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      if (index[u] >= 0) sum = multiply_add(value[u], read(x + index[u]), sum);
    }
  }
  return sum;
}

template <class D, class I, class O>
__device__ void row_by_block(const blocks_arguments<D, I, O>& a, std::int64_t row, const D* x, D alpha, D beta, D* y) {
  __shared__ D warp_sums[tuning::threads / warp_size];
  const auto begin = static_cast<std::int64_t>(a.offsets[row]);
  const auto end = static_cast<std::int64_t>(a.offsets[row + 1]);
  const auto step = static_cast<std::int64_t>(blockDim.x);
  const D sum = block_sum(dot<4>(a.entries.values, a.entries.indices, begin + threadIdx.x, end, step, x), warp_sums,
                          static_cast<int>(blockDim.x / warp_size));
  if (threadIdx.x == 0) update(y[row], alpha, sum, beta);
  __syncthreads();  // before the next row's sums
}

// A block whose entries exceed the stage: short rows by `width` lanes, longer ones by a warp each, the longest by all
// threads. The choice depends on the row's length only, so its sum has one order.
template <class D, class I, class O>
__device__ void long_block(const blocks_arguments<D, I, O>& a, const block_range<O>& range, int width, const D* x,
                           D alpha, D beta, D* y) {
  __shared__ int longer[tuning::most_rows];
  __shared__ int count;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) count = 0;
  __syncthreads();
  const int lane = thread & (width - 1);
  const std::int64_t row = range.first + thread / width;
  const std::int64_t begin = row < range.last ? static_cast<std::int64_t>(a.offsets[row]) : 0;
  const std::int64_t end = row < range.last ? static_cast<std::int64_t>(a.offsets[row + 1]) : 0;
  const bool soon = end - begin <= tuning::lane_entries * width;
  const std::int64_t past = soon ? end : begin;
  const D sum = group_sum(
      dot<4>(a.entries.values, a.entries.indices, begin + lane, past, static_cast<std::int64_t>(width), x), width);
  if (lane == 0 && row < range.last && soon) update(y[row], alpha, sum, beta);
  if (lane == 0 && !soon) longer[atomicAdd(&count, 1)] = thread / width;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x / warp_size);
  for (int k = thread / warp_size; k < count; k += warps) {
    const std::int64_t r = range.first + longer[k];
    const auto first = static_cast<std::int64_t>(a.offsets[r]);
    const auto last = static_cast<std::int64_t>(a.offsets[r + 1]);
    if (last - first > tuning::warp_entries) continue;
    const std::int64_t start = first + thread % warp_size;
    const D total =
        group_sum(dot<4>(a.entries.values, a.entries.indices, start, last, std::int64_t{warp_size}, x), warp_size);
    if (thread % warp_size == 0) update(y[r], alpha, total, beta);
  }
  for (int k = 0; k < count; ++k) {
    const std::int64_t r = range.first + longer[k];
    if (static_cast<std::int64_t>(a.offsets[r + 1]) - static_cast<std::int64_t>(a.offsets[r]) <= tuning::warp_entries)
      continue;
    row_by_block(a, r, x, alpha, beta, y);
  }
}

// The same as a call. Inlined, the kernel of 8-byte values takes 40 registers instead of 32, and 12 blocks are resident
// instead of 16 (27-point 160^3, fp64, H200: 0.363 ms, with the call 0.336). Arguments are passed by value: references
// would force them to memory even if there is no call.
template <class D, class I, class O>
__device__ __noinline__ void call_long_block(blocks_arguments<D, I, O> a, int width, const D* x, D alpha, D beta,
                                             D* y) {
  const block_range<O> range(a.offsets, a.rows, static_cast<int>(blockDim.x) / width, blockIdx.x);
  long_block(a, range, width, x, alpha, beta, y);
}

// Blocks per SM: limited by threads if a lane's entries fit 32 registers.
template <class D, class I, class O>
inline constexpr int blocks_resident = sizeof(D) <= 8 && sizeof(I) + sizeof(O) <= 8 ? 2048 / tuning::threads : 1;

// Width: lanes per row, a compile-time constant folded into load offsets (4 percent for 4-byte values); 0: a.width.
template <int Width, int Unroll, class D, class I, class O>
__global__ void __launch_bounds__(tuning::threads, resident_blocks(blocks_resident<D, I, O>, tuning::threads))
    row_blocks_kernel(blocks_arguments<D, I, O> a, const D* __restrict__ x, D alpha, D beta, D* __restrict__ y) {
  extern __shared__ __align__(128) unsigned char raw[];
  __shared__ shared_barrier arrived;
  const int width = Width == 0 ? a.width : Width;
  const block_range<O> range(a.offsets, a.rows, static_cast<int>(blockDim.x) / width, blockIdx.x);
  if (range.end - range.origin > a.capacity) {
    if constexpr (sizeof(D) <= 4) {
      long_block(a, range, width, x, alpha, beta, y);
    } else {
      call_long_block(a, width, x, alpha, beta, y);
    }
    return;
  }
  D* const values = reinterpret_cast<D*>(raw);
  I* const indices = reinterpret_cast<I*>(values + a.capacity);
  const bool copies =
      stage_entries(a.entries, range.origin, static_cast<int>(range.end - range.origin), values, indices, arrived);
  const int lane = static_cast<int>(threadIdx.x) & (width - 1);
  const std::int64_t row = range.first + static_cast<int>(threadIdx.x) / width;
  int first = 0;
  int last = 0;
  if (row < range.last) {
    first = static_cast<int>(a.offsets[row] - range.origin);
    last = static_cast<int>(a.offsets[row + 1] - range.origin);
  }
  __syncthreads();
  if (copies) arrived.wait(0);
  const D sum = group_sum(dot<Unroll>(values, indices, first + lane, last, width, x), width);
  if (lane == 0 && row < range.last) update(y[row], alpha, sum, beta);
}

// The largest block not longer than `limit`, rounded up to a multiple of four.
template <class O>
__global__ void __launch_bounds__(threads_per_block)
    longest_block_kernel(const O* offsets, std::int64_t rows, std::int64_t rows_per_block, std::int64_t blocks,
                         int limit, int* longest) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (block >= blocks) return;
  const block_range<O> range(offsets, rows, rows_per_block, block);
  const std::int64_t entries = (range.end - range.origin + 3) & ~std::int64_t{3};
  if (entries <= limit) atomicMax(longest, static_cast<int>(entries));
}

template <class V, class I, class O>
class device_blocks final : public executor<V> {
  using D = device_value_t<V>;
  using kernel = void (*)(blocks_arguments<D, I, O>, const D*, D, D, D*);

 public:
  device_blocks(const context<device>& ctx, const csr_view<const V, I, O, device>& a)
      : ctx_(ctx), arguments_{entries_of(a.values.data(), a.indices.data(), a.nnz()), a.offsets.data(), a.rows, 1, 0} {
    const double mean = std::max(1.0, static_cast<double>(a.nnz()) / static_cast<double>(a.rows));
    rows_ = tuning::least_rows;
    while (rows_ < tuning::most_rows && rows_ * mean * std::sqrt(2.0) < tuning::block_entries) rows_ *= 2;
    threads_ = std::max(rows_, sizeof(D) <= 4 ? tuning::threads_of_4_bytes : tuning::threads);
    arguments_.width = threads_ / rows_;
    const int lane_entries = static_cast<int>(std::ceil(mean / arguments_.width));
    const int rounds = (lane_entries + tuning::most_unrolled - 1) / tuning::most_unrolled;
    kernel_ = kernel_for(arguments_.width, (lane_entries + rounds - 1) / rounds);
    arguments_.capacity = longest_block(mean);
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const std::size_t stage = static_cast<std::size_t>(arguments_.capacity) * (sizeof(D) + sizeof(I));
    launch_kernel(ctx_, {div_up(arguments_.rows, rows_), threads_, stage}, kernel_, arguments_, device_cast(x),
                  to_device_value(alpha), to_device_value(beta), device_cast(y));
  }

 private:
  // The kernel for a width and entries per lane; specialised for the most important types.
  [[nodiscard]] static kernel kernel_for(int width, int unroll) {
    if constexpr (complex_type<V>) {
      return &row_blocks_kernel<0, 4, D, I, O>;  // few, large loads
    } else if constexpr (sizeof(I) + sizeof(O) > 8) {
      return unroll <= 4 ? &row_blocks_kernel<0, 4, D, I, O> : &row_blocks_kernel<0, 8, D, I, O>;
    } else {
      switch (width) {
        case 1:
          return kernel_of_width<1>(unroll);
        case 2:
          return kernel_of_width<2>(unroll);
        case 4:
          return kernel_of_width<4>(unroll);
        case 8:
          return kernel_of_width<8>(unroll);
        default:
          return kernel_of_width<0>(unroll);
      }
    }
  }
  template <int Width>
  [[nodiscard]] static kernel kernel_of_width(int unroll) {
    if (unroll <= 4) return &row_blocks_kernel<Width, 4, D, I, O>;
    if (unroll <= 5) return &row_blocks_kernel<Width, 5, D, I, O>;
    if (unroll <= 7) return &row_blocks_kernel<Width, 7, D, I, O>;
    return &row_blocks_kernel<Width, 8, D, I, O>;
  }

  // Entries of the longest block that may be staged. Synchronises the stream.
  [[nodiscard]] int longest_block(double mean) const {
    const device_guard guard(ctx_);
    const std::int64_t blocks = div_up(arguments_.rows, rows_);
    const auto wide = static_cast<int>(std::min(tuning::widest_stage * rows_ * mean + 64, 1e6));
    const int limit = std::min(wide, static_cast<int>(tuning::stage_bytes / (sizeof(D) + sizeof(I)))) & ~3;
    array<int, device> longest(ctx_, 1);
    fill_zero(ctx_, longest.view());
    launch_kernel(ctx_, one_thread_each(blocks, threads_per_block), longest_block_kernel<O>, arguments_.offsets,
                  arguments_.rows, rows_, blocks, limit, longest.data());
    return to_host(ctx_, std::as_const(longest).view())[0];
  }

  context<device> ctx_;
  blocks_arguments<D, I, O> arguments_;
  int rows_ = 0;  // rows per block
  int threads_ = 0;
  kernel kernel_ = nullptr;
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V> make_blocks_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_blocks<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V, I, O) \
  template executor_ptr<V> make_blocks_executor(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
