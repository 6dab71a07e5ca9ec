// CSR products on the device by merge path (Merrill and Garland, SC 2016): blocks take equal shares of the work.
//
// Shares are of rows + entries, or of entries alone where no share then has too many rows: an entry's place is known
// from the block's number, so its loads need not wait for the search's result (R-MAT 22, fp32, on an H200: 0.483 and
// 0.474 ms). The plan searches where each tile begins. A block multiplies the entries of its tile, four a thread with
// all loads in flight, leaves the products in shared memory, sums the rows that end in the tile and writes them, and
// leaves the sum of the row that does not end there as its carry. Neighbouring lanes take neighbouring entries: the
// gathers of a long row, whose columns lie close together, then share sectors. A second kernel adds the carries of each
// row in tile order; its launch overlaps the first one's end. One writer an element at a time and a fixed order:
// deterministic. Shared memory holds the products and no more, so that the gathers of x have the cache. Workspace: 2
// indices and a value a tile.
//
// What bounds it on scattered columns is the traffic from the second cache: 32 bytes a gather that misses the first
// one, and the entries themselves, at 4.6 TB/s. Uniform 8.4M x 16 in fp32: 134M gathers and 1.07 GB, 1.16 ms; measured
// 1.15, with the gathers and indices alone 1.04.
#include "core/instantiate.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmv_device.cuh"

#include <algorithm>

namespace spargo::detail {

namespace {

struct tuning {
  // Threads a block, four entries each, one, T and 2T entries apart. All measured with the kernel in a program of its
  // own, ms on an H200, cold; cuSPARSE's best CSR or COO algorithm beside it:
  //                           T = 512         four neighbouring entries a thread   cuSPARSE
  //   power law 4M, one of 1M 0.388, 0.518    0.412, 0.548                         0.398, 0.535
  //   R-MAT 22, degree 16     0.460, 0.523    0.468, 0.533                         0.471, 0.535
  //   uniform 8.4M x 16       1.149, 2.208    1.171, 2.216                         1.167, 2.240
  // T = 256: 2 percent slower on the power law; T = 1024: the same to half a percent, but for the power law in fp32
  // with this kernel 0.399 instead of 0.389.
  static constexpr int threads = 512;
  // Below this many entries more, smaller tiles. Microseconds in a captured graph, fp32 and fp64, 256 and 512 threads:
  // ego-Twitter, 2.7M entries, 11.7 and 12.3, 14.6 and 15.4; uniform 200k x 16 26.9 and 27.2, 31.1 and 32.3.
  static constexpr int small_threads = 256;
  static constexpr std::int64_t small_entries = std::int64_t{1} << 22;
  // Rows of one tile of entries, for each thread, at most; matrices with more empty rows in a row are shared out by
  // rows + entries.
  static constexpr std::int64_t rows_a_thread = 16;
};

// Threads for values of 16 bytes: half as many, for the same shared memory.
template <class D>
inline constexpr int large_threads = sizeof(D) <= 8 ? tuning::threads : tuning::threads / 2;

inline constexpr int entries_a_thread = 4;

enum class merge_shares { entries, rows_and_entries };

template <class D, class I, class O>
struct merge_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
  std::int64_t tiles;
  merge_shares shares;
  std::int64_t tile_items;  // of the shares' kind
  I* tile_rows;             // tiles + 1: rows finished before the tile
  I* carry_rows;            // the row that a tile's carry belongs to; -1: none
  D* carries;

  // The first entry of a tile; by rows + entries this waits for tile_rows.
  [[nodiscard]] __device__ std::int64_t first_entry(std::int64_t tile) const {
    const std::int64_t total = shares == merge_shares::entries ? entries.nnz : rows + entries.nnz;
    const std::int64_t d = tile * tile_items < total ? tile * tile_items : total;
    return shares == merge_shares::entries ? d : d - tile_rows[tile];
  }
};

// Rows that end at or before entry `entry`, empty ones among them; the first tile begins with the first row.
template <class O>
__device__ std::int64_t rows_before(const O* offsets, std::int64_t rows, std::int64_t entry) {
  std::int64_t low = 0;
  std::int64_t high = entry == 0 ? 0 : rows;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<std::int64_t>(offsets[middle + 1]) <= entry) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads) tile_rows_kernel(merge_arguments<D, I, O> a) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (tile > a.tiles) return;
  if (a.shares == merge_shares::entries) {
    a.tile_rows[tile] = static_cast<I>(tile == a.tiles ? a.rows : rows_before(a.offsets, a.rows, a.first_entry(tile)));
    return;
  }
  const std::int64_t total = a.rows + a.entries.nnz;
  const std::int64_t diagonal = tile * a.tile_items < total ? tile * a.tile_items : total;
  a.tile_rows[tile] = static_cast<I>(merge_path_row(a.offsets, a.rows, a.entries.nnz, diagonal));
}

// Also the largest number of rows that end in a tile.
template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    carry_rows_kernel(merge_arguments<D, I, O> a, unsigned long long* most_rows) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (tile >= a.tiles) return;
  const std::int64_t row = a.tile_rows[tile + 1];
  const std::int64_t begin = a.first_entry(tile);
  const std::int64_t end = a.first_entry(tile + 1);
  const bool carries = row < a.rows && end > begin && end > static_cast<std::int64_t>(a.offsets[row]);
  a.carry_rows[tile] = carries ? static_cast<I>(row) : I{-1};
  atomicMax(most_rows, static_cast<unsigned long long>(row - a.tile_rows[tile]));
}

// Segment j of a tile: what its row has of the tile's entries, counted from the tile's first.
template <class D, class I, class O>
struct merge_tile {
  std::int64_t first_row;
  std::int64_t begin;
  int entries;
  int rows;  // that end here

  __device__ merge_tile(const merge_arguments<D, I, O>& a, std::int64_t tile) {
    first_row = __ldg(a.tile_rows + tile);
    begin = a.first_entry(tile);
    entries = static_cast<int>(a.first_entry(tile + 1) - begin);
    rows = static_cast<int>(__ldg(a.tile_rows + tile + 1) - first_row);
  }
  [[nodiscard]] __device__ int segment_begin(const O* offsets, int j) const {
    return j == 0 ? 0 : static_cast<int>(static_cast<std::int64_t>(__ldg(offsets + first_row + j)) - begin);
  }
  [[nodiscard]] __device__ int segment_end(const O* offsets, int j) const {
    return j < rows ? static_cast<int>(static_cast<std::int64_t>(__ldg(offsets + first_row + j + 1)) - begin) : entries;
  }
};

// Where the products of a tile's row are.
struct segment {
  int row;
  int first;
  int end;
};

// products[k] of entry begin + k, k < count; what follows them no sum reads. All loads of a thread are in flight before
// the first product; places past the end take index 0, which exists.
template <int Threads, class D, class I>
__device__ void multiply_entries(const device_entries<D, I>& a, std::int64_t begin, int count, const D* x,
                                 D* products) {
  const D* const values = a.values + begin;
  const I* const indices = a.indices + begin;
  D value[entries_a_thread];
  I index[entries_a_thread];
#pragma unroll
  for (int j = 0; j < entries_a_thread; ++j) {
    const int k = j * Threads + static_cast<int>(threadIdx.x);
    index[j] = k < count ? read_once(indices + k) : I{0};
    value[j] = k < count ? read_once(values + k) : D{};
  }
#pragma unroll
  for (int j = 0; j < entries_a_thread; ++j) value[j] = value[j] * read(x + index[j]);
#pragma unroll
  for (int j = 0; j < entries_a_thread; ++j) products[j * Threads + static_cast<int>(threadIdx.x)] = value[j];
}

// Blocks a multiprocessor: as many as there are threads for, where a thread's entries fit 32 registers.
template <int Threads, class D, class I>
inline constexpr int blocks_resident = sizeof(D) + sizeof(I) <= 12 ? 2048 / Threads : 1;

template <int Threads, class D, class I, class O>
__global__ void __launch_bounds__(Threads, blocks_resident<Threads, D, I>)
    merge_path_kernel(merge_arguments<D, I, O> a, const D* __restrict__ x, D alpha, D beta, D* __restrict__ y) {
  __shared__ D products[entries_a_thread * Threads];
  __shared__ int long_count;
  __shared__ segment long_items[entries_a_thread * Threads / long_segment + 1];
  const std::int64_t tile = blockIdx.x;
  const merge_tile<D, I, O> here(a, tile);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) long_count = 0;

  multiply_entries<Threads>(a.entries, here.begin, here.entries, x, products);
  __syncthreads();

  const auto emit = [&](int j, D sum) {
    if (j == here.rows) {
      a.carries[tile] = sum;
    } else {
      update(y[here.first_row + j], alpha, sum, beta);
    }
  };
  for (int j = thread; j <= here.rows; j += Threads) {
    const int first = here.segment_begin(a.offsets, j);
    const int end = here.segment_end(a.offsets, j);
    if (end - first > long_segment) {
      long_items[atomicAdd(&long_count, 1)] = {j, first, end};
      continue;
    }
    D sum{};
    for (int k = first; k < end; ++k) sum += products[k];
    emit(j, sum);
  }
  __syncthreads();
  const int lane = thread % warp_size;
  for (int i = thread / warp_size; i < long_count; i += Threads / warp_size) {
    const segment item = long_items[i];
    D sum{};
    for (int k = item.first + lane; k < item.end; k += warp_size) sum += products[k];
    sum = group_sum(sum, warp_size);
    if (lane == 0) emit(item.row, sum);
  }
}

template <class V, class I, class O>
class device_merge final : public spmv_executor<V> {
  using D = device_value_t<V>;

 public:
  device_merge(const context<device>& ctx, const csr_view<const V, I, O, device>& a)
      : ctx_(ctx), threads_(a.nnz() < tuning::small_entries ? tuning::small_threads : large_threads<D>) {
    const device_guard guard(ctx);
    arguments_.entries = entries_of(a.values.data(), a.indices.data(), a.nnz());
    arguments_.offsets = a.offsets.data();
    arguments_.rows = a.rows;
    if (share_out(merge_shares::entries) > tuning::rows_a_thread * threads_) share_out(merge_shares::rows_and_entries);
  }

  void run(V alpha_value, const V* x, V beta, V* y_values) const override {
    const device_guard guard(ctx_);
    const D alpha = to_device_value(alpha_value);
    D* const y = device_cast(y_values);
    const auto kernel = threads_ == tuning::small_threads ? &merge_path_kernel<tuning::small_threads, D, I, O>
                                                          : &merge_path_kernel<large_threads<D>, D, I, O>;
    kernel<<<grid_of(arguments_.tiles, 1), static_cast<unsigned>(threads_), 0, ctx_.stream()>>>(
        arguments_, device_cast(x), alpha, to_device_value(beta), y);
    SPARGO_CUDA_TRY(cudaGetLastError());
    add_carries<D, I>(ctx_, arguments_.carry_rows, arguments_.carries, arguments_.tiles, alpha, y);
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(I)) * (tile_rows_.size() + carry_rows_.size()) +
           static_cast<std::int64_t>(sizeof(V)) * carries_.size();
  }

 private:
  // Returns the most rows of a tile. Synchronises the stream.
  std::int64_t share_out(merge_shares shares) {
    const std::int64_t total = arguments_.entries.nnz + (shares == merge_shares::entries ? 0 : arguments_.rows);
    const std::int64_t items = entries_a_thread * threads_;
    const std::int64_t tiles = div_up(total, items);
    tile_rows_ = {ctx_, tiles + 1};
    carry_rows_ = {ctx_, tiles};
    carries_ = {ctx_, tiles};
    array<unsigned long long, device> most(ctx_, 1);
    fill_zero(ctx_, most.view());
    arguments_.shares = shares;
    arguments_.tiles = tiles;
    arguments_.tile_items = items;
    arguments_.tile_rows = tile_rows_.data();
    arguments_.carry_rows = carry_rows_.data();
    arguments_.carries = device_cast(carries_.data());
    tile_rows_kernel<<<grid_of(tiles + 1, spmv_threads), spmv_threads, 0, ctx_.stream()>>>(arguments_);
    SPARGO_CUDA_TRY(cudaGetLastError());
    carry_rows_kernel<<<grid_of(tiles, spmv_threads), spmv_threads, 0, ctx_.stream()>>>(arguments_, most.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    return static_cast<std::int64_t>(to_host(ctx_, std::as_const(most).view())[0]);
  }

  context<device> ctx_;
  int threads_;
  array<I, device> tile_rows_;
  array<I, device> carry_rows_;
  array<V, device> carries_;
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
