// Supports of edges on the device: the number of triangles of each edge of a graph by rank.
//
// As in counting (cuda_count.cuh), a rank u has its lower neighbours in a set, and for each neighbour v above u the
// entries of v's list before u are looked up: each hit w is a triangle, found once, at its middle rank. It adds 1 to
// three edges. Of (u, w) it is counted in shared memory, by the place of w in u's list. Of (v, w), which is the entry
// that was looked up, and of (v, u), which ends the search, it goes to global memory: four consecutive edges have
// 16-bit counters in one word, so that a lane adds its hits among four entries by one atomic. 16 bits suffice: the two
// kinds add at most one per edge from v, and v has at most sqrt(2 edges) neighbours of lower rank, or a short row.
//
// Blocks take ranks with many edges, a segment of the edges above u at a time; the others get a warp each. The set is a
// bitmap if u is below its size; the place of an entry is then the number of bits before it. Otherwise it is a filter
// by low bits, whose hits are searched in the list.
#pragma once

#include "core/cuda.cuh"
#include "core/device/warp.cuh"
#include "core/search.hpp"
#include "graph/triangles/ranked.hpp"

#include <spargo/core/device_features.cuh>

#include <cstdint>

namespace spargo::detail::triangles {

// Times: H100, ms; R-MAT 22 of degree 16 unless stated.
struct cuda_support_tuning {
  static constexpr int block = 512;
  static constexpr int blocks_per_sm = 4;  // 3: 27.6, 4: 26.3
  static constexpr int words = 4096;       // of a block's bitmap. 4096: 27.6, 8192: 27.9, 16384 and two blocks: 33.3
  // Per edge, with 8 entries each, three blocks. 2: 30.4, 4: 27.6, 8: 28.1. (Without atomics in global memory 21.5.)
  static constexpr int block_lanes = 4;
  static constexpr int part = 2048;     // entries of a list in a block's set
  static constexpr int segment = 2048;  // edges above a rank, per item
  static constexpr int warp_block = 256;
  static constexpr int warp_lanes = 2;  // uniform graph of 2^22 vertices, rows of 32. 1: 5.4, 2: 5.0, 4: 5.6
  static constexpr int warp_words = 256;
  static constexpr int warp_list = 128;  // longest list that a warp takes
  static constexpr int warp_edges = 64;  // most edges above a rank that a warp follows
  static constexpr int thread_row = 8;   // longest row that a thread takes; untuned
};

// support = packed + sums.
struct support_sums {
  count64* packed;  // [edge / 4, rounded up] 16 bits for an edge
  int* sums;        // [edge]
};

// The entries of an ascending list by their low bits, in shared memory. Exact: the ranks are below the number of bits.
template <bool Exact, int Words>
struct list_set {
  unsigned* bits;
  unsigned short* before;  // [word] entries in earlier words; exact
  int* list;               // the entries; not exact
  int size;

  // Entry k of the list; `previous`: the one before it. Sizes up to 2^16.
  __device__ __forceinline__ void insert(int k, int entry, int previous) const {
    const unsigned word = static_cast<unsigned>(entry) / 32 % Words;
    atomicOr(bits + word, 1U << entry % 32);
    if constexpr (Exact) {
      if (k == 0 || previous / 32 != entry / 32) before[word] = static_cast<unsigned short>(k);
    } else {
      list[k] = entry;
    }
  }
  // Clears the entry's whole word; once all entries are erased, the set is empty.
  __device__ __forceinline__ void erase(int entry) const { bits[static_cast<unsigned>(entry) / 32 % Words] = 0; }

  [[nodiscard]] __device__ __forceinline__ unsigned may_have(int entry) const {
    return __funnelshift_r(bits[static_cast<unsigned>(entry) / 32 % Words], 0, static_cast<unsigned>(entry)) & 1;
  }
  // Of an entry that the set may have; -1: absent.
  [[nodiscard]] __device__ __forceinline__ int place(int entry) const {
    if constexpr (Exact) {
      const unsigned word = static_cast<unsigned>(entry) / 32;
      return before[word] + __popc(bits[word] & ((1U << entry % 32) - 1));
    } else {
      const int at = first_where(0, size, [&](int k) { return list[k] >= entry; });
      return at < size && list[at] == entry ? at : -1;
    }
  }
};

// Four bits to the lowest bits of 16-bit fields.
__device__ __forceinline__ count64 spread_bits(unsigned four) {
  const unsigned low = (four & 1) | (four & 2) << 15;
  const unsigned high = (four & 4) >> 2 | (four & 8) << 13;
  return count64{high} << 32 | low;
}

// Finds the triangles of u, whose list is in the set, with the `edges` ranks above it. Called by whole warps. A group
// of lanes follows one edge at a time, two quads of entries per lane; every list contains u, so the search ends there.
template <int Lanes, bool Exact, int Words>
__device__ __forceinline__ void add_supports(const ranked_rows& g, int u, const int* above, int edges,
                                             const list_set<Exact, Words>& set, int* counts, count64* packed) {
  constexpr int groups = warp_size / Lanes;
  constexpr unsigned group_mask = (1U << Lanes) - 1;
  const auto load_begins = [&](int base) { return base + lane_id() < edges ? g.first[above[base + lane_id()]] : 0; };
  const int in_group = lane_id() % Lanes;
  const int group_first = lane_id() - in_group;
  int base = 0;
  int now = load_begins(0);
  int ahead = load_begins(warp_size);
  int left = edges;                              // from the start of `now`
  int next = groups;                             // next edge of `now` to take
  int bound = lane_id() / Lanes < left ? u : 0;  // upper bound of look-ups; 0: the group has no edge
  const int start = shuffle(now, lane_id() / Lanes);
  int at = start / 4 + 2 * in_group;                             // quad
  unsigned skipped = in_group == 0 ? (1U << start % 4) - 1 : 0;  // entries of the list before
  unsigned of_edge = 0;
  while (__any_sync(full_mask, bound > 0 ? 1 : 0) != 0) {
    const int4 low = __ldg(reinterpret_cast<const int4*>(g.to) + at);
    const int4 high = __ldg(reinterpret_cast<const int4*>(g.to) + at + 1);
    const int entries[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    unsigned below = skipped;
    unsigned found = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      below |= (entries[j] < bound ? 1U : 0U) << j;
      found |= set.may_have(entries[j]) << j;
    }
    const int length = __ffs(static_cast<int>(~below)) - 1;
    const unsigned ends = __ballot_sync(full_mask, length < 8) >> group_first & group_mask;
    const bool active = bound > 0 && (ends & ((1U << in_group) - 1)) == 0;  // the list has not ended in an earlier lane
    found = active ? found & ((1U << length) - 1) & ~skipped : 0;
    if (found != 0) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        if ((found >> j & 1) == 0) continue;
        const int place = set.place(entries[j]);
        if (Exact || place >= 0) {
          atomicAdd(counts + place, 1);
        } else {
          found &= ~(1U << j);
        }
      }
    }
    __syncwarp();
    of_edge += static_cast<unsigned>(__popc(found));
    const unsigned sum = group_sum(of_edge, Lanes);
    count64 low_word = spread_bits(found & 15);
    count64 high_word = spread_bits(found >> 4);
    if (active && length < 8) {
      const count64 here = count64{sum} << 16 * (length % 4);
      if (length < 4)
        low_word += here;
      else
        high_word += here;
    }
    if (low_word != 0) atomicAdd(packed + at, low_word);
    if (high_word != 0) atomicAdd(packed + at + 1, high_word);
    __syncwarp();
    const bool done = ends != 0;
    const unsigned finished = __ballot_sync(full_mask, done && bound > 0 && in_group == 0);
    const int taken = next + __popc(finished & ((1U << group_first) - 1));
    next += __popc(finished);
    int begin = shuffle(now, taken % warp_size);
    if (next > warp_size) {  // some groups take edges of `ahead`
      const int later = shuffle(ahead, taken % warp_size);
      begin = taken < warp_size ? begin : later;
    }
    if (done) {
      bound = bound > 0 && taken < left ? u : 0;
      of_edge = 0;
    }
    at = done ? begin / 4 + 2 * in_group : at + 2 * Lanes;
    skipped = done && in_group == 0 ? (1U << begin % 4) - 1 : 0;
    if (next >= warp_size) {
      next -= warp_size;
      left -= warp_size;
      base += warp_size;
      now = ahead;
      ahead = load_begins(base + warp_size);
    }
  }
}

// --- Per block ------------------------------------------------------------

// Items of a rank that blocks take; 0 if a warp does, or if it has no edges below or above.
__host__ __device__ inline int support_items(int below, int above) {
  using tuning = cuda_support_tuning;
  if (below == 0 || (below <= tuning::warp_list && above <= tuning::warp_edges)) return 0;
  return (above + tuning::segment - 1) / tuning::segment;
}
// Room for all items: a rank with items has more than warp_edges edges above it or warp_list below it.
constexpr std::int64_t most_support_items(std::int64_t edges) {
  using tuning = cuda_support_tuning;
  return edges / tuning::segment + edges / tuning::warp_edges + edges / tuning::warp_list + 1;
}

__global__ void __launch_bounds__(cuda_support_tuning::warp_block)
    list_support_items_kernel(ranked_rows g, support_item* items, support_control* control) {
  for (std::int64_t r = global_thread(); r < g.vertices; r += grid_threads()) {
    const int below = g.first[r + 1] - g.first[r];
    const int count = support_items(below, g.offsets[r + 1] - g.offsets[r] - below);
    if (count == 0) continue;
    const unsigned at = atomicAdd(&control->items, static_cast<unsigned>(count));
    for (int k = 0; k < count; ++k) items[at + k] = {static_cast<int>(r), k};
  }
}

// The same by a block, with the entries of `list`, u's edges from first_edge, in an empty set; empties it again.
template <bool Exact, int Words>
__device__ __forceinline__ void add_block_supports(const ranked_rows& g, int u, const int* above, int edges,
                                                   const list_set<Exact, Words>& set, const int* list, int* counts,
                                                   const support_sums& sums, int first_edge) {
  using tuning = cuda_support_tuning;
  const auto thread = static_cast<int>(threadIdx.x);
  constexpr int warps = tuning::block / warp_size;
  for (int k = thread; k < set.size; k += tuning::block) {
    counts[k] = 0;
    set.insert(k, list[k], k == 0 ? 0 : list[k - 1]);
  }
  __syncthreads();
  const int share = (edges + warps - 1) / warps;
  const int from = share * (thread / warp_size);
  const int mine = min(share, edges - from);
  if (mine > 0) add_supports<tuning::block_lanes>(g, u, above + from, mine, set, counts, sums.packed);
  __syncthreads();
  for (int k = thread; k < set.size; k += tuning::block) {
    if (counts[k] > 0) atomicAdd(sums.sums + first_edge + k, counts[k]);
    set.erase(list[k]);
  }
  __syncthreads();
}

__global__ void __launch_bounds__(cuda_support_tuning::block,
                                  resident_blocks(cuda_support_tuning::blocks_per_sm, cuda_support_tuning::block))
    supports_by_blocks_kernel(ranked_rows g, support_limits limits, const support_item* items, support_sums sums,
                              support_control* control) {
  using tuning = cuda_support_tuning;
  constexpr int words = tuning::words;
  const int most_bits = min(limits.bits, 32 * words);
  const int most_part = min(limits.part, tuning::part);
  __shared__ unsigned bits[words];
  __shared__ int counts[tuning::part];
  __shared__ int list[tuning::part];
  __shared__ unsigned taken;
  static_assert(sizeof(list) >= words * sizeof(unsigned short));
  auto* const before = reinterpret_cast<unsigned short*>(list);
  for (int k = static_cast<int>(threadIdx.x); k < words; k += tuning::block) bits[k] = 0;
  for (;;) {
    if (threadIdx.x == 0) taken = atomicAdd(&control->next, 1U);
    __syncthreads();  // the set is empty as well
    const unsigned at = taken;
    if (at >= control->items) return;
    const int u = items[at].rank;
    const int first = g.first[u];
    const int size = g.first[u + 1] - first;
    const int* const above = g.ends + g.offsets[u] + size;
    const int edges = g.offsets[u + 1] - g.offsets[u] - size;
    const int from = items[at].segment * tuning::segment;
    const int count = min(edges - from, tuning::segment);
    for (int part = 0; part < size; part += most_part) {
      const int part_size = min(size - part, most_part);
      const int* const entries = g.to + first + part;
      if (u <= most_bits) {
        const list_set<true, words> set{bits, before, nullptr, part_size};
        add_block_supports(g, u, above + from, count, set, entries, counts, sums, first + part);
      } else {
        const list_set<false, words> set{bits, nullptr, list, part_size};
        add_block_supports(g, u, above + from, count, set, entries, counts, sums, first + part);
      }
    }
  }
}

// --- Per warp -------------------------------------------------------------

// A rank with a short row, by a thread. Rows of higher ranks are at most as long, or all rows are short.
__device__ __forceinline__ void add_thread_supports(const ranked_rows& g, int u, int first, int size, int above,
                                                    int edges, int* sums) {
  for (int k = above; k < above + edges; ++k) {
    for (int e = g.first[g.ends[k]];; ++e) {
      const int w = g.to[e];
      if (w >= u) break;  // the list contains u
      const int at = first_where(0, size, [&](int j) { return g.to[first + j] >= w; });
      if (at == size || g.to[first + at] != w) continue;
      int last = e + 1;
      while (g.to[last] < u) ++last;
      atomicAdd(sums + first + at, 1);
      atomicAdd(sums + e, 1);
      atomicAdd(sums + last, 1);
    }
  }
}

__global__ void __launch_bounds__(cuda_support_tuning::warp_block)
    supports_by_warps_kernel(ranked_rows g, support_sums sums) {
  using tuning = cuda_support_tuning;
  constexpr int warps = tuning::warp_block / warp_size;
  __shared__ unsigned bits[warps][tuning::warp_words];
  __shared__ int lists[warps][tuning::warp_list];
  __shared__ int all_counts[warps][tuning::warp_list];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = lane_id();
  int* const counts = all_counts[warp];
  for (int k = lane; k < tuning::warp_words; k += warp_size) bits[warp][k] = 0;
  __syncwarp();
  const std::int64_t step = grid_threads() / warp_size * warp_size;
  for (std::int64_t base = global_thread() / warp_size * warp_size; base < g.vertices; base += step) {
    // Each lane reads a rank; the warp takes one after the other.
    const bool exists = base + lane < g.vertices;
    const int my_first = exists ? g.first[base + lane] : 0;
    const int my_size = exists ? g.first[base + lane + 1] - my_first : 0;
    const int my_above = exists ? g.offsets[base + lane] + my_size : 0;
    const int my_edges = exists ? g.offsets[base + lane + 1] - my_above : 0;
    const bool has_both = my_size > 0 && my_edges > 0;
    const bool is_short = my_size + my_edges <= tuning::thread_row;
    if (has_both && is_short) {
      add_thread_supports(g, static_cast<int>(base + lane), my_first, my_size, my_above, my_edges, sums.sums);
    }
    __syncwarp();
    unsigned waiting = __ballot_sync(full_mask, has_both && !is_short && support_items(my_size, my_edges) == 0);
    for (; waiting != 0; waiting &= waiting - 1) {
      const int owner = __ffs(static_cast<int>(waiting)) - 1;
      const auto u = static_cast<int>(base + owner);
      const int first = shuffle(my_first, owner);
      const list_set<false, tuning::warp_words> set{bits[warp], nullptr, lists[warp], shuffle(my_size, owner)};
      for (int k = lane; k < set.size; k += warp_size) {
        counts[k] = 0;
        set.insert(k, g.to[first + k], 0);
      }
      __syncwarp();
      add_supports<tuning::warp_lanes>(g, u, g.ends + shuffle(my_above, owner), shuffle(my_edges, owner), set, counts,
                                       sums.packed);
      __syncwarp();
      for (int k = lane; k < set.size; k += warp_size) {
        if (counts[k] > 0) atomicAdd(sums.sums + first + k, counts[k]);
        set.erase(lists[warp][k]);
      }
      __syncwarp();
    }
  }
}

}  // namespace spargo::detail::triangles
