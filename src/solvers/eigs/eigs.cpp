// Lanczos' method with thick restarts.
//
// Invariant: A V = V T + beta v e^T for the orthonormal basis V, with T real and symmetric. A restart replaces V by the
// best Ritz vectors V S, T by their values, and goes on from v; the couplings beta S_last follow from the products.
// T is tridiagonal behind that restart's vectors, so that a product is made orthogonal to the last two vectors first
// and then once to all: this takes rounding errors alone away, and the basis is read twice a step instead of four
// times. Every few steps the residuals |beta S_last| are looked at, which takes T alone.
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

// Eigenvalues of `a`, ascending, and in row k of `vectors` the last `width` coordinates of eigenvector k: width is 1 or
// a.n. Householder's reduction from the last row on, which leaves rows alone that are tridiagonal and the last
// coordinate of every vector, then implicit QL steps (Golub, Van Loan, sections 8.3.1 and 8.3.3). O(n^2) for
// tridiagonal matrices and a width of 1, else O(n^3).
std::vector<double> decompose(small_matrix a, std::int64_t width, std::vector<double>& vectors) {
  const std::int64_t n = a.n;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  double largest = 0;
  for (const double v : a.entries) largest = std::max(largest, std::abs(v));
  int exponent = 0;  // squares must be in range
  (void)std::frexp(largest, &exponent);
  for (double& v : a.entries) v = std::ldexp(v, -exponent);
  std::vector<double> diagonal(static_cast<std::size_t>(n)), below(diagonal.size()), image(diagonal.size());
  double* const d = diagonal.data();
  double* const e = below.data();  // e[i] couples i and i + 1
  double* const p = image.data();
  std::vector<bool> reflects(diagonal.size());  // row i then holds the reflector u, with u^T u = 2, of those before it
  for (std::int64_t i = n - 1; i > 0; --i) {
    double* const u = a.entries.data() + i * n;
    double square = 0;
    for (std::int64_t j = 0; j < i - 1; ++j) square += u[j] * u[j];
    e[i - 1] = u[i - 1];
    if (square == 0) continue;
    const double norm = std::sqrt(square + u[i - 1] * u[i - 1]);
    e[i - 1] = u[i - 1] > 0 ? -norm : norm;
    u[i - 1] -= e[i - 1];
    const double by = 1 / std::sqrt(norm * std::abs(u[i - 1]));
    for (std::int64_t j = 0; j < i; ++j) u[j] *= by;
    double both = 0;  // u^T A u
    for (std::int64_t j = 0; j < i; ++j) {
      p[j] = krylov::sum_terms<double>(0, i, [&](std::int64_t k) { return a(j, k) * u[k]; });
      both += p[j] * u[j];
    }
    for (std::int64_t j = 0; j < i; ++j) p[j] -= both / 2 * u[j];
    for (std::int64_t j = 0; j < i; ++j) {
      for (std::int64_t k = 0; k < i; ++k) a(j, k) -= u[j] * p[k] + p[j] * u[k];
    }
    reflects[static_cast<std::size_t>(i)] = true;
  }
  for (std::int64_t i = 0; i < n; ++i) d[i] = a(i, i);
  std::vector<double> q(static_cast<std::size_t>(n * width));
  for (std::int64_t i = n - width; i < n; ++i) q[static_cast<std::size_t>(i * width + i - (n - width))] = 1;
  for (std::int64_t l = 0; l < n; ++l) {
    for (int step = 0; step < 100; ++step) {
      std::int64_t m = l;
      while (m + 1 < n && std::abs(e[m]) > eps * (std::abs(d[m]) + std::abs(d[m + 1]))) ++m;
      if (m == l) break;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      g = d[m] - d[l] + e[l] / (g + std::copysign(detail::hypotenuse(g, 1.0), g));
      double sine = 1, cosine = 1, moved = 0;
      std::int64_t i = m - 1;
      for (; i >= l; --i) {
        const double f = sine * e[i], b = cosine * e[i];
        const double r = detail::hypotenuse(f, g);
        e[i + 1] = r;
        if (r == 0) break;  // underflow: it has split
        sine = f / r;
        cosine = g / r;
        g = d[i + 1] - moved;
        const double next = (d[i] - g) * sine + 2 * cosine * b;
        moved = sine * next;
        d[i + 1] = g + moved;
        g = cosine * next - b;
        double* const x = q.data() + i * width;
        double* const y = x + width;
        for (std::int64_t k = 0; k < width; ++k) {
          const double before = y[k];
          y[k] = sine * x[k] + cosine * before;
          x[k] = cosine * x[k] - sine * before;
        }
      }
      if (i >= l) {
        d[i + 1] -= moved;
      } else {
        d[l] -= moved;
        e[l] = g;
      }
      if (m + 1 < n) e[m] = 0;
    }
  }
  std::vector<std::int64_t> order(diagonal.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return d[i] < d[j]; });
  std::vector<double> values;
  vectors.clear();
  for (const std::int64_t from : order) {
    values.push_back(std::ldexp(d[from], exponent));
    double* const x = q.data() + from * width;
    for (std::int64_t i = 1; i < n && width == n; ++i) {
      if (!reflects[static_cast<std::size_t>(i)]) continue;
      const double* const u = a.entries.data() + i * n;
      const double by = krylov::sum_terms<double>(0, i, [&](std::int64_t k) { return u[k] * x[k]; });
      for (std::int64_t k = 0; k < i; ++k) x[k] -= by * u[k];
    }
    vectors.insert(vectors.end(), x, x + width);
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
        size_(subspace),
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
      size_ = kept;
      do {
        step(size_, kept);
        ++size_;
      } while (size_ < m_ && !is_converged(kept));
      result.products = products_;
      std::vector<double> rows;
      values_ = decompose(leading(), size_, rows);
      s_ = small_matrix(size_);
      for (std::int64_t i = 0; i < size_; ++i) {
        for (std::int64_t k = 0; k < size_; ++k) s_(i, k) = rows[static_cast<std::size_t>(k * size_ + i)];
      }
      last_.clear();
      for (std::int64_t k = 0; k < size_; ++k) last_.push_back(s_(size_ - 1, k));
      const std::int64_t count = options_.count;
      const std::int64_t good = converged_ones();
      result.converged = good == count;
      if (result.converged || products_ >= options_.max_products) break;
      // A third of the rest as well, and more where some have converged: the next subspace grows from these.
      kept = std::min(count + (size_ - count) / 3 + good / 2, size_ - 1);
      restart(kept);
      ++result.restarts;
    }
    finish(result);
    return result;
  }

 private:
  // Column of the k-th outermost Ritz pair.
  [[nodiscard]] std::int64_t wanted(std::int64_t k) const {
    return options_.which == eigs_which::largest ? size_ - 1 - k : k;
  }

  // Vector k becomes a random one that is orthogonal to those before it.
  void random_vector(std::int64_t k) {
    basis_.randomize(k, seed_);
    double before = 0;
    basis_.scale(k, 1 / basis_.orthogonalise(k, sums_.data(), before));
  }

  // Row and column j of T, beta and vector j + 1; `kept` vectors are those of the last restart.
  void step(std::int64_t j, std::int64_t kept) {
    interruption::look();
    of_.product(basis_.vector(j), basis_.vector(j + 1));
    ++products_;
    double before = 0;
    const std::int64_t first = j > kept ? j - 1 : 0;  // of those that A v_j has a part of
    beta_ = basis_.orthogonalise(j + 1, sums_.data(), before, first);
    if (!std::isfinite(beta_)) throw error(error_code::invalid_data, "eigs: a product with the matrix is not finite");
    for (std::int64_t i = first; i <= j; ++i) t_(i, j) = t_(j, i) = std::real(sums_[static_cast<std::size_t>(i)]);
    norm_ = std::max(norm_, before);
    has_split_ = has_split_ || beta_ <= options_.tolerance * norm_;
    constexpr double eps = static_cast<double>(std::numeric_limits<krylov::real_of<V>>::epsilon());
    if (j + 1 < of_.n() && beta_ > 8 * eps * norm_) {
      basis_.scale(j + 1, 1 / beta_);
      return;
    }
    beta_ = 0;  // an invariant subspace
    if (j + 1 < of_.n()) random_vector(j + 1);
  }

  // T without the rows of vectors that are not made yet.
  [[nodiscard]] small_matrix leading() const {
    small_matrix t(size_);
    for (std::int64_t i = 0; i < size_; ++i) {
      for (std::int64_t j = 0; j < size_; ++j) t(i, j) = t_(i, j);
    }
    return t;
  }

  // A look every few steps: it takes as long as some small products. None where beta alone was within the tolerance:
  // residuals say nothing then of eigenvalues outside an invariant subspace, and more vectors may find those.
  [[nodiscard]] bool is_converged(std::int64_t kept) {
    if (has_split_ || size_ < options_.count || (size_ - kept) % steps_of_look != 0) return false;
    values_ = decompose(leading(), 1, last_);
    return converged_ones() == options_.count;
  }

  // How many of the wanted ones, from the outermost on, have residuals within the tolerance.
  [[nodiscard]] std::int64_t converged_ones() {
    const double largest = std::max(std::abs(values_.front()), std::abs(values_.back()));
    std::int64_t good = 0;
    for (std::int64_t k = 0; k < options_.count; ++k) {
      if (std::abs(beta_ * last_[static_cast<std::size_t>(wanted(k))]) > options_.tolerance * largest) break;
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
    basis_.copy(size_, kept);
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

  static constexpr std::int64_t steps_of_look = 4;

  const krylov::system<V, Space>& of_;
  eigs_options options_;
  std::int64_t m_;
  small_matrix t_;
  small_matrix s_;
  std::int64_t size_;  // vectors of the basis, but for v
  std::vector<double> values_;
  std::vector<double> last_;  // coordinates of T's eigenvectors
  krylov::tall_basis<V, Space> basis_;
  std::vector<krylov::sum_of<V>> sums_;
  std::uint64_t seed_;
  double beta_ = 0;
  bool has_split_ = false;
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
