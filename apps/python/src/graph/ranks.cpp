// Eigenvector centrality, Katz centrality and HITS.
#include "graph/pulled.hpp"

namespace spargo::python {
namespace {

// A plan that has run once, over weights or none. arguments: of run.
template <template <class, class, class> class Plan, class I, class O, class Space, class Options, class... Vectors>
auto run_plan(const bound_graph<I, O, Space>& g, const where<Space>& at,
              const std::optional<vector_in<double, Space>>& weights, const Options& options,
              const Vectors&... vectors) {
  return unlocked([&] {
    using plan_type = Plan<I, O, Space>;
    plan_type plan =
        weights ? plan_type(at.ctx, pulled_view(g, *weights), options) : plan_type(at.ctx, g.view(), options);
    plan.run(view(vectors)...);
    return plan;
  });
}

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  using graph_type = bound_graph<I, O, Space>;
  using weights_type = std::optional<vector_in<double, Space>>;
  using vector_type = vector_in<double, Space>;
  bound
      .def(
          "eigenvector",
          [](const graph_type& g, const weights_type& weights, double tolerance, std::int64_t max_iterations,
             const vector_type& start, int threads) {
            const auto at = g.at(threads);
            const eigenvector_options options{.tolerance = tolerance, .max_iterations = max_iterations};
            const auto plan = run_plan<eigenvector_plan>(g, at, weights, options, start);
            return nb::make_tuple(at.out(clone(at.ctx, plan.values())), plan.iterations(), plan.residual(),
                                  plan.converged(), plan.eigenvalue());
          },
          "weights"_a.noconvert().none(), "tolerance"_a, "max_iterations"_a, "start"_a.noconvert(), "threads"_a)
      .def(
          "katz",
          [](const graph_type& g, const weights_type& weights, double alpha, double scalar_beta, bool scaled,
             double tolerance, std::int64_t max_iterations, const vector_type& beta, const vector_type& start,
             int threads) {
            const auto at = g.at(threads);
            const katz_options options{.alpha = alpha,
                                       .beta = scalar_beta,
                                       .scale = scaled ? katz_scale::unit : katz_scale::none,
                                       .tolerance = tolerance,
                                       .max_iterations = max_iterations};
            const auto plan = run_plan<katz_plan>(g, at, weights, options, beta, start);
            return nb::make_tuple(at.out(clone(at.ctx, plan.values())), plan.iterations(), plan.residual(),
                                  plan.converged(), plan.alpha());
          },
          "weights"_a.noconvert().none(), "alpha"_a, "scalar_beta"_a, "scaled"_a, "tolerance"_a, "max_iterations"_a,
          "beta"_a.noconvert(), "start"_a.noconvert(), "threads"_a)
      .def(
          "hits",
          [](const graph_type& g, const weights_type& weights, double tolerance, std::int64_t max_iterations,
             const vector_type& start, int threads) {
            const auto at = g.at(threads);
            const hits_options options{.tolerance = tolerance, .max_iterations = max_iterations};
            const auto plan = run_plan<hits_plan>(g, at, weights, options, start);
            return nb::make_tuple(at.out(clone(at.ctx, plan.hubs())), at.out(plan.authorities()), plan.iterations(),
                                  plan.residual(), plan.converged());
          },
          "weights"_a.noconvert().none(), "tolerance"_a, "max_iterations"_a, "start"_a.noconvert(), "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
