// The host and device backends of sliding maxima, for checked arguments.
#pragma once

#include "primitives/stencil/sliding_fold.hpp"

#include <spargo/primitives/sliding_max.hpp>

namespace spargo::detail::stencil {

// The widest windows for which `automatic` chooses `tiled`; wider ones use van_herk.
struct sliding_max_tuning {
  struct windows {
    std::int64_t line;
    std::int64_t axis;
  };
  // 2^24 float on 2 threads, ms, tiled and van_herk: window 17 46, 60; 33 79, 50; double, window 17 56, 43.
  static constexpr windows on_host{17, 5};
  static constexpr windows on_host_for_double{9, 5};
  // H200, ms, tiled and van_herk: 2^28 floats, window 5 0.810, 0.868; 640^3 by axes, window 3 2.745, 3.934.
  static constexpr windows on_device{5, 8};
};

enum class sliding_direction { line, axis };

// `tiled` or `van_herk`.
template <class Space, class T>
[[nodiscard]] constexpr sliding_max_algorithm choose_sliding_max(std::int64_t window, sliding_direction along) {
  constexpr auto widest = std::same_as<Space, device>   ? sliding_max_tuning::on_device
                          : sizeof(T) == sizeof(double) ? sliding_max_tuning::on_host_for_double
                                                        : sliding_max_tuning::on_host;
  const bool is_narrow = window <= (along == sliding_direction::line ? widest.line : widest.axis);
  return is_narrow ? sliding_max_algorithm::tiled : sliding_max_algorithm::van_herk;
}

// Along lines; the window is at most the line's length. `algorithm` is not automatic.
template <class T>
void sliding_max_lines(const context<host>& ctx, const fold_job<T>& job, sliding_max_algorithm algorithm);
template <class T>
void sliding_max_lines(const context<device>& ctx, const fold_job<T>& job, sliding_max_algorithm algorithm);

// Along an axis with strided elements; tiled or van_herk.
template <class T>
void sliding_max_axis(const context<host>& ctx, const axis_job<T>& job, sliding_max_algorithm algorithm);
template <class T>
void sliding_max_axis(const context<device>& ctx, const axis_job<T>& job, sliding_max_algorithm algorithm);

// Every element of every window.
template <class T>
void sliding_max_naive(const context<host>& ctx, const T* in, T* out, const volume_shape& shape,
                       const volume_shape& window);
template <class T>
void sliding_max_naive(const context<device>& ctx, const T* in, T* out, const volume_shape& shape,
                       const volume_shape& window);

}  // namespace spargo::detail::stencil
