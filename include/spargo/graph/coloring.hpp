// Colouring: a number from 0 on for each vertex, different for the two ends of every edge, by few numbers.
//
// Vertices get the smallest colour that no neighbour of lower rank has, in an order of greedy_order.hpp. smallest_last
// takes at most max_core + 1 colours (cores.hpp). Directed edges count as undirected ones; loops are ignored, as in
// networkx; duplicate edges count in degrees only. O(vertices + edges) and sorting the vertices once per plan. Source:
// Alabandi, Powers, Burtscher, PPoPP 2020 (a vertex takes a colour as soon as no neighbour before it can).
#pragma once

#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/greedy_order.hpp>

#include <cstdint>
#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT coloring_options {
  greedy_algorithm algorithm = greedy_algorithm::automatic;
  greedy_order order = greedy_order::automatic;
  std::uint64_t seed = 0;  // of a random order, and of ties
};

template <index_type I, class Space>
struct coloring_result {
  array<I, Space> colors;  // [vertex]
  I count = 0;             // colours used: 0 to count - 1
  greedy_algorithm algorithm = greedy_algorithm::automatic;
};

// Of a plan for a graph of this shape.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const coloring_options& options);

// Workspace for many runs on one graph: allocated once, none inside `run`. The plan borrows the graph. Making it sorts
// the vertices: the order is no part of a run. Memory besides the graph: three indices per vertex; while it is made 24
// bytes and two indices more. On a device building a plan synchronizes; run is asynchronous, and count waits for it.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT coloring_plan : public detail::graph_plan_base<coloring_plan<I, O, Space>, coloring_options, I, O> {
 public:
  // Throws invalid_argument for an algorithm or order that does not exist or an inconsistent graph view; unsupported
  // for a directed graph without in-edges (add_in_edges builds them) and for more than 2^32 vertices on a device.
  coloring_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const coloring_options& options = {});

  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> colors() const noexcept;
  [[nodiscard]] I count() const;

 private:
  using state = detail::state_of<coloring_plan>;
};

template <index_type I, index_type O, class Space>
coloring_plan(const context<Space>&, const graph<I, O, Space>&, const coloring_options& = {})
    -> coloring_plan<I, O, Space>;

// One run with a temporary plan. Builds the in-edges of a directed graph that lacks them.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT coloring_result<I, Space> coloring(const context<Space>& ctx,
                                                               const graph_view<I, O, Space>& g,
                                                               const coloring_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] coloring_result<I, Space> coloring(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                 const coloring_options& options = {}) {
  return coloring(ctx, g.view(), options);
}

// Empty when no edge has two ends of one colour and every colour is in [0, count) and used; else one sentence about a
// vertex or an edge. Independent of the plans. O(vertices + edges).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_coloring(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                       std::type_identity_t<span<const I, host>> colors,
                                                       std::type_identity_t<I> count);
template <index_type I, index_type O>
[[nodiscard]] std::string check_coloring(const context<host>& ctx, const graph<I, O, host>& g,
                                         std::type_identity_t<span<const I, host>> colors,
                                         std::type_identity_t<I> count) {
  return check_coloring(ctx, g.view(), colors, count);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
