// Counts the triangles of an oriented graph on the device.
//
// For each rank u, its neighbours of lower rank are inserted into a set in shared memory. For each neighbour v above u,
// the entries of v's list before u are looked up: each hit is a triangle, found once, at its middle rank. Look-ups: one
// per pair in lists, 7.2e9 for R-MAT 22 of degree 16; 4 lanes per edge read lists in order, 32 bytes each.
//
// Blocks process ranks with many edges, a segment of the edges above u at a time; the set is a bitmap while u is below
// its size, else a hash table. The others get a warp each, with a small hash table. Counts per vertex: a group of lanes
// sums v's, a warp u's; the lowest ranks, which are in most triangles, are counted in shared memory.
#pragma once

#include "graph/triangles/cuda_sets.cuh"
#include "graph/triangles/executor.hpp"

#include <spargo/core/device_features.cuh>
#include <spargo/graph/triangles.hpp>

namespace spargo::detail::triangles {

// Times: H200, R-MAT 22 of degree 16, ms in total; with three blocks per SM and 1024 edges per item unless stated.
struct cuda_count_tuning {
  static constexpr int block = 512;
  static constexpr int blocks_per_sm = 4;  // 2: 21.8, 3: 17.5, 4: 16.0
  static constexpr int warp_block = 256;   // untuned
  // Lanes per edge, with 8 entries each. 4: 17.5, 8: 17.2; for a uniform graph of that size 12.7 and 15.8.
  static constexpr int lanes = 4;
  static constexpr std::int64_t segment =
      2048;  // edges above a rank, per item; with four blocks 1024: 16.0, 2048: 15.4
  static constexpr std::int64_t warp_list = 128;  // longest list that a warp puts into its table; untuned
  static constexpr int warp_ranks = 8;            // consecutive ranks per warp; untuned
  static constexpr std::int64_t warp_edges = 64;  // maximum edges that a warp follows; untuned
  static constexpr int items_of_own =
      1 << 18;  // items between flushes: an item adds at most twice its edges to a 32-bit count
};

// Words for sets and counts in a block's shared memory: below 48 KiB in total.
template <triangles_output Output>
struct block_shape;
template <>
struct block_shape<triangles_output::total> {
  static constexpr int words = 8192, mutual = 1, own = 1, own_links = 1;
};
template <>
struct block_shape<triangles_output::per_vertex> {
  static constexpr int words = 8192, mutual = 1, own = 3072, own_links = 1;
};
template <>
struct block_shape<triangles_output::links> {
  static constexpr int words = 4096, mutual = 4096, own = 1536, own_links = 1536;
};

struct count_item {
  rank_t u;
  rank_t segment;
};

struct count_control {
  count64 next;  // the next item to take
  count64 total;
};

// Called by all threads of the warp.
__device__ __forceinline__ void add_total(std::int64_t mine, count_control* control) {
  const auto total = warp_sum(static_cast<count64>(mine));
  if (lane_id() == 0 && total > 0) atomicAdd(&control->total, total);
}

struct count_sums {
  count64* counts;  // [rank]; if requested
  count64* links;
};

// Items of a rank that blocks process; 0 if a warp does, or if it has no edges below or above.
__host__ __device__ inline std::int64_t items_of(std::int64_t below, std::int64_t above) {
  using tuning = cuda_count_tuning;
  if (below == 0 || (below <= tuning::warp_list && above <= tuning::warp_edges)) return 0;
  return div_up(above, tuning::segment);
}

// A thread's counts of triangles (u, v, w), u the middle rank, w the lowest.
template <triangles_output Output>
struct tally {
  static constexpr bool counts = Output != triangles_output::total;
  static constexpr bool with_links = Output == triangles_output::links;

  count_sums sums;
  unsigned* own;  // [w below own_limit] in shared memory
  unsigned* own_links;
  rank_t own_limit;
  std::int64_t total = 0;
  unsigned of_u = 0;  // since the last close_rank
  unsigned of_v = 0;  // of the current edge
  unsigned links_of_u = 0;
  unsigned links_of_v = 0;

  // Counts v's entry w, found in the set; `edge` is u's entry v.
  __device__ __forceinline__ void add_triangle(rank_t entry, rank_t edge, unsigned found) {
    ++of_u;
    ++of_v;
    const rank_t w = rank_of<with_links>(entry);
    add(own, sums.counts, w, 1);
    if constexpr (with_links) {
      links_of_u += 1 + is_mutual(entry);
      links_of_v += 1 + (found >> 1);
      add(own_links, sums.links, w, 1 + is_mutual(edge));
    }
  }
  // All lanes call it; groups with `done` close their edge.
  __device__ __forceinline__ void close_edge(bool done, rank_t edge) {
    if constexpr (counts) {
      close(done, edge, of_v, sums.counts);
      if constexpr (with_links) close(done, edge, links_of_v, sums.links);
    }
  }
  // All lanes call it.
  __device__ __forceinline__ void close_rank(rank_t u) {
    total += of_u;
    if constexpr (counts) {
      const unsigned sum = warp_sum(of_u);
      if (lane_id() == 0 && sum > 0) atomicAdd(sums.counts + u, count64{sum});
      if constexpr (with_links) {
        const unsigned links = warp_sum(links_of_u);
        if (lane_id() == 0 && links > 0) atomicAdd(sums.links + u, count64{links});
        links_of_u = 0;
      }
    }
    of_u = 0;
  }

 private:
  __device__ __forceinline__ void add(unsigned* shared, count64* global, rank_t w, unsigned count) const {
    if (w < own_limit) {
      atomicAdd(shared + w, count);
    } else {
      atomicAdd(global + w, count64{count});
    }
  }
  __device__ __forceinline__ static void close(bool done, rank_t edge, unsigned& of_v, count64* to) {
    const unsigned sum = group_sum(of_v, cuda_count_tuning::lanes);
    if (!done) return;
    if (lane_id() % cuda_count_tuning::lanes == 0 && sum > 0) {
      atomicAdd(to + rank_of<with_links>(edge), count64{sum});
    }
    of_v = 0;
  }
};

// Up to 32 edges above a rank, one per lane: the entry, and the start of its list.
template <class O>
struct edge_batch {
  rank_t entry = 0;
  O begin = 0;
};
template <bool Links, class O>
__device__ __forceinline__ edge_batch<O> load_batch(const oriented_lists<O>& g, std::int64_t first, std::int64_t last) {
  edge_batch<O> batch;
  if (first + lane_id() >= last) return batch;
  batch.entry = g.in[first + lane_id()];
  batch.begin = g.out_quads[rank_of<Links>(batch.entry)];
  return batch;
}

// Counts the triangles of u, whose set is given, with the ranks in[first] to in[last). Called by whole warps. A group
// of lanes follows one edge at a time, two quads per lane; every list contains u, so the loop ends there.
template <triangles_output Output, class O, class Set>
__device__ __forceinline__ void count_edges(const oriented_lists<O>& g, rank_t u, std::int64_t first, std::int64_t last,
                                            const Set& set, tally<Output>& mine) {
  constexpr int lanes = cuda_count_tuning::lanes;
  constexpr int groups = warp_size / lanes;
  constexpr bool links = tally<Output>::with_links;
  constexpr bool counts = tally<Output>::counts;
  constexpr unsigned group_mask = (1U << lanes) - 1;
  const int in_group = lane_id() % lanes;
  const int group_first = lane_id() - in_group;
  edge_batch<O> now = load_batch<links>(g, first, last);
  edge_batch<O> ahead = load_batch<links>(g, first + warp_size, last);
  auto left = static_cast<int>(last - first);  // edges from the start of `now`
  int next = groups;                           // next edge of `now` to take
  const int start = lane_id() / lanes;
  rank_t bound = start < left ? u : 0;  // upper bound of look-ups; 0: the group has no edge
  O at = shuffle(now.begin, start) + static_cast<O>(2 * in_group);
  rank_t edge = counts ? shuffle(now.entry, start) : 0;
  while (__any_sync(full_mask, bound > 0 ? 1 : 0) != 0) {
    const uint4 low = __ldg(g.out + at);
    const uint4 high = __ldg(g.out + at + 1);
    const rank_t entries[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    bool below[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) below[j] = rank_of<links>(entries[j]) < bound && (j == 0 || below[j - 1]);
    const unsigned ends = __ballot_sync(full_mask, !below[7]) >> group_first & group_mask;
    const bool active = (ends & ((1U << in_group) - 1)) == 0;  // otherwise the list has ended in an earlier lane
    if constexpr (counts) {
      if (active) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          if (!below[j]) continue;
          const unsigned found = set.find(rank_of<links>(entries[j]));
          if (found != 0) mine.add_triangle(entries[j], edge, found);
        }
      }
    } else {
      unsigned found = 0;  // branch-free, so that several look-ups are in flight
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned hit = set.find(below[j] ? entries[j] : 0);
        found += below[j] ? hit : 0;
      }
      mine.of_u += active ? found : 0;
    }
    __syncwarp();
    const bool done = ends != 0;
    mine.close_edge(done && bound > 0, edge);
    const unsigned finished = __ballot_sync(full_mask, done && bound > 0 && in_group == 0);
    const int taken = next + __popc(finished & ((1U << group_first) - 1));
    next += __popc(finished);
    O begin = shuffle(now.begin, taken % warp_size);
    rank_t entry = counts ? shuffle(now.entry, taken % warp_size) : 0;
    if (next > warp_size) {  // some groups take edges of `ahead`
      const O later = shuffle(ahead.begin, taken % warp_size);
      begin = taken < warp_size ? begin : later;
      if constexpr (counts) {
        const rank_t later_entry = shuffle(ahead.entry, taken % warp_size);
        entry = taken < warp_size ? entry : later_entry;
      }
    }
    if (done) {
      bound = bound > 0 && taken < left ? u : 0;
      edge = entry;
    }
    at = done ? begin + static_cast<O>(2 * in_group) : at + O{2 * lanes};
    if (next >= warp_size) {
      next -= warp_size;
      left -= warp_size;
      first += warp_size;
      now = ahead;
      ahead = load_batch<links>(g, first + warp_size, last);
    }
  }
}

// --- Per block ------------------------------------------------------------

template <class F>
__device__ __forceinline__ void block_for(std::int64_t first, std::int64_t last, F f) {
  for (std::int64_t k = first + threadIdx.x; k < last; k += blockDim.x) f(k);
}

// Processes the warp's share of the block's edges [first, last).
template <triangles_output Output, class O, class Set>
__device__ __forceinline__ void count_share(const oriented_lists<O>& g, rank_t u, std::int64_t first, std::int64_t last,
                                            const Set& set, tally<Output>& mine) {
  constexpr std::int64_t warps = cuda_count_tuning::block / warp_size;
  const std::int64_t share = div_up(last - first, warps);
  const std::int64_t from = first + share * (threadIdx.x / warp_size);
  count_edges(g, u, from, from + share < last ? from + share : last, set, mine);
}

// Adds shared counters to global ones and resets them. Barriers are the caller's.
__device__ inline void flush(unsigned* own, std::int64_t size, count64* to) {
  block_for(0, size, [&](std::int64_t w) {
    if (own[w] > 0) atomicAdd(to + w, count64{own[w]});
    own[w] = 0;
  });
}

template <triangles_output Output, class O>
__global__ void __launch_bounds__(cuda_count_tuning::block,
                                  resident_blocks(cuda_count_tuning::blocks_per_sm, cuda_count_tuning::block))
    count_by_blocks_kernel(oriented_lists<O> g, std::int64_t vertices, set_limits limits, const count_item* items,
                           const O* item_count, count_sums sums, count_control* control) {
  using shape = block_shape<Output>;
  using tuning = cuda_count_tuning;
  __shared__ unsigned words[shape::words];
  __shared__ unsigned mutual[shape::mutual];
  __shared__ unsigned own[shape::own];
  __shared__ unsigned own_links[shape::own_links];
  __shared__ std::int64_t taken;
  const std::int64_t most_bits = limits.bits < 32 * shape::words ? limits.bits : 32 * shape::words;
  const std::int64_t most_hashed = limits.hashed < shape::words / 2 ? limits.hashed : shape::words / 2;
  block_for(0, shape::words, [&](std::int64_t k) { words[k] = 0; });
  block_for(0, shape::mutual, [&](std::int64_t k) { mutual[k] = 0; });
  block_for(0, shape::own, [&](std::int64_t k) { own[k] = 0; });
  block_for(0, shape::own_links, [&](std::int64_t k) { own_links[k] = 0; });
  const std::int64_t own_limit = vertices < shape::own ? vertices : std::int64_t{shape::own};
  tally<Output> mine{sums, own, own_links, static_cast<rank_t>(own_limit)};
  const auto flush_all = [&] {
    if constexpr (tally<Output>::counts) flush(own, own_limit, sums.counts);
    if constexpr (tally<Output>::with_links) flush(own_links, own_limit, sums.links);
  };

  for (int done = 1;; ++done) {
    if (threadIdx.x == 0) taken = static_cast<std::int64_t>(atomicAdd(&control->next, count64{1}));
    __syncthreads();  // the set is empty as well
    const std::int64_t at = taken;
    if (at >= static_cast<std::int64_t>(*item_count)) break;
    const count_item item = items[at];
    const rank_t u = item.u;
    const std::int64_t list_size = g.out_offsets[u + 1] - g.out_offsets[u];
    const rank_t* const list = reinterpret_cast<const rank_t*>(g.out + g.out_quads[u]);
    const std::int64_t first = g.in_offsets[u] + item.segment * tuning::segment;
    const std::int64_t end = g.in_offsets[u + 1];
    const std::int64_t last = end < first + tuning::segment ? end : first + tuning::segment;
    if (u <= most_bits) {
      const bit_set<tally<Output>::with_links> set{words, mutual};
      block_for(0, list_size, [&](std::int64_t k) { set.insert(list[k]); });
      __syncthreads();
      count_share(g, u, first, last, set, mine);
      __syncthreads();
      block_for(0, list_size, [&](std::int64_t k) { set.erase(list[k]); });
    } else {
      for (std::int64_t from = 0; from < list_size; from += most_hashed) {
        const std::int64_t until = list_size < from + most_hashed ? list_size : from + most_hashed;
        const hash_set<tally<Output>::with_links> set{words,
                                                      hash_set<tally<Output>::with_links>::shift_for(until - from)};
        block_for(from, until, [&](std::int64_t k) { set.insert(list[k]); });
        __syncthreads();
        count_share(g, u, first, last, set, mine);
        __syncthreads();
        block_for(0, set.size(), [&](std::int64_t k) { words[k] = 0; });
        __syncthreads();
      }
    }
    mine.close_rank(u);
    if (tally<Output>::counts && done % tuning::items_of_own == 0) {
      flush_all();
      __syncthreads();
    }
  }
  flush_all();
  add_total(mine.total, control);
}

// --- Per warp -------------------------------------------------------------

template <triangles_output Output, class O>
__global__ void __launch_bounds__(cuda_count_tuning::warp_block)
    count_by_warps_kernel(oriented_lists<O> g, std::int64_t vertices, count_sums sums, count_control* control) {
  using tuning = cuda_count_tuning;
  __shared__ rank_t tables[tuning::warp_block / warp_size][2 * tuning::warp_list];
  rank_t* const table = tables[threadIdx.x / warp_size];
  for (int k = lane_id(); k < 2 * tuning::warp_list; k += warp_size) table[k] = 0;
  __syncwarp();
  tally<Output> mine{sums, nullptr, nullptr, 0};
  for (std::int64_t base = global_warp() * tuning::warp_ranks; base < vertices;
       base += grid_warps() * tuning::warp_ranks) {
    const std::int64_t r = base + lane_id();
    std::int64_t list_size = 0;
    std::int64_t first = 0;
    std::int64_t edges = 0;
    if (lane_id() < tuning::warp_ranks && r < vertices) {
      list_size = g.out_offsets[r + 1] - g.out_offsets[r];
      first = g.in_offsets[r];
      edges = g.in_offsets[r + 1] - first;
    }
    unsigned waiting = __ballot_sync(full_mask, list_size > 0 && edges > 0 && items_of(list_size, edges) == 0);
    for (; waiting != 0; waiting &= waiting - 1) {
      const int owner = __ffs(static_cast<int>(waiting)) - 1;
      const auto u = static_cast<rank_t>(base + owner);
      const std::int64_t size = shuffle(list_size, owner);
      const std::int64_t from = shuffle(first, owner);
      const std::int64_t until = from + shuffle(edges, owner);
      const rank_t* const list = reinterpret_cast<const rank_t*>(g.out + g.out_quads[u]);
      const hash_set<tally<Output>::with_links> set{table, hash_set<tally<Output>::with_links>::shift_for(size)};
      for (std::int64_t k = lane_id(); k < size; k += warp_size) set.insert(list[k]);
      __syncwarp();
      count_edges(g, u, from, until, set, mine);
      __syncwarp();
      for (unsigned k = static_cast<unsigned>(lane_id()); k < set.size(); k += warp_size) table[k] = 0;
      __syncwarp();
      mine.close_rank(u);
    }
  }
  add_total(mine.total, control);
}

}  // namespace spargo::detail::triangles
