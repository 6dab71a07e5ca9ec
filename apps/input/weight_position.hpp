// Position of a weight in a file.
#pragma once

#include "input/input.hpp"

#include <cstdint>

namespace spargo::apps {

// Line and column of the value of entry k (from 0) of `entries`. Reads the file again; only the name if impossible.
[[nodiscard]] source_position weight_position(const input_description& input, std::int64_t k, std::int64_t entries);

}  // namespace spargo::apps
