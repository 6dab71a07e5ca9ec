// The check of a vertex given by its number, and polls for an interruption.
#pragma once

#include "core/counted.hpp"

#include <spargo/core/error.hpp>
#include <spargo/core/interruption.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace spargo::detail::structure {

inline void expect_vertex(const char* operation, std::int64_t vertex, std::int64_t vertices) {
  SPARGO_EXPECTS(vertex >= 0 && vertex < vertices,
                 fmt::format("{}: vertex {} is out of range (the graph has {})", operation, vertex,
                             counted(vertices, "vertex", "vertices")));
}

// Called once a vertex, with their count so far: polls at one in 4096.
inline void poll(std::int64_t count) {
  if (count % 4096 == 0) interruption::look();
}

}  // namespace spargo::detail::structure
