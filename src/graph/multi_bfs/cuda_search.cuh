// State of the device multi-source search: a vertex's words, the search's arrays, and counters.
#pragma once

#include "core/cuda.cuh"
#include "core/device/warp.cuh"
#include "graph/frontier/step_counters.cuh"
#include "graph/multi_bfs/common.hpp"

#include <spargo/graph/frontier/expansion.cuh>

#include <cstdint>

namespace spargo::detail::multi_bfs {

// Times: H200, R-MAT 22 of degree 16, symmetric; 64 and 256 sources, counts only.
struct cuda_tuning {
  static constexpr int block = 512;
  // Resident blocks per SM, hence at most 64 registers per thread: 1.83 and 5.18 ms with 2, 2.58 and 6.09 with 1.
  static constexpr int min_blocks = 2;
  // Edges of a vertex that one lane scans before a team of lanes continues, and edges in flight, for one and for four
  // words per vertex. Within 1% with 4 to 16 edges.
  static constexpr int lane_edges = 8;
  static constexpr int lane_unroll = 4;
  static constexpr int lane_unroll_wide = 2;
  // Lanes per team, and rounds of edges in flight: 1.06 and 3.10 ms; eight rounds 1.09 and 3.17, teams of 4 1.13.
  static constexpr int team = 8;
  static constexpr int team_rounds = 4;
  static constexpr int warp_unroll = 2;    // rounds of 32 in flight when a warp scans; 4 is as fast
  static constexpr int pull_chunk = 2048;  // several warps scan vertices with more in-edges
  static constexpr int push_chunk = 256;   // more out-edges are pushed in chunks, eight rounds of a warp each
  static constexpr int push_rounds = 2;    // in flight together, for one word per vertex; 4 and 8 are as fast
  // Before a pull, the searches with the fewest new vertices, at most vertices / 2048 together, are set aside, since
  // they would cause nearly all edges to be read: 1.15 ms with 1024, 2048 or 4096, 1.60 without.
  static constexpr int lag_share = 2048;
  // pulls(): 1.16 and 4.22 ms with 3, 1.16 and 5.29 with 8.
  static constexpr int alpha = 3;
  // A push of more than vertices / 2 edges uses no queue, whose counter all warps would contend for: a level of 6
  // million edges takes 0.18 ms, 1.01 with a queue.
  static constexpr int dense_share = 2;
  // Rounds of 32 vertices queued with one atomic: converting a frontier takes 0.09 ms, 0.32 with one atomic per round.
  static constexpr int queue_rounds = 8;
  static constexpr int planes = 4;
  static constexpr int window = (1 << planes) - 1;  // levels that the planes can hold
};

// --- Words ----------------------------------------------------------------

template <int W>
struct alignas(8 * W) search_words {
  count64 w[W];
};

template <int W>
__device__ bool is_zero(const search_words<W>& a) {
  count64 all = 0;
#pragma unroll
  for (int i = 0; i < W; ++i) all |= a.w[i];
  return all == 0;
}
template <int W>
__device__ bool same(const search_words<W>& a, const search_words<W>& b) {
  count64 differ = 0;
#pragma unroll
  for (int i = 0; i < W; ++i) differ |= a.w[i] ^ b.w[i];
  return differ == 0;
}
template <int W>
__device__ bool covers(const search_words<W>& a, const search_words<W>& wanted) {
  count64 lacking = 0;
#pragma unroll
  for (int i = 0; i < W; ++i) lacking |= wanted.w[i] & ~a.w[i];
  return lacking == 0;
}
template <int W>
__device__ void unite(search_words<W>& a, const search_words<W>& b) {
#pragma unroll
  for (int i = 0; i < W; ++i) a.w[i] |= b.w[i];
}
template <int W>
__device__ search_words<W> without(const search_words<W>& a, const search_words<W>& b) {
  search_words<W> c;
#pragma unroll
  for (int i = 0; i < W; ++i) c.w[i] = a.w[i] & ~b.w[i];
  return c;
}
template <int W>
__device__ search_words<W> within(const search_words<W>& a, const search_words<W>& b) {
  search_words<W> c;
#pragma unroll
  for (int i = 0; i < W; ++i) c.w[i] = a.w[i] & b.w[i];
  return c;
}
// Reads what all blocks have written so far, from the L2 cache.
template <int W>
__device__ search_words<W> latest(const search_words<W>& a) {
  search_words<W> c;
  if constexpr (W == 1) {
    c.w[0] = __ldcg(a.w);
  } else {
#pragma unroll
    for (int i = 0; i < W; i += 2) {
      const ulonglong2 two = __ldcg(reinterpret_cast<const ulonglong2*>(a.w + i));
      c.w[i] = two.x;
      c.w[i + 1] = two.y;
    }
  }
  return c;
}
template <int W>
__device__ search_words<W> from_lane(const search_words<W>& a, int lane) {
  search_words<W> c;
#pragma unroll
  for (int i = 0; i < W; ++i) c.w[i] = __shfl_sync(full_mask, a.w[i], lane);
  return c;
}
template <int W>
__device__ search_words<W> united_by_warp(const search_words<W>& a) {
  search_words<W> c;
#pragma unroll
  for (int i = 0; i < W; ++i) {
    const count64 low = warp_or(static_cast<unsigned>(a.w[i]));
    const count64 high = warp_or(static_cast<unsigned>(a.w[i] >> 32));
    c.w[i] = high << 32 | low;
  }
  return c;
}

// Union within each team of `Team` adjacent lanes; all lanes of the warp call it.
template <int Team, int W>
__device__ search_words<W> united_by_team(search_words<W> a) {
#pragma unroll
  for (int d = Team / 2; d > 0; d /= 2) {
#pragma unroll
    for (int i = 0; i < W; ++i) a.w[i] |= shuffle_xor(a.w[i], d);
  }
  return a;
}

// --- State ----------------------------------------------------------------

// What each thread counts in a level.
struct level_tally {
  count64 vertices;  // with new bits; a vertex pulled in chunks may count several times
  count64 edges;     // their out-edges
  count64 finished;  // in-edges of vertices that are now complete
  count64 open;      // after a pass over all vertices: in-edges of those that lack an active search
};

// Counters of one level.
template <int W>
struct counters : level_tally {
  count64 queued;         // vertices appended to the queue
  count64 chunks;         // chunks of queued vertices with many out-edges
  count64 found[64 * W];  // vertices found by each search
};

template <int W>
struct control_block {
  step_counters<counters<W>> found;
  count64 converted_queued;  // of a frontier converted from bits to a queue
  count64 converted_chunks;
  multi_bfs_counts counts[64 * W];
};

// What is recorded of the vertices found, besides counts.
struct level_sink {};  // levels, if `planes` is not null

struct sum_sink {
  count64* sums;     // [vertices] of sum_rule::weight, added to
  count64* reached;  // [vertices] searches that reach the vertex, added to; null: not wanted
  sum_rule rule;
};

template <class I, class O, int W, class Sink = level_sink>
struct search : Sink {
  const O* out_offsets;
  const I* out_indices;
  const O* in_offsets;  // null: push only
  const I* in_indices;
  std::int64_t n;
  std::int64_t edges;
  search_words<W>* seen;
  search_words<W>* other;
  search_words<W>* front;
  unsigned* marks;  // one bit per vertex, all zero between levels
  I* queue;
  I* next_queue;
  edge_chunk<I>* push_chunks;        // of the frontier
  const edge_chunk<I>* pull_chunks;  // of the graph
  const count64* pull_chunk_count;
  control_block<W>* control;
  count64* planes;       // [(plane * n + vertex) * W + word], all zero between runs; null: no levels
  std::int32_t* levels;  // [vertex * stride + source], from this batch's first source on
  std::int64_t stride;
  const I* sources;
  int source_count;
  search_words<W> full;  // all searches of this batch
  bfs_direction allowed;
};

template <class I, class O, int W, class Sink>
__device__ std::int64_t out_degree(const search<I, O, W, Sink>& s, std::int64_t v) {
  return static_cast<std::int64_t>(s.out_offsets[v + 1] - s.out_offsets[v]);
}

// --- Counting -------------------------------------------------------------

struct thread_tally : level_tally {
  unsigned* found;  // [search] vertices found by the block, in shared memory; all zero between steps
};

// Counts the lanes whose word has bit `lane` set, by a 32 x 32 bit transpose in five exchanges.
__device__ inline unsigned count_column(unsigned word) {
  const unsigned lane = threadIdx.x % warp_size;
  unsigned low = 0x0000ffffU;
#pragma unroll
  for (unsigned j = 16; j > 0; j /= 2) {
    const unsigned theirs = __shfl_xor_sync(full_mask, word, j);
    word = (lane & j) != 0 ? (word & ~low) | ((theirs & ~low) >> j) : (word & low) | ((theirs & low) << j);
    low ^= low << (j / 2);
  }
  return static_cast<unsigned>(__popc(word));
}

// Whole warp; lane l counts searches l, l + 32, l + 64, ...
template <int W>
__device__ void count_bits(const thread_tally& tally, const search_words<W>& fresh) {
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (int i = 0; i < W; ++i) {
    if (__ballot_sync(full_mask, fresh.w[i] != 0) == 0) continue;
    const unsigned low = count_column(static_cast<unsigned>(fresh.w[i]));
    const unsigned high = count_column(static_cast<unsigned>(fresh.w[i] >> 32));
    if (low != 0) atomicAdd(tally.found + 64 * i + lane, low);
    if (high != 0) atomicAdd(tally.found + 64 * i + 32 + lane, high);
  }
}

// Called by all warps of all blocks at the end of a step; a grid barrier follows.
template <int W>
__device__ void add_found(counters<W>* to, const thread_tally& tally) {
  add_tally<level_tally>(to, tally);  // with a barrier of the block
  for (unsigned k = threadIdx.x; k < 64 * W; k += blockDim.x) {
    if (tally.found[k] == 0) continue;
    atomicAdd(&to->found[k], count64{tally.found[k]});
    tally.found[k] = 0;
  }
}

}  // namespace spargo::detail::multi_bfs
