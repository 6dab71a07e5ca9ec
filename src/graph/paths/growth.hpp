// A search in the order of keys that its owner steps through: the heap, and the lengths and parents found so far.
//
// Entries of a vertex that has got a shorter length since are skipped. Ties: the smaller vertex comes first, so that a
// search is deterministic. A vertex gets a new parent only with a strictly shorter length, so that parents form a tree
// over edges of length 0, too. A new start takes time proportional to the vertices reached before.
#pragma once

#include "graph/sssp/lengths.hpp"

#include <spargo/core/array.hpp>
#include <spargo/core/interruption.hpp>
#include <spargo/formats/csr.hpp>

#include <algorithm>
#include <vector>

namespace spargo::detail::paths {

// K: the keys; the length itself for Dijkstra's algorithm.
template <class D, class I, class K = D>
class growth {
 public:
  struct entry {
    K key;
    D length;
    I vertex;

    [[nodiscard]] bool operator>(const entry& other) const {
      return key != other.key ? key > other.key : vertex > other.vertex;
    }
  };

  growth(const context<host>& ctx, std::int64_t vertices) : lengths_(ctx, vertices), parents_(ctx, vertices) {
    std::fill(lengths_.begin(), lengths_.end(), sssp::unreached<D>);
  }

  // Forgets the last search.
  void start(I root, D length, K key) {
    for (const I v : reached_) lengths_[v] = sssp::unreached<D>;
    reached_.clear();
    heap_.clear();
    taken_ = 0;
    offer(root, length, I{-1}, key);
  }

  // Records a path of this length whose last edge is (parent, vertex), if it is the shortest so far.
  bool offer(I vertex, D length, I parent, K key) {
    if (!(length < lengths_[vertex])) return false;
    if (lengths_[vertex] == sssp::unreached<D>) reached_.push_back(vertex);
    lengths_[vertex] = length;
    parents_[vertex] = parent;
    heap_.push_back({key, length, vertex});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
    return true;
  }

  // Whether a vertex is left; `nearest` is then the one with the smallest key.
  [[nodiscard]] bool has_more() {
    while (!heap_.empty() && heap_.front().length != lengths_[heap_.front().vertex]) drop();
    return !heap_.empty();
  }
  [[nodiscard]] const entry& nearest() const { return heap_.front(); }
  entry take() {
    constexpr std::int64_t poll_interval = 1024;  // vertices: a tenth of a millisecond and more
    if (taken_++ % poll_interval == 0) interruption::look();
    const entry first = heap_.front();
    drop();
    return first;
  }

  [[nodiscard]] D length(I v) const { return lengths_[v]; }
  [[nodiscard]] bool has_reached(I v) const { return lengths_[v] != sssp::unreached<D>; }
  [[nodiscard]] std::int64_t taken() const { return taken_; }

  // Appends the vertex and its ancestors up to the root.
  void trace(I vertex, std::vector<I>& to) const {
    for (; vertex >= 0; vertex = parents_[vertex]) to.push_back(vertex);
  }

 private:
  void drop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
  }

  array<D, host> lengths_;
  array<I, host> parents_;
  std::vector<I> reached_;
  std::vector<entry> heap_;
  std::int64_t taken_ = 0;
};

// visit(neighbour, weight) for each edge of a row.
template <class W, class I, class O, class Visit>
void for_each_edge(const csr_pattern_view<I, O, host>& rows, const W* weights, I vertex, const Visit& visit) {
  for (O e = rows.offsets[vertex]; e < rows.offsets[std::int64_t{vertex} + 1]; ++e) visit(rows.indices[e], weights[e]);
}

// The length of a path along its lightest edges, summed from its first vertex.
template <class D, class W, class I, class O>
[[nodiscard]] D length_of(const csr_pattern_view<I, O, host>& rows, const W* weights, const std::vector<I>& path) {
  D length = 0;
  for (std::size_t k = 1; k < path.size(); ++k) {
    D lightest = sssp::unreached<D>;
    for_each_edge(rows, weights, path[k - 1], [&](I v, W w) {
      if (v == path[k]) lightest = std::min(lightest, static_cast<D>(w));
    });
    length = sssp::longer(length, lightest);
  }
  return length;
}

// A search by keys that bound the whole length from below, up to rounding, may end at a key beyond this: the length of
// the best path, increased by the rounding of sums of one weight per vertex.
template <class D>
[[nodiscard]] double last_key(D best, std::int64_t vertices) {
  constexpr double epsilon = 0x1p-52;
  const auto length = static_cast<double>(best);
  const double slack = length * (static_cast<double>(vertices) + 8) * 4 * epsilon;
  // Another length that is shorter is shorter by 1.
  return std::integral<D> && slack < 0.25 ? length - 0.5 : length + slack;
}

}  // namespace spargo::detail::paths
