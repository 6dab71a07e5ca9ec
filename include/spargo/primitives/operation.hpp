// Associative operations for reductions and scans.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/core/types.hpp>

#include <string_view>

namespace spargo {

// For int32, int64, float and double. Integer sums and products wrap. Floating-point `min` and `max` give NaN if an
// operand is NaN. Bitwise operations are for integers only (floating point: invalid_argument).
enum class operation { sum, product, min, max, bit_and, bit_or };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<operation> enum_rows() noexcept;

}  // namespace spargo
