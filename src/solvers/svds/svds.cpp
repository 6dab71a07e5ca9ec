// Golub and Kahan's bidiagonalisation with thick restarts.
//
// Invariant: A V = U B and A^H U = V B^H + beta v e^T for orthonormal bases U and V, with B real and upper triangular.
// A restart replaces V by the best right vectors V Y of B = X S Y^T, U by U X, B by S, and goes on from v; the
// couplings beta X_last follow from the products. V is on the side of the lesser dimension, so that no start vector
// lies in a null space: a wide matrix is transposed.
#include <spargo/solvers/svds.hpp>

#include "core/backend.hpp"
#include "core/counted.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "core/rows_from_one.hpp"
#include "solvers/krylov/device_system.hpp"
#include "solvers/krylov/rotation.hpp"
#include "solvers/krylov/tall.hpp"
#include "solvers/krylov/tall_basis.hpp"
#include "sparse/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace spargo {

namespace {

namespace krylov = detail::krylov;
using krylov::small_matrix;

// The inner product of two rows.
double dot(const small_matrix& a, std::int64_t i, std::int64_t j) {
  const double* const x = a.entries.data() + i * a.n;
  const double* const y = a.entries.data() + j * a.n;
  return krylov::sum_terms<double>(0, a.n, [&](std::int64_t k) { return x[k] * y[k]; });
}

// Row k of x, which belongs to the singular value 0: any unit vector orthogonal to the rows before it.
void complete_row(small_matrix& x, std::int64_t k) {
  for (std::int64_t unit = 0; unit < x.n; ++unit) {
    for (std::int64_t i = 0; i < x.n; ++i) x(k, i) = i == unit ? 1 : 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t j = 0; j < k; ++j) {
        const double by = dot(x, j, k);
        for (std::int64_t i = 0; i < x.n; ++i) x(k, i) -= by * x(j, i);
      }
    }
    const double norm = std::sqrt(dot(x, k, k));
    if (norm * norm * static_cast<double>(x.n) < 0.5) continue;  // some unit vector keeps 1 / n of its square
    for (std::int64_t i = 0; i < x.n; ++i) x(k, i) /= norm;
    return;
  }
}

small_matrix transposed(const small_matrix& a) {
  small_matrix t(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t j = 0; j < a.n; ++j) t(j, i) = a(i, j);
  }
  return t;
}

// B = X S Y^T: returns the singular values, descending, by one-sided Jacobi rotations (Golub, Van Loan, section 8.6) of
// B's columns, which are rows of its transpose here. O(n^3) a sweep, some eight sweeps.
std::vector<double> decompose(const small_matrix& of, small_matrix& x, small_matrix& y) {
  const std::int64_t n = of.n;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  small_matrix b = transposed(of), q(n);
  for (std::int64_t i = 0; i < n; ++i) q(i, i) = 1;
  bool is_done = false;
  for (int sweep = 0; sweep < 50 && !is_done; ++sweep) {
    is_done = true;
    for (std::int64_t p = 0; p < n; ++p) {
      interruption::look();
      for (std::int64_t r = p + 1; r < n; ++r) {
        const double pp = dot(b, p, p), rr = dot(b, r, r), pr = dot(b, p, r);
        if (std::abs(pr) <= eps * std::sqrt(pp) * std::sqrt(rr)) continue;
        is_done = false;
        const double tau = (rr - pp) / (2 * pr);
        const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t);
        const double s = t * c;
        for (small_matrix* const m : {&b, &q}) {
          double* const u = m->entries.data() + p * n;
          double* const v = m->entries.data() + r * n;
          for (std::int64_t k = 0; k < n; ++k) {
            const double before = u[k];
            u[k] = c * before - s * v[k];
            v[k] = s * before + c * v[k];
          }
        }
      }
    }
  }
  std::vector<double> norms(static_cast<std::size_t>(n)), values;
  std::vector<std::int64_t> order(norms.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t k = 0; k < n; ++k) norms[static_cast<std::size_t>(k)] = std::sqrt(dot(b, k, k));
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return norms[static_cast<std::size_t>(i)] > norms[static_cast<std::size_t>(j)];
  });
  small_matrix left(n);
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t from = order[static_cast<std::size_t>(k)];
    const double norm = norms[static_cast<std::size_t>(from)];
    values.push_back(norm);
    for (std::int64_t i = 0; i < n; ++i) y(i, k) = q(from, i);
    if (norm > eps * static_cast<double>(n) * values.front()) {
      for (std::int64_t i = 0; i < n; ++i) left(k, i) = b(from, i) / norm;
    } else {
      complete_row(left, k);
    }
  }
  x = transposed(left);
  return values;
}

template <class V, class Space>
class bidiagonalisation {
 public:
  using product = std::function<void(const V*, V*)>;
  using side = krylov::tall_basis<V, Space>;

  bidiagonalisation(const context<Space>& ctx, std::int64_t tall, std::int64_t narrow, product a, product a_h,
                    const svds_options& options, std::int64_t subspace)
      : a_(std::move(a)),
        a_h_(std::move(a_h)),
        options_(options),
        m_(subspace),
        u_(ctx, tall, subspace),
        v_(ctx, narrow, subspace),
        b_(subspace),
        x_(subspace),
        y_(subspace),
        sums_(static_cast<std::size_t>(subspace) + 1),
        seed_(options.seed) {
    options_.tolerance = std::max(options_.tolerance, 32 * eps);
  }

  // Values and residuals are those of 2^exponent A.
  svds_result<V> run(int exponent) {
    svds_result<V> result;
    std::int64_t kept = 0;
    random_vector(v_, 0);
    const std::int64_t count = options_.count;
    while (true) {
      for (std::int64_t j = kept; j < m_; ++j) step(j, kept);
      values_ = decompose(b_, x_, y_);
      std::int64_t good = 0;
      while (good < count && beta_ * std::abs(x_(m_ - 1, good)) <= options_.tolerance * values_.front()) ++good;
      result.converged = good == count;
      result.products = products_;
      if (result.converged || products_ >= options_.max_products) break;
      // A third of the rest as well, and more where some have converged: the next subspace grows from these.
      kept = std::min(count + (m_ - count) / 3 + good / 2, m_ - 1);
      rotate(kept);
      v_.copy(m_, kept);
      std::fill(b_.entries.begin(), b_.entries.end(), 0.0);
      for (std::int64_t k = 0; k < kept; ++k) b_(k, k) = values_[static_cast<std::size_t>(k)];
      ++result.restarts;
    }
    rotate(count);
    result.left = u_.first(count);
    result.right = v_.first(count);
    for (std::int64_t k = 0; k < count; ++k) {
      const double value = values_[static_cast<std::size_t>(k)];
      const double residual =
          std::max(distance(a_, v_.vector(k), u_, k, value), distance(a_h_, u_.vector(k), v_, k, value));
      result.converged = result.converged && residual <= 4 * options_.tolerance * values_.front();
      result.values.push_back(std::ldexp(value, exponent));
      if (!std::isfinite(result.values.back())) {
        throw error(error_code::invalid_data,
                    "svds: a singular value is beyond the range of double (expected a smaller matrix norm)");
      }
      result.residuals.push_back(std::ldexp(residual, exponent));
    }
    return result;
  }

 private:
  static constexpr double eps = static_cast<double>(std::numeric_limits<krylov::real_of<V>>::epsilon());

  // |A x - value y_k|, where y_k is on the other side, whose last vector is scratch.
  double distance(const product& a, const V* x, side& other, std::int64_t k, double value) {
    a(x, other.vector(m_));
    return other.subtract(k, value, m_);
  }

  // Vector k becomes orthogonal to those before it; returns its norm, and the one before in `before`.
  // `first`: of the vectors that it has a part of, but for rounding errors.
  double orthogonalise(side& of, std::int64_t k, double& before, std::int64_t first = 0) {
    return of.orthogonalise(k, sums_.data(), before, first);
  }

  void random_vector(side& of, std::int64_t k) {
    of.randomize(k, seed_);
    double before = 0;
    for (int pass = 0; pass < 2; ++pass) of.scale(k, 1 / orthogonalise(of, k, before));
  }

  // Vector k, of norm `norm`, becomes a unit vector; a random one if it is 0 up to rounding. Returns the norm, or 0.
  double normalise(side& of, std::int64_t k, double norm) {
    if (!std::isfinite(norm)) throw error(error_code::invalid_data, "svds: a product with the matrix is not finite");
    if (norm > 8 * eps * norm_) {
      of.scale(k, 1 / norm);
      return norm;
    }
    random_vector(of, k);
    return 0;
  }

  // Column j of B, vectors u_j and v_(j + 1). B is bidiagonal behind the `kept` columns of the last restart.
  void step(std::int64_t j, std::int64_t kept) {
    interruption::look();
    double before = 0;
    a_(v_.vector(j), u_.vector(j));
    const double alpha = orthogonalise(u_, j, before, j > kept ? j - 1 : 0);
    for (std::int64_t i = 0; i < j; ++i) b_(i, j) = std::real(sums_[static_cast<std::size_t>(i)]);
    norm_ = std::max(norm_, before);
    b_(j, j) = normalise(u_, j, alpha);
    a_h_(u_.vector(j), v_.vector(j + 1));
    beta_ = orthogonalise(v_, j + 1, before, j);
    norm_ = std::max(norm_, before);
    beta_ = j + 1 < v_.size() ? normalise(v_, j + 1, beta_) : 0;
    products_ += 2;
  }

  // The first `count` columns of U X and V Y replace the first vectors.
  void rotate(std::int64_t count) {
    std::vector<std::int64_t> columns(static_cast<std::size_t>(count));
    std::iota(columns.begin(), columns.end(), 0);
    u_.rotate(x_, columns);
    v_.rotate(y_, columns);
  }

  product a_, a_h_;
  svds_options options_;
  std::int64_t m_;
  side u_, v_;
  small_matrix b_, x_, y_;
  std::vector<double> values_;
  std::vector<krylov::sum_of<V>> sums_;
  std::uint64_t seed_;
  double beta_ = 0;
  double norm_ = 0;
  std::int64_t products_ = 0;
};

// The exponent of the largest part of a value where it is far from 1, else 0. Throws for one that is not finite.
template <class V, class I, class O, class Space>
int exponent_of(const context<Space>& ctx, const krylov::system<V, Space>& values,
                const csr_view<const V, I, O, Space>& a) {
  std::int64_t bad = -1;
  const double largest = values.largest(a.values, bad);
  if (bad >= 0) {
    array<O, host> offsets(context<host>(), a.offsets.size());
    copy<O>(ctx, a.offsets, offsets.view());
    ctx.synchronize();
    const auto row = std::upper_bound(offsets.begin(), offsets.end(), static_cast<O>(bad)) - offsets.begin() - 1;
    throw error(error_code::invalid_data,
                fmt::format("svds: the matrix has a value in row {}{} that is infinite or NaN", detail::shown_row(row),
                            detail::counted_from()));
  }
  int exponent = 0;
  (void)std::frexp(largest, &exponent);
  return std::abs(exponent) > 32 ? exponent : 0;
}

template <class V, class I, class O, class Space>
svds_result<V> svds_of(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                       const svds_options& options) {
  detail::expect_csr("svds", matrix);
  const std::int64_t lesser = std::min(matrix.rows, matrix.cols);
  SPARGO_EXPECTS(options.count >= 1 && options.count <= lesser,
                 fmt::format("svds: {} of a matrix of {} x {}", detail::counted(options.count, "singular value"),
                             matrix.rows, matrix.cols));
  SPARGO_EXPECTS(options.tolerance >= 0,
                 fmt::format("svds: the tolerance is {} (expected 0 or more)", options.tolerance));
  SPARGO_EXPECTS(options.subspace >= 0, fmt::format("svds: a subspace of {} (expected 0 or more)", options.subspace));
  const std::int64_t subspace = std::min(lesser, options.subspace > 0 ? options.subspace : 2 * options.count + 20);
  SPARGO_EXPECTS(subspace > options.count || subspace == lesser,
                 fmt::format("svds: a subspace of {} for {} (expected more)", detail::counted(subspace, "vector"),
                             detail::counted(options.count, "singular value")));
  krylov::system<V, Space> values{ctx};
  values.a.size = matrix.nnz();
  values.prepare(krylov_method::minres, 1);
  const int exponent = exponent_of<V, I, O, Space>(ctx, values, matrix);
  array<V, Space> scaled(ctx, 0);  // where squares of the values, or sums of products, are out of range
  csr_view<const V, I, O, Space> a_view = matrix;
  if (exponent != 0) {
    scaled = {ctx, matrix.nnz()};
    values.scale(matrix.values.data(), -exponent, scaled.data());
    a_view.values = std::as_const(scaled).view();
  }
  spmv_options repeated{.storage = spmv_storage::copied, .products = 100};
  const spmv_plan<V, I, O, Space> by_a(ctx, a_view, repeated);
  repeated.operation = spmv_operation::conjugate_transpose;
  const spmv_plan<V, I, O, Space> by_a_h(ctx, a_view, repeated);
  using product = typename bidiagonalisation<V, Space>::product;
  const auto product_of = [](const spmv_plan<V, I, O, Space>& plan, std::int64_t from, std::int64_t to) -> product {
    return [&plan, from, to](const V* x, V* y) {
      plan.run(V{1}, span<const V, Space>(x, from), V{}, span<V, Space>(y, to));
    };
  };
  const bool is_wide = matrix.rows < matrix.cols;
  const product a = product_of(by_a, matrix.cols, matrix.rows), a_h = product_of(by_a_h, matrix.rows, matrix.cols);
  bidiagonalisation<V, Space> method(ctx, std::max<std::int64_t>(matrix.rows, matrix.cols), lesser, is_wide ? a_h : a,
                                     is_wide ? a : a_h, options, subspace);
  svds_result<V> result = method.run(exponent);
  if (is_wide) std::swap(result.left, result.right);
  return result;
}

}  // namespace

template <value_type V, index_type I, index_type O>
svds_result<V> svds(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                    const svds_options& options) try {
  return svds_of<V, I, O, host>(ctx, matrix, options);
} catch (...) {
  detail::rethrow("svds");
}

template <value_type V, index_type I, index_type O>
svds_result<V> svds(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                    const svds_options& options) try {
  if constexpr (detail::is_built<device>) {
    return svds_of<V, I, O, device>(ctx, matrix, options);
  } else {
    detail::no_device("svds");
  }
} catch (...) {
  detail::rethrow("svds");
}

#define INSTANTIATE(V, I, O)                                                                                     \
  template svds_result<V> svds(const context<host>&, const csr_view<const V, I, O, host>&, const svds_options&); \
  template svds_result<V> svds(const context<device>&, const csr_view<const V, I, O, device>&, const svds_options&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
