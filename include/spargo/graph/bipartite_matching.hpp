// A maximum matching of a bipartite graph, and a minimum vertex cover, on the host.
//
// Hopcroft and Karp, SIAM J. Comput. 2, 1973: rounds of one breadth-first search and disjoint shortest augmenting
// paths, O(sqrt(vertices) edges), on one thread, no recursion. The cover is Koenig's: it has as many vertices as the
// matching has edges, which proves both to be optimal.
#pragma once

#include <spargo/graph/graph.hpp>

#include <cstdint>
#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <index_type I>
struct bipartite_matching_result {
  array<I, host> mates;             // [vertex] the other end of its edge, -1: none
  array<std::uint8_t, host> cover;  // [vertex] 1: in a smallest set of vertices that has an end of every edge
  std::int64_t size = 0;            // edges of the matching, vertices of the cover
};

// Directions are ignored; in-edges of a directed graph are made if they are missing. Throws invalid_argument for an
// inconsistent view and for a graph that is not bipartite, naming a vertex of an odd cycle. Memory: six indices and
// three bytes per vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bipartite_matching_result<I> maximum_bipartite_matching(const context<host>& ctx,
                                                                                    const graph_view<I, O, host>& g);
template <detail::viewable Graph>
[[nodiscard]] auto maximum_bipartite_matching(const context<host>& ctx, const Graph& g) {
  return maximum_bipartite_matching(ctx, g.view());
}

// Empty when mates are each other's and joined by an edge, the cover has an end of every edge, and both have `size`
// elements, so that no matching is larger; else one sentence about a vertex. Independent of the search; O(vertices +
// edges).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_bipartite_matching(
    const context<host>& ctx, const graph_view<I, O, host>& g, std::type_identity_t<span<const I, host>> mates,
    std::type_identity_t<span<const std::uint8_t, host>> cover, std::int64_t size);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
