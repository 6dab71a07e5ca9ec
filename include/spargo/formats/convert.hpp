// Conversions among COO, CSR, ELL and SELL-C-sigma, on the host or the device, in the space of the input.
//
// All need O(nnz + rows) time and scratch besides the result, except where sorting is named. Device
// conversions synchronise the stream before they return (they must learn the size of the result).
// Every conversion is deterministic: the same input gives the same bits for any thread count.
// Index overflow (nnz beyond O, a width beyond I) is refused with `unsupported`. Inputs are to be valid (see
// validate.hpp); coordinates are checked all the same wherever they decide where to write, and one outside the
// matrix is refused with `invalid_data` naming the entry. A failed allocation leaves the input as it was.
// A device sort of entries with values takes at most 2^32 of them (`unsupported` beyond).
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/formats/ell.hpp>
#include <spargo/formats/sell.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class symmetry_kind { general, symmetric, skew_symmetric, hermitian };

// Sorts by row, then column; entries of equal coordinates keep their order. O(nnz) scratch for any number of rows.
template <entry_type V, index_type I, class Space>
SPARGO_EXPORT void sort(const context<Space>& ctx, coo_matrix<V, I, Space>& matrix);

// Sorts, then replaces entries of equal coordinates by their sum in input order (one entry for a pattern).
// Returns the number of entries removed.
template <entry_type V, index_type I, class Space>
SPARGO_EXPORT std::int64_t sum_duplicates(const context<Space>& ctx, coo_matrix<V, I, Space>& matrix);

// The full matrix of one stored as a triangle: entry (i, j, v), i != j, also gives (j, i, v), -v when
// skew-symmetric, conj(v) when hermitian. Input order first, mirrored entries after it. Throws invalid_argument
// unless rows == cols (`general` apart, which is a copy).
template <entry_type V, index_type I, class Space>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, Space> expand_symmetry(const context<Space>& ctx,
                                                                    const coo_view<const V, I, Space>& matrix,
                                                                    symmetry_kind kind);

enum class duplicates { sum, keep };

struct SPARGO_EXPORT to_csr_options {
  duplicates on_duplicates = duplicates::sum;
  symmetry_kind symmetry = symmetry_kind::general;  // of the matrix of which the entries are a triangle
};

// CSR with ascending columns in every row of any COO, sorted or not; canonical unless duplicates are kept, which
// then stay in input order. By a stable counting sort over rows and a sort of each row's columns; input in row
// order, or in column order as Matrix Market files usually have it, skips the half that is done. Sums are
// formed in input order. Offsets are of 64 bits unless O says otherwise.
// With a `symmetry` the same as after `expand_symmetry` (invalid_argument unless rows == cols), but entries of one
// triangle are mirrored on the way, and nobody stores them twice; half the work of a triangle that is sorted and has no
// duplicates is copying. The host needs no scratch of the size of the entries as long as a column index and a row
// within 1/4096 of the rows fit the bits of an index together.
template <index_type O = std::int64_t, entry_type V, index_type I, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> to_csr(const context<Space>& ctx,
                                                              const coo_view<const V, I, Space>& matrix,
                                                              const to_csr_options& options = {});

template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, Space> to_coo(const context<Space>& ctx,
                                                           const csr_view<const V, I, O, Space>& matrix);

struct SPARGO_EXPORT ell_options {
  // Refuse (error `unsupported`, naming the size) when rows * width exceeds this many times nnz.
  // Small matrices (rows * width <= 2^16) are always accepted.
  double max_padding_ratio = 3.0;
};

template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT ell_matrix<V, I, Space> to_ell(const context<Space>& ctx,
                                                           const csr_view<const V, I, O, Space>& matrix,
                                                           const ell_options& options = {});

struct SPARGO_EXPORT sell_options {
  std::int32_t slice_height = 32;      // C, 1 to 1024
  std::int32_t sorting_window = 1024;  // sigma, in rows; 1: keep the order. Rounded up to a multiple of C
  double max_padding_ratio = 3.0;      // as for ELL
};

template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT sell_matrix<V, I, O, Space> to_sell(const context<Space>& ctx,
                                                                const csr_view<const V, I, O, Space>& matrix,
                                                                const sell_options& options = {});

template <index_type O = std::int64_t, entry_type V, index_type I, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> to_csr(const context<Space>& ctx,
                                                              const ell_view<const V, I, Space>& matrix);

template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> to_csr(const context<Space>& ctx,
                                                              const sell_view<const V, I, O, Space>& matrix);

// The transpose, ascending columns in every row whatever the order of the input's. Duplicates stay, in input
// order. No conjugation.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> transpose(const context<Space>& ctx,
                                                                 const csr_view<const V, I, O, Space>& matrix);

// The same for matrices that own their arrays, or whose values may change.
template <class Space, detail::viewable Matrix>
[[nodiscard]] auto expand_symmetry(const context<Space>& ctx, const Matrix& matrix, symmetry_kind kind) {
  return expand_symmetry(ctx, detail::view_of(matrix), kind);
}
template <class Space, detail::viewable Matrix>
[[nodiscard]] auto to_csr(const context<Space>& ctx, const Matrix& matrix) {
  return to_csr(ctx, detail::view_of(matrix));
}
template <index_type O, class Space, detail::viewable Matrix>
[[nodiscard]] auto to_csr(const context<Space>& ctx, const Matrix& matrix) {
  return to_csr<O>(ctx, detail::view_of(matrix));
}
template <index_type O = std::int64_t, class Space, detail::viewable Matrix>
[[nodiscard]] auto to_csr(const context<Space>& ctx, const Matrix& matrix, const to_csr_options& options) {
  return to_csr<O>(ctx, detail::view_of(matrix), options);
}
template <class Space, detail::viewable Matrix>
[[nodiscard]] auto to_coo(const context<Space>& ctx, const Matrix& matrix) {
  return to_coo(ctx, detail::view_of(matrix));
}
template <class Space, detail::viewable Matrix>
[[nodiscard]] auto to_ell(const context<Space>& ctx, const Matrix& matrix, const ell_options& options = {}) {
  return to_ell(ctx, detail::view_of(matrix), options);
}
template <class Space, detail::viewable Matrix>
[[nodiscard]] auto to_sell(const context<Space>& ctx, const Matrix& matrix, const sell_options& options = {}) {
  return to_sell(ctx, detail::view_of(matrix), options);
}
template <class Space, detail::viewable Matrix>
[[nodiscard]] auto transpose(const context<Space>& ctx, const Matrix& matrix) {
  return transpose(ctx, detail::view_of(matrix));
}

// Copies between spaces; both synchronise the stream.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, device> to_device(const context<device>& ctx, const coo_view<const V, I, host>& m) {
  return {m.rows, m.cols, to_device(ctx, m.row_indices), to_device(ctx, m.col_indices), to_device(ctx, m.values)};
}
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, host> to_host(const context<device>& ctx, const coo_view<const V, I, device>& m) {
  return {m.rows, m.cols, to_host(ctx, m.row_indices), to_host(ctx, m.col_indices), to_host(ctx, m.values)};
}
template <entry_type V, index_type I, index_type O>
[[nodiscard]] csr_matrix<V, I, O, device> to_device(const context<device>& ctx,
                                                    const csr_view<const V, I, O, host>& m) {
  return {m.rows, m.cols, to_device(ctx, m.offsets), to_device(ctx, m.indices), to_device(ctx, m.values)};
}
template <entry_type V, index_type I, index_type O>
[[nodiscard]] csr_matrix<V, I, O, host> to_host(const context<device>& ctx, const csr_view<const V, I, O, device>& m) {
  return {m.rows, m.cols, to_host(ctx, m.offsets), to_host(ctx, m.indices), to_host(ctx, m.values)};
}
template <entry_type V, index_type I>
[[nodiscard]] ell_matrix<V, I, host> to_host(const context<device>& ctx, const ell_view<const V, I, device>& m) {
  return {m.rows, m.cols, m.width, m.nnz, to_host(ctx, m.row_lengths), to_host(ctx, m.indices), to_host(ctx, m.values)};
}
template <entry_type V, index_type I>
[[nodiscard]] ell_matrix<V, I, device> to_device(const context<device>& ctx, const ell_view<const V, I, host>& m) {
  return {m.rows,
          m.cols,
          m.width,
          m.nnz,
          to_device(ctx, m.row_lengths),
          to_device(ctx, m.indices),
          to_device(ctx, m.values)};
}
template <entry_type V, index_type I, index_type O>
[[nodiscard]] sell_matrix<V, I, O, host> to_host(const context<device>& ctx,
                                                 const sell_view<const V, I, O, device>& m) {
  return {m.rows,
          m.cols,
          m.slice_height,
          m.nnz,
          to_host(ctx, m.slice_offsets),
          to_host(ctx, m.permutation),
          to_host(ctx, m.row_lengths),
          to_host(ctx, m.indices),
          to_host(ctx, m.values)};
}
template <entry_type V, index_type I, index_type O>
[[nodiscard]] sell_matrix<V, I, O, device> to_device(const context<device>& ctx,
                                                     const sell_view<const V, I, O, host>& m) {
  return {m.rows,
          m.cols,
          m.slice_height,
          m.nnz,
          to_device(ctx, m.slice_offsets),
          to_device(ctx, m.permutation),
          to_device(ctx, m.row_lengths),
          to_device(ctx, m.indices),
          to_device(ctx, m.values)};
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
