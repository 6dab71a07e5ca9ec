// The part of the three plans that is the same: checks, the matrices of a graph, an iteration over them, an estimate.
#pragma once

#include "graph/plan.hpp"
#include "graph/ranks/algorithms.hpp"
#include "graph/ranks/double_weights.hpp"
#include "graph/ranks/power.hpp"

#include <spargo/graph/eigenvector.hpp>
#include <spargo/graph/hits.hpp>
#include <spargo/graph/katz.hpp>

#include <string>
#include <utility>
#include <vector>

namespace spargo::detail::ranks {

// Of `steps` steps with a number of vectors; sides: directions in which the edges are pulled.
[[nodiscard]] plan_estimate estimate_power(const graph_shape& shape, std::int64_t vectors, std::int64_t sides);

// Throws invalid_argument.
void expect_limits(std::string_view operation, double tolerance, std::int64_t max_iterations);

// Which matrices a step multiplies by.
enum class pulled_sides { in_edges, in_and_out_edges };

// The base of a plan's state, which adds the operation's name and set_rule(options).
template <class I, class O, class Space>
struct power_state : executor_state<power_iteration<Space>> {
  static constexpr auto pulled = pulled_sides::in_edges;

  power_rule rule;
  double divisor = 1;  // of the change in the residual
  double largest_weight = 1;
  power_outcome outcome;
  std::string how;                            // how the matrices are read
  csr_matrix<pattern, I, O, Space> in_edges;  // of a directed graph without weights that lacks them
  double_weights<I, O, Space> weights;

  // In-edges as rows, and their weights.
  void build(std::string_view operation, const context<Space>& ctx, const graph_view<I, O, Space>& g,
             span<const double, Space> out_weights, span<const double, Space> in_weights, pulled_sides sides) {
    this->vertices = g.vertices();
    if (this->vertices == 0) {
      how = "the graph is empty";
      this->executor = make_iteration<Space>(ctx, operation, 0, {});
      return;
    }
    csr_pattern_view<I, O, Space> in = g.direction == direction_kind::undirected ? g.out : g.in;
    if (lacks_in_edges(g)) {
      in_edges = transpose(ctx, csr_view<const pattern, I, O, Space>{g.out, {}});
      in = std::as_const(in_edges).view();
    }
    std::vector<std::shared_ptr<const matrix_product<Space>>> products;
    products.push_back(make_product<I, O, Space>(ctx, in, in_weights));
    how = products[0]->reason();
    if (sides == pulled_sides::in_and_out_edges) {
      products.push_back(
          in.offsets.data() == g.out.offsets.data()
              ? products[0]
              : std::shared_ptr<const matrix_product<Space>>(make_product<I, O, Space>(ctx, g.out, out_weights)));
    }
    this->executor = make_iteration<Space>(ctx, operation, g.vertices(), std::move(products));
  }
  void build(std::string_view operation, const context<Space>& ctx, const graph_view<I, O, Space>& g,
             pulled_sides sides) {
    build(operation, ctx, g, {}, {}, sides);
  }
  template <class W>
  void build(std::string_view operation, const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
             pulled_sides sides) {
    weights = {operation, ctx, g};
    largest_weight = weights.largest();
    build(operation, ctx, weights.view(), weights.view().out_weights, weights.view().in_weights, sides);
  }

  static void check(const auto& /*options*/) {}

  void run(std::string_view operation, const power_rule& by, span<const double, Space> constants,
           std::string_view constants_name, span<const double, Space> start) {
    expect_one_per_vertex(operation, constants_name, constants.size(), this->vertices);
    expect_one_per_vertex(operation, "values of the start", start.size(), this->vertices);
    outcome = {.converged = true};
    if (this->vertices > 0) outcome = this->executor->run(by, constants, start);
  }
  [[nodiscard]] double residual() const { return outcome.change / divisor; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    return this->executor->workspace_bytes() + weights.bytes() + bytes_of(in_edges.offsets(), in_edges.indices());
  }
};

// Steps that bound the largest eigenvalue: from equal values, A + I. R-MAT 20: 5 percent above it after 20.
inline constexpr std::int64_t bounding_steps = 20;

[[nodiscard]] inline power_rule shifted_rule(std::int64_t vertices, double limit, std::int64_t most) {
  return {.own = 1,
          .each = vector_norm::euclidean,
          .start = vector_norm::sum,
          .initial = 1 / static_cast<double>(vertices),
          .limit = limit,
          .most = most};
}

}  // namespace spargo::detail::ranks

namespace spargo::detail {

template <class Plan, class Options, index_type I, index_type O, class Space>
template <class Graph>
void power_plan_base<Plan, Options, I, O, Space>::make(const context<Space>& ctx, const Graph& g,
                                                       const Options& options) try {
  using state = state_of<Plan>;
  using algorithm = decltype(options.algorithm);
  state::check(options);
  ranks::expect_limits(state::operation, options.tolerance, options.max_iterations);
  expect_graph(state::operation, g);
  expect_runs_on<Space>(ranks::algorithms<algorithm>, state::operation, options.algorithm);
  if constexpr (is_built<Space>) {
    auto made = std::make_unique<state>();
    made->build(state::operation, ctx, g, state::pulled);
    made->set_rule(options);
    this->state_ = {{algorithm::power, "there is no other algorithm; " + made->how}, std::move(made)};
  } else {
    no_device(state::operation);
  }
} catch (...) {
  rethrow(state_of<Plan>::operation);
}

template <class Plan, class Options, index_type I, index_type O, class Space>
power_plan_base<Plan, Options, I, O, Space>::power_plan_base(const context<Space>& ctx,
                                                             const graph_view<I, O, Space>& g, const Options& options) {
  make(ctx, g, options);
}
template <class Plan, class Options, index_type I, index_type O, class Space>
template <scalar W>
power_plan_base<Plan, Options, I, O, Space>::power_plan_base(const context<Space>& ctx,
                                                             const weighted_graph_view<W, I, O, Space>& g,
                                                             const Options& options) {
  make(ctx, g, options);
}

template <class Plan, class Options, index_type I, index_type O, class Space>
std::int64_t power_plan_base<Plan, Options, I, O, Space>::iterations() const noexcept {
  return this->state_->outcome.iterations;
}
template <class Plan, class Options, index_type I, index_type O, class Space>
double power_plan_base<Plan, Options, I, O, Space>::residual() const noexcept {
  return this->state_->residual();
}
template <class Plan, class Options, index_type I, index_type O, class Space>
bool power_plan_base<Plan, Options, I, O, Space>::converged() const noexcept {
  return this->state_->outcome.converged;
}

}  // namespace spargo::detail
