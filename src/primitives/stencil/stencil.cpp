#include "primitives/stencil/backend.hpp"

#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "primitives/stencil/algorithms.hpp"

#include <algorithm>

namespace spargo {

namespace {

struct tuning {
  // Wider windows are scanned (host). 2^24 float, 2 threads, ms: window 5 24 (scan 49); 9 24 (24); 17 32 (24).
  static constexpr std::int64_t widest_tiled_window = 9;
};

template <class Space>
constexpr bool on_device = std::same_as<Space, device>;

}  // namespace

template <>
enum_table<stencil_algorithm> enum_rows() noexcept {
  return detail::stencil::window_average_algorithms;
}

template <detail::real T, class Space>
void window_average(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, std::int64_t radius,
                    span<T, Space> out, const stencil_options& options) try {
  using enum stencil_algorithm;
  constexpr const char* operation = "window_average";
  detail::expect_runs_on<Space>(detail::stencil::window_average_algorithms, operation, options.algorithm);
  SPARGO_EXPECTS(radius >= 0, "window_average: a negative radius of " + std::to_string(radius));
  detail::expect_in_and_out(operation, in, out);
  if (in.empty()) return;
  const std::int64_t reach = std::min(radius, in.size());
  const std::int64_t window = 2 * reach + 1;
  const bool scanned = on_device<Space> || window > tuning::widest_tiled_window;
  const stencil_algorithm algorithm =
      options.algorithm == automatic ? (scanned ? register_marched : tiled) : options.algorithm;
  if constexpr (detail::is_built<Space>) {
    const auto divisor = static_cast<T>(2 * static_cast<double>(radius) + 1);
    detail::stencil::window_average<T>(ctx, {in.data(), out.data(), 1, in.size(), -reach, window}, divisor, algorithm);
  } else {
    detail::no_device(operation);
  }
} catch (...) {
  detail::rethrow("window_average");
}

template <detail::real T, class Space>
void five_point_average(const context<Space>& ctx, std::type_identity_t<image_view<const T, Space>> in,
                        image_view<T, Space> out, const stencil_options& options) try {
  using enum stencil_algorithm;
  constexpr const char* operation = "five_point_average";
  detail::expect_runs_on<Space>(detail::stencil::five_point_algorithms, operation, options.algorithm);
  detail::expect_in_and_out(operation, in, out);
  if (in.rows == 0 || in.cols == 0) return;
  stencil_algorithm algorithm = options.algorithm;
  if (algorithm == automatic) {
    algorithm = !on_device<Space> ? tiled : (in.cols < detail::stencil::narrowest_march ? naive : register_marched);
  }
  if constexpr (detail::is_built<Space>) {
    detail::stencil::five_point_average<T>(
        ctx, {in.data.data(), in.pitch, out.data.data(), out.pitch, in.rows, in.cols}, algorithm);
  } else {
    detail::no_device(operation);
  }
} catch (...) {
  detail::rethrow("five_point_average");
}

#define INSTANTIATE(T, Space)                                                                                         \
  template void window_average<T, Space>(const context<Space>&, std::type_identity_t<span<const T, Space>>,           \
                                         std::int64_t, span<T, Space>, const stencil_options&);                       \
  template void five_point_average<T, Space>(const context<Space>&, std::type_identity_t<image_view<const T, Space>>, \
                                             image_view<T, Space>, const stencil_options&);
SPARGO_FOR_EACH_REAL_SPACE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
