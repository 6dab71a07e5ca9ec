// What the plans of eigenvector centrality, Katz centrality and HITS have in common: iterations over a graph with or
// without weights.
#pragma once

#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo::detail {

// Borrows the graph, and builds the in-edges of a directed one that lacks them. Weights that are not doubles are
// converted, once per direction. On a device a plan also holds the values of a product and its copy of the graph; the
// host looks for the end every two to eight steps, which synchronizes.
template <class Plan, class Options, index_type I, index_type O, class Space>
class SPARGO_EXPORT power_plan_base : public graph_plan_base<Plan, Options, I, O> {
 public:
  // Of the last run; valid until the next.
  [[nodiscard]] std::int64_t iterations() const noexcept;
  [[nodiscard]] double residual() const noexcept;
  [[nodiscard]] bool converged() const noexcept;

 protected:
  // Throws invalid_argument for options out of range or an inconsistent graph view.
  power_plan_base(const context<Space>& ctx, const graph_view<I, O, Space>& g, const Options& options);
  // Also throws invalid_data for weights that are negative or not finite.
  template <scalar W>
  power_plan_base(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g, const Options& options);

 private:
  template <class Graph>
  void make(const context<Space>& ctx, const Graph& g, const Options& options);
};

}  // namespace spargo::detail

#include <spargo/core/macros_pop.hpp>
