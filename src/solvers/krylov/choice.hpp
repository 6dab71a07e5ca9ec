// Which method and preconditioner solve a system: the tables, the checks of options, and the choice from the matrix's
// diagonal and symmetry.
#pragma once

#include "core/algorithm_table.hpp"
#include "core/backend.hpp"
#include "core/counted.hpp"
#include "core/rows_from_one.hpp"
#include "primitives/element.hpp"
#include "solvers/krylov/inspect.hpp"
#include "solvers/preconditioners/preconditioner.hpp"
#include "sparse/triangular_solve/executor.hpp"

#include <spargo/solvers/krylov.hpp>

#include <fmt/format.h>

#include <string>

namespace spargo::detail::krylov {

inline constexpr algorithm_table<krylov_method, 5> methods{{
    {krylov_method::automatic, "automatic"},
    {krylov_method::cg, "cg"},
    {krylov_method::minres, "minres"},
    {krylov_method::bicgstab, "bicgstab"},
    {krylov_method::gmres, "gmres"},
}};

inline constexpr algorithm_table<krylov_preconditioner, 6> preconditioners{{
    {krylov_preconditioner::automatic, "automatic"},
    {krylov_preconditioner::none, "none"},
    {krylov_preconditioner::jacobi, "jacobi"},
    {krylov_preconditioner::block_jacobi, "block-jacobi", true, true, "block_jacobi"},
    {krylov_preconditioner::ilu0, "ilu0"},
    {krylov_preconditioner::ic0, "ic0"},
}};

template <class Space>
void check_options(const krylov_options& options) {
  expect_runs_on<Space>(methods, "solve", options.method, "method");
  expect_runs_on<Space>(preconditioners, "solve", options.preconditioner, "preconditioner");
  SPARGO_EXPECTS(options.tolerance >= 0,
                 fmt::format("solve: the tolerance is {} (expected 0 or more)", options.tolerance));
  SPARGO_EXPECTS(options.restart >= 1, fmt::format("solve: a restart of {} (expected 1 or more)", options.restart));
  SPARGO_EXPECTS(
      options.block_size >= 1 && options.block_size <= most_block_size,
      fmt::format("solve: blocks of {} (expected 1 to {})", counted(options.block_size, "row"), most_block_size));
  SPARGO_EXPECTS(options.triangular_sweeps >= 0 && options.triangular_sweeps <= triangular::most_sweeps,
                 fmt::format("solve: {} triangular sweeps (expected 0 to {}; 0 solves exactly)",
                             options.triangular_sweeps, triangular::most_sweeps));
  SPARGO_EXPECTS(options.max_iterations >= -1,
                 fmt::format("solve: {} iterations at most (expected 0 or more)", options.max_iterations));
}

// Of the element on the diagonal in negative_row; on a device this synchronises the stream.
template <class V, class Space>
[[nodiscard]] std::string negative_text(const context<Space>& ctx, const inspected_matrix<V, Space>& m) {
  const V v = m.negative.has_value() ? *m.negative : element<V>(ctx, m.diagonal.view(), m.negative_row);
  if constexpr (complex_type<V>) return fmt::format("{} + {}i", v.real(), v.imag());
  return fmt::format("{}", std::real(v));
}

// `row`: with a value that is not finite; -1: none.
inline void expect_finite(std::int64_t row) {
  if (row < 0) return;
  throw error(error_code::invalid_data, fmt::format("solve: the matrix has a value in row {}{} that is infinite or NaN",
                                                    spargo::detail::shown_row(row), spargo::detail::counted_from()));
}

using choice = plan_choice<krylov_method>;

template <class V, class Space>
[[nodiscard]] choice choose(const context<Space>& ctx, const inspected_matrix<V, Space>& m, krylov_method asked) {
  if (asked != krylov_method::automatic) return {asked, "asked for"};
  if (!m.is_hermitian) return {krylov_method::bicgstab, "the matrix is not symmetric (Hermitian)"};
  if (m.negative_row < 0) return {krylov_method::cg, "a symmetric (Hermitian) matrix with a positive diagonal"};
  return {krylov_method::minres, fmt::format("a symmetric (Hermitian) matrix; row {}{} has {} on the diagonal",
                                             spargo::detail::shown_row(m.negative_row), spargo::detail::counted_from(),
                                             negative_text(ctx, m))};
}

// Never `automatic`.
template <class V, class Space>
[[nodiscard]] krylov_preconditioner choose_preconditioner(const context<Space>& ctx,
                                                          const inspected_matrix<V, Space>& m, krylov_method method,
                                                          krylov_preconditioner asked) {
  if (method == krylov_method::cg && m.negative_row >= 0) {
    throw error(
        error_code::invalid_data,
        fmt::format("solve: the matrix is not positive definite: row {}{} has {} on the diagonal (expected "
                    "another method than cg)",
                    spargo::detail::shown_row(m.negative_row), spargo::detail::counted_from(), negative_text(ctx, m)));
  }
  if (asked != krylov_preconditioner::automatic && asked != krylov_preconditioner::jacobi) return asked;
  if (m.zero_row < 0) return krylov_preconditioner::jacobi;
  if (asked == krylov_preconditioner::automatic) return krylov_preconditioner::none;
  throw error(error_code::invalid_data,
              fmt::format("solve: row {}{} has 0 on the diagonal, by which jacobi divides (expected no preconditioner)",
                          spargo::detail::shown_row(m.zero_row), spargo::detail::counted_from()));
}

[[nodiscard]] inline bool needs_hermitian(krylov_method method) {
  return method == krylov_method::cg || method == krylov_method::minres;
}

// `row`: whose diagonal element has no inverse in the range of its type. `automatic` then takes none.
inline void expect_automatic(krylov_preconditioner asked, std::int64_t row) {
  if (asked == krylov_preconditioner::automatic) return;
  throw error(
      error_code::invalid_data,
      fmt::format("solve: row {}{} has an element on the diagonal whose inverse is beyond the range of its type "
                  "(jacobi; expected no preconditioner)",
                  spargo::detail::shown_row(row), spargo::detail::counted_from()));
}

}  // namespace spargo::detail::krylov
