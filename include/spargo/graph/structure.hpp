// Queries of a graph's structure and derived graphs, on the host, with and without weights: degrees, neighbours,
// induced subgraphs, relabelling, the largest component, orders of vertices.
//
// Loops and duplicate edges of a view count as edges and are kept. Deterministic for any number of threads.
#pragma once

#include <spargo/graph/components.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Side of a vertex's edges; both are the same in an undirected graph.
enum class edge_side { out, in };

// [vertex] number of edges on that side. In-degrees of a directed graph without in-edges are counted from the
// out-edges. O(vertices); O(edges) for the latter.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<O, host> degrees(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                   edge_side side = edge_side::out);

// Borrowed from the graph. Throws invalid_argument for a vertex out of range, unsupported for missing in-edges. O(1).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT span<const I, host> neighbours(const graph_view<I, O, host>& g,
                                                           std::type_identity_t<I> vertex,
                                                           edge_side side = edge_side::out);
// The weights of the edges to `neighbours`, in the same order.
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT span<const W, host> neighbour_weights(const weighted_graph_view<W, I, O, host>& g,
                                                                  std::type_identity_t<I> vertex,
                                                                  edge_side side = edge_side::out);

// The given vertices and the edges between them: vertex k of the result is vertices[k]. In-edges and weights are
// included; neighbours ascend, duplicate edges keep their order. Throws invalid_argument for a vertex out of range or
// given twice. O(vertices + edges of the given ones), and sorting of rows whose new numbers do not ascend.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> induced_subgraph(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               std::type_identity_t<span<const I, host>> vertices);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT weighted_graph<W, I, O, host> induced_subgraph(
    const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
    std::type_identity_t<span<const I, host>> vertices);

// The same graph renumbered: vertex k of the result is order[k]. Throws invalid_argument unless `order` is a
// permutation of the vertices.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> relabel(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                      std::type_identity_t<span<const I, host>> order);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT weighted_graph<W, I, O, host> relabel(const context<host>& ctx,
                                                                  const weighted_graph_view<W, I, O, host>& g,
                                                                  std::type_identity_t<span<const I, host>> order);

// The vertices, ascending, of the largest component; ties: the one with the smallest vertex. Empty for a graph without
// vertices. O(vertices + edges).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> largest_component(
    const context<host>& ctx, const graph_view<I, O, host>& g,
    components_connection connection = components_connection::weak);

// The same of the component that contains the vertex. Throws invalid_argument for a vertex out of range.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> component_of(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                        std::type_identity_t<I> vertex,
                                                        components_connection connection = components_connection::weak);

// The vertices, ascending, at most `radius` edges away from the source, which is one of them; `in` follows edges
// backwards. O(vertices + edges of those nearer). Throws invalid_argument for a source out of range or a negative
// radius, unsupported for missing in-edges.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> k_hop_neighborhood(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                              std::type_identity_t<I> source, std::int64_t radius,
                                                              edge_side side = edge_side::out);

template <index_type I>
struct search_order {
  array<I, host> order;         // vertices reached from the source, which is the first
  array<I, host> predecessors;  // [vertex] -1 for the source and for unreached vertices
};

// Breadth-first order by a queue: vertices as they are found, the neighbours of each in the order of their storage.
// SciPy's and networkx's order, which `bfs` does not give. One thread, O(vertices + edges). Throws invalid_argument for
// a source out of range.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT search_order<I> bfs_order(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                      std::type_identity_t<I> source);

// Depth-first order: from each vertex along the first edge in the order of storage to a vertex that is not reached yet.
// SciPy's and networkx's preorder. One thread, without recursion, O(vertices + edges). Throws invalid_argument for a
// source out of range.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT search_order<I> dfs_order(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                      std::type_identity_t<I> source);

template <index_type I>
struct cuthill_mckee_options {
  span<const I, host> starts = {};              // searched from in this order; empty: all vertices by ascending degree
  span<const std::int64_t, host> degrees = {};  // [vertex]; empty: numbers of stored out-edges
};

// Cuthill and McKee's order, which makes the bandwidth of a symmetric matrix small, for `relabel`: a breadth-first
// search from each start that is not found yet, the new neighbours of each vertex by ascending degree, ties in the
// order of their storage. Reversed, it also reduces fill-in. Contains the vertices reached from the starts. One thread,
// O(vertices + edges log(largest degree)), and sorting of the vertices without starts. Throws invalid_argument for a
// start out of range or a wrong number of degrees. Cuthill, McKee, ACM 1969.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> cuthill_mckee(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                         const cuthill_mckee_options<I>& options = {});

namespace detail {
template <class Graph>
using index_of_graph = decltype(std::declval<const Graph&>().vertices());
}

// The same for owning graphs.
template <detail::viewable Graph>
[[nodiscard]] auto degrees(const context<host>& ctx, const Graph& g, edge_side side = edge_side::out) {
  return degrees(ctx, g.view(), side);
}
template <detail::viewable Graph>
[[nodiscard]] auto neighbours(const Graph& g, detail::index_of_graph<Graph> vertex, edge_side side = edge_side::out) {
  return neighbours(g.view(), vertex, side);
}
template <detail::viewable Graph>
[[nodiscard]] auto neighbour_weights(const Graph& g, detail::index_of_graph<Graph> vertex,
                                     edge_side side = edge_side::out) {
  return neighbour_weights(g.view(), vertex, side);
}
template <detail::viewable Graph, class Vertices>
[[nodiscard]] auto induced_subgraph(const context<host>& ctx, const Graph& g, const Vertices& vertices) {
  return induced_subgraph(ctx, g.view(), vertices);
}
template <detail::viewable Graph, class Order>
[[nodiscard]] auto relabel(const context<host>& ctx, const Graph& g, const Order& order) {
  return relabel(ctx, g.view(), order);
}
template <detail::viewable Graph>
[[nodiscard]] auto largest_component(const context<host>& ctx, const Graph& g,
                                     components_connection connection = components_connection::weak) {
  return largest_component(ctx, g.view(), connection);
}
template <detail::viewable Graph>
[[nodiscard]] auto component_of(const context<host>& ctx, const Graph& g, detail::index_of_graph<Graph> vertex,
                                components_connection connection = components_connection::weak) {
  return component_of(ctx, g.view(), vertex, connection);
}
template <detail::viewable Graph>
[[nodiscard]] auto k_hop_neighborhood(const context<host>& ctx, const Graph& g, detail::index_of_graph<Graph> source,
                                      std::int64_t radius, edge_side side = edge_side::out) {
  return k_hop_neighborhood(ctx, g.view(), source, radius, side);
}
template <detail::viewable Graph>
[[nodiscard]] auto bfs_order(const context<host>& ctx, const Graph& g, detail::index_of_graph<Graph> source) {
  return bfs_order(ctx, g.view(), source);
}
template <detail::viewable Graph>
[[nodiscard]] auto dfs_order(const context<host>& ctx, const Graph& g, detail::index_of_graph<Graph> source) {
  return dfs_order(ctx, g.view(), source);
}
template <detail::viewable Graph>
[[nodiscard]] auto cuthill_mckee(const context<host>& ctx, const Graph& g,
                                 const cuthill_mckee_options<detail::index_of_graph<Graph>>& options = {}) {
  return cuthill_mckee(ctx, g.view(), options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
