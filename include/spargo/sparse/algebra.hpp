// Sparse matrices from sparse matrices: sums, slices, permutations, parts, stacks, Kronecker products, norms.
//
// For CSR, real, complex or pattern, on the host; sums also on a device, where they have the same bits except in NaNs
// (rows of thousands of entries take longer there: a row has 8 lanes). A CSC matrix is the CSR of its transpose, so
// rows here are its columns and nothing is copied; for COO see `to_csr` and `to_coo`; `transpose` is in
// formats/convert.hpp. Inputs must be valid (see validate.hpp); rows may be unsorted and have duplicates. Results have
// as many threads as the context, the same bits for any number of them. O(nnz + rows) time unless stated otherwise.
// Entries stay entries when they are or become zero. A result with more entries than O holds, or more rows or columns
// than I holds, throws `unsupported`; arguments that do not fit the matrix throw invalid_argument.
#pragma once

#include <spargo/formats/csr.hpp>

#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Whether every row has ascending, distinct columns. On a device synchronises.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bool is_canonical(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix);
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bool is_canonical(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix);

// Sorts rows and sums duplicates, in the order of the input. On a device synchronises, as the sums below do.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, Space> canonical(const context<Space>& ctx,
                                                                 const csr_view<const V, I, O, Space>& matrix);

// alpha A + beta B, canonical: an entry wherever A or B has one. Shapes must be equal.
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
template <entry_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> conjugate_transpose(const context<host>& ctx,
                                                                          const csr_view<const V, I, O, host>& matrix);

// In place: row i, or column j, times factors[i] or factors[j].
template <value_type V, index_type I, index_type O>
SPARGO_EXPORT void scale_rows(const context<host>& ctx, std::type_identity_t<span<const V, host>> factors,
                              csr_matrix<V, I, O, host>& matrix);
template <value_type V, index_type I, index_type O>
SPARGO_EXPORT void scale_columns(const context<host>& ctx, std::type_identity_t<span<const V, host>> factors,
                                 csr_matrix<V, I, O, host>& matrix);

// The min(rows, cols) diagonal elements: sums of duplicates, 0 where there is no entry.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<V, host> diagonal(const context<host>& ctx,
                                                    const csr_view<const V, I, O, host>& matrix);

// Rows or columns of a matrix: all, a range, or a list in any order, with repetitions. A mask is the list of its set
// positions. The list is borrowed.
template <index_type I>
struct SPARGO_EXPORT index_selection {
  enum class kind { all, range, list };

  kind which = kind::all;
  I first = 0;  // of a range
  I last = 0;   // past its end
  span<const I, host> list;

  [[nodiscard]] static index_selection range(I first, I last) { return {kind::range, first, last, {}}; }
  [[nodiscard]] static index_selection of(span<const I, host> list) { return {kind::list, 0, 0, list}; }
};

// The selected rows and columns, numbered from 0 in the order of the selection. Columns from a list are sorted; else
// rows keep the order of their entries. Memory besides the result: for a list of columns 2 * cols offsets.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> extract(const context<host>& ctx,
                                                              const csr_view<const V, I, O, host>& matrix,
                                                              const std::type_identity_t<index_selection<I>>& rows,
                                                              const std::type_identity_t<index_selection<I>>& cols);

// Row i of the result is row row_order[i], column j column col_order[j]; an empty order leaves them. Orders must have
// each index once. The same order twice permutes symmetrically: P A P^T.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> permute(const context<host>& ctx,
                                                              const csr_view<const V, I, O, host>& matrix,
                                                              std::type_identity_t<span<const I, host>> row_order,
                                                              std::type_identity_t<span<const I, host>> col_order);

enum class matrix_part { lower, strictly_lower, upper, strictly_upper };

// The entries on and below the diagonal, or above it, and so on.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> part_of(const context<host>& ctx,
                                                              const csr_view<const V, I, O, host>& matrix,
                                                              matrix_part part);

// Without the entries whose magnitude is below `threshold`; NaN stays. Duplicates count one by one.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> drop_below(const context<host>& ctx,
                                                                 const csr_view<const V, I, O, host>& matrix,
                                                                 double threshold);
// Without zeros, NaN stays.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> drop_zeros(const context<host>& ctx,
                                                                 const csr_view<const V, I, O, host>& matrix);

// Below each other (equal numbers of columns) or side by side (equal numbers of rows); at least one matrix.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> stack_rows(
    const context<host>& ctx, const std::vector<csr_view<const V, I, O, host>>& matrices);
template <entry_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> stack_columns(
    const context<host>& ctx, const std::vector<csr_view<const V, I, O, host>>& matrices);

// The Kronecker product: entry (i * B.rows + k, j * B.cols + l) is A(i, j) * B(k, l). O(nnz(A) * nnz(B)).
template <entry_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT csr_matrix<V, I, O, host> kronecker(const context<host>& ctx,
                                                                const csr_view<const V, I, O, host>& a,
                                                                const csr_view<const V, I, O, host>& b);

struct SPARGO_EXPORT matrix_norms {
  double one = 0;        // largest sum of magnitudes in a column
  double infinity = 0;   // largest sum of magnitudes in a row
  double frobenius = 0;  // without overflow where the result is finite
  double largest = 0;    // largest magnitude
};

// In fp64. All are NaN if a value is. Memory: rows, and at most 16 * cols, numbers.
template <value_type V, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT matrix_norms norms(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
