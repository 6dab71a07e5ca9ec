// Krylov methods on a device: against the host's, and what only a device has: chunks, graphs, one kernel.
#include "solvers/systems.hpp"
#include "support/data.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"
#include "support/suites.hpp"

#include <spargo/io/matrix_market.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace spargo::test {
namespace {

using KrylovOnDevice = device_suite;
using plan_of_doubles = krylov_plan<double, device>;
constexpr auto by_cg = krylov_method::cg;
using enum krylov_preconditioner;

constexpr krylov_method device_methods[] = {by_cg, krylov_method::minres, krylov_method::bicgstab};

// Of cg grid(20) fits one kernel, grid(250) does not.
constexpr i32 sides[] = {1, 3, 20, 90, 250};

// Rounding errors drive bicgstab apart earlier.
TEST_F(KrylovOnDevice, TakesTheIterationsOfTheHost) {
  const context<device> gpu;
  for (const i32 side : sides) {
    const csr<double> a = grid(side);
    const auto there = in_space(gpu, a);
    const auto b = random_vector<double>(static_cast<std::size_t>(a.rows()), 8);
    for (const krylov_method method : device_methods) {
      for (const auto m : {none, jacobi}) {
        SCOPED_TRACE(testing::Message() << side << ", " << to_string(method) << ", " << to_string(m));
        const krylov_options options{.method = method, .preconditioner = m};
        std::vector<double> x(b.size());
        std::vector<double> expected(b.size());
        const krylov_result want = krylov_plan<double, host>(context<host>(), a.view(), options).run(b, expected);
        const krylov_result got = run_in_space(gpu, plan_of_doubles(gpu, there.view(), options), b, x);
        const bool is_erratic = method == krylov_method::bicgstab;
        EXPECT_TRUE(got.converged) << got.reason;
        EXPECT_EQ(got.method, method);
        EXPECT_NEAR(static_cast<double>(got.iterations), static_cast<double>(want.iterations),
                    1 + (is_erratic ? 0.3 : 0.02) * static_cast<double>(want.iterations));
        ASSERT_EQ(got.history.size(), static_cast<std::size_t>(got.iterations) + 1);
        const std::size_t compared = is_erratic ? 10 : 60;
        for (std::size_t k = 0; k < std::min({got.history.size(), want.history.size(), compared}); ++k) {
          EXPECT_NEAR(got.history[k], want.history[k], 1e-9) << k;
        }
        EXPECT_LE(got.relative_residual, 1e-8);
        EXPECT_NEAR(got.relative_residual, residual_of(a, b, x), 1e-12);
      }
    }
  }
}

TEST_F(KrylovOnDevice, EveryRunGivesTheSameBits) {
  const context<device> gpu;
  for (const i32 side : {20, 250}) {
    const csr<double> a = grid(side);
    const auto there = in_space(gpu, a);
    const auto b = random_vector<double>(static_cast<std::size_t>(a.rows()), 8);
    for (const krylov_method method : device_methods) {
      const plan_of_doubles plan(gpu, there.view(), {.method = method});
      std::vector<double> first(b.size());
      const krylov_result once = run_in_space(gpu, plan, b, first);
      for (int again = 0; again < 3; ++again) {
        std::vector<double> x(b.size());
        const plan_of_doubles other(gpu, there.view(), {.method = method});
        const krylov_result result = run_in_space(gpu, again == 2 ? other : plan, b, x);
        EXPECT_EQ(x, first) << to_string(method);
        EXPECT_EQ(result.history, once.history) << to_string(method);
      }
    }
  }
}

// The iterations end where they should, whatever the chunks.
// BiCGSTAB magnifies rounding: on grid(250), residuals in long double and in double differ by 2e-14 of |b| after 17,
// 1e-10 after 25 and 5e-5 after 37.
TEST_F(KrylovOnDevice, StopsAtTheLimit) {
  const context<device> gpu;
  for (const i32 side : {30, 250}) {
    const csr<double> a = grid(side);
    const auto there = in_space(gpu, a);
    const auto b = random_vector<double>(static_cast<std::size_t>(a.rows()), 3);
    for (const i64 each : {0, 1, 2, 3, 4, 5, 8, 9, 37, 100, 101, 102, 104, 117}) {
      const i64 most = each % 100;
      const krylov_method method = each < 100 ? by_cg : each < 104 ? krylov_method::minres : krylov_method::bicgstab;
      SCOPED_TRACE(testing::Message() << side << ", " << to_string(method) << ", " << most);
      const krylov_options options{.method = method, .max_iterations = most};
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

TEST_F(KrylovOnDevice, GuessesScalesAndZeros) {
  const context<device> gpu;
  for (const i32 side : {20, 250}) {
    for (const double of_a : {1e-200, 1.0, 1e155}) {
      for (const double of_b : {1e-200, 1.0, 1e155}) {
        SCOPED_TRACE(testing::Message() << side << ", A " << of_a << ", b " << of_b);
        csr<double> a = grid(side);
        for (double& v : a.values()) v *= of_a;
        const auto there = in_space(gpu, a);
        auto b = random_vector<double>(static_cast<std::size_t>(a.rows()), 3);
        for (double& v : b) v *= of_b;
        const plan_of_doubles plan(gpu, there.view(), {.method = by_cg, .tolerance = 1e-9});
        std::vector<double> x(b.size());
        const double digits = std::log10(of_b) - std::log10(of_a);  // of the solution
        if (digits > 290) {
          EXPECT_THROW((void)run_in_space(gpu, plan, b, x), error);
        }
        if (std::abs(digits) > 290) continue;
        const krylov_result cold = run_in_space(gpu, plan, b, x);
        EXPECT_TRUE(cold.converged) << cold.reason;
        const std::vector<double> kept = x;
        const krylov_result warm = run_in_space(gpu, plan, b, x);
        EXPECT_EQ(warm.iterations, 0);
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
  }
  const csr<double> nothing = csr_of<double>({});
  const auto there = in_space(gpu, nothing);
  std::vector<double> none_at_all;
  EXPECT_TRUE(run_in_space(gpu, plan_of_doubles(gpu, there.view(), {.method = by_cg}), {}, none_at_all).converged);
}

// Products of the caller, which no graph captures.
TEST_F(KrylovOnDevice, OperatorsOfTheCaller) {
  const context<device> gpu;
  const csr<double> a = grid(60);
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
  const plan_of_doubles plan(gpu, op, {.method = by_cg});
  std::vector<double> x(3600);
  const krylov_result found = run_in_space(gpu, plan, b, x);
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.relative_residual, residual_of(a, b, x), 1e-12);
  bad_after = calls + 6;
  std::fill(x.begin(), x.end(), 0.0);
  const krylov_result broken = run_in_space(gpu, plan, b, x);
  EXPECT_EQ(broken.outcome, krylov_outcome::not_finite) << broken.reason;
  for (const double v : x) ASSERT_TRUE(std::isfinite(v));
}

TEST_F(KrylovOnDevice, OutcomesAndRefusalsHaveNames) {
  const context<device> gpu;
  const auto run = [&](const rows_of<double>& dense, std::vector<double> b) {
    const csr<double> a = csr_of(dense);
    const auto there = in_space(gpu, a);
    std::vector<double> x(b.size());
    return run_in_space(gpu, plan_of_doubles(gpu, there.view(), {.method = by_cg, .preconditioner = none}), b, x);
  };
  const krylov_result indefinite = run({{1, 2}, {2, 1}}, {1, -1});
  EXPECT_EQ(indefinite.outcome, krylov_outcome::not_positive_definite) << indefinite.reason;
  EXPECT_NE(indefinite.reason.find("p'Ap is -0.5 in iteration 1"), std::string::npos) << indefinite.reason;
  const auto by = [&](krylov_method method, const rows_of<double>& dense, std::vector<double> b) {
    const csr<double> a = csr_of(dense);
    const auto there = in_space(gpu, a);
    std::vector<double> x(b.size());
    return run_in_space(gpu, plan_of_doubles(gpu, there.view(), {.method = method, .preconditioner = none}), b, x);
  };
  const krylov_result skew = by(krylov_method::bicgstab, {{0, 1}, {-1, 0}}, {1, 0});
  EXPECT_EQ(skew.outcome, krylov_outcome::breakdown);
  EXPECT_NE(skew.reason.find("(r0, A p) is 0"), std::string::npos) << skew.reason;
  const krylov_result unsymmetric = by(krylov_method::minres, {{1, 0.5, 0}, {0, 2, 0.25}, {0.5, 0, 3}}, {1, 2, 3});
  EXPECT_FALSE(unsymmetric.converged);
  EXPECT_NE(unsymmetric.reason.find("not symmetric"), std::string::npos) << unsymmetric.reason;
  const krylov_result by_minres = by(krylov_method::automatic, {{1, 2}, {2, 1}}, {1, -1});
  EXPECT_TRUE(by_minres.converged) << by_minres.reason;
  EXPECT_EQ(by_minres.method, krylov_method::minres);
  const krylov_result singular = run({{1, -1, 0}, {-1, 2, -1}, {0, -1, 1}}, {1, 1, 1});
  EXPECT_FALSE(singular.converged);
  EXPECT_LE(singular.relative_residual, 1 + 1e-12);
  const auto refused = [&](const rows_of<double>& dense, const krylov_options& options, error_code code) {
    const csr<double> a = csr_of(dense);
    const auto there = in_space(gpu, a);
    return message_of(code, [&] { plan_of_doubles(gpu, there.view(), options); });
  };
  EXPECT_EQ(refused({{1, 0}, {std::nan(""), 1}}, {.method = by_cg}, error_code::invalid_data),
            "solve: the matrix has a value in row 1 (from 0) that is infinite or NaN");
  EXPECT_EQ(refused({{1, 0}, {0, -2}}, {.method = by_cg}, error_code::invalid_data),
            "solve: the matrix is not positive definite: row 1 (from 0) has -2 on the diagonal (expected another "
            "method than cg)");
  EXPECT_EQ(refused({{1, 2, 3}, {4, 5, 6}}, {}, error_code::invalid_argument),
            "solve: a matrix of 2 x 3 (expected a square one)");
  const csr<double> a = grid(3);
  const auto there = in_space(gpu, a);
  const plan_of_doubles plan(gpu, there.view(), {.method = by_cg});
  std::vector<double> x(9);
  std::vector<double> b(9);
  b[7] = HUGE_VAL;
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)run_in_space(gpu, plan, b, x); }),
            "solve: b has a value in row 7 (from 0) that is infinite, NaN or beyond the range of its type");
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] {
                         (void)run_in_space(gpu, plan, {1, 2}, x);
                       }),
            "solve: b has 2 elements, expected 9");
}

// Symmetry, diagonals and values are seen as on the host.
TEST_F(KrylovOnDevice, ChoosesAsTheHost) {
  const context<device> gpu;
  const auto method_of = [&](const csr<double>& a) {
    const auto there = in_space(gpu, a);
    return plan_of_doubles(gpu, there.view()).method();
  };
  for (const auto& dense : {rows_of<double>{{4, 1}, {1 + 1e-15, 4}},
                            {{4, 1}, {1 + 1e-12, 4}},
                            {{4, 1}, {0, 4}},
                            {{4, 0}, {1, 4}},
                            {{4, 1}, {1, -4}},
                            {{4, 1}, {1, 4}},
                            {{1e20, 1, 0}, {1, 1, 3}, {0, -3, 1}},
                            {{4e200, 1e100}, {1e100 * (1 + 1e-15), 4}},
                            {{0, 1}, {1, 4}}}) {
    const csr<double> a = csr_of(dense);
    EXPECT_EQ(method_of(a), (krylov_plan<double, host>(context<host>(), a.view()).method()));
  }
  csr<double> unsorted = csr_of<double>({{4, 1}, {1, 4}});
  std::swap(unsorted.indices()[0], unsorted.indices()[1]);
  std::swap(unsorted.values()[0], unsorted.values()[1]);
  EXPECT_EQ(method_of(unsorted), krylov_method::bicgstab);
}

TEST_F(KrylovOnDevice, EstimatesCoverPlansAndFailedAllocationsLeakNothing) {
  const context<device> upstream;
  for (const i32 side : {40, 250}) {
    const csr<double> a = grid(side);
    const auto there = in_space(upstream, a);
    upstream.synchronize();
    const matrix_shape shape{.rows = a.rows(), .cols = a.cols(), .entries = a.nnz()};
    counting_resource<device> counting(upstream.resource());
    const context<device> gpu(device_options{.resource = &counting});
    const plan_of_doubles plan(gpu, there.view(), {.method = by_cg});
    EXPECT_GE(estimate(shape, {.method = by_cg}).device_bytes, counting.peak());
    EXPECT_GE(estimate(shape, {.method = by_cg}).device_bytes, plan.workspace_bytes());
  }
  const csr<double> a = grid(250);
  const auto b = random_vector<double>(62'500, 1);
  EXPECT_GE(fail_every_device_allocation([&](const context<device>& gpu) {
              const auto there = in_space(gpu, a);
              std::vector<double> x(b.size());
              (void)run_in_space(gpu, plan_of_doubles(gpu, there.view(), {.method = by_cg, .max_iterations = 9}), b, x);
            }),
            8);
}

TEST_F(KrylovOnDevice, RealMatricesTakeSciPysIterations) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(data_directory() / "truth_more.json");
  if (!file) GTEST_SKIP() << "no truth_more.json";
  const auto truth = nlohmann::json::parse(file);
  using V = std::complex<double>;
  const context<host> ctx;
  const context<device> gpu;
  int compared = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (!facts.contains("solve") || !facts["spd"].get<bool>()) continue;
    SCOPED_TRACE(name);
    const csr<V> a = to_csr<i32>(ctx, read_matrix_market<V>(ctx, (data_directory() / name).string()).view());
    const auto there = in_space(gpu, a);
    const std::vector<V> ones(static_cast<std::size_t>(a.rows()), V{1});
    std::vector<V> b(ones.size());
    spmv(ctx, 1, a, ones, 0, b);
    std::vector<V> x(ones.size());
    const krylov_plan<V, device> plan(gpu, there.view(), {.max_iterations = 5000});
    EXPECT_EQ(plan.method(), by_cg);
    const krylov_result result = run_in_space(gpu, plan, b, x);
    EXPECT_TRUE(result.converged) << result.reason;
    EXPECT_LE(residual_of(a, b, x), 1.01e-8);
    EXPECT_LE(static_cast<double>(result.iterations), 1.15 * facts["solve"]["cg"].get<double>() + 2);
    ++compared;
  }
  EXPECT_GE(compared, 4);
}

}  // namespace
}  // namespace spargo::test
