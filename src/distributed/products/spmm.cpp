// Distributed SpMM: checks, and the plan around an executor. Columns are renumbered as for SpMV (matrix.cpp).
#include "core/backend.hpp"
#include "distributed/graph/deal.hpp"
#include "distributed/products/executor.hpp"

#include <fmt/format.h>

namespace spargo {

template <value_type V, class Space>
struct distributed_spmm_plan<V, Space>::state {
  int ranks;
  std::int64_t rows;
  std::int64_t width;
  std::unique_ptr<detail::distributed::spmm_executor<V, Space>> executor{};
};

template <value_type V, class Space>
distributed_spmm_plan<V, Space>::distributed_spmm_plan(const communicator& comm, const context<Space>& ctx,
                                                       const distributed_matrix<V>& matrix, std::int64_t columns,
                                                       const exchange_options& options) {
  if constexpr (detail::is_built<Space>) {
    auto numbered = comm.agree_on([&] {
      SPARGO_EXPECTS(columns >= 0, fmt::format("spmm: {} columns", columns));
      return detail::distributed::number_columns(detail::distributed::host_of(comm, ctx), matrix.own().indices,
                                                 matrix.column_parts(), comm.rank());
    });
    state_ = comm.agree_on([&] { return detail::new_state<state>(comm.size(), matrix.own().rows, columns); });
    state_->executor =
        detail::distributed::make_spmm_executor(comm, ctx, matrix, std::move(numbered), columns, options);
  } else {
    detail::no_device("spmm");
  }
}

template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::own_columns() const noexcept {
  return state_->executor->own_columns();
}
template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::ghosts() const noexcept {
  return state_->executor->ghosts();
}
template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::own_rows() const noexcept {
  return state_->rows;
}
template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::interior_rows() const noexcept {
  return state_->executor->interior_rows();
}
template <value_type V, class Space>
std::string distributed_spmm_plan<V, Space>::reason() const {
  return detail::distributed::describe_rows(state_->ranks, interior_rows(), own_rows());
}
template <value_type V, class Space>
std::string_view distributed_spmm_plan<V, Space>::how() const noexcept {
  return state_->executor->how();
}

template <value_type V, class Space>
void distributed_spmm_plan<V, Space>::run(V alpha, const dense_view<V, Space>& x, V beta,
                                          const dense_view<V, Space>& y) const {
  const std::int64_t width = state_->width;
  SPARGO_EXPECTS(x.rows == local_columns() && y.rows == own_rows() && x.cols == width && y.cols == width,
                 fmt::format("spmm: X is {} x {} and Y {} x {} (expected {} x {} with the ghosts, and {} x {})", x.rows,
                             x.cols, y.rows, y.cols, local_columns(), width, own_rows(), width));
  SPARGO_EXPECTS(x.stride == width && y.stride == width, "spmm: X or Y has gaps between its rows");
  if (width > 0) state_->executor->run(alpha, x, beta, y);
}

template class distributed_spmm_plan<double, host>;
template class distributed_spmm_plan<double, device>;

}  // namespace spargo
