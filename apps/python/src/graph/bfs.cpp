// Breadth-first searches, from a source and from many.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

// A plan with the objects it borrows. The Python code gives it to one thread at a time, and copies the results of a
// plan on a device before its next run.
template <class I, class O, class Space>
struct bfs_searcher {
  bfs_searcher(const bound_graph<I, O, Space>& g, const bfs_options& options, int threads)
      : graph(g),
        at(g.at(threads)),
        plan(unlocked([&] { return bfs_plan<I, O, Space>(at.ctx, graph.view(), options); })) {}

  bound_graph<I, O, Space> graph;  // shares the arrays
  where<Space> at;
  bfs_plan<I, O, Space> plan;

  // (levels, parents, reached, level_sizes, algorithm, reason)
  nb::tuple run(std::int64_t source) {
    const I from = narrowed<I>(source);
    unlocked([&] { plan.run(from); });
    return nb::make_tuple(at.out(plan.levels()), at.out(plan.parents()), plan.reached(), at.out(plan.level_sizes()),
                          to_string(plan.algorithm()), plan.reason());
  }
};

// (levels [vertex * sources + k], reached, distance sums, eccentricities)
template <class I, class O, class Space>
nb::tuple multi_search(const bound_graph<I, O, Space>& g, const vector_of<const I>& sources, bool levels, int threads) {
  const auto at = g.at(threads);
  const where<host> here(threads);
  const multi_bfs_options options{.output = levels ? multi_bfs_output::counts_and_levels : multi_bfs_output::counts};
  auto found = unlocked([&] { return multi_bfs(at.ctx, g.view(), view(sources), options); });
  const auto n = static_cast<std::int64_t>(found.counts.size());
  array<std::int64_t, host> reached(here.ctx, n);
  array<std::int64_t, host> sums(here.ctx, n);
  array<std::int32_t, host> eccentricities(here.ctx, n);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto& counts = found.counts[static_cast<std::size_t>(k)];
    reached[k] = counts.reached;
    sums[k] = counts.distance_sum;
    eccentricities[k] = counts.eccentricity;
  }
  return nb::make_tuple(at.out(std::move(found.levels)), moved(std::move(reached)), moved(std::move(sums)),
                        moved(std::move(eccentricities)));
}

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_& m) {
  using searcher = bfs_searcher<I, O, Space>;
  nb::class_<searcher>(m, name_in<Space, I, O>("BfsPlan").c_str()).def("run", &searcher::run, "source"_a);
  bound.def(
      "bfs",
      [](const bound_graph<I, O, Space>& g, std::string_view algorithm, bool levels, bool parents,
         std::string_view which, std::int64_t target, std::int64_t max_depth, int threads) {
        const auto output =
            levels && parents ? bfs_output::levels_and_parents : (parents ? bfs_output::parents : bfs_output::levels);
        return new searcher(g,
                            {.algorithm = parse_bfs_algorithm(algorithm),
                             .output = output,
                             .parents = choose<bfs_parents>("parents", which),
                             .target = target,
                             .max_depth = max_depth},
                            threads);
      },
      "algorithm"_a, "levels"_a, "parents"_a, "which"_a, "target"_a, "max_depth"_a, "threads"_a);
}};

const graph_binding many{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound.def("multi_bfs", &multi_search<I, O, Space>, "sources"_a.noconvert(), "levels"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
