// Triangles and clustering coefficients.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound.def(
      "triangles",
      [](const bound_graph<I, O, Space>& g, bool links, std::string_view algorithm, int threads) {
        const triangles_options options{.output = links ? triangles_output::links : triangles_output::per_vertex,
                                        .algorithm = parse_triangles_algorithm(algorithm)};
        const auto at = g.at(threads);
        auto found = unlocked([&] { return triangles(at.ctx, g.view(), options); });
        return nb::make_tuple(found.total, at.out(std::move(found.per_vertex)), at.out(std::move(found.links)),
                              at.out(std::move(found.degrees)));
      },
      "links"_a, "algorithm"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
