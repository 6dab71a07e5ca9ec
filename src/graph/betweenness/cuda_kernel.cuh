// The kernels of betweenness on the device: one finds the levels of up to four searches and their numbers of shortest
// paths, one goes back over the levels. Each is a persistent grid with a barrier after every step.
//
// Forward, a level is found in one of three ways. Pushed: its pairs are met by those of the level before, which add
// their numbers with atomics; as long as these are below 2^53 such sums are exact, hence the same in any order; only
// where edges lead both ways, since the states of out-neighbours do not tell level d + 1 from d - 2. Marked: its pairs
// are found and sum up their own rows one step later. Pulled: every vertex that lacks a lane sums over its row. A level
// is listed, or dense: then `levels` has it. A listed level stands before one, and a dense one before a dense one or
// none; so only listed levels meet numbers with exponents. Invariant: between steps all blocks hold the same
// `position`.
#pragma once

#include "graph/betweenness/cuda_dense.cuh"
#include "graph/betweenness/cuda_list.cuh"

#include <cooperative_groups.h>

namespace spargo::detail::betweenness {

namespace cg = cooperative_groups;

enum class step_action {
  pull,
  sum,   // numbers of a level that has been marked
  list,  // a dense level becomes a listed one
  push,
  mark,  // and sums up the level's own numbers if they are not known
};

inline constexpr double most_paths = 0x1p1000;        // a bound does not grow further
inline constexpr std::int32_t no_level = 0x7fffffff;  // no level has exponents

template <class I, class O>
__device__ step_action next_action(const search<I, O>& s, const position& at) {
  const double pass = static_cast<double>(s.n) / cuda_tuning::pass_share;
  const bool plain = at.wide_from == no_level && at.largest * s.growth < number_range::end;
  const double pulling = at.open + pass + (at.summed ? 0 : at.edges);
  const double pushing = at.edges * cuda_tuning::push_cost + (at.dense ? 2 * pass : 0);
  if (plain && pulling < pushing) return at.summed ? step_action::pull : step_action::sum;
  if (at.dense) return step_action::list;
  const bool exact = at.largest * s.growth < number_range::exact;
  return s.mirrored && at.summed && exact ? step_action::push : step_action::mark;
}

// Whether a pull marks the pairs of the frontier that lead on.
__device__ inline bool marks_pairs(const position& at) {
  return at.dense && at.open * cuda_tuning::mark_share < at.edges;
}

// Everything but the graph, before a search. By the whole grid.
template <class I, class O>
__device__ void clear_search(const search<I, O>& s) {
  const auto none = make_int4(-1, -1, -1, -1);
  const auto zero = make_double2(0, 0);
  for (std::int64_t v = global_thread(); v < s.n; v += grid_threads()) reinterpret_cast<int4*>(s.levels)[v] = none;
  for (std::int64_t k = global_thread(); k < 2 * s.n; k += grid_threads()) {
    reinterpret_cast<double2*>(s.numbers)[k] = zero;
    if (s.dependencies != s.numbers) reinterpret_cast<double2*>(s.dependencies)[k] = zero;
  }
}

template <class I, class O>
__device__ void clear_states(const search<I, O>& s) {
  for (std::int64_t k = global_thread(); k < (s.n + 3) / 4; k += grid_threads()) {
    reinterpret_cast<unsigned*>(s.states)[k] = 0;
  }
}

// Level 0, by one warp: a pair for each source.
template <class I, class O>
__device__ void start_search(const search<I, O>& s, counters* to) {
  const int lane = lane_id();
  if (lane >= s.source_count) return;
  const std::int64_t v = s.sources[lane];
  (void)claim_pair(s.states, v, lane, forward_code(0));
  s.numbers[v * 4 + lane] = 1;
  s.levels[v * 4 + lane] = 0;
  s.list[lane] = static_cast<entry_of<I>>(v) * 4 + static_cast<entry_of<I>>(lane);
  atomicAdd(&to->edges, static_cast<count64>(s.out.offsets[v + 1] - s.out.offsets[v]));
}

// Takes a step that ends with a barrier; counts into `filling`.
template <class I, class O>
__device__ __forceinline__ void take_step(const search<I, O>& s, const walker& my, const position& at,
                                          step_action action, counters* filling) {
  thread_tally tally;
  if (action == step_action::pull) {
    run_dense<dense_step::pull>(s, my, {.depth = at.depth, .alive = at.alive, .marks = marks_pairs(at)}, tally);
  } else if (action == step_action::list) {
    list_level(s, my, at.depth, s.list + at.end, &filling->entries);
  } else {
    const bool sums = action != step_action::push && !at.summed;
    const bool marks = action != step_action::sum;
    const bool apart = sums && marks && !s.mirrored;  // along two rows
    for (int part = apart ? 0 : 1; part < 2; ++part) {
      list_task<I> t;
      t.depth = at.depth;
      if (sums && (part == 0 || !apart)) {
        t.from = s.numbers;
        t.exponents = at.depth > at.wide_from ? s.exponents : nullptr;
        t.wide = at.depth >= at.wide_from;
      }
      if (marks && part == 1) {
        t.marks = true;
        t.adds = action == step_action::push;
        t.entries = &filling->entries;
        const bool lists = !t.adds || at.edges <= static_cast<double>(s.n / cuda_tuning::dense);
        if (lists) t.to = s.list + at.end;
      }
      run_list(s, my, t, t.marks ? s.out : s.in, at.begin, at.end, tally);
    }
  }
  add_tally(filling, tally);
}

// Where the search stands after a step. By one thread of each block.
template <class I, class O>
__device__ void advance(const search<I, O>& s, position& at, step_action action, const counters& found) {
  if (action == step_action::sum) {
    at.summed = true;
    return;
  }
  const auto entries = static_cast<std::int64_t>(__ldcg(&found.entries));
  if (action == step_action::list) {
    at.begin = at.end;
    at.end += entries;
    at.dense = false;
    return;
  }
  const bool pulled = action == step_action::pull;
  const bool pushed = action == step_action::push;
  ++at.depth;
  at.pairs = static_cast<std::int64_t>(__ldcg(&found.pairs));
  at.dense = pulled || (pushed && at.edges > static_cast<double>(s.n / cuda_tuning::dense));
  at.summed = pulled || pushed;
  at.begin = at.end;
  at.end += entries;
  at.edges = static_cast<double>(__ldcg(&found.edges));
  if (pulled) {
    at.open = static_cast<double>(__ldcg(&found.open));
    at.largest = __longlong_as_double(static_cast<long long>(__ldcg(&found.largest)));
    at.alive = 0;
    for (int k = 0; k < cuda_tuning::lanes; ++k) at.alive |= __ldcg(&found.found[k]) != 0 ? 1U << k : 0U;
    return;
  }
  at.open = fmax(0.0, at.open - at.edges / cuda_tuning::lanes);
  at.largest = fmin(at.largest * s.growth, most_paths);
  at.alive = (1U << s.source_count) - 1;
  if (at.wide_from == no_level && at.largest >= number_range::end) at.wide_from = at.depth;
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, cuda_tuning::min_blocks)
    forward_kernel(const __grid_constant__ search<I, O> s) {
  __shared__ position at;
  const cg::grid_group grid = cg::this_grid();
  const bool leader = threadIdx.x == 0;
  const bool first = leader && blockIdx.x == 0;
  control_block* const control = s.control;
  const walker my;

  clear_search(s);
  clear_states(s);
  if (first) {
    for (counters& c : control->step) c = {};
    for (count64& r : control->reached) r = 0;
  }
  grid.sync();
  if (blockIdx.x == 0 && threadIdx.x < warp_size) start_search(s, &control->step[0]);
  grid.sync();
  if (leader) {
    at = {};
    at.pairs = at.end = s.source_count;
    at.edges = static_cast<double>(__ldcg(&control->step[0].edges));
    at.open = static_cast<double>(s.edges);
    at.largest = 1;
    at.wide_from = no_level;
    at.alive = (1U << s.source_count) - 1;
    at.summed = true;
  }
  __syncthreads();

  for (int turn = 0; at.pairs > 0; turn = (turn + 1) % 3) {
    counters* const filling = &control->step[(turn + 1) % 3];
    const step_action action = next_action(s, at);
    if (first) {
      control->step[(turn + 2) % 3] = {};
      const bool marked = action == step_action::pull && marks_pairs(at);
      s.begins[at.depth] = 4 * at.begin + (at.dense ? level_kind::dense : 0) + (marked ? level_kind::marked : 0);
    }
    take_step(s, my, at, action, filling);
    grid.sync();
    if (leader) advance(s, at, action, *filling);
    __syncthreads();
  }
  if (!first) return;
  s.begins[at.depth] = 4 * at.begin;
  control->depth = at.depth - 1;
  control->wide_from = at.wide_from;
}

// Clears the states, which have told what they know: how many pairs each lane has.
template <class I, class O>
__device__ void count_reached(const search<I, O>& s) {
  count64 mine[cuda_tuning::lanes] = {};
  for (std::int64_t k = global_thread(); k < (s.n + 3) / 4; k += grid_threads()) {
    const unsigned state = reinterpret_cast<unsigned*>(s.states)[k];
    reinterpret_cast<unsigned*>(s.states)[k] = 0;
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

template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, cuda_tuning::min_blocks)
    backward_kernel(const __grid_constant__ search<I, O> s) {
  const cg::grid_group grid = cg::this_grid();
  const walker my;
  const int levels = s.control->depth;
  const int wide_from = s.control->wide_from;
  count_reached(s);
  grid.sync();
  if (global_thread() < s.source_count) {
    const auto lane = static_cast<int>(threadIdx.x);
    const auto reached = static_cast<double>(__ldcg(&s.control->reached[lane]) - 1);
    s.dependencies[std::int64_t{s.sources[lane]} * 4 + lane] = s.own * reached;
  }
  std::int64_t after = s.begins[levels + 1] / 4;
  std::int64_t begins = s.begins[levels];
  for (int depth = levels; depth > 0; --depth) {
    const std::int64_t next = s.begins[depth - 1];
    const bool ends = depth == levels;
    thread_tally tally;
    if ((begins & level_kind::dense) != 0) {
      run_dense<dense_step::back>(s, my, {.depth = depth, .marked = (begins & level_kind::marked) != 0, .ends = ends},
                                  tally);
    } else {
      list_task<I> t;
      t.depth = depth;
      t.from = s.quotients;
      t.exponents = depth + 1 >= wide_from ? s.exponents : nullptr;
      t.wide = depth >= wide_from;
      t.backward = true;
      t.ends = ends;
      run_list(s, my, t, s.out, begins / 4, after, tally);
    }
    after = begins / 4;
    begins = next;
    grid.sync();
  }
  grid.sync();
  for (std::int64_t v = global_thread(); v < s.n; v += grid_threads()) {
    const double2* const four = reinterpret_cast<const double2*>(s.dependencies) + 2 * v;
    s.values[v] += (four[0].x + four[0].y) + (four[1].x + four[1].y);
  }
}

// -1 for none.
__device__ inline int level_of(int entry) { return entry < 0 ? entry : entry & ~level_kind::leads_on; }

// The values of edges, from what both searches have left. A warp takes a vertex; the neighbouring ones of its edges'
// ends share their sectors.
template <class I, class O>
__global__ void __launch_bounds__(256) edges_kernel(const __grid_constant__ search<I, O> s, double* values) {
  const walker my;
  const bool wide = s.control->wide_from <= s.control->depth;
  for (std::int64_t u = my.warp; u < s.n; u += my.warps) {
    const int4 own = reinterpret_cast<const int4*>(s.levels)[u];
    const int level[4] = {level_of(own.x), level_of(own.y), level_of(own.z), level_of(own.w)};
    if ((own.x & own.y & own.z & own.w) < 0) continue;
    for (std::int64_t e = s.out.offsets[u] + lane_id(); e < s.out.offsets[u + 1]; e += warp_size) {
      const std::int64_t v = s.out.indices[e];
      const int4 its = reinterpret_cast<const int4*>(s.levels)[v];
      const int its_level[4] = {level_of(its.x), level_of(its.y), level_of(its.z), level_of(its.w)};
      double sum = 0;
#pragma unroll
      for (int lane = 0; lane < cuda_tuning::lanes; ++lane) {
        if (level[lane] < 0 || its_level[lane] != level[lane] + 1) continue;
        double term = s.quotients[v * 4 + lane];
        if (wide) {
          const int from = s.control->wide_from;
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
