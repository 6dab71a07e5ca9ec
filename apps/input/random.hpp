// Random numbers keyed by seed and position (splitmix64: Steele, Lea, Flood, OOPSLA 2014): the same on every machine.
#pragma once

#include <cstdint>

namespace spargo::apps {

[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ULL + (position + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// Uniform in [-1, 1), a multiple of 2^-23, so exact in fp32 too.
[[nodiscard]] constexpr double random_symmetric(std::uint64_t seed, std::uint64_t position) {
  return static_cast<double>(random_bits(seed, position) >> 40) * 0x1p-23 - 1.0;
}

}  // namespace spargo::apps
