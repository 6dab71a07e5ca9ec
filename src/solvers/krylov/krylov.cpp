// Krylov methods: plans, scaling, and the loop around a method that decides by the true residual.
#include <spargo/solvers/krylov.hpp>

#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "solvers/krylov/choice.hpp"
#include "solvers/krylov/outcome.hpp"
#include "solvers/krylov/solver.hpp"
#include "sparse/products.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace spargo {

namespace {

namespace krylov = detail::krylov;

struct tuning {
  // Restarts of bicgstab after a breakdown: a new shadow residual may go on.
  static constexpr int restarts = 5;
};

// The first row whose diagonal element has no inverse in the range of its type; -1: none.
template <class V, class Space>
[[nodiscard]] std::int64_t row_without_inverse(const krylov::system<V, Space>& of) {
  std::int64_t bad = -1;
  if (!of.inverse.empty()) (void)of.largest(span<const V, Space>(of.inverse.data(), of.n()), bad);
  return bad;
}

// Work that may fail on one rank alone.
template <class V, class Space, class Work>
void together(const krylov::system<V, Space>& of, const Work& work) {
  if (of.ranks != nullptr) return of.ranks->together(work);
  work();
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
template <class V>
krylov_outcome iterate(krylov_method method, krylov::iteration<V, device>& run) {
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

// What the matrix gives a system besides its product: M, and on a device a copy of a small matrix. The bytes of M.
template <class V, class I, class O, class Space>
[[nodiscard]] std::int64_t add_preconditioner(krylov::system<V, Space>& of,
                                              const csr_view<const V, I, O, Space>& matrix,
                                              krylov::inspected_matrix<V, Space>& found, krylov_preconditioner by,
                                              krylov_method method, const krylov_options& options) {
  constexpr bool is_on_device = std::same_as<Space, device>;
  const bool needs_hermitian = krylov::needs_hermitian(method);
  if constexpr (is_on_device) {
    of.captures = true;
    of.make_work();  // also for the look at the inverse
  }
  if (by == krylov_preconditioner::none || by == krylov_preconditioner::jacobi) {
    if (by == krylov_preconditioner::jacobi)
      of.inverse = krylov::inverted(of, std::move(found.diagonal), needs_hermitian);
    if constexpr (is_on_device) {
      if (method == krylov_method::cg) of.small = krylov::make_small<V, I, O>(of, matrix);
    }
    return 0;
  }
  const krylov::preconditioner_request wanted{
      by, options.block_size, of.exponent, needs_hermitian, found.asymmetry, options.triangular_sweeps};
  krylov::built_preconditioner<V, Space> built;
  if constexpr (is_on_device) {
    built = krylov::build_preconditioner<V, I, O>(of.ctx, matrix, wanted, of.active());
  } else {
    built = krylov::build_preconditioner<V, I, O>(of.ctx, matrix, wanted);
  }
  of.inverse_of = std::move(built.inverse);
  return built.bytes;
}

}  // namespace

template <>
enum_table<krylov_method> enum_rows() noexcept {
  return krylov::methods;
}
template <>
enum_table<krylov_preconditioner> enum_rows() noexcept {
  return krylov::preconditioners;
}

namespace detail::krylov {

template <value_type V, class Space>
solver<V, Space>::solver(system_type of, const krylov_options& o, krylov_method method, krylov_preconditioner m)
    : system(std::move(of)), options(o), preconditioner(m) {
  SPARGO_EXPECTS(system.n() >= 0, fmt::format("solve: an operator of {} rows", system.n()));
  const std::int64_t n = system.all_rows();
  options.restart = std::max<std::int64_t>(1, std::min(options.restart, n));
  if (options.max_iterations < 0) options.max_iterations = 10 * n;
  system.prepare(method, options.restart);
  vectors = zeros(4 + vectors_of(method, options.restart));
}

template <value_type V, class Space>
array<V, Space> solver<V, Space>::zeros(std::int64_t count) const {
  array<V, Space> all(system.ctx, count * system.stride());
  if constexpr (std::same_as<Space, device>) fill_zero(system.ctx, all.view());
  return all;
}

template <value_type V, class Space>
void solver<V, Space>::copy_vector(const V* from, V* to) {
  copy<V>(system.ctx, span<const V, Space>(from, system.n()), whole(to));
}

// Of an operator: by its product with b.
template <value_type V, class Space>
void solver<V, Space>::look_at(const V* b, V* scratch) {
  if (knows_exponent) return;
  system.product(b, scratch);
  system.exponent = scaling_exponent(system.largest("a product", whole(scratch)));
  knows_exponent = true;
}

// Runs the method from the true residual again while that halves it. The best x is in `best`, its residual in `run`.
template <value_type V, class Space>
krylov_outcome solver<V, Space>::improve(krylov_method method, iteration<V, Space>& run, V* best) {
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
      copy_vector(run.x, best);
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
      copy_vector(best, run.x);
      run.residual = system.residual(run.b, run.x, run.r);
    }
  }
  run.residual = least;
  if (least <= run.wanted) return krylov_outcome::converged;
  const bool at_limit = run.done >= run.most && outcome == krylov_outcome::converged;
  return at_limit ? krylov_outcome::iteration_limit : outcome;
}

template <value_type V, class Space>
krylov_result solver<V, Space>::solve(krylov_method method, span<const V, Space> b, span<V, Space> x) {
  const std::int64_t n = system.n();
  const double largest = system.largest("b", b);
  const bool has_guess = system.largest("the guess", span<const V, Space>(x)) > 0;
  krylov_result result;
  result.method = method;
  result.reason = krylov::sentence_of(krylov_outcome::converged, method, 0, {}, true);
  if (largest == 0) {
    fill_zero(system.ctx, x);
    result.converged = true;
    result.history.push_back(0);
    return result;
  }
  const int exponent = exponent_of(largest);
  if constexpr (std::same_as<Space, device>) {  // numbers that left the range may have spread behind the vectors
    fill_zero(system.ctx, vectors.view());
    fill_zero(system.ctx, more.view());
  }
  V* const right = vector(0);
  V* const r = vector(1);
  V* const best = vector(2);
  V* const now = vector(3);
  system.scale(b.data(), -exponent, right);
  look_at(right, r);
  system.scale(x.data(), system.exponent - exponent, best);
  copy_vector(best, now);
  const double scale = system.norm(right);
  if (!has_guess) copy_vector(right, r);
  krylov::iteration<V, Space> run{system,
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
  const krylov_method other = method == krylov_method::cg ? krylov_method::minres : krylov_method::gmres;
  if (may_switch && (method == krylov_method::cg || method == krylov_method::bicgstab)) {
    result.method = other;
    const auto make_room = [&] {
      if (more.empty()) more = zeros(krylov::vectors_of(other, options.restart));
    };
    together(system, make_room);
    run.work = more.data();
    copy_vector(best, now);
    run.residual = system.residual(right, now, r);
    outcome = improve(other, run, best);
  }
  system.scale(best, exponent - system.exponent, now);
  (void)system.largest("the solution", span<const V, Space>(now, n));
  copy<V>(system.ctx, span<const V, Space>(now, n), x);
  result.outcome = outcome;
  result.converged = outcome == krylov_outcome::converged;
  result.iterations = run.done;
  result.relative_residual = run.residual / scale;
  result.reason = krylov::sentence_of(outcome, result.method, run.done, run.detail, is_hermitian);
  result.history = std::move(run.history);
  return result;
}

template <value_type V, class Space>
std::unique_ptr<solver<V, Space>> make_solver(system<V, Space> of, const krylov_options& options, krylov_method method,
                                              krylov_preconditioner by) {
  if constexpr (is_built<Space>) {
    return std::make_unique<solver<V, Space>>(std::move(of), options, method, by);
  } else {
    no_device("solve");
  }
}

template <value_type V, class Space>
krylov_result solve_with(solver<V, Space>& of, krylov_method method, span<const V, Space> b, span<V, Space> x) {
  if constexpr (is_built<Space>) {
    return of.solve(method, b, x);
  } else {
    no_device("solve");
  }
}

#define INSTANTIATE(V, Space)                                                                                    \
  template std::unique_ptr<solver<V, Space>> make_solver(system<V, Space>, const krylov_options&, krylov_method, \
                                                         krylov_preconditioner);                                 \
  template krylov_result solve_with(solver<V, Space>&, krylov_method, span<const V, Space>, span<V, Space>);
#define INSTANTIATE_IN_SPACES(V) INSTANTIATE(V, host) INSTANTIATE(V, device)
SPARGO_FOR_EACH_VALUE(INSTANTIATE_IN_SPACES)
#undef INSTANTIATE_IN_SPACES
#undef INSTANTIATE

}  // namespace detail::krylov

template <value_type V, class Space>
struct krylov_plan<V, Space>::state : krylov::solver<V, Space> {
  using krylov::solver<V, Space>::solver;
};

template <value_type V, class Space>
template <index_type I, index_type O>
krylov_plan<V, Space>::krylov_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                   const krylov_options& options) try {
  krylov::check_options<Space>(options);
  detail::expect_csr("solve", matrix);
  SPARGO_EXPECTS(matrix.rows == matrix.cols,
                 fmt::format("solve: a matrix of {} x {} (expected a square one)", matrix.rows, matrix.cols));
  if constexpr (detail::is_built<Space>) {
    krylov::inspected_matrix<V, Space> found = krylov::inspect<V, I, O>(ctx, matrix);
    krylov::expect_finite(found.bad_row);
    krylov::choice chosen = krylov::choose(ctx, found, options.method);
    const krylov_method method = chosen.algorithm;
    krylov_preconditioner by = krylov::choose_preconditioner(ctx, found, method, options.preconditioner);
    krylov::system<V, Space> system{ctx};
    system.exponent = krylov::scaling_exponent(found.largest);
    const auto product = std::make_shared<const spmv_plan<V, I, O, Space>>(
        ctx, matrix, spmv_options{.storage = spmv_storage::copied, .products = 100});
    system.a = {static_cast<std::int64_t>(matrix.rows),
                [product](span<const V, Space> x, span<V, Space> y) { product->run(V{1}, x, V{}, y); }};
    const std::int64_t bytes = add_preconditioner<V, I, O, Space>(system, matrix, found, by, method, options);
    if (const std::int64_t row = row_without_inverse(system); row >= 0) {
      krylov::expect_automatic(options.preconditioner, row);
      system.inverse = {};
      by = krylov_preconditioner::none;
    }
    auto made = std::make_unique<state>(std::move(system), options, method, by);
    made->is_hermitian = found.is_hermitian;
    made->knows_exponent = true;
    made->other_bytes = product->workspace_bytes() + bytes;
    state_ = {std::move(chosen), std::move(made)};
  } else {
    detail::no_device("solve");
  }
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
  krylov::check_options<Space>(options);
  SPARGO_EXPECTS(a.run != nullptr, "solve: an operator without a product");
  SPARGO_EXPECTS(
      options.preconditioner == krylov_preconditioner::automatic ||
          options.preconditioner == krylov_preconditioner::none,
      fmt::format("solve: {} needs a matrix, not an operator (expected a preconditioner of your own, or none)",
                  to_string(options.preconditioner)));
  SPARGO_EXPECTS(!inverse_of_m.run || inverse_of_m.size == a.size,
                 fmt::format("solve: an operator of {} rows and a preconditioner of {}", a.size, inverse_of_m.size));
  constexpr krylov_method general = std::same_as<Space, host> ? krylov_method::gmres : krylov_method::bicgstab;
  const krylov_method method = options.method == krylov_method::automatic ? general : options.method;
  if constexpr (detail::is_built<Space>) {
    krylov::system<V, Space> system{ctx, std::move(a)};
    system.inverse_of = std::move(inverse_of_m);
    auto made = std::make_unique<state>(std::move(system), options, method, krylov_preconditioner::none);
    made->is_hermitian = true;  // not known: nothing is said of it
    state_ = {{method, options.method == method ? "asked for" : "an operator, of which nothing is known"},
              std::move(made)};
  } else {
    detail::no_device("solve");
  }
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
  if constexpr (detail::is_built<Space>) {
    return state_->solve(method(), b, x);
  } else {
    detail::no_device("solve");
  }
} catch (...) {
  detail::rethrow("solve");
}

plan_estimate estimate(const matrix_shape& shape, const krylov_options& options) {
  // Of automatic: bicgstab, and gmres after it.
  const std::int64_t restart = std::max<std::int64_t>(1, std::min(options.restart, shape.rows));
  std::int64_t vectors = 4 + krylov::vectors_of(options.method, restart);
  if (options.method == krylov_method::automatic) {
    vectors += krylov::vectors_of(krylov_method::bicgstab, restart);
  }
  const plan_estimate product = estimate(shape, spmv_options{.storage = spmv_storage::copied, .products = 100});
  const std::int64_t table = krylov::block_passes::blocks_of(shape.rows) * krylov::sums_of_pass(restart) * 8;
  plan_estimate all;
  all.host_bytes = vectors * shape.rows * shape.value_bytes + krylov::preconditioner_bytes(shape, options) + table +
                   product.host_bytes + shape.rows * shape.offset_bytes;
  const bool may_be_gmres = options.method == krylov_method::automatic || options.method == krylov_method::gmres;
  if (may_be_gmres) all.host_bytes += 2 * restart * (restart + 1) * 16;  // of Hessenberg matrices
  const std::int64_t there =
      std::max(vectors, 4 + krylov::vectors_of(krylov_method::cg, 0) + krylov::vectors_of(krylov_method::minres, 0));
  all.device_bytes = product.device_bytes + (1 + there) * (shape.rows + 64) * shape.value_bytes +
                     krylov::device_preconditioner_bytes(shape, options) + (std::int64_t{4} << 20) +
                     (may_be_gmres ? krylov::gmres_bytes(restart) : 0);
  // Streams of 8 GB/s; 100 iterations.
  all.host_seconds = 100 * (product.host_seconds + 12e-10 * static_cast<double>(shape.rows * shape.value_bytes));
  return all;
}

// Of the device one by one: without CUDA their bodies do not name the state's functions.
#define INSTANTIATE_PLAN(V)                                                                         \
  template class krylov_plan<V, host>;                                                              \
  template krylov_plan<V, device>::krylov_plan(const context<device>&, linear_operator<V, device>,  \
                                               const krylov_options&);                              \
  template krylov_plan<V, device>::krylov_plan(const context<device>&, linear_operator<V, device>,  \
                                               linear_operator<V, device>, const krylov_options&);  \
  template krylov_result krylov_plan<V, device>::run(span<const V, device>, span<V, device>) const; \
  template krylov_preconditioner krylov_plan<V, device>::preconditioner() const noexcept;
SPARGO_FOR_EACH_VALUE(INSTANTIATE_PLAN)
#define INSTANTIATE(V, I, O)                                                                                   \
  template krylov_plan<V, host>::krylov_plan(const context<host>&, const csr_view<const V, I, O, host>&,       \
                                             const krylov_options&);                                           \
  template krylov_plan<V, device>::krylov_plan(const context<device>&, const csr_view<const V, I, O, device>&, \
                                               const krylov_options&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
