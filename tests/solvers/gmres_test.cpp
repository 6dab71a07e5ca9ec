// The residuals of GMRES on the host, step by step, against minimal residuals in long double.
#include "solvers/systems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

namespace spargo::test {
namespace {

using vector_of_wide = std::vector<wide>;

wide product(const vector_of_wide& u, const vector_of_wide& v) {
  wide sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += std::conj(u[i]) * v[i];
  return sum;
}

// Makes v orthogonal to `basis`, vector by vector and twice, and gives it the norm 1.
void append(std::vector<vector_of_wide>& basis, vector_of_wide v) {
  for (int pass = 0; pass < 2; ++pass) {
    for (const vector_of_wide& u : basis) {
      const wide part = product(u, v);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= part * u[i];
    }
  }
  const long double size = std::sqrt(std::real(product(v, v)));
  for (wide& e : v) e /= size;
  basis.push_back(std::move(v));
}

// |r| / |b| after each step: r loses its part in A K, where K is the Krylov space of the cycle's first r.
template <class V>
std::vector<double> least_residuals(const rows_of<V>& a, const std::vector<V>& b, i64 steps, i64 restart) {
  vector_of_wide r;
  for (const V v : b) r.push_back(widened(v));
  const long double start = std::sqrt(std::real(product(r, r)));
  std::vector<double> history{1};
  std::vector<vector_of_wide> space;
  std::vector<vector_of_wide> image;
  for (i64 k = 0; k < steps; ++k) {
    if (k % restart == 0) {
      space.clear();
      image.clear();
      append(space, r);
    }
    vector_of_wide next(r.size());
    for (std::size_t i = 0; i < r.size(); ++i) {
      for (std::size_t j = 0; j < r.size(); ++j) next[i] += widened(a[i][j]) * space.back()[j];
    }
    append(image, next);
    append(space, next);
    const wide part = product(image.back(), r);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= part * image.back()[i];
    history.push_back(static_cast<double>(std::sqrt(std::real(product(r, r))) / start));
  }
  return history;
}

template <class V>
class Gmres : public testing::Test {
 protected:
  static constexpr std::size_t n = 120;

  // Eigenvalues from 1 to 10^-decades, a little away from normal.
  static rows_of<V> graded(double decades) {
    rows_of<V> a(n, std::vector<V>(n));
    for (std::size_t i = 0; i < n; ++i) {
      const double d = std::pow(10, -decades * static_cast<double>(i) / static_cast<double>(n - 1));
      a[i][i] = number<V>(d, 0.1 * d);
      if (i + 1 < n) a[i][i + 1] = number<V>(0.3 * d, -0.1 * d);
    }
    return a;
  }
  // I + by * a random matrix: most of A v is in the basis.
  static rows_of<V> near_identity(double by) {
    rows_of<V> a = random_matrix<V>(n, kind::general, 5);
    for (std::size_t i = 0; i < n; ++i) {
      for (V& v : a[i]) v *= number<V>(by, 0);
      a[i][i] += V{1};
    }
    return a;
  }
  // The residual stays 1 for n - 1 steps.
  static rows_of<V> cycle() {
    rows_of<V> a(n, std::vector<V>(n));
    for (std::size_t i = 0; i < n; ++i) a[i][(i + 1) % n] = V{1};
    return a;
  }

  static void compare(const std::string& name, const rows_of<V>& dense, std::vector<V> b, i64 steps, i64 restart) {
    SCOPED_TRACE(testing::Message() << name << ", restart " << restart);
    constexpr auto eps = static_cast<double>(std::numeric_limits<real_t<V>>::epsilon());
    const double tolerance = 10 * std::sqrt(eps);
    const csr<V> a = csr_of(dense);
    const std::vector<double> expected = least_residuals(dense, b, steps, restart);
    std::vector<V> x(b.size());
    const krylov_options options{.method = krylov_method::gmres,
                                 .preconditioner = krylov_preconditioner::none,
                                 .tolerance = 0,
                                 .max_iterations = steps,
                                 .restart = restart};
    const krylov_result result = krylov_plan<V, host>(context<host>({.threads = 2}), a.view(), options).run(b, x);
    ASSERT_EQ(result.history.size(), expected.size()) << result.reason;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(result.history[k] / expected[k], 1, tolerance) << k << ": " << expected[k];
    }
    EXPECT_NEAR(result.relative_residual, expected.back(), tolerance * expected.back() + 10 * eps);
  }
};
using values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Gmres, values);

TYPED_TEST(Gmres, EveryResidualIsTheLeast) {
  using V = TypeParam;
  const auto b = random_vector<V>(this->n, 3);
  for (const i64 restart : {60, 7, 1}) {
    this->compare("general", random_matrix<V>(this->n, kind::general, 1), b, 12, restart);
    this->compare("graded by 8", this->graded(8), b, 60, restart);
    this->compare("graded by 3", this->graded(3), b, 60, restart);
    if (restart > 1) this->compare("near I", this->near_identity(4e-3), b, 3, restart);
    // The second step of a pair is of no use. In fp64 such residuals are beyond the tolerance by single steps too.
    if (restart > 1 && sizeof(real_t<V>) == 4) this->compare("nearer", this->near_identity(1e-5), b, 3, restart);
  }
  std::vector<V> unit(this->n);
  unit[0] = V{1};
  this->compare("cycle", this->cycle(), unit, 60, 60);
}

}  // namespace
}  // namespace spargo::test
