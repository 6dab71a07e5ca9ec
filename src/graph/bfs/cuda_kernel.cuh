// Kernels of the device search. They run back to back without the host: the search position is in device memory, and a
// kernel with nothing to do returns at once.
//
// Idea: a persistent grid runs wide levels, with a grid barrier after each step; each level is pushed from a queue or
// pulled from a bitmap, as `next_direction` decides. One cluster of blocks runs narrow levels, since a cluster barrier
// is cheaper. The sequence is cluster, grid, cluster, grid; the last grid runs all remaining levels, narrow or wide.
// Invariant: between steps every block holds the same `search_position`; cuda_search.cuh states the invariant of a
// step. The host clears nothing: the last kernel marks unreached vertices and restores the bitmaps for the next search.
#pragma once

#include "graph/bfs/cuda_narrow.cuh"
#include "graph/bfs/cuda_pull.cuh"
#include "graph/bfs/cuda_push.cuh"
#include "graph/bfs/cuda_search.cuh"

#include <cooperative_groups.h>

#include <utility>

namespace spargo::detail::bfs {

enum class push_kind { global, block, balanced };

struct kernel_part {
  bool first = true;
  bool last = true;
};

// The frontier found by a step becomes the current one.
__device__ inline void advance(search_position& at, const counters& found, bfs_direction direction,
                               std::int64_t max_depth) {
  const bool pushed = direction == bfs_direction::push;
  at.previous = at.vertices;
  at.unexplored = at.unexplored > at.edges ? at.unexplored - at.edges : 0;
  at.vertices = static_cast<std::int64_t>(found.vertices);
  at.edges = static_cast<std::int64_t>(found.edges);
  at.reached += at.vertices;
  ++at.level;
  at.ended = found.target != 0 || at.level == max_depth ? 1 : 0;
  at.in_queue = pushed ? 1 : 0;
  at.begin = at.end;
  at.end += pushed ? static_cast<std::int64_t>(found.queued) : 0;
  at.hub_begin = at.hub_end;
  at.hub_end += pushed ? static_cast<std::int64_t>(found.chunks) : 0;
}

// The source is its own parent, at level 0. It enters the queue or, if a hub, the hub chunks. Called by one warp.
template <push_kind Kind, class I, class O>
__device__ void start_search(const search<I, O>& s) {
  const bool leader = threadIdx.x == 0;
  const std::int64_t degree = out_degree_of(s, s.source);
  const bool hub = Kind == push_kind::balanced && degree >= cuda_tuning::hub_degree;
  if (leader) {
    s.control->found = {};
    s.control->converted = {};
    s.control->flushed = {};
  }
  __syncwarp();
  append_hubs(s, hub && leader, s.source, 0, &s.control->converted.chunks);
  if (!leader) return;
  search_position at;
  if (s.previous_source >= 0)
    write_unreached(s, s.previous_source);  // the old source may have counted as visited from the start
  s.visited[s.source >> 5] |= 1U << (s.source & 31);
  write_found(s, s.source, s.source, 0);
  if (!hub) s.queue[0] = static_cast<I>(s.source);
  at.end = hub ? 0 : 1;
  at.hub_end = static_cast<std::int64_t>(s.control->converted.chunks);
  at.vertices = 1;
  at.edges = degree;
  at.unexplored = s.edges;
  at.reached = 1;
  at.ended = s.source == s.target || s.max_depth == 0 ? 1 : 0;
  s.control->position = at;
}

// The first block reports to the host. A frontier that was not expanded counts as a level too.
template <class I, class O>
__device__ void report_search(const search<I, O>& s, search_position& at) {
  __syncthreads();  // all threads have read `at`
  if (threadIdx.x == 0) s.control->position = at;
  if (threadIdx.x == 0 && at.vertices > 0) {
    if (at.level < s.level_slots) s.level_sizes[at.level] = at.vertices;
    ++at.level;
  }
  __syncthreads();
  const std::int64_t levels = at.level < host_report::size_slots ? at.level : host_report::size_slots;
  for (std::int64_t k = threadIdx.x; k < levels; k += blockDim.x) s.report->sizes[k] = s.level_sizes[k];
  if (threadIdx.x == 0) s.report->position = at;
}

template <class I, class O>
__global__ void __launch_bounds__(narrow_tuning::block, 1)
    narrow_kernel(const __grid_constant__ search<I, O> s, kernel_part part) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ search_position at;
  if (part.first) {
    if (global_thread() < warp_size) start_search<push_kind::balanced>(s);
    block_cluster().sync();
  } else if (blockIdx.x == 0 && threadIdx.x == 0) {  // all blocks of the grid have read the counters by now
    s.control->found = {};
  }
  if (threadIdx.x == 0) at = s.control->position;
  __syncthreads();
  if (at.vertices == 0 || at.ended != 0 || s.allowed == bfs_direction::pull) return;
  if (!is_narrow(at, static_cast<int>(gridDim.x), 1)) return;
  run_narrow_levels(s, at, raw);
}

// Dynamic shared memory per block: staging slots of its warps.
template <class I>
constexpr std::size_t staged_bytes() {
  return std::size_t{cuda_tuning::warps} * cuda_tuning::staged * sizeof(I);
}

template <class I>
__device__ I* staged_of(unsigned char* raw) {
  return reinterpret_cast<I*>(raw) + threadIdx.x / warp_size * cuda_tuning::staged;
}

// Blocks of the cluster that runs narrow levels next.
inline constexpr int narrow_blocks = has_hopper_blocks ? narrow_tuning::blocks : 1;

template <push_kind Kind, class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, 1)
    wide_kernel(const __grid_constant__ search<I, O> s, kernel_part part) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ search_position at;
  namespace cg = cooperative_groups;
  const cg::grid_group grid = cg::this_grid();
  const bool first = global_thread() == 0;
  const bool leader = threadIdx.x == 0;
  control_block* const control = s.control;
  unsigned* front = s.front;
  unsigned* next = s.next;
  bool clean = part.first;  // `front` has no bit set

  if (part.first && Kind != push_kind::balanced) {
    if (global_thread() < warp_size) start_search<Kind>(s);
    grid.sync();
  }
  if (leader) at = control->position;
  __syncthreads();

  for (int turn = 0, steps = 0; at.vertices > 0 && at.ended == 0; ++steps) {
    if (first && at.level < s.level_slots) s.level_sizes[at.level] = at.vertices;
    bfs_direction direction = s.allowed;
    if (direction == bfs_direction::automatic) {
      direction = next_direction(at.in_queue != 0 ? bfs_direction::push : bfs_direction::pull,
                                 {s.n, at.previous, at.vertices, at.edges, at.unexplored}, s.rule);
    }

    if (direction == bfs_direction::push && at.in_queue == 0) {
      sink<I> to{&control->converted, at.end, at.hub_end, {staged_of<I>(raw)}};
      bitmap_to_queue(s, to, front);
      grid.sync();
      if (leader) {
        const counters converted = load_counters(&control->converted);
        at.edges = static_cast<std::int64_t>(converted.edges);
        at.end += static_cast<std::int64_t>(converted.queued);  // from at.begin, where the last pull left it
        at.hub_end += static_cast<std::int64_t>(converted.chunks);
        at.in_queue = 1;
      }
      __syncthreads();
    }
    if (!part.last && steps > 0 && direction == bfs_direction::push && is_narrow(at, narrow_blocks, 2)) break;

    counters* const filling = control->found.begin_step(turn);
    thread_tally tally;
    if (direction == bfs_direction::pull) {
      if (at.in_queue != 0) {
        if (!clean) {
          for (std::int64_t w = global_thread(); w < s.words; w += grid_threads()) front[w] = 0;
          grid.sync();
        }
        queue_to_bitmap(s, at, front);
        grid.sync();
        clean = false;
      }
      if (first) control->converted = {};
      pull(s, filling, at, front, next, tally);
      std::swap(front, next);
    } else {
      sink<I> to{filling, at.end, at.hub_end, {staged_of<I>(raw)}};
      if constexpr (Kind == push_kind::balanced) {
        push_balanced(s, to, at,
                      [&](I vertex, O begin, int degree) { expand_together(s, to, vertex, begin, degree, tally); });
      }
      if constexpr (Kind == push_kind::block) push_block(s, to, at, tally);
      if constexpr (Kind == push_kind::global) push_global(s, to, at, tally);
    }
    __syncwarp();
    add_tally(filling, tally);
    grid.sync();
    if (leader) advance(at, load_counters(filling), direction, s.max_depth);
    __syncthreads();
    turn = next_turn(turn);
  }
  if (!part.last) {
    if (first) control->position = at;
    return;
  }
  if (at.vertices > 0 && at.in_queue != 0) write_queued(s, at);
  finish_bitmaps(s);
  if (blockIdx.x == 0) report_search(s, at);
}

}  // namespace spargo::detail::bfs
