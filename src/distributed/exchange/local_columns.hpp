// Columns as a rank names them.
#pragma once

#include <spargo/core/array.hpp>

#include <algorithm>
#include <vector>

namespace spargo::detail::distributed {

// Its own from 0, then those of others (ghosts), ascending.
struct local_columns {
  std::vector<std::int64_t> ghosts;
  array<std::int32_t, host> indices;  // in the order of the entries
  std::int64_t own = 0;

  [[nodiscard]] std::int64_t size() const { return own + std::ssize(ghosts); }
  // Whether entries [first, last) name no ghost.
  [[nodiscard]] bool are_own(std::int64_t first, std::int64_t last) const {
    return std::all_of(indices.data() + first, indices.data() + last, [this](std::int32_t c) { return c < own; });
  }
};

}  // namespace spargo::detail::distributed
