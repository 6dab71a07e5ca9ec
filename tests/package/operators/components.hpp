// Connected components by label propagation, written with Spargo's operators: each vertex ends with the smallest id of
// its component. O(edges * longest shortest path) at worst, far less on graphs of small diameter.
#pragma once

#include <spargo/graph/operators.hpp>

#include <atomic>
#include <utility>
#include <vector>

template <class I, class O>
std::vector<I> connected_components(const spargo::context<spargo::host>& ctx,
                                    const spargo::graph_view<I, O, spargo::host>& undirected) {
  const I n = undirected.vertices();
  std::vector<I> label(static_cast<std::size_t>(n));
  for (I v = 0; v < n; ++v) label[static_cast<std::size_t>(v)] = v;

  // Offers v the label of u; true when v took it and must tell its neighbours in turn.
  const auto tell = [&label](I u, I v, O) {
    const I offered = std::atomic_ref<I>(label[static_cast<std::size_t>(u)]).load();
    const std::atomic_ref<I> held(label[static_cast<std::size_t>(v)]);
    I now = held.load();
    while (offered < now) {
      if (held.compare_exchange_weak(now, offered)) return true;
    }
    return false;
  };

  spargo::frontier<I, spargo::host> changed(ctx, n);
  spargo::frontier<I, spargo::host> next(ctx, n);
  spargo::advance_workspace<I, O, spargo::host> workspace(ctx, undirected);
  assign_all(ctx, changed, n);
  while (size_of(ctx, changed) > 0) {
    advance(ctx, undirected, changed, next, workspace, tell, {.admit = spargo::admission::once});
    std::swap(changed, next);
  }
  return label;
}
