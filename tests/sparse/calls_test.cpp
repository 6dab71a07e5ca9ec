// Calls as users write them: matrices, vectors and numbers of any kind, without template arguments.
#include <spargo/formats/convert.hpp>
#include <spargo/solvers/krylov.hpp>
#include <spargo/solvers/spectral.hpp>
#include <spargo/sparse/spgemm.hpp>
#include <spargo/sparse/spmm.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <vector>

namespace spargo {
namespace {

const context<host> ctx({.threads = 2});

template <class V>
coo_matrix<V, std::int32_t, host> entries() {
  return {2, 2, clone(ctx, std::vector<std::int32_t>{0, 1}), clone(ctx, std::vector<std::int32_t>{1, 0}),
          clone(ctx, std::vector<V>{2, 3})};
}

template <class Matrix>
void expect_product(const Matrix& a) {
  const std::vector<double> x{10, 100};
  const std::vector<double> expected{200, 30};
  std::vector<double> y(2);
  spmv(ctx, 1.0, a, x, 0.0, y);
  EXPECT_EQ(y, expected);
  spmv(ctx, 1, a, x, 0, y, {});
  EXPECT_EQ(y, expected);
  array<double, host> owner(ctx, 2);
  spmv(ctx, 1, a, clone(ctx, x), 0, owner);
  EXPECT_EQ(owner[1], 30);
  const spmv_plan plan(ctx, a);
  plan.run(1, x, 0, y);
  EXPECT_EQ(y, expected);
}

TEST(Calls, ProductsWithVectors) {
  const auto coo = entries<double>();
  const auto csr = to_csr(ctx, coo);
  auto narrow = to_csr<std::int32_t>(ctx, coo);
  expect_product(coo);
  expect_product(coo.view());
  expect_product(csr);
  expect_product(csr.view());
  expect_product(csr_view<double, std::int32_t, std::int32_t, host>{narrow.view(), narrow.values()});
  expect_product(to_ell(ctx, csr));
  expect_product(to_ell(ctx, csr).view());
  expect_product(to_sell(ctx, csr));
  expect_product(to_sell(ctx, csr).view());
}

TEST(Calls, ComplexProductsWithRealFactors) {
  using complex = std::complex<float>;
  const auto a = to_csr(ctx, entries<complex>());
  const std::vector<complex> x{{0, 1}, {1, 0}};
  std::vector<complex> y(2);
  spmv(ctx, 2, a, x, 0, y);
  EXPECT_EQ(y[1], (complex{0, 6}));
}

TEST(Calls, ProductsOfMatrices) {
  const auto a = to_csr(ctx, entries<double>());
  const auto product = spgemm(ctx, a, a);
  EXPECT_EQ(product.nnz(), 2);
  EXPECT_EQ(product.values()[0], 6);
  const spgemm_plan plan(ctx, a, a);
  EXPECT_EQ(plan.result_nnz(), 2);
}

TEST(Calls, Solvers) {
  const auto a = to_csr(ctx, entries<double>());
  const std::vector<double> b{200, 30};
  std::vector<double> x(2);
  const krylov_plan plan(ctx, a, {.method = krylov_method::gmres});
  EXPECT_TRUE(plan.run(b, x).converged);
  EXPECT_NEAR(x[0], 10, 1e-6);
  auto narrow = to_csr<std::int32_t>(ctx, entries<double>());
  const krylov_plan of_view(ctx, csr_view<double, std::int32_t, std::int32_t, host>{narrow.view(), narrow.values()});
  EXPECT_EQ(of_view.method(), krylov_method::bicgstab);
  using csr = csr_matrix<double, std::int32_t, std::int64_t, host>;
  using plan_type = krylov_plan<double, host>;
  static_assert(std::same_as<decltype(plan), const plan_type>);
  static_assert(std::constructible_from<plan_type, const context<host>&, const csr&>);
  static_assert(std::constructible_from<plan_type, const context<host>&, csr&>);
  static_assert(!std::constructible_from<plan_type, const context<host>&, csr>, "a plan outlives a temporary");
  const coo_matrix<double, std::int32_t, host> triangle{3, 3, clone(ctx, std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}),
                                                        clone(ctx, std::vector<std::int32_t>{1, 2, 0, 2, 0, 1}),
                                                        clone(ctx, std::vector<double>(6, 1))};
  EXPECT_TRUE(spectral_embedding(ctx, to_csr(ctx, triangle)).converged);
}

TEST(Calls, PlansFollowNewValues) {
  const auto a = to_csr(ctx, entries<double>());
  spmv_plan plan(ctx, a);
  const auto again = to_csr(ctx, entries<double>());
  plan.update_values(again);
  using csr = csr_matrix<double, std::int32_t, std::int64_t, host>;
  using plan_type = spmv_plan<double, std::int32_t, std::int64_t, host>;
  static_assert(std::same_as<decltype(plan), plan_type>);
  static_assert(std::constructible_from<plan_type, const context<host>&, const csr&>);
  static_assert(!std::constructible_from<plan_type, const context<host>&, csr>, "a plan outlives a temporary");
}

TEST(Calls, ProductsWithMultiVectors) {
  auto a = to_csr(ctx, entries<double>());
  dense_matrix<double, host> x(ctx, 2, 2);
  dense_matrix<double, host> y(ctx, 2, 2);
  x(0, 0) = x(1, 1) = 1;
  x(0, 1) = x(1, 0) = 0;
  spmm(ctx, 1, a, x, 0, y);
  EXPECT_EQ(y(0, 1), 2);
  spmm(ctx, 1.0, a.view(), x.view(), 0.0, y.view());
  EXPECT_EQ(y(1, 0), 3);
  const spmm_plan plan(ctx, a, 2);
  plan.run(2, x, 1, y);
  EXPECT_EQ(y(1, 0), 9);
  const spmm_plan of_view(ctx, a.view(), 2);
  of_view.run(1, x, 0, y);
  EXPECT_EQ(y(1, 0), 3);
}

// Only compiled and linked: without a GPU there is no context to call it with.
[[maybe_unused]] void on_a_device(const context<device>& gpu) {
  const auto a = to_device(gpu, to_csr(ctx, entries<double>()));
  array<double, device> x(gpu, 2);
  array<double, device> y(gpu, 2);
  spmv(gpu, 1, a, x, 0, y);
  const spmv_plan plan(gpu, a, {.storage = spmv_storage::copied});
  plan.run(1, x, 0, y);
  dense_matrix<double, device> m(gpu, 2, 2);
  spmm(gpu, 1, a, m, 0, m);
}

}  // namespace
}  // namespace spargo
