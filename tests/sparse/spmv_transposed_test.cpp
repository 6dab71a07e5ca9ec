// Products by the transpose and the conjugate transpose against a long double reference on swapped triplets.
#include "sparse/sparse_suite.hpp"

#include <limits>

namespace spargo::test {
namespace {

constexpr auto both = {spmv_operation::transpose, spmv_operation::conjugate_transpose};

template <class V>
triplets<V> transposed(const triplets<V>& m, spmv_operation operation) {
  triplets<V> t{m.name + ", " + std::string(to_string(operation)), m.cols, m.rows, {}};
  for (const auto& e : m.entries) {
    V value = e.value;
    if constexpr (complex_type<V>) {
      if (operation == spmv_operation::conjugate_transpose) value = V(value.real(), -value.imag());
    }
    t.entries.push_back({e.col, e.row, value});
  }
  return t;
}

// Of a plan for op(A), whose triplets are `t`.
template <class V, class I, class O, class Space>
std::vector<V> check_product(const context<Space>& ctx, const spmv_plan<V, I, O, Space>& plan, const triplets<V>& t,
                             V alpha, V beta) {
  const auto x = random_vector<V>(t.cols, 3);
  auto y = random_vector<V>(t.rows, 4);
  if (beta == V{}) std::fill(y.begin(), y.end(), number<V>(std::nan(""), std::nan("")));
  const auto dx = upload(ctx, x);
  auto dy = upload(ctx, y);
  plan.run(alpha, dx.view(), beta, dy.view());
  const std::vector<V> result = download<V>(ctx, dy.view());
  const auto expected = reference(t, alpha, x, beta, y);
  for (std::size_t r = 0; r < result.size(); ++r) {
    const long double error =
        std::abs(std::complex<long double>(std::real(result[r]), std::imag(result[r])) - expected[r].value);
    EXPECT_LE(error, expected[r].bound) << t.name << ", " << plan.reason() << ": element " << r;
    if (!(error <= expected[r].bound)) break;
  }
  return result;
}

template <class Case>
class SpmvTransposed : public product_suite<Case> {};
using configs = suite_types<product_case<float, i32, i32, host>, product_case<double, i32, i64, host>,
                            product_case<cdouble, i64, i64, host>, product_case<float, i32, i32, device>,
                            product_case<double, i32, i64, device>, product_case<cdouble, i64, i64, device>>;
TYPED_TEST_SUITE(SpmvTransposed, configs);

template <class Config>
using plan_of = spmv_plan<typename Config::V, typename Config::I, typename Config::O, typename Config::Space>;

TYPED_TEST(SpmvTransposed, AgreesWithTheReferenceOnEveryShape) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  for (const auto& m : adversarial<V>()) {
    const auto csr = as_csr<V, I, O>(ctx, m);
    for (const spmv_operation operation : both) {
      const auto t = transposed(m, operation);
      for (const spmv_storage storage : {spmv_storage::borrowed, spmv_storage::copied}) {
        check_product(ctx, plan_of<TypeParam>(ctx, csr.view(), {.storage = storage, .operation = operation}), t,
                      number<V>(1, 0), V{});
      }
    }
  }
}

TYPED_TEST(SpmvTransposed, EveryAlgorithmOfCsrAgrees) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("up to 40 per row", 333, 222, [](i64 r) { return r % 41; });
  const auto csr = as_csr<V, I, O>(ctx, m);
  int tried = 0;
  for (const spmv_operation operation : both) {
    for (const auto& row : detail::spmv::algorithms) {
      if (!detail::spmv::reads_csr(row.value)) continue;
      try {
        const plan_of<TypeParam> plan(ctx, csr.view(), {.algorithm = row.value, .operation = operation});
        EXPECT_EQ(plan.algorithm(), row.value);
        check_product(ctx, plan, transposed(m, operation), number<V>(0.5, -2), number<V>(-1, 3));
        check_product(ctx, plan, transposed(m, operation), V{}, number<V>(-1, 3));
        ++tried;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
      }
    }
  }
  EXPECT_GE(tried, 4);
}

TYPED_TEST(SpmvTransposed, CooIsTransposedInPlace) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  for (const auto& m : adversarial<V>()) {
    const auto coo = as_coo<V, I>(ctx, m);
    const spmv_plan<V, I, O, Space> plan(ctx, coo.view(), {.operation = spmv_operation::transpose});
    check_product(ctx, plan, transposed(m, spmv_operation::transpose), number<V>(1, 0), number<V>(2, 0));
  }
}

TYPED_TEST(SpmvTransposed, WhatCannotBeTransposedIsRefused) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("a few", 20, 30, [](i64) { return 2; });
  const auto expect_refused = [](auto&& make, spmv_operation operation) {
    try {
      make();
      ADD_FAILURE() << "not refused";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::unsupported);
      EXPECT_NE(std::string(e.what()).find(to_string(operation)), std::string::npos) << e.what();
    }
  };
  for (const spmv_operation operation : both) {
    const spmv_options options{.operation = operation};
    const auto ell = as_ell<V, I>(ctx, m);
    const auto sell = as_sell<V, I, O>(ctx, m, 8);
    expect_refused([&] { const spmv_plan<V, I, I, Space> plan(ctx, ell.view(), options); }, operation);
    expect_refused([&] { const spmv_plan<V, I, O, Space> plan(ctx, sell.view(), options); }, operation);
  }
  if (complex_type<V>) {
    const spmv_options conjugate{.operation = spmv_operation::conjugate_transpose};
    const auto coo = as_coo<V, I>(ctx, m);
    expect_refused([&] { const spmv_plan<V, I, I, Space> plan(ctx, coo.view(), conjugate); }, conjugate.operation);
  }
  const auto csr = as_csr<V, I, O>(ctx, m);
  const plan_of<TypeParam> plan(ctx, csr.view(), {.operation = spmv_operation::transpose});
  const array<V, Space> rows(ctx, 20), cols(ctx, 30);
  array<V, Space> y_rows(ctx, 20), y_cols(ctx, 30);
  EXPECT_THROW(plan.run(V(1), cols.view(), V{}, y_rows.view()), error);
  EXPECT_THROW(plan.run(V(1), rows.view(), V{}, y_rows.view()), error);
}

TYPED_TEST(SpmvTransposed, ValuesAreUpdated) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  auto m = random_rows<V>("up to 9 per row", 500, 400, [](i64 r) { return r % 10; });
  for (const spmv_operation operation : both) {
    for (const spmv_storage storage : {spmv_storage::borrowed, spmv_storage::copied}) {
      auto before = as_csr<V, I, O>(ctx, m);
      plan_of<TypeParam> plan(ctx, before.view(), {.storage = storage, .operation = operation});
      check_product(ctx, plan, transposed(m, operation), number<V>(1, 0), V{});
      auto other = m;
      for (auto& e : other.entries) e.value = e.value * number<V>(-3, 2);
      const auto after = as_csr<V, I, O>(ctx, other);
      plan.update_values(after.view());
      before = {};
      check_product(ctx, plan, transposed(other, operation), number<V>(1, 0), V{});
      auto moved = m;
      for (auto& e : moved.entries) e.col = (e.col + 1) % m.cols;
      const auto elsewhere = as_csr<V, I, O>(ctx, moved);
      EXPECT_THROW(plan.update_values(elsewhere.view()), error);
    }
  }
}

// A banded matrix, scattered columns, and a row that covers all columns.
std::vector<triplets<double>> large() {
  std::vector<triplets<double>> all;
  triplets<double> band{"band", 60'000, 60'000, {}};
  std::mt19937_64 random(9);
  for (i64 r = 0; r < band.rows; ++r) {
    for (i64 c = std::max<i64>(0, r - 3); c < std::min(band.cols, r + 4); ++c)
      band.entries.push_back({r, c, random_number<double>(random)});
  }
  all.push_back(band);
  for (i64 c = 0; c < band.cols; ++c) band.entries.push_back({31'000, c, random_number<double>(random)});
  band.name = "band with a full row";
  all.push_back(band);
  all.push_back(random_rows<double>("scattered", 30'000, 20'000, [](i64) { return 16; }));
  all.push_back(random_rows<double>("scattered, many columns", 30'000, 2'000'000, [](i64) { return 16; }));
  return all;
}

TEST(SpmvScatter, TheSameBitsForAnyNumberOfThreads) {
  for (const auto& m : large()) {
    std::vector<double> first;
    for (int threads = 1; threads <= 8; ++threads) {
      const context<host> ctx({.threads = threads});
      const auto csr = as_csr<double, i32, i32>(ctx, m);
      const spmv_plan<double, i32, i32, host> plan(ctx, csr.view(), {.operation = spmv_operation::transpose});
      EXPECT_EQ(plan.storage(), spmv_storage::borrowed);
      EXPECT_LE(plan.workspace_bytes(), 8 * (m.cols + csr.nnz() / 4) + 64 * 64) << m.name;
      if (threads == 1) first = check_product(ctx, plan, transposed(m, spmv_operation::transpose), 1.0, 0.0);
      std::vector<double> y(first.size());
      plan.run(1.0, random_vector<double>(m.rows, 3), 0.0, y);
      EXPECT_EQ(y, first) << m.name << ", " << threads << " threads";
    }
  }
}

TEST(SpmvScatter, EnoughProductsPayForACopy) {
  const context<host> ctx({.threads = 2});
  const auto m = random_rows<double>("scattered", 3000, 2000, [](i64) { return 16; });
  const auto csr = as_csr<double, i32, i32>(ctx, m);
  const auto plan = [&](i64 products) {
    return spmv_plan<double, i32, i32, host>(
        ctx, csr.view(),
        {.storage = spmv_storage::copied, .products = products, .operation = spmv_operation::transpose});
  };
  EXPECT_EQ(plan(0).storage(), spmv_storage::copied);
  EXPECT_EQ(plan(32).storage(), spmv_storage::copied) << plan(32).reason();
  EXPECT_EQ(plan(31).storage(), spmv_storage::borrowed);
  EXPECT_NE(plan(31).reason().find("after 32 products"), std::string::npos) << plan(31).reason();
}

TEST(SpmvScatter, EstimatesCoverWhatPlansTake) {
  for (const auto& m : large()) {
    const context<host> ctx({.threads = 2});
    const auto csr = as_csr<double, i32, i32>(ctx, m);
    for (const spmv_storage storage : {spmv_storage::borrowed, spmv_storage::copied}) {
      const spmv_options options{.storage = storage, .operation = spmv_operation::transpose};
      using plan_type = spmv_plan<double, i32, i32, host>;
      const plan_type plan(ctx, csr.view(), options);
      const matrix_shape shape{.rows = m.rows, .cols = m.cols, .entries = csr.nnz(), .threads = 2};
      const plan_estimate foreseen = plan_type::estimate(shape, options);
      EXPECT_LE(plan.workspace_bytes(), foreseen.host_bytes) << m.name << ", " << plan.reason();
    }
  }
}

TEST(SpmvScatter, AnInfiniteElementAffectsOnlyItsRowsColumns) {
  const context<host> ctx({.threads = 2});
  const triplets<double> m{"three entries", 3, 4, {{0, 1, 2.0}, {1, 2, 3.0}, {1, 3, 0.0}}};
  const auto csr = as_csr<double, i32, i32>(ctx, m);
  const spmv_plan<double, i32, i32, host> plan(ctx, csr.view(), {.operation = spmv_operation::transpose});
  const std::vector<double> x{1, std::numeric_limits<double>::infinity(), std::nan("")};
  std::vector<double> y(4, std::nan(""));
  plan.run(1.0, x, 0.0, y);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[2], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(y[3]));
}

}  // namespace
}  // namespace spargo::test
