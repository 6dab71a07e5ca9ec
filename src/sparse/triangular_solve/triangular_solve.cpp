// Triangular solves: checks, and the plan around an executor.
#include <spargo/sparse/triangular_solve.hpp>

#include "core/backend.hpp"
#include "core/counted.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "core/rows_from_one.hpp"
#include "sparse/products.hpp"
#include "sparse/triangular_solve/executor.hpp"

#include <fmt/format.h>

namespace spargo {

namespace detail::triangular {

void refuse_row(std::int64_t row) {
  throw error(error_code::invalid_data,
              fmt::format("triangular_solve: row {}{} has 0 on the diagonal, by which it divides (expected "
                          "implicit_unit_diagonal, or another matrix)",
                          shown_row(row), counted_from()));
}

std::string describe_levels(std::int64_t levels, std::int64_t rows, const char* how) {
  const double mean = rows == 0 ? 0 : static_cast<double>(rows) / static_cast<double>(levels);
  return fmt::format("{} of {:.1f} rows on average: {}", counted(levels, "level"), mean, how);
}

std::string describe_sweeps(std::int64_t sweeps) {
  return fmt::format("{} of Jacobi's method, not exact", counted(sweeps, "sweep"));
}

}  // namespace detail::triangular

template <value_type V, index_type I, index_type O, class Space>
struct triangular_solve_plan<V, I, O, Space>::state {
  detail::triangular::executor_ptr<V, Space> executor;
};

template <value_type V, index_type I, index_type O, class Space>
triangular_solve_plan<V, I, O, Space>::triangular_solve_plan(const context<Space>& ctx,
                                                             const csr_view<const V, I, O, Space>& matrix,
                                                             const triangular_solve_options& options) try {
  detail::expect_csr("triangular_solve", matrix);
  SPARGO_EXPECTS(
      matrix.rows == matrix.cols,
      fmt::format("triangular_solve: a matrix of {} x {} (expected a square one)", matrix.rows, matrix.cols));
  SPARGO_EXPECTS(options.sweeps >= 0 && options.sweeps <= detail::triangular::most_sweeps,
                 fmt::format("triangular_solve: {} sweeps (expected 0 to {}; 0 solves exactly)", options.sweeps,
                             detail::triangular::most_sweeps));
  if constexpr (detail::is_built<Space>) {
    state_ = detail::new_state<state>(detail::triangular::make_executor<V, I, O>(ctx, matrix, options));
  } else {
    detail::no_device("triangular_solve");
  }
} catch (...) {
  detail::rethrow("triangular_solve");
}

template <value_type V, index_type I, index_type O, class Space>
void triangular_solve_plan<V, I, O, Space>::run(span<const V, Space> b, span<V, Space> x) const try {
  const auto& solver = *state_->executor;
  detail::expect_size("triangular_solve", "b", b.size(), solver.rows);
  detail::expect_size("triangular_solve", "x", x.size(), solver.rows);
  detail::expect_range("triangular_solve", "b", b);
  detail::expect_range("triangular_solve", "x", x);
  if (b.data() != x.data()) {
    detail::expect_apart("triangular_solve", "x", detail::memory_of(x), "b", detail::memory_of(b));
  }
  solver.run(b.data(), x.data(), nullptr);
} catch (...) {
  detail::rethrow("triangular_solve");
}

template <value_type V, index_type I, index_type O, class Space>
std::int64_t triangular_solve_plan<V, I, O, Space>::levels() const noexcept {
  return state_->executor->levels;
}
template <value_type V, index_type I, index_type O, class Space>
const std::string& triangular_solve_plan<V, I, O, Space>::reason() const noexcept {
  return state_->executor->reason;
}
template <value_type V, index_type I, index_type O, class Space>
std::int64_t triangular_solve_plan<V, I, O, Space>::workspace_bytes() const noexcept {
  return state_->executor->workspace_bytes();
}

#define INSTANTIATE(V, I, O)                           \
  template class triangular_solve_plan<V, I, O, host>; \
  template class triangular_solve_plan<V, I, O, device>;
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
