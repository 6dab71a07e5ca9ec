// Why the iterations of a device stopped; the device writes the number, the host the sentence.
#pragma once

#include <spargo/solvers/krylov.hpp>

#include <string>

namespace spargo::detail::krylov {

enum class halt : int {
  none,
  finished,  // the residual is small enough, or the iterations are used up
  curvature_not_finite,
  curvature_not_positive,
  product_not_positive,  // r'z
  residual_not_finite,
  // bicgstab
  direction_not_finite,
  stabiliser_not_finite,
  shadow_vanishes,
  stabiliser_vanishes,
  rho_vanishes,
  // minres
  lanczos_not_finite,
  lanczos_not_positive,
  is_singular,
  // gmres
  basis_not_finite,
};

struct halt_report {
  krylov_outcome outcome = krylov_outcome::converged;
  std::string detail{};
};
// `value`: what the halt is about. `is_rounding`: the residual is at the level of rounding.
[[nodiscard]] halt_report describe(halt why, double value, bool is_rounding);

}  // namespace spargo::detail::krylov
