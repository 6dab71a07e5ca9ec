#pragma once

#include <unistd.h>

#include <cstdint>

namespace spargo::detail {

// In bytes; 1 MiB if unknown.
[[nodiscard]] inline std::int64_t host_l2_bytes() {
  constexpr std::int64_t unknown = std::int64_t{1} << 20;
  static const std::int64_t bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : unknown;
}

}  // namespace spargo::detail
