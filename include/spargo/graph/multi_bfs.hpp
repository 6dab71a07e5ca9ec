// Multi-source breadth-first search: levels from each source, or only counts and eccentricities.
//
// A vertex has one bit per search, so that one visit of an edge serves 64 or 256 searches. Deterministic. Worst case
// O(width * (vertices + edges)) word operations for a batch of 64 * width sources, since searches may find a vertex at
// different depths; a few passes over the edges on small-world graphs. Then, Kaufmann, Chirigati, Hoang-Vu, Pham,
// Kemper, Neumann, Vo: The More the Merrier: Efficient Multi-Source Graph Traversal, VLDB 2015.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/core/plan_state.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/estimate.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class multi_bfs_algorithm {
  automatic,   // one_word for at most 64 sources, else four_words
  one_word,    // 64 searches per batch
  four_words,  // 256 per batch: a vertex's words fill one 32-byte sector of device memory
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<multi_bfs_algorithm> enum_rows() noexcept;

enum class multi_bfs_output {
  counts,             // per source: vertices reached, sum of distances, eccentricity
  counts_and_levels,  // also the level of every vertex from every source
};

struct SPARGO_EXPORT multi_bfs_options {
  multi_bfs_algorithm algorithm = multi_bfs_algorithm::automatic;
  // A directed graph without in-edges can only be pushed: `automatic` then pushes; a plan refuses a forced pull
  // (`unsupported`), the single call builds in-edges.
  bfs_direction direction = bfs_direction::automatic;
  multi_bfs_output output = multi_bfs_output::counts_and_levels;
};

// Result of one search. Closeness of the source is (reached - 1) / distance_sum.
struct SPARGO_EXPORT multi_bfs_counts {
  std::int64_t reached = 0;       // vertices, the source included
  std::int64_t distance_sum = 0;  // of the levels of all reached vertices
  std::int32_t eccentricity = 0;  // the largest of these levels

  friend bool operator==(const multi_bfs_counts&, const multi_bfs_counts&) = default;
};

template <index_type I, class Space>
struct multi_bfs_result {
  array<std::int32_t, Space> levels;     // [vertex * sources + k], see the plan; empty unless requested
  std::vector<multi_bfs_counts> counts;  // [k]: of the k-th source
  multi_bfs_algorithm algorithm = multi_bfs_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: a run with max_sources.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, std::int64_t max_sources,
                                                   const multi_bfs_options& options);

// Workspace for many runs over one graph, allocated once. The plan borrows the graph. At most 24 * width + 2 *
// sizeof(I) + 1/4 bytes per vertex (width 1 or 4; on a device with levels 32 * width more), plus the levels: 4 *
// max_sources bytes per vertex.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT multi_bfs_plan {
 public:
  // `max_sources` (1 or more): maximum per run; any number is processed, in batches.
  multi_bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, std::int64_t max_sources,
                 const multi_bfs_options& options = {});

  // Sources may repeat. Throws invalid_argument if one is not a vertex, or if there are more than max_sources. A device
  // run synchronizes once per batch, at its end.
  void run(span<const I, host> sources);

  // Of the last run; valid until the next. [vertex * sources + k] is the level from the k-th source, -1 if unreached: a
  // vertex's levels are adjacent, since they are found and written together.
  [[nodiscard]] span<const std::int32_t, Space> levels() const noexcept;
  [[nodiscard]] const std::vector<multi_bfs_counts>& counts() const noexcept;

  [[nodiscard]] multi_bfs_algorithm algorithm() const noexcept { return state_.algorithm(); }       // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept { return state_.reason(); }              // why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.workspace_bytes(); }  // levels included

  // The same with the types of this plan.
  [[nodiscard]] static plan_estimate estimate(const graph_shape& shape, std::int64_t max_sources,
                                              const multi_bfs_options& options = {}) {
    return spargo::estimate(shape.with_types<I, O>(), max_sources, options);
  }

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::plan_state<state, multi_bfs_algorithm> state_;
};

template <index_type I, index_type O, class Space>
multi_bfs_plan(const context<Space>&, const graph<I, O, Space>&, std::int64_t, const multi_bfs_options& = {})
    -> multi_bfs_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT multi_bfs_result<I, Space> multi_bfs(const context<Space>& ctx,
                                                                 const graph_view<I, O, Space>& g,
                                                                 std::type_identity_t<span<const I, host>> sources,
                                                                 const multi_bfs_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] multi_bfs_result<I, Space> multi_bfs(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                   std::type_identity_t<span<const I, host>> sources,
                                                   const multi_bfs_options& options = {}) {
  return multi_bfs(ctx, g.view(), sources, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
