// Betweenness centrality: how many shortest paths lead through a vertex, or along an edge.
//
// The value of v is the sum, over the sources s and all targets t other than v, of the share of the shortest paths from
// s to t that lead through v: Brandes' dependencies of s on v. Paths follow the edges' direction and have no weights.
// Of an undirected graph with all vertices as sources each pair of ends counts once, so the sums are halved; they are
// not for sources that were given. Loops do not matter; duplicate edges of a view count as paths of their own.
//
// The value of an edge u -> v is the sum, over the sources s and all targets t, of the share of the shortest paths from
// s to t that lead along it, from u to v. An undirected edge is stored both ways, and each place has its direction:
// with all vertices as sources they are equal, and the edge's value with each pair of ends counted once; with given
// sources that value is the sum of the two.
//
// Any number of paths is counted without overflow: where 2^500 are exceeded, numbers get exponents of their own.
// Values are right to about 1e-13, relatively: every sum is of positive terms. O(vertices + edges) work per source,
// about half of it where several sources share the edges that they read.
//
// Determinism: an algorithm gives the same bits on every run and for any number of threads, on a device, too, and
// `automatic` decides by the graph alone. The two backends round differently. `run` returns when the values are there.
// Sources: Brandes, A Faster Algorithm for Betweenness Centrality, 2001; backward steps without atomics after Madduri,
// Ediger, Jiang, Bader, Chavarria-Miranda, IPDPS 2009.
#pragma once

#include <spargo/graph/graph.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class betweenness_algorithm {
  automatic,  // by_source for small graphs and those with few edges per vertex, by_level for others and on a device
  by_level,   // a few sources at a time, whose levels are shared among all threads
  by_source,  // each thread has sources of its own; host only
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(betweenness_algorithm algorithm);
[[nodiscard]] SPARGO_EXPORT betweenness_algorithm
parse_betweenness_algorithm(std::string_view name);  // invalid_argument

enum class betweenness_normalization {
  none,   // the sums themselves
  pairs,  // over the number of pairs of a source and a target that could count: (n-1)(n-2) where all are sources,
          // K (n-2) for K given ones, (K-1) (n-2) for one of these; n-1 instead of n-2, and K whoever it is for, with
          // endpoints. The same as networkx has, but 0 where a single source has no pair.
          // Edges: n (n-1), half of that where an undirected graph's vertices are all sources, K (n-1) for given ones.
  by_maximum,  // over the largest value, as the GAP benchmark has it, edges over the largest edge's; all 0 stay 0
};

// Whether a path counts for its first and its last vertex, too.
enum class betweenness_endpoints { excluded, included };

// Whether edges have values, too: of the paths in the direction in which each is stored. An undirected edge's two are
// equal where all vertices are sources, and to be added where some are.
enum class betweenness_edges { left_out, counted };

struct SPARGO_EXPORT betweenness_options {
  betweenness_normalization normalization = betweenness_normalization::none;
  betweenness_endpoints endpoints = betweenness_endpoints::excluded;
  betweenness_edges edges = betweenness_edges::left_out;  // counted: by_level only
  betweenness_algorithm algorithm = betweenness_algorithm::automatic;
};

// Where paths start. Left out: all vertices are sources. Empty: none is, and the values are 0. A source that is given
// twice counts twice.
template <index_type I>
using betweenness_sources = std::optional<span<const I, host>>;

template <class Space>
struct betweenness_result {
  array<double, Space> values;                                         // [vertex]
  array<double, Space> edges;                                          // [out-edge as stored], where counted
  betweenness_algorithm algorithm = betweenness_algorithm::automatic;  // the one that ran
};

// Workspace for many runs on one graph: allocated once, none inside `run`. The plan borrows the graph, and holds its
// transpose where a directed graph has no in-edges. Memory besides, for 32-bit indices: 144 bytes per vertex by_level;
// by_source 24 bytes per vertex and 4 per edge for each thread, and 128 per vertex (32 from 2^20 vertices on). On a
// device 133 bytes a vertex, 32 more with edges, and less than 1/3 of a byte per edge; where some vertex has more than
// 512 edges and 8 times the average, also a copy of the graph whose vertices are sorted by degree.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT betweenness_plan {
 public:
  // Throws invalid_argument for options that do not exist or a graph whose parts do not fit together, unsupported for
  // an algorithm that the backend does not have, for edges by_source, and for more than 2^30 vertices on a device.
  betweenness_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                   const betweenness_options& options = {});
  betweenness_plan(betweenness_plan&&) noexcept;
  betweenness_plan& operator=(betweenness_plan&&) noexcept;
  ~betweenness_plan();

  // Throws invalid_argument for a source that is no vertex.
  void run(betweenness_sources<I> sources = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const double, Space> values() const noexcept;
  [[nodiscard]] span<const double, Space> edges() const noexcept;  // empty where left out

  [[nodiscard]] betweenness_algorithm algorithm() const noexcept;  // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept;        // why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

template <index_type I, index_type O, class Space>
betweenness_plan(const context<Space>&, const graph<I, O, Space>&, const betweenness_options& = {})
    -> betweenness_plan<I, O, Space>;

// One run: a plan that is used once.
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

// Empty when `values`, and those of `edges` unless there are none, are what the sources and the options ask for, each
// to 1e-9 relatively; else one sentence about the vertex or the edge that is farthest off. Shares nothing with the
// plans, and reads the out-edges only: Brandes' algorithm as published, with a queue and one source at a time, the
// sources shared among the threads. Memory: 48 bytes per vertex and thread, 8 per edge
// where edges are given.
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

// For values of so many sources that all of them again would take too long, beside check_betweenness of some: whether
// the sum of the values is what distances make it, since a path of length d leads through d - 1 vertices. Empty when
// right, to 1e-9 relatively. By multi_bfs, at a small part of the cost of the values. Throws invalid_argument for
// by_maximum, of which the sum is unknown.
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
