// What programs ask of a graph's structure, and smaller graphs made of it: degrees, neighbours, the subgraph of some
// vertices, the same graph under other numbers, the largest component. On the host; for graphs with weights and
// without.
//
// Loops and duplicate edges of a view count as edges and stay. Everything is deterministic: the same bits for any
// number of threads.
#pragma once

#include <spargo/graph/components.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Which of a vertex's edges; of an undirected graph both are the same.
enum class edge_side { out, in };

// [vertex] how many edges it has on that side. In-degrees of a directed graph without in-edges are counted from the
// out-edges. O(vertices), and O(edges) for the latter.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<O, host> degrees(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                   edge_side side = edge_side::out);

// Borrowed from the graph. Throws invalid_argument for what is no vertex, unsupported for in-edges that are not there.
// O(1).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT span<const I, host> neighbours(const graph_view<I, O, host>& g,
                                                           std::type_identity_t<I> vertex,
                                                           edge_side side = edge_side::out);
// The weights of the edges to `neighbours`, in the same order.
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT span<const W, host> neighbour_weights(const weighted_graph_view<W, I, O, host>& g,
                                                                  std::type_identity_t<I> vertex,
                                                                  edge_side side = edge_side::out);

// The graph of the vertices named and the edges between them: vertex k is the one that was vertices[k]. In-edges and
// weights come along; neighbours ascend, duplicates of an edge in the order they had. Throws invalid_argument for what
// is no vertex or is named twice. O(vertices + edges of those named), and sorting of rows whose new numbers do not
// ascend.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> induced_subgraph(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               std::type_identity_t<span<const I, host>> vertices);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT weighted_graph<W, I, O, host> induced_subgraph(
    const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
    std::type_identity_t<span<const I, host>> vertices);

// The same graph under other numbers: vertex k is the one that was order[k]. Throws invalid_argument unless `order`
// names every vertex once.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> relabel(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                      std::type_identity_t<span<const I, host>> order);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT weighted_graph<W, I, O, host> relabel(const context<host>& ctx,
                                                                  const weighted_graph_view<W, I, O, host>& g,
                                                                  std::type_identity_t<span<const I, host>> order);

// The vertices, ascending, of the component that has most; of equals the one with the smallest vertex. Empty for a
// graph without vertices. O(vertices + edges).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> largest_component(
    const context<host>& ctx, const graph_view<I, O, host>& g,
    components_connection connection = components_connection::weak);

namespace detail {
template <class Graph>
using index_of_graph = decltype(std::declval<const Graph&>().vertices());
}

// The same of owners.
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

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
