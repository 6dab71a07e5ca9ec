// Host: parents from distances. A parent of v is a neighbour u with a tight edge: distance[u] + weight = distance[v].
//
// First, nearer neighbours: a parent is then nearer than its child, so no cycle can form. This leaves vertices all of
// whose tight neighbours are equally near, over edges of weight 0 or too light to change a floating-point sum. They are
// usually few. One thread assigns them level by level from vertices that have parents, each level in ascending order,
// so that the first parent found is the smallest.
//
// Cost: one pass over the edges; each vertex reads the distances behind edges that are not longer than its own
// distance. With in-edges, and any parent accepted, the scan of a row stops at the first match.
#pragma once

#include "core/parallel.hpp"
#include "graph/sssp/host_search.hpp"

#include <spargo/core/array.hpp>
#include <spargo/graph/sssp.hpp>

#include <algorithm>

namespace spargo::detail::sssp {

template <class W, class D, class I, class O>
class parent_finder {
 public:
  parent_finder(const context<host>& ctx, const host_search<W, D, I, O>& s, sssp_parents which)
      : s_(s), which_(which), queue_(ctx, s.vertices()) {}

  // distance: of reached vertices, unreached<D> elsewhere.
  void run(I source, const D* distance, I* parents) {
    distance_ = distance;
    parents_ = parents;
    const bool pulls = s_.in.has_edges();
    if (!pulls) {
      parallel_ranges(s_.threads, s_.vertices(), grain::elements, [&](std::int64_t first, std::int64_t last) {
        std::fill(parents + first, parents + last, I{-1});
      });
      push();
    }
    const std::int64_t orphans = parallel_reduce(
        s_.threads, s_.vertices(), grain::rows, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t own = 0;
          for (std::int64_t v = first; v < last; ++v) {
            if (pulls) parents[v] = nearer_neighbour(v);
            own += parents[v] < 0 && distance[v] != unreached<D> ? 1 : 0;
          }
          return own;
        },
        [](std::int64_t a, std::int64_t b) { return a + b; });
    parents[source] = source;  // it was counted as well: no neighbour is nearer
    if (orphans > 1) adopt(orphans - 1);
  }

  [[nodiscard]] std::int64_t bytes() const { return queue_.size() * std::int64_t{sizeof(I)}; }

 private:
  [[nodiscard]] I nearer_neighbour(std::int64_t v) const {
    const D mine = distance_[v];
    I best = -1;
    if (mine == unreached<D>) return best;
    const auto& rows = s_.in.edges;
    for (O e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
      if (static_cast<D>(s_.in.weights[e]) > mine) continue;
      const I u = rows.indices[e];
      const D before = distance_[u];
      if (before >= mine || longer(before, s_.in.weights[e]) != mine) continue;
      if (which_ == sssp_parents::any) return u;
      if (best < 0 || u < best) best = u;
    }
    return best;
  }

  void push() const {
    parallel_for(s_.threads, s_.vertices(), grain::rows, [&](std::int64_t u) {
      const D before = distance_[u];
      if (before == unreached<D>) return;
      const auto& rows = s_.out.edges;
      for (O e = rows.offsets[u]; e < rows.offsets[u + 1]; ++e) {
        const D path = longer(before, s_.out.weights[e]);
        const I v = rows.indices[e];
        if (path != before && path == distance_[v] && path != unreached<D>) offer(v, static_cast<I>(u));
      }
    });
  }

  void offer(I v, I parent) const {
    const std::atomic_ref<I> held(parents_[v]);
    I now = held.load(std::memory_order_relaxed);
    if (now >= 0 && which_ == sssp_parents::any) return;
    while ((now < 0 || parent < now) && !held.compare_exchange_weak(now, parent, std::memory_order_relaxed)) {
    }
  }

  // Assigns parents to the `left` vertices that have none yet.
  void adopt(std::int64_t left) {
    std::int64_t end = 0;
    for (std::int64_t v = 0; v < s_.vertices(); ++v) {
      if (parents_[v] >= 0 && leads_to_orphan(static_cast<I>(v))) queue_[end++] = static_cast<I>(v);
    }
    for (std::int64_t begin = 0; left > 0 && begin < end;) {
      const std::int64_t level_end = end;
      for (; begin < level_end; ++begin) {
        for_each_equal(queue_[begin], [&](I v) {
          if (parents_[v] >= 0) return false;
          parents_[v] = queue_[begin];
          queue_[end++] = v;
          --left;
          return false;
        });
      }
      std::sort(queue_.data() + level_end, queue_.data() + end);
    }
  }

  [[nodiscard]] bool leads_to_orphan(I u) const {
    return for_each_equal(u, [&](I v) { return parents_[v] < 0; });
  }

  // Calls visit(v) for the zero-length edges from u until it returns true; returns whether it did.
  template <class Visit>
  bool for_each_equal(I u, Visit&& visit) const {
    const auto& rows = s_.out.edges;
    for (O e = rows.offsets[u]; e < rows.offsets[u + 1]; ++e) {
      const I v = rows.indices[e];
      if (distance_[v] == distance_[u] && longer(distance_[u], s_.out.weights[e]) == distance_[u] && visit(v)) {
        return true;
      }
    }
    return false;
  }

  host_search<W, D, I, O> s_;
  sssp_parents which_;
  array<I, host> queue_;
  const D* distance_ = nullptr;
  I* parents_ = nullptr;
};

}  // namespace spargo::detail::sssp
