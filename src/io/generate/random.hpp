// Counter-based randomness: draw k is a pure function of (seed, stream, k), independent of machine, threads and order.
// The mixer is SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014), applied twice.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>

namespace spargo::detail {

[[nodiscard]] SPARGO_HD constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

class counter_random {
 public:
  // Streams of one seed are independent of each other.
  constexpr counter_random(std::uint64_t seed, std::uint64_t stream) : key_(mix_bits(mix_bits(seed) ^ stream)) {}

  // 64 random bits.
  [[nodiscard]] SPARGO_HD constexpr std::uint64_t bits(std::uint64_t counter) const {
    return mix_bits(key_ ^ mix_bits(counter));
  }

  // Uniform in [0, bound), bound < 2^32 or so small against 2^64 that the bias (bound / 2^64) does not matter.
  [[nodiscard]] SPARGO_HD constexpr std::int64_t below(std::uint64_t counter, std::int64_t bound) const {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::int64_t>((static_cast<wide>(bits(counter)) * static_cast<wide>(bound)) >> 64);
  }

  // Uniform on the 2^25 multiples of 2^-24 in [-1, 1): exact in float and double, so both hold the same number.
  [[nodiscard]] SPARGO_HD constexpr double unit(std::uint64_t counter) const {
    return static_cast<double>(static_cast<std::int64_t>(bits(counter) >> 39) - (std::int64_t{1} << 24)) * 0x1p-24;
  }

 private:
  std::uint64_t key_;
};

// A keyed bijection of [0, size): a mixing network on the next power of two, iterated until in range (under 2 steps).
class random_permutation {
 public:
  random_permutation(std::int64_t size, std::uint64_t seed) : size_(static_cast<std::uint64_t>(size)) {
    while ((std::uint64_t{1} << bits_) < size_) ++bits_;
    mask_ = (std::uint64_t{1} << bits_) - 1;
    for (int r = 0; r < rounds; ++r) key_[r] = mix_bits(seed + static_cast<std::uint64_t>(r));
  }

  [[nodiscard]] SPARGO_HD std::int64_t operator()(std::int64_t i) const {
    auto x = static_cast<std::uint64_t>(i);
    do {
      x = once(x);
    } while (x >= size_);
    return static_cast<std::int64_t>(x);
  }

 private:
  static constexpr int rounds = 3;

  // Odd multiplications, additions and xor-shifts are each invertible modulo 2^bits.
  [[nodiscard]] SPARGO_HD std::uint64_t once(std::uint64_t x) const {
    const int shift = bits_ / 2 + 1;
    for (const std::uint64_t key : key_) {
      x = (x * (key | 1) + (key >> 32)) & mask_;
      x ^= x >> shift;
    }
    return x;
  }

  std::uint64_t size_;
  int bits_ = 0;
  std::uint64_t mask_ = 0;
  std::uint64_t key_[rounds] = {};
};

}  // namespace spargo::detail
