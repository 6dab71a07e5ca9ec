// Restarted GMRES, preconditioned on the right (Saad, Schultz, SIAM J. Sci. Stat. Comput. 7, 1986).
#include "core/hypotenuse.hpp"
#include "core/instantiate.hpp"
#include "solvers/krylov/arnoldi.hpp"

#include <fmt/format.h>

namespace spargo::detail::krylov {

namespace {

// The least-squares problem of a cycle: the Hessenberg matrix, made triangular by Givens rotations as its columns come.
template <class S>
class hessenberg {
 public:
  explicit hessenberg(std::int64_t restart)
      : rows_(static_cast<std::size_t>(restart) + 1),
        entries_(rows_ * static_cast<std::size_t>(restart)),
        right_(rows_),
        cosine_(rows_),
        sine_(rows_) {}

  void start(double beta) {
    std::fill(right_.begin(), right_.end(), S{});
    right_[0] = beta;
  }
  [[nodiscard]] S* column(std::int64_t j) { return entries_.data() + static_cast<std::size_t>(j) * rows_; }

  // Column j is complete but for `below`, its last element. Returns the residual's norm.
  double rotate(std::int64_t column_index, double below) {
    S* const h = column(column_index);
    const auto j = static_cast<std::size_t>(column_index);
    for (std::size_t i = 0; i < j; ++i) {
      const S upper = cosine_[i] * h[i] + conjugated(sine_[i]) * h[i + 1];
      h[i + 1] = cosine_[i] * h[i + 1] - sine_[i] * h[i];
      h[i] = upper;
    }
    const double size = std::abs(h[j]);
    const double length = detail::hypotenuse(size, below);
    if (length == 0) {
      cosine_[j] = 1;
      sine_[j] = S{};
    } else if (size == 0) {
      cosine_[j] = 0;
      sine_[j] = S{1};
      h[j] = below;
    } else {
      cosine_[j] = size / length;
      sine_[j] = conjugated(h[j] / size) * (below / length);
      h[j] = h[j] / size * length;
    }
    right_[j + 1] = -sine_[j] * right_[j];
    right_[j] = cosine_[j] * right_[j];
    return std::abs(right_[j + 1]);
  }

  // The coefficients of the first k basis vectors; false if the triangle is singular.
  template <class V>
  [[nodiscard]] bool solve(std::int64_t k, std::vector<V>& y) {
    for (std::int64_t i = k - 1; i >= 0; --i) {
      S sum = right_[static_cast<std::size_t>(i)];
      for (std::int64_t j = i + 1; j < k; ++j) sum -= column(j)[i] * right_[static_cast<std::size_t>(j)];
      const S pivot = column(i)[i];
      if (pivot == S{}) return false;
      right_[static_cast<std::size_t>(i)] = sum / pivot;
      y[static_cast<std::size_t>(i)] = static_cast<V>(right_[static_cast<std::size_t>(i)]);
    }
    return true;
  }

 private:
  std::size_t rows_;
  std::vector<S> entries_;
  std::vector<S> right_;
  std::vector<double> cosine_;
  std::vector<S> sine_;
};

// to = from / by.
template <class V>
void divide(const block_passes& passes, const V* from, double by, V* to) {
  const auto inverse = static_cast<real_of<V>>(1 / by);
  passes.each([&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) to[i] = from[i] * inverse;
  });
}

}  // namespace

template <class V>
krylov_outcome gmres(iteration<V>& run) {
  using S = sum_of<V>;
  const system<V>& of = run.of;
  const std::int64_t n = of.stride();
  const std::int64_t restart = run.restart;
  V* const basis = run.work;
  V* const z = run.vector(restart + 1);
  hessenberg<S> least(restart);
  arnoldi<V> steps(of, basis, z, restart);
  std::vector<V> numbers(static_cast<std::size_t>(restart));
  double reduction = 0;  // of the residual, by the last step
  while (run.goes_on()) {
    const double before = run.residual;
    divide(of.passes, run.r, before, basis);
    least.start(before);
    steps.start();
    std::int64_t k = 0;
    bool is_invariant = false;  // the subspace: it has the solution, unless A is singular
    while (k < restart && !is_invariant && run.goes_on()) {
      const bool is_last = run.residual * reduction <= run.wanted;
      const int made = steps.extend(k, !is_last && std::min(restart - k, run.most - run.done) >= 2);
      if (made == 0) return run.failed(krylov_outcome::not_finite, "A v");
      for (const std::int64_t end = k + made; k < end && run.goes_on(); ++k) {
        std::copy_n(steps.column(k), k + 1, least.column(k));
        is_invariant = steps.below(k) == 0;
        const double last = run.residual;
        run.count(least.rotate(k, steps.below(k)));
        reduction = run.residual / last;
      }
    }
    if (!least.solve(k, numbers)) return run.failed(krylov_outcome::breakdown, "the matrix is singular");
    // The last basis vector is free for the combination.
    V* const sum = basis + k * n;
    std::fill_n(sum, n, V{});
    (void)add_combination(of.passes, basis, k, numbers.data(), sum);
    const V* const step = of.preconditioned(sum, z);
    of.passes.each([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) run.x[i] += step[i];
    });
    run.residual = of.residual(run.b, run.x, run.r);
    if (!std::isfinite(run.residual)) return run.failed(krylov_outcome::not_finite, "A x");
    if (!(run.residual < before * (1 - 1e-10)) && run.residual > run.wanted) {
      return run.is_rounding() ? krylov_outcome::stagnated
                               : run.failed(krylov_outcome::stagnated, "a cycle reduced the residual by nothing");
    }
  }
  return krylov_outcome::converged;
}

#define INSTANTIATE(V) template krylov_outcome gmres(iteration<V>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::krylov
