// State shared by the parts of the device search: tuning, counters, position, and the discovery of a vertex.
//
// Invariant of every step: exactly one thread discovers a vertex, the one whose atomicOr set the vertex's bit in
// `visited` (in a pull: the one warp that owns the word). It alone writes level and parent and appends the vertex once,
// so a queue of n vertices cannot overflow. Vertices with more than `hub_degree` out-edges are appended as chunks of
// edges, so that no single warp expands a million edges.
#pragma once

#include "core/device/cooperative.cuh"
#include "core/device/warp.cuh"
#include "graph/bfs/direction.hpp"
#include "graph/frontier/step_counters.cuh"

#include <spargo/graph/bfs.hpp>
#include <spargo/graph/frontier/expansion.cuh>

#include <cstdint>

namespace spargo::detail::bfs {

struct cuda_tuning {
  // H200, R-MAT 22, R-MAT 24, uniform 2^22: 0.234, 0.651, 0.281 ms; 1024 threads spill: 0.236, 0.635, 0.304.
  static constexpr int block = 768;
  static constexpr int warps = block / warp_size;
  // Edges in flight per lane. H200, R-MAT 22, with an earlier pull: 0.354 ms with 4, 0.369 with 2.
  static constexpr int unroll = 4;
  static constexpr int hub_degree = 512;    // 16 rounds of a warp; more would delay its 31 other vertices
  static constexpr int hub_weight = 10;     // weight of hub_degree and more edges
  static constexpr int staged = 256;        // staging slots per warp in shared memory
  static constexpr int block_queue = 2048;  // shared slots per block for the `block_queue` variant
};

// Counters of one level.
struct counters {
  count64 queued;    // vertices appended to the queue
  count64 chunks;    // hub chunks appended
  count64 vertices;  // discovered, hubs included
  count64 edges;     // their out-edges, by weight; not counted by a pull
  count64 target;    // 1 when the target was discovered
};

// State that the next level depends on. All threads hold the same copy.
struct search_position {
  std::int64_t level = 0;
  std::int64_t begin = 0;  // the frontier: queue [begin, end) and hub chunks [hub_begin, hub_end) ...
  std::int64_t end = 0;
  std::int64_t hub_begin = 0;
  std::int64_t hub_end = 0;
  std::int64_t in_queue = 1;  // ... or, when 0, the bitmap `front`
  std::int64_t vertices = 0;  // in the frontier
  std::int64_t edges = 0;     // their out-edges
  std::int64_t previous = 0;  // vertices in the frontier before
  std::int64_t unexplored = 0;
  std::int64_t reached = 0;
  std::int64_t ended = 0;  // 1: target or depth limit reached
};

struct control_block {
  step_counters<counters> found;
  counters converted;        // by bitmap_to_queue
  counters flushed;          // by the cluster that runs narrow levels
  search_position position;  // between kernels
};

// Report of a run to the host, in pinned memory. Most searches have fewer levels than `sizes` holds.
struct host_report {
  static constexpr int size_slots = 1024;
  search_position position;
  std::int64_t sizes[size_slots];
};

template <class I, class O>
struct search {
  const O* out_offsets;
  const I* out_indices;
  const O* in_offsets;  // null: push only
  const I* in_indices;
  I* likely;               // null, or per vertex the neighbour that a pull tries first (-1: none)
  unsigned char* weights;  // of out-degrees, see weight_of
  std::int64_t n;
  std::int64_t words;  // of a bitmap: 32 vertices each, a multiple of 4
  std::int64_t edges;
  std::int32_t* levels;  // null when not requested
  I* parents;
  unsigned* start;  // initial value of `visited`
  unsigned* visited;
  unsigned* front;
  unsigned* next;
  I* queue;             // n
  edge_chunk<I>* hubs;  // 2 * edges / hub_degree
  std::int64_t* level_sizes;
  std::int64_t level_slots;  // deeper levels are counted after the search
  control_block* control;
  host_report* report;
  std::int64_t source;
  std::int64_t previous_source;  // of the previous run, or -1
  std::int64_t target;           // -1: none
  std::int64_t max_depth;
  bfs_direction allowed;
  direction_rule rule;
};

// --- Discovery ------------------------------------------------------------

// claim_bit for several vertices (-1: none): all reads are issued before the first atomic, then all atomics together.
template <int Count, class I>
__device__ void claim_all(unsigned* visited, const I (&v)[Count], bool (&won)[Count]) {
  unsigned word[Count];
#pragma unroll
  for (int q = 0; q < Count; ++q) word[q] = v[q] >= 0 ? __ldcg(visited + (v[q] >> 5)) : ~0U;
#pragma unroll
  for (int q = 0; q < Count; ++q) {
    const unsigned bit = 1U << (v[q] & 31);
    word[q] = (word[q] & bit) == 0 ? atomicOr(visited + (v[q] >> 5), bit) : ~0U;
  }
#pragma unroll
  for (int q = 0; q < Count; ++q) won[q] = (word[q] >> (v[q] & 31) & 1U) == 0;
}

template <class I, class O>
__device__ void write_level(const search<I, O>& s, std::int64_t v, std::int64_t level) {
  if (s.levels != nullptr) s.levels[v] = static_cast<std::int32_t>(level);
}

template <class I, class O>
__device__ void write_found(const search<I, O>& s, std::int64_t v, std::int64_t parent, std::int64_t level) {
  if (s.levels != nullptr) s.levels[v] = static_cast<std::int32_t>(level);
  if (s.parents != nullptr) s.parents[v] = static_cast<I>(parent);
}

template <class I, class O>
__device__ void write_unreached(const search<I, O>& s, std::int64_t v) {
  if (s.levels != nullptr) s.levels[v] = -1;
  if (s.parents != nullptr) s.parents[v] = I{-1};
}

template <class I, class O>
__device__ std::int64_t out_degree_of(const search<I, O>& s, std::int64_t v) {
  return static_cast<std::int64_t>(s.out_offsets[v + 1] - s.out_offsets[v]);
}

// A degree to within a factor of 3/2, in one byte: a quarter of the offsets' memory, so it mostly stays cached, and
// precise enough to detect hubs and choose a direction.
__device__ inline int weight_of(std::int64_t degree) { return degree > 0 ? 64 - __clzll(degree) : 0; }
__device__ inline count64 edges_of_weight(int weight) { return weight < 2 ? weight : count64{3} << (weight - 2); }

// A warp appends its lanes' hubs with one atomic. All lanes call it.
template <class I, class O>
__device__ void append_hubs(const search<I, O>& s, bool hub, std::int64_t v, std::int64_t hub_base, count64* chunks) {
  unsigned left = __ballot_sync(full_mask, hub);
  if (left == 0) return;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t count = hub ? (out_degree_of(s, v) - 1) / cuda_tuning::hub_degree + 1 : 0;
  const std::int64_t past = warp_inclusive_sum(count);
  count64 first = 0;
  if (lane == warp_size - 1) first = atomicAdd(chunks, static_cast<count64>(past));
  first = __shfl_sync(full_mask, first, warp_size - 1);
  const std::int64_t at = hub_base + static_cast<std::int64_t>(first) + past - count;
  for (; left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const std::int64_t into = __shfl_sync(full_mask, at, owner);
    const std::int64_t vertex = __shfl_sync(full_mask, v, owner);
    const std::int64_t size = __shfl_sync(full_mask, count, owner);
    for (std::int64_t c = lane; c < size; c += warp_size) {
      s.hubs[into + c] = {static_cast<I>(vertex), static_cast<I>(c)};
    }
  }
}

// Destination of a step's discoveries. A warp stages them in shared memory and needs one atomic per few hundred
// vertices, since atomics on one address serialize. H200, uniform 2^22: the level of 1.3 million edges took 102
// microseconds with one atomic per 32 edges, 74 with staging.
template <class I>
struct sink {
  static constexpr int slots = cuda_tuning::staged;
  counters* found;
  std::int64_t queue_base;
  std::int64_t hub_base;
  staged_items<I> staged;  // `slots` of this warp
};

// Appends the warp's staged vertices to the queue. All lanes call it.
template <class I, class O>
__device__ void flush_staged(const search<I, O>& s, sink<I>& to) {
  I* const into = s.queue + to.queue_base;
  to.staged.flush(&to.found->queued, lane_id(), [into](std::int64_t k, I v) { into[k] = v; });
}

// A warp appends the vertices of its lanes with `won`. All lanes call it.
template <class I, class O>
__device__ void append_together(const search<I, O>& s, sink<I>& to, bool won, I v, int weight) {
  const bool hub = won && weight >= cuda_tuning::hub_weight;
  const unsigned mask = __ballot_sync(full_mask, won && !hub);
  if (mask != 0) {
    to.staged.add(mask, won && !hub, v, lane_id());
    if (to.staged.count > sink<I>::slots - warp_size) flush_staged(s, to);
  }
  append_hubs(s, hub, static_cast<std::int64_t>(v), to.hub_base, &to.found->chunks);
}

// A thread's discoveries of a step; each block reduces them before one atomic on the grid's counters.
struct thread_tally {
  count64 vertices = 0;
  count64 edges = 0;
};

__device__ __forceinline__ thread_tally sum_of_warp(const thread_tally& tally) {
  return {warp_reduce_to_first(tally.vertices, plus{}), warp_reduce_to_first(tally.edges, plus{})};
}

// All threads of the block call it.
__device__ inline void add_tally(counters* found, thread_tally tally) {
  __shared__ thread_tally sums[cuda_tuning::warps];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  tally = sum_of_warp(tally);
  if (lane == 0) sums[warp] = tally;
  __syncthreads();
  if (warp != 0) return;
  tally = lane < cuda_tuning::warps ? sums[lane] : thread_tally{};
  tally = sum_of_warp(tally);
  if (lane == 0 && tally.vertices != 0) atomicAdd(&found->vertices, tally.vertices);
  if (lane == 0 && tally.edges != 0) atomicAdd(&found->edges, tally.edges);
}

}  // namespace spargo::detail::bfs
