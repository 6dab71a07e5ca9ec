// Column order of a blocked product: by descending use if this gives hot columns or drops many empty ones; rows of a
// square matrix are renumbered alike, so that x and y have the same order.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "primitives/sort/radix_sort.hpp"
#include "sparse/spmv/copies/blocked/device.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Columns are ranked if the hot ones hold at least this share of the entries, or if less than this share of columns
  // is used; otherwise reordering x costs more than it saves.
  static constexpr double least_popular_share = 0.1;
  static constexpr double dense_share = 0.75;
  // Blocks whose columns have fewer entries each are not stored as cells: loading their part of x costs more than it
  // saves. R-MAT 22, fp64, H200: 4, 8 and 16 take the same time.
  static constexpr std::int64_t least_column = 8;
};

// Sorts columns by descending use; order[r] = column of rank r. `keys` by column: twice the entries that the column
// lacks of nnz, plus 1 if its row is empty. Synchronizes.
[[nodiscard]] column_totals sort_by_use(const context<device>& ctx, array<std::uint64_t, device>& keys,
                                        std::int64_t nnz, const blocked_shape& shape,
                                        array<std::uint32_t, device>& order) {
  const std::int64_t cols = keys.size();
  order = iota(ctx, cols);
  sort_pairs(ctx, keys, order, 0, key_bits(nnz + 1) + 1);
  array<column_totals, device> totals(ctx, 1);
  fill_zero(ctx, totals.view());
  for_each(ctx, cols,
           [=, total = totals.data(), key = std::as_const(keys).data(), all = static_cast<count64>(nnz),
            popular = shape.block_columns] __device__(std::int64_t r) {
             const std::uint64_t none = 2 * all + 1;
             const std::uint64_t behind = r + 1 < cols ? key[r + 1] : none;
             const count64 entries = all - key[r] / 2;
             const count64 next = all - behind / 2;
             if (key[r] < none && behind == none) total->linked = static_cast<count64>(r) + 1;
             if (entries > 0 && next == 0) total->used = static_cast<count64>(r) + 1;
             if (entries >= tuning::least_column && next < tuning::least_column) {
               total->dense = static_cast<count64>(r) + 1;
             }
             if (r < popular) atomicAdd(&total->popular_entries, entries);
           });
  return to_host(ctx, std::as_const(totals).view())[0];
}

[[nodiscard]] std::int64_t blocks_of(const column_totals& totals, const blocked_shape& shape) {
  return std::clamp<std::int64_t>(div_up(static_cast<std::int64_t>(totals.dense), shape.block_columns), 1,
                                  shape.most_blocks);
}

// position[c] = rank of column c; null: columns are their own ranks.
template <class I>
[[nodiscard]] array<std::uint32_t, device> rank_entries(const context<device>& ctx, span<const I, device> indices,
                                                        const std::uint32_t* position) {
  array<std::uint32_t, device> ranks(ctx, indices.size());
  std::uint32_t* const to = ranks.data();
  const I* const from = indices.data();
  for_each(ctx, indices.size(), [=] __device__(std::int64_t e) {
    to[e] = position == nullptr ? static_cast<std::uint32_t>(from[e]) : position[from[e]];
  });
  return ranks;
}

constexpr int tile_entries = 2048;

// to[e] = position of the column of entry e; entries are ordered by position of their rows.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    place_entries_kernel(const O* offsets, const I* indices, const std::uint32_t* order, const std::uint32_t* position,
                         const std::int64_t* placed_offsets, std::int64_t n, std::uint32_t* to) {
  __shared__ std::int64_t bounds[2];
  const std::int64_t nnz = placed_offsets[n];
  const std::int64_t first = std::int64_t{blockIdx.x} * tile_entries;
  const std::int64_t last = min(first + tile_entries, nnz);
  const auto row_of = [&](std::int64_t e, std::int64_t low, std::int64_t high) {  // within low .. high
    return low + lower_bound(placed_offsets + low, high - low + 1, e + 1) - 1;
  };
  if (threadIdx.x < 2) bounds[threadIdx.x] = row_of(threadIdx.x == 0 ? first : last - 1, 0, n - 1);
  __syncthreads();
  for (std::int64_t e = first + threadIdx.x; e < last; e += block_threads) {
    const std::int64_t row = row_of(e, bounds[0], bounds[1]);
    const std::int64_t from = static_cast<std::int64_t>(offsets[order[row]]) + (e - placed_offsets[row]);
    to[e] = position[indices[from]];
  }
}

}  // namespace

template <class I>
column_order order_columns(const context<device>& ctx, span<const I, device> indices, std::int64_t cols,
                           const blocked_shape& shape) {
  const std::int64_t nnz = indices.size();
  array<std::uint32_t, device> counts(ctx, cols);
  fill_zero(ctx, counts.view());
  std::uint32_t* const count = counts.data();
  const I* const index = indices.data();
  // Integer counts, so the order of additions does not matter.
  for_each(ctx, nnz, [=] __device__(std::int64_t e) { atomicAdd(count + index[e], 1U); });
  array<std::uint64_t, device> keys(ctx, cols);
  for_each(ctx, cols, [=, key = keys.data(), all = static_cast<std::uint64_t>(nnz)] __device__(std::int64_t c) {
    key[c] = 2 * (all - count[c]);
  });
  array<std::uint32_t, device> columns;
  const column_totals totals = sort_by_use(ctx, keys, nnz, shape, columns);

  column_order order;
  const auto used = static_cast<std::int64_t>(totals.used);
  const bool by_use =
      static_cast<double>(totals.popular_entries) >= tuning::least_popular_share * static_cast<double>(nnz) ||
      static_cast<double>(used) < tuning::dense_share * static_cast<double>(cols);
  if (!by_use) {
    order.ranks = rank_entries(ctx, indices, nullptr);
    order.used = cols;
    order.blocks = std::min(div_up(cols, shape.block_columns), shape.most_blocks);
    return order;
  }
  std::uint32_t* const position = count;  // no longer needed
  const std::uint32_t* const column = columns.data();
  for_each(ctx, cols, [=] __device__(std::int64_t r) { position[column[r]] = static_cast<std::uint32_t>(r); });
  order.ranks = rank_entries(ctx, indices, position);
  order.columns = clone(ctx, columns.view().subspan(0, used));
  order.used = used;
  order.popular = std::min(shape.block_columns, used);
  order.first_block = 1;
  order.blocks = blocks_of(totals, shape);
  return order;
}

template <class O>
square_order order_square(const context<device>& ctx, span<const O, device> offsets, span<const O, device> transposed,
                          std::int64_t nnz, const blocked_shape& shape) {
  const std::int64_t n = offsets.size() - 1;
  array<std::uint64_t, device> keys(ctx, n);
  for_each(ctx, n, [=, row = offsets.data(), column = transposed.data(), key = keys.data()] __device__(std::int64_t v) {
    const auto entries = static_cast<std::int64_t>(column[v + 1] - column[v]);
    key[v] = 2 * static_cast<std::uint64_t>(nnz - entries) + (row[v + 1] == row[v] ? 1 : 0);
  });
  square_order to;
  to.totals = sort_by_use(ctx, keys, nnz, shape, to.order);
  return to;
}

template <class I, class O>
renumbered_square renumber_square(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix,
                                  const square_order& by, const blocked_shape& shape) {
  const std::int64_t n = by.order.size();
  const std::int64_t nnz = matrix.nnz();
  renumbered_square to{{ctx, n + 1}, {}};
  to.columns.ranks = {ctx, nnz};
  to.columns.used = static_cast<std::int64_t>(by.totals.used);
  to.columns.blocks = blocks_of(by.totals, shape);
  array<std::uint32_t, device> positions(ctx, n);
  const std::uint32_t* const order = by.order.data();
  const O* const offsets = matrix.offsets.data();
  for_each(ctx, n + 1, [=, position = positions.data(), placed = to.offsets.data()] __device__(std::int64_t i) {
    if (i < n) position[order[i]] = static_cast<std::uint32_t>(i);
    placed[i] = i < n ? static_cast<std::int64_t>(offsets[order[i] + 1] - offsets[order[i]]) : 0;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(to.offsets).view(), to.offsets.view());
  launch_kernel(ctx, {div_up(nnz, std::int64_t{tile_entries}), block_threads}, place_entries_kernel<I, O>, offsets,
                matrix.indices.data(), order, positions.data(), to.offsets.data(), n, to.columns.ranks.data());
  return to;
}

#define INSTANTIATE(I)                                                                             \
  template column_order order_columns(const context<device>&, span<const I, device>, std::int64_t, \
                                      const blocked_shape&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(O)                                                                                     \
  template square_order order_square(const context<device>&, span<const O, device>, span<const O, device>, \
                                     std::int64_t, const blocked_shape&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(I, O)                                                                                   \
  template renumbered_square renumber_square(const context<device>&, const csr_pattern_view<I, O, device>&, \
                                             const square_order&, const blocked_shape&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
