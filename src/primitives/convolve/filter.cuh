// Filters as kernel parameters: in constant memory, and private to a launch, so streams cannot race for them.
#pragma once

#include "primitives/convolve/device_rungs.hpp"

namespace spargo::detail::convolve {

// A line's filter, or an image's of width up to widest_parameter.
template <class T>
struct parameter_filter {
  T tap[widest_parameter * widest_parameter];
  int width;
};

template <class T>
parameter_filter<T> as_parameter(const plain_filter<T>& filter) {
  parameter_filter<T> result{};
  for (std::int64_t i = 0; i < filter.taps.size(); ++i) result.tap[i] = filter.taps[i];
  result.width = static_cast<int>(filter.width);
  return result;
}

// f(std::integral_constant<int, K>) for the odd width K <= widest_parameter.
template <class F>
void with_width(std::int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    case 9:
      return f(std::integral_constant<int, 9>{});
    case 11:
      return f(std::integral_constant<int, 11>{});
    case 13:
      return f(std::integral_constant<int, 13>{});
    case 15:
      return f(std::integral_constant<int, 15>{});
    default:
      throw error(error_code::unsupported, "convolve: a filter of width " + std::to_string(width));
  }
}

}  // namespace spargo::detail::convolve
