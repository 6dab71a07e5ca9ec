// State of the device searches from up to four sources, and shortest-path counts.
//
// A pair is a vertex and a lane; a lane is the search from one source. Each vertex has one byte of state with two bits
// per lane. Forward: 0 for a pair not yet found, else 1 + its level mod 3. Backward, after a reset: a bit per lane and
// parity of the level, set once a pair is done. That suffices to classify an edge. Forward, the in-neighbours of a pair
// at level d are at d - 1 or later, and while d + 1 is the last level three codes distinguish them. Backward, all pairs
// from d + 1 on are done, those at d get the other parity, and no out-neighbour is beyond d + 1. So a step needs no
// waiting, and the states stay in the L2 cache. The four counts of a vertex are one sector, written once forward and
// once backward.
#pragma once

#include "core/cuda.cuh"
#include "core/device/warp.cuh"
#include "graph/betweenness/numbers.hpp"
#include "graph/frontier/append_chunks.cuh"
#include "graph/frontier/step_counters.cuh"

#include <cstdint>
#include <type_traits>

namespace spargo::detail::betweenness {

// Times: H200, 4 sources; R-MAT 22 and uniform 2^22 of degree 16, grid 2048 x 2048. Some were measured with other
// values of the remaining parameters: compare times within a line only. Untuned where no time is given.
struct cuda_tuning {
  static constexpr int lanes = 4;
  // Kernels of listed levels, one resident block per SM. Grid: 22.3 ms, with 512 23.7, with 1024 22.9, with two of 512
  // 22.9, with three of 256 24.2.
  static constexpr int block = 768;
  // Kernels of a dense level: 4.9 and 6.0 ms, 5.1 and 6.0 with 128 and 8 groups.
  static constexpr int dense_block = 256;
  // Resident blocks per SM: 6.7 and 6.1 ms with 4; with 6, and half the terms in flight, 6.5 and 6.0.
  static constexpr int dense_blocks = 4;
  // Groups of 32 vertices per warp: 6.1 and 5.8 ms with 4, 6.7 and 6.1 with 1.
  static constexpr int groups = 4;
  // Longer rows are split into chunks, one warp each: 4.9 ms with 512, 6.3 with 256.
  static constexpr int chunk = 512;
  // Longer rows get a warp, others a team of four threads: 4.9 and 6.0 ms with 64, 4.9 and 6.6 with 32.
  static constexpr int team_edges = 64;
  // Edges in flight per thread in a dense level: 6.7 and 6.1 ms with 2, 7.1 and 6.1 with 4.
  static constexpr int dense_rounds = 2;
  // Vertices are sorted by degree from this maximum / average on: R-MAT 4.9 ms (unsorted 5.9); the plan 1.9 ms (0.2).
  static constexpr double skewed = 8;
  // Kernels with a table of hot vertices in shared memory, one resident block per SM.
  static constexpr int hot_block = 1024;
  static constexpr int hot_bytes = 128 * 1024;  // maximum table size; the rest is left to the L1 cache
  static constexpr int hot_rest = 4096;         // other shared memory of a block
  static constexpr int hot_chunks = 8;          // chunks per ticket
  static constexpr int fine_rows = 8;           // rows per ticket among the first vertices,
  static constexpr int fine_share = 8;          // the first 1 / fine_share of all, which have the longest rows
  static constexpr double push_cost = 3;        // cost of a pushed edge relative to a pulled one
  static constexpr double pass_share = 4;       // scanning this many vertices costs as much as one edge
  // A pull marks pairs with successors if its edges are fewer than 1 / mark_share of the frontier's: uniform 6.1 ms,
  // without marks 6.7. With 4, R-MAT's last large level marks too: its pull takes 0.10 ms more, backward 0.12 less.
  static constexpr double mark_share = 32;
  static constexpr std::int64_t dense = 8;  // a push of more than vertices / 8 edges makes no list
};

// One direction's edges, and its rows in chunks. The chunks of a vertex are adjacent.
template <class I, class O>
struct edge_set {
  const O* offsets;
  const I* indices;
  const edge_chunk<I>* chunks;
  std::int64_t chunk_count;
};

// Counters of a step.
struct counters {
  count64 entries;   // appended to the list
  count64 pairs;     // found
  count64 edges;     // their out-edges
  count64 open;      // after a pull: in-edges of vertices that lack an active lane
  count64 largest;   // largest count found by a pull, as bits
  count64 found[4];  // by a pull, per lane
};

inline constexpr double most_paths = 0x1p1000;        // upper limit of the bound
inline constexpr std::int32_t no_level = 0x7fffffff;  // wide_from, if no level has exponents

// Position of a search; the host and every block hold the same.
struct position {
  std::int64_t pairs;  // of this level
  std::int64_t begin;  // its entries in the list
  std::int64_t end;
  double edges;    // their out-edges
  double open;     // approximate in-edges of vertices that lack a lane
  double largest;  // upper bound of this level's counts
  std::int32_t depth;
  std::int32_t wide_from;  // the first level whose counts have exponents
  unsigned alive;          // lanes that may find more
  bool dense;              // not listed: the pairs are those with this level in `levels`
  bool summed;             // its counts are known
};

struct control_block {  // zero at a kernel's start
  step_counters<counters> found;
  count64 words[3];    // barriers of narrow levels
  count64 reached[4];  // vertices reached per lane, including the source
  position at;         // result of a forward kernel
};

template <class I>
using entry_of = std::make_unsigned_t<I>;  // vertex * 4 + lane

template <class I, class O>
struct search {
  edge_set<I, O> out;
  edge_set<I, O> in;
  bool mirrored;  // `in` equals `out`
  std::int64_t n;
  std::int64_t edges;
  double growth;  // maximum in-degree
  unsigned char* states;
  double* numbers;          // [vertex * 4 + lane]
  unsigned* bytes;          // [vertex] counts of the level being pulled from, a byte per lane
  double* quotients;        // (1 + dependency) / number, once a pair is done
  double* dependencies;     // the pair's contribution to its vertex's value; may alias `numbers`
  std::int32_t* exponents;  // of `numbers`, from level wide_from on
  std::int32_t* levels;     // of pairs found in dense levels and of vertices with chunks; else -1
  entry_of<I>* list;        // pairs of listed levels, level by level
  std::int64_t* begins;     // [listed level]: start of its entries, followed by the end of the last
  double* partial;          // [chunk * 4 + lane]: sums of chunks waiting for the vertex's others
  std::int32_t* partial_exponents;
  unsigned* arrived;  // [first chunk of the vertex * 4 + lane]: chunks finished
  control_block* control;
  double* values;
  const I* rank;  // of the graph's vertices in the sorted order; null: identity
  I sources[cuda_tuning::lanes];
  int source_count;
  double own;         // contribution of a path to its last vertex
  bool keeps_levels;  // of all pairs
};

inline constexpr int has_successor = 1 << 30;  // flag in `levels`: the pair has a successor

// --- States ---------------------------------------------------------------------------------------------------------

__device__ __forceinline__ unsigned forward_code(int depth) { return 1U + static_cast<unsigned>(depth) % 3U; }
__device__ __forceinline__ unsigned done_bit(int depth, int lane) { return 1U << (lane + 4 * (depth & 1)); }

// True for the one caller that finds the pair first.
__device__ __forceinline__ bool claim_pair(unsigned char* states, std::int64_t v, int lane, unsigned code) {
  const unsigned shift = static_cast<unsigned>(v & 3) * 8 + 2 * static_cast<unsigned>(lane);
  const unsigned old = atomicOr(reinterpret_cast<unsigned*>(states) + (v >> 2), code << shift);
  return (old >> shift & 3) == 0;
}

__device__ __forceinline__ unsigned lanes_at(const std::int32_t* levels, std::int64_t v, int depth) {
  const int4 four = reinterpret_cast<const int4*>(levels)[v];
  return (four.x == depth ? 1U : 0U) | (four.y == depth ? 2U : 0U) | (four.z == depth ? 4U : 0U) |
         (four.w == depth ? 8U : 0U);
}

// --- Numbers --------------------------------------------------------------------------------------------------------

// A sum of factors with exponents of 2^1000. Terms 1000 or more bits below the rest are dropped.
struct scaled_sum {
  double factor = 0;
  int exponent = 0;

  __device__ __forceinline__ void add(double more, int its) {
    if (more == 0) return;
    const int up = its - exponent;
    if (up == 0 || factor == 0) {
      factor += more;
      exponent = its;
    } else if (up > 0) {
      factor = more + (up == 1 ? factor * number_range::down : 0);
      exponent = its;
    } else if (up == -1) {
      factor += more * number_range::down;
    }
  }
};

// Sums over `width` adjacent threads, deterministically for the first of them.
__device__ __forceinline__ scaled_sum sum_of(scaled_sum mine, int width) {
  for (int step = width / 2; step > 0; step /= 2) {
    mine.add(shuffle_xor(mine.factor, step), shuffle_xor(mine.exponent, step));
  }
  return mine;
}

// --- Counters -------------------------------------------------------------------------------------------------------

struct thread_tally {
  unsigned pairs = 0;
  unsigned found = 0;  // of lane threadIdx.x % 4
  count64 edges = 0;
  count64 open = 0;
  double largest = 0;
};

// Called by all threads of the block at the end of a step.
__device__ inline void add_tally(counters* to, const thread_tally& mine) {
  __shared__ counters of_block;
  if (threadIdx.x < sizeof(counters) / sizeof(count64)) reinterpret_cast<count64*>(&of_block)[threadIdx.x] = 0;
  __syncthreads();
  const count64 pairs = warp_reduce_to_first(count64{mine.pairs}, plus{});
  const count64 edges = warp_reduce_to_first(mine.edges, plus{});
  const count64 open = warp_reduce_to_first(mine.open, plus{});
  if (lane_id() == 0) {
    if (pairs != 0) atomicAdd(&of_block.pairs, pairs);
    if (edges != 0) atomicAdd(&of_block.edges, edges);
    if (open != 0) atomicAdd(&of_block.open, open);
  }
  if (__any_sync(full_mask, mine.found != 0 || mine.largest > 0)) {
    count64 found = mine.found;
    double largest = mine.largest;
    for (int step = warp_size / 2; step >= 4; step /= 2) found += shuffle_xor(found, step);
    largest = warp_reduce(largest, maximum{});
    if (lane_id() < 4) atomicAdd(&of_block.found[lane_id()], found);
    if (lane_id() == 0) atomicMax(&of_block.largest, static_cast<count64>(__double_as_longlong(largest)));
  }
  __syncthreads();
  if (threadIdx.x >= sizeof(counters) / sizeof(count64)) return;
  const count64 all = reinterpret_cast<const count64*>(&of_block)[threadIdx.x];
  count64* const sum = reinterpret_cast<count64*>(to) + threadIdx.x;
  if (all == 0) return;
  if (sum == &to->largest) {
    atomicMax(sum, all);
  } else {
    atomicAdd(sum, all);
  }
}

template <class I>
__device__ __forceinline__ std::int64_t rank_of(const I* rank, std::int64_t v) {
  return rank == nullptr ? v : std::int64_t{rank[v]};
}

template <class I>
__device__ __forceinline__ entry_of<I> pair_of(std::int64_t v, int lane) {
  return static_cast<entry_of<I>>(v) * 4 + static_cast<entry_of<I>>(lane);
}

// Whether the calling warp's chunk sum is the last of its vertex; then all are visible. Lane 0 counts.
__device__ __forceinline__ bool is_last_of(unsigned* arrived, unsigned all) {
  __threadfence();
  __syncwarp();
  unsigned before = 0;
  if (lane_id() == 0) {
    before = atomicAdd(arrived, 1U);
    if (before + 1 == all) *arrived = 0;
  }
  const bool last = __shfl_sync(full_mask, before, 0) + 1 == all;
  __threadfence();
  return last;
}

// Position of a warp in the grid; adjacent warps are on different multiprocessors.
struct grid_position {
  std::int64_t warp;
  std::int64_t warps;

  __device__ grid_position()
      : warp(std::int64_t{threadIdx.x / warp_size} * gridDim.x + blockIdx.x),
        warps(std::int64_t{gridDim.x} * blockDim.x / warp_size) {}
};

}  // namespace spargo::detail::betweenness
