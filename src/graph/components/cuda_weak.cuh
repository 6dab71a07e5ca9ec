// The kernels of weak components on the device: Afforest, without the host between them.
//
// 1. A block takes a chunk of consecutive vertices and joins them in shared memory by the first few neighbours of each,
//    which are read in one sector; every tree of the chunk then goes under the smallest neighbour seen outside. So a
//    grid's rows are one hop each, and in a small-world graph nearly every vertex is under a hub.
// 2. The chain above each chunk is shortened (pointer jumping), and roots are joined with their first neighbours.
// 3. One block draws vertices and finds the tree that most of them are in.
// 4. Vertices outside that tree join all their neighbours: by thread, by warp or in segments for blocks, by degree; the
//    others are skipped unread, since an edge that leaves the tree is seen from its other end. 5. takes the segments.
// 6. Every vertex gets its root, and roots are counted.
//
// A directed graph without in-edges shows an edge at one end only, so nothing is skipped: instead of 3. to 5. every
// vertex is put under its root, and the edges are read in tiles of the same size for each block. Nearly all have both
// ends under one root by then and cost a load of a parent each.
//
// The forest's invariant: cuda_forest.cuh. Afforest: Sutton, Ben-Nun, Barak, IPDPS 2018; degree bins and intermediate
// jumping: Jaiganesh, Burtscher, ECL-CC, HPDC 2018.
#pragma once

#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "graph/components/cuda_forest.cuh"

#include <spargo/core/span.hpp>

#include <limits>

namespace spargo::detail::components {

struct cuda_weak_tuning {
  static constexpr int block = 256;
  static constexpr int start_block = 512;
  static constexpr int vertices_per_thread = 4;  // of a chunk
  static constexpr int chunk = start_block * vertices_per_thread;
  static constexpr int neighbours = 2;             // of a vertex, at first; 2, 3, 4: R-MAT 22 0.231, 0.237, 0.261 ms
  static constexpr int draws = 1024;               // as in Afforest
  static constexpr int slots = 2048;               // for the roots of those drawn
  static constexpr std::int64_t small_degree = 8;  // up to here a thread follows a vertex's edges
  static constexpr std::int64_t segment_edges = 4096;  // above, they are followed in segments; between by a warp
  static constexpr int labelled = 4;         // vertices of a thread at the end; 1, 4: R-MAT 22 0.022, 0.017 ms
  static constexpr int edges_in_flight = 4;  // of a thread, all edges read; 4, 8: R-MAT 22 directed 0.938, 1.067 ms
  static constexpr int tile_rows = 1024;     // of a tile of edges, kept in shared memory; more are looked up
};

struct weak_control {
  count64 segments[2];  // queued by the pass over out-edges, over in-edges
  count64 roots;
  std::int64_t largest;  // root of the tree that is skipped
};

// Edges [first, first + segment_edges) of a vertex, as far as it has them.
template <class I>
struct weak_segment {
  I vertex;
  std::int64_t first;
};

template <class I, class O>
struct weak_edges {
  const O* offsets;
  const I* indices;
};

// --- 1. Chunks ------------------------------------------------------------

// A chunk's trees by position in it, and the smallest neighbour outside and below the chunk, by root.
template <class I>
struct chunk_trees {
  std::int32_t tree[cuda_weak_tuning::chunk];
  I hook[cuda_weak_tuning::chunk];
};

__device__ __forceinline__ void lower_hook(std::int32_t* hook, std::int32_t to) { atomicMin(hook, to); }
__device__ __forceinline__ void lower_hook(std::int64_t* hook, std::int64_t to) {
  atomicMin(reinterpret_cast<long long*>(hook), static_cast<long long>(to));
}

// Lanes hold consecutive vertices; the first one of those that edges to the vertex before join with this lane's.
__device__ __forceinline__ int first_of_run(bool joins_previous) {
  const int lane = lane_id();
  const unsigned joined = __ballot_sync(full_mask, joins_previous && lane > 0);
  return 31 - __clz(static_cast<int>(~joined & (full_mask >> (31 - lane))));
}

// Until every position is under its root. All threads of the block.
template <class I>
__device__ void flatten_chunk(chunk_trees<I>& chunk) {
  volatile std::int32_t* const tree = chunk.tree;
  for (bool moved = true; __syncthreads_or(moved ? 1 : 0) != 0;) {
    moved = false;
    for (int k = static_cast<int>(threadIdx.x); k < cuda_weak_tuning::chunk; k += cuda_weak_tuning::start_block) {
      const std::int32_t p = tree[k];
      const std::int32_t above = tree[p];
      if (p == above) continue;
      tree[k] = above;
      moved = true;
    }
  }
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::start_block)
    start_kernel(std::int64_t n, weak_edges<I, O> edges, I* parent, weak_control* control) {
  using tuning = cuda_weak_tuning;
  constexpr I none = std::numeric_limits<I>::max();
  __shared__ chunk_trees<I> chunk;
  const std::int64_t base = std::int64_t{blockIdx.x} * tuning::chunk;
  const std::int64_t end = min(base + tuning::chunk, n);
  if (blockIdx.x == 0 && threadIdx.x == 0) *control = {{0, 0}, 0, -1};

  I near[tuning::vertices_per_thread][tuning::neighbours];
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {  // nothing but loads, so that all are in flight together
    const std::int64_t v = base + k * tuning::start_block + threadIdx.x;
    const O first = v < n ? edges.offsets[v] : O{0};
    const O last = v < n ? edges.offsets[v + 1] : O{0};
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j) near[k][j] = j < last - first ? edges.indices[first + j] : none;
  }
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const int at = k * tuning::start_block + static_cast<int>(threadIdx.x);
    bool joins_previous = false;
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j) joins_previous = joins_previous || near[k][j] == base + at - 1;
    chunk.tree[at] = at - (lane_id() - first_of_run(joins_previous));
    chunk.hook[at] = none;
  }
  __syncthreads();

  volatile std::int32_t* const tree = chunk.tree;
  const auto load = [tree](std::int32_t k) { return tree[k]; };
#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const int at = k * tuning::start_block + static_cast<int>(threadIdx.x);
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j) {
      if (near[k][j] < base || near[k][j] >= end) continue;
      join_trees(chunk.tree, load(at), load(static_cast<std::int32_t>(near[k][j] - base)), load);
    }
  }
  flatten_chunk(chunk);  // begins and ends with a barrier

#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const int at = k * tuning::start_block + static_cast<int>(threadIdx.x);
    I lowest = none;
#pragma unroll
    for (int j = 0; j < tuning::neighbours; ++j) lowest = near[k][j] < lowest ? near[k][j] : lowest;
    I* const hook = &chunk.hook[chunk.tree[at]];
    if (lowest < base && lowest < *const_cast<volatile I*>(hook)) lower_hook(hook, lowest);
  }
  __syncthreads();

#pragma unroll
  for (int k = 0; k < tuning::vertices_per_thread; ++k) {
    const int at = k * tuning::start_block + static_cast<int>(threadIdx.x);
    const std::int32_t root = chunk.tree[at];
    if (base + at < n) parent[base + at] = chunk.hook[root] != none ? chunk.hook[root] : static_cast<I>(base + root);
  }
}

// --- 2. Roots -------------------------------------------------------------

template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    connect_kernel(std::int64_t n, weak_edges<I, O> edges, I* parent) {
  const std::int64_t v = global_thread();
  const std::int64_t chunk_start = v * cuda_weak_tuning::chunk;
  if (chunk_start < n) shorten(parent, load_parent(parent, static_cast<I>(chunk_start)));
  if (v >= n || load_parent(parent, static_cast<I>(v)) != static_cast<I>(v)) return;
  const std::int64_t first = edges.offsets[v];
  const std::int64_t end = edges.offsets[v + 1];
  const std::int64_t last = end < first + cuda_weak_tuning::neighbours ? end : first + cuda_weak_tuning::neighbours;
  for (std::int64_t e = first; e < last; ++e) join(parent, static_cast<I>(v), edges.indices[e]);
}

// --- 3. The largest tree --------------------------------------------------

// One block. Which tree it is changes no label.
template <class I>
__global__ void __launch_bounds__(cuda_weak_tuning::draws)
    draw_kernel(std::int64_t n, const I* parent, weak_control* control) {
  using tuning = cuda_weak_tuning;
  __shared__ I roots[tuning::slots];
  __shared__ unsigned counts[tuning::slots];
  __shared__ unsigned best;
  for (int k = static_cast<int>(threadIdx.x); k < tuning::slots; k += tuning::draws) {
    roots[k] = -1;
    counts[k] = 0;
  }
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  count64 z = (threadIdx.x + 1) * 0x9e3779b97f4a7c15ULL;  // SplitMix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  const I root = root_of(parent, static_cast<I>((z ^ (z >> 31)) % static_cast<count64>(n)));
  const unsigned same = __match_any_sync(full_mask, root);
  if (__ffs(static_cast<int>(same)) - 1 == lane_id()) {
    unsigned slot = (static_cast<unsigned>(root) * 2654435761U) % unsigned{tuning::slots};
    for (;;) {  // more slots than draws
      const I held = swap_parent(&roots[slot], I{-1}, root);
      if (held == -1 || held == root) break;
      slot = (slot + 1) % unsigned{tuning::slots};
    }
    atomicAdd(&counts[slot], static_cast<unsigned>(__popc(same)));
  }
  __syncthreads();
  unsigned most = 0;
  for (unsigned k = threadIdx.x; k < unsigned{tuning::slots}; k += tuning::draws) {
    const unsigned here = counts[k] * unsigned{tuning::slots} + k;
    most = here > most ? here : most;
  }
  most = warp_max(most);
  if (lane_id() == 0) atomicMax(&best, most);
  __syncthreads();
  if (threadIdx.x == 0) control->largest = roots[best % unsigned{tuning::slots}];
}

// --- 4. and 5. The rest ---------------------------------------------------

// `pass` is 0 for out-edges, 1 for in-edges.
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    join_kernel(std::int64_t n, weak_edges<I, O> edges, I* parent, weak_control* control, weak_segment<I>* segments,
                int pass) {
  using tuning = cuda_weak_tuning;
  const I skipped = static_cast<I>(control->largest);
  const I v = static_cast<I>(global_thread() < n ? global_thread() : n - 1);
  std::int64_t first = 0;
  std::int64_t degree = 0;
  if (global_thread() < n) {
    const I root = root_of(parent, v, skipped);
    if (root != skipped) {
      first = edges.offsets[v];
      degree = edges.offsets[v + 1] - first;
    } else if (v != root) {
      parent[v] = root;
    }
  }
  if (degree <= tuning::small_degree) {
    for (std::int64_t e = first; e < first + degree; ++e) join(parent, v, edges.indices[e]);
  } else if (degree > tuning::segment_edges) {
    const std::int64_t count = div_up(degree, tuning::segment_edges);
    weak_segment<I>* const to = segments + atomicAdd(&control->segments[pass], static_cast<count64>(count));
    for (std::int64_t k = 0; k < count; ++k) to[k] = {v, first + k * tuning::segment_edges};
  }
  __syncwarp();
  unsigned waiting = __ballot_sync(full_mask, degree > tuning::small_degree && degree <= tuning::segment_edges);
  for (; waiting != 0; waiting &= waiting - 1) {
    const int owner = __ffs(static_cast<int>(waiting)) - 1;
    const I u = shuffle(v, owner);
    const std::int64_t begin = shuffle(first, owner);
    const std::int64_t end = begin + shuffle(degree, owner);
    for (std::int64_t e = begin + lane_id(); e < end; e += warp_size) join(parent, u, edges.indices[e]);
    __syncwarp();
  }
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    join_segments_kernel(weak_edges<I, O> edges, I* parent, const weak_control* control,
                         const weak_segment<I>* segments, int pass) {
  const auto count = static_cast<std::int64_t>(control->segments[pass]);
  for (std::int64_t p = blockIdx.x; p < count; p += gridDim.x) {
    const weak_segment<I> segment = segments[p];
    const std::int64_t row_end = edges.offsets[segment.vertex + 1];
    const std::int64_t last = segment.first + cuda_weak_tuning::segment_edges;
    const std::int64_t end = last < row_end ? last : row_end;
    for (std::int64_t e = segment.first + threadIdx.x; e < end; e += blockDim.x) {
      join(parent, segment.vertex, edges.indices[e]);
    }
  }
}

// --- All edges ------------------------------------------------------------

// A block has the edges of one tile, a thread some of them a block's width apart: their far ends' parents are in flight
// together. The tile's rows, their ends and parents, are in shared memory, unless most rows are empty.
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    join_all_kernel(std::int64_t n, std::int64_t nnz, weak_edges<I, O> edges, I* parent) {
  using tuning = cuda_weak_tuning;
  constexpr int width = tuning::edges_in_flight;
  __shared__ std::int64_t bounds[2];
  __shared__ int ends[tuning::tile_rows];  // behind a row's last edge, counted from the tile's first
  __shared__ I parents[tuning::tile_rows];
  const std::int64_t tile = std::int64_t{blockIdx.x} * (width * tuning::block);
  const int size = static_cast<int>(min(std::int64_t{width} * tuning::block, nnz - tile));
  if (threadIdx.x < 2) {  // the last row that begins at or before the first edge, and the last one
    bounds[threadIdx.x] = lower_bound(edges.offsets, n + 1, tile + (threadIdx.x == 0 ? 0 : size - 1) + 1) - 1;
  }
  I above[width];
#pragma unroll
  for (int k = 0; k < width; ++k) {
    const int at = k * tuning::block + static_cast<int>(threadIdx.x);
    above[k] = at < size ? __ldcs(edges.indices + tile + at) : I{-1};
  }
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (above[k] >= 0) above[k] = load_parent(parent, above[k]);
  }
  __syncthreads();
  const std::int64_t first = bounds[0];
  const std::int64_t rows = bounds[1] - first + 1;
  const bool kept = rows <= tuning::tile_rows;
  for (int r = static_cast<int>(threadIdx.x); kept && r < rows; r += tuning::block) {
    ends[r] = static_cast<int>(min(static_cast<std::int64_t>(edges.offsets[first + r + 1]) - tile, std::int64_t{size}));
    parents[r] = load_parent(parent, static_cast<I>(first + r));
  }
  __syncthreads();
  std::int64_t row = 0;
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (above[k] < 0) continue;
    const std::int64_t at = k * tuning::block + threadIdx.x;
    row += kept ? lower_bound(ends + row, rows - row, at + 1)
                : lower_bound(edges.offsets + first + row + 1, rows - row, tile + at + 1);
    join_above(parent, kept ? parents[row] : load_parent(parent, static_cast<I>(first + row)), above[k]);
  }
}

// --- 6. Labels ------------------------------------------------------------

// Every vertex is put under its root. is_root[v] is written, and roots are counted, unless the pointer is null.
template <class I>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    label_kernel(std::int64_t n, I* parent, count64* roots, I* is_root) {
  constexpr int rows = cuda_weak_tuning::labelled;
  __shared__ unsigned block_roots;
  if (threadIdx.x == 0) block_roots = 0;
  __syncthreads();
  const std::int64_t base = std::int64_t{blockIdx.x} * (rows * cuda_weak_tuning::block) + threadIdx.x;
  I held[rows];
  I root[rows];
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    const std::int64_t v = base + k * cuda_weak_tuning::block;
    held[k] = v < n ? load_parent(parent, static_cast<I>(v)) : I{0};
    root[k] = held[k];
  }
  climb_together<rows>(parent, root, I{-1});
  unsigned here = 0;
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    const std::int64_t v = base + k * cuda_weak_tuning::block;
    const bool own = v < n && root[k] == static_cast<I>(v);
    here += static_cast<unsigned>(__popc(__ballot_sync(full_mask, own)));
    if (v >= n) continue;
    if (root[k] != held[k]) parent[v] = root[k];
    if (is_root != nullptr) is_root[v] = own ? 1 : 0;
  }
  if (roots == nullptr) return;
  if (lane_id() == 0 && here > 0) atomicAdd(&block_roots, here);
  __syncthreads();
  if (threadIdx.x == 0 && block_roots > 0) atomicAdd(roots, count64{block_roots});
}

}  // namespace spargo::detail::components
