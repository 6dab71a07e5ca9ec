#include "solvers/krylov/outcome.hpp"

#include "core/algorithm_table.hpp"
#include "core/counted.hpp"
#include "core/rows_from_one.hpp"
#include "solvers/krylov/choice.hpp"
#include "solvers/krylov/iteration.hpp"

#include <fmt/format.h>

#include <string_view>

namespace spargo {

namespace detail::krylov {

namespace {

constexpr algorithm_table<krylov_outcome, 6> outcomes{{
    {krylov_outcome::converged, "converged"},
    {krylov_outcome::iteration_limit, "iteration_limit"},
    {krylov_outcome::stagnated, "stagnated"},
    {krylov_outcome::not_positive_definite, "not_positive_definite"},
    {krylov_outcome::breakdown, "breakdown"},
    {krylov_outcome::not_finite, "not_finite"},
}};

// For methods that need a Hermitian matrix and did not get one.
[[nodiscard]] std::string_view remark_on(krylov_method method, bool is_hermitian) {
  return needs_hermitian(method) && !is_hermitian ? ", and the matrix is not symmetric (Hermitian)" : "";
}

}  // namespace

std::string sentence_of(krylov_outcome outcome, krylov_method method, std::int64_t iterations,
                        const std::string& detail, bool is_hermitian) {
  const std::string_view name = to_string(method);
  const std::string_view remark = remark_on(method, is_hermitian);
  switch (outcome) {
    case krylov_outcome::converged:
      return "the residual is within the tolerance";
    case krylov_outcome::iteration_limit:
      return fmt::format("the limit of {}{}", spargo::detail::counted(iterations, "iteration"), remark);
    case krylov_outcome::not_positive_definite:
      return fmt::format("the matrix is not positive definite: {} in iteration {} (expected another method than cg)",
                         detail, iterations + 1);
    case krylov_outcome::breakdown:
      return fmt::format("{} broke down in iteration {}: {}{}", name, iterations + 1, detail, remark);
    case krylov_outcome::not_finite:
      return fmt::format("{} is not finite in iteration {} of {}", detail, iterations + 1, name);
    default:
      break;
  }
  return fmt::format("{} makes no more progress{}", name,
                     remark.empty() ? ": rounding errors, or a matrix that is singular or nearly so" : remark);
}

void refuse_element(const char* what, std::int64_t row) {
  throw error(error_code::invalid_data,
              fmt::format("solve: {} has a value in row {}{} that is infinite, NaN or beyond the range of its type",
                          what, shown_row(row), counted_from()));
}

}  // namespace detail::krylov

template <>
enum_table<krylov_outcome> enum_rows() noexcept {
  return detail::krylov::outcomes;
}

}  // namespace spargo
