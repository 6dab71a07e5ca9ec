// Rows summed in parts by several blocks: results against the reference, around the size of a part, determinism.
#include "sparse/spmv_copied_cases.hpp"
#include "sparse/spmv_copied_types.hpp"
#include "support/suites.hpp"

#include <cstring>

namespace spargo::test {
namespace {

using i64 = std::int64_t;

// Long rows of every kind among short and empty ones: less than a part, whole, full parts and one entry less or more;
// for one row even the sums of its parts are more than a block.
template <class V>
triplets<V> long_rows() {
  constexpr std::array<i64, 12> lengths{1023, 4096, 4097, 8191, 8192, 8193, 9217, 5121, 20'000, 65, 70'001, 600'000};
  return random_rows<V>("long rows", 1300, 9001,
                        [&](i64 r) { return r % 100 == 50 ? lengths[static_cast<std::size_t>(r / 100 % 12)] : r % 7; });
}

template <class Types>
class SpmvLongRows : public test::device_suite {};

TYPED_TEST_SUITE(SpmvLongRows, copied_types);

TYPED_TEST(SpmvLongRows, AgreeWithTheReference) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = long_rows<V>();
  const auto csr = as_csr<V, I, O>(ctx, m);
  for (const auto algorithm : {spmv_algorithm::row_per_warp, spmv_algorithm::merge_path}) {
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = algorithm});
    for (const auto& [alpha, beta] :
         {std::pair(number<V>(1, 0), V{}), std::pair(number<V>(-2, 0.5), number<V>(3, 1))}) {
      if (!this->HasFatalFailure()) expect_product(run(ctx, plan, m, alpha, beta), m, alpha, beta);
    }
  }
}

TYPED_TEST(SpmvLongRows, AreChosenAmidFewEntries) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto csr = as_csr<V, I, O>(ctx, long_rows<V>());
  const spmv_plan<V, I, O, device> plan(ctx, csr.view());
  EXPECT_EQ(plan.algorithm(), spmv_algorithm::row_per_warp) << plan.reason();
}

TYPED_TEST(SpmvLongRows, GiveTheSameBitsEveryTimeAndFromEveryPlan) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = long_rows<V>();
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_options options{.algorithm = spmv_algorithm::row_per_warp};
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), options);
  const auto first = run(ctx, plan, m, number<V>(1, 0), V{});
  for (int k = 0; k < 4; ++k) {
    const spmv_plan<V, I, O, device> other(ctx, csr.view(), options);
    const auto again = run(ctx, k < 2 ? plan : other, m, number<V>(1, 0), V{});
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(V)), 0) << k;
  }
}

// Rows long enough on average for a warp each, except one row that would outlast its warp. It has as many parts as a
// device runs at once, so they are longer.
TYPED_TEST(SpmvLongRows, AmongRowsOfAWarpEach) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m =
      random_rows<V>("a long row amid a warp's", 20'000, 9001, [](i64 r) { return r == 7 ? 1'000'000 : 101; });
  ASSERT_GT(m.entries.size(), std::size_t{1} << 21);
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::row_per_warp});
  EXPECT_GT(plan.workspace_bytes(), 0);  // the list of parts
  expect_product(run(ctx, plan, m, number<V>(1, 0), V{}), m, number<V>(1, 0), V{});
}

}  // namespace
}  // namespace spargo::test
