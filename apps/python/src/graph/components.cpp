// Connected components.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound.def(
      "components",
      [](const bound_graph<I, O, Space>& g, std::string_view connection, std::string_view labels,
         std::string_view algorithm, int threads) {
        const components_options options{.connection = choose<components_connection>("connection", connection),
                                         .labels = choose<components_labels>("labels", labels),
                                         .algorithm = parse_components_algorithm(algorithm)};
        const auto at = g.at(threads);
        auto found = unlocked([&] { return components(at.ctx, g.view(), options); });
        return nb::make_tuple(at.out(std::move(found.labels)), found.count, to_string(found.algorithm));
      },
      "connection"_a, "labels"_a, "algorithm"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
