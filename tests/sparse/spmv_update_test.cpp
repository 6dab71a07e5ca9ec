// Plans that get new values for their pattern.
#include "sparse/spmv_cases.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

template <class Space_>
class SpmvUpdate : public test::space_suite<Space_> {};

using spaces = suite_types<host, device>;
TYPED_TEST_SUITE(SpmvUpdate, spaces);

// The plans of a CSR matrix, one per algorithm, and the automatic choice with a copy.
template <class Space, class Body>
void for_each_csr_plan(const context<Space>& ctx, const csr_view<const double, i32, i64, Space>& matrix, Body body) {
  std::vector<spmv_options> all{{.storage = spmv_storage::copied}};
  for (const auto algorithm : algorithms_for<Space>(detail::spmv::reads_csr)) all.push_back({.algorithm = algorithm});
  for (const auto& options : all) {
    SCOPED_TRACE(std::string(to_string(options.algorithm)) + ", " + std::string(to_string(options.storage)));
    body(spmv_plan<double, i32, i64, Space>(ctx, matrix, options));
  }
}

template <class Space>
void expect_product(const context<Space>& ctx, const spmv_plan<double, i32, i64, Space>& plan,
                    const triplets<double>& m) {
  const auto x = random_vector<double>(m.cols, 7);
  const auto dx = upload(ctx, x);
  auto y = upload(ctx, std::vector<double>(static_cast<std::size_t>(m.rows), std::nan("")));
  plan.run(1.0, dx.view(), 0.0, y.view());
  const auto got = download<double>(ctx, y.view());
  const auto expected = reference<double>(m, 1.0, x, 0.0, std::vector<double>(static_cast<std::size_t>(m.rows)));
  for (std::size_t r = 0; r < got.size(); ++r) {
    ASSERT_LE(std::abs(static_cast<long double>(got[r]) - expected[r].value.real()), expected[r].bound) << "row " << r;
  }
}

triplets<double> sample() {
  return random_rows<double>("sample", 700, 500, [](i64 r) { return r == 90 ? 4000 : r % 12; });
}

TYPED_TEST(SpmvUpdate, MultipliesWithTheNewValues) {
  using Space = TypeParam;
  const context<Space> ctx;
  const auto m = sample();
  auto other = m;
  for (auto& e : other.entries) e.value = 3 * e.value + 1;
  const auto a = as_csr<double, i32, i64>(ctx, m);
  const auto b = as_csr<double, i32, i64>(ctx, other);
  for_each_csr_plan<Space>(ctx, a.view(), [&](auto plan) {
    expect_product(ctx, plan, m);
    plan.update_values(b.view());
    expect_product(ctx, plan, other);
    plan.update_values(a.view());
    expect_product(ctx, plan, m);
  });
}

TYPED_TEST(SpmvUpdate, RefusesAnotherPattern) {
  using Space = TypeParam;
  const context<Space> ctx;
  const auto m = sample();
  const auto a = as_csr<double, i32, i64>(ctx, m);
  auto moved = m;  // one entry in another column
  moved.entries[500].col = (moved.entries[500].col + 1) % moved.cols;
  auto longer = m;  // an entry moved to another row, with equal counts
  for (auto& e : longer.entries) {
    if (e.row == 90) {
      e.row = 91;
      break;
    }
  }
  auto wider = m;
  wider.cols += 1;
  for_each_csr_plan<Space>(ctx, a.view(), [&](auto plan) {
    for (const auto& wrong : {moved, longer, wider}) {
      const auto b = as_csr<double, i32, i64>(ctx, wrong);
      try {
        plan.update_values(b.view());
        ADD_FAILURE() << "taken";
      } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::invalid_argument) << e.what();
      }
    }
    expect_product(ctx, plan, m);
  });
}

TYPED_TEST(SpmvUpdate, IsForCsrAlone) {
  using Space = TypeParam;
  const context<Space> ctx;
  const auto m = random_rows<double>("even", 100, 100, [](i64) { return 3; });
  const auto a = as_csr<double, i32, i64>(ctx, m);
  const auto ell = as_ell<double, i32>(ctx, m);
  spmv_plan<double, i32, i64, Space> plan(ctx, ell.view());
  try {
    plan.update_values(a.view());
    FAIL() << "taken";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
  }
}

TYPED_TEST(SpmvUpdate, NothingToMultiply) {
  using Space = TypeParam;
  const context<Space> ctx;
  const auto m = random_rows<double>("empty", 10, 10, [](i64) { return 0; });
  const auto a = as_csr<double, i32, i64>(ctx, m);
  spmv_plan<double, i32, i64, Space> plan(ctx, a.view(), {.storage = spmv_storage::copied});
  plan.update_values(a.view());
  expect_product(ctx, plan, m);
  EXPECT_EQ(plan.storage(), spmv_storage::borrowed);
}

}  // namespace
}  // namespace spargo::test
