// CSR products on the device by merge path (Merrill and Garland, SC 2016): blocks take equal shares of rows + entries.
//
// The plan searches where each tile begins. A block multiplies the entries of its tile, four a thread with all loads in
// flight, leaves the products in shared memory, sums the rows that end in the tile and writes them, and leaves the sum
// of the row that does not end there as its carry. The carries of each row are added in tile order, by the last block
// to finish where there are few, else by a second kernel. One writer an element and a fixed order: deterministic.
// Shared memory holds the products and no more, so that the gathers of x have the cache. Workspace: 2 indices and a
// value a tile.
#include "core/instantiate.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmv_device.cuh"

#include <algorithm>

namespace spargo::detail {

namespace {

struct tuning {
  // Threads a block, a quad of entries each. R-MAT 22, fp32, ms: 128 0.467, 256 0.464, 512 0.463; fp64 0.536, 0.533,
  // 0.534; uniform 8.4M x 16, fp64: 2.222, 2.214, 2.208 (H200). Two quads a thread: 0.468, 0.555, 2.357.
  static constexpr int threads = 512;
  static constexpr int small_threads = 128;
  // Below this many quads small blocks: a tile a multiprocessor leaves most of it idle.
  static constexpr std::int64_t small_quads = std::int64_t{1} << 19;
  // Up to this many tiles the last block adds the carries: one launch less, 2 microseconds, against a tail.
  static constexpr std::int64_t fused_tiles = 2048;
};

// Threads for values of 16 bytes: half as many, for the same shared memory.
template <class D>
inline constexpr int large_threads = sizeof(D) <= 8 ? tuning::threads : tuning::threads / 2;

template <class D, class I, class O>
struct merge_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
  std::int64_t tiles;
  // Rows + entries a tile. Its entries, and up to three before them from rounding down to a multiple of four, are a
  // quad a thread at most.
  std::int64_t tile_items;
  I* tile_rows;   // tiles + 1: rows finished before the tile
  I* carry_rows;  // the row that a tile's carry belongs to; -1: none
  D* carries;
  unsigned* finished;  // blocks of this run that have; null: a second kernel adds the carries

  [[nodiscard]] __device__ std::int64_t diagonal(std::int64_t tile) const {
    const std::int64_t total = rows + entries.nnz;
    const std::int64_t d = tile * tile_items;
    return d < total ? d : total;
  }
};

template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads) tile_rows_kernel(merge_arguments<D, I, O> a) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (tile <= a.tiles) {
    a.tile_rows[tile] = static_cast<I>(merge_path_row(a.offsets, a.rows, a.entries.nnz, a.diagonal(tile)));
  }
}

template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads) carry_rows_kernel(merge_arguments<D, I, O> a) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (tile >= a.tiles) return;
  const std::int64_t row = a.tile_rows[tile + 1];
  const std::int64_t begin = a.diagonal(tile) - a.tile_rows[tile];
  const std::int64_t end = a.diagonal(tile + 1) - row;
  const bool carries = row < a.rows && end > begin && end > static_cast<std::int64_t>(a.offsets[row]);
  a.carry_rows[tile] = carries ? static_cast<I>(row) : I{-1};
}

// Four products of consecutive entries, in one or more 16-byte stores.
template <class D>
__device__ void store_quad(D* to, const quad<D>& q) {
  constexpr int words = static_cast<int>(sizeof(quad<D>) / 16);
  int4 raw[words];
  __builtin_memcpy(raw, &q, sizeof(q));
#pragma unroll
  for (int w = 0; w < words; ++w) reinterpret_cast<int4*>(to)[w] = raw[w];
}

// Segment j of a tile: what its row has of the tile's entries, relative to `origin`.
template <class D, class I, class O>
struct merge_tile {
  std::int64_t first_row;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t origin;
  int rows;  // that end here

  __device__ merge_tile(const merge_arguments<D, I, O>& a, std::int64_t tile) {
    first_row = a.tile_rows[tile];
    const std::int64_t last_row = a.tile_rows[tile + 1];
    begin = a.diagonal(tile) - first_row;
    end = a.diagonal(tile + 1) - last_row;
    origin = begin & ~std::int64_t{3};
    rows = static_cast<int>(last_row - first_row);
  }
  [[nodiscard]] __device__ int segment_begin(const O* offsets, int j) const {
    return static_cast<int>((j == 0 ? begin : static_cast<std::int64_t>(offsets[first_row + j])) - origin);
  }
  [[nodiscard]] __device__ int segment_end(const O* offsets, int j) const {
    return static_cast<int>((j < rows ? static_cast<std::int64_t>(offsets[first_row + j + 1]) : end) - origin);
  }
};

// y[row] += alpha * the carries of `row` for each run of equal rows, by a block: a lane takes the runs of one tile, a
// warp together those of several.
template <class D, class I, class O>
__device__ void add_carries_here(const merge_arguments<D, I, O>& a, D alpha, D* y) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t warp_first = static_cast<std::int64_t>(threadIdx.x) - lane;
  for (std::int64_t base = warp_first; base < a.tiles; base += blockDim.x) {
    const std::int64_t t = base + lane;
    const I row = t < a.tiles ? a.carry_rows[t] : I{-1};
    const bool head = row >= 0 && (t == 0 || a.carry_rows[t - 1] != row);
    const bool alone = t + 1 >= a.tiles || a.carry_rows[t + 1] != row;
    if (head && alone) y[row] = multiply_add(alpha, read_fresh(a.carries + t), read_fresh(y + row));
    for (unsigned runs = __ballot_sync(full_mask, head && !alone); runs != 0; runs &= runs - 1) {
      const int leader = __ffs(static_cast<int>(runs)) - 1;
      const I shared_row = __shfl_sync(full_mask, row, leader);
      D sum{};
      for (std::int64_t k = base + leader + lane; k < a.tiles && a.carry_rows[k] == shared_row; k += warp_size) {
        sum += read_fresh(a.carries + k);
      }
      sum = group_sum(sum, warp_size);
      if (lane == 0) y[shared_row] = multiply_add(alpha, sum, read_fresh(y + shared_row));
    }
  }
}

template <int Threads, class D, class I, class O>
__global__ void __launch_bounds__(Threads)
    merge_path_kernel(merge_arguments<D, I, O> a, const D* __restrict__ x, D alpha, D beta, D* y) {
  __shared__ __align__(16) D products[4 * Threads];
  __shared__ int long_count;
  __shared__ int long_items[4 * Threads / long_segment + 1];
  __shared__ bool last;
  const std::int64_t tile = blockIdx.x;
  const merge_tile<D, I, O> here(a, tile);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) long_count = 0;

  const std::int64_t e = here.origin + 4 * thread;
  if (e < here.end) {
    quad<D> values;
    quad<I> indices;
    load_entries(a.entries, e, values, indices);
#pragma unroll
    for (int j = 0; j < 4; ++j) values.v[j] = values.v[j] * read(x + indices.v[j]);
    store_quad(products + 4 * thread, values);
  }
  __syncthreads();

  const auto emit = [&](int j, D sum) {
    if (j < here.rows) {
      update(y[here.first_row + j], alpha, sum, beta);
    } else {
      a.carries[tile] = sum;
    }
  };
  for (int j = thread; j <= here.rows; j += Threads) {
    const int first = here.segment_begin(a.offsets, j);
    const int end = here.segment_end(a.offsets, j);
    if (end - first > long_segment) {
      long_items[atomicAdd(&long_count, 1)] = j;
      continue;
    }
    D sum{};
    for (int k = first; k < end; ++k) sum += products[k];
    emit(j, sum);
  }
  __syncthreads();
  const int lane = thread % warp_size;
  for (int i = thread / warp_size; i < long_count; i += Threads / warp_size) {
    const int j = long_items[i];
    const int end = here.segment_end(a.offsets, j);
    D sum{};
    for (int k = here.segment_begin(a.offsets, j) + lane; k < end; k += warp_size) sum += products[k];
    sum = group_sum(sum, warp_size);
    if (lane == 0) emit(j, sum);
  }

  if (a.finished == nullptr) return;
  __threadfence();  // rows and carry before the count
  __syncthreads();
  if (thread == 0) last = atomicAdd(a.finished, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();  // the count before the others' carries
  add_carries_here(a, alpha, y);
  if (thread == 0) *a.finished = 0;  // for the next run
}

template <class V, class I, class O>
class device_merge final : public spmv_executor<V> {
  using D = device_value_t<V>;

 public:
  device_merge(const context<device>& ctx, const csr_view<const V, I, O, device>& a)
      : ctx_(ctx),
        threads_(a.nnz() / 4 < tuning::small_quads ? tuning::small_threads : large_threads<D>),
        tiles_(div_up(a.rows + a.nnz(), 4 * threads_ - 4)) {
    const device_guard guard(ctx);
    tile_rows_ = {ctx, tiles_ + 1};
    carry_rows_ = {ctx, tiles_};
    carries_ = {ctx, tiles_};
    finished_ = {ctx, 1};
    fill_zero(ctx, finished_.view());
    arguments_ = {.entries = entries_of(a.values.data(), a.indices.data(), a.nnz()),
                  .offsets = a.offsets.data(),
                  .rows = a.rows,
                  .tiles = tiles_,
                  .tile_items = 4 * threads_ - 4,
                  .tile_rows = tile_rows_.data(),
                  .carry_rows = carry_rows_.data(),
                  .carries = device_cast(carries_.data()),
                  .finished = tiles_ <= tuning::fused_tiles ? finished_.data() : nullptr};
    tile_rows_kernel<<<grid_of(tiles_ + 1, spmv_threads), spmv_threads, 0, ctx.stream()>>>(arguments_);
    SPARGO_CUDA_TRY(cudaGetLastError());
    carry_rows_kernel<<<grid_of(tiles_, spmv_threads), spmv_threads, 0, ctx.stream()>>>(arguments_);
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  void run(V alpha_value, const V* x, V beta, V* y_values) const override {
    const device_guard guard(ctx_);
    const D alpha = to_device_value(alpha_value);
    D* const y = device_cast(y_values);
    const auto kernel = threads_ == tuning::small_threads ? &merge_path_kernel<tuning::small_threads, D, I, O>
                                                          : &merge_path_kernel<large_threads<D>, D, I, O>;
    kernel<<<grid_of(tiles_, 1), static_cast<unsigned>(threads_), 0, ctx_.stream()>>>(arguments_, device_cast(x), alpha,
                                                                                      to_device_value(beta), y);
    SPARGO_CUDA_TRY(cudaGetLastError());
    if (arguments_.finished == nullptr) {
      add_carries<D, I>(ctx_, arguments_.carry_rows, arguments_.carries, tiles_, alpha, y);
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(I)) * (tile_rows_.size() + carry_rows_.size()) +
           static_cast<std::int64_t>(sizeof(V)) * carries_.size();
  }

 private:
  context<device> ctx_;
  int threads_;
  std::int64_t tiles_;
  array<I, device> tile_rows_;
  array<I, device> carry_rows_;
  array<V, device> carries_;
  array<unsigned, device> finished_;
  merge_arguments<D, I, O> arguments_{};
};

}  // namespace

template <class V, class I, class O>
spmv_executor_ptr<V> make_merge_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_merge<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V, I, O) \
  template spmv_executor_ptr<V> make_merge_executor(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
