// COO on the device: examining, sorting, summing, mirroring, conversion to CSR.
//
// Coordinates are packed into a 64-bit key, row above column, and radix sorted together with the entries' positions (a
// pattern needs no positions); then values are gathered. Coordinates of more than 64 bits are sorted by column, then by
// row. Input with ascending columns is sorted by the row's bits only, which are a key of 32 bits if indices are.
// Invariant: the sort is stable, so equal coordinates stay in input order and are summed in that order.
// Cost: O(nnz) for a fixed key width; scratch 24 bytes per entry, 16 for a pattern; 16 where a key has 32 bits.
#include "core/device/complex.cuh"
#include "core/device/launch.cuh"
#include "core/device/run_sums.cuh"
#include "core/device/warp.cuh"
#include "core/device/words.cuh"
#include "core/instantiate.hpp"
#include "core/search.hpp"
#include "formats/convert/backend.hpp"
#include "primitives/select/select.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <bit>
#include <optional>

namespace spargo::detail::convert {

namespace {

enum order_flag : unsigned { rows_descend = 1, cols_descend = 2, unsorted = 4, repeated = 8 };

// result[0]: the first entry outside the matrix; result[1]: order_flag bits.
template <class I>
__global__ void __launch_bounds__(block_threads)
    examine_kernel(const I* row_indices, const I* col_indices, std::int64_t nnz, I rows, I cols,
                   unsigned long long* result) {
  unsigned flags = 0;
  for (std::int64_t k = global_thread(); k < nnz; k += grid_threads()) {
    const I row = row_indices[k];
    const I col = col_indices[k];
    if (row < 0 || row >= rows || col < 0 || col >= cols) atomicMin(&result[0], static_cast<unsigned long long>(k));
    if (k == 0) continue;
    const I row_before = row_indices[k - 1];
    const I col_before = col_indices[k - 1];
    if (row_before > row) flags |= rows_descend;
    if (col_before > col) flags |= cols_descend;
    if (row_before > row || (row_before == row && col_before > col)) flags |= unsorted;
    if (row_before == row && col_before == col) flags |= repeated;
  }
  flags = warp_reduce(flags, bit_or{});
  if (threadIdx.x % warp_size == 0 && flags != 0) atomicOr(&result[1], static_cast<unsigned long long>(flags));
}

int bits_below(std::int64_t bound) {
  return bound < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bound - 1)));
}

template <class I>
void unpack_keys(const context<device>& ctx, const array<std::uint64_t, device>& keys, int col_bits, I* rows, I* cols) {
  const std::uint64_t* packed = keys.data();
  const std::uint64_t mask = (std::uint64_t{1} << col_bits) - 1;
  for_each(ctx, keys.size(), [=] __device__(std::int64_t k) {
    rows[k] = static_cast<I>(packed[k] >> col_bits);
    cols[k] = static_cast<I>(packed[k] & mask);
  });
}

enum class order_wanted { no, yes };

template <class I>
sorted_entries<I, device> sort_packed(const context<device>& ctx, const coo_pattern_view<I, device>& m,
                                      const coo_facts& order, order_wanted wanted) {
  const int col_bits = bits_below(m.cols);
  const int begin = order.cols_ascending ? col_bits : 0;
  const int end = col_bits + bits_below(m.rows);
  array<std::uint64_t, device> keys(ctx, m.nnz());
  std::uint64_t* packed = keys.data();
  const I* rows = m.row_indices.data();
  const I* cols = m.col_indices.data();
  for_each(ctx, m.nnz(), [=] __device__(std::int64_t k) {
    packed[k] = static_cast<std::uint64_t>(rows[k]) << col_bits | static_cast<std::uint64_t>(cols[k]);
  });
  sorted_entries<I, device> sorted;
  if (wanted == order_wanted::yes) {
    sorted.order = iota(ctx, m.nnz());
    sort_pairs(ctx, keys, sorted.order, begin, end);
  } else {
    sort_keys(ctx, keys, begin, end);
  }
  sorted.row_indices = array<I, device>(ctx, m.nnz());
  sorted.col_indices = array<I, device>(ctx, m.nnz());
  unpack_keys(ctx, keys, col_bits, sorted.row_indices.data(), sorted.col_indices.data());
  return sorted;
}

template <class T>
[[nodiscard]] std::uint32_t* words_of(array<T, device>& numbers) {
  static_assert(sizeof(T) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(numbers.data());
}

// Of 32-bit indices and ascending columns: a pattern's columns move with the rows, else positions do.
template <class I>
sorted_entries<I, device> sort_rows(const context<device>& ctx, const coo_pattern_view<I, device>& m,
                                    order_wanted wanted) {
  sorted_entries<I, device> sorted;
  const auto sort = [&]<class T>(array<T, device>& payload) {
    array<I, device> spare_rows(ctx, m.nnz());
    array<T, device> spare_payload(ctx, m.nnz());
    const in_spare where = sort_words(ctx, m.nnz(), words_of(sorted.row_indices), words_of(payload),
                                      words_of(spare_rows), words_of(spare_payload), 0, bits_below(m.rows));
    if (where.keys) sorted.row_indices.swap(spare_rows);
    if (where.payload) payload.swap(spare_payload);
  };
  sorted.row_indices = clone(ctx, m.row_indices);
  if (wanted == order_wanted::no) {
    sorted.col_indices = clone(ctx, m.col_indices);
    sort(sorted.col_indices);
  } else {
    sorted.order = iota(ctx, m.nnz());
    sort(sorted.order);
    const span<const std::uint32_t, device> order = sorted.order.view();
    sorted.col_indices = gathered(ctx, m.col_indices, order);
  }
  return sorted;
}

// For keys of more than 64 bits: by column, then, stably, by row.
template <class I>
sorted_entries<I, device> sort_wide(const context<device>& ctx, const coo_pattern_view<I, device>& m) {
  sorted_entries<I, device> sorted;
  sorted.order = iota(ctx, m.nnz());
  array<std::uint64_t, device> keys(ctx, m.nnz());
  std::uint64_t* key = keys.data();
  const I* cols = m.col_indices.data();
  for_each(ctx, m.nnz(), [=] __device__(std::int64_t k) { key[k] = static_cast<std::uint64_t>(cols[k]); });
  sort_pairs(ctx, keys, sorted.order, 0, bits_below(m.cols));
  key = keys.data();
  const I* rows = m.row_indices.data();
  const std::uint32_t* by_column = sorted.order.data();
  for_each(ctx, m.nnz(), [=] __device__(std::int64_t k) { key[k] = static_cast<std::uint64_t>(rows[by_column[k]]); });
  sort_pairs(ctx, keys, sorted.order, 0, bits_below(m.rows));
  const span<const std::uint32_t, device> order = sorted.order.view();
  sorted.row_indices = gathered(ctx, m.row_indices, order);
  sorted.col_indices = gathered(ctx, m.col_indices, order);
  return sorted;
}

// `order` may be empty for a pattern whose order is not needed.
template <class I>
sorted_entries<I, device> sort_by_keys(const context<device>& ctx, const coo_pattern_view<I, device>& m,
                                       const coo_facts& order, order_wanted wanted) {
  if constexpr (sizeof(I) == sizeof(std::uint32_t)) {
    if (order.cols_ascending) return sort_rows(ctx, m, wanted);
  }
  if (bits_below(m.rows) + bits_below(m.cols) > 64) return sort_wide(ctx, m);
  return sort_packed(ctx, m, order, wanted);
}

template <class V, class I>
coo_matrix<V, I, device> sorted_copy(const context<device>& ctx, const coo_view<const V, I, device>& m,
                                     const coo_facts& order) {
  sorted_entries<I, device> sorted =
      sort_by_keys<I>(ctx, m, order, is_pattern<V> ? order_wanted::no : order_wanted::yes);
  array<V, device> values;
  if constexpr (!is_pattern<V>) {
    const span<const std::uint32_t, device> where = sorted.order.view();
    values = gathered(ctx, m.values, where);
  }
  return {m.rows, m.cols, std::move(sorted.row_indices), std::move(sorted.col_indices), std::move(values)};
}

template <class V>
array<V, device> summed_runs(const context<device>& ctx, span<const V, device> values,
                             const array<std::int64_t, device>& starts) {
  array<V, device> sums(ctx, starts.size() - 1);
  sum_runs(ctx, values.data(), starts.data(), sums.size(), sums.data());
  return sums;
}

// f(q, lower_bound(sorted, q)) for q = 0 .. queries - 1. A block searches for a tile's first and last one, and its
// threads between them. Balanced for any gaps, unlike filling the gaps between entries.
constexpr std::int64_t searched_tile = 16 * block_threads;
template <class T, class F>
__global__ void __launch_bounds__(block_threads)
    search_kernel(const T* sorted, std::int64_t size, std::int64_t queries, F f) {
  __shared__ std::int64_t ends[2];
  const std::int64_t first = std::int64_t{blockIdx.x} * searched_tile;
  const std::int64_t last = first + searched_tile < queries ? first + searched_tile : queries;
  if (threadIdx.x % warp_size == 0 && threadIdx.x < 2 * warp_size) {
    ends[threadIdx.x / warp_size] = lower_bound(sorted, size, threadIdx.x == 0 ? first : last);
  }
  __syncthreads();
  const std::int64_t begin = ends[0];
  const std::int64_t length = ends[1] - begin;
  for (std::int64_t q = first + threadIdx.x; q < last; q += block_threads) {
    f(q, begin + lower_bound(sorted + begin, length, q));
  }
}
template <class T, class F>
void search_each(const context<device>& ctx, const T* sorted, std::int64_t size, std::int64_t queries, const F& f) {
  if (queries == 0) return;
  const device_guard guard(ctx);
  launch_kernel(ctx, {div_up(queries, searched_tile), block_threads}, search_kernel<T, F>, sorted, size, queries, f);
}

// Sorted entries with equal coordinates summed; none if all are distinct.
template <class V, class I>
std::optional<coo_matrix<V, I, device>> merged(const context<device>& ctx, const coo_view<const V, I, device>& m) {
  const array<std::int64_t, device> starts = run_starts<I>(ctx, m.row_indices, m.col_indices);
  if (starts.empty()) return std::nullopt;
  const span<const std::int64_t, device> firsts = starts.view().subspan(0, starts.size() - 1);
  array<V, device> values;
  if constexpr (!is_pattern<V>) values = summed_runs<V>(ctx, m.values, starts);
  return coo_matrix<V, I, device>(m.rows, m.cols, gathered(ctx, m.row_indices, firsts),
                                  gathered(ctx, m.col_indices, firsts), std::move(values));
}

template <class T>
__device__ T mirrored(T value, symmetry_kind kind) {
  return kind == symmetry_kind::skew_symmetric ? -value : value;
}
template <class T>
__device__ device_complex<T> mirrored(device_complex<T> value, symmetry_kind kind) {
  if (kind == symmetry_kind::skew_symmetric) return -value;
  return kind == symmetry_kind::hermitian ? conj(value) : value;
}

template <class T>
void mirror_values(const context<device>& ctx, const array<std::int64_t, device>& places, symmetry_kind kind,
                   const T* from, T* to) {
  const std::int64_t* const place = places.data();
  for_each(ctx, places.size(), [=] __device__(std::int64_t k) { to[k] = mirrored(from[place[k]], kind); });
}

}  // namespace

template <index_type I>
coo_facts examine(const context<device>& ctx, const coo_pattern_view<I, device>& m) {
  if (m.nnz() == 0) return {};
  const device_guard guard(ctx);
  array<unsigned long long, device> result(ctx, 2);
  fill_bytes(ctx, result.data(), 0xff, sizeof(unsigned long long));
  fill_bytes(ctx, result.data() + 1, 0, sizeof(unsigned long long));
  launch_kernel(ctx, grid_stride(ctx, m.nnz(), 4 * block_threads), examine_kernel<I>, m.row_indices.data(),
                m.col_indices.data(), m.nnz(), m.rows, m.cols, result.data());
  const auto found = to_host(ctx, result.view());
  const auto flags = static_cast<unsigned>(found[1]);
  return {.first_invalid = static_cast<std::int64_t>(found[0]),  // all ones, read as -1, if none
          .rows_ascending = (flags & rows_descend) == 0,
          .cols_ascending = (flags & cols_descend) == 0,
          .sorted = (flags & unsorted) == 0,
          .distinct = (flags & repeated) == 0};
}

template <index_type I>
sorted_entries<I, device> sort_pattern(const context<device>& ctx, const coo_pattern_view<I, device>& m,
                                       const coo_facts& order) {
  sorted_entries<I, device> sorted = sort_by_keys(ctx, m, order, order_wanted::yes);
  ctx.synchronize();
  return sorted;
}

template <index_type I>
array<std::int64_t, device> run_starts(const context<device>& ctx, span<const I, device> row_indices,
                                       span<const I, device> col_indices) {
  const std::int64_t nnz = row_indices.size();
  const I* const rows = row_indices.data();
  const I* const cols = col_indices.data();
  array<std::uint8_t, device> flags(ctx, nnz + 1);
  std::uint8_t* const flag = flags.data();
  for_each(ctx, nnz + 1, [=] __device__(std::int64_t k) {
    flag[k] = k == 0 || k == nnz || rows[k] != rows[k - 1] || cols[k] != cols[k - 1] ? 1 : 0;
  });
  array<std::int64_t, device> starts = positions_of(ctx, flags.view());
  if (starts.size() == nnz + 1) return {};
  return starts;
}

template <entry_type V, index_type I>
void sort_entries(const context<device>& ctx, coo_matrix<V, I, device>& matrix, const coo_facts& order) {
  matrix = sorted_copy<V, I>(ctx, matrix.view(), order);
  ctx.synchronize();
}

template <entry_type V, index_type I>
void sum_entries(const context<device>& ctx, coo_matrix<V, I, device>& matrix, const coo_facts& order) {
  coo_matrix<V, I, device> sorted;
  if (!order.sorted) sorted = sorted_copy<V, I>(ctx, matrix.view(), order);
  const coo_view<const V, I, device> entries = order.sorted ? matrix.view() : sorted.view();
  if (auto sums = merged<V, I>(ctx, entries)) {
    matrix = std::move(*sums);
  } else if (!order.sorted) {
    matrix = std::move(sorted);
  }
  ctx.synchronize();
}

template <entry_type V, index_type I>
coo_matrix<V, I, device> expand(const context<device>& ctx, const coo_view<const V, I, device>& m, symmetry_kind kind) {
  const std::int64_t nnz = m.nnz();
  const I* rows = m.row_indices.data();
  const I* cols = m.col_indices.data();
  array<std::uint8_t, device> flags(ctx, nnz);
  std::uint8_t* const flag = flags.data();
  for_each(ctx, nnz, [=] __device__(std::int64_t k) { flag[k] = rows[k] != cols[k] ? 1 : 0; });
  const array<std::int64_t, device> mirrored_entries = positions_of(ctx, flags.view());
  const std::int64_t mirrors = mirrored_entries.size();
  const std::int64_t* const place = mirrored_entries.data();

  coo_matrix<V, I, device> full(ctx, m.rows, m.cols, nnz + mirrors);
  copy<I>(ctx, m.row_indices, full.row_indices().view().subspan(0, nnz));
  copy<I>(ctx, m.col_indices, full.col_indices().view().subspan(0, nnz));
  I* to_rows = full.row_indices().data() + nnz;
  I* to_cols = full.col_indices().data() + nnz;
  for_each(ctx, mirrors, [=] __device__(std::int64_t k) {
    to_rows[k] = cols[place[k]];
    to_cols[k] = rows[place[k]];
  });
  if constexpr (!is_pattern<V>) {
    copy<V>(ctx, m.values, full.values().view().subspan(0, nnz));
    mirror_values(ctx, mirrored_entries, kind, device_cast(m.values.data()), device_cast(full.values().data() + nnz));
  }
  ctx.synchronize();
  return full;
}

template <index_type O, entry_type V, index_type I>
csr_matrix<V, I, O, device> coo_to_csr(const context<device>& ctx, const coo_view<const V, I, device>& m,
                                       const coo_facts& order, duplicates on_duplicates) {
  coo_matrix<V, I, device> own;
  coo_view<const V, I, device> entries = m;
  bool borrowed = true;
  const auto take = [&](coo_matrix<V, I, device> made) {
    own = std::move(made);
    entries = own.view();
    borrowed = false;
  };
  if (!order.sorted) take(sorted_copy<V, I>(ctx, m, order));
  if (on_duplicates == duplicates::sum && !(order.sorted && order.distinct)) {
    if (auto sums = merged<V, I>(ctx, entries)) take(std::move(*sums));
  }

  array<O, device> offsets(ctx, std::int64_t{m.rows} + 1);
  O* offset = offsets.data();
  const I* rows = entries.row_indices.data();
  const std::int64_t nnz = entries.nnz();
  search_each(ctx, rows, nnz, offsets.size(),
              [=] __device__(std::int64_t r, std::int64_t at) { offset[r] = static_cast<O>(at); });
  auto indices = borrowed ? clone(ctx, m.col_indices) : std::move(own.col_indices());
  auto values = borrowed ? clone(ctx, m.values) : std::move(own.values());
  ctx.synchronize();
  return {m.rows, m.cols, std::move(offsets), std::move(indices), std::move(values)};
}

template <index_type I, index_type O>
void expand_rows(const context<device>& ctx, span<const O, device> offsets, span<I, device> row_indices) {
  const O* offset = offsets.data();
  const std::int64_t size = offsets.size();
  I* row = row_indices.data();
  // Entry k is in the row before the first offset above k: its offset is at least k + 1.
  search_each(ctx, offset, size, row_indices.size() + 1, [=] __device__(std::int64_t k, std::int64_t at) {
    if (k > 0) row[k - 1] = static_cast<I>(at - 1);
  });
}

#define INSTANTIATE_I(I)                                                                                      \
  template coo_facts examine(const context<device>&, const coo_pattern_view<I, device>&);                     \
  template sorted_entries<I, device> sort_pattern(const context<device>&, const coo_pattern_view<I, device>&, \
                                                  const coo_facts&);                                          \
  template array<std::int64_t, device> run_starts(const context<device>&, span<const I, device>, span<const I, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

#define INSTANTIATE_IO(I, O) template void expand_rows(const context<device>&, span<const O, device>, span<I, device>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)

#define INSTANTIATE_VI(V, I)                                                                       \
  template void sort_entries(const context<device>&, coo_matrix<V, I, device>&, const coo_facts&); \
  template void sum_entries(const context<device>&, coo_matrix<V, I, device>&, const coo_facts&);  \
  template coo_matrix<V, I, device> expand(const context<device>&, const coo_view<const V, I, device>&, symmetry_kind);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE_VI)

#define INSTANTIATE_VIO(V, I, O)                            \
  template csr_matrix<V, I, O, device> coo_to_csr<O, V, I>( \
      const context<device>&, const coo_view<const V, I, device>&, const coo_facts&, duplicates);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_VIO)

}  // namespace spargo::detail::convert
