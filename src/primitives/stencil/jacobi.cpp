// Jacobi's iteration: checks, and the loop over passes and tests, the same for both backends.
//
// Two arrays alternate as source and target. The sweeps before a test run in passes of as many sweeps as the algorithm
// makes at once; the last sweep runs alone and compares its target with its source, so the test never sees swapped
// arrays. Cost: an array of scratch, and a final copy if the number of passes is odd.
#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "primitives/stencil/algorithms.hpp"
#include "primitives/stencil/backend.hpp"

#include <algorithm>
#include <cmath>

namespace spargo {

namespace {

template <class Space>
constexpr bool on_device = std::same_as<Space, device>;

template <class Space>
void expect_options(const jacobi_options& options) {
  detail::expect_runs_on<Space>(detail::stencil::jacobi_algorithms, "jacobi", options.algorithm);
  SPARGO_EXPECTS(!std::isnan(options.tolerance), "jacobi: the tolerance is not a number");
  SPARGO_EXPECTS(options.max_iterations >= 0,
                 "jacobi: max_iterations must not be negative: " + std::to_string(options.max_iterations));
  SPARGO_EXPECTS(options.check_every >= 1,
                 "jacobi: check_every must be 1 or more, not " + std::to_string(options.check_every));
}

template <class T, class Space>
jacobi_result iterate(const context<Space>& ctx, const image_view<T, Space>& u, const jacobi_options& options,
                      jacobi_algorithm algorithm) {
  const std::int64_t pitch = div_up(u.cols, 4) * 4;  // rows of scratch are aligned for vectors
  array<T, Space> scratch(ctx, u.rows * pitch);
  array<T, Space> residual(ctx, 1);
  struct grid {
    T* data;
    std::int64_t pitch;
  };
  grid from{u.data.data(), u.pitch};
  grid to{scratch.data(), pitch};
  const auto job = [&] {
    return detail::stencil::five_point_job<T>{from.data, from.pitch, to.data, to.pitch, u.rows, u.cols};
  };
  jacobi_result result;
  while (result.iterations < options.max_iterations && !result.converged) {
    std::int64_t left = std::min(options.check_every, options.max_iterations - result.iterations);
    result.iterations += left;
    while (left > 1) {
      left -= detail::stencil::jacobi_sweeps(ctx, job(), left - 1, algorithm);
      std::swap(from, to);
    }
    result.residual = static_cast<double>(detail::stencil::jacobi_tested_sweep(ctx, job(), residual.view(), algorithm));
    std::swap(from, to);
    result.converged = result.residual < options.tolerance;
  }
  if (from.data != u.data.data()) detail::stencil::copy_cells(ctx, job());
  return result;
}

}  // namespace

template <>
enum_table<jacobi_algorithm> enum_rows() noexcept {
  return detail::stencil::jacobi_algorithms;
}

template <detail::real T, class Space>
jacobi_result jacobi(const context<Space>& ctx, image_view<T, Space> u, const jacobi_options& options) try {
  using enum jacobi_algorithm;
  expect_options<Space>(options);
  detail::expect_matrix("jacobi", "the array", u);
  if (u.rows == 0 || u.cols == 0 || options.max_iterations == 0) {
    const bool is_settled = options.max_iterations > 0 && options.tolerance > 0;
    return {is_settled ? std::min(options.check_every, options.max_iterations) : options.max_iterations, 0, is_settled};
  }
  jacobi_algorithm algorithm = options.algorithm;
  if (algorithm == automatic)
    algorithm = on_device<Space> && u.cols < detail::stencil::narrowest_march ? naive : temporal;
  if constexpr (detail::is_built<Space>) {
    return iterate<T>(ctx, u, options, algorithm);
  } else {
    detail::no_device("jacobi");
  }
} catch (...) {
  detail::rethrow("jacobi");
}

#define INSTANTIATE(T, Space) \
  template jacobi_result jacobi<T, Space>(const context<Space>&, image_view<T, Space>, const jacobi_options&);
SPARGO_FOR_EACH_REAL_SPACE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
