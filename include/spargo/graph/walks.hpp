// Random walks along out-edges: uniform, by edge weights, and node2vec's (second order).
//
// First order: the next vertex is an out-neighbour of the current one, each equally likely, or in proportion to the
// weights of the edges. node2vec: an edge from the current vertex v to x counts 1/p times as much if x is the previous
// vertex t, as it is if there is an edge from t to x, and 1/q times as much otherwise. With p = q = 1 that is the first
// order; the first step always is. Every entry of a row counts: duplicate edges each, self-loops too.
//
// A walk ends at a vertex without out-edges, or whose edges all have weight 0; the rest of its row is -1.
//
// Determinism: every draw is Philox4x32-10 of (seed, walk, step), and all decisions are in integers. So the walks are
// the same on both backends and for any number of threads, and walk k does not depend on how many walks there are.
// Weights are rounded to integers, per row: to within 2^-30 of the row's largest, or better (2^(b-63) for 2^b edges),
// and a positive weight never to 0. 1/p and 1/q are rounded to within 2^-32 of the largest of 1, 1/p and 1/q.
//
// Sources: Salmon et al., SC 2011 (Philox); Grover and Leskovec, KDD 2016 (node2vec); Yang et al., SOSP 2019
// (rejection sampling of its steps).
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <string>
#include <string_view>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class walks_algorithm {
  automatic,    // prefix_sums with weights, else uniform
  uniform,      // every edge of a row is equally likely; weights are ignored
  prefix_sums,  // by weights: binary search in the prefix sums of a row
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<walks_algorithm> enum_rows() noexcept;
[[nodiscard]] inline walks_algorithm parse_walks_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<walks_algorithm>("walks: unknown algorithm", name);
}

struct SPARGO_EXPORT walks_options {
  std::int64_t walks = 0;    // 0: one from each vertex; K: walk k starts at vertex k modulo the number of vertices
  std::int64_t length = 80;  // steps of a walk, 0 to 2^32 - 2
  double p = 1;              // a step back counts 1/p, positive
  double q = 1;              // a step away from the previous vertex counts 1/q, positive
  std::uint64_t seed = 1;
  walks_algorithm algorithm = walks_algorithm::automatic;
};

template <index_type I, class Space>
struct walks_result {
  array<I, Space> vertices;  // [walk * (length + 1) + step]; -1 after the end of a walk
  std::int64_t walks = 0;
};

// Estimates memory and time of a plan. `automatic` is taken as uniform.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const walks_options& options);

// Workspace for many runs on one graph, allocated once: the walks, walks * (length + 1) indices, and with weights 8
// bytes per edge. The plan borrows the graph, but not the weights.
// Time: O(1) per step without weights, O(log row) with them. Of node2vec a step takes max(1, 1/p, 1/q) / (mean of the
// factors) tries, each with a binary search in a row, or a linear one if some row of the graph does not ascend; after
// 32 tries it scans the row.
// On a device making a plan synchronizes; a run is asynchronous.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT walks_plan : public detail::graph_plan_base<walks_plan<I, O, Space>, walks_options, I, O> {
 public:
  // Throws invalid_argument for options out of range or an inconsistent graph view, and unsupported for an algorithm
  // that needs weights.
  walks_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const walks_options& options = {});
  // Walk k starts at starts[k], which are copied; options.walks is ignored. Throws invalid_argument also for starts
  // that are not vertices.
  walks_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
             std::type_identity_t<span<const I, Space>> starts, const walks_options& options = {});
  // With weights. Throws also invalid_data naming the first edge whose weight is negative, infinite or NaN.
  template <detail::scalar W>
  walks_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
             const walks_options& options = {});
  template <detail::scalar W>
  walks_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
             std::type_identity_t<span<const I, Space>> starts, const walks_options& options = {});

  void run();

  // Of the last run, row by row as in walks_result; valid until the next.
  [[nodiscard]] span<const I, Space> vertices() const noexcept;
  [[nodiscard]] std::int64_t walks() const noexcept;
  // The walks of the last run; the plan is not used afterwards.
  [[nodiscard]] array<I, Space> take();

 private:
  using state = detail::state_of<walks_plan>;
};

template <index_type I, index_type O, class Space>
walks_plan(const context<Space>&, const graph<I, O, Space>&, const walks_options& = {}) -> walks_plan<I, O, Space>;
template <index_type I, index_type O, class Space, class Vertices>
walks_plan(const context<Space>&, const graph<I, O, Space>&, const Vertices&, const walks_options& = {})
    -> walks_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
walks_plan(const context<Space>&, const weighted_graph_view<W, I, O, Space>&, const walks_options& = {})
    -> walks_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space, class Vertices>
walks_plan(const context<Space>&, const weighted_graph_view<W, I, O, Space>&, const Vertices&,
           const walks_options& = {}) -> walks_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
walks_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const walks_options& = {})
    -> walks_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space, class Vertices>
walks_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const Vertices&, const walks_options& = {})
    -> walks_plan<I, O, Space>;

namespace detail::walks {

template <class I, class O, class Space>
[[nodiscard]] walks_result<I, Space> result_of(walks_plan<I, O, Space> plan) {
  plan.run();
  const std::int64_t walks = plan.walks();
  return {plan.take(), walks};
}

}  // namespace detail::walks

// One run with a temporary plan. `g`: a graph or a view, with or without weights.
template <class Space, class Graph>
[[nodiscard]] auto walks(const context<Space>& ctx, const Graph& g, const walks_options& options = {}) {
  return detail::walks::result_of(walks_plan(ctx, g, options));
}
template <class Space, class Graph, class Vertices>
[[nodiscard]] auto walks(const context<Space>& ctx, const Graph& g, const Vertices& starts,
                         const walks_options& options = {}) {
  return detail::walks::result_of(walks_plan(ctx, g, starts, options));
}

// Empty if every row of `walks`, which has options.length + 1 vertices, is a walk: each step is an edge, with weights
// one of positive weight, and a walk ends only where no such edge leads on; else one sentence about the first fault.
// Independent of the plans. O(walks * length * log(longest row)); linear in the row where it does not ascend.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_walks(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                    std::type_identity_t<span<const I, host>> walks,
                                                    const walks_options& options);
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_walks(const context<host>& ctx,
                                                    const weighted_graph_view<W, I, O, host>& g,
                                                    std::type_identity_t<span<const I, host>> walks,
                                                    const walks_options& options);
template <index_type I, index_type O>
[[nodiscard]] std::string check_walks(const context<host>& ctx, const graph<I, O, host>& g,
                                      std::type_identity_t<span<const I, host>> walks, const walks_options& options) {
  return check_walks(ctx, g.view(), walks, options);
}
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] std::string check_walks(const context<host>& ctx, const weighted_graph<W, I, O, host>& g,
                                      std::type_identity_t<span<const I, host>> walks, const walks_options& options) {
  return check_walks(ctx, g.view(), walks, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
