// Singular values against matrices whose singular values are known, and residuals in long double.
#include "solvers/known_spectra.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"
#include "support/suites.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/solvers/svds.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace spargo {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using test::owned_matrix;
using test::widened;
using wide = std::complex<long double>;

template <class V>
owned_matrix<V> with_values(i32 rows, i32 cols, const std::vector<double>& values, unsigned seed) {
  return test::with_values<V>({static_cast<std::size_t>(rows), seed}, {static_cast<std::size_t>(cols), seed + 1}, rows,
                              cols, values);
}

// The larger of |A v - sigma u| and |A^H u - sigma v| of the k-th.
template <class V>
double residual_of(const csr_view<const V, i32, i32, host>& a, const svds_result<V>& found, std::size_t k) {
  const auto value = static_cast<long double>(found.values[k]);
  const V* const u = found.left.data() + static_cast<i64>(k) * a.rows;
  const V* const v = found.right.data() + static_cast<i64>(k) * a.cols;
  std::vector<wide> transposed(static_cast<std::size_t>(a.cols));
  for (i32 j = 0; j < a.cols; ++j) transposed[static_cast<std::size_t>(j)] = -value * widened(v[j]);
  long double left = 0, right = 0;
  for (i32 i = 0; i < a.rows; ++i) {
    wide sum = -value * widened(u[i]);
    for (i32 e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
      sum += widened(a.values[e]) * widened(v[a.indices[e]]);
      transposed[static_cast<std::size_t>(a.indices[e])] += std::conj(widened(a.values[e])) * widened(u[i]);
    }
    left += std::norm(sum);
  }
  for (const wide& each : transposed) right += std::norm(each);
  return static_cast<double>(std::sqrt(std::max(left, right)));
}

template <class V>
void expect_orthonormal(const array<V, host>& vectors, std::size_t count, double tolerance) {
  const i64 n = vectors.size() / static_cast<i64>(count);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      wide sum = 0;
      for (i64 i = 0; i < n; ++i) {
        sum += std::conj(widened(vectors[static_cast<i64>(k) * n + i])) * widened(vectors[static_cast<i64>(l) * n + i]);
      }
      EXPECT_NEAR(static_cast<double>(std::abs(sum)), k == l ? 1 : 0, tolerance);
    }
  }
}

// Vectors orthonormal, residuals as reported and within the tolerance.
template <class V>
void check_vectors(const csr_view<const V, i32, i32, host>& a, const svds_result<V>& found, double tolerance) {
  const std::size_t count = found.values.size();
  ASSERT_EQ(found.left.size(), i64{a.rows} * static_cast<i64>(count));
  ASSERT_EQ(found.right.size(), i64{a.cols} * static_cast<i64>(count));
  expect_orthonormal(found.left, count, tolerance);
  expect_orthonormal(found.right, count, tolerance);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_NEAR(residual_of(a, found, k), found.residuals[k], tolerance);
    EXPECT_LE(found.residuals[k], tolerance);
  }
}

template <class V>
class Svds : public testing::Test {};
using values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Svds, values);

TYPED_TEST(Svds, KnownValuesOfEveryShapeAreFound) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  const context<host> ctx;
  const std::pair<i32, i32> shapes[] = {{1, 1}, {1, 9}, {9, 1}, {7, 7}, {80, 80}, {90, 60}, {60, 90}, {30, 150}};
  for (const auto& [rows, cols] : shapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const i32 lesser = std::min(rows, cols);
    std::vector<double> expected;
    for (i32 k = 0; k < lesser; ++k) expected.push_back(std::pow(static_cast<double>(lesser - k), 1.3));
    const owned_matrix<V> a = with_values<V>(rows, cols, expected, static_cast<unsigned>(rows));
    const svds_result<V> found = svds(ctx, a.view(), {.count = std::min(lesser, 5)});
    EXPECT_TRUE(found.converged);
    const double scale = 200 * eps * expected.front();
    ASSERT_EQ(found.values.size(), static_cast<std::size_t>(std::min(lesser, 5)));
    for (std::size_t k = 0; k < found.values.size(); ++k) EXPECT_NEAR(found.values[k], expected[k], scale);
    check_vectors<V>(a.view(), found, std::max(scale, 1e-7));
  }
}

// What a product with A^H A cannot see: its square is below rounding.
TYPED_TEST(Svds, SmallValuesAreExactToRoundingOfTheLargest) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  const double small = 30 * eps;  // its square: 900 eps^2
  const context<host> ctx;
  const std::vector<double> expected{1, std::sqrt(eps), small, small / 2};
  const owned_matrix<V> a = with_values<V>(20, 12, expected, 4);
  const svds_result<V> found = svds(ctx, a.view(), {.count = 6});
  EXPECT_TRUE(found.converged);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(found.values[k], k < 4 ? expected[k] : 0, 8 * eps) << k;
  check_vectors<V>(a.view(), found, 200 * eps);
}

TYPED_TEST(Svds, MatricesWithoutFullRankHaveZeros) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  const context<host> ctx;
  for (const auto& [rows, cols] : {std::pair<i32, i32>{40, 70}, {70, 40}}) {
    const owned_matrix<V> a = with_values<V>(rows, cols, {5, 4, 2}, 9);
    const svds_result<V> found = svds(ctx, a.view(), {.count = 6});
    EXPECT_TRUE(found.converged);
    const std::vector<double> expected{5, 4, 2, 0, 0, 0};
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(found.values[k], expected[k], 100 * eps);
    check_vectors<V>(a.view(), found, 1000 * eps);
  }
  const std::vector<i32> none(31, 0);
  const csr_view<const V, i32, i32, host> zero{{30, 8, none, {}}, {}};
  const svds_result<V> found = svds(ctx, zero, {.count = 8});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.values, std::vector<double>(8, 0.0));
  check_vectors<V>(zero, found, 1000 * eps);
}

// The incidence matrix of a path of n vertices: 2 sin(pi k / 2n) for k below n. Sparse, with restarts.
owned_matrix<double> incidence(i32 n) {
  owned_matrix<double> a{n - 1, n};
  for (i32 k = 0; k + 1 < n; ++k) {
    a.indices.insert(a.indices.end(), {k + 1, k});  // unsorted
    a.values.insert(a.values.end(), {-1, 1});
    a.offsets.push_back(2 * k + 2);
  }
  return a;
}

TEST(SvdsOfReals, RestartsGiveTheValuesOfTheFormulaAndTheSameBitsOnAnyNumberOfThreads) {
  const i32 n = 400;
  const owned_matrix<double> a = incidence(n);
  std::vector<double> first, vectors;
  for (const int threads : {1, 2, 8}) {
    const auto found = svds(context<host>({.threads = threads}), a.view(), {.count = 4});
    EXPECT_TRUE(found.converged);
    EXPECT_GT(found.restarts, 0);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(found.values[k], 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) / (2 * n)), 1e-12);
    }
    check_vectors<double>(a.view(), found, 1e-8);
    if (threads == 1) {
      first = found.values;
      vectors.assign(found.left.begin(), found.left.end());
    }
    EXPECT_EQ(first, found.values);
    EXPECT_TRUE(std::equal(vectors.begin(), vectors.end(), found.left.begin()));
  }
  const auto given_up = svds(context<host>(), a.view(), {.count = 4, .max_products = 60});
  EXPECT_FALSE(given_up.converged);
  EXPECT_LE(given_up.products, 120);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_GT(given_up.residuals[k], 1e-6);
    EXPECT_NEAR(given_up.residuals[k], residual_of(a.view(), given_up, k), 1e-13);
  }
}

TEST(SvdsOfReals, ClustersAndScales) {
  const context<host> ctx;
  std::vector<double> close(50, 1.0);
  for (std::size_t k = 0; k < 4; ++k) close[k] = 2 - 1e-9 * static_cast<double>(k);
  const auto a = with_values<double>(80, 50, close, 2);
  const auto found = svds(ctx, a.view(), {.count = 4, .tolerance = 1e-13});
  EXPECT_TRUE(found.converged);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(found.values[k], close[k], 1e-13);
  check_vectors<double>(a.view(), found, 1e-11);
  for (const double scale : {1e-200, 1e200}) {
    owned_matrix<double> b = incidence(30);
    const double expected = svds(ctx, b.view(), {.count = 1}).values[0];
    for (double& v : b.values) v *= scale;
    const auto scaled = svds(ctx, b.view(), {.count = 1});
    EXPECT_TRUE(scaled.converged);
    EXPECT_NEAR(scaled.values[0] / scale, expected, 1e-12);
  }
  owned_matrix<double> huge = incidence(30);
  for (double& v : huge.values) v *= 1.5e308;
  EXPECT_EQ(test::message_of(error_code::invalid_data, [&] { (void)svds(ctx, huge.view(), {.count = 1}); }),
            "svds: a singular value is beyond the range of double (expected a smaller matrix norm)");
  std::vector<double> tiny(8);
  for (std::size_t k = 0; k < 8; ++k) tiny[k] = 1e-310 * static_cast<double>(8 - k);
  auto subnormal = with_values<double>(12, 8, tiny, 3);
  const auto small = svds(ctx, subnormal.view(), {.count = 6, .tolerance = 0, .max_products = 200});
  EXPECT_TRUE(small.converged);
  for (double& v : subnormal.values) v = std::ldexp(v, 1030);
  const auto large = svds(ctx, subnormal.view(), {.count = 6, .tolerance = 0});
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_NEAR(std::ldexp(small.values[k], 1030) / large.values[k], 1, 1e-12);
  }
  const std::vector<i32> offsets{0, 1}, indices{0};
  for (const double value : {5e-324, -1.5e308}) {  // ends of the range
    const std::vector<double> one{value};
    const csr_view<const double, i32, i32, host> single{{1, 1, offsets, indices}, one};
    EXPECT_EQ(svds(ctx, single, {.count = 1}).values[0], std::abs(value));
  }
}

TEST(SvdsOfReals, Refusals) {
  const context<host> ctx;
  const auto message = [&](error_code code, const owned_matrix<double>& a, const svds_options& options) {
    return test::message_of(code, [&] { (void)svds(ctx, a.view(), options); });
  };
  owned_matrix<double> a = incidence(5);
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 5}), "svds: 5 singular values of a matrix of 4 x 5");
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 0}), "svds: 0 singular values of a matrix of 4 x 5");
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 3, .subspace = 3}),
            "svds: a subspace of 3 vectors for 3 singular values (expected more)");
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 3, .subspace = -1}),
            "svds: a subspace of -1 (expected 0 or more)");
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 1, .tolerance = -1}),
            "svds: the tolerance is -1 (expected 0 or more)");
  a.values[2] = std::nan("");
  EXPECT_EQ(message(error_code::invalid_data, a, {.count = 1}),
            "svds: the matrix has a value in row 1 (from 0) that is infinite or NaN");
}

// --- On a device -----------------------------------------------------------------------------------------------------

using SvdsOnDevice = test::device_suite;

template <class V>
svds_result<V> there(const csr_view<const V, i32, i32, host>& a, const svds_options& options) {
  const context<device> gpu;
  const auto matrix = to_device(gpu, a);
  return svds(gpu, matrix, options);
}

template <class V>
void expect_known_values() {
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  const std::pair<i32, i32> shapes[] = {{1, 1}, {1, 9}, {9, 1}, {7, 7}, {80, 80}, {90, 60}, {30, 150}};
  for (const auto& [rows, cols] : shapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", " << sizeof(V) << " bytes");
    const i32 lesser = std::min(rows, cols);
    std::vector<double> expected;
    for (i32 k = 0; k < lesser; ++k) expected.push_back(std::pow(static_cast<double>(lesser - k), 1.3));
    const owned_matrix<V> a = with_values<V>(rows, cols, expected, static_cast<unsigned>(rows));
    for (const i64 subspace : {0, 7}) {
      const svds_result<V> found = there<V>(a.view(), {.count = std::min(lesser, 5), .subspace = subspace});
      EXPECT_TRUE(found.converged);
      const double scale = 200 * eps * expected.front();
      for (std::size_t k = 0; k < found.values.size(); ++k) EXPECT_NEAR(found.values[k], expected[k], scale);
      check_vectors<V>(a.view(), found, std::max(scale, 1e-7));
    }
  }
  const owned_matrix<V> low_rank = with_values<V>(40, 70, {5, 4, 2}, 9);
  const svds_result<V> found = there<V>(low_rank.view(), {.count = 6});
  const std::vector<double> expected{5, 4, 2, 0, 0, 0};
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(found.values[k], expected[k], 100 * eps);
  check_vectors<V>(low_rank.view(), found, 1000 * eps);
}
TEST_F(SvdsOnDevice, KnownValuesOfEveryShapeAndType) {
  expect_known_values<float>();
  expect_known_values<double>();
  expect_known_values<std::complex<float>>();
  expect_known_values<std::complex<double>>();
}

TEST_F(SvdsOnDevice, RestartsScalesAndTheSameBitsEveryRun) {
  const i32 n = 400;
  const owned_matrix<double> a = incidence(n);
  const auto first = there<double>(a.view(), {.count = 4});
  EXPECT_TRUE(first.converged);
  EXPECT_GT(first.restarts, 0);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(first.values[k], 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) / (2 * n)), 1e-12);
  }
  check_vectors<double>(a.view(), first, 1e-8);
  const auto again = there<double>(a.view(), {.count = 4});
  EXPECT_EQ(again.values, first.values);
  EXPECT_TRUE(std::equal(again.left.begin(), again.left.end(), first.left.begin(), first.left.end()));
  for (const double scale : {1e-200, 1e200}) {
    owned_matrix<double> b = incidence(30);
    const double expected = svds(context<host>(), b.view(), {.count = 1}).values[0];
    for (double& v : b.values) v *= scale;
    EXPECT_NEAR(there<double>(b.view(), {.count = 1}).values[0] / scale, expected, 1e-12);
  }
  const std::vector<i32> none(31, 0);
  const csr_view<const double, i32, i32, host> zero{{30, 8, none, {}}, {}};
  EXPECT_EQ(there<double>(zero, {.count = 8}).values, std::vector<double>(8, 0.0));
}

TEST_F(SvdsOnDevice, RefusalsAndFailedAllocations) {
  owned_matrix<double> a = incidence(5);
  EXPECT_GE(test::fail_every_device_allocation([&](const context<device>& gpu) {
              const auto matrix = to_device(gpu, a.view());
              (void)svds(gpu, matrix, {.count = 2});
            }),
            8);
  a.values[2] = std::nan("");
  EXPECT_EQ(test::message_of(error_code::invalid_data, [&] { (void)there<double>(a.view(), {.count = 1}); }),
            "svds: the matrix has a value in row 1 (from 0) that is infinite or NaN");
}

}  // namespace
}  // namespace spargo
