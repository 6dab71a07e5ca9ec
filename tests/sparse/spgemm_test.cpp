// Products of sparse matrices against a loop over rows with a std::map. Sums are formed in a stated order, so entries
// must have the same bits.
#include "formats/reference.hpp"
#include "support/message.hpp"

#include <spargo/sparse/algebra.hpp>
#include <spargo/sparse/spgemm.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

template <class V>
std::vector<std::vector<triple<V>>> rows_of(const triples<V>& m) {
  std::vector<std::vector<triple<V>>> rows(static_cast<std::size_t>(m.rows));
  for (const auto& e : m.entries) rows[static_cast<std::size_t>(e.row)].push_back(e);
  return rows;
}

template <class V>
std::vector<triple<V>> product(const triples<V>& a, const triples<V>& b) {
  const auto b_rows = rows_of(b);
  std::vector<triple<V>> all;
  std::int64_t row = 0;
  for (const auto& entries : rows_of(a)) {
    std::map<std::int64_t, V> sums;
    for (const auto& e : entries) {
      for (const auto& f : b_rows[static_cast<std::size_t>(e.col)]) {
        V& sum = sums[f.col];
        if constexpr (!is_pattern<V>) sum += e.value * f.value;
      }
    }
    for (const auto& [col, sum] : sums) all.push_back({row, col, sum});
    ++row;
  }
  return all;
}

// Rows in order, columns not, with duplicates, zeros, an empty and a dense row.
template <class V>
triples<V> factor(std::int64_t rows, std::int64_t cols, std::int64_t nnz, unsigned seed, bool dense = true) {
  auto m = random_triples<V>("random", std::max<std::int64_t>(rows, 1), std::max<std::int64_t>(cols, 1), nnz, seed);
  m.rows = rows;
  m.cols = cols;
  if (rows == 0 || cols == 0) m.entries.clear();
  if (rows > 4) {
    std::erase_if(m.entries, [&](const auto& e) { return e.row == 0 || e.row == 2 || e.row == rows - 1; });
    for (std::int64_t c = cols; dense && c-- > 0;) m.add(3, c);
  }
  if constexpr (!is_pattern<V>) {
    for (std::size_t k = 0; k < m.entries.size(); k += 5) m.entries[k].value = V{};
  }
  std::stable_sort(m.entries.begin(), m.entries.end(), [](const auto& x, const auto& y) { return x.row < y.row; });
  return m;
}

template <class Case>
class Spgemm : public testing::Test {};
using cases = testing::Types<format_case<double, i32, i64, host>, format_case<std::complex<float>, i32, i32, host>,
                             format_case<pattern, i64, i64, host>>;
TYPED_TEST_SUITE(Spgemm, cases);

#define SPGEMM_TYPES                   \
  using V = typename TypeParam::value; \
  using I = typename TypeParam::index; \
  using O = typename TypeParam::offset

TYPED_TEST(Spgemm, AgreesWithTheNaiveProduct) {
  SPGEMM_TYPES;
  struct size {
    std::int64_t rows, inner, cols, left, right;
    bool dense = true;
  };
  // Dense accumulators, hash tables (columns over 2^15), hashed words (columns over 2^23), several parts.
  const std::vector<size> sizes{{0, 0, 0, 0, 0},
                                {1, 1, 1, 1, 1},
                                {5, 0, 4, 0, 0},
                                {33, 31, 65, 200, 150},
                                {257, 64, 128, 900, 700},
                                {300, 200, 100000, 900, 3000, false},
                                {60, 50, 40000, 200, 900},
                                {60, 50, 20000000, 300, 4000, false},
                                {is_sanitized ? 2000 : 9000, 900, 1300, 30000, 30000}};
  for (const auto& [rows, inner, cols, left, right, dense] : sizes) {
    const auto a = factor<V>(rows, inner, left, 1);
    const auto b = factor<V>(inner, cols, right, 2, dense);
    const auto x = make_csr<I, O>(a);
    const auto y = make_csr<I, O>(b);
    const auto expected = product(a, b);
    for (const int threads : {1, 2, 3, 8}) {
      const context<host> ctx({.threads = threads});
      const auto c = spgemm(ctx, x.view(), y.view());
      EXPECT_EQ(c.rows(), rows);
      EXPECT_EQ(c.cols(), cols);
      EXPECT_TRUE(is_canonical(ctx, c.view()));
      EXPECT_EQ(entries_of(c.view()), expected) << rows << " x " << inner << " x " << cols << ", " << threads;
    }
  }
}

TYPED_TEST(Spgemm, ProductsWithTheTranspose) {
  SPGEMM_TYPES;
  const context<host> ctx({.threads = 2});
  const auto a = factor<V>(90, 400, 700, 3);
  auto turned = a;
  std::swap(turned.rows, turned.cols);
  for (auto& e : turned.entries) std::swap(e.row, e.col);
  turned.entries = sorted(turned.entries);
  const auto x = make_csr<I, O>(a);
  const auto t = transpose(ctx, x.view());
  EXPECT_EQ(entries_of(spgemm(ctx, x.view(), t.view()).view()), product(a, turned));
}

TYPED_TEST(Spgemm, MaskedProductsAreTheProductWhereTheMaskHasEntries) {
  SPGEMM_TYPES;
  for (const std::int64_t cols : {150, 90000}) {
    const auto a = factor<V>(220, 130, 1500, 4);
    const auto b = factor<V>(130, cols, 1200, 5, cols < 1000);
    const auto mask = factor<V>(220, cols, 3000, 6);  // unsorted, with duplicates
    std::set<std::pair<std::int64_t, std::int64_t>> places;
    for (const auto& e : mask.entries) places.emplace(e.row, e.col);
    auto expected = product(a, b);
    std::erase_if(expected, [&](const auto& e) { return !places.contains({e.row, e.col}); });
    EXPECT_GT(expected.size(), 100);
    const auto x = make_csr<I, O>(a);
    const auto y = make_csr<I, O>(b);
    const auto m = make_csr<I, O>(mask);
    for (const int threads : {1, 8}) {
      const context<host> ctx({.threads = threads});
      const csr_pattern_view<I, O, host> places_of_mask = m.view();
      EXPECT_EQ(entries_of(spgemm(ctx, x.view(), y.view(), places_of_mask).view()), expected);
    }
  }
}

TYPED_TEST(Spgemm, PlansFillNewValuesAndBlocksOfRows) {
  SPGEMM_TYPES;
  const context<host> ctx({.threads = 2});
  auto a = factor<V>(200, 90, 1000, 7);
  auto b = factor<V>(90, 40000, 2000, 8, false);
  auto x = make_csr<I, O>(a);
  auto y = make_csr<I, O>(b);
  const spgemm_plan<V, I, O, host> plan(ctx, x.view(), y.view());
  EXPECT_EQ(entries_of(plan.run().view()), product(a, b));
  const std::int64_t products = count_products<I, O>(ctx, x.view(), y.view());
  EXPECT_EQ(plan.products(), products);
  EXPECT_GT(plan.workspace_bytes(), plan.result_nnz() * static_cast<std::int64_t>(sizeof(I)));
  if constexpr (!is_pattern<V>) {
    for (std::size_t k = 0; k < a.entries.size(); ++k) {
      a.entries[k].value = value_of<V>(k * 31);
      x.values()[static_cast<std::int64_t>(k)] = a.entries[k].value;
    }
    array<V, host> values(ctx, plan.result_nnz());
    plan.fill(values);
    const csr_view<const V, I, O, host> again{plan.result_pattern(), std::as_const(values).view()};
    EXPECT_EQ(entries_of(again), product(a, b));
    array<V, host> few(ctx, plan.result_nnz() - 1);
    EXPECT_NE(message_of(error_code::invalid_argument, [&] { plan.fill(few); }).find("values for"), std::string::npos);
  }
  const auto bounds = spgemm_row_blocks<I, O>(ctx, x.view(), y.view(), 500);
  EXPECT_GT(bounds.size(), 10U);
  EXPECT_EQ(bounds.back(), 200);
  std::vector<triple<V>> pieces;
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    const spgemm_plan<V, I, O, host> block(ctx, x.view(), y.view(),
                                           {.first_row = bounds[k], .last_row = bounds[k + 1]});
    EXPECT_TRUE(block.products() <= 500 || bounds[k + 1] == bounds[k] + 1);
    for (auto e : entries_of(block.run().view())) pieces.push_back({e.row + bounds[k], e.col, e.value});
  }
  EXPECT_EQ(pieces, product(a, b));
}

TYPED_TEST(Spgemm, BlocksOfNarrowRows) {
  SPGEMM_TYPES;
  const context<host> ctx({.threads = 2});
  const auto a = factor<V>(60, 50, 400, 13);
  const auto x = make_csr<I, O>(a);
  const auto y = transpose(ctx, x.view());
  const auto whole = spgemm(ctx, x.view(), y.view());
  const auto block = spgemm(ctx, x.view(), y.view(), {.first_row = 20, .last_row = 45});
  auto expected = entries_of(whole.view());
  std::erase_if(expected, [](const auto& e) { return e.row < 20 || e.row >= 45; });
  for (auto& e : expected) e.row -= 20;
  EXPECT_EQ(entries_of(block.view()), expected);
}

TYPED_TEST(Spgemm, WhatDoesNotFitIsRefused) {
  SPGEMM_TYPES;
  const context<host> ctx;
  const auto x = make_csr<I, O>(factor<V>(50, 40, 300, 9));
  const auto y = make_csr<I, O>(factor<V>(41, 30, 300, 10));
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)spgemm(ctx, x.view(), y.view()); })
                .find("A is 50 x 40 and B 41 x 30"),
            std::string::npos);
  const csr_pattern_view<I, O, host> left = x.view();
  const csr_pattern_view<I, O, host> right = y.view();
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)count_products<I, O>(ctx, left, right); }),
            message_of(error_code::invalid_argument, [&] { (void)spgemm_row_blocks<I, O>(ctx, left, right, 9); }));
  const auto t = transpose(ctx, x.view());
  EXPECT_NE(message_of(error_code::invalid_argument,
                       [&] { (void)spgemm(ctx, x.view(), t.view(), {.first_row = 3, .last_row = 51}); })
                .find("rows 3 to 51 of 50"),
            std::string::npos);
  const csr_pattern_view<I, O, host> wrong = y.view();
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)spgemm(ctx, x.view(), t.view(), wrong); })
                .find("the mask is 41 x 30 and the result 50 x 50"),
            std::string::npos);
  const std::int64_t nnz = spgemm(ctx, x.view(), t.view()).nnz();
  const std::int64_t bytes = nnz * static_cast<std::int64_t>(sizeof(I) + (is_pattern<V> ? 0 : sizeof(V)));
  EXPECT_EQ(spgemm(ctx, x.view(), t.view(), {.max_result_bytes = bytes}).nnz(), nnz);
  const std::string message = message_of(
      error_code::out_of_memory, [&] { (void)spgemm(ctx, x.view(), t.view(), {.max_result_bytes = bytes - 1}); });
  EXPECT_NE(message.find(std::to_string(nnz) + " entries and takes " + std::to_string(bytes) + " bytes"),
            std::string::npos)
      << message;
}

TYPED_TEST(Spgemm, EveryAllocationMayFail) {
  SPGEMM_TYPES;
  const auto x = make_csr<I, O>(factor<V>(40, 40, 200, 11));
  const auto y = make_csr<I, O>(factor<V>(40, 90000, 200, 12, false));
  const csr_pattern_view<I, O, host> mask = y.view();
  for (int fail_at = 0;; ++fail_at) {
    failing_resource resource(fail_at);
    const context<host> ctx({.threads = 1, .resource = &resource});
    try {
      (void)spgemm(ctx, x.view(), y.view());
      (void)spgemm(ctx, x.view(), y.view(), mask);
      EXPECT_GT(fail_at, 10);
      break;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    }
    EXPECT_EQ(resource.live(), 0) << fail_at;
  }
}

TEST(SpgemmValues, ZerosInfinitiesAndNaNStayEntries) {
  const context<host> ctx;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const triples<double> a{"", 2, 3, {{0, 0, 1.0}, {0, 1, -1.0}, {1, 2, 0.0}, {1, 0, inf}}};
  const triples<double> b{"", 3, 2, {{0, 0, 2.0}, {1, 0, 2.0}, {2, 1, inf}}};
  const auto c = spgemm(ctx, make_csr<i32, i32>(a).view(), make_csr<i32, i32>(b).view());
  ASSERT_EQ(c.nnz(), 3);
  EXPECT_EQ(c.values()[0], 0.0);
  EXPECT_EQ(c.values()[1], inf);
  EXPECT_TRUE(std::isnan(c.values()[2]));
}

// 46,342^2 entries: a column times a row.
TEST(SpgemmSizes, MoreThan32BitOffsetsHold) {
  if (is_sanitized) GTEST_SKIP() << "2^31 columns are counted";
  const context<host> ctx;
  constexpr std::int64_t n = 46342;
  triples<pattern> column{"", n, 1, {}};
  triples<pattern> row{"", 1, n, {}};
  for (std::int64_t k = 0; k < n; ++k) {
    column.entries.push_back({k, 0, {}});
    row.entries.push_back({0, k, {}});
  }
  const auto a = make_csr<i32, i32>(column);
  const auto b = make_csr<i32, i32>(row);
  const std::int64_t products = count_products<i32, i32>(ctx, a.view(), b.view());
  EXPECT_EQ(products, n * n);
  EXPECT_EQ(spgemm(ctx, a.view(), b.view(), {.first_row = 7, .last_row = 9}).nnz(), 2 * n);
  const std::string narrow = message_of(error_code::out_of_memory,
                                        [&] { (void)spgemm(ctx, a.view(), b.view(), {.max_result_bytes = 1 << 20}); });
  EXPECT_NE(narrow.find(std::to_string(n * n) + " entries and takes " + std::to_string(4 * n * n) + " bytes"),
            std::string::npos)
      << narrow;
}

}  // namespace
}  // namespace spargo::test
