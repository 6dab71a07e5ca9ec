// The second half of a sort by rows: one bucket of row_buckets.hpp, to its rows in CSR.
//
// Idea: a radix sort, least significant digit first: the columns by as few digits as the bits in which they differ
// need (none where the input's order has sorted them), then the rows as the last digit, whose counts are the offsets.
// All of it stays in a core's cache, reads in order, and has no branch that depends on the data.
// Invariant: stable; linear whatever the lengths of rows. Equal neighbours, which are side by side then, are merged
// from left to right.
// Cost: digits + 1 passes over the bucket, 1 to 1.3 ns an entry each.
#pragma once

#include "formats/row_buckets.hpp"

#include <array>
#include <utility>

namespace spargo::detail {

struct bucket_sort_tuning {
  // 20 million random entries, columns of 22 bits, one thread: 121 ms at 11 bits (two digits), 156 at 8 (three).
  static constexpr int digit_bits = 11;
};

// A bucket's keys and values, and room for as many.
template <class Key, class V>
struct bucket_data {
  Key* keys = nullptr;
  V* values = nullptr;  // null for a pattern
  Key* spare_keys = nullptr;
  V* spare_values = nullptr;
};

// Stable by the digit at `low`.
template <class Key, class V>
void sort_digit(bucket_data<Key, V>& data, std::int64_t n, int low, int bits) {
  std::array<std::int64_t, std::size_t{1} << bucket_sort_tuning::digit_bits> starts;
  const Key mask = (Key{1} << bits) - 1;
  const auto digit = [low, mask](Key key) { return static_cast<std::size_t>((key >> low) & mask); };
  std::fill_n(starts.begin(), std::size_t{1} << bits, 0);
  for (std::int64_t k = 0; k < n; ++k) ++starts[digit(data.keys[k])];
  std::int64_t before = 0;
  for (std::size_t d = 0; d <= mask; ++d) before += std::exchange(starts[d], before);
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t to = starts[digit(data.keys[k])]++;
    data.spare_keys[to] = data.keys[k];
    if constexpr (!is_pattern<V>) data.spare_values[to] = data.values[k];
  }
  std::swap(data.keys, data.spare_keys);
  std::swap(data.values, data.spare_values);
}

// Stable by column, in `data.keys` and `data.values` afterwards, which may have changed places with the spare ones.
template <class Key, class V>
void sort_columns(const key_shape& shape, bucket_data<Key, V>& data, std::int64_t n) {
  Key differing = 0;
  for (std::int64_t k = 1; k < n; ++k) differing |= data.keys[k] ^ data.keys[0];
  differing = shape.col(differing);
  if (differing == 0) return;
  const int lowest = std::countr_zero(differing);
  const int bits = static_cast<int>(std::bit_width(differing)) - lowest;
  const int digits = div_up(bits, bucket_sort_tuning::digit_bits);
  const int width = div_up(bits, digits);
  for (int low = 0; low < bits; low += width) sort_digit(data, n, lowest + low, std::min(width, bits - low));
}

// To their rows [first_row, last_row), from `begin` on in `indices` and `values`; fills the offsets of those rows.
template <class Key, class V, class I, class O>
void place_rows(const key_shape& shape, const bucket_data<Key, V>& from, std::int64_t n, std::int64_t begin,
                span<O, host> offsets, I* indices, V* values) {
  const std::int64_t rows = offsets.size();
  O* const at = offsets.data();
  std::fill_n(at, rows, O{0});
  for (std::int64_t k = 0; k < n; ++k) ++at[shape.row(from.keys[k])];
  auto before = static_cast<O>(begin);
  for (std::int64_t r = 0; r < rows; ++r) before = static_cast<O>(before + std::exchange(at[r], before));
  for (std::int64_t k = 0; k < n; ++k) {
    const Key key = from.keys[k];
    const std::int64_t to = at[shape.row(key)]++;
    indices[to] = static_cast<I>(shape.col(key));
    if constexpr (!is_pattern<V>) values[to] = from.values[k];
  }
  // Each offset has advanced to the end of its row, which is the start of the next.
  std::copy_backward(at, at + rows - 1, at + rows);
  at[0] = static_cast<O>(begin);
}

// Whether any two neighbours are equal, be it across the end of a row.
template <class I>
[[nodiscard]] bool has_equal_neighbours(const I* indices, std::int64_t n) {
  I equal = 0;
  for (std::int64_t k = 1; k < n; ++k) equal |= static_cast<I>(indices[k - 1] == indices[k]);
  return equal != 0;
}

// Merges entries of equal coordinates in sorted rows that end at `end`, adding values from left to right: rows move up
// to the end of the row before. Returns how many entries went.
template <class V, class I, class O>
std::int64_t merge_rows(span<O, host> offsets, std::int64_t end, I* indices, V* values) {
  const std::int64_t rows = offsets.size();
  const std::int64_t begin = rows == 0 ? end : offsets[0];
  if (!has_equal_neighbours(indices + begin, end - begin)) return 0;
  std::int64_t kept = begin;
  std::int64_t from = begin;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row_end = r + 1 < rows ? std::int64_t{offsets[r + 1]} : end;
    const std::int64_t row_begin = kept;
    if (r > 0) offsets[r] = static_cast<O>(kept);
    for (; from < row_end; ++from) {
      if (kept > row_begin && indices[kept - 1] == indices[from]) {
        if constexpr (!is_pattern<V>) values[kept - 1] += values[from];
        continue;
      }
      indices[kept] = indices[from];
      if constexpr (!is_pattern<V>) values[kept] = values[from];
      ++kept;
    }
  }
  return end - kept;
}

}  // namespace spargo::detail
