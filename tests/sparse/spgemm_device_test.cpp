// Products of sparse matrices on a device against those on the host, whose code shares nothing with the device's:
// the same entries, and the same bits, since both add in the same order.
#include "formats/reference.hpp"
#include "sparse/same_matrix.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"

#include <spargo/sparse/algebra.hpp>
#include <spargo/sparse/spgemm.hpp>

#include <cmath>
#include <limits>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

// Rows of `lengths[r % lengths.size()]` entries; unsorted with duplicates, or canonical.
template <class V, class I, class O>
csr_matrix<V, I, O, host> matrix_of(std::int64_t rows, std::int64_t cols, const std::vector<std::int64_t>& lengths,
                                    unsigned seed, bool is_canonical = false) {
  std::mt19937_64 random(seed);
  triples<V> m{"", rows, cols, {}};
  for (std::int64_t r = 0; r < rows && cols > 0; ++r) {
    for (std::int64_t k = lengths[static_cast<std::size_t>(r) % lengths.size()]; k > 0; --k) {
      const std::uint64_t at = random();
      m.add(r, static_cast<std::int64_t>(at % 7 == 0
                                             ? (at >> 8) % std::min<std::uint64_t>(40, static_cast<std::uint64_t>(cols))
                                             : (at >> 8) % static_cast<std::uint64_t>(cols)));
    }
  }
  auto made = make_csr<I, O>(m);
  return is_canonical ? canonical(context<host>(), made.view()) : std::move(made);
}

// Columns in runs of up to 15, of which many lie in one word of 32.
template <class V, class I, class O>
csr_matrix<V, I, O, host> runs_of(std::int64_t rows, std::int64_t cols, const std::vector<std::int64_t>& lengths,
                                  unsigned seed, bool is_canonical) {
  std::mt19937_64 random(seed);
  triples<V> m{"", rows, cols, {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t left = lengths[static_cast<std::size_t>(r) % lengths.size()];
    while (left > 0) {
      auto column = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols));
      for (std::uint64_t k = random() % 15 + 1; k > 0 && left > 0 && column < cols; --k, --left) m.add(r, column++);
    }
  }
  auto made = make_csr<I, O>(m);
  return is_canonical ? canonical(context<host>(), made.view()) : std::move(made);
}

// A point of a grid and its neighbours, row by row.
template <class V, class I, class O>
csr_matrix<V, I, O, host> grid_of(std::int64_t n) {
  triples<V> m{"", n * n, n * n, {}};
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) {
      const std::int64_t at = y * n + x;
      if (y > 0) m.add(at, at - n);
      if (x > 0) m.add(at, at - 1);
      m.add(at, at);
      if (x + 1 < n) m.add(at, at + 1);
      if (y + 1 < n) m.add(at, at + n);
    }
  }
  return make_csr<I, O>(m);
}

// A product of shapes; the names say which rows of C most of it has.
struct product_shape {
  const char* name;
  std::int64_t rows, inner, cols;
  std::vector<std::int64_t> a_lengths, b_lengths;
};

const std::vector<product_shape> shapes{
    {"no rows", 0, 4, 5, {1}, {1}},
    {"nothing between", 5, 0, 4, {0}, {0}},
    {"no columns", 5, 4, 0, {2}, {0}},
    {"one by one", 1, 1, 1, {1}, {1}},
    {"no entries", 9, 8, 7, {0}, {3}},
    {"tiny rows", 3000, 900, 700, {0, 1, 5, 2, 0, 4}, {0, 3, 5, 8}},
    {"merged rows", 2000, 900, 300, {8, 7, 8, 1}, {8, 9, 12, 3}},
    {"ranked rows", 2000, 900, 3000, {8, 7, 8, 1}, {8, 9, 12, 3}},
    {"scattered rows", 2000, 900, 300000, {8, 4, 5, 16, 12, 17, 9, 1, 0, 32, 33}, {8}},
    {"scattered rows of any length", 900, 700, 300000, {8, 30, 12, 5}, {8, 0, 3, 11, 40}},
    {"tiny rows of many entries", 900, 800, 600, {9, 20, 32, 0}, {0, 1, 0, 2, 1}},
    {"rows of B of 20 entries", 700, 600, 90000, {0, 7, 20, 60}, {20, 33, 70, 5}},
    {"many empty rows of B", 40, 900, 700, {0, 150, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
    {"tables of a warp", 400, 500, 90000, {20, 0, 7, 60, 100}, {1, 7, 8, 0, 9}},
    {"rows longer than a warp", 300, 400, 30000, {4, 9, 1}, {31, 32, 33, 70, 0, 129}},
    {"tables of a block", 12, 3000, 400000, {1200, 0, 2000}, {4, 9, 11}},
    {"large tables of a block", 7, 6000, 1500000, {5000, 3}, {3, 0, 5}},
    {"windows of columns", 5, 20000, 2500000, {0, 9000, 9, 15000}, {4, 3}},
    {"bitmaps of all columns", 60, 700, 5000, {300, 20}, {90, 0, 60}},
    {"more than 2^20 products of a row", 3, 1500, 40000, {1500, 1}, {900, 0, 1800}},
    {"one dense row", 300, 3000, 3000, {2}, {3000, 1, 2, 0, 1, 1, 3, 1, 1, 1}},
    {"one column", 200, 300, 1, {40, 0, 900}, {1, 0, 5}},
};

template <class Case>
class SpgemmDevice : public testing::Test {};
using cases =
    testing::Types<format_case<float, i32, i32, device>, format_case<double, i32, i32, device>,
                   format_case<double, i64, i64, device>, format_case<std::complex<float>, i32, i32, device>,
                   format_case<std::complex<double>, i32, i64, device>, format_case<pattern, i32, i64, device>>;
TYPED_TEST_SUITE(SpgemmDevice, cases);

#define SPGEMM_TYPES                    \
  using V = typename TypeParam::value;  \
  using I = typename TypeParam::index;  \
  using O = typename TypeParam::offset; \
  SPARGO_TEST_NEEDS_GPU();              \
  const context<device> ctx;            \
  const context<host> cpu

TYPED_TEST(SpgemmDevice, HasTheHostsBits) {
  SPGEMM_TYPES;
  for (const auto& s : shapes) {
    for (const bool is_canonical : {false, true}) {
      const auto a = matrix_of<V, I, O>(s.rows, s.inner, s.a_lengths, 1, is_canonical);
      const auto b = matrix_of<V, I, O>(s.inner, s.cols, s.b_lengths, 2, is_canonical);
      const auto x = to_device(ctx, a.view());
      const auto y = to_device(ctx, b.view());
      const auto c = spgemm(ctx, x.view(), y.view());
      expect_same(to_host(ctx, c.view()), spgemm(cpu, a.view(), b.view()), s.name);
      if (this->HasFatalFailure()) return;
    }
  }
}

// 3 x 3 once had 66 entries for 61.
TYPED_TEST(SpgemmDevice, Grids) {
  SPGEMM_TYPES;
  for (const std::int64_t n : {1, 2, 3, 7, 60}) {
    const auto a = grid_of<V, I, O>(n);
    const auto x = to_device(ctx, a.view());
    const auto c = to_host(ctx, spgemm(ctx, x.view(), x.view()).view());
    if (n == 3) {
      EXPECT_EQ(c.nnz(), 61);
    }
    expect_same(c, spgemm(cpu, a.view(), a.view()), std::to_string(n) + " x " + std::to_string(n));
  }
}

TYPED_TEST(SpgemmDevice, RunsOfColumns) {
  SPGEMM_TYPES;
  struct {
    std::int64_t rows, inner, cols;
    std::vector<std::int64_t> a, b, mask;
  } const products[] = {{150, 400, 30000, {21, 9, 0, 40, 90}, {21, 27, 0, 100, 3}, {60, 0, 2000, 300}},
                        {9, 400, 600000, {300, 21, 390}, {210, 270, 0, 100, 300}, {6000, 0, 2000, 300}},
                        {9, 400, 4000, {300, 21, 390}, {210, 270, 0, 100, 300}, {1000, 0, 200}}};
  for (const auto& s : products) {
    for (const bool is_canonical : {false, true}) {
      const auto a = runs_of<V, I, O>(s.rows, s.inner, s.a, 14, is_canonical);
      const auto b = runs_of<V, I, O>(s.inner, s.cols, s.b, 15, is_canonical);
      const auto mask = runs_of<V, I, O>(s.rows, s.cols, s.mask, 16, is_canonical);
      const auto x = to_device(ctx, a.view());
      const auto y = to_device(ctx, b.view());
      const auto m = to_device(ctx, mask.view());
      const std::string what = std::to_string(s.cols) + " columns" + (is_canonical ? ", canonical" : "");
      expect_same(to_host(ctx, spgemm(ctx, x.view(), y.view()).view()), spgemm(cpu, a.view(), b.view()), what);
      const csr_pattern_view<I, O, device> places = m.view();
      const csr_pattern_view<I, O, host> host_places = mask.view();
      expect_same(to_host(ctx, spgemm(ctx, x.view(), y.view(), places).view()),
                  spgemm(cpu, a.view(), b.view(), host_places), what + ", masked");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(SpgemmDevice, MaskedProducts) {
  SPGEMM_TYPES;
  for (const auto& s : shapes) {
    const auto a = matrix_of<V, I, O>(s.rows, s.inner, s.a_lengths, 3);
    const auto b = matrix_of<V, I, O>(s.inner, s.cols, s.b_lengths, 4, s.rows % 2 == 0);
    const auto mask = matrix_of<V, I, O>(s.rows, s.cols, {0, 50, 3, s.cols / 5, 1000}, 5);
    const auto x = to_device(ctx, a.view());
    const auto y = to_device(ctx, b.view());
    const auto m = to_device(ctx, mask.view());
    const csr_pattern_view<I, O, device> places = m.view();
    const csr_pattern_view<I, O, host> host_places = mask.view();
    expect_same(to_host(ctx, spgemm(ctx, x.view(), y.view(), places).view()),
                spgemm(cpu, a.view(), b.view(), host_places), s.name);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SpgemmDevice, PlansFillNewValuesAndBlocksOfRows) {
  SPGEMM_TYPES;
  const auto a = matrix_of<V, I, O>(700, 600, {3, 0, 80, 12}, 6);
  const auto b = matrix_of<V, I, O>(600, 50000, {2, 40, 0, 9}, 7);
  auto x = to_device(ctx, a.view());
  const auto y = to_device(ctx, b.view());
  const spgemm_plan<V, I, O, device> plan(ctx, x.view(), y.view());
  const auto expected = spgemm(cpu, a.view(), b.view());
  EXPECT_EQ(plan.result_nnz(), expected.nnz());
  const csr_pattern_view<I, O, host> left = a.view();
  const csr_pattern_view<I, O, host> right = b.view();
  EXPECT_EQ(plan.products(), (count_products<I, O>(cpu, left, right)));
  EXPECT_GT(plan.workspace_bytes(), plan.result_nnz() * static_cast<std::int64_t>(sizeof(I)));
  expect_same(to_host(ctx, plan.run().view()), expected, "first values");
  if constexpr (!is_pattern<V>) {
    auto changed = matrix_of<V, I, O>(700, 600, {3, 0, 80, 12}, 6);
    for (std::int64_t k = 0; k < changed.nnz(); ++k)
      changed.values()[k] = value_of<V>(static_cast<std::uint64_t>(k) * 31);
    copy<V>(ctx, std::as_const(changed.values()).view(), x.values().view());
    array<V, device> values(ctx, plan.result_nnz());
    plan.fill(values);
    const csr_view<const V, I, O, device> again{plan.result_pattern(), std::as_const(values).view()};
    expect_same(to_host(ctx, again), spgemm(cpu, changed.view(), b.view()), "new values");
    array<V, device> few(ctx, plan.result_nnz() - 1);
    EXPECT_NE(message_of(error_code::invalid_argument, [&] { plan.fill(few); }).find("values for"), std::string::npos);
    copy<V>(ctx, a.values().view(), x.values().view());
  }
  for (const auto& [first, last] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 1}, {17, 300}, {699, 700}}) {
    const spgemm_options rows{.first_row = first, .last_row = last};
    expect_same(to_host(ctx, spgemm(ctx, x.view(), y.view(), rows).view()), spgemm(cpu, a.view(), b.view(), rows),
                "a block of rows");
  }
}

TYPED_TEST(SpgemmDevice, WhatDoesNotFitIsRefused) {
  SPGEMM_TYPES;
  const auto a = matrix_of<V, I, O>(50, 40, {6}, 8);
  const auto b = matrix_of<V, I, O>(41, 30, {6}, 9);
  const auto x = to_device(ctx, a.view());
  const auto y = to_device(ctx, b.view());
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)spgemm(ctx, x.view(), y.view()); })
                .find("A is 50 x 40 and B 41 x 30"),
            std::string::npos);
  const auto t = to_device(ctx, transpose(cpu, a.view()).view());
  const std::int64_t nnz = spgemm(ctx, x.view(), t.view()).nnz();
  const std::int64_t bytes = nnz * static_cast<std::int64_t>(sizeof(I) + (is_pattern<V> ? 0 : sizeof(V)));
  EXPECT_EQ(spgemm(ctx, x.view(), t.view(), {.max_result_bytes = bytes}).nnz(), nnz);
  const std::string message = message_of(
      error_code::out_of_memory, [&] { (void)spgemm(ctx, x.view(), t.view(), {.max_result_bytes = bytes - 1}); });
  EXPECT_NE(message.find(std::to_string(nnz) + " entries and takes " + std::to_string(bytes) + " bytes"),
            std::string::npos)
      << message;
}

TYPED_TEST(SpgemmDevice, EveryAllocationMayFail) {
  SPGEMM_TYPES;
  const auto a = matrix_of<V, I, O>(60, 500, {1500, 3, 0, 90}, 10);
  const auto b = matrix_of<V, I, O>(500, 60000, {9, 40}, 11);
  const auto x = to_device(ctx, a.view());
  const auto y = to_device(ctx, b.view());
  const std::int64_t requests =
      fail_every_device_allocation([&](const context<device>& failing) { (void)spgemm(failing, x.view(), y.view()); });
  EXPECT_GT(requests, 8);
}

// C, two indices per row of A, a word per row of B, and what rounding to a pool's units takes.
TYPED_TEST(SpgemmDevice, PeakMemoryIsTheResultAndLittleMore) {
  SPGEMM_TYPES;
  const auto a = matrix_of<V, I, O>(20000, 20000, {9}, 12, true);
  const auto x = to_device(ctx, a.view());
  counting_resource<device> counted(ctx.resource());
  const context<device> counting(device_options{.resource = &counted});
  const auto c = spgemm(counting, x.view(), x.view());
  const std::int64_t bytes = c.offsets().size() * static_cast<std::int64_t>(sizeof(O)) +
                             c.nnz() * static_cast<std::int64_t>(sizeof(I) + (is_pattern<V> ? 0 : sizeof(V)));
  EXPECT_GE(counted.peak(), bytes);
  EXPECT_LE(counted.peak(), bytes + 2 * 20000 * static_cast<std::int64_t>(sizeof(I)) + 6 * 20000 + 4096);
}

TEST(SpgemmDeviceValues, ZerosInfinitiesAndNaNStayEntries) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const context<host> cpu;
  auto a = matrix_of<double, i32, i32>(300, 300, {4, 30, 300, 0}, 13);
  const double odd[] = {0.0,
                        -0.0,
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::denorm_min(),
                        std::numeric_limits<double>::max()};
  for (std::int64_t k = 0; k < a.nnz(); k += 3) a.values()[k] = odd[static_cast<std::size_t>(k / 3) % std::size(odd)];
  const auto x = to_device(ctx, a.view());
  expect_same(to_host(ctx, spgemm(ctx, x.view(), x.view()).view()), spgemm(cpu, a.view(), a.view()), "odd values");
}

// 46,342^2 entries: a column times a row.
TEST(SpgemmDeviceSizes, MoreThan32BitOffsetsHold) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  constexpr std::int64_t n = 46342;
  triples<pattern> column{"", n, 1, {}};
  triples<pattern> row{"", 1, n, {}};
  for (std::int64_t k = 0; k < n; ++k) {
    column.entries.push_back({k, 0, {}});
    row.entries.push_back({0, k, {}});
  }
  const auto a = to_device(ctx, make_csr<i32, i32>(column).view());
  const auto b = to_device(ctx, make_csr<i32, i32>(row).view());
  EXPECT_EQ(spgemm(ctx, a.view(), b.view(), {.first_row = 7, .last_row = 9}).nnz(), 2 * n);
  EXPECT_NE(message_of(error_code::unsupported, [&] { (void)spgemm(ctx, a.view(), b.view()); })
                .find(std::to_string(n * n) + " entries exceed 32-bit offsets"),
            std::string::npos);
  const auto wide_a = to_device(ctx, make_csr<i32, i64>(column).view());
  const auto wide_b = to_device(ctx, make_csr<i32, i64>(row).view());
  const spgemm_plan<pattern, i32, i64, device> plan(ctx, wide_a.view(), wide_b.view());
  EXPECT_EQ(plan.result_nnz(), n * n);
  EXPECT_EQ(plan.products(), n * n);
}

}  // namespace
}  // namespace spargo::test
