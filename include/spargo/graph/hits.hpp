// HITS: hubs and authorities. A vertex's authority is in proportion to the sum of the hub values of its in-neighbours,
// its hub value to the sum of its out-neighbours' authorities, times the edges' weights: the singular vectors of the
// largest singular value of the adjacency matrix A.
//
// Iterates h = A A^T h from equal values, scaled to sum 1. Both vectors are 0 for a graph without edges. Where several
// components have the same largest singular value, the values depend on the start. Loops and duplicate edges of a view
// count as edges, each once. A step is O(vertices + edges). Deterministic: the same bits for any number of threads, on
// a device on every run. Source: Kleinberg, J. ACM 46, 1999.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/power_plan.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class hits_algorithm {
  automatic,  // the fastest for this graph and backend
  power,      // power iteration
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<hits_algorithm> enum_rows() noexcept;
[[nodiscard]] inline hits_algorithm parse_hits_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<hits_algorithm>("hits: unknown algorithm", name);
}

struct SPARGO_EXPORT hits_options {
  hits_algorithm algorithm = hits_algorithm::automatic;
  double tolerance = 1e-8;             // stops when a step changes the hubs by less than this in sum
  std::int64_t max_iterations = 1000;  // maximum number of iterations
};

template <class Space>
struct hits_result {
  array<double, Space> hubs;         // [vertex], with sum 1
  array<double, Space> authorities;  // [vertex], with sum 1
  std::int64_t iterations = 0;
  double residual = 0;  // change of the hubs by the last step, in sum
  bool converged = false;
  hits_algorithm algorithm = hits_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: of 20 iterations.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const hits_options& options);

// Workspace for many runs on one graph, allocated once: three doubles per vertex, besides what power_plan.hpp says.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT hits_plan : public detail::power_plan_base<hits_plan<I, O, Space>, hits_options, I, O, Space> {
 public:
  // Throws invalid_argument for options out of range or an inconsistent graph view.
  hits_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const hits_options& options = {})
      : detail::power_plan_base<hits_plan, hits_options, I, O, Space>(ctx, g, options) {}
  // Over the graph's weights. Also throws invalid_data for weights that are negative or not finite.
  template <detail::scalar W>
  hits_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g, const hits_options& options = {})
      : detail::power_plan_base<hits_plan, hits_options, I, O, Space>(ctx, g, options) {}

  // From hub values that are scaled to sum 1, or from equal ones. Throws invalid_argument unless `start` is empty or
  // has a finite value of 0 or more per vertex, not all 0. Synchronizes.
  void run(span<const double, Space> start = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const double, Space> hubs() const noexcept;
  [[nodiscard]] span<const double, Space> authorities() const noexcept;
};

template <index_type I, index_type O, class Space>
hits_plan(const context<Space>&, const graph<I, O, Space>&, const hits_options& = {}) -> hits_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
hits_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const hits_options& = {})
    -> hits_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] hits_result<Space> hits(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                      const hits_options& options = {}) {
  hits_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.hubs()), clone(ctx, plan.authorities()), plan.iterations(), plan.residual(), plan.converged(),
          plan.algorithm()};
}
template <index_type I, index_type O, class Space>
[[nodiscard]] hits_result<Space> hits(const context<Space>& ctx, const graph<I, O, Space>& g,
                                      const hits_options& options = {}) {
  return hits(ctx, g.view(), options);
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] hits_result<Space> hits(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                      const hits_options& options = {}) {
  hits_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.hubs()), clone(ctx, plan.authorities()), plan.iterations(), plan.residual(), plan.converged(),
          plan.algorithm()};
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] hits_result<Space> hits(const context<Space>& ctx, const weighted_graph<W, I, O, Space>& g,
                                      const hits_options& options = {}) {
  return hits(ctx, g.view(), options);
}

// Empty when `found` is the result for these options (and vectors); else one sentence. Independent of the plans: it
// repeats the iterations by pushing values over the out-edges, and compares every value, the residual
// and the number of iterations. O(iterations * (vertices + edges)); memory: three doubles per vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_hits(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                   const hits_result<host>& found, const hits_options& options = {},
                                                   span<const double, host> start = {});
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_hits(const context<host>& ctx,
                                                   const weighted_graph_view<W, I, O, host>& g,
                                                   const hits_result<host>& found, const hits_options& options = {},
                                                   span<const double, host> start = {});
// The same for owning graphs.
template <detail::viewable Graph>
[[nodiscard]] std::string check_hits(const context<host>& ctx, const Graph& g, const hits_result<host>& found,
                                     const hits_options& options = {}, span<const double, host> start = {}) {
  return check_hits(ctx, g.view(), found, options, start);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
