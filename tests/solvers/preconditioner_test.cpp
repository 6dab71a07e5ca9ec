// Preconditioners against dense elimination restricted to the pattern, and what they save on real matrices.
#include "solvers/preconditioners/preconditioner.hpp"

#include "solvers/systems.hpp"
#include "support/data.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/solvers/krylov.hpp>
#include <spargo/sparse/algebra.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>
#include <map>
#include <string>

namespace spargo::test {
namespace {

using wide_rows = rows_of<wide>;
using enum krylov_preconditioner;

template <class V>
wide_rows widened_rows(const rows_of<V>& dense) {
  wide_rows all(dense.size(), std::vector<wide>(dense.size()));
  for (std::size_t i = 0; i < dense.size(); ++i) {
    for (std::size_t j = 0; j < dense.size(); ++j) all[i][j] = widened(dense[i][j]);
  }
  return all;
}

template <class V>
wide_rows dense_of(const csr<V>& a) {
  wide_rows all(static_cast<std::size_t>(a.rows()), std::vector<wide>(static_cast<std::size_t>(a.cols())));
  for (i32 i = 0; i < a.rows(); ++i) {
    for (i32 k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k) {
      all[static_cast<std::size_t>(i)][static_cast<std::size_t>(a.indices()[k])] += widened(a.values()[k]);
    }
  }
  return all;
}

// Gaussian elimination by columns, without what falls outside of the pattern.
wide_rows naive_ilu0(wide_rows a) {
  const wide_rows pattern = a;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t i = k + 1; i < a.size(); ++i) {
      if (pattern[i][k] == wide{}) continue;
      a[i][k] /= a[k][k];
      for (std::size_t j = k + 1; j < a.size(); ++j) {
        if (pattern[i][j] != wide{}) a[i][j] -= a[i][k] * a[k][j];
      }
    }
  }
  return a;
}

// Right-looking Cholesky on the pattern of the lower triangle.
wide_rows naive_ic0(wide_rows a) {
  const wide_rows pattern = a;
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k][k] = std::sqrt(a[k][k].real());
    for (std::size_t i = k + 1; i < a.size(); ++i) a[i][k] = pattern[i][k] == wide{} ? wide{} : a[i][k] / a[k][k];
    for (std::size_t i = k + 1; i < a.size(); ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) {
        if (pattern[i][j] != wide{}) a[i][j] -= a[i][k] * std::conj(a[j][k]);
      }
    }
    for (std::size_t j = k + 1; j < a.size(); ++j) a[k][j] = wide{};
  }
  return a;
}

template <class V>
class Preconditioner : public testing::Test {};
using values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Preconditioner, values);

// The matrices have heavy diagonals, so that rounding errors of the factors stay those of a few operations.
TYPED_TEST(Preconditioner, FactorsAreThoseOfEliminationOnThePattern) {
  using V = TypeParam;
  const context<host> ctx;
  const long double eps = std::numeric_limits<real_t<V>>::epsilon();
  for (const std::size_t n : {1, 2, 7, 40, 90}) {
    for (const bool is_cholesky : {false, true}) {
      SCOPED_TRACE(testing::Message() << (is_cholesky ? "ic0" : "ilu0") << ", n = " << n);
      const auto dense = random_matrix<V>(n, is_cholesky ? kind::definite : kind::general, static_cast<unsigned>(n));
      const wide_rows a = widened_rows(dense);
      csr<V> factor = csr_of(dense);
      if (is_cholesky) factor = part_of(ctx, std::as_const(factor).view(), matrix_part::lower);
      if (is_cholesky) {
        detail::krylov::factor_ic0(ctx, factor);
      } else {
        detail::krylov::factor_ilu0(ctx, factor, false);
      }
      const wide_rows got = dense_of(factor);
      const wide_rows expected = is_cholesky ? naive_ic0(a) : naive_ilu0(a);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          EXPECT_LE(std::abs(got[i][j] - expected[i][j]), 40 * eps * (std::abs(a[i][i]) + std::abs(a[j][j])))
              << i << ", " << j;
          if (is_cholesky ? j > i : a[i][j] == wide{}) {
            EXPECT_EQ(got[i][j], wide{}) << i << ", " << j;
            continue;
          }
          if (a[i][j] == wide{}) continue;
          // The factors' product is A on its pattern.
          wide product{};
          long double size = std::abs(a[i][j]);
          for (std::size_t k = 0; k <= std::min(i, j); ++k) {
            const wide l = k == i && !is_cholesky ? wide{1} : got[i][k];
            const wide u = is_cholesky ? std::conj(got[j][k]) : got[k][j];
            product += l * u;
            size += std::abs(l * u);
          }
          EXPECT_LE(std::abs(product - a[i][j]), 10 * eps * size) << i << ", " << j;
        }
      }
    }
  }
}

// z = M^-1 r as krylov_plan applies it: one iteration solves a system whose matrix is M.
TYPED_TEST(Preconditioner, AnExactOneNeedsOneIteration) {
  using V = TypeParam;
  const context<host> ctx;
  const double eps = static_cast<double>(std::numeric_limits<real_t<V>>::epsilon());
  const std::size_t n = 60;
  rows_of<V> banded(n, std::vector<V>(n));  // no fill
  rows_of<V> blocks(n, std::vector<V>(n));  // of 7 rows
  const rows_of<V> from = random_matrix<V>(n, kind::definite, 3);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const V close = i == j ? number<V>(4, 0) : number<V>(-1, i < j ? 0.5 : -0.5);
      if (i <= j + 1 && j <= i + 1) banded[i][j] = close;
      if (i / 7 == j / 7) blocks[i][j] = i == j ? number<V>(9, 0) : from[i][j] + close;
      if (i / 7 == j / 7 && i != j)
        blocks[i][j] = number<V>(0.5 + 1.0 / static_cast<double>(i + j), i < j ? 0.25 : -0.25);
    }
  }
  const auto b = random_vector<V>(n, 4);
  for (const auto m : {block_jacobi, ilu0, ic0}) {
    for (const auto method :
         {krylov_method::cg, krylov_method::minres, krylov_method::bicgstab, krylov_method::gmres}) {
      const double large = sizeof(real_t<V>) == 4 ? 1e30 : 1e200;  // without scaling products are out of range
      for (const double scale : {1.0, large, 1 / large}) {
        SCOPED_TRACE(testing::Message() << to_string(m) << ", " << to_string(method) << ", " << scale);
        rows_of<V> dense = m == block_jacobi ? blocks : banded;
        for (auto& row : dense) {
          for (V& v : row) v *= static_cast<real_t<V>>(scale);
        }
        const csr<V> a = csr_of(dense);
        const krylov_plan<V, host> plan(
            ctx, a.view(), {.method = method, .preconditioner = m, .tolerance = 100 * eps, .block_size = 7});
        EXPECT_EQ(plan.preconditioner(), m);
        std::vector<V> x(n);
        const krylov_result found = plan.run(b, x);
        EXPECT_TRUE(found.converged) << found.reason;
        EXPECT_LE(found.iterations, 2);
        EXPECT_LE(residual_of(a, b, x), 110 * eps);
      }
    }
  }
}

TYPED_TEST(Preconditioner, EveryMethodConvergesWithEach) {
  using V = TypeParam;
  const context<host> ctx;
  const double eps = static_cast<double>(std::numeric_limits<real_t<V>>::epsilon());
  for (const kind what : {kind::definite, kind::general}) {
    const auto dense = random_matrix<V>(80, what, 12);
    const csr<V> a = csr_of(dense);
    const auto b = random_vector<V>(80, 2);
    const std::vector<wide> expected = solved(dense, b);
    for (const auto m : {block_jacobi, ilu0, ic0}) {
      for (const auto method :
           {krylov_method::cg, krylov_method::minres, krylov_method::bicgstab, krylov_method::gmres}) {
        const bool is_symmetric = m == ic0 || method == krylov_method::cg || method == krylov_method::minres;
        if (what == kind::general && is_symmetric) continue;
        SCOPED_TRACE(testing::Message() << to_string(m) << ", " << to_string(method));
        std::vector<V> x(80);
        const krylov_result found =
            krylov_plan<V, host>(ctx, a.view(), {.method = method, .preconditioner = m, .tolerance = 200 * eps})
                .run(b, x);
        EXPECT_TRUE(found.converged) << found.reason;
        for (std::size_t i = 0; i < x.size(); ++i) {
          EXPECT_LE(std::abs(widened(x[i]) - expected[i]), 400 * eps * 80) << i;
        }
      }
    }
  }
}

TEST(PreconditionerOfReals, AnyNumberOfThreadsGivesTheSameBits) {
  const csr<double> a = grid(200);
  const auto b = random_vector<double>(40'000, 8);
  for (const auto m : {block_jacobi, ilu0, ic0}) {
    std::vector<double> first;
    for (const int threads : {1, 2, 3, 8}) {
      const krylov_plan<double, host> plan(context<host>({.threads = threads}), a.view(),
                                           {.method = krylov_method::cg, .preconditioner = m, .max_iterations = 20});
      std::vector<double> x(b.size());
      EXPECT_EQ(plan.run(b, x).iterations, 20);
      if (threads == 1) first = x;
      EXPECT_EQ(x, first) << to_string(m) << ", " << threads;
    }
  }
}

// Sweeps in the place of solves: each is nearer to them, and M stays definite.
TEST(PreconditionerOfReals, SweepsConvergeAndMoreTakeFewerIterations) {
  const context<host> ctx({.threads = 2});
  const csr<double> a = grid(100);
  const auto b = random_vector<double>(10'000, 8);
  for (const auto m : {ilu0, ic0}) {
    for (const auto method :
         {krylov_method::cg, krylov_method::minres, krylov_method::bicgstab, krylov_method::gmres}) {
      SCOPED_TRACE(testing::Message() << to_string(m) << ", " << to_string(method));
      const auto iterations = [&](krylov_preconditioner by, i64 sweeps) {
        const krylov_plan<double, host> plan(
            ctx, a.view(), {.method = method, .preconditioner = by, .restart = 200, .triangular_sweeps = sweeps});
        std::vector<double> x(b.size());
        const krylov_result found = plan.run(b, x);
        EXPECT_TRUE(found.converged) << found.reason;
        EXPECT_LE(residual_of(a, b, x), 1.01e-8);
        return static_cast<double>(found.iterations);
      };
      const double by_jacobi = iterations(jacobi, 0);
      const double exact = iterations(m, 0);
      const double one = iterations(m, 1);
      const double three = iterations(m, 3);
      const double many = iterations(m, 400);  // more than there are levels: a solve
      const double slack = method == krylov_method::bicgstab ? 1.15 : 1;
      EXPECT_EQ(many, exact);
      EXPECT_LE(exact, slack * three + 1);
      EXPECT_LT(exact, one);
      EXPECT_LE(three, slack * one);
      EXPECT_LE(one, 0.8 * by_jacobi);
      EXPECT_LE(three, 1.3 * exact);
    }
  }
}

TEST(PreconditionerOfReals, UnsortedRowsAndDuplicatesCountAsTheirSum) {
  const context<host> ctx;
  const std::vector<i32> offsets{0, 4, 7, 9};
  const std::vector<i32> indices{1, 0, 0, 1, 2, 1, 0, 2, 1};
  const std::vector<double> entries{-0.5, 3, 1, -0.5, -1, 4, -1, 4, -1};
  const csr_view<const double, i32, i32, host> a{{3, 3, offsets, indices}, entries};
  const std::vector<double> b{1, 2, 3};
  for (const auto m : {block_jacobi, ilu0}) {
    std::vector<double> x(3);
    const krylov_result found =
        krylov_plan<double, host>(ctx, a, {.method = krylov_method::gmres, .preconditioner = m}).run(b, x);
    EXPECT_TRUE(found.converged);
    EXPECT_EQ(found.iterations, 1) << to_string(m);  // exact: tridiagonal
    EXPECT_NEAR(4 * x[0] - x[1], 1, 1e-7);
    EXPECT_NEAR(-x[0] + 4 * x[1] - x[2], 2, 1e-7);
  }
}

TEST(PreconditionerOfReals, EmptySystems) { expect_empty_systems<host>(); }

TEST(PreconditionerOfReals, RefusalsNameTheRow) {
  const context<host> ctx;
  const auto message = [&](const rows_of<double>& dense, const krylov_options& options,
                           error_code code = error_code::invalid_data) {
    return message_of(code, [&] { krylov_plan<double, host>(ctx, csr_of(dense).view(), options); });
  };
  constexpr auto gmres = krylov_method::gmres;
  constexpr auto minres = krylov_method::minres;
  EXPECT_EQ(message({{1, 2, 0}, {2, 4, 1}, {0, 1, 3}}, {.method = gmres, .preconditioner = ilu0}),
            "solve: ilu0 meets the pivot 0 in row 1 (from 0) (expected another preconditioner)");
  EXPECT_EQ(message({{1, 2, 0}, {2, 5, 1}, {0, 1, -1}}, {.method = minres, .preconditioner = ilu0}),
            "solve: ilu0 meets the pivot -2 in row 2 (from 0), but cg and minres need positive ones (expected jacobi, "
            "or bicgstab or gmres)");
  EXPECT_EQ(message({{0, 1}, {1, 0}}, {.method = gmres, .preconditioner = ilu0}),
            "solve: ilu0 meets the pivot 0 in row 0 (from 0) (expected another preconditioner)");
  EXPECT_EQ(message({{1, 2}, {2, 1}}, {.method = krylov_method::cg, .preconditioner = ic0}),
            "solve: ic0 meets the pivot -3 in row 1 (from 0): the matrix is not positive definite, or not enough for "
            "factors without fill (expected block-jacobi or jacobi)");
  EXPECT_EQ(message({{2, 1}, {0, 2}}, {.method = gmres, .preconditioner = ic0}),
            "solve: ic0 needs a symmetric (Hermitian) matrix: (0, 1) is an entry and (1, 0) is none (from 0) (expected "
            "ilu0)");
  EXPECT_EQ(message({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 1}},
                    {.method = gmres, .preconditioner = block_jacobi, .block_size = 2}),
            "solve: block-jacobi: the block of rows 2 to 3 (from 0) is singular (expected another block size)");
  EXPECT_EQ(message({{1, 2}, {2, 1}}, {.method = krylov_method::cg, .preconditioner = block_jacobi}),
            "solve: block-jacobi: the block of rows 0 to 1 (from 0) is not positive definite (expected jacobi, or "
            "bicgstab or gmres)");
  EXPECT_EQ(message({{1}}, {.triangular_sweeps = -1}, error_code::invalid_argument),
            "solve: -1 triangular sweeps (expected 0 to 1000; 0 solves exactly)");
  EXPECT_EQ(message({{1}}, {.triangular_sweeps = std::int64_t{1} << 40}, error_code::invalid_argument),
            "solve: 1099511627776 triangular sweeps (expected 0 to 1000; 0 solves exactly)");
  EXPECT_EQ(message({{1}}, {.block_size = 0}, error_code::invalid_argument),
            "solve: blocks of 0 rows (expected 1 to 256)");
  EXPECT_EQ(message({{1}}, {.block_size = 257}, error_code::invalid_argument),
            "solve: blocks of 257 rows (expected 1 to 256)");
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] {
                         const linear_operator<double, host> op(2, [](auto, auto) {});
                         krylov_plan<double, host>(ctx, op, {.preconditioner = ilu0});
                       }),
            "solve: ilu0 needs a matrix, not an operator (expected a preconditioner of your own, or none)");
}

TEST(PreconditionerOfReals, EstimatesCoverPlans) {
  const context<host> ctx;
  const csr<double> a = grid(100);
  const matrix_shape shape{.rows = a.rows(), .cols = a.cols(), .entries = a.nnz()};
  for (const auto& [m, sweeps] :
       {std::pair{block_jacobi, 0}, std::pair{ilu0, 0}, std::pair{ic0, 0}, std::pair{ilu0, 3}, std::pair{ic0, 3}}) {
    const krylov_options options{.method = krylov_method::cg, .preconditioner = m, .triangular_sweeps = sweeps};
    counting_resource<host> resource(default_host_resource());
    const krylov_plan<double, host> plan(context<host>({.resource = &resource}), a.view(), options);
    EXPECT_GE(estimate(shape, options).host_bytes, plan.workspace_bytes()) << to_string(m);
    EXPECT_GE(estimate(shape, options).host_bytes, resource.peak()) << to_string(m);
    EXPECT_LE(estimate(shape, options).host_bytes, 1.5 * static_cast<double>(resource.peak() + a.nnz() * 12))
        << to_string(m);
  }
}

// The blocks; the factors with a copy of the matrix that they are made of.
TEST(PreconditionerOfReals, EstimatesOfADeviceCountIt) {
  const matrix_shape shape{.rows = 1'000'000, .cols = 1'000'000, .entries = 5'000'000};
  const auto bytes = [&](krylov_preconditioner m) {
    return estimate(shape, {.method = krylov_method::cg, .preconditioner = m}).device_bytes;
  };
  EXPECT_EQ(bytes(none), bytes(jacobi));
  EXPECT_GE(bytes(block_jacobi), bytes(none) + 7 * 8 * shape.rows);
  EXPECT_GE(bytes(ilu0), bytes(none) + 2 * 12 * shape.entries);
  EXPECT_LE(bytes(ilu0), bytes(none) + 5 * 12 * shape.entries);
  EXPECT_EQ(bytes(ic0), bytes(ilu0));
}

TEST(PreconditionerOfReals, FailedAllocationsLeakNothing) {
  const csr<double> a = grid(8);
  for (const auto m : {block_jacobi, ilu0, ic0}) {
    const std::vector<double> b(64, 1);
    EXPECT_GE(fail_every_allocation([&](const context<host>& ctx) {
                std::vector<double> x(64);
                (void)krylov_plan<double, host>(ctx, a.view(), {.preconditioner = m}).run(b, x);
              }),
              5);
  }
}

// b = A * ones. Incomplete factors save iterations wherever they exist.
TEST(PreconditionerOfReals, RealMatricesTakeFewerIterationsThanWithJacobi) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(data_directory() / "truth_more.json");
  if (!file) GTEST_SKIP() << "no truth_more.json";
  const auto truth = nlohmann::json::parse(file);
  using V = std::complex<double>;
  const context<host> ctx({.threads = 2});
  std::map<krylov_preconditioner, int> compared;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (!facts.contains("solve") || !facts["spd"].get<bool>()) continue;
    const csr<V> a = to_csr<i32>(ctx, read_matrix_market<V>(ctx, (data_directory() / name).string()).view());
    const std::vector<V> ones(static_cast<std::size_t>(a.rows()), V{1});
    std::vector<V> b(ones.size());
    spmv(ctx, 1, a, ones, 0, b);
    std::int64_t by_jacobi = 0;
    for (const auto m : {jacobi, block_jacobi, ilu0, ic0}) {
      SCOPED_TRACE(name + ", " + std::string(to_string(m)));
      std::vector<V> x(ones.size());
      krylov_result found;
      try {
        found = krylov_plan<V, host>(ctx, a.view(), {.method = krylov_method::cg, .preconditioner = m}).run(b, x);
      } catch (const error& e) {
        EXPECT_NE(std::string(e.what()).find("meets the pivot"), std::string::npos) << e.what();
        continue;
      }
      EXPECT_TRUE(found.converged) << found.reason;
      EXPECT_LE(residual_of(a, b, x), 1.01e-8);
      if (m == jacobi) by_jacobi = found.iterations;
      const bool factors = m == ilu0 || m == ic0;
      EXPECT_LE(static_cast<double>(found.iterations), (factors ? 0.6 : 1.05) * static_cast<double>(by_jacobi) + 1);
      ++compared[m];
      RecordProperty(name + " " + std::string(to_string(m)), std::to_string(found.iterations));
    }
  }
  EXPECT_GE(compared[block_jacobi], 4);
  EXPECT_GE(compared[ilu0], 3);
  EXPECT_GE(compared[ic0], 3);
}

}  // namespace
}  // namespace spargo::test
