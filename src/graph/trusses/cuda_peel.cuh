// Kernels of trusses on the device: frontiers, rounds, and copies without removed edges. Supports:
// triangles/ranked.hpp.
//
// A round: a group of lanes takes an edge of the frontier and searches the neighbours in the shorter row of its ends in
// the longer one, until it has found as many triangles as the edge's support; a warp does so where the shorter row is
// long. The rules are those of the host (trusses_host.cpp). The supports that a round sees may be lowered meanwhile,
// but rounds of edges only change from `never` to the next round, which counts as left; so the order does not matter.
// The supports of the frontier itself stay, and are at least the number of triangles that are left.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/search.hpp"
#include "graph/triangles/ranked.hpp"

#include <spargo/graph/frontier/expansion.cuh>

#include <cstdint>

namespace spargo::detail::trusses {

struct cuda_tuning {
  static constexpr int block = 256;
  static constexpr int blocks_per_sm = 5;
  static constexpr int warps = block / warp_size;
  static constexpr int lanes = 8;        // for an edge of a frontier
  static constexpr int group_row = 256;  // longest shorter row that they search
  static constexpr int scanned = 8;      // edges per lane, scanned for a frontier; untuned
};

inline constexpr int never_removed = 0x7f7f7f7f;  // the round of edges that are left; every byte is the same

// Device memory; `place` is the edge's place in the results.
struct cuda_rows : triangles::ranked_rows {
  int* support;  // [edge]
  int* round;
};

struct cuda_control {
  int tail;   // of the queue
  int least;  // support beyond the level
};

__device__ __forceinline__ std::int64_t grid_warp_of_thread() { return global_thread() / warp_size; }
__device__ __forceinline__ std::int64_t warps_of_grid() { return grid_threads() / warp_size; }

// Queues the edges of at most the level's support, and finds the least support of the others. least: never_removed on
// entry. A warp reads several edges a lane, so that one atomic reserves their places in the queue.
__global__ void __launch_bounds__(cuda_tuning::block)
    find_frontier_kernel(cuda_rows g, int level, int round, int* queue, int* truss, cuda_control* control) {
  constexpr int steps = cuda_tuning::scanned;
  constexpr std::int64_t share = std::int64_t{steps} * warp_size;
  const int lane = lane_id();
  int least = never_removed;
  for (std::int64_t base = grid_warp_of_thread() * share; base < g.edges; base += warps_of_grid() * share) {
    unsigned removed[steps];  // ballots
    int count = 0;
#pragma unroll
    for (int j = 0; j < steps; ++j) {
      const std::int64_t e = base + j * warp_size + lane;
      const bool is_left = e < g.edges && g.round[e] == never_removed;
      const int support = is_left ? g.support[e] : never_removed;
      const bool goes = is_left && support <= level;
      if (!goes) least = min(least, support);
      removed[j] = __ballot_sync(full_mask, goes);
      count += __popc(removed[j]);
    }
    if (count == 0) continue;
    int place = lane == 0 ? atomicAdd(&control->tail, count) : 0;
    place = shuffle(place, 0);
#pragma unroll
    for (int j = 0; j < steps; ++j) {
      if ((removed[j] >> lane & 1) != 0) {
        const auto e = static_cast<int>(base + j * warp_size + lane);
        queue[place + __popc(removed[j] & ((1U << lane) - 1))] = e;
        g.round[e] = round;
        if (truss != nullptr) truss[g.place[e]] = level + 2;
      }
      place += __popc(removed[j]);
    }
  }
  least = warp_reduce(least, minimum{});
  if (lane == 0 && least < never_removed) atomicMin(&control->least, least);
}

// A round of a level. truss: null if nobody wants the numbers.
struct peel_round {
  int level;
  int round;
  int* queue;  // of the next frontier
  int* truss;
  cuda_control* control;
  int share;  // edges that a warp reads together
};

// Lowers the support of an edge that is left; true if it enters the next frontier.
__device__ __forceinline__ bool lower_support(const cuda_rows& g, int e, const peel_round& at) {
  if (__ldcg(g.support + e) <= at.level) return false;
  if (atomicSub(g.support + e, 1) != at.level + 1) return false;
  __stcg(g.round + e, at.round + 1);
  if (at.truss != nullptr) at.truss[g.place[e]] = at.level + 2;
  return true;
}

// An edge of the frontier: its number, the shorter row of its ends, the longer one, and its support.
struct peeled_edge {
  int edge;
  int first;
  int last;
  int longer;
  int longer_size;
  int triangles;
};
__device__ __forceinline__ peeled_edge load_peeled(const cuda_rows& g, int e) {
  const int triangles = g.support[e];
  if (triangles == 0) return {};
  const int u = g.from[e];
  const int v = g.to[e];
  const int u_first = g.offsets[u];
  const int v_first = g.offsets[v];
  const int u_size = g.offsets[u + 1] - u_first;
  const int v_size = g.offsets[v + 1] - v_first;
  if (u_size <= v_size) return {e, u_first, u_first + u_size, v_first, v_size, triangles};
  return {e, v_first, v_first + v_size, u_first, u_size, triangles};
}

// Called by all lanes of the warp, each group of lanes with its edge; without one where first == last.
template <int Lanes>
__device__ __forceinline__ void peel_edges(const cuda_rows& g, const peel_round& at, const peeled_edge& of) {
  const int lane = lane_id();
  const int group_first = lane / Lanes * Lanes;
  constexpr unsigned group_mask = full_mask >> (warp_size - Lanes);
  const int* const longer = g.ends + of.longer;
  int triangles = of.triangles;  // still to find, or fewer
  int base = of.first;
  bool goes_on = base < of.last;
  while (__any_sync(full_mask, goes_on ? 1 : 0) != 0) {
    const int k = base + lane % Lanes;
    bool is_triangle = false;
    bool lowers_a = false;
    bool lowers_b = false;
    int a = 0;
    int b = 0;
    if (goes_on && k < of.last) {
      a = g.numbers[k];
      const int round_a = __ldcg(g.round + a);
      // Of the frontier, edges of support 0 form no triangle.
      if (round_a >= at.round && a != of.edge && (round_a > at.round || g.support[a] > 0)) {
        const int w = g.ends[k];
        const int found = first_where(0, of.longer_size, [&](int i) { return longer[i] >= w; });
        if (found < of.longer_size && longer[found] == w) {
          b = g.numbers[of.longer + found];
          const int round_b = __ldcg(g.round + b);
          is_triangle = round_b >= at.round;
          const bool first_of_a = round_a > at.round && (round_b > at.round || of.edge < b);
          const bool first_of_b = round_b > at.round && (round_a > at.round || of.edge < a);
          if (is_triangle && first_of_a) lowers_a = lower_support(g, a, at);
          if (is_triangle && first_of_b) lowers_b = lower_support(g, b, at);
        }
      }
    }
    __syncwarp();
    triangles -= __popc(__ballot_sync(full_mask, is_triangle) >> group_first & group_mask);
    append_by_warp(at.queue, &at.control->tail, a, lowers_a, lane);
    append_by_warp(at.queue, &at.control->tail, b, lowers_b, lane);
    base += Lanes;
    goes_on = goes_on && base < of.last && triangles > 0;
  }
}

// The k-th lowest lane of a ballot; -1 if there are fewer.
__device__ __forceinline__ int lane_of(unsigned ballot, int k) {
  for (; k > 0; --k) ballot &= ballot - 1;
  return __ffs(static_cast<int>(ballot)) - 1;
}

__global__ void __launch_bounds__(cuda_tuning::block, resident_blocks(cuda_tuning::blocks_per_sm, cuda_tuning::block))
    peel_kernel(cuda_rows g, peel_round at, const int* frontier, int size) {
  constexpr int lanes = cuda_tuning::lanes;
  constexpr int groups = warp_size / lanes;
  const int lane = lane_id();
  for (std::int64_t base = grid_warp_of_thread() * at.share; base < size; base += warps_of_grid() * at.share) {
    // Each lane reads an edge.
    peeled_edge mine{};
    if (lane < at.share && base + lane < size) mine = load_peeled(g, frontier[base + lane]);
    __syncwarp();
    const bool is_long = mine.last - mine.first > cuda_tuning::group_row;
    unsigned waiting = __ballot_sync(full_mask, mine.last > mine.first && !is_long);
    while (waiting != 0) {
      const int owner = lane_of(waiting, lane / lanes);
      peeled_edge of = shuffle(mine, owner < 0 ? 0 : owner);
      if (owner < 0) of.last = of.first;
      peel_edges<lanes>(g, at, of);
      for (int k = 0; k < groups; ++k) waiting &= waiting - 1;
    }
    for (waiting = __ballot_sync(full_mask, is_long); waiting != 0; waiting &= waiting - 1) {
      peel_edges<warp_size>(g, at, shuffle(mine, lane_of(waiting, 0)));
    }
  }
}

// --- Copies ---------------------------------------------------------------

// ids[e], plus one: 1 for edges that are left, else 0; then, scanned, their new numbers.
inline void flag_left(const context<device>& ctx, const cuda_rows& g, int* ids) {
  for_each(ctx, g.edges + 1,
           [g, ids] __device__(std::int64_t e) { ids[e] = e < g.edges && g.round[e] == never_removed ? 1 : 0; });
}
inline void flag_entries(const context<device>& ctx, const cuda_rows& g, int* places) {
  for_each(ctx, 2 * g.edges + 1, [g, places] __device__(std::int64_t k) {
    places[k] = k < 2 * g.edges && g.round[g.numbers[k]] == never_removed ? 1 : 0;
  });
}

inline void copy_edges(const context<device>& ctx, const cuda_rows& all, const int* ids, const cuda_rows& left) {
  for_each(ctx, all.edges, [all, ids, left] __device__(std::int64_t e) {
    if (all.round[e] != never_removed) return;
    const int to = ids[e];
    left.from[to] = all.from[e];
    left.to[to] = all.to[e];
    left.support[to] = all.support[e];
    left.round[to] = never_removed;
    left.place[to] = all.place[e];
  });
}
inline void copy_rows(const context<device>& ctx, const cuda_rows& all, const int* ids, const int* places,
                      const cuda_rows& left) {
  for_each(ctx, all.vertices + 1, [all, ids, places, left] __device__(std::int64_t v) {
    left.first[v] = ids[all.first[v]];
    left.offsets[v] = places[all.offsets[v]];
  });
  for_each(ctx, 2 * all.edges, [all, ids, places, left] __device__(std::int64_t k) {
    const int e = all.numbers[k];
    if (all.round[e] != never_removed) return;
    left.ends[places[k]] = all.ends[k];
    left.numbers[places[k]] = ids[e];
  });
}

}  // namespace spargo::detail::trusses
