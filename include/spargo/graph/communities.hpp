// Communities of a graph: by label propagation, Louvain or Leiden.
//
// cdlp is the rule of LDBC Graphalytics. In a round every vertex takes the most frequent label among its neighbours, as
// of before the round; ties: the smallest label. Neighbours are the ends of out- and in-edges, so a neighbour joined
// both ways counts twice; an undirected edge counts once. Self-loops kept by a builder (graph_view::loops) are ignored;
// loops of other views, and duplicate edges, count as edges. A vertex without neighbours keeps its label. Initially
// each vertex is its own label, or has the one given. Readers number a file's ids in ascending order, which preserves
// ties: the ids of the labels found are those that LDBC's rule finds for ids. O(vertices + edges) per round.
//
// louvain and leiden maximize modularity, that of Leicht and Newman for directed graphs, or CPM. Self-loops count, in
// the degree of an undirected graph twice. A vertex without neighbours stays alone (louvain: keeps its initial label).
// Labels are the smallest vertices of the communities. Weights are summed as integers, floating-point ones after
// rounding to a fixed point (each to within 2^-49 of all weight), and the resolution is rounded to a multiple of 2^-24
// (2^-22 with floating-point weights, a coarser one with integers that add up to 2^50 or more). Another seed finds
// other communities. O(vertices + edges) per round of a level, at most 100 rounds; a level of over 2^20 entries ends
// with a round that gains less than 1/128 (1/32 if many nodes moved) of what the pass gained. A run allocates the
// contracted graphs.
//
// Deterministic for every method, algorithm and thread count. Sources: Raghavan, Albert, Kumara, Phys. Rev. E 76, 2007;
// the LDBC Graphalytics benchmark, version 1.0.5 (arXiv:2011.15028); Blondel et al., J. Stat. Mech. P10008, 2008;
// Traag, Waltman, van Eck, Sci. Rep. 9, 5233, 2019.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class communities_method {
  cdlp,     // synchronous label propagation
  louvain,  // maximizes the objective by moving vertices, then groups of them
  leiden,   // as louvain, with groups refined in between: better, and every community is connected
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<communities_method> enum_rows() noexcept;
[[nodiscard]] inline communities_method parse_communities_method(std::string_view name) {  // throws invalid_argument
  return parse_enum<communities_method>("communities: unknown method", name);
}

// What Louvain and Leiden maximize.
enum class communities_objective {
  modularity,  // sum over communities of (weight inside - resolution * expected weight inside) / weight of all edges
  cpm,         // constant Potts model: sum of (weight inside - resolution * pairs of vertices inside)
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<communities_objective> enum_rows() noexcept;
[[nodiscard]] inline communities_objective parse_communities_objective(
    std::string_view name) {  // throws invalid_argument
  return parse_enum<communities_objective>("communities: unknown objective", name);
}

enum class communities_algorithm {
  automatic,     // the fastest for this backend
  all_vertices,  // every vertex is updated in every round
  frontier,      // once few labels change, only vertices with a neighbour whose label changed
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<communities_algorithm> enum_rows() noexcept;
[[nodiscard]] inline communities_algorithm parse_communities_algorithm(
    std::string_view name) {  // throws invalid_argument
  return parse_enum<communities_algorithm>("communities: unknown algorithm", name);
}

struct SPARGO_EXPORT communities_options {
  communities_method method = communities_method::cdlp;
  communities_algorithm algorithm = communities_algorithm::automatic;
  // cdlp: rounds, 0: 10. leiden: at most this many passes over all levels, 0: 2 for graphs of 2^23 vertices and entries
  // or more, for smaller ones inversely more, up to 60.
  std::int64_t iterations = 0;
  // Of louvain and leiden:
  communities_objective objective = communities_objective::modularity;
  double resolution = 1;  // larger ones find smaller communities; 0 or more
  // leiden: ends after two consecutive passes that each gain at most this (modularity, or CPM per total edge weight).
  // Not used by louvain.
  double tolerance = 1e-6;
  std::int64_t max_levels = 100;  // of a pass, 1 or more
  std::uint64_t seed = 1;
};

template <index_type I, class Space>
struct communities_result {
  array<I, Space> labels;                                              // [vertex]
  std::int64_t count = 0;                                              // of distinct labels
  std::int64_t rounds = 0;                                             // rounds carried out; leiden: passes
  double modularity = 0;                                               // louvain and leiden
  std::int64_t levels = 0;                                             // of the last pass; louvain and leiden
  communities_algorithm algorithm = communities_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const communities_options& options);

// Workspace for many runs on one graph. The plan borrows the graph. Memory besides the graph:
// - cdlp, allocated once: per vertex two labels and a byte, and one more label if some vertex has over 2^15 neighbours;
//   per thread at most 0.8 MB (1.4 MB with 64-bit indices). On a device: per vertex four labels and four bytes, and a
//   label per 128 edges.
// - louvain and leiden: the plan keeps two indices and 8 to 24 bytes per vertex, 8 bytes per entry with weights, and a
//   weighted undirected copy of a directed graph. A run allocates more: at most what `estimate` says, and per thread a
//   table of up to 80 bytes per neighbour of the vertex, or group of vertices, that has the most.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT communities_plan
    : public detail::graph_plan_base<communities_plan<I, O, Space>, communities_options, I, O> {
 public:
  // Throws invalid_argument for options out of range or an inconsistent graph view; unsupported for an algorithm that
  // the backend lacks, and for a directed graph without in-edges (add_in_edges builds them).
  communities_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                   const communities_options& options = {});
  // With weights, which cdlp ignores. Throws also invalid_data naming the first edge whose weight is negative, infinite
  // or NaN, and for integer weights that add up to 2^59 or more, undirected edges counted in both directions.
  template <detail::scalar W>
  communities_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                   const communities_options& options = {});

  // `initial`: each vertex's label before the first round, 0 to vertices - 1; empty: the vertex itself. Throws
  // invalid_argument for other labels. A device run synchronizes after each round.
  void run(span<const I, Space> initial = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> labels() const noexcept;
  [[nodiscard]] std::int64_t count() const noexcept;  // of distinct labels
  // Rounds carried out: fewer than `iterations` if the remaining ones would not change the result, because a round
  // changed no label or restored all labels of two rounds before.
  [[nodiscard]] std::int64_t rounds() const noexcept;
  [[nodiscard]] double modularity() const noexcept;    // louvain and leiden, else 0
  [[nodiscard]] std::int64_t levels() const noexcept;  // of the last pass; louvain and leiden, else 0

 private:
  using state = detail::state_of<communities_plan>;
};

template <index_type I, index_type O, class Space>
communities_plan(const context<Space>&, const graph<I, O, Space>&, const communities_options& = {})
    -> communities_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
communities_plan(const context<Space>&, const weighted_graph_view<W, I, O, Space>&, const communities_options& = {})
    -> communities_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
communities_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const communities_options& = {})
    -> communities_plan<I, O, Space>;

// One run with a temporary plan. Builds the in-edges of a directed graph that lacks them.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT communities_result<I, Space> communities(
    const context<Space>& ctx, const graph_view<I, O, Space>& g, const communities_options& options = {},
    std::type_identity_t<span<const I, Space>> initial = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] communities_result<I, Space> communities(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                       const communities_options& options = {},
                                                       std::type_identity_t<span<const I, Space>> initial = {}) {
  return communities(ctx, g.view(), options, initial);
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT communities_result<I, Space> communities(
    const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g, const communities_options& options = {},
    std::type_identity_t<span<const I, Space>> initial = {});
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] communities_result<I, Space> communities(const context<Space>& ctx,
                                                       const weighted_graph<W, I, O, Space>& g,
                                                       const communities_options& options = {},
                                                       std::type_identity_t<span<const I, Space>> initial = {}) {
  return communities(ctx, g.view(), options, initial);
}

// Empty when `labels` are correct for the options; else one sentence about the first vertex with a wrong label. Repeats
// all rounds independently of the plans: each vertex counts its neighbours' labels in an array of all labels.
// O(vertices + edges) per round; memory: three labels per vertex, and one more for each of up to 8 threads.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_communities(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                          std::type_identity_t<span<const I, host>> labels,
                                                          const communities_options& options = {},
                                                          std::type_identity_t<span<const I, host>> initial = {});
template <index_type I, index_type O>
[[nodiscard]] std::string check_communities(const context<host>& ctx, const graph<I, O, host>& g,
                                            std::type_identity_t<span<const I, host>> labels,
                                            const communities_options& options = {},
                                            std::type_identity_t<span<const I, host>> initial = {}) {
  return check_communities(ctx, g.view(), labels, options, initial);
}

// The same for Louvain and Leiden. Empty if every label is the smallest vertex of its community, `modularity` is theirs
// (recomputed from the weights, to 1e-9, and 2^-49 more per entry with floating-point weights, which plans round), and,
// for leiden, every community is connected. O(vertices + edges).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_partition(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                        std::type_identity_t<span<const I, host>> labels,
                                                        double modularity, const communities_options& options);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_partition(const context<host>& ctx,
                                                        const weighted_graph_view<W, I, O, host>& g,
                                                        std::type_identity_t<span<const I, host>> labels,
                                                        double modularity, const communities_options& options);
template <index_type I, index_type O>
[[nodiscard]] std::string check_partition(const context<host>& ctx, const graph<I, O, host>& g,
                                          std::type_identity_t<span<const I, host>> labels, double modularity,
                                          const communities_options& options) {
  return check_partition(ctx, g.view(), labels, modularity, options);
}
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] std::string check_partition(const context<host>& ctx, const weighted_graph<W, I, O, host>& g,
                                          std::type_identity_t<span<const I, host>> labels, double modularity,
                                          const communities_options& options) {
  return check_partition(ctx, g.view(), labels, modularity, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
