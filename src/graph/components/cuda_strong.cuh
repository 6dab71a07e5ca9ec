// Strong components on the device, without the host between kernels: shared state, the first and the last kernel.
//
// 1. Two searches (graph/bfs) find what a hub reaches and what reaches it; the intersection is its component. They
// split the
//    other vertices into parts that no component crosses (Fleischer, Hendrickson, Pinar, 2000). Vertices with in- and
//    out-edges are listed. If a search hit its depth limit, all vertices are one part.
// 2. One launch settles the listed vertices (cuda_colouring.cuh).
// 3. Every vertex gets the smallest vertex of its component as label.
#pragma once

#include "core/cuda.cuh"
#include "core/device/block.cuh"
#include "graph/components/shuffled_ids.hpp"

#include <spargo/core/device_features.cuh>

namespace spargo::detail::components {

// Untuned: searches leave little of most graphs. H200, R-MAT 22: a round of trimming takes 5.6 microseconds.
struct cuda_strong_tuning {
  static constexpr int split_block = 256;
  static constexpr int split_vertices = 4;  // per thread: one atomic on the list's tail per 1024 vertices
  static constexpr int block = 512;
  static constexpr int blocks = 2;  // per multiprocessor
  static constexpr int warps = block / warp_size;
  static constexpr int staged = 128;     // staging slots per warp in shared memory
  static constexpr int unroll = 2;       // edges in flight per lane
  static constexpr int hub_edges = 512;  // vertices with at least as many are split into chunks
  static constexpr int worth_a_round =
      8;  // trimming continues while a round removes 1 / worth_a_round of the vertices left
  // A round sweeps the whole list, and all its vertices jump, while 1 / sweep_share of it is queued, and once after one
  // round per sweep_vertices listed: a sweep then costs about as much as the rounds before it.
  static constexpr int sweep_share = 8;
  static constexpr int sweep_vertices = 1 << 16;
  static constexpr int jumps = 4;  // per vertex and round
};

template <class I, class O>
struct strong_edges {
  const O* offsets;
  const I* indices;

  __device__ std::int64_t degree(I v) const {
    return static_cast<std::int64_t>(offsets[std::int64_t{v} + 1] - offsets[v]);
  }
};

// Vertices of different parts are in different components.
template <class I>
struct alignas(2 * sizeof(I)) strong_part {
  I in;
  I out;
};

// A vertex with `hub_edges` edges or more; `before`: chunks of the hubs listed before it.
template <class I>
struct strong_hub {
  I vertex;
  count64 before;
};

// Counters of a step's lists. One atomic gives a hub its table entry and its chunk numbers: entries << 32 | chunks.
struct strong_counts {
  count64 listed;
  count64 out_hubs;
  count64 in_hubs;
};

struct strong_control {
  strong_counts filled[3];  // rotate: a step fills one and clears the next
  count64 above;            // n minus the smallest vertex of the hub's component, 0 without one
  count64 roots;
};

template <class I, class O>
struct strong_search {
  std::int64_t n;
  strong_edges<I, O> out_edges;
  strong_edges<I, O> in_edges;
  I pivot;
  const std::int32_t* reached;  // levels
  const std::int32_t* reaching;
  const std::int64_t* reached_left;  // not 0: the search hit its depth limit
  const std::int64_t* reaching_left;
  shuffled_ids<I> order;
  I* root;   // [vertex] a vertex of its component, -1: unknown
  I* least;  // [root] the smallest vertex of its component
  // Of listed vertices:
  strong_part<I>* part;
  I* in;  // numbers in colouring, negative marks in trimming
  I* out;
  I* member;        // a vertex of the component: the last one whose number was both `in` and `out`
  unsigned* stamp;  // round for which the vertex is queued << 2 | because of `out` << 1 | because of `in`
  I* lists[3];
  strong_hub<I>* out_hubs;
  strong_hub<I>* in_hubs;
  strong_control* control;
};

// --- The hub's component -----------------------------------------------

template <class I, class O>
__device__ void list_hub(const strong_edges<I, O>& edges, strong_hub<I>* hubs, count64* filled, I v) {
  constexpr std::int64_t size = cuda_strong_tuning::hub_edges;
  const std::int64_t degree = edges.degree(v);
  if (degree < size) return;
  const count64 at = atomicAdd(filled, count64{1} << 32 | static_cast<count64>((degree - 1) / size + 1));
  hubs[at >> 32] = {v, at & 0xffffffffU};
}

template <class I, class O>
__device__ void list_hubs(const strong_search<I, O>& s, strong_counts* filled, I v) {
  list_hub(s.out_edges, s.out_hubs, &filled->out_hubs, v);
  list_hub(s.in_edges, s.in_hubs, &filled->in_hubs, v);
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_strong_tuning::split_block)
    split_kernel(const __grid_constant__ strong_search<I, O> s) {
  using tuning = cuda_strong_tuning;
  constexpr int count = tuning::split_vertices;
  __shared__ unsigned of_warps[tuning::split_block / warp_size];
  __shared__ count64 base;
  const std::int64_t first = std::int64_t{blockIdx.x} * (tuning::split_block * count) + threadIdx.x;
  const bool whole = *s.reached_left == 0 && *s.reaching_left == 0;

  strong_part<I> part[count];
  bool ends[count];
#pragma unroll
  for (int k = 0; k < count; ++k) {  // loads only
    const std::int64_t v = first + k * tuning::split_block;
    part[k] = {0, 0};
    if (v < s.n && whole) part[k] = {s.reached[v] >= 0 ? I{1} : I{0}, s.reaching[v] >= 0 ? I{1} : I{0}};
    ends[k] = true;
    if (v < s.n) {
      ends[k] =
          s.out_edges.offsets[v] == s.out_edges.offsets[v + 1] || s.in_edges.offsets[v] == s.in_edges.offsets[v + 1];
    }
  }
  unsigned listed[count];
  unsigned of_warp = 0;
  count64 above = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const std::int64_t v = first + k * tuning::split_block;
    const bool valid = v < s.n;
    const bool settled = part[k].in != 0 && part[k].out != 0;
    if (valid && settled) {
      s.root[v] = s.pivot;
      above = above < static_cast<count64>(s.n - v) ? static_cast<count64>(s.n - v) : above;
    } else if (valid && ends[k]) {
      s.root[v] = static_cast<I>(v);
      s.least[v] = static_cast<I>(v);
    }
    listed[k] = __ballot_sync(full_mask, valid && !settled && !ends[k]);
    of_warp += static_cast<unsigned>(__popc(listed[k]));
  }
  above = warp_max(above);
  if (lane_id() == 0 && above > __ldcg(&s.control->above)) atomicMax(&s.control->above, above);
  strong_counts* const filled = &s.control->filled[0];
  const auto [before, all] = scan_warps(of_warp, of_warps);
  if (threadIdx.x == 0) base = all > 0 ? atomicAdd(&filled->listed, count64{all}) : 0;
  __syncthreads();
  I* to = s.lists[0] + base + before;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const std::int64_t v = first + k * tuning::split_block;
    if ((listed[k] >> lane_id() & 1U) != 0) {
      to[__popc(listed[k] & ((1U << lane_id()) - 1))] = static_cast<I>(v);
      s.root[v] = -1;
      s.part[v] = part[k];
      s.in[v] = 0;
      s.out[v] = 0;
      s.stamp[v] = 0;
      list_hubs(s, filled, static_cast<I>(v));
    }
    to += __popc(listed[k]);
  }
}

// --- Labels ---------------------------------------------------------------

// Replaces roots by labels. Writes is_root[v] unless it is null.
template <class I, class O>
__global__ void __launch_bounds__(cuda_strong_tuning::split_block)
    label_components_kernel(const __grid_constant__ strong_search<I, O> s, I* is_root) {
  __shared__ unsigned roots;
  if (threadIdx.x == 0) roots = 0;
  __syncthreads();
  const std::int64_t v = global_thread();
  bool own = false;
  if (v < s.n) {
    const I root = s.root[v];
    const count64 above = s.control->above;
    const I label =
        root == s.pivot && above > 0 ? static_cast<I>(s.n - static_cast<std::int64_t>(above)) : s.least[root];
    own = label == static_cast<I>(v);
    s.root[v] = label;
    if (is_root != nullptr) is_root[v] = own ? 1 : 0;
  }
  const unsigned own_roots = static_cast<unsigned>(__popc(__ballot_sync(full_mask, own)));
  if (lane_id() == 0 && own_roots > 0) atomicAdd(&roots, own_roots);
  __syncthreads();
  if (threadIdx.x == 0 && roots > 0) atomicAdd(&s.control->roots, count64{roots});
}

// --- The hub --------------------------------------------------------------

// A vertex and its number of 2-edge paths through it.
struct strong_candidate {
  double paths;
  std::int64_t vertex;

  __device__ void offer(const strong_candidate& other) {
    if (other.paths > paths || (other.paths == paths && other.vertex < vertex)) *this = other;
  }
};

// Each block's best: the smallest vertex with the most paths.
template <class I, class O>
__global__ void __launch_bounds__(cuda_strong_tuning::split_block)
    find_hub_kernel(std::int64_t n, strong_edges<I, O> out, strong_edges<I, O> in, strong_candidate* best) {
  __shared__ strong_candidate of_warps[cuda_strong_tuning::split_block / warp_size];
  strong_candidate mine{-1.0, 0};
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    const auto u = static_cast<I>(v);
    mine.offer({static_cast<double>(out.degree(u)) * static_cast<double>(in.degree(u)), v});
  }
  mine = block_reduce(mine, of_warps, [](strong_candidate a, const strong_candidate& b) {
    a.offer(b);
    return a;
  });
  if (threadIdx.x == 0) best[blockIdx.x] = mine;
}

}  // namespace spargo::detail::components
