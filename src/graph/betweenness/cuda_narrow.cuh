// Narrow levels on the device, of which grids and road networks have thousands. No vertex has many edges, so a team of
// four threads handles at most one pair per level; latency of dependent loads dominates.
//
// Forward, a block continues with the pairs it found itself, which stay in its shared memory with the positions of
// their rows. One word counts the blocks that have reached the end of a level and the pairs they found, so the barrier
// also tells each block the total and its position in the list. If a block finds more pairs than it has teams, a step
// of the whole grid follows, after which pairs are redistributed. The backward pass knows all pairs, rows and indices
// in advance and loads them one to three levels ahead, each after the barrier of the previous load, so that a level
// waits only for states and quotients.
#pragma once

#include "graph/betweenness/cuda_list.cuh"

#include <cooperative_groups.h>

namespace spargo::detail::betweenness {

struct narrow_tuning {
  static constexpr int teams = cuda_tuning::block / 4;
  static constexpr int rounds = 3;          // edges per thread
  static constexpr int edges = 4 * rounds;  // maximum per vertex
  static constexpr int slots = teams * edges;
};

template <class I, class O>
struct narrow_entry {
  entry_of<I> pair;
  O first;  // of its edges
};

template <class I, class O>
struct narrow_block {
  narrow_entry<I, O> found[narrow_tuning::slots];
  unsigned char sizes[narrow_tuning::slots];  // row lengths
  unsigned count[2];                          // pairs found; two levels alternate
  std::int64_t before;                        // pairs found by earlier blocks
  bool full;                                  // some block found too many pairs
};

// Whether the graph's levels can be narrow at all, and how many pairs they may have.
template <class I, class O>
__device__ __forceinline__ bool may_be_narrow(const search<I, O>& s) {
  return s.mirrored && s.growth <= narrow_tuning::edges;
}
__device__ __forceinline__ std::int64_t narrow_pairs() { return std::int64_t{gridDim.x} * narrow_tuning::teams; }

// A step along the row of the team's pair, if it has edges; a whole warp calls it.
template <class I, class O>
__device__ __forceinline__ void expand_narrow(const search<I, O>& s, const list_task<I>& t,
                                              const narrow_entry<I, O>& mine, int size, narrow_block<I, O>& to,
                                              unsigned* count) {
  constexpr int rounds = narrow_tuning::rounds;
  const int rank = lane_id() % 4;
  const int lane = static_cast<int>(mine.pair % 4);
  const pair_view pair = view_of(t, lane);
  I neighbour[rounds];
  unsigned state[rounds];
  double term[rounds];
  int exponent[rounds];
#pragma unroll
  for (int q = 0; q < rounds; ++q) {
    neighbour[q] = rank + 4 * q < size ? s.out.indices[mine.first + rank + 4 * q] : I{-1};
  }
#pragma unroll
  for (int q = 0; q < rounds; ++q) state[q] = neighbour[q] >= 0 ? __ldcg(s.states + neighbour[q]) : 0U;
#pragma unroll
  for (int q = 0; q < rounds; ++q) {
    const bool counts = t.from != nullptr && (state[q] & pair.mask) == pair.wanted;
    const entry_of<I> place = pair_of<I>(neighbour[q], lane);
    term[q] = counts ? t.from[place] : 0;
    exponent[q] = counts && t.exponents != nullptr ? t.exponents[place] : 0;
  }
#pragma unroll
  for (int q = 0; q < rounds; ++q) {
    bool first = false;
    O begin = 0;
    O end = 0;  // loads in flight while the pair is claimed
    if (neighbour[q] >= 0 && (state[q] >> (2 * lane) & 3) == 0) {
      begin = s.out.offsets[neighbour[q]];
      end = s.out.offsets[neighbour[q] + 1];
      first = claim_pair(s.states, neighbour[q], lane, forward_code(t.depth + 1));
    }
    const unsigned threads = __ballot_sync(full_mask, first);
    if (threads == 0) continue;
    const unsigned at = place_by_warp(count, threads, lane_id());
    if (!first) continue;
    to.found[at] = {pair_of<I>(neighbour[q], lane), begin};
    to.sizes[at] = static_cast<unsigned char>(end - begin);
    if (s.keeps_levels) s.levels[std::int64_t{neighbour[q]} * 4 + lane] = t.depth + 1;
  }
  if (t.from == nullptr) return;
  scaled_sum sum;
#pragma unroll
  for (int q = 0; q < rounds; ++q) sum.add(term[q], exponent[q]);
  sum = sum_of(sum, 4);
  if (size > 0 && rank == 0) finish_pair(s, t, mine.pair, {}, sum);
}

// Grid barrier that also sums: arrives with `found` pairs and waits; returns the pairs found by all blocks, and in
// `before` those of blocks that arrived earlier. Called by one thread per block.
__device__ inline std::int64_t sum_barrier(count64* words, int turn, unsigned found, std::int64_t& before, bool& full) {
  if (blockIdx.x == 0) words[(turn + 1) % 3] = 0;  // no block waits on that word any more, or has arrived at it yet
  __threadfence();
  const count64 mine = count64{found} << 32 | (found > narrow_tuning::teams ? 1ULL << 16 : 0) | 1;
  const count64 old = atomicAdd(words + turn, mine);
  count64 now = old + mine;
  while ((now & 0xffff) != gridDim.x) now = *static_cast<volatile count64*>(words + turn);
  __threadfence();
  before = static_cast<std::int64_t>(old >> 32);
  full = (now >> 16 & 0xffff) != 0;
  return static_cast<std::int64_t>(now >> 32);
}

// Continues from a listed level until one is empty or too wide. All blocks hold the same `at` and `turn`.
template <class I, class O>
__device__ void run_narrow(const search<I, O>& s, position& at, count64* words, int& turn) {
  __shared__ narrow_block<I, O> own;
  const auto team = static_cast<int>(threadIdx.x) / 4;
  const bool leader = threadIdx.x == 0;
  const std::int64_t place = at.begin + team * std::int64_t{gridDim.x} + blockIdx.x;
  narrow_entry<I, O> mine{};
  int size = 0;
  if (place < at.end) {
    const entry_of<I> pair = s.list[place];
    mine = {pair, s.out.offsets[pair / 4]};
    size = static_cast<int>(s.out.offsets[pair / 4 + 1] - mine.first);
  }
  if (leader) own.count[0] = 0;
  __syncthreads();
  for (int side = 0;; side ^= 1) {
    list_task<I> t;
    t.depth = at.depth;
    if (!at.summed) sum_numbers(s, at, t);
    expand_narrow(s, t, mine, size, own, &own.count[side]);
    __syncthreads();
    if (leader) {
      if (blockIdx.x == 0) s.begins[at.depth] = at.begin;
      own.count[side ^ 1] = 0;
      const std::int64_t pairs = sum_barrier(words, turn, own.count[side], own.before, own.full);
      at.end += pairs;
      at.begin = at.end - pairs;
      at.pairs = pairs;
      at.edges = static_cast<double>(pairs) * (static_cast<double>(s.edges) / static_cast<double>(s.n));
      at.summed = false;
      next_level(s, at);
    }
    __syncthreads();
    turn = (turn + 1) % 3;
    const unsigned count = own.count[side];
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) s.list[at.begin + own.before + k] = own.found[k].pair;
    if (at.pairs == 0 || own.full) return;
    size = team < static_cast<int>(count) ? own.sizes[team] : 0;
    if (size > 0) mine = own.found[team];
    __syncthreads();
  }
}

// --- Backward pass --------------------------------------------------------------------------------------------------

// A team's pair of a level, loaded in stages.
template <class I, class O>
struct narrow_pair {
  bool here = false;
  entry_of<I> pair = 0;
  O first = 0;
  O last = 0;
  scaled_sum own;
  I neighbour[narrow_tuning::rounds];
};

// A level's range [begin, end) of the list, if it is narrow.
struct narrow_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool narrow = false;
};
__device__ __forceinline__ narrow_range range_of(std::int64_t begin, std::int64_t end) {
  return {begin, end, end - begin <= narrow_pairs()};
}

template <class I, class O>
__device__ __forceinline__ void load_pair(const search<I, O>& s, const narrow_range& level, narrow_pair<I, O>& p) {
  const std::int64_t place = level.begin + static_cast<std::int64_t>(threadIdx.x / 4) * gridDim.x + blockIdx.x;
  p.here = level.narrow && place < level.end;
  p.pair = p.here ? s.list[place] : 0;
}
template <class I, class O>
__device__ __forceinline__ void load_row(const search<I, O>& s, bool wide, narrow_pair<I, O>& p) {
  p.first = p.last = 0;
  p.own = {};
  if (!p.here) return;
  p.first = s.out.offsets[p.pair / 4];
  p.last = s.out.offsets[p.pair / 4 + 1];
  p.own.factor = s.numbers[p.pair];
  if (wide) p.own.exponent = s.exponents[p.pair];
}
template <class I, class O>
__device__ __forceinline__ void load_edges(const search<I, O>& s, narrow_pair<I, O>& p) {
#pragma unroll
  for (int q = 0; q < narrow_tuning::rounds; ++q) {
    const O at = p.first + static_cast<O>(lane_id() % 4 + 4 * q);
    p.neighbour[q] = at < p.last ? s.out.indices[at] : I{-1};
  }
}

// Backward over narrow levels from `depth`, not the last one, to the one after `to`; returns the next level.
template <class I, class O>
__device__ int run_narrow_backward(const search<I, O>& s, int depth, int to, int wide_from,
                                   const cooperative_groups::grid_group& grid) {
  constexpr int rounds = narrow_tuning::rounds;
  narrow_range level[4];  // depth, and the three before it
  narrow_pair<I, O> p[4];
  std::int64_t end = s.begins[depth + 1];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    level[k] = {};
    if (depth - k > to) {
      const std::int64_t begin = s.begins[depth - k];
      level[k] = range_of(begin, end);
      end = begin;
    }
    if (k < 3) load_pair(s, level[k], p[k]);
  }
  load_row(s, depth >= wide_from, p[0]);
  load_row(s, depth - 1 >= wide_from, p[1]);
  load_edges(s, p[0]);
  while (level[0].narrow) {
    list_task<I> t;
    t.depth = depth;
    t.backward = true;
    t.wide = depth >= wide_from;
    const bool wide = depth + 1 >= wide_from;  // of the terms
    const int lane = static_cast<int>(p[0].pair % 4);
    const unsigned done = done_bit(depth + 1, lane);
    unsigned state[rounds];
    double term[rounds];
    int exponent[rounds];
#pragma unroll
    for (int q = 0; q < rounds; ++q) {
      const I neighbour = p[0].neighbour[q];
      const entry_of<I> place = pair_of<I>(neighbour, lane);
      state[q] = neighbour >= 0 ? __ldcg(s.states + neighbour) : 0U;
      term[q] = neighbour >= 0 ? s.quotients[place] : 0;
      exponent[q] = neighbour >= 0 && wide ? s.exponents[place] : 0;
    }
    load_edges(s, p[1]);
    load_row(s, depth - 2 >= wide_from, p[2]);
    load_pair(s, level[3], p[3]);
    const std::int64_t next = depth - 4 > to ? s.begins[depth - 4] : 0;
    scaled_sum sum;
#pragma unroll
    for (int q = 0; q < rounds; ++q) {
      if ((state[q] & done) != 0) sum.add(term[q], -exponent[q]);
    }
    sum = sum_of(sum, 4);
    if (p[0].here && lane_id() % 4 == 0) {
      finish_pair(s, t, p[0].pair, p[0].own, sum);
    }
    grid.sync();
    --depth;
    const std::int64_t last_begin = level[3].begin;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      level[k] = level[k + 1];
      p[k] = p[k + 1];
    }
    level[3] = depth - 3 > to ? range_of(next, last_begin) : narrow_range{};
  }
  return depth;
}

}  // namespace spargo::detail::betweenness
