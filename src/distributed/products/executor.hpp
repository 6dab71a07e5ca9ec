// Interface of distributed products: a rank's rows in one memory space.
#pragma once

#include "core/plan_executor.hpp"
#include "distributed/exchange/local_columns.hpp"

#include <spargo/distributed/spmm.hpp>
#include <spargo/distributed/spmv.hpp>

#include <memory>
#include <string_view>

namespace spargo::detail::distributed {

class product_executor : public executor_base {
 public:
  [[nodiscard]] virtual std::int64_t own_columns() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t ghosts() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t interior_rows() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;  // transport of ghosts
};

template <class V, class Space>
class spmv_executor : public product_executor {
 public:
  // Sizes have been checked. x is in two parts; writes the ghosts, which on the host are behind its own elements.
  virtual void run(V alpha, span<const V, Space> own, span<V, Space> ghosts, V beta, span<V, Space> y) = 0;
  [[nodiscard]] virtual spmv_algorithm algorithm() const noexcept = 0;
  [[nodiscard]] virtual bool splits_columns() const noexcept { return false; }
};

template <class V, class Space>
class spmm_executor : public product_executor {
 public:
  // Sizes have been checked; X and Y have no gaps and at least one column.
  virtual void run(V alpha, const dense_view<V, Space>& x, V beta, const dense_view<V, Space>& y) = 0;
};

// Collective. On the host the matrix is borrowed. `split` is not `columns`.
template <class V>
[[nodiscard]] std::unique_ptr<spmv_executor<V, host>> make_spmv_executor(
    const communicator& comm, const context<host>& ctx, const distributed_matrix<V>& matrix, local_columns columns,
    const exchange_options& options, product_split split);
template <class V>
[[nodiscard]] std::unique_ptr<spmv_executor<V, device>> make_spmv_executor(
    const communicator& comm, const context<device>& ctx, const distributed_matrix<V>& matrix, local_columns columns,
    const exchange_options& options, product_split split);

// `width`: columns of X.
template <class V>
[[nodiscard]] std::unique_ptr<spmm_executor<V, host>> make_spmm_executor(const communicator& comm,
                                                                         const context<host>& ctx,
                                                                         const distributed_matrix<V>& matrix,
                                                                         local_columns columns, std::int64_t width,
                                                                         const exchange_options& options);
template <class V>
[[nodiscard]] std::unique_ptr<spmm_executor<V, device>> make_spmm_executor(const communicator& comm,
                                                                           const context<device>& ctx,
                                                                           const distributed_matrix<V>& matrix,
                                                                           local_columns columns, std::int64_t width,
                                                                           const exchange_options& options);

// How rows are distributed; `interior` of this rank's `rows` have no ghosts.
[[nodiscard]] std::string describe_rows(int ranks, std::int64_t interior, std::int64_t rows);

// The host context with which a rank prepares its data.
[[nodiscard]] inline context<host> host_of(const communicator&, const context<host>& ctx) { return ctx; }
[[nodiscard]] inline context<host> host_of(const communicator& comm, const context<device>&) {
  return context<host>({.threads = std::max(1, context<host>().threads() / comm.local_size())});
}

}  // namespace spargo::detail::distributed
