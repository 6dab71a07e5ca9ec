// Contracted graphs for a multilevel start, on the host.
//
// Groups: in the order of descending degree, a vertex that has no group forms one with its neighbours that have none,
// or, if all have one, joins the group of the neighbour with the heaviest edge. Vertices without edges form groups of
// eight. Masses and weights of a group are sums: its repulsion at a distance, and its attraction, are those of its
// vertices. Groups are formed by one thread, their edges joined by all. O(vertices + edges) a level. A random graph's
// groups have nearly as many edges as it has: such a level costs as much as the graph and shows no structure, so it is
// not made.
#pragma once

#include "graph/layout/executor.hpp"

#include <algorithm>
#include <vector>

namespace spargo::detail::layout {

struct coarse_graph {
  array<std::int64_t, host> offsets;
  array<std::int32_t, host> indices;
  array<double, host> weights;
  array<float, host> masses;
  array<std::int32_t, host> group_of;  // [vertex of the finer graph] a vertex of this one

  [[nodiscard]] std::int64_t vertices() const { return masses.size(); }
  [[nodiscard]] charged_graph<std::int32_t, std::int64_t, host> view() const {
    const auto n = static_cast<std::int32_t>(vertices());
    const csr_pattern_view<std::int32_t, std::int64_t, host> edges{n, n, offsets.view(), indices.view()};
    return {{{edges, edges, direction_kind::undirected}, weights.view(), weights.view()}, masses.view()};
  }
};

// From the finest on, each of at most 0.9 times as many vertices as the one before, the last of at most 48 or one that
// does not shrink, or, if it has `many` edges, counted from both ends, whose groups keep four fifths of them.
template <class I, class O>
[[nodiscard]] std::vector<coarse_graph> contract_all(const context<host>& ctx, const charged_graph<I, O, host>& g,
                                                     std::int64_t many = std::int64_t{1} << 22);

// Positions in the finer graph g from those in the coarser one: each vertex in the middle of its neighbours' groups and
// its own, moved a little by chance.
template <class I, class O>
void place_finer(const context<host>& ctx, const charged_graph<I, O, host>& g, const coarse_graph& coarse,
                 span<const double, host> positions, std::uint64_t seed, span<double, host> finer);

// A loop counts twice.
template <class I, class O>
[[nodiscard]] std::int64_t degree_of(const graph_view<I, O, host>& g, std::int64_t v) {
  const auto length = [v](const auto& rows) {
    return static_cast<std::int64_t>(rows.offsets[v + 1] - rows.offsets[v]);
  };
  if (g.direction == direction_kind::directed) return length(g.out) + length(g.in);
  const I* const row = g.out.indices.data();
  return length(g.out) + std::count(row + g.out.offsets[v], row + g.out.offsets[v + 1], static_cast<I>(v));
}

// Calls body(neighbour, weight) for the edges of v in both directions.
template <class I, class O, class Body>
void for_each_edge(const weighted_graph_view<double, I, O, host>& g, std::int64_t v, Body&& body) {
  const auto follow = [&](const csr_pattern_view<I, O, host>& rows, const span<const double, host>& weights) {
    for (O e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
      body(static_cast<std::int64_t>(rows.indices[e]), weights.empty() ? 1.0 : weights[e]);
    }
  };
  follow(g.out, g.out_weights);
  if (g.direction == direction_kind::directed) follow(g.in, g.in_weights);
}

}  // namespace spargo::detail::layout
