// The check of a vertex given by its number.
#pragma once

#include "core/counted.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace spargo::detail::structure {

inline void expect_vertex(const char* operation, std::int64_t vertex, std::int64_t vertices) {
  SPARGO_EXPECTS(vertex >= 0 && vertex < vertices,
                 fmt::format("{}: vertex {} is out of range (the graph has {})", operation, vertex,
                             counted(vertices, "vertex", "vertices")));
}

}  // namespace spargo::detail::structure
