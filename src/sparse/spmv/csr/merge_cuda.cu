// Device CSR products by merge path (Merrill and Garland, SC 2016): blocks process tiles, equal shares of the work.
//
// Shares are of rows + entries, or of entries only if no share then has too many rows: an entry's place then follows
// from the block's number, so its loads need not wait for a search (R-MAT 22, fp32, on an H200: 0.483 and 0.474 ms).
// The plan searches for the start of each tile. A block multiplies the entries of its tile, four per thread with all
// loads in flight, stores the products in shared memory, sums and writes the rows that end in the tile, and stores the
// sum of the unfinished row as its carry. Neighbouring lanes take neighbouring entries, so that gathers of a long row
// with close columns share sectors. A second kernel adds each row's carries in tile order; its launch overlaps the
// first one's end. One writer per element at a time, fixed order: deterministic. Shared memory holds only the products,
// leaving L1 to gathers of x. Workspace: 2 indices and one value per tile.
//
// With passes (column_passes, for an x larger than L2) each launch processes the entries in a range of columns: it
// reads all indices, and values and x only for columns in its range. The first launch writes y and carries, later ones
// add to them. Columns may be in any order, and nothing more is stored.
//
// For scattered columns L2 traffic is the limit: 32 bytes per gather that misses L1, and the entries, at 4.6 to 5.4
// TB/s. Uniform 8.4M x 16 in fp32, 134M gathers and 1.07 GB: 1.10 ms, with gathers and indices only 1.05. Loading
// entries by bulk copies one tile ahead, as row_blocks does, was slower (1.50, in fp64 3.9 instead of 2.1), probably
// because it takes L1 space from gathers in flight.
#include "core/instantiate.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmv/csr/column_passes.hpp"
#include "sparse/spmv/device.cuh"

#include <spargo/core/device_features.cuh>

#include <algorithm>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Threads per block, whose four entries are this far apart. R-MAT 22, H200, cold, fp32, ms: 0.460; four neighbouring
  // entries per thread 0.468. More measurements: apps/bench/results/sparse_tuning.txt.
  static constexpr int threads = 512;
  // Below this many entries smaller tiles are used. Microseconds in a captured graph, fp32 and fp64, 256 and 512
  // threads: ego-Twitter, 2.7M entries, 11.7 and 12.3, 14.6 and 15.4; uniform 200k x 16 26.9 and 27.2, 31.1 and 32.3.
  static constexpr int small_threads = 256;
  static constexpr std::int64_t small_entries = std::int64_t{1} << 22;
  // For passes, whose threads gather for some of their entries only. Uniform 8.4M x 16 in two passes, ms, fp32 and
  // fp64: 256 x 8 1.126 and 1.499, 512 x 4 1.151 and 1.509.
  static constexpr int pass_threads = 256;
  static constexpr int pass_entries = 8;
  // Most rows per thread in a tile of entries; matrices with more consecutive empty rows are split by rows + entries.
  static constexpr std::int64_t rows_per_thread = 16;
};

// Half as many threads for 16-byte values, for the same shared memory.
template <class D>
inline constexpr int large_threads = sizeof(D) <= 8 ? tuning::threads : tuning::threads / 2;

inline constexpr int entries_per_thread = 4;

// Which launch of a product: the only one, or of several passes the first or a later one.
enum class merge_pass { only, first, later };

// What an L2 miss of a gather loads: the default, or the whole 128-byte line. If L2 holds nearly all of x, the rest of
// the line is needed too. ms on an H200, default and line: 134M gathers from 16 MB 0.897 and 0.897, 28 MB 0.93 and
// 0.91, 32 MB 1.05 and 1.00, 36 MB 1.18 and 1.10, 40 MB 1.28 and 1.25, 48 MB 1.40 and 1.73. Products: uniform 8.4M x 16
// in fp32 1.152 and 1.100, in fp64 (64 MB) 2.09 and 2.55; fp64, 32 MB: power law 0.577 and 0.554, R-MAT 22 0.527 and
// 0.523. 256 bytes were slower everywhere.
enum class miss_brings { sectors, line };

// Shape of a block: threads, entries per thread, pass, kind of gather.
template <int Threads, int Entries, merge_pass Pass, miss_brings Miss>
struct block_shape {
  static constexpr int threads = Threads;
  static constexpr int entries = Entries;
  static constexpr merge_pass pass = Pass;
  static constexpr miss_brings miss = Miss;
  static constexpr int tile = threads * entries;

  // Blocks per SM for which registers are limited.
  template <class D, class I>
  static constexpr int resident() {
    constexpr std::size_t words = static_cast<std::size_t>(Entries) * (sizeof(D) + sizeof(I)) / 4;
    if constexpr (Pass == merge_pass::only) return words <= 12 ? 2048 / Threads : 1;
    return words <= 16 ? 2048 / Threads : (words <= 24 ? 1280 / Threads : 1);
  }

  // Position of entry k's product. Skewed for passes: else rows of 16 entries, one thread each, would share a bank.
  template <class D>
  static __device__ int place(int k) {
    return Pass == merge_pass::only ? k : skewed<D>(k);
  }
  template <class D>
  static constexpr int places = Pass == merge_pass::only ? tile : tile + tile / static_cast<int>(128 / sizeof(D));
};

template <class D, miss_brings Miss>
using only_shape = block_shape<large_threads<D>, entries_per_thread, merge_pass::only, Miss>;
using small_shape = block_shape<tuning::small_threads, entries_per_thread, merge_pass::only, miss_brings::sectors>;
template <class D, merge_pass Pass>
using pass_shape = block_shape<tuning::pass_threads, sizeof(D) <= 8 ? tuning::pass_entries : entries_per_thread, Pass,
                               miss_brings::line>;

template <miss_brings Miss, class D>
__device__ D gather(const D* p) {
  if constexpr (Miss == miss_brings::line && std::is_same_v<D, float>) {
    float v;
    asm volatile("ld.global.nc.L2::128B.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
  } else if constexpr (Miss == miss_brings::line && std::is_same_v<D, double>) {
    double v;
    asm volatile("ld.global.nc.L2::128B.f64 %0, [%1];" : "=d"(v) : "l"(p));
    return v;
  } else {
    return read(p);
  }
}

enum class merge_shares { entries, rows_and_entries };

template <class D, class I, class O>
struct merge_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
  std::int64_t tiles;
  merge_shares shares;
  std::int64_t tile_items;  // rows + entries, or entries
  I* tile_rows;             // tiles + 1: rows finished before the tile
  I* carry_rows;            // the row of a tile's carry; -1: none
  D* carries;

  // The first entry of a tile; with shares of rows + entries this waits for tile_rows.
  [[nodiscard]] __device__ std::int64_t first_entry(std::int64_t tile) const {
    const std::int64_t total = shares == merge_shares::entries ? entries.nnz : rows + entries.nnz;
    const std::int64_t d = tile * tile_items < total ? tile * tile_items : total;
    return shares == merge_shares::entries ? d : d - tile_rows[tile];
  }
};

// Rows that end at or before entry `entry`, including empty ones; the first tile starts with the first row.
template <class O>
__device__ std::int64_t rows_before(const O* offsets, std::int64_t rows, std::int64_t entry) {
  return first_where(std::int64_t{0}, entry == 0 ? 0 : rows,
                     [&](std::int64_t row) { return static_cast<std::int64_t>(offsets[row + 1]) > entry; });
}

template <class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block) tile_rows_kernel(merge_arguments<D, I, O> a) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (tile > a.tiles) return;
  if (a.shares == merge_shares::entries) {
    a.tile_rows[tile] = static_cast<I>(tile == a.tiles ? a.rows : rows_before(a.offsets, a.rows, a.first_entry(tile)));
    return;
  }
  const std::int64_t total = a.rows + a.entries.nnz;
  const std::int64_t diagonal = tile * a.tile_items < total ? tile * a.tile_items : total;
  a.tile_rows[tile] = static_cast<I>(merge_path_row(a.offsets, a.rows, a.entries.nnz, diagonal));
}

// Also finds the largest number of rows that end in a tile.
template <class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    carry_rows_kernel(merge_arguments<D, I, O> a, unsigned long long* most_rows) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (tile >= a.tiles) return;
  const std::int64_t row = a.tile_rows[tile + 1];
  const std::int64_t begin = a.first_entry(tile);
  const std::int64_t end = a.first_entry(tile + 1);
  const bool carries = row < a.rows && end > begin && end > static_cast<std::int64_t>(a.offsets[row]);
  a.carry_rows[tile] = carries ? static_cast<I>(row) : I{-1};
  atomicMax(most_rows, static_cast<unsigned long long>(row - a.tile_rows[tile]));
}

// The products of a row's entries in the tile, relative to the tile's first.
struct segment {
  int row;
  int first;
  int end;
};

template <class D, class I, class O>
struct merge_tile {
  std::int64_t first_row;
  std::int64_t begin;
  int entries;
  int rows;  // rows that end in the tile

  __device__ merge_tile(const merge_arguments<D, I, O>& a, std::int64_t tile) {
    first_row = __ldg(a.tile_rows + tile);
    begin = a.first_entry(tile);
    entries = static_cast<int>(a.first_entry(tile + 1) - begin);
    rows = static_cast<int>(__ldg(a.tile_rows + tile + 1) - first_row);
  }
  // The segment of row j; row `rows` is the unfinished one. Empty for larger j.
  [[nodiscard]] __device__ segment of_row(const O* offsets, int j) const {
    if (j > rows) return {};
    const auto at = [&](int k) {
      return static_cast<int>(static_cast<std::int64_t>(__ldg(offsets + first_row + k)) - begin);
    };
    return {j, j == 0 ? 0 : at(j), j < rows ? at(j + 1) : entries};
  }
};

template <class I>
struct column_range {
  I first;
  I count;

  // Never true for -1, the index of places past a tile's end.
  [[nodiscard]] __device__ bool holds(I column) const {
    using place = std::make_unsigned_t<I>;
    return static_cast<place>(static_cast<place>(column) - static_cast<place>(first)) < static_cast<place>(count);
  }
};

// products[place(k)] for entries begin + k, k < count; later places are never read. All loads of a thread are in flight
// before the first product; places past the end read index 0, which exists.
template <class Shape, class D, class I>
__device__ void multiply_entries(const device_entries<D, I>& a, std::int64_t begin, int count, const D* x,
                                 D* products) {
  const D* const values = a.values + begin;
  const I* const indices = a.indices + begin;
  D value[Shape::entries];
  I index[Shape::entries];
#pragma unroll
  for (int j = 0; j < Shape::entries; ++j) {
    const int k = j * Shape::threads + static_cast<int>(threadIdx.x);
    index[j] = k < count ? read_once(indices + k) : I{0};
    value[j] = k < count ? read_once(values + k) : D{};
  }
#pragma unroll
  for (int j = 0; j < Shape::entries; ++j) value[j] = value[j] * gather<Shape::miss>(x + index[j]);
#pragma unroll
  for (int j = 0; j < Shape::entries; ++j) {
    products[Shape::template place<D>(j * Shape::threads + static_cast<int>(threadIdx.x))] = value[j];
  }
}

// The columns of a tile's entries, -1 past the end.
template <class Shape, class I>
__device__ void load_indices(const I* indices, int count, I (&index)[Shape::entries]) {
#pragma unroll
  for (int j = 0; j < Shape::entries; ++j) {
    const int k = j * Shape::threads + static_cast<int>(threadIdx.x);
    index[j] = k < count ? read_once(indices + k) : I{-1};
  }
}

// products[place(k)] for entries in a range of columns; 0 for others, whose values are not read.
template <class Shape, class D, class I>
__device__ void multiply_columns(const D* values, const I (&index)[Shape::entries], column_range<I> columns, const D* x,
                                 D* products) {
  D value[Shape::entries];
  D factor[Shape::entries];
#pragma unroll
  for (int j = 0; j < Shape::entries; ++j) {
    const int k = j * Shape::threads + static_cast<int>(threadIdx.x);
    const bool in_range = columns.holds(index[j]);
    factor[j] = in_range ? gather<Shape::miss>(x + index[j]) : D{};
    value[j] = in_range ? read_once(values + k) : D{};
  }
#pragma unroll
  for (int j = 0; j < Shape::entries; ++j) {
    products[Shape::template place<D>(j * Shape::threads + static_cast<int>(threadIdx.x))] = value[j] * factor[j];
  }
}

template <class Shape, class D, class I, class O>
__global__ void __launch_bounds__(Shape::threads, resident_blocks(Shape::template resident<D, I>(), Shape::threads))
    merge_path_kernel(merge_arguments<D, I, O> a, column_range<I> columns, const D* __restrict__ x, D alpha, D beta,
                      D* __restrict__ y) {
  constexpr int threads = Shape::threads;
  constexpr bool later = Shape::pass == merge_pass::later;
  __shared__ D products[Shape::template places<D>];
  __shared__ int long_count;
  __shared__ segment long_items[Shape::tile / long_segment + 1];
  const std::int64_t tile = blockIdx.x;
  const merge_tile<D, I, O> range(a, tile);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) long_count = 0;

  segment mine;
  if constexpr (Shape::pass == merge_pass::only) {
    mine = range.of_row(a.offsets, thread);
    multiply_entries<Shape>(a.entries, range.begin, range.entries, x, products);
  } else {
    I index[Shape::entries];
    load_indices<Shape>(a.entries.indices + range.begin, range.entries, index);
    mine = range.of_row(a.offsets, thread);
    if (later && thread < range.rows) {
      asm volatile("prefetch.global.L1 [%0];" ::"l"(y + range.first_row + thread));
    }
    multiply_columns<Shape>(a.entries.values + range.begin, index, columns, x, products);
  }
  __syncthreads();

  const auto emit = [&](int j, D sum) {
    if (j == range.rows) {
      a.carries[tile] = later ? a.carries[tile] + sum : sum;
    } else {
      update(y[range.first_row + j], alpha, sum, later ? D{1} : beta);
    }
  };
  for (int j = thread; j <= range.rows; j += threads, mine = range.of_row(a.offsets, j)) {
    if (later && mine.first == mine.end) continue;
    if (mine.end - mine.first > long_segment) {
      long_items[atomicAdd(&long_count, 1)] = mine;
      continue;
    }
    D sum{};
    for (int k = mine.first; k < mine.end; ++k) sum += products[Shape::template place<D>(k)];
    emit(j, sum);
  }
  __syncthreads();
  const int lane = thread % warp_size;
  for (int i = thread / warp_size; i < long_count; i += threads / warp_size) {
    const segment item = long_items[i];
    D sum{};
    for (int k = item.first + lane; k < item.end; k += warp_size) sum += products[Shape::template place<D>(k)];
    sum = group_sum(sum, warp_size);
    if (lane == 0) emit(item.row, sum);
  }
}

template <class V, class I, class O>
gathered_vector x_of(const context<device>& ctx, const csr_view<const V, I, O, device>& a) {
  return {a.cols, sizeof(V), ctx.properties().l2_bytes};
}

template <class V, class I, class O>
class device_merge final : public executor<V> {
  using D = device_value_t<V>;
  using kernel = void (*)(merge_arguments<D, I, O>, column_range<I>, const D*, D, D, D*);

 public:
  device_merge(const context<device>& ctx, const csr_view<const V, I, O, device>& a, int passes)
      : ctx_(ctx), kernels_(kernels_for(passes, a)), cols_(a.cols), passes_(passes) {
    const device_guard guard(ctx);
    arguments_.entries = entries_of(a.values.data(), a.indices.data(), a.nnz());
    arguments_.offsets = a.offsets.data();
    arguments_.rows = a.rows;
    const std::int64_t most_rows = tuning::rows_per_thread * kernels_.threads;
    if (share_out(merge_shares::entries) > most_rows) share_out(merge_shares::rows_and_entries);
  }

  void run(V alpha_value, const V* x, V beta, V* y_values) const override {
    const device_guard guard(ctx_);
    const D alpha = to_device_value(alpha_value);
    D* const y = device_cast(y_values);
    for (int p = 0; p < passes_; ++p) {
      const column_range<I> columns{column_of(p), static_cast<I>(column_of(p + 1) - column_of(p))};
      const kernel run_pass = p == 0 ? kernels_.first : kernels_.later;
      launch_kernel(ctx_, {arguments_.tiles, kernels_.threads}, run_pass, arguments_, columns, device_cast(x), alpha,
                    to_device_value(beta), y);
    }
    add_carries<D, I>(ctx_, arguments_.carry_rows, arguments_.carries, arguments_.tiles, alpha, y);
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(I)) * (tile_rows_.size() + carry_rows_.size()) +
           static_cast<std::int64_t>(sizeof(V)) * carries_.size();
  }

 private:
  // The kernels of a product's first and later launches, which use the same tiles.
  struct kernels {
    kernel first;
    kernel later;
    int threads;
    int tile;
  };

  template <class First, class Later = First>
  [[nodiscard]] static kernels kernels_of() {
    return {&merge_path_kernel<First, D, I, O>, &merge_path_kernel<Later, D, I, O>, First::threads, First::tile};
  }
  [[nodiscard]] kernels kernels_for(int passes, const csr_view<const V, I, O, device>& a) const {
    if (passes > 1) return kernels_of<pass_shape<D, merge_pass::first>, pass_shape<D, merge_pass::later>>();
    if (a.nnz() < tuning::small_entries) return kernels_of<small_shape>();
    if constexpr (!complex_type<V>) {
      if (is_kept(a.nnz(), x_of(ctx_, a))) return kernels_of<only_shape<D, miss_brings::line>>();
    }
    return kernels_of<only_shape<D, miss_brings::sectors>>();
  }

  [[nodiscard]] I column_of(int p) const {
    return static_cast<I>(cols_ / passes_ * p + std::min<std::int64_t>(p, cols_ % passes_));
  }

  // Returns the largest number of rows in a tile. Synchronises the stream.
  std::int64_t share_out(merge_shares shares) {
    const std::int64_t total = arguments_.entries.nnz + (shares == merge_shares::entries ? 0 : arguments_.rows);
    const std::int64_t tiles = div_up(total, kernels_.tile);
    tile_rows_ = {ctx_, tiles + 1};
    carry_rows_ = {ctx_, tiles};
    carries_ = {ctx_, tiles};
    array<unsigned long long, device> most(ctx_, 1);
    fill_zero(ctx_, most.view());
    arguments_.shares = shares;
    arguments_.tiles = tiles;
    arguments_.tile_items = kernels_.tile;
    arguments_.tile_rows = tile_rows_.data();
    arguments_.carry_rows = carry_rows_.data();
    arguments_.carries = device_cast(carries_.data());
    launch_kernel(ctx_, one_thread_each(tiles + 1, threads_per_block), tile_rows_kernel<D, I, O>, arguments_);
    launch_kernel(ctx_, one_thread_each(tiles, threads_per_block), carry_rows_kernel<D, I, O>, arguments_, most.data());
    return static_cast<std::int64_t>(to_host(ctx_, std::as_const(most).view())[0]);
  }

  context<device> ctx_;
  kernels kernels_;
  std::int64_t cols_;
  int passes_;
  array<I, device> tile_rows_;
  array<I, device> carry_rows_;
  array<V, device> carries_;
  merge_arguments<D, I, O> arguments_{};
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V> make_merge_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_merge<V, I, O>>(ctx, matrix, 1);
}

template <class V, class I, class O>
executor_ptr<V> make_passes_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_merge<V, I, O>>(ctx, matrix, column_passes(x_of(ctx, matrix)));
}

#define INSTANTIATE(V, I, O)                                                                                    \
  template executor_ptr<V> make_merge_executor(const context<device>&, const csr_view<const V, I, O, device>&); \
  template executor_ptr<V> make_passes_executor(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
