// What the searches on the host share: the graph, lengths of paths, and where a search ends.
//
// Lengths are unsigned or double inside: 32 bits where no path can be longer (a search is about random reads of
// lengths, and they then take half the cache), else 64 bits.
#pragma once

#include <spargo/graph/weighted_graph.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <limits>

namespace spargo::detail::sssp {

// Of vertices that are not reached; no path is as long.
template <class D>
inline constexpr D unreached = std::numeric_limits<D>::max();
template <>
inline constexpr std::uint64_t unreached<std::uint64_t> = std::numeric_limits<std::int64_t>::max();
template <>
inline constexpr double unreached<double> = std::numeric_limits<double>::infinity();

// The length of a path with one edge more. Does not wrap: both are below 2^63, and 32 bits are taken only where they
// hold every path.
template <class D, class W>
[[nodiscard]] constexpr D longer(D path, W edge) {
  return path + static_cast<D>(edge);
}

template <class W, class I, class O>
struct weighted_rows {
  csr_pattern_view<I, O, host> edges;
  const W* weights = nullptr;

  [[nodiscard]] bool has_edges() const { return !edges.offsets.empty(); }
};

// Where a search ends.
template <class D>
struct search_limits {
  std::int64_t target = -1;
  D length = unreached<D>;  // paths are shorter
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
