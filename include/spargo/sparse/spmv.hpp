// Sparse matrix-vector product, y = alpha * op(A) * x + beta * y, for every format on host and device; op(A) is A, its
// transpose or its conjugate transpose.
//
// beta = 0 does not read y; alpha = 0 reads neither A nor x. x and y must not overlap. Each row's rounding error is at
// most about (row length + 2) * eps * sum |a||x| (three times that for complex values). Duplicate entries count as
// their sum. All but coo_atomic are deterministic for a plan, on the host for any number of threads. A product never
// multiplies the padding of ELL and SELL: an infinite x[0] affects only rows with column 0. For a transposed
// product, swap rows and columns in all of the above.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/core/estimate.hpp>
#include <spargo/core/plan_state.hpp>
#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/formats/ell.hpp>
#include <spargo/formats/sell.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class spmv_algorithm {
  automatic,       // from the row profile; spmv_plan::reason() explains
  row_per_thread,  // CSR: one row per thread (host: a static share of rows, balanced by entries)
  row_per_warp,    // CSR, device: 2..32 threads per row, by mean row length; much longer rows by blocks
  row_blocks,      // CSR, device: blocks stage consecutive rows in shared memory (Greathouse, Daga, SC 2014)
  merge_path,      // CSR: equal shares of rows + entries (Merrill and Garland, SC 2016)
  column_passes,   // CSR, device: one merge_path per part of x that fits the L2 cache
  // CSR, a smaller or more local copy. Device: slices with short columns and dictionary-encoded values; the same bits
  // as row_per_thread. Host: rows that repeat a pattern as bands without indices, or tiles whose x fits the caches.
  compressed,
  // CSR, device: x in shared memory for hot columns and, one block of columns at a time, for long rows.
  blocked,
  // CSR, device: products by column blocks that fit shared memory, then sums by rows; for scattered columns.
  binned,
  ell,            // ELL
  sell,           // SELL-C-sigma
  coo_atomic,     // COO, device: one entry per thread, atomic adds; not deterministic
  coo_segmented,  // COO: segmented sums in a fixed order; deterministic
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<spmv_algorithm> enum_rows() noexcept;
[[nodiscard]] inline spmv_algorithm parse_spmv_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<spmv_algorithm>("spmv: unknown algorithm", name);
}

// Which arrays a plan reads when it runs.
enum class spmv_storage {
  borrowed,  // the caller's arrays, plus O(rows) of workspace
  copied,    // a copy in another format where that is faster; see workspace_bytes() and reason()
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<spmv_storage> enum_rows() noexcept;

// Which matrix a plan multiplies by; for real values both transposes are one.
enum class spmv_operation { none, transpose, conjugate_transpose };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<spmv_operation> enum_rows() noexcept;

struct SPARGO_EXPORT spmv_options {
  // Throws `unsupported` for an algorithm that the matrix's format or the backend lacks.
  spmv_algorithm algorithm = spmv_algorithm::automatic;
  // `copied` lets `automatic` also choose algorithms that copy a CSR matrix; those requested by name do not need it.
  spmv_storage storage = spmv_storage::borrowed;
  // Expected number of products: `copied` then keeps a copy only if that saves more time than making it costs. 0: many.
  std::int64_t products = 0;
  // A transposed product of CSR on the host, `borrowed`, by `automatic` or `row_per_thread`, scatters the rows into y:
  // no copy, O(nnz) per product, partial sums of at most cols + nnz / 4 values. `copied`, every other algorithm and
  // every device multiply by a transposed copy, as fast as by A, which pays off after about 32 products. COO is
  // transposed in place, without conjugation. Else `unsupported`.
  spmv_operation operation = spmv_operation::none;
};

// Sizes of a matrix, for estimates.
struct SPARGO_EXPORT matrix_shape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;
  std::int64_t index_bytes = 4;
  std::int64_t offset_bytes = 4;
  std::int64_t value_bytes = 8;
  int threads = 1;  // of a host
};

// Estimates memory and time of a plan for a CSR matrix. Memory is an upper bound: the copy may be smaller or not made.
// Exception: `binned` by name takes more where its cells have fewer than eight entries. Seconds: of one product.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const matrix_shape& shape, const spmv_options& options);

// Analyses a matrix once (at most O(rows + nnz); a device plan may synchronise the stream). Then `run` never allocates,
// is asynchronous on a device and may be captured in a graph. A plan without a copy borrows the matrix's arrays: they
// must outlive it; values may change, the pattern may not. Not for concurrent use; plans are independent of each other.
template <value_type V, index_type I, index_type O, class Space>
class SPARGO_EXPORT spmv_plan {
 public:
  spmv_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, const spmv_options& options = {});
  spmv_plan(const context<Space>& ctx, const ell_view<const V, I, Space>& matrix, const spmv_options& options = {});
  spmv_plan(const context<Space>& ctx, const sell_view<const V, I, O, Space>& matrix, const spmv_options& options = {});
  // Entries in any order; if the algorithm needs sorted ones, the plan keeps a sorted copy of the pattern.
  spmv_plan(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix, const spmv_options& options = {});

  // x has cols elements, y rows; of a transposed product x rows, y cols. Throws invalid_argument for wrong sizes or
  // overlap, before any work.
  void run(V alpha, span<const V, Space> x, V beta, span<V, Space> y) const;

  // Replaces the matrix by one with the same pattern: its values are copied or its arrays borrowed, depending on
  // storage(). For CSR plans (others: unsupported). Throws invalid_argument, and changes nothing, if sizes or a 64-bit
  // fingerprint of the pattern differ. O(rows + nnz); on a device it synchronises the stream.
  void update_values(const csr_view<const V, I, O, Space>& matrix);

  [[nodiscard]] spmv_algorithm algorithm() const noexcept { return state_.algorithm(); }  // never `automatic`
  [[nodiscard]] spmv_storage storage() const noexcept;  // `copied`: the matrix may be freed or changed
  [[nodiscard]] const std::string& reason() const noexcept { return state_.reason(); }  // why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.workspace_bytes(); }

  // Memory and time of such a plan of a CSR matrix.
  [[nodiscard]] static plan_estimate estimate(matrix_shape shape, const spmv_options& options = {}) {
    shape.index_bytes = sizeof(I);
    shape.offset_bytes = sizeof(O);
    shape.value_bytes = sizeof(V);
    return spargo::estimate(shape, options);
  }

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::plan_state<state, spmv_algorithm> state_;
};

// Deduction guides: spmv_plan plan(ctx, matrix).
template <value_type V, index_type I, class Space>
spmv_plan(const context<Space>&, const ell_view<const V, I, Space>&, const spmv_options& = {})
    -> spmv_plan<V, I, I, Space>;
template <value_type V, index_type I, class Space>
spmv_plan(const context<Space>&, const coo_view<const V, I, Space>&, const spmv_options& = {})
    -> spmv_plan<V, I, I, Space>;
template <class Space, detail::viewable Matrix>
spmv_plan(const context<Space>&, const Matrix&, const spmv_options& = {})
    -> spmv_plan<detail::scalar_of<Matrix>, detail::index_of<Matrix>, detail::offset_of<Matrix>, Space>;

// Makes a plan for one product. Prefer a plan for repeated products.
template <value_type V, index_type I, index_type O, class Space>
SPARGO_EXPORT void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha,
                        const csr_view<const V, I, O, Space>& matrix, std::type_identity_t<span<const V, Space>> x,
                        std::type_identity_t<V> beta, std::type_identity_t<span<V, Space>> y,
                        const spmv_options& options = {});
template <value_type V, index_type I, class Space>
SPARGO_EXPORT void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha,
                        const ell_view<const V, I, Space>& matrix, std::type_identity_t<span<const V, Space>> x,
                        std::type_identity_t<V> beta, std::type_identity_t<span<V, Space>> y,
                        const spmv_options& options = {});
template <value_type V, index_type I, index_type O, class Space>
SPARGO_EXPORT void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha,
                        const sell_view<const V, I, O, Space>& matrix, std::type_identity_t<span<const V, Space>> x,
                        std::type_identity_t<V> beta, std::type_identity_t<span<V, Space>> y,
                        const spmv_options& options = {});
template <value_type V, index_type I, class Space>
SPARGO_EXPORT void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha,
                        const coo_view<const V, I, Space>& matrix, std::type_identity_t<span<const V, Space>> x,
                        std::type_identity_t<V> beta, std::type_identity_t<span<V, Space>> y,
                        const spmv_options& options = {});

// For matrices that own their arrays or have mutable values.
template <class Space, detail::viewable Matrix, class V = detail::scalar_of<Matrix>>
void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha, const Matrix& matrix,
          std::type_identity_t<span<const V, Space>> x, std::type_identity_t<V> beta,
          std::type_identity_t<span<V, Space>> y, const spmv_options& options = {}) {
  spmv(ctx, alpha, detail::view_of(matrix), x, beta, y, options);
}

enum class sparse_format { csr, coo, ell, sell };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<sparse_format> enum_rows() noexcept;

struct SPARGO_EXPORT format_choice {
  sparse_format format = sparse_format::csr;
  std::string reason;  // one sentence
};

// The intended use of a matrix.
struct SPARGO_EXPORT format_use {
  std::int64_t value_bytes = 8;
  bool complex_values = false;
  std::int64_t products = 0;  // 0: many; else conversion from CSR must pay off within this number
};

// The format in which products with this matrix should be fastest in the space Target, from its row profile:
// suggest_format<device>(ctx, pattern). Does not depend on the number of threads. O(rows).
template <memory_space Target, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT format_choice suggest_format(const context<host>& ctx,
                                                         const csr_pattern_view<I, O, host>& matrix,
                                                         const format_use& use = {});
template <memory_space Target, detail::viewable Matrix>
[[nodiscard]] format_choice suggest_format(const context<host>& ctx, const Matrix& matrix, const format_use& use = {}) {
  return suggest_format<Target>(ctx, detail::view_of(matrix), use);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
