// Weights of a row as integers whose sum fits 62 bits: scaled by a power of two, so that the largest takes as many bits
// as the number of entries leaves, and rounded down, but not to 0. Scaling by a power of two is exact, so both backends
// get the same integers.
#pragma once

#include <spargo/core/types.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace spargo::detail::walks {

[[nodiscard]] SPARGO_HD inline bool is_weight(double weight) {
  return weight >= 0 && weight <= std::numeric_limits<double>::max();
}

// The power of two for a row; its largest weight is positive.
[[nodiscard]] SPARGO_HD inline int scale_of_row(double largest, std::int64_t entries) {
  constexpr int sum_bits = 62;
  int bits = sum_bits;
  while (bits > 0 && (std::int64_t{1} << (sum_bits - bits)) < entries) --bits;
  int exponent = 0;
  (void)std::frexp(largest, &exponent);
  return bits - exponent;
}

[[nodiscard]] SPARGO_HD inline std::uint64_t fixed_weight(double weight, int scale) {
  if (!(weight > 0)) return 0;
  const auto fixed = static_cast<std::uint64_t>(std::ldexp(weight, scale));
  return fixed > 0 ? fixed : 1;
}

}  // namespace spargo::detail::walks
