// Position of a weight in a file.
#pragma once

#include "input/input.hpp"

#include <cstdint>

namespace spargo::apps {

// Line and column of the value of entry k (from 0, in file order) of `entries`. Reads the file again; only the name if
// that is impossible or entries are not one per line.
[[nodiscard]] source_position weight_position(const input_description& input, std::int64_t k, std::int64_t entries);

}  // namespace spargo::apps
