// Communities of a graph by label propagation: vertices adopt labels from their neighbours.
//
// cdlp is the rule of LDBC Graphalytics. In a round every vertex takes the most frequent label among its neighbours, as
// of before the round; ties: the smallest label. Neighbours are the ends of out- and in-edges, so a neighbour joined
// both ways counts twice; an undirected edge counts once. Self-loops kept by a builder (graph_view::loops) are ignored;
// loops of other views, and duplicate edges, count as edges. A vertex without neighbours keeps its label. Initially
// each vertex is its own label, or has the one given. Readers number a file's ids in ascending order, which preserves
// ties: the ids of the labels found are those that LDBC's rule finds for ids.
//
// Deterministic for every algorithm and thread count. O(vertices + edges) per round. Sources: Raghavan, Albert, Kumara,
// Phys. Rev. E 76, 2007; the LDBC Graphalytics benchmark, version 1.0.5 (arXiv:2011.15028).
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/core/plan_state.hpp>
#include <spargo/graph/estimate.hpp>
#include <spargo/graph/graph.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class communities_method {
  cdlp,  // synchronous label propagation
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<communities_method> enum_rows() noexcept;
[[nodiscard]] inline communities_method parse_communities_method(std::string_view name) {  // throws invalid_argument
  return parse_enum<communities_method>("communities: unknown method", name);
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
  std::int64_t iterations = 10;  // rounds, 1 or more
};

template <index_type I, class Space>
struct communities_result {
  array<I, Space> labels;                                              // [vertex]
  std::int64_t count = 0;                                              // of distinct labels
  std::int64_t rounds = 0;                                             // rounds carried out
  communities_algorithm algorithm = communities_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const communities_options& options);

// Workspace for many runs on one graph, allocated once. The plan borrows the graph. Memory besides the graph: per
// vertex two labels and a byte, and one more label if some vertex has over 2^15 neighbours; per thread at most 0.8 MB
// (1.4 MB with 64-bit indices). On a device: per vertex four labels and four bytes, and a label per 128 edges.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT communities_plan {
 public:
  // Throws invalid_argument for options out of range, an algorithm that the backend lacks, or an inconsistent graph
  // view; unsupported for a directed graph without in-edges (add_in_edges builds them).
  communities_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
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

  [[nodiscard]] communities_algorithm algorithm() const noexcept { return state_.algorithm(); }  // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept { return state_.reason(); }           // why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.workspace_bytes(); }

  // The same with the types of this plan.
  [[nodiscard]] static plan_estimate estimate(const graph_shape& shape, const communities_options& options = {}) {
    return spargo::estimate(shape.with_types<I, O>(), options);
  }

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::plan_state<state, communities_algorithm> state_;
};

template <index_type I, index_type O, class Space>
communities_plan(const context<Space>&, const graph<I, O, Space>&, const communities_options& = {})
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

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
