// A hash of strings, 16 bytes per step: two words are multiplied to 128 bits and the halves combined.
//
// The folded multiplication is wyhash's (Wang Yi, public domain). A secret seed keeps a hostile file from choosing
// colliding names. 1.5 ns for a name of 10 bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace spargo::detail::name_hash {

__extension__ using uint128 = unsigned __int128;

inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const uint128 product = static_cast<uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
std::uint64_t load(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

[[nodiscard]] inline std::uint64_t of(std::string_view name, std::uint64_t seed) noexcept {
  constexpr std::uint64_t first_key = 0xa0761d6478bd642f;
  constexpr std::uint64_t second_key = 0xe7037ed1a0b428db;
  const char* p = name.data();
  std::size_t left = name.size();
  std::uint64_t h = seed ^ fold(left ^ first_key, second_key);
  for (; left > 16; left -= 16, p += 16) {
    h = fold(load<std::uint64_t>(p) ^ first_key, load<std::uint64_t>(p + 8) ^ h);
  }
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (left >= 8) {
    a = load<std::uint64_t>(p);
    b = load<std::uint64_t>(p + left - 8);
  } else if (left >= 4) {
    a = load<std::uint32_t>(p);
    b = load<std::uint32_t>(p + left - 4);
  } else if (left > 0) {
    a = static_cast<unsigned char>(p[0]) | std::uint64_t{static_cast<unsigned char>(p[left / 2])} << 8 |
        std::uint64_t{static_cast<unsigned char>(p[left - 1])} << 16;
  }
  return fold(second_key ^ fold(a ^ first_key, b ^ h), first_key);
}

// Maps a hash to one of `count` places, monotonically.
[[nodiscard]] inline std::int64_t place_of(std::uint64_t hash, std::int64_t count) noexcept {
  return static_cast<std::int64_t>((static_cast<uint128>(hash) * static_cast<std::uint64_t>(count)) >> 64);
}

[[nodiscard]] inline std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace spargo::detail::name_hash
