// Every algorithm on every format and backend against a long double reference.
#include "sparse/sparse_suite.hpp"
#include "support/resource.hpp"

#include <numeric>

namespace spargo::test {
namespace {

using detail::spmv::reads_coo;
using detail::spmv::reads_csr;

// Runs a plan on a y between guards, and compares. y starts from NaN if beta is 0.
template <class V, class I, class O, class Space>
void check_product(const context<Space>& ctx, const spmv_plan<V, I, O, Space>& plan, const triplets<V>& m, V alpha,
                   V beta, unsigned seed = 1) {
  constexpr i64 guard = 3;
  const V mark = number<V>(-77, 77);
  const auto x = random_vector<V>(m.cols, seed);
  auto y = random_vector<V>(m.rows, seed + 1);
  if (beta == V{}) std::fill(y.begin(), y.end(), number<V>(std::nan(""), std::nan("")));
  std::vector<V> framed(static_cast<std::size_t>(m.rows + 2 * guard), mark);
  std::copy(y.begin(), y.end(), framed.begin() + guard);

  const auto dx = upload(ctx, x);
  auto dy = upload(ctx, framed);
  plan.run(alpha, dx.view(), beta, dy.view().subspan(guard, m.rows));
  const std::vector<V> result = download<V>(ctx, dy.view());

  const auto expected = reference(m, alpha, x, beta, y);
  const std::string where = m.name + ", " + std::string(to_string(plan.algorithm()));
  for (i64 r = 0; r < m.rows; ++r) {
    const V got = result[static_cast<std::size_t>(r + guard)];
    const auto& want = expected[static_cast<std::size_t>(r)];
    const long double error = std::abs(std::complex<long double>(std::real(got), std::imag(got)) - want.value);
    ASSERT_LE(error, want.bound) << where << ": row " << r << " is " << got << ", expected " << want.value.real()
                                 << " alpha " << alpha << " beta " << beta;
  }
  for (i64 g = 0; g < guard; ++g) {
    ASSERT_EQ(result[static_cast<std::size_t>(g)], mark) << where << ": written before y";
    ASSERT_EQ(result[static_cast<std::size_t>(m.rows + guard + g)], mark) << where << ": written after y";
  }
}

// Calls `body(plan)` for every format and algorithm of the space.
template <class V, class I, class O, class Space, class Body>
void for_each_plan(const context<Space>& ctx, const triplets<V>& m, Body&& body) {
  for_each_algorithm<V, I, O>(ctx, as_csr<V, I, O>(ctx, m).view(), reads_csr, body);
  for_each_algorithm<V, I, O>(ctx, as_coo<V, I>(ctx, m).view(), reads_coo, body);
  for_each_algorithm<V, I, O>(ctx, as_ell<V, I>(ctx, m).view(), detail::spmv::reads_ell, body);
  for (const std::size_t height : {1, 8, 32, 300}) {
    for_each_algorithm<V, I, O>(ctx, as_sell<V, I, O>(ctx, m, height).view(), detail::spmv::reads_sell, body);
  }
}

template <class Case>
class Spmv : public product_suite<Case> {};

TYPED_TEST_SUITE(Spmv, all_product_cases);

TYPED_TEST(Spmv, AgreesWithTheReferenceOnEveryShape) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  for (const auto& m : adversarial<V>()) {
    for_each_plan<V, I, O>(ctx, m, [&](const auto& plan) {
      if (!this->HasFatalFailure()) check_product(ctx, plan, m, number<V>(1, 0), V{});
    });
  }
}

TYPED_TEST(Spmv, ScalesByAlphaAndBeta) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("up to 40 per row", 333, 222, [](i64 r) { return r % 41; });
  for_each_plan<V, I, O>(ctx, m, [&](const auto& plan) {
    for (const double alpha : {0.0, 1.0, -1.0, 2.5}) {
      for (const double beta : {0.0, 1.0, -1.0, 2.5}) {
        if (!this->HasFatalFailure()) check_product(ctx, plan, m, number<V>(alpha, 0), number<V>(beta, 0));
      }
    }
    if (!this->HasFatalFailure()) check_product(ctx, plan, m, number<V>(0.5, -2), number<V>(-1, 3));
  });
}

TYPED_TEST(Spmv, TakesUnsortedEntriesWithDuplicates) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  auto m = random_rows<V>("shuffled", 200, 60, [](i64 r) { return r == 100 ? 5000 : r % 5; });
  std::shuffle(m.entries.begin(), m.entries.end(), std::mt19937_64(5));
  for_each_plan<V, I, O>(ctx, m, [&](const auto& plan) {
    if (!this->HasFatalFailure()) check_product(ctx, plan, m, number<V>(1, 0), number<V>(2, 0));
  });
}

// A few types suffice for what does not depend on types.
template <class Config>
class SpmvPlan : public Spmv<Config> {};
using few_configs = suite_types<product_case<float, i32, i32, host>, product_case<cdouble, i64, i64, host>,
                                product_case<float, i32, i32, device>, product_case<cdouble, i64, i64, device>>;
TYPED_TEST_SUITE(SpmvPlan, few_configs);

TYPED_TEST(SpmvPlan, SplitsAVeryLongRow) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("a row of 100000", 1000, 5000, [](i64 r) { return r == 501 ? 100'000 : 2; });
  const auto check = [&](const auto& plan) { check_product(ctx, plan, m, number<V>(1, 0), V{}); };
  for_each_algorithm<V, I, O>(ctx, as_csr<V, I, O>(ctx, m).view(), takes_any_row, check);
  for_each_algorithm<V, I, O>(ctx, as_coo<V, I>(ctx, m).view(), reads_coo, check);
}

// Rows that span one tile to forty, for any tile size: from some number on, a row's parts are summed differently.
TYPED_TEST(SpmvPlan, AddsThePartsOfRowsAcrossAnyNumberOfTiles) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("rows across tiles", 61, 3000, [](i64 r) {
    return r % 3 == 0 ? 1024 * (r / 3) + 700 : (r % 3 == 1 ? 0 : 512 * (r % 20));
  });
  const auto check = [&](const auto& plan) { check_product(ctx, plan, m, number<V>(2, 0), number<V>(-1, 0)); };
  for_each_algorithm<V, I, O>(ctx, as_csr<V, I, O>(ctx, m).view(), reads_csr, check);
  for_each_algorithm<V, I, O>(ctx, as_coo<V, I>(ctx, m).view(), reads_coo, check);
}

// Arrays at any address: no load may rely on the alignment of allocations.
TYPED_TEST(SpmvPlan, TakesArraysAtAnyElement) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  for (const std::size_t shift : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    const auto m = random_rows<V>("shifted by " + std::to_string(shift), 700, 700, [](i64 r) { return r % 11; });
    auto padded = m;
    padded.rows += 1;
    for (auto& e : padded.entries) e.row += 1;
    std::vector<triplet<V>> entries(shift, {0, 0, V{}});
    entries.insert(entries.end(), padded.entries.begin(), padded.entries.end());
    padded.entries = entries;
    const auto whole = as_csr<V, I, O>(ctx, padded);
    const i64 nnz = whole.nnz() - static_cast<i64>(shift);
    const auto s = static_cast<i64>(shift);
    const auto whole_offsets = download<O>(ctx, whole.offsets().view());
    std::vector<O> offsets;
    for (i64 r = 1; r <= padded.rows; ++r)
      offsets.push_back(whole_offsets[static_cast<std::size_t>(r)] - static_cast<O>(shift));
    const auto shifted = upload(ctx, offsets);
    const csr_view<const V, I, O, Space> view{
        {static_cast<I>(m.rows), static_cast<I>(m.cols), shifted.view(), whole.indices().view().subspan(s, nnz)},
        whole.values().view().subspan(s, nnz)};
    for_each_algorithm<V, I, O>(ctx, view, reads_csr,
                                [&](const auto& plan) { check_product(ctx, plan, m, number<V>(1, 0), V{}); });
    const auto coo = as_coo<V, I>(ctx, padded);
    const coo_view<const V, I, Space> tail{
        {static_cast<I>(padded.rows), static_cast<I>(m.cols), coo.row_indices().view().subspan(s, nnz),
         coo.col_indices().view().subspan(s, nnz)},
        coo.values().view().subspan(s, nnz)};
    for_each_algorithm<V, I, O>(ctx, tail, reads_coo,
                                [&](const auto& plan) { check_product(ctx, plan, padded, number<V>(1, 0), V{}); });
  }
}

TYPED_TEST(SpmvPlan, LeavesPaddingOutOfProducts) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  // No row has column 0, so an infinite x[0] must not affect y.
  auto m = random_rows<V>("away from column 0", 100, 50, [](i64 r) { return r % 13; });
  for (auto& e : m.entries) e.col = 1 + e.col % 49;
  auto x = random_vector<V>(m.cols, 3);
  const std::vector<V> y(static_cast<std::size_t>(m.rows));
  const auto expected = reference(m, number<V>(1, 0), x, V{}, y);
  x[0] = number<V>(std::numeric_limits<double>::infinity(), 0);
  const auto dx = upload(ctx, x);
  for_each_plan<V, I, O>(ctx, m, [&](const auto& plan) {
    auto dy = upload(ctx, y);
    plan.run(number<V>(1, 0), dx.view(), V{}, dy.view());
    const auto result = download<V>(ctx, std::as_const(dy).view());
    for (std::size_t r = 0; r < result.size(); ++r) {
      const std::complex<long double> got(std::real(result[r]), std::imag(result[r]));
      ASSERT_LE(std::abs(got - expected[r].value), expected[r].bound)
          << to_string(plan.algorithm()) << ": row " << r << " is " << result[r];
    }
  });
}

TYPED_TEST(SpmvPlan, AlphaZeroReadsNeitherMatrixNorX) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const V nan = number<V>(std::nan(""), std::nan(""));
  const triplets<V> m{"NaN", 2, 2, {{0, 0, nan}, {1, 1, nan}}};
  for_each_plan<V, I, O>(ctx, m, [&](const auto& plan) {
    const auto x = upload(ctx, std::vector<V>{nan, nan});
    auto y = upload(ctx, std::vector<V>{number<V>(1, 0), number<V>(2, 0)});
    plan.run(V{}, x.view(), number<V>(3, 0), y.view());
    const auto result = download<V>(ctx, std::as_const(y).view());
    EXPECT_EQ(result[0], number<V>(3, 0));
    EXPECT_EQ(result[1], number<V>(6, 0));
  });
}

TYPED_TEST(SpmvPlan, SeesValuesThatChange) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  auto m = random_rows<V>("changing", 200, 90, [](i64 r) { return r % 6; });
  std::shuffle(m.entries.begin(), m.entries.end(), std::mt19937_64(6));
  auto coo = as_coo<V, I>(ctx, m);
  std::vector<spmv_plan<V, I, O, Space>> plans;
  for (const auto algorithm : algorithms_for<Space>(reads_coo)) {
    plans.emplace_back(ctx, coo.view(), spmv_options{.algorithm = algorithm});
  }
  auto csr = as_csr<V, I, O>(ctx, m);
  const auto other = as_csr<V, I, O>(ctx, random_rows<V>("other", 999, 90, [](i64 r) { return r % 9; }));
  std::vector<spmv_plan<V, I, O, Space>> csr_plans;
  for (const auto algorithm : algorithms_for<Space>(reads_csr)) {
    csr_plans.emplace_back(ctx, csr.view(), spmv_options{.algorithm = algorithm});
    if (csr_plans.back().storage() == spmv_storage::copied) csr_plans.pop_back();  // it does not follow the values
  }
  for (const auto& plan : plans) check_product(ctx, plan, m, number<V>(1, 0), V{});
  const spmv_plan<V, I, O, Space> unrelated(ctx, other.view());
  for (auto& e : m.entries) e.value = e.value * number<V>(-3, 0);
  const auto new_coo = as_coo<V, I>(ctx, m);
  const auto new_csr = as_csr<V, I, O>(ctx, m);
  copy<V>(ctx, new_coo.values().view(), coo.values().view());
  copy<V>(ctx, new_csr.values().view(), csr.values().view());
  for (const auto& plan : plans) check_product(ctx, plan, m, number<V>(1, 0), V{}, 9);
  for (const auto& plan : csr_plans) check_product(ctx, plan, m, number<V>(1, 0), V{}, 9);
}

TYPED_TEST(SpmvPlan, GivesTheSameBitsTwice) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("uneven", 700, 3000, [](i64 r) { return r % 250 == 3 ? 7000 : r % 9; });
  const auto x = upload(ctx, random_vector<V>(m.cols, 4));
  for_each_plan<V, I, O>(ctx, m, [&](const auto& plan) {
    if (plan.algorithm() == spmv_algorithm::coo_atomic) return;
    std::vector<V> first;
    for (int repeat = 0; repeat < 3; ++repeat) {
      array<V, Space> y(ctx, m.rows);
      plan.run(number<V>(1, 0), x.view(), V{}, y.view());
      const auto result = download<V>(ctx, std::as_const(y).view());
      if (repeat == 0) first = result;
      ASSERT_EQ(first, result) << to_string(plan.algorithm());
    }
  });
}

TYPED_TEST(SpmvPlan, RefusesWrongSizesAndOverlap) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("4 x 6", 4, 6, [](i64) { return 2; });
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_plan<V, I, O, Space> plan(ctx, csr.view());
  array<V, Space> memory(ctx, 20);
  const auto all = memory.view();
  const V one = number<V>(1, 0);
  const auto code_of = [&](auto&& call) {
    try {
      call();
    } catch (const error& e) {
      return e.code();
    }
    return error_code::io;  // nothing was thrown
  };
  EXPECT_EQ(code_of([&] { plan.run(one, all.subspan(0, 5), V{}, all.subspan(10, 4)); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { plan.run(one, all.subspan(0, 6), V{}, all.subspan(10, 5)); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { plan.run(one, all.subspan(0, 6), V{}, all.subspan(5, 4)); }), error_code::invalid_argument);
  EXPECT_EQ(code_of([&] { plan.run(one, all.subspan(3, 6), V{}, all.subspan(0, 4)); }), error_code::invalid_argument);
  fill_zero(ctx, all);
  EXPECT_EQ(code_of([&] { plan.run(one, all.subspan(0, 6), V{}, all.subspan(6, 4)); }), error_code::io);

  auto view = csr.view();
  view.offsets = view.offsets.subspan(0, 4);
  EXPECT_EQ(code_of([&] { spmv_plan<V, I, O, Space>(ctx, view); }), error_code::invalid_argument);
  view = csr.view();
  view.values = view.values.subspan(0, 3);
  EXPECT_EQ(code_of([&] { spmv_plan<V, I, O, Space>(ctx, view); }), error_code::invalid_argument);
  // Algorithms for other formats or the other backend.
  for (const auto& row : detail::spmv::algorithms) {
    const bool has = row.value == spmv_algorithm::automatic ||
                     (reads_csr(row.value) && detail::runs_on<Space>(detail::spmv::algorithms, row.value));
    EXPECT_EQ(code_of([&] { spmv_plan<V, I, O, Space>(ctx, csr.view(), {.algorithm = row.value}); }),
              has ? error_code::io : error_code::unsupported)
        << row.name;
  }
}

TYPED_TEST(SpmvPlan, OneCallFormsAgree) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("one call", 120, 80, [](i64 r) { return r % 7; });
  const auto x = random_vector<V>(m.cols, 1);
  const auto dx = upload(ctx, x);
  const V one = number<V>(1, 0);
  const auto expected = reference(m, one, x, V{}, std::vector<V>(120));
  const auto expect_good = [&](const array<V, Space>& y, const char* format) {
    const auto result = download<V>(ctx, y.view());
    for (std::size_t r = 0; r < result.size(); ++r) {
      const std::complex<long double> got(std::real(result[r]), std::imag(result[r]));
      ASSERT_LE(std::abs(got - expected[r].value), expected[r].bound) << format << ", row " << r;
    }
  };
  array<V, Space> y(ctx, m.rows);
  const auto csr = as_csr<V, I, O>(ctx, m);
  spmv<V>(ctx, one, csr.view(), dx.view(), V{}, y.view());
  expect_good(y, "CSR");
  const auto coo = as_coo<V, I>(ctx, m);
  spmv<V>(ctx, one, coo.view(), dx.view(), V{}, y.view());
  expect_good(y, "COO");
  const auto ell = as_ell<V, I>(ctx, m);
  spmv<V>(ctx, one, ell.view(), dx.view(), V{}, y.view());
  expect_good(y, "ELL");
  const auto sell = as_sell<V, I, O>(ctx, m, 16);
  spmv<V>(ctx, one, sell.view(), dx.view(), V{}, y.view());
  expect_good(y, "SELL");
}

// Above the sizes at which device kernels change: more than 2^22 entries, one row of which spans many tiles.
TEST(SpmvLarge, DeviceAgreesWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto m = random_rows<double>("large", 210'000, 9'000, [](i64 r) { return r == 70'001 ? 200'000 : r % 41; });
  ASSERT_GT(m.entries.size(), std::size_t{1} << 22);
  const auto csr = as_csr<double, i32, i32>(ctx, m);
  for_each_algorithm<double, i32, i32>(ctx, csr.view(), takes_any_row, [&](const auto& plan) {
    for (const double beta : {0.0, -2.0}) {
      if (!HasFatalFailure()) check_product(ctx, plan, m, 1.5, beta);
    }
  });
}

// More than 2^21 entries in consistently long rows: one row per warp.
TEST(SpmvLarge, LongRowsAgreeWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto m =
      random_rows<float>("long rows", 21'001, 9'000, [](i64 r) { return r % 97 == 0 ? r % 4 : 90 + r % 41; });
  ASSERT_GT(m.entries.size(), std::size_t{1} << 21);
  const auto csr = as_csr<float, i32, i64>(ctx, m);
  const spmv_plan<float, i32, i64, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::row_per_warp});
  for (const float beta : {0.0F, -2.0F}) {
    if (!HasFatalFailure()) check_product(ctx, plan, m, 1.5F, beta);
  }
}

TEST(SpmvHost, GivesTheSameBitsForAnyThreadCount) {
  const auto m = random_rows<double>("uneven", 20'000, 3000, [](i64 r) { return r % 5000 == 3 ? 30'000 : r % 9; });
  const auto x = random_vector<double>(m.cols, 4);
  std::vector<std::vector<double>> first;
  for (const int threads : {1, 2, 3, 7}) {
    const context<host> ctx({.threads = threads});
    const auto csr = as_csr<double, i32, i32>(ctx, m);
    const auto coo = as_coo<double, i32>(ctx, m);
    std::vector<std::vector<double>> results;
    const auto record = [&](const spmv_plan<double, i32, i32, host>& plan) {
      std::vector<double> y(20'000);
      plan.run(1.0, span<const double, host>(x), 0.0, span<double, host>(y));
      results.push_back(y);
    };
    record({ctx, csr.view(), {.algorithm = spmv_algorithm::row_per_thread}});
    record({ctx, csr.view(), {.algorithm = spmv_algorithm::merge_path}});
    record({ctx, coo.view()});
    if (first.empty()) first = results;
    EXPECT_EQ(first, results) << threads << " threads";
  }
}

// More than 12 MiB of y: streamed if beta = 0, otherwise read and written.
TEST(SpmvHost, WritesALargeY) {
  constexpr i64 rows = 3'300'001;
  const context<host> ctx({.threads = 3});
  csr_matrix<float, i32, i32, host> a(static_cast<i32>(rows), 5, {ctx, rows + 1}, {ctx, rows / 2}, {ctx, rows / 2});
  a.offsets()[0] = 0;
  for (i64 r = 0; r < rows; ++r) a.offsets()[r + 1] = static_cast<i32>((r + 1) / 2);  // every second row is empty
  for (i64 k = 0; k < rows / 2; ++k) {
    a.indices()[k] = static_cast<i32>(k % 5);
    a.values()[k] = static_cast<float>(k % 7);
  }
  const std::vector<float> x{1, 2, 3, 4, 5};
  const spmv_plan<float, i32, i32, host> plan(ctx, std::as_const(a).view(),
                                              {.algorithm = spmv_algorithm::row_per_thread});
  for (const float beta : {0.0F, 2.0F}) {
    std::vector<float> framed(rows + 2, beta == 0.0F ? std::nanf("") : 3.0F);
    framed.front() = framed.back() = -77.0F;
    plan.run(2.0F, span<const float, host>(x), beta, span<float, host>(framed).subspan(1, rows));
    for (i64 r = 0; r < rows; ++r) {
      const i64 k = r / 2;
      const float product = r % 2 == 0 ? 0.0F : 2.0F * static_cast<float>(k % 7) * static_cast<float>(k % 5 + 1);
      ASSERT_EQ(framed[static_cast<std::size_t>(r + 1)], product + 3.0F * beta) << "row " << r << ", beta " << beta;
    }
    EXPECT_EQ(framed.front(), -77.0F);
    EXPECT_EQ(framed.back(), -77.0F);
  }
}

TEST(SpmvHost, SurvivesEveryRefusedAllocation) {
  auto m = random_rows<double>("unsorted", 400, 400, [](i64 r) { return r % 6; });
  const context<host> plain({.threads = 2});
  const auto csr = as_csr<double, i32, i32>(plain, m);
  const auto sell = as_sell<double, i32, i32>(plain, m, 8);
  std::reverse(m.entries.begin(), m.entries.end());
  const auto coo = as_coo<double, i32>(plain, m);
  const std::vector<double> x(400, 1.0);
  std::vector<double> y(400);
  const auto requests = fail_every_allocation([&](const context<host>& ctx) {
    const span<const double, host> in(x);
    const span<double, host> out(y);
    spmv<double>(ctx, 1.0, csr.view(), in, 0.0, out, {.algorithm = spmv_algorithm::row_per_thread});
    spmv<double>(ctx, 1.0, csr.view(), in, 0.0, out, {.algorithm = spmv_algorithm::merge_path});
    spmv<double>(ctx, 1.0, sell.view(), in, 0.0, out);
    spmv<double>(ctx, 1.0, coo.view(), in, 0.0, out);
  });
  EXPECT_GE(requests, 6);
}

TEST(SpmvHost, RunNeverAllocates) {
  auto m = random_rows<double>("unsorted", 400, 400, [](i64 r) { return r % 6; });
  std::reverse(m.entries.begin(), m.entries.end());
  counting_resource<host> resource(default_host_resource());
  const context<host> ctx({.threads = 2, .resource = &resource});
  for_each_plan<double, i32, i32>(ctx, m, [&](const auto& plan) {
    const std::vector<double> x(400, 1.0);
    std::vector<double> y(400);
    const auto before = resource.requests();
    plan.run(1.0, span<const double, host>(x), 0.0, span<double, host>(y));
    EXPECT_EQ(resource.requests(), before) << to_string(plan.algorithm());
  });
}

TEST(SpmvChoice, FollowsTheRowProfile) {
  const context<host> ctx({.threads = 4});
  const auto even = as_csr<double, i32, i32>(ctx, random_rows<double>("", 1000, 1000, [](i64) { return 5; }));
  const auto uneven =
      as_csr<double, i32, i32>(ctx, random_rows<double>("", 1000, 1000, [](i64 r) { return r == 4 ? 5000 : 1; }));
  const spmv_plan<double, i32, i32, host> a(ctx, even.view());
  const spmv_plan<double, i32, i32, host> b(ctx, uneven.view());
  EXPECT_EQ(a.algorithm(), spmv_algorithm::row_per_thread) << a.reason();
  EXPECT_EQ(b.algorithm(), spmv_algorithm::merge_path) << b.reason();
  EXPECT_NE(b.reason().find("5000"), std::string::npos) << b.reason();
}

TEST(SpmvChoice, OnTheDeviceFollowsTheRowProfile) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  // Rows of `length(r)` entries in consecutive columns from r on, or scattered.
  enum class columns { consecutive, anywhere };
  const auto plan_of = [&](i64 rows, auto length, columns where) {
    auto m = random_rows<float>("", rows, rows + 10'000, length);
    if (where == columns::consecutive) {
      i64 row = -1;
      i64 next = 0;
      for (auto& e : m.entries) {
        next = e.row == row ? next + 1 : e.row;
        row = e.row;
        e.col = next;
      }
    }
    const auto a = as_csr<float, i32, i32>(ctx, m);
    const spmv_plan<float, i32, i32, device> plan(ctx, a.view());
    return plan.algorithm();
  };
  constexpr i64 few = 2000;
  EXPECT_EQ(plan_of(
                few, [](i64) { return 5; }, columns::anywhere),
            spmv_algorithm::row_per_thread);
  EXPECT_EQ(plan_of(
                few, [](i64) { return 5; }, columns::consecutive),
            spmv_algorithm::row_per_thread);
  EXPECT_EQ(plan_of(
                few, [](i64) { return 20; }, columns::anywhere),
            spmv_algorithm::row_per_warp);
  EXPECT_EQ(plan_of(
                few, [](i64) { return 20; }, columns::consecutive),
            spmv_algorithm::row_per_warp);
  EXPECT_EQ(plan_of(
                few, [](i64 r) { return r == 500 ? 632 : 11; }, columns::consecutive),
            spmv_algorithm::row_per_warp);
  EXPECT_EQ(plan_of(
                few, [](i64 r) { return r == 500 ? 5000 : 1; }, columns::consecutive),
            spmv_algorithm::row_per_warp);
  EXPECT_EQ(plan_of(
                few, [](i64 r) { return r == 500 ? 9000 : 1; }, columns::consecutive),
            spmv_algorithm::row_per_warp);
  // More than 3, 4 and 7 * 2^20 entries, with 4-byte values.
  constexpr i64 many = 215'000;
  EXPECT_EQ(plan_of(
                many, [](i64 r) { return r % 100 == 0 ? 1500 : 1; }, columns::consecutive),
            spmv_algorithm::merge_path);
  EXPECT_EQ(plan_of(
                many, [](i64) { return 20; }, columns::anywhere),
            spmv_algorithm::row_per_warp);
  EXPECT_EQ(plan_of(
                many, [](i64) { return 20; }, columns::consecutive),
            spmv_algorithm::row_blocks);
  EXPECT_EQ(plan_of(
                many, [](i64 r) { return r == 500 ? 1000 : 20; }, columns::consecutive),
            spmv_algorithm::merge_path);
  EXPECT_EQ(plan_of(
                many / 5, [](i64) { return 100; }, columns::consecutive),
            spmv_algorithm::row_per_warp);
  EXPECT_EQ(plan_of(
                370'000, [](i64) { return 20; }, columns::anywhere),
            spmv_algorithm::merge_path);
}

}  // namespace
}  // namespace spargo::test
