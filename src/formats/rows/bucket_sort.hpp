// Second half of a sort by rows: gathers, sorts and merges the rows of one bucket of row_buckets.hpp in a core's cache,
// then writes them to their place at once.
//
// A counting sort by row, then each row by column. Most rows are short, and for these data-dependent branches cost more
// than comparisons: they are sorted by ranks (simd/row_ranks.hpp), others and rows with equal columns by insertion or
// by bytes (row_sort.hpp). Invariant: stable; linear in the bucket's entries for any row lengths. 20 million random
// entries, 5 per row, 22-bit columns, two threads of a Xeon: 121 ms; a radix sort of columns, then rows takes 149.
#pragma once

#include "formats/rows/row_buckets.hpp"
#include "formats/rows/row_sort.hpp"
#include "formats/rows/simd/row_ranks.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace spargo::detail::convert {

inline constexpr std::int64_t row_slack = 16;  // columns that may be written past a bucket's last

// Scratch for the rows of a bucket, and as much again to sort long rows; columns of 32 or 64 bits.
template <class C, class V>
struct row_scratch {
  C* cols = nullptr;
  V* values = nullptr;  // null for a pattern, like spare_values
  C* spare_cols = nullptr;
  V* spare_values = nullptr;
};

// Gathers entries by row, stably. `starts` gets the start of every row.
template <class Key, class C, class V, class O>
void gather_rows(const key_shape& shape, const Key* keys, const V* values, std::int64_t n, span<O, host> starts,
                 const row_scratch<C, V>& to) {
  const std::int64_t rows = starts.size();
  O* const at = starts.data();
  std::fill_n(at, rows, O{0});
  for (std::int64_t k = 0; k < n; ++k) ++at[shape.row(keys[k])];
  O before = 0;
  for (std::int64_t r = 0; r < rows; ++r) before = static_cast<O>(before + std::exchange(at[r], before));
  for (std::int64_t k = 0; k < n; ++k) {
    const Key key = keys[k];
    const std::int64_t place = at[shape.row(key)]++;
    to.cols[place] = static_cast<C>(shape.col(key));
    if constexpr (!is_pattern<V>) to.values[place] = values[k];
  }
  // Each start has advanced to the end of its row, the start of the next.
  std::copy_backward(at, at + rows - 1, at + rows);
  at[0] = 0;
}

// False, and nothing done, if the row is too long for ranks or has equal columns.
template <class C, class V>
bool sort_by_ranks(rank_row rank, C* cols, V* values, std::int64_t n) {
  if constexpr (sizeof(C) > sizeof(std::uint32_t)) {
    return false;
  } else {
    ranked_row row;
    if (n > most_ranked || !rank(cols, static_cast<int>(n), row)) return false;
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < size; ++i) cols[row.ranks[i]] = row.cols[i];
    if constexpr (!is_pattern<V>) {
      std::array<V, most_ranked> moved;
      std::copy_n(values, n, moved.begin());
      for (std::size_t i = 0; i < size; ++i) values[row.ranks[i]] = moved[i];
    }
    return true;
  }
}

template <class C, class V, class O>
void sort_rows(span<const O, host> starts, std::int64_t n, const row_scratch<C, V>& in) {
  const rank_row rank = best_rank_row();
  const auto value_at = [](V* values, std::int64_t i) { return is_pattern<V> ? values : values + i; };
  for (std::int64_t r = 0; r < starts.size(); ++r) {
    const std::int64_t begin = starts[r];
    const std::int64_t size = (r + 1 < starts.size() ? std::int64_t{starts[r + 1]} : n) - begin;
    if (size < 2) continue;
    V* const values = value_at(in.values, begin);
    if (sort_by_ranks(rank, in.cols + begin, values, size)) continue;
    sort_row(in.cols + begin, values, in.spare_cols, in.spare_values, size);
  }
}

// Whether any two neighbours are equal, even in different rows.
template <class C>
[[nodiscard]] bool has_equal_neighbours(const C* cols, std::int64_t n) {
  C equal = 0;
  for (std::int64_t k = 1; k < n; ++k) equal |= static_cast<C>(cols[k - 1] == cols[k]);
  return equal != 0;
}

// Merges neighbours of equal coordinates, adding values from left to right. Returns the number of entries left.
template <class C, class V, class O>
std::int64_t merge_rows(span<O, host> starts, std::int64_t n, const row_scratch<C, V>& in) {
  if (!has_equal_neighbours(in.cols, n)) return n;
  std::int64_t kept = 0;
  std::int64_t from = 0;
  for (std::int64_t r = 0; r < starts.size(); ++r) {
    const std::int64_t row_end = r + 1 < starts.size() ? std::int64_t{starts[r + 1]} : n;
    const std::int64_t row_begin = kept;
    for (; from < row_end; ++from) {
      if (kept > row_begin && in.cols[kept - 1] == in.cols[from]) {
        if constexpr (!is_pattern<V>) in.values[kept - 1] += in.values[from];
        continue;
      }
      in.cols[kept] = in.cols[from];
      if constexpr (!is_pattern<V>) in.values[kept] = in.values[from];
      ++kept;
    }
    starts[r] = static_cast<O>(row_begin);
  }
  return kept;
}

// Whether any key of the bucket, whose first row is `first_row`, is on the diagonal.
template <class Key>
[[nodiscard]] bool has_diagonal(const key_shape& shape, std::int64_t first_row, const Key* keys, std::int64_t n) {
  const auto first = static_cast<Key>(first_row);
  const int col_bits = shape.col_bits;
  const Key mask = (Key{1} << col_bits) - 1;
  Key found = 0;
  for (std::int64_t k = 0; k < n; ++k) found |= static_cast<Key>((keys[k] >> col_bits) + first == (keys[k] & mask));
  return found != 0;
}

// Drops diagonal entries of rows from `first_row` on. Returns the number of entries left.
template <class C, class V, class O>
std::int64_t drop_diagonal(span<O, host> starts, std::int64_t n, std::int64_t first_row, const row_scratch<C, V>& in) {
  std::int64_t kept = 0;
  std::int64_t from = 0;
  for (std::int64_t r = 0; r < starts.size(); ++r) {
    const std::int64_t row_end = r + 1 < starts.size() ? std::int64_t{starts[r + 1]} : n;
    const auto diagonal = static_cast<C>(first_row + r);
    starts[r] = static_cast<O>(kept);
    for (; from < row_end; ++from) {
      const C col = in.cols[from];
      in.cols[kept] = col;
      if constexpr (!is_pattern<V>) in.values[kept] = in.values[from];
      kept += col != diagonal ? 1 : 0;
    }
  }
  return kept;
}

// Bypasses the cache for whole lines; the types may differ, not the bits.
template <class To, class From>
void stream_out(const From* from, std::int64_t n, To* to) {
  if constexpr (sizeof(To) != sizeof(From)) {
    for (std::int64_t k = 0; k < n; ++k) to[k] = static_cast<To>(from[k]);
  } else {
    constexpr std::uintptr_t unit = 16;
    const std::int64_t ahead = static_cast<std::int64_t>((unit - reinterpret_cast<std::uintptr_t>(to) % unit) % unit) /
                               static_cast<std::int64_t>(sizeof(To));
    const std::int64_t head = std::min(n, ahead);
    const std::size_t bytes = static_cast<std::size_t>(n - head) * sizeof(To) / unit * unit;
    const std::int64_t tail = head + static_cast<std::int64_t>(bytes / sizeof(To));
    std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(head) * sizeof(To));
    stream_bytes(to + head, from + head, bytes);
    std::memcpy(static_cast<void*>(to + tail), from + tail, static_cast<std::size_t>(n - tail) * sizeof(To));
  }
}

template <class C, class V, class I, class O>
void write_rows(const row_scratch<C, V>& from, std::int64_t n, std::int64_t place, span<O, host> starts, I* indices,
                V* values, store_path path) {
  for (std::int64_t r = 0; r < starts.size(); ++r) starts[r] = static_cast<O>(starts[r] + place);
  if (path == store_path::cached) {
    for (std::int64_t k = 0; k < n; ++k) indices[place + k] = static_cast<I>(from.cols[k]);
    if constexpr (!is_pattern<V>) std::copy_n(from.values, n, values + place);
    return;
  }
  stream_out(from.cols, n, indices + place);
  if constexpr (!is_pattern<V>) stream_out(from.values, n, values + place);
  finish_streaming();
}

}  // namespace spargo::detail::convert
