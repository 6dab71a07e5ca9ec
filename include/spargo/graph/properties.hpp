// Structural properties of graphs, on the host: topological order, sides of a bipartite graph, bridges, articulation
// points and biconnected components.
//
// One thread, O(vertices + edges), no recursion. Neighbours are visited in the order of their storage, so that orders
// are those of networkx. Parallel edges of a view count: one of two between the same vertices is no bridge.
#pragma once

#include <spargo/graph/graph.hpp>

#include <cstdint>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <index_type I>
struct topological_result {
  array<I, host> order;                     // each vertex before the targets of its edges; levels one after another
  array<std::int64_t, host> level_offsets;  // [k]: the first position of level k in `order`; the last one is its size
  array<I, host> cycle;                     // empty if the graph has none; else its vertices, in the order of its edges

  [[nodiscard]] bool is_acyclic() const noexcept { return cycle.empty(); }
};

// Level k has the vertices to which the longest path has k edges. Where there is a cycle, which a self-loop is too,
// `order` has only the vertices that no cycle leads to. Throws invalid_argument for an undirected graph. Kahn, CACM
// 1962.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT topological_result<I> topological_order(const context<host>& ctx,
                                                                    const graph_view<I, O, host>& g);

template <index_type I>
struct bipartition_result {
  array<std::int8_t, host> sides;  // [vertex] 0 or 1; of no meaning if there is an odd cycle
  array<I, host> odd_cycle;        // empty for a bipartite graph; else an odd number of vertices, each adjacent to the
                                   // next and the last to the first

  [[nodiscard]] bool is_bipartite() const noexcept { return odd_cycle.empty(); }
};

// Whether the vertices have two sides such that every edge, whatever its direction, joins both. Side 1 has the first
// vertex with out-edges of each component, side 0 every isolated vertex, as in networkx. A self-loop is an odd cycle of
// one vertex. In-edges of a directed graph are made if they are missing.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bipartition_result<I> bipartition(const context<host>& ctx,
                                                              const graph_view<I, O, host>& g);

template <index_type I>
struct biconnectivity_result {
  // Edges without which the graph has more components: by source, the smaller end.
  array<I, host> bridge_sources;
  array<I, host> bridge_targets;
  // Vertices without which the graph has more components, in the order in which a depth-first search finds them.
  array<I, host> articulation_points;
  // Component k has component_vertices[component_offsets[k]] to [component_offsets[k + 1]), at least two, in no order.
  // A vertex that is in several is an articulation point; one without edges to others is in none.
  array<I, host> component_vertices;
  array<std::int64_t, host> component_offsets;
};

// Self-loops are ignored. Throws invalid_argument for a directed graph. Hopcroft, Tarjan, CACM 1973.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT biconnectivity_result<I> biconnectivity(const context<host>& ctx,
                                                                    const graph_view<I, O, host>& g);

// The same for owning graphs.
template <detail::viewable Graph>
[[nodiscard]] auto topological_order(const context<host>& ctx, const Graph& g) {
  return topological_order(ctx, g.view());
}
template <detail::viewable Graph>
[[nodiscard]] auto bipartition(const context<host>& ctx, const Graph& g) {
  return bipartition(ctx, g.view());
}
template <detail::viewable Graph>
[[nodiscard]] auto biconnectivity(const context<host>& ctx, const Graph& g) {
  return biconnectivity(ctx, g.view());
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
