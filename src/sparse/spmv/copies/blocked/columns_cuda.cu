// Column order of a blocked product: by descending use if this gives hot columns or drops many empty ones.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "primitives/sort/radix_sort.hpp"
#include "sparse/spmv/copies/blocked/device.cuh"
#include "sparse/spmv/device.cuh"

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

struct column_totals {
  unsigned long long used;
  unsigned long long popular_entries;
  unsigned long long dense;  // columns with at least least_column entries
};

// `missing` by rank, ascending: nnz minus the column's entries.
[[nodiscard]] column_totals total_columns(const context<device>& ctx, const array<std::uint64_t, device>& missing,
                                          std::int64_t nnz, std::int64_t popular) {
  array<column_totals, device> totals(ctx, 1);
  fill_zero(ctx, totals.view());
  column_totals* const total = totals.data();
  const std::uint64_t* const by_rank = missing.data();
  const auto all = static_cast<std::uint64_t>(nnz);
  const std::int64_t cols = missing.size();
  for_each(ctx, cols, [=] __device__(std::int64_t r) {
    const std::uint64_t entries = all - by_rank[r];
    const std::uint64_t next = r + 1 < cols ? all - by_rank[r + 1] : 0;
    if (entries > 0 && next == 0) total->used = static_cast<unsigned long long>(r) + 1;
    if (entries >= tuning::least_column && next < tuning::least_column) {
      total->dense = static_cast<unsigned long long>(r) + 1;
    }
    if (r < popular) atomicAdd(&total->popular_entries, static_cast<unsigned long long>(entries));
  });
  return to_host(ctx, std::as_const(totals).view())[0];
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
  std::uint64_t* const missing = keys.data();
  const auto all = static_cast<std::uint64_t>(nnz);
  for_each(ctx, cols, [=] __device__(std::int64_t c) { missing[c] = all - count[c]; });
  auto columns = iota(ctx, cols);
  sort_pairs(ctx, keys, columns, 0, key_bits(nnz + 1));
  const std::int64_t popular = std::min(cols, shape.block_columns);
  const column_totals totals = total_columns(ctx, keys, nnz, popular);

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
  order.popular = std::min(popular, used);
  order.first_block = 1;
  order.blocks = std::min(div_up(static_cast<std::int64_t>(totals.dense), shape.block_columns), shape.most_blocks);
  order.blocks = std::max(order.blocks, order.first_block);
  return order;
}

#define INSTANTIATE(I)                                                                             \
  template column_order order_columns(const context<device>&, span<const I, device>, std::int64_t, \
                                      const blocked_shape&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::spmv
