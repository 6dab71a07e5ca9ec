// Checks and estimate of the three plans.
#include "graph/ranks/plan.hpp"
#include "graph/ranks/host_pull.hpp"

#include <spargo/core/error.hpp>
#include <spargo/sparse/spmv.hpp>

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
  // A copy of the matrix, the values that it is made from, and the plan's vectors; both matrices of a directed graph.
  const std::int64_t matrices = s.direction == direction_kind::directed ? sides : 1;
  const plan_estimate product = estimate(matrix_shape{.rows = s.vertices,
                                                      .cols = s.vertices,
                                                      .entries = s.entries,
                                                      .index_bytes = s.index_bytes,
                                                      .offset_bytes = s.offset_bytes,
                                                      .value_bytes = value},
                                         spmv_options{.storage = spmv_storage::copied});
  of.device_bytes = s.vertices * vectors * value + matrices * (product.device_bytes + s.entries * value) +
                    (std::int64_t{1} << 16) + s.missing_in_bytes();
  of.host_seconds = expected_seconds(s, step_ns * steps * static_cast<double>(sides));
  return of;
}

}  // namespace spargo::detail::ranks
