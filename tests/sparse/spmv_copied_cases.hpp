// Shared by the tests of plans with a copy: runs and checks against the reference.
#pragma once

#include "sparse/spmv_cases.hpp"
#include "support/device.hpp"

#include <cstring>
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

// The same bits from every run and every plan.
template <class V, class I, class O>
void expect_same_bits(const context<device>& ctx, const triplets<V>& m, const csr_view<const V, I, O, device>& csr,
                      const spmv_options& options) {
  const spmv_plan<V, I, O, device> plan(ctx, csr, options);
  const auto first = run(ctx, plan, m, number<V>(1, 0), V{});
  for (int k = 0; k < 3; ++k) {
    const spmv_plan<V, I, O, device> other(ctx, csr, options);
    const auto again = run(ctx, k == 0 ? plan : other, m, number<V>(1, 0), V{});
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(V)), 0);
  }
}

// A plan does not read the matrix it was made for, and takes new values. `entry_bytes`: least workspace per entry.
template <class V, class I, class O>
void expect_copy(const context<device>& ctx, triplets<V> m, spmv_algorithm algorithm, std::size_t entry_bytes) {
  auto csr = as_csr<V, I, O>(ctx, m);
  spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = algorithm});
  EXPECT_EQ(plan.storage(), spmv_storage::copied);
  EXPECT_GE(plan.workspace_bytes(), csr.nnz() * static_cast<std::int64_t>(entry_bytes));
  fill_zero(ctx, csr.values().view());
  expect_product(run(ctx, plan, m, number<V>(1, 0), V{}), m, number<V>(1, 0), V{});
  for (auto& e : m.entries) e.value = e.value * number<V>(0.5, 0) + number<V>(1, 1);
  const auto changed = as_csr<V, I, O>(ctx, m);
  plan.update_values(changed.view());
  expect_product(run(ctx, plan, m, number<V>(1, 0), V{}), m, number<V>(1, 0), V{});
}

}  // namespace spargo::test
