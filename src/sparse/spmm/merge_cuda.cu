// Device SpMM by merge path (Merrill and Garland, SC 2016): warps process tiles, equal shares of rows + entries.
//
// The plan searches for the start of each tile. A warp processes as many rows at a time as it has groups of lanes, one
// group per row. Rows longer than tuning::long_row are processed afterwards by all groups together, which take batches
// of entries round-robin and add their sums by shuffles. The sums of a row that ends in a later tile become the tile's
// carry, a row of k sums; a second kernel adds each row's carries in a fixed order, with one warp per row, or one block
// for many carries. One writer per element, fixed order: deterministic. Workspace: two row numbers and a row of sums
// per tile, two tile numbers per row with carries.
#include "core/instantiate.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmm/device.cuh"

#include <algorithm>
#include <vector>

namespace spargo::detail::spmm {

namespace {

struct tuning {
  // Rows + entries per tile of a large matrix; fewer if there would be less than `enough_tiles` tiles.
  static constexpr std::int64_t largest_tile = 1024;
  static constexpr std::int64_t smallest_tile = 64;
  static constexpr std::int64_t enough_tiles = 16384;
  // H200, fp32, k = 4, ms: 27-point Laplacian 160^3 0.45 with 32, 1.55 with 16; R-MAT 22 0.71 and 0.73.
  static constexpr int long_row = 32;
  // Segments per row from which a lane takes two (R-MAT 22, fp64, k = 8: 1.22 ms, one 1.39; k = 32: 2.90, 3.10).
  static constexpr std::int64_t two_segments_from = 4;
  // From this many carries of one row on, a block adds them instead of a warp.
  static constexpr std::int64_t long_run = 32;
};

inline constexpr int warps_per_block = threads_per_block / warp_size;

template <class I>
struct merge_tiles {
  std::int64_t items;  // rows + entries per tile
  std::int64_t count;
  std::int64_t total;   // rows + entries
  const I* rows;        // count + 1: rows finished before each tile
  const I* carry_rows;  // the row of a tile's carry; -1: none

  [[nodiscard]] __device__ std::int64_t diagonal(std::int64_t tile) const {
    const std::int64_t d = tile * items;
    return d < total ? d : total;
  }
};

template <class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    tile_rows_kernel(merge_tiles<I> tiles, const O* offsets, std::int64_t rows, I* tile_rows) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (tile <= tiles.count) {
    tile_rows[tile] = static_cast<I>(merge_path_row(offsets, rows, tiles.total - rows, tiles.diagonal(tile)));
  }
}

template <class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    carry_rows_kernel(merge_tiles<I> tiles, const O* offsets, std::int64_t rows, I* carry_rows) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (tile >= tiles.count) return;
  const std::int64_t row = tiles.rows[tile + 1];
  const std::int64_t begin = tiles.diagonal(tile) - tiles.rows[tile];
  const std::int64_t end = tiles.diagonal(tile + 1) - row;
  const bool carries = row < rows && end > begin && end > static_cast<std::int64_t>(offsets[row]);
  carry_rows[tile] = carries ? static_cast<I>(row) : I{-1};
}

template <int L, int N, class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block, blocks_per_sm)
    merge_path_kernel(kernel_arguments<D, I, O> a, merge_tiles<I> tiles, D* carries, std::int64_t carry_stride) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + threadIdx.x / warp_size;
  if (tile >= tiles.count) return;  // uniform per warp
  const auto share = lane_share<N>::template of<L>(a);
  const int slot = static_cast<int>(threadIdx.x) % warp_size >> a.lanes_log2;
  const int slots = warp_size >> a.lanes_log2;
  const std::int64_t first_row = tiles.rows[tile];
  const std::int64_t last_row = tiles.rows[tile + 1];  // the row of the carry
  const O first_entry = static_cast<O>(tiles.diagonal(tile) - first_row);
  const O last_entry = static_cast<O>(tiles.diagonal(tile + 1) - last_row);
  const bool carry = tiles.carry_rows[tile] >= 0;
  const std::int64_t end_row = last_row + (carry ? 1 : 0);

  for (std::int64_t base = first_row; base < end_row; base += slots) {
    const std::int64_t row = base + slot;
    O begin = 0;
    int count = 0;
    if (row < end_row) {
      begin = a.offsets[row];
      begin = begin > first_entry ? begin : first_entry;
      count = static_cast<int>((row < last_row ? a.offsets[row + 1] : last_entry) - begin);
    }
    lane_sums<D, L, N> sums;
    if (count <= tuning::long_row) add_entries(a.indices + begin, a.values + begin, count, share, a.x_stride, sums);
    __syncwarp();
    unsigned remaining = __ballot_sync(full_mask, count > tuning::long_row && share.lane == 0);
    while (remaining != 0) {
      const int owner = __ffs(static_cast<int>(remaining)) - 1;
      remaining &= remaining - 1;
      const O from = __shfl_sync(full_mask, begin, owner);
      const int length = __shfl_sync(full_mask, count, owner);
      lane_sums<D, L, N> part;
      add_slot(a.indices + from, a.values + from, length, slot, slots, share, a.x_stride, part);
      __syncwarp();
      add_groups(part, 1 << a.lanes_log2, warp_size);
      if (slot == owner >> a.lanes_log2) sums = part;
    }
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if (row >= end_row || !share.owns(n, a.lanes_log2)) continue;
      if (row < last_row) {
        update_segment(a.y + row * a.y_stride + share.segments[n] * L, a.alpha, sums.of[n], a.beta);
      } else {
        store_segment(carries + tile * carry_stride + share.segments[n] * L, sums.of[n]);
      }
    }
  }
}

// Tiles first .. last-1 have carries of the same row.
struct carry_run {
  std::int64_t first;
  std::int64_t last;
};

template <class D, class I>
struct carry_arguments {
  const carry_run* runs;
  std::int64_t long_runs;  // the first runs, one block each
  std::int64_t count;
  const I* carry_rows;
  const D* carries;
  std::int64_t carry_stride;
  D* y;
  std::int64_t y_stride;
  std::int64_t columns;
  int lanes_log2;  // log2 of the lanes over columns, at most a warp, which loops over more
  D alpha;
};

template <class D, class I>
__global__ void __launch_bounds__(threads_per_block) add_carries_kernel(carry_arguments<D, I> a) {
  __shared__ D of_warps[warps_per_block][warp_size];
  const bool whole_block = blockIdx.x < a.long_runs;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t run = whole_block ? blockIdx.x : a.long_runs + (blockIdx.x - a.long_runs) * warps_per_block + warp;
  if (run >= a.count) return;  // whole warps leave; blocks of long runs never
  const carry_run tiles = a.runs[run];
  const std::int64_t row = a.carry_rows[tiles.first];
  const int width = 1 << a.lanes_log2;
  const int slot = (whole_block ? static_cast<int>(threadIdx.x) : lane) >> a.lanes_log2;
  const int slots = (whole_block ? threads_per_block : warp_size) >> a.lanes_log2;
  for (std::int64_t base = 0; base < a.columns; base += width) {
    const std::int64_t column = base + (lane & (width - 1));
    D sum{};
    if (column < a.columns) {
      for (std::int64_t t = tiles.first + slot; t < tiles.last; t += slots) {
        sum = sum + a.carries[t * a.carry_stride + column];
      }
    }
    for (int step = width; step < warp_size; step *= 2) sum = sum + shuffle_xor(sum, step);
    if (whole_block) {
      of_warps[warp][lane] = sum;
      __syncthreads();
      for (int w = 1; w < warps_per_block && warp == 0; ++w) sum = sum + of_warps[w][lane];
      __syncthreads();
    }
    if (column < a.columns && lane < width && (warp == 0 || !whole_block)) {
      D& y = a.y[row * a.y_stride + column];
      y = multiply_add(a.alpha, sum, y);
    }
  }
}

template <class V, class I, class O>
class device_merge final : public executor<V, device> {
  using D = device_value_t<V>;

 public:
  device_merge(const context<device>& ctx, const csr_view<const V, I, O, device>& a, std::int64_t max_columns)
      : ctx_(ctx), a_(a) {
    const device_guard guard(ctx);
    const std::int64_t total = a.rows + a.nnz();
    tiles_.items = tuning::largest_tile;
    while (tiles_.items > tuning::smallest_tile && total / tiles_.items < tuning::enough_tiles) tiles_.items /= 2;
    tiles_.count = div_up(total, tiles_.items);
    tiles_.total = total;
    tile_rows_ = {ctx, tiles_.count + 1};
    carry_rows_ = {ctx, tiles_.count};
    tiles_.rows = tile_rows_.data();
    tiles_.carry_rows = carry_rows_.data();
    launch_kernel(ctx, one_thread_each(tiles_.count + 1, threads_per_block), tile_rows_kernel<I, O>, tiles_,
                  a.offsets.data(), a.rows, tile_rows_.data());
    launch_kernel(ctx, one_thread_each(tiles_.count, threads_per_block), carry_rows_kernel<I, O>, tiles_,
                  a.offsets.data(), a.rows, carry_rows_.data());
    list_runs();
    // Rows of carries are aligned to 16 bytes for any values.
    carries_ = dense_matrix<V, device>(ctx, tiles_.count, div_up(max_columns, 4) * 4);
  }

  void run(V alpha, const dense_view<const V, device>& x, V beta, const dense_view<V, device>& y) const override {
    const device_guard guard(ctx_);
    const kernel_arguments<D, I, O> arguments = arguments_of(a_, alpha, x, beta, y);
    const int values = segment_values<D>(x.data.data(), x.stride, y.data.data(), y.stride, x.cols);
    for_each_panel(arguments, x.cols, values, tuning::two_segments_from,
                   [&](auto shape, const auto& panel, std::int64_t first) {
                     launch_kernel(ctx_, {div_up(tiles_.count, warps_per_block), threads_per_block},
                                   merge_path_kernel<shape.values, shape.segments, D, I, O>, panel, tiles_,
                                   carries() + first, carries_.cols());
                   });
    add_carries(x.cols, to_device_value(alpha), y);
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(I)) * (tile_rows_.size() + carry_rows_.size()) +
           static_cast<std::int64_t>(sizeof(carry_run)) * runs_.size() +
           static_cast<std::int64_t>(sizeof(V)) * carries_.rows() * carries_.cols();
  }

 private:
  [[nodiscard]] D* carries() const { return device_cast(carries_.view().data.data()); }

  // Which tiles' carries belong to the same row, long runs first. Synchronises the stream.
  void list_runs() {
    const auto rows = to_host(ctx_, std::as_const(carry_rows_).view());
    std::vector<carry_run> runs;
    for (std::int64_t t = 0; t < rows.size();) {
      const std::int64_t first = t;
      while (t < rows.size() && rows[t] == rows[first]) ++t;
      if (rows[first] >= 0) runs.push_back({first, t});
    }
    const auto end_of_long = std::stable_partition(
        runs.begin(), runs.end(), [](const carry_run& r) { return r.last - r.first >= tuning::long_run; });
    long_runs_ = end_of_long - runs.begin();
    runs_ = to_device(ctx_, span<const carry_run, host>(runs.data(), static_cast<std::int64_t>(runs.size())));
    ctx_.synchronize();
  }

  void add_carries(std::int64_t columns, D alpha, const dense_view<V, device>& y) const {
    if (runs_.empty()) return;
    int lanes_log2 = 0;
    while (lanes_log2 < 5 && (1 << lanes_log2) < columns) ++lanes_log2;
    const carry_arguments<D, I> arguments{runs_.data(),
                                          long_runs_,
                                          runs_.size(),
                                          carry_rows_.data(),
                                          carries(),
                                          carries_.cols(),
                                          device_cast(y.data.data()),
                                          y.stride,
                                          columns,
                                          lanes_log2,
                                          alpha};
    const std::int64_t blocks = long_runs_ + div_up(runs_.size() - long_runs_, warps_per_block);
    launch_kernel(ctx_, {blocks, threads_per_block}, add_carries_kernel<D, I>, arguments);
  }

  context<device> ctx_;
  csr_view<const V, I, O, device> a_;
  merge_tiles<I> tiles_{};
  array<I, device> tile_rows_;
  array<I, device> carry_rows_;
  array<carry_run, device> runs_;
  std::int64_t long_runs_ = 0;
  mutable dense_matrix<V, device> carries_;  // written by each run
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V, device> make_merge(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                   std::int64_t max_columns) {
  return std::make_unique<device_merge<V, I, O>>(ctx, matrix, max_columns);
}

#define INSTANTIATE(V, I, O)                                                                                  \
  template executor_ptr<V, device> make_merge(const context<device>&, const csr_view<const V, I, O, device>&, \
                                              std::int64_t);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmm
