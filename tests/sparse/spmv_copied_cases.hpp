// What the tests of plans that keep a copy share: matrices beyond adversarial(), runs and checks against the reference.
#pragma once

#include "sparse/spmv_cases.hpp"
#include "support/device.hpp"

#include <utility>

namespace spargo::test {

// Column c about as often as 1 / (c + 1), scattered over all columns; most columns are empty.
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

// What adversarial() lacks: a dense column, a row of every column, wide and tall matrices of few used columns.
template <class V>
std::vector<triplets<V>> shapes_to_copy() {
  auto all = adversarial<V>();
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

// y after a run that starts from NaN where beta is 0, else from random numbers.
template <class V, class I, class O>
std::vector<V> run(const context<device>& ctx, const spmv_plan<V, I, O, device>& plan, const triplets<V>& m, V alpha,
                   V beta) {
  auto y = random_vector<V>(m.rows, 2);
  if (beta == V{}) std::fill(y.begin(), y.end(), number<V>(std::nan(""), std::nan("")));
  const auto dx = upload(ctx, random_vector<V>(m.cols, 1));
  auto dy = upload(ctx, y);
  plan.run(alpha, dx.view(), beta, dy.view());
  return download<V>(ctx, dy.view());
}

template <class V>
void expect_product(const std::vector<V>& got, const triplets<V>& m, V alpha, V beta) {
  const auto expected = reference(m, alpha, random_vector<V>(m.cols, 1), beta, random_vector<V>(m.rows, 2));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t r = 0; r < got.size(); ++r) {
    const std::complex<long double> value(std::real(got[r]), std::imag(got[r]));
    ASSERT_LE(std::abs(value - expected[r].value), expected[r].bound) << m.name << ", row " << r << " is " << got[r];
  }
}

}  // namespace spargo::test
