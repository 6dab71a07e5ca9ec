// What the searches on the host share: the graph, and where a search ends.
#pragma once

#include "graph/sssp/lengths.hpp"

#include <spargo/graph/weighted_graph.hpp>

#include <atomic>

namespace spargo::detail::sssp {

template <class W, class I, class O>
struct weighted_rows {
  csr_pattern_view<I, O, host> edges;
  const W* weights = nullptr;

  [[nodiscard]] bool has_edges() const { return !edges.offsets.empty(); }
};

template <class W, class D, class I, class O>
struct host_search {
  weighted_rows<W, I, O> out;
  weighted_rows<W, I, O> in;  // none: a directed graph that has only out-edges
  bool undirected = false;
  search_limits<D> limits;
  int threads = 1;

  [[nodiscard]] std::int64_t vertices() const { return out.edges.rows; }
};

template <class D>
[[nodiscard]] D look_at(const D& held) {
  return std::atomic_ref<D>(const_cast<D&>(held)).load(std::memory_order_relaxed);
}

}  // namespace spargo::detail::sssp
