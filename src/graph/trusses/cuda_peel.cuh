// Kernels of trusses on the device: supports, frontiers, rounds, and copies without removed edges.
//
// Vertices are called by rank, edges by number, both with 32 bits, as on the host (host_edges.hpp): a row has all
// neighbours, ascending; the first of them have lower rank, and the edges to them, which are the vertex's own, have
// consecutive numbers.
//
// Supports: the lower neighbours of a vertex v enter a hash table in shared memory, those of each lower neighbour u are
// looked up; a hit w is the triangle (v, u, w), found once. Its edges from v are counted in the table, that from u in
// global memory. Vertices with few lower neighbours get a warp, others a block; with more than the table holds, the
// block takes them in parts. Up to four are searched by a thread.
//
// A round: a warp takes an edge of the frontier and searches the neighbours in the shorter row of its ends in the
// longer one. The rules are those of the host (trusses_host.cpp). The supports that a round sees may be lowered
// meanwhile, but rounds of edges only change from `never` to the next round, which counts as left; so the order does
// not matter.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"

#include <spargo/graph/frontier/expansion.cuh>

#include <cstdint>

namespace spargo::detail::trusses {

struct cuda_tuning {
  static constexpr int block = 256;
  static constexpr int warps = block / warp_size;
  static constexpr int lanes = 8;        // that share a list of lower neighbours, for vertices of a warp
  static constexpr int thread_list = 4;  // lower neighbours of a vertex that a thread takes
  static constexpr int warp_list = 64;   // lower neighbours of a vertex that a warp takes
  static constexpr int warp_slots = 128;
  static constexpr int block_list = 1024;  // lower neighbours in a block's table
  static constexpr int block_slots = 2048;
  static constexpr int scanned = 8;  // edges per lane, scanned for a frontier; untuned
};

inline constexpr int never_removed = 0x7f7f7f7f;  // the round of edges that are left; every byte is the same

// Device memory; `place` is the edge's place in the results.
struct cuda_rows {
  std::int64_t vertices;
  std::int64_t edges;
  int* offsets;  // [rank], plus one
  int* first;    // [rank], plus one: the first edge from it
  int* ends;     // [entry]
  int* numbers;  // [entry] the edge
  int* from;     // [edge]
  int* to;
  int* support;
  int* round;
  int* place;
};

struct cuda_control {
  int tail;      // of the queue
  int least;     // support beyond the level
  int big;       // vertices that blocks take
  int next_big;  // to take
};

// A hash table of ranks with a counter each, in shared memory; `mask` is its size minus 1, a power of two minus 1.
// Empty when all keys are 0.
struct counted_set {
  int* keys;  // rank plus 1
  int* counts;
  unsigned mask;

  [[nodiscard]] __device__ __forceinline__ unsigned first_slot(int w) const {
    return (static_cast<unsigned>(w) * 2654435769U >> 16) & mask;
  }
  __device__ __forceinline__ void insert(int w) const {
    unsigned slot = first_slot(w);
    while (atomicCAS(keys + slot, 0, w + 1) != 0) slot = (slot + 1) & mask;
  }
  // -1: absent.
  [[nodiscard]] __device__ __forceinline__ int find(int w) const {
    for (unsigned slot = first_slot(w);; slot = (slot + 1) & mask) {
      const int key = keys[slot];
      if (key == w + 1) return static_cast<int>(slot);
      if (key == 0) return -1;
    }
  }
};

__device__ __forceinline__ std::int64_t grid_warp_of_thread() { return global_thread() / warp_size; }
__device__ __forceinline__ std::int64_t warps_of_grid() { return grid_threads() / warp_size; }

// Supports by a vertex with few lower neighbours: each is searched in the lists of those above it.
__device__ __forceinline__ void count_by_search(const cuda_rows& g, int first, int size) {
  for (int k = 1; k < size; ++k) {
    const int u = g.to[first + k];
    const int theirs = g.first[u];
    const int count = g.first[u + 1] - theirs;
    for (int j = 0; j < k && count > 0; ++j) {
      const int w = g.to[first + j];
      const auto at = static_cast<int>(lower_bound(g.to + theirs, count, w));
      if (at == count || g.to[theirs + at] != w) continue;
      atomicAdd(g.support + first + k, 1);
      atomicAdd(g.support + first + j, 1);
      atomicAdd(g.support + theirs + at, 1);
    }
  }
}

// Supports by the vertices with 2 to warp_list lower neighbours; lists the others. support: 0 on entry.
__global__ void __launch_bounds__(cuda_tuning::block)
    count_by_warps_kernel(cuda_rows g, int* big, cuda_control* control) {
  using tuning = cuda_tuning;
  __shared__ int all_keys[tuning::warps][tuning::warp_slots];
  __shared__ int all_counts[tuning::warps][tuning::warp_slots];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = lane_id();
  const counted_set set{all_keys[warp], all_counts[warp], tuning::warp_slots - 1};
  for (int k = lane; k < tuning::warp_slots; k += warp_size) set.keys[k] = set.counts[k] = 0;
  __syncwarp();
  for (std::int64_t base = grid_warp_of_thread() * warp_size; base < g.vertices; base += warps_of_grid() * warp_size) {
    // Each lane reads a vertex; the warp takes one after the other.
    const bool exists = base + lane < g.vertices;
    const int my_first = exists ? g.first[base + lane] : 0;
    const int my_size = exists ? g.first[base + lane + 1] - my_first : 0;
    append_by_warp(big, &control->big, static_cast<int>(base + lane), my_size > tuning::warp_list, lane);
    if (my_size <= tuning::thread_list) count_by_search(g, my_first, my_size);
    __syncwarp();
    unsigned waiting = __ballot_sync(full_mask, my_size > tuning::thread_list && my_size <= tuning::warp_list);
    for (; waiting != 0; waiting &= waiting - 1) {
      const int owner = __ffs(static_cast<int>(waiting)) - 1;
      const int first = shuffle(my_first, owner);
      const int size = shuffle(my_size, owner);
      for (int k = lane; k < size; k += warp_size) set.insert(g.to[first + k]);
      __syncwarp();
      // The lowest neighbour has no neighbours below it in the list.
      for (int k = 1 + lane / tuning::lanes; k < size; k += warp_size / tuning::lanes) {
        const int u = g.to[first + k];
        const int last = g.first[u + 1];
        int hits = 0;
        for (int e = g.first[u] + lane % tuning::lanes; e < last; e += tuning::lanes) {
          const int slot = set.find(g.to[e]);
          if (slot < 0) continue;
          atomicAdd(set.counts + slot, 1);
          atomicAdd(g.support + e, 1);
          ++hits;
        }
        if (hits > 0) atomicAdd(set.counts + set.find(u), hits);
      }
      __syncwarp();
      for (int k = lane; k < size; k += warp_size) {
        const int count = set.counts[set.find(g.to[first + k])];
        if (count > 0) atomicAdd(g.support + first + k, count);
      }
      __syncwarp();
      for (int k = lane; k < tuning::warp_slots; k += warp_size) set.keys[k] = set.counts[k] = 0;
      __syncwarp();
    }
  }
}

// The same by the listed vertices.
__global__ void __launch_bounds__(cuda_tuning::block)
    count_by_blocks_kernel(cuda_rows g, const int* big, cuda_control* control) {
  using tuning = cuda_tuning;
  __shared__ int keys[tuning::block_slots];
  __shared__ int counts[tuning::block_slots];
  __shared__ int taken;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = lane_id();
  const counted_set set{keys, counts, tuning::block_slots - 1};
  for (int k = thread; k < tuning::block_slots; k += tuning::block) keys[k] = counts[k] = 0;
  for (;;) {
    if (thread == 0) taken = atomicAdd(&control->next_big, 1);
    __syncthreads();  // the table is empty as well
    const int at = taken;
    if (at >= __ldcg(&control->big)) break;
    const int v = big[at];
    const int first = g.first[v];
    const int size = g.first[v + 1] - first;
    for (int part = 0; part < size; part += tuning::block_list) {
      const int part_end = min(size, part + tuning::block_list);
      for (int k = part + thread; k < part_end; k += tuning::block) set.insert(g.to[first + k]);
      __syncthreads();
      // Lists of neighbours at or below the first of the part have nothing in it.
      for (int k = part + 1 + thread / warp_size; k < size; k += tuning::warps) {
        const int u = g.to[first + k];
        const int last = g.first[u + 1];
        int hits = 0;
        for (int e = g.first[u] + lane; e < last; e += warp_size) {
          const int slot = set.find(g.to[e]);
          if (slot < 0) continue;
          atomicAdd(counts + slot, 1);
          atomicAdd(g.support + e, 1);
          ++hits;
        }
        __syncwarp();
        hits = warp_sum(hits);
        if (lane == 0 && hits > 0) atomicAdd(g.support + first + k, hits);
      }
      __syncthreads();
      for (int k = part + thread; k < part_end; k += tuning::block) {
        const int count = counts[set.find(g.to[first + k])];
        if (count > 0) atomicAdd(g.support + first + k, count);
      }
      __syncthreads();
      for (int k = thread; k < tuning::block_slots; k += tuning::block) keys[k] = counts[k] = 0;
      __syncthreads();
    }
  }
}

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
        truss[g.place[e]] = level + 2;
      }
      place += __popc(removed[j]);
    }
  }
  least = warp_reduce(least, minimum{});
  if (lane == 0 && least < never_removed) atomicMin(&control->least, least);
}

// Lowers the support of an edge that is left; true if it enters the next frontier.
__device__ __forceinline__ bool lower_support(const cuda_rows& g, int e, int level, int round, int* truss) {
  if (__ldcg(g.support + e) <= level) return false;
  if (atomicSub(g.support + e, 1) != level + 1) return false;
  __stcg(g.round + e, round + 1);
  truss[g.place[e]] = level + 2;
  return true;
}

__global__ void __launch_bounds__(cuda_tuning::block)
    peel_kernel(cuda_rows g, int level, int round, const int* frontier, int size, int* queue, int* truss,
                cuda_control* control) {
  const int lane = lane_id();
  for (std::int64_t at = grid_warp_of_thread(); at < size; at += warps_of_grid()) {
    const int e = frontier[at];
    int u = g.from[e];
    int v = g.to[e];
    if (g.offsets[u + 1] - g.offsets[u] > g.offsets[v + 1] - g.offsets[v]) {
      const int other = u;
      u = v;
      v = other;
    }
    const int last = g.offsets[u + 1];
    const int longer = g.offsets[v];
    const int longer_size = g.offsets[v + 1] - longer;
    for (int base = g.offsets[u]; base < last; base += warp_size) {
      const int k = base + lane;
      bool lowers_a = false;
      bool lowers_b = false;
      int a = 0;
      int b = 0;
      if (k < last) {
        a = g.numbers[k];
        const int round_a = __ldcg(g.round + a);
        if (round_a >= round && a != e) {
          const int w = g.ends[k];
          const auto found = static_cast<int>(lower_bound(g.ends + longer, longer_size, w));
          if (found < longer_size && g.ends[longer + found] == w) {
            b = g.numbers[longer + found];
            const int round_b = __ldcg(g.round + b);
            if (round_b >= round) {
              if (round_a > round && (round_b > round || e < b)) lowers_a = lower_support(g, a, level, round, truss);
              if (round_b > round && (round_a > round || e < a)) lowers_b = lower_support(g, b, level, round, truss);
            }
          }
        }
      }
      __syncwarp();
      append_by_warp(queue, &control->tail, a, lowers_a, lane);
      append_by_warp(queue, &control->tail, b, lowers_b, lane);
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
