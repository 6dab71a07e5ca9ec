// Adapts a graph to an algorithm's needs: adds in-edges, or removes self-loops.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/graph/graph.hpp>

#include <utility>

namespace spargo::detail {

template <class I, class O, class Space>
[[nodiscard]] bool lacks_in_edges(const graph_view<I, O, Space>& g) {
  return g.direction == direction_kind::directed && !g.has_in_edges() && g.vertices() > 0;
}

// The shapes of the graph's parts have been checked. O(vertices + edges) if in-edges are missing.
template <class I, class O, class Space>
class with_in_edges {
 public:
  with_in_edges(const context<Space>& ctx, const graph_view<I, O, Space>& g) : view_(g) {
    if (!lacks_in_edges(g)) return;
    in_ = transpose(ctx, csr_view<const pattern, I, O, Space>{g.out, {}});
    view_.in = std::as_const(in_).view();
  }
  with_in_edges(const with_in_edges&) = delete;
  with_in_edges& operator=(const with_in_edges&) = delete;

  [[nodiscard]] const graph_view<I, O, Space>& view() const { return view_; }

 private:
  graph_view<I, O, Space> view_;
  csr_matrix<pattern, I, O, Space> in_;
};

// A copy without self-loops of a canonical graph. O(edges + vertices). The device version synchronizes.
template <class I, class O, class Space>
[[nodiscard]] graph<I, O, Space> without_loops(const context<Space>& ctx, const graph_view<I, O, Space>& g) {
  const coo_matrix<pattern, I, Space> edges = to_coo(ctx, csr_view<const pattern, I, O, Space>{g.out, {}});
  return build_graph<O>(ctx, edges, {.direction = g.direction, .in_edges = g.has_in_edges()});
}

}  // namespace spargo::detail
