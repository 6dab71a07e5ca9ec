// COO to CSR on the host.
//
// Entries in row order are copied. Others go through a stable two-level counting sort: first to buckets of
// consecutive rows small enough for a core's cache (histogram, scan and scatter, a share of the input a
// thread), then, bucket by bucket, to their rows. Columns are sorted within each row unless the input's order
// has done it, and duplicates are merged where they then lie side by side.
// Invariant: every step is stable, so the result does not depend on the number of threads.
// Cost: O(nnz + rows) time, whatever the distribution; scratch of one more copy of the entries.
// Source: the two-level scheme is propagation blocking (Beamer, Asanovic, Patterson, IPDPS 2017).
#include "core/instantiate.hpp"
#include "formats/convert_backend.hpp"
#include "formats/row_sort.hpp"
#include "primitives/parts.hpp"

#include <bit>
#include <utility>

namespace spargo::detail {

namespace {

struct tuning {
  // 384 KiB of entries with double values, within a core's L2; twice or half of that is no faster.
  static constexpr std::int64_t bucket_entries = 1 << 15;
  // 20 million random entries, one thread: 425 ms with 256 buckets, 437 with 512, 433 with 1024, 451 with 2048.
  static constexpr std::int64_t max_buckets = 1024;
  static constexpr std::int64_t share = 1 << 15;  // entries a thread at least, as in convert_coo_host.cpp
};

// Bucket b holds rows [b << shift, (b + 1) << shift).
struct row_buckets {
  std::int64_t rows = 0;
  int shift = 0;
  std::int64_t count = 0;

  row_buckets(std::int64_t row_count, std::int64_t nnz) : rows(row_count) {
    const std::int64_t wanted = std::clamp<std::int64_t>(nnz / tuning::bucket_entries, 1, tuning::max_buckets);
    const auto rows_each = static_cast<std::uint64_t>(div_up(std::max<std::int64_t>(rows, 1), wanted));
    shift = static_cast<int>(std::bit_width(rows_each - 1));
    count = rows == 0 ? 0 : ((rows - 1) >> shift) + 1;
  }
  [[nodiscard]] std::int64_t first(std::int64_t bucket) const { return bucket << shift; }
  [[nodiscard]] std::int64_t last(std::int64_t bucket) const { return std::min(rows, (bucket + 1) << shift); }
};

// Column indices and values apart from their rows.
template <class V, class I>
struct columns {
  array<I, host> indices;
  array<V, host> values;

  columns() = default;
  columns(const context<host>& ctx, std::int64_t size) : indices(ctx, size), values(ctx, is_pattern<V> ? 0 : size) {}
  [[nodiscard]] V* value_data() { return values.data(); }
};

template <class V>
V* at(V* values, std::int64_t i) {
  return is_pattern<V> ? values : values + i;
}

// Entries in row order: offsets are where the row changes.
template <class I, class O>
void offsets_of_sorted(const context<host>& ctx, std::int64_t rows, span<const I, host> row_indices,
                       array<O, host>& offsets) {
  const std::int64_t nnz = row_indices.size();
  const parts shares = split(nnz, ctx.threads(), tuning::share);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < shares.count; ++p) {
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) {
      const std::int64_t previous = k == 0 ? -1 : std::int64_t{row_indices[k - 1]};
      for (std::int64_t r = previous + 1; r <= row_indices[k]; ++r) offsets[r] = static_cast<O>(k);
    }
  }
  const std::int64_t last_row = nnz == 0 ? -1 : std::int64_t{row_indices[nnz - 1]};
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t r = last_row + 1; r <= rows; ++r) offsets[r] = static_cast<O>(nnz);
}

// The entries in bucket order, each bucket in input order.
template <class V, class I>
struct bucketed {
  array<std::int64_t, host> starts;  // buckets + 1
  array<I, host> row_indices;
  columns<V, I> entries;
};

template <class V, class I>
bucketed<V, I> distribute(const context<host>& ctx, const coo_view<const V, I, host>& m, const row_buckets& buckets) {
  const parts shares = split(m.nnz(), ctx.threads(), tuning::share);
  bucketed<V, I> to{{ctx, buckets.count + 1}, {ctx, m.nnz()}, {ctx, m.nnz()}};
  array<std::int64_t, host> next(ctx, shares.count * buckets.count);  // share by share: where its entries go
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < shares.count; ++p) {
    std::int64_t* mine = next.data() + p * buckets.count;
    std::fill_n(mine, buckets.count, 0);
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) ++mine[m.row_indices[k] >> buckets.shift];
  }
  std::int64_t before = 0;
  for (std::int64_t b = 0; b < buckets.count; ++b) {
    to.starts[b] = before;
    for (std::int64_t p = 0; p < shares.count; ++p) before += std::exchange(next[p * buckets.count + b], before);
  }
  to.starts[buckets.count] = before;
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < shares.count; ++p) {
    std::int64_t* mine = next.data() + p * buckets.count;
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) {
      const I row = m.row_indices[k];
      const std::int64_t where = mine[row >> buckets.shift]++;
      to.row_indices[where] = row;
      to.entries.indices[where] = m.col_indices[k];
      if constexpr (!is_pattern<V>) to.entries.values[where] = m.values[k];
    }
  }
  return to;
}

// From a bucket to its rows; fills the offsets of those rows.
template <class V, class I, class O>
void place_bucket(std::int64_t first_row, std::int64_t last_row, const bucketed<V, I>& from, std::int64_t begin,
                  std::int64_t end, array<O, host>& offsets, columns<V, I>& to) {
  for (std::int64_t r = first_row; r < last_row; ++r) offsets[r] = 0;
  for (std::int64_t k = begin; k < end; ++k) ++offsets[from.row_indices[k]];
  auto before = static_cast<O>(begin);
  for (std::int64_t r = first_row; r < last_row; ++r)
    before = static_cast<O>(before + std::exchange(offsets[r], before));
  for (std::int64_t k = begin; k < end; ++k) {
    const std::int64_t where = offsets[from.row_indices[k]]++;
    to.indices[where] = from.entries.indices[k];
    if constexpr (!is_pattern<V>) to.values[where] = from.entries.values[k];
  }
  // Each offset has advanced to the end of its row, which is the start of the next.
  for (std::int64_t r = last_row - 1; r > first_row; --r) offsets[r] = offsets[r - 1];
  if (first_row < last_row) offsets[first_row] = static_cast<O>(begin);
}

// Merges equal neighbours in place, adding values from left to right; returns how many remain.
template <class V, class I>
std::int64_t merge_row(I* indices, V* values, std::int64_t n) {
  if (n == 0) return 0;
  std::int64_t kept = 0;
  for (std::int64_t k = 1; k < n; ++k) {
    if (indices[k] == indices[kept]) {
      if constexpr (!is_pattern<V>) values[kept] += values[k];
    } else {
      ++kept;
      indices[kept] = indices[k];
      if constexpr (!is_pattern<V>) values[kept] = values[k];
    }
  }
  return kept + 1;
}

// Rows of which only the first lengths[r] entries are wanted, closed up into arrays of the right size.
template <class V, class I, class O>
csr_matrix<V, I, O, host> close_up(const context<host>& ctx, I rows, I cols, const row_buckets& buckets,
                                   const array<O, host>& offsets, const array<O, host>& lengths, columns<V, I> from) {
  array<O, host> packed(ctx, offsets.size());
  exclusive_scan<O>(ctx, lengths.view(), packed.view());
  columns<V, I> to(ctx, packed[rows]);
#pragma omp parallel for num_threads(ctx.threads()) schedule(dynamic, 1)
  for (std::int64_t b = 0; b < buckets.count; ++b) {
    for (std::int64_t r = buckets.first(b); r < buckets.last(b); ++r) {
      std::copy_n(from.indices.data() + offsets[r], lengths[r], to.indices.data() + packed[r]);
      if constexpr (!is_pattern<V>) {
        std::copy_n(from.values.data() + offsets[r], lengths[r], to.values.data() + packed[r]);
      }
    }
  }
  return {rows, cols, std::move(packed), std::move(to.indices), std::move(to.values)};
}

// What is to be done to each row once its entries are together.
struct row_work {
  bool sort = false;
  bool merge = false;
};

template <class V, class I, class O>
std::int64_t finish_rows(std::int64_t first_row, std::int64_t last_row, row_work work, const array<O, host>& offsets,
                         std::int64_t end, columns<V, I>& entries, columns<V, I>& spare, array<O, host>& lengths) {
  std::int64_t removed = 0;
  for (std::int64_t r = first_row; r < last_row; ++r) {
    const std::int64_t begin = offsets[r];
    const std::int64_t n = (r + 1 < last_row ? std::int64_t{offsets[r + 1]} : end) - begin;
    I* indices = entries.indices.data() + begin;
    V* values = at(entries.value_data(), begin);
    if (work.sort) sort_row(indices, values, spare.indices.data() + begin, at(spare.value_data(), begin), n);
    if (work.merge) {
      const std::int64_t kept = merge_row(indices, values, n);
      lengths[r] = static_cast<O>(kept);
      removed += n - kept;
    }
  }
  return removed;
}

}  // namespace

template <index_type O, entry_type V, index_type I>
csr_matrix<V, I, O, host> coo_to_csr(const context<host>& ctx, const coo_view<const V, I, host>& m,
                                     const coo_order& order, duplicates on_duplicates) {
  const std::int64_t nnz = m.nnz();
  const row_buckets buckets(m.rows, nnz);
  const row_work work{.sort = !order.sorted && !order.cols_ascending,
                      .merge = on_duplicates == duplicates::sum && !(order.sorted && order.distinct)};
  array<O, host> offsets(ctx, std::int64_t{m.rows} + 1);
  columns<V, I> entries(ctx, nnz);
  array<O, host> lengths(ctx, work.merge ? offsets.size() : 0);
  bucketed<V, I> scattered;
  columns<V, I>* spare = &scattered.entries;
  if (order.rows_ascending) {
    if (work.sort) *spare = columns<V, I>(ctx, nnz);
    offsets_of_sorted<I, O>(ctx, m.rows, m.row_indices, offsets);
    copy<I>(ctx, m.col_indices, entries.indices.view());
    if constexpr (!is_pattern<V>) copy<V>(ctx, m.values, entries.values.view());
  } else {
    scattered = distribute(ctx, m, buckets);
    offsets[m.rows] = static_cast<O>(nnz);
  }
  std::int64_t removed = 0;
  if (!order.rows_ascending || work.sort || work.merge) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(dynamic, 1) reduction(+ : removed)
    for (std::int64_t b = 0; b < buckets.count; ++b) {
      std::int64_t end = 0;
      if (order.rows_ascending) {
        end = offsets[buckets.last(b)];
      } else {
        end = scattered.starts[b + 1];
        place_bucket(buckets.first(b), buckets.last(b), scattered, scattered.starts[b], end, offsets, entries);
      }
      removed += finish_rows(buckets.first(b), buckets.last(b), work, offsets, end, entries, *spare, lengths);
    }
  }
  if (removed == 0) return {m.rows, m.cols, std::move(offsets), std::move(entries.indices), std::move(entries.values)};
  lengths[m.rows] = 0;
  scattered = {};
  return close_up<V, I, O>(ctx, m.rows, m.cols, buckets, offsets, lengths, std::move(entries));
}

#define INSTANTIATE(V, I, O)                                                                                      \
  template csr_matrix<V, I, O, host> coo_to_csr<O, V, I>(const context<host>&, const coo_view<const V, I, host>&, \
                                                         const coo_order&, duplicates);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
