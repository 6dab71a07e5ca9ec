// Sparse matrix times dense multi-vector, Y = alpha * A * X + beta * Y, on host and device. A is rows x cols in CSR, X
// cols x k, Y rows x k, both row-major, so an entry is multiplied by k contiguous values.
//
// beta = 0 does not read Y; alpha = 0 reads neither A nor X. Padding of Y (stride > k) is not written. The memory of X,
// from first to last element, must not overlap that of Y. Each element's rounding error is at most about (row length +
// 2) * eps * sum |a||x| (three times that for complex values). Duplicate entries count as their sum. Deterministic for
// a plan, on the host for any number of threads. The host reads A once per 128 columns. A device reads it once per 32
// columns, or per 512 bytes of X and more if k fills whole 16 bytes and X, Y and their strides are aligned to 16 bytes.
#pragma once

#include <spargo/core/dense.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/core/plan_state.hpp>
#include <spargo/formats/csr.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class spmm_algorithm {
  automatic,   // from the row profile; spmm_plan::reason() explains
  row_groups,  // device: a group of lanes per row, each lane for a part of the k sums; host: whole rows per thread
  merge_path,  // equal shares of rows + entries (Merrill and Garland, SC 2016; Yang, Buluc, Owens, Euro-Par 2018)
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<spmm_algorithm> enum_rows() noexcept;
[[nodiscard]] inline spmm_algorithm parse_spmm_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<spmm_algorithm>("spmm: unknown algorithm", name);
}

struct SPARGO_EXPORT spmm_options {
  spmm_algorithm algorithm = spmm_algorithm::automatic;
};

// Analyses a matrix once for products with up to `max_columns` columns: O(rows); on a device it may synchronise the
// stream. Then `run` never allocates, is asynchronous on a device and may be captured in a graph. The plan borrows the
// matrix's arrays: they must outlive it; values may change, the pattern may not. Not for concurrent use; plans are
// independent of each other. Workspace: merge_path needs a row of max_columns values and a few numbers per tile, which
// has 64 to 1024 rows + entries on a device and 4096 or more on the host; row_groups almost none.
template <value_type V, index_type I, index_type O, class Space>
class SPARGO_EXPORT spmm_plan {
 public:
  // Throws invalid_argument for arrays of the wrong size or a negative max_columns.
  spmm_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, std::int64_t max_columns,
            const spmm_options& options = {});

  // x is cols x k, y rows x k, 0 <= k <= max_columns (else, or if they overlap, invalid_argument). O((rows + nnz) * k).
  void run(V alpha, const dense_view<const V, Space>& x, V beta, const dense_view<V, Space>& y) const;

  [[nodiscard]] spmm_algorithm algorithm() const noexcept { return state_.algorithm(); }  // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept { return state_.reason(); }    // why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.workspace_bytes(); }

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::plan_state<state, spmm_algorithm> state_;
};

template <class Space, detail::viewable Matrix>
spmm_plan(const context<Space>&, const Matrix&, std::int64_t, const spmm_options& = {})
    -> spmm_plan<detail::scalar_of<Matrix>, detail::index_of<Matrix>, detail::offset_of<Matrix>, Space>;

// Makes a plan for one product. Prefer a plan for repeated products.
template <value_type V, index_type I, index_type O, class Space>
SPARGO_EXPORT void spmm(const context<Space>& ctx, std::type_identity_t<V> alpha,
                        const csr_view<const V, I, O, Space>& matrix,
                        const std::type_identity_t<dense_view<const V, Space>>& x, std::type_identity_t<V> beta,
                        const std::type_identity_t<dense_view<V, Space>>& y, const spmm_options& options = {});

// For matrices that own their arrays or have mutable values.
template <class Space, detail::viewable Matrix, class V = detail::scalar_of<Matrix>>
void spmm(const context<Space>& ctx, std::type_identity_t<V> alpha, const Matrix& matrix,
          const std::type_identity_t<dense_view<const V, Space>>& x, std::type_identity_t<V> beta,
          const std::type_identity_t<dense_view<V, Space>>& y, const spmm_options& options = {}) {
  spmm(ctx, alpha, detail::view_of(matrix), x, beta, y, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
