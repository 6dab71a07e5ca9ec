// Structure operations against lists of triples: loops that share nothing with src/. Entries must have the same bits.
#include "formats/reference.hpp"
#include "support/message.hpp"

#include <spargo/sparse/algebra.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>

namespace spargo::test {
namespace {

template <class Case>
class Algebra : public testing::Test {
 public:
  using value = typename Case::value;
  using index = typename Case::index;
  using offset = typename Case::offset;
  using matrix = csr_matrix<value, index, offset, host>;

  // Rows in order, columns not, with duplicates and zeros; an empty row, a dense one.
  static triples<value> random(std::int64_t rows, std::int64_t cols, std::int64_t nnz, unsigned seed) {
    auto m = random_triples<value>("random", rows, cols, nnz, seed);
    if (rows > 3) {
      std::erase_if(m.entries, [](const auto& e) { return e.row == 1; });
      for (std::int64_t c = cols; c-- > 0;) m.add(3, c);
    }
    if constexpr (!is_pattern<value>) {
      for (std::size_t k = 0; k < m.entries.size(); k += 7) m.entries[k].value = value{};
    }
    std::stable_sort(m.entries.begin(), m.entries.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
    return m;
  }
  static matrix csr(const triples<value>& m) { return make_csr<index, offset>(m); }

  static void expect_same(const matrix& got, std::int64_t rows, std::int64_t cols,
                          std::vector<triple<value>> expected) {
    EXPECT_EQ(got.rows(), rows);
    EXPECT_EQ(got.cols(), cols);
    EXPECT_EQ(entries_of(got.view()), expected);
  }

  // Results of one, two, three and eight threads are the same.
  template <class Make>
  static matrix made(Make&& make) {
    matrix first = make(context<host>({.threads = 1}));
    for (const int threads : {2, 3, 8}) {
      const matrix again = make(context<host>({.threads = threads}));
      EXPECT_EQ(entries_of(first.view()), entries_of(again.view())) << threads << " threads";
    }
    return first;
  }
};

using i32 = std::int32_t;
using i64 = std::int64_t;
using cases = testing::Types<format_case<double, i32, i64, host>, format_case<float, i32, i32, host>,
                             format_case<std::complex<double>, i64, i64, host>, format_case<pattern, i32, i32, host>>;
TYPED_TEST_SUITE(Algebra, cases);

#define ALGEBRA_TYPES                    \
  using V = typename TestFixture::value; \
  [[maybe_unused]] constexpr bool has_values = !is_pattern<V>

template <class V>
std::vector<triple<V>> joined(std::vector<triple<V>> a, const std::vector<triple<V>>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <class V>
std::vector<triple<V>> swapped(std::vector<triple<V>> entries) {
  for (auto& e : entries) std::swap(e.row, e.col);
  return entries;
}

// Shapes around the sizes at which loops are split.
const std::vector<std::array<std::int64_t, 3>> shapes{{0, 0, 0},     {1, 1, 3},        {4, 1, 9},        {1, 40, 50},
                                                      {33, 31, 300}, {257, 600, 4000}, {9000, 50, 20000}};

TYPED_TEST(Algebra, CanonicalAndSums) {
  ALGEBRA_TYPES;
  for (const auto& [rows, cols, nnz] : shapes) {
    const auto a = this->random(rows, cols, nnz, 1);
    const auto b = this->random(rows, cols, nnz / 2, 2);
    const auto x = this->csr(a);
    const auto y = this->csr(b);
    const context<host> ctx;
    const auto canonical_x = this->made([&](const auto& c) { return canonical(c, x.view()); });
    this->expect_same(canonical_x, rows, cols, summed(a.entries));
    EXPECT_TRUE(is_canonical(ctx, canonical_x.view()));
    EXPECT_EQ(is_canonical(ctx, x.view()), entries_of(x.view()) == summed(a.entries));
    const auto sum = this->made([&](const auto& c) { return add(c, x.view(), y.view()); });
    this->expect_same(sum, rows, cols, merged(sorted(joined(summed(a.entries), summed(b.entries)))));
    if constexpr (has_values) {
      const V alpha = static_cast<V>(-2);
      const V beta = static_cast<V>(0.5);
      auto scaled_a = summed(a.entries);
      auto scaled_b = summed(b.entries);
      for (auto& e : scaled_a) e.value *= alpha;
      for (auto& e : scaled_b) e.value *= beta;
      const auto made = this->made([&](const auto& c) { return add(c, alpha, x.view(), beta, y.view()); });
      this->expect_same(made, rows, cols, merged(sorted(joined(scaled_a, scaled_b))));
    }
  }
}

TYPED_TEST(Algebra, TransposesAndSymmetricSums) {
  ALGEBRA_TYPES;
  const auto a = this->random(300, 300, 2500, 3);
  const auto x = this->csr(a);
  const auto own = summed(a.entries);
  const auto both = this->made([&](const auto& c) { return symmetrize(c, x.view()); });
  this->expect_same(both, 300, 300, merged(sorted(joined(own, summed(swapped(a.entries))))));
  auto turned = sorted(swapped(a.entries));
  if constexpr (complex_type<V>) {
    for (auto& e : turned) e.value = std::conj(e.value);
  }
  const auto adjoint = this->made([&](const auto& c) { return conjugate_transpose(c, x.view()); });
  this->expect_same(adjoint, 300, 300, turned);
}

TYPED_TEST(Algebra, Slices) {
  ALGEBRA_TYPES;
  using I = typename TestFixture::index;
  using selection = index_selection<I>;
  for (const auto& [rows, cols, nnz] : shapes) {
    if (rows == 0) continue;
    const auto a = this->random(rows, cols, nnz, 4);
    const auto x = this->csr(a);
    std::vector<I> row_list;
    std::vector<I> col_list;
    for (std::int64_t k = 0; k < rows + 3; ++k) row_list.push_back(static_cast<I>((k * 7 + 2) % rows));
    for (std::int64_t k = 0; k < cols + 2; ++k) col_list.push_back(static_cast<I>((k * 11 + 1) % cols));
    std::vector<I> all_rows(static_cast<std::size_t>(rows));
    std::vector<I> all_cols(static_cast<std::size_t>(cols));
    std::iota(all_rows.begin(), all_rows.end(), I{0});
    std::iota(all_cols.begin(), all_cols.end(), I{0});
    const std::vector<I> middle_rows(all_rows.begin() + rows / 4, all_rows.end() - rows / 3);
    const std::vector<I> middle_cols(all_cols.begin() + cols / 3, all_cols.end() - cols / 4);
    const auto range_of = [](const std::vector<I>& v) {
      return v.empty() ? selection::range(0, 0) : selection::range(v.front(), static_cast<I>(v.back() + 1));
    };
    std::vector<std::vector<triple<V>>> by_row(static_cast<std::size_t>(rows));
    for (const auto& e : a.entries) by_row[static_cast<std::size_t>(e.row)].push_back(e);
    const auto check = [&](const selection& row_selection, const std::vector<I>& chosen_rows,
                           const selection& col_selection, const std::vector<I>& chosen_cols, bool sorts) {
      std::multimap<std::int64_t, std::int64_t> targets;
      for (std::size_t k = 0; k < chosen_cols.size(); ++k) targets.emplace(chosen_cols[k], k);
      std::vector<triple<V>> expected;
      for (std::size_t r = 0; r < chosen_rows.size(); ++r) {
        for (const auto& e : by_row[static_cast<std::size_t>(chosen_rows[r])]) {
          const auto [first, last] = targets.equal_range(e.col);
          for (auto t = first; t != last; ++t) {
            expected.push_back({static_cast<std::int64_t>(r), t->second, e.value});
          }
        }
      }
      if (sorts) expected = sorted(std::move(expected));
      const auto got = this->made([&](const auto& c) { return extract(c, x.view(), row_selection, col_selection); });
      this->expect_same(got, std::ssize(chosen_rows), std::ssize(chosen_cols), expected);
    };
    const selection all;
    check(all, all_rows, all, all_cols, false);
    check(range_of(middle_rows), middle_rows, all, all_cols, false);
    check(all, all_rows, range_of(middle_cols), middle_cols, false);
    check(range_of(middle_rows), middle_rows, range_of(middle_cols), middle_cols, false);
    check(selection::of(row_list), row_list, all, all_cols, false);
    check(selection::of(row_list), row_list, selection::of(col_list), col_list, true);
    check(range_of(middle_rows), middle_rows, selection::of(col_list), col_list, true);
    check(selection::of({}), {}, selection::of({}), {}, true);
  }
}

TYPED_TEST(Algebra, PermutationsAndParts) {
  ALGEBRA_TYPES;
  using I = typename TestFixture::index;
  const auto a = this->random(500, 70, 3000, 5);
  const auto x = this->csr(a);
  std::vector<I> rows(500);
  std::vector<I> cols(70);
  std::iota(rows.begin(), rows.end(), I{0});
  std::iota(cols.begin(), cols.end(), I{0});
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(6));
  std::shuffle(cols.begin(), cols.end(), std::mt19937_64(7));
  std::vector<std::int64_t> new_row(500);
  std::vector<std::int64_t> new_col(70);
  for (std::size_t k = 0; k < rows.size(); ++k)
    new_row[static_cast<std::size_t>(rows[k])] = static_cast<std::int64_t>(k);
  for (std::size_t k = 0; k < cols.size(); ++k)
    new_col[static_cast<std::size_t>(cols[k])] = static_cast<std::int64_t>(k);
  auto expected = a.entries;
  for (auto& e : expected) {
    e = {new_row[static_cast<std::size_t>(e.row)], new_col[static_cast<std::size_t>(e.col)], e.value};
  }
  this->expect_same(this->made([&](const auto& c) { return permute(c, x.view(), rows, cols); }), 500, 70,
                    sorted(expected));
  const context<host> ctx;
  this->expect_same(permute(ctx, x.view(), {}, {}), 500, 70, a.entries);
  for (const auto part :
       {matrix_part::lower, matrix_part::strictly_lower, matrix_part::upper, matrix_part::strictly_upper}) {
    auto kept = a.entries;
    std::erase_if(kept, [&](const auto& e) {
      switch (part) {
        case matrix_part::lower:
          return e.col > e.row;
        case matrix_part::strictly_lower:
          return e.col >= e.row;
        case matrix_part::upper:
          return e.col < e.row;
        default:
          return e.col <= e.row;
      }
    });
    this->expect_same(this->made([&](const auto& c) { return part_of(c, x.view(), part); }), 500, 70, kept);
  }
  rows[3] = rows[4];
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)permute(ctx, x.view(), rows, {}); })
                .find("occurs again at position"),
            std::string::npos);
  rows.pop_back();
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)permute(ctx, x.view(), rows, {}); })
                .find("an order of 499 for 500 rows"),
            std::string::npos);
  cols[2] = 70;
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)permute(ctx, x.view(), {}, cols); })
                .find("column 70 at position 2"),
            std::string::npos);
  EXPECT_NE(message_of(error_code::invalid_argument,
                       [&] { (void)extract(ctx, x.view(), index_selection<I>::range(400, 501), {}); })
                .find("rows 400 to 501 of 500"),
            std::string::npos);
}

TYPED_TEST(Algebra, StacksAndKroneckerProducts) {
  ALGEBRA_TYPES;
  const auto a = this->random(40, 30, 200, 8);
  const auto b = this->random(25, 30, 90, 9);
  const auto c = this->random(40, 9, 60, 10);
  const auto x = this->csr(a);
  const auto y = this->csr(b);
  const auto z = this->csr(c);
  auto below = a.entries;
  for (const auto& e : b.entries) below.push_back({e.row + 40, e.col, e.value});
  for (const auto& e : a.entries) below.push_back({e.row + 65, e.col, e.value});
  this->expect_same(this->made([&](const auto& ctx) {
    return stack_rows(ctx, std::vector{x.view(), y.view(), x.view()});
  }),
                    105, 30, below);
  auto beside = a.entries;
  for (const auto& e : c.entries) beside.push_back({e.row, e.col + 30, e.value});
  std::stable_sort(beside.begin(), beside.end(), [](const auto& s, const auto& t) { return s.row < t.row; });
  this->expect_same(this->made([&](const auto& ctx) {
    return stack_columns(ctx, std::vector{x.view(), z.view()});
  }),
                    40, 39, beside);
  std::vector<triple<V>> product;
  for (const auto& e : a.entries) {
    for (const auto& f : c.entries) {
      triple<V> both{e.row * 40 + f.row, e.col * 9 + f.col, {}};
      if constexpr (has_values) both.value = e.value * f.value;
      product.push_back(both);
    }
  }
  const auto got = this->made([&](const auto& ctx) { return kronecker(ctx, x.view(), z.view()); });
  EXPECT_EQ(got.rows(), 1600);
  EXPECT_EQ(got.cols(), 270);
  EXPECT_EQ(summed(entries_of(got.view())), summed(product));
  const context<host> ctx;
  EXPECT_NE(message_of(error_code::invalid_argument,
                       [&] {
                         (void)stack_rows(ctx, std::vector{x.view(), z.view()});
                       })
                .find("matrix 2 is 40 x 9"),
            std::string::npos);
}

TYPED_TEST(Algebra, EveryAllocationMayFail) {
  const auto a = this->random(40, 40, 200, 11);
  const auto x = this->csr(a);
  using I = typename TestFixture::index;
  std::vector<I> order(40);
  std::iota(order.rbegin(), order.rend(), I{0});
  for (int fail_at = 0;; ++fail_at) {
    failing_resource resource(fail_at);
    const context<host> ctx({.threads = 1, .resource = &resource});
    try {
      (void)symmetrize(ctx, x.view());
      (void)permute(ctx, x.view(), order, order);
      (void)part_of(ctx, x.view(), matrix_part::upper);
      (void)stack_columns(ctx, std::vector{x.view(), x.view()});
      (void)kronecker(ctx, x.view(), x.view());
      EXPECT_GT(fail_at, 20);
      break;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    }
    EXPECT_EQ(resource.live(), 0) << fail_at;
  }
}

template <class V>
using AlgebraOfValues = Algebra<V>;
using value_cases =
    testing::Types<format_case<double, i32, i64, host>, format_case<std::complex<float>, i32, i32, host>>;
TYPED_TEST_SUITE(AlgebraOfValues, value_cases);

TYPED_TEST(AlgebraOfValues, ScalingDiagonalsDropsAndNorms) {
  ALGEBRA_TYPES;
  const auto a = this->random(700, 60, 5000, 12);
  auto x = this->csr(a);
  std::vector<V> rows;
  std::vector<V> cols;
  for (int k = 0; k < 700; ++k) rows.push_back(static_cast<V>(static_cast<float>(1 << (k % 5))));
  for (int k = 0; k < 60; ++k) cols.push_back(static_cast<V>(static_cast<float>(k % 3 - 1)));
  const context<host> ctx({.threads = 3});
  std::vector<V> diagonal_sums(60);
  double largest = 0;
  double squares = 0;
  std::vector<double> row_sums(700);
  std::vector<double> col_sums(60);
  for (const auto& e : a.entries) {
    if (e.row == e.col) diagonal_sums[static_cast<std::size_t>(e.row)] += e.value;
    const double v = std::abs(std::complex<double>(e.value));
    largest = std::max(largest, v);
    squares += v * v;
    row_sums[static_cast<std::size_t>(e.row)] += v;
    col_sums[static_cast<std::size_t>(e.col)] += v;
  }
  const auto on_diagonal = diagonal(ctx, x.view());
  EXPECT_EQ(std::vector<V>(on_diagonal.begin(), on_diagonal.end()), diagonal_sums);
  const matrix_norms found = norms(ctx, x.view());
  EXPECT_NEAR(found.largest, largest, 1e-6 * largest);
  EXPECT_NEAR(found.frobenius, std::sqrt(squares), 1e-6 * std::sqrt(squares));
  EXPECT_NEAR(found.infinity, *std::max_element(row_sums.begin(), row_sums.end()), 1e-6 * found.infinity);
  EXPECT_NEAR(found.one, *std::max_element(col_sums.begin(), col_sums.end()), 1e-6 * found.one);
  for (const int threads : {1, 8}) {
    const matrix_norms again = norms(context<host>({.threads = threads}), x.view());
    EXPECT_EQ(again.frobenius, found.frobenius);
    EXPECT_EQ(again.one, found.one);
  }
  auto kept = a.entries;
  std::erase_if(kept, [](const auto& e) { return std::abs(e.value) < 3; });
  this->expect_same(this->made([&](const auto& c) { return drop_below(c, x.view(), 3); }), 700, 60, kept);
  kept = a.entries;
  std::erase_if(kept, [](const auto& e) { return e.value == V{}; });
  EXPECT_LT(kept.size(), a.entries.size());
  this->expect_same(this->made([&](const auto& c) { return drop_zeros(c, x.view()); }), 700, 60, kept);
  auto scaled = a.entries;
  for (auto& e : scaled) e.value *= rows[static_cast<std::size_t>(e.row)] * cols[static_cast<std::size_t>(e.col)];
  scale_rows(ctx, rows, x);
  scale_columns(ctx, cols, x);
  this->expect_same(x, 700, 60, scaled);
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { scale_rows(ctx, cols, x); }).find("60 factors for 700"),
            std::string::npos);
}

TEST(AlgebraValues, NonFiniteAndHugeValues) {
  const context<host> ctx;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  triples<double> m{"", 2, 2, {{0, 0, 1e300}, {0, 1, nan}, {1, 0, 0.0}, {1, 1, 1e300}}};
  const auto a = make_csr<i32, i32>(m);
  EXPECT_TRUE(std::isnan(norms(ctx, a.view()).one));
  EXPECT_EQ(drop_below(ctx, a.view(), 1.0).nnz(), 3);
  EXPECT_EQ(drop_zeros(ctx, a.view()).nnz(), 3);
  m.entries[1].value = 0;
  const auto b = make_csr<i32, i32>(m);
  EXPECT_NEAR(norms(ctx, b.view()).frobenius / 1e300, std::sqrt(2.0), 1e-15);
  m.entries[1].value = inf;
  EXPECT_EQ(norms(ctx, make_csr<i32, i32>(m).view()).frobenius, inf);
  // A product with the number one would make NaN of (infinity, 1).
  triples<std::complex<double>> c{"", 1, 1, {{0, 0, {inf, 1}}}};
  const auto z = make_csr<i32, i32>(c);
  const triples<std::complex<double>> none{"", 1, 1, {}};
  const auto sum = add(ctx, z.view(), make_csr<i32, i32>(none).view());
  EXPECT_EQ(sum.values()[0], std::complex<double>(inf, 1));
}

TEST(AlgebraSizes, WhatDoesNotFitIsRefused) {
  const context<host> ctx;
  const triples<pattern> tall{"", 1 << 20, 1 << 12, {}};
  const auto a = make_csr<i32, i32>(tall);
  for (const auto& message : {message_of(error_code::unsupported, [&] { (void)kronecker(ctx, a.view(), a.view()); }),
                              message_of(error_code::unsupported, [&] {
                                (void)stack_rows(ctx,
                                                 std::vector<csr_view<const pattern, i32, i32, host>>(2048, a.view()));
                              })}) {
    EXPECT_NE(message.find("exceed 32-bit indices"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace spargo::test
