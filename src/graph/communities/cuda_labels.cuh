// Label propagation on the device: state shared by the kernels of a round.
#pragma once

#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"

#include <limits>

namespace spargo::detail::communities {

// Untuned where no time is given: H200, ten rounds of a uniform graph of 2^22 vertices, rows of 32, ms.
struct cuda_tuning {
  static constexpr int thread_row = 8;   // longest row for one thread
  static constexpr int warp_row = 128;   // longest row for one warp: four labels per lane
  static constexpr int warp_blocks = 6;  // resident blocks per multiprocessor for warp rows; 6: 15.6, 8: 15.1
  static constexpr int warp_grid = 64;   // blocks launched per multiprocessor; 16: 15.6, 64: 15.0
  static constexpr int block_slots = 2048;
  static constexpr int block_row = 4096;  // longest row whose labels a block counts all at once
  static constexpr int huge_block = 1024;
  static constexpr int bounds = 4096;
  static constexpr int unroll = 4;  // labels in flight per thread of a block
  static constexpr count64 changed_share =
      16;  // the frontier is marked when fewer than 1 / changed_share of the vertices changed
};

inline constexpr int warps_per_block = block_threads / warp_size;

// Counters of a round; row counts and `bad` are set once per plan or run.
struct tallies {
  count64 changed;  // vertices whose label changed
  count64 unlike;   // vertices whose label differs from two rounds before
  count64 tiny;     // rows per thread
  count64 small;    // rows per warp
  count64 large;    // rows per block
  count64 huge;     // rows per large block
  count64 bad;      // n minus the first vertex with an invalid initial label
};

// Out-neighbours, then in-neighbours.
template <class I>
struct neighbour_list {
  const I* out;
  const I* in;
  std::int64_t out_size;
  std::int64_t size;
  __device__ I operator[](std::int64_t k) const { return k < out_size ? out[k] : in[k - out_size]; }
};

template <class I, class O>
struct neighbour_lists {
  const O* out_offsets;
  const I* out;
  const O* in_offsets;  // null for an undirected graph
  const I* in;

  __device__ neighbour_list<I> of(std::int64_t v) const {
    const std::int64_t first = out_offsets[v];
    const std::int64_t size = out_offsets[v + 1] - first;
    if (in_offsets == nullptr) return {out + first, nullptr, size, size};
    const std::int64_t in_first = in_offsets[v];
    return {out + first, in + in_first, size, size + in_offsets[v + 1] - in_first};
  }
};

template <class I>
struct vote {
  unsigned count;
  I label;

  // Keeps the more frequent label; ties: the smaller.
  __device__ void offer(const vote& other) {
    if (other.count > count || (other.count == count && other.label < label)) *this = other;
  }
};

template <class I>
constexpr vote<I> no_vote{0, std::numeric_limits<I>::max()};

template <class I>
__device__ vote<I> best_of_warp(vote<I> mine) {
  for (int step = warp_size / 2; step > 0; step /= 2) {
    mine.offer({shuffle_xor(mine.count, step), shuffle_xor(mine.label, step)});
  }
  return mine;
}

// ascending: along rows, mostly; a hint, not relied on.
enum class labels_are { vertices, ascending, any };

template <class I>
struct label_arrays {
  const I* now;
  I* next;  // holds the labels of two rounds before
  labels_are kind;

  __device__ I label_of(I u) const { return kind == labels_are::vertices ? u : now[u]; }

  // Stores the vertex's new label; called by one thread.
  __device__ void settle(std::int64_t v, I label, unsigned& changed, unsigned& unlike) const {
    changed += label != now[v] ? 1 : 0;
    unlike += label != next[v] ? 1 : 0;
    next[v] = label;
  }
};

// The vertices that a round processes: all, or those marked for it.
struct active_vertices {
  const unsigned* marks = nullptr;
  unsigned round = 0;
  __device__ bool has(std::int64_t v) const { return marks == nullptr || marks[v] == round; }
};

// Called by all threads of the warp.
__device__ inline void add_to_tallies(tallies* all, unsigned changed, unsigned unlike) {
  changed = warp_sum(changed);
  unlike = warp_sum(unlike);
  if (lane_id() != 0) return;
  if (changed > 0) atomicAdd(&all->changed, count64{changed});
  if (unlike > 0) atomicAdd(&all->unlike, count64{unlike});
}

}  // namespace spargo::detail::communities
