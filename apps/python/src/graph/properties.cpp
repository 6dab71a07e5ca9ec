// Topological order, sides of bipartite graphs, bridges and articulation points.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O>(graph_class<I, O, host>& bound, nb::module_&) {
  bound
      .def("topological_order",
           [](const bound_graph<I, O, host>& g) {
             auto found = unlocked([&] { return topological_order(threads_context(1), g.view()); });
             return nb::make_tuple(moved(std::move(found.order)), moved(std::move(found.level_offsets)),
                                   moved(std::move(found.cycle)));
           })
      .def("bipartition",
           [](const bound_graph<I, O, host>& g) {
             auto found = unlocked([&] { return bipartition(threads_context(1), g.view()); });
             return nb::make_tuple(moved(std::move(found.sides)), moved(std::move(found.odd_cycle)));
           })
      .def("biconnectivity", [](const bound_graph<I, O, host>& g) {
        auto found = unlocked([&] { return biconnectivity(threads_context(1), g.view()); });
        return nb::make_tuple(moved(std::move(found.bridge_sources)), moved(std::move(found.bridge_targets)),
                              moved(std::move(found.articulation_points)), moved(std::move(found.component_vertices)),
                              moved(std::move(found.component_offsets)));
      });
}};

}  // namespace
}  // namespace spargo::python
