#include "solvers/krylov/halt.hpp"

#include <fmt/format.h>

namespace spargo::detail::krylov {

halt_report describe(halt why, double value, bool is_rounding) {
  switch (why) {
    case halt::curvature_not_finite:
      return {krylov_outcome::not_finite, "p'Ap"};
    case halt::curvature_not_positive:
      if (is_rounding) return {krylov_outcome::stagnated};
      return {krylov_outcome::not_positive_definite, fmt::format("p'Ap is {:.3g}", value)};
    case halt::product_not_positive:
      return {krylov_outcome::breakdown, fmt::format("r'z is {:.3g}", value)};
    case halt::residual_not_finite:
      return {krylov_outcome::not_finite, "the residual"};
    case halt::direction_not_finite:
      return {krylov_outcome::not_finite, "A p"};
    case halt::stabiliser_not_finite:
      return {krylov_outcome::not_finite, "A s"};
    case halt::shadow_vanishes:
      return {krylov_outcome::breakdown, "(r0, A p) is 0"};
    case halt::stabiliser_vanishes:
      return {krylov_outcome::breakdown, "(A s, s) is 0"};
    case halt::rho_vanishes:
      return {krylov_outcome::breakdown, "(r0, r) is 0"};
    case halt::lanczos_not_finite:
      return {krylov_outcome::not_finite, "A z"};
    case halt::lanczos_not_positive:
      return {krylov_outcome::breakdown, fmt::format("v'z is {:.3g}", value)};
    case halt::is_singular:
      if (is_rounding) return {krylov_outcome::stagnated};
      return {krylov_outcome::breakdown, "the matrix is singular"};
    case halt::basis_not_finite:
      return {krylov_outcome::not_finite, "A v"};
    default:
      return {};
  }
}

}  // namespace spargo::detail::krylov
