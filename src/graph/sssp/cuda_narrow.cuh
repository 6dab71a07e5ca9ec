// Narrow steps of the device search: a block runs several hops on its share of the near bucket.
#pragma once

#include "graph/sssp/cuda_search.cuh"

namespace spargo::detail::sssp {

// Limits of a narrow step. H200, weights 1..255: grid 2048 x 2048 31 ms with 1 hop, and the same with 32, 64 and 128;
// uniform 2^22 2.2 ms with 1 hop, 2.05 with 64.
struct narrow_tuning {
  static constexpr std::int64_t share = 64;  // maximum entries per block
  static constexpr int hops = 64;
  static constexpr int slots = 512;    // per list
  static constexpr int entries = 400;  // entries of a block, and their edges, above which the grid takes over
  static constexpr int edges = 4096;
  template <class E>
  static constexpr std::size_t bytes = 3 * slots * sizeof(E);  // two lists of near rows, one of far rows
};

enum class search_step : int { wide, narrow, far, pull, rebuild, end };

// State that the next step depends on. All threads hold the same copy.
template <class D>
struct search_position {
  stored_length<D> threshold;
  stored_length<D> lowest;  // least length reachable from the far bucket
  std::int64_t near;        // entries of the bucket to expand
  std::int64_t far;
  std::int64_t far_edges;
  std::int64_t reached_edges;  // out-edges of reached vertices
  int turn;                    // index of the near bucket being expanded
  int far_turn;                // index of the far bucket being filled
  int pulled;                  // 1 after the pull
  search_step step;
};

// Appends the entry to a list of the block, or to the bucket once the list is full. All lanes call it.
template <class E>
__device__ __forceinline__ void push_local(E* list, int* size, const bucket_place<E>& bucket, bool wanted, const E& e) {
  const int slot = place_by_warp(size, __ballot_sync(full_mask, wanted), lane_id());
  const bool fits = slot < narrow_tuning::slots;
  if (wanted && fits) list[slot] = e;
  const unsigned mask = __ballot_sync(full_mask, wanted && !fits);
  if (mask == 0) return;
  const count64 at = place_by_warp(bucket.added, mask, lane_id());
  if (wanted && !fits) bucket.store(static_cast<std::int64_t>(at), e);
}

// Shared counters of a block in a narrow step; the hops' list sizes and edges rotate over three slots.
struct narrow_counts {
  int vertices[3];
  int edges[3];
  int far;
};

// One hop: a group of lanes per row of `from`. The dependent loads of an edge are the edge itself, then its target's
// length and, speculatively, the position of the target's row.
template <class W, class D, class I, class O>
__device__ void expand_hop(const device_search<W, D, I, O>& s, const search_position<D>& at,
                           near_far_buckets<W, D, I, O>& to, const bucket_entry<D, I, O>* from, int size,
                           bucket_entry<D, I, O>* into, bucket_entry<D, I, O>* far, narrow_counts& counts, int next) {
  using E = bucket_entry<D, I, O>;
  const int lanes = 1 << s.lanes_log;
  const int in_group = lane_id() & (lanes - 1);
  const unsigned group = lanes_below(lanes) << (lane_id() - in_group);
  const stored_length<D> threshold = at.threshold;
  int tally = 0;
  for (int first = static_cast<int>(threadIdx.x) / warp_size * warp_size; first < size * lanes;
       first += cuda_tuning::block) {
    const int k = (first + lane_id()) >> s.lanes_log;
    E e{};
    bool current = false;
    if (k < size) {
      e = from[k];
      current = __ldcg(s.lengths + e.vertex) == e.length;
    }
    int taken = 0;
    int past = e.left;
    for (int j = in_group; __any_sync(full_mask, j < past); j += lanes) {
      I v = 0;
      stored_length<D> path = none<D>;
      if (j < past) {
        const target_and_weight<W, I> edge = s.out.load(e.begin + static_cast<O>(j));
        v = edge.target;
        path = longer_stored<D>(e.length, edge.weight);
      }
      const bool below = path < threshold;
      if (!below) past = 0;  // later edges of the row are heavier
      taken += __popc(__ballot_sync(full_mask, below) & group);
      bool leads = false;
      O row = 0;
      O degree = 0;
      if (current && below) {
        const stored_length<D> held = atomicMin(s.lengths + v, path);
        row = __ldg(s.out.offsets + v);
        degree = __ldg(s.out.offsets + std::int64_t{v} + 1) - row;
        if (held == none<D>) to.reached_edges += static_cast<std::make_unsigned_t<O>>(degree);
        leads = path < held && degree >= s.least_degree;
      }
      if (!__any_sync(full_mask, leads)) continue;
      const bool is_long = leads && degree > s.part;
      const E mine{path, row, v, static_cast<int>(degree)};
      if (leads && !is_long) tally += static_cast<int>(degree);
      push_local(into, &counts.vertices[next], to.near.place, leads && !is_long, mine);
      if (__any_sync(full_mask, is_long)) {
        if (is_long) to.near_edges += static_cast<std::make_unsigned_t<O>>(degree);
        push_parts(to.near.place, is_long, mine, degree, s.part);
      }
    }
    e.begin += static_cast<O>(taken);
    e.left = current && in_group == 0 ? e.left - taken : 0;
    const bool kept = to.keeps(e);
    if (__any_sync(full_mask, kept)) push_local(far, &counts.far, to.far.place, kept, e);
  }
  __syncwarp();
  tally = warp_sum(tally);
  if (lane_id() == 0 && tally != 0) atomicAdd(&counts.edges[next], tally);
}

// Moves the block's list to its bucket. All threads call it.
template <class E>
__device__ void flush_local(const bucket_place<E>& bucket, const E* list, int size) {
  __shared__ count64 first;
  if (threadIdx.x == 0 && size > 0) first = atomicAdd(bucket.added, static_cast<count64>(size));
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < size; k += cuda_tuning::block) {
    bucket.store(static_cast<std::int64_t>(first) + k, list[k]);
  }
  __syncthreads();
}

template <class W, class D, class I, class O>
__device__ void follow_narrow(const device_search<W, D, I, O>& s, const search_position<D>& at,
                              near_far_buckets<W, D, I, O>& to, unsigned char* raw) {
  using E = bucket_entry<D, I, O>;
  constexpr int slots = narrow_tuning::slots;
  __shared__ narrow_counts counts;
  E* const lists = reinterpret_cast<E*>(raw);
  E* const far = lists + 2 * slots;
  // Adjacent entries: one block appended them together.
  const std::int64_t first = at.near * blockIdx.x / gridDim.x;
  int size = static_cast<int>(at.near * (blockIdx.x + 1) / gridDim.x - first);
  for (int k = static_cast<int>(threadIdx.x); k < size; k += cuda_tuning::block) lists[k] = s.near[at.turn][first + k];
  if (threadIdx.x == 0) counts.vertices[1] = counts.edges[1] = counts.far = 0;
  __syncthreads();
  for (int hop = 0;; ++hop) {
    const int next = (hop + 1) % 3;
    const E* const from = lists + hop % 2 * slots;
    E* const into = lists + (hop + 1) % 2 * slots;
    if (threadIdx.x == 0) counts.vertices[(hop + 2) % 3] = counts.edges[(hop + 2) % 3] = 0;
    expand_hop(s, at, to, from, size, into, far, counts, next);
    __syncthreads();
    size = counts.vertices[next] < slots ? counts.vertices[next] : slots;
    const int ahead = counts.edges[next];
    if (size > 0 && hop + 1 < narrow_tuning::hops && size <= narrow_tuning::entries && ahead <= narrow_tuning::edges)
      continue;
    flush_local(to.near.place, into, size);
    flush_local(to.far.place, far, counts.far < slots ? counts.far : slots);
    if (threadIdx.x == 0) to.near_edges += static_cast<std::make_unsigned_t<O>>(ahead);
    return;
  }
}

}  // namespace spargo::detail::sssp
