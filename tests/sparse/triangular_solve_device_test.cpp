// Triangular solves on a device against naive substitution, the host's levels and Jacobi's sweeps by their definition.
#include "sparse/triangles.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"
#include "support/suites.hpp"

#include <spargo/formats/convert.hpp>

#include <cstring>

namespace spargo::test {
namespace {

using namespace triangles;

template <class V_, class I_, class O_>
struct device_solve_case {
  using V = V_;
  using I = I_;
  using O = O_;
};
template <class Case>
class TriangularSolveOnDevice : public device_suite {};
using cases =
    testing::Types<device_solve_case<float, i32, i32>, device_solve_case<double, i32, i32>,
                   device_solve_case<double, i32, i64>, device_solve_case<double, i64, i64>,
                   device_solve_case<std::complex<float>, i32, i32>, device_solve_case<std::complex<double>, i64, i64>>;
TYPED_TEST_SUITE(TriangularSolveOnDevice, cases);
using TriangularSolveOfRealsOnDevice = device_suite;

template <class V, class I, class O>
std::vector<V> solved_there(const context<device>& gpu, const triangular_solve_plan<V, I, O, device>& plan,
                            const std::vector<V>& b) {
  const array<V, device> right = to_device(gpu, span<const V, host>(b));
  array<V, device> x(gpu, static_cast<i64>(b.size()));
  detail::fill_bytes(gpu, x.data(), 0x7f, b.size() * sizeof(V));
  plan.run(right.view(), x.view());
  array<V, device> in_place = clone(gpu, right.view());
  plan.run(std::as_const(in_place).view(), in_place.view());
  const array<V, host> found = to_host(gpu, std::as_const(x).view());
  const array<V, host> again = to_host(gpu, std::as_const(in_place).view());
  EXPECT_EQ(std::memcmp(found.data(), again.data(), b.size() * sizeof(V)), 0) << "in place";
  return {found.begin(), found.end()};
}

TYPED_TEST(TriangularSolveOnDevice, EveryRowIsSolved) {
  using V = typename TypeParam::V;
  using I = typename TypeParam::I;
  using O = typename TypeParam::O;
  const context<device> gpu;
  const context<host> cpu;
  for (const i64 n : {0, 1, 33, 129, 300}) {
    for (const i64 per_row : {0, 1, 5}) {
      if (n > 0 && per_row >= n) continue;
      const auto entries = random_entries<V>(n, n == 0 ? 0 : per_row, static_cast<unsigned>(n));
      const auto a = csr_of<V, I, O>(n, entries);
      const auto there = to_device(gpu, a);
      const auto b = random_vector<V>(n, 7);
      for (const auto& kind : every_kind) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", " << per_row << ", kind " << &kind - every_kind);
        const triangular_solve_plan plan(gpu, there, kind);
        EXPECT_EQ(plan.levels(), triangular_solve_plan(cpu, a, kind).levels());
        const std::vector<V> x = solved_there(gpu, plan, b);
        expect_solved(n, entries, kind, b, x);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(TriangularSolveOnDevice, SweepsAreJacobis) {
  using V = typename TypeParam::V;
  const context<device> gpu;
  const long double eps = std::numeric_limits<real_t<V>>::epsilon();
  for (const i64 n : {0, 1, 33, 300}) {
    for (const i64 per_row : {2, 9}) {
      if (n > 0 && per_row >= n) continue;
      const auto entries = random_entries<V>(n, n == 0 ? 0 : per_row, static_cast<unsigned>(n));
      const auto there = to_device(gpu, csr_of<V, typename TypeParam::I, typename TypeParam::O>(n, entries));
      const auto b = random_vector<V>(n, 7);
      for (triangular_solve_options kind : every_kind) {
        for (const i64 sweeps : {1, 2, 3}) {
          kind.sweeps = sweeps;
          SCOPED_TRACE(testing::Message() << "n = " << n << ", " << per_row << ", " << sweeps << " sweeps");
          const triangular_solve_plan plan(gpu, there, kind);
          EXPECT_EQ(plan.levels(), 0);
          const std::vector<V> x = solved_there(gpu, plan, b);
          const std::vector<wide> expected = naive_sweeps(entries, kind, b);
          long double largest = 1;
          for (const wide& v : expected) largest = std::max(largest, std::abs(v));
          for (std::size_t r = 0; r < x.size(); ++r) {
            ASSERT_LE(std::abs(widened(x[r]) - expected[r]), 1000 * eps * largest) << r;
          }
        }
      }
    }
  }
}

// Chains within a block and over many, wide levels, rows that need thousands of others, none.
TEST_F(TriangularSolveOfRealsOnDevice, EveryShapeAndRunGivesTheSameBits) {
  const context<device> gpu;
  for (const char* name : {"chain", "groups", "star", "diagonal", "dense"}) {
    const i64 n = std::string(name) == "dense" ? 4100 : 10'000;
    const auto entries = shape_of(name, n);
    const auto there = to_device(gpu, csr_of<double, i32, i32>(n, entries));
    const auto b = random_vector<double>(n, 3);
    for (const auto& kind : every_kind) {
      SCOPED_TRACE(testing::Message() << name << ", kind " << &kind - every_kind);
      const triangular_solve_plan plan(gpu, there, kind);
      EXPECT_EQ(plan.levels(), naive_levels(n, entries, kind.part == triangle_part::upper_triangle));
      EXPECT_NE(plan.reason().find("rows wait for those that they need"), std::string::npos) << plan.reason();
      const std::vector<double> first = solved_there(gpu, plan, b);
      expect_solved(n, entries, kind, b, first);
      for (int again = 0; again < 2; ++again) {
        const triangular_solve_plan other(gpu, there, kind);
        ASSERT_EQ(solved_there(gpu, again == 1 ? other : plan, b), first);
      }
    }
  }
}

// A diagonal in several entries, a warp's width and more apart, counts as their sum.
TEST_F(TriangularSolveOfRealsOnDevice, DiagonalsInSeveralEntries) {
  const context<device> gpu;
  const i64 n = 100;
  std::vector<entry<double>> entries;
  for (i64 r = 0; r < n; ++r) {
    entries.push_back({r, r, 2});
    for (i64 c = 0; c < r; ++c) entries.push_back({r, c, 0.25 / static_cast<double>(n)});
    if (r >= 32) entries.push_back({r, r, 0.5});
    if (r >= 64) entries.push_back({r, r, 0.25});
  }
  const auto there = to_device(gpu, csr_of<double, i32, i32>(n, entries));
  const auto b = random_vector<double>(n, 5);
  for (const i64 sweeps : {i64{0}, i64{40}}) {
    const triangular_solve_options kind{.sweeps = sweeps};
    const triangular_solve_plan plan(gpu, there, kind);
    expect_solved(n, entries, kind, b, solved_there(gpu, plan, b));
  }
}

// Two streams, each with blocks that wait, and more blocks than a device holds.
TEST_F(TriangularSolveOfRealsOnDevice, SolvesOfTwoStreamsEnd) {
  const context<device> one;
  const context<device> other;
  const i64 n = 100'000;
  const auto entries = shape_of("groups", n);
  const auto a = csr_of<double, i32, i32>(n, entries);
  const auto b = random_vector<double>(n, 3);
  const auto first = to_device(one, a);
  const auto second = to_device(other, a);
  const triangular_solve_plan by_one(one, first);
  const triangular_solve_plan by_other(other, second);
  array<double, device> x = to_device(one, span<const double, host>(b));
  array<double, device> y = to_device(other, span<const double, host>(b));
  for (int k = 0; k < 5; ++k) {
    by_one.run(std::as_const(x).view(), x.view());
    by_other.run(std::as_const(y).view(), y.view());
  }
  const auto here = to_host(one, std::as_const(x).view());
  const auto there = to_host(other, std::as_const(y).view());
  EXPECT_TRUE(std::equal(here.begin(), here.end(), there.begin()));
}

// Numbers that look like an empty slot, are not finite, or have no inverse in their range.
TEST_F(TriangularSolveOfRealsOnDevice, NumbersOfAnyKind) {
  const context<device> gpu;
  const auto bits = ~std::uint64_t{0};
  double empty = 0;
  std::memcpy(&empty, &bits, sizeof(empty));
  std::vector<entry<double>> entries;
  const i64 n = 200;
  for (i64 r = 0; r < n; ++r) {
    entries.push_back({r, r, r % 3 == 0 ? 1.5e308 : r % 3 == 1 ? 3e-310 : 2});
    if (r % 2 == 1) entries.push_back({r, r - 1, 0.5});
  }
  const auto a = csr_of<double, i32, i32>(n, entries);
  const auto there = to_device(gpu, a);
  for (const auto diagonal : {triangle_diagonal::explicit_diagonal, triangle_diagonal::implicit_unit_diagonal}) {
    const triangular_solve_plan plan(gpu, there, {.diagonal = diagonal});
    const triangular_solve_plan of_host(context<host>(), a, {.diagonal = diagonal});
    std::vector<double> b(static_cast<std::size_t>(n));
    for (std::size_t r = 0; r < b.size(); ++r) {
      b[r] = r % 8 == 4 ? empty : r % 16 == 6 ? HUGE_VAL : r % 3 == 0 ? 1e300 : r % 3 == 1 ? 1e-305 : 1;
    }
    const std::vector<double> x = solved_there(gpu, plan, b);
    std::vector<double> expected(b.size());
    of_host.run(b, expected);
    for (std::size_t r = 0; r < x.size(); ++r) {
      if (!std::isfinite(expected[r])) {
        EXPECT_EQ(std::isnan(x[r]), std::isnan(expected[r])) << r;
        EXPECT_FALSE(std::isfinite(x[r])) << r;
      } else {
        EXPECT_NEAR(x[r], expected[r], 1e-14 * std::abs(expected[r])) << r;
      }
    }
  }
  using V = std::complex<double>;
  const auto turned =
      to_device(gpu, csr_of<V, i32, i32>(2, {{0, 0, V(3e-310, 4e-310)}, {1, 1, V(0, 1.2e308)}, {1, 0, V(1, 1)}}));
  const triangular_solve_plan plan(gpu, turned);
  const std::vector<V> x = solved_there(gpu, plan, {V(5e-305, 0), V(1e300, 0)});
  EXPECT_NEAR(x[0].real(), 6e4, 1e-5);  // of numbers with 13 digits
  EXPECT_NEAR(x[0].imag(), -8e4, 1e-5);
  EXPECT_NEAR(x[1].real(), 0, 1e-12);
  EXPECT_NEAR(x[1].imag(), -1e300 / 1.2e308, 1e-12);
  // Diagonal elements whose magnitude is beyond their type's range, and the least ones.
  using F = std::complex<float>;
  const auto extreme =
      to_device(gpu, csr_of<F, i32, i32>(2, {{0, 0, F(2.5e38F, 2.5e38F)}, {1, 1, F(0x1p-149F, 0x1p-149F)}}));
  const std::vector<F> y = solved_there(gpu, triangular_solve_plan(gpu, extreme), {F(1e38F, 0), F(0x7p-149F, 0)});
  EXPECT_NEAR(y[0].real(), 0.2F, 1e-6F);
  EXPECT_NEAR(y[0].imag(), -0.2F, 1e-6F);
  EXPECT_NEAR(y[1].real(), 3.5F, 1e-5F);
  EXPECT_NEAR(y[1].imag(), -3.5F, 1e-5F);
}

TEST_F(TriangularSolveOfRealsOnDevice, RefusalsAreTheHosts) {
  const context<device> gpu;
  const auto a = csr_of<double, i32, i32>(3, {{0, 0, 1}, {1, 0, 2}, {2, 1, 5}, {2, 2, 0}, {1, 1, 2}, {1, 1, -2}});
  const auto there = to_device(gpu, a);
  for (const i64 sweeps : {0, 2}) {
    EXPECT_EQ(message_of(error_code::invalid_data, [&] { triangular_solve_plan(gpu, there, {.sweeps = sweeps}); }),
              "triangular_solve: row 1 (from 0) has 0 on the diagonal, by which it divides (expected "
              "implicit_unit_diagonal, or another matrix)");
  }
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { triangular_solve_plan(gpu, there, {.sweeps = -1}); }),
            "triangular_solve: -1 sweeps (expected 0 to 1000; 0 solves exactly)");
  const triangular_solve_plan unit(gpu, there, {.diagonal = triangle_diagonal::implicit_unit_diagonal});
  EXPECT_EQ(solved_there(gpu, unit, std::vector<double>{1, 1, 1}), (std::vector<double>{1, -1, 6}));
  array<double, device> longer(gpu, 4);
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] {
                         unit.run(span<const double, device>(longer.data(), 2), span<double, device>(longer.data(), 3));
                       }),
            "triangular_solve: b has 2 elements, expected 3");
  EXPECT_EQ(
      message_of(
          error_code::invalid_argument,
          [&] { unit.run(span<const double, device>(longer.data(), 3), span<double, device>(longer.data() + 1, 3)); }),
      "triangular_solve: x overlaps b");
}

TEST_F(TriangularSolveOfRealsOnDevice, FailedAllocationsLeakNothing) {
  const auto a = csr_of<double, i32, i32>(50, random_entries<double>(50, 4, 1));
  const auto b = random_vector<double>(50, 1);
  for (const i64 sweeps : {0, 3}) {
    const i64 requests = fail_every_device_allocation([&](const context<device>& gpu) {
      const auto there = to_device(gpu, a);
      array<double, device> x = to_device(gpu, span<const double, host>(b));
      triangular_solve(gpu, there, std::as_const(x).view(), x.view(), {.sweeps = sweeps});
      gpu.synchronize();
    });
    EXPECT_GE(requests, 9);
  }
}

}  // namespace
}  // namespace spargo::test
