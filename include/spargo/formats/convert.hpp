// Conversions among COO, CSR, ELL and SELL-C-sigma, on the host or the device, in the space of the input.
//
// O(nnz + rows) time and scratch besides the result, except where sorting is mentioned. Device conversions synchronise
// the stream before they return, since the size of the result must be known. Deterministic for any thread count. Index
// overflow (nnz beyond O, a width beyond I) throws `unsupported`, as does a device sort of more than 2^32 entries with
// values. Inputs must be valid (see validate.hpp); coordinates that determine where to write are checked all the same,
// and one outside the matrix throws `invalid_data` naming the entry. A failed allocation leaves the input unchanged.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/formats/ell.hpp>
#include <spargo/formats/sell.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class symmetry_kind { general, symmetric, skew_symmetric, hermitian };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<symmetry_kind> enum_rows() noexcept;

// Sorts by row, then column; stable. O(nnz) scratch for any number of rows.
template <entry_type V, index_type I, class Space>
SPARGO_EXPORT void sort(const context<Space>& ctx, coo_matrix<V, I, Space>& matrix);

// Sorts, then replaces entries of equal coordinates by their sum in input order. Returns the number of entries removed.
template <entry_type V, index_type I, class Space>
SPARGO_EXPORT std::int64_t sum_duplicates(const context<Space>& ctx, coo_matrix<V, I, Space>& matrix);

// The full matrix of one stored as a triangle: entry (i, j, v), i != j, also gives (j, i, v), or -v if skew-symmetric,
// conj(v) if hermitian. Entries in input order, then mirrored entries. Throws invalid_argument unless rows == cols.
// `general` gives a copy of any matrix.
template <entry_type V, index_type I, class Space>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, Space> expand_symmetry(const context<Space>& ctx,
                                                                    const coo_view<const V, I, Space>& matrix,
                                                                    symmetry_kind kind);

enum class duplicates { sum, keep };

struct SPARGO_EXPORT to_csr_options {
  duplicates on_duplicates = duplicates::sum;
  symmetry_kind symmetry = symmetry_kind::general;  // symmetry of the matrix whose triangle is given
};

// CSR with ascending columns in each row, from COO in any order; canonical unless duplicates are kept, which then stay
// in input order. A stable counting sort over rows, then a sort of each row's columns; input sorted by row, or by
// column as in most Matrix Market files, skips the half already done. Sums are formed in input order. Offsets are
// 64-bit by default.
// With a `symmetry` the result is that of `expand_symmetry` (invalid_argument unless rows == cols), but entries of one
// triangle are mirrored on the fly without being stored twice; for a sorted triangle without duplicates half of the
// work is copying. The host needs no scratch of the size of the entries as long as a column index and a row within
// 1/4096 of the rows fit the bits of an index together.
template <index_type O = std::int64_t, entry_type V, index_type I, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> to_csr(const context<Space>& ctx,
                                                              const coo_view<const V, I, Space>& matrix,
                                                              const to_csr_options& options = {});

template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, Space> to_coo(const context<Space>& ctx,
                                                           const csr_view<const V, I, O, Space>& matrix);

struct SPARGO_EXPORT ell_options {
  // Throws `unsupported` if rows * width exceeds this many times nnz, unless rows * width <= 2^16.
  double max_padding_ratio = 3.0;
};

template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT ell_matrix<V, I, Space> to_ell(const context<Space>& ctx,
                                                           const csr_view<const V, I, O, Space>& matrix,
                                                           const ell_options& options = {});

struct SPARGO_EXPORT sell_options {
  std::int32_t slice_height = 32;      // C, 1 to 1024
  std::int32_t sorting_window = 1024;  // sigma, in rows, rounded up to a multiple of C; 1: keep the order
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

// The transpose, ascending columns in each row for any input order. Duplicates stay, in input order. No conjugation.
// Device: synchronizes; deterministic. Scratch of up to 24 bytes an entry.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> transpose(const context<Space>& ctx,
                                                                 const csr_view<const V, I, O, Space>& matrix);

// For matrices that own their arrays or have mutable values.
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

// Copies between spaces. Synchronise the stream.
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
