// Where in a file a weight stands.
#pragma once

#include "input/input.hpp"

#include <cstdint>

namespace spargo::apps {

// Line and column of the value of entry k, counted from 0 in the order of the file, of `entries` in all. Reads the file
// once more; only its name where that cannot be done, or where entries do not stand one per line.
[[nodiscard]] source_position weight_position(const input_description& input, std::int64_t k, std::int64_t entries);

}  // namespace spargo::apps
