// A maximal independent set: vertices of which no two are joined by an edge, and to which none can be added.
//
// It is the greedy set of an order of greedy_order.hpp: a vertex is in the set unless a neighbour of lower rank is. By
// default vertices of low degree come first, which makes the set large. Directed edges count as undirected ones; loops
// are ignored, as in networkx. O(vertices + edges) and sorting the vertices once per plan. Sources: Blelloch, Fineman,
// Shun, SPAA 2012 (the greedy set in parallel); Burtscher, Devale, Azimi, Jaiganesh, Powers, TOPC 5, 2018 (low degrees
// first, without rounds).
#pragma once

#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/greedy_order.hpp>

#include <cstdint>
#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT independent_set_options {
  greedy_algorithm algorithm = greedy_algorithm::automatic;
  greedy_order order = greedy_order::automatic;
  std::uint64_t seed = 0;  // of a random order, and of ties
};

template <class Space>
struct independent_set_result {
  array<std::uint8_t, Space> members;  // [vertex] 1: in the set, 0: not
  std::int64_t size = 0;               // of the set
  greedy_algorithm algorithm = greedy_algorithm::automatic;
};

// Of a plan for a graph of this shape.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const independent_set_options& options);

// Workspace for many runs on one graph: allocated once, none inside `run`. The plan borrows the graph. Making it sorts
// the vertices: the order is no part of a run. Memory besides the graph: two indices and a byte per vertex; while it is
// made 24 bytes and two indices. On a device building a plan synchronizes; run is asynchronous, and size waits for it.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT independent_set_plan
    : public detail::graph_plan_base<independent_set_plan<I, O, Space>, independent_set_options, I, O> {
 public:
  // Throws invalid_argument for an algorithm or order that does not exist or an inconsistent graph view; unsupported
  // for a directed graph without in-edges (add_in_edges builds them) and for more than 2^32 vertices on a device.
  independent_set_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                       const independent_set_options& options = {});

  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const std::uint8_t, Space> members() const noexcept;
  [[nodiscard]] std::int64_t size() const;

 private:
  using state = detail::state_of<independent_set_plan>;
};

template <index_type I, index_type O, class Space>
independent_set_plan(const context<Space>&, const graph<I, O, Space>&, const independent_set_options& = {})
    -> independent_set_plan<I, O, Space>;

// One run with a temporary plan. Builds the in-edges of a directed graph that lacks them.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT independent_set_result<Space> independent_set(const context<Space>& ctx,
                                                                          const graph_view<I, O, Space>& g,
                                                                          const independent_set_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] independent_set_result<Space> independent_set(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                            const independent_set_options& options = {}) {
  return independent_set(ctx, g.view(), options);
}

// Empty when no two members are joined by an edge, every other vertex has a neighbour in the set, and there are `size`
// members; else one sentence about a vertex. Independent of the plans. O(vertices + edges); memory: a bit per vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_independent_set(
    const context<host>& ctx, const graph_view<I, O, host>& g,
    std::type_identity_t<span<const std::uint8_t, host>> members, std::int64_t size);
template <index_type I, index_type O>
[[nodiscard]] std::string check_independent_set(const context<host>& ctx, const graph<I, O, host>& g,
                                                std::type_identity_t<span<const std::uint8_t, host>> members,
                                                std::int64_t size) {
  return check_independent_set(ctx, g.view(), members, size);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
