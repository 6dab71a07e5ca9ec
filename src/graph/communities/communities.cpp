// Names, checks, the choice of an algorithm, and the plan.
#include "graph/communities/algorithms.hpp"
#include "graph/communities/executor.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace spargo {

namespace detail::communities {

void throw_bad_label(std::int64_t vertex, std::int64_t label, std::int64_t vertices) {
  throw_invalid_argument(
      fmt::format("communities: vertex {} has the initial label {} (expected 0 to {})", vertex, label, vertices - 1));
}

namespace {

using choice = plan_choice<communities_algorithm>;

template <class Space>
choice choose(const communities_options& o) {
  expect_named("communities", "method", o.method);
  SPARGO_EXPECTS(o.iterations >= 1, fmt::format("communities: {} iterations (expected 1 or more)", o.iterations));
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
enum_table<communities_algorithm> enum_rows() noexcept {
  return impl::algorithms;
}
// entry_ns: R-MAT 22, degree 8, 10 rounds take 16 threads 210 ms. Device: labels of three rounds, the order of rows, a
// round number per vertex, lists of long rows.
plan_estimate estimate(const graph_shape& s, const communities_options& options) {
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
  of.host_seconds = detail::expected_seconds(s, entry_ns * static_cast<double>(options.iterations));
  return of;
}

template <index_type I, index_type O, class Space>
struct communities_plan<I, O, Space>::state : detail::executor_state<impl::executor<I, Space>> {
  graph<I, O, Space> loopless;  // a copy, if the graph has loops
  impl::run_outcome outcome;
};

template <index_type I, index_type O, class Space>
communities_plan<I, O, Space>::communities_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                const communities_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("communities", g);
    if (detail::lacks_in_edges(g)) detail::refuse_without_in_edges("communities");
    impl::choice chosen = impl::choose<Space>(options);
    communities_options settled = options;
    settled.algorithm = chosen.algorithm;
    graph<I, O, Space> loopless;
    if (g.loops > 0) loopless = detail::without_loops(ctx, g);
    auto executor = impl::make_executor<I, O>(ctx, g.loops > 0 ? loopless.view() : g, settled);
    state_ = {std::move(chosen),
              std::make_unique<state>(state{{g.vertices(), std::move(executor)}, std::move(loopless), {}})};
  } else {
    detail::no_device("communities");
  }
} catch (...) {
  detail::rethrow("communities");
}

template <index_type I, index_type O, class Space>
void communities_plan<I, O, Space>::run(span<const I, Space> initial) try {
  detail::expect_one_per_vertex("communities", "initial labels", initial.size(), state_->vertices);
  state_->outcome = state_->executor->run(initial);
} catch (...) {
  detail::rethrow("communities");
}
template <index_type I, index_type O, class Space>
span<const I, Space> communities_plan<I, O, Space>::labels() const noexcept {
  return state_->executor->labels();
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::count() const noexcept {
  return state_->outcome.count;
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::rounds() const noexcept {
  return state_->outcome.rounds;
}

template <index_type I, index_type O, class Space>
communities_result<I, Space> communities(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                         const communities_options& options,
                                         std::type_identity_t<span<const I, Space>> initial) try {
  detail::expect_graph("communities", g);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  communities_plan<I, O, Space> plan(ctx, pulled.view(), options);
  plan.run(initial);
  return {clone(ctx, plan.labels()), plan.count(), plan.rounds(), plan.algorithm()};
} catch (...) {
  detail::rethrow("communities");
}

#define INSTANTIATE(I, O, S)                                                                            \
  template class communities_plan<I, O, S>;                                                             \
  template communities_result<I, S> communities<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                         const communities_options&,                    \
                                                         std::type_identity_t<span<const I, S>>);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
