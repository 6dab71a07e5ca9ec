// Sliding maxima: checks, and volumes, processed axis by axis.
#include "primitives/stencil/sliding_max_backend.hpp"

#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "primitives/stencil/algorithms.hpp"

#include <algorithm>
#include <array>

namespace spargo {

namespace {

template <class T, class Space>
void expect_arguments(span<const T, Space> in, span<T, Space> out, sliding_max_algorithm algorithm) {
  detail::expect_runs_on<Space>(detail::stencil::sliding_max_algorithms, "sliding_max", algorithm);
  detail::expect_in_and_out("sliding_max", in, out);
}

void expect_window(const char* what, std::int64_t window) {
  SPARGO_EXPECTS(window >= 1, std::string("sliding_max: a window of ") + what + " must be 1 or wider, not " +
                                  std::to_string(window));
}

// Throws unless the shape has exactly `size` elements, however large the extents.
void expect_shape(const volume_shape& shape, std::int64_t size) {
  bool equal = shape.planes >= 0 && shape.rows >= 0 && shape.cols >= 0;
  if (equal && size == 0) equal = shape.planes == 0 || shape.rows == 0 || shape.cols == 0;
  if (equal && size > 0) {
    equal = shape.cols > 0 && shape.rows > 0 && size % shape.cols == 0 && size / shape.cols % shape.rows == 0 &&
            size / shape.cols / shape.rows == shape.planes;
  }
  SPARGO_EXPECTS(equal, "sliding_max: " + std::to_string(size) + " elements are not " + std::to_string(shape.planes) +
                            " x " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols));
}

// The algorithm requested, or automatic's choice for this window.
template <class Space, class T>
sliding_max_algorithm chosen(sliding_max_algorithm algorithm, std::int64_t window,
                             detail::stencil::sliding_direction along) {
  return algorithm == sliding_max_algorithm::automatic ? detail::stencil::choose_sliding_max<Space, T>(window, along)
                                                       : algorithm;
}

// Columns, rows, planes in this order, skipping windows of 1; the last pass writes `out`.
template <class T, class Space>
void max_by_axis(const context<Space>& ctx, span<const T, Space> in, const volume_shape& shape,
                 const volume_shape& window, span<T, Space> out, sliding_max_algorithm algorithm) {
  const std::int64_t plane = shape.rows * shape.cols;
  const std::array<detail::stencil::axis_job<T>, 3> axes = {
      {{nullptr, nullptr, shape.planes * shape.rows, shape.cols, 1, window.cols},
       {nullptr, nullptr, shape.planes, shape.rows, shape.cols, window.rows},
       {nullptr, nullptr, 1, shape.planes, plane, window.planes}}};
  int left =
      static_cast<int>(std::count_if(axes.begin(), axes.end(), [](const auto& axis) { return axis.window > 1; }));
  if (left == 0) {
    copy<T>(ctx, in, out);
    return;
  }
  array<T, Space> scratch;
  if (left > 1) scratch = array<T, Space>(ctx, in.size());
  const T* from = in.data();
  for (detail::stencil::axis_job<T> axis : axes) {
    if (axis.window == 1) continue;
    --left;
    axis.in = from;
    axis.out = left % 2 == 0 ? out.data() : scratch.data();
    if (axis.stride == 1) {
      detail::stencil::sliding_max_lines<T>(
          ctx, {axis.in, axis.out, axis.outer, axis.size, 0, axis.window},
          chosen<Space, T>(algorithm, axis.window, detail::stencil::sliding_direction::line));
    } else {
      detail::stencil::sliding_max_axis<T>(
          ctx, axis, chosen<Space, T>(algorithm, axis.window, detail::stencil::sliding_direction::axis));
    }
    from = axis.out;
  }
}

}  // namespace

template <>
enum_table<sliding_max_algorithm> enum_rows() noexcept {
  return detail::stencil::sliding_max_algorithms;
}

template <detail::real T, class Space>
void sliding_max(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, std::int64_t window,
                 span<T, Space> out, const sliding_max_options& options) try {
  expect_arguments(in, out, options.algorithm);
  expect_window("a line", window);
  if (in.empty()) return;
  if constexpr (detail::is_built<Space>) {
    detail::stencil::sliding_max_lines<T>(
        ctx, {in.data(), out.data(), 1, in.size(), 0, std::min(window, in.size())},
        chosen<Space, T>(options.algorithm, window, detail::stencil::sliding_direction::line));
  } else {
    detail::no_device("sliding_max");
  }
} catch (...) {
  detail::rethrow("sliding_max");
}

template <detail::real T, class Space>
void sliding_max(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, const volume_shape& shape,
                 const volume_shape& window, span<T, Space> out, const sliding_max_options& options) try {
  expect_arguments(in, out, options.algorithm);
  expect_shape(shape, in.size());
  expect_window("planes", window.planes);
  expect_window("rows", window.rows);
  expect_window("columns", window.cols);
  if (in.empty()) return;
  const volume_shape fits{std::min(window.planes, shape.planes), std::min(window.rows, shape.rows),
                          std::min(window.cols, shape.cols)};
  if constexpr (detail::is_built<Space>) {
    if (options.algorithm == sliding_max_algorithm::naive) {
      detail::stencil::sliding_max_naive<T>(ctx, in.data(), out.data(), shape, fits);
    } else {
      max_by_axis<T>(ctx, in, shape, fits, out, options.algorithm);
    }
  } else {
    detail::no_device("sliding_max");
  }
} catch (...) {
  detail::rethrow("sliding_max");
}

#define INSTANTIATE(T, Space)                                                                                          \
  template void sliding_max<T, Space>(const context<Space>&, std::type_identity_t<span<const T, Space>>, std::int64_t, \
                                      span<T, Space>, const sliding_max_options&);                                     \
  template void sliding_max<T, Space>(const context<Space>&, std::type_identity_t<span<const T, Space>>,               \
                                      const volume_shape&, const volume_shape&, span<T, Space>,                        \
                                      const sliding_max_options&);
SPARGO_FOR_EACH_REAL_SPACE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
