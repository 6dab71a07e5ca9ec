// Degrees, neighbours, and vertices of a component (by labels) or near a vertex (by levels).
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/structure.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/structure/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace spargo {

namespace detail::structure {

namespace {

// The stored edges of that side; empty if in-edges are missing.
template <class I, class O>
const csr_pattern_view<I, O, host>& part_of(const graph_view<I, O, host>& g, edge_side side) {
  return side == edge_side::out || g.direction == direction_kind::undirected ? g.out : g.in;
}

template <class I, class O>
const csr_pattern_view<I, O, host>& checked_part(const char* operation, const graph_view<I, O, host>& g, I vertex,
                                                 edge_side side) {
  expect_vertex(operation, vertex, g.vertices());
  const auto& part = part_of(g, side);
  if (part.offsets.empty()) {
    throw error(error_code::unsupported,
                fmt::format("{}: the graph has no in-edges (add_in_edges builds them)", operation));
  }
  return part;
}

template <class I, class O>
array<O, host> count_targets(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges) {
  array<O, host> counts(ctx, edges.rows);
  fill_zero<O, host>(ctx, counts.view());
  parallel_for(ctx.threads(), edges.nnz(), grain::elements, [&](std::int64_t e) {
    std::atomic_ref<O>(counts[edges.indices[e]]).fetch_add(1, std::memory_order_relaxed);
  });
  return counts;
}

// The vertices, ascending, whose value is chosen.
template <class I, class T, class Chosen>
array<I, host> vertices_with(const context<host>& ctx, const array<T, host>& values, const Chosen& chosen) {
  array<I, host> vertices(ctx, std::count_if(values.begin(), values.end(), chosen));
  std::int64_t next = 0;
  for (std::int64_t v = 0; v < values.size(); ++v) {
    if (chosen(values[v])) vertices[next++] = static_cast<I>(v);
  }
  return vertices;
}

}  // namespace

}  // namespace detail::structure

template <index_type I, index_type O>
array<O, host> degrees(const context<host>& ctx, const graph_view<I, O, host>& g, edge_side side) try {
  const auto& edges = detail::structure::part_of(g, side);
  if (edges.offsets.empty()) return detail::structure::count_targets(ctx, g.out);
  array<O, host> counts(ctx, g.vertices());
  detail::parallel_for(ctx.threads(), counts.size(), detail::grain::elements,
                       [&](std::int64_t v) { counts[v] = edges.offsets[v + 1] - edges.offsets[v]; });
  return counts;
} catch (...) {
  detail::rethrow("degrees");
}

template <index_type I, index_type O>
span<const I, host> neighbours(const graph_view<I, O, host>& g, std::type_identity_t<I> vertex, edge_side side) {
  const auto& edges = detail::structure::checked_part("neighbours", g, vertex, side);
  const std::int64_t first = edges.offsets[vertex];
  return edges.indices.subspan(first, edges.offsets[std::int64_t{vertex} + 1] - first);
}

template <detail::scalar W, index_type I, index_type O>
span<const W, host> neighbour_weights(const weighted_graph_view<W, I, O, host>& g, std::type_identity_t<I> vertex,
                                      edge_side side) {
  const graph_view<I, O, host>& pattern_only = g;
  const auto& edges = detail::structure::checked_part("neighbour_weights", pattern_only, vertex, side);
  const auto& weights =
      side == edge_side::out || g.direction == direction_kind::undirected ? g.out_weights : g.in_weights;
  const std::int64_t first = edges.offsets[vertex];
  return weights.subspan(first, edges.offsets[std::int64_t{vertex} + 1] - first);
}

template <index_type I, index_type O>
array<I, host> largest_component(const context<host>& ctx, const graph_view<I, O, host>& g,
                                 components_connection connection) try {
  const auto found = components(ctx, g, {.connection = connection});
  const std::int64_t n = found.labels.size();
  if (n == 0) return {};
  array<I, host> sizes(ctx, n);
  fill_zero<I, host>(ctx, sizes.view());
  for (const I label : found.labels) ++sizes[label];
  const I* const largest =
      std::max_element(sizes.begin(), sizes.end());  // ties: the component with the smallest vertex
  const I label = static_cast<I>(largest - sizes.begin());
  return detail::structure::vertices_with<I>(ctx, found.labels, [&](I of) { return of == label; });
} catch (...) {
  detail::rethrow("largest_component");
}

template <index_type I, index_type O>
array<I, host> component_of(const context<host>& ctx, const graph_view<I, O, host>& g, std::type_identity_t<I> vertex,
                            components_connection connection) try {
  detail::structure::expect_vertex("component_of", vertex, g.vertices());
  const auto found = components(ctx, g, {.connection = connection});
  return detail::structure::vertices_with<I>(ctx, found.labels, [&](I of) { return of == found.labels[vertex]; });
} catch (...) {
  detail::rethrow("component_of");
}

template <index_type I, index_type O>
array<I, host> k_hop_neighborhood(const context<host>& ctx, const graph_view<I, O, host>& g,
                                  std::type_identity_t<I> source, std::int64_t radius, edge_side side) try {
  detail::structure::expect_vertex("k_hop_neighborhood", source, g.vertices());
  SPARGO_EXPECTS(radius >= 0, fmt::format("k_hop_neighborhood: radius {} (expected 0 or more)", radius));
  graph_view<I, O, host> searched = g;
  if (side == edge_side::in) {
    searched.out = detail::structure::checked_part("k_hop_neighborhood", g, source, side);
    searched.in = g.out;
  }
  const auto found = bfs(ctx, searched, source, {.output = bfs_output::levels, .max_depth = radius});
  return detail::structure::vertices_with<I>(ctx, found.levels, [](std::int32_t level) { return level >= 0; });
} catch (...) {
  detail::rethrow("k_hop_neighborhood");
}

#define INSTANTIATE_W(W, I, O)                                                                       \
  template span<const W, host> neighbour_weights<W, I, O>(const weighted_graph_view<W, I, O, host>&, \
                                                          std::type_identity_t<I>, edge_side);
#define INSTANTIATE(I, O)                                                                                           \
  template array<O, host> degrees<I, O>(const context<host>&, const graph_view<I, O, host>&, edge_side);            \
  template span<const I, host> neighbours<I, O>(const graph_view<I, O, host>&, std::type_identity_t<I>, edge_side); \
  template array<I, host> component_of<I, O>(const context<host>&, const graph_view<I, O, host>&,                   \
                                             std::type_identity_t<I>, components_connection);                       \
  template array<I, host> k_hop_neighborhood<I, O>(const context<host>&, const graph_view<I, O, host>&,             \
                                                   std::type_identity_t<I>, std::int64_t, edge_side);               \
  template array<I, host> largest_component<I, O>(const context<host>&, const graph_view<I, O, host>&,              \
                                                  components_connection);                                           \
  SPARGO_FOR_EACH_WEIGHT(INSTANTIATE_W, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
