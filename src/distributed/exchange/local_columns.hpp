// Local column numbers of a rank.
#pragma once

#include <spargo/core/array.hpp>

#include <algorithm>
#include <vector>

namespace spargo::detail::distributed {

// Own columns from 0, then ghosts (columns of other ranks), ascending.
struct local_columns {
  std::vector<std::int64_t> ghosts;
  array<std::int32_t, host> indices;  // in the order of the entries
  std::int64_t own = 0;

  [[nodiscard]] std::int64_t size() const { return own + std::ssize(ghosts); }
  // Whether entries [first, last) contain no ghost.
  [[nodiscard]] bool are_own(std::int64_t first, std::int64_t last) const {
    return std::all_of(indices.data() + first, indices.data() + last, [this](std::int32_t c) { return c < own; });
  }
};

}  // namespace spargo::detail::distributed
