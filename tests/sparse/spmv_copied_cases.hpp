// Shared by the tests of plans with a copy: runs and checks against the reference.
#pragma once

#include "sparse/spmv_cases.hpp"
#include "support/device.hpp"

#include <utility>

namespace spargo::test {

// y after a run that starts from NaN if beta is 0, else from random numbers.
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
