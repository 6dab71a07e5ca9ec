// Control of the device's betweenness searches, and the kernels of their listed levels: persistent grids with a barrier
// after every step. A dense level, found along the rows of all vertices, is a launch of its own (cuda_dense.cuh), with
// its own register and block counts; the host waits once per such level.
//
// Forward, a level is found in one of three ways. Push: the pairs of the previous level add their counts to its pairs
// with atomics. This requires counts below 2^53, whose sums are exact and independent of order, and edges in both
// directions, since the states of out-neighbours do not distinguish level d + 1 from d - 2. Mark: its pairs are found,
// and sum their own rows one step later. Pull: every vertex that lacks a lane sums over its row. A level is listed, or
// dense and recorded in `levels`. The level before a listed one is listed; the level after a dense one is dense or does
// not exist. So only listed levels have counts with exponents. Invariant: between steps the host and all blocks hold
// the same `position`.
#pragma once

#include "graph/betweenness/cuda_hot.cuh"
#include "graph/betweenness/cuda_narrow.cuh"
#include "graph/betweenness/cuda_push.cuh"

#include <cooperative_groups.h>

#include <algorithm>
#include <cstring>

namespace spargo::detail::betweenness {

namespace cg = cooperative_groups;

enum class step_action {
  pull,
  sum,   // sums the counts of a marked level
  list,  // converts a dense level to a listed one
  push,
  flood,  // pushes to a dense level
  mark,   // also sums the level's own counts if they are not known
};

// Evaluated identically on host and device: counts are exact in a double, and so are their multiples and eighths.
template <class I, class O>
SPARGO_HD step_action next_action(const search<I, O>& s, const position& at) {
  const double pass = static_cast<double>(s.n) / cuda_tuning::pass_share;
  const bool plain = at.wide_from == no_level && at.largest * s.growth < number_range::end;
  const double pulling = at.open + pass + (at.summed ? 0 : at.edges);
  const double pushing = at.edges * cuda_tuning::push_cost + (at.dense ? pass / 2 : 0);
  if (plain && pulling < pushing) return at.summed ? step_action::pull : step_action::sum;
  if (at.dense) return step_action::list;
  const bool exact = at.largest * s.growth < number_range::exact;
  if (!s.mirrored || !at.summed || !exact) return step_action::mark;
  return at.edges > static_cast<double>(s.n / cuda_tuning::dense) ? step_action::flood : step_action::push;
}

// Whether a pull marks the frontier's pairs that have successors.
inline bool marks_pairs(const position& at) { return at.dense && at.open * cuda_tuning::mark_share < at.edges; }

// Level 0: one pair per source. Called by one warp.
template <class I, class O>
__global__ void start_kernel(const __grid_constant__ search<I, O> s) {
  const int lane = lane_id();
  if (lane >= s.source_count) return;
  const std::int64_t v = rank_of(s.rank, s.sources[lane]);
  (void)claim_pair(s.states, v, lane, forward_code(0));
  s.numbers[v * 4 + lane] = 1;
  s.levels[v * 4 + lane] = 0;
  s.list[lane] = pair_of<I>(v, lane);
}
template <class I, class O>
position start_of(const search<I, O>& s) {
  position at{};
  at.pairs = at.end = s.source_count;
  at.open = static_cast<double>(s.edges);
  at.largest = 1;
  at.wide_from = no_level;
  at.alive = (1U << s.source_count) - 1;
  at.summed = true;
  return at;
}

// Runs a step that ends with a barrier; counts into `filling`.
template <class I, class O>
__device__ __forceinline__ void take_step(const search<I, O>& s, const grid_position& my, const position& at,
                                          step_action action, counters* filling) {
  thread_tally tally;
  if (action == step_action::list) {
    list_level(s, my, at.depth, s.list + at.end, &filling->entries);
  } else {
    const bool sums = action != step_action::push && !at.summed;
    const bool marks = action != step_action::sum;
    const bool apart = sums && marks && !s.mirrored;  // along different rows
    for (int part = apart ? 0 : 1; part < 2; ++part) {
      list_task<I> t;
      t.depth = at.depth;
      if (sums && (part == 0 || !apart)) sum_numbers(s, at, t);
      if (marks && part == 1) {
        t.marks = true;
        t.adds = action == step_action::push;
        t.entries = &filling->entries;
        t.to = s.list + at.end;
      }
      run_list(s, my, t, t.marks ? s.out : s.in, at.begin, at.end, tally);
    }
  }
  add_tally(filling, tally);
}

// Updates the position after a step of a listed level. Called by one thread per block.
template <class I, class O>
__device__ void advance(const search<I, O>& s, position& at, step_action action, const counters& found) {
  if (action == step_action::sum) {
    at.summed = true;
    return;
  }
  const auto entries = static_cast<std::int64_t>(__ldcg(&found.entries));
  at.begin = at.end;
  at.end += entries;
  if (action == step_action::list) {
    at.dense = false;
    return;
  }
  at.pairs = static_cast<std::int64_t>(__ldcg(&found.pairs));
  at.summed = action == step_action::push;
  at.dense = false;
  at.edges = static_cast<double>(__ldcg(&found.edges));
  next_level(s, at);
}
// Updates the position to a dense level, except `open` and `alive`.
inline void advance_to_dense(position& at, const counters& found) {
  ++at.depth;
  at.pairs = static_cast<std::int64_t>(found.pairs);
  at.dense = true;
  at.summed = true;
  at.begin = at.end;
  at.edges = static_cast<double>(found.edges);
  std::memcpy(&at.largest, &found.largest, sizeof(at.largest));
}

inline void advance_by_pull(position& at, const counters& found) {
  advance_to_dense(at, found);
  at.open = static_cast<double>(found.open);
  at.alive = 0;
  for (int k = 0; k < cuda_tuning::lanes; ++k) at.alive |= found.found[k] != 0 ? 1U << k : 0U;
}

template <class I, class O>
void advance_by_flood(const search<I, O>& s, position& at, const counters& found) {
  advance_to_dense(at, found);
  at.open = std::max(0.0, at.open - at.edges / cuda_tuning::lanes);
  at.alive = (1U << s.source_count) - 1;
}

// Continues from `from` until the search ends or the next level is to be pulled or flooded.
template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, 1)
    forward_kernel(const __grid_constant__ search<I, O> s, const position from) {
  __shared__ position at;
  const cg::grid_group grid = cg::this_grid();
  const bool leader = threadIdx.x == 0;
  const bool first = leader && blockIdx.x == 0;
  control_block* const control = s.control;
  const grid_position my;
  if (leader) at = from;
  __syncthreads();
  for (int turn = 0, barrier_turn = 0; at.pairs > 0;) {
    const step_action action = next_action(s, at);
    if (action == step_action::pull || action == step_action::flood) break;
    if (action == step_action::mark && may_be_narrow(s) && at.pairs <= narrow_pairs() / 2) {
      run_narrow(s, at, control->words, barrier_turn);
      grid.sync();
      continue;
    }
    counters* const filling = control->found.begin_step(turn);
    if (first) s.begins[at.depth] = at.begin;
    take_step(s, my, at, action, filling);
    grid.sync();
    if (leader) advance(s, at, action, *filling);
    __syncthreads();
    turn = next_turn(turn);
  }
  if (!first) return;
  s.begins[at.depth] = at.begin;
  s.begins[at.depth + 1] = at.end;
  control->at = at;
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads) count_kernel(const __grid_constant__ search<I, O> s) {
  count64 mine[cuda_tuning::lanes] = {};
  for (std::int64_t k = global_thread(); k < (s.n + 3) / 4; k += grid_threads()) {
    const unsigned state = reinterpret_cast<const unsigned*>(s.states)[k];
    const unsigned found = (state | state >> 1) & 0x55555555U;
#pragma unroll
    for (int lane = 0; lane < cuda_tuning::lanes; ++lane) {
      mine[lane] += static_cast<count64>(__popc(found & (0x01010101U << (2 * lane))));
    }
  }
#pragma unroll
  for (int lane = 0; lane < cuda_tuning::lanes; ++lane) {
    const count64 all = warp_reduce_to_first(mine[lane], plus{});
    if (lane_id() == 0 && all != 0) atomicAdd(&s.control->reached[lane], all);
  }
}

// Writes the sources' own dependencies. Called by one warp.
template <class I, class O>
__global__ void end_kernel(const __grid_constant__ search<I, O> s) {
  const int lane = lane_id();
  if (lane >= s.source_count) return;
  const double others = s.own == 0 ? 0 : static_cast<double>(s.control->reached[lane] - 1);
  s.dependencies[rank_of(s.rank, s.sources[lane]) * 4 + lane] = s.own * others;
}

// Backward over listed levels, from `depth` down to the one after `to`. `levels`: the last level.
template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, 1)
    backward_kernel(const __grid_constant__ search<I, O> s, int depth, const int to, const int levels,
                    const int wide_from) {
  const cg::grid_group grid = cg::this_grid();
  const grid_position my;
  while (depth > to) {
    const std::int64_t begin = s.begins[depth];
    const std::int64_t end = s.begins[depth + 1];
    const bool ends = depth == levels;
    if (!ends && may_be_narrow(s) && end - begin <= narrow_pairs()) {
      depth = run_narrow_backward(s, depth, to, wide_from, grid);
      continue;
    }
    thread_tally tally;
    list_task<I> t;
    t.depth = depth;
    t.from = s.quotients;
    t.exponents = depth + 1 >= wide_from ? s.exponents : nullptr;
    t.wide = depth >= wide_from;
    t.backward = true;
    t.ends = ends;
    run_list(s, my, t, s.out, begin, end, tally);
    --depth;
    grid.sync();
  }
}

__device__ inline int level_of(int entry) { return entry < 0 ? entry : entry & ~has_successor; }

// Edge values, from the results of both passes. One warp per vertex; adjacent targets share sectors.
template <class I, class O>
__global__ void __launch_bounds__(256) edges_kernel(const __grid_constant__ search<I, O> s, const edge_set<I, O> edges,
                                                    const std::int64_t n, const int from, double* values) {
  const grid_position my;
  for (std::int64_t vertex = my.warp; vertex < n; vertex += my.warps) {
    const std::int64_t u = rank_of(s.rank, vertex);
    if (u >= s.n) continue;  // it has no edges
    const int4 own = reinterpret_cast<const int4*>(s.levels)[u];
    const int level[4] = {level_of(own.x), level_of(own.y), level_of(own.z), level_of(own.w)};
    if ((own.x & own.y & own.z & own.w) < 0) continue;
    for (std::int64_t e = edges.offsets[vertex] + lane_id(); e < edges.offsets[vertex + 1]; e += warp_size) {
      const std::int64_t v = rank_of(s.rank, edges.indices[e]);
      const int4 its = reinterpret_cast<const int4*>(s.levels)[v];
      const int its_level[4] = {level_of(its.x), level_of(its.y), level_of(its.z), level_of(its.w)};
      double sum = 0;
#pragma unroll
      for (int lane = 0; lane < cuda_tuning::lanes; ++lane) {
        if (level[lane] < 0 || its_level[lane] != level[lane] + 1) continue;
        double term = s.quotients[v * 4 + lane];
        if (from != no_level) {
          const int up = (its_level[lane] >= from ? s.exponents[v * 4 + lane] : 0) -
                         (level[lane] >= from ? s.exponents[u * 4 + lane] : 0);
          term = up == 0 ? term : up == 1 ? term * number_range::down : 0;
        }
        sum += s.numbers[u * 4 + lane] * term;
      }
      if (sum != 0) values[e] += sum;
    }
  }
}

}  // namespace spargo::detail::betweenness
