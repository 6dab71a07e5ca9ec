// Krylov methods against dense elimination in long double, and against the truths of real matrices.
#include "solvers/systems.hpp"
#include "support/data.hpp"
#include "support/message.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/solvers/krylov.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace spargo::test {
namespace {

constexpr krylov_method every_method[] = {krylov_method::cg, krylov_method::minres, krylov_method::bicgstab,
                                          krylov_method::gmres};

bool takes(krylov_method method, kind what) {
  if (method == krylov_method::cg) return what == kind::definite;
  return method != krylov_method::minres || what != kind::general;
}

template <class E, class Space>
bool has(E value) {
  for (const auto& row : enum_rows<E>()) {
    if (row.value == value) return std::same_as<Space, host> ? row.on_host : row.on_device;
  }
  return false;
}

template <class V_, class Space_>
struct system_case {
  using V = V_;
  using Space = Space_;
};
template <class Case>
class Krylov : public space_suite<typename Case::Space> {};
using cfloat = std::complex<float>;
using cdouble = std::complex<double>;
using cases = suite_types<system_case<float, host>, system_case<double, host>, system_case<cfloat, host>,
                          system_case<cdouble, host>, system_case<float, device>, system_case<double, device>,
                          system_case<cfloat, device>, system_case<cdouble, device>>;
TYPED_TEST_SUITE(Krylov, cases);

TYPED_TEST(Krylov, EveryMethodFindsTheSolution) {
  using V = typename TypeParam::V;
  using Space = typename TypeParam::Space;
  const context<Space> ctx;
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  int tried = 0;
  for (const kind what : {kind::definite, kind::hermitian, kind::general}) {
    for (const std::size_t n : {1, 2, 7, 40}) {
      const rows_of<V> dense = random_matrix<V>(n, what, static_cast<unsigned>(n) + 5);
      const csr<V> a = csr_of(dense);
      const auto b = random_vector<V>(n, 3);
      const std::vector<wide> expected = solved(dense, b);
      for (const krylov_method method : every_method) {
        if (!takes(method, what) || !has<krylov_method, Space>(method)) continue;
        for (const auto m : {krylov_preconditioner::none, krylov_preconditioner::jacobi}) {
          SCOPED_TRACE(testing::Message() << to_string(method) << " " << to_string(m) << " n = " << n);
          const double tolerance = 200 * eps;
          const auto& there = in_space(ctx, a);
          const krylov_plan<V, Space> plan(
              ctx, there.view(), {.method = method, .preconditioner = m, .tolerance = tolerance, .restart = 9});
          EXPECT_EQ(plan.method(), method);
          EXPECT_EQ(plan.preconditioner(), m);
          std::vector<V> x(n);
          const krylov_result result = run_in_space(ctx, plan, b, x);
          EXPECT_TRUE(result.converged) << result.reason;
          EXPECT_EQ(result.outcome, krylov_outcome::converged);
          EXPECT_EQ(result.history.size(), static_cast<std::size_t>(result.iterations) + 1);
          EXPECT_EQ(result.history[0], 1);
          EXPECT_LE(result.relative_residual, tolerance);
          EXPECT_NEAR(result.relative_residual, residual_of(a, b, x), 50 * eps);
          for (std::size_t i = 0; i < n; ++i) {
            // The smallest singular value is at least 1: the diagonal exceeds the rest of its row by 1.
            EXPECT_LE(std::abs(widened(x[i]) - expected[i]), 400 * eps * static_cast<double>(n)) << i;
          }
          ++tried;
        }
      }
    }
  }
  EXPECT_EQ(tried, 4 * 2 * (4 + 3 + 2));
}

TYPED_TEST(Krylov, AutomaticChoosesByTheMatrix) {
  using V = typename TypeParam::V;
  using Space = typename TypeParam::Space;
  const context<Space> ctx;
  const auto of = [&](kind what) {
    const csr<V> a = csr_of(random_matrix<V>(20, what, 1));
    const auto& there = in_space(ctx, a);
    return krylov_plan<V, Space>(ctx, there.view()).method();  // not run
  };
  EXPECT_EQ(of(kind::definite), krylov_method::cg);
  EXPECT_EQ(of(kind::hermitian), krylov_method::minres);
  EXPECT_EQ(of(kind::general), krylov_method::bicgstab);
}

TEST(KrylovOfReals, SymmetryIsSeenUpToRounding) {
  const auto of = [](double lower) {
    const csr<double> a = csr_of<double>({{4, 1}, {lower, 4}});
    return krylov_plan<double, host>(context<host>(), a.view()).method();
  };
  EXPECT_EQ(of(1 + 1e-15), krylov_method::cg);
  EXPECT_EQ(of(1 + 1e-12), krylov_method::bicgstab);
}

// A boundary condition by penalty does not hide that the other rows are not symmetric; scaling does not change what is
// rounding.
TEST(KrylovOfReals, SymmetryIsSeenBesideLargeElements) {
  const context<host> ctx;
  const csr<double> skew = csr_of<double>({{1e20, 1, 0}, {1, 1, 3}, {0, -3, 1}});
  const krylov_plan<double, host> plan(ctx, skew);
  EXPECT_EQ(plan.method(), krylov_method::bicgstab);
  const std::vector<double> b{2, 4, -2};  // of (1e-20, 1, 1)
  std::vector<double> x(3);
  EXPECT_TRUE(plan.run({b.data(), 3}, {x.data(), 3}).converged);
  EXPECT_NEAR(x[1], 1, 1e-6);
  EXPECT_NEAR(x[2], 1, 1e-6);
  for (const double by : {1e-100, 1e-10, 1e10, 1e100}) {
    const csr<double> scaled = csr_of<double>({{4 * by * by, by}, {by * (1 + 1e-15), 4}});
    EXPECT_EQ((krylov_plan<double, host>(ctx, scaled.view()).method()), krylov_method::cg) << by;
  }
}

TEST(KrylovOfReals, ComplexSymmetricIsNotHermitian) {
  using V = std::complex<double>;
  const csr<V> a = csr_of<V>({{{2, 0}, {0, 1}}, {{0, 1}, {2, 0}}});
  EXPECT_EQ((krylov_plan<V, host>(context<host>(), a.view()).method()), krylov_method::bicgstab);
}

TEST(KrylovOfReals, AnyNumberOfThreadsGivesTheSameBits) {
  const csr<double> a = grid(200);
  const auto b = random_vector<double>(40'000, 8);
  for (const krylov_method method : every_method) {
    std::vector<double> first;
    std::vector<double> history;
    for (const int threads : {1, 2, 3, 8}) {
      const context<host> ctx({.threads = threads});
      krylov_plan<double, host> plan(ctx, a.view(), {.method = method, .max_iterations = 60, .restart = 20});
      std::vector<double> x(b.size());
      const krylov_result result = plan.run(b, x);
      EXPECT_EQ(result.iterations, 60);
      EXPECT_EQ(result.outcome, krylov_outcome::iteration_limit);
      EXPECT_NEAR(result.relative_residual, residual_of(a, b, x), 1e-12);
      if (threads == 1) {
        first = x;
        history = result.history;
      }
      EXPECT_EQ(first, x) << to_string(method) << ", " << threads;
      EXPECT_EQ(history, result.history) << to_string(method) << ", " << threads;
    }
  }
}

// The textbook's loop without any of the library.
TEST(KrylovOfReals, ConjugateGradientsTakesTheTextbooksIterations) {
  const csr<double> a = grid(40);
  const std::size_t n = 1600;
  const auto b = random_vector<double>(n, 9);
  std::vector<long double> x(n), r(b.begin(), b.end()), p(r), q(n);
  long double rho = 0;
  for (const long double e : r) rho += e * e;
  const long double start = rho;
  std::vector<double> history{1};
  while (std::sqrt(rho / start) > 1e-8L) {
    long double pq = 0;
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = 0;
      const auto row = static_cast<i32>(i);
      for (i32 k = a.offsets()[row]; k < a.offsets()[row + 1]; ++k) {
        q[i] += static_cast<long double>(a.values()[k]) * p[static_cast<std::size_t>(a.indices()[k])];
      }
      pq += p[i] * q[i];
    }
    const long double alpha = rho / pq;
    long double next = 0;
    for (std::size_t i = 0; i < n; ++i) {
      r[i] -= alpha * q[i];
      next += r[i] * r[i];
    }
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / rho * p[i];
    rho = next;
    history.push_back(static_cast<double>(std::sqrt(rho / start)));
  }
  for (const auto m : {krylov_preconditioner::none, krylov_preconditioner::jacobi}) {  // a constant diagonal
    std::vector<double> found(n);
    krylov_plan<double, host> plan(context<host>(), a.view(), {.method = krylov_method::cg, .preconditioner = m});
    const krylov_result result = plan.run(b, found);
    EXPECT_TRUE(result.converged);
    EXPECT_EQ(result.iterations, static_cast<i64>(history.size()) - 1);
    for (std::size_t k = 0; k < 60; ++k) EXPECT_NEAR(result.history[k], history[k], 1e-9);
  }
}

TEST(KrylovOfReals, ResidualsOfMinimalMethodsNeverGrow) {
  const csr<double> a = csr_of(random_matrix<double>(60, kind::hermitian, 2));
  const auto b = random_vector<double>(60, 4);
  for (const auto method : {krylov_method::minres, krylov_method::gmres}) {
    std::vector<double> x(60);
    krylov_plan<double, host> plan(context<host>(), a.view(),
                                   {.method = method, .preconditioner = krylov_preconditioner::none, .restart = 60});
    const auto history = plan.run(b, x).history;
    EXPECT_GT(history.size(), 8U);
    for (std::size_t k = 1; k < history.size(); ++k) EXPECT_LE(history[k], history[k - 1] * (1 + 1e-12));
  }
}

TEST(KrylovOfReals, ScalesDoNotMatter) {
  const rows_of<double> definite = random_matrix<double>(20, kind::definite, 6);
  const auto b = random_vector<double>(20, 7);
  const std::vector<wide> expected = solved(definite, b);
  for (const krylov_method method : every_method) {
    for (const double of_b : {1e-300, 1e-200, 1e-155, 1.0, 1e155, 1e200, 1e300}) {
      for (const double of_a : {1e-200, 1e-155, 1.0, 1e155, 1e200}) {
        if (std::abs(std::log10(of_b) - std::log10(of_a)) > 290) continue;
        SCOPED_TRACE(testing::Message() << to_string(method) << " b " << of_b << " A " << of_a);
        rows_of<double> scaled = definite;
        for (auto& row : scaled) {
          for (double& v : row) v *= of_a;
        }
        std::vector<double> right = b;
        for (double& v : right) v *= of_b;
        const csr<double> a = csr_of(scaled);
        for (const bool as_operator : {false, true}) {
          std::vector<double> x(20);
          const spmv_plan<double, i32, i32, host> product(context<host>(), a.view());
          const linear_operator<double, host> op(
              20, [&](span<const double, host> v, span<double, host> w) { product.run(1, v, 0, w); });
          const krylov_options options{.method = method, .tolerance = 1e-12};
          const context<host> ctx;
          auto plan = as_operator ? krylov_plan<double, host>(ctx, op, options)
                                  : krylov_plan<double, host>(ctx, a.view(), options);
          const krylov_result result = plan.run(right, x);
          EXPECT_TRUE(result.converged) << result.reason;
          for (std::size_t i = 0; i < 20; ++i) {
            EXPECT_NEAR(x[i] / of_b * of_a, static_cast<double>(expected[i].real()), 1e-10);
          }
          EXPECT_EQ(plan.run(right, x).iterations, 0);  // the solution as the guess
        }
      }
    }
  }
}

TEST(KrylovOfReals, SolutionsOutOfRangeAreRefused) {
  const csr<double> a = csr_of<double>({{1e-200}});
  std::vector<double> x{7};
  krylov_plan<double, host> plan(context<host>(), a.view());
  EXPECT_THROW((void)plan.run(std::vector<double>{1e200}, x), error);
  EXPECT_EQ(x[0], 7);
}

TEST(KrylovOfReals, BreakdownsHaveNames) {
  const context<host> ctx;
  const auto run = [&](const rows_of<double>& dense, krylov_method method, std::vector<double> b = {1, 0}) {
    std::vector<double> x(b.size());
    const csr<double> a = csr_of(dense);
    krylov_plan<double, host> plan(ctx, a.view(), {.method = method, .preconditioner = krylov_preconditioner::none});
    return plan.run(b, x);
  };
  const krylov_result indefinite = run({{1, 2}, {2, 1}}, krylov_method::cg, {1, -1});
  EXPECT_FALSE(indefinite.converged);
  EXPECT_EQ(indefinite.outcome, krylov_outcome::not_positive_definite) << indefinite.reason;
  EXPECT_NE(indefinite.reason.find("in iteration 1"), std::string::npos) << indefinite.reason;
  const krylov_result skew = run({{0, 1}, {-1, 0}}, krylov_method::bicgstab);
  EXPECT_EQ(skew.outcome, krylov_outcome::breakdown);
  EXPECT_NE(skew.reason.find("(r0, A p) is 0"), std::string::npos) << skew.reason;
  const krylov_result singular = run({{1, 0}, {0, 0}}, krylov_method::gmres, {0, 1});
  EXPECT_EQ(singular.outcome, krylov_outcome::breakdown);
  EXPECT_NE(singular.reason.find("singular"), std::string::npos) << singular.reason;
  const krylov_result unsymmetric = run({{1, 0.5, 0}, {0, 2, 0.25}, {0.5, 0, 3}}, krylov_method::minres, {1, 2, 3});
  EXPECT_FALSE(unsymmetric.converged);
  EXPECT_NE(unsymmetric.reason.find("not symmetric"), std::string::npos) << unsymmetric.reason;
  // `automatic` goes on with another method.
  const krylov_result by_minres = run({{1, 2}, {2, 1}}, krylov_method::automatic, {1, -1});
  EXPECT_TRUE(by_minres.converged);
  EXPECT_EQ(by_minres.method, krylov_method::minres);
  const krylov_result by_gmres = run({{0, 1}, {-1, 0}}, krylov_method::automatic);
  EXPECT_TRUE(by_gmres.converged) << by_gmres.reason;
  EXPECT_EQ(by_gmres.method, krylov_method::gmres);
}

// The right sides are outside of the ranges: no method says that it has converged, or gives what is not finite.
TYPED_TEST(Krylov, SingularSystemsDoNotConverge) {
  using V = typename TypeParam::V;
  using Space = typename TypeParam::Space;
  const context<Space> ctx;
  const rows_of<V> path{{1, -1, 0}, {-1, 2, -1}, {0, -1, 1}};
  const rows_of<V> short_of_one{{1, 0, 0}, {0, 2, 0}, {0, 0, 0}};
  const rows_of<V> of_rank_one{{1, 2, 3}, {2, 4, 6}, {1, 2, 3}};
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  for (const auto& dense : {path, short_of_one, of_rank_one}) {
    for (const krylov_method method : every_method) {
      if (method == krylov_method::cg && dense == short_of_one) continue;  // refused: a zero on the diagonal
      SCOPED_TRACE(testing::Message() << to_string(method) << ", first element " << std::real(dense[0][0])
                                      << ", last one " << std::real(dense[2][2]));
      const csr<V> a = csr_of(dense);
      const auto& there = in_space(ctx, a);
      const krylov_plan<V, Space> plan(ctx, there.view(),
                                       {.method = method, .tolerance = 100 * eps, .max_iterations = 100});
      const std::vector<V> b{1, 1, 1};
      std::vector<V> x(3);
      const krylov_result result = run_in_space(ctx, plan, b, x);
      EXPECT_FALSE(result.converged);
      EXPECT_NE(result.outcome, krylov_outcome::converged);
      EXPECT_EQ(result.reason.find("within the tolerance"), std::string::npos) << result.reason;
      EXPECT_LE(result.relative_residual, 1 + 4 * eps);
      double largest = 1;
      for (const V& v : x) largest = std::max(largest, static_cast<double>(std::abs(v)));
      EXPECT_TRUE(std::isfinite(largest));
      EXPECT_NEAR(result.relative_residual, residual_of(a, b, x), 100 * eps * largest);
    }
  }
}

// Where jacobi is asked for; `automatic` takes no preconditioner.
TYPED_TEST(Krylov, DiagonalsWithoutInverses) {
  using V = typename TypeParam::V;
  using Space = typename TypeParam::Space;
  const context<Space> ctx;
  const double far = sizeof(std::real(V{})) == 4 ? 1e30 : 1e300;
  const csr<V> a = csr_of<V>({{number<V>(far, 0), 0, 0}, {0, 1, 0}, {0, 0, number<V>(1 / far, 0)}});
  const auto& there = in_space(ctx, a);
  const double least = sizeof(std::real(V{})) == 4 ? 1e-44 : 1e-310;
  const csr<V> small = csr_of<V>({{4, 1, 0}, {1, number<V>(least, 0), 0}, {0, 0, 1}});
  const auto& small_there = in_space(ctx, small);
  for (const krylov_method method : every_method) {
    const krylov_options jacobi{.method = method, .preconditioner = krylov_preconditioner::jacobi};
    EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)krylov_plan<V, Space>(ctx, there.view(), jacobi); }),
              "solve: row 2 (from 0) has an element on the diagonal whose inverse is beyond the range of its type "
              "(jacobi; expected no preconditioner)");
    EXPECT_EQ((krylov_plan<V, Space>(ctx, there.view(), {.method = method}).preconditioner()),
              krylov_preconditioner::none);
    if (method == krylov_method::cg) continue;  // `small` is indefinite
    const krylov_plan<V, Space> plan(ctx, small_there.view(), {.method = method, .tolerance = 1e-4});
    EXPECT_EQ(plan.preconditioner(), krylov_preconditioner::none);
    const std::vector<V> b{1, 2, 3};
    std::vector<V> x(3);
    EXPECT_TRUE(run_in_space(ctx, plan, b, x).converged) << to_string(method);
    EXPECT_LE(residual_of(small, b, x), 2e-4);
  }
}

TEST(KrylovOfReals, ProductsThatAreNotFiniteAreNamed) {
  int calls = 0;
  const linear_operator<double, host> op(3, [&](span<const double, host> x, span<double, host> y) {
    for (i64 i = 0; i < 3; ++i) y[i] = (++calls > 6 ? std::nan("") : 1 + static_cast<double>(i)) * x[i];
  });
  for (const krylov_method method : every_method) {
    calls = 0;
    std::vector<double> x(3);
    krylov_plan<double, host> plan(context<host>(), op, {.method = method});
    const krylov_result result = plan.run(std::vector<double>{1, 2, 3}, x);
    EXPECT_EQ(result.outcome, krylov_outcome::not_finite) << to_string(method) << ": " << result.reason;
    for (const double v : x) EXPECT_TRUE(std::isfinite(v));
  }
}

TEST(KrylovOfReals, OperatorsAndPreconditionersOfTheCaller) {
  struct diagonal {
    void run(span<const double, host> x, span<double, host> y) const {
      for (i64 i = 0; i < x.size(); ++i) y[i] = std::pow(10.0, static_cast<double>(i % 7)) * x[i];
    }
  };
  struct inverse {
    void run(span<const double, host> x, span<double, host> y) const {
      for (i64 i = 0; i < x.size(); ++i) y[i] = std::pow(10.0, -static_cast<double>(i % 7)) * x[i];
    }
  };
  const context<host> ctx;
  const diagonal a;
  const inverse m;
  const auto b = random_vector<double>(50, 1);
  for (const krylov_method method : every_method) {
    std::vector<double> x(50);
    krylov_plan<double, host> plan(ctx, {50, a}, {50, m}, {.method = method, .tolerance = 1e-10});
    const krylov_result result = plan.run(b, x);
    EXPECT_TRUE(result.converged);
    EXPECT_EQ(result.iterations, 1) << to_string(method);  // M is A
    for (std::size_t i = 0; i < 50; ++i) {
      EXPECT_NEAR(x[i], b[i] * std::pow(10.0, -static_cast<double>(i % 7)), 1e-9);
    }
    std::vector<double> y(50);
    krylov_plan<double, host> plain(ctx, {50, a}, {.method = method});
    EXPECT_GE(plain.run(b, y).iterations, 5) << to_string(method);  // seven eigenvalues
  }
  EXPECT_EQ((krylov_plan<double, host>(ctx, {50, a}).method()), krylov_method::gmres);
}

TEST(KrylovOfReals, GuessesAndEmptySystems) {
  const context<host> ctx;
  const csr<double> a = grid(20);
  const auto b = random_vector<double>(400, 2);
  for (const krylov_method method : every_method) {
    krylov_plan<double, host> plan(ctx, a.view(), {.method = method, .tolerance = 1e-9});
    std::vector<double> x(400);
    const krylov_result cold = plan.run(b, x);
    const std::vector<double> kept = x;
    const krylov_result warm = plan.run(b, x);
    EXPECT_EQ(warm.iterations, 0);
    EXPECT_EQ(kept, x);
    EXPECT_LE(warm.history[0], 1e-9);
    for (double& v : x) v *= 1.001;
    const krylov_result near_by = plan.run(b, x);
    EXPECT_TRUE(near_by.converged);
    EXPECT_LT(near_by.iterations, cold.iterations);
    EXPECT_GT(near_by.iterations, 0);
    const krylov_result zero = plan.run(std::vector<double>(400), x);
    EXPECT_TRUE(zero.converged);
    EXPECT_EQ(zero.iterations, 0);
    EXPECT_EQ(x, std::vector<double>(400));
    const csr<double> nothing = csr_of<double>({});
    krylov_plan<double, host> none(ctx, nothing.view(), {.method = method});
    std::vector<double> empty;
    EXPECT_TRUE(none.run(empty, empty).converged);
    krylov_plan<double, host> limited(ctx, a.view(), {.method = method, .max_iterations = 0});
    EXPECT_EQ(limited.run(b, x).outcome, krylov_outcome::iteration_limit);
  }
}

TEST(KrylovOfReals, Refusals) {
  const context<host> ctx;
  const auto message = [&](const rows_of<double>& dense, const krylov_options& options,
                           error_code code = error_code::invalid_argument) {
    return message_of(code, [&] { krylov_plan<double, host>(ctx, csr_of(dense).view(), options); });
  };
  EXPECT_EQ(message({{1, 2, 3}, {4, 5, 6}}, {}), "solve: a matrix of 2 x 3 (expected a square one)");
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(message({{1, 0}, {bad, 1}}, {}, error_code::invalid_data),
              "solve: the matrix has a value in row 1 (from 0) that is infinite or NaN");
  }
  EXPECT_EQ(message({{1, 0}, {2, 0}}, {.preconditioner = krylov_preconditioner::jacobi}, error_code::invalid_data),
            "solve: row 1 (from 0) has 0 on the diagonal, by which jacobi divides (expected no preconditioner)");
  EXPECT_EQ(message({{1, 0}, {0, -2}}, {.method = krylov_method::cg}, error_code::invalid_data),
            "solve: the matrix is not positive definite: row 1 (from 0) has -2 on the diagonal (expected another "
            "method than cg)");
  EXPECT_EQ(message({{1}}, {.tolerance = -1}), "solve: the tolerance is -1 (expected 0 or more)");
  EXPECT_EQ(message({{1}}, {.tolerance = std::nan("")}), "solve: the tolerance is nan (expected 0 or more)");
  EXPECT_EQ(message({{1}}, {.restart = 0}), "solve: a restart of 0 (expected 1 or more)");
  EXPECT_EQ(message({{1}}, {.max_iterations = -2}), "solve: -2 iterations at most (expected 0 or more)");
  const csr<double> identity = csr_of<double>({{1, 0}, {0, 1}});
  krylov_plan<double, host> plan(ctx, identity.view());
  std::vector<double> x(2);
  const std::vector<double> b(2);
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)plan.run(std::vector<double>(3), x); }),
            "solve: b has 3 elements, expected 2");
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)plan.run(span<const double, host>(x), x); }),
            "solve: x overlaps b");
  EXPECT_EQ(message_of(error_code::invalid_data,
                       [&] {
                         (void)plan.run(std::vector<double>{1, HUGE_VAL}, x);
                       }),
            "solve: b has a value in row 1 (from 0) that is infinite, NaN or beyond the range of its type");
  x[0] = std::nan("");
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)plan.run(b, x); }),
            "solve: the guess has a value in row 0 (from 0) that is infinite, NaN or beyond the range of its type");
}

TEST(KrylovOfReals, EstimatesCoverPlans) {
  const context<host> ctx;
  const csr<double> a = grid(100);
  const matrix_shape shape{.rows = a.rows(), .cols = a.cols(), .entries = a.nnz()};
  for (const krylov_method method : every_method) {
    const krylov_options options{.method = method};
    const krylov_plan<double, host> plan(ctx, a.view(), options);
    EXPECT_GE(estimate(shape, options).host_bytes, plan.workspace_bytes());
    // A copy of the matrix counts, which the product may do without.
    EXPECT_LE(estimate(shape, options).host_bytes, 1.5 * static_cast<double>(plan.workspace_bytes() + a.nnz() * 12));
  }
}

// `solve` of truth_more.json: SciPy's iterations with Jacobi, b = A * ones.
TEST(KrylovOfReals, RealMatricesTakeSciPysIterations) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(data_directory() / "truth_more.json");
  if (!file) GTEST_SKIP() << "no truth_more.json";
  const auto truth = nlohmann::json::parse(file);
  using V = std::complex<double>;
  const context<host> ctx({.threads = 2});
  int compared = 0;
  int definite = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (!facts.contains("solve")) continue;
    SCOPED_TRACE(name);
    const csr<V> a = to_csr<i32>(ctx, read_matrix_market<V>(ctx, (data_directory() / name).string()).view());
    const std::vector<V> ones(static_cast<std::size_t>(a.rows()), V{1});
    std::vector<V> b(ones.size());
    spmv(ctx, 1, a, ones, 0, b);
    definite += facts["spd"].get<bool>();
    for (const auto& [key, method] :
         {std::pair{"cg", krylov_method::cg}, std::pair{"bicgstab", krylov_method::bicgstab},
          std::pair{"gmres50", krylov_method::gmres}}) {
      if (!facts["solve"].contains(key) || facts["solve"][key].is_null()) continue;
      const auto scipys = facts["solve"][key].get<i64>();
      std::vector<V> x(ones.size());
      krylov_plan<V, host> plan(ctx, a.view(), {.method = method, .max_iterations = 5000});
      const krylov_result result = plan.run(b, x);
      EXPECT_TRUE(result.converged) << key << ": " << result.reason;
      EXPECT_LE(residual_of(a, b, x), 1.01e-8) << key;
      const double slack = method == krylov_method::cg ? 1.15 : 1.6;
      EXPECT_LE(static_cast<double>(result.iterations), slack * static_cast<double>(scipys) + 2) << key;
      ++compared;
    }
  }
  EXPECT_GE(definite, 4);
  EXPECT_GE(compared, 20);
}

}  // namespace
}  // namespace spargo::test
