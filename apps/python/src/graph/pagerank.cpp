// PageRank.
#include "graph/pulled.hpp"

namespace spargo::python {
namespace {

// A plan with the objects it borrows, as for a search.
template <class V, class I, class O, class Space>
struct pagerank_ranker {
  pagerank_ranker(const bound_graph<I, O, Space>& g, const pagerank_options& options, int threads)
      : graph(g),
        at(g.at(threads)),
        plan(unlocked([&] { return pagerank_plan<V, I, O, Space>(at.ctx, graph.view(), options); })) {}

  // Over weights.
  pagerank_ranker(const bound_graph<I, O, Space>& g, const vector_in<double, Space>& weights,
                  const pagerank_options& options, int threads)
      : graph(g),
        at(g.at(threads)),
        plan(unlocked([&] { return pagerank_plan<V, I, O, Space>(at.ctx, pulled_view(graph, weights), options); })) {}

  bound_graph<I, O, Space> graph;
  where<Space> at;
  pagerank_plan<V, I, O, Space> plan;

  // (ranks, iterations, residual, converged, algorithm)
  nb::tuple run(const vector_in<V, Space>& personalization, const vector_in<V, Space>& guess) {
    unlocked([&] { plan.run(view(personalization), view(guess)); });
    return nb::make_tuple(at.out(plan.ranks()), plan.iterations(), plan.residual(), plan.converged(),
                          to_string(plan.algorithm()));
  }
};

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_& m) {
  for_each_type<float, double>([&]<class V>() {
    using ranker = pagerank_ranker<V, I, O, Space>;
    nb::class_<ranker>(m, name_in<Space, V, I, O>("PagerankPlan").c_str())
        .def("run", &ranker::run, "personalization"_a.noconvert(), "guess"_a.noconvert());
  });
  // `weights`: none where each edge counts the same.
  bound.def(
      "pagerank",
      [](const bound_graph<I, O, Space>& g, const std::optional<vector_in<double, Space>>& weights,
         std::string_view dtype, double damping, double tolerance, std::string_view norm, std::int64_t max_iterations,
         std::int64_t iterations, std::string_view dangling, std::string_view algorithm, int threads) -> nb::object {
        const pagerank_options options{.algorithm = parse_pagerank_algorithm(algorithm),
                                       .damping = damping,
                                       .tolerance = tolerance,
                                       .norm = choose<pagerank_norm>("norm", norm),
                                       .max_iterations = max_iterations,
                                       .iterations = iterations,
                                       .dangling = choose<pagerank_dangling>("dangling", dangling)};
        const auto ranker = [&]<class V>() {
          if (weights) return nb::cast(new pagerank_ranker<V, I, O, Space>(g, *weights, options, threads));
          return nb::cast(new pagerank_ranker<V, I, O, Space>(g, options, threads));
        };
        return dtype == "float32" ? ranker.template operator()<float>() : ranker.template operator()<double>();
      },
      "weights"_a.noconvert().none(), "dtype"_a, "damping"_a, "tolerance"_a, "norm"_a, "max_iterations"_a,
      "iterations"_a, "dangling"_a, "algorithm"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
