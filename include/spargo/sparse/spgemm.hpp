// C = A B of sparse matrices, on host and device.
//
// A plan inspects the patterns once (symbolic phase) and knows C's pattern; `fill` computes values, again after the
// inputs' values have changed. Rows of C are sorted. Rows of A and B may be unsorted and have duplicates. An entry of C
// is where any product of entries falls, also if the sum is zero. Sums are formed in the order of A's row, then of B's
// rows: the same bits for any number of threads, and on a device. With V = pattern there are no values.
// Time: O(products + entries of C), rows in parallel; the host does not divide a single row. A device takes longer for
// rows of C with thousands of entries if B's rows do not ascend. Memory besides the result: a plan keeps C's indices
// and offsets. Host: at most as much again for a moment, before values are allocated; 8 bytes per row of A; per thread
// 16 bytes per 64 columns of B and three times the longest row of C. Device: two indices per row of A, 4 bytes per row
// of B, 8 bytes per long row of C; and while the pattern is found, where B's rows have neighbouring columns, an offset
// per row of B and at most half an index and 2 bytes per entry. Idea: Gustavson, "Two fast algorithms for sparse
// matrices", ACM TOMS 4, 1978.
#pragma once

#include <spargo/core/state_pointer.hpp>
#include <spargo/formats/csr.hpp>

#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT spgemm_options {
  // Throws out_of_memory, naming the bytes, if C takes more than this. 0: no limit.
  std::int64_t max_result_bytes = 0;
  // C's rows from first_row up to last_row (-1: all): a block of C. See `spgemm_row_blocks`.
  std::int64_t first_row = 0;
  std::int64_t last_row = -1;
};

// Throws invalid_argument if sizes do not match, `unsupported` if C has more entries than O holds. The plan borrows
// both matrices' arrays: they must outlive it; values may change, patterns may not. Not for concurrent use. On a device
// the constructor synchronises; `fill` and `take` do not, `run` does.
template <entry_type V, index_type I, index_type O, class Space>
class SPARGO_EXPORT spgemm_plan {
 public:
  spgemm_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
              const csr_view<const V, I, O, Space>& b, const spgemm_options& options = {});
  // Only entries of C where the mask has one; the mask, of C's shape (also for a block of rows), is not kept.
  spgemm_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
              const csr_view<const V, I, O, Space>& b, const csr_pattern_view<I, O, Space>& mask,
              const spgemm_options& options = {});

  [[nodiscard]] std::int64_t result_nnz() const noexcept;
  [[nodiscard]] std::int64_t products() const noexcept;                // multiplications, without regard to a mask
  [[nodiscard]] csr_pattern_view<I, O, Space> result_pattern() const;  // in the stream's order
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept;

  // The values of C, result_nnz() elements, in the order of the pattern. Allocates nothing.
  void fill(span<V, Space> values) const;
  // A copy of the pattern, with values.
  [[nodiscard]] csr_matrix<V, I, O, Space> run() const;
  // The same without a copy; the plan ends: only its destructor may follow.
  [[nodiscard]] csr_matrix<V, I, O, Space> take();

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

template <class Space, detail::viewable Matrix>
spgemm_plan(const context<Space>&, const Matrix&, const Matrix&, const spgemm_options& = {})
    -> spgemm_plan<detail::scalar_of<Matrix>, detail::index_of<Matrix>, detail::offset_of<Matrix>, Space>;

// Makes a plan for one product.
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] csr_matrix<V, I, O, Space> spgemm(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                                                const csr_view<const V, I, O, Space>& b,
                                                const spgemm_options& options = {}) {
  return spgemm_plan<V, I, O, Space>(ctx, a, b, options).take();
}
template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] csr_matrix<V, I, O, Space> spgemm(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                                                const csr_view<const V, I, O, Space>& b,
                                                const csr_pattern_view<I, O, Space>& mask,
                                                const spgemm_options& options = {}) {
  return spgemm_plan<V, I, O, Space>(ctx, a, b, mask, options).take();
}

template <entry_type V, index_type I, index_type O, class Space>
[[nodiscard]] csr_matrix<V, I, O, Space> spgemm(const context<Space>& ctx, const csr_matrix<V, I, O, Space>& a,
                                                const csr_matrix<V, I, O, Space>& b,
                                                const spgemm_options& options = {}) {
  return spgemm(ctx, a.view(), b.view(), options);
}

// Multiplications of A B, an upper bound of its entries. O(rows + nnz(A)).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::int64_t count_products(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                                                        const csr_pattern_view<I, O, host>& b);

// Bounds of blocks of A's rows, from 0 to A.rows, each with at most `products` multiplications or one row.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::vector<std::int64_t> spgemm_row_blocks(const context<host>& ctx,
                                                                        const csr_pattern_view<I, O, host>& a,
                                                                        const csr_pattern_view<I, O, host>& b,
                                                                        std::int64_t products);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
