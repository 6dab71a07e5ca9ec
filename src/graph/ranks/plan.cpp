// What the three plans check and estimate alike.
#include "graph/ranks/plan.hpp"
#include "graph/ranks/host_pull.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace spargo::detail::ranks {

void expect_limits(std::string_view operation, double tolerance, std::int64_t max_iterations) {
  SPARGO_EXPECTS(tolerance >= 0 && std::isfinite(tolerance),
                 fmt::format("{}: tolerance {} (expected 0 or more)", operation, tolerance));
  SPARGO_EXPECTS(max_iterations >= 1,
                 fmt::format("{}: at most {} iterations (expected 1 or more)", operation, max_iterations));
}

plan_estimate estimate_power(const graph_shape& s, std::int64_t vectors, std::int64_t sides) {
  constexpr double step_ns = 2.5;  // per entry; R-MAT 20, one thread
  constexpr double steps = 20;
  constexpr std::int64_t value = sizeof(double);
  plan_estimate of;
  of.host_bytes = s.vertices * vectors * value + (s.vertices / (1 << 13) + 1) * 16 +
                  sides * ((s.vertices + s.entries) / pull_tuning::chunk + 2) * value + s.missing_in_bytes();
  of.host_seconds = expected_seconds(s, step_ns * steps * static_cast<double>(sides));
  return of;
}

}  // namespace spargo::detail::ranks
