// Weak components on the host: union-find on one thread, Afforest on many.
//
// Afforest in four passes. 1. Every vertex starts under its first neighbour if that is smaller: no atomics, no random
// reads; with ascending neighbours the first is the smallest, often a hub. 2. The few roots left are joined with a few
// neighbours. 3. Samples find the largest tree. 4. Vertices outside it are joined with all neighbours; the others are
// skipped, since an edge that leaves the tree is seen from its other end. That requires every edge at both ends. A
// directed graph without in-edges skips nothing: every vertex is put under its root first, so that nearly all edges
// have both ends under one root and cost one load.
#pragma once

#include "core/parallel.hpp"
#include "graph/components/executor.hpp"
#include "graph/components/host_forest.hpp"
#include "graph/frontier/row_parts.hpp"

#include <spargo/graph/graph.hpp>

#include <algorithm>

namespace spargo::detail::components {

struct host_weak_tuning {
  static constexpr int neighbours = 4;                               // joined per root: half a cache line
  static constexpr std::int64_t part_units = std::int64_t{1} << 16;  // vertices plus edges: some 50 us of work
};

template <class I, class O>
class host_afforest {
 public:
  host_afforest(const graph_view<I, O, host>& g, I* parent, int threads)
      : g_(g), n_(g.vertices()), parent_(parent), forest_(parent), threads_(threads) {}

  // Leaves the smallest vertex of v's component in parent[v]. Returns a vertex of the skipped tree, or -1. `ghosts`:
  // neighbours may lack their rows (make_rank_executor).
  I run(bool ghosts = false) const {
    start();
    join_roots();
    if (ghosts) join_last();
    const bool undirected = g_.direction == direction_kind::undirected;
    I largest = -1;
    if (undirected || g_.has_in_edges()) {
      largest = sampled_largest(forest_, n_);  // the choice changes no label
      const auto is_outside = [&](I v) { return put_under_root(v, largest) != largest; };
      join_rows_of(is_outside, g_.out);
      if (!undirected) join_rows_of(is_outside, g_.in);
    } else {
      put_under_roots();
      join_rows_of([](I) { return true; }, g_.out);
    }
    put_under_roots();
    return largest;
  }

  // After a run: reads the out-edges of the tree that holds `skipped`.
  void join_tree(I skipped) const {
    const I root = forest_.parent(skipped);
    join_rows_of([&](I v) { return put_under_root(v, root) == root; }, g_.out);
    put_under_roots();
  }

 private:
  // A parent in the same range already has its final parent.
  void start() const {
    const auto offsets = g_.out.offsets;
    const auto indices = g_.out.indices;
    parallel_ranges(threads_, n_, grain::rows, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v) {
        const O at = offsets[v];
        const I u = at < offsets[v + 1] ? std::min(indices[at], static_cast<I>(v)) : static_cast<I>(v);
        parent_[v] = u >= first && u < v ? parent_[u] : u;
      }
    });
  }

  void join_roots() const {
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t v) {
      const I u = static_cast<I>(v);
      if (forest_.parent(u) != u) return;
      const std::int64_t first = g_.out.offsets[v];
      const std::int64_t last = std::min<std::int64_t>(g_.out.offsets[v + 1], first + host_weak_tuning::neighbours);
      for (std::int64_t e = first; e < last; ++e) forest_.join(u, g_.out.indices[e]);
    });
  }

  void join_last() const {
    parallel_for(threads_, div_up(n_, vertices_per_ghost), grain::rows, [&](std::int64_t k) {
      const std::int64_t v = k * vertices_per_ghost;
      const O end = g_.out.offsets[v + 1];
      if (end > g_.out.offsets[v]) forest_.join(static_cast<I>(v), g_.out.indices[end - 1]);
    });
  }

  // The root of v, or `stop`. Compresses v's path.
  I put_under_root(I v, I stop) const {
    const I root = forest_.root(v, stop);
    if (root != v) forest_.set_parent(v, root);
    return root;
  }

  template <class Wanted>
  void join_rows_of(const Wanted& is_wanted, const csr_pattern_view<I, O, host>& rows) const {
    const row_parts<I, O> shares(rows, host_weak_tuning::part_units);
    parallel_parts(threads_, shares.count(), [&](std::int64_t part) {
      shares.for_each(part, [&](I v, std::int64_t first, std::int64_t last) {
        if (!is_wanted(v)) return;
        for (std::int64_t e = first; e < last; ++e) forest_.join(v, rows.indices[e]);
      });
    });
  }

  void put_under_roots() const {
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) {
      const I u = static_cast<I>(v);
      const I root = forest_.root(u);
      if (forest_.parent(u) != root) forest_.set_parent(u, root);
    });
  }

  graph_view<I, O, host> g_;
  std::int64_t n_;
  I* parent_;
  host_forest<I> forest_;
  int threads_;
};

// Sequential reference. Parents are smaller, so one ascending pass flattens the trees.
template <class I, class O>
void find_by_union(const csr_pattern_view<I, O, host>& edges, I* parent) {
  const auto root = [parent](I v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  const I n = edges.rows;
  for (I v = 0; v < n; ++v) parent[v] = v;
  for (I v = 0; v < n; ++v) {
    I mine = root(v);
    for (O e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
      const I other = root(edges.indices[e]);
      parent[std::max(mine, other)] = std::min(mine, other);
      mine = std::min(mine, other);
    }
  }
  for (I v = 0; v < n; ++v) parent[v] = parent[parent[v]];
}

}  // namespace spargo::detail::components
