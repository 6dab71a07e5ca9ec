// Eigenvalues against matrices whose eigenvalues are known, and residuals in long double.
#include "solvers/known_spectra.hpp"
#include "solvers/krylov/tall_basis.hpp"
#include "support/data.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"
#include "support/suites.hpp"

#include <spargo/core/rows_from_one.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/solvers/eigs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

namespace spargo {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using test::owned_matrix;
using test::widened;
using wide = std::complex<long double>;

template <class V>
owned_matrix<V> with_eigenvalues(const std::vector<double>& values, unsigned seed) {
  const test::reflection<V> h(values.size(), seed);
  const auto n = static_cast<i32>(values.size());
  return test::with_values<V>(h, h, n, n, values);
}

owned_matrix<double> grid(i32 width, i32 height) {
  owned_matrix<double> a{width * height, width * height};
  for (i32 y = 0; y < height; ++y) {
    for (i32 x = 0; x < width; ++x) {
      const auto entry = [&](bool inside, i32 column, double value) {
        if (!inside) return;
        a.indices.push_back(column);
        a.values.push_back(value);
      };
      const i32 row = y * width + x;
      entry(y > 0, row - width, -1);
      entry(x > 0, row - 1, -1);
      entry(true, row, 4);
      entry(x + 1 < width, row + 1, -1);
      entry(y + 1 < height, row + width, -1);
      a.offsets.push_back(static_cast<i32>(a.indices.size()));
    }
  }
  return a;
}

// Residuals as reported, vectors orthonormal.
template <class V>
void check_vectors(const csr_view<const V, i32, i32, host>& a, const eigs_result<V>& found, double tolerance,
                   double orthogonality = 1) {
  const auto n = static_cast<i64>(a.rows);
  const auto at = [&](std::size_t k, i64 i) { return widened(found.vectors[static_cast<i64>(k) * n + i]); };
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    long double square = 0;
    for (i64 i = 0; i < n; ++i) {
      wide sum = -static_cast<long double>(found.values[k]) * at(k, i);
      for (i32 e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
        sum += widened(a.values[e]) * at(k, a.indices[e]);
      }
      square += std::norm(sum);
    }
    EXPECT_NEAR(static_cast<double>(std::sqrt(square)), found.residuals[k], tolerance);
    EXPECT_LE(found.residuals[k], tolerance);
    for (std::size_t l = 0; l <= k; ++l) {
      wide product = 0;
      for (i64 i = 0; i < n; ++i) product += std::conj(at(k, i)) * at(l, i);
      EXPECT_NEAR(static_cast<double>(std::abs(product)), k == l ? 1 : 0, std::min(tolerance, orthogonality));
    }
  }
}

template <class V>
class Eigs : public testing::Test {};
using values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Eigs, values);

TYPED_TEST(Eigs, KnownEigenvaluesAreFound) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  const context<host> ctx;
  for (const std::size_t n : {1, 2, 7, 30, 120}) {
    std::vector<double> expected;
    for (std::size_t k = 0; k < n; ++k)
      expected.push_back(std::pow(static_cast<double>(k), 1.3) - 0.4 * static_cast<double>(n));
    const owned_matrix<V> a = with_eigenvalues<V>(expected, static_cast<unsigned>(n));
    for (const eigs_which which : {eigs_which::largest, eigs_which::smallest}) {
      const auto count = static_cast<i64>(std::min<std::size_t>(n, 5));
      const eigs_result<V> found = eigs(ctx, a.view(), {.count = count, .which = which});
      EXPECT_TRUE(found.converged) << n;
      const double scale = 200 * eps * (1 + std::abs(expected.front()) + std::abs(expected.back()));
      for (std::size_t k = 0; k < found.values.size(); ++k) {
        EXPECT_NEAR(found.values[k], which == eigs_which::largest ? expected[n - 1 - k] : expected[k], scale) << n;
      }
      check_vectors<V>(a.view(), found, std::max(scale, 1e-7));
    }
  }
}

TEST(EigsOfReals, GridsHaveTheEigenvaluesOfTheFormula) {
  const i32 width = 37, height = 23;
  const owned_matrix<double> a = grid(width, height);
  std::vector<double> expected;
  const auto part = [](i32 k, i32 n) { return 2 - 2 * std::cos(std::numbers::pi * k / (n + 1)); };
  for (i32 k = 1; k <= width; ++k) {
    for (i32 l = 1; l <= height; ++l) expected.push_back(part(k, width) + part(l, height));
  }
  std::sort(expected.begin(), expected.end());
  std::vector<double> first, vectors;
  for (const int threads : {1, 2, 8}) {
    const context<host> ctx({.threads = threads});
    const auto small = eigs(ctx, a.view(), {.count = 6, .which = eigs_which::smallest});
    const auto large = eigs(ctx, a.view(), {.count = 6});
    EXPECT_TRUE(small.converged && large.converged);
    EXPECT_GT(small.restarts, 0);
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_NEAR(small.values[k], expected[k], 1e-9);
      EXPECT_NEAR(large.values[k], expected[expected.size() - 1 - k], 1e-9);
    }
    check_vectors<double>(a.view(), small, 1e-8, 1e-13);
    if (threads == 1) {
      first = small.values;
      vectors.assign(small.vectors.begin(), small.vectors.end());
    }
    EXPECT_EQ(first, small.values);
    EXPECT_TRUE(std::equal(vectors.begin(), vectors.end(), small.vectors.begin()));
  }
}

TEST(EigsOfReals, LargeVectorsGiveTheSameBitsOnAnyNumberOfThreads) {
  const owned_matrix<double> a = grid(200, 200);
  std::vector<double> first;
  for (const int threads : {1, 2, 3}) {
    const auto found = eigs(context<host>({.threads = threads}), a.view(), {.count = 3, .max_products = 60});
    EXPECT_FALSE(found.converged);
    EXPECT_LE(found.products, 100);
    if (threads == 1) first = found.values;
    EXPECT_EQ(first, found.values);
    for (const double r : found.residuals) EXPECT_LT(r, 0.5);
  }
}

TEST(EigsOfReals, InvariantSubspacesAndScales) {
  const context<host> ctx;
  owned_matrix<double> diagonal{40, 40};
  for (i32 i = 0; i < 40; ++i) {
    diagonal.indices.push_back(i);
    diagonal.values.push_back(i < 20 ? 1 : 3);
    diagonal.offsets.push_back(i + 1);
  }
  const auto two = eigs(ctx, diagonal.view(), {.count = 4});
  EXPECT_TRUE(two.converged);
  EXPECT_NEAR(two.values[0], 3, 1e-12);
  check_vectors<double>(diagonal.view(), two, 1e-10);
  for (double& v : diagonal.values) v = 0;
  const auto zero = eigs(ctx, diagonal.view(), {.count = 2});
  EXPECT_TRUE(zero.converged);
  EXPECT_EQ(zero.values, (std::vector<double>{0, 0}));
  check_vectors<double>(diagonal.view(), zero, 1e-10);
  for (const double scale : {1e-200, 1e200}) {
    owned_matrix<double> a = grid(9, 9);
    const double expected = eigs(ctx, a.view(), {.count = 1}).values[0];
    for (double& v : a.values) v *= scale;
    const auto found = eigs(ctx, a.view(), {.count = 1});
    EXPECT_TRUE(found.converged);
    EXPECT_NEAR(found.values[0] / scale, expected, 1e-10);
  }
  owned_matrix<double> huge = grid(3, 3);
  for (double& v : huge.values) v *= 4e307;
  EXPECT_EQ(test::message_of(error_code::invalid_data, [&] { (void)eigs(ctx, huge.view(), {.count = 1}); }),
            "eigs: an eigenvalue is beyond the range of double (expected a smaller matrix norm)");
}

// Residuals are looked at within a cycle: far fewer products than vectors of the subspace.
TEST(EigsOfReals, StopsBeforeTheSubspaceIsFull) {
  const linear_operator<double, host> powers(400, [](span<const double, host> x, span<double, host> y) {
    for (i64 i = 0; i < 400; ++i) y[i] = std::pow(0.5, static_cast<double>(i)) * x[i];
  });
  const auto found = eigs(context<host>(), powers, {.count = 4, .subspace = 200});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.restarts, 0);
  EXPECT_LT(found.products, 40);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(found.values[k], std::pow(0.5, static_cast<double>(k)), 1e-12);
}

// Eigenvalues that are near each other, in pairs, of both signs, or of very different sizes: none is missed.
TEST(EigsOfReals, HardSpectra) {
  std::vector<double> cluster, pairs, graded;
  for (int k = 0; k < 200; ++k) {
    cluster.push_back(k < 194 ? 9.0 * k / 194 : 10 + 1e-3 * k);
    pairs.push_back((k % 2 == 0 ? 1 : 1 + 1e-6) * (k / 2 - 50));
    graded.push_back((k % 2 == 0 ? 1 : -1) * std::pow(0.8, k));
  }
  for (std::vector<double> expected : {cluster, pairs, graded}) {
    std::sort(expected.begin(), expected.end());
    const owned_matrix<double> a = with_eigenvalues<double>(expected, 5);
    const double scale = std::max(std::abs(expected.front()), expected.back());
    for (const eigs_which which : {eigs_which::largest, eigs_which::smallest}) {
      for (const i64 subspace : {8, 0, 100}) {
        const auto found = eigs(context<host>(), a.view(), {.count = 6, .which = which, .subspace = subspace});
        EXPECT_TRUE(found.converged);
        for (std::size_t k = 0; k < 6; ++k) {
          EXPECT_NEAR(found.values[k], which == eigs_which::largest ? expected[199 - k] : expected[k], 1e-9 * scale)
              << scale << " " << subspace << " " << k;
        }
        check_vectors<double>(a.view(), found, 1e-9 * scale, 1e-12);
      }
    }
  }
}

// A vector that has more than rounding errors of those before `first` becomes orthogonal to them all the same.
TEST(EigsOfReals, OrthogonalisationTrustsNobody) {
  const context<host> ctx;
  constexpr i64 n = 5000, k = 6;
  detail::krylov::tall_basis<double, host> basis(ctx, n, k);
  std::vector<double> sums(k + 1);
  std::uint64_t seed = 3;
  double before = 0;
  for (i64 j = 0; j < k; ++j) {
    basis.randomize(j, seed);
    basis.scale(j, 1 / basis.orthogonalise(j, sums.data(), before));
  }
  basis.randomize(k, seed);
  for (i64 i = 0; i < n; ++i) basis.vector(k)[i] = 1e-9 * basis.vector(k)[i] + basis.vector(1)[i];
  basis.scale(k, 1 / basis.orthogonalise(k, sums.data(), before, 4));
  EXPECT_NEAR(sums[1], 1, 1e-6);
  for (i64 j = 0; j < k; ++j) {
    long double product = 0;
    for (i64 i = 0; i < n; ++i) product += static_cast<long double>(basis.vector(j)[i]) * basis.vector(k)[i];
    EXPECT_NEAR(static_cast<double>(product), 0, 1e-14) << j;
  }
}

TEST(EigsOfReals, Operators) {
  const context<host> ctx;
  const linear_operator<double, host> by_index(500, [](span<const double, host> x, span<double, host> y) {
    for (i64 i = 0; i < 500; ++i) y[i] = std::sqrt(static_cast<double>(i)) * x[i];
  });
  const auto found = eigs(ctx, by_index, {.count = 3, .seed = 4});
  EXPECT_TRUE(found.converged);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found.values[k], std::sqrt(499.0 - static_cast<double>(k)), 1e-9);
}

TEST(EigsOfReals, Refusals) {
  const context<host> ctx;
  const auto message = [&](error_code code, const owned_matrix<double>& a, const eigs_options& options) {
    return test::message_of(code, [&] { (void)eigs(ctx, a.view(), options); });
  };
  const owned_matrix<double> a = grid(3, 3);
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 10}), "eigs: 10 eigenvalues of a matrix of 9 rows");
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 0}), "eigs: 0 eigenvalues of a matrix of 9 rows");
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 4, .subspace = 4}),
            "eigs: a subspace of 4 vectors for 4 eigenvalues (expected more)");
  EXPECT_EQ(message(error_code::invalid_argument, a, {.count = 4, .subspace = -1}),
            "eigs: a subspace of -1 vectors (expected 0 or more)");
  owned_matrix<double> bad = a;
  bad.values[3] = std::nan("");
  EXPECT_EQ(message(error_code::invalid_data, bad, {.count = 1}),
            "eigs: the matrix has a value in row 1 (from 0) that is infinite or NaN");
  bad.values[3] = 7;
  EXPECT_EQ(message(error_code::invalid_data, bad, {.count = 1}),
            "eigs: the matrix is not symmetric (Hermitian): (0, 1) and (1, 0) differ (from 0)");
  const auto asymmetry = [&](std::vector<std::int32_t> offsets, std::vector<std::int32_t> indices) {
    const std::vector<double> ones(indices.size(), 1.0);
    const auto rows = static_cast<std::int32_t>(offsets.size() - 1);
    const csr_view<const double, std::int32_t, std::int32_t, host> view{rows, rows, offsets, indices, ones};
    return test::message_of(error_code::invalid_data, [&] { (void)eigs(ctx, view, {.count = 1}); })
        .substr(std::string("eigs: the matrix is not symmetric (Hermitian): ").size());
  };
  EXPECT_EQ(asymmetry({0, 2, 2, 2}, {0, 2}), "(0, 2) is an entry and (2, 0) is none (from 0)");
  EXPECT_EQ(asymmetry({0, 1, 2, 4}, {0, 1, 0, 1}), "(2, 0) is an entry and (0, 2) is none (from 0)");
  EXPECT_EQ(asymmetry({0, 0, 1, 3}, {2, 0, 1}), "(2, 0) is an entry and (0, 2) is none (from 0)");
  EXPECT_EQ(asymmetry({0, 2, 4, 4}, {0, 1, 1, 0}), "row 1 is not sorted by column (from 0)");
  EXPECT_EQ(asymmetry({0, 1, 3, 3}, {0, 1, 1}), "row 1 has column 1 twice (from 0)");
  {
    const rows_from_one counting;
    EXPECT_EQ(asymmetry({0, 2, 2, 2}, {0, 2}), "(1, 3) is an entry and (3, 1) is none");
    EXPECT_EQ(asymmetry({0, 1, 3, 3}, {0, 1, 1}), "row 2 has column 2 twice");
  }
  EXPECT_EQ(asymmetry({0, 2, 2, 2}, {0, 2}), "(0, 2) is an entry and (2, 0) is none (from 0)");
}

// --- On a device -----------------------------------------------------------------------------------------------------

using EigsOnDevice = test::device_suite;

template <class V>
eigs_result<V> there(const owned_matrix<V>& a, const eigs_options& options) {
  const context<device> gpu;
  const auto matrix = to_device(gpu, a.view());
  return eigs(gpu, matrix, options);
}

// The values of full matrices, and those of the host.
template <class V>
void expect_known_values() {
  const double eps = static_cast<double>(std::numeric_limits<decltype(std::real(V{}))>::epsilon());
  for (const std::size_t n : {1, 2, 3, 7, 30, 120}) {
    std::vector<double> expected;
    for (std::size_t k = 0; k < n; ++k)
      expected.push_back(std::pow(static_cast<double>(k), 1.3) - 0.4 * static_cast<double>(n));
    const owned_matrix<V> a = with_eigenvalues<V>(expected, static_cast<unsigned>(n));
    const double scale = 200 * eps * (1 + std::abs(expected.front()) + std::abs(expected.back()));
    for (const eigs_which which : {eigs_which::largest, eigs_which::smallest}) {
      for (const i64 subspace : {0, 11}) {
        SCOPED_TRACE(testing::Message() << n << " rows, subspace " << subspace << ", " << sizeof(V) << " bytes");
        const auto count = static_cast<i64>(std::min<std::size_t>(n, 5));
        const eigs_options options{.count = count, .which = which, .subspace = subspace};
        const eigs_result<V> found = there(a, options);
        EXPECT_TRUE(found.converged);
        const eigs_result<V> here = eigs(context<host>(), a.view(), options);
        for (std::size_t k = 0; k < found.values.size(); ++k) {
          EXPECT_NEAR(found.values[k], which == eigs_which::largest ? expected[n - 1 - k] : expected[k], scale);
          EXPECT_NEAR(found.values[k], here.values[k], scale);
        }
        check_vectors<V>(a.view(), found, std::max(scale, 1e-7));
      }
    }
  }
}
TEST_F(EigsOnDevice, KnownEigenvaluesOfEveryType) {
  expect_known_values<float>();
  expect_known_values<double>();
  expect_known_values<std::complex<float>>();
  expect_known_values<std::complex<double>>();
}

// More tiles than blocks, a last one that is not full, and several parts of rows in a rotation.
TEST_F(EigsOnDevice, LongVectors) {
  constexpr i32 n = 600'001;
  owned_matrix<double> a{n, n};
  std::vector<double> expected{9, 8, 7.5, 7, 6, 5.5, 5};
  for (i32 i = 0; i < n; ++i) {
    a.indices.push_back(i);
    a.values.push_back(i % 90'001 == 17 ? expected[static_cast<std::size_t>(i / 90'001)] : 1e-6 * i);
    a.offsets.push_back(i + 1);
  }
  const auto found = there(a, {.count = 7, .tolerance = 1e-9, .subspace = 12});
  EXPECT_TRUE(found.converged);
  EXPECT_GT(found.restarts, 0);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(found.values[k], expected[k], 1e-8);
  check_vectors<double>(a.view(), found, 1e-7);
}

TEST_F(EigsOnDevice, RestartsAndEveryRunGivesTheSameBits) {
  const owned_matrix<double> a = grid(61, 47);
  const eigs_options options{.count = 6, .which = eigs_which::smallest};
  const auto first = there(a, options);
  EXPECT_TRUE(first.converged);
  EXPECT_GT(first.restarts, 1);
  check_vectors<double>(a.view(), first, 1e-8, 1e-13);
  const auto here = eigs(context<host>(), a.view(), options);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(first.values[k], here.values[k], 1e-9);
  const auto again = there(a, options);
  EXPECT_EQ(again.values, first.values);
  EXPECT_TRUE(std::equal(again.vectors.begin(), again.vectors.end(), first.vectors.begin(), first.vectors.end()));
  const auto limited = there(a, {.count = 6, .max_products = 40});
  EXPECT_FALSE(limited.converged);
}

TEST_F(EigsOnDevice, InvariantSubspacesScalesAndRefusals) {
  owned_matrix<double> diagonal{40, 40};
  for (i32 i = 0; i < 40; ++i) {
    diagonal.indices.push_back(i);
    diagonal.values.push_back(i < 20 ? 1 : 3);
    diagonal.offsets.push_back(i + 1);
  }
  const auto two = there(diagonal, {.count = 4});
  EXPECT_TRUE(two.converged);
  EXPECT_NEAR(two.values[0], 3, 1e-12);
  check_vectors<double>(diagonal.view(), two, 1e-10);
  for (double& v : diagonal.values) v = 0;
  EXPECT_EQ(there(diagonal, {.count = 2}).values, (std::vector<double>{0, 0}));
  for (const double scale : {1e-200, 1e200}) {
    owned_matrix<double> a = grid(9, 9);
    const double expected = eigs(context<host>(), a.view(), {.count = 1}).values[0];
    for (double& v : a.values) v *= scale;
    EXPECT_NEAR(there(a, {.count = 1}).values[0] / scale, expected, 1e-10);
  }
  owned_matrix<double> bad = grid(3, 3);
  const auto message = [&](error_code code, const eigs_options& options) {
    return test::message_of(code, [&] { (void)there(bad, options); });
  };
  EXPECT_EQ(message(error_code::invalid_argument, {.count = 10}), "eigs: 10 eigenvalues of a matrix of 9 rows");
  bad.values[3] = 7;
  EXPECT_EQ(message(error_code::invalid_data, {.count = 1}),
            "eigs: the matrix is not symmetric (Hermitian): an entry has no counterpart, or another one than its "
            "conjugate");
  bad.values[3] = std::nan("");
  EXPECT_EQ(message(error_code::invalid_data, {.count = 1}),
            "eigs: the matrix has a value in row 1 (from 0) that is infinite or NaN");
  bad = grid(3, 3);
  std::swap(bad.indices[0], bad.indices[1]);
  std::swap(bad.values[0], bad.values[1]);
  EXPECT_EQ(message(error_code::invalid_data, {.count = 1}),
            "eigs: the matrix is not symmetric (Hermitian): a row is not sorted by column, or has a column twice");
}

// A hash over the entries shows most matrices to be symmetric; others are searched.
TEST_F(EigsOnDevice, SymmetryIsSeen) {
  const auto is_refused = [](const auto& a) {
    try {
      (void)there(a, {.count = 1});
      return false;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_data);
      return true;
    }
  };
  const auto element = [](auto& a, i32 row, i32 column) -> auto& {
    const auto first = a.indices.begin() + a.offsets[static_cast<std::size_t>(row)];
    const auto last = a.indices.begin() + a.offsets[static_cast<std::size_t>(row) + 1];
    return a.values[static_cast<std::size_t>(std::find(first, last, column) - a.indices.begin())];
  };
  owned_matrix<double> a = grid(5, 5);
  element(a, 0, 1) = element(a, 1, 0) = 2;
  element(a, 0, 5) = element(a, 5, 0) = 3;
  EXPECT_FALSE(is_refused(a));
  std::swap(element(a, 1, 0), element(a, 5, 0));  // the same values elsewhere
  EXPECT_TRUE(is_refused(a));
  a = grid(5, 5);
  element(a, 0, 1) *= 1 + 2 * std::numeric_limits<double>::epsilon();  // of rounding
  EXPECT_FALSE(is_refused(a));
  element(a, 0, 1) = 0.0;
  element(a, 1, 0) = -0.0;
  EXPECT_FALSE(is_refused(a));
  const owned_matrix<double> half{2, 2, {0, 2, 3}, {0, 1, 1}, {1, 0, 1}};
  EXPECT_TRUE(is_refused(half));
  // A long row.
  constexpr i32 n = 5001;
  owned_matrix<double> star{n, n};
  for (i32 i = 0; i < n; ++i) {
    for (i32 j = i == 0 ? 1 : 0; j < (i == 0 ? n : 1); ++j) {
      star.indices.push_back(j);
      star.values.push_back(1 + 1e-3 * (i + j));
    }
    star.offsets.push_back(static_cast<i32>(star.indices.size()));
  }
  EXPECT_FALSE(is_refused(star));
  element(star, 0, n - 1) += 1;
  EXPECT_TRUE(is_refused(star));
  using complex = std::complex<double>;
  owned_matrix<complex> h{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, {2, 3}, {2, -3}, 1}};
  EXPECT_FALSE(is_refused(h));
  h.values[2] = {2, 3};
  EXPECT_TRUE(is_refused(h));
  h.values[1] = h.values[2] = 2;  // with an imaginary part of 0 in both
  EXPECT_FALSE(is_refused(h));
  h.values[0] = {1, 1};
  EXPECT_TRUE(is_refused(h));
}

// Copied to the host by threads, padded and not.
TEST_F(EigsOnDevice, LargeVectorsComeBack) {
  for (const i32 n : {1 << 21, (1 << 21) + 5}) {
    owned_matrix<double> a{n, n};
    for (i32 i = 0; i < n; ++i) {
      a.indices.push_back(i);
      a.values.push_back(i >= n - 2 ? 3 + i - n : 1e-7 * i);
      a.offsets.push_back(i + 1);
    }
    const auto found = there(a, {.count = 2, .tolerance = 1e-9});
    EXPECT_TRUE(found.converged);
    EXPECT_NEAR(found.values[0], 2, 1e-8);
    check_vectors<double>(a.view(), found, 1e-7);
  }
}

TEST_F(EigsOnDevice, FailedAllocationsLeakNothing) {
  const owned_matrix<double> a = grid(20, 20);
  EXPECT_GE(test::fail_every_device_allocation([&](const context<device>& gpu) {
              const auto matrix = to_device(gpu, a.view());
              (void)eigs(gpu, matrix, {.count = 2});
            }),
            6);
}

// Of Zachary's karate club: the largest eigenvalue.
TEST(EigsOfReals, TheKarateClub) {
  SPARGO_TEST_NEEDS_DATA();
  const context<host> ctx;
  const auto a =
      to_csr<i32>(ctx, read_matrix_market<double, i32>(ctx, (test::data_directory() / "karate.mtx").string()).view());
  EXPECT_NEAR(eigs(ctx, a, {.count = 2}).values[0], 6.72570, 1e-5);
}

}  // namespace
}  // namespace spargo
