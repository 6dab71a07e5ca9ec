// Pull: a level from a bitmap; conversion of the frontier between bitmap and queue.
//
// A warp handles 128 vertices (four words of the bitmaps), a lane four of them. This needs no atomics and keeps four
// chains of dependent loads (word, offsets, neighbour, its bit) in flight per lane; latency of these chains bounds a
// pull. An unvisited vertex first tries its `likely` parent, its best-connected neighbour, which is read coalesced: on
// scale-free graphs that finds most vertices without reading their rows. For the rest, each lane scans its own rows;
// the whole warp scans rows longer than `lane_neighbours`.
#pragma once

#include "graph/bfs/cuda_search.cuh"

namespace spargo::detail::bfs {

struct pull_tuning {
  static constexpr int words = 4;
  static constexpr int ahead = 2;  // neighbours in flight per vertex
  static constexpr int lane_neighbours = 256;
};

__device__ inline bool in_bitmap(const unsigned* bits, std::int64_t v) { return (bits[v >> 5] >> (v & 31) & 1U) != 0; }

// The whole warp searches in_indices [e, end) for a neighbour in `front`. Returns it in all lanes, or -1.
template <class I, class O>
__device__ I pull_together(const search<I, O>& s, const unsigned* front, O e, O end) {
  const auto lane = static_cast<O>(threadIdx.x % warp_size);
  const I* at = s.in_indices + e + lane;
  for (O left = end - e; left > 0; left -= warp_size, at += warp_size) {
    const I u = lane < left ? __ldg(at) : I{-1};
    const unsigned hits = __ballot_sync(full_mask, u >= 0 && in_bitmap(front, u));
    if (hits != 0) return __shfl_sync(full_mask, u, __ffs(static_cast<int>(hits)) - 1);
  }
  return I{-1};
}

// A lane's state of its vertices, one per word.
template <class I, class O>
struct pull_lane {
  static constexpr int count = pull_tuning::words;
  I parent[count];  // -1: not found
  O next[count];    // next neighbour to try
  O end[count];
};

template <class I, class O>
__device__ void pull_likely(const search<I, O>& s, const unsigned* front, const unsigned (&seen)[pull_tuning::words],
                            std::int64_t first, pull_lane<I, O>& mine) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  unsigned word[pull_tuning::words];
#pragma unroll
  for (int k = 0; k < pull_tuning::words; ++k) {
    const bool open = (seen[k] >> lane & 1U) == 0;
    mine.parent[k] = s.likely != nullptr && open ? s.likely[first + k * warp_size + lane] : I{-1};
  }
#pragma unroll
  for (int k = 0; k < pull_tuning::words; ++k) word[k] = mine.parent[k] >= 0 ? front[mine.parent[k] >> 5] : 0U;
#pragma unroll
  for (int k = 0; k < pull_tuning::words; ++k) {
    if ((word[k] >> (mine.parent[k] & 31) & 1U) == 0) mine.parent[k] = I{-1};
    const bool open = (seen[k] >> lane & 1U) == 0 && mine.parent[k] < 0;
    const std::int64_t v = first + k * warp_size + lane;
    mine.next[k] = open ? s.in_offsets[v] : O{0};
    mine.end[k] = open ? s.in_offsets[v + 1] : O{0};
  }
}

template <class I, class O>
__device__ void pull_lists(const search<I, O>& s, const unsigned* front, pull_lane<I, O>& mine) {
  constexpr int words = pull_tuning::words;
  constexpr int ahead = pull_tuning::ahead;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (int tried = 0; tried < pull_tuning::lane_neighbours; tried += ahead) {
    I u[words][ahead];
    unsigned word[words][ahead];
    bool open = false;
#pragma unroll
    for (int k = 0; k < words; ++k) {
#pragma unroll
      for (int a = 0; a < ahead; ++a)
        u[k][a] = mine.next[k] + a < mine.end[k] ? __ldg(s.in_indices + (mine.next[k] + a)) : I{-1};
    }
#pragma unroll
    for (int k = 0; k < words; ++k) {
#pragma unroll
      for (int a = 0; a < ahead; ++a) word[k][a] = u[k][a] >= 0 ? front[u[k][a] >> 5] : 0U;
    }
#pragma unroll
    for (int k = 0; k < words; ++k) {
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        if ((word[k][a] >> (u[k][a] & 31) & 1U) != 0) mine.parent[k] = u[k][a];
      }
      mine.next[k] = mine.parent[k] >= 0 ? mine.end[k] : mine.next[k] + ahead;
      open = open || mine.next[k] < mine.end[k];
    }
    if (!__any_sync(full_mask, open)) return;
  }
#pragma unroll
  for (int k = 0; k < words; ++k) {
    unsigned left = __ballot_sync(full_mask, mine.next[k] < mine.end[k]);
    for (; left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const I parent = pull_together(s, front, __shfl_sync(full_mask, mine.next[k], owner),
                                     __shfl_sync(full_mask, mine.end[k], owner));
      if (lane == owner) mine.parent[k] = parent;
    }
  }
}

// Writes the levels of a frontier converted from the queue; the warp that pulls for a word writes its vertices' levels.
template <class I, class O>
__device__ void write_front(const search<I, O>& s, std::int64_t level, const unsigned* front, std::int64_t w) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const uint4 four = *reinterpret_cast<const uint4*>(front + w);
  const unsigned here[pull_tuning::words] = {four.x, four.y, four.z, four.w};
#pragma unroll
  for (int k = 0; k < pull_tuning::words; ++k) {
    if ((here[k] >> lane & 1U) != 0) write_level(s, (w + k) * warp_size + lane, level);
  }
}

// Writes every word of `next`. Does not count the out-edges of the vertices found.
template <class I, class O>
__device__ void pull(const search<I, O>& s, counters* found, const search_position& at, const unsigned* front,
                     unsigned* next, thread_tally& tally) {
  constexpr int words = pull_tuning::words;
  static_assert(words == 4, "a uint4");
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t w = grid_warp() * words; w < s.words; w += grid_warps() * words) {
    const uint4 four = *reinterpret_cast<const uint4*>(s.visited + w);
    const unsigned seen[words] = {four.x, four.y, four.z, four.w};
    if (at.in_queue != 0) write_front(s, at.level, front, w);
    if ((four.x & four.y & four.z & four.w) == ~0U) {  // bits past the last vertex are always set
      if (lane == 0) *reinterpret_cast<uint4*>(next + w) = {0, 0, 0, 0};
      continue;
    }
    pull_lane<I, O> mine;
    pull_likely(s, front, seen, w * warp_size, mine);
    pull_lists(s, front, mine);
    unsigned mask[words];
#pragma unroll
    for (int k = 0; k < words; ++k) {
      const std::int64_t v = (w + k) * warp_size + lane;
      mask[k] = __ballot_sync(full_mask, mine.parent[k] >= 0);
      if (mine.parent[k] >= 0) write_found(s, v, static_cast<std::int64_t>(mine.parent[k]), at.level + 1);
      if (v == s.target && mine.parent[k] >= 0) found->target = 1;
      if (lane == 0) tally.vertices += static_cast<count64>(__popc(mask[k]));
    }
    if (lane == 0) {
      *reinterpret_cast<uint4*>(next + w) = {mask[0], mask[1], mask[2], mask[3]};
      if ((mask[0] | mask[1] | mask[2] | mask[3]) != 0) {
        *reinterpret_cast<uint4*>(s.visited + w) = {seen[0] | mask[0], seen[1] | mask[1], seen[2] | mask[2],
                                                    seen[3] | mask[3]};
      }
    }
    __syncwarp();
  }
}

// --- Conversion of the frontier ---------------------------------------------------------------------

// Sets the bits of the queued frontier in `front`, which is all zero.
template <class I, class O>
__device__ void queue_to_bitmap(const search<I, O>& s, const search_position& at, unsigned* front) {
  for (std::int64_t i = at.begin + global_thread(); i < at.end; i += grid_threads()) {
    const auto v = static_cast<std::int64_t>(s.queue[i]);
    atomicOr(front + (v >> 5), 1U << (v & 31));
  }
  for (std::int64_t c = at.hub_begin + global_thread(); c < at.hub_end; c += grid_threads()) {
    const auto v = static_cast<std::int64_t>(s.hubs[c].vertex);
    if (s.hubs[c].number == 0) atomicOr(front + (v >> 5), 1U << (v & 31));
  }
}

// For each nonzero word word_of(w) a whole warp calls visit(v, set) for the word's 32 vertices.
template <class Word, class Visit>
__device__ __forceinline__ void for_each_word(std::int64_t words, Word word_of, Visit visit) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t base = grid_warp() * warp_size; base < words; base += grid_warps() * warp_size) {
    const unsigned mine = base + lane < words ? word_of(base + lane) : 0U;
    for (unsigned filled = __ballot_sync(full_mask, mine != 0); filled != 0; filled &= filled - 1) {
      const int from = __ffs(static_cast<int>(filled)) - 1;
      const unsigned word = __shfl_sync(full_mask, mine, from);
      visit((base + from) * warp_size + lane, (word >> lane & 1U) != 0);
    }
  }
}

// Appends the frontier in `front` to the queue and counts its edges.
template <class I, class O>
__device__ void bitmap_to_queue(const search<I, O>& s, sink<I>& to, const unsigned* front) {
  thread_tally tally;
  const auto word_of = [&](std::int64_t w) { return front[w]; };
  for_each_word(s.words, word_of, [&](std::int64_t v, bool here) {
    const int weight = here ? s.weights[v] : 0;
    tally.vertices += here ? 1 : 0;
    tally.edges += edges_of_weight(weight);
    append_together(s, to, here, static_cast<I>(v), weight);
  });
  flush_staged(s, to);
  add_tally(to.found, tally);
}

// Writes the levels of a queued frontier that is not expanded because the search ends.
template <class I, class O>
__device__ void write_queued(const search<I, O>& s, const search_position& at) {
  for (std::int64_t i = at.begin + global_thread(); i < at.end; i += grid_threads())
    write_level(s, s.queue[i], at.level);
  for (std::int64_t c = at.hub_begin + global_thread(); c < at.hub_end; c += grid_threads())
    write_level(s, s.hubs[c].vertex, at.level);
}

// Marks unreached vertices, the complement of `visited`, and restores the bitmaps for the next search. Isolated
// vertices, which count as visited from the start, were marked when the plan was built.
template <class I, class O>
__device__ void finish_bitmaps(const search<I, O>& s) {
  const auto unreached_of = [&](std::int64_t w) {
    const unsigned unreached = ~s.visited[w];
    s.visited[w] = s.start[w];
    if (s.front != nullptr) s.front[w] = 0;
    return unreached;
  };
  for_each_word(s.words, unreached_of, [&](std::int64_t v, bool here) {
    if (here) write_unreached(s, v);
  });
}

}  // namespace spargo::detail::bfs
