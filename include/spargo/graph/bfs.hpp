// Breadth-first search from one source: levels, parents, or both.
//
// Levels are deterministic. Parents are always valid (a neighbour one level above) and may differ between runs and
// thread counts unless `smallest` is requested. O(vertices + edges) work. Direction-optimizing search: Beamer,
// Asanovic, Patterson, SC 2012.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class bfs_algorithm {
  automatic,             // the fastest for this graph and backend
  sequential,            // host: two queues, one thread; the reference
  global_queue,          // device: push, one atomic per discovered vertex
  block_queue,           // device: push, one shared-memory queue per block, with overflow
  load_balanced,         // push; edges distributed by degree (host: chunks; device: thread, warp, block)
  direction_optimizing,  // push with a queue or pull with a bitmap, chosen per level
};

enum class bfs_direction { automatic, push, pull };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<bfs_direction> enum_rows() noexcept;

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<bfs_algorithm> enum_rows() noexcept;
[[nodiscard]] inline bfs_algorithm parse_bfs_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<bfs_algorithm>("bfs: unknown algorithm", name);
}

enum class bfs_output { levels, parents, levels_and_parents };

// Which of several neighbours one level above becomes a vertex's parent.
enum class bfs_parents {
  any,       // whichever is first; differs between runs
  smallest,  // the smallest id: deterministic on both backends; costs another pass over the edges reached
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<bfs_parents> enum_rows() noexcept;

struct SPARGO_EXPORT bfs_options {
  bfs_algorithm algorithm = bfs_algorithm::automatic;
  // Pulls need in-edges on a directed graph. Without them a plan refuses a forced pull (`unsupported`), the single call
  // builds them, and `automatic` only pushes.
  bfs_direction direction = bfs_direction::automatic;
  bfs_output output = bfs_output::levels_and_parents;
  bfs_parents parents = bfs_parents::any;
  // A vertex to stop at, or -1: the search ends with the target's level. Levels up to that one and the parents of their
  // vertices equal those of a complete search; deeper vertices stay unreached. An unreachable target has no effect.
  std::int64_t target = -1;
  // The last level to search, or -1: farther vertices stay unreached. 0: only the source.
  std::int64_t max_depth = -1;
};

// -1 marks vertices that are unreached or beyond the target or depth limit; the source has level 0 and is its own
// parent. Outputs not requested are empty.
template <index_type I, class Space>
struct bfs_result {
  array<std::int32_t, Space> levels;
  array<I, Space> parents;
  I source = 0;
  std::int64_t reached = 0;                            // vertices, the source included
  std::vector<std::int64_t> level_sizes;               // [d]: vertices at depth d; depth = size() - 1
  bfs_algorithm algorithm = bfs_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: one search.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const bfs_options& options);

// Workspace for many searches of one graph, allocated once. Borrows the graph. A device run synchronizes once, at its
// end.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT bfs_plan : public detail::graph_plan_base<bfs_plan<I, O, Space>, bfs_options, I, O> {
 public:
  // Throws unsupported for an algorithm or direction that the backend or graph does not support, and invalid_argument
  // for a target that is neither -1 nor a vertex, a depth below -1, or an inconsistent graph view.
  bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const bfs_options& options = {});

  // Throws invalid_argument when the source is not a vertex.
  void run(I source);

  // Of the last run; valid until the next.
  [[nodiscard]] span<const std::int32_t, Space> levels() const noexcept;
  [[nodiscard]] span<const I, Space> parents() const noexcept;
  [[nodiscard]] std::int64_t reached() const noexcept;
  [[nodiscard]] span<const std::int64_t, host> level_sizes() const noexcept;

 private:
  using state = detail::state_of<bfs_plan>;
};

template <index_type I, index_type O, class Space>
bfs_plan(const context<Space>&, const graph<I, O, Space>&, const bfs_options& = {}) -> bfs_plan<I, O, Space>;

// One search: a plan that is used once. Prefer a plan for repeated searches.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT bfs_result<I, Space> bfs(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                     std::int64_t source, const bfs_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] bfs_result<I, Space> bfs(const context<Space>& ctx, const graph<I, O, Space>& g, std::int64_t source,
                                       const bfs_options& options = {}) {
  return bfs(ctx, g.view(), source, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
