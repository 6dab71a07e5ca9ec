// Eigenvector centrality: a vertex's value is in proportion to the sum of its in-neighbours' values, times the edges'
// weights: the left eigenvector of the largest eigenvalue of the adjacency matrix A.
//
// Iterates A + I, as networkx does, from equal values, and scales each step to 2-norm 1. Of a graph of several
// components the values depend on the start; of a directed graph without cycles they have no meaning. Loops and
// duplicate edges of a view count as edges, each once. A step is O(vertices + edges). Deterministic: the same bits for
// any number of threads, on a device on every run. Source: Bonacich, J. Math. Sociol. 2, 1972.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/power_plan.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class eigenvector_algorithm {
  automatic,  // the fastest for this graph and backend
  power,      // power iteration
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<eigenvector_algorithm> enum_rows() noexcept;
[[nodiscard]] inline eigenvector_algorithm parse_eigenvector_algorithm(
    std::string_view name) {  // throws invalid_argument
  return parse_enum<eigenvector_algorithm>("eigenvector: unknown algorithm", name);
}

struct SPARGO_EXPORT eigenvector_options {
  eigenvector_algorithm algorithm = eigenvector_algorithm::automatic;
  double tolerance = 1e-6;            // stops when a step changes the values by less than vertices * tolerance in sum
  std::int64_t max_iterations = 100;  // maximum number of iterations
};

template <class Space>
struct eigenvector_result {
  array<double, Space> values;  // [vertex], with 2-norm 1
  std::int64_t iterations = 0;
  double residual = 0;  // change of the last step in sum, divided by the vertices
  bool converged = false;
  double eigenvalue = 0;                                               // the largest of A, from the last step
  eigenvector_algorithm algorithm = eigenvector_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: of 20 iterations.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const eigenvector_options& options);

// Workspace for many runs on one graph, allocated once: two doubles per vertex, besides what power_plan.hpp says.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT eigenvector_plan
    : public detail::power_plan_base<eigenvector_plan<I, O, Space>, eigenvector_options, I, O, Space> {
 public:
  // Throws invalid_argument for options out of range or an inconsistent graph view.
  eigenvector_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const eigenvector_options& options = {})
      : detail::power_plan_base<eigenvector_plan, eigenvector_options, I, O, Space>(ctx, g, options) {}
  // Over the graph's weights. Also throws invalid_data for weights that are negative or not finite.
  template <detail::scalar W>
  eigenvector_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                   const eigenvector_options& options = {})
      : detail::power_plan_base<eigenvector_plan, eigenvector_options, I, O, Space>(ctx, g, options) {}

  // From a start that is scaled to sum 1, or from equal values. Throws invalid_argument unless it is empty or has a
  // finite value of 0 or more per vertex, not all 0. Synchronizes.
  void run(span<const double, Space> start = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const double, Space> values() const noexcept;
  [[nodiscard]] double eigenvalue() const noexcept;
};

template <index_type I, index_type O, class Space>
eigenvector_plan(const context<Space>&, const graph<I, O, Space>&, const eigenvector_options& = {})
    -> eigenvector_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
eigenvector_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const eigenvector_options& = {})
    -> eigenvector_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] eigenvector_result<Space> eigenvector(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                    const eigenvector_options& options = {}) {
  eigenvector_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.values()), plan.iterations(), plan.residual(),
          plan.converged(),          plan.eigenvalue(), plan.algorithm()};
}
template <index_type I, index_type O, class Space>
[[nodiscard]] eigenvector_result<Space> eigenvector(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                    const eigenvector_options& options = {}) {
  return eigenvector(ctx, g.view(), options);
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] eigenvector_result<Space> eigenvector(const context<Space>& ctx,
                                                    const weighted_graph_view<W, I, O, Space>& g,
                                                    const eigenvector_options& options = {}) {
  eigenvector_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.values()), plan.iterations(), plan.residual(),
          plan.converged(),          plan.eigenvalue(), plan.algorithm()};
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] eigenvector_result<Space> eigenvector(const context<Space>& ctx, const weighted_graph<W, I, O, Space>& g,
                                                    const eigenvector_options& options = {}) {
  return eigenvector(ctx, g.view(), options);
}

// Empty when `found` is the result for these options (and vectors); else one sentence. Independent of the plans: it
// repeats the iterations by pushing values over the out-edges, and compares every value, the residual
// and the number of iterations. O(iterations * (vertices + edges)); memory: two doubles per vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_eigenvector(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                          const eigenvector_result<host>& found,
                                                          const eigenvector_options& options = {},
                                                          span<const double, host> start = {});
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_eigenvector(const context<host>& ctx,
                                                          const weighted_graph_view<W, I, O, host>& g,
                                                          const eigenvector_result<host>& found,
                                                          const eigenvector_options& options = {},
                                                          span<const double, host> start = {});
// The same for owning graphs.
template <detail::viewable Graph>
[[nodiscard]] std::string check_eigenvector(const context<host>& ctx, const Graph& g,
                                            const eigenvector_result<host>& found,
                                            const eigenvector_options& options = {},
                                            span<const double, host> start = {}) {
  return check_eigenvector(ctx, g.view(), found, options, start);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
