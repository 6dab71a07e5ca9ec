// COO to CSR on the host.
//
// Entries in row order are copied. Others are distributed to buckets of consecutive rows (row_buckets.hpp) and sorted
// there, columns and then rows (bucket_sort.hpp); columns are left alone where the input's order has done it.
// Duplicates are merged where they then lie side by side, bucket by bucket, and the gaps are closed at the end
// (close_gaps.hpp). Invariant: every step is stable, so the result does not depend on the number of threads. Cost:
// O(nnz + rows) time, whatever the distribution; scratch of a key of 4 or 8 bytes and a value an entry.
#include "core/instantiate.hpp"
#include "formats/bucket_sort.hpp"
#include "formats/close_gaps.hpp"
#include "formats/convert_backend.hpp"
#include "formats/row_sort.hpp"

#include <omp.h>

namespace spargo::detail {

namespace {

struct tuning {
  // A bucket with more entries than this many times the usual gets memory of its own to sort in, not its thread's.
  static constexpr std::int64_t usual_times = 4;
  // A narrow key is worth more buckets than the cache asks for, but not smaller ones than this.
  static constexpr std::int64_t least_entries = 1 << 12;
  // Gaps are closed in place while what is held back meanwhile stays below this part of the entries.
  static constexpr std::int64_t held_part = 8;
};

// Column indices and values apart from their rows.
template <class V, class I>
struct columns {
  array<I, host> indices;
  array<V, host> values;

  columns() = default;
  columns(const context<host>& ctx, std::int64_t size) : indices(ctx, size), values(ctx, is_pattern<V> ? 0 : size) {}
};

template <class V>
V* at(array<V, host>& values, std::int64_t i) {
  return is_pattern<V> ? nullptr : values.data() + i;
}

template <class V>
constexpr std::int64_t value_bytes = is_pattern<V> ? 0 : sizeof(V);

// Entries in row order: offsets are where the row changes.
template <class I, class O>
void offsets_of_sorted(const context<host>& ctx, std::int64_t rows, span<const I, host> row_indices,
                       array<O, host>& offsets) {
  const std::int64_t nnz = row_indices.size();
  const parts shares = split(nnz, ctx.threads(), bucket_tuning::share);
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

// What is to be done to each row once its entries are together.
struct row_work {
  bool sort = false;
  bool merge = false;
};

// Offsets and entries, those of block b in [starts[b], starts[b + 1]) less the gaps behind them.
template <class V, class I, class O>
struct rows_with_gaps {
  array<std::int64_t, host> starts;
  array<std::int64_t, host> gaps;  // entries gone from each block; empty where none can be
  array<O, host> offsets;          // of the rows of a block as if it alone had gaps
  columns<V, I> entries;
};

template <class V, class I, class O>
csr_matrix<V, I, O, host> closed(const context<host>& ctx, I cols, const row_buckets& buckets,
                                 rows_with_gaps<V, I, O> from) {
  const auto rows = static_cast<I>(buckets.rows);
  columns<V, I>& entries = from.entries;
  std::int64_t gone = 0;
  for (std::int64_t& gap : from.gaps) gone += std::exchange(gap, gone);
  if (gone > 0) {
    const shortened_blocks blocks{from.starts.view(), from.gaps.view()};
    from.offsets[rows] = static_cast<O>(from.offsets[rows] - gone);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
    for (std::int64_t b = 0; b < buckets.count; ++b) {
      const auto gap = static_cast<O>(from.gaps[b]);
      for (std::int64_t r = buckets.first(b); r < buckets.last(b); ++r) from.offsets[r] -= gap;
    }
    const std::int64_t size = entries.indices.size() - gone;
    const parts shares = split(blocks.count(), ctx.threads(), 1);
    if (gone * shares.count * tuning::held_part <= size) {
      close_gaps(ctx, blocks, shares, entries.indices.data());
      if constexpr (!is_pattern<V>) close_gaps(ctx, blocks, shares, entries.values.data());
      entries.indices.truncate(size);
      if constexpr (!is_pattern<V>) entries.values.truncate(size);
    } else {
      columns<V, I> to(ctx, size);
      copy_blocks(ctx, blocks, entries.indices.data(), to.indices.data());
      if constexpr (!is_pattern<V>) copy_blocks(ctx, blocks, entries.values.data(), to.values.data());
      entries = std::move(to);
    }
  }
  return {rows, cols, std::move(from.offsets), std::move(entries.indices), std::move(entries.values)};
}

// --- Entries in row order --------------------------------------------------------------------------------------------

template <class V, class I, class O>
void finish_rows(std::int64_t first_row, std::int64_t last_row, const array<O, host>& offsets, columns<V, I>& entries,
                 columns<V, I>& spare) {
  for (std::int64_t r = first_row; r < last_row; ++r) {
    const std::int64_t begin = offsets[r];
    sort_row(entries.indices.data() + begin, at(entries.values, begin), spare.indices.data() + begin,
             at(spare.values, begin), offsets[r + 1] - begin);
  }
}

template <class O, class V, class I>
csr_matrix<V, I, O, host> from_rows(const context<host>& ctx, const coo_view<const V, I, host>& m, row_work work) {
  const std::int64_t nnz = m.nnz();
  const row_buckets buckets(m.rows, nnz * (value_bytes<V> + std::int64_t{sizeof(I)}) / bucket_tuning::bucket_bytes);
  rows_with_gaps<V, I, O> to{
      {ctx, buckets.count + 1}, {ctx, work.merge ? buckets.count + 1 : 0}, {ctx, std::int64_t{m.rows} + 1}, {ctx, nnz}};
  columns<V, I> spare(ctx, work.sort ? nnz : 0);
  offsets_of_sorted<I, O>(ctx, m.rows, m.row_indices, to.offsets);
  copy<I>(ctx, m.col_indices, to.entries.indices.view());
  if constexpr (!is_pattern<V>) copy<V>(ctx, m.values, to.entries.values.view());
  for (std::int64_t b = 0; b <= buckets.count; ++b)
    to.starts[b] = to.offsets[b < buckets.count ? buckets.first(b) : m.rows];
  if (work.merge) to.gaps[buckets.count] = 0;
  if (work.sort) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(dynamic, 1)
    for (std::int64_t b = 0; b < buckets.count; ++b) {
      finish_rows(buckets.first(b), buckets.last(b), to.offsets, to.entries, spare);
    }
  }
  if (work.merge) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(dynamic, 1)
    for (std::int64_t b = 0; b < buckets.count; ++b) {
      const std::int64_t first = buckets.first(b);
      to.gaps[b] = merge_rows(to.offsets.view().subspan(first, buckets.last(b) - first), to.starts[b + 1],
                              to.entries.indices.data(), to.entries.values.data());
    }
  }
  return closed(ctx, m.cols, buckets, std::move(to));
}

// --- Entries in any order --------------------------------------------------------------------------------------------

// As many buckets as the cache asks for, or as the key does.
template <class Key, class V>
key_shape shape_of(std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  key_shape shape;
  shape.col_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(cols, 1) - 1)));
  std::int64_t wanted = nnz / (bucket_tuning::bucket_bytes / (value_bytes<V> + std::int64_t{sizeof(Key)}));
  if (const int row_bits = static_cast<int>(8 * sizeof(Key)) - shape.col_bits; row_bits >= 0 && row_bits < 63) {
    wanted = std::max(wanted, std::min(div_up(rows, std::int64_t{1} << row_bits), nnz / tuning::least_entries));
  }
  shape.buckets = row_buckets(rows, wanted);
  return shape;
}

template <class Key>
bool fits(const key_shape& shape) {
  constexpr int bits = static_cast<int>(8 * sizeof(Key));
  return shape.bits() <= bits && shape.col_bits < bits && shape.buckets.shift < bits;
}

// Room to sort buckets in: a thread's own for the usual ones, and each larger one's.
template <class Key, class V>
class spare_room {
 public:
  spare_room() = default;
  spare_room(const context<host>& ctx, const array<std::int64_t, host>& starts) : places_(ctx, starts.size() - 1) {
    const std::int64_t buckets = places_.size();
    const std::int64_t usual = tuning::usual_times * div_up(starts[buckets], std::max<std::int64_t>(buckets, 1));
    for (std::int64_t b = 0; b < buckets; ++b) {
      const std::int64_t size = starts[b + 1] - starts[b];
      places_[b] = size <= usual ? -1 : large_;
      if (size <= usual) usual_ = std::max(usual_, size);
      if (size > usual) large_ += size;
    }
    keys_ = array<Key, host>(ctx, large_ + ctx.threads() * usual_);
    values_ = array<V, host>(ctx, is_pattern<V> ? 0 : keys_.size());
  }

  void give(std::int64_t bucket, int thread, bucket_data<Key, V>& to) {
    const std::int64_t place = places_[bucket] >= 0 ? places_[bucket] : large_ + thread * usual_;
    to.spare_keys = keys_.data() + place;
    to.spare_values = at(values_, place);
  }

 private:
  array<std::int64_t, host> places_;  // of large buckets; -1 for usual ones
  std::int64_t usual_ = 0;            // entries of the largest usual bucket
  std::int64_t large_ = 0;            // entries of all others
  array<Key, host> keys_;
  array<V, host> values_;
};

template <class Key, class O, class V, class I>
csr_matrix<V, I, O, host> from_buckets(const context<host>& ctx, const coo_view<const V, I, host>& m,
                                       const key_shape& shape, row_work work, symmetry_kind kind) {
  const row_buckets& buckets = shape.buckets;
  rows_with_gaps<V, I, O> to;
  {
    bucketed_entries<Key, V> entries = distribute<Key, V, I>(ctx, m, shape, kind);
    const std::int64_t nnz = entries.keys.size();
    spare_room<Key, V> room;
    if (work.sort) room = spare_room<Key, V>(ctx, entries.starts);
    to = {{}, {ctx, work.merge ? buckets.count + 1 : 0}, {ctx, std::int64_t{m.rows} + 1}, {ctx, nnz}};
    to.offsets[m.rows] = static_cast<O>(nnz);
    if (work.merge) to.gaps[buckets.count] = 0;
#pragma omp parallel for num_threads(ctx.threads()) schedule(dynamic, 1)
    for (std::int64_t b = 0; b < buckets.count; ++b) {
      const std::int64_t begin = entries.starts[b];
      const std::int64_t end = entries.starts[b + 1];
      bucket_data<Key, V> data{entries.keys.data() + begin, at(entries.values, begin), nullptr, nullptr};
      if (work.sort) {
        room.give(b, omp_get_thread_num(), data);
        sort_columns(shape, data, end - begin);
      }
      const auto offsets = to.offsets.view().subspan(buckets.first(b), buckets.last(b) - buckets.first(b));
      place_rows(shape, data, end - begin, begin, offsets, to.entries.indices.data(), to.entries.values.data());
      if (work.merge) to.gaps[b] = merge_rows(offsets, end, to.entries.indices.data(), to.entries.values.data());
    }
    to.starts = std::move(entries.starts);
  }
  return closed(ctx, m.cols, buckets, std::move(to));
}

}  // namespace

// A triangle sorted by rows or by columns mirrors into rows in order: whichever of the two it is, what is left of the
// diagonal comes before what is right of it.
template <index_type O, entry_type V, index_type I>
csr_matrix<V, I, O, host> coo_to_csr(const context<host>& ctx, const coo_view<const V, I, host>& m,
                                     const coo_order& order, duplicates on_duplicates, symmetry_kind kind) {
  const bool general = kind == symmetry_kind::general;
  const bool sorted = general ? order.sorted : order.sorted || order.by_columns;
  const row_work work{.sort = general ? !order.sorted && !order.cols_ascending : !sorted,
                      .merge = on_duplicates == duplicates::sum && !(sorted && order.distinct)};
  if (general && order.rows_ascending) return from_rows<O>(ctx, m, work);
  const std::int64_t nnz = general ? m.nnz() : 2 * m.nnz() - order.diagonal;
  const key_shape narrow = shape_of<std::uint32_t, V>(m.rows, m.cols, nnz);
  if (fits<std::uint32_t>(narrow)) return from_buckets<std::uint32_t, O>(ctx, m, narrow, work, kind);
  const key_shape wide = shape_of<std::uint64_t, V>(m.rows, m.cols, nnz);
  if (fits<std::uint64_t>(wide)) return from_buckets<std::uint64_t, O>(ctx, m, wide, work, kind);
  coo_matrix<V, I, host> by_row = expand_symmetry(ctx, m, kind);
  sort_by_radix(ctx, by_row);
  return from_rows<O>(ctx, std::as_const(by_row).view(), {.sort = false, .merge = work.merge});
}

#define INSTANTIATE(V, I, O)                                                                                      \
  template csr_matrix<V, I, O, host> coo_to_csr<O, V, I>(const context<host>&, const coo_view<const V, I, host>&, \
                                                         const coo_order&, duplicates, symmetry_kind);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
