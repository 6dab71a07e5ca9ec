// Shortest paths.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

// A plan with the objects it borrows.
template <class W, class I, class O, class Space>
struct sssp_searcher {
  sssp_searcher(const bound_graph<I, O, Space>& g, vector_in<W, Space> w, const sssp_options& options, int threads)
      : graph(g),
        weights(std::move(w)),
        at(g.at(threads)),
        plan(unlocked([&] { return sssp_plan<W, I, O, Space>(at.ctx, weighted_view<W>(graph, weights), options); })) {}

  bound_graph<I, O, Space> graph;
  vector_in<W, Space> weights;
  where<Space> at;
  sssp_plan<W, I, O, Space> plan;

  // (distances, parents, reached, algorithm, reason)
  nb::tuple run(std::int64_t source) {
    const I from = narrowed<I>(source);
    unlocked([&] { plan.run(from); });
    return nb::make_tuple(at.out(plan.distances()), at.out(plan.parents()), plan.reached(), to_string(plan.algorithm()),
                          plan.reason());
  }
};

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_& m) {
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    using searcher = sssp_searcher<W, I, O, Space>;
    nb::class_<searcher>(m, name_in<Space, W, I, O>("SsspPlan").c_str()).def("run", &searcher::run, "source"_a);
    bound.def(
        "sssp",
        [](const bound_graph<I, O, Space>& g, vector_in<W, Space> weights, std::string_view algorithm, bool parents,
           std::string_view which, std::int64_t target, double cutoff, double delta, int threads) {
          return new searcher(g, std::move(weights),
                              {.algorithm = parse_sssp_algorithm(algorithm),
                               .delta = delta,
                               .output = parents ? sssp_output::distances_and_parents : sssp_output::distances,
                               .parents = choose<sssp_parents>("parents", which),
                               .target = target,
                               .cutoff = cutoff},
                              threads);
        },
        "weights"_a.noconvert(), "algorithm"_a, "parents"_a, "which"_a, "target"_a, "cutoff"_a, "delta"_a, "threads"_a);
  });
}};

}  // namespace
}  // namespace spargo::python
