// Structure operations on a device against those on the host, whose loops share nothing with the device's kernels and
// are tested against lists of triples: the same entries with the same bits, and the same refusals.
#include "formats/reference.hpp"
#include "sparse/same_matrix.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"

#include <spargo/sparse/algebra.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

template <class Case>
class AlgebraDevice : public testing::Test {};
using cases =
    testing::Types<format_case<float, i32, i32, device>, format_case<double, i32, i64, device>,
                   format_case<std::complex<double>, i64, i64, device>, format_case<pattern, i32, i32, device>,
                   format_case<std::complex<float>, i32, i64, device>, format_case<pattern, i64, i64, device>>;
TYPED_TEST_SUITE(AlgebraDevice, cases);

#define ALGEBRA_TYPES                   \
  using V = typename TypeParam::value;  \
  using I = typename TypeParam::index;  \
  using O = typename TypeParam::offset; \
  SPARGO_TEST_NEEDS_GPU();              \
  const context<device> ctx;            \
  const context<host> cpu

// Unsorted, with duplicates, an empty row and a dense one.
template <class V, class I, class O>
csr_matrix<V, I, O, host> random_csr(std::int64_t rows, std::int64_t cols, std::int64_t nnz, unsigned seed) {
  auto m = random_triples<V>("random", rows, cols, nnz, seed);
  if (rows > 3) {
    std::erase_if(m.entries, [](const auto& e) { return e.row == 1; });
    for (std::int64_t c = cols; c-- > 0;) m.add(3, c);
  }
  std::stable_sort(m.entries.begin(), m.entries.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  return make_csr<I, O>(m);
}

struct sum_shape {
  std::int64_t rows, cols, of_a, of_b;
};
const std::vector<sum_shape> shapes{
    {0, 3, 0, 0},      {3, 0, 0, 0},          {1, 1, 1, 1},          {5, 4, 0, 9},        {7, 9, 30, 0},
    {33, 8, 100, 100}, {400, 300, 900, 5000}, {9, 5000, 20000, 300}, {5000, 7, 9, 30000}, {1, 3000, 2000, 2500}};

TYPED_TEST(AlgebraDevice, Sums) {
  ALGEBRA_TYPES;
  for (const auto& s : shapes) {
    const auto a = random_csr<V, I, O>(s.rows, s.cols, s.of_a, 1);
    const auto b = random_csr<V, I, O>(s.rows, s.cols, s.of_b, 2);
    const auto x = to_device(ctx, a.view());
    const auto y = to_device(ctx, b.view());
    const std::string what = std::to_string(s.rows) + " x " + std::to_string(s.cols);
    const csr_pattern_view<I, O, device> pattern_of_x = x.view();
    const csr_pattern_view<I, O, host> pattern_of_a = a.view();
    EXPECT_EQ((is_canonical<I, O>(ctx, pattern_of_x)), (is_canonical<I, O>(cpu, pattern_of_a))) << what;
    const auto c = canonical(ctx, x.view());
    expect_same(to_host(ctx, c.view()), canonical(cpu, a.view()), what + ", canonical");
    const csr_pattern_view<I, O, device> pattern_of_c = c.view();
    EXPECT_TRUE((is_canonical<I, O>(ctx, pattern_of_c))) << what;
    expect_same(to_host(ctx, add(ctx, x.view(), y.view()).view()), add(cpu, a.view(), b.view()), what);
    expect_same(to_host(ctx, add(ctx, c.view(), y.view()).view()), add(cpu, a.view(), b.view()), what + ", sorted");
    if constexpr (!is_pattern<V>) {
      for (const auto& [alpha, beta] : std::vector<std::pair<V, V>>{{V(1), V(-3)}, {V(0.3F), V(1)}, {V(0), V(7)}}) {
        expect_same(to_host(ctx, add(ctx, alpha, x.view(), beta, y.view()).view()),
                    add(cpu, alpha, a.view(), beta, b.view()), what + ", scaled");
      }
    }
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(AlgebraDevice, SymmetricSums) {
  ALGEBRA_TYPES;
  for (const std::int64_t n : {0, 1, 5, 300}) {
    const auto a = random_csr<V, I, O>(n, n, n == 0 ? 0 : 4 * n, 3);
    const auto x = to_device(ctx, a.view());
    expect_same(to_host(ctx, symmetrize(ctx, x.view()).view()), symmetrize(cpu, a.view()), std::to_string(n));
  }
  const auto wide = to_device(ctx, random_csr<V, I, O>(3, 4, 5, 4).view());
  EXPECT_NE(
      message_of(error_code::invalid_argument, [&] { (void)symmetrize(ctx, wide.view()); }).find("a 3 x 4 matrix"),
      std::string::npos);
  const auto tall = to_device(ctx, random_csr<V, I, O>(4, 3, 5, 4).view());
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)add(ctx, wide.view(), tall.view()); })
                .find("A is 3 x 4 and B 4 x 3"),
            std::string::npos);
}

// With zeros of both signs among its values.
template <class V, class I, class O>
csr_matrix<V, I, O, host> with_zeros(csr_matrix<V, I, O, host> m) {
  if constexpr (!is_pattern<V>) {
    for (std::int64_t k = 0; k < m.nnz(); k += 7) m.values()[k] = V{};
    for (std::int64_t k = 0; k < m.nnz(); k += 11) m.values()[k] = -V{};
  }
  return m;
}

// Also rows of several pieces and tiles, and more tiles than fit a block.
std::vector<sum_shape> structure_shapes() {
  std::vector<sum_shape> all = shapes;
  const std::int64_t many = is_sanitized ? 20000 : 200000;
  all.push_back({3, many, many, 0});
  all.push_back({many / 3, 300, many, 0});
  for (const std::int64_t n : {511, 512, 513, 1024}) all.push_back({1, 2 * n, n, 0});
  return all;
}

std::string name_of(const sum_shape& s) { return std::to_string(s.rows) + " x " + std::to_string(s.cols); }

template <class I>
std::vector<I> shuffled(std::int64_t size, unsigned seed) {
  std::vector<I> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), I{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

// A selection for each space, of the same rows or columns.
template <class I>
struct both_selections {
  std::string name;
  index_selection<I> on_host;
  index_selection<I, device> on_device;
};

template <class I>
class selections {
 public:
  selections(const context<device>& ctx, std::int64_t size) {
    const auto n = static_cast<I>(size);
    all.push_back({"all", {}, {}});
    for (const auto& [first, last] : {std::pair<I, I>{0, n}, {n / 4, n - n / 3}, {n / 2, n / 2}}) {
      all.push_back({"range", index_selection<I>::range(first, last), index_selection<I, device>::range(first, last)});
    }
    std::vector<I> repeated;
    for (std::int64_t k = 0; size > 0 && k < size + 3; ++k) repeated.push_back(static_cast<I>((k * 7 + 2) % size));
    std::vector<I> mask;
    for (I k = 0; k < n; k += 3) mask.push_back(k);
    lists_ = {{}, repeated, mask, shuffled<I>(size, 8)};
    for (const auto& list : lists_) {
      device_lists_.push_back(to_device(ctx, list));
      all.push_back({"list of " + std::to_string(list.size()), index_selection<I>::of(list),
                     index_selection<I, device>::of(device_lists_.back().view())});
    }
  }

  std::vector<both_selections<I>> all;

 private:
  std::vector<std::vector<I>> lists_;
  std::vector<array<I, device>> device_lists_;
};

TYPED_TEST(AlgebraDevice, Slices) {
  ALGEBRA_TYPES;
  for (const auto& s : structure_shapes()) {
    const auto a = random_csr<V, I, O>(s.rows, s.cols, s.of_a, 9);
    const auto x = to_device(ctx, a.view());
    const selections<I> rows(ctx, s.rows);
    const selections<I> cols(ctx, s.cols);
    for (const auto& r : rows.all) {
      for (const auto& c : cols.all) {
        expect_same(to_host(ctx, extract(ctx, x.view(), r.on_device, c.on_device).view()),
                    extract(cpu, a.view(), r.on_host, c.on_host),
                    name_of(s) + ", rows: " + r.name + ", columns: " + c.name);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(AlgebraDevice, Permutations) {
  ALGEBRA_TYPES;
  for (const auto& s : structure_shapes()) {
    const auto a = random_csr<V, I, O>(s.rows, s.cols, s.of_a, 10);
    const auto x = to_device(ctx, a.view());
    const auto rows = shuffled<I>(s.rows, 11);
    const auto cols = shuffled<I>(s.cols, 12);
    const auto device_rows = to_device(ctx, rows);
    const auto device_cols = to_device(ctx, cols);
    const auto same = [&](const char* what, const csr_matrix<V, I, O, device>& got,
                          const csr_matrix<V, I, O, host>& expected) {
      expect_same(to_host(ctx, got.view()), expected, name_of(s) + what);
    };
    same(", both", permute(ctx, x.view(), device_rows, device_cols), permute(cpu, a.view(), rows, cols));
    same(", rows", permute(ctx, x.view(), device_rows, {}), permute(cpu, a.view(), rows, {}));
    same(", columns", permute(ctx, x.view(), {}, device_cols), permute(cpu, a.view(), {}, cols));
    same(", none", permute(ctx, x.view(), {}, {}), permute(cpu, a.view(), {}, {}));
    same(", turned", conjugate_transpose(ctx, x.view()), conjugate_transpose(cpu, a.view()));
    if (this->HasFatalFailure()) return;
  }
}

// Duplicates keep their order.
TYPED_TEST(AlgebraDevice, TransposesOfColumnsOfAnyLength) {
  ALGEBRA_TYPES;
  struct shape {
    const char* name;
    std::int64_t rows, cols, one_column;  // which has an entry in so many rows
  };
  for (const shape& s : {shape{"short", 20000, 9000, 0},
                         {"a thousand", 200000, 50000, 1024},
                         {"more", 200000, 50000, 1025},
                         {"two hundred each", 200000, 3000, 0},
                         {"dense", 30000, 20000, 30000},
                         {"few entries", 300, 1'000'000, 2},
                         {"one", 1, 1, 1}}) {
    triples<V> m{s.name, s.rows, s.cols, {}};
    std::mt19937_64 random(1);
    for (std::int64_t r = 0; r < s.rows; ++r) {
      if (r < s.one_column) m.add(r, s.cols / 2);
      for (int k = 0; k < 3 && s.rows > 1; ++k) {
        const auto column = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.cols));
        if (column == s.cols / 2) continue;
        m.add(r, column);
        if (r % 5 == 0) m.add(r, column);
      }
    }
    const auto a = make_csr<I, O>(m);
    expect_same(to_host(ctx, transpose(ctx, to_device(ctx, a.view()).view()).view()), transpose(cpu, a.view()), s.name);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(AlgebraDevice, PartsAndDrops) {
  ALGEBRA_TYPES;
  for (const auto& s : structure_shapes()) {
    const auto a = with_zeros(random_csr<V, I, O>(s.rows, s.cols, s.of_a, 13));
    const auto x = to_device(ctx, a.view());
    for (const auto part :
         {matrix_part::lower, matrix_part::strictly_lower, matrix_part::upper, matrix_part::strictly_upper}) {
      expect_same(to_host(ctx, part_of(ctx, x.view(), part).view()), part_of(cpu, a.view(), part),
                  name_of(s) + ", part " + std::to_string(static_cast<int>(part)));
    }
    if constexpr (!is_pattern<V>) {
      for (const double threshold : {0.0, 3.0, 1e9}) {
        expect_same(to_host(ctx, drop_below(ctx, x.view(), threshold).view()), drop_below(cpu, a.view(), threshold),
                    name_of(s) + ", below " + std::to_string(threshold));
      }
      expect_same(to_host(ctx, drop_zeros(ctx, x.view()).view()), drop_zeros(cpu, a.view()), name_of(s) + ", zeros");
    }
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(AlgebraDevice, StacksAndKroneckerProducts) {
  ALGEBRA_TYPES;
  using matrix = csr_matrix<V, I, O, host>;
  for (const auto& s : structure_shapes()) {
    const matrix parts[] = {random_csr<V, I, O>(s.rows, s.cols, s.of_a, 14),
                            random_csr<V, I, O>(s.rows, s.cols, s.of_b, 15),
                            random_csr<V, I, O>(s.rows, s.cols, s.of_a / 2, 16)};
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
      std::vector<csr_view<const V, I, O, host>> on_host;
      std::vector<csr_matrix<V, I, O, device>> copies;
      std::vector<csr_view<const V, I, O, device>> on_device;
      for (std::size_t k = 0; k < count; ++k) {
        on_host.push_back(parts[k].view());
        copies.push_back(to_device(ctx, parts[k].view()));
      }
      for (const auto& c : copies) on_device.push_back(c.view());
      expect_same(to_host(ctx, stack_rows(ctx, on_device).view()), stack_rows(cpu, on_host), name_of(s) + ", below");
      expect_same(to_host(ctx, stack_columns(ctx, on_device).view()), stack_columns(cpu, on_host),
                  name_of(s) + ", beside");
    }
    const auto small = random_csr<V, I, O>(5, 3, 8, 17);
    const auto x = to_device(ctx, parts[0].view());
    const auto y = to_device(ctx, small.view());
    expect_same(to_host(ctx, kronecker(ctx, x.view(), y.view()).view()), kronecker(cpu, parts[0].view(), small.view()),
                name_of(s) + ", by a small one");
    expect_same(to_host(ctx, kronecker(ctx, y.view(), x.view()).view()), kronecker(cpu, small.view(), parts[0].view()),
                name_of(s) + ", of a small one");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(AlgebraDevice, ScalingDiagonalsAndNorms) {
  ALGEBRA_TYPES;
  if constexpr (!is_pattern<V>) {
    for (const auto& s : structure_shapes()) {
      auto a = with_zeros(random_csr<V, I, O>(s.rows, s.cols, s.of_a, 18));
      auto x = to_device(ctx, a.view());
      const array<V, device> found = diagonal(ctx, x.view());
      const csr_view<const V, I, O, host> view = a.view();
      const array<V, host> expected = diagonal(cpu, view);
      const array<V, host> got = to_host(ctx, found.view());
      ASSERT_EQ(got.size(), expected.size());
      for (std::int64_t i = 0; i < got.size(); ++i) {
        ASSERT_TRUE(has_same_bits(got[i], expected[i])) << name_of(s) << ", diagonal " << i;
      }
      const matrix_norms n = norms(ctx, x.view());
      const matrix_norms m = norms(cpu, view);
      EXPECT_EQ(n.one, m.one) << name_of(s);
      EXPECT_EQ(n.infinity, m.infinity) << name_of(s);
      EXPECT_EQ(n.frobenius, m.frobenius) << name_of(s);
      EXPECT_EQ(n.largest, m.largest) << name_of(s);
      std::vector<V> rows;
      std::vector<V> cols;
      for (std::int64_t k = 0; k < s.rows; ++k) rows.push_back(value_of<V>(static_cast<std::uint64_t>(k) * 77777));
      for (std::int64_t k = 0; k < s.cols; ++k) cols.push_back(value_of<V>(static_cast<std::uint64_t>(k) * 99991));
      scale_rows(cpu, rows, a);
      scale_rows(ctx, to_device(ctx, rows), x);
      expect_same(to_host(ctx, x.view()), a, name_of(s) + ", scaled rows");
      scale_columns(cpu, cols, a);
      scale_columns(ctx, to_device(ctx, cols), x);
      expect_same(to_host(ctx, x.view()), a, name_of(s) + ", scaled columns");
      if (this->HasFatalFailure()) return;
    }
  }
}

// Of numbers whose sums are rounded: rows of more than a chunk, columns in several blocks.
TEST(AlgebraDeviceValues, NormsAddInTheHostsOrder) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const context<host> cpu;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::int64_t cols : {50, 51, 52, 53, 54, 55, 56, 57, 58, 4000}) {
    auto a = random_csr<double, i32, i32>(cols < 100 ? 3000 : 5, cols, 40000, 4);
    for (double& v : a.values()) v = uniform(random);
    const csr_view<const double, i32, i32, host> view = a.view();
    const matrix_norms expected = norms(cpu, view);
    const matrix_norms got = norms(ctx, to_device(ctx, view).view());
    EXPECT_EQ(got.one, expected.one) << cols;
    EXPECT_EQ(got.infinity, expected.infinity) << cols;
    EXPECT_EQ(got.frobenius, expected.frobenius) << cols;
  }
}

// The message of a refusal on the host, which the device's must equal.
template <class OnHost, class OnDevice>
std::string same_message(error_code code, OnHost&& on_host, OnDevice&& on_device) {
  const std::string message = message_of(code, on_host);
  EXPECT_EQ(message_of(code, on_device), message);
  return message;
}

TYPED_TEST(AlgebraDevice, RefusesWhatTheHostRefuses) {
  ALGEBRA_TYPES;
  const auto a = random_csr<V, I, O>(500, 70, 900, 19);
  const auto b = random_csr<V, I, O>(20, 30, 90, 20);
  const auto x = to_device(ctx, a.view());
  const auto y = to_device(ctx, b.view());
  constexpr auto invalid = error_code::invalid_argument;
  const auto expect_order = [&](const std::vector<I>& order, const char* expected) {
    const auto there = to_device(ctx, order);
    const auto said = same_message(
        invalid, [&] { (void)permute(cpu, a.view(), {}, order); }, [&] { (void)permute(ctx, x.view(), {}, there); });
    EXPECT_NE(said.find(expected), std::string::npos) << said;
  };
  auto order = shuffled<I>(70, 21);
  order[44] = order[21];
  expect_order(order, "occurs again at position 44");
  order[30] = 70;
  expect_order(order, "column 70 at position 30 is out of range (the matrix has 70)");
  order[29] = -1;
  expect_order(order, "column -1 at position 29");
  order.pop_back();
  expect_order(order, "an order of 69 for 70 columns");
  const std::vector<I> list{3, 499, 500, -2};
  const auto there = to_device(ctx, list);
  const auto outside = same_message(
      invalid, [&] { (void)extract(cpu, a.view(), index_selection<I>::of(list), {}); },
      [&] { (void)extract(ctx, x.view(), index_selection<I, device>::of(there), {}); });
  EXPECT_NE(outside.find("row 500 at position 2"), std::string::npos) << outside;
  same_message(
      invalid, [&] { (void)extract(cpu, a.view(), {}, index_selection<I>::range(10, 71)); },
      [&] { (void)extract(ctx, x.view(), {}, index_selection<I, device>::range(10, 71)); });
  same_message(
      invalid,
      [&] {
        (void)stack_rows(cpu, std::vector{a.view(), b.view()});
      },
      [&] {
        (void)stack_rows(ctx, std::vector{x.view(), y.view()});
      });
  same_message(
      invalid, [&] { (void)stack_columns(cpu, std::vector<csr_view<const V, I, O, host>>()); },
      [&] { (void)stack_columns(ctx, std::vector<csr_view<const V, I, O, device>>()); });
  auto bad = random_csr<V, I, O>(50, 60, 500, 3);
  bad.indices()[77] = 60;
  const auto bad_there = to_device(ctx, bad.view());
  same_message(
      error_code::invalid_data, [&] { (void)transpose(cpu, bad.view()); },
      [&] { (void)transpose(ctx, bad_there.view()); });
}

TEST(AlgebraDeviceSizes, WhatDoesNotFitIsRefused) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const context<host> cpu;
  const triples<pattern> tall{"", 1 << 20, 1 << 12, {}};
  const auto a = make_csr<i32, i32>(tall);
  const auto x = to_device(ctx, a.view());
  const auto large = same_message(
      error_code::unsupported, [&] { (void)kronecker(cpu, a.view(), a.view()); },
      [&] { (void)kronecker(ctx, x.view(), x.view()); });
  EXPECT_NE(large.find("exceed 32-bit indices"), std::string::npos) << large;
  // A row of 2^20 entries 2^11 times.
  triples<pattern> wide{"", 1, 1 << 20, {}};
  for (std::int64_t c = 0; c < wide.cols; ++c) wide.add(0, c);
  const auto b = make_csr<i32, i32>(wide);
  const auto y = to_device(ctx, b.view());
  const std::vector<i32> list(1 << 11, 0);
  const auto there = to_device(ctx, list);
  const auto many = same_message(
      error_code::unsupported, [&] { (void)extract(cpu, b.view(), index_selection<i32>::of(list), {}); },
      [&] { (void)extract(ctx, y.view(), index_selection<i32, device>::of(there), {}); });
  EXPECT_NE(many.find("2147483648 entries exceed 32-bit offsets"), std::string::npos) << many;
}

TYPED_TEST(AlgebraDevice, EveryAllocationMayFail) {
  ALGEBRA_TYPES;
  const auto x = to_device(ctx, random_csr<V, I, O>(300, 300, 3000, 5).view());
  const auto order = to_device(ctx, shuffled<I>(300, 6));
  const std::int64_t requests = fail_every_device_allocation([&](const context<device>& failing) {
    (void)symmetrize(failing, x.view());
    (void)permute(failing, x.view(), order, order);
    (void)extract(failing, x.view(), {}, index_selection<I, device>::of(order));
    (void)part_of(failing, x.view(), matrix_part::upper);
    (void)stack_columns(failing, std::vector{x.view(), x.view()});
    (void)kronecker(failing, x.view(), x.view());
    if constexpr (!is_pattern<V>) {
      (void)diagonal(failing, x.view());
      (void)norms(failing, x.view());
    }
  });
  EXPECT_GT(requests, 40);
}

TEST(AlgebraDeviceValues, NonFiniteValuesStay) {
  SPARGO_TEST_NEEDS_GPU();
  using V = std::complex<double>;
  const context<device> ctx;
  const context<host> cpu;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  csr_matrix<V, i32, i32, host> a = random_csr<V, i32, i32>(50, 50, 300, 6);
  const V odd[] = {{infinity, 0}, {0, -infinity}, {-0.0, 0.0}, {std::nan(""), 1}};
  for (std::int64_t k = 0; k < a.nnz(); k += 3) a.values()[k] = odd[static_cast<std::size_t>(k / 3) % std::size(odd)];
  const auto b = random_csr<V, i32, i32>(50, 50, 200, 7);
  const auto x = to_device(ctx, a.view());
  const auto y = to_device(ctx, b.view());
  expect_same(to_host(ctx, add(ctx, V(1), x.view(), V(2), y.view()).view()), add(cpu, V(1), a.view(), V(2), b.view()),
              "one");
  expect_same(to_host(ctx, add(ctx, V(2), x.view(), V(1), y.view()).view()), add(cpu, V(2), a.view(), V(1), b.view()),
              "two");
  expect_same(to_host(ctx, drop_below(ctx, x.view(), 2.0).view()), drop_below(cpu, a.view(), 2.0), "drop_below");
  expect_same(to_host(ctx, drop_zeros(ctx, x.view()).view()), drop_zeros(cpu, a.view()), "drop_zeros");
  EXPECT_TRUE(std::isnan(norms(ctx, x.view()).one));
  for (std::int64_t k = 0; k < a.nnz(); ++k) {
    if (std::isnan(a.values()[k].real())) a.values()[k] = {1e300, -1e308};
  }
  const auto finite = to_device(ctx, a.view());
  EXPECT_EQ(norms(ctx, finite.view()).frobenius, infinity);
  for (const double size : {1e-320, 1e-160, 1e153, 1e300}) {
    for (std::int64_t k = 0; k < a.nnz(); ++k) a.values()[k] = value_of<V>(static_cast<std::uint64_t>(k) << 9) * size;
    const matrix_norms got = norms(ctx, to_device(ctx, a.view()).view());
    const csr_view<const V, i32, i32, host> view = a.view();
    EXPECT_EQ(got.frobenius, norms(cpu, view).frobenius) << size;
    EXPECT_EQ(got.one, norms(cpu, view).one) << size;
    EXPECT_EQ(got.largest, norms(cpu, view).largest) << size;
  }
}

}  // namespace
}  // namespace spargo::test
