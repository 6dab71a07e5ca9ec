// Katz centrality: a vertex's value is beta plus alpha times the sum of its in-neighbours' values, times the edges'
// weights: paths of length k that end in the vertex count alpha^k.
//
// Iterates x = alpha A^T x + beta from zeros, as networkx does, which converges for alpha below 1 / the largest
// eigenvalue of A. Loops and duplicate edges of a view count as edges, each once. A step is O(vertices + edges).
// Deterministic: the same bits for any number of threads, on a device on every run. Source: Katz, Psychometrika 18,
// 1953.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/power_plan.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class katz_algorithm {
  automatic,  // the fastest for this graph and backend
  power,      // power iteration
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<katz_algorithm> enum_rows() noexcept;
[[nodiscard]] inline katz_algorithm parse_katz_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<katz_algorithm>("katz: unknown algorithm", name);
}

// What the result is scaled to.
enum class katz_scale {
  unit,  // 2-norm 1, as in networkx
  none,  // the solution itself
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<katz_scale> enum_rows() noexcept;

struct SPARGO_EXPORT katz_options {
  katz_algorithm algorithm = katz_algorithm::automatic;
  // Above 0; 0: 0.9 divided by an upper bound on the largest eigenvalue, which the plan computes by 20 power
  // iterations.
  double alpha = 0;
  double beta = 1;  // 0 or more
  katz_scale scale = katz_scale::unit;
  double tolerance = 1e-6;             // stops when a step changes the values by less than vertices * tolerance in sum
  std::int64_t max_iterations = 1000;  // maximum number of iterations
};

template <class Space>
struct katz_result {
  array<double, Space> values;  // [vertex]
  std::int64_t iterations = 0;
  double residual = 0;  // change of the last step in sum, divided by the vertices; infinite if values overflow
  bool converged = false;
  double alpha = 0;                                      // the one that was used
  katz_algorithm algorithm = katz_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: of 20 iterations.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const katz_options& options);

// Workspace for many runs on one graph, allocated once: two doubles per vertex, besides what power_plan.hpp says.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT katz_plan : public detail::power_plan_base<katz_plan<I, O, Space>, katz_options, I, O, Space> {
 public:
  // Throws invalid_argument for options out of range or an inconsistent graph view.
  katz_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const katz_options& options = {})
      : detail::power_plan_base<katz_plan, katz_options, I, O, Space>(ctx, g, options) {}
  // Over the graph's weights. Also throws invalid_data for weights that are negative or not finite.
  template <detail::scalar W>
  katz_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g, const katz_options& options = {})
      : detail::power_plan_base<katz_plan, katz_options, I, O, Space>(ctx, g, options) {}

  // `beta`: a value of each vertex instead of options.beta; `start`: instead of zeros. Throws invalid_argument unless
  // each is empty or has a finite value of 0 or more per vertex. Synchronizes.
  void run(span<const double, Space> beta = {}, span<const double, Space> start = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const double, Space> values() const noexcept;
  [[nodiscard]] double alpha() const noexcept;
  // An upper bound on the largest eigenvalue of A, hence alpha below its inverse converges. Runs 20 power iterations,
  // which replace the last run's results, unless the plan has it from the choice of alpha.
  [[nodiscard]] double eigenvalue_bound();
};

template <index_type I, index_type O, class Space>
katz_plan(const context<Space>&, const graph<I, O, Space>&, const katz_options& = {}) -> katz_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
katz_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const katz_options& = {})
    -> katz_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] katz_result<Space> katz(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                      const katz_options& options = {}) {
  katz_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.values()), plan.iterations(), plan.residual(),
          plan.converged(),          plan.alpha(),      plan.algorithm()};
}
template <index_type I, index_type O, class Space>
[[nodiscard]] katz_result<Space> katz(const context<Space>& ctx, const graph<I, O, Space>& g,
                                      const katz_options& options = {}) {
  return katz(ctx, g.view(), options);
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] katz_result<Space> katz(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                      const katz_options& options = {}) {
  katz_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.values()), plan.iterations(), plan.residual(),
          plan.converged(),          plan.alpha(),      plan.algorithm()};
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] katz_result<Space> katz(const context<Space>& ctx, const weighted_graph<W, I, O, Space>& g,
                                      const katz_options& options = {}) {
  return katz(ctx, g.view(), options);
}

// Empty when `found` is the result for these options (and vectors); else one sentence. Independent of the plans: it
// repeats the iterations by pushing values over the out-edges, and compares every value, the residual
// and the number of iterations. O(iterations * (vertices + edges)); memory: two doubles per vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_katz(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                   const katz_result<host>& found, const katz_options& options = {},
                                                   span<const double, host> beta = {},
                                                   span<const double, host> start = {});
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_katz(const context<host>& ctx,
                                                   const weighted_graph_view<W, I, O, host>& g,
                                                   const katz_result<host>& found, const katz_options& options = {},
                                                   span<const double, host> beta = {},
                                                   span<const double, host> start = {});
// The same for owning graphs.
template <detail::viewable Graph>
[[nodiscard]] std::string check_katz(const context<host>& ctx, const Graph& g, const katz_result<host>& found,
                                     const katz_options& options = {}, span<const double, host> beta = {},
                                     span<const double, host> start = {}) {
  return check_katz(ctx, g.view(), found, options, beta, start);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
