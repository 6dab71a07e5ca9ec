// State shared by the host searches: the graph, and the limits of a search.
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
  weighted_rows<W, I, O> in;  // empty: a directed graph without in-edges
  bool undirected = false;
  search_limits<D> limits;
  int threads = 1;

  [[nodiscard]] std::int64_t vertices() const { return out.edges.rows; }
};

// A search, independent of the weight type, so that its callers are compiled once.
template <class I, class D>
class distance_search {
 public:
  distance_search() = default;
  distance_search(const distance_search&) = delete;
  distance_search& operator=(const distance_search&) = delete;
  virtual ~distance_search() = default;

  // distance: one per vertex; unreached<D> where no path leads.
  virtual void run(I source, D* distance) = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

template <class D>
[[nodiscard]] D load_relaxed(const D& held) {
  return std::atomic_ref<D>(const_cast<D&>(held)).load(std::memory_order_relaxed);
}

}  // namespace spargo::detail::sssp
