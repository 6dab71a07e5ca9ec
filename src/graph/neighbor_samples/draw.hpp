// Draws the entries that a hop takes from a row; shared by both backends, integer arithmetic only.
//
// Without replacement, Floyd's method costs the square of the number of entries drawn, algorithm S the length of the
// row; the cheaper one is used.
#pragma once

#include "core/philox.hpp"

#include <spargo/graph/neighbor_samples.hpp>

#include <cstdint>

namespace spargo::detail::neighbor_samples {

// What a hop draws, and from which random words.
struct hop_rule {
  std::int64_t fan_out = 0;
  sample_replacement replacement = sample_replacement::without;
  std::uint64_t seed = 0;
  std::uint32_t hop = 0;

  // The number of entries drawn from a row.
  [[nodiscard]] SPARGO_HD std::int64_t count(std::int64_t row) const {
    if (fan_out < 0 || row == 0) return row;
    return replacement == sample_replacement::without && row < fan_out ? row : fan_out;
  }
};

// The stream of 64-bit random words of a vertex.
class vertex_words {
 public:
  SPARGO_HD vertex_words(const hop_rule& rule, std::int64_t vertex) : rule_(rule), vertex_(vertex), block_{} {}

  [[nodiscard]] SPARGO_HD std::uint64_t next() {
    const int half = static_cast<int>(drawn_ % 2);
    if (half == 0) {
      const auto v = static_cast<std::uint64_t>(vertex_);
      block_ = philox({{static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v >> 32), rule_.hop,
                        static_cast<std::uint32_t>(drawn_ / 2)}},
                      rule_.seed);
    }
    ++drawn_;
    return block_.bits(half);
  }
  [[nodiscard]] SPARGO_HD std::int64_t next_below(std::int64_t bound) {
    return static_cast<std::int64_t>(below(next(), static_cast<std::uint64_t>(bound)));
  }

 private:
  hop_rule rule_;
  std::int64_t vertex_;
  std::int64_t drawn_ = 0;
  philox_block block_;
};

// Entries first + k of a vertex's row, rule.count(row) of them.
template <class O>
SPARGO_HD void draw_entries(const hop_rule& rule, std::int64_t vertex, std::int64_t first, std::int64_t row,
                            O* entries) {
  const std::int64_t count = rule.count(row);
  vertex_words words(rule, vertex);
  const auto take = [&](std::int64_t place, std::int64_t k) { entries[place] = static_cast<O>(first + k); };
  if (rule.fan_out < 0 || (rule.replacement == sample_replacement::without && count == row)) {
    for (std::int64_t k = 0; k < row; ++k) take(k, k);
  } else if (rule.replacement == sample_replacement::with) {
    for (std::int64_t k = 0; k < count; ++k) take(k, words.next_below(row));
  } else if (count == 0 ||
             count <= row / count) {  // Floyd: draws among the first j + 1 entries; entry j if that one is taken
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t j = row - count + k;
      const std::int64_t drawn = words.next_below(j + 1);
      bool taken = false;
      for (std::int64_t i = 0; i < k; ++i) taken = taken || entries[i] == static_cast<O>(first + drawn);
      take(k, taken ? j : drawn);
    }
  } else {  // S: entry k with probability (still wanted) / (still left)
    for (std::int64_t k = 0, taken = 0; taken < count; ++k) {
      if (words.next_below(row - k) < count - taken) take(taken++, k);
    }
  }
}

}  // namespace spargo::detail::neighbor_samples
