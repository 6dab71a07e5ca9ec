#include "cli/text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace spargo::apps {

std::string with_commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", with_commas(count), one) : fmt::format("{} {}", with_commas(count), many);
}

std::string format_milliseconds(double value) {
  if (value >= 1e3) return fmt::format("{:.3g} s", value * 1e-3);
  if (value >= 1.0) return fmt::format("{:.4g} ms", value);
  return fmt::format("{:.4g} us", value * 1e3);
}

std::string format_bytes(double bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace spargo::apps
