// Triangular solves against naive substitution: the backward error of each row, in long double.
#include "sparse/triangles.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"

namespace spargo::test {
namespace {

using namespace triangles;

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

TYPED_TEST(TriangularSolve, SweepsAreJacobis) {
  using V = typename TypeParam::V;
  const context<host> ctx({.threads = 2});
  const long double eps = std::numeric_limits<real_t<V>>::epsilon();
  for (const i64 n : {0, 1, 2, 33, 300}) {
    const auto entries = random_entries<V>(n, n == 0 ? 0 : 2, static_cast<unsigned>(n));
    const auto a = csr_of<V, typename TypeParam::I, typename TypeParam::O>(n, entries);
    const auto b = random_vector<V>(n, 7);
    for (triangular_solve_options kind : every_kind) {
      for (const i64 sweeps : {1, 2, 3, 6}) {
        kind.sweeps = sweeps;
        SCOPED_TRACE(testing::Message() << "n = " << n << ", " << sweeps << " sweeps");
        const triangular_solve_plan plan(ctx, a, kind);
        EXPECT_EQ(plan.levels(), 0);
        EXPECT_EQ(plan.reason(),
                  std::to_string(sweeps) + (sweeps == 1 ? " sweep" : " sweeps") + " of Jacobi's method, not exact");
        std::vector<V> x(b.size(), number<V>(std::nan(""), std::nan("")));
        plan.run(b, x);
        const std::vector<wide> expected = naive_sweeps(entries, kind, b);
        long double largest = 1;
        for (const wide& v : expected) largest = std::max(largest, std::abs(v));
        for (std::size_t r = 0; r < x.size(); ++r) {
          ASSERT_LE(std::abs(widened(x[r]) - expected[r]), 1000 * eps * largest) << r;
        }
        std::vector<V> in_place = b;
        plan.run(span<const V, host>(in_place), in_place);
        EXPECT_EQ(in_place, x);
      }
    }
  }
}

// One less than the levels: then the sums are those of the solve, also by several threads.
TEST(TriangularSolveOfReals, EnoughSweepsSolveExactly) {
  for (const char* name : {"chain", "groups", "star"}) {
    const i64 n = std::string(name) == "chain" ? 60 : 40'000;
    const auto entries = shape_of(name, n);
    const auto a = csr_of<double, i32, i32>(n, entries);
    const auto b = random_vector<double>(n, 3);
    for (triangular_solve_options kind : every_kind) {
      for (const int threads : {1, 3}) {
        const context<host> ctx({.threads = threads});
        const triangular_solve_plan exact(ctx, a, kind);
        std::vector<double> expected(b.size());
        exact.run(b, expected);
        triangular_solve_options by_sweeps = kind;
        by_sweeps.sweeps = exact.levels() - 1;
        std::vector<double> x(b.size());
        triangular_solve(ctx, a, b, x, by_sweeps);
        EXPECT_EQ(x, expected) << name;
        by_sweeps.sweeps = exact.levels() - 2;
        if (std::string(name) != "groups") continue;  // one level, or what is left is below rounding
        triangular_solve(ctx, a, b, x, by_sweeps);
        EXPECT_NE(x, expected) << name;
      }
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
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { triangular_solve_plan(ctx, a, {.sweeps = -1}); }),
            "triangular_solve: -1 sweeps (expected 0 to 1000; 0 solves exactly)");
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { triangular_solve_plan(ctx, a, {.sweeps = 1001}); }),
            "triangular_solve: 1001 sweeps (expected 0 to 1000; 0 solves exactly)");
  const auto one = csr_of<double, i32, i32>(1, {{0, 0, 4}});
  std::vector<double> quarter(1);
  triangular_solve(ctx, one, std::vector<double>{1}, quarter, {.sweeps = 1000});
  EXPECT_EQ(quarter[0], 0.25);
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { triangular_solve_plan(ctx, a, {.sweeps = 2}); }),
            "triangular_solve: row 1 (from 0) has 0 on the diagonal, by which it divides (expected "
            "implicit_unit_diagonal, or another matrix)");
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
    triangular_solve(ctx, a, b, x, {.sweeps = 3});
  });
  EXPECT_GE(requests, 5);
}

}  // namespace
}  // namespace spargo::test
