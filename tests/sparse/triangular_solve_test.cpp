// Triangular solves against naive substitution: the backward error of each row, in long double.
#include "support/message.hpp"
#include "support/number.hpp"
#include "support/resource.hpp"

#include <spargo/sparse/triangular_solve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using wide = std::complex<long double>;

template <class V>
struct entry {
  i64 row;
  i64 col;
  V value;
};

template <class V, class I, class O>
csr_matrix<V, I, O, host> csr_of(i64 n, std::vector<entry<V>> entries) {
  const context<host> ctx;
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  std::vector<O> offsets(static_cast<std::size_t>(n) + 1);
  std::vector<I> indices;
  std::vector<V> values;
  for (const auto& e : entries) {
    ++offsets[static_cast<std::size_t>(e.row) + 1];
    indices.push_back(static_cast<I>(e.col));
    values.push_back(e.value);
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) offsets[r + 1] += offsets[r];
  return {static_cast<I>(n), static_cast<I>(n), clone(ctx, span<const O, host>(offsets)),
          clone(ctx, span<const I, host>(indices)), clone(ctx, span<const V, host>(values))};
}

// Both triangles, unsorted, with duplicates, diagonals in two pieces.
template <class V>
std::vector<entry<V>> random_entries(i64 n, i64 per_row, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<entry<V>> all;
  for (i64 r = 0; r < n; ++r) {
    all.push_back({r, r, number<V>(2 + uniform(random), uniform(random))});
    for (i64 k = 0; k < per_row; ++k) {
      all.push_back(
          {r, static_cast<i64>(random() % static_cast<std::uint64_t>(n)), number<V>(uniform(random), uniform(random))});
      if (all.back().col == r) all.back().value = number<V>(0.25, 0);
    }
    all.push_back({r, r, number<V>(0.5, 0)});
  }
  return all;
}

constexpr triangular_solve_options every_kind[] = {
    {triangle_part::lower_triangle, triangle_diagonal::explicit_diagonal},
    {triangle_part::lower_triangle, triangle_diagonal::implicit_unit_diagonal},
    {triangle_part::upper_triangle, triangle_diagonal::explicit_diagonal},
    {triangle_part::upper_triangle, triangle_diagonal::implicit_unit_diagonal}};

// Row by row: |T x - b| within rounding of |T| |x| + |b|.
template <class V>
void expect_solved(i64 n, const std::vector<entry<V>>& entries, const triangular_solve_options& kind,
                   const std::vector<V>& b, const std::vector<V>& x) {
  const long double eps = std::numeric_limits<real_t<V>>::epsilon();
  std::vector<wide> rest(static_cast<std::size_t>(n));
  std::vector<long double> size(static_cast<std::size_t>(n));
  std::vector<i64> count(static_cast<std::size_t>(n), 2);
  const bool is_unit = kind.diagonal == triangle_diagonal::implicit_unit_diagonal;
  for (std::size_t r = 0; r < rest.size(); ++r) {
    rest[r] = widened(b[r]) - (is_unit ? widened(x[r]) : wide{});
    size[r] = std::abs(widened(b[r])) + std::abs(widened(x[r]));
  }
  for (const auto& e : entries) {
    const bool below = e.col < e.row;
    if (e.col == e.row ? is_unit : below != (kind.part == triangle_part::lower_triangle)) continue;
    const auto r = static_cast<std::size_t>(e.row);
    const wide product = widened(e.value) * widened(x[static_cast<std::size_t>(e.col)]);
    rest[r] -= product;
    size[r] += std::abs(product);
    ++count[r];
  }
  for (std::size_t r = 0; r < rest.size(); ++r) {
    ASSERT_LE(std::abs(rest[r]), 4 * static_cast<long double>(count[r]) * eps * size[r]) << "row " << r;
  }
}

template <class V>
std::vector<V> random_vector(i64 n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<V> v(static_cast<std::size_t>(n));
  for (V& each : v) each = number<V>(uniform(random), uniform(random));
  return v;
}

template <class V_, class I_, class O_>
struct solve_case {
  using V = V_;
  using I = I_;
  using O = O_;
};
template <class Case>
class TriangularSolve : public testing::Test {};
using cases = testing::Types<solve_case<float, i32, i32>, solve_case<double, i32, i32>, solve_case<double, i32, i64>,
                             solve_case<double, i64, i64>, solve_case<std::complex<float>, i32, i32>,
                             solve_case<std::complex<double>, i64, i64>>;
TYPED_TEST_SUITE(TriangularSolve, cases);

TYPED_TEST(TriangularSolve, EveryRowIsSolved) {
  using V = typename TypeParam::V;
  const context<host> ctx;
  for (const i64 n : {0, 1, 2, 31, 32, 33, 300}) {
    for (const i64 per_row : {0, 1, 5}) {
      const auto entries = random_entries<V>(n, n == 0 ? 0 : per_row, static_cast<unsigned>(n));
      const auto a = csr_of<V, typename TypeParam::I, typename TypeParam::O>(n, entries);
      const auto b = random_vector<V>(n, 7);
      for (const auto& kind : every_kind) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", kind " << &kind - every_kind);
        const triangular_solve_plan plan(ctx, a, kind);
        std::vector<V> x(b.size(), number<V>(std::nan(""), std::nan("")));
        plan.run(b, x);
        expect_solved(n, entries, kind, b, x);
        std::vector<V> in_place = b;
        plan.run(span<const V, host>(in_place), in_place);
        EXPECT_EQ(in_place, x);
        std::vector<V> once(b.size());
        triangular_solve(ctx, a, b, once, kind);
        EXPECT_EQ(once, x);
      }
    }
  }
}

// A chain of one row a level, blocks of independent rows, and rows that all need the first.
std::vector<entry<double>> shape_of(const std::string& name, i64 n) {
  std::vector<entry<double>> all;
  for (i64 r = 0; r < n; ++r) {
    all.push_back({r, r, 3});
    if (name == "chain" && r > 0) all.push_back({r, r - 1, -1});
    if (name == "chain" && r + 1 < n) all.push_back({r, r + 1, -1});
    for (i64 k = 0; name == "groups" && k < 5; ++k) {
      const i64 group = n / 4;
      if (r >= group) all.push_back({r, (r / group - 1) * group + (r * 7 + k * 991) % group, 0.125});
      if (r + group < n) all.push_back({r, (r / group + 1) * group + (r * 3 + k * 577) % group, -0.25});
    }
    if (name == "star" && r > 0) all.push_back({r, 0, 0.5});
    if (name == "star" && r > 0) all.push_back({0, r, 1e-4});
  }
  return all;
}

i64 naive_levels(i64 n, const std::vector<entry<double>>& entries, bool is_upper) {
  std::vector<std::vector<i64>> needs(static_cast<std::size_t>(n));
  for (const auto& e : entries) {
    if (e.row != e.col && (e.col > e.row) == is_upper) needs[static_cast<std::size_t>(e.row)].push_back(e.col);
  }
  std::vector<i64> level(needs.size());
  i64 most = 0;
  for (i64 k = 0; k < n; ++k) {
    const auto r = static_cast<std::size_t>(is_upper ? n - 1 - k : k);
    level[r] = 1;
    for (const i64 c : needs[r]) level[r] = std::max(level[r], level[static_cast<std::size_t>(c)] + 1);
    most = std::max(most, level[r]);
  }
  return most;
}

TEST(TriangularSolveOfReals, AnyNumberOfThreadsGivesTheSameBits) {
  for (const char* name : {"chain", "groups", "star"}) {
    const i64 n = 40'000;
    const auto entries = shape_of(name, n);
    const auto a = csr_of<double, i32, i32>(n, entries);
    const auto b = random_vector<double>(n, 3);
    for (const auto& kind : every_kind) {
      SCOPED_TRACE(testing::Message() << name << ", kind " << &kind - every_kind);
      const bool is_upper = kind.part == triangle_part::upper_triangle;
      std::vector<double> first;
      for (const int threads : {1, 2, 3, 8}) {
        const triangular_solve_plan plan(context<host>({.threads = threads}), a, kind);
        EXPECT_EQ(plan.levels(), naive_levels(n, entries, is_upper));
        // Half of the upper star's work is its first row.
        const bool shares =
            threads > 1 && (std::string(name) == "groups" || (std::string(name) == "star" && !is_upper));
        EXPECT_EQ(plan.reason().find("threads share") != std::string::npos, shares) << plan.reason();
        std::vector<double> x(b.size());
        for (int again = 0; again < 3; ++again) {
          std::fill(x.begin(), x.end(), std::nan(""));
          plan.run(b, x);
          if (first.empty()) first = x;
          ASSERT_EQ(x, first) << threads << " threads";
        }
      }
      expect_solved(n, entries, kind, b, first);
    }
  }
}

TEST(TriangularSolveOfReals, Refusals) {
  const context<host> ctx;
  const auto a = csr_of<double, i32, i32>(3, {{0, 0, 1}, {1, 0, 2}, {2, 1, 5}, {2, 2, 1}, {1, 1, 2}, {1, 1, -2}});
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { triangular_solve_plan(ctx, a); }),
            "triangular_solve: row 1 (from 0) has 0 on the diagonal, by which it divides (expected "
            "implicit_unit_diagonal, or another matrix)");
  const triangular_solve_plan unit(ctx, a, {.diagonal = triangle_diagonal::implicit_unit_diagonal});
  std::vector<double> x(3);
  unit.run(std::vector<double>{1, 1, 1}, x);
  EXPECT_EQ(x, (std::vector<double>{1, -1, 6}));
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { unit.run(std::vector<double>(2), x); }),
            "triangular_solve: b has 2 elements, expected 3");
  std::vector<double> longer(4);
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] {
                         unit.run(span<const double, host>(longer.data(), 3), span<double, host>(longer.data() + 1, 3));
                       }),
            "triangular_solve: x overlaps b");
  csr_matrix<double, i32, i32, host> wide_one = csr_of<double, i32, i32>(3, {{0, 0, 1}});
  const csr_view<const double, i32, i32, host> wider{{3, 4, wide_one.view().offsets, wide_one.view().indices},
                                                     wide_one.view().values};
  EXPECT_EQ(
      message_of(error_code::invalid_argument, [&] { triangular_solve_plan<double, i32, i32, host>(ctx, wider); }),
      "triangular_solve: a matrix of 3 x 4 (expected a square one)");
}

TEST(TriangularSolveOfReals, FailedAllocationsLeakNothing) {
  const auto a = csr_of<double, i32, i32>(50, random_entries<double>(50, 4, 1));
  const auto b = random_vector<double>(50, 1);
  const i64 requests = fail_every_allocation([&](const context<host>& ctx) {
    std::vector<double> x(50);
    triangular_solve(ctx, a, b, x);
  });
  EXPECT_GE(requests, 5);
}

}  // namespace
}  // namespace spargo::test
