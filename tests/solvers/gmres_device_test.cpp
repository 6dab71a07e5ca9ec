// Restarted GMRES on a device: against the host's, and at the edges of its cycles.
#include "solvers/systems.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace spargo::test {
namespace {

using GmresOnDevice = device_suite;
using plan_of_doubles = krylov_plan<double, device>;
constexpr auto by_gmres = krylov_method::gmres;
using enum krylov_preconditioner;

// Convection and diffusion on a grid of n x n, upwind: not symmetric, of complex values not normal either.
template <class V>
csr<V> convection(i32 n) {
  const context<host> ctx;
  std::vector<i32> offsets{0};
  std::vector<i32> indices;
  std::vector<V> values;
  for (i32 y = 0; y < n; ++y) {
    for (i32 x = 0; x < n; ++x) {
      const auto entry = [&](bool inside, i32 column, double re, double im) {
        if (!inside) return;
        indices.push_back(column);
        values.push_back(number<V>(re, im));
      };
      const i32 row = y * n + x;
      entry(y > 0, row - n, -1.5, 0);
      entry(x > 0, row - 1, -1.25, 0.25);
      entry(true, row, 4.5 + 0.125 * (row % 3), 0.5);
      entry(x + 1 < n, row + 1, -0.75, 0);
      entry(y + 1 < n, row + n, -0.5, -0.125);
      offsets.push_back(static_cast<i32>(indices.size()));
    }
  }
  return {n * n, n * n, clone(ctx, span<const i32, host>(offsets)), clone(ctx, span<const i32, host>(indices)),
          clone(ctx, span<const V, host>(values))};
}

struct both {
  krylov_result here;
  krylov_result there;
};

// The same system on the host and on a device; x is the device's, compared with the host's.
template <class V>
both solve_twice(const csr<V>& a, const std::vector<V>& b, const krylov_options& options, double apart) {
  const context<device> gpu;
  const auto matrix = in_space(gpu, a);
  std::vector<V> x(b.size());
  std::vector<V> expected(b.size());
  both found;
  found.here = krylov_plan<V, host>(context<host>(), a.view(), options).run(b, expected);
  found.there = run_in_space(gpu, krylov_plan<V, device>(gpu, matrix.view(), options), b, x);
  EXPECT_EQ(found.there.outcome, found.here.outcome) << found.there.reason << "; the host: " << found.here.reason;
  EXPECT_EQ(found.there.method, found.here.method);
  EXPECT_EQ(found.there.history.size(), static_cast<std::size_t>(found.there.iterations) + 1);
  EXPECT_NEAR(static_cast<double>(found.there.iterations), static_cast<double>(found.here.iterations),
              1 + 0.02 * static_cast<double>(found.here.iterations));
  const std::size_t common = std::min(found.there.history.size(), found.here.history.size());
  for (std::size_t k = 0; k < common; ++k) EXPECT_NEAR(found.there.history[k], found.here.history[k], apart) << k;
  if (!b.empty()) {
    EXPECT_NEAR(found.there.relative_residual, residual_of(a, b, x), apart);
  }
  double largest = 0;
  for (const V& v : expected) largest = std::max(largest, static_cast<double>(std::abs(v)));
  for (std::size_t i = 0; i < x.size() && found.here.converged; ++i) {
    const double difference = static_cast<double>(std::abs(x[i] - expected[i]));
    EXPECT_LE(difference, 1e4 * apart * largest) << i;
    if (difference > 1e4 * apart * largest) break;
  }
  return found;
}

TEST_F(GmresOnDevice, TakesTheIterationsOfTheHost) {
  for (const i32 side : {1, 2, 3, 20, 90}) {
    const csr<double> a = convection<double>(side);
    const auto b = random_vector<double>(static_cast<std::size_t>(a.rows()), 8);
    for (const i64 restart : {1, 2, 3, 4, 5, 50, 100, 10'000}) {
      if (side == 90 && restart != 5 && restart != 50 && restart != 100) continue;
      for (const auto m : {none, jacobi}) {
        SCOPED_TRACE(testing::Message() << side << ", restart " << restart << ", " << to_string(m));
        const both found = solve_twice(
            a, b, {.method = by_gmres, .preconditioner = m, .max_iterations = 900, .restart = restart}, 1e-9);
        if (restart >= 50) {
          EXPECT_TRUE(found.there.converged) << found.there.reason;
        }
      }
    }
  }
}

// Tiles of each type of values, more tiles than blocks, and a last one that is not full.
template <class V>
void expect_same_steps(i32 side, double apart, double tolerance) {
  const csr<V> a = convection<V>(side);
  const auto b = random_vector<V>(static_cast<std::size_t>(a.rows()), 5);
  for (const auto m : {none, jacobi}) {
    SCOPED_TRACE(testing::Message() << side << ", " << to_string(m) << ", " << sizeof(V) << " bytes");
    const krylov_options options{
        .method = by_gmres, .preconditioner = m, .tolerance = tolerance, .max_iterations = 70, .restart = 33};
    (void)solve_twice(a, b, options, apart);
  }
}
TEST_F(GmresOnDevice, EveryTypeOfValues) {
  for (const i32 side : {31, 71, 150}) {
    expect_same_steps<float>(side, 1e-4, 1e-5);
    expect_same_steps<double>(side, 1e-10, 1e-8);
    expect_same_steps<std::complex<float>>(side, 1e-4, 1e-5);
    expect_same_steps<std::complex<double>>(side, 1e-10, 1e-8);
  }
  expect_same_steps<double>(601, 1e-10, 1e-8);
  expect_same_steps<std::complex<float>>(601, 1e-4, 1e-5);
}

TEST_F(GmresOnDevice, EveryRunGivesTheSameBits) {
  const context<device> gpu;
  const csr<double> a = convection<double>(150);
  const auto there = in_space(gpu, a);
  const auto b = random_vector<double>(22'500, 8);
  const krylov_options options{.method = by_gmres, .restart = 30};
  const plan_of_doubles plan(gpu, there.view(), options);
  std::vector<double> first(b.size());
  const krylov_result once = run_in_space(gpu, plan, b, first);
  for (int again = 0; again < 3; ++again) {
    std::vector<double> x(b.size());
    const plan_of_doubles other(gpu, there.view(), options);
    EXPECT_EQ(run_in_space(gpu, again == 2 ? other : plan, b, x).history, once.history);
    EXPECT_EQ(x, first);
  }
}

TEST_F(GmresOnDevice, StopsAtTheLimit) {
  const context<device> gpu;
  const csr<double> a = convection<double>(60);
  const auto there = in_space(gpu, a);
  const auto b = random_vector<double>(3600, 3);
  for (const i64 restart : {1, 7, 50}) {
    for (const i64 most : {0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 37, 50, 51, 54}) {
      SCOPED_TRACE(testing::Message() << restart << ", " << most);
      const krylov_options options{.method = by_gmres, .max_iterations = most, .restart = restart};
      std::vector<double> x(b.size());
      std::vector<double> expected(b.size());
      const krylov_result want = krylov_plan<double, host>(context<host>(), a.view(), options).run(b, expected);
      const krylov_result got = run_in_space(gpu, plan_of_doubles(gpu, there.view(), options), b, x);
      EXPECT_EQ(got.iterations, most);
      EXPECT_EQ(got.outcome, krylov_outcome::iteration_limit);
      EXPECT_EQ(got.history.size(), static_cast<std::size_t>(most) + 1);
      EXPECT_NEAR(got.relative_residual, want.relative_residual, 1e-10);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-8) << i;
    }
  }
}

TEST_F(GmresOnDevice, ScalesGuessesAndZeros) {
  const context<device> gpu;
  for (const double of_a : {1e-200, 1e-155, 1.0, 1e155}) {
    for (const double of_b : {1e-300, 1e-155, 1.0, 1e155, 1e300}) {
      SCOPED_TRACE(testing::Message() << "A " << of_a << ", b " << of_b);
      const double digits = std::log10(of_b) - std::log10(of_a);  // of the solution
      if (std::abs(digits) > 290) continue;
      csr<double> a = convection<double>(40);
      for (double& v : a.values()) v *= of_a;
      const auto there = in_space(gpu, a);
      auto b = random_vector<double>(1600, 3);
      for (double& v : b) v *= of_b;
      const plan_of_doubles plan(gpu, there.view(), {.method = by_gmres, .tolerance = 1e-10});
      std::vector<double> x(b.size());
      const krylov_result cold = run_in_space(gpu, plan, b, x);
      EXPECT_TRUE(cold.converged) << cold.reason;
      const std::vector<double> kept = x;
      EXPECT_EQ(run_in_space(gpu, plan, b, x).iterations, 0);
      EXPECT_EQ(x, kept);
      for (double& v : x) v *= 1.001;
      const krylov_result near_by = run_in_space(gpu, plan, b, x);
      EXPECT_TRUE(near_by.converged);
      EXPECT_GT(near_by.iterations, 0);
      EXPECT_LT(near_by.iterations, cold.iterations);
      const krylov_result zero = run_in_space(gpu, plan, std::vector<double>(b.size()), x);
      EXPECT_TRUE(zero.converged);
      EXPECT_EQ(x, std::vector<double>(b.size()));
    }
  }
  const csr<double> nothing = csr_of<double>({});
  const auto there = in_space(gpu, nothing);
  std::vector<double> none_at_all;
  EXPECT_TRUE(run_in_space(gpu, plan_of_doubles(gpu, there.view(), {.method = by_gmres}), {}, none_at_all).converged);
}

TEST_F(GmresOnDevice, BreakdownsAreThoseOfTheHost) {
  const auto run = [&](const rows_of<double>& dense, const std::vector<double>& b, i64 restart = 50,
                       krylov_method method = by_gmres) {
    return solve_twice(csr_of(dense), b, {.method = method, .preconditioner = none, .restart = restart}, 1e-9);
  };
  // The subspace has the solution before it has n vectors.
  const both lucky = run({{3, 0, 0}, {0, 2, 0}, {0, 0, 5}}, {1, 1, 0});
  EXPECT_TRUE(lucky.there.converged) << lucky.there.reason;
  EXPECT_EQ(lucky.there.iterations, 2);
  EXPECT_EQ(run({{2}}, {3}).there.iterations, 1);
  const both singular = run({{1, 0}, {0, 0}}, {0, 1});
  EXPECT_EQ(singular.there.outcome, krylov_outcome::breakdown);
  EXPECT_NE(singular.there.reason.find("the matrix is singular"), std::string::npos) << singular.there.reason;
  EXPECT_EQ(singular.there.reason, singular.here.reason);
  const both outside = run({{1, -1, 0}, {-1, 2, -1}, {0, -1, 1}}, {1, 1, 1});
  EXPECT_FALSE(outside.there.converged);
  EXPECT_LE(outside.there.relative_residual, 1 + 1e-12);
  // A cyclic shift: the residual stays 1 for n - 1 iterations, and for ever where the restart is smaller.
  rows_of<double> shift(40, std::vector<double>(40));
  for (std::size_t i = 0; i < 40; ++i) shift[i][(i + 1) % 40] = 1;
  std::vector<double> unit(40);
  unit[0] = 1;
  const both whole = run(shift, unit);
  EXPECT_TRUE(whole.there.converged) << whole.there.reason;
  EXPECT_EQ(whole.there.iterations, 40);
  const both short_of = run(shift, unit, 39);
  EXPECT_EQ(short_of.there.outcome, krylov_outcome::stagnated);
  EXPECT_EQ(short_of.there.iterations, 39);
  // bicgstab breaks down, and gmres goes on.
  const both skew = run({{0, 1}, {-1, 0}}, {1, 0}, 50, krylov_method::automatic);
  EXPECT_TRUE(skew.there.converged) << skew.there.reason;
  EXPECT_EQ(skew.there.method, by_gmres);
}

// Products of the caller, which no graph captures.
TEST_F(GmresOnDevice, OperatorsOfTheCaller) {
  const context<device> gpu;
  const csr<double> a = convection<double>(60);
  const auto there = in_space(gpu, a);
  const auto b = random_vector<double>(3600, 1);
  const spmv_plan<double, i32, i32, device> product(gpu, there.view());
  int calls = 0;
  int bad_after = 1'000'000;
  array<double, device> bad(gpu, 3600);
  copy<double>(gpu, span<const double, host>(std::vector<double>(3600, std::nan(""))), bad.view());
  const linear_operator<double, device> op(3600, [&](span<const double, device> x, span<double, device> y) {
    product.run(1, x, 0, y);
    if (++calls > bad_after) copy<double>(gpu, std::as_const(bad).view(), y);
  });
  for (const i64 restart : {1, 5, 50}) {
    SCOPED_TRACE(restart);
    bad_after = 1'000'000;
    const plan_of_doubles plan(gpu, op, {.method = by_gmres, .tolerance = 1e-6, .restart = restart});
    std::vector<double> x(3600);
    const krylov_result found = run_in_space(gpu, plan, b, x);
    EXPECT_TRUE(found.converged) << found.reason;
    EXPECT_NEAR(found.relative_residual, residual_of(a, b, x), 1e-12);
    bad_after = calls + 6;
    std::fill(x.begin(), x.end(), 0.0);
    const krylov_result broken = run_in_space(gpu, plan, b, x);
    EXPECT_EQ(broken.outcome, krylov_outcome::not_finite) << broken.reason;
    if (restart == 50) {
      EXPECT_NE(broken.reason.find("A v is not finite in iteration 7"), std::string::npos) << broken.reason;
    }
    for (const double v : x) ASSERT_TRUE(std::isfinite(v));
    bad_after = 1'000'000;
    std::fill(x.begin(), x.end(), 0.0);
    EXPECT_TRUE(run_in_space(gpu, plan, b, x).converged);
  }
}

TEST_F(GmresOnDevice, EstimatesCoverPlansAndFailedAllocationsLeakNothing) {
  const context<device> upstream;
  for (const i32 side : {1, 40, 250}) {
    for (const i64 restart : {1, 50, 300}) {
      const csr<double> a = convection<double>(side);
      const auto there = in_space(upstream, a);
      upstream.synchronize();
      const matrix_shape shape{.rows = a.rows(), .cols = a.cols(), .entries = a.nnz()};
      counting_resource<device> counting(upstream.resource());
      const context<device> gpu(device_options{.resource = &counting});
      const krylov_options options{.method = by_gmres, .max_iterations = 9, .restart = restart};
      const plan_of_doubles plan(gpu, there.view(), options);
      const i64 peak = counting.peak();
      std::vector<double> x(static_cast<std::size_t>(a.rows()));
      (void)run_in_space(gpu, plan, random_vector<double>(x.size(), 1), x);
      EXPECT_GE(estimate(shape, options).device_bytes, peak);
      EXPECT_GE(estimate(shape, options).device_bytes, plan.workspace_bytes());
      EXPECT_LE(counting.peak(), peak + 2 * 8 * static_cast<i64>(x.size())) << "a run allocates";
    }
  }
  const csr<double> a = convection<double>(60);
  const auto b = random_vector<double>(3600, 1);
  EXPECT_GE(fail_every_device_allocation([&](const context<device>& gpu) {
              const auto there = in_space(gpu, a);
              std::vector<double> x(b.size());
              const krylov_options options{.method = by_gmres, .max_iterations = 9};
              (void)run_in_space(gpu, plan_of_doubles(gpu, there.view(), options), b, x);
            }),
            8);
}

}  // namespace
}  // namespace spargo::test
