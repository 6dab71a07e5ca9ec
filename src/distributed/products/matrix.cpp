// Matrices distributed by rows, and the SpMV plan.
//
// Columns are renumbered, own first, so that x is one short vector. Entries keep their order, and sums their bits.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "distributed/graph/deal.hpp"
#include "distributed/products/executor.hpp"
#include "distributed/products/split_spmv.hpp"
#include "formats/rows/row_buckets.hpp"

#include <spargo/distributed/matrix.hpp>

namespace spargo {

template <value_type V>
distributed_matrix<V>::distributed_matrix(const communicator& comm, const context<host>& ctx,
                                          const coo_view<const V, std::int64_t, host>& share, symmetry_kind symmetry) {
  const auto visit = [&](std::int64_t k, const auto& put) {
    const std::int64_t row = share.row_indices[k];
    const std::int64_t column = share.col_indices[k];
    put(row, column, share.values[k]);
    if (symmetry != symmetry_kind::general && row != column)
      put(column, row, detail::convert::mirrored(share.values[k], symmetry));
  };
  const detail::distributed::dealer<V, decltype(visit)> dealer(comm, ctx, share.nnz(), share.rows, visit);
  row_parts_ = dealer.balance();
  column_parts_ = share.rows == share.cols ? row_parts_ : even_partition(share.cols, comm.size());
  auto entries = dealer.template deal<std::int64_t>(row_parts_, share.cols);
  comm.agree_on([&] { own_ = to_csr<std::int64_t>(ctx, std::as_const(entries).view()); });
  nnz_ = comm.all_reduce(own_.nnz(), reduction::sum);
}

#define INSTANTIATE(V) template class distributed_matrix<V>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE

std::string detail::distributed::describe_rows(int ranks, std::int64_t interior, std::int64_t rows) {
  return fmt::format("rows distributed over {} ranks by entries; {} of {} local rows have no ghosts", ranks, interior,
                     rows);
}

template <value_type V, class Space>
struct distributed_spmv_plan<V, Space>::state {
  communicator comm;
  context<Space> ctx;
  std::int64_t rows;
  std::unique_ptr<detail::distributed::spmv_executor<V, Space>> executor{};
};

template <value_type V, class Space>
distributed_spmv_plan<V, Space>::distributed_spmv_plan(const communicator& comm, const context<Space>& ctx,
                                                       const distributed_matrix<V>& matrix,
                                                       const exchange_options& options, product_split split) {
  if constexpr (detail::is_built<Space>) {
    auto columns = comm.agree_on([&] {
      return detail::distributed::number_columns(detail::distributed::host_of(comm, ctx), matrix.own().indices,
                                                 matrix.column_parts(), comm.rank());
    });
    state_ = comm.agree_on([&] { return detail::new_state<state>(comm, ctx, matrix.own().rows); });
    state_->executor =
        split == product_split::columns
            ? std::make_unique<detail::distributed::split_spmv<V, Space>>(comm, ctx, matrix, columns, options)
            : detail::distributed::make_spmv_executor(comm, ctx, matrix, std::move(columns), options, split);
  } else {
    detail::no_device("spmv");
  }
}

template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::own_columns() const noexcept {
  return state_->executor->own_columns();
}
template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::ghosts() const noexcept {
  return state_->executor->ghosts();
}
template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::own_rows() const noexcept {
  return state_->rows;
}
template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::interior_rows() const noexcept {
  return state_->executor->interior_rows();
}
template <value_type V, class Space>
spmv_algorithm distributed_spmv_plan<V, Space>::algorithm() const noexcept {
  return state_->executor->algorithm();
}
template <value_type V, class Space>
const communicator& distributed_spmv_plan<V, Space>::comm() const noexcept {
  return state_->comm;
}
template <value_type V, class Space>
const context<Space>& distributed_spmv_plan<V, Space>::ctx() const noexcept {
  return state_->ctx;
}
template <value_type V, class Space>
std::string distributed_spmv_plan<V, Space>::reason() const {
  return detail::distributed::describe_rows(state_->comm.size(), interior_rows(), own_rows()) +
         (state_->executor->splits_columns() ? ", the others are split into own columns and ghosts" : "");
}

template <value_type V, class Space>
void distributed_spmv_plan<V, Space>::run(V alpha, span<V, Space> x, V beta, span<V, Space> y) const {
  SPARGO_EXPECTS(x.size() == local_columns() && y.size() == own_rows(),
                 fmt::format("spmv: x has {} elements and y {} (expected {} with the ghosts, and {})", x.size(),
                             y.size(), local_columns(), own_rows()));
  state_->executor->run(alpha, x.subspan(0, own_columns()), x.subspan(own_columns(), ghosts()), beta, y);
}

template <value_type V, class Space>
void distributed_spmv_plan<V, Space>::run(V alpha, span<const V, Space> own, span<V, Space> others, V beta,
                                          span<V, Space> y) const requires std::same_as<Space, device> {
  SPARGO_EXPECTS(own.size() == own_columns() && others.size() == ghosts() && y.size() == own_rows(),
                 fmt::format("spmv: x has {} elements and {} ghosts, y {} (expected {}, {} and {})", own.size(),
                             others.size(), y.size(), own_columns(), ghosts(), own_rows()));
  state_->executor->run(alpha, own, others, beta, y);
}

template <value_type V, class Space>
std::string_view distributed_spmv_plan<V, Space>::how() const noexcept {
  return state_->executor->how();
}

#define INSTANTIATE(V)                           \
  template class distributed_spmv_plan<V, host>; \
  template class distributed_spmv_plan<V, device>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo
