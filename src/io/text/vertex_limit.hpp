// The error for files with more vertices than the caller's index type can hold.
#pragma once

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

namespace spargo::detail {

template <class I>
void expect_vertices(const std::string& path, std::int64_t vertices) {
  constexpr I most = std::numeric_limits<I>::max();
  if (vertices <= most) return;
  throw error(error_code::unsupported, {path},
              fmt::format("{} vertices (expected at most {} for {}-bit indices)", vertices, most, 8 * sizeof(I)));
}

}  // namespace spargo::detail
