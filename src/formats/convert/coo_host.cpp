// COO on the host: examining, sorting, summing, mirroring; and the row of each CSR entry.
//
// Sorting goes through CSR (csr_host.cpp) in O(nnz + rows). A matrix with far more rows than entries is radix sorted by
// columns and then by rows instead, in O(nnz), without allocating memory in proportion to `rows`.
#include "core/busy.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "formats/convert/backend.hpp"
#include "formats/rows/row_buckets.hpp"
#include "formats/rows/row_sort.hpp"

#include <numeric>

namespace spargo::detail::convert {

namespace {

constexpr std::int64_t share = 1 << 15;  // least entries per thread: over 8 us of work

constexpr std::int64_t cached_entries = 1 << 12;  // entries that stay in L1 from one loop to the next

// Branchless, so that the compiler can vectorise: conditions are accumulated in the sign bit.
template <class I>
struct block_facts {
  using bits = std::make_unsigned_t<I>;
  bits outside = 0;
  bits below = 0;  // the diagonal
  bits above = 0;
  bits diagonal = 0;  // entries on it

  static bool holds(bits any) { return static_cast<I>(any) < 0; }

  block_facts(const coo_pattern_view<I, host>& m, std::int64_t first, std::int64_t last) {
    const auto last_row = static_cast<bits>(m.rows) - 1;
    const auto last_col = static_cast<bits>(m.cols) - 1;
    for (std::int64_t k = first; k < last; ++k) {
      const auto row = static_cast<bits>(m.row_indices[k]);
      const auto col = static_cast<bits>(m.col_indices[k]);
      outside |= row | col | (last_row - row) | (last_col - col);
      below |= col - row;
      above |= row - col;
      diagonal += static_cast<bits>(row == col);
    }
  }
};

// Compares entries [first, last), first > 0, each with its predecessor.
template <class I>
void compare_neighbours(const coo_pattern_view<I, host>& m, std::int64_t first, std::int64_t last, coo_facts& order) {
  I rows_fall = 0;
  I cols_fall = 0;
  I row_col_falls = 0;
  I col_row_falls = 0;
  I equal = 0;
  for (std::int64_t k = first; k < last; ++k) {
    const I row_falls = m.row_indices[k] < m.row_indices[k - 1];
    const I col_falls = m.col_indices[k] < m.col_indices[k - 1];
    const I same_row = m.row_indices[k] == m.row_indices[k - 1];
    const I same_col = m.col_indices[k] == m.col_indices[k - 1];
    rows_fall |= row_falls;
    cols_fall |= col_falls;
    row_col_falls |= row_falls | (same_row & col_falls);
    col_row_falls |= col_falls | (same_col & row_falls);
    equal |= same_row & same_col;
  }
  order.rows_ascending &= rows_fall == 0;
  order.cols_ascending &= cols_fall == 0;
  order.sorted &= row_col_falls == 0;
  order.by_columns &= col_row_falls == 0;
  order.distinct &= equal == 0;
}

template <class I>
coo_facts examine_share(const coo_pattern_view<I, host>& m, std::int64_t first, std::int64_t last) {
  coo_facts order{.by_columns = true, .all_below = true, .all_above = true};
  for (std::int64_t begin = first; begin < last; begin += cached_entries) {
    const std::int64_t end = std::min(begin + cached_entries, last);
    const block_facts<I> facts(m, begin, end);
    if (facts.holds(facts.outside)) {
      const auto is_outside = [&](std::int64_t k) { return facts.holds(block_facts<I>(m, k, k + 1).outside); };
      order.first_invalid = begin;
      while (!is_outside(order.first_invalid)) ++order.first_invalid;
      return order;
    }
    order.all_below &= !facts.holds(facts.above);
    order.all_above &= !facts.holds(facts.below);
    order.diagonal += static_cast<std::int64_t>(facts.diagonal);
    const bool some_order = order.rows_ascending || order.cols_ascending;
    if (some_order) compare_neighbours(m, std::max<std::int64_t>(begin, 1), end, order);
  }
  return order;
}

template <class T>
array<T, host> gathered(const context<host>& ctx, span<const T, host> from, const array<std::int64_t, host>& where) {
  array<T, host> to(ctx, where.size());
  parallel_for(ctx.threads(), where.size(), grain::elements, [&](std::int64_t k) { to[k] = from[where[k]]; });
  return to;
}

template <class V, class I>
void merge_neighbours(coo_matrix<V, I, host>& m) {
  const auto rows = m.row_indices().view();
  const auto cols = m.col_indices().view();
  std::int64_t kept = 0;
  for (std::int64_t k = 1; k < rows.size(); ++k) {
    if (rows[k] == rows[kept] && cols[k] == cols[kept]) {
      if constexpr (!is_pattern<V>) m.values()[kept] += m.values()[k];
      continue;
    }
    ++kept;
    rows[kept] = rows[k];
    cols[kept] = cols[k];
    if constexpr (!is_pattern<V>) m.values()[kept] = m.values()[k];
  }
  const std::int64_t size = rows.empty() ? 0 : kept + 1;
  m.row_indices().truncate(size);
  m.col_indices().truncate(size);
  if constexpr (!is_pattern<V>) m.values().truncate(size);
}

template <class V, class I>
void through_csr(const context<host>& ctx, coo_matrix<V, I, host>& m, const coo_facts& order, duplicates kind) {
  auto csr = coo_to_csr<std::int64_t>(ctx, m.view(), order, kind);
  array<I, host> rows(ctx, csr.nnz());
  expand_rows<I, std::int64_t>(ctx, csr.offsets().view(), rows.view());
  m = {m.rows(), m.cols(), std::move(rows), std::move(csr.indices()), std::move(csr.values())};
}

}  // namespace

template <index_type I>
coo_facts examine(const context<host>& ctx, const coo_pattern_view<I, host>& entries) {
  const parts shares = split(entries.nnz(), ctx.threads(), share);
  array<coo_facts, host> found(ctx, shares.count);
  const auto look = [&](std::int64_t p) { found[p] = examine_share(entries, shares.first(p), shares.last(p)); };
  parallel_parts(ctx.threads(), shares.count, look, waking_for(entries.nnz(), share));
  coo_facts all{.by_columns = true, .all_below = true, .all_above = true};
  for (const coo_facts& part : found) {
    if (all.first_invalid < 0) all.first_invalid = part.first_invalid;
    all.rows_ascending &= part.rows_ascending;
    all.cols_ascending &= part.cols_ascending;
    all.sorted &= part.sorted;
    all.distinct &= part.distinct;
    all.by_columns &= part.by_columns;
    all.all_below &= part.all_below;
    all.all_above &= part.all_above;
    all.diagonal += part.diagonal;
  }
  return all;
}

template <index_type I>
sorted_entries<I, host> sort_pattern_by_radix(const context<host>& ctx, const coo_pattern_view<I, host>& m) {
  const std::int64_t nnz = m.nnz();
  array<std::int64_t, host> order(ctx, nnz);
  array<std::int64_t, host> spare_order(ctx, nnz);
  array<I, host> spare(ctx, nnz);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  array<I, host> keys = clone(ctx, m.col_indices);
  radix_sort(keys.data(), order.data(), spare.data(), spare_order.data(), nnz);
  keys = gathered(ctx, m.row_indices, order);
  radix_sort(keys.data(), order.data(), spare.data(), spare_order.data(), nnz);
  return {std::move(keys), gathered(ctx, m.col_indices, order), std::move(order)};
}

template <entry_type V, index_type I>
void sort_by_radix(const context<host>& ctx, coo_matrix<V, I, host>& m) {
  sorted_entries<I, host> sorted = sort_pattern_by_radix<I>(ctx, m.view());
  array<V, host> values;
  if constexpr (!is_pattern<V>) values = gathered<V>(ctx, m.values().view(), sorted.order);
  m = {m.rows(), m.cols(), std::move(sorted.row_indices), std::move(sorted.col_indices), std::move(values)};
}

template <entry_type V, index_type I>
void sort_entries(const context<host>& ctx, coo_matrix<V, I, host>& matrix, const coo_facts& order) {
  if (is_hypersparse(matrix.rows(), matrix.nnz())) return sort_by_radix(ctx, matrix);
  through_csr(ctx, matrix, order, duplicates::keep);
}

template <entry_type V, index_type I>
void sum_entries(const context<host>& ctx, coo_matrix<V, I, host>& matrix, const coo_facts& order) {
  if (!is_hypersparse(matrix.rows(), matrix.nnz())) return through_csr(ctx, matrix, order, duplicates::sum);
  if (!order.sorted) sort_by_radix(ctx, matrix);
  merge_neighbours(matrix);
}

template <entry_type V, index_type I>
coo_matrix<V, I, host> expand(const context<host>& ctx, const coo_view<const V, I, host>& m, symmetry_kind kind) {
  const std::int64_t nnz = m.nnz();
  const parts shares = split(nnz, ctx.threads(), share);
  array<std::int64_t, host> next(ctx, shares.count);  // where the mirrored entries of each share go
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    std::int64_t count = 0;
    for (std::int64_t k = shares.first(p), last = shares.last(p); k < last; ++k)
      count += m.row_indices[k] != m.col_indices[k];
    next[p] = count;
  });
  std::int64_t total = nnz;
  for (std::int64_t& start : next) total += std::exchange(start, total);

  coo_matrix<V, I, host> full(ctx, m.rows, m.cols, total);
  copy<I>(ctx, m.row_indices, full.row_indices().view().subspan(0, nnz));
  copy<I>(ctx, m.col_indices, full.col_indices().view().subspan(0, nnz));
  if constexpr (!is_pattern<V>) copy<V>(ctx, m.values, full.values().view().subspan(0, nnz));
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    std::int64_t to = next[p];
    for (std::int64_t k = shares.first(p), last = shares.last(p); k < last; ++k) {
      if (m.row_indices[k] == m.col_indices[k]) continue;
      full.row_indices()[to] = m.col_indices[k];
      full.col_indices()[to] = m.row_indices[k];
      if constexpr (!is_pattern<V>) full.values()[to] = mirrored(m.values[k], kind);
      ++to;
    }
  });
  return full;
}

// Split by entries, not by rows: balanced even with one dense row.
template <index_type I, index_type O>
void expand_rows(const context<host>& ctx, span<const O, host> offsets, span<I, host> row_indices) {
  const parts shares = split(row_indices.size(), ctx.threads(), share);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    const std::int64_t first = shares.first(p);
    std::int64_t row = std::upper_bound(offsets.begin(), offsets.end(), first) - offsets.begin() - 1;
    for (std::int64_t k = first, last = shares.last(p); k < last; ++k) {
      while (offsets[row + 1] <= k) ++row;
      row_indices[k] = static_cast<I>(row);
    }
  });
}

#define INSTANTIATE_I(I)                                                              \
  template coo_facts examine(const context<host>&, const coo_pattern_view<I, host>&); \
  template sorted_entries<I, host> sort_pattern_by_radix(const context<host>&, const coo_pattern_view<I, host>&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

#define INSTANTIATE_IO(I, O) template void expand_rows(const context<host>&, span<const O, host>, span<I, host>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)

#define INSTANTIATE_VI(V, I)                                                                   \
  template void sort_by_radix(const context<host>&, coo_matrix<V, I, host>&);                  \
  template void sort_entries(const context<host>&, coo_matrix<V, I, host>&, const coo_facts&); \
  template void sum_entries(const context<host>&, coo_matrix<V, I, host>&, const coo_facts&);  \
  template coo_matrix<V, I, host> expand(const context<host>&, const coo_view<const V, I, host>&, symmetry_kind);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE_VI)

}  // namespace spargo::detail::convert
