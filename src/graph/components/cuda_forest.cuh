// A forest that threads join concurrently, on the device.
//
// Invariant: parent[v] <= v. A root changes only by the compare-and-swap that hooks it under a smaller one; other
// stores to parent[v] write an ancestor of a non-root v. So loads may hit stale L1 lines: old parents are still
// ancestors.
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

// The root of v's tree, or `stop` if it is on the path.
template <class I>
__device__ __forceinline__ I root_of(const I* parent, I v, I stop = -1) {
  for (I p = load_parent(parent, v); p != v && v != stop; p = load_parent(parent, v)) v = p;
  return v;
}

// The same for several vertices at once, each starting at its parent.
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

// Joins the trees of `high` and `low`, ancestors of an edge's ends. `load` climbs from there, one parent or all.
template <class T, class Load>
__device__ __forceinline__ void join_trees(T* parent, T high, T low, Load load) {
  while (high != low) {
    if (high < low) {
      const T other = high;
      high = low;
      low = other;
    }
    // The L1 cache may hold `high` as a root long after it was hooked, and swaps on one address serialize.
    T above = *const_cast<volatile T*>(parent + high);
    if (above == high) above = swap_parent(parent + high, high, low);
    if (above == high || above == low) return;
    high = load(above);  // two steps up on one side, one on the other
    low = load(low);
  }
}

// Joins the trees of two ancestors. Climbs to their roots by loads: swaps at each vertex of the path would make all
// threads contend for the few next to the largest tree's root.
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

// Path halving above v until v is under its root; other threads may halve concurrently.
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
