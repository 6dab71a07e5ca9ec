// Matrices as triplets, the naive reference, and each format built from triplets independently of the library.
#pragma once

#include "sparse/spmv/algorithms.hpp"
#include "support/number.hpp"

#include <spargo/core/array.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace spargo::test {

template <class V>
struct triplet {
  std::int64_t row;
  std::int64_t col;
  V value;
};

template <class V>
struct triplets {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<triplet<V>> entries;
};

template <class V>
V random_number(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const double re = uniform(random);
  return number<V>(re, uniform(random));
}

template <class V>
std::vector<V> random_vector(std::int64_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<V> v(static_cast<std::size_t>(size));
  for (V& a : v) a = random_number<V>(random);
  return v;
}

// `length(row)` entries per row, at random columns (duplicates included), rows in order.
template <class V, class Length>
triplets<V> random_rows(const std::string& name, std::int64_t rows, std::int64_t cols, Length length) {
  std::mt19937_64 random(static_cast<unsigned>(rows * 31 + cols));
  triplets<V> m{name, rows, cols, {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t count = length(r);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto col = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols));
      m.entries.push_back({r, col, random_number<V>(random)});
    }
  }
  return m;
}

// Column c is used about in proportion to 1 / (c + 1), scattered over all columns; most columns are empty.
template <class V>
triplets<V> popular_columns(std::int64_t rows, std::int64_t cols, std::int64_t width) {
  std::mt19937_64 random(static_cast<unsigned>(rows + cols));
  std::uniform_real_distribution<double> uniform(0.0, std::log(static_cast<double>(cols)));
  triplets<V> m{"popular columns", rows, cols, {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < r % (2 * width); ++k) {
      const std::int64_t rank = std::min(cols - 1, static_cast<std::int64_t>(std::exp(uniform(random))) - 1);
      m.entries.push_back({r, (rank * 7919 + 13) % cols, random_number<V>(random)});
    }
  }
  return m;
}

// Difficult shapes.
template <class V>
std::vector<triplets<V>> adversarial() {
  std::vector<triplets<V>> all;
  all.push_back({"0 x 0", 0, 0, {}});
  all.push_back({"0 x 5", 0, 5, {}});
  all.push_back({"5 x 0", 5, 0, {}});
  all.push_back({"1 x 1", 1, 1, {{0, 0, number<V>(2, -1)}}});
  all.push_back({"no entries", 70, 70, {}});
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257, 1023, 1025}) {
    all.push_back(random_rows<V>("5 per row, n = " + std::to_string(n), n, n, [](std::int64_t) { return 5; }));
  }
  all.push_back(
      random_rows<V>("long runs of empty rows", 9'000, 50, [](std::int64_t r) { return r % 4'001 == 7 ? 3 : 0; }));
  all.push_back(random_rows<V>("rows for groups, warps and blocks", 400, 300, [](std::int64_t r) {
    return r % 50 == 3 ? 200 : (r % 50 == 7 || r == 398 ? 1000 : 2);
  }));
  all.push_back(random_rows<V>("empty first and last rows", 600, 300,
                               [](std::int64_t r) { return r < 290 || r >= 310 ? 0 : r % 7; }));
  all.push_back(random_rows<V>("only the last row", 5000, 40, [](std::int64_t r) { return r == 4999 ? 9 : 0; }));
  all.push_back(
      random_rows<V>("one dense row amid short ones", 300, 1000, [](std::int64_t r) { return r == 150 ? 7000 : 3; }));
  all.push_back(
      random_rows<V>("one dense row amid empty ones", 300, 1000, [](std::int64_t r) { return r == 7 ? 5001 : 0; }));
  all.push_back(random_rows<V>("one row", 1, 500, [](std::int64_t) { return 12'289; }));
  all.push_back(random_rows<V>("one column", 900, 1, [](std::int64_t r) { return r % 2; }));
  all.push_back(random_rows<V>("every length", 300, 77, [](std::int64_t r) { return r; }));
  all.push_back(random_rows<V>("dense rows side by side", 9, 4000, [](std::int64_t r) { return 2040 + r; }));
  // Groups of 2 to 32 lanes, and row lengths around the limit above which a row gets its own block.
  for (const std::int64_t lanes : {2, 4, 8, 16, 32}) {
    all.push_back(random_rows<V>(
        "rows around the longest of " + std::to_string(lanes) + " lanes", 613, 900, [lanes](std::int64_t r) {
          const std::int64_t longest = std::max<std::int64_t>(4 * lanes, 64);
          return r % 200 == 7 && r > 200 ? longest - 2 + r / 200 : (r % 5 == 3 ? 0 : 3 * lanes / 4 + r % 2);
        }));
  }
  all.push_back(random_rows<V>("sixteen a row", 1500, 2000, [](std::int64_t) { return 16; }));
  // Blocks of rows that exceed the stage, with row lengths around the limits for lanes and warps.
  all.push_back(random_rows<V>("crowds amid short rows", 2600, 700, [](std::int64_t r) {
    constexpr std::int64_t lengths[] = {40, 63, 64, 65, 47, 127, 128, 129, 3, 2047, 2048, 2049, 0, 41, 44, 513};
    const bool crowd = r >= 700 && r < 832;
    return crowd ? (r % 16 >= 9 && r % 16 <= 11 && r % 48 > 15 ? 45 : lengths[r % 16]) : 1 + r % 3;
  }));
  all.push_back(popular_columns<V>(3000, 5003, 20));
  triplets<V> column{"a dense column", 4097, 4096, {}};
  for (std::int64_t r = 0; r < column.rows; ++r) {
    column.entries.push_back({r, 4095, number<V>(1.0 / static_cast<double>(r + 1), 1)});
    if (r % 3 == 0) column.entries.push_back({r, r % 4096, number<V>(0.5, -1)});
  }
  all.push_back(column);
  triplets<V> row{"a row of every column, falling", 3, 9000, {}};
  for (std::int64_t c = row.cols - 1; c >= 0; --c)
    row.entries.push_back({1, c, number<V>(static_cast<double>(c % 17) - 8, 1)});
  row.entries.push_back({2, 8999, number<V>(3, 0)});
  all.push_back(row);
  all.push_back({"one entry in 1 x 100000", 1, 100'000, {{0, 99'999, number<V>(2, 1)}}});
  all.push_back({"one entry in 100000 x 1", 100'000, 1, {{99'999, 0, number<V>(2, 1)}}});
  all.push_back({"duplicates", 2, 3, {{0, 2, number<V>(1, 0)}, {0, 1, number<V>(2, 0)}, {0, 2, number<V>(4, 1)}}});
  return all;
}

template <class V>
struct reference_row {
  std::complex<long double> value;
  long double bound;
};

// alpha * A * x + beta * y in long double, and the error that the header allows per row.
template <class V>
std::vector<reference_row<V>> reference(const triplets<V>& m, V alpha, const std::vector<V>& x, V beta,
                                        const std::vector<V>& y) {
  using wide = std::complex<long double>;
  const auto widen = [](V v) { return wide(std::real(v), std::imag(v)); };
  std::vector<wide> sums(static_cast<std::size_t>(m.rows));
  std::vector<long double> magnitudes(sums.size());
  std::vector<long double> lengths(sums.size());
  for (const auto& e : m.entries) {
    const auto r = static_cast<std::size_t>(e.row);
    const V xj = x[static_cast<std::size_t>(e.col)];
    sums[r] += widen(e.value) * widen(xj);
    magnitudes[r] += std::abs(widen(e.value)) * std::abs(widen(xj));
    lengths[r] += 1;
  }
  const long double eps = std::numeric_limits<real_t<V>>::epsilon() * (complex_type<V> ? 3.0L : 1.0L);
  std::vector<reference_row<V>> rows;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const wide old = beta == V{} ? wide{} : widen(beta) * widen(y[r]);
    const wide product = alpha == V{} ? wide{} : widen(alpha) * sums[r];
    const long double size = std::abs(widen(alpha)) * magnitudes[r] + std::abs(old);
    rows.push_back({product + old, (lengths[r] + 2) * eps * size});
  }
  return rows;
}

template <class T>
array<T, host> upload(const context<host>& ctx, const std::vector<T>& from) {
  return clone(ctx, span<const T, host>(from));
}
template <class T>
array<T, device> upload(const context<device>& ctx, const std::vector<T>& from) {
  return to_device(ctx, span<const T, host>(from));
}
template <class T>
std::vector<T> download(const context<host>&, span<const T, host> from) {
  return {from.begin(), from.end()};
}
template <class T>
std::vector<T> download(const context<device>& ctx, span<const T, device> from) {
  const auto there = to_host(ctx, from);
  return {there.begin(), there.end()};
}

// Positions of the entries by row, in listed order.
template <class V>
std::vector<std::vector<std::size_t>> by_row(const triplets<V>& m) {
  std::vector<std::vector<std::size_t>> rows(static_cast<std::size_t>(m.rows));
  for (std::size_t k = 0; k < m.entries.size(); ++k) rows[static_cast<std::size_t>(m.entries[k].row)].push_back(k);
  return rows;
}

template <class V, class I, class O, class Space>
csr_matrix<V, I, O, Space> as_csr(const context<Space>& ctx, const triplets<V>& m) {
  std::vector<O> offsets{0};
  std::vector<I> indices;
  std::vector<V> values;
  for (const auto& row : by_row(m)) {
    for (const std::size_t k : row) {
      indices.push_back(static_cast<I>(m.entries[k].col));
      values.push_back(m.entries[k].value);
    }
    offsets.push_back(static_cast<O>(indices.size()));
  }
  return {static_cast<I>(m.rows), static_cast<I>(m.cols), upload(ctx, offsets), upload(ctx, indices),
          upload(ctx, values)};
}

template <class V, class I, class Space>
coo_matrix<V, I, Space> as_coo(const context<Space>& ctx, const triplets<V>& m) {
  std::vector<I> rows;
  std::vector<I> cols;
  std::vector<V> values;
  for (const auto& e : m.entries) {
    rows.push_back(static_cast<I>(e.row));
    cols.push_back(static_cast<I>(e.col));
    values.push_back(e.value);
  }
  return {static_cast<I>(m.rows), static_cast<I>(m.cols), upload(ctx, rows), upload(ctx, cols), upload(ctx, values)};
}

// Padding holds column 0, and a value that would be noticed in a sum.
template <class V, class I, class Space>
ell_matrix<V, I, Space> as_ell(const context<Space>& ctx, const triplets<V>& m) {
  const auto rows = by_row(m);
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  std::vector<I> lengths;
  std::vector<I> indices(rows.size() * width, 0);
  std::vector<V> values(rows.size() * width, number<V>(1000, 1000));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    lengths.push_back(static_cast<I>(rows[r].size()));
    for (std::size_t k = 0; k < rows[r].size(); ++k) {
      indices[k * rows.size() + r] = static_cast<I>(m.entries[rows[r][k]].col);
      values[k * rows.size() + r] = m.entries[rows[r][k]].value;
    }
  }
  return {static_cast<I>(m.rows), static_cast<I>(m.cols),
          static_cast<I>(width),  static_cast<std::int64_t>(m.entries.size()),
          upload(ctx, lengths),   upload(ctx, indices),
          upload(ctx, values)};
}

// Slices of `height` slots, with all rows sorted by descending length.
template <class V, class I, class O, class Space>
sell_matrix<V, I, O, Space> as_sell(const context<Space>& ctx, const triplets<V>& m, std::size_t height) {
  const auto rows = by_row(m);
  const std::size_t slices = (rows.size() + height - 1) / height;
  std::vector<I> permutation(slices * height, -1);
  for (std::size_t r = 0; r < rows.size(); ++r) permutation[r] = static_cast<I>(r);
  std::stable_sort(permutation.begin(), permutation.begin() + static_cast<std::ptrdiff_t>(rows.size()), [&](I a, I b) {
    return rows[static_cast<std::size_t>(a)].size() > rows[static_cast<std::size_t>(b)].size();
  });
  std::vector<O> offsets{0};
  std::vector<I> lengths;
  std::vector<I> indices;
  std::vector<V> values;
  for (std::size_t s = 0; s < slices; ++s) {
    const auto slot_row = [&](std::size_t l) -> std::vector<std::size_t> {
      const I row = permutation[s * height + l];
      return row < 0 ? std::vector<std::size_t>{} : rows[static_cast<std::size_t>(row)];
    };
    std::size_t width = 0;
    for (std::size_t l = 0; l < height; ++l) {
      lengths.push_back(static_cast<I>(slot_row(l).size()));
      width = std::max(width, slot_row(l).size());
    }
    const std::size_t base = indices.size();
    indices.resize(base + width * height, 0);
    values.resize(base + width * height, number<V>(1000, 1000));
    for (std::size_t l = 0; l < height; ++l) {
      const auto row = slot_row(l);
      for (std::size_t k = 0; k < row.size(); ++k) {
        indices[base + k * height + l] = static_cast<I>(m.entries[row[k]].col);
        values[base + k * height + l] = m.entries[row[k]].value;
      }
    }
    offsets.push_back(static_cast<O>(indices.size()));
  }
  return {static_cast<I>(m.rows), static_cast<I>(m.cols),
          static_cast<I>(height), static_cast<std::int64_t>(m.entries.size()),
          upload(ctx, offsets),   upload(ctx, permutation),
          upload(ctx, lengths),   upload(ctx, indices),
          upload(ctx, values)};
}

// The algorithms that a space has for a format (detail::spmv::reads_csr and so on), and the automatic choice.
template <class Space>
std::vector<spmv_algorithm> algorithms_for(bool (*reads)(spmv_algorithm)) {
  auto all = detail::algorithms_on<Space>(detail::spmv::algorithms);
  std::erase_if(all, [reads](spmv_algorithm a) { return a != spmv_algorithm::automatic && !reads(a); });
  return all;
}

// Calls `body(plan)` for each of them.
template <class V, class I, class O, class Space, class View, class Body>
void for_each_algorithm(const context<Space>& ctx, const View& matrix, bool (*reads)(spmv_algorithm), Body&& body) {
  for (const auto algorithm : algorithms_for<Space>(reads)) {
    const spmv_plan<V, I, O, Space> plan(ctx, matrix, {.algorithm = algorithm});
    EXPECT_TRUE(algorithm == spmv_algorithm::automatic || plan.algorithm() == algorithm) << to_string(algorithm);
    body(plan);
  }
}

// CSR's algorithms except `compressed`, whose slices a row much longer than its neighbours would fill with padding.
inline bool takes_any_row(spmv_algorithm a) { return detail::spmv::reads_csr(a) && a != spmv_algorithm::compressed; }

}  // namespace spargo::test
