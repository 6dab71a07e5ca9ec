// Dijkstra's algorithm on one thread, with an indexed 4-ary heap.
//
// Every vertex is in the heap at most once: a shorter path moves it up. So the heap needs one slot per vertex,
// regardless of the number of edges. Four children per node halve the depth.
#pragma once

#include "graph/sssp/host_search.hpp"

#include <spargo/core/array.hpp>
#include <spargo/core/interruption.hpp>

#include <algorithm>

namespace spargo::detail::sssp {

template <class W, class D, class I, class O>
class dijkstra_search final : public distance_search<I, D> {
 public:
  dijkstra_search(const context<host>& ctx, const host_search<W, D, I, O>& s)
      : s_(s), heap_(ctx, s.vertices()), place_(ctx, s.vertices()) {}

  void run(I source, D* distance) override {
    std::fill(distance, distance + s_.vertices(), unreached<D>);
    std::fill(place_.begin(), place_.end(), I{-1});
    distance_ = distance;
    size_ = 0;
    offer(source, D{0});
    for (std::int64_t taken = 0; size_ > 0; ++taken) {
      if (taken % poll_interval == 0) interruption::look();
      const node nearest = take();
      if (s_.limits.target >= 0 && nearest.distance > distance[s_.limits.target]) return;
      const auto& rows = s_.out.edges;
      for (O e = rows.offsets[nearest.vertex]; e < rows.offsets[nearest.vertex + 1]; ++e) {
        const D path = longer(nearest.distance, s_.out.weights[e]);
        if (path < distance[rows.indices[e]] && path < s_.limits.length) offer(rows.indices[e], path);
      }
    }
  }

  [[nodiscard]] std::int64_t bytes() const override {
    return heap_.size() * std::int64_t{sizeof(node)} + place_.size() * std::int64_t{sizeof(I)};
  }

 private:
  static constexpr std::int64_t children = 4;
  static constexpr std::int64_t poll_interval = 1024;  // vertices: a tenth of a millisecond and more

  struct node {
    D distance;
    I vertex;
  };

  void put(std::int64_t at, const node& n) {
    heap_[at] = n;
    place_[n.vertex] = static_cast<I>(at);
  }

  // Records a path to v that is shorter than before.
  void offer(I v, D path) {
    distance_[v] = path;
    std::int64_t at = place_[v] >= 0 ? std::int64_t{place_[v]} : size_++;
    while (at > 0 && path < heap_[(at - 1) / children].distance) {
      put(at, heap_[(at - 1) / children]);
      at = (at - 1) / children;
    }
    put(at, {path, v});
  }

  node take() {
    const node nearest = heap_[0];
    place_[nearest.vertex] = -1;
    const node last = heap_[--size_];
    if (size_ == 0) return nearest;
    std::int64_t at = 0;
    for (std::int64_t child = 1; child < size_; child = at * children + 1) {
      const std::int64_t end = std::min(child + children, size_);
      for (std::int64_t other = child + 1; other < end; ++other) {
        if (heap_[other].distance < heap_[child].distance) child = other;
      }
      if (last.distance <= heap_[child].distance) break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, last);
    return nearest;
  }

  host_search<W, D, I, O> s_;
  array<node, host> heap_;
  array<I, host> place_;  // position in the heap; -1: not in it
  D* distance_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace spargo::detail::sssp
