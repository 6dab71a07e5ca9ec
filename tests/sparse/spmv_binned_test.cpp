// Products by column blocks and bins of rows: refusals, results, determinism, new values, the choice.
#include "sparse/spmv/copies/binned/binned.hpp"

#include "sparse/spmv_copied_cases.hpp"
#include "sparse/spmv_copied_types.hpp"
#include "support/suites.hpp"

#include <gmock/gmock.h>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using detail::spmv::binning_profile;
using detail::spmv::copy_demand;
using detail::spmv::reason_against_binning;

// A matrix worth a copy.
constexpr binning_profile worthy{.rows = 1 << 20,
                                 .cols = 1 << 20,
                                 .nnz = 1 << 24,
                                 .value_bytes = 4,
                                 .l2_bytes = 60'000'000,
                                 .sectors = 900,
                                 .blocks = 22,
                                 .bins = 1088};

TEST(SpmvBinning, RefusesAdjacentColumns) {
  EXPECT_EQ(reason_against_binning(worthy, copy_demand::if_it_pays), "");
  binning_profile local = worthy;
  local.sectors = 799;
  EXPECT_NE(reason_against_binning(local, copy_demand::if_it_pays).find("799 sectors"), std::string::npos);
  EXPECT_EQ(reason_against_binning(local, copy_demand::by_name), "");
  local.sectors = 800;
  EXPECT_EQ(reason_against_binning(local, copy_demand::if_it_pays), "");
}

TEST(SpmvBinning, RefusesVectorsInTheCache) {
  binning_profile small = worthy;
  small.cols = 65'536;
  EXPECT_NE(reason_against_binning(small, copy_demand::if_it_pays).find("fits the cache"), std::string::npos);
  EXPECT_EQ(reason_against_binning(small, copy_demand::by_name), "");
}

TEST(SpmvBinning, RefusesWideValuesWhileXFitsTheL2Cache) {
  binning_profile wide = worthy;
  wide.value_bytes = 8;
  EXPECT_NE(reason_against_binning(wide, copy_demand::if_it_pays).find("8 bytes"), std::string::npos);
  EXPECT_EQ(reason_against_binning(wide, copy_demand::by_name), "");
  wide.cols = 7'500'000;
  EXPECT_NE(reason_against_binning(wide, copy_demand::if_it_pays), "");
  wide.cols = 7'500'001;
  EXPECT_EQ(reason_against_binning(wide, copy_demand::if_it_pays), "");
  wide.value_bytes = 16;
  EXPECT_NE(reason_against_binning(wide, copy_demand::if_it_pays).find("16 bytes"), std::string::npos);
}

TEST(SpmvBinning, RefusesFewEntriesAndSmallCells) {
  binning_profile few = worthy;
  few.nnz = 1 << 20;
  EXPECT_NE(reason_against_binning(few, copy_demand::if_it_pays).find("too few"), std::string::npos);
  EXPECT_EQ(reason_against_binning(few, copy_demand::by_name), "");
  binning_profile thin = worthy;
  thin.blocks = 10'000;
  EXPECT_NE(reason_against_binning(thin, copy_demand::if_it_pays).find("cells of 1.5"), std::string::npos);
  EXPECT_EQ(reason_against_binning(thin, copy_demand::by_name), "");
  binning_profile uneven = worthy;
  uneven.is_uneven = true;
  EXPECT_NE(reason_against_binning(uneven, copy_demand::if_it_pays).find("many more entries"), std::string::npos);
  EXPECT_EQ(reason_against_binning(uneven, copy_demand::by_name), "");
}

TEST(SpmvBinning, RefusesWhatDoesNotFit32Bits) {
  constexpr i64 most = (i64{1} << 32) - 1;
  binning_profile large = worthy;
  large.rows = large.cols = large.nnz = most;
  EXPECT_EQ(reason_against_binning(large, copy_demand::by_name), "");
  for (const auto size : {&binning_profile::rows, &binning_profile::cols, &binning_profile::nnz}) {
    binning_profile larger = large;
    larger.*size += 1;
    EXPECT_NE(reason_against_binning(larger, copy_demand::by_name), "");
  }
}

template <class Types>
class SpmvBinned : public test::device_suite {};

TYPED_TEST_SUITE(SpmvBinned, copied_types);

// Entries scattered over a wide matrix. `every_column`: each column has an entry, so that none is removed.
enum class coverage { some_columns, every_column };

template <class V>
triplets<V> scattered(i64 rows, i64 cols, i64 width, coverage covers) {
  std::mt19937_64 random(static_cast<unsigned>(rows + cols));
  triplets<V> m{"scattered over " + std::to_string(cols), rows, cols, {}};
  i64 next = 0;
  for (i64 r = 0; r < rows; ++r) {
    if (r % 11 == 3) continue;
    for (i64 k = 0; k < 1 + r % (2 * width); ++k) {
      const auto anywhere = static_cast<i64>(random() % static_cast<std::uint64_t>(cols));
      const i64 col = covers == coverage::every_column && k % 2 == 0 ? next++ % cols : anywhere;
      m.entries.push_back({r, col, random_number<V>(random)});
    }
  }
  return m;
}

// Blocks of columns with many more entries than others: several thread blocks share one, and blocks without entries.
template <class V>
triplets<V> popular_columns() {
  triplets<V> m{"popular columns", 20'000, 400'000, {}};
  std::mt19937_64 random(5);
  for (i64 r = 0; r < m.rows; ++r) {
    for (i64 k = 0; k < 6; ++k) m.entries.push_back({r, 100'000 + 7 * (r % 300) + k, random_number<V>(random)});
    if (r % 50 == 0) m.entries.push_back({r, 399'000 + r / 50, random_number<V>(random)});
  }
  return m;
}

// Rows around multiples of a segment's length, between short and empty ones.
template <class V>
triplets<V> rows_around_segments() {
  triplets<V> m{"rows around segments", 900, 2600, {}};
  std::mt19937_64 random(4);
  for (i64 r = 0; r < m.rows; ++r) {
    const i64 length = r % 3 == 0 ? 511 + r / 3 % 3 : (r % 3 == 1 ? 1023 + r / 3 % 4 : r % 5);
    for (i64 k = 0; k < length; ++k) m.entries.push_back({r, 2 * k + r % 2, random_number<V>(random)});
  }
  return m;
}

// Shapes with many column blocks and bins, rows longer than bins, cells longer than a group of lanes.
template <class V>
std::vector<triplets<V>> wide_shapes() {
  std::vector<triplets<V>> all;
  all.push_back(scattered<V>(20'000, 300'000, 5, coverage::some_columns));
  all.push_back(scattered<V>(30'001, 110'003, 9, coverage::every_column));
  auto rows = scattered<V>(3000, 120'000, 4, coverage::some_columns);
  rows.name = "a row of every column among others";
  std::vector<triplet<V>> dense;
  for (i64 c = 0; c < rows.cols; ++c) dense.push_back({1500, c, number<V>(1.0 / static_cast<double>(c + 1), 1)});
  const auto at = std::find_if(rows.entries.begin(), rows.entries.end(), [](const auto& e) { return e.row > 1500; });
  rows.entries.insert(at, dense.begin(), dense.end());
  all.push_back(std::move(rows));
  triplets<V> full{"full", 301, 299, {}};
  std::mt19937_64 random(9);
  for (i64 r = 0; r < full.rows; ++r) {
    for (i64 c = 0; c < full.cols; ++c) full.entries.push_back({r, c, random_number<V>(random)});
  }
  all.push_back(std::move(full));
  triplets<V> empty{"40000 empty rows after an entry", 40'001, 7, {{0, 6, number<V>(2, 1)}}};
  all.push_back(std::move(empty));
  all.push_back(rows_around_segments<V>());
  all.push_back(popular_columns<V>());
  return all;
}

TYPED_TEST(SpmvBinned, AgreesWithTheReferenceOnWideShapes) {
  SPMV_TYPES;
  const context<device> ctx;
  for (const auto& m : wide_shapes<V>()) {
    const auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::binned});
    EXPECT_EQ(plan.algorithm(), spmv_algorithm::binned);
    for (const auto& [alpha, beta] :
         {std::pair(number<V>(1, 0), V{}), std::pair(number<V>(-2, 0.5), number<V>(3, 1))}) {
      if (!this->HasFatalFailure()) expect_product(run(ctx, plan, m, alpha, beta), m, alpha, beta);
    }
  }
}

// More column blocks than a thread block has threads.
TEST(SpmvBinnedWide, ListsMoreBlocksThanThreads) {
  SPARGO_TEST_NEEDS_GPU();
  using V = std::complex<double>;
  const context<device> ctx;
  triplets<V> m{"every column once", 1999, 6'500'000, {}};
  const i64 each = m.cols / m.rows + 1;
  for (i64 r = 0; r < m.rows; ++r) {
    for (i64 k = 0; k < each && r + k * m.rows < m.cols; ++k) {
      m.entries.push_back({r, r + k * m.rows, V(static_cast<double>(k % 17) - 8, static_cast<double>(r % 5))});
    }
  }
  const auto csr = as_csr<V, i32, i32>(ctx, m);
  const spmv_plan<V, i32, i32, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::binned});
  expect_product(run(ctx, plan, m, V(1, 0), V{}), m, V(1, 0), V{});
}

// Refused without counting cells, which would take more memory than there is.
TEST(SpmvBinnedWide, RefusesMoreColumnsThanItHasBlocksFor) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const triplets<float> m{"two entries far apart", 3, 500'000'000, {{0, 0, 1.0F}, {2, 499'999'999, 2.0F}}};
  const auto csr = as_csr<float, i32, i32>(ctx, m);
  const spmv_options options{.algorithm = spmv_algorithm::binned};
  const auto plan = [&] { return spmv_plan<float, i32, i32, device>(ctx, csr.view(), options).reason(); };
  EXPECT_THAT(plan, testing::ThrowsMessage<error>(testing::HasSubstr("not binned: there are too many columns")));
}

TYPED_TEST(SpmvBinned, GivesTheSameBitsEveryTimeAndFromEveryPlan) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = scattered<V>(20'000, 200'000, 12, coverage::some_columns);
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_options options{.algorithm = spmv_algorithm::binned};
  expect_same_bits<V, I, O>(ctx, m, csr.view(), options);
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), options);
  const matrix_shape shape{.rows = m.rows, .cols = m.cols, .entries = csr.nnz()};
  EXPECT_LE(plan.workspace_bytes(), (spmv_plan<V, I, O, device>::estimate(shape, options).device_bytes));
}

TYPED_TEST(SpmvBinned, KeepsACopyAndTakesNewValues) {
  SPMV_TYPES;
  expect_copy<V, I, O>({}, scattered<V>(9000, 60'000, 4, coverage::every_column), spmv_algorithm::binned,
                       2 * sizeof(V) + 4);
}

// x and y aligned to their elements only.
TYPED_TEST(SpmvBinned, TakesVectorsOfAnyAlignment) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = scattered<V>(3000, 70'000, 6, coverage::every_column);
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::binned});
  auto x = random_vector<V>(m.cols, 1);
  x.insert(x.begin(), V{});
  const auto dx = upload(ctx, x);
  array<V, device> dy(ctx, m.rows + 1);
  plan.run(number<V>(1, 0), dx.view().subspan(1, m.cols), V{}, dy.view().subspan(1, m.rows));
  expect_product(download<V>(ctx, dy.view().subspan(1, m.rows)), m, number<V>(1, 0), V{});
}

// Of the types here only float is narrow enough for vectors of a test's size.
TYPED_TEST(SpmvBinned, IsChosenWhereColumnsAreScattered) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = random_rows<V>("scattered", 1 << 17, 1 << 20, [](i64) { return 33; });
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.storage = spmv_storage::copied});
  EXPECT_EQ(plan.algorithm() == spmv_algorithm::binned, (std::same_as<V, float>)) << plan.reason();
  const spmv_plan<V, I, O, device> borrowed(ctx, csr.view());
  EXPECT_EQ(borrowed.storage(), spmv_storage::borrowed);

  triplets<V> band{"band", 1 << 17, 1 << 18, {}};
  for (i64 r = 0; r < band.rows; ++r) {
    for (i64 k = 0; k < 33; ++k) {
      band.entries.push_back({r, r + 3 * k, number<V>(1.0 / static_cast<double>(r + k + 1), 0)});
    }
  }
  const auto local = as_csr<V, I, O>(ctx, band);
  const spmv_plan<V, I, O, device> stays(ctx, local.view(), {.storage = spmv_storage::copied});
  EXPECT_NE(stays.algorithm(), spmv_algorithm::binned) << stays.reason();
}

}  // namespace
}  // namespace spargo::test
