// Numbers of fp32 that are kept as fp64, printed as fp32 would be.
#pragma once

#include <charconv>
#include <cmath>

namespace spargo::apps {

// The fp64 number whose shortest decimals are those of `value`: 0.1 for 0.1F, not 0.10000000149011612.
[[nodiscard]] inline double as_printed(float value) {
  if (!std::isfinite(value)) return value;
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  double printed = 0;
  std::from_chars(text, end, printed);
  return printed;
}

}  // namespace spargo::apps
