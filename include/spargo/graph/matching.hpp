// A maximal matching: edges of which no two share an end, and to which none can be added.
//
// It is the greedy matching of an order of greedy_order.hpp: vertex after vertex, one without a mate takes its
// neighbour of the lowest rank that has none. By default vertices of low degree come first, which makes the matching
// large: it has at least half the edges of a maximum one. Directed edges count as undirected ones; loops are ignored,
// as in networkx. O(vertices + edges), besides sorting the vertices once per plan and waiting for neighbours. Sources:
// Blelloch, Fineman, Shun, SPAA 2012 (the greedy matching in parallel); Magun, J. Exp. Algorithmics 3, 1998 (low
// degrees first).
#pragma once

#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/greedy_order.hpp>

#include <cstdint>
#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT matching_options {
  greedy_algorithm algorithm = greedy_algorithm::automatic;
  greedy_order order = greedy_order::automatic;
  std::uint64_t seed = 0;  // of a random order, and of ties
};

template <index_type I, class Space>
struct matching_result {
  array<I, Space> mates;  // [vertex] the other end of its edge, -1: none
  std::int64_t size = 0;  // edges
  greedy_algorithm algorithm = greedy_algorithm::automatic;
};

// Of a plan for a graph of this shape.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const matching_options& options);

// Workspace for many runs on one graph: allocated once, none inside `run`. The plan borrows the graph. Making it sorts
// the vertices: the order is no part of a run. Memory besides the graph: three indices per vertex; while it is
// made 24 bytes and two indices. On a device building a plan synchronizes; run is asynchronous, and size waits for it.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT matching_plan : public detail::graph_plan_base<matching_plan<I, O, Space>, matching_options, I, O> {
 public:
  // Throws invalid_argument for an algorithm or order that does not exist or an inconsistent graph view; unsupported
  // for a directed graph without in-edges (add_in_edges builds them) and for more than 2^32 vertices on a device.
  matching_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const matching_options& options = {});

  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> mates() const noexcept;
  [[nodiscard]] std::int64_t size() const;

 private:
  using state = detail::state_of<matching_plan>;
};

template <index_type I, index_type O, class Space>
matching_plan(const context<Space>&, const graph<I, O, Space>&, const matching_options& = {})
    -> matching_plan<I, O, Space>;

// One run with a temporary plan. Builds the in-edges of a directed graph that lacks them.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT matching_result<I, Space> matching(const context<Space>& ctx,
                                                               const graph_view<I, O, Space>& g,
                                                               const matching_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] matching_result<I, Space> matching(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                 const matching_options& options = {}) {
  return matching(ctx, g.view(), options);
}

// Empty when mates are each other's and joined by an edge, no edge joins two vertices without mates, and there are
// `size` pairs; else one sentence about a vertex. Independent of the plans. O(vertices + edges); memory: a bit per
// vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_matching(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                       std::type_identity_t<span<const I, host>> mates,
                                                       std::int64_t size);
template <index_type I, index_type O>
[[nodiscard]] std::string check_matching(const context<host>& ctx, const graph<I, O, host>& g,
                                         std::type_identity_t<span<const I, host>> mates, std::int64_t size) {
  return check_matching(ctx, g.view(), mates, size);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
