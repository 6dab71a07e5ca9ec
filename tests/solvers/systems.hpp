// Linear systems for tests of solvers, and their solutions by dense elimination in long double.
#pragma once

#include "support/number.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/solvers/krylov.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace spargo::test {

using i32 = std::int32_t;
using i64 = std::int64_t;
using wide = std::complex<long double>;

template <class V>
using csr = csr_matrix<V, i32, i32, host>;
template <class V>
using rows_of = std::vector<std::vector<V>>;

// Entries that are not 0, rows in order.
template <class V>
csr<V> csr_of(const rows_of<V>& dense) {
  const context<host> ctx;
  std::vector<i32> offsets{0};
  std::vector<i32> indices;
  std::vector<V> values;
  for (const auto& row : dense) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] == V{}) continue;
      indices.push_back(static_cast<i32>(j));
      values.push_back(row[j]);
    }
    offsets.push_back(static_cast<i32>(indices.size()));
  }
  const auto n = static_cast<i32>(dense.size());
  const auto cols = dense.empty() ? 0 : static_cast<i32>(dense[0].size());
  return {n, cols, clone(ctx, span<const i32, host>(offsets)), clone(ctx, span<const i32, host>(indices)),
          clone(ctx, span<const V, host>(values))};
}

enum class kind { definite, hermitian, general };

// Sparse, well conditioned by a heavy diagonal; of `hermitian` it changes its sign from row to row.
template <class V>
rows_of<V> random_matrix(std::size_t n, kind what, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  rows_of<V> a(n, std::vector<V>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t j = random() % n;
      const V v = number<V>(uniform(random), uniform(random));
      if (i == j) continue;
      a[i][j] = v;
      if (what != kind::general) a[j][i] = number<V>(std::real(v), -std::imag(v));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 1;
    for (std::size_t j = 0; j < n; ++j) sum += std::abs(a[i][j]);
    a[i][i] = number<V>(what == kind::hermitian && i % 3 == 1 ? -sum : sum, what == kind::general ? 0.5 : 0);
  }
  return a;
}

// Gaussian elimination with partial pivoting.
template <class V>
std::vector<wide> solved(const rows_of<V>& dense, const std::vector<V>& right) {
  const std::size_t n = dense.size();
  std::vector<std::vector<wide>> a(n, std::vector<wide>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i][j] = widened(dense[i][j]);
    a[i][n] = widened(right[i]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const wide by = a[i][k] / a[k][k];
      for (std::size_t j = k; j <= n; ++j) a[i][j] -= by * a[k][j];
    }
  }
  std::vector<wide> x(n);
  for (std::size_t i = n; i-- > 0;) {
    wide sum = a[i][n];
    for (std::size_t j = i + 1; j < n; ++j) sum -= a[i][j] * x[j];
    x[i] = sum / a[i][i];
  }
  return x;
}

template <class V>
std::vector<V> random_vector(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<V> v(n);
  for (V& each : v) each = number<V>(uniform(random), uniform(random));
  return v;
}

// |b - A x| / |b|, entry by entry in long double.
template <class V>
double residual_of(const csr<V>& a, const std::vector<V>& b, const std::vector<V>& x) {
  long double square = 0;
  long double all = 0;
  for (i32 i = 0; i < a.rows(); ++i) {
    wide sum = widened(b[static_cast<std::size_t>(i)]);
    all += std::norm(sum);
    for (i32 k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k) {
      sum -= widened(a.values()[k]) * widened(x[static_cast<std::size_t>(a.indices()[k])]);
    }
    square += std::norm(sum);
  }
  return static_cast<double>(std::sqrt(square / all));
}

// 4 on the diagonal, -1 beside it, n x n grid.
inline csr<double> grid(i32 n) {
  const context<host> ctx;
  std::vector<i32> offsets{0};
  std::vector<i32> indices;
  std::vector<double> values;
  for (i32 y = 0; y < n; ++y) {
    for (i32 x = 0; x < n; ++x) {
      const auto entry = [&](bool inside, i32 column, double value) {
        if (!inside) return;
        indices.push_back(column);
        values.push_back(value);
      };
      const i32 row = y * n + x;
      entry(y > 0, row - n, -1);
      entry(x > 0, row - 1, -1);
      entry(true, row, 4);
      entry(x + 1 < n, row + 1, -1);
      entry(y + 1 < n, row + n, -1);
      offsets.push_back(static_cast<i32>(indices.size()));
    }
  }
  return {n * n, n * n, clone(ctx, span<const i32, host>(offsets)), clone(ctx, span<const i32, host>(indices)),
          clone(ctx, span<const double, host>(values))};
}

// A matrix in a space, and a run of a plan there with vectors of the host.
template <class V>
const csr<V>& in_space(const context<host>&, const csr<V>& a) {
  return a;
}
template <class V>
csr_matrix<V, i32, i32, device> in_space(const context<device>& ctx, const csr<V>& a) {
  return to_device(ctx, a.view());
}
template <class V>
krylov_result run_in_space(const context<host>&, const krylov_plan<V, host>& plan, const std::vector<V>& b,
                           std::vector<V>& x) {
  return plan.run(b, x);
}
template <class V>
krylov_result run_in_space(const context<device>& ctx, const krylov_plan<V, device>& plan, const std::vector<V>& b,
                           std::vector<V>& x) {
  array<V, device> right(ctx, static_cast<i64>(b.size()));
  array<V, device> there(ctx, static_cast<i64>(x.size()));
  copy<V>(ctx, span<const V, host>(b), right.view());
  copy<V>(ctx, span<const V, host>(x), there.view());
  const krylov_result found = plan.run(std::as_const(right).view(), there.view());
  copy<V>(ctx, std::as_const(there).view(), span<V, host>(x));
  ctx.synchronize();
  return found;
}

// A system without rows, by every method and preconditioner, and by an operator.
template <class Space>
void expect_empty_systems() {
  const context<Space> ctx;
  const csr<double> nothing = csr_of<double>({});
  const auto& a = in_space(ctx, nothing);
  const auto solve = [&](const krylov_plan<double, Space>& plan) {
    std::vector<double> x;
    const krylov_result found = run_in_space(ctx, plan, {}, x);
    EXPECT_TRUE(found.converged) << found.reason;
    EXPECT_EQ(found.iterations, 0);
    EXPECT_EQ(found.relative_residual, 0);
  };
  for (const auto& by : enum_rows<krylov_method>()) {
    for (const auto& m : enum_rows<krylov_preconditioner>()) {
      for (const i64 sweeps : {0, 2}) {
        SCOPED_TRACE(testing::Message() << by.name << ", " << m.name << ", " << sweeps << " sweeps");
        const krylov_options options{.method = by.value, .preconditioner = m.value, .triangular_sweeps = sweeps};
        const krylov_plan<double, Space> plan(ctx, a.view(), options);
        EXPECT_TRUE(m.value == krylov_preconditioner::automatic || plan.preconditioner() == m.value);
        solve(plan);
      }
    }
    SCOPED_TRACE(by.name);
    const linear_operator<double, Space> product(0, [](auto, auto) {});
    solve({ctx, product, {.method = by.value}});
    solve({ctx, product, product, {.method = by.value}});
  }
}

}  // namespace spargo::test
