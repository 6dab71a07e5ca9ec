// CSR products on the device by merge path (Merrill and Garland, SC 2016): blocks take equal shares of the work.
//
// Shares are of rows + entries, or of entries alone where no share then has too many rows: an entry's place is known
// from the block's number, so its loads need not wait for the search's result (R-MAT 22, fp32, on an H200: 0.483 and
// 0.474 ms). The plan searches where each tile begins. A block multiplies the entries of its tile, four a thread with
// all loads in flight, leaves the products in shared memory, sums the rows that end in the tile and writes them, and
// leaves the sum of the row that does not end there as its carry. A second kernel adds the carries of each row in tile
// order; for small matrices, where a launch counts for more than a wait, the tile in which a row ends waits for the
// carries of the tiles before it (decoupled look-back, as in scan_lookback.cuh: blocks begin in the order of their
// numbers, so what is waited for is under way; it costs R-MAT 22 a fifth and gains 2 microseconds of 8 at 250 thousand
// entries). One writer an element and a fixed order: deterministic. Shared memory holds the products and no more, so
// that the gathers of x have the cache. Workspace: 2 indices, a flag and a value a tile; the flags are down between
// runs.
#include "core/instantiate.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmv_device.cuh"

#include <algorithm>

namespace spargo::detail {

namespace {

struct tuning {
  // Threads a block, a quad of entries each; the kernel in a program of its own. R-MAT 22, fp32, ms: 128 0.467, 256
  // 0.464, 512 0.463; fp64 0.536, 0.533, 0.534; uniform 8.4M x 16, fp64: 2.222, 2.214, 2.208 (H200). Two quads a
  // thread: 0.468, 0.555, 2.357.
  static constexpr int threads = 512;
  static constexpr int small_threads = 128;
  // Below this many quads small blocks: a tile a multiprocessor leaves most of it idle.
  static constexpr std::int64_t small_quads = std::int64_t{1} << 19;
  // Rows of one tile of entries, for each thread, at most; matrices with more empty rows in a row are shared out by
  // rows + entries.
  static constexpr std::int64_t rows_a_thread = 16;
};

// Threads for values of 16 bytes: half as many, for the same shared memory.
template <class D>
inline constexpr int large_threads = sizeof(D) <= 8 ? tuning::threads : tuning::threads / 2;

enum class merge_shares { entries, rows_and_entries };

template <class D, class I, class O>
struct merge_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
  std::int64_t tiles;
  merge_shares shares;
  // Of the shares' kind, a tile. Its entries, and up to three before them from rounding down to a multiple of four, are
  // a quad a thread at most.
  std::int64_t tile_items;
  I* tile_rows;   // tiles + 1: rows finished before the tile
  I* carry_rows;  // the row that a tile's carry belongs to; -1: none
  D* carries;
  unsigned* published;  // 1: the carry is there and has not been added yet

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
    begin = a.first_entry(tile);
    end = a.first_entry(tile + 1);
    origin = begin & ~std::int64_t{3};
    rows = static_cast<int>(a.tile_rows[tile + 1] - first_row);
  }
  [[nodiscard]] __device__ int segment_begin(const O* offsets, int j) const {
    return static_cast<int>((j == 0 ? begin : static_cast<std::int64_t>(offsets[first_row + j])) - origin);
  }
  [[nodiscard]] __device__ int segment_end(const O* offsets, int j) const {
    return static_cast<int>((j < rows ? static_cast<std::int64_t>(offsets[first_row + j + 1]) : end) - origin);
  }
};

__device__ inline void publish(unsigned* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ inline bool is_published(const unsigned* flag) {
  unsigned value = 0;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value != 0;
}

// The sum of what the tiles before `tile` have of `row`, in every lane. One warp of one tile asks for it, once a run.
template <class D, class I, class O>
__device__ D carried_into(const merge_arguments<D, I, O>& a, std::int64_t tile, std::int64_t row) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  D sum{};
  for (std::int64_t k = tile - 1 - lane; k >= 0 && static_cast<std::int64_t>(a.carry_rows[k]) == row; k -= warp_size) {
    while (!is_published(a.published + k)) {
    }
    sum += read_fresh(a.carries + k);
    a.published[k] = 0;
  }
  __syncwarp();
  return group_sum(sum, warp_size);
}

template <int Threads>
inline constexpr bool looks_back = Threads == tuning::small_threads;

template <int Threads, class D, class I, class O>
__global__ void __launch_bounds__(Threads)
    merge_path_kernel(merge_arguments<D, I, O> a, const D* __restrict__ x, D alpha, D beta, D* y) {
  __shared__ __align__(16) D products[4 * Threads];
  __shared__ D first_sum;
  __shared__ int long_count;
  __shared__ int long_items[4 * Threads / long_segment + 1];
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
  // Whether the first row to end here has entries in earlier tiles.
  const bool resumes = looks_back<Threads> && here.rows > 0 && tile > 0 &&
                       static_cast<std::int64_t>(a.carry_rows[tile - 1]) == here.first_row;
  __syncthreads();

  const auto emit = [&](int j, D sum) {
    if (j == here.rows) {
      a.carries[tile] = sum;
      if (looks_back<Threads> && a.carry_rows[tile] >= 0) publish(a.published + tile);
    } else if (j == 0 && resumes) {
      first_sum = sum;
    } else {
      update(y[here.first_row + j], alpha, sum, beta);
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
  if (!resumes) return;  // the whole block
  __syncthreads();       // first_sum
  if (thread >= warp_size) return;
  const D before = carried_into(a, tile, here.first_row);
  if (lane == 0) update(y[here.first_row], alpha, before + first_sum, beta);
}

template <class V, class I, class O>
class device_merge final : public spmv_executor<V> {
  using D = device_value_t<V>;

 public:
  device_merge(const context<device>& ctx, const csr_view<const V, I, O, device>& a)
      : ctx_(ctx), threads_(a.nnz() / 4 < tuning::small_quads ? tuning::small_threads : large_threads<D>) {
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
    if (threads_ != tuning::small_threads) {
      add_carries<D, I>(ctx_, arguments_.carry_rows, arguments_.carries, arguments_.tiles, alpha, y);
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(I)) * (tile_rows_.size() + carry_rows_.size()) +
           static_cast<std::int64_t>(sizeof(V) + sizeof(unsigned)) * carries_.size();
  }

 private:
  // Returns the most rows of a tile. Synchronises the stream.
  std::int64_t share_out(merge_shares shares) {
    const std::int64_t total = arguments_.entries.nnz + (shares == merge_shares::entries ? 0 : arguments_.rows);
    // Only shares that begin anywhere need room for rounding down.
    const std::int64_t items = 4 * threads_ - (shares == merge_shares::entries ? 0 : 4);
    const std::int64_t tiles = div_up(total, items);
    tile_rows_ = {ctx_, tiles + 1};
    carry_rows_ = {ctx_, tiles};
    carries_ = {ctx_, tiles};
    published_ = {ctx_, tiles};
    fill_zero(ctx_, published_.view());
    array<unsigned long long, device> most(ctx_, 1);
    fill_zero(ctx_, most.view());
    arguments_.shares = shares;
    arguments_.tiles = tiles;
    arguments_.tile_items = items;
    arguments_.tile_rows = tile_rows_.data();
    arguments_.carry_rows = carry_rows_.data();
    arguments_.carries = device_cast(carries_.data());
    arguments_.published = published_.data();
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
  array<unsigned, device> published_;
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
