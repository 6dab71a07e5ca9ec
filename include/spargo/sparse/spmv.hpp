// Sparse matrix-vector product, y = alpha * A * x + beta * y, for every format on host and device.
//
// beta = 0 does not read y, which may hold anything; alpha = 0 reads neither A nor x. x and y must not overlap.
// Rounding: each row's error is at most about (row length + 2) * eps * sum |a||x| (three times that for complex
// values). Duplicate entries count as their sum. Everything but coo_atomic is deterministic: the same plan gives the
// same bits every time, and on the host for any number of threads. A product never touches the padding of ELL and
// SELL with x: an infinite x[0] spoils no row that lacks column 0.
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/formats/ell.hpp>
#include <spargo/formats/sell.hpp>

#include <memory>
#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class spmv_algorithm {
  automatic,       // from the row profile; spmv_plan::reason() explains
  row_per_thread,  // CSR: one thread (host: a static share of rows balanced by entries) a row
  row_per_warp,    // CSR, device: a group of 2..32 threads per row, by mean row length; far longer rows by blocks
  row_blocks,      // CSR, device: a block's consecutive rows copied to shared memory (Greathouse, Daga, SC 2014)
  merge_path,      // CSR: equal shares of rows + entries (Merrill and Garland, SC 2016)
  column_passes,   // CSR, device: merge_path once for each part of x that the L2 cache holds
  // CSR, a copy in a smaller or more local form. Device: slices with short columns, repeated values named by a byte;
  // row_per_thread's bits. Host: rows that repeat a pattern as bands without indices, or tiles whose x caches hold.
  compressed,
  // CSR, device: x in shared memory for popular columns and, a block of columns at a time, for rows of many entries.
  blocked,
  // CSR, device: products by column blocks that shared memory holds, then sums by rows; where columns are scattered.
  binned,
  ell,            // ELL
  sell,           // SELL-C-sigma
  coo_atomic,     // COO, device: one entry per thread, atomic adds; not deterministic
  coo_segmented,  // COO: segmented sums in a fixed order; deterministic
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(spmv_algorithm algorithm);
// Throws invalid_argument naming the known ones.
[[nodiscard]] SPARGO_EXPORT spmv_algorithm parse_spmv_algorithm(std::string_view name);

// Where a plan has the matrix from while it runs.
enum class spmv_storage {
  borrowed,  // the caller's arrays, and O(rows) of workspace beside them
  copied,    // a copy in a form of its own where that is faster; the report is workspace_bytes() and reason()
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(spmv_storage storage);

struct SPARGO_EXPORT spmv_options {
  // One that the matrix's format or the backend does not have is refused with `unsupported`.
  spmv_algorithm algorithm = spmv_algorithm::automatic;
  // `copied` lets `automatic` choose among the algorithms that keep a copy of a CSR matrix, too; those asked for by
  // name need not say so.
  spmv_storage storage = spmv_storage::borrowed;
  // How many products the plan will serve, where that is known: `copied` then keeps only a copy that saves more time
  // within them than its making takes. 0: many.
  std::int64_t products = 0;
};

// Analyses a matrix once (O(rows + nnz) at most; a device plan may synchronise the stream); then `run` never allocates,
// is asynchronous on a device and may be captured in a graph. A plan that keeps no copy borrows the matrix's arrays:
// they must outlive it; their values may change, their pattern may not. Not for concurrent use; plans are independent
// of each other.
template <value_type V, index_type I, index_type O, class Space>
class SPARGO_EXPORT spmv_plan {
 public:
  spmv_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, const spmv_options& options = {});
  spmv_plan(const context<Space>& ctx, const ell_view<const V, I, Space>& matrix, const spmv_options& options = {});
  spmv_plan(const context<Space>& ctx, const sell_view<const V, I, O, Space>& matrix, const spmv_options& options = {});
  // Unsorted entries are taken too; the plan then keeps a sorted copy of the pattern where the algorithm needs it.
  spmv_plan(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix, const spmv_options& options = {});
  spmv_plan(spmv_plan&&) noexcept;
  spmv_plan& operator=(spmv_plan&&) noexcept;
  ~spmv_plan();

  // x has cols elements, y rows. Throws invalid_argument on wrong sizes or overlap, before any work.
  void run(V alpha, span<const V, Space> x, V beta, span<V, Space> y) const;

  // From here on the products are with `matrix`, which has the pattern that the plan was made for: its values are
  // copied, or its arrays borrowed, as storage() says. For plans of CSR matrices. Throws invalid_argument, and changes
  // nothing, if sizes or a 64-bit fingerprint of the pattern differ; unsupported for a plan of another format.
  // O(rows + nnz); on a device it synchronises the stream.
  void update_values(const csr_view<const V, I, O, Space>& matrix);

  [[nodiscard]] spmv_algorithm algorithm() const noexcept;   // never `automatic`
  [[nodiscard]] spmv_storage storage() const noexcept;       // `copied`: the matrix may go, its values are not followed
  [[nodiscard]] const std::string& reason() const noexcept;  // why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// Plans name their types themselves: spmv_plan plan(ctx, matrix).
template <value_type V, index_type I, class Space>
spmv_plan(const context<Space>&, const ell_view<const V, I, Space>&, const spmv_options& = {})
    -> spmv_plan<V, I, I, Space>;
template <value_type V, index_type I, class Space>
spmv_plan(const context<Space>&, const coo_view<const V, I, Space>&, const spmv_options& = {})
    -> spmv_plan<V, I, I, Space>;
template <class Space, detail::viewable Matrix>
spmv_plan(const context<Space>&, const Matrix&, const spmv_options& = {})
    -> spmv_plan<detail::scalar_of<Matrix>, detail::index_of<Matrix>, detail::offset_of<Matrix>, Space>;

// One call: a plan that is used once. Prefer a plan for repeated products.
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

// The same for a matrix that owns its arrays, or whose values may change.
template <class Space, detail::viewable Matrix, class V = detail::scalar_of<Matrix>>
void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha, const Matrix& matrix,
          std::type_identity_t<span<const V, Space>> x, std::type_identity_t<V> beta,
          std::type_identity_t<span<V, Space>> y, const spmv_options& options = {}) {
  spmv(ctx, alpha, detail::view_of(matrix), x, beta, y, options);
}

enum class sparse_format { csr, coo, ell, sell };

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(sparse_format format);

struct SPARGO_EXPORT format_choice {
  sparse_format format = sparse_format::csr;
  std::string reason;  // one sentence, for people
};

// What a matrix is wanted for.
struct SPARGO_EXPORT format_use {
  std::int64_t value_bytes = 8;
  bool complex_values = false;
  std::int64_t products = 0;  // 0: many; else conversion from CSR must pay within so many
};

// The format in which products with this matrix are expected to be fastest in the space Target, from its row profile:
// suggest_format<device>(ctx, pattern). Whatever the number of threads. O(rows).
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
