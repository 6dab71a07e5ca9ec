// "1 vertex", "2 vertices": numbers of things in messages.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace spargo::detail {

// Without a plural: the singular with an s.
[[nodiscard]] inline std::string counted(std::int64_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1 || many.empty()) return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  return fmt::format("{} {}", count, many);
}

}  // namespace spargo::detail
