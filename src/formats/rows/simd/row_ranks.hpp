// Sorts a short row's columns by counting ranks.
//
// The rank of an entry is the number of smaller ones, counted for all entries at once: a row of n takes n^2 comparisons
// in at most n^2 / 8 instructions, without data-dependent branches. The sum of ranks shows whether columns are equal.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace spargo::detail::convert {

inline constexpr int most_ranked = 32;  // longest row

// A row's columns and their ranks, padded to a multiple of the vector length.
struct ranked_row {
  alignas(64) std::array<std::uint32_t, most_ranked> cols;
  alignas(64) std::array<std::int32_t, most_ranked> ranks;
};

// For `n` <= most_ranked columns below 2^31. False if two are equal; the ranks are then invalid.
using rank_row = bool (*)(const std::uint32_t* cols, int n, ranked_row& to);

[[nodiscard]] rank_row best_rank_row();

// For any processor; the compiler vectorises as it can.
template <int Width>
[[nodiscard]] bool rank_up_to(const std::uint32_t* cols, int n, ranked_row& to) {
  std::array<std::int32_t, Width> keys;
  std::array<std::int32_t, Width> ranks{};
  for (int i = 0; i < Width; ++i) {
    keys[static_cast<std::size_t>(i)] =
        i < n ? static_cast<std::int32_t>(cols[i]) : std::numeric_limits<std::int32_t>::max();
  }
  for (int j = 0; j < n; ++j) {
    const std::int32_t key = keys[static_cast<std::size_t>(j)];
    for (std::size_t i = 0; i < Width; ++i) ranks[i] += key < keys[i] ? 1 : 0;
  }
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += ranks[static_cast<std::size_t>(i)];
  for (std::size_t i = 0; i < Width; ++i) {
    to.cols[i] = static_cast<std::uint32_t>(keys[i]);
    to.ranks[i] = ranks[i];
  }
  return sum == n * (n - 1) / 2;
}

[[nodiscard]] inline bool rank_anywhere(const std::uint32_t* cols, int n, ranked_row& to) {
  if (n <= 8) return rank_up_to<8>(cols, n, to);
  if (n <= 16) return rank_up_to<16>(cols, n, to);
  return rank_up_to<most_ranked>(cols, n, to);
}

}  // namespace spargo::detail::convert
