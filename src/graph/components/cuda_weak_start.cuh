// The first kernel of weak components on the device: hooks every vertex under one of its first few neighbours, which
// one sector holds. See cuda_weak.cuh for the idea and the order of the kernels.
#pragma once

#include "core/cuda.cuh"
#include "core/device/early_launch.cuh"
#include "core/device/warp.cuh"
#include "graph/components/cuda_forest.cuh"

#include <spargo/core/device_features.cuh>
#include <spargo/graph/frontier/expansion.cuh>

#include <limits>

namespace spargo::detail::components {

struct cuda_start_tuning {
  static constexpr int block = 512;
  static constexpr int vertices_per_thread = 4;  // of a chunk
  static constexpr int chunk = block * vertices_per_thread;
  static constexpr int neighbours = 2;            // per vertex; 2, 3, 4: R-MAT 22 0.231, 0.237, 0.261 ms
  static constexpr int joined_from = block / 16;  // threads that have a neighbour within the chunk
  static constexpr std::int64_t sector = 32;      // bytes per memory transaction
};

struct weak_control {
  count64 queued = 0;         // roots with neighbours
  count64 remaining = 0;      // of these, still roots after their joins
  count64 outside = 0;        // vertices outside the largest tree
  count64 segments[2]{};      // queued by the passes over out-edges and in-edges
  count64 isolated = 0;       // vertices without edges, where `weak_start::isolated` is set
  count64 roots = 0;          // found by the last kernel
  unsigned done = 0;          // blocks of the last kernel
  std::int64_t largest = -1;  // root of the tree that is skipped
};

template <class I, class O>
struct weak_edges {
  const O* offsets;
  const I* indices;
};

struct weak_start {
  unsigned* isolated;  // bits of vertices without edges; null for a directed graph, where other rows may name them
  bool one_sector;     // rows are long: skip neighbours in a second sector
};

// A chunk's trees by position in it; per root, the smallest neighbour below the chunk.
template <class I>
struct chunk_trees {
  std::int32_t tree[cuda_start_tuning::chunk];
  I hook[cuda_start_tuning::chunk];
};

template <class I>
struct chunk_vertices {
  I neighbour[cuda_start_tuning::vertices_per_thread][cuda_start_tuning::neighbours];
  I parent[cuda_start_tuning::vertices_per_thread];
};

template <class I>
inline constexpr I no_neighbour = std::numeric_limits<I>::max();

__device__ __forceinline__ void lower_hook(std::int32_t* hook, std::int32_t to) { atomicMin(hook, to); }
__device__ __forceinline__ void lower_hook(std::int64_t* hook, std::int64_t to) {
  atomicMin(reinterpret_cast<long long*>(hook), static_cast<long long>(to));
}

// Lanes hold consecutive vertices; returns the first lane of the run joined to this lane by edges between neighbours.
__device__ __forceinline__ int first_of_run(bool joins_previous) {
  const int lane = lane_id();
  const unsigned joined = __ballot_sync(full_mask, joins_previous && lane > 0);
  return 31 - __clz(static_cast<int>(~joined & (full_mask >> (31 - lane))));
}

// Pointer jumping until every position is under its root. All threads of the block call it.
template <class I>
__device__ void flatten_chunk(chunk_trees<I>& chunk) {
  volatile std::int32_t* const tree = chunk.tree;
  for (bool moved = true; __syncthreads_or(moved ? 1 : 0) != 0;) {
    moved = false;
    for (int k = static_cast<int>(threadIdx.x); k < cuda_start_tuning::chunk; k += cuda_start_tuning::block) {
      const std::int32_t p = tree[k];
      const std::int32_t above = tree[p];
      if (p == above) continue;
      tree[k] = above;
      moved = true;
    }
  }
}

template <class I>
__device__ __forceinline__ I lowest_neighbour(const I (&neighbour)[cuda_start_tuning::neighbours]) {
  I lowest = neighbour[0];
#pragma unroll
  for (int j = 1; j < cuda_start_tuning::neighbours; ++j) lowest = neighbour[j] < lowest ? neighbour[j] : lowest;
  return lowest;
}

// Joins a chunk's vertices with each other, then hooks every tree under its smallest neighbour below the chunk.
template <class I>
__device__ void join_chunk(chunk_trees<I>& chunk, std::int64_t base, std::int64_t end, chunk_vertices<I>& own) {
  using tuning = cuda_start_tuning;
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const int at = k * tuning::block + static_cast<int>(threadIdx.x);
    bool joins_previous = false;
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j)
      joins_previous = joins_previous || own.neighbour[k][j] == base + at - 1;
    chunk.tree[at] = at - (lane_id() - first_of_run(joins_previous));
    chunk.hook[at] = no_neighbour<I>;
  }
  __syncthreads();

  volatile std::int32_t* const tree = chunk.tree;
  const auto load = [tree](std::int32_t k) { return tree[k]; };
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const int at = k * tuning::block + static_cast<int>(threadIdx.x);
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j) {
      if (own.neighbour[k][j] < base || own.neighbour[k][j] >= end) continue;
      join_trees(chunk.tree, load(at), load(static_cast<std::int32_t>(own.neighbour[k][j] - base)), load);
    }
  }
  flatten_chunk(chunk);  // begins and ends with a barrier

#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const int at = k * tuning::block + static_cast<int>(threadIdx.x);
    const I lowest = lowest_neighbour(own.neighbour[k]);
    I* const hook = &chunk.hook[chunk.tree[at]];
    if (lowest < base && lowest < *const_cast<volatile I*>(hook)) lower_hook(hook, lowest);
  }
  __syncthreads();

#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const std::int32_t root = chunk.tree[k * tuning::block + static_cast<int>(threadIdx.x)];
    own.parent[k] = chunk.hook[root] != no_neighbour<I> ? chunk.hook[root] : static_cast<I>(base + root);
  }
  __syncthreads();
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_start_tuning::block,
                                  resident_blocks(sizeof(I) == 4 ? 2048 / cuda_start_tuning::block : 1,
                                                  cuda_start_tuning::block))
    start_kernel(std::int64_t n, weak_edges<I, O> edges, weak_start how, I* parent, I* roots, weak_control* control) {
  start_kernel_behind();
  using tuning = cuda_start_tuning;
  __shared__ chunk_trees<I> chunk;
  __shared__ unsigned found;
  __shared__ unsigned isolated;
  __shared__ count64 queue_start;
  const std::int64_t base = std::int64_t{blockIdx.x} * tuning::chunk;
  const std::int64_t end = min(base + tuning::chunk, n);
  if (threadIdx.x == 0) found = isolated = 0;

  constexpr O in_sector = tuning::sector / static_cast<std::int64_t>(sizeof(I));
  chunk_vertices<I> own;
  O first[tuning::vertices_per_thread];
  int count[tuning::vertices_per_thread];  // neighbours read
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {  // loads only, so that all are in flight together
    const std::int64_t v = base + k * tuning::block + threadIdx.x;
    first[k] = v < n ? edges.offsets[v] : O{0};
    const O degree = v < n ? edges.offsets[v + 1] - first[k] : O{0};
    count[k] = static_cast<int>(min(degree, O{tuning::neighbours}));
    if (how.one_sector) count[k] = min(count[k], static_cast<int>(in_sector - first[k] % in_sector));
  }
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j) {
      own.neighbour[k][j] = j < count[k] ? __ldcs(edges.indices + first[k] + j) : no_neighbour<I>;
    }
  }
  bool within = false;
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j)
      within = within || (own.neighbour[k][j] >= base && own.neighbour[k][j] < end);
  }
  // In a random graph neighbours within the chunk are rare and not worth a join.
  if (__syncthreads_count(within ? 1 : 0) >= tuning::joined_from) {
    join_chunk(chunk, base, end, own);
  } else {
#pragma unroll
    for (int k = 0; k < tuning::vertices_per_thread; ++k) {
      const I v = static_cast<I>(base + k * tuning::block + threadIdx.x);
      const I lowest = lowest_neighbour(own.neighbour[k]);
      own.parent[k] = lowest < v ? lowest : v;
    }
  }
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const std::int64_t v = base + k * tuning::block + threadIdx.x;
    const bool has_edges = own.neighbour[k][0] != no_neighbour<I>;
    if (v < n) parent[v] = own.parent[k];
    append_by_warp(chunk.hook, &found, static_cast<I>(v), has_edges && own.parent[k] == v, lane_id());
    const unsigned marks = __ballot_sync(full_mask, v < n && !has_edges);
    if (how.isolated == nullptr || lane_id() != 0 || v >= n) continue;
    how.isolated[v / warp_size] = marks;
    if (marks != 0) atomicAdd(&isolated, static_cast<unsigned>(__popc(marks)));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (isolated > 0) atomicAdd(&control->isolated, count64{isolated});
    if (found > 0) queue_start = atomicAdd(&control->queued, count64{found});
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < found; k += tuning::block) roots[queue_start + k] = chunk.hook[k];
}

}  // namespace spargo::detail::components
