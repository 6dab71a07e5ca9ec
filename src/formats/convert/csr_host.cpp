// COO to CSR on the host.
//
// Entries in row order are copied. Others are distributed to buckets of consecutive rows (row_buckets.hpp); each bucket
// is sorted by row, and rows by column unless the input's order makes that unnecessary (bucket_sort.hpp). Adjacent
// duplicates are merged while still in cache.
// Invariant: every step is stable, so the result does not depend on the number of threads.
// Cost: O(nnz + rows) time for any distribution. Distributed entries are kept in the memory of the result if a key is
// as large as a column, else in scratch: a key of 4 or 8 bytes and a value each.
#include "core/busy.hpp"
#include "core/function_ref.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "formats/convert/backend.hpp"
#include "formats/rows/bucket_sort.hpp"
#include "formats/rows/triangle_rows.hpp"
#include "primitives/ordered_parts.hpp"

namespace spargo::detail::convert {

namespace {

struct tuning {
  // A bucket with more than this many times the average number of entries gets its own scratch, not its thread's.
  static constexpr std::int64_t usual_times = 4;
  // To make keys narrow more buckets than the cache needs are used, but none smaller than this.
  static constexpr std::int64_t least_entries = 1 << 12;
};

template <class V, class I>
struct columns {
  array<I, host> indices;
  array<V, host> values;

  columns() = default;
  columns(const context<host>& ctx, std::int64_t size) : indices(ctx, size), values(ctx, is_pattern<V> ? 0 : size) {}
};

template <class V, class I, class O>
struct csr_arrays {
  array<O, host> offsets;
  array<I, host> indices;
  array<V, host> values;
};

template <class V>
V* at(array<V, host>& values, std::int64_t i) {
  return is_pattern<V> ? nullptr : values.data() + i;
}

template <class V>
constexpr std::int64_t value_bytes = is_pattern<V> ? 0 : sizeof(V);

// Entries in row order: computes offsets from the positions where the row changes.
template <class I, class O>
void offsets_of_sorted(const context<host>& ctx, std::int64_t rows, span<const I, host> row_indices,
                       array<O, host>& offsets) {
  const std::int64_t nnz = row_indices.size();
  const parts shares = split(nnz, ctx.threads(), bucket_tuning::share);
  const auto fill = [&](std::int64_t p) {
    for (std::int64_t k = shares.first(p), last = shares.last(p); k < last; ++k) {
      const std::int64_t previous = k == 0 ? -1 : std::int64_t{row_indices[k - 1]};
      for (std::int64_t r = previous + 1; r <= row_indices[k]; ++r) offsets[r] = static_cast<O>(k);
    }
  };
  parallel_parts(ctx.threads(), shares.count, fill, waking_for(nnz, bucket_tuning::share));
  const std::int64_t last_row = nnz == 0 ? -1 : std::int64_t{row_indices[nnz - 1]};
  parallel_for(ctx.threads(), rows - last_row, grain::elements,
               [&](std::int64_t r) { offsets[last_row + 1 + r] = static_cast<O>(nnz); });
}

// What to do with each row once its entries are gathered.
struct row_work {
  bool sort = false;
  bool merge = false;
  bool drop = false;      // drop diagonal entries
  bool in_order = false;  // rows are written where earlier buckets' entries may still be
};

// --- Rows gathered bucket by bucket ----------------------------------------------------------------------------------

// Scratch for the rows of a bucket (twice its size): one per thread for usual buckets, one for each large bucket.
template <class C, class V>
class bucket_room {
 public:
  bucket_room(const context<host>& ctx, const array<std::int64_t, host>& starts) : places_(ctx, starts.size() - 1) {
    const std::int64_t buckets = places_.size();
    const std::int64_t usual = tuning::usual_times * div_up(starts[buckets], std::max<std::int64_t>(buckets, 1));
    for (std::int64_t b = 0; b < buckets; ++b) {
      const std::int64_t size = starts[b + 1] - starts[b];
      places_[b] = size <= usual ? -1 : large_;
      if (size <= usual) usual_ = std::max(usual_, size);
      if (size > usual) large_ += room_of(size);
    }
    cols_ = array<C, host>(ctx, large_ + ctx.threads() * room_of(usual_));
    values_ = array<V, host>(ctx, is_pattern<V> ? 0 : cols_.size());
  }

  [[nodiscard]] bool is_large(std::int64_t bucket) const { return places_[bucket] >= 0; }

  // Scratch for a bucket of `size` entries, for the thread in this slot.
  [[nodiscard]] row_scratch<C, V> of(std::int64_t bucket, std::int64_t size, std::int64_t slot) {
    const std::int64_t place = is_large(bucket) ? places_[bucket] : large_ + slot * room_of(usual_);
    return {cols_.data() + place, at(values_, place), cols_.data() + place + size, at(values_, place + size)};
  }

 private:
  static std::int64_t room_of(std::int64_t size) { return 2 * size + row_slack; }

  array<std::int64_t, host> places_;  // scratch of large buckets; -1 for usual ones
  std::int64_t usual_ = 0;            // entries of the largest usual bucket
  std::int64_t large_ = 0;            // scratch of all large buckets
  array<C, host> cols_;
  array<V, host> values_;
};

// Gathers the rows of a bucket: gather(bucket, starts of its rows, scratch). Called through a pointer, once per bucket,
// so that row processing is compiled once for all of them. Returns whether diagonal entries are possible.
template <class C, class V, class O>
using gather_bucket = function_ref<bool(std::int64_t, span<O, host>, const row_scratch<C, V>&)>;

// If duplicates are merged, a bucket's place is known only once all earlier ones are merged: buckets are taken in order
// and wait for their predecessor. Large buckets are built first, by all threads, and are then ready.
template <class C, class V, class I, class O>
csr_arrays<V, I, O> build_rows(const context<host>& ctx, const row_buckets& buckets,
                               const array<std::int64_t, host>& starts, row_work work, gather_bucket<C, V, O> gather,
                               columns<V, I> to) {
  bucket_room<C, V> room(ctx, starts);
  array<std::int64_t, host> kept(ctx, buckets.count);
  array<O, host> offsets(ctx, buckets.rows + 1);
  const store_path path = path_of<I>(to.indices.size());
  const auto size_of = [&](std::int64_t b) { return starts[b + 1] - starts[b]; };
  const auto rows_of = [&](std::int64_t b) {
    return offsets.view().subspan(buckets.first(b), buckets.last(b) - buckets.first(b));
  };
  const auto build = [&](std::int64_t b, std::int64_t slot) {
    const std::int64_t size = size_of(b);
    const row_scratch<C, V> scratch = room.of(b, size, slot);
    const bool crosses = gather(b, rows_of(b), scratch);
    if (work.sort) sort_rows<C, V, O>(rows_of(b), size, scratch);
    kept[b] = work.merge ? merge_rows(rows_of(b), size, scratch) : size;
    if (work.drop && crosses) kept[b] = drop_diagonal(rows_of(b), kept[b], buckets.first(b), scratch);
  };
  const auto write = [&](std::int64_t b, std::int64_t place, std::int64_t slot) {
    write_rows(room.of(b, size_of(b), slot), kept[b], place, rows_of(b), to.indices.data(), to.values.data(), path);
  };
  parallel_parts(ctx.threads(), buckets.count, [&](std::int64_t b) {
    if (room.is_large(b)) build(b, 0);
  });
  const auto count = [&](std::int64_t b, std::int64_t slot) {
    if (!room.is_large(b)) build(b, slot);
    return kept[b];
  };
  if (work.merge || work.drop || work.in_order) {
    for_each_part_in_order(ctx, buckets.count, 0, count, write);
  } else {
    on_threads(ctx.threads(), buckets.count, [&](part_taker& mine) {
      for (std::int64_t b; mine.take(b);) {
        count(b, mine.slot());
        write(b, starts[b], mine.slot());
      }
    });
  }
  std::int64_t nnz = 0;
  for (const std::int64_t size : kept) nnz += size;
  offsets[buckets.rows] = static_cast<O>(nnz);
  to.indices.truncate(nnz);
  if constexpr (!is_pattern<V>) to.values.truncate(nnz);
  return {std::move(offsets), std::move(to.indices), std::move(to.values)};
}

// --- Entries in row order --------------------------------------------------------------------------------------------

template <class C, class O, class V, class I>
csr_arrays<V, I, O> from_rows(const context<host>& ctx, const coo_entries<V, I>& m, row_work work) {
  array<O, host> offsets(ctx, std::int64_t{m.rows} + 1);
  offsets_of_sorted<I, O>(ctx, m.rows, m.row_indices, offsets);
  if (!work.sort && !work.merge && !work.drop) {
    return {std::move(offsets), clone(ctx, m.col_indices), clone(ctx, m.values)};
  }
  const row_buckets buckets(m.rows, m.nnz() * (value_bytes<V> + std::int64_t{sizeof(I)}) / bucket_tuning::bucket_bytes);
  array<std::int64_t, host> starts(ctx, buckets.count + 1);
  for (std::int64_t b = 0; b < buckets.count; ++b) starts[b] = offsets[buckets.first(b)];
  starts[buckets.count] = m.nnz();
  const auto gather = [&](std::int64_t b, span<O, host> rows, const row_scratch<C, V>& to) {
    const std::int64_t first = buckets.first(b);
    for (std::int64_t r = 0; r < rows.size(); ++r) rows[r] = static_cast<O>(offsets[first + r] - starts[b]);
    for (std::int64_t k = starts[b]; k < starts[b + 1]; ++k) to.cols[k - starts[b]] = static_cast<C>(m.col_indices[k]);
    if constexpr (!is_pattern<V>) std::copy_n(m.values.data() + starts[b], starts[b + 1] - starts[b], to.values);
    return true;
  };
  return build_rows<C, V, I, O>(ctx, buckets, starts, work, gather, {ctx, m.nnz()});
}

// --- Entries in any order --------------------------------------------------------------------------------------------

// As many buckets as the cache requires, or as a narrow key requires.
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

// The columns and values of the result. If a key is as large as a column, the distributed entries share this memory: a
// bucket's entries are read before its rows are written over them.
template <class Key, class V, class I>
class result_room {
 public:
  static constexpr bool shared = sizeof(Key) == sizeof(I);

  // For `total` entries, the last `on_the_way` of them distributed: rows written never overtake entries not yet read.
  result_room(const context<host>& ctx, std::int64_t total, std::int64_t on_the_way) {
    if constexpr (shared) {
      const std::int64_t first = div_up(total - on_the_way, line) * line;
      to_ = columns<V, I>(ctx, first + on_the_way);
      keys_at_ = {reinterpret_cast<Key*>(to_.indices.data()) + first, at(to_.values, first)};
    } else {
      to_ = columns<V, I>(ctx, total);
      keys_ = array<Key, host>(ctx, on_the_way);
      values_ = array<V, host>(ctx, is_pattern<V> ? 0 : on_the_way);
      keys_at_ = {keys_.data(), at(values_, 0)};
    }
  }

  [[nodiscard]] const key_room<Key, V>& entries() const { return keys_at_; }
  [[nodiscard]] columns<V, I> take() { return std::move(to_); }

 private:
  static constexpr std::int64_t line = 64;  // this many entries of any size are whole cache lines

  columns<V, I> to_;
  array<Key, host> keys_;  // used if memory is not shared
  array<V, host> values_;
  key_room<Key, V> keys_at_;
};

template <class Key, class C, class O, class V, class I>
csr_arrays<V, I, O> from_buckets(const context<host>& ctx, const coo_entries<V, I>& m, const key_shape& shape,
                                 row_work work, symmetry_kind kind) {
  bucket_places places = find_places<I>(ctx, m, shape.buckets, kind);
  result_room<Key, V, I> room(ctx, places.total(), places.total());
  const auto entries = distribute<Key, V, I>(ctx, m, shape, kind, std::move(places), room.entries());
  const auto gather = [&](std::int64_t b, span<O, host> rows, const row_scratch<C, V>& to) {
    gather_rows(shape, entries.keys(b), entries.values(b), entries.size(b), rows, to);
    return work.drop && has_diagonal(shape, shape.buckets.first(b), entries.keys(b), entries.size(b));
  };
  return build_rows<C, V, I, O>(ctx, shape.buckets, entries.starts, work, gather, room.take());
}

// For a sorted triangle, whose result needs no sort: half of it goes through buckets.
template <class Key, class C, class O, class V, class I>
csr_arrays<V, I, O> from_triangle(const context<host>& ctx, const coo_entries<V, I>& m, const key_shape& shape,
                                  const coo_facts& order, symmetry_kind kind) {
  triangle_runs<V, I, O> runs(m, order, kind);
  array<O, host> run_starts(ctx, std::int64_t{m.rows} + 1);
  offsets_of_sorted<I, O>(ctx, m.rows, runs.majors(), run_starts);
  runs.set_starts(std::as_const(run_starts).view());
  const auto across_runs = runs.across(m.rows);
  bucket_places places = find_places<I>(ctx, across_runs, shape.buckets, symmetry_kind::general);
  result_room<Key, V, I> room(ctx, 2 * m.nnz() - order.diagonal, places.total());
  const auto across =
      distribute<Key, V, I>(ctx, across_runs, shape, symmetry_kind::general, std::move(places), room.entries());
  const auto gather = [&](std::int64_t b, span<O, host> rows, const row_scratch<C, V>& to) {
    runs.gather(shape, shape.buckets.first(b), across.keys(b), across.values(b), across.size(b), rows, to);
    return true;
  };
  return build_rows<C, V, I, O>(ctx, shape.buckets, runs.bucket_starts(ctx, shape.buckets, across.starts),
                                {.in_order = room.shared}, gather, room.take());
}

// Entries that go through buckets: of a sorted triangle each stored entry once.
template <class I>
std::int64_t bucketed(const coo_pattern_view<I, host>& m, const coo_facts& order, symmetry_kind kind) {
  return kind == symmetry_kind::general || has_runs(order) ? m.nnz() : 2 * m.nnz() - order.diagonal;
}

// Whether row within the bucket and column fit a 64-bit key.
template <class V, class I>
bool fits_buckets(const coo_pattern_view<I, host>& m, const coo_facts& order, symmetry_kind kind) {
  return fits<std::uint64_t>(shape_of<std::uint64_t, V>(m.rows, m.cols, bucketed(m, order, kind)));
}

// For entries in row order, or for which fits_buckets is true.
template <class C, class O, class V, class I>
csr_arrays<V, I, O> from_entries_by(const context<host>& ctx, const coo_entries<V, I>& m, const coo_facts& order,
                                    row_work work, symmetry_kind kind) {
  const bool general = kind == symmetry_kind::general;
  if (general && order.rows_ascending) return from_rows<C, O>(ctx, m, work);
  const bool runs = !general && has_runs(order);
  const std::int64_t nnz = bucketed(m, order, kind);
  if constexpr (sizeof(C) == sizeof(std::uint32_t)) {
    const key_shape narrow = shape_of<std::uint32_t, V>(m.rows, m.cols, nnz);
    if (fits<std::uint32_t>(narrow)) {
      if (runs) return from_triangle<std::uint32_t, C, O>(ctx, m, narrow, order, kind);
      return from_buckets<std::uint32_t, C, O>(ctx, m, narrow, work, kind);
    }
  }
  const key_shape wide = shape_of<std::uint64_t, V>(m.rows, m.cols, nnz);
  if (runs) return from_triangle<std::uint64_t, C, O>(ctx, m, wide, order, kind);
  return from_buckets<std::uint64_t, C, O>(ctx, m, wide, work, kind);
}

// Uses 32-bit columns while gathering rows, if columns are below 2^31.
template <class O, class V, class I>
csr_arrays<V, I, O> from_entries(const context<host>& ctx, const coo_entries<V, I>& m, const coo_facts& order,
                                 row_work work, symmetry_kind kind) {
  if constexpr (sizeof(I) > sizeof(std::uint32_t)) {
    if (m.cols > std::numeric_limits<std::int32_t>::max()) {
      return from_entries_by<std::uint64_t, O>(ctx, m, order, work, kind);
    }
  }
  return from_entries_by<std::uint32_t, O>(ctx, m, order, work, kind);
}

}  // namespace

// A sorted triangle, by row or by column, gives sorted rows: entries left of the diagonal precede those right of it.
template <index_type O, entry_type V, index_type I>
csr_matrix<V, I, O, host> coo_to_csr(const context<host>& ctx, const coo_view<const V, I, host>& m,
                                     const coo_facts& order, duplicates on_duplicates, symmetry_kind kind,
                                     diagonal_entries diagonal) {
  const bool general = kind == symmetry_kind::general;
  const bool sorted = general ? order.sorted : order.sorted || order.by_columns;
  const row_work work{.sort = general ? !order.sorted && !order.cols_ascending : !sorted,
                      .merge = on_duplicates == duplicates::sum && !(sorted && order.distinct),
                      .drop = general && diagonal == diagonal_entries::drop && order.diagonal > 0};
  const auto matrix_of = [&](csr_arrays<V, I, O> made) {
    return csr_matrix<V, I, O, host>{m.rows, m.cols, std::move(made.offsets), std::move(made.indices),
                                     std::move(made.values)};
  };
  if ((general && order.rows_ascending) || fits_buckets<V, I>(m, order, kind)) {
    return matrix_of(from_entries<O>(ctx, coo_entries<V, I>{m, m.values}, order, work, kind));
  }
  coo_matrix<V, I, host> by_row = expand_symmetry(ctx, m, kind);
  sort_by_radix(ctx, by_row);
  const coo_view<const V, I, host> entries = by_row.view();
  return matrix_of(from_rows<std::make_unsigned_t<I>, O>(ctx, coo_entries<V, I>{entries, entries.values},
                                                         {.merge = work.merge, .drop = work.drop}));
}

template <index_type I>
sorted_entries<I, host> sort_pattern(const context<host>& ctx, const coo_pattern_view<I, host>& m,
                                     const coo_facts& order) {
  using position = entry_number<host>;
  if (is_hypersparse(m.rows, m.nnz()) || !fits_buckets<position, I>(m, order, symmetry_kind::general)) {
    return sort_pattern_by_radix(ctx, m);
  }
  array<position, host> positions(ctx, m.nnz());
  parallel_for(ctx.threads(), m.nnz(), grain::elements, [&](std::int64_t k) { positions[k] = k; });
  auto sorted = from_entries<std::int64_t>(ctx, coo_entries<position, I>{m, positions.view()}, order,
                                           {.sort = !order.sorted && !order.cols_ascending}, symmetry_kind::general);
  array<I, host> rows(ctx, m.nnz());
  expand_rows<I, std::int64_t>(ctx, sorted.offsets.view(), rows.view());
  return {std::move(rows), std::move(sorted.indices), std::move(sorted.values)};
}

#define INSTANTIATE(V, I, O)                                                                                      \
  template csr_matrix<V, I, O, host> coo_to_csr<O, V, I>(const context<host>&, const coo_view<const V, I, host>&, \
                                                         const coo_facts&, duplicates, symmetry_kind,             \
                                                         diagonal_entries);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

#define INSTANTIATE_I(I)                                                                                \
  template sorted_entries<I, host> sort_pattern(const context<host>&, const coo_pattern_view<I, host>&, \
                                                const coo_facts&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

}  // namespace spargo::detail::convert
