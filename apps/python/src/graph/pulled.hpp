// A graph with weights for algorithms that pull over in-edges.
#pragma once

#include "graph/graph.hpp"

namespace spargo::python {

// In an undirected graph in-edges are the out-edges; of a directed one the plan builds them, since their weights are
// not known here.
template <class I, class O, class Space>
[[nodiscard]] weighted_graph_view<double, I, O, Space> pulled_view(const bound_graph<I, O, Space>& g,
                                                                   const vector_in<double, Space>& weights) {
  weighted_graph_view<double, I, O, Space> weighted{{g.view()}, view(weights), {}};
  if (weighted.direction == direction_kind::undirected) {
    weighted.in_weights = weighted.out_weights;
  } else {
    weighted.in = {};
  }
  return weighted;
}

}  // namespace spargo::python
