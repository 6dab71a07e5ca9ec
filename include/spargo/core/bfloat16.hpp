// A storage type: the upper half of a float.
#pragma once

#include <spargo/core/config.hpp>

#include <bit>
#include <cstdint>

namespace spargo {

// 1 sign bit, 8 exponent bits, 7 stored significand bits: float's range, relative rounding error at most 2^-8. For
// inputs of matrix products; arithmetic is in float.
struct SPARGO_EXPORT bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;

  // Rounds to nearest, ties to even. Overflow gives infinity; NaN stays a quiet NaN of the same sign.
  constexpr explicit bfloat16(float value) : bits(rounded(std::bit_cast<std::uint32_t>(value))) {}

  [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 value(0.0F);
    value.bits = bits;
    return value;
  }

  // Exact.
  constexpr operator float() const {  // NOLINT: a widening conversion on purpose
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  static constexpr std::uint16_t rounded(std::uint32_t value) {
    constexpr std::uint32_t infinity = 0x7f800000U;
    if ((value & 0x7fffffffU) > infinity) return static_cast<std::uint16_t>(value >> 16 | 0x40U);
    return static_cast<std::uint16_t>((value + 0x7fffU + (value >> 16 & 1U)) >> 16);
  }
};

static_assert(sizeof(bfloat16) == 2);

}  // namespace spargo
