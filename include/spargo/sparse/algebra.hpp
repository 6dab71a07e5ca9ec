// Sparse matrices from sparse matrices: sums, slices, permutations, parts, stacks, Kronecker products, norms.
//
// For CSR, real, complex or pattern, on host and device, with the same bits except in NaNs. A CSC matrix is the CSR of
// its transpose, so rows here are its columns and nothing is copied; for COO see `to_csr` and `to_coo`; `transpose` is
// in formats/convert.hpp. Inputs must be valid (see validate.hpp); rows may be unsorted and have duplicates. On the
// host results have as many threads as the context, the same bits for any number of them. O(nnz + rows) time unless
// stated otherwise. On a device work is shared by entries, so that the lengths of rows do not matter except where
// stated; `scale_rows`, `scale_columns`, `stack_rows`, `stack_columns` and `kronecker` are asynchronous, all others
// synchronise. Entries stay entries when they are or become zero. A result with more entries than O holds, or more rows
// or columns than I holds, throws `unsupported`; arguments that do not fit the matrix throw invalid_argument.
#pragma once

#include <spargo/formats/csr.hpp>

#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Whether every row has ascending, distinct columns.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bool is_canonical(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix);
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bool is_canonical(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix);

// Sorts rows and sums duplicates, in the order of the input.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> canonical(const context<Space>& ctx,
                                                                 const csr_view<const V, I, O, Space>& matrix);

// alpha A + beta B, canonical: an entry wherever A or B has one. Shapes must be equal. On a device rows of thousands of
// entries take longer: a row has 8 lanes.
template <value_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> add(const context<Space>& ctx, std::type_identity_t<V> alpha,
                                                           const csr_view<const V, I, O, Space>& a,
                                                           std::type_identity_t<V> beta,
                                                           const csr_view<const V, I, O, Space>& b);
// A + B; of patterns the union.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> add(const context<Space>& ctx,
                                                           const csr_view<const V, I, O, Space>& a,
                                                           const csr_view<const V, I, O, Space>& b);

// A + A^T, canonical, without conjugation; of a pattern the union. Square matrices only.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> symmetrize(const context<Space>& ctx,
                                                                  const csr_view<const V, I, O, Space>& matrix);

// The transpose of a complex matrix with conjugated values; of others the transpose.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> conjugate_transpose(
    const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix);

// In place: row i, or column j, times factors[i] or factors[j].
template <value_type V, index_type I, index_type O, class Space>
SPARGO_EXPORT void scale_rows(const context<Space>& ctx, std::type_identity_t<span<const V, Space>> factors,
                              csr_matrix<V, I, O, Space>& matrix);
template <value_type V, index_type I, index_type O, class Space>
SPARGO_EXPORT void scale_columns(const context<Space>& ctx, std::type_identity_t<span<const V, Space>> factors,
                                 csr_matrix<V, I, O, Space>& matrix);

// The min(rows, cols) diagonal elements: sums of duplicates, in their order, 0 where there is no entry.
template <value_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT array<V, Space> diagonal(const context<Space>& ctx,
                                                     const csr_view<const V, I, O, Space>& matrix);

// Rows or columns of a matrix: all, a range, or a list in any order, with repetitions. A mask is the list of its set
// positions. The list is borrowed, in the matrix's space.
template <index_type I, class Space = host>
struct SPARGO_EXPORT index_selection {
  enum class kind { all, range, list };

  kind which = kind::all;
  I first = 0;  // of a range
  I last = 0;   // past its end
  span<const I, Space> list;

  [[nodiscard]] static index_selection range(I first, I last) { return {kind::range, first, last, {}}; }
  [[nodiscard]] static index_selection of(span<const I, Space> list) { return {kind::list, 0, 0, list}; }
};

// The selected rows and columns, numbered from 0 in the order of the selection. Columns from a list are sorted; else
// rows keep the order of their entries. Memory besides the result: for a list of columns 2 * cols offsets. On a device
// selected rows are copied before their columns are selected; a list of columns takes 2 offsets per entry, O(longest
// row) comparisons per entry of rows of at most 128, and a radix sort for the entries of longer ones (at most 2^32).
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> extract(
    const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
    const std::type_identity_t<index_selection<I, Space>>& rows,
    const std::type_identity_t<index_selection<I, Space>>& cols);

// Row i of the result is row row_order[i], column j column col_order[j]; an empty order leaves them. Orders must have
// each index once. The same order twice permutes symmetrically: P A P^T. Rows are sorted as by `extract` if columns
// have an order.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> permute(const context<Space>& ctx,
                                                               const csr_view<const V, I, O, Space>& matrix,
                                                               std::type_identity_t<span<const I, Space>> row_order,
                                                               std::type_identity_t<span<const I, Space>> col_order);

enum class matrix_part { lower, strictly_lower, upper, strictly_upper };

// The entries on and below the diagonal, or above it, and so on.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> part_of(const context<Space>& ctx,
                                                               const csr_view<const V, I, O, Space>& matrix,
                                                               matrix_part part);

// Without the entries whose magnitude, to within an ulp, is below `threshold`; NaN stays. Duplicates count one by one.
template <value_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> drop_below(const context<Space>& ctx,
                                                                  const csr_view<const V, I, O, Space>& matrix,
                                                                  double threshold);
// Without zeros, NaN stays.
template <value_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> drop_zeros(const context<Space>& ctx,
                                                                  const csr_view<const V, I, O, Space>& matrix);

// Below each other (equal numbers of columns) or side by side (equal numbers of rows); at least one matrix.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> stack_rows(
    const context<Space>& ctx, const std::vector<csr_view<const V, I, O, Space>>& matrices);
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> stack_columns(
    const context<Space>& ctx, const std::vector<csr_view<const V, I, O, Space>>& matrices);

// The Kronecker product: entry (i * B.rows + k, j * B.cols + l) is A(i, j) * B(k, l). O(nnz(A) * nnz(B)).
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> kronecker(const context<Space>& ctx,
                                                                 const csr_view<const V, I, O, Space>& a,
                                                                 const csr_view<const V, I, O, Space>& b);

struct SPARGO_EXPORT matrix_norms {
  double one = 0;        // largest sum of magnitudes in a column
  double infinity = 0;   // largest sum of magnitudes in a row
  double frobenius = 0;  // without overflow where the result is finite
  double largest = 0;    // largest magnitude
};

// In fp64. All are NaN if a value is. Memory: rows, and at most 16 * cols, numbers; on a device also a number per entry
// and the transpose.
template <value_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT matrix_norms norms(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
