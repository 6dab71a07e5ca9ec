// Krylov methods: checks, choice of method and preconditioner, scaling, and the loop around a method that decides by
// the true residual.
#include <spargo/solvers/krylov.hpp>

#include "core/algorithm_table.hpp"
#include "core/checks.hpp"
#include "core/counted.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "solvers/krylov/inspect.hpp"
#include "solvers/krylov/iteration.hpp"
#include "sparse/products.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace spargo {

namespace {

namespace krylov = detail::krylov;

constexpr detail::algorithm_table<krylov_method, 5> methods{{
    {krylov_method::automatic, "automatic", true, false},
    {krylov_method::cg, "cg", true, false},
    {krylov_method::minres, "minres", true, false},
    {krylov_method::bicgstab, "bicgstab", true, false},
    {krylov_method::gmres, "gmres", true, false},
}};

constexpr detail::algorithm_table<krylov_preconditioner, 3> preconditioners{{
    {krylov_preconditioner::automatic, "automatic", true, false},
    {krylov_preconditioner::none, "none", true, false},
    {krylov_preconditioner::jacobi, "jacobi", true, false},
}};

constexpr detail::algorithm_table<krylov_outcome, 6> outcomes{{
    {krylov_outcome::converged, "converged"},
    {krylov_outcome::iteration_limit, "iteration_limit"},
    {krylov_outcome::stagnated, "stagnated"},
    {krylov_outcome::not_positive_definite, "not_positive_definite"},
    {krylov_outcome::breakdown, "breakdown"},
    {krylov_outcome::not_finite, "not_finite"},
}};

struct tuning {
  // Values within 2^64 of 1 leave squares in range: no pass to scale products.
  static constexpr int least_exponent = 64;
  // Restarts of bicgstab after a breakdown: a new shadow residual may go on.
  static constexpr int restarts = 5;
};

void check_options(const krylov_options& options) {
  detail::expect_named("solve", "method", options.method);
  detail::expect_named("solve", "preconditioner", options.preconditioner);
  SPARGO_EXPECTS(options.tolerance >= 0,
                 fmt::format("solve: the tolerance is {} (expected 0 or more)", options.tolerance));
  SPARGO_EXPECTS(options.restart >= 1, fmt::format("solve: a restart of {} (expected 1 or more)", options.restart));
  SPARGO_EXPECTS(options.max_iterations >= -1,
                 fmt::format("solve: {} iterations at most (expected 0 or more)", options.max_iterations));
}

[[nodiscard]] int exponent_of(double largest) {
  int exponent = 0;
  (void)std::frexp(largest, &exponent);
  return exponent;
}

// The largest part of an element. Throws invalid_data for one that is not finite.
template <class V>
double largest_of(const char* what, span<const V, host> v) {
  double largest = 0;
  for (std::int64_t i = 0; i < v.size(); ++i) {
    const auto re = static_cast<double>(std::real(v[i]));
    const auto im = static_cast<double>(std::imag(v[i]));
    if (!std::isfinite(re) || !std::isfinite(im)) {
      throw error(
          error_code::invalid_data,
          fmt::format("solve: {} has a value in row {} (from 0) that is infinite, NaN or beyond the range of its type",
                      what, i));
    }
    largest = std::max({largest, std::abs(re), std::abs(im)});
  }
  return largest;
}

template <class V>
[[nodiscard]] std::string text_of(V v) {
  if constexpr (complex_type<V>) return fmt::format("{} + {}i", v.real(), v.imag());
  return fmt::format("{}", std::real(v));
}

using choice = detail::plan_choice<krylov_method>;

template <class V>
[[nodiscard]] choice choose(const krylov::inspected_matrix<V>& m, krylov_method asked) {
  if (asked != krylov_method::automatic) return {asked, "asked for"};
  if (!m.is_hermitian) return {krylov_method::bicgstab, "the matrix is not symmetric (Hermitian)"};
  if (m.negative_row < 0) return {krylov_method::cg, "a symmetric (Hermitian) matrix with a positive diagonal"};
  return {krylov_method::minres, fmt::format("a symmetric (Hermitian) matrix; row {} (from 0) has {} on the diagonal",
                                             m.negative_row, text_of(m.diagonal[m.negative_row]))};
}

template <class V>
[[nodiscard]] bool uses_diagonal(const krylov::inspected_matrix<V>& m, krylov_method method,
                                 krylov_preconditioner asked) {
  if (method == krylov_method::cg && m.negative_row >= 0) {
    throw error(
        error_code::invalid_data,
        fmt::format("solve: the matrix is not positive definite: row {} (from 0) has {} on the diagonal (expected "
                    "another method than cg)",
                    m.negative_row, text_of(m.diagonal[m.negative_row])));
  }
  if (asked == krylov_preconditioner::none) return false;
  if (m.zero_row < 0) return true;
  if (asked == krylov_preconditioner::automatic) return false;
  throw error(
      error_code::invalid_data,
      fmt::format("solve: row {} (from 0) has 0 on the diagonal, by which jacobi divides (expected no preconditioner)",
                  m.zero_row));
}

// 1 / d for the scaled matrix; for methods of Hermitian matrices of |d|, which keeps M positive definite.
template <class V>
void invert(array<V, host>& diagonal, int exponent, krylov_method method) {
  const bool is_hermitian = method == krylov_method::cg || method == krylov_method::minres;
  for (V& d : diagonal) {
    const V scaled = krylov::times_power(d, -exponent);
    d = is_hermitian ? V(1 / std::abs(scaled)) : V(1) / scaled;
  }
}

// For methods that need a Hermitian matrix and did not get one.
[[nodiscard]] std::string_view remark_on(krylov_method method, bool is_hermitian) {
  const bool needs_hermitian = method == krylov_method::cg || method == krylov_method::minres;
  return needs_hermitian && !is_hermitian ? ", and the matrix is not symmetric (Hermitian)" : "";
}

[[nodiscard]] std::string sentence_of(krylov_outcome outcome, krylov_method method, std::int64_t iterations,
                                      const std::string& detail, bool is_hermitian) {
  const std::string_view name = to_string(method);
  const std::string_view remark = remark_on(method, is_hermitian);
  switch (outcome) {
    case krylov_outcome::converged:
      return "the residual is within the tolerance";
    case krylov_outcome::iteration_limit:
      return fmt::format("the limit of {}{}", detail::counted(iterations, "iteration"), remark);
    case krylov_outcome::not_positive_definite:
      return fmt::format("the matrix is not positive definite: {} in iteration {} (expected another method than cg)",
                         detail, iterations + 1);
    case krylov_outcome::breakdown:
      return fmt::format("{} broke down in iteration {}: {}{}", name, iterations + 1, detail, remark);
    case krylov_outcome::not_finite:
      return fmt::format("{} is not finite in iteration {} of {}", detail, iterations + 1, name);
    default:
      break;
  }
  return fmt::format("{} makes no more progress{}", name,
                     remark.empty() ? ": rounding errors, or a matrix that is singular or nearly so" : remark);
}

template <class V>
krylov_outcome iterate(krylov_method method, krylov::iteration<V>& run) {
  switch (method) {
    case krylov_method::cg:
      return krylov::cg(run);
    case krylov_method::minres:
      return krylov::minres(run);
    case krylov_method::bicgstab:
      return krylov::bicgstab(run);
    default:
      return krylov::gmres(run);
  }
}

}  // namespace

template <>
enum_table<krylov_method> enum_rows() noexcept {
  return methods;
}
template <>
enum_table<krylov_preconditioner> enum_rows() noexcept {
  return preconditioners;
}
template <>
enum_table<krylov_outcome> enum_rows() noexcept {
  return outcomes;
}

template <value_type V, class Space>
struct krylov_plan<V, Space>::state {
  krylov::system<V> system;
  krylov_options options;
  krylov_preconditioner preconditioner;
  bool is_hermitian = false;    // known to be
  bool knows_exponent = false;  // else a product shows it
  std::int64_t product_bytes = 0;
  array<V, host> vectors;  // b, r, best x, x, then the method's

  state(krylov::system<V> of, const krylov_options& o, krylov_method method, krylov_preconditioner m)
      : system(std::move(of)), options(o), preconditioner(m) {
    const std::int64_t n = system.n();
    SPARGO_EXPECTS(n >= 0, fmt::format("solve: an operator of {} rows", n));
    options.restart = std::max<std::int64_t>(1, std::min(options.restart, n));
    if (options.max_iterations < 0) options.max_iterations = 10 * n;
    system.passes = {system.ctx, n, 2 * options.restart + 3};
    vectors = {system.ctx, n * (4 + krylov::vectors_of(method, options.restart))};
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    return (vectors.size() + system.inverse.size()) * static_cast<std::int64_t>(sizeof(V)) + system.passes.bytes() +
           product_bytes;
  }

  [[nodiscard]] V* vector(std::int64_t k) { return vectors.data() + k * system.n(); }

  // Of an operator: by its product with b.
  void look_at(const V* b, V* scratch) {
    if (knows_exponent) return;
    system.product(b, scratch);
    const double largest = largest_of("a product", span<const V, host>(scratch, system.n()));
    const int exponent = exponent_of(largest);
    system.exponent = std::abs(exponent) > tuning::least_exponent ? exponent : 0;
    knows_exponent = true;
  }

  krylov_outcome improve(krylov_method method, krylov::iteration<V>& run, V* best);
  krylov_result solve(krylov_method method, span<const V, host> b, span<V, host> x);
};

// Runs the method from the true residual again while that halves it. The best x is in `best`, its residual in `run`.
template <value_type V, class Space>
krylov_outcome krylov_plan<V, Space>::state::improve(krylov_method method, krylov::iteration<V>& run, V* best) {
  const std::int64_t n = system.n();
  double least = run.residual;
  krylov_outcome outcome = krylov_outcome::converged;
  int broken = 0;
  while (run.goes_on()) {
    const double before = run.residual;
    const std::int64_t done = run.done;
    outcome = iterate(method, run);
    run.residual = system.residual(run.b, run.x, run.r);
    if (run.residual < least) {
      least = run.residual;
      std::copy_n(run.x, n, best);
    }
    if (!run.goes_on()) break;
    const bool may_restart = outcome == krylov_outcome::breakdown && method == krylov_method::bicgstab &&
                             run.done > done && broken++ < tuning::restarts;
    if (outcome == krylov_outcome::not_finite || outcome == krylov_outcome::not_positive_definite) break;
    if (!may_restart && !(run.residual < before / 2)) {
      if (outcome == krylov_outcome::converged) outcome = krylov_outcome::stagnated;
      break;
    }
    if (!std::isfinite(run.residual) || run.residual > 1e3 * least) {  // a new start from the best x
      std::copy_n(best, n, run.x);
      run.residual = system.residual(run.b, run.x, run.r);
    }
  }
  run.residual = least;
  if (least <= run.wanted) return krylov_outcome::converged;
  const bool at_limit = run.done >= run.most && outcome == krylov_outcome::converged;
  return at_limit ? krylov_outcome::iteration_limit : outcome;
}

template <value_type V, class Space>
krylov_result krylov_plan<V, Space>::state::solve(krylov_method method, span<const V, host> b, span<V, host> x) {
  const std::int64_t n = system.n();
  const double largest = largest_of("b", b);
  (void)largest_of("the guess", span<const V, host>(x));
  krylov_result result;
  result.method = method;
  result.reason = sentence_of(krylov_outcome::converged, method, 0, {}, true);
  if (largest == 0) {
    std::fill(x.begin(), x.end(), V{});
    result.converged = true;
    result.history.push_back(0);
    return result;
  }
  const int exponent = exponent_of(largest);
  V* const right = vector(0);
  V* const r = vector(1);
  V* const best = vector(2);
  V* const now = vector(3);
  bool has_guess = false;
  for (std::int64_t i = 0; i < n; ++i) {
    right[i] = krylov::times_power(b[i], -exponent);
    has_guess = has_guess || x[i] != V{};
  }
  look_at(right, r);
  for (std::int64_t i = 0; i < n; ++i) best[i] = krylov::times_power(x[i], system.exponent - exponent);
  std::copy_n(best, n, now);
  const double scale = system.norm(right);
  if (!has_guess) std::copy_n(right, n, r);
  krylov::iteration<V> run{system,
                           right,
                           now,
                           r,
                           vector(4),
                           scale,
                           options.tolerance * scale,
                           has_guess ? system.residual(right, now, r) : scale,
                           options.max_iterations,
                           options.restart};
  run.history.push_back(run.residual / scale);
  krylov_outcome outcome = improve(method, run, best);
  const bool may_switch = outcome != krylov_outcome::converged && outcome != krylov_outcome::iteration_limit &&
                          options.method == krylov_method::automatic && run.done < run.most;
  array<V, host> more;
  if (may_switch && (method == krylov_method::cg || method == krylov_method::bicgstab)) {
    result.method = method == krylov_method::cg ? krylov_method::minres : krylov_method::gmres;
    more = {system.ctx, n * krylov::vectors_of(result.method, options.restart)};
    run.work = more.data();
    std::copy_n(best, n, now);
    run.residual = system.residual(right, now, r);
    outcome = improve(result.method, run, best);
  }
  array<V, host> scaled(system.ctx, n);
  for (std::int64_t i = 0; i < n; ++i) scaled[i] = krylov::times_power(best[i], exponent - system.exponent);
  (void)largest_of("the solution", span<const V, host>(scaled.view()));
  copy<V>(system.ctx, std::as_const(scaled).view(), x);
  result.outcome = outcome;
  result.converged = outcome == krylov_outcome::converged;
  result.iterations = run.done;
  result.relative_residual = run.residual / scale;
  result.reason = sentence_of(outcome, result.method, run.done, run.detail, is_hermitian);
  result.history = std::move(run.history);
  return result;
}

template <value_type V, class Space>
template <index_type I, index_type O>
krylov_plan<V, Space>::krylov_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                   const krylov_options& options) try {
  check_options(options);
  detail::expect_csr("solve", matrix);
  SPARGO_EXPECTS(matrix.rows == matrix.cols,
                 fmt::format("solve: a matrix of {} x {} (expected a square one)", matrix.rows, matrix.cols));
  krylov::inspected_matrix<V> found = krylov::inspect<V, I, O>(ctx, matrix);
  if (found.bad_row >= 0) {
    throw error(error_code::invalid_data,
                fmt::format("solve: the matrix has a value in row {} (from 0) that is infinite or NaN", found.bad_row));
  }
  choice chosen = choose(found, options.method);
  const bool jacobi = uses_diagonal(found, chosen.algorithm, options.preconditioner);
  const int exponent = exponent_of(found.largest);
  krylov::system<V> system{ctx};
  system.exponent = std::abs(exponent) > tuning::least_exponent ? exponent : 0;
  if (jacobi) {
    system.inverse = std::move(found.diagonal);
    invert(system.inverse, system.exponent, chosen.algorithm);
  }
  const auto product = std::make_shared<const spmv_plan<V, I, O, Space>>(
      ctx, matrix, spmv_options{.storage = spmv_storage::copied, .products = 100});
  system.a = {static_cast<std::int64_t>(matrix.rows),
              [product](span<const V, host> x, span<V, host> y) { product->run(V{1}, x, V{}, y); }};
  const krylov_method method = chosen.algorithm;
  auto made = std::make_unique<state>(std::move(system), options, method,
                                      jacobi ? krylov_preconditioner::jacobi : krylov_preconditioner::none);
  made->is_hermitian = found.is_hermitian;
  made->knows_exponent = true;
  made->product_bytes = product->workspace_bytes();
  state_ = {std::move(chosen), std::move(made)};
} catch (...) {
  detail::rethrow("solve");
}

template <value_type V, class Space>
krylov_plan<V, Space>::krylov_plan(const context<Space>& ctx, linear_operator<V, Space> a,
                                   const krylov_options& options)
    : krylov_plan(ctx, std::move(a), linear_operator<V, Space>(), options) {}

template <value_type V, class Space>
krylov_plan<V, Space>::krylov_plan(const context<Space>& ctx, linear_operator<V, Space> a,
                                   linear_operator<V, Space> inverse_of_m, const krylov_options& options) try {
  check_options(options);
  SPARGO_EXPECTS(a.run != nullptr, "solve: an operator without a product");
  SPARGO_EXPECTS(options.preconditioner != krylov_preconditioner::jacobi,
                 "solve: jacobi needs a matrix, not an operator (expected a preconditioner of your own, or none)");
  SPARGO_EXPECTS(!inverse_of_m.run || inverse_of_m.size == a.size,
                 fmt::format("solve: an operator of {} rows and a preconditioner of {}", a.size, inverse_of_m.size));
  const krylov_method method = options.method == krylov_method::automatic ? krylov_method::gmres : options.method;
  krylov::system<V> system{ctx, std::move(a)};
  system.inverse_of = std::move(inverse_of_m);
  auto made = std::make_unique<state>(std::move(system), options, method, krylov_preconditioner::none);
  made->is_hermitian = true;  // not known: nothing is said of it
  state_ = {{method, options.method == method ? "asked for" : "an operator, of which nothing is known"},
            std::move(made)};
} catch (...) {
  detail::rethrow("solve");
}

template <value_type V, class Space>
krylov_preconditioner krylov_plan<V, Space>::preconditioner() const noexcept {
  return state_->preconditioner;
}

template <value_type V, class Space>
krylov_result krylov_plan<V, Space>::run(span<const V, Space> b, span<V, Space> x) const try {
  const std::int64_t n = state_->system.n();
  detail::expect_size("solve", "b", b.size(), n);
  detail::expect_size("solve", "x", x.size(), n);
  detail::expect_range("solve", "b", b);
  detail::expect_range("solve", "x", x);
  detail::expect_apart("solve", "x", detail::memory_of(x), "b", detail::memory_of(b));
  return state_->solve(method(), b, x);
} catch (...) {
  detail::rethrow("solve");
}

plan_estimate estimate(const matrix_shape& shape, const krylov_options& options) {
  // Of automatic: bicgstab, and gmres after it.
  const std::int64_t restart = std::max<std::int64_t>(1, std::min(options.restart, shape.rows));
  std::int64_t vectors = 5 + krylov::vectors_of(options.method, restart);
  if (options.method == krylov_method::automatic) {
    vectors += krylov::vectors_of(krylov_method::bicgstab, restart);
  }
  const plan_estimate product = estimate(shape, spmv_options{.storage = spmv_storage::copied, .products = 100});
  const std::int64_t table = div_up(shape.rows, krylov::block_passes::length) * (2 * restart + 3) * 8;
  plan_estimate all;
  all.host_bytes =
      (vectors + 1) * shape.rows * shape.value_bytes + table + product.host_bytes + shape.rows * shape.offset_bytes;
  // Streams of 8 GB/s; 100 iterations.
  all.host_seconds = 100 * (product.host_seconds + 12e-10 * static_cast<double>(shape.rows * shape.value_bytes));
  return all;
}

#define INSTANTIATE_PLAN(V) template class krylov_plan<V, host>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE_PLAN)
#define INSTANTIATE(V, I, O)                                                                             \
  template krylov_plan<V, host>::krylov_plan(const context<host>&, const csr_view<const V, I, O, host>&, \
                                             const krylov_options&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
