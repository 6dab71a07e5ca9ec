// Passes after a device search: convert lengths to distances and find parents.
//
// First every reached vertex proposes itself along its tight edges (distance + weight = the target's distance) to
// targets that are farther: a parent is then nearer than its child, so no cycle can form. This leaves vertices all of
// whose tight neighbours are equally near, over edges of weight 0 or too light to change a floating-point sum. They are
// usually few. A persistent grid assigns them level by level from vertices that have parents; a level's vertices are
// settled only after the level, so the smallest proposal wins.
//
// Cost: one pass over the edges; if vertices are left, another one, and two grid barriers per level.
#pragma once

#include "core/device/block.cuh"
#include "graph/frontier/edge_shares.cuh"
#include "graph/sssp/cuda_search.cuh"

#include <spargo/graph/sssp.hpp>

#include <cooperative_groups.h>

namespace spargo::detail::sssp {

struct parents_tuning {
  static constexpr int block = 256;
  static constexpr int edges = 2048;  // edges per warp, as in BFS
  static constexpr int adopt_block = 512;
};

// Marks vertices past the target as unreached and counts the others. With 64-bit lengths, `distances` aliases `found`.
template <class W, class D, class I, class O>
__global__ void __launch_bounds__(parents_tuning::block)
    publish_kernel(const __grid_constant__ device_search<W, D, I, O> s, sssp_distance<W>* distances) {
  __shared__ unsigned of_warps[parents_tuning::block / warp_size];
  const stored_length<D> farthest = s.target < 0 ? none<D> : s.lengths[s.target];
  unsigned reached = 0;
  for (std::int64_t v = global_thread(); v < s.n; v += grid_threads()) {
    const stored_length<D> length = s.lengths[v];
    const bool is_reached = length <= farthest && length != none<D>;
    reached += is_reached ? 1 : 0;
    if constexpr (sizeof(D) < sizeof(sssp_distance<W>)) {
      distances[v] = is_reached ? static_cast<sssp_distance<W>>(length) : sssp_unreached<W>;
    }
    if (!is_reached && length != none<D>) s.lengths[v] = none<D>;
  }
  reached = block_sum(reached, of_warps);
  if (threadIdx.x == 0 && reached != 0) atomicAdd(&s.control->reached, static_cast<count64>(reached));
}

// -1 (none) compares as the largest.
template <class I>
__device__ __forceinline__ I lower_parent(I* held, I offer) {
  using word = std::conditional_t<sizeof(I) == 4, unsigned, count64>;
  return static_cast<I>(atomicMin(reinterpret_cast<word*>(held), static_cast<word>(offer)));
}

// Each reached vertex proposes itself to farther targets. Each warp takes an equal range of edges. Parents start at -1.
template <class W, class D, class I, class O>
__global__ void __launch_bounds__(parents_tuning::block)
    offer_parents_kernel(const __grid_constant__ device_search<W, D, I, O> s, I* parents, sssp_parents which) {
  stored_length<D> before = none<D>;
  for_each_edge_in_share(
      s.out.offsets, {0, s.n, 0, s.edges}, parents_tuning::edges, [&](std::int64_t u) { before = s.lengths[u]; },
      [&](std::int64_t e, std::int64_t u) {
        if (before == none<D>) return;
        const target_and_weight<W, I> edge = s.out.load(static_cast<O>(e));
        const stored_length<D> path = longer_stored<D>(before, edge.weight);
        if (path == before || path >= none<D>) return;
        const I v = edge.target;
        if (s.lengths[v] != path) return;
        if (which == sssp_parents::smallest) {
          lower_parent(parents + v, static_cast<I>(u));
        } else {
          parents[v] = static_cast<I>(u);
        }
      });
}

// Sets a bit for each vertex that needs no parent any more; counts the others. The source becomes its own parent.
template <class W, class D, class I, class O>
__global__ void __launch_bounds__(parents_tuning::block)
    find_orphans_kernel(const __grid_constant__ device_search<W, D, I, O> s, I* parents, unsigned* settled) {
  const std::int64_t v = global_thread();
  if (v == s.source) parents[v] = static_cast<I>(v);
  const bool orphan = v < s.n && v != s.source && parents[v] < 0 && s.lengths[v] != none<D>;
  const unsigned mask = __ballot_sync(full_mask, orphan);
  if (lane_id() != 0 || v >= s.n) return;
  settled[v / warp_size] = ~mask;
  if (mask != 0) atomicAdd(&s.control->orphans, static_cast<count64>(__popc(mask)));
}

// Whole warp: visit(v) for each zero-length edge from u to a vertex that is not settled.
template <class W, class D, class I, class O, class Visit>
__device__ void for_each_orphan(const device_search<W, D, I, O>& s, const unsigned* settled, std::int64_t u,
                                Visit&& visit) {
  const stored_length<D> length = s.lengths[u];
  const std::int64_t end = s.out.offsets[u + 1];
  for (std::int64_t e = s.out.offsets[u] + std::int64_t{lane_id()}; e < end; e += warp_size) {
    const target_and_weight<W, I> edge = s.out.load(e);
    if (longer_stored<D>(length, edge.weight) != length) return;  // later edges of the row are heavier
    const I v = edge.target;
    if (s.lengths[v] == length && (__ldcg(settled + (v >> 5)) >> (v & 31) & 1U) == 0) visit(v);
  }
}

// `queue` has room for all vertices.
template <class W, class D, class I, class O>
__global__ void __launch_bounds__(parents_tuning::adopt_block)
    adopt_orphans_kernel(const __grid_constant__ device_search<W, D, I, O> s, I* parents, unsigned* settled, I* queue) {
  if (__ldcg(&s.control->orphans) == 0) return;  // uniform: no block writes it any more
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const std::int64_t warp = grid_warp();
  const std::int64_t warps = grid_warps();
  count64* const queued = &s.control->queued;
  for (std::int64_t u = warp; u < s.n; u += warps) {
    if (s.lengths[u] == none<D> || (__ldcg(settled + (u >> 5)) >> (u & 31) & 1U) == 0) continue;
    bool leads = false;
    for_each_orphan(s, settled, u, [&](I) { leads = true; });
    if (__any_sync(full_mask, leads) && lane_id() == 0) queue[atomicAdd(queued, 1ULL)] = static_cast<I>(u);
  }
  grid.sync();
  std::int64_t begin = 0;
  for (auto end = static_cast<std::int64_t>(__ldcg(queued)); begin < end;) {
    grid.sync();  // all blocks have read `end`
    for (std::int64_t k = begin + warp; k < end; k += warps) {
      const I u = queue[k];
      for_each_orphan(s, settled, static_cast<std::int64_t>(u), [&](I v) {
        if (lower_parent(parents + v, u) < 0) queue[atomicAdd(queued, 1ULL)] = v;
      });
    }
    grid.sync();
    begin = end;
    end = static_cast<std::int64_t>(__ldcg(queued));
    for (std::int64_t k = begin + global_thread(); k < end; k += grid_threads()) {
      const I v = queue[k];
      atomicOr(settled + (v >> 5), 1U << (v & 31));
    }
  }
}

}  // namespace spargo::detail::sssp
