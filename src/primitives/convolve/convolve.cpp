// Convolution: checks, factoring of rank-1 filters, choice of algorithm.
#include "primitives/convolve/backend.hpp"

#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace spargo {

namespace {

using detail::convolve::plain_filter;
using detail::convolve::separated_filter;

struct tuning {
  // Below this width `automatic` does not factor: the plain sum is memory-bound too (host, 2048 x 2048 float, two
  // threads, ms, plain and separable: K = 3 1.09, 1.38; K = 7 2.85, 1.79).
  static constexpr int narrowest_separable_on_device = 9;
  static constexpr int narrowest_separable_on_host = 7;
};

template <class Space>
constexpr bool on_device = std::same_as<Space, device>;

template <class Space>
void expect_algorithm(convolve_algorithm algorithm, std::int64_t width) {
  detail::expect_runs_on<Space>(detail::convolve::algorithms, "convolve", algorithm);
  if (!detail::convolve::takes_width<Space>(algorithm, width)) {
    throw error(error_code::unsupported,
                "convolve: " + std::string(to_string(algorithm)) + " takes filters of width up to " +
                    std::to_string(detail::convolve::widest_parameter) + ", not " + std::to_string(width));
  }
}

std::int64_t odd_width(std::int64_t width) {
  SPARGO_EXPECTS(width > 0 && width % 2 == 1, "convolve: the filter's width must be odd, not " + std::to_string(width));
  return width;
}
std::int64_t square_width(std::int64_t taps) {
  auto width = static_cast<std::int64_t>(std::sqrt(static_cast<double>(taps)));
  while (width * width > taps) --width;
  while ((width + 1) * (width + 1) <= taps) ++width;
  SPARGO_EXPECTS(width * width == taps,
                 "convolve: the filter of an image is square; it has " + std::to_string(taps) + " taps");
  return odd_width(width);
}

template <class T>
bool all_finite(span<const T, host> values) {
  return std::all_of(values.begin(), values.end(), [](T v) { return std::isfinite(v); });
}

// Whether scaling `from` to `to` kept its relative precision (no underflow).
template <class T>
bool is_exact_scale(T to, T from) {
  return std::isnormal(to) || from == 0;
}

// Factors the filter if it is an outer product up to the rounding of its taps. The power of two in each factor is
// chosen so that a pass along rows cannot overflow.
template <class T>
std::optional<separated_filter<T>> separated(const plain_filter<T>& filter) {
  const auto k = static_cast<int>(filter.width);
  const auto& f = filter.taps;
  const auto largest = std::max_element(f.begin(), f.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
  const auto pivot = static_cast<int>(largest - f.begin());
  const int p = pivot / k;
  const int q = pivot % k;
  using wide = long double;
  const wide top = f[pivot];
  if (top == 0 || !std::isfinite(top)) return std::nullopt;
  const wide tolerance = 2 * static_cast<wide>(std::numeric_limits<T>::epsilon());  // four times the unit roundoff
  for (int s = 0; s < k; ++s) {
    for (int t = 0; t < k; ++t) {
      const wide whole = static_cast<wide>(f[s * k + t]) * top;
      const wide product = static_cast<wide>(f[s * k + q]) * static_cast<wide>(f[p * k + t]);
      if (!(std::abs(whole - product) <= tolerance * std::abs(whole))) return std::nullopt;
    }
  }
  separated_filter<T> parts;
  wide sum = 0;
  for (int t = 0; t < k; ++t) sum += std::abs(static_cast<wide>(f[p * k + t]) / top);
  const int shift = -static_cast<int>(std::ceil(std::log2(sum)));
  for (int t = 0; t < k; ++t) {
    parts.across.push_back(static_cast<T>(std::ldexp(static_cast<wide>(f[p * k + t]) / top, shift)));
    parts.down.push_back(static_cast<T>(std::ldexp(static_cast<wide>(f[t * k + q]), -shift)));
    if (!is_exact_scale(parts.across.back(), f[p * k + t]) || !is_exact_scale(parts.down.back(), f[t * k + q])) {
      return std::nullopt;
    }
  }
  return parts;
}

template <class Space>
constexpr int narrowest_separable =
    on_device<Space> ? tuning::narrowest_separable_on_device : tuning::narrowest_separable_on_host;

template <class T, class Space>
void convolve_checked(const context<Space>& ctx, const image_view<const T, Space>& in, const plain_filter<T>& filter,
                      const image_view<T, Space>& out, const convolve_options& options) {
  using enum convolve_algorithm;
  convolve_algorithm algorithm = options.algorithm;
  const bool worth = filter.width >= narrowest_separable<Space> &&
                     detail::convolve::takes_width<Space>(separable, filter.width) &&
                     options.separable == separable_filters::detected;
  if (algorithm == separable || (algorithm == automatic && worth)) {
    if (const auto parts = separated(filter); parts) {
      detail::convolve::run_image(ctx, in, *parts, out);
      return;
    }
    SPARGO_EXPECTS(algorithm != separable,
                   "convolve: the filter is not separable (expected the outer product of a column and a row)");
  }
  if (algorithm == automatic) algorithm = register_tiled;
  if (!all_finite(filter.taps)) algorithm = naive;
  detail::convolve::run_image(ctx, in, filter, out, algorithm);
}

}  // namespace

template <>
enum_table<convolve_algorithm> enum_rows() noexcept {
  return detail::convolve::algorithms;
}

template <detail::real T, class Space>
void convolve(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
              std::type_identity_t<span<const T, host>> filter, span<T, Space> out,
              const convolve_options& options) try {
  using enum convolve_algorithm;
  detail::expect_in_and_out("convolve", in, out);
  detail::expect_range("convolve", "the filter", filter);
  expect_algorithm<Space>(options.algorithm, odd_width(filter.size()));
  SPARGO_EXPECTS(options.algorithm != separable, "convolve: separable is for images, not for lines");
  if (in.empty()) return;
  convolve_algorithm algorithm = options.algorithm == automatic ? register_tiled : options.algorithm;
  if (!all_finite(filter)) algorithm = naive;
  if constexpr (detail::is_built<Space>) {
    detail::convolve::run_line<T>(ctx, in, {filter, filter.size()}, out, algorithm);
  } else {
    detail::no_device("convolve");
  }
} catch (...) {
  detail::rethrow("convolve");
}

template <detail::real T, class Space>
void convolve(const context<Space>& ctx, std::type_identity_t<image_view<const T, Space>> in,
              std::type_identity_t<span<const T, host>> filter, image_view<T, Space> out,
              const convolve_options& options) try {
  detail::expect_in_and_out("convolve", in, out);
  detail::expect_range("convolve", "the filter", filter);
  const std::int64_t width = square_width(filter.size());
  expect_algorithm<Space>(options.algorithm, width);
  if (in.rows == 0 || in.cols == 0) return;
  if constexpr (detail::is_built<Space>) {
    convolve_checked<T>(ctx, in, {filter, width}, out, options);
  } else {
    detail::no_device("convolve");
  }
} catch (...) {
  detail::rethrow("convolve");
}

#define INSTANTIATE(T, Space)                                                                               \
  template void convolve<T, Space>(const context<Space>&, std::type_identity_t<span<const T, Space>>,       \
                                   std::type_identity_t<span<const T, host>>, span<T, Space>,               \
                                   const convolve_options&);                                                \
  template void convolve<T, Space>(const context<Space>&, std::type_identity_t<image_view<const T, Space>>, \
                                   std::type_identity_t<span<const T, host>>, image_view<T, Space>,         \
                                   const convolve_options&);
SPARGO_FOR_EACH_REAL_SPACE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
