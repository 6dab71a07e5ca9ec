// Shortest paths by Bellman-Ford with Spargo's operators: a vertex whose distance decreased relaxes its out-edges in
// the next round. O(edges * edges of the longest shortest path). Weights may be negative; a negative cycle is an error.
#pragma once

#include <spargo/graph/operators.hpp>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

// weights[e]: weight of edge e of g.out. Unreachable vertices get numeric_limits<W>::max().
template <class W, class I, class O>
std::vector<W> bellman_ford(const spargo::context<spargo::host>& ctx, const spargo::graph_view<I, O, spargo::host>& g,
                            const W* weights, I source) {
  std::vector<W> distances(static_cast<std::size_t>(g.vertices()), std::numeric_limits<W>::max());
  W* const distance = distances.data();
  distance[source] = 0;
  // Relaxes edge e from u to v; true if v's distance decreased.
  const auto relax = [distance, weights](I u, I v, O e) {
    const W offered = std::atomic_ref<W>(distance[u]).load(std::memory_order_relaxed) + weights[e];
    const std::atomic_ref<W> held(distance[v]);
    W now = held.load(std::memory_order_relaxed);
    while (offered < now && !held.compare_exchange_weak(now, offered, std::memory_order_relaxed)) continue;
    return offered < now;
  };

  spargo::frontier<I, spargo::host> fell(ctx, g.vertices()), next(ctx, g.vertices());
  spargo::advance_workspace<I, O, spargo::host> workspace(ctx, g);
  assign(ctx, fell, source);
  for (I round = 0; size_of(ctx, fell) > 0; ++round) {
    if (round == g.vertices()) throw std::runtime_error("a cycle of negative weight");
    advance(ctx, g, fell, next, workspace, relax, {.admit = spargo::admission::once});
    std::swap(fell, next);
  }
  return distances;
}
