// What convert asks of a matrix's entries: whether one half mirrors the other, one half alone, and whether values are
// integers.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace spargo::apps {

// That fit 64 bits.
[[nodiscard]] inline bool are_integers(span<const double, host> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return std::abs(v) <= 9223372036854775808.0 && v == std::trunc(v); });
}

// How often each entry was listed, up to 2^32.
[[nodiscard]] inline bool are_counts(span<const double, host> values) {
  return are_integers(values) &&
         std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v <= 4294967296.0; });
}

// What a symmetry makes of the value at the mirrored place.
template <entry_type V>
[[nodiscard]] V mirror(const V& value, symmetry_kind kind) {
  if constexpr (is_pattern<V>) {
    return value;
  } else {
    if (kind == symmetry_kind::skew_symmetric) return -value;
    if constexpr (complex_type<V>) {
      if (kind == symmetry_kind::hermitian) return std::conj(value);
    }
    return value;
  }
}

enum class compared { values, pattern_only };

// Whether a square matrix in canonical form is of the kind, to the last bit.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] bool is_mirrored(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                               symmetry_kind kind, compared what = compared::values) {
  const csr_matrix<V, I, O, host> other = transpose(ctx, matrix);
  if (!std::equal(matrix.offsets.begin(), matrix.offsets.end(), other.offsets().begin(), other.offsets().end())) {
    return false;
  }
  if (!std::equal(matrix.indices.begin(), matrix.indices.end(), other.indices().begin(), other.indices().end())) {
    return false;
  }
  if constexpr (!is_pattern<V>) {
    for (std::int64_t k = 0; what == compared::values && k < matrix.nnz(); ++k) {
      const V expected = mirror<V>(other.values()[k], kind);
      const bool both_nan = expected != expected && matrix.values[k] != matrix.values[k];
      if (matrix.values[k] != expected && !both_nan) return false;
    }
  }
  return true;
}

// The entries that `keep(row, col)` chooses, in their order.
template <entry_type V, index_type I, class Keep>
[[nodiscard]] coo_matrix<V, I, host> choose_entries(const context<host>& ctx, const coo_view<const V, I, host>& from,
                                                    const Keep& keep) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < from.nnz(); ++k) count += keep(from.row_indices[k], from.col_indices[k]) ? 1 : 0;
  coo_matrix<V, I, host> chosen(ctx, from.rows, from.cols, count);
  std::int64_t to = 0;
  for (std::int64_t k = 0; k < from.nnz(); ++k) {
    if (!keep(from.row_indices[k], from.col_indices[k])) continue;
    chosen.row_indices()[to] = from.row_indices[k];
    chosen.col_indices()[to] = from.col_indices[k];
    if constexpr (!is_pattern<V>) chosen.values()[to] = from.values[k];
    ++to;
  }
  return chosen;
}

// All of the matrix: each entry of the triangle, and behind it the mirrored one.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, host> with_mirrored(const context<host>& ctx, const coo_view<const V, I, host>& triangle,
                                                   symmetry_kind kind) {
  std::int64_t diagonal = 0;
  for (std::int64_t k = 0; k < triangle.nnz(); ++k) diagonal += triangle.row_indices[k] == triangle.col_indices[k];
  coo_matrix<V, I, host> all(ctx, triangle.rows, triangle.cols, 2 * triangle.nnz() - diagonal);
  std::int64_t to = 0;
  const auto put = [&](I row, I col, std::int64_t k, symmetry_kind as) {
    all.row_indices()[to] = row;
    all.col_indices()[to] = col;
    if constexpr (!is_pattern<V>) all.values()[to] = mirror<V>(triangle.values[k], as);
    ++to;
  };
  for (std::int64_t k = 0; k < triangle.nnz(); ++k) {
    const I row = triangle.row_indices[k];
    const I col = triangle.col_indices[k];
    put(row, col, k, symmetry_kind::general);
    if (row != col) put(col, row, k, kind);
  }
  return all;
}

// The entries of a matrix in row order, but those of row `first` in front.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] coo_matrix<V, I, host> to_coo_from(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                                 std::int64_t first) {
  coo_matrix<V, I, host> entries = to_coo<V, I, O, host>(ctx, matrix);
  if (first <= 0) return entries;
  const auto forward = [&](auto* data) {
    std::rotate(data, data + matrix.offsets[first], data + matrix.offsets[first + 1]);
  };
  forward(entries.row_indices().data());
  forward(entries.col_indices().data());
  if constexpr (!is_pattern<V>) forward(entries.values().data());
  return entries;
}

// f(matrix) with the matrix of an undirected graph whose edges are the entries: each both ways. Entries at the same
// place or the mirrored one become one with the least value. O(rows + entries).
template <index_type O, entry_type V, index_type I, class F>
decltype(auto) with_reverses(const context<host>& ctx, const coo_view<const V, I, host>& entries, F&& f) {
  if constexpr (is_pattern<V>) {
    coo_matrix<V, I, host> triangle(ctx, entries.rows, entries.cols, entries.nnz());
    for (std::int64_t k = 0; k < entries.nnz(); ++k) {
      triangle.row_indices()[k] = std::max(entries.row_indices[k], entries.col_indices[k]);
      triangle.col_indices()[k] = std::min(entries.row_indices[k], entries.col_indices[k]);
    }
    const csr_matrix<V, I, O, host> all =
        to_csr<O>(ctx, std::as_const(triangle).view(), to_csr_options{.symmetry = symmetry_kind::symmetric});
    return f(all.view());
  } else {
    const auto g =
        build_weighted_graph<O>(ctx, entries, {.direction = direction_kind::undirected, .loops = self_loops::keep});
    return f(matrix_of(g.view()));
  }
}

// Each entry as often as its count says.
template <index_type I>
[[nodiscard]] coo_matrix<pattern, I, host> repeat_entries(const context<host>& ctx,
                                                          const coo_view<const double, I, host>& counts) {
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < counts.nnz(); ++k) total += static_cast<std::int64_t>(counts.values[k]);
  coo_matrix<pattern, I, host> entries(ctx, counts.rows, counts.cols, total);
  std::int64_t to = 0;
  for (std::int64_t k = 0; k < counts.nnz(); ++k) {
    for (auto left = static_cast<std::int64_t>(counts.values[k]); left > 0; --left, ++to) {
      entries.row_indices()[to] = counts.row_indices[k];
      entries.col_indices()[to] = counts.col_indices[k];
    }
  }
  return entries;
}

}  // namespace spargo::apps
