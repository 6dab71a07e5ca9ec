// Names, checks, the choice of an algorithm, and the plan.
#include "graph/communities/algorithms.hpp"
#include "graph/communities/executor.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace spargo {

namespace detail::communities {

void throw_bad_label(std::int64_t vertex, std::int64_t label, std::int64_t vertices) {
  throw_invalid_argument(
      fmt::format("communities: vertex {} has the initial label {} (expected 0 to {})", vertex, label, vertices - 1));
}

std::int64_t iterations_of(const communities_options& options, std::int64_t vertices, std::int64_t entries) {
  if (options.method == communities_method::louvain) return 1;
  if (options.iterations != 0) return options.iterations;
  if (options.method == communities_method::cdlp) return 10;
  constexpr std::int64_t work = std::int64_t{1} << 24;
  return std::clamp<std::int64_t>(work / std::max<std::int64_t>(vertices + entries, 1), 2, 60);
}

namespace {

using choice = plan_choice<communities_algorithm>;

template <class Space>
choice choose_moving(const communities_options& o) {
  expect_named("communities", "objective", o.objective);
  SPARGO_EXPECTS(o.resolution >= 0 && std::isfinite(o.resolution),
                 fmt::format("communities: resolution {} (expected a finite one, 0 or more)", o.resolution));
  SPARGO_EXPECTS(o.tolerance >= 0, fmt::format("communities: tolerance {} (expected 0 or more)", o.tolerance));
  SPARGO_EXPECTS(o.max_levels >= 1, fmt::format("communities: {} levels (expected 1 or more)", o.max_levels));
  expect_runs_on<Space>(algorithms, "communities", o.algorithm);
  if (o.algorithm == communities_algorithm::all_vertices) {
    throw error(error_code::unsupported,
                fmt::format("communities: {} has no algorithm all_vertices (expected frontier)", to_string(o.method)));
  }
  return {communities_algorithm::frontier, "only vertices with a neighbour that moved are looked at again"};
}

template <class Space>
choice choose(const communities_options& o) {
  expect_runs_on<Space>(methods, "communities", o.method, "method");
  SPARGO_EXPECTS(o.iterations >= 0, fmt::format("communities: {} iterations (expected 0 or more)", o.iterations));
  if (o.method != communities_method::cdlp) return choose_moving<Space>(o);
  if (auto named = choose_by_name<Space>(algorithms, "communities", o.algorithm)) return *std::move(named);
  return {communities_algorithm::frontier, "it skips vertices whose neighbours kept their labels"};
}

}  // namespace

}  // namespace detail::communities

namespace {
namespace impl = detail::communities;
}

template <>
enum_table<communities_method> enum_rows() noexcept {
  return impl::methods;
}
template <>
enum_table<communities_objective> enum_rows() noexcept {
  return impl::objectives;
}
template <>
enum_table<communities_algorithm> enum_rows() noexcept {
  return impl::algorithms;
}
namespace {

// Louvain and Leiden: nine arrays of indices and five of 64-bit numbers at most at once, during refinement; afterwards
// the contracted graph, twice, which may be as large as the graph. R-MAT 18, degree 16, one thread: Louvain takes 1.3
// s, Leiden 2.5 s with one pass and 9.6 s with ten.
plan_estimate estimate_moving(const graph_shape& s, const communities_options& options) {
  constexpr double pass_ns = 150;  // per entry
  constexpr std::int64_t sum = 8;  // bytes
  const std::int64_t index = s.index_bytes;
  const bool directed = s.direction == direction_kind::directed;
  const std::int64_t symmetric = directed ? 2 * s.entries : s.entries;
  plan_estimate of;
  of.host_bytes =
      s.vertices * (9 * index + (5 + s.threads) * sum) + symmetric * 2 * (index + sum) + s.entries * sum + 64;
  if (directed) of.host_bytes += symmetric * 4 * (index + sum) + s.vertices * 4 * sum;
  // On a device: two levels and the gathered rows of one, and tables for the rows of a batch that have several
  // segments.
  const std::int64_t longest = s.longest_row >= 0 ? std::min(s.longest_row, s.vertices) : s.vertices;
  of.device_bytes = s.vertices * (14 * index + 7 * sum) + symmetric * 3 * (index + sum) +
                    (symmetric / 2 + 4 * longest) * (index + sum) + (std::int64_t{1} << 20);
  if (directed) of.device_bytes += symmetric * (2 * index + sum);
  const std::int64_t passes = impl::iterations_of(options, s.vertices, symmetric);
  of.host_seconds = detail::expected_seconds(s, pass_ns * static_cast<double>(passes));
  return of;
}

}  // namespace

// entry_ns: R-MAT 22, degree 8, 10 rounds take 16 threads 210 ms. Device: labels of three rounds, the order of rows, a
// round number per vertex, lists of long rows.
plan_estimate estimate(const graph_shape& s, const communities_options& options) {
  if (options.method != communities_method::cdlp) return estimate_moving(s, options);
  constexpr double entry_ns = 5;
  constexpr std::int64_t segment = 1 << 15;  // part of a row that a thread's table holds
  const std::int64_t index = s.index_bytes;
  const std::int64_t most = s.longest_row >= 0 ? s.longest_row : segment + 1;
  const auto longest = static_cast<std::uint64_t>(std::clamp<std::int64_t>(most, 1, segment));
  const auto slots = static_cast<std::int64_t>(std::bit_ceil(2 * longest));
  const auto row = static_cast<std::int64_t>(longest);
  plan_estimate of;
  of.host_bytes = s.vertices * (2 * index + 1 + (most > segment ? index : 0)) +
                  s.threads * ((row + 2048) * index + 65536 + slots * 2 * index) + 64;
  of.device_bytes = s.vertices * (4 * index + 4) + (s.entries / 128 + 1) * index + (std::int64_t{1} << 20);
  of.host_seconds =
      detail::expected_seconds(s, entry_ns * static_cast<double>(impl::iterations_of(options, s.vertices, s.entries)));
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<communities_plan<I, O, Space>> : detail::executor_state<impl::executor<I, Space>> {
  graph<I, O, Space> loopless;  // a copy, if the graph has loops
  impl::run_outcome outcome;
};

template <index_type I, index_type O, class Space>
communities_plan<I, O, Space>::communities_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                const communities_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("communities", g);
    impl::choice chosen = impl::choose<Space>(options);
    state own{{g.vertices(), nullptr}, {}, {}};
    if (options.method != communities_method::cdlp) {
      if constexpr (std::same_as<Space, host>) {
        own.executor = impl::make_modularity_executor(ctx, g, {}, options);
      } else {
        own.executor = impl::make_modularity_executor(ctx, g, options);
      }
    } else {
      if (detail::lacks_in_edges(g)) detail::refuse_without_in_edges("communities");
      communities_options settled = options;
      settled.algorithm = chosen.algorithm;
      settled.iterations = impl::iterations_of(options, g.vertices(), g.out.nnz());
      if (g.loops > 0) own.loopless = detail::without_loops(ctx, g);
      own.executor = impl::make_executor<I, O>(ctx, g.loops > 0 ? own.loopless.view() : g, settled);
    }
    this->state_ = {std::move(chosen), std::make_unique<state>(std::move(own))};
  } else {
    detail::no_device("communities");
  }
} catch (...) {
  detail::rethrow("communities");
}

template <index_type I, index_type O, class Space>
template <detail::scalar W>
communities_plan<I, O, Space>::communities_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                                const communities_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("communities", g);
    if (options.method == communities_method::cdlp) {
      const graph_view<I, O, Space>& unweighted = g;
      *this = communities_plan(ctx, unweighted, options);
      return;
    }
    impl::choice chosen = impl::choose<Space>(options);
    state own{{g.vertices(), nullptr}, {}, {}};
    if constexpr (std::same_as<Space, host>) {
      own.executor =
          impl::make_modularity_executor<I, O>(ctx, g, impl::to_fixed_point(ctx, g.out, g.out_weights), options);
    } else {
      const graph_view<I, O, Space>& structure = g;
      const bool undirected = g.direction == direction_kind::undirected;
      const weighted_graph<W, I, O, host> placed(to_host(ctx, structure), to_host(ctx, g.out_weights),
                                                 undirected ? array<W, host>() : to_host(ctx, g.in_weights), 0);
      const weighted_graph_view<W, I, O, host> view = placed.view();
      const context<host> cpu;
      own.executor = impl::make_modularity_executor<I, O>(
          ctx, view, impl::to_fixed_point(cpu, view.out, view.out_weights), options);
    }
    this->state_ = {std::move(chosen), std::make_unique<state>(std::move(own))};
  } else {
    detail::no_device("communities");
  }
} catch (...) {
  detail::rethrow("communities");
}

template <index_type I, index_type O, class Space>
void communities_plan<I, O, Space>::run(span<const I, Space> initial) try {
  detail::expect_one_per_vertex("communities", "initial labels", initial.size(), this->state_->vertices);
  this->state_->outcome = this->state_->executor->run(initial);
} catch (...) {
  detail::rethrow("communities");
}
template <index_type I, index_type O, class Space>
span<const I, Space> communities_plan<I, O, Space>::labels() const noexcept {
  return this->state_->executor->labels();
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::count() const noexcept {
  return this->state_->outcome.count;
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::rounds() const noexcept {
  return this->state_->outcome.rounds;
}
template <index_type I, index_type O, class Space>
double communities_plan<I, O, Space>::modularity() const noexcept {
  return this->state_->outcome.modularity;
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::levels() const noexcept {
  return this->state_->outcome.levels;
}

namespace {

template <class I, class O, class Space>
communities_result<I, Space> run_once(const context<Space>& ctx, communities_plan<I, O, Space> plan,
                                      span<const I, Space> initial) {
  plan.run(initial);
  return {clone(ctx, plan.labels()), plan.count(), plan.rounds(), plan.modularity(), plan.levels(), plan.algorithm()};
}

}  // namespace

template <index_type I, index_type O, class Space>
communities_result<I, Space> communities(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                         const communities_options& options,
                                         std::type_identity_t<span<const I, Space>> initial) try {
  detail::expect_graph("communities", g);
  if (options.method != communities_method::cdlp) return run_once<I, O, Space>(ctx, {ctx, g, options}, initial);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  return run_once<I, O, Space>(ctx, {ctx, pulled.view(), options}, initial);
} catch (...) {
  detail::rethrow("communities");
}
template <detail::scalar W, index_type I, index_type O, class Space>
communities_result<I, Space> communities(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                         const communities_options& options,
                                         std::type_identity_t<span<const I, Space>> initial) try {
  const graph_view<I, O, Space>& unweighted = g;
  if (options.method == communities_method::cdlp) return communities(ctx, unweighted, options, initial);
  return run_once<I, O, Space>(ctx, {ctx, g, options}, initial);
} catch (...) {
  detail::rethrow("communities");
}

#define INSTANTIATE_W(W, I, O, S)                                                                                      \
  template communities_plan<I, O, S>::communities_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&,      \
                                                       const communities_options&);                                    \
  template communities_result<I, S> communities<W, I, O, S>(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                                            const communities_options&,                                \
                                                            std::type_identity_t<span<const I, S>>);
#define INSTANTIATE(I, O, S)                                                                            \
  template class communities_plan<I, O, S>;                                                             \
  template communities_result<I, S> communities<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                         const communities_options&,                    \
                                                         std::type_identity_t<span<const I, S>>);       \
  SPARGO_FOR_EACH_WEIGHT(INSTANTIATE_W, I, O, S)
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
