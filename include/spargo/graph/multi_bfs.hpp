// Breadth-first searches from many sources at once: levels from each, or only how much each reaches and how far.
//
// A vertex has one bit per search, so that one visit of an edge serves 64 or 256 searches. Results are deterministic.
// O(width * (vertices + edges)) word operations at worst for a batch of 64 * width sources, since a vertex may be
// found by its searches at different depths; on small-world graphs a few passes over the edges. Then, Kaufmann,
// Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo: The More the Merrier: Efficient Multi-Source Graph Traversal,
// VLDB 2015.
#pragma once

#include <spargo/graph/bfs.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class multi_bfs_algorithm {
  automatic,   // one_word for at most 64 sources, else four_words
  one_word,    // 64 searches at a time, further ones in further batches
  four_words,  // 256 at a time: a vertex's words fill one 32-byte sector of device memory
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(multi_bfs_algorithm algorithm);

enum class multi_bfs_output {
  counts,             // per source: vertices reached, sum of distances, eccentricity
  counts_and_levels,  // also the level of every vertex from every source
};

struct SPARGO_EXPORT multi_bfs_options {
  multi_bfs_algorithm algorithm = multi_bfs_algorithm::automatic;
  // A directed graph without in-edges can only push: automatic then does, a forced pull is refused (`unsupported`) by a
  // plan, and builds them in a single call.
  bfs_direction direction = bfs_direction::automatic;
  multi_bfs_output output = multi_bfs_output::counts_and_levels;
};

// What one search found. Closeness of the source is (reached - 1) / distance_sum.
struct SPARGO_EXPORT multi_bfs_counts {
  std::int64_t reached = 0;       // vertices, the source included
  std::int64_t distance_sum = 0;  // of the levels of all that it reached
  std::int32_t eccentricity = 0;  // the largest of these levels

  friend bool operator==(const multi_bfs_counts&, const multi_bfs_counts&) = default;
};

template <index_type I, class Space>
struct multi_bfs_result {
  array<std::int32_t, Space> levels;     // [vertex * sources + k], see the plan; empty unless asked for
  std::vector<multi_bfs_counts> counts;  // [k]: of the k-th source
  multi_bfs_algorithm algorithm = multi_bfs_algorithm::automatic;  // the one that ran
};

// Workspace for many runs over one graph: allocated once, none inside `run`. The plan borrows the graph.
// Workspace: at most 24 * width + 2 * sizeof(I) + 1/4 bytes per vertex (width 1 or 4; on a device with levels 32 *
// width more), besides the levels: 4 * max_sources bytes per vertex.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT multi_bfs_plan {
 public:
  // `max_sources` (1 or more): the most that a run will be given; any number is searched, in batches.
  multi_bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, std::int64_t max_sources,
                 const multi_bfs_options& options = {});
  multi_bfs_plan(multi_bfs_plan&&) noexcept;
  multi_bfs_plan& operator=(multi_bfs_plan&&) noexcept;
  ~multi_bfs_plan();

  // Sources may repeat. Throws invalid_argument when one is not a vertex, or when there are more than max_sources.
  // A device run has no host synchronisation inside its level loop; it synchronises at the end of each batch.
  void run(span<const I, host> sources);

  // Of the last run; valid until the next. [vertex * sources + k] is the level from the k-th source, -1 where it does
  // not reach: a vertex's levels lie together, since they are found and written together.
  [[nodiscard]] span<const std::int32_t, Space> levels() const noexcept;
  [[nodiscard]] const std::vector<multi_bfs_counts>& counts() const noexcept;

  [[nodiscard]] multi_bfs_algorithm algorithm() const noexcept;  // never `automatic`
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept;   // levels included

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

template <index_type I, index_type O, class Space>
multi_bfs_plan(const context<Space>&, const graph<I, O, Space>&, std::int64_t, const multi_bfs_options& = {})
    -> multi_bfs_plan<I, O, Space>;

// One run: plan, search, results.
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
