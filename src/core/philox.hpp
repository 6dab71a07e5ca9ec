// Philox4x32-10: a block of four random words for each counter and key, by arithmetic alone. So word k of a stream can
// be computed anywhere, in any order, with the same bits on every backend.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; it passes BigCrush.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>

namespace spargo::detail {

struct philox_block {
  std::uint32_t words[4];

  // 64 random bits, k = 0 or 1.
  [[nodiscard]] SPARGO_HD constexpr std::uint64_t bits(int k) const {
    return words[2 * k] | static_cast<std::uint64_t>(words[2 * k + 1]) << 32;
  }
};

[[nodiscard]] SPARGO_HD constexpr philox_block philox(philox_block counter, std::uint64_t key) {
  constexpr int rounds = 10;
  auto low_key = static_cast<std::uint32_t>(key);
  auto high_key = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t a = counter.words[0];
  std::uint32_t b = counter.words[1];
  std::uint32_t c = counter.words[2];
  std::uint32_t d = counter.words[3];
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t left = std::uint64_t{0xD2511F53U} * a;
    const std::uint64_t right = std::uint64_t{0xCD9E8D57U} * c;
    a = static_cast<std::uint32_t>(right >> 32) ^ b ^ low_key;
    b = static_cast<std::uint32_t>(right);
    c = static_cast<std::uint32_t>(left >> 32) ^ d ^ high_key;
    d = static_cast<std::uint32_t>(left);
    low_key += 0x9E3779B9U;
    high_key += 0xBB67AE85U;
  }
  return {{a, b, c, d}};
}

// floor(random * bound / 2^64): uniform in [0, bound) for random 64-bit words, up to a bias of bound / 2^64.
[[nodiscard]] SPARGO_HD constexpr std::uint64_t below(std::uint64_t random, std::uint64_t bound) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(random) * bound) >> 64);
}

}  // namespace spargo::detail
