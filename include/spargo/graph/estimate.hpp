// Sizes of a graph, for estimates of plans: bfs_plan<I, O, Space>::estimate(shape, options), or estimate(shape,
// options) with the types given by their sizes.
#pragma once

#include <spargo/core/estimate.hpp>
#include <spargo/graph/graph.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT graph_shape {
  std::int64_t vertices = 0;
  std::int64_t entries = 0;  // stored out-edges: an undirected edge counts twice
  direction_kind direction = direction_kind::directed;
  bool has_in_edges = true;       // of a directed graph
  std::int64_t longest_row = -1;  // -1: unknown, any length
  std::int64_t index_bytes = 4;
  std::int64_t offset_bytes = 4;
  std::int64_t value_bytes = 8;  // of a weight, or of a rank in PageRank
  int threads = 1;               // on the host

  // Bytes of the edges in one direction, without values.
  [[nodiscard]] std::int64_t rows_bytes() const noexcept {
    return (vertices + 1) * offset_bytes + entries * index_bytes;
  }
  // Bytes of the transpose that a plan makes if in-edges are missing.
  [[nodiscard]] std::int64_t missing_in_bytes() const noexcept {
    return direction == direction_kind::directed && !has_in_edges ? rows_bytes() : 0;
  }
  // The same shape with the sizes of these types.
  template <class I, class O>
  [[nodiscard]] graph_shape with_types() const noexcept {
    graph_shape typed = *this;
    typed.index_bytes = sizeof(I);
    typed.offset_bytes = sizeof(O);
    return typed;
  }
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
