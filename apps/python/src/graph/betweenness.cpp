// Betweenness centrality of vertices and edges.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound
      .def(
          "betweenness",
          [](const bound_graph<I, O, Space>& g, const std::optional<vector_of<const I>>& sources,
             std::string_view normalization, bool endpoints, std::string_view algorithm, int threads) {
            const betweenness_options options{
                .normalization = choose<betweenness_normalization>("normalization", normalization),
                .endpoints = endpoints ? betweenness_endpoints::included : betweenness_endpoints::excluded,
                .algorithm = parse_betweenness_algorithm(algorithm)};
            const auto at = g.at(threads);
            return at.out(unlocked([&] { return betweenness(at.ctx, g.view(), sources_of(sources), options); }).values);
          },
          "sources"_a.noconvert().none(), "normalization"_a, "endpoints"_a, "algorithm"_a, "threads"_a)
      .def(
          "edge_betweenness",
          [](const bound_graph<I, O, Space>& g, const std::optional<vector_of<const I>>& sources,
             std::string_view normalization, int threads) {
            const betweenness_options options{
                .normalization = choose<betweenness_normalization>("normalization", normalization),
                .edges = betweenness_edges::counted};
            const auto at = g.at(threads);
            return at.out(unlocked([&] { return betweenness(at.ctx, g.view(), sources_of(sources), options); }).edges);
          },
          "sources"_a.noconvert().none(), "normalization"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python
