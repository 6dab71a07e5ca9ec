// Kernel of the device multi-source search: a persistent grid runs all levels of a batch, with a grid barrier per step.
//
// Invariants: seen[v] is the set of searches that have reached v. The frontier is in the queue and in `front`, or it is
// seen & ~other. Between steps every block holds the same `position`. Cost: one barrier per pulled level, two per
// pushed level, three per level split between both.
#pragma once

#include "graph/multi_bfs/cuda_pull.cuh"
#include "graph/multi_bfs/cuda_push.cuh"

#include <cooperative_groups.h>

#include <utility>

namespace spargo::detail::multi_bfs {

namespace cg = cooperative_groups;

// State that the next level depends on; one copy per block.
struct position {
  std::int64_t vertices;  // in the frontier
  std::int64_t edges;
  std::int64_t unfinished;
  std::int64_t queued;  // frontier vertices in the queue
  std::int64_t chunks;
  std::int32_t level;
  std::int32_t base;  // levels up to this one are in the result
  bool in_queue;      // otherwise the frontier is seen & ~other
};

enum class step_kind {
  pull,
  split,  // pulls some searches, then pushes the others
  sparse_push,
  dense_push,
};

template <int W>
__device__ void read_found(position& at, const counters<W>& found, step_kind step) {
  at.vertices = static_cast<std::int64_t>(__ldcg(&found.vertices));
  at.edges = static_cast<std::int64_t>(__ldcg(&found.edges));
  if (step == step_kind::sparse_push) {
    at.unfinished -= static_cast<std::int64_t>(__ldcg(&found.finished));
  } else {
    at.unfinished = static_cast<std::int64_t>(__ldcg(&found.open));
  }
  at.in_queue = step == step_kind::sparse_push;
  at.queued = static_cast<std::int64_t>(__ldcg(&found.queued));
  at.chunks = static_cast<std::int64_t>(__ldcg(&found.chunks));
}

// Level 0, by one block with one thread per source: each source sets its own bit; a duplicate is queued once.
template <class I, class O, int W, class Sink>
__device__ void start(const search<I, O, W, Sink>& s, counters<W>* to) {
  const int k = static_cast<int>(threadIdx.x);
  const bool any = k < s.source_count;
  const std::int64_t v = any ? static_cast<std::int64_t>(s.sources[k]) : 0;
  const unsigned mark = 1U << (v & 31);
  if (any) {
    atomicOr(&s.seen[v].w[k / 64], count64{1} << (k % 64));
    to->found[k] = 1;
  }
  __syncthreads();
  std::int64_t degree = 0;
  if (any && (atomicOr(s.marks + (v >> 5), mark) & mark) == 0) {
    const search_words<W> bits = latest(s.seen[v]);
    degree = out_degree(s, v);
    s.front[v] = bits;
    s.queue[atomicAdd(&to->queued, count64{1})] = static_cast<I>(v);
    atomicAdd(&to->vertices, count64{1});
    atomicAdd(&to->edges, static_cast<count64>(degree));
    if (s.in_offsets != nullptr && same(bits, s.full)) {
      atomicAdd(&to->finished, static_cast<count64>(s.in_offsets[v + 1] - s.in_offsets[v]));
    }
  }
  __syncthreads();
  append_chunks(s.push_chunks, &to->chunks, static_cast<I>(v), degree, cuda_tuning::push_chunk);
  if (any) atomicAnd(s.marks + (v >> 5), ~mark);
}

// Vertices found by each search in the last level, and the searches that found any. One copy per block.
template <int W>
struct last_found {
  count64 vertices[64 * W];
  search_words<W> active;
  search_words<W> lagging;
};

// Packs the bits of the block's first 64 W threads into `to`.
template <int W>
__device__ void gather_bits(search_words<W>& to, bool bit) {
  const unsigned bits = __ballot_sync(full_mask, bit);
  if (threadIdx.x % warp_size != 0) return;
  reinterpret_cast<unsigned*>(&to)[threadIdx.x / warp_size] = bits;  // low half first
}

template <int W>
__device__ void load_found(last_found<W>& last, const counters<W>& found) {
  if (threadIdx.x >= 64 * W) return;
  last.vertices[threadIdx.x] = __ldcg(&found.found[threadIdx.x]);
  gather_bits(last.active, last.vertices[threadIdx.x] != 0);
}

// Selects the searches with the fewest vertices, together at most `most`.
template <int W>
__device__ void select_lagging(last_found<W>& last, count64 most) {
  if (threadIdx.x < 64 * W) {
    const count64 mine = last.vertices[threadIdx.x];
    count64 sum = 0;
    for (unsigned k = 0; k < 64 * W; ++k) {
      const count64 theirs = last.vertices[k];
      if (theirs < mine || (theirs == mine && k <= threadIdx.x)) sum += theirs;
    }
    gather_bits(last.lagging, mine != 0 && sum <= most);
  }
  __syncthreads();
}

// Called by a whole block.
template <class I, class O, int W, class Sink>
__device__ step_kind next_step(const search<I, O, W, Sink>& s, const position& at, last_found<W>& last) {
  if (s.allowed == bfs_direction::pull) return step_kind::pull;
  const level_facts facts{s.n, at.edges, max(at.unfinished, std::int64_t{0})};
  if (s.allowed == bfs_direction::push || !pulls(facts, cuda_tuning::alpha)) {
    return at.edges > s.n / cuda_tuning::dense_share ? step_kind::dense_push : step_kind::sparse_push;
  }
  if (!may_split(facts, s.edges)) return step_kind::pull;
  select_lagging(last, static_cast<count64>(s.n / cuda_tuning::lag_share));
  return is_zero(last.lagging) || same(last.lagging, last.active) ? step_kind::pull : step_kind::split;
}

// Position of a thread in the grid, and the arrays that are swapped between levels.
template <class I, int W>
struct grid_position {
  std::int64_t thread;
  std::int64_t threads;
  std::int64_t warp;
  std::int64_t warps;
  search_words<W>* seen;
  search_words<W>* other;
  I* queue;
  I* next_queue;
};

template <class I, class O, int W, class Sink>
__device__ void pull_level(const search<I, O, W, Sink>& s, grid_position<I, W>& my, const search_words<W>& wanted,
                           int depth, thread_tally& tally) {
  pull_chunks(s, my.seen, my.other, wanted, depth, my.warp, my.warps, tally);
  pull_vertices(s, my.seen, my.other, wanted, depth, my.warp, my.warps, tally);
  std::swap(my.seen, my.other);
}

template <class I, class O, int W, class Sink>
__device__ void reset_conversion(const search<I, O, W, Sink>& s, const grid_position<I, W>& my) {
  if (my.thread == 0) s.control->converted_queued = s.control->converted_chunks = 0;
}

// Converts the frontier of `searches` into a queue; ends with a barrier.
template <queueing Queueing, class I, class O, int W, class Sink>
__device__ void convert(const search<I, O, W, Sink>& s, const grid_position<I, W>& my, position& at,
                        const search_words<W>& searches, const cg::grid_group& grid) {
  queue_found<Queueing>(s, my.seen, my.other, searches, my.queue, my.warp, my.warps);
  grid.sync();
  if (threadIdx.x == 0) {
    at.queued = static_cast<std::int64_t>(__ldcg(&s.control->converted_queued));
    at.chunks = static_cast<std::int64_t>(__ldcg(&s.control->converted_chunks));
  }
  __syncthreads();
}

// Pulls `wanted`, then pushes the lagging searches; ends without a barrier.
template <class I, class O, int W, class Sink>
__device__ void split_level(const search<I, O, W, Sink>& s, grid_position<I, W>& my, position& at,
                            const search_words<W>& wanted, const search_words<W>& lagging, int depth,
                            const cg::grid_group& grid, thread_tally& tally) {
  if (!at.in_queue) convert<queueing::before_pull>(s, my, at, lagging, grid);
  pull_level(s, my, wanted, depth, tally);
  grid.sync();
  reset_conversion(s, my);
  const push_arrays<I, W> to{my.other, my.seen, nullptr, nullptr, lagging, depth};
  push_chunks<push_kind::late>(s, to, at.chunks, my.warp, my.warps, tally);
  push_queue<push_kind::late>(s, to, my.queue, at.queued, my.warp, my.warps, tally);
}

// Ends without a barrier.
template <class I, class O, int W, class Sink>
__device__ void push_level(const search<I, O, W, Sink>& s, grid_position<I, W>& my, position& at, step_kind step,
                           const search_words<W>& wanted, counters<W>* filling, int depth, const cg::grid_group& grid,
                           thread_tally& tally) {
  if (!at.in_queue) convert<queueing::before_push>(s, my, at, s.full, grid);
  const push_arrays<I, W> to{my.seen, my.other, my.next_queue, &filling->queued, s.full, depth};
  if (step == step_kind::sparse_push) {
    push_chunks<push_kind::sparse>(s, to, at.chunks, my.warp, my.warps, tally);
    push_queue<push_kind::sparse>(s, to, my.queue, at.queued, my.warp, my.warps, tally);
    grid.sync();
    std::swap(my.queue, my.next_queue);
    const auto queued = static_cast<std::int64_t>(__ldcg(&filling->queued));
    take(s, my.seen, my.other, my.queue, queued, depth, &filling->chunks, my.thread, my.threads, tally);
  } else {
    push_chunks<push_kind::dense>(s, to, at.chunks, my.warp, my.warps, tally);
    push_queue<push_kind::dense>(s, to, my.queue, at.queued, my.warp, my.warps, tally);
    grid.sync();
    reset_conversion(s, my);
    take_all(s, my.seen, my.other, wanted, depth, my.thread, my.threads, tally);
  }
}

template <class I, class O, int W, class Sink>
__global__ void __launch_bounds__(cuda_tuning::block, cuda_tuning::min_blocks) search_kernel(search<I, O, W, Sink> s) {
  __shared__ position at;
  __shared__ unsigned found[64 * W];
  __shared__ last_found<W> last;
  constexpr int searches = 64 * W;
  const cg::grid_group grid = cg::this_grid();
  const bool leader = threadIdx.x == 0;
  const bool counts = blockIdx.x == 0 && threadIdx.x < searches;  // sums up the search of its index
  control_block<W>* const control = s.control;
  multi_bfs_counts total{.reached = 1};
  grid_position<I, W> my{.thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x,
                         .threads = std::int64_t{gridDim.x} * blockDim.x,
                         .warp = std::int64_t{threadIdx.x / warp_size} * gridDim.x + blockIdx.x,
                         .warps = std::int64_t{gridDim.x} * blockDim.x / warp_size,
                         .seen = s.seen,
                         .other = s.other,
                         .queue = s.queue,
                         .next_queue = s.next_queue};

  for (unsigned k = threadIdx.x; k < searches; k += blockDim.x) found[k] = 0;
  if (leader) at = {.unfinished = s.edges, .in_queue = true};
  if (blockIdx.x == 0) start(s, control->found.filled(0));
  grid.sync();
  if (leader) read_found(at, *control->found.filled(0), step_kind::sparse_push);
  load_found(last, *control->found.filled(0));
  __syncthreads();

  for (int turn = 0; at.vertices > 0; turn = next_turn(turn)) {
    counters<W>* const filling = control->found.begin_step(turn);
    const int depth = at.level + 1 - at.base;
    const step_kind kind = next_step(s, at, last);
    const search_words<W> wanted = kind == step_kind::split ? without(last.active, last.lagging) : last.active;
    thread_tally tally{{}, found};
    if (kind == step_kind::pull) {
      reset_conversion(s, my);
      pull_level(s, my, wanted, depth, tally);
    } else if (kind == step_kind::split) {
      split_level(s, my, at, wanted, last.lagging, depth, grid, tally);
    } else {
      push_level(s, my, at, kind, wanted, filling, depth, grid, tally);
    }
    add_found(filling, tally);
    grid.sync();
    if (leader) {
      read_found(at, *filling, kind);
      ++at.level;
    }
    load_found(last, *filling);
    __syncthreads();
    if (counts) add_level(total, static_cast<std::int64_t>(__ldcg(&filling->found[threadIdx.x])), at.level);
    if (std::is_same_v<Sink, level_sink> && depth == cuda_tuning::window) {
      if (s.planes != nullptr) write_levels(s, my.seen, at.base, depth, my.warp, my.warps);
      grid.sync();
      if (leader) at.base = at.level;
      __syncthreads();
    }
  }
  if (std::is_same_v<Sink, level_sink> && s.planes != nullptr) {
    write_levels(s, my.seen, at.base, at.level - at.base, my.warp, my.warps);
  }
  if (counts) control->counts[threadIdx.x] = total;
}

}  // namespace spargo::detail::multi_bfs
