// Triangles for tests of triangular solves, and the backward error of each row, in long double.
#pragma once

#include "support/number.hpp"

#include <spargo/sparse/triangular_solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace spargo::test::triangles {

using i32 = std::int32_t;
using i64 = std::int64_t;
using wide = std::complex<long double>;

template <class V>
struct entry {
  i64 row;
  i64 col;
  V value;
};

template <class V, class I, class O>
csr_matrix<V, I, O, host> csr_of(i64 n, std::vector<entry<V>> entries) {
  const context<host> ctx;
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  std::vector<O> offsets(static_cast<std::size_t>(n) + 1);
  std::vector<I> indices;
  std::vector<V> values;
  for (const auto& e : entries) {
    ++offsets[static_cast<std::size_t>(e.row) + 1];
    indices.push_back(static_cast<I>(e.col));
    values.push_back(e.value);
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) offsets[r + 1] += offsets[r];
  return {static_cast<I>(n), static_cast<I>(n), clone(ctx, span<const O, host>(offsets)),
          clone(ctx, span<const I, host>(indices)), clone(ctx, span<const V, host>(values))};
}

// Both triangles, unsorted, with duplicates, diagonals in two pieces.
template <class V>
std::vector<entry<V>> random_entries(i64 n, i64 per_row, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<entry<V>> all;
  for (i64 r = 0; r < n; ++r) {
    all.push_back({r, r, number<V>(2 + uniform(random), uniform(random))});
    for (i64 k = 0; k < per_row; ++k) {
      all.push_back(
          {r, static_cast<i64>(random() % static_cast<std::uint64_t>(n)), number<V>(uniform(random), uniform(random))});
      if (all.back().col == r) all.back().value = number<V>(0.25, 0);
    }
    all.push_back({r, r, number<V>(0.5, 0)});
  }
  return all;
}

inline constexpr triangular_solve_options every_kind[] = {
    {triangle_part::lower_triangle, triangle_diagonal::explicit_diagonal},
    {triangle_part::lower_triangle, triangle_diagonal::implicit_unit_diagonal},
    {triangle_part::upper_triangle, triangle_diagonal::explicit_diagonal},
    {triangle_part::upper_triangle, triangle_diagonal::implicit_unit_diagonal}};

// Row by row: |T x - b| within rounding of |T| |x| + |b|.
template <class V>
void expect_solved(i64 n, const std::vector<entry<V>>& entries, const triangular_solve_options& kind,
                   const std::vector<V>& b, const std::vector<V>& x) {
  const long double eps = std::numeric_limits<real_t<V>>::epsilon();
  std::vector<wide> rest(static_cast<std::size_t>(n));
  std::vector<long double> size(static_cast<std::size_t>(n));
  std::vector<i64> count(static_cast<std::size_t>(n), 2);
  const bool is_unit = kind.diagonal == triangle_diagonal::implicit_unit_diagonal;
  for (std::size_t r = 0; r < rest.size(); ++r) {
    rest[r] = widened(b[r]) - (is_unit ? widened(x[r]) : wide{});
    size[r] = std::abs(widened(b[r])) + std::abs(widened(x[r]));
  }
  for (const auto& e : entries) {
    const bool below = e.col < e.row;
    if (e.col == e.row ? is_unit : below != (kind.part == triangle_part::lower_triangle)) continue;
    const auto r = static_cast<std::size_t>(e.row);
    const wide product = widened(e.value) * widened(x[static_cast<std::size_t>(e.col)]);
    rest[r] -= product;
    size[r] += std::abs(product);
    ++count[r];
  }
  for (std::size_t r = 0; r < rest.size(); ++r) {
    ASSERT_LE(std::abs(rest[r]), 4 * static_cast<long double>(count[r]) * eps * size[r]) << "row " << r;
  }
}

template <class V>
std::vector<V> random_vector(i64 n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<V> v(static_cast<std::size_t>(n));
  for (V& each : v) each = number<V>(uniform(random), uniform(random));
  return v;
}

// A chain of one row a level, blocks of independent rows, rows that all need the first, nothing but the diagonal, and
// runs of rows that need all others.
inline std::vector<entry<double>> shape_of(const std::string& name, i64 n) {
  std::vector<entry<double>> all;
  for (i64 r = 0; r < n; ++r) {
    all.push_back({r, r, 3});
    if (name == "chain" && r > 0) all.push_back({r, r - 1, -1});
    if (name == "chain" && r + 1 < n) all.push_back({r, r + 1, -1});
    for (i64 k = 0; name == "groups" && k < 5; ++k) {
      const i64 group = n / 4;
      if (r >= group) all.push_back({r, (r / group - 1) * group + (r * 7 + k * 991) % group, 0.125});
      if (r + group < n) all.push_back({r, (r / group + 1) * group + (r * 3 + k * 577) % group, -0.25});
    }
    const bool is_dense = name == "dense" && (r % 1000 < 3 || r + 2 >= n);
    for (i64 c = 0; is_dense && c < n; ++c) {
      if (c != r) all.push_back({r, c, (c % 7 == 0 ? -1.0 : 1.0) / static_cast<double>(n)});
    }
    if (name == "star" && r > 0) all.push_back({r, 0, 0.5});
    if (name == "star" && r > 0) all.push_back({0, r, 1e-4});
  }
  return all;
}

inline i64 naive_levels(i64 n, const std::vector<entry<double>>& entries, bool is_upper) {
  std::vector<std::vector<i64>> needs(static_cast<std::size_t>(n));
  for (const auto& e : entries) {
    if (e.row != e.col && (e.col > e.row) == is_upper) needs[static_cast<std::size_t>(e.row)].push_back(e.col);
  }
  std::vector<i64> level(needs.size());
  i64 most = 0;
  for (i64 k = 0; k < n; ++k) {
    const auto r = static_cast<std::size_t>(is_upper ? n - 1 - k : k);
    level[r] = 1;
    for (const i64 c : needs[r]) level[r] = std::max(level[r], level[static_cast<std::size_t>(c)] + 1);
    most = std::max(most, level[r]);
  }
  return most;
}

// x of Jacobi's method, by the definition: from D^-1 b on, all rows from the x before.
template <class V>
std::vector<wide> naive_sweeps(const std::vector<entry<V>>& entries, const triangular_solve_options& kind,
                               const std::vector<V>& b) {
  const bool is_unit = kind.diagonal == triangle_diagonal::implicit_unit_diagonal;
  std::vector<wide> diagonal(b.size(), is_unit ? wide{1} : wide{});
  for (const auto& e : entries) {
    if (e.row == e.col && !is_unit) diagonal[static_cast<std::size_t>(e.row)] += widened(e.value);
  }
  std::vector<wide> x(b.size());
  for (i64 k = 0; k <= kind.sweeps; ++k) {
    std::vector<wide> rest(b.size());
    for (std::size_t r = 0; r < b.size(); ++r) rest[r] = widened(b[r]);
    for (const auto& e : entries) {
      if (k == 0 || e.row == e.col || (e.col < e.row) != (kind.part == triangle_part::lower_triangle)) continue;
      rest[static_cast<std::size_t>(e.row)] -= widened(e.value) * x[static_cast<std::size_t>(e.col)];
    }
    for (std::size_t r = 0; r < b.size(); ++r) x[r] = rest[r] / diagonal[r];
  }
  return x;
}

}  // namespace spargo::test::triangles
