// Similarities of vertices.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound.def(
      "similarity",
      [](const bound_graph<I, O, Space>& g, std::string_view measure, std::int64_t top, int threads) {
        const similarity_options options{.measure = parse_similarity_measure(measure), .top = top};
        const auto at = g.at(threads);
        auto found = unlocked([&] { return similarity(at.ctx, g.view(), options); });
        return nb::make_tuple(at.out(std::move(found.sources)), at.out(std::move(found.targets)),
                              at.out(std::move(found.values)));
      },
      "measure"_a, "top"_a, "threads"_a);
  bound.def(
      "similarity_of_pairs",
      [](const bound_graph<I, O, Space>& g, const vector_in<I, Space>& sources, const vector_in<I, Space>& targets,
         std::string_view measure, int threads) {
        const similarity_options options{.measure = parse_similarity_measure(measure)};
        const auto at = g.at(threads);
        return at.out(unlocked([&] { return similarity(at.ctx, g.view(), view(sources), view(targets), options); }));
      },
      "sources"_a.noconvert(), "targets"_a.noconvert(), "measure"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
