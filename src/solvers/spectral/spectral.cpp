// Lanczos' method on L + s q q^T, where L q = 0 and s is twice a bound of L's spectrum: this moves the eigenvalue 0 of
// q above all others and changes no other one. Were s an eigenvalue of L, its vectors could have a part of q.
#include <spargo/solvers/spectral.hpp>

#include "core/counted.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "solvers/krylov/inspect.hpp"
#include "solvers/krylov/iteration.hpp"
#include "sparse/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spargo {

namespace {

namespace krylov = detail::krylov;

template <class V, class I, class O>
double row_sum(const csr_view<const V, I, O, host>& a, std::int64_t row) {
  double sum = 0;
  for (O e = a.offsets[row]; e < a.offsets[row + 1]; ++e) sum += static_cast<double>(a.values[e]);
  return sum;
}

// Throws invalid_data for a weight that is negative or not finite, and a row's sum beyond the range of V.
template <class V, class I, class O>
void expect_weights(const csr_view<const V, I, O, host>& a) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (O e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      if (a.values[e] >= 0 && std::isfinite(a.values[e])) continue;
      throw error(
          error_code::invalid_data,
          fmt::format("spectral_embedding: the weight {} in row {} (from 0; expected 0 or more)", a.values[e], row));
    }
    if (row_sum(a, row) <= static_cast<double>(std::numeric_limits<V>::max())) continue;
    throw error(error_code::invalid_data,
                fmt::format("spectral_embedding: the weights of row {} (from 0) have a sum beyond their type", row));
  }
}

// The unit vector that every Laplacian maps to 0: constant, or the square roots of the row sums. Constant also if those
// are all 0.
template <class V, class I, class O>
array<V, host> null_vector(const context<host>& ctx, const csr_view<const V, I, O, host>& a, laplacian_kind kind) {
  double largest = 0;
  double total = 0;  // of the sums divided by the largest one: these do not overflow
  if (kind == laplacian_kind::normalized) {
    for (std::int64_t row = 0; row < a.rows; ++row) largest = std::max(largest, row_sum(a, row));
    for (std::int64_t row = 0; row < a.rows && largest > 0; ++row) total += row_sum(a, row) / largest;
  }
  array<V, host> q(ctx, a.rows);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const double square = largest > 0 ? row_sum(a, row) / largest / total : 1 / static_cast<double>(a.rows);
    q[row] = static_cast<V>(std::sqrt(square));
  }
  return q;
}

// The largest sum of magnitudes of a row (Gershgorin).
template <class V, class I, class O>
double spectral_bound(const csr_view<const V, I, O, host>& m) {
  double most = 0;
  for (std::int64_t row = 0; row < m.rows; ++row) {
    double sum = 0;
    for (O e = m.offsets[row]; e < m.offsets[row + 1]; ++e) sum += std::abs(static_cast<double>(m.values[e]));
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

template <real_type V, index_type I, index_type O>
eigs_result<V> spectral_embedding(const context<host>& ctx, const csr_view<const V, I, O, host>& adjacency,
                                  const spectral_options& options) try {
  detail::expect_csr("spectral_embedding", adjacency);
  SPARGO_EXPECTS(adjacency.rows == adjacency.cols, fmt::format("spectral_embedding: a matrix of {} x {} (expected a "
                                                               "square one)",
                                                               adjacency.rows, adjacency.cols));
  const auto n = static_cast<std::int64_t>(adjacency.rows);
  SPARGO_EXPECTS(options.dimensions >= 1 && options.dimensions < n,
                 fmt::format("spectral_embedding: {} of {}", detail::counted(options.dimensions, "dimension"),
                             detail::counted(n, "vertex", "vertices")));
  SPARGO_EXPECTS(options.tolerance >= 0,
                 fmt::format("spectral_embedding: the tolerance is {} (expected 0 or more)", options.tolerance));
  expect_weights<V, I, O>(adjacency);
  csr_matrix<V, I, O, host> l = laplacian<V, I, O>(ctx, adjacency, options.laplacian);
  const csr_view<const V, I, O, host> matrix = std::as_const(l).view();
  const auto inspected = krylov::inspect<V, I, O>(ctx, matrix);
  if (!inspected.is_hermitian) {
    throw error(error_code::invalid_data, "spectral_embedding: the matrix is not symmetric: " + inspected.asymmetry);
  }
  int exponent = 0;  // weights far from 1, whose squares are out of range
  (void)std::frexp(inspected.largest, &exponent);
  if (std::abs(exponent) <= 32) exponent = 0;
  if (exponent != 0) {
    for (V& value : l.values()) value = krylov::times_power(value, -exponent);
  }
  const spmv_plan<V, I, O, host> product(ctx, matrix, {.storage = spmv_storage::copied, .products = 100});
  const krylov::block_passes passes(ctx, n, 1);
  const array<V, host> q = null_vector<V, I, O>(ctx, adjacency, options.laplacian);
  const auto dot = [&](const V* x, const V* y) {
    double sum = 0;
    passes.sum(
        1,
        [&](std::int64_t first, std::int64_t last, double* out) {
          *out = krylov::sum_terms<double>(first, last, [&](std::int64_t i) { return krylov::inner(x[i], y[i]); });
        },
        &sum);
    return sum;
  };
  const double bound = spectral_bound<V, I, O>(matrix);
  const double shift = bound > 0 ? 2 * bound : 1;  // 0: L is 0
  const linear_operator<V, host> shifted(n, [&](span<const V, host> x, span<V, host> y) {
    product.run(V{1}, x, V{}, y);
    const auto by = static_cast<V>(shift * dot(q.data(), x.data()));
    passes.each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) y[i] += by * q[i];
    });
  });
  eigs_result<V> result = eigs(ctx, shifted,
                               {.count = options.dimensions,
                                .which = eigs_which::smallest,
                                .tolerance = options.tolerance / 2,  // of the largest value, which is the shift
                                .max_products = options.max_products,
                                .seed = options.seed});
  const double unit = bound > 0 ? 1 : 0;  // of L = 0 all values are 0, without rounding
  for (double& value : result.values) value = std::ldexp(unit * value, exponent);
  for (double& residual : result.residuals) residual = std::ldexp(unit * residual, exponent);
  return result;
} catch (...) {
  detail::rethrow("spectral_embedding");
}

#define INSTANTIATE_VALUE(V, I, O)                                                                       \
  template eigs_result<V> spectral_embedding(const context<host>&, const csr_view<const V, I, O, host>&, \
                                             const spectral_options&);
#define INSTANTIATE(I, O)        \
  INSTANTIATE_VALUE(float, I, O) \
  INSTANTIATE_VALUE(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
