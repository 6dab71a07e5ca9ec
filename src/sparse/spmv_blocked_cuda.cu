// CSR products on the device from a copy whose columns are ranked by use: the columns that most entries lie in first.
//
// Graphs gather a few elements of x from everywhere, and these lie scattered: each sits in a cache line of its own amid
// others that are rarely wanted. The plan numbers the columns that have entries by falling count (equal counts by
// column) and keeps the matrix with these ranks for indices. A run gathers x into that order, once an element. The
// popular first ones go to the shared memory of every multiprocessor; the others come through its cache in lines full
// of elements that are as popular, and columns without entries take no room in it.
//
// The product is a merge path by warps, which need not wait for each other while one block holds a multiprocessor's
// shared memory. A warp takes an equal share of rows + entries, in tiles of a quad of entries a lane, and sums rows by
// a segmented scan in registers; the sum of a row that does not end in a tile goes on into the next. What a share
// leaves open is added to its row afterwards, in order: deterministic, though not row_per_thread's bits. The caller
// never sees the ranks.
//
// Cost of a plan: a count of the columns, a radix sort of them, a pass over the entries; of a run: a copy of x beside
// the matrix. Workspace: the matrix with 4-byte indices, x, an index a used column, 4 bytes a tile.
// Sources: vertices by degree (Zhang et al., "Making caches work for graph analytics", BigData 2017); merge path
// (Merrill and Garland, SC 2016); segmented scans (Blelloch, Heroux and Zagha, CMU-CS-93-173).
#include "core/instantiate.hpp"
#include "primitives/launch.cuh"
#include "primitives/radix_sort.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmv_blocked.hpp"
#include "sparse/spmv_device.cuh"

#include <algorithm>
#include <bit>
#include <utility>

namespace spargo::detail {

namespace {

struct tuning {
  // One block a multiprocessor. R-MAT 22, products without sums, fp32, ms by bytes of shared memory for x: 64 KiB
  // 0.302, 128 KiB 0.269, 192 KiB 0.242; fp64 0.382, 0.360, 0.325 (H200). From plain CSR the gathers take 0.412 and
  // 0.434.
  static constexpr int threads = 1024;
  static constexpr std::int64_t popular_bytes = std::int64_t{192} * 1024;
  // Rows + entries: with up to three entries before them from rounding down, and the place after the last one, these
  // fit the warp's 128.
  static constexpr int tile_items = 124;
};

// Bits that numbers below `count` take.
[[nodiscard]] int key_bits(std::int64_t count) {
  return count < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

// Columns by falling count of entries.
struct column_ranks {
  array<std::uint64_t, device> missing;  // by rank, ascending: nnz less the column's entries
  array<std::uint32_t, device> columns;  // by rank
};

template <class I>
[[nodiscard]] column_ranks rank_columns(const context<device>& ctx, const I* indices, std::int64_t nnz,
                                        std::int64_t cols) {
  array<std::uint32_t, device> counts(ctx, cols);
  fill_zero(ctx, counts.view());
  std::uint32_t* const count = counts.data();
  // Integers: the order of the additions leaves no trace.
  for_each(ctx, nnz, [=] __device__(std::int64_t e) { atomicAdd(count + indices[e], 1U); });
  column_ranks ranks{{ctx, cols}, iota(ctx, cols)};
  std::uint64_t* const missing = ranks.missing.data();
  const auto all = static_cast<std::uint64_t>(nnz);
  for_each(ctx, cols, [=] __device__(std::int64_t c) { missing[c] = all - count[c]; });
  sort_pairs(ctx, ranks.missing, ranks.columns, 0, key_bits(nnz + 1));
  return ranks;
}

struct column_totals {
  unsigned long long used;
  unsigned long long popular_entries;
};

[[nodiscard]] column_totals total_columns(const context<device>& ctx, const column_ranks& ranks, std::int64_t nnz,
                                          std::int64_t popular) {
  array<column_totals, device> totals(ctx, 1);
  fill_zero(ctx, totals.view());
  column_totals* const total = totals.data();
  const std::uint64_t* const missing = ranks.missing.data();
  const auto all = static_cast<std::uint64_t>(nnz);
  const std::int64_t cols = ranks.missing.size();
  for_each(ctx, cols, [=] __device__(std::int64_t r) {
    // Ascending: after the last used rank come columns that miss everything.
    if (missing[r] < all && (r + 1 == cols || missing[r + 1] == all))
      total->used = static_cast<unsigned long long>(r) + 1;
    if (r < popular) atomicAdd(&total->popular_entries, static_cast<unsigned long long>(all - missing[r]));
  });
  return to_host(ctx, std::as_const(totals).view())[0];
}

// ranks[e] = the rank of entry e's column.
template <class I>
[[nodiscard]] array<std::uint32_t, device> rank_entries(const context<device>& ctx, span<const I, device> indices,
                                                        std::int64_t cols, const column_ranks& ranks) {
  array<std::uint32_t, device> positions(ctx, cols);
  std::uint32_t* const position = positions.data();
  const std::uint32_t* const columns = ranks.columns.data();
  for_each(ctx, cols, [=] __device__(std::int64_t r) { position[columns[r]] = static_cast<std::uint32_t>(r); });
  array<std::uint32_t, device> ranked(ctx, indices.size());
  std::uint32_t* const to = ranked.data();
  const I* const from = indices.data();
  for_each(ctx, indices.size(), [=] __device__(std::int64_t e) { to[e] = position[from[e]]; });
  return ranked;
}

template <class D>
__global__ void __launch_bounds__(spmv_threads)
    gather_kernel(const D* from, const std::uint32_t* places, std::int64_t size, D* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (i < size) to[i] = read(from + places[i]);
}

template <class D, class O>
struct ranked_arguments {
  device_entries<D, std::uint32_t> entries;
  const O* offsets;
  std::int64_t rows;
  std::int64_t tiles;
  std::int64_t shares;       // of the tiles: one a warp
  std::uint32_t popular;     // ranks below are in shared memory
  std::uint32_t* tile_rows;  // tiles + 1: rows finished before the tile
  std::int64_t* carry_rows;  // the row that a share's carry belongs to; -1: none
  D* carries;

  [[nodiscard]] __device__ std::int64_t diagonal(std::int64_t tile) const {
    const std::int64_t total = rows + entries.nnz;
    const std::int64_t d = tile * tuning::tile_items;
    return d < total ? d : total;
  }
  [[nodiscard]] __device__ std::int64_t first_tile(std::int64_t share) const {
    const std::int64_t each = tiles / shares;
    const std::int64_t extra = tiles % shares;
    return share * each + (share < extra ? share : extra);
  }
};

template <class D, class O>
__global__ void __launch_bounds__(spmv_threads) tile_rows_kernel(ranked_arguments<D, O> a) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (tile > a.tiles) return;
  const std::int64_t row = merge_path_row(a.offsets, a.rows, a.entries.nnz, a.diagonal(tile));
  a.tile_rows[tile] = static_cast<std::uint32_t>(row);
}

template <class D, class O>
__global__ void __launch_bounds__(spmv_threads) carry_rows_kernel(ranked_arguments<D, O> a) {
  const std::int64_t share = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (share >= a.shares) return;
  const std::int64_t first = a.first_tile(share);
  const std::int64_t last = a.first_tile(share + 1);
  const std::int64_t row = a.tile_rows[last];
  const std::int64_t begin = a.diagonal(first) - a.tile_rows[first];
  const std::int64_t end = a.diagonal(last) - row;
  const bool carries = row < a.rows && end > begin && end > static_cast<std::int64_t>(a.offsets[row]);
  a.carry_rows[share] = carries ? row : -1;
}

// A tile: the rows that end in it, and the quad of its entries that each lane of the warp loads.
template <class D>
struct ranked_tile {
  std::int64_t first_row;
  int rows;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t origin;  // begin, rounded down to a multiple of four
  quad<D> values;
  quad<std::uint32_t> ranks;

  template <class O>
  __device__ void load(const ranked_arguments<D, O>& a, std::int64_t tile, int lane) {
    first_row = a.tile_rows[tile];
    const std::int64_t last_row = a.tile_rows[tile + 1];
    rows = static_cast<int>(last_row - first_row);
    begin = a.diagonal(tile) - first_row;
    end = a.diagonal(tile + 1) - last_row;
    origin = begin & ~std::int64_t{3};
    if (origin + 4 * lane < end) load_entries(a.entries, origin + 4 * lane, values, ranks);
  }
};

// Sums that start anew at each head, over the four values of all lanes in order; `chain` comes before the first one.
// Bit j of `heads` is the head of the lane's value j.
template <class D>
__device__ void segmented_scan(quad<D>& q, unsigned heads, D chain, int lane) {
#pragma unroll
  for (int j = 1; j < 4; ++j) {
    if ((heads >> j & 1U) == 0) q.v[j] = q.v[j] + q.v[j - 1];
  }
  D sum = q.v[3];
  unsigned closed = heads != 0 ? 1U : 0U;
#pragma unroll
  for (int step = 1; step < warp_size; step *= 2) {
    const D before = shuffle(sum, lane - step);
    const unsigned closed_before = __shfl_sync(full_mask, closed, lane - step);
    if (lane >= step) {
      if (closed == 0) sum = before + sum;
      closed |= closed_before;
    }
  }
  D before = shuffle(sum, lane - 1);
  const unsigned closed_before = __shfl_sync(full_mask, closed, lane - 1);
  if (lane == 0) {
    before = chain;
  } else if (closed_before == 0) {
    before = chain + before;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if ((heads & ((2U << j) - 1)) == 0) q.v[j] = before + q.v[j];
  }
}

// Multiplies, writes the rows that end in the tile, and returns the sum so far of the one that does not.
// `popular` and `heads` (warp_size / 8 words of the warp's own) are in shared memory.
template <class D, class O>
__device__ D sum_tile(const ranked_arguments<D, O>& a, const ranked_tile<D>& tile, const D* popular, unsigned* heads,
                      const D* x, D chain, D alpha, D beta, D* y, int lane) {
  quad<D> sums{};
  const int from = static_cast<int>(tile.begin - tile.origin);
  const int to = static_cast<int>(tile.end - tile.origin);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int k = 4 * lane + j;
    if (k < from || k >= to) continue;
    const std::uint32_t rank = tile.ranks.v[j];
    sums.v[j] = tile.values.v[j] * (rank < a.popular ? popular[rank] : read(x + rank));
  }
  if (lane < warp_size / 8) heads[lane] = 0;
  __syncwarp();
  const O* const ends = a.offsets + tile.first_row + 1;
  for (int r = lane; r < tile.rows; r += warp_size) {
    const int k = static_cast<int>(static_cast<std::int64_t>(ends[r]) - tile.origin);
    atomicOr(heads + k / warp_size, 1U << (k % warp_size));
  }
  __syncwarp();
  segmented_scan(sums, heads[lane / 8] >> (4 * (lane % 8)) & 15U, chain, lane);
  __syncwarp();
  for (int first = 0; first < tile.rows; first += warp_size) {
    const int r = first + lane;
    const O end = r < tile.rows ? ends[r] : O{0};
    const O begin = r < tile.rows ? ends[r - 1] : O{0};
    const int k = static_cast<int>(static_cast<std::int64_t>(end) - tile.origin) - 1;  // the row's last entry
    D sum = chain;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const D there = shuffle(sums.v[j], (k >> 2) & (warp_size - 1));
      if (k >= 0 && (k & 3) == j) sum = there;
    }
    if (r < tile.rows) update(y[tile.first_row + r], alpha, begin == end ? D{} : sum, beta);
  }
  return shuffle(sums.v[3], warp_size - 1);
}

extern __shared__ int4 popular_bytes[];

template <class D, class O>
__global__ void __launch_bounds__(tuning::threads, 1)
    ranked_kernel(ranked_arguments<D, O> a, const D* x, D alpha, D beta, D* y) {
  __shared__ unsigned heads[tuning::threads / warp_size][warp_size / 8];
  D* const popular = reinterpret_cast<D*>(popular_bytes);
  for (std::uint32_t r = threadIdx.x; r < a.popular; r += tuning::threads) popular[r] = x[r];
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t share = static_cast<std::int64_t>(blockIdx.x) * (tuning::threads / warp_size) + warp;
  const std::int64_t last = a.first_tile(share + 1);
  std::int64_t t = a.first_tile(share);
  ranked_tile<D> next;
  if (t < last) next.load(a, t, lane);
  D chain{};
  for (; t < last; ++t) {
    const ranked_tile<D> tile = next;
    if (t + 1 < last) next.load(a, t + 1, lane);
    chain = sum_tile(a, tile, popular, heads[warp], x, chain, alpha, beta, y, lane);
  }
  if (lane == 0) a.carries[share] = chain;
}

template <class V, class O>
class device_blocked final : public spmv_executor<V> {
  using D = device_value_t<V>;

 public:
  template <class I>
  device_blocked(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix, const column_ranks& ranks,
                 const column_profile& profile)
      : ctx_(ctx),
        offsets_(clone(ctx, matrix.offsets)),
        ranks_(rank_entries<I>(ctx, matrix.indices, matrix.cols, ranks)),
        values_(clone(ctx, matrix.values)),
        columns_(clone(ctx, ranks.columns.view().subspan(0, profile.used))),
        x_(ctx, profile.used) {
    const std::int64_t tiles = div_up(profile.rows + profile.nnz, std::int64_t{tuning::tile_items});
    constexpr int warps = tuning::threads / warp_size;
    blocks_ = std::min<std::int64_t>(ctx.properties().multiprocessors, div_up(tiles, std::int64_t{warps}));
    const std::int64_t popular = std::min(profile.popular, profile.used);
    shared_bytes_ = static_cast<std::size_t>(popular) * sizeof(V);
    tile_rows_ = {ctx, tiles + 1};
    carry_rows_ = {ctx, blocks_ * warps};
    carries_ = {ctx, blocks_ * warps};
    arguments_ = {.entries = entries_of(std::as_const(values_).data(), std::as_const(ranks_).data(), profile.nnz),
                  .offsets = offsets_.data(),
                  .rows = profile.rows,
                  .tiles = tiles,
                  .shares = blocks_ * warps,
                  .popular = static_cast<std::uint32_t>(popular),
                  .tile_rows = tile_rows_.data(),
                  .carry_rows = carry_rows_.data(),
                  .carries = device_cast(carries_.data())};
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(&ranked_kernel<D, O>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(tuning::popular_bytes)));
    tile_rows_kernel<<<grid_of(tiles + 1, spmv_threads), spmv_threads, 0, ctx.stream()>>>(arguments_);
    SPARGO_CUDA_TRY(cudaGetLastError());
    carry_rows_kernel<<<grid_of(arguments_.shares, spmv_threads), spmv_threads, 0, ctx.stream()>>>(arguments_);
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  void run(V alpha_value, const V* x, V beta, V* y_values) const override {
    const device_guard guard(ctx_);
    const D alpha = to_device_value(alpha_value);
    D* const y = device_cast(y_values);
    D* const ranked_x = device_cast(x_.data());
    gather_kernel<<<grid_of(x_.size(), spmv_threads), spmv_threads, 0, ctx_.stream()>>>(device_cast(x), columns_.data(),
                                                                                        x_.size(), ranked_x);
    SPARGO_CUDA_TRY(cudaGetLastError());
    ranked_kernel<D, O><<<static_cast<unsigned>(blocks_), tuning::threads, shared_bytes_, ctx_.stream()>>>(
        arguments_, ranked_x, alpha, to_device_value(beta), y);
    SPARGO_CUDA_TRY(cudaGetLastError());
    add_carries<D, std::int64_t>(ctx_, arguments_.carry_rows, arguments_.carries, arguments_.shares, alpha, y);
  }
  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override {
    copy<V>(ctx_, span<const V, device>(values, values_.size()), values_.view());
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const auto bytes = [](const auto& a) { return a.size() * static_cast<std::int64_t>(sizeof(*a.data())); };
    return bytes(offsets_) + bytes(ranks_) + bytes(values_) + bytes(columns_) + bytes(x_) + bytes(tile_rows_) +
           bytes(carry_rows_) + bytes(carries_);
  }

 private:
  context<device> ctx_;
  array<O, device> offsets_;
  array<std::uint32_t, device> ranks_;  // of the entries' columns
  array<V, device> values_;
  array<std::uint32_t, device> columns_;  // by rank
  mutable array<V, device> x_;            // of the run, by rank
  array<std::uint32_t, device> tile_rows_;
  array<std::int64_t, device> carry_rows_;
  array<V, device> carries_;
  std::int64_t blocks_ = 0;
  std::size_t shared_bytes_ = 0;
  ranked_arguments<D, O> arguments_{};
};

}  // namespace

template <class V, class I, class O>
copy_attempt<V> block_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                              copy_demand demand) {
  const device_guard guard(ctx);
  column_profile profile{.rows = matrix.rows,
                         .cols = matrix.cols,
                         .nnz = matrix.nnz(),
                         .used = 0,
                         .popular = 0,
                         .popular_entries = matrix.nnz(),
                         .value_bytes = static_cast<std::int64_t>(sizeof(V))};
  auto refused = why_not_blocked(profile, demand);  // before the columns are counted
  if (!refused.empty()) return {nullptr, std::move(refused)};
  const auto ranks = rank_columns(ctx, matrix.indices.data(), matrix.nnz(), matrix.cols);
  profile.popular = std::min(profile.cols, tuning::popular_bytes / profile.value_bytes);
  const column_totals totals = total_columns(ctx, ranks, matrix.nnz(), profile.popular);
  profile.used = static_cast<std::int64_t>(totals.used);
  profile.popular_entries = static_cast<std::int64_t>(totals.popular_entries);
  refused = why_not_blocked(profile, demand);
  if (!refused.empty()) return {nullptr, std::move(refused)};
  const auto percent = 100 * profile.popular_entries / profile.nnz;
  return {std::make_unique<device_blocked<V, O>>(ctx, matrix, ranks, profile),
          "columns by use: the first " + std::to_string(profile.popular) + " hold " + std::to_string(percent) +
              " percent of the entries"};
}

#define INSTANTIATE(V, I, O) \
  template copy_attempt<V> block_columns(const context<device>&, const csr_view<const V, I, O, device>&, copy_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
