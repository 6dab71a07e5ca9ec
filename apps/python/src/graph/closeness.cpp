// Closeness and harmonic centrality; eccentricities with diameter and radius.
#include "graph/graph.hpp"

#include <optional>
#include <span>

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound
      .def(
          "closeness",
          [](const bound_graph<I, O, Space>& g, const std::optional<vector_of<const I>>& sources,
             std::string_view measure, bool scaled, std::string_view algorithm, int threads) {
            const closeness_options options{.algorithm = parse_closeness_algorithm(algorithm),
                                            .measure = parse_closeness_measure(measure),
                                            .scaling = scaled ? closeness_scaling::reachable : closeness_scaling::none};
            const auto at = g.at(threads);
            return at.out(unlocked([&] { return closeness(at.ctx, g.view(), sources_of(sources), options); }).values);
          },
          "sources"_a.noconvert().none(), "measure"_a, "scaled"_a, "algorithm"_a, "threads"_a)
      .def(
          "eccentricities",
          [](const bound_graph<I, O, Space>& g, std::int64_t max_searches, int threads) {
            const auto at = g.at(threads);
            auto found = unlocked([&] { return eccentricities(at.ctx, g.view(), {.max_searches = max_searches}); });
            return nb::make_tuple(at.out(std::move(found.lower)), at.out(std::move(found.upper)));
          },
          "max_searches"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
