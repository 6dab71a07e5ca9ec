// Lanczos' method with thick restarts.
//
// Invariant: A V = V T + beta v e^T for the orthonormal basis V, with T real and symmetric. A restart replaces V by the
// best Ritz vectors V S, T by their values, and goes on from v; the couplings beta S_last follow from the products.
#include <spargo/solvers/eigs.hpp>

#include "core/backend.hpp"
#include "core/counted.hpp"
#include "core/hypotenuse.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "core/rows_from_one.hpp"
#include "solvers/krylov/device_system.hpp"
#include "solvers/krylov/inspect.hpp"
#include "solvers/krylov/tall_basis.hpp"
#include "sparse/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace spargo {

namespace {

namespace krylov = detail::krylov;

constexpr enum_row<eigs_which> which_rows[] = {{eigs_which::largest, "largest"}, {eigs_which::smallest, "smallest"}};

using krylov::small_matrix;

// Eigenvalues of `a`, ascending, and its eigenvectors as columns of `s`, by Jacobi's rotations (Golub, Van Loan,
// section 8.5). O(n^3) a sweep, some eight sweeps.
std::vector<double> decompose(small_matrix a, small_matrix& s) {
  const std::int64_t n = a.n;
  small_matrix q(n);
  for (std::int64_t i = 0; i < n; ++i) q(i, i) = 1;
  for (int sweep = 0; sweep < 50; ++sweep) {
    double off = 0, all = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        all += a(i, j) * a(i, j);
        if (i != j) off += a(i, j) * a(i, j);
      }
    }
    if (off <= 1e-32 * all) break;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t r = p + 1; r < n; ++r) {
        if (a(p, r) == 0) continue;
        const double tau = (a(r, r) - a(p, p)) / (2 * a(p, r));
        const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + detail::hypotenuse(1.0, tau));
        const double c = 1 / detail::hypotenuse(1.0, t);
        const double d = t * c;
        for (std::int64_t k = 0; k < n; ++k) {
          const double x = a(k, p), y = a(k, r);
          a(k, p) = c * x - d * y;
          a(k, r) = d * x + c * y;
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const double x = a(p, k), y = a(r, k);
          a(p, k) = c * x - d * y;
          a(r, k) = d * x + c * y;
          const double u = q(k, p), v = q(k, r);
          q(k, p) = c * u - d * v;
          q(k, r) = d * u + c * v;
        }
      }
    }
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return a(i, i) < a(j, j); });
  std::vector<double> values;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t from = order[static_cast<std::size_t>(k)];
    values.push_back(a(from, from));
    for (std::int64_t i = 0; i < n; ++i) s(i, k) = q(i, from);
  }
  return values;
}

template <class V, class Space>
class lanczos {
 public:
  lanczos(const krylov::system<V, Space>& of, const eigs_options& options, std::int64_t subspace)
      : of_(of),
        options_(options),
        m_(subspace),
        t_(subspace),
        s_(subspace),
        basis_(of.ctx, of.n(), subspace),
        sums_(static_cast<std::size_t>(subspace) + 1),
        seed_(options.seed) {
    constexpr double eps = static_cast<double>(std::numeric_limits<krylov::real_of<V>>::epsilon());
    options_.tolerance = std::max(options_.tolerance, 32 * eps);
  }

  eigs_result<V> run() {
    eigs_result<V> result;
    std::int64_t kept = 0;
    random_vector(0);
    while (true) {
      for (std::int64_t j = kept; j < m_; ++j) step(j);
      result.products = products_;
      values_ = decompose(t_, s_);
      const std::int64_t count = options_.count;
      const std::int64_t good = converged_ones();
      result.converged = good == count;
      if (result.converged || products_ >= options_.max_products) break;
      // Half of the rest as well, and more where some have converged: the next subspace grows from these.
      kept = std::min(count + (m_ - count) / 2 + good / 2, m_ - 1);
      restart(kept);
      ++result.restarts;
    }
    finish(result);
    return result;
  }

 private:
  // Column of the k-th outermost Ritz pair.
  [[nodiscard]] std::int64_t wanted(std::int64_t k) const {
    return options_.which == eigs_which::largest ? m_ - 1 - k : k;
  }

  // Vector k becomes a random one that is orthogonal to those before it.
  void random_vector(std::int64_t k) {
    basis_.randomize(k, seed_);
    double before = 0;
    basis_.scale(k, 1 / basis_.orthogonalise(k, sums_.data(), before));
  }

  // Row and column j of T, beta and vector j + 1.
  void step(std::int64_t j) {
    interruption::look();
    of_.product(basis_.vector(j), basis_.vector(j + 1));
    ++products_;
    double before = 0;
    beta_ = basis_.orthogonalise(j + 1, sums_.data(), before);
    if (!std::isfinite(beta_)) throw error(error_code::invalid_data, "eigs: a product with the matrix is not finite");
    for (std::int64_t i = 0; i <= j; ++i) t_(i, j) = t_(j, i) = std::real(sums_[static_cast<std::size_t>(i)]);
    norm_ = std::max(norm_, before);
    constexpr double eps = static_cast<double>(std::numeric_limits<krylov::real_of<V>>::epsilon());
    if (j + 1 < of_.n() && beta_ > 8 * eps * norm_) {
      basis_.scale(j + 1, 1 / beta_);
      return;
    }
    beta_ = 0;  // an invariant subspace
    if (j + 1 < of_.n()) random_vector(j + 1);
  }

  // How many of the wanted ones, from the outermost on, have residuals within the tolerance.
  [[nodiscard]] std::int64_t converged_ones() {
    const double largest = std::max(std::abs(values_.front()), std::abs(values_.back()));
    std::int64_t good = 0;
    for (std::int64_t k = 0; k < options_.count; ++k) {
      if (std::abs(beta_ * s_(m_ - 1, wanted(k))) > options_.tolerance * largest) break;
      ++good;
    }
    return good;
  }

  // The outermost `count` Ritz vectors V S replace the first vectors of the basis.
  void rotate(std::int64_t count) {
    std::vector<std::int64_t> columns;
    for (std::int64_t k = 0; k < count; ++k) columns.push_back(wanted(k));
    basis_.rotate(s_, columns);
  }

  void restart(std::int64_t kept) {
    rotate(kept);
    basis_.copy(m_, kept);
    std::fill(t_.entries.begin(), t_.entries.end(), 0.0);
    for (std::int64_t k = 0; k < kept; ++k) t_(k, k) = values_[static_cast<std::size_t>(wanted(k))];
  }

  // Vectors, and their residuals by products.
  void finish(eigs_result<V>& result) {
    rotate(options_.count);
    result.vectors = basis_.first(options_.count);
    for (std::int64_t k = 0; k < options_.count; ++k) {
      const double value = values_[static_cast<std::size_t>(wanted(k))];
      of_.product(basis_.vector(k), basis_.vector(m_));
      const double residual = basis_.subtract(k, value, m_);
      result.values.push_back(std::ldexp(value, of_.exponent));
      if (!std::isfinite(result.values.back())) {
        throw error(error_code::invalid_data,
                    "eigs: an eigenvalue is beyond the range of double (expected a smaller matrix norm)");
      }
      result.residuals.push_back(std::ldexp(residual, of_.exponent));
      const double largest = std::max(std::abs(values_.front()), std::abs(values_.back()));
      result.converged = result.converged && residual <= 4 * options_.tolerance * largest;
    }
  }

  const krylov::system<V, Space>& of_;
  eigs_options options_;
  std::int64_t m_;
  small_matrix t_;
  small_matrix s_;
  std::vector<double> values_;
  krylov::tall_basis<V, Space> basis_;
  std::vector<krylov::sum_of<V>> sums_;
  std::uint64_t seed_;
  double beta_ = 0;
  double norm_ = 0;
  std::int64_t products_ = 0;
};

template <class V, class Space>
eigs_result<V> solve(krylov::system<V, Space> of, const eigs_options& options) {
  const std::int64_t n = of.n();
  SPARGO_EXPECTS(options.count >= 1 && options.count <= n,
                 fmt::format("eigs: {} of a matrix of {}", detail::counted(options.count, "eigenvalue"),
                             detail::counted(n, "row")));
  SPARGO_EXPECTS(options.tolerance >= 0,
                 fmt::format("eigs: the tolerance is {} (expected 0 or more)", options.tolerance));
  SPARGO_EXPECTS(options.subspace >= 0, fmt::format("eigs: a subspace of {} (expected 0 or more)",
                                                    detail::counted(options.subspace, "vector")));
  const std::int64_t most = std::min(n, options.subspace > 0 ? options.subspace : 2 * options.count + 20);
  SPARGO_EXPECTS(most > options.count || most == n,
                 fmt::format("eigs: a subspace of {} for {} (expected more)", detail::counted(most, "vector"),
                             detail::counted(options.count, "eigenvalue")));
  of.prepare(krylov_method::minres, 1);
  return lanczos<V, Space>(of, options, most).run();
}

}  // namespace

template <>
enum_table<eigs_which> enum_rows() noexcept {
  return {which_rows, std::ssize(which_rows)};
}

template <value_type V>
eigs_result<V> eigs(const context<host>& ctx, const linear_operator<V, host>& a, const eigs_options& options) try {
  SPARGO_EXPECTS(a.run != nullptr, "eigs: an operator without a product");
  return solve<V, host>(krylov::system<V>{ctx, a}, options);
} catch (...) {
  detail::rethrow("eigs");
}

namespace {

template <class V, class I, class O, class Space>
eigs_result<V> eigs_of(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                       const eigs_options& options) {
  detail::expect_csr("eigs", matrix);
  SPARGO_EXPECTS(matrix.rows == matrix.cols,
                 fmt::format("eigs: a matrix of {} x {} (expected a square one)", matrix.rows, matrix.cols));
  const krylov::inspected_matrix<V, Space> found = krylov::inspect<V, I, O>(ctx, matrix);
  if (found.bad_row >= 0) {
    throw error(error_code::invalid_data,
                fmt::format("eigs: the matrix has a value in row {}{} that is infinite or NaN",
                            detail::shown_row(found.bad_row), detail::counted_from()));
  }
  if (!found.is_hermitian) {
    throw error(error_code::invalid_data, "eigs: the matrix is not symmetric (Hermitian)" +
                                              (found.asymmetry.empty() ? "" : ": " + found.asymmetry));
  }
  const spmv_plan<V, I, O, Space> product(ctx, matrix, {.storage = spmv_storage::copied, .products = 100});
  krylov::system<V, Space> of{ctx};
  of.a = {static_cast<std::int64_t>(matrix.rows),
          [&product](span<const V, Space> x, span<V, Space> y) { product.run(V{1}, x, V{}, y); }};
  int exponent = 0;
  (void)std::frexp(found.largest, &exponent);
  of.exponent = std::abs(exponent) > 64 ? exponent : 0;
  return solve<V, Space>(std::move(of), options);
}

}  // namespace

template <value_type V, index_type I, index_type O>
eigs_result<V> eigs(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                    const eigs_options& options) try {
  return eigs_of<V, I, O, host>(ctx, matrix, options);
} catch (...) {
  detail::rethrow("eigs");
}

template <value_type V, index_type I, index_type O>
eigs_result<V> eigs(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                    const eigs_options& options) try {
  if constexpr (detail::is_built<device>) {
    return eigs_of<V, I, O, device>(ctx, matrix, options);
  } else {
    detail::no_device("eigs");
  }
} catch (...) {
  detail::rethrow("eigs");
}

#define INSTANTIATE_OPERATOR(V) \
  template eigs_result<V> eigs(const context<host>&, const linear_operator<V, host>&, const eigs_options&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE_OPERATOR)
#define INSTANTIATE(V, I, O)                                                                                     \
  template eigs_result<V> eigs(const context<host>&, const csr_view<const V, I, O, host>&, const eigs_options&); \
  template eigs_result<V> eigs(const context<device>&, const csr_view<const V, I, O, device>&, const eigs_options&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
