// Betweenness centrality: the number of shortest paths through a vertex, or along an edge.
//
// The value of v is the sum, over all sources s and targets t other than v, of the fraction of shortest paths from s to
// t that pass through v: Brandes' dependencies of s on v. Paths follow edge directions and are unweighted. In an
// undirected graph with all vertices as sources each pair of ends counts once, so the sums are halved; with given
// sources they are not. Loops do not matter; duplicate edges of a view count as separate paths.
//
// The value of an edge u -> v is the sum, over all sources s and targets t, of the fraction of shortest paths from s to
// t that use it from u to v. An undirected edge is stored twice, and each entry has its own direction: with all
// vertices as sources both are equal, the value of the edge with each pair of ends counted once; with given sources the
// edge's value is their sum.
//
// Path counts do not overflow: beyond 2^500 they get exponents of their own. Relative errors are about 1e-13, since all
// terms are positive. O(vertices + edges) work per source, about half of it where several sources share the edges read.
//
// Determinism: an algorithm gives the same bits on every run and for any number of threads, also on a device, and
// `automatic` depends on the graph alone. The two backends round differently. `run` is synchronous. Sources: Brandes, A
// Faster Algorithm for Betweenness Centrality, 2001; backward steps without atomics after Madduri, Ediger, Jiang,
// Bader, Chavarria-Miranda, IPDPS 2009.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <optional>
#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class betweenness_algorithm {
  automatic,  // by_source for small graphs and those with few edges per vertex; otherwise, and on a device, by_level
  by_level,   // a few sources at a time; all threads share their levels
  by_source,  // each thread processes sources of its own; host only
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<betweenness_algorithm> enum_rows() noexcept;
[[nodiscard]] inline betweenness_algorithm parse_betweenness_algorithm(
    std::string_view name) {  // throws invalid_argument
  return parse_enum<betweenness_algorithm>("betweenness: unknown algorithm", name);
}

enum class betweenness_normalization {
  none,   // the plain sums
  pairs,  // divided by the number of (source, target) pairs that can count: (n-1)(n-2) if all vertices are sources, K
          // (n-2) for K given ones, (K-1)(n-2) for one of these; with endpoints n-1 instead of n-2, and K for every
          // vertex. As in networkx, but 0 for a single source, which has no pair. Edges: n (n-1), half of that if all
          // vertices of an undirected graph are sources, K (n-1) for given ones.
  by_maximum,  // divided by the largest value, as in the GAP benchmark, edges by the largest edge value; all 0 stay 0
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<betweenness_normalization> enum_rows() noexcept;

// Whether a path also counts for its first and last vertex.
enum class betweenness_endpoints { excluded, included };

// Whether edges get values, each for paths in its stored direction. The two values of an undirected edge are equal if
// all vertices are sources, and are to be added otherwise.
enum class betweenness_edges { left_out, counted };

struct SPARGO_EXPORT betweenness_options {
  betweenness_normalization normalization = betweenness_normalization::none;
  betweenness_endpoints endpoints = betweenness_endpoints::excluded;
  betweenness_edges edges = betweenness_edges::left_out;  // counted: by_level only
  betweenness_algorithm algorithm = betweenness_algorithm::automatic;
};

// Where paths start. nullopt: at all vertices. Empty: nowhere, and all values are 0. A source given twice counts twice.
template <index_type I>
using betweenness_sources = std::optional<span<const I, host>>;

template <class Space>
struct betweenness_result {
  array<double, Space> values;                                         // [vertex]
  array<double, Space> edges;                                          // [out-edge as stored], if requested
  betweenness_algorithm algorithm = betweenness_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: per source.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const betweenness_options& options);

// Workspace for many runs on one graph, allocated once. The plan borrows the graph, and owns the transpose of a
// directed graph without in-edges. Other memory, for 32-bit indices: by_level 144 bytes per vertex; by_source 24 bytes
// per vertex and 4 per edge for each thread, and 128 per vertex (32 from 2^20 vertices on). On a device 133 bytes per
// vertex, 32 more with edges, and less than 1/3 of a byte per edge; if some vertex has more than 512 edges and 8 times
// the average, also a copy of the graph with vertices sorted by degree.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT betweenness_plan
    : public detail::graph_plan_base<betweenness_plan<I, O, Space>, betweenness_options, I, O> {
 public:
  // Throws invalid_argument for options that do not exist or a graph whose parts do not fit together, unsupported for
  // an algorithm that the backend does not have, for edges by_source, and for more than 2^30 vertices on a device.
  betweenness_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                   const betweenness_options& options = {});

  // Throws invalid_argument for a source that is not a vertex.
  void run(betweenness_sources<I> sources = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const double, Space> values() const noexcept;
  [[nodiscard]] span<const double, Space> edges() const noexcept;  // empty if not requested

 private:
  using state = detail::state_of<betweenness_plan>;
};

template <index_type I, index_type O, class Space>
betweenness_plan(const context<Space>&, const graph<I, O, Space>&, const betweenness_options& = {})
    -> betweenness_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT betweenness_result<Space> betweenness(
    const context<Space>& ctx, const graph_view<I, O, Space>& g,
    std::type_identity_t<betweenness_sources<I>> sources = {}, const betweenness_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] betweenness_result<Space> betweenness(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                    std::type_identity_t<betweenness_sources<I>> sources = {},
                                                    const betweenness_options& options = {}) {
  return betweenness(ctx, g.view(), sources, options);
}

// Empty when `values`, and `edges` unless empty, are correct for the sources and options, each to 1e-9 relatively; else
// one sentence about the vertex or edge with the largest error. Independent of the plans, and reads the out-edges only:
// Brandes' algorithm as published, one source at a time with a queue; threads share the sources. Memory: 48 bytes per
// vertex and thread, 8 per edge if edges are given.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_betweenness(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                          std::type_identity_t<span<const double, host>> values,
                                                          std::type_identity_t<betweenness_sources<I>> sources = {},
                                                          const betweenness_options& options = {},
                                                          std::type_identity_t<span<const double, host>> edges = {});
template <index_type I, index_type O>
[[nodiscard]] std::string check_betweenness(const context<host>& ctx, const graph<I, O, host>& g,
                                            std::type_identity_t<span<const double, host>> values,
                                            std::type_identity_t<betweenness_sources<I>> sources = {},
                                            const betweenness_options& options = {},
                                            std::type_identity_t<span<const double, host>> edges = {}) {
  return check_betweenness(ctx, g.view(), values, sources, options, edges);
}

// A cheap check of values from many sources, besides check_betweenness of a few of them: compares the sum of the values
// with the sum of distances, since a path of length d passes through d - 1 vertices.
// Empty when right, to 1e-9 relatively. Uses multi_bfs, at a fraction of the cost of the values. Throws
// invalid_argument for by_maximum, whose sum is unknown.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_betweenness_sum(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                              std::type_identity_t<span<const double, host>> values,
                                                              std::type_identity_t<betweenness_sources<I>> sources = {},
                                                              const betweenness_options& options = {});

template <index_type I, index_type O>
[[nodiscard]] std::string check_betweenness_sum(const context<host>& ctx, const graph<I, O, host>& g,
                                                std::type_identity_t<span<const double, host>> values,
                                                std::type_identity_t<betweenness_sources<I>> sources = {},
                                                const betweenness_options& options = {}) {
  return check_betweenness_sum(ctx, g.view(), values, sources, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
