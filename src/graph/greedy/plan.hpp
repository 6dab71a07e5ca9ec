// Plans of greedy algorithms: checks, the order, and the call with a temporary plan.
#pragma once

#include "graph/graph/with_in_edges.hpp"
#include "graph/greedy/order.hpp"
#include "graph/plan.hpp"

#include <memory>
#include <utility>

namespace spargo::detail::greedy {

// The state of a plan. make(ctx, g, ranks): its executor. `usual`: the order that `automatic` stands for.
template <class State, class I, class O, class Space, class Options, class Make>
[[nodiscard]] plan_state<State, greedy_algorithm> make_state(const char* operation, const context<Space>& ctx,
                                                             const graph_view<I, O, Space>& g, const Options& options,
                                                             greedy_order usual, const Make& make) {
  expect_graph(operation, g);
  const greedy_order order = choose_order(operation, options.order, usual);
  return plan_only<State>(algorithms, operation, options.algorithm, ctx, [&](const auto& where) {
    if (lacks_in_edges(g)) refuse_without_in_edges(operation);
    return std::make_unique<State>(State{{g.vertices(), make(where, g, rank_vertices(where, g, order, options.seed))}});
  });
}

// One run of a temporary plan, over in-edges that are built where they are missing; result(plan) is returned.
template <class Plan, class I, class O, class Space, class Options, class Result>
[[nodiscard]] auto run_once(const char* operation, const context<Space>& ctx, const graph_view<I, O, Space>& g,
                            const Options& options, const Result& result) {
  expect_graph(operation, g);
  expect_runs_on<Space>(algorithms, operation, options.algorithm);
  const with_in_edges<I, O, Space> pulled(ctx, g);
  Plan plan(ctx, pulled.view(), options);
  plan.run();
  return result(plan);
}

}  // namespace spargo::detail::greedy
