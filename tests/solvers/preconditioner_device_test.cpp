// Preconditioners on a device that passes over vectors cannot apply: against the host's.
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

using enum krylov_preconditioner;
using PreconditionerOnDevice = device_suite;
using plan_of_doubles = krylov_plan<double, device>;
constexpr krylov_preconditioner every_one[] = {block_jacobi, ilu0, ic0};
constexpr krylov_method every_method[] = {krylov_method::cg, krylov_method::minres, krylov_method::bicgstab,
                                          krylov_method::gmres};

template <class V>
class PreconditionerOfTypeOnDevice : public device_suite {};
using values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PreconditionerOfTypeOnDevice, values);

// The same system on the host and on a device. Rounding errors drive bicgstab apart earlier.
template <class V>
void expect_steps_of_host(const csr<V>& a, const krylov_options& options, double apart) {
  const context<device> gpu;
  const auto there = in_space(gpu, a);
  const auto b = random_vector<V>(static_cast<std::size_t>(a.rows()), 8);
  std::vector<V> x(b.size());
  std::vector<V> expected(b.size());
  const krylov_result want = krylov_plan<V, host>(context<host>(), a.view(), options).run(b, expected);
  const krylov_plan<V, device> plan(gpu, there.view(), options);
  EXPECT_EQ(plan.preconditioner(), options.preconditioner);
  const krylov_result got = run_in_space(gpu, plan, b, x);
  const bool is_erratic = options.method == krylov_method::bicgstab;
  EXPECT_EQ(got.converged, want.converged) << got.reason << "; the host: " << want.reason;
  EXPECT_EQ(got.method, want.method);
  EXPECT_NEAR(static_cast<double>(got.iterations), static_cast<double>(want.iterations),
              2 + (is_erratic ? 0.3 : 0.02) * static_cast<double>(want.iterations));
  ASSERT_EQ(got.history.size(), static_cast<std::size_t>(got.iterations) + 1);
  const std::size_t compared = is_erratic ? 8 : 40;
  for (std::size_t k = 0; k < std::min({got.history.size(), want.history.size(), compared}); ++k) {
    EXPECT_NEAR(got.history[k], want.history[k], apart) << k;
  }
  EXPECT_NEAR(got.relative_residual, residual_of(a, b, x), apart);
}

TYPED_TEST(PreconditionerOfTypeOnDevice, TakesTheIterationsOfTheHost) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<real_t<V>>::epsilon());
  for (const std::size_t n : {1, 2, 7, 33, 80, 300}) {
    for (const kind what : {kind::definite, kind::general}) {
      const csr<V> a = csr_of(random_matrix<V>(n, what, static_cast<unsigned>(n)));
      for (const auto m : every_one) {
        for (const auto method : every_method) {
          const bool is_symmetric = m == ic0 || method == krylov_method::cg || method == krylov_method::minres;
          if (what == kind::general && is_symmetric) continue;
          SCOPED_TRACE(testing::Message() << n << ", " << to_string(m) << ", " << to_string(method));
          expect_steps_of_host(a, {.method = method, .preconditioner = m, .tolerance = 200 * eps}, 2e4 * eps);
        }
      }
    }
  }
}

TEST_F(PreconditionerOnDevice, TakesTheIterationsOfTheHostOnGrids) {
  for (const i32 side : {1, 3, 20, 90}) {
    const csr<double> a = grid(side);
    for (const auto m : every_one) {
      for (const auto method : every_method) {
        SCOPED_TRACE(testing::Message() << side << ", " << to_string(m) << ", " << to_string(method));
        expect_steps_of_host(a, {.method = method, .preconditioner = m, .max_iterations = 3000, .restart = 30}, 1e-8);
      }
    }
  }
}

// Blocks in shared memory and in scratch memory, a last one that is smaller, one that is the whole matrix.
TYPED_TEST(PreconditionerOfTypeOnDevice, BlocksOfAnySize) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<real_t<V>>::epsilon());
  const csr<V> a = csr_of(random_matrix<V>(300, kind::definite, 5));
  const csr<V> general = csr_of(random_matrix<V>(300, kind::general, 6));
  for (const i64 size : {1, 2, 3, 8, 31, 32, 33, 50, 51, 71, 72, 100, 255, 256}) {
    SCOPED_TRACE(size);
    const krylov_options options{
        .method = krylov_method::cg, .preconditioner = block_jacobi, .tolerance = 200 * eps, .block_size = size};
    expect_steps_of_host(a, options, 2e4 * eps);
    krylov_options pivoted = options;
    pivoted.method = krylov_method::gmres;
    expect_steps_of_host(general, pivoted, 2e4 * eps);
  }
}

// Blocks whose elimination exchanges rows: [0 1; 1 0] and larger ones without a diagonal.
TEST_F(PreconditionerOnDevice, BlocksWithZerosOnTheDiagonal) {
  for (const std::size_t size : {2, 5, 40, 90}) {
    const std::size_t n = 3 * size;
    rows_of<double> dense(n, std::vector<double>(n));
    std::mt19937_64 random(size);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t first = i / size * size;
      for (std::size_t j = first; j < first + size; ++j) dense[i][j] = i == j ? 0 : 0.1 * uniform(random);
      dense[i][first + (i - first + 1) % size] = 2;
    }
    expect_steps_of_host(csr_of(dense),
                         {.method = krylov_method::gmres,
                          .preconditioner = block_jacobi,
                          .tolerance = 1e-10,
                          .block_size = static_cast<i64>(size)},
                         1e-9);
  }
}

// One iteration solves a system whose matrix is M, also where its values are far from 1.
TYPED_TEST(PreconditionerOfTypeOnDevice, AnExactOneNeedsOneIteration) {
  using V = TypeParam;
  const context<device> gpu;
  const double eps = static_cast<double>(std::numeric_limits<real_t<V>>::epsilon());
  const std::size_t n = 60;
  rows_of<V> banded(n, std::vector<V>(n));  // no fill
  rows_of<V> blocks(n, std::vector<V>(n));  // of 7 rows
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i <= j + 1 && j <= i + 1) banded[i][j] = i == j ? number<V>(4, 0) : number<V>(-1, i < j ? 0.5 : -0.5);
      if (i / 7 != j / 7) continue;
      blocks[i][j] = i == j ? number<V>(9, 0) : number<V>(0.5 + 1.0 / static_cast<double>(i + j), i < j ? 0.25 : -0.25);
    }
  }
  const auto b = random_vector<V>(n, 4);
  for (const auto m : every_one) {
    for (const auto method : every_method) {
      const double large = sizeof(real_t<V>) == 4 ? 1e30 : 1e200;  // without scaling products are out of range
      for (const double scale : {1.0, large, 1 / large}) {
        SCOPED_TRACE(testing::Message() << to_string(m) << ", " << to_string(method) << ", " << scale);
        rows_of<V> dense = m == block_jacobi ? blocks : banded;
        for (auto& row : dense) {
          for (V& v : row) v *= static_cast<real_t<V>>(scale);
        }
        const csr<V> a = csr_of(dense);
        const auto there = in_space(gpu, a);
        const krylov_plan<V, device> plan(
            gpu, there.view(), {.method = method, .preconditioner = m, .tolerance = 100 * eps, .block_size = 7});
        std::vector<V> x(n);
        const krylov_result found = run_in_space(gpu, plan, b, x);
        EXPECT_TRUE(found.converged) << found.reason;
        EXPECT_LE(found.iterations, 2);
        EXPECT_LE(residual_of(a, b, x), 110 * eps);
      }
    }
  }
}

TEST_F(PreconditionerOnDevice, EveryRunGivesTheSameBits) {
  const context<device> gpu;
  for (const i32 side : {20, 90}) {
    const csr<double> a = grid(side);
    const auto there = in_space(gpu, a);
    const auto b = random_vector<double>(static_cast<std::size_t>(a.rows()), 8);
    for (const auto m : every_one) {
      for (const auto method : every_method) {
        const krylov_options options{.method = method, .preconditioner = m, .max_iterations = 60};
        const plan_of_doubles plan(gpu, there.view(), options);
        std::vector<double> first(b.size());
        const krylov_result once = run_in_space(gpu, plan, b, first);
        for (int again = 0; again < 3; ++again) {
          std::vector<double> x(b.size());
          const plan_of_doubles other(gpu, there.view(), options);
          EXPECT_EQ(run_in_space(gpu, again == 2 ? other : plan, b, x).history, once.history) << to_string(m);
          EXPECT_EQ(x, first) << to_string(m) << ", " << to_string(method);
        }
      }
    }
  }
}

// Whatever the chunks, the last step reaches x.
TEST_F(PreconditionerOnDevice, StopsAtTheLimit) {
  const context<device> gpu;
  const csr<double> a = grid(60);
  const auto there = in_space(gpu, a);
  const auto b = random_vector<double>(3600, 3);
  for (const auto m : every_one) {
    for (const auto method : every_method) {
      for (const i64 most : {0, 1, 2, 3, 4, 5, 8, 9, 13}) {
        SCOPED_TRACE(testing::Message() << to_string(m) << ", " << to_string(method) << ", " << most);
        const krylov_options options{
            .method = method, .preconditioner = m, .tolerance = 1e-14, .max_iterations = most, .restart = 6};
        std::vector<double> x(b.size());
        std::vector<double> expected(b.size());
        const krylov_result want = krylov_plan<double, host>(context<host>(), a.view(), options).run(b, expected);
        const krylov_result got = run_in_space(gpu, plan_of_doubles(gpu, there.view(), options), b, x);
        EXPECT_EQ(got.iterations, most);
        EXPECT_EQ(got.outcome, krylov_outcome::iteration_limit);
        EXPECT_NEAR(got.relative_residual, want.relative_residual, 1e-9);
        for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-7) << i;
      }
    }
  }
}

TEST_F(PreconditionerOnDevice, UnsortedRowsAndDuplicatesCountAsTheirSum) {
  const context<device> gpu;
  const context<host> cpu;
  const std::vector<i32> offsets{0, 5, 8, 10};
  const std::vector<i32> indices{1, 0, 0, 1, 0, 2, 1, 0, 2, 1};
  const std::vector<double> entries{-0.5, 3, 0.5, -0.5, 0.5, -1, 4, -1, 4, -1};
  const csr<double> a{3, 3, clone(cpu, span<const i32, host>(offsets)), clone(cpu, span<const i32, host>(indices)),
                      clone(cpu, span<const double, host>(entries))};
  const auto there = in_space(gpu, a);
  for (const auto m : every_one) {
    if (m == ic0) continue;
    std::vector<double> x(3);
    const plan_of_doubles plan(gpu, there.view(), {.method = krylov_method::gmres, .preconditioner = m});
    const krylov_result found = run_in_space(gpu, plan, {1, 2, 3}, x);
    EXPECT_TRUE(found.converged);
    EXPECT_EQ(found.iterations, 1) << to_string(m);  // exact: tridiagonal
    EXPECT_NEAR(4 * x[0] - x[1], 1, 1e-7);
    EXPECT_NEAR(-x[0] + 4 * x[1] - x[2], 2, 1e-7);
  }
}

TEST_F(PreconditionerOnDevice, EmptySystems) { expect_empty_systems<device>(); }

TEST_F(PreconditionerOnDevice, RefusalsAreTheHosts) {
  const context<device> gpu;
  const auto same = [&](const rows_of<double>& dense, const krylov_options& options) {
    const csr<double> a = csr_of(dense);
    const auto there = in_space(gpu, a);
    const std::string expected =
        message_of(error_code::invalid_data, [&] { krylov_plan<double, host>(context<host>(), a.view(), options); });
    EXPECT_EQ(message_of(error_code::invalid_data, [&] { plan_of_doubles(gpu, there.view(), options); }), expected);
  };
  constexpr auto gmres = krylov_method::gmres;
  constexpr auto cg = krylov_method::cg;
  same({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 1}},
       {.method = gmres, .preconditioner = block_jacobi, .block_size = 2});
  same({{1, 1, 0}, {1, 1, 0}, {0, 0, 0}}, {.method = gmres, .preconditioner = block_jacobi, .block_size = 2});
  same({{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}, {.method = gmres, .preconditioner = block_jacobi, .block_size = 2});
  same({{1, 2}, {2, 1}}, {.method = cg, .preconditioner = block_jacobi});
  same({{1, 2, 0}, {2, 4, 1}, {0, 1, 3}}, {.method = gmres, .preconditioner = ilu0});
  same({{1, 2, 0}, {2, 5, 1}, {0, 1, -1}}, {.method = krylov_method::minres, .preconditioner = ilu0});
  same({{0, 1}, {1, 0}}, {.method = gmres, .preconditioner = ilu0});
  same({{2, 1, 0}, {1, 0, 1}, {0, 1, 0}}, {.method = gmres, .preconditioner = ilu0});
  same({{1, 2}, {2, 1}}, {.method = cg, .preconditioner = ic0});
  same({{4, 1, 1}, {1, 0.25, 0}, {1, 0, 9}}, {.method = cg, .preconditioner = ic0});
  const csr<double> skew = csr_of<double>({{2, 1}, {0, 2}});
  const auto there = in_space(gpu, skew);
  EXPECT_EQ(message_of(error_code::invalid_data,
                       [&] { plan_of_doubles(gpu, there.view(), {.method = gmres, .preconditioner = ic0}); }),
            "solve: ic0 needs a symmetric (Hermitian) matrix: an entry has no counterpart, or another one than its "
            "conjugate (expected ilu0)");
  EXPECT_EQ(
      message_of(error_code::invalid_argument, [&] { plan_of_doubles(gpu, there.view(), {.triangular_sweeps = -1}); }),
      "solve: -1 triangular sweeps (expected 0 to 1000; 0 solves exactly)");
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] { plan_of_doubles(gpu, there.view(), {.triangular_sweeps = 1001}); }),
            "solve: 1001 triangular sweeps (expected 0 to 1000; 0 solves exactly)");
}

// As on the host: more sweeps are nearer to the solves, and cost iterations only.
TYPED_TEST(PreconditionerOfTypeOnDevice, SweepsTakeTheIterationsOfTheHost) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<real_t<V>>::epsilon());
  for (const kind what : {kind::definite, kind::general}) {
    const csr<V> a = csr_of(random_matrix<V>(200, what, 3));
    for (const auto m : {ilu0, ic0}) {
      for (const auto method : every_method) {
        const bool is_symmetric = m == ic0 || method == krylov_method::cg || method == krylov_method::minres;
        if (what == kind::general && is_symmetric) continue;
        for (const i64 sweeps : {1, 2, 5}) {
          SCOPED_TRACE(testing::Message() << to_string(m) << ", " << to_string(method) << ", " << sweeps);
          expect_steps_of_host(
              a, {.method = method, .preconditioner = m, .tolerance = 200 * eps, .triangular_sweeps = sweeps},
              2e4 * eps);
        }
      }
    }
  }
}

TEST_F(PreconditionerOnDevice, OneOfTheCallers) {
  const context<device> gpu;
  const csr<double> a = grid(40);
  const auto there = in_space(gpu, a);
  const auto b = random_vector<double>(1600, 1);
  const spmv_plan<double, i32, i32, device> product(gpu, there.view());
  csr<double> quarter = csr_of<double>({});
  {
    std::vector<i32> offsets(1601);
    std::vector<i32> indices(1600);
    for (i32 i = 0; i < 1600; ++i)
      offsets[static_cast<std::size_t>(i) + 1] = (indices[static_cast<std::size_t>(i)] = i) + 1;
    const context<host> cpu;
    quarter = {1600, 1600, clone(cpu, span<const i32, host>(offsets)), clone(cpu, span<const i32, host>(indices)),
               clone(cpu, span<const double, host>(std::vector<double>(1600, 0.25)))};
  }
  const auto m = in_space(gpu, quarter);
  const spmv_plan<double, i32, i32, device> by_m(gpu, m.view());
  const linear_operator<double, device> op(1600, [&](auto x, auto y) { product.run(1, x, 0, y); });
  const linear_operator<double, device> inverse(1600, [&](auto r, auto z) { by_m.run(1, r, 0, z); });
  for (const auto method : every_method) {
    SCOPED_TRACE(to_string(method));
    std::vector<double> x(1600);
    std::vector<double> by_jacobi(1600);
    const krylov_result found = run_in_space(gpu, plan_of_doubles(gpu, op, inverse, {.method = method}), b, x);
    const krylov_result want = run_in_space(
        gpu, plan_of_doubles(gpu, there.view(), {.method = method, .preconditioner = jacobi}), b, by_jacobi);
    EXPECT_TRUE(found.converged) << found.reason;
    EXPECT_NEAR(static_cast<double>(found.iterations), static_cast<double>(want.iterations),
                2 + 0.3 * static_cast<double>(want.iterations));
    EXPECT_NEAR(found.relative_residual, residual_of(a, b, x), 1e-12);
  }
}

TEST_F(PreconditionerOnDevice, EstimatesCoverPlansAndFailedAllocationsLeakNothing) {
  const context<device> upstream;
  for (const i32 side : {1, 40, 250}) {
    const csr<double> a = grid(side);
    const auto there = in_space(upstream, a);
    upstream.synchronize();
    const matrix_shape shape{.rows = a.rows(), .cols = a.cols(), .entries = a.nnz()};
    for (const auto m : every_one) {
      for (const i64 size : {8, 100}) {
        SCOPED_TRACE(testing::Message() << side << ", " << to_string(m) << ", " << size);
        const krylov_options options{.method = krylov_method::cg, .preconditioner = m, .block_size = size};
        counting_resource<device> counting(upstream.resource());
        const context<device> gpu(device_options{.resource = &counting});
        const plan_of_doubles plan(gpu, there.view(), options);
        const i64 peak = counting.peak();
        std::vector<double> x(static_cast<std::size_t>(a.rows()));
        (void)run_in_space(gpu, plan, random_vector<double>(x.size(), 1), x);
        EXPECT_GE(estimate(shape, options).device_bytes, peak);
        EXPECT_GE(estimate(shape, options).device_bytes, plan.workspace_bytes());
        EXPECT_LE(counting.peak(), peak + 2 * 8 * static_cast<i64>(x.size())) << "a run allocates";
      }
    }
  }
  const csr<double> a = grid(20);
  const auto b = random_vector<double>(400, 1);
  for (const auto m : every_one) {
    EXPECT_GE(fail_every_device_allocation([&](const context<device>& gpu) {
                const auto there = in_space(gpu, a);
                std::vector<double> x(b.size());
                const krylov_options options{
                    .method = krylov_method::cg, .preconditioner = m, .max_iterations = 9, .block_size = 100};
                (void)run_in_space(gpu, plan_of_doubles(gpu, there.view(), options), b, x);
              }),
              8);
  }
}

}  // namespace
}  // namespace spargo::test
