// Closeness and harmonic centrality of all vertices, exact or estimated from a sample of sources.
//
// With d(s, v) the hops from s to v: closeness of v is r / (sum of d(s, v)) over the r other vertices s that reach v,
// by default times r / (vertices - 1), which compares components of different sizes (Wasserman, Faust, 1994); harmonic
// centrality is the sum of 1 / d(s, v). In a directed graph the distances to v count, not those from v, as in networkx.
// 0 where nothing reaches v. Loops and duplicate edges do not matter.
//
// Searches from 256 sources share each visit of an edge (multi_bfs.hpp), and keep sums instead of distances. The sums
// are integers, inverses in fixed point with a relative error of at most largest distance * sources / 2^62, so the bits
// are the same for any number of threads and on both backends. O(sources * (vertices + edges) / 64) word operations on
// small-world graphs. On a GPU, undirected graphs of few edges whose frontiers stay below 4608 vertices, such as grids
// and roads, are searched by a thread block per source instead. Estimates: Eppstein, Wang, Fast Approximation of
// Centrality, SODA 2001.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <optional>
#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class closeness_algorithm {
  automatic,     // the fastest for this graph and backend
  bit_parallel,  // breadth-first searches from 256 sources at once
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<closeness_algorithm> enum_rows() noexcept;
[[nodiscard]] inline closeness_algorithm parse_closeness_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<closeness_algorithm>("closeness: unknown algorithm", name);
}

enum class closeness_measure { closeness, harmonic };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<closeness_measure> enum_rows() noexcept;
[[nodiscard]] inline closeness_measure parse_closeness_measure(std::string_view name) {  // throws invalid_argument
  return parse_enum<closeness_measure>("closeness: unknown measure", name);
}

// Scaling of closeness; harmonic centrality has none.
enum class closeness_scaling {
  reachable,  // times the share of vertices that reach v
  none,
};

struct SPARGO_EXPORT closeness_options {
  closeness_algorithm algorithm = closeness_algorithm::automatic;
  closeness_measure measure = closeness_measure::closeness;
  closeness_scaling scaling = closeness_scaling::reachable;
};

// Where searches start. nullopt: at all vertices, which gives exact values. Otherwise values are estimates: v's mean
// over the sources stands for its mean over all vertices. A source given twice counts once. Empty: all values are 0.
template <index_type I>
using closeness_sources = std::optional<span<const I, host>>;

// With `sources` random vertices all estimates of mean distance (closeness; of a connected graph) are, with this
// probability, within the result times the largest distance, and of mean inverse distance (harmonic) within the result
// (Hoeffding's inequality). 0 from all vertices.
[[nodiscard]] SPARGO_EXPORT double closeness_error(std::int64_t sources, std::int64_t vertices,
                                                   double probability = 0.95);

template <class Space>
struct closeness_result {
  array<double, Space> values;                                     // [vertex]
  closeness_algorithm algorithm = closeness_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: for 256 sources.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const closeness_options& options);

// Workspace for many runs on one graph: allocated once. The plan borrows the graph; with in-edges of a directed graph
// it is faster. Memory besides the graph: at most 138 bytes per vertex + 3 indices. A device run synchronizes once per
// 256 sources, or 1024 where each has a thread block.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT closeness_plan
    : public detail::graph_plan_base<closeness_plan<I, O, Space>, closeness_options, I, O> {
 public:
  // Throws invalid_argument for options that do not exist or an inconsistent graph view.
  closeness_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const closeness_options& options = {});

  // Throws invalid_argument for a source that is not a vertex. Can be interrupted between batches of sources, on the
  // host also within them.
  void run(closeness_sources<I> sources = {});

  // [vertex], of the last run; valid until the next.
  [[nodiscard]] span<const double, Space> values() const noexcept;

 private:
  using state = detail::state_of<closeness_plan>;
};

template <index_type I, index_type O, class Space>
closeness_plan(const context<Space>&, const graph<I, O, Space>&, const closeness_options& = {})
    -> closeness_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] closeness_result<Space> closeness(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                std::type_identity_t<closeness_sources<I>> sources = {},
                                                const closeness_options& options = {}) {
  closeness_plan plan(ctx, g, options);
  plan.run(sources);
  return {clone(ctx, plan.values()), plan.algorithm()};
}
template <index_type I, index_type O, class Space>
[[nodiscard]] closeness_result<Space> closeness(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                std::type_identity_t<closeness_sources<I>> sources = {},
                                                const closeness_options& options = {}) {
  return closeness(ctx, g.view(), sources, options);
}

// Empty when the values of `checked` vertices, evenly spaced (all if there are no more), and the largest one are right
// to 1e-8 relatively; else one sentence about a wrong one. Independent of the plans: one breadth-first search with a
// queue from each of these vertices, against the edges; threads share the vertices. O(checked * (vertices + edges));
// memory: two indices per vertex and thread, and a transpose of a directed graph.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_closeness(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                        std::type_identity_t<span<const double, host>> values,
                                                        std::int64_t checked,
                                                        std::type_identity_t<closeness_sources<I>> sources = {},
                                                        const closeness_options& options = {});
template <index_type I, index_type O>
[[nodiscard]] std::string check_closeness(const context<host>& ctx, const graph<I, O, host>& g,
                                          std::type_identity_t<span<const double, host>> values, std::int64_t checked,
                                          std::type_identity_t<closeness_sources<I>> sources = {},
                                          const closeness_options& options = {}) {
  return check_closeness(ctx, g.view(), values, checked, sources, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
