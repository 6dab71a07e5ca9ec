// The host and device backends of the conversions. The public templates in convert.cpp check, size and allocate; these
// fill the arrays. Overloads for `host` are in *_host.cpp, for `device` in *_cuda.cu.
#pragma once

#include <spargo/formats/convert.hpp>

#include "core/backend.hpp"
#include "primitives/element.hpp"

namespace spargo::detail {

template <class Space>
using entry_number = std::conditional_t<std::same_as<Space, host>, std::int64_t, std::uint32_t>;

// A pattern sorted by row, then column; entry k was entry order[k].
template <class I, class Space>
struct sorted_entries {
  array<I, Space> row_indices;
  array<I, Space> col_indices;
  array<entry_number<Space>, Space> order;

  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(sizeof(I)) * (row_indices.size() + col_indices.size()) +
           static_cast<std::int64_t>(sizeof(entry_number<Space>)) * order.size();
  }
};

// Stable. Throws invalid_data, naming `operation`, for an entry outside the matrix. In convert.cpp.
template <index_type I, class Space>
sorted_entries<I, Space> sort_pattern(const char* operation, const context<Space>& ctx,
                                      const coo_pattern_view<I, Space>& entries);

}  // namespace spargo::detail

namespace spargo::detail::convert {

struct coo_facts {
  std::int64_t first_invalid = -1;  // the first entry outside the matrix, or -1; the rest is valid only for -1
  bool rows_ascending = true;       // never decreasing
  bool cols_ascending = true;       // never decreasing: a stable sort by row alone gives sorted rows
  bool sorted = true;               // sorted by row, then column
  bool distinct = true;             // no two neighbours have equal coordinates; valid only if sorted
  // Computed by the host only; the defaults are always safe.
  bool by_columns = false;    // sorted by column, then row
  bool all_below = false;     // on or below the diagonal
  bool all_above = false;     // on or above the diagonal
  std::int64_t diagonal = 0;  // entries on the diagonal
};

// --- Host --------------------------------------------------------------------------------------------------------

// Checks the entries and finds out how they are sorted, in one pass.
template <index_type I>
coo_facts examine(const context<host>& ctx, const coo_pattern_view<I, host>& entries);

// Whether O(rows) is too much for this few entries.
template <class I>
[[nodiscard]] bool is_hypersparse(I rows, std::int64_t nnz) {
  constexpr std::int64_t few = 1 << 16;  // O(rows) is always cheap up to here
  return rows > few && rows / 8 > nnz;
}

// Stable sort by row, then column, of entries in range.
template <index_type I>
sorted_entries<I, host> sort_pattern(const context<host>& ctx, const coo_pattern_view<I, host>& entries,
                                     const coo_facts& order);

// The same in O(nnz) time and memory for any size of the matrix; mostly sequential.
template <index_type I>
sorted_entries<I, host> sort_pattern_by_radix(const context<host>& ctx, const coo_pattern_view<I, host>& entries);
template <entry_type V, index_type I>
void sort_by_radix(const context<host>& ctx, coo_matrix<V, I, host>& matrix);

// Stable sort by row, then column.
template <entry_type V, index_type I>
void sort_entries(const context<host>& ctx, coo_matrix<V, I, host>& matrix, const coo_facts& order);

template <entry_type V, index_type I>
void sum_entries(const context<host>& ctx, coo_matrix<V, I, host>& matrix, const coo_facts& order);

template <entry_type V, index_type I>
coo_matrix<V, I, host> expand(const context<host>& ctx, const coo_view<const V, I, host>& matrix, symmetry_kind kind);

enum class diagonal_entries { keep, drop };

// Entries must be in range. Their number, with mirrored ones unless `kind` is general, must fit O. Mirrored entries
// count as if each followed its original. Only `general` can drop the diagonal.
template <index_type O, entry_type V, index_type I>
csr_matrix<V, I, O, host> coo_to_csr(const context<host>& ctx, const coo_view<const V, I, host>& matrix,
                                     const coo_facts& order, duplicates on_duplicates,
                                     symmetry_kind kind = symmetry_kind::general,
                                     diagonal_entries diagonal = diagonal_entries::keep);

template <index_type I, index_type O>
void expand_rows(const context<host>& ctx, span<const O, host> offsets, span<I, host> row_indices);

// Fills `lengths`, `indices` and `values`, padding included.
template <entry_type V, index_type I, index_type O>
void fill_ell(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix, I width, span<I, host> lengths,
              span<I, host> indices, span<V, host> values);

// The row of every slot (-1 past the last row) and its length. Rows are sorted stably by descending length within
// windows of `window` rows; a window of 1 keeps the order. `longest` is the length of the longest row.
template <index_type I, index_type O>
void order_rows(const context<host>& ctx, span<const O, host> offsets, std::int64_t window, std::int64_t longest,
                span<I, host> permutation, span<I, host> lengths);

// sizes[s] = height * longest row of slice s, for s < slices; sizes[slices] = 0.
template <index_type I>
void slice_sizes(const context<host>& ctx, span<const I, host> lengths, I height, span<std::int64_t, host> sizes);

template <entry_type V, index_type I, index_type O>
void fill_sell(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
               const sell_view<const V, I, O, host>& shape, span<I, host> indices, span<V, host> values);

// row_lengths[permutation[s]] = lengths[s] for slots with a row (no permutation: s itself); row_lengths[rows] = 0.
template <index_type I, index_type O>
void place_lengths(const context<host>& ctx, span<const I, host> permutation, span<const I, host> lengths,
                   span<O, host> row_lengths);

template <entry_type V, index_type I, index_type O>
void gather_ell(const context<host>& ctx, const ell_view<const V, I, host>& matrix, span<const O, host> offsets,
                span<I, host> indices, span<V, host> values);

template <entry_type V, index_type I, index_type O>
void gather_sell(const context<host>& ctx, const sell_view<const V, I, O, host>& matrix, span<const O, host> offsets,
                 span<I, host> indices, span<V, host> values);

// out[i] = in[i]; every element must fit.
template <index_type O>
void narrow(const context<host>& ctx, span<const std::int64_t, host> in, span<O, host> out);

// --- Device: the same, asynchronous unless a size is needed ---------------------------------------------------------

template <index_type I>
coo_facts examine(const context<device>& ctx, const coo_pattern_view<I, device>& entries);
template <index_type I>
sorted_entries<I, device> sort_pattern(const context<device>& ctx, const coo_pattern_view<I, device>& entries,
                                       const coo_facts& order);
template <entry_type V, index_type I>
void sort_entries(const context<device>& ctx, coo_matrix<V, I, device>& matrix, const coo_facts& order);
template <entry_type V, index_type I>
void sum_entries(const context<device>& ctx, coo_matrix<V, I, device>& matrix, const coo_facts& order);
template <entry_type V, index_type I>
coo_matrix<V, I, device> expand(const context<device>& ctx, const coo_view<const V, I, device>& matrix,
                                symmetry_kind kind);
template <index_type O, entry_type V, index_type I>
csr_matrix<V, I, O, device> coo_to_csr(const context<device>& ctx, const coo_view<const V, I, device>& matrix,
                                       const coo_facts& order, duplicates on_duplicates);
template <index_type I, index_type O>
void expand_rows(const context<device>& ctx, span<const O, device> offsets, span<I, device> row_indices);

// Starts of the runs of equal coordinates in sorted entries, and the end; empty if all are distinct. Synchronizes.
template <index_type I>
array<std::int64_t, device> run_starts(const context<device>& ctx, span<const I, device> row_indices,
                                       span<const I, device> col_indices);
template <entry_type V, index_type I, index_type O>
void fill_ell(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix, I width,
              span<I, device> lengths, span<I, device> indices, span<V, device> values);
template <index_type I, index_type O>
void order_rows(const context<device>& ctx, span<const O, device> offsets, std::int64_t window, std::int64_t longest,
                span<I, device> permutation, span<I, device> lengths);
template <index_type I>
void slice_sizes(const context<device>& ctx, span<const I, device> lengths, I height, span<std::int64_t, device> sizes);
template <entry_type V, index_type I, index_type O>
void fill_sell(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
               const sell_view<const V, I, O, device>& shape, span<I, device> indices, span<V, device> values);
template <index_type I, index_type O>
void place_lengths(const context<device>& ctx, span<const I, device> permutation, span<const I, device> lengths,
                   span<O, device> row_lengths);
template <entry_type V, index_type I, index_type O>
void gather_ell(const context<device>& ctx, const ell_view<const V, I, device>& matrix, span<const O, device> offsets,
                span<I, device> indices, span<V, device> values);
template <entry_type V, index_type I, index_type O>
void gather_sell(const context<device>& ctx, const sell_view<const V, I, O, device>& matrix,
                 span<const O, device> offsets, span<I, device> indices, span<V, device> values);
template <index_type O>
void narrow(const context<device>& ctx, span<const std::int64_t, device> in, span<O, device> out);

}  // namespace spargo::detail::convert
