// Oddities among a file's entries that readers accept: how many, and the first one.
//
// `check_entries` examines the entries as listed and gives the number of the first of each kind; `find_lines` reads the
// text again to convert these numbers to lines. O(n log n) time and 8 bytes per entry, for duplicates.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/formats/coo.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace spargo::apps {

struct oddity {
  std::string key;   // JSON key
  std::string what;  // for people, before the count
  std::int64_t count = 0;
  std::int64_t entry = -1;  // the first one, from 0; -1: none, or not about an entry
  std::int64_t line = 0;    // line of that entry; 0: unknown

  void note(std::int64_t k) {
    if (count++ == 0) entry = k;
  }
};

// Sets the lines for a text file (.gz too) that can be read again. The first `lines_before` lines without comments are
// not entries: the size of a matrix, column names. `comments`: characters that begin one. Throws `error` (io).
void find_lines(const std::string& path, int lines_before, std::string_view comments, std::vector<oddity>& found);

template <index_type I>
[[nodiscard]] oddity find_duplicates(const coo_pattern_view<I, host>& m) {
  oddity found{"duplicates", "entries at the place of an earlier entry"};
  std::vector<std::int64_t> order(static_cast<std::size_t>(m.nnz()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto place = [&](std::int64_t k) { return std::tuple(m.row_indices[k], m.col_indices[k]); };
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return std::tuple(place(a), a) < std::tuple(place(b), b); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (place(order[i]) != place(order[i - 1])) continue;
    const std::int64_t first = found.count == 0 ? order[i] : std::min(found.entry, order[i]);
    ++found.count;
    found.entry = first;
  }
  return found;
}

// Relative to row order or column order, whichever the file follows better.
template <index_type I>
[[nodiscard]] oddity find_disorder(const coo_pattern_view<I, host>& m) {
  oddity by_rows{"unsorted", "entries not in row order"};
  oddity by_cols{"unsorted", "entries not in column order"};
  for (std::int64_t k = 1; k < m.nnz(); ++k) {
    const auto before = std::pair(m.row_indices[k - 1], m.col_indices[k - 1]);
    const auto now = std::pair(m.row_indices[k], m.col_indices[k]);
    if (now < before) by_rows.note(k);
    if (std::pair(now.second, now.first) < std::pair(before.second, before.first)) by_cols.note(k);
  }
  return by_cols.count < by_rows.count ? by_cols : by_rows;
}

template <index_type I>
[[nodiscard]] oddity find_isolated(const coo_pattern_view<I, host>& m) {
  oddity found{"isolated", "vertices without edges (rows and columns without entries)"};
  if (m.rows != m.cols) return found;
  std::vector<char> seen(static_cast<std::size_t>(m.rows));
  for (std::int64_t k = 0; k < m.nnz(); ++k) {
    seen[static_cast<std::size_t>(m.row_indices[k])] = 1;
    seen[static_cast<std::size_t>(m.col_indices[k])] = 1;
  }
  found.count = std::count(seen.begin(), seen.end(), 0);
  return found;
}

// All checks in this order, also those without findings, for the file's entries without mirrored ones.
template <entry_type V, index_type I>
[[nodiscard]] std::vector<oddity> check_entries(const coo_view<const V, I, host>& m, symmetry_kind symmetry) {
  oddity zeros{"explicit_zeros", "entries that are zero"};
  oddity not_finite{"not_finite", "entries that are infinite or NaN"};
  oddity above{"above_diagonal", "entries above the diagonal, where the format prescribes the lower triangle"};
  oddity loops{"self_loops", "entries on the diagonal (self-loops, if this is a graph)"};
  for (std::int64_t k = 0; k < m.nnz(); ++k) {
    if constexpr (!is_pattern<V>) {
      if (m.values[k] == V(0)) zeros.note(k);
      if (!std::isfinite(std::abs(m.values[k]))) not_finite.note(k);
    }
    if (symmetry != symmetry_kind::general && m.row_indices[k] < m.col_indices[k]) above.note(k);
    if (m.rows == m.cols && m.row_indices[k] == m.col_indices[k]) loops.note(k);
  }
  return {find_duplicates<I>(m), zeros, not_finite, above, find_disorder<I>(m), loops, find_isolated<I>(m)};
}

}  // namespace spargo::apps
