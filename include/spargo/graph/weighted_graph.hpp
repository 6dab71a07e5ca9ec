// A graph with edge weights: the pattern of graph.hpp, and weights parallel to its indices.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/weights.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Borrowed. out_weights[e] belongs to out.indices[e], and in_weights[e] to in.indices[e] if there are in-edges; both
// are the same for an undirected graph. W: std::int32_t, std::int64_t, float or double.
template <detail::scalar W, index_type I, index_type O, class Space>
struct SPARGO_EXPORT weighted_graph_view : graph_view<I, O, Space> {
  span<const W, Space> out_weights;
  span<const W, Space> in_weights;

  using const_view = weighted_graph_view;
};

// Treatment of edges listed several times; in an undirected graph (u, v) and (v, u) are the same edge.
enum class duplicate_weights {
  min,    // the lightest: for paths and minimum forests
  max,    // the heaviest: for maximum forests
  sum,    // the sum in input order: for modularity and flows
  first,  // the first one listed
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<duplicate_weights> enum_rows() noexcept;

struct SPARGO_EXPORT weighted_graph_options {
  direction_kind direction = direction_kind::directed;  // undirected: each pair is stored both ways, a loop once
  bool in_edges = false;                                // directed only: also build the transpose
  duplicate_weights duplicates = duplicate_weights::min;
  self_loops loops = self_loops::drop;
};

// Owning. Canonical: neighbours ascending, no duplicates, no self-loops unless kept.
template <detail::scalar W, index_type I, index_type O, class Space>
class weighted_graph {
 public:
  weighted_graph() = default;
  // Takes the arrays, unchecked. edges: distinct ones, an undirected pair counted once.
  weighted_graph(graph<I, O, Space> structure, array<W, Space> out_weights, array<W, Space> in_weights,
                 std::int64_t edges)
      : structure_(std::move(structure)),
        out_weights_(std::move(out_weights)),
        in_weights_(std::move(in_weights)),
        edges_(edges) {}

  [[nodiscard]] I vertices() const noexcept { return structure_.vertices(); }
  [[nodiscard]] direction_kind direction() const noexcept { return structure_.direction(); }
  // Distinct edges: directed ones, or unordered pairs; loops count if kept.
  [[nodiscard]] std::int64_t edges() const noexcept { return edges_; }
  [[nodiscard]] weighted_graph_view<W, I, O, Space> view() const noexcept {
    const bool undirected = direction() == direction_kind::undirected;
    return {structure_.view(), out_weights_.view(), undirected ? out_weights_.view() : in_weights_.view()};
  }
  // Not for temporaries: a plan would outlive them.
  operator weighted_graph_view<W, I, O, Space>() const& noexcept { return view(); }  // NOLINT
  operator weighted_graph_view<W, I, O, Space>() const&& = delete;

  struct parts {
    graph<I, O, Space> structure;
    array<W, Space> out_weights;
    array<W, Space> in_weights;  // of a directed graph with in-edges
  };
  [[nodiscard]] parts take_apart() && {
    return {std::move(structure_), std::move(out_weights_), std::move(in_weights_)};
  }

 private:
  graph<I, O, Space> structure_;
  array<W, Space> out_weights_;
  array<W, Space> in_weights_;
  std::int64_t edges_ = 0;
};

// Builds a weighted graph from pairs in any order; weights[k] belongs to pair k. Throws invalid_argument unless rows ==
// cols and there are as many weights as pairs; invalid_data naming the first pair with an end that is not a vertex, or
// the first edge whose integer weights overflow W in sum; unsupported when the edges exceed O (64 bits by default) or,
// on a device, the pairs 2^32. Any weight is accepted, including negative ones and NaN; algorithms decide what they
// accept. `min` keeps the earlier one of equal weights and of NaN. O(edges + vertices) time. Deterministic for any
// number of threads and on both backends. A device build synchronizes.
template <index_type O = std::int64_t, detail::scalar W, index_type I, class Space>
[[nodiscard]] SPARGO_EXPORT weighted_graph<W, I, O, Space> build_weighted_graph(
    const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs, span<const W, Space> weights,
    const weighted_graph_options& options = {});

template <index_type O = std::int64_t, index_type I, class Space, detail::viewable Weights>
[[nodiscard]] auto build_weighted_graph(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                        const Weights& weights, const weighted_graph_options& options = {}) {
  return build_weighted_graph<O>(ctx, pairs, detail::view_of(weights), options);
}
// The same for entries of a matrix, as returned by readers.
template <index_type O = std::int64_t, real_type W, index_type I, class Space>
[[nodiscard]] weighted_graph<W, I, O, Space> build_weighted_graph(const context<Space>& ctx,
                                                                  const coo_view<const W, I, Space>& edges,
                                                                  const weighted_graph_options& options = {}) {
  const coo_pattern_view<I, Space>& pairs = edges;
  return build_weighted_graph<O, W, I, Space>(ctx, pairs, edges.values, options);
}
template <index_type O = std::int64_t, real_type W, index_type I, class Space>
[[nodiscard]] weighted_graph<W, I, O, Space> build_weighted_graph(const context<Space>& ctx,
                                                                  const coo_matrix<W, I, Space>& edges,
                                                                  const weighted_graph_options& options = {}) {
  return build_weighted_graph<O>(ctx, edges.view(), options);
}

// The same for a CSR matrix, as stored in snapshots.
template <index_type O = std::int64_t, real_type W, index_type I, index_type Stored, class Space>
[[nodiscard]] weighted_graph<W, I, O, Space> build_weighted_graph(const context<Space>& ctx,
                                                                  const csr_view<const W, I, Stored, Space>& matrix,
                                                                  const weighted_graph_options& options = {}) {
  return build_weighted_graph<O>(ctx, to_coo(ctx, matrix), options);
}

// The matrix of edges and weights (an undirected edge twice), for write_snapshot, spmv and the like. Borrowed.
template <real_type W, index_type I, index_type O, class Space>
[[nodiscard]] csr_view<const W, I, O, Space> matrix_of(const weighted_graph_view<W, I, O, Space>& g) {
  return {{g.out}, g.out_weights};
}

// Copies; both synchronize the stream.
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] weighted_graph<W, I, O, device> to_device(const context<device>& ctx,
                                                        const weighted_graph<W, I, O, host>& g) {
  const auto view = g.view();
  const bool undirected = g.direction() == direction_kind::undirected;
  const graph_view<I, O, host>& structure = view;
  return {to_device(ctx, structure), to_device(ctx, view.out_weights),
          undirected ? array<W, device>() : to_device(ctx, view.in_weights), g.edges()};
}
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] weighted_graph<W, I, O, host> to_host(const context<device>& ctx,
                                                    const weighted_graph<W, I, O, device>& g) {
  const auto view = g.view();
  const bool undirected = g.direction() == direction_kind::undirected;
  const graph_view<I, O, device>& structure = view;
  return {to_host(ctx, structure), to_host(ctx, view.out_weights),
          undirected ? array<W, host>() : to_host(ctx, view.in_weights), g.edges()};
}
// Not of views: the copy would be of the pattern alone.
template <detail::scalar W, index_type I, index_type O>
void to_device(const context<device>& ctx, const weighted_graph_view<W, I, O, host>& g) = delete;
template <detail::scalar W, index_type I, index_type O>
void to_host(const context<device>& ctx, const weighted_graph_view<W, I, O, device>& g) = delete;

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
