// A forest of vertices that threads join at once, on the device.
//
// Invariant: parent[v] <= v, and a root changes only by the compare-and-swap that hooks it under a smaller one; all
// else that is written to parent[v] is an ancestor of a v that is no root. So loads may come from the L1 cache: an old
// parent is an ancestor still.
#pragma once

#include "core/cuda.cuh"

namespace spargo::detail::components {

template <class I>
__device__ __forceinline__ I load_parent(const I* parent, I v) {
  return __ldca(parent + v);
}

__device__ __forceinline__ std::int32_t swap_parent(std::int32_t* at, std::int32_t expected, std::int32_t value) {
  return atomicCAS(at, expected, value);
}
__device__ __forceinline__ std::int64_t swap_parent(std::int64_t* at, std::int64_t expected, std::int64_t value) {
  return static_cast<std::int64_t>(
      atomicCAS(reinterpret_cast<count64*>(at), static_cast<count64>(expected), static_cast<count64>(value)));
}

// The root of v's tree, or `stop`, should it be on the way.
template <class I>
__device__ __forceinline__ I root_of(const I* parent, I v, I stop = -1) {
  for (I p = load_parent(parent, v); p != v && v != stop; p = load_parent(parent, v)) v = p;
  return v;
}

// The same for some vertices at once, each from its parent on.
template <int Count, class I>
__device__ __forceinline__ void climb_together(const I* parent, I (&at)[Count], I stop) {
  for (bool moved = true; moved;) {
    moved = false;
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      if (at[k] == stop) continue;
      const I above = load_parent(parent, at[k]);
      moved = moved || above != at[k];
      at[k] = above;
    }
  }
}

// Makes one tree of those that hold `high` and `low`, each an ancestor of one end of an edge. `load` goes up from
// there, one parent or all the way.
template <class T, class Load>
__device__ __forceinline__ void join_trees(T* parent, T high, T low, Load load) {
  while (high != low) {
    if (high < low) {
      const T other = high;
      high = low;
      low = other;
    }
    // The L1 cache may hold `high` as a root long after it went under another, and swaps at one place wait in line.
    T above = *const_cast<volatile T*>(parent + high);
    if (above == high) above = swap_parent(parent + high, high, low);
    if (above == high || above == low) return;
    high = load(above);  // two steps up on this side, one on the other
    low = load(low);
  }
}

// Trees of two ancestors. Up to their roots by loads: a swap at each vertex on the way would have all threads queue at
// the few next to the largest tree's root.
template <class I>
__device__ __forceinline__ void join_above(I* parent, I u, I v) {
  if (u == v) return;
  const auto climb = [parent](I x) { return root_of(parent, x); };
  join_trees(parent, climb(u), climb(v), climb);
}

template <class I>
__device__ __forceinline__ void join(I* parent, I u, I v) {
  join_above(parent, load_parent(parent, u), load_parent(parent, v));
}

// Halves the chain above v until it is under its root, while other threads do so with theirs.
template <class I>
__device__ void shorten(I* parent, I v) {
  volatile I* const fresh = parent;
  for (;;) {
    const I p = fresh[v];
    const I above = fresh[p];
    if (p == above) return;
    fresh[v] = above;
  }
}

}  // namespace spargo::detail::components
