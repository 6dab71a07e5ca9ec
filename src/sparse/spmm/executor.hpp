// A plan's executors: one per algorithm and backend.
#pragma once

#include "core/plan_executor.hpp"
#include "sparse/spmv/executor.hpp"

#include <spargo/sparse/spmm.hpp>

namespace spargo::detail::spmm {

// The analysed matrix. `run` gets checked X and Y of 1 to max_columns columns; alpha != 0, rows > 0, nnz > 0.
template <class V, class Space>
class executor : public plan_executor {
 public:
  virtual void run(V alpha, const dense_view<const V, Space>& x, V beta, const dense_view<V, Space>& y) const = 0;
};

template <class V, class Space>
using executor_ptr = std::unique_ptr<const executor<V, Space>>;

// `algorithm` is not `automatic`; `max_columns` may be 0.
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, host> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                                  spmm_algorithm algorithm, std::int64_t max_columns);
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, device> make_executor(const context<device>& ctx,
                                                    const csr_view<const V, I, O, device>& matrix,
                                                    spmm_algorithm algorithm, std::int64_t max_columns);

// Y = beta * Y; beta = 0 does not read Y.
template <class V>
void scale_rows(const context<host>& ctx, V beta, const dense_view<V, host>& y);
template <class V>
void scale_rows(const context<device>& ctx, V beta, const dense_view<V, device>& y);

}  // namespace spargo::detail::spmm
