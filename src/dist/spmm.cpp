// Products of shared-out matrices with several vectors at once: plans of one process over ranges of this rank's rows.
//
// Columns are numbered anew, as for products with one vector (matrix.cpp), so that X is one short matrix. The longest
// run of rows without a ghost is multiplied between the start and the finish of the exchange, what lies before and
// behind it after that: at most three plans.
#include "dist/deal.hpp"

#include <spargo/dist/matrix.hpp>
#include <spargo/sparse/spmm.hpp>

#include <fmt/format.h>

#include <optional>
#include <tuple>

namespace spargo {

template <value_type V, class Space>
struct distributed_spmm_plan<V, Space>::state {
  // Rows [first, first + count), with offsets of their own.
  struct rows_plan {
    std::int64_t first;
    std::int64_t count;
    array<std::int64_t, host> offsets;
    spmm_plan<V, std::int32_t, std::int64_t, host> plan;
  };

  context<host> ctx;
  csr_view<const V, std::int64_t, std::int64_t, host> a;
  std::int64_t width = 0;
  detail::dist::local_columns columns;
  std::optional<rows_plan> interior;
  std::vector<rows_plan> boundary;
  std::optional<exchange<host>> halo;

  [[nodiscard]] bool is_interior(std::int64_t row) const { return columns.are_own(a.offsets[row], a.offsets[row + 1]); }

  [[nodiscard]] rows_plan plan_rows(std::int64_t first, std::int64_t last) const {
    array<std::int64_t, host> offsets{ctx, last - first + 1};
    const std::int64_t before = a.offsets[first];
    for (std::int64_t row = first; row <= last; ++row) offsets[row - first] = a.offsets[row] - before;
    const std::int64_t entries = offsets[last - first];
    const csr_view<const V, std::int32_t, std::int64_t, host> view{
        {static_cast<std::int32_t>(last - first), static_cast<std::int32_t>(columns.size()), offsets.view(),
         columns.indices.view().subspan(before, entries)},
        a.values.subspan(before, entries)};
    spmm_plan<V, std::int32_t, std::int64_t, host> plan(ctx, view, width, {.algorithm = spmm_algorithm::row_groups});
    return {first, last - first, std::move(offsets), std::move(plan)};
  }

  void plan_all() {
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (std::int64_t row = 0; row < a.rows;) {
      std::int64_t end = row;
      while (end < a.rows && is_interior(end)) ++end;
      if (end - row > last - first) std::tie(first, last) = std::pair(row, end);
      row = end + 1;
    }
    if (first < last) interior.emplace(plan_rows(first, last));
    if (first > 0) boundary.push_back(plan_rows(0, first));
    if (last < a.rows) boundary.push_back(plan_rows(last, a.rows));
  }

  static void multiply(const rows_plan& rows, V alpha, const dense_view<const V, host>& x, V beta,
                       const dense_view<V, host>& y) {
    const span<V, host> part = y.data.subspan(rows.first * y.cols, rows.count * y.cols);
    rows.plan.run(alpha, x, beta, {rows.count, y.cols, y.cols, part});
  }
};

template <value_type V, class Space>
distributed_spmm_plan<V, Space>::distributed_spmm_plan(const communicator& comm, const context<Space>& ctx,
                                                       const distributed_matrix<V>& matrix, std::int64_t columns) {
  state_ = comm.agree_on([&] {
    SPARGO_EXPECTS(columns >= 0, fmt::format("spmm: {} columns", columns));
    auto made = std::make_unique<state>();
    made->ctx = ctx;
    made->a = matrix.own();
    made->width = columns;
    const partition& parts = matrix.column_parts();
    made->columns = detail::dist::number_columns(ctx, made->a.indices, parts.first(comm.rank()),
                                                 parts.last(comm.rank()), matrix.cols());
    made->plan_all();
    return made;
  });
  const std::size_t row_bytes = static_cast<std::size_t>(columns) * sizeof(V);
  state_->halo.emplace(comm, ctx, matrix.column_parts(), state_->columns.ghosts, row_bytes);
}
template <value_type V, class Space>
distributed_spmm_plan<V, Space>::distributed_spmm_plan(distributed_spmm_plan&&) noexcept = default;
template <value_type V, class Space>
distributed_spmm_plan<V, Space>& distributed_spmm_plan<V, Space>::operator=(distributed_spmm_plan&&) noexcept = default;
template <value_type V, class Space>
distributed_spmm_plan<V, Space>::~distributed_spmm_plan() = default;

template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::own_columns() const noexcept {
  return state_->columns.own;
}
template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::ghosts() const noexcept {
  return std::ssize(state_->columns.ghosts);
}
template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::own_rows() const noexcept {
  return state_->a.rows;
}
template <value_type V, class Space>
std::int64_t distributed_spmm_plan<V, Space>::interior_rows() const noexcept {
  return state_->interior.has_value() ? state_->interior->count : 0;
}

template <value_type V, class Space>
void distributed_spmm_plan<V, Space>::run(V alpha, const dense_view<V, Space>& x, V beta,
                                          const dense_view<V, Space>& y) const {
  state& s = *state_;
  SPARGO_EXPECTS(x.rows == local_columns() && y.rows == own_rows() && x.cols == s.width && y.cols == s.width,
                 fmt::format("spmm: X is {} x {} and Y {} x {} (expected {} x {} with the ghosts, and {} x {})", x.rows,
                             x.cols, y.rows, y.cols, local_columns(), s.width, own_rows(), s.width));
  SPARGO_EXPECTS(x.stride == s.width && y.stride == s.width, "spmm: X or Y has gaps between its rows");
  if (s.width == 0) return;
  const std::int64_t own = own_columns() * s.width;
  s.halo->start(span<const V, host>(x.data.subspan(0, own)));
  if (s.interior) state::multiply(*s.interior, alpha, x, beta, y);
  s.halo->finish(x.data.subspan(own, ghosts() * s.width));
  for (const auto& rows : s.boundary) state::multiply(rows, alpha, x, beta, y);
}

template class distributed_spmm_plan<double, host>;

}  // namespace spargo
