// The associative operations of reductions and scans.
#pragma once

#include <spargo/core/types.hpp>

#include <string_view>

namespace spargo {

// Over int32, int64, float and double. Integer sums and products wrap. `min` and `max` of floating-point values give
// NaN where an operand is NaN. The bitwise operations are for integers; of floating-point values they are refused
// (invalid_argument).
enum class operation { sum, product, min, max, bit_and, bit_or };

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(operation op) noexcept;

}  // namespace spargo
