// Triangular solves: the triangle is copied in the order in which its rows are solved.
#include <spargo/sparse/triangular_solve.hpp>

#include "core/bytes_of.hpp"
#include "core/counted.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "core/rows_from_one.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/products.hpp"
#include "sparse/triangular_solve/levels.hpp"

#include <fmt/format.h>

namespace spargo {

namespace triangular = detail::triangular;

template <value_type V, index_type I, index_type O, class Space>
struct triangular_solve_plan<V, I, O, Space>::state {
  triangular::level_order order;
  std::string reason;
  // Of the row at each place: entries off the diagonal, and the diagonal, which is empty if it is implicit.
  array<O, host> offsets;
  array<I, host> indices;
  array<V, host> values;
  array<V, host> diagonal;

  state(const context<host>& ctx, const csr_view<const V, I, O, host>& m, const triangular_solve_options& options);
  void copy_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& m, bool is_upper, bool is_unit);
};

template <value_type V, index_type I, index_type O, class Space>
triangular_solve_plan<V, I, O, Space>::state::state(const context<host>& ctx, const csr_view<const V, I, O, host>& m,
                                                    const triangular_solve_options& options) {
  const std::int64_t n = m.rows;
  const bool is_upper = options.part == triangle_part::upper_triangle;
  const bool is_unit = options.diagonal == triangle_diagonal::implicit_unit_diagonal;
  array<std::int64_t, host> level(ctx, n);
  array<std::int64_t, host> entries(ctx, n);
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t row = is_upper ? n - 1 - step : step;
    level[row] = 0;
    entries[row] = 0;
    for (O k = m.offsets[row]; k < m.offsets[row + 1]; ++k) {
      const std::int64_t col = m.indices[k];
      if (col == row || (col > row) != is_upper) continue;
      level[row] = std::max(level[row], level[col] + 1);
      ++entries[row];
    }
  }
  order = {ctx, level, entries, is_upper};
  offsets = {ctx, n + 1};
  offsets[0] = 0;
  for (std::int64_t p = 0; p < n; ++p) offsets[p + 1] = static_cast<O>(offsets[p] + entries[order.row(p)]);
  copy_rows(ctx, m, is_upper, is_unit);
  const double mean = n == 0 ? 0 : static_cast<double>(n) / static_cast<double>(order.levels());
  reason = fmt::format("{} of {:.1f} rows on average: {}", detail::counted(order.levels(), "level"), mean,
                       order.shares_levels() ? "threads share the wide ones"
                       : ctx.threads() == 1  ? "one thread, in order of the rows"
                                             : "too narrow to share, in order of the rows");
}

template <value_type V, index_type I, index_type O, class Space>
void triangular_solve_plan<V, I, O, Space>::state::copy_rows(const context<host>& ctx,
                                                             const csr_view<const V, I, O, host>& m, bool is_upper,
                                                             bool is_unit) {
  const std::int64_t n = m.rows;
  indices = {ctx, static_cast<std::int64_t>(offsets[n])};
  values = {ctx, static_cast<std::int64_t>(offsets[n])};
  diagonal = {ctx, is_unit ? 0 : n};
  std::int64_t zero_row = n;
  for (std::int64_t p = 0; p < n; ++p) {
    const std::int64_t row = order.row(p);
    O to = offsets[p];
    V on_diagonal{};
    for (O k = m.offsets[row]; k < m.offsets[row + 1]; ++k) {
      const std::int64_t col = m.indices[k];
      if (col == row) on_diagonal += m.values[k];
      if (col == row || (col > row) != is_upper) continue;
      indices[to] = m.indices[k];
      values[to++] = m.values[k];
    }
    if (is_unit) continue;
    diagonal[p] = on_diagonal;
    if (on_diagonal == V{}) zero_row = std::min(zero_row, row);
  }
  if (zero_row == n) return;
  throw error(error_code::invalid_data,
              fmt::format("triangular_solve: row {}{} has 0 on the diagonal, by which it divides (expected "
                          "implicit_unit_diagonal, or another matrix)",
                          detail::shown_row(zero_row), detail::counted_from()));
}

template <value_type V, index_type I, index_type O, class Space>
triangular_solve_plan<V, I, O, Space>::triangular_solve_plan(const context<Space>& ctx,
                                                             const csr_view<const V, I, O, Space>& matrix,
                                                             const triangular_solve_options& options) try {
  detail::expect_csr("triangular_solve", matrix);
  SPARGO_EXPECTS(
      matrix.rows == matrix.cols,
      fmt::format("triangular_solve: a matrix of {} x {} (expected a square one)", matrix.rows, matrix.cols));
  state_ = detail::new_state<state>(ctx, matrix, options);
} catch (...) {
  detail::rethrow("triangular_solve");
}

template <value_type V, index_type I, index_type O, class Space>
void triangular_solve_plan<V, I, O, Space>::run(span<const V, Space> b, span<V, Space> x) const try {
  const state& s = *state_;
  const std::int64_t n = s.offsets.size() - 1;
  detail::expect_size("triangular_solve", "b", b.size(), n);
  detail::expect_size("triangular_solve", "x", x.size(), n);
  detail::expect_range("triangular_solve", "b", b);
  detail::expect_range("triangular_solve", "x", x);
  if (b.data() != x.data()) {
    detail::expect_apart("triangular_solve", "x", detail::memory_of(x), "b", detail::memory_of(b));
  }
  const V* const values = s.values.data();
  const I* const indices = s.indices.data();
  const V* const right = b.data();
  V* const to = x.data();
  s.order.run([&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      const std::int64_t row = s.order.row(p);
      V sum = right[row];
      for (O k = s.offsets[p]; k < s.offsets[p + 1]; ++k) sum -= detail::multiply(values[k], to[indices[k]]);
      to[row] = s.diagonal.empty() ? sum : sum / s.diagonal[p];
    }
  });
} catch (...) {
  detail::rethrow("triangular_solve");
}

template <value_type V, index_type I, index_type O, class Space>
std::int64_t triangular_solve_plan<V, I, O, Space>::levels() const noexcept {
  return state_->order.levels();
}
template <value_type V, index_type I, index_type O, class Space>
const std::string& triangular_solve_plan<V, I, O, Space>::reason() const noexcept {
  return state_->reason;
}
template <value_type V, index_type I, index_type O, class Space>
std::int64_t triangular_solve_plan<V, I, O, Space>::workspace_bytes() const noexcept {
  return state_->order.bytes() + detail::bytes_of(state_->offsets, state_->indices, state_->values, state_->diagonal);
}

#define INSTANTIATE(V, I, O) template class triangular_solve_plan<V, I, O, host>;
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
