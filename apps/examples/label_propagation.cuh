// The same on a device, for nvcc; only the place of the labels and the atomics differ.
#pragma once

#include <spargo/graph/operators.cuh>

#include <cuda/atomic>

#include <utility>
#include <vector>

// Offers u's label to v; true if v took it and must propagate it.
template <class I, class O>
struct tell_label {
  I* label;

  __device__ bool operator()(I u, I v, O) const {
    const I offered = cuda::atomic_ref<I, cuda::thread_scope_device>(label[u]).load(cuda::memory_order_relaxed);
    cuda::atomic_ref<I, cuda::thread_scope_device> held(label[v]);
    return offered < held.load(cuda::memory_order_relaxed) &&
           offered < held.fetch_min(offered, cuda::memory_order_relaxed);
  }
};

template <class I, class O>
std::vector<I> connected_components(const spargo::context<spargo::device>& ctx,
                                    const spargo::graph_view<I, O, spargo::device>& undirected) {
  const I n = undirected.vertices();
  spargo::frontier<I, spargo::device> changed(ctx, n);
  spargo::frontier<I, spargo::device> next(ctx, n);
  spargo::advance_workspace<I, O, spargo::device> workspace(ctx, undirected);
  assign_all(ctx, changed, n);

  spargo::array<I, spargo::device> label(ctx, n);
  spargo::copy<I>(ctx, changed.slots(), label.view());  // each vertex starts with its own number as label
  const tell_label<I, O> tell{label.data()};
  while (size_of(ctx, changed) > 0) {
    advance(ctx, undirected, changed, next, workspace, tell, {.admit = spargo::admission::once});
    std::swap(changed, next);
  }
  const auto here = spargo::to_host(ctx, label.view());
  return {here.begin(), here.end()};
}
