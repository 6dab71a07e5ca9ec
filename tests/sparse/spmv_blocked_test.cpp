// Copies with columns ranked by use: what is refused, products against the reference, the same bits, new values.
#include "sparse/spmv_blocked.hpp"

#include "sparse/spmv_copied_cases.hpp"
#include "sparse/spmv_copied_types.hpp"

#include <cstring>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using detail::column_profile;
using detail::copy_demand;
using detail::why_not_blocked;

// A matrix worth a copy.
constexpr column_profile worthy{.rows = 1 << 20,
                                .cols = 1 << 20,
                                .nnz = 100'000'000,
                                .used = 900'000,
                                .popular = 24'576,
                                .popular_entries = 25'000'000,
                                .value_bytes = 8};

TEST(SpmvBlocking, RefusesScatteredColumns) {
  EXPECT_EQ(why_not_blocked(worthy, copy_demand::if_it_pays), "");
  column_profile even = worthy;
  even.popular_entries = 24'000'000;
  EXPECT_NE(why_not_blocked(even, copy_demand::if_it_pays).find("24 percent"), std::string::npos);
  EXPECT_EQ(why_not_blocked(even, copy_demand::by_name), "");
  column_profile narrow = worthy;
  narrow.value_bytes = 4;
  narrow.popular_entries = 49'000'000;
  EXPECT_NE(why_not_blocked(narrow, copy_demand::if_it_pays).find("49 percent"), std::string::npos);
  narrow.popular_entries = 50'000'000;
  EXPECT_EQ(why_not_blocked(narrow, copy_demand::if_it_pays), "");
}

TEST(SpmvBlocking, RefusesVectorsInTheCache) {
  column_profile small = worthy;
  small.cols = 32'768;
  EXPECT_NE(why_not_blocked(small, copy_demand::if_it_pays), "");
  EXPECT_EQ(why_not_blocked(small, copy_demand::by_name), "");
  small.cols = 32'769;
  EXPECT_EQ(why_not_blocked(small, copy_demand::if_it_pays), "");
}

TEST(SpmvBlocking, RefusesFewEntries) {
  column_profile few = worthy;
  few.nnz = (i64{1} << 23) - 1;
  few.popular_entries = few.nnz;
  EXPECT_NE(why_not_blocked(few, copy_demand::if_it_pays).find("8388607 entries are too few"), std::string::npos);
  EXPECT_EQ(why_not_blocked(few, copy_demand::by_name), "");
  few.nnz += 1;
  EXPECT_EQ(why_not_blocked(few, copy_demand::if_it_pays), "");
}

TEST(SpmvBlocking, RefusesWhatDoesNotFit32Bits) {
  constexpr i64 most = (i64{1} << 32) - 1;
  column_profile large = worthy;
  large.rows = large.cols = large.nnz = most;
  EXPECT_EQ(why_not_blocked(large, copy_demand::by_name), "");
  for (const auto size : {&column_profile::rows, &column_profile::cols, &column_profile::nnz}) {
    column_profile larger = large;
    larger.*size += 1;
    EXPECT_NE(why_not_blocked(larger, copy_demand::by_name), "");
  }
}

TEST(SpmvBlocking, IsForDevices) {
  EXPECT_EQ(parse_spmv_algorithm("blocked"), spmv_algorithm::blocked);
  EXPECT_EQ(to_string(spmv_algorithm::blocked), "blocked");
  const context<host> ctx({.threads = 1});
  const auto csr = as_csr<double, i32, i32>(ctx, random_rows<double>("", 40, 40, [](i64) { return 3; }));
  try {
    (void)spmv_plan<double, i32, i32, host>(ctx, csr.view(), {.algorithm = spmv_algorithm::blocked});
    FAIL() << "taken";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
  }
}

template <class Types>
class SpmvBlocked : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }
};

TYPED_TEST_SUITE(SpmvBlocked, copied_types);

TYPED_TEST(SpmvBlocked, AgreesWithTheReferenceOnEveryShape) {
  SPMV_TYPES;
  const context<device> ctx;
  for (const auto& m : shapes_to_copy<V>()) {
    const auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::blocked});
    EXPECT_EQ(plan.algorithm(), spmv_algorithm::blocked);
    for (const auto& [alpha, beta] :
         {std::pair(number<V>(1, 0), V{}), std::pair(number<V>(-2, 0.5), number<V>(3, 1))}) {
      if (!this->HasFatalFailure()) expect_product(run(ctx, plan, m, alpha, beta), m, alpha, beta);
    }
  }
}

TYPED_TEST(SpmvBlocked, GivesTheSameBitsEveryTimeAndFromEveryPlan) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = popular_columns<V>(4000, 3000, 30);
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_options options{.algorithm = spmv_algorithm::blocked};
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), options);
  const auto first = run(ctx, plan, m, number<V>(1, 0), V{});
  for (int k = 0; k < 3; ++k) {
    const spmv_plan<V, I, O, device> other(ctx, csr.view(), options);
    const auto again = run(ctx, k == 0 ? plan : other, m, number<V>(1, 0), V{});
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(V)), 0);
  }
}

TYPED_TEST(SpmvBlocked, KeepsACopyAndTakesNewValues) {
  SPMV_TYPES;
  const context<device> ctx;
  auto m = popular_columns<V>(700, 900, 12);
  auto csr = as_csr<V, I, O>(ctx, m);
  spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::blocked});
  EXPECT_EQ(plan.storage(), spmv_storage::copied);
  EXPECT_GE(plan.workspace_bytes(), csr.nnz() * static_cast<i64>(sizeof(V) + 4));
  fill_zero(ctx, csr.values().view());  // the plan must not look at it any more
  expect_product(run(ctx, plan, m, number<V>(1, 0), V{}), m, number<V>(1, 0), V{});

  for (auto& e : m.entries) e.value = e.value * number<V>(0.5, 0) + number<V>(1, 1);
  const auto changed = as_csr<V, I, O>(ctx, m);
  plan.update_values(changed.view());
  expect_product(run(ctx, plan, m, number<V>(1, 0), V{}), m, number<V>(1, 0), V{});

  auto other = m;
  other.entries[5].col = (other.entries[5].col + 1) % m.cols;
  const auto wrong = as_csr<V, I, O>(ctx, other);
  EXPECT_THROW(plan.update_values(wrong.view()), error);
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

// More than 2^23 entries, most of them in a few columns, or all over them.
TEST(SpmvBlockedChoice, TakesWhatAFewColumnsHold) {
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

TEST(SpmvBlockedChoice, LeavesScatteredColumns) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto csr =
      as_csr<double, i32, i32>(ctx, random_rows<double>("even", 100'000, 3'000'000, [](i64) { return 90; }));
  const spmv_plan<double, i32, i32, device> plan(ctx, csr.view(), {.storage = spmv_storage::copied});
  EXPECT_NE(plan.algorithm(), spmv_algorithm::blocked) << plan.reason();
  if (plan.storage() == spmv_storage::borrowed) {
    EXPECT_NE(plan.reason().find("percent of the entries"), std::string::npos) << plan.reason();
  }
}

}  // namespace
}  // namespace spargo::test
