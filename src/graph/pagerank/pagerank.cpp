// Names, checks, the choice of an algorithm, and the plan.
#include "graph/graph/with_in_edges.hpp"
#include "graph/pagerank/executor.hpp"
#include "graph/plan.hpp"
#include "graph/ranks/double_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace spargo {

namespace {

namespace ranking = detail::pagerank;

void check_options(const pagerank_options& o) {
  SPARGO_EXPECTS(o.damping >= 0 && o.damping < 1,
                 fmt::format("pagerank: damping {} (expected at least 0 and below 1)", o.damping));
  SPARGO_EXPECTS(o.tolerance >= 0 && std::isfinite(o.tolerance),
                 fmt::format("pagerank: tolerance {} (expected 0 or more)", o.tolerance));
  SPARGO_EXPECTS(o.max_iterations >= 1,
                 fmt::format("pagerank: at most {} iterations (expected 1 or more)", o.max_iterations));
  SPARGO_EXPECTS(o.iterations >= 0, fmt::format("pagerank: {} iterations (expected 0 or more)", o.iterations));
}

using choice = detail::plan_choice<pagerank_algorithm>;

template <class Space>
choice choose(const pagerank_options& o) {
  auto named = detail::choose_by_name<Space>(ranking::algorithms, "pagerank", o.algorithm);
  detail::expect_runs_on<Space>(ranking::copies, "pagerank", o.copy, "copy");
  if (o.algorithm == pagerank_algorithm::gauss_seidel && o.iterations > 0) {
    throw error(error_code::unsupported, "pagerank: a number of iterations is defined for jacobi only");
  }
  if (named) return *std::move(named);
  if (o.iterations > 0) return {pagerank_algorithm::jacobi, "a number of iterations is defined for jacobi only"};
  if constexpr (std::same_as<Space, device>) {
    return {pagerank_algorithm::jacobi, "the device has no other algorithm"};
  } else {
    return {pagerank_algorithm::gauss_seidel, "it converges in fewer iterations"};
  }
}

}  // namespace

template <>
enum_table<pagerank_algorithm> enum_rows() noexcept {
  return ranking::algorithms;
}

template <>
enum_table<pagerank_copy> enum_rows() noexcept {
  return ranking::copies;
}

template <>
enum_table<pagerank_norm> enum_rows() noexcept {
  static constexpr std::array<enum_row<pagerank_norm>, 2> rows{{
      {pagerank_norm::l1, "l1"},
      {pagerank_norm::linf, "linf"},
  }};
  return rows;
}

template <>
enum_table<pagerank_dangling> enum_rows() noexcept {
  static constexpr std::array<enum_row<pagerank_dangling>, 3> rows{{
      {pagerank_dangling::uniform, "uniform"},
      {pagerank_dangling::personalization, "personalization"},
      {pagerank_dangling::drop, "drop"},
  }};
  return rows;
}

void detail::pagerank::check_sum(const char* name, double sum, bool negative) {
  constexpr double least = std::numeric_limits<double>::min();  // the inverse of a smaller value may overflow
  SPARGO_EXPECTS(
      !negative && std::isfinite(sum) && sum >= least,
      fmt::format("pagerank: the {} holds {} (expected finite values of 0 or more that sum to at least {:.2g})", name,
                  negative ? "a negative value" : fmt::format("values that sum to {}", sum), least));
}

void detail::pagerank::refuse_weight_sum(std::int64_t from) {
  throw error(error_code::invalid_data,
              fmt::format("pagerank: the weights of the edges from vertex {} exceed double precision in sum", from));
}

plan_estimate estimate(const graph_shape& s, const pagerank_options& options) {
  constexpr double step_ns = 2.3;           // per entry
  constexpr std::int64_t usual_steps = 10;  // until the tolerance is met
  constexpr std::int64_t least_chunk = 1 << 15;
  pagerank_options chosen = options;
  if (options.algorithm == pagerank_algorithm::automatic && options.iterations == 0) {
    chosen.algorithm = pagerank_algorithm::gauss_seidel;
  }
  const bool in_place = chosen.algorithm == pagerank_algorithm::gauss_seidel;
  plan_estimate of;
  of.host_bytes = s.vertices * s.value_bytes * (in_place ? 1 : 2) + ((s.vertices + s.entries) / least_chunk + 2) * 32;
  if (ranking::has_narrow_shares(chosen, s.vertices, s.value_bytes)) of.host_bytes += s.vertices * 12;
  // `automatic` copies the graph only if memory suffices.
  const std::int64_t copied = options.copy == pagerank_copy::blocked  ? 4
                              : options.copy == pagerank_copy::binned ? 4 + s.value_bytes
                                                                      : 0;
  of.device_bytes = s.vertices * (6 * s.value_bytes + s.index_bytes) + s.entries * copied;
  of.host_seconds = detail::expected_seconds(
      s, step_ns * static_cast<double>(options.iterations > 0 ? options.iterations : usual_steps));
  return of;
}

template <detail::real V, index_type I, index_type O, class Space>
struct detail::state_of<pagerank_plan<V, I, O, Space>> : detail::executor_state<detail::pagerank::executor<V, Space>> {
  double tolerance;
  detail::pagerank::run_outcome outcome;
  detail::ranks::double_weights<I, O, Space> weights;  // with the in-edges if the graph lacks them
};

namespace {

template <class V, class Space>
struct prepared_run {
  choice chosen;
  std::unique_ptr<detail::pagerank::executor<V, Space>> executor;
};

// `g` is a graph_view or a weighted_graph_view.
template <class V, class Space, class Graph>
prepared_run<V, Space> prepare(const context<Space>& ctx, Graph g, const pagerank_options& options) {
  if (detail::lacks_in_edges(g)) detail::refuse_without_in_edges("pagerank");
  choice chosen = choose<Space>(options);
  pagerank_options reduced = options;
  reduced.algorithm = chosen.algorithm;
  if (!g.has_in_edges()) g.in = g.out;
  auto executor = detail::pagerank::make_executor<V>(ctx, g, reduced);
  if (const std::string more = executor->reason(); !more.empty()) chosen.reason += "; " + more;
  return {std::move(chosen), std::move(executor)};
}

}  // namespace

template <detail::real V, index_type I, index_type O, class Space>
pagerank_plan<V, I, O, Space>::pagerank_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                             const pagerank_options& options) try {
  check_options(options);
  detail::expect_graph("pagerank", g);
  if constexpr (detail::is_built<Space>) {
    auto made = prepare<V>(ctx, g, options);
    this->state_ = {std::move(made.chosen), std::make_unique<state>(state{
                                                {g.vertices(), std::move(made.executor)}, options.tolerance, {}, {}})};
  } else {
    detail::no_device("pagerank");
  }
} catch (...) {
  detail::rethrow("pagerank");
}

template <detail::real V, index_type I, index_type O, class Space>
template <detail::scalar W>
pagerank_plan<V, I, O, Space>::pagerank_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                             const pagerank_options& options) try {
  check_options(options);
  detail::expect_graph("pagerank", g);
  if constexpr (detail::is_built<Space>) {
    detail::ranks::double_weights<I, O, Space> weights("pagerank", ctx, g);
    auto made = prepare<V>(ctx, weights.view(), options);
    weights.keep_pattern();
    this->state_ = {std::move(made.chosen),
                    std::make_unique<state>(
                        state{{g.vertices(), std::move(made.executor)}, options.tolerance, {}, std::move(weights)})};
  } else {
    detail::no_device("pagerank");
  }
} catch (...) {
  detail::rethrow("pagerank");
}

template <detail::real V, index_type I, index_type O, class Space>
void pagerank_plan<V, I, O, Space>::run(span<const V, Space> personalization, span<const V, Space> guess) try {
  detail::expect_one_per_vertex("pagerank", "values of the personalization", personalization.size(),
                                this->state_->vertices);
  detail::expect_one_per_vertex("pagerank", "values of the guess", guess.size(), this->state_->vertices);
  this->state_->outcome = {};
  if (this->state_->vertices > 0) this->state_->outcome = this->state_->executor->run(personalization, guess);
} catch (...) {
  detail::rethrow("pagerank");
}
template <detail::real V, index_type I, index_type O, class Space>
span<const V, Space> pagerank_plan<V, I, O, Space>::ranks() const noexcept {
  return this->state_->executor->ranks();
}
template <detail::real V, index_type I, index_type O, class Space>
std::int64_t pagerank_plan<V, I, O, Space>::iterations() const noexcept {
  return this->state_->outcome.iterations;
}
template <detail::real V, index_type I, index_type O, class Space>
double pagerank_plan<V, I, O, Space>::residual() const noexcept {
  return this->state_->outcome.residual;
}
template <detail::real V, index_type I, index_type O, class Space>
bool pagerank_plan<V, I, O, Space>::converged() const noexcept {
  return this->state_->outcome.residual <= this->state_->tolerance;
}

template <detail::real V, index_type I, index_type O, class Space>
pagerank_result<V, Space> pagerank(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                   const pagerank_options& options,
                                   std::type_identity_t<span<const V, Space>> personalization,
                                   std::type_identity_t<span<const V, Space>> guess) try {
  detail::expect_graph("pagerank", g);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  pagerank_plan<V, I, O, Space> plan(ctx, pulled.view(), options);
  plan.run(personalization, guess);
  return {clone(ctx, plan.ranks()), plan.iterations(), plan.residual(), plan.converged(), plan.algorithm()};
} catch (...) {
  detail::rethrow("pagerank");
}

template <detail::real V, detail::scalar W, index_type I, index_type O, class Space>
pagerank_result<V, Space> pagerank(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                   const pagerank_options& options,
                                   std::type_identity_t<span<const V, Space>> personalization,
                                   std::type_identity_t<span<const V, Space>> guess) try {
  pagerank_plan<V, I, O, Space> plan(ctx, g, options);
  plan.run(personalization, guess);
  return {clone(ctx, plan.ranks()), plan.iterations(), plan.residual(), plan.converged(), plan.algorithm()};
} catch (...) {
  detail::rethrow("pagerank");
}

#define INSTANTIATE_W(V, W, I, O, S)                                                                           \
  template pagerank_plan<V, I, O, S>::pagerank_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                                    const pagerank_options&);                                  \
  template pagerank_result<V, S> pagerank<V, W, I, O, S>(                                                      \
      const context<S>&, const weighted_graph_view<W, I, O, S>&, const pagerank_options&,                      \
      std::type_identity_t<span<const V, S>>, std::type_identity_t<span<const V, S>>);
#define INSTANTIATE_V(V, I, O, S)                                                                                      \
  template class pagerank_plan<V, I, O, S>;                                                                            \
  template pagerank_result<V, S> pagerank<V, I, O, S>(const context<S>&, const graph_view<I, O, S>&,                   \
                                                      const pagerank_options&, std::type_identity_t<span<const V, S>>, \
                                                      std::type_identity_t<span<const V, S>>);                         \
  INSTANTIATE_W(V, std::int32_t, I, O, S)                                                                              \
  INSTANTIATE_W(V, std::int64_t, I, O, S)                                                                              \
  INSTANTIATE_W(V, float, I, O, S)                                                                                     \
  INSTANTIATE_W(V, double, I, O, S)
#define INSTANTIATE(I, O, S)    \
  INSTANTIATE_V(float, I, O, S) \
  INSTANTIATE_V(double, I, O, S)
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
