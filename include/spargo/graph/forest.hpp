// Minimum or maximum spanning forest of an undirected weighted graph: a spanning tree of least (or greatest) total
// weight for each component.
//
// Any weight counts, negative ones, zeros and infinities too; -0.0 equals 0.0. Self-loops never count, and of parallel
// edges only the lightest (heaviest). NaN is refused unless the options ignore such edges.
//
// Determinism: edges of equal weight are ordered by (u, v), u < v, the smaller first, so the forest is unique: the same
// edges on both backends, for every algorithm and any number of threads. The total weight has the same bits, too: a
// double is summed in an order that depends on the number of edges only. (In rows that do not ascend, equal edges are
// ordered as they are stored.)
//
// O(edges + vertices), plus O(log vertices) rounds over a few edges per vertex. Sources: Boruvka, 1926; edges by weight
// with a filter: Osipov, Sanders, Singler, ALENEX 2009; on GPUs: Fallin, Gonzalez, Seo, Burtscher, SC 2023.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <string>
#include <string_view>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class forest_algorithm {
  automatic,  // the fastest for this graph
  kruskal,    // host: all edges sorted, one thread; the reference
  boruvka,    // the light edges first, then those between their trees; in each round every tree takes its lightest edge
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<forest_algorithm> enum_rows() noexcept;
[[nodiscard]] inline forest_algorithm parse_forest_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<forest_algorithm>("forest: unknown algorithm", name);
}

enum class forest_objective { minimum, maximum };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<forest_objective> enum_rows() noexcept;

// Treatment of edges whose weight is NaN.
enum class nan_weights {
  refuse,  // an error that names the first one
  ignore,  // such edges do not count
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<nan_weights> enum_rows() noexcept;

struct SPARGO_EXPORT forest_options {
  forest_algorithm algorithm = forest_algorithm::automatic;
  forest_objective objective = forest_objective::minimum;
  nan_weights nan = nan_weights::refuse;
};

// Type of a total weight.
template <detail::scalar W>
using forest_weight = std::conditional_t<std::is_integral_v<W>, std::int64_t, double>;

// Edge k joins sources[k] and targets[k], sources[k] < targets[k]; edges ascend by (source, target), as rows do.
template <detail::scalar W, index_type I, class Space>
struct forest_result {
  array<I, Space> sources;
  array<I, Space> targets;
  array<W, Space> weights;
  forest_weight<W> total_weight = 0;
  std::int64_t trees = 0;                                    // vertices without edges are trees
  forest_algorithm algorithm = forest_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const forest_options& options);

// Workspace for many runs on one graph, allocated once. The plan borrows the graph, whose edges and weights must not
// change. On a device `run` synchronizes once per round, some 20 times. Memory besides the graph, results included, for
// 32-bit weights and indices: up to 128 bytes per vertex, or one byte per entry with more than 96 entries per vertex;
// and a bit per entry. 64-bit weights take up to twice as much.
template <detail::scalar W, index_type I, index_type O, class Space>
class SPARGO_EXPORT forest_plan : public detail::graph_plan_base<forest_plan<W, I, O, Space>, forest_options, I, O, W> {
 public:
  // Reads all weights; on a device it synchronizes. Throws unsupported for a directed graph or an algorithm that the
  // backend lacks, invalid_data naming the first edge whose weight is NaN unless they are ignored, and invalid_argument
  // for options that do not exist or an inconsistent graph view.
  forest_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
              const forest_options& options = {});

  // Throws invalid_data if a total of integers exceeds 64 bits.
  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> sources() const noexcept;
  [[nodiscard]] span<const I, Space> targets() const noexcept;
  [[nodiscard]] span<const W, Space> weights() const noexcept;
  [[nodiscard]] forest_weight<W> total_weight() const noexcept;
  [[nodiscard]] std::int64_t trees() const noexcept;

 private:
  using state = detail::state_of<forest_plan>;
};

template <detail::scalar W, index_type I, index_type O, class Space>
forest_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const forest_options& = {})
    -> forest_plan<W, I, O, Space>;

// One run with a temporary plan.
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] forest_result<W, I, Space> forest(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                                const forest_options& options = {}) {
  forest_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.sources()),
          clone(ctx, plan.targets()),
          clone(ctx, plan.weights()),
          plan.total_weight(),
          plan.trees(),
          plan.algorithm()};
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] forest_result<W, I, Space> forest(const context<Space>& ctx, const weighted_graph<W, I, O, Space>& g,
                                                const forest_options& options = {}) {
  return forest(ctx, g.view(), options);
}

// Checks a forest on the host, independently of the algorithms. Empty when right; else one sentence about an offending
// edge. Every edge of the forest is one of the graph, with that weight; there is no cycle; the ends of every edge of
// the graph are in one tree (it spans); and no edge of the graph comes before the last edge, in the order of weight and
// ends, of the path that joins its ends in the forest (the cycle property). O(edges log vertices).
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_forest(const context<host>& ctx,
                                                     const weighted_graph_view<W, I, O, host>& g,
                                                     std::type_identity_t<span<const I, host>> sources,
                                                     std::type_identity_t<span<const I, host>> targets,
                                                     std::type_identity_t<span<const W, host>> weights,
                                                     const forest_options& options = {});
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] std::string check_forest(const context<host>& ctx, const weighted_graph<W, I, O, host>& g,
                                       std::type_identity_t<span<const I, host>> sources,
                                       std::type_identity_t<span<const I, host>> targets,
                                       std::type_identity_t<span<const W, host>> weights,
                                       const forest_options& options = {}) {
  return check_forest(ctx, g.view(), sources, targets, weights, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
