// Predicates of trees, shares of degrees, and graphs made from a graph, on the host. Definitions are networkx's.
//
// Loops and parallel edges of a view count as edges. Deterministic for any number of threads. Where nothing else is
// said, a call takes O(vertices + edges) time and memory.
#pragma once

#include <spargo/graph/structure.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT tree_properties {
  bool forest = false;  // no cycle, directions ignored
  bool tree = false;    // a connected forest
  // Of a directed graph: a forest, or tree, in which every vertex has at most one in-edge.
  bool branching = false;
  bool arborescence = false;
};

// Throws invalid_argument for a graph without vertices, for which none of these is defined. O(vertices + edges).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT tree_properties classify_tree(const context<host>& ctx, const graph_view<I, O, host>& g);

// The vertices without edges, ascending; a loop is an edge. O(vertices), O(edges) for a directed graph without
// in-edges.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> isolated_vertices(const context<host>& ctx, const graph_view<I, O, host>& g);

enum class degree_kind { out, in, total };

// [vertex] the number of its edges over the number of other vertices; 1 in a graph of one vertex. `total` counts a loop
// twice, and adds in- and out-edges of a directed graph.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<double, host> degree_centrality(const context<host>& ctx,
                                                                  const graph_view<I, O, host>& g,
                                                                  degree_kind kind = degree_kind::total);

// The share of the edges of a directed graph whose reverse is an edge, too; NaN without edges. A loop is not its own
// reverse. Throws invalid_argument for an undirected graph, and unless neighbours ascend without duplicates.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT double reciprocity(const context<host>& ctx, const graph_view<I, O, host>& g);

// The same vertices with each edge in the other direction; the result has in-edges. Neighbours have the order of the
// in-edges, which ascends where they are made here.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> reverse(const context<host>& ctx, const graph_view<I, O, host>& g);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT weighted_graph<W, I, O, host> reverse(const context<host>& ctx,
                                                                  const weighted_graph_view<W, I, O, host>& g);

// The same vertices, with an edge between every two different ones that have none; without in-edges. O(vertices^2).
// Throws out_of_memory where these edges do not fit, unsupported where they exceed O.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> complement(const context<host>& ctx, const graph_view<I, O, host>& g);

// The subgraph of `k_hop_neighborhood`: vertex k of the result is the k-th of these. Throws as that.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> ego_graph(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                        std::type_identity_t<I> source, std::int64_t radius);

// The same vertices with the directed edges along which `bfs_order` finds them from the source; without in-edges.
// Throws invalid_argument for a source out of range.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> bfs_tree(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                       std::type_identity_t<I> source);

// The same for owning graphs.
template <detail::viewable Graph>
[[nodiscard]] tree_properties classify_tree(const context<host>& ctx, const Graph& g) {
  return classify_tree(ctx, g.view());
}
template <detail::viewable Graph>
[[nodiscard]] auto isolated_vertices(const context<host>& ctx, const Graph& g) {
  return isolated_vertices(ctx, g.view());
}
template <detail::viewable Graph>
[[nodiscard]] auto degree_centrality(const context<host>& ctx, const Graph& g, degree_kind kind = degree_kind::total) {
  return degree_centrality(ctx, g.view(), kind);
}
template <detail::viewable Graph>
[[nodiscard]] double reciprocity(const context<host>& ctx, const Graph& g) {
  return reciprocity(ctx, g.view());
}
template <detail::viewable Graph>
[[nodiscard]] auto reverse(const context<host>& ctx, const Graph& g) {
  return reverse(ctx, g.view());
}
template <detail::viewable Graph>
[[nodiscard]] auto complement(const context<host>& ctx, const Graph& g) {
  return complement(ctx, g.view());
}
template <detail::viewable Graph>
[[nodiscard]] auto ego_graph(const context<host>& ctx, const Graph& g, detail::index_of_graph<Graph> source,
                             std::int64_t radius) {
  return ego_graph(ctx, g.view(), source, radius);
}
template <detail::viewable Graph>
[[nodiscard]] auto bfs_tree(const context<host>& ctx, const Graph& g, detail::index_of_graph<Graph> source) {
  return bfs_tree(ctx, g.view(), source);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
