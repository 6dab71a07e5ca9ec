// Copies with column blocks in shared memory: refusals, results against the reference, determinism, new values.
#include "sparse/spmv/copies/blocked/blocked.hpp"

#include "sparse/spmv_copied_cases.hpp"
#include "sparse/spmv_copied_types.hpp"
#include "support/suites.hpp"

#include <algorithm>
#include <cmath>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using detail::spmv::blocking_profile;
using detail::spmv::copy_demand;
using detail::spmv::reason_against_blocking;

// A matrix worth a copy.
constexpr blocking_profile worthy{.rows = 1 << 22,
                                  .cols = 1 << 22,
                                  .nnz = 60'000'000,
                                  .value_bytes = 8,
                                  .sectors = 1000,
                                  .gathered = 20'000'000,
                                  .strips = 5'000'000,
                                  .ranked = 2'000'000};

TEST(SpmvBlocking, RefusesSmallSavings) {
  // Bytes: 60e6 * 44 = 2640e6; 60e6 * 12 + 5e6 * 44 + 2e6 * 52 = 1044e6, plus 32 per gathered entry.
  constexpr i64 most = (2'640'000'000 / 4 * 3 - 1'044'000'000) / 32;
  blocking_profile p = worthy;
  p.gathered = most;
  EXPECT_EQ(reason_against_blocking(p, copy_demand::if_it_pays), "");
  p.gathered = most + 1;
  const auto why = reason_against_blocking(p, copy_demand::if_it_pays);
  EXPECT_NE(why.find("48 percent of the entries"), std::string::npos) << why;
  EXPECT_NE(why.find("75 percent of the traffic"), std::string::npos) << why;
  EXPECT_EQ(reason_against_blocking(p, copy_demand::by_name), "");
  for (const auto count : {&blocking_profile::strips, &blocking_profile::ranked}) {
    blocking_profile more = worthy;
    more.*count = 60'000'000;
    EXPECT_NE(reason_against_blocking(more, copy_demand::if_it_pays), "");
  }
}

TEST(SpmvBlocking, RefusesRowsThatShareSectors) {
  blocking_profile local = worthy;
  local.sectors = 60;
  local.gathered = 0;
  EXPECT_NE(reason_against_blocking(local, copy_demand::if_it_pays), "");
  EXPECT_EQ(reason_against_blocking(local, copy_demand::by_name), "");
}

TEST(SpmvBlocking, RefusesVectorsInTheCache) {
  blocking_profile small = worthy;
  small.cols = 32'768;
  EXPECT_NE(reason_against_blocking(small, copy_demand::if_it_pays).find("32768 elements"), std::string::npos);
  EXPECT_EQ(reason_against_blocking(small, copy_demand::by_name), "");
  small.cols = 32'769;
  EXPECT_EQ(reason_against_blocking(small, copy_demand::if_it_pays), "");
}

TEST(SpmvBlocking, RefusesFewEntries) {
  blocking_profile few = worthy;
  few.gathered = few.strips = few.ranked = 0;
  few.nnz = (i64{1} << 23) - 1;
  EXPECT_NE(reason_against_blocking(few, copy_demand::if_it_pays).find("8388607 entries are too few"),
            std::string::npos);
  EXPECT_EQ(reason_against_blocking(few, copy_demand::by_name), "");
  few.nnz += 1;
  EXPECT_EQ(reason_against_blocking(few, copy_demand::if_it_pays), "");
}

TEST(SpmvBlocking, RefusesWhatDoesNotFit32Bits) {
  constexpr i64 most = (i64{1} << 32) - (i64{1} << 16);
  blocking_profile large = worthy;
  large.rows = large.cols = large.nnz = most;
  EXPECT_EQ(reason_against_blocking(large, copy_demand::by_name), "");
  for (const auto size : {&blocking_profile::rows, &blocking_profile::cols, &blocking_profile::nnz}) {
    blocking_profile larger = large;
    larger.*size += 1;
    EXPECT_NE(reason_against_blocking(larger, copy_demand::by_name), "");
  }
}

// Rows of 0, 20, 40, ... entries in `used` columns, `stride` apart. The last row has more entries than one warp
// processes, or than a thread block adds in one step.
template <class V>
triplets<V> long_rows(std::string name, i64 rows, i64 used, i64 stride) {
  std::mt19937_64 random(static_cast<unsigned>(used));
  triplets<V> m{std::move(name), rows, used * stride, {}};
  for (i64 r = 0; r < rows; ++r) {
    const i64 entries = r + 1 == rows ? 70'000 : 20 * (r % 200);
    for (i64 k = 0; k < entries; ++k) {
      const auto column = static_cast<i64>(random() % static_cast<std::uint64_t>(used));
      m.entries.push_back({r, column * stride + stride - 1, random_number<V>(random)});
    }
  }
  return m;
}

template <class Types>
class SpmvBlocked : public test::device_suite {};

TYPED_TEST_SUITE(SpmvBlocked, copied_types);

TYPED_TEST(SpmvBlocked, AgreesWithTheReferenceOnLongRows) {
  SPMV_TYPES;
  const context<device> ctx;
  std::vector<triplets<V>> all;
  all.push_back(long_rows<V>("long rows", 401, 150'000, 1));
  all.push_back(long_rows<V>("long rows in a third of the columns", 401, 110'000, 3));
  // No column is hot: x keeps its order, and entries outside column blocks have their own kernel.
  all.push_back(random_rows<V>("even columns", 300, 800'000, [](i64 r) { return r % 2 == 0 ? 30 : 20'000; }));
  for (const auto& m : all) {
    const auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::blocked});
    EXPECT_EQ(plan.algorithm(), spmv_algorithm::blocked);
    for (const auto& [alpha, beta] :
         {std::pair(number<V>(1, 0), V{}), std::pair(number<V>(-2, 0.5), number<V>(3, 1))}) {
      if (!this->HasFatalFailure()) expect_product(run(ctx, plan, m, alpha, beta), m, alpha, beta);
    }
  }
}

TYPED_TEST(SpmvBlocked, LeavesColumnsWithoutEntriesUnread) {
  SPMV_TYPES;
  const context<device> ctx;
  // Column blocks start at multiples of this, which empty slots would read.
  constexpr i64 first = 12'288;
  auto m = long_rows<V>("the first column of each block is empty", 150, 60'000, 1);
  for (auto& e : m.entries) e.col += e.col % first == 0 ? 1 : 0;
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::blocked});
  auto x = random_vector<V>(m.cols, 1);
  for (i64 c = 0; c < m.cols; c += first) x[static_cast<std::size_t>(c)] = number<V>(std::nan(""), std::nan(""));
  const auto dx = upload(ctx, x);
  array<V, device> y(ctx, m.rows);
  plan.run(number<V>(1, 0), dx.view(), V{}, y.view());
  expect_product(download<V>(ctx, y.view()), m, number<V>(1, 0), V{});
}

// Empty slots refer to the most used column, or the first of their block: NaN there must stay in its own rows.
TYPED_TEST(SpmvBlocked, ElementsOfXAffectOnlyTheirRows) {
  SPMV_TYPES;
  const context<device> ctx;
  for (const auto& m : {popular_columns<V>(3000, 5003, 20), long_rows<V>("long rows", 150, 60'000, 1)}) {
    std::vector<i64> uses(static_cast<std::size_t>(m.cols));
    for (const auto& e : m.entries) ++uses[static_cast<std::size_t>(e.col)];
    auto x = random_vector<V>(m.cols, 1);
    const auto most = std::max_element(uses.begin(), uses.end()) - uses.begin();
    x[static_cast<std::size_t>(most)] = number<V>(std::nan(""), std::nan(""));
    const auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::blocked});
    const auto dx = upload(ctx, x);
    array<V, device> y(ctx, m.rows);
    plan.run(number<V>(1, 0), dx.view(), V{}, y.view());
    const auto got = download<V>(ctx, y.view());
    const auto expected = reference(m, number<V>(1, 0), x, V{}, random_vector<V>(m.rows, 2));
    i64 finite = 0;
    for (std::size_t r = 0; r < got.size(); ++r) {
      const std::complex<long double> value(std::real(got[r]), std::imag(got[r]));
      ASSERT_EQ(std::isnan(value.real()), std::isnan(expected[r].value.real())) << m.name << ", row " << r;
      if (std::isnan(value.real())) continue;
      ASSERT_LE(std::abs(value - expected[r].value), expected[r].bound) << m.name << ", row " << r;
      ++finite;
    }
    EXPECT_TRUE(finite > 0 && finite < m.rows) << m.name << ": " << finite << " finite rows";
  }
}

TYPED_TEST(SpmvBlocked, GivesTheSameBitsEveryTimeAndFromEveryPlan) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = long_rows<V>("long rows", 401, 110'000, 3);
  const auto csr = as_csr<V, I, O>(ctx, m);
  expect_same_bits<V, I, O>(ctx, m, csr.view(), {.algorithm = spmv_algorithm::blocked});
}

TYPED_TEST(SpmvBlocked, KeepsACopyAndTakesNewValues) {
  SPMV_TYPES;
  expect_copy<V, I, O>({}, long_rows<V>("long rows", 401, 150'000, 1), spmv_algorithm::blocked, sizeof(V) + 6);
}

TYPED_TEST(SpmvBlocked, IsNotChosenForFewEntries) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto csr = as_csr<V, I, O>(ctx, popular_columns<V>(3000, 300'000, 40));
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.storage = spmv_storage::copied});
  EXPECT_EQ(plan.storage(), spmv_storage::borrowed);
  EXPECT_NE(plan.reason().find("not blocked: " + std::to_string(csr.nnz()) + " entries are too few"), std::string::npos)
      << plan.reason();
}

// More than 2^23 entries: mostly in a few columns, in long scattered rows, or in short rows.
TEST(SpmvBlockedChoice, ChosenForHotColumns) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto m = popular_columns<double>(220'000, 300'000, 40);
  ASSERT_GT(m.entries.size(), std::size_t{1} << 23);
  const auto csr = as_csr<double, i32, i32>(ctx, m);
  const spmv_plan<double, i32, i32, device> plan(ctx, csr.view(), {.storage = spmv_storage::copied});
  EXPECT_EQ(plan.algorithm(), spmv_algorithm::blocked) << plan.reason();
  expect_product(run(ctx, plan, m, 1.5, 0.0), m, 1.5, 0.0);
  const spmv_plan<double, i32, i32, device> borrowed(ctx, csr.view());
  EXPECT_EQ(borrowed.storage(), spmv_storage::borrowed);
}

TEST(SpmvBlockedChoice, TakesLongRowsOverEvenColumns) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto m = random_rows<double>("even", 8500, 200'000, [](i64) { return 1000; });
  const auto csr = as_csr<double, i32, i32>(ctx, m);
  const spmv_plan<double, i32, i32, device> plan(ctx, csr.view(), {.storage = spmv_storage::copied});
  EXPECT_EQ(plan.algorithm(), spmv_algorithm::blocked) << plan.reason();
  expect_product(run(ctx, plan, m, 1.5, -1.0), m, 1.5, -1.0);
}

TEST(SpmvBlockedChoice, LeavesScatteredColumns) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto csr =
      as_csr<double, i32, i32>(ctx, random_rows<double>("even", 100'000, 3'000'000, [](i64) { return 90; }));
  const spmv_plan<double, i32, i32, device> plan(ctx, csr.view(), {.storage = spmv_storage::copied});
  EXPECT_EQ(plan.storage(), spmv_storage::borrowed) << plan.reason();
  EXPECT_NE(plan.reason().find("percent of the entries would be gathered"), std::string::npos) << plan.reason();
}

}  // namespace
}  // namespace spargo::test
