// Connected components by label propagation, written with Spargo's operators: each vertex ends with the smallest id of
// its component. The component of the vertex with the most edges, often nearly the whole graph, is labelled first, so
// that its vertices change once (Slota, Rajamanickam, Madduri, "Multistep", IPDPS 2014). Worst case O(edges * longest
// shortest path), far less on graphs of small diameter.
#pragma once

#include <spargo/graph/operators.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

template <class I, class O>
std::vector<I> connected_components(const spargo::context<spargo::host>& ctx,
                                    const spargo::graph_view<I, O, spargo::host>& undirected) {
  const I n = undirected.vertices();
  if (n == 0) return {};
  std::vector<I> labels(static_cast<std::size_t>(n));
  std::iota(labels.begin(), labels.end(), I{0});
  I* const label = labels.data();
  const auto degree = [&](I v) { return undirected.out.offsets[std::int64_t{v} + 1] - undirected.out.offsets[v]; };
  const I hub = std::ranges::max(labels, {}, degree);

  // Offers u's label to v; true if v took it and must propagate it.
  const auto tell = [label](I u, I v, O) {
    const I offered = std::atomic_ref<I>(label[u]).load(std::memory_order_relaxed);
    const std::atomic_ref<I> held(label[v]);
    I now = held.load(std::memory_order_relaxed);
    while (offered < now && !held.compare_exchange_weak(now, offered, std::memory_order_relaxed)) continue;
    return offered < now;
  };

  spargo::frontier<I, spargo::host> changed(ctx, n), next(ctx, n);
  spargo::advance_workspace<I, O, spargo::host> workspace(ctx, undirected);
  const auto propagate = [&] {
    while (size_of(ctx, changed) > 0) {
      advance(ctx, undirected, changed, next, workspace, tell, {.admit = spargo::admission::once});
      std::swap(changed, next);
    }
  };
  label[hub] = -1;  // smaller than any other
  assign(ctx, changed, hub);
  propagate();
  assign_all(ctx, next, n);
  filter(ctx, next, changed, [label](I v) { return label[v] >= 0; });
  propagate();
  std::replace(labels.begin(), labels.end(), I{-1}, static_cast<I>(std::find(label, label + n, I{-1}) - label));
  return labels;
}
