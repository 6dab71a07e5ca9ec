// Graph500's checks of a BFS tree, on the host, independent of the searches.
//
// 1. Parents form a tree rooted at the source (no cycles). 2. Each tree edge joins levels that differ by one. 3. No
// edge of the graph leads from a reached vertex to an unreached one, or skips a level (undirected: in both directions).
// 4. The tree spans exactly the reached vertices. 5. Every tree edge is an edge of the graph.
#pragma once

#include <spargo/graph/bfs.hpp>

#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Empty when right; else one sentence about the first offending vertex, the same for any thread count. `levels` or
// `parents` may be empty: the other one then determines it. Reads the out-edges only, in any order; loops and
// duplicates are allowed. `max_depth`: the limit of the search (-1: none): nothing deeper is reached, and edges from
// that level may lead to unreached vertices. Throws invalid_argument when both are empty or the source is not a vertex.
// O(vertices + edges), parallel; without levels one pass over the vertices is sequential.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_bfs(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                  std::int64_t source, span<const std::int32_t, host> levels,
                                                  std::type_identity_t<span<const I, host>> parents,
                                                  std::int64_t max_depth = -1);
template <index_type I, index_type O>
[[nodiscard]] std::string check_bfs(const context<host>& ctx, const graph<I, O, host>& g, std::int64_t source,
                                    span<const std::int32_t, host> levels,
                                    std::type_identity_t<span<const I, host>> parents, std::int64_t max_depth = -1) {
  return check_bfs(ctx, g.view(), source, levels, parents, max_depth);
}

// Checks a complete search's result; one that stopped at a target or depth limit does not reach all targets of edges.
template <index_type I, index_type O>
[[nodiscard]] std::string check_bfs(const context<host>& ctx, const graph_view<I, O, host>& g,
                                    const bfs_result<I, host>& result) {
  return check_bfs(ctx, g, result.source, result.levels, result.parents);
}
template <index_type I, index_type O>
[[nodiscard]] std::string check_bfs(const context<host>& ctx, const graph<I, O, host>& g,
                                    const bfs_result<I, host>& result) {
  return check_bfs(ctx, g.view(), result);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
