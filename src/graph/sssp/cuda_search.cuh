// What the parts of the device search share: its state, its piles of vertices, and how edges are followed.
//
// A pile's entry is a vertex with the length that it was reached by. It counts as long as that is the vertex's length:
// a shorter path brings an entry of its own, and each length of a vertex is written by the one thread whose atomicMin
// lowered it to that, so of all entries of a vertex exactly one counts. A vertex with `hub_degree` edges or more is
// listed as chunks of edges instead. What finds a pile full is dropped and its loss is seen by the pile's count, which
// goes on; the vertices are then looked through for what was dropped.
#pragma once

#include "core/cuda.cuh"
#include "core/device/warp.cuh"
#include "graph/sssp/lengths.hpp"

#include <spargo/graph/frontier/expansion.cuh>

#include <cstdint>
#include <type_traits>

namespace spargo::detail::sssp {

struct cuda_tuning {
  static constexpr int block = 768;
  static constexpr int warps = block / warp_size;
  static constexpr int unroll = 4;  // edges in flight per lane
  static constexpr int hub_degree = 512;
  static constexpr int hub_class = 10;       // see class_of: of hub_degree edges and more
  static constexpr int staged_bytes = 1024;  // of a warp, for each pile
};

// H200, weights 1..255, delta 4 with a first threshold of 16: R-MAT 22 3.2 ms with a bound and 3.8 without; delta 8
// with 32: uniform 2^22 2.6 with and without.
struct bound_tuning {
  static constexpr int bins = 2 * warp_size;
  static constexpr int look = 64;    // share of the edges from which on a wide step counts
  static constexpr int sample = 16;  // of as many groups of 32 vertices one is counted
};

// Lengths as unsigned integers: a double that is not negative is ordered as its bits are.
template <class D>
using stored_length = std::conditional_t<sizeof(D) == 4, unsigned, count64>;

template <class D>
__device__ __forceinline__ stored_length<D> stored(D length) {
  if constexpr (std::is_same_v<D, double>) {
    return static_cast<count64>(__double_as_longlong(length));
  } else {
    return length;
  }
}
template <class D>
__device__ __forceinline__ D loaded(stored_length<D> length) {
  if constexpr (std::is_same_v<D, double>) {
    return __longlong_as_double(static_cast<long long>(length));
  } else {
    return length;
  }
}
template <class D>
inline constexpr stored_length<D> none = unreached<D>;
template <>
inline constexpr count64 none<double> = 0x7ff0000000000000;

template <class D, class W>
__device__ __forceinline__ stored_length<D> longer_stored(stored_length<D> path, W edge) {
  return stored<D>(longer(loaded<D>(path), edge));
}

// Two words, so that an entry is written and read at once and without padding.
template <class D, class I>
struct __align__(sizeof(I) == 4 && sizeof(D) == 4 ? 8 : 16) pile_entry {
  static constexpr bool narrow = sizeof(I) == 4 && sizeof(D) == 4;
  std::conditional_t<narrow, std::int32_t, std::int64_t> vertex;
  std::conditional_t<narrow, unsigned, count64> length;
};

// A chunk of the edges of a vertex that was reached by `length`.
template <class D, class I>
struct hub_chunk {
  edge_chunk<I> edges;
  stored_length<D> length;
};

// Of a degree to within a factor of 3/2, in a byte; 0: the vertex leads nowhere but, maybe, back.
__device__ inline int class_of(std::int64_t degree) { return degree > 0 ? 64 - __clzll(degree) : 0; }
__device__ inline count64 edges_of_class(int of) { return of < 2 ? of : count64{3} << (of - 2); }

// What a step finds. All zero at first.
struct counters {
  count64 near;                         // entries of the near pile,
  count64 chunks;                       // and chunks of hubs that belong to it
  count64 edges;                        // out of these, about
  count64 far;                          // entries of the far pile
  count64 pending;                      // vertices at or beyond the threshold, by a look through all of them
  count64 inverted_lowest;              // ~(the least length among those, or in the far pile), 0 for none
  unsigned beyond[bound_tuning::bins];  // see lower_bound
};

__device__ inline counters read_counters(const counters* found) {
  return {__ldcg(&found->near),
          __ldcg(&found->chunks),
          __ldcg(&found->edges),
          __ldcg(&found->far),
          __ldcg(&found->pending),
          __ldcg(&found->inverted_lowest),
          {}};
}

struct search_control {
  counters found[3];  // they take turns, see search_kernel
  count64 reached;    // by the pass that publishes the lengths
  count64 orphans;    // reached vertices without a nearer neighbour on a shortest path
  count64 queued;     // vertices in the queue of the pass that gives orphans their parents
};

template <class W, class I, class O>
struct device_rows {
  const O* offsets;
  const I* indices;
  const W* weights;
};

template <class W, class D, class I, class O>
struct device_search {
  using length = stored_length<D>;
  using entry = pile_entry<D, I>;
  device_rows<W, I, O> out;
  device_rows<W, I, O> in;  // null: there is never a bound
  std::int64_t n;
  std::int64_t edges;
  const unsigned char* classes;  // of out-degrees, see class_of
  length* found;                 // [n]
  entry* near[2];                // of near_slots: one is expanded, one filled
  hub_chunk<D, I>* chunks[2];
  entry* far[2];
  std::int64_t near_slots;  // n at least
  std::int64_t chunk_slots;
  std::int64_t far_slots;
  search_control* control;
  std::int64_t source;
  std::int64_t target;  // -1: none
  O least_degree;       // vertices with fewer out-edges lead nowhere
  length limit;         // paths are shorter
  D delta;
  D delta_beyond;            // once the bound has been passed
  std::int64_t most_beyond;  // edges that vertices beyond the bound may hold
  int lanes_log;             // in a narrow step 1 << lanes_log of them follow the edges of a vertex
};

// --- Places in the grid ----------------------------------------------------

// Neighbouring warps are in different blocks, so that a few of them are spread over the device.
__device__ inline std::int64_t grid_warp() { return threadIdx.x / warp_size * gridDim.x + blockIdx.x; }
__device__ inline std::int64_t grid_warps() { return std::int64_t{gridDim.x} * (blockDim.x / warp_size); }

// --- Piles -----------------------------------------------------------------

// Entries on their way to a pile in global memory. A warp gathers them in its own slots of shared memory first.
template <class E>
struct warp_pile {
  static constexpr int slots = cuda_tuning::staged_bytes / static_cast<int>(sizeof(E));
  static_assert(slots >= 2 * warp_size);
  E* into;            // the pile
  std::int64_t base;  // entries that it had before the step
  std::int64_t room;  // entries that it holds
  count64* added;     // by the step
  E* staged;
  int count = 0;  // filled; the same in all lanes

  __device__ void store(count64 at, const E& e) const {
    const std::int64_t slot = base + static_cast<std::int64_t>(at);
    if (slot < room) into[slot] = e;
  }
  __device__ void copy_out(count64 first) {
    for (int k = lane_id(); k < count; k += warp_size) store(first + static_cast<count64>(k), staged[k]);
  }
  // The warp's entries go to the pile. All lanes call it.
  __device__ void flush() {
    if (count == 0) return;
    __syncwarp();
    count64 first = 0;
    if (lane_id() == 0) first = atomicAdd(added, static_cast<count64>(count));
    copy_out(__shfl_sync(full_mask, first, 0));
    __syncwarp();
    count = 0;
  }
  // The entries of the lanes with `wanted`. All lanes call it.
  __device__ __forceinline__ void push(bool wanted, const E& e) {
    const unsigned mask = __ballot_sync(full_mask, wanted);
    if (mask == 0) return;
    if (wanted) staged[count + __popc(mask & ((1U << lane_id()) - 1))] = e;
    count += __popc(mask);
    if (count > slots - warp_size) flush();
  }
};

template <class E>
constexpr std::size_t staged_bytes() {
  return 2 * std::size_t{cuda_tuning::warps} * cuda_tuning::staged_bytes;
}

// The hubs of the lanes, as chunks. All lanes call it.
template <class W, class D, class I, class O>
__device__ void push_hubs(const device_search<W, D, I, O>& s, hub_chunk<D, I>* into, count64* added, bool hub,
                          std::int64_t v, stored_length<D> length) {
  unsigned left = __ballot_sync(full_mask, hub);
  if (left == 0) return;
  const int lane = lane_id();
  const std::int64_t count =
      hub ? (static_cast<std::int64_t>(s.out.offsets[v + 1] - s.out.offsets[v]) - 1) / cuda_tuning::hub_degree + 1 : 0;
  const std::int64_t past = warp_inclusive_sum(count);
  count64 first = 0;
  if (lane == warp_size - 1) first = atomicAdd(added, static_cast<count64>(past));
  first = __shfl_sync(full_mask, first, warp_size - 1);
  const std::int64_t at = static_cast<std::int64_t>(first) + past - count;
  for (; left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const std::int64_t begin = __shfl_sync(full_mask, at, owner);
    const std::int64_t vertex = __shfl_sync(full_mask, v, owner);
    const std::int64_t size = __shfl_sync(full_mask, count, owner);
    const stored_length<D> reached = __shfl_sync(full_mask, length, owner);
    for (std::int64_t c = lane; c < size && begin + c < s.chunk_slots; c += warp_size) {
      into[begin + c] = {{static_cast<I>(vertex), static_cast<I>(c)}, reached};
    }
  }
}

// Where a step's vertices go.
template <class W, class D, class I, class O>
struct piles {
  using entry = pile_entry<D, I>;
  using length = stored_length<D>;
  const device_search<W, D, I, O>& s;
  warp_pile<entry> near;
  warp_pile<entry> far;
  hub_chunk<D, I>* chunks;
  counters* filling;
  count64 edges = 0;  // of this thread's near vertices

  // The vertices of the lanes with `wanted`. All lanes call it.
  __device__ __forceinline__ void push_near(bool wanted, std::int64_t v, length reached, int of) {
    const bool hub = wanted && of >= cuda_tuning::hub_class;
    if (wanted) edges += edges_of_class(of);
    near.push(wanted && !hub, entry_of(v, reached));
    push_hubs(s, chunks, &filling->chunks, hub, v, reached);
  }
  __device__ __forceinline__ void push_far(bool wanted, std::int64_t v, length reached) {
    far.push(wanted, entry_of(v, reached));
  }

  [[nodiscard]] __device__ static __forceinline__ entry entry_of(std::int64_t v, length reached) {
    return {static_cast<decltype(entry::vertex)>(v), reached};
  }

  // What the block's warps have left goes out with one atomic for each pile. All threads of the block call it.
  __device__ void finish() {
    constexpr int warps = cuda_tuning::warps;
    __shared__ count64 starts[2][warps];
    __shared__ count64 sums[warps];
    const int lane = lane_id();
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    edges = warp_reduce_to_first(edges, plus{});
    if (lane == 0) {
      starts[0][warp] = static_cast<count64>(near.count);
      starts[1][warp] = static_cast<count64>(far.count);
      sums[warp] = edges;
    }
    __syncthreads();
    if (warp < 2) {
      const count64 mine = lane < warps ? starts[warp][lane] : 0;
      const count64 past = warp_inclusive_sum(mine);
      count64 first = 0;
      if (lane == warp_size - 1 && past != 0) first = atomicAdd(warp == 0 ? near.added : far.added, past);
      first = __shfl_sync(full_mask, first, warp_size - 1);
      if (lane < warps) starts[warp][lane] = first + past - mine;
    } else if (warp == 2) {
      const count64 all = warp_reduce_to_first(lane < warps ? sums[lane] : 0, plus{});
      if (lane == 0 && all != 0) atomicAdd(&filling->edges, all);
    }
    __syncthreads();
    near.copy_out(starts[0][warp]);
    far.copy_out(starts[1][warp]);
    near.count = far.count = 0;
  }
};

// --- Edges -----------------------------------------------------------------

// Edges of a lane: unroll of them, of which those with target -1 are none.
template <class W, class D, class I>
struct lane_edges {
  static constexpr int size = cuda_tuning::unroll;
  I target[size];
  W weight[size];
  stored_length<D> before[size];  // the length at the edge's other end
};

// A warp expands one vertex per lane (edges [begin, begin + degree), degree 0 for none), sharing all edges out evenly:
// lane l takes edge l, l + 32, ... of the concatenation. visit(edges, last q + 1 that any lane has) gets them. All
// lanes call it. Degrees are below hub_degree, so that sums fit an int.
template <class D, class W, class I, class O, class Visit>
__device__ __forceinline__ void expand_together(const device_rows<W, I, O>& rows, stored_length<D> length, O begin,
                                                int degree, Visit&& visit) {
  constexpr int unroll = cuda_tuning::unroll;
  const int last = warp_inclusive_sum(degree);
  const int total = __shfl_sync(full_mask, last, warp_size - 1);
  const O shift = begin - static_cast<O>(last - degree);  // edge k of the concatenation is at shift + k
  for (int base = 0; base < total; base += warp_size * unroll) {
    lane_edges<W, D, I> edges;
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      const int k = base + q * warp_size + lane_id();
      const int owner = owner_of(last, k);
      const O e = __shfl_sync(full_mask, shift, owner) + static_cast<O>(k);
      edges.before[q] = __shfl_sync(full_mask, length, owner);
      edges.target[q] = k < total ? __ldg(rows.indices + e) : I{-1};
      edges.weight[q] = k < total ? __ldg(rows.weights + e) : W{0};
    }
    visit(edges, (total - base + warp_size - 1) / warp_size);
  }
}

// What became of a lane's edges.
template <class D>
struct lane_paths {
  stored_length<D> path[cuda_tuning::unroll];
  bool won[cuda_tuning::unroll];  // it is the shortest so far
};

// Which paths are followed: those below the bound; and of which it matters who was the first to find one: those below
// `wanted`. The others are only written.
template <class D>
struct path_limits {
  stored_length<D> bound;
  stored_length<D> wanted;
};

// Offers the edges' paths to their ends, with all looks under way before the first atomic, and those together.
template <class W, class D, class I, class O>
__device__ __forceinline__ lane_paths<D> relax_all(const device_search<W, D, I, O>& s, const path_limits<D>& limits,
                                                   const lane_edges<W, D, I>& edges) {
  constexpr int unroll = cuda_tuning::unroll;
  lane_paths<D> result;
  stored_length<D> held[unroll];
#pragma unroll
  for (int q = 0; q < unroll; ++q) {
    result.path[q] = longer_stored<D>(edges.before[q], edges.weight[q]);
    const bool any = edges.target[q] >= 0 && result.path[q] < limits.bound;
    held[q] = any ? __ldcg(s.found + edges.target[q]) : 0;
  }
#pragma unroll
  for (int q = 0; q < unroll; ++q) {
    const bool lower = result.path[q] < held[q];
    held[q] = 0;
    if (lower && result.path[q] < limits.wanted) {
      held[q] = atomicMin(s.found + edges.target[q], result.path[q]);
    } else if (lower) {
      atomicMin(s.found + edges.target[q], result.path[q]);
    }
  }
#pragma unroll
  for (int q = 0; q < unroll; ++q) result.won[q] = result.path[q] < held[q];
  return result;
}

}  // namespace spargo::detail::sssp
