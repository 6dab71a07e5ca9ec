// Selected rows, columns and entries on a device.
//
// Rows: offsets are the prefix sums of the rows' lengths; every entry of the result then finds its source.
// Entries: a bit for each says whether it stays. Their number before an entry is its place, from the prefix sums of
// tiles of 512 bits and the bits of its tile; rows do not matter. 2 passes over what decides, 1 over what stays.
// Columns of a list: each entry becomes as many as its column has places in the list, and rows are sorted. An entry of
// a row of at most 128 counts those that precede it; entries of longer rows go through a radix sort. Only <I, O> are
// template parameters where values are moved alone.
#include "core/device/complex.cuh"
#include "core/instantiate.hpp"
#include "primitives/element.hpp"
#include "primitives/select/select.hpp"
#include "primitives/sort/radix_sort.hpp"
#include "sparse/algebra/entries.cuh"
#include "sparse/algebra/magnitude.hpp"

#include <bit>

namespace spargo::detail::algebra {

namespace {

struct tuning {
  // Entries of longer rows are sorted by a radix sort.
  static constexpr std::int64_t longest_ranked = 128;
};

// Runs find(result), whose kernels lower result[0] from all ones; -1 if they did not.
template <class Find>
std::int64_t first_found(const context<device>& ctx, Find&& find) {
  array<count64, device> result(ctx, 1);
  fill_bytes(ctx, result.data(), 0xff, sizeof(count64));
  find(result.data());
  return static_cast<std::int64_t>(element<count64>(ctx, result.view(), 0));
}

// --- Rows -----------------------------------------------------------------

// The old row of a new one.
template <class I>
struct old_rows {
  const I* list;  // or none
  std::int64_t first;
  [[nodiscard]] __device__ std::int64_t operator[](std::int64_t r) const {
    return list != nullptr ? static_cast<std::int64_t>(list[r]) : first + r;
  }
};

// --- Entries ----------------------------------------------------------------

template <class O, class Keep>
__global__ void __launch_bounds__(block_threads)
    flag_kernel(const O* offsets, std::int64_t rows, std::int64_t nnz, Keep keep, std::uint32_t* words) {
  for_each_entry_of_warps(offsets, rows, nnz, [&](std::int64_t entry, std::int64_t row) {
    const unsigned kept = __ballot_sync(full_mask, entry < nnz && keep(entry, row));
    if (lane_id() == 0) words[entry / warp_size] = kept;
  });
}

// A word more than the entries need, which is read and not used.
template <class O, class Keep>
entry_flags flagged(const context<device>& ctx, const O* offsets, std::int64_t rows, std::int64_t nnz, Keep keep) {
  entry_flags flags(ctx, div_up(nnz, std::int64_t{warp_size}) + 1);
  if (nnz == 0) return flags;
  const device_guard guard(ctx);
  launch_kernel(ctx, warp_per_tile(ctx, nnz), flag_kernel<O, Keep>, offsets, rows, nnz, keep, flags.data());
  return flags;
}
template <class I, class O, class Keep>
entry_flags flagged(const context<device>& ctx, const csr_pattern_view<I, O, device>& m, Keep keep) {
  return flagged(ctx, m.offsets.data(), std::int64_t{m.rows}, m.nnz(), keep);
}
// For keep(entry).
template <class Keep>
entry_flags flagged(const context<device>& ctx, std::int64_t nnz, Keep keep) {
  return flagged(ctx, static_cast<const std::int32_t*>(nullptr), std::int64_t{1}, nnz,
                 [=] __device__(std::int64_t entry, std::int64_t) { return keep(entry); });
}

template <class I>
__global__ void __launch_bounds__(block_threads)
    move_flagged_kernel(const std::uint32_t* words, const std::int64_t* starts, std::int64_t nnz, const I* indices,
                        I first_col, I* to, value_moves moves) {
  const int lane = lane_id();
  for (std::int64_t tile = global_thread() / warp_size; tile * tile_entries < nnz; tile += grid_threads() / warp_size) {
    const std::int64_t first = tile * tile_entries;
    const std::int64_t own_word = first / warp_size + lane;
    const unsigned word = lane < tile_words && own_word * warp_size < nnz ? words[own_word] : 0U;
    const int before = warp_exclusive_sum(__popc(word));
    for (int w = 0; w < tile_words; ++w) {
      const unsigned kept = shuffle(word, w);
      const int kept_before = shuffle(before, w);
      if ((kept >> lane & 1U) == 0) continue;
      const std::int64_t entry = first + w * warp_size + lane;
      const std::int64_t place = starts[tile] + kept_before + __popc(kept & ((1U << lane) - 1));
      to[place] = static_cast<I>(indices[entry] - first_col);
      move_value(moves, place, entry);
    }
  }
}

// The flagged entries; columns are counted from `first_col` on.
template <class I, class O>
csr_matrix<pattern, I, O, device> moved_flagged(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                                                const entry_flags& flags, I first_col, I cols, make_values make) {
  const std::int64_t nnz = m.nnz();
  const std::int64_t words = flags.size() - 1;
  const std::uint32_t* const word = flags.data();
  const device_offsets<std::int64_t> tiles =
      offsets_of<std::int64_t>(ctx, "filter", div_up(nnz, tile_entries), [=] __device__(std::int64_t tile) {
        const std::int64_t last = (tile + 1) * tile_words < words ? (tile + 1) * tile_words : words;
        int kept = 0;
        for (std::int64_t w = tile * tile_words; w < last; ++w) kept += __popc(word[w]);
        return kept;
      });
  const std::int64_t* const start = tiles.offsets.data();
  csr_matrix<pattern, I, O, device> made(m.rows, cols, {ctx, std::int64_t{m.rows} + 1}, {ctx, tiles.nnz}, {});
  const O* const from = m.offsets.data();
  O* const offset = made.offsets().data();
  for_each(ctx, made.offsets().size(), [=] __device__(std::int64_t r) {
    const std::int64_t entry = from[r];
    const std::int64_t own = entry / warp_size;
    std::int64_t kept = start[entry / tile_entries] + __popc(word[own] & ((1U << (entry % warp_size)) - 1));
    for (std::int64_t w = entry / tile_entries * tile_words; w < own; ++w) kept += __popc(word[w]);
    offset[r] = static_cast<O>(kept);
  });
  const value_moves moves = make(tiles.nnz);
  if (nnz == 0) return made;
  const device_guard guard(ctx);
  launch_kernel(ctx, warp_per_tile(ctx, nnz), move_flagged_kernel<I>, word, start, nnz, m.indices.data(), first_col,
                made.indices().data(), moves);
  return made;
}

// --- Columns ----------------------------------------------------------------

int bits_below(std::int64_t bound) {
  return bound < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bound - 1)));
}

// Where the entries of a matrix with unsorted columns come from: their place in it if there are no sources.
template <class I, class O>
struct unsorted_entries {
  array<O, device> offsets;
  array<I, device> columns;
  array<O, device> sources;
};

// Sorts the rows of more than `longest_ranked` entries. A key is the row's number among them, above the column, and the
// payload a position among their entries: at most 2^32, so that keys of more than 64 bits would take 2^39 columns.
template <class I, class O>
void sort_long_rows(const context<device>& ctx, const unsorted_entries<I, O>& from, I cols, I* to,
                    const value_moves& moves) {
  const O* const offset = from.offsets.data();
  array<std::uint8_t, device> flags(ctx, from.offsets.size() - 1);
  std::uint8_t* const flag = flags.data();
  for_each(ctx, flags.size(),
           [=] __device__(std::int64_t r) { flag[r] = offset[r + 1] - offset[r] > tuning::longest_ranked ? 1 : 0; });
  const array<std::int64_t, device> rows = positions_of(ctx, flags.view());
  if (rows.empty()) return;
  const std::int64_t* const row = rows.data();
  const device_offsets<std::int64_t> own = offsets_of<std::int64_t>(
      ctx, "sort", rows.size(), [=] __device__(std::int64_t i) { return offset[row[i] + 1] - offset[row[i]]; });
  const std::int64_t* const start = own.offsets.data();
  const int col_bits = bits_below(cols);
  array<std::uint64_t, device> keys(ctx, own.nnz);
  array<std::uint32_t, device> order = iota(ctx, own.nnz);
  std::uint64_t* const key = keys.data();
  const I* const column = from.columns.data();
  for_each_entry<std::int64_t>(ctx, own.offsets, own.nnz, [=] __device__(std::int64_t k, std::int64_t i) {
    const std::int64_t entry = offset[row[i]] + k - start[i];
    key[k] = static_cast<std::uint64_t>(i) << col_bits | static_cast<std::uint64_t>(column[entry]);
  });
  sort_pairs(ctx, keys, order, 0, col_bits + bits_below(rows.size()));
  const std::uint64_t* const sorted = keys.data();
  const std::uint32_t* const position = order.data();
  const O* const source = from.sources.data();
  const std::uint64_t mask = (std::uint64_t{1} << col_bits) - 1;
  for_each_entry<std::int64_t>(ctx, own.offsets, own.nnz, [=] __device__(std::int64_t k, std::int64_t i) {
    const std::int64_t shift = offset[row[i]] - start[i];
    const std::int64_t entry = position[k] + shift;
    to[k + shift] = static_cast<I>(sorted[k] & mask);
    move_value(moves, k + shift, source != nullptr ? static_cast<std::int64_t>(source[entry]) : entry);
  });
}

// Sorts rows by column, equal ones in their order.
template <class I, class O>
csr_matrix<pattern, I, O, device> sorted_rows(const context<device>& ctx, I rows, I cols, unsorted_entries<I, O> from,
                                              make_values make) {
  const std::int64_t nnz = from.columns.size();
  array<I, device> indices(ctx, nnz);
  const value_moves moves = make(nnz);
  const O* const offset = from.offsets.data();
  const I* const column = from.columns.data();
  const O* const source = from.sources.data();
  I* const to = indices.data();
  for_each_entry<O>(ctx, from.offsets, nnz, [=] __device__(std::int64_t k, std::int64_t row) {
    const std::int64_t first = offset[row];
    const std::int64_t last = offset[row + 1];
    if (last - first > tuning::longest_ranked) return;
    const I own = column[k];
    std::int64_t place = first;
    for (std::int64_t j = first; j < k; ++j) place += column[j] <= own ? 1 : 0;
    for (std::int64_t j = k + 1; j < last; ++j) place += column[j] < own ? 1 : 0;
    to[place] = own;
    move_value(moves, place, source != nullptr ? static_cast<std::int64_t>(source[k]) : k);
  });
  sort_long_rows(ctx, from, cols, to, moves);
  return {rows, cols, std::move(from.offsets), std::move(indices), {}};
}

// The places of each column in a list: places[starts[c]] .. places[starts[c + 1] - 1], ascending.
template <class I>
struct column_places {
  array<std::uint32_t, device> places;
  array<I, device> starts;
};

template <class I>
column_places<I> places_in(const context<device>& ctx, I cols, span<const I, device> list) {
  column_places<I> found{iota(ctx, list.size()), {ctx, std::int64_t{cols} + 1}};
  array<std::uint64_t, device> keys(ctx, list.size());
  std::uint64_t* const key = keys.data();
  const I* const column = list.data();
  for_each(ctx, list.size(), [=] __device__(std::int64_t t) { key[t] = static_cast<std::uint64_t>(column[t]); });
  sort_pairs(ctx, keys, found.places, 0, bits_below(cols));
  const std::uint64_t* const sorted = keys.data();
  const std::int64_t size = keys.size();
  I* const start = found.starts.data();
  for_each(ctx, found.starts.size(),
           [=] __device__(std::int64_t c) { start[c] = static_cast<I>(lower_bound(sorted, size, c)); });
  return found;
}

template <class I, class O>
csr_matrix<pattern, I, O, device> listed_columns(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                                                 span<const I, device> list, make_values make) {
  const column_places<I> found = places_in(ctx, m.cols, list);
  const I* const first = found.starts.data();
  const std::uint32_t* const place = found.places.data();
  const I* const index = m.indices.data();
  const device_offsets<O> grown = offsets_of<O>(ctx, "extract", m.nnz(), [=] __device__(std::int64_t k) {
    return first[std::int64_t{index[k]} + 1] - first[index[k]];
  });
  const O* const start = grown.offsets.data();
  unsorted_entries<I, O> made{{ctx, m.offsets.size()}, {ctx, grown.nnz}, {ctx, grown.nnz}};
  const O* const from = m.offsets.data();
  O* const offset = made.offsets.data();
  for_each(ctx, m.offsets.size(), [=] __device__(std::int64_t r) { offset[r] = start[from[r]]; });
  I* const column = made.columns.data();
  O* const source = made.sources.data();
  for_each_entry<O>(ctx, grown.offsets, grown.nnz, [=] __device__(std::int64_t k, std::int64_t entry) {
    column[k] = static_cast<I>(place[first[index[entry]] + k - start[entry]]);
    source[k] = static_cast<O>(entry);
  });
  return sorted_rows(ctx, m.rows, static_cast<I>(list.size()), std::move(made), make);
}

}  // namespace

template <index_type I>
std::int64_t first_outside(const context<device>& ctx, span<const I, device> list, I all) {
  const I* const index = list.data();
  return first_found(ctx, [&](count64* first) {
    for_each(ctx, list.size(), [=] __device__(std::int64_t k) {
      if (index[k] < 0 || index[k] >= all) atomicMin(first, static_cast<count64>(k));
    });
  });
}

template <index_type I>
std::int64_t first_misplaced(const context<device>& ctx, span<const I, device> order, I all) {
  array<count64, device> firsts(ctx, all);
  fill_bytes(ctx, firsts.data(), 0xff, static_cast<std::size_t>(all) * sizeof(count64));
  count64* const first_of = firsts.data();
  const I* const index = order.data();
  for_each(ctx, order.size(), [=] __device__(std::int64_t k) {
    if (index[k] >= 0 && index[k] < all) atomicMin(&first_of[index[k]], static_cast<count64>(k));
  });
  return first_found(ctx, [&](count64* first) {
    for_each(ctx, order.size(), [=] __device__(std::int64_t k) {
      const bool is_first = index[k] >= 0 && index[k] < all && first_of[index[k]] == static_cast<count64>(k);
      if (!is_first) atomicMin(first, static_cast<count64>(k));
    });
  });
}

template <index_type I, index_type O>
csr_matrix<pattern, I, O, device> extract_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                                               const index_selection<I, device>& rows, make_values make) {
  const std::int64_t size = size_of(rows, m.rows);
  const bool is_list = rows.which == index_selection<I, device>::kind::list;
  const old_rows<I> old{is_list ? rows.list.data() : nullptr, std::int64_t{rows.first}};
  const O* const from = m.offsets.data();
  device_offsets<O> made =
      offsets_of<O>(ctx, "extract", size, [=] __device__(std::int64_t r) { return from[old[r] + 1] - from[old[r]]; });
  array<I, device> indices(ctx, made.nnz);
  const value_moves moves = make(made.nnz);
  const O* const offset = made.offsets.data();
  const I* const index = m.indices.data();
  I* const to = indices.data();
  for_each_entry<O>(ctx, made.offsets, made.nnz, [=] __device__(std::int64_t k, std::int64_t r) {
    const std::int64_t source = from[old[r]] + (k - offset[r]);
    to[k] = index[source];
    move_value(moves, k, source);
  });
  return {static_cast<I>(size), m.cols, std::move(made.offsets), std::move(indices), {}};
}

template <index_type I, index_type O>
csr_matrix<pattern, I, O, device> extract_columns(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                                                  const index_selection<I, device>& cols, make_values make) {
  if (cols.which == index_selection<I, device>::kind::list) return listed_columns(ctx, m, cols.list, make);
  const I first = cols.first;
  const I last = cols.last;
  const I* const index = m.indices.data();
  const entry_flags flags =
      flagged(ctx, m.nnz(), [=] __device__(std::int64_t k) { return index[k] >= first && index[k] < last; });
  return moved_flagged(ctx, m, flags, first, static_cast<I>(last - first), make);
}

template <index_type I, index_type O>
csr_matrix<pattern, I, O, device> permute_columns(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                                                  span<const I, device> order, make_values make) {
  array<I, device> places(ctx, order.size());
  I* const place = places.data();
  const I* const old = order.data();
  for_each(ctx, order.size(), [=] __device__(std::int64_t c) { place[old[c]] = static_cast<I>(c); });
  unsorted_entries<I, O> made{{ctx, m.offsets.size()}, {ctx, m.nnz()}, {}};
  copy<O>(ctx, m.offsets, made.offsets.view());
  const I* const index = m.indices.data();
  I* const column = made.columns.data();
  for_each(ctx, m.nnz(), [=] __device__(std::int64_t k) { column[k] = place[index[k]]; });
  return sorted_rows(ctx, m.rows, m.cols, std::move(made), make);
}

template <index_type I, index_type O>
entry_flags flag_part(const context<device>& ctx, const csr_pattern_view<I, O, device>& m, matrix_part part) {
  const I* const index = m.indices.data();
  return flagged(ctx, m, [=] __device__(std::int64_t k, std::int64_t row) { return is_in_part(part, row, index[k]); });
}

template <index_type I, index_type O>
entry_flags flag_diagonal(const context<device>& ctx, const csr_pattern_view<I, O, device>& m) {
  const I* const index = m.indices.data();
  return flagged(ctx, m, [=] __device__(std::int64_t k, std::int64_t row) { return index[k] == row; });
}

template <value_type V>
entry_flags flag_from(const context<device>& ctx, const span<const V, device>& values, double threshold) {
  const device_value_t<V>* const value = device_cast(values.data());
  return flagged(ctx, values.size(), [=] __device__(std::int64_t k) { return !(magnitude(value[k]) < threshold); });
}

template <value_type V>
entry_flags flag_nonzero(const context<device>& ctx, const span<const V, device>& values) {
  using D = device_value_t<V>;
  const D* const value = device_cast(values.data());
  return flagged(ctx, values.size(), [=] __device__(std::int64_t k) { return !(value[k] == D{}); });
}

template <index_type I, index_type O>
csr_matrix<pattern, I, O, device> filter_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                                                 const entry_flags& flags, make_values make) {
  return moved_flagged(ctx, m, flags, I{0}, m.cols, make);
}

#define INSTANTIATE_I(I)                                                                 \
  template std::int64_t first_outside(const context<device>&, span<const I, device>, I); \
  template std::int64_t first_misplaced(const context<device>&, span<const I, device>, I);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

#define INSTANTIATE(I, O)                                                                                             \
  template csr_matrix<pattern, I, O, device> extract_rows(                                                            \
      const context<device>&, const csr_pattern_view<I, O, device>&, const index_selection<I, device>&, make_values); \
  template csr_matrix<pattern, I, O, device> extract_columns(                                                         \
      const context<device>&, const csr_pattern_view<I, O, device>&, const index_selection<I, device>&, make_values); \
  template csr_matrix<pattern, I, O, device> permute_columns(                                                         \
      const context<device>&, const csr_pattern_view<I, O, device>&, span<const I, device>, make_values);             \
  template entry_flags flag_part(const context<device>&, const csr_pattern_view<I, O, device>&, matrix_part);         \
  template entry_flags flag_diagonal(const context<device>&, const csr_pattern_view<I, O, device>&);                  \
  template csr_matrix<pattern, I, O, device> filter_pattern(                                                          \
      const context<device>&, const csr_pattern_view<I, O, device>&, const entry_flags&, make_values);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

#define INSTANTIATE_V(V)                                                                        \
  template entry_flags flag_from(const context<device>&, const span<const V, device>&, double); \
  template entry_flags flag_nonzero(const context<device>&, const span<const V, device>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE_V)

}  // namespace spargo::detail::algebra
