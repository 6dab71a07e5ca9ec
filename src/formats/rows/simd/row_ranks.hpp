// The order of a short row's columns, by counting.
//
// Idea: the rank of an entry is the number of smaller ones, counted for all entries at once: a row of n takes n^2
// comparisons in n^2 / 8 instructions or fewer, and no branch depends on the data. Equal columns have equal ranks,
// which the sum of all ranks tells.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace spargo::detail::convert {

inline constexpr int most_ranked = 32;  // columns of a row at most

// A row's columns, and where they belong in it; filled up to a multiple of the processor's vectors.
struct ranked_row {
  alignas(64) std::array<std::uint32_t, most_ranked> cols;
  alignas(64) std::array<std::int32_t, most_ranked> ranks;
};

// Of `n` columns below 2^31, at most most_ranked; false where two of them are equal, and then the ranks are of no use.
using rank_row = bool (*)(const std::uint32_t* cols, int n, ranked_row& to);

// The widest instructions of this processor.
[[nodiscard]] rank_row best_rank_row();

// For any processor; the compiler takes as many at a time as it may.
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
