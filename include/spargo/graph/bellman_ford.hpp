// Shortest paths along edges whose weights may be negative, and cycles of negative weight, on the host.
//
// Lengths are int64 for integer weights, else double. A distance is the minimum of sums formed in path order: with
// nonnegative weights it has the bits of `sssp`, which is faster. Edges of infinite weight, and paths that overflow
// int64 upwards, do not count; an undirected edge of negative weight is a negative cycle.
#pragma once

#include <spargo/graph/sssp.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// With a negative cycle, distances and parents are of no meaning. Otherwise unreached vertices have the distance
// sssp_unreached<W> and the parent -1, and a source is its own parent unless a path from another one is shorter.
template <detail::scalar W, index_type I>
struct bellman_ford_result {
  array<sssp_distance<W>, host> distances;
  array<I, host> parents;
  std::int64_t reached = 0;       // vertices, the sources included
  array<I, host> negative_cycle;  // that the sources reach, in the order of its edges; empty: there is none

  [[nodiscard]] bool has_negative_cycle() const noexcept { return !negative_cycle.empty(); }
};

// From the nearest of the sources, each of which has the distance 0. One thread; O(vertices * edges) at worst, most
// often a few times O(vertices + edges). Deterministic. Throws invalid_argument for a source that is no vertex,
// invalid_data naming the first edge whose weight is NaN or negative infinity, and unsupported where a path is too long
// for int64 downwards, or where rounding shortens a cycle that is not negative. Bellman, Quarterly of Applied
// Mathematics 1958; Cherkassky, Goldberg, Negative-cycle detection algorithms, Math. Programming 1999.
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bellman_ford_result<W, I> bellman_ford(const context<host>& ctx,
                                                                   const weighted_graph_view<W, I, O, host>& g,
                                                                   std::type_identity_t<span<const I, host>> sources);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] bellman_ford_result<W, I> bellman_ford(const context<host>& ctx,
                                                     const weighted_graph_view<W, I, O, host>& g,
                                                     std::type_identity_t<I> source) {
  return bellman_ford(ctx, g, span<const I, host>(&source, 1));
}

// From all vertices: [v] of `distances` is 0 or the length of the shortest path to v if that is negative, so that
// weight + [u] - [v] of an edge (u, v) is not negative (Johnson's potentials). Finds every graph's negative cycle.
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bellman_ford_result<W, I> bellman_ford(const context<host>& ctx,
                                                                   const weighted_graph_view<W, I, O, host>& g);

// The same for owning graphs.
template <detail::viewable Graph, class... Sources>
[[nodiscard]] auto bellman_ford(const context<host>& ctx, const Graph& g, const Sources&... sources) {
  return bellman_ford(ctx, g.view(), sources...);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
