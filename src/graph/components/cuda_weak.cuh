// Weak components on the device: the kernels of Afforest, without the host between them.
//
// 1. Every vertex is hooked under the smallest of its first two neighbours, which one sector holds (start_kernel). A
// block
//    many of whose vertices have such neighbours within its chunk joins them in shared memory first, so that rows of a
// grid
//    are one hop each. Roots with neighbours are queued: in R-MAT 22 an eighth of the vertices, but in four of five
// warps;
//    in uniform 2^22 one in 33.
// 2. Pointer jumping shortens the path above each chunk; queued roots are joined with both neighbours. Then they are
// put
//    under their roots, and remaining roots are joined with 32 more neighbours: in uniform 2^22 18 % of the vertices
// are
//    outside the largest tree before, 0.03 % after; in R-MAT 22 0.4 and 0.3 %.
// 3. One block samples vertices to find the largest tree, while others put the first vertices, which are above most
//    others, under their roots.
// 4. Every vertex gets its root; those outside the largest tree are queued.
// 5. Queued vertices are joined with all neighbours: per thread, per warp, or in segments per block, by degree. All
// others
//    are skipped unread, since an edge that leaves the tree is seen from its other end.
// 6. The segments of step 5.
// 7. Queued vertices get their roots (all vertices, if the largest tree has a new root), and roots are counted.
//
// In a directed graph without in-edges only one end sees an edge, so nothing is skipped: instead of steps 3, 5 and 6,
// all edges are read in equal tiles per block once every vertex is under its root. By then nearly all edges have both
// ends under one root and cost one parent load each.
//
// Step 2 is bound not by memory but by a few roots: the L1 caches hold them as roots long after they were hooked, so
// every edge to their trees queries the L2 cache at one address.
//
// Counters are zero when a run begins: the last kernel leaves them so. All kernels but the first launch early and wait
// before they access memory. cuda_forest.cuh states the forest's invariant. Afforest: Sutton, Ben-Nun, Barak, IPDPS
// 2018; degree bins and intermediate jumping: Jaiganesh, Burtscher, ECL-CC, HPDC 2018.
#pragma once

#include "core/cuda.cuh"
#include "core/device/block.cuh"
#include "core/device/early_launch.cuh"
#include "core/device/launch.cuh"
#include "core/search.hpp"
#include "graph/components/cuda_forest.cuh"
#include "graph/components/cuda_weak_start.cuh"
#include "graph/components/executor.hpp"

#include <spargo/core/span.hpp>
#include <spargo/graph/frontier/expansion.cuh>

namespace spargo::detail::components {

struct cuda_weak_tuning {
  static constexpr int block = 256;
  static constexpr int first_part = 16;         // fraction of a long queue; 1, 16, 64: R-MAT 22 0.186, 0.144, 0.150 ms
  static constexpr int settle_neighbours = 32;  // lanes per root; 8, 16, 32: uniform 2^22 0.216, 0.200, 0.198 ms
  static constexpr int far = 8;                 // path length from which a path is shortened
  static constexpr int samples = 1024;          // as in Afforest
  static constexpr int slots = 2048;            // of the hash table for the samples' roots
  static constexpr int first_vertices = 8;      // 1 / first_vertices of all are put under their roots first
  static constexpr int labelled = 4;            // vertices per thread; 1, 4: R-MAT 22 0.022, 0.017 ms
  static constexpr int small_degree = 8;        // up to here one thread follows a vertex's edges
  static constexpr int lane_edges = 2;          // per lane at once, where a warp follows them
  // Rows longer than this are followed in segments. 256, 512, 1024: R-MAT 22 0.164, 0.172, 0.187 ms.
  static constexpr std::int64_t segment_edges = 256;
  static constexpr int edges_in_flight =
      4;                                  // per thread when all edges are read; 4, 8: R-MAT 22 directed 0.938, 1.067 ms
  static constexpr int tile_rows = 1024;  // rows of an edge tile kept in shared memory; beyond that they are looked up
};

// Edges [first, first + segment_edges) of a vertex, clipped to its row.
template <class I>
struct weak_segment {
  I vertex;
  std::int64_t first;
};

// --- 2. Roots -------------------------------------------------------------

// Joins queued roots with their first neighbours. The first part of the queue has a launch of its own: it merges most
// large trees, which otherwise all threads with a stale root in L1 would discover at one address.
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    connect_kernel(std::int64_t n, weak_edges<I, O> edges, I* parent, const I* roots, const weak_control* control,
                   int part) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  if (part == 0) {
    for (std::int64_t v = global_thread() * cuda_start_tuning::chunk; v < n;
         v += grid_threads() * cuda_start_tuning::chunk) {
      shorten(parent, load_parent(parent, static_cast<I>(v)));
    }
  }
  const auto queued = static_cast<std::int64_t>(control->queued);
  const std::int64_t first_size = queued < n / cuda_weak_tuning::first_part ? 0 : queued / cuda_weak_tuning::first_part;
  const std::int64_t end = part == 0 ? first_size : queued;
  for (std::int64_t k = (part == 0 ? 0 : first_size) + global_thread(); k < end; k += grid_threads()) {
    const I v = roots[k];
    const std::int64_t first = edges.offsets[v];
    I lower = load_parent(parent, edges.indices[first]);
    I upper = first + 1 < edges.offsets[v + 1] ? load_parent(parent, edges.indices[first + 1]) : lower;
    if (upper < lower) {
      const I other = lower;
      lower = upper;
      upper = other;
    }
    if (lower < v) {  // v is usually still a root and is hooked without a climb
      const I held = swap_parent(parent + v, v, lower);
      if (held != v) join_above(parent, held, lower);
    } else {
      join_above(parent, v, lower);
    }
    join_above(parent, lower, upper);
  }
}

// Puts queued vertices that are no longer roots under their roots. Remaining roots with more neighbours are queued
// again behind the first queue, as far as there is room, since they only save work later.
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    flatten_kernel(std::int64_t n, weak_edges<I, O> edges, I* parent, I* roots, weak_control* control) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  using tuning = cuda_weak_tuning;
  const auto queued = static_cast<std::int64_t>(control->queued);
  for (std::int64_t k = global_thread(); k - lane_id() < queued; k += grid_threads()) {
    const I v = roots[k < queued ? k : 0];
    const I held = load_parent(parent, v);
    I at = held;
    int steps = 0;
    for (I above = load_parent(parent, at); above != at && steps < tuning::far; ++steps) {
      at = above;
      above = load_parent(parent, at);
    }
    if (k < queued && steps == tuning::far) {
      shorten(parent, v);
    } else if (k < queued && at != held) {
      parent[v] = at;
    }
    const bool remains =
        k < queued && held == v && edges.offsets[v + 1] - edges.offsets[v] > cuda_start_tuning::neighbours;
    const unsigned lanes = __ballot_sync(full_mask, remains);
    if (lanes == 0) continue;
    const count64 place = place_by_warp(&control->remaining, lanes, lane_id());
    if (remains && queued + static_cast<std::int64_t>(place) < n) roots[queued + place] = v;
  }
}

// Joins these with more neighbours, one lane each.
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    settle_kernel(std::int64_t n, weak_edges<I, O> edges, I* parent, const I* roots, const weak_control* control) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  constexpr int lanes = cuda_weak_tuning::settle_neighbours;
  const auto queued = static_cast<std::int64_t>(control->queued);
  const std::int64_t end = min(queued + static_cast<std::int64_t>(control->remaining), n);
  for (std::int64_t k = queued + global_thread() / lanes; k < end; k += grid_threads() / lanes) {
    const I v = roots[k];
    const std::int64_t e = edges.offsets[v] + cuda_start_tuning::neighbours + lane_id() % lanes;
    if (e < edges.offsets[v + 1]) join(parent, v, edges.indices[e]);
  }
}

// For distributed runs (make_rank_executor).
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    join_last_kernel(std::int64_t n, weak_edges<I, O> edges, I* parent) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  for (std::int64_t k = global_thread(); k * vertices_per_ghost < n; k += grid_threads()) {
    const std::int64_t v = k * vertices_per_ghost;
    const O end = edges.offsets[v + 1];
    if (end > edges.offsets[v]) join(parent, static_cast<I>(v), edges.indices[end - 1]);
  }
}

// --- 3. The largest tree --------------------------------------------------

// One block. The choice of the tree changes no label.
template <class I>
__device__ void sample_largest(std::int64_t n, const I* parent, weak_control* control) {
  using tuning = cuda_weak_tuning;
  __shared__ I roots[tuning::slots];
  __shared__ unsigned counts[tuning::slots];
  __shared__ unsigned best;
  for (int k = static_cast<int>(threadIdx.x); k < tuning::slots; k += tuning::samples) {
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
    for (;;) {  // there are more slots than samples
      const I held = swap_parent(&roots[slot], I{-1}, root);
      if (held == -1 || held == root) break;
      slot = (slot + 1) % unsigned{tuning::slots};
    }
    atomicAdd(&counts[slot], static_cast<unsigned>(__popc(same)));
  }
  __syncthreads();
  unsigned most = 0;
  for (unsigned k = threadIdx.x; k < unsigned{tuning::slots}; k += tuning::samples) {
    const unsigned candidate = counts[k] * unsigned{tuning::slots} + k;
    most = candidate > most ? candidate : most;
  }
  most = warp_max(most);
  if (lane_id() == 0) atomicMax(&best, most);
  __syncthreads();
  if (threadIdx.x == 0) control->largest = roots[best % unsigned{tuning::slots}];
}

// The first block samples; the others process the first vertices. No root changes meanwhile.
template <class I>
__global__ void __launch_bounds__(cuda_weak_tuning::samples)
    sample_kernel(std::int64_t n, I* parent, weak_control* control) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  if (blockIdx.x == 0) {
    sample_largest(n, parent, control);
    return;
  }
  const std::int64_t v = global_thread() - blockDim.x;
  if (v >= n) return;
  const I held = load_parent(parent, static_cast<I>(v));
  const I root = root_of(parent, held);
  if (root != held) parent[v] = root;
}

// --- 4. Labels ------------------------------------------------------------

// Puts every vertex under its root. Queues those not under `control->largest` unless `outside` is null; skips those
// without edges by `isolated` unless that is null. No root changes meanwhile.
template <class I>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    label_kernel(std::int64_t n, I* parent, const unsigned* isolated, I* outside, weak_control* control) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  constexpr int rows = cuda_weak_tuning::labelled;
  __shared__ unsigned found;
  __shared__ count64 first;
  if (threadIdx.x == 0) found = 0;
  const I skipped = static_cast<I>(control->largest);
  const std::int64_t base = std::int64_t{blockIdx.x} * (rows * cuda_weak_tuning::block) + threadIdx.x;
  I held[rows];
  I root[rows];
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    const std::int64_t v = base + k * cuda_weak_tuning::block;
    held[k] = v < n ? load_parent(parent, static_cast<I>(v)) : skipped;
    const unsigned without = v < n && isolated != nullptr ? isolated[v / warp_size] : 0;
    if ((without >> lane_id() & 1U) != 0) held[k] = skipped;
    root[k] = held[k];
  }
  climb_together<rows>(parent, root, skipped);
  bool any = false;
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    if (root[k] != held[k]) parent[base + k * cuda_weak_tuning::block] = root[k];
    any = any || root[k] != skipped;
  }
  if (outside == nullptr || __syncthreads_or(any ? 1 : 0) == 0) return;
  unsigned place[rows];
#pragma unroll
  for (int k = 0; k < rows; ++k) place[k] = root[k] != skipped ? atomicAdd(&found, 1U) : 0;
  __syncthreads();
  if (threadIdx.x == 0) first = atomicAdd(&control->outside, count64{found});
  __syncthreads();
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    if (root[k] != skipped) outside[first + place[k]] = static_cast<I>(base + k * cuda_weak_tuning::block);
  }
}

// --- 5. and 6. The rest ---------------------------------------------------

// Joins u's tree with those of `Count` neighbours, at first and every `apart` after it, before `end`. All indices are
// loaded together, then all parents.
template <int Count, class I, class O>
__device__ __forceinline__ void join_neighbours(weak_edges<I, O> edges, I* parent, I u, std::int64_t first,
                                                std::int64_t end, int apart) {
  I above[Count];
#pragma unroll
  for (int j = 0; j < Count; ++j) above[j] = first + j * apart < end ? edges.indices[first + j * apart] : u;
#pragma unroll
  for (int j = 0; j < Count; ++j) above[j] = load_parent(parent, above[j]);
#pragma unroll 1
  for (int j = 0; j < Count; ++j) {
    join_above(parent, load_parent(parent, u), above[0]);
#pragma unroll
    for (int next = 1; next < Count; ++next) above[next - 1] = above[next];  // registers cannot be indexed
  }
}

// `pass`: 0 for out-edges, 1 for in-edges. Rows of up to `joined` entries are done already.
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    join_kernel(weak_edges<I, O> edges, I* parent, const I* outside, weak_control* control, weak_segment<I>* segments,
                int pass, std::int64_t joined) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  using tuning = cuda_weak_tuning;
  // A short queue is spread over all warps, since each lane has few rows in flight.
  const auto size = static_cast<std::int64_t>(control->outside);
  const bool spread = size < grid_threads();
  const std::int64_t warps = grid_threads() / warp_size;
  for (std::int64_t base = 0; base < size; base += grid_threads()) {
    const std::int64_t k = spread ? lane_id() * warps + global_thread() / warp_size : base + global_thread();
    const I v = outside[k < size ? k : 0];
    const std::int64_t first = edges.offsets[v];
    const std::int64_t degree = k < size ? static_cast<std::int64_t>(edges.offsets[v + 1]) - first : 0;
    if (degree > tuning::segment_edges) {
      const std::int64_t count = div_up(degree, tuning::segment_edges);
      weak_segment<I>* const to = segments + atomicAdd(&control->segments[pass], static_cast<count64>(count));
      for (std::int64_t p = 0; p < count; ++p) to[p] = {v, first + p * tuning::segment_edges};
    } else if (degree > joined && degree <= tuning::small_degree) {
      join_neighbours<tuning::small_degree>(edges, parent, v, first, first + degree, 1);
    }
    __syncwarp();
    unsigned waiting = __ballot_sync(full_mask, degree > tuning::small_degree && degree <= tuning::segment_edges);
    for (; waiting != 0; waiting &= waiting - 1) {
      const int owner = __ffs(static_cast<int>(waiting)) - 1;
      const I u = shuffle(v, owner);
      const std::int64_t begin = shuffle(first, owner);
      const std::int64_t end = begin + shuffle(degree, owner);
      for (std::int64_t e = begin + lane_id(); e < end; e += tuning::lane_edges * warp_size) {
        join_neighbours<tuning::lane_edges>(edges, parent, u, e, end, warp_size);
      }
      __syncwarp();
    }
  }
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    join_segments_kernel(weak_edges<I, O> edges, I* parent, const weak_control* control,
                         const weak_segment<I>* segments, int pass) {
  wait_for_kernel_in_front();
  start_kernel_behind();
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

// Lists the vertices of a tree; all are under its root.
template <class I>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    list_tree_kernel(std::int64_t n, const I* parent, I member, I* listed, weak_control* control) {
  const I root = parent[member];
  for (std::int64_t v = global_thread(); v - lane_id() < n; v += grid_threads()) {
    append_by_warp(listed, &control->outside, static_cast<I>(v), v < n && parent[v] == root, lane_id());
  }
}

// --- All edges ------------------------------------------------------------

// A block processes one tile of edges. A thread's edges are a block's width apart, and their targets' parents are in
// flight together. Row ends and parents of the tile's rows are in shared memory, unless most rows are empty.
template <class I, class O>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    join_all_kernel(std::int64_t n, std::int64_t nnz, weak_edges<I, O> edges, I* parent) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  using tuning = cuda_weak_tuning;
  constexpr int width = tuning::edges_in_flight;
  __shared__ std::int64_t bounds[2];
  __shared__ int ends[tuning::tile_rows];  // end of the row, relative to the tile
  __shared__ I parents[tuning::tile_rows];
  const std::int64_t tile = std::int64_t{blockIdx.x} * (width * tuning::block);
  const int size = static_cast<int>(min(std::int64_t{width} * tuning::block, nnz - tile));
  if (threadIdx.x < 2) {  // rows of the tile's first and last edge
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

// --- 7. The last roots ----------------------------------------------------

// A run's report to the host, by stores into pinned memory, which saves a copy's launch.
struct weak_report {
  count64 count = 0;          // of roots
  std::int64_t skipped = -1;  // a vertex of the tree that was skipped
};

// Final roots: of the vertices outside, or of all if the largest tree has a new root. `outside` null: all edges read.
template <class I>
__global__ void __launch_bounds__(cuda_weak_tuning::block)
    finish_kernel(std::int64_t n, I* parent, const unsigned* isolated, const I* outside, weak_control* control,
                  weak_report* report) {
  wait_for_kernel_in_front();
  start_kernel_behind();
  __shared__ unsigned of_warps[cuda_weak_tuning::block / warp_size];
  const auto largest = static_cast<I>(control->largest);
  const bool all = outside == nullptr || load_parent(parent, largest) != largest;
  const std::int64_t size = all ? n : static_cast<std::int64_t>(control->outside);
  unsigned own = 0;
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
    const I v = all ? static_cast<I>(k) : outside[k];
    const I held = load_parent(parent, v);
    const I root = root_of(parent, held);
    if (root != held) parent[v] = root;
    own += root == v ? 1 : 0;
  }
  own = block_sum(own, of_warps);
  if (threadIdx.x != 0) return;
  if (own > 0) atomicAdd(&control->roots, count64{own});
  if (!arrives_last(&control->done, gridDim.x)) return;
  const count64 found = atomicAdd(&control->roots, count64{0});
  const bool largest_is_isolated =
      !all && isolated != nullptr && (isolated[largest / warp_size] >> (largest % warp_size) & 1U) != 0;
  report->count = all ? found : found + control->isolated + (largest_is_isolated ? 0 : 1);
  report->skipped = control->largest;
  *control = {};
}

}  // namespace spargo::detail::components
