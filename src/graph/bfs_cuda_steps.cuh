// The steps of a level of the device search, as functions of a whole grid or of one block.
//
// What every step keeps: a vertex is discovered by the one thread whose atomicOr set its bit in `visited`, which alone
// writes its level and parent and appends it once, so a queue of n vertices cannot overflow. A vertex with more than
// `hub_degree` out-edges is appended as chunks of edges instead, so that no warp is left with a million of them.
#pragma once

#include "core/cuda.cuh"
#include "graph/bfs_direction.hpp"

#include <spargo/graph/bfs.hpp>

#include <cstdint>

namespace spargo::detail {

struct bfs_cuda_tuning {
  static constexpr int block = 1024;  // one block walks small levels alone, so it is as large as can be
  static constexpr int warps = block / warp_size;
  // Edges in flight a lane. H200, R-MAT 22: 0.354 ms with 4, 0.369 with 2 (which is better on a grid: 18.3 for 19.5).
  static constexpr int unroll = 4;
  static constexpr int hub_degree = 512;  // 16 rounds of a warp; more would hold its 31 other vertices up
  // A level below both is walked by one block. H200, 2048 x 2048 grid, 3677 levels: 43.6 ms with 4096 and 16384 (a
  // block then walks every level and is too slow for the widest), 19.5 ms with 1024 or 512, 20.1 ms with 256.
  static constexpr int alone_vertices = 1024;
  static constexpr int alone_edges = 4096;
  static constexpr int block_queue = 2048;  // shared slots a block for the `block_queue` rung
};

using count64 = unsigned long long;  // what atomicAdd takes

template <class I>
struct bfs_hub_chunk {
  I vertex;
  I chunk;  // edges [chunk * hub_degree, (chunk + 1) * hub_degree) of the vertex
};

// What a level finds. Three of them take turns, see bfs_search_kernel.
struct bfs_counters {
  count64 queued;    // vertices appended to the queue
  count64 chunks;    // hub chunks appended
  count64 vertices;  // discovered, hubs included
  count64 edges;     // their out-edges
};

// Everything that the next level depends on. All threads hold the same copy.
struct bfs_position {
  std::int64_t level = 0;
  std::int64_t begin = 0;  // the frontier: queue [begin, end) and hub chunks [hub_begin, hub_end) ...
  std::int64_t end = 0;
  std::int64_t hub_begin = 0;
  std::int64_t hub_end = 0;
  std::int64_t in_queue = 1;  // ... or, when 0, the bitmap `front`
  std::int64_t vertices = 0;  // in the frontier
  std::int64_t edges = 0;     // their out-edges
  std::int64_t previous = 0;  // vertices in the frontier before
  std::int64_t unexplored = 0;
  std::int64_t reached = 0;
};

struct bfs_control {
  bfs_counters found[3];
  bfs_counters converted;
  bfs_position start;     // of the source
  bfs_position position;  // left by the block that walked alone, and at the end
};

template <class I, class O>
struct bfs_search {
  const O* out_offsets;
  const I* out_indices;
  const O* in_offsets;  // null: push only
  const I* in_indices;
  std::int64_t n;
  std::int64_t words;  // of a bitmap: 32 vertices each
  std::int64_t edges;
  std::int32_t* levels;  // null when not asked for
  I* parents;
  unsigned* visited;
  unsigned* front;
  unsigned* next;
  I* queue;                   // n
  bfs_hub_chunk<I>* hubs;     // 2 * edges / hub_degree
  std::int64_t* level_sizes;  // n
  bfs_control* control;
  std::int64_t source;
  bfs_direction allowed;
};

// --- Discovery ------------------------------------------------------------

// True for the one caller that sets v's bit.
__device__ inline bool claim(unsigned* visited, std::int64_t v) {
  const unsigned bit = 1U << (v & 31);
  unsigned* const word = visited + (v >> 5);
  if (__ldcg(word) & bit) return false;
  return (atomicOr(word, bit) & bit) == 0;
}

// The same for several vertices (-1: none), with all reads under way before the first atomic, and those together.
template <int Count, class I>
__device__ void claim_all(unsigned* visited, const I (&v)[Count], bool (&won)[Count]) {
  unsigned word[Count];
#pragma unroll
  for (int q = 0; q < Count; ++q) word[q] = v[q] >= 0 ? __ldcg(visited + (v[q] >> 5)) : ~0U;
#pragma unroll
  for (int q = 0; q < Count; ++q) {
    const unsigned bit = 1U << (v[q] & 31);
    word[q] = (word[q] & bit) == 0 ? atomicOr(visited + (v[q] >> 5), bit) : ~0U;
  }
#pragma unroll
  for (int q = 0; q < Count; ++q) won[q] = (word[q] >> (v[q] & 31) & 1U) == 0;
}

template <class I, class O>
__device__ void write_found(const bfs_search<I, O>& s, std::int64_t v, std::int64_t parent, std::int64_t level) {
  if (s.levels != nullptr) s.levels[v] = static_cast<std::int32_t>(level);
  if (s.parents != nullptr) s.parents[v] = static_cast<I>(parent);
}

template <class I, class O>
__device__ std::int64_t out_degree_of(const bfs_search<I, O>& s, std::int64_t v) {
  return static_cast<std::int64_t>(s.out_offsets[v + 1] - s.out_offsets[v]);
}

template <class I, class O>
__device__ void append_hub(const bfs_search<I, O>& s, std::int64_t v, std::int64_t degree, std::int64_t hub_base,
                           count64* chunks) {
  const auto count = (degree + bfs_cuda_tuning::hub_degree - 1) / bfs_cuda_tuning::hub_degree;
  const auto at = hub_base + static_cast<std::int64_t>(atomicAdd(chunks, static_cast<count64>(count)));
  for (std::int64_t c = 0; c < count; ++c) s.hubs[at + c] = {static_cast<I>(v), static_cast<I>(c)};
}

// Where discoveries of a step go. `found` is in global or in shared memory. `local` (may be null) is a shared copy of
// the first `local_size` queued vertices.
template <class I>
struct bfs_sink {
  bfs_counters* found;
  std::int64_t queue_base;
  std::int64_t hub_base;
  I* local;
  std::int64_t local_size;
};

// A warp appends the vertices of its lanes with `won`. All lanes of the warp call it.
template <class I, class O>
__device__ void append_together(const bfs_search<I, O>& s, const bfs_sink<I>& to, bool won, std::int64_t v,
                                std::int64_t degree) {
  const bool hub = won && degree > bfs_cuda_tuning::hub_degree;
  const unsigned mask = __ballot_sync(full_mask, won && !hub);
  if (mask != 0) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int leader = __ffs(static_cast<int>(mask)) - 1;
    count64 first = 0;
    if (lane == leader) first = atomicAdd(&to.found->queued, static_cast<count64>(__popc(mask)));
    first = __shfl_sync(full_mask, first, leader);
    if (won && !hub) {
      const auto at = static_cast<std::int64_t>(first) + __popc(mask & ((1U << lane) - 1));
      s.queue[to.queue_base + at] = static_cast<I>(v);
      if (to.local != nullptr && at < to.local_size) to.local[at] = static_cast<I>(v);
    }
  }
  if (hub) append_hub(s, v, degree, to.hub_base, &to.found->chunks);
}

// A thread's discoveries of a step, added up before they reach the shared counters.
struct bfs_tally {
  count64 vertices = 0;
  count64 edges = 0;
};

__device__ inline void add_tally(bfs_counters* found, bfs_tally tally) {
  for (int step = warp_size / 2; step > 0; step /= 2) {
    tally.vertices += __shfl_down_sync(full_mask, tally.vertices, step);
    tally.edges += __shfl_down_sync(full_mask, tally.edges, step);
  }
  if (threadIdx.x % warp_size == 0 && tally.vertices != 0) {
    atomicAdd(&found->vertices, tally.vertices);
    atomicAdd(&found->edges, tally.edges);
  }
}

// --- Push ------------------------------------------------------------

// A warp expands one vertex a lane (edges [begin, begin + degree), degree 0 for none), sharing all edges out evenly:
// lane l takes edge l, l + 32, ... of the concatenation, and finds whose it is by a search over the lanes' prefix sums.
// All lanes call it. Degrees are at most hub_degree, so sums fit an int.
template <class I, class O>
__device__ void expand_together(const bfs_search<I, O>& s, const bfs_sink<I>& to, std::int64_t level, I vertex, O begin,
                                int degree, bfs_tally& tally) {
  constexpr int unroll = bfs_cuda_tuning::unroll;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  int last = degree;  // inclusive prefix sum
  for (int step = 1; step < warp_size; step *= 2) {
    const int before = __shfl_up_sync(full_mask, last, step);
    if (lane >= step) last += before;
  }
  const int total = __shfl_sync(full_mask, last, warp_size - 1);
  const O shift = begin - static_cast<O>(last - degree);  // edge k of the concatenation is at shift + k
  for (int base = 0; base < total; base += warp_size * unroll) {
    I target[unroll];
    I parent[unroll];
    bool won[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      const int k = base + q * warp_size + lane;
      int owner = 0;  // the number of lanes whose edges end at or before k
#pragma unroll
      for (int step = warp_size / 2; step > 0; step /= 2) {
        if (__shfl_sync(full_mask, last, owner + step - 1) <= k) owner += step;
      }
      owner = owner < warp_size ? owner : warp_size - 1;
      const O from = __shfl_sync(full_mask, shift, owner);
      parent[q] = __shfl_sync(full_mask, vertex, owner);
      target[q] = k < total ? __ldg(s.out_indices + (from + k)) : I{-1};
    }
    claim_all(s.visited, target, won);
    O out_degree[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      out_degree[q] = won[q] ? s.out_offsets[std::int64_t{target[q]} + 1] - s.out_offsets[target[q]] : 0;
    }
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      if (base + q * warp_size >= total) break;  // the same for all lanes
      if (won[q]) {
        write_found(s, target[q], parent[q], level + 1);
        ++tally.vertices;
        tally.edges += static_cast<count64>(out_degree[q]);
      }
      append_together(s, to, won[q], target[q], static_cast<std::int64_t>(out_degree[q]));
    }
  }
}

// The load-balanced push of queue [begin, end), read from `from` + (i - begin), and of hub chunks: warps
// `first_warp`, `first_warp` + `warps`, ... All lanes of a warp take the same path.
template <class I, class O>
__device__ void push_balanced(const bfs_search<I, O>& s, const bfs_sink<I>& to, const bfs_position& at, const I* from,
                              std::int64_t first_warp, std::int64_t warps, bfs_tally& tally) {
  constexpr int hub = bfs_cuda_tuning::hub_degree;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t c = at.hub_begin + first_warp; c < at.hub_end; c += warps) {
    const bfs_hub_chunk<I> chunk = s.hubs[c];
    const O begin = s.out_offsets[chunk.vertex] + static_cast<O>(chunk.chunk) * hub;
    const O end = s.out_offsets[std::int64_t{chunk.vertex} + 1];
    // An even share for each lane, as if it were a vertex of its own.
    const int size = static_cast<int>(end - begin < hub ? end - begin : hub);
    const int first = size * lane / warp_size;
    const int past = size * (lane + 1) / warp_size;
    expand_together(s, to, at.level, chunk.vertex, static_cast<O>(begin + first), past - first, tally);
  }
  const std::int64_t size = at.end - at.begin;
  std::int64_t tile = (size + warps - 1) / warps;  // few vertices: a few lanes a warp, but all warps
  tile = tile < 1 ? 1 : (tile > warp_size ? warp_size : tile);
  for (std::int64_t t = first_warp * tile; t < size; t += warps * tile) {
    I vertex = 0;
    O begin = 0;
    int degree = 0;
    if (lane < tile && t + lane < size) {
      vertex = from[t + lane];
      begin = s.out_offsets[vertex];
      degree = static_cast<int>(s.out_offsets[std::int64_t{vertex} + 1] - begin);
    }
    expand_together(s, to, at.level, vertex, begin, degree, tally);
  }
}

// The `global_queue` rung: a thread a vertex, one atomic on the queue's end per discovery.
template <class I, class O>
__device__ void push_global(const bfs_search<I, O>& s, const bfs_sink<I>& to, const bfs_position& at,
                            std::int64_t thread, std::int64_t threads, bfs_tally& tally) {
  for (std::int64_t i = at.begin + thread; i < at.end; i += threads) {
    const I v = s.queue[i];
    for (O e = s.out_offsets[v]; e < s.out_offsets[std::int64_t{v} + 1]; ++e) {
      const I u = s.out_indices[e];
      if (!claim(s.visited, u)) continue;
      write_found(s, u, v, at.level + 1);
      tally.edges += static_cast<count64>(out_degree_of(s, u));
      ++tally.vertices;
      s.queue[to.queue_base + static_cast<std::int64_t>(atomicAdd(&to.found->queued, 1ULL))] = u;
    }
  }
}

// The `block_queue` rung: discoveries of a block's share of the frontier gather in a shared queue, which goes out with
// one atomic; what finds it full goes straight to the global one. All threads of a block make the same rounds.
template <class I, class O>
__device__ void push_block(const bfs_search<I, O>& s, const bfs_sink<I>& to, const bfs_position& at, bfs_tally& tally) {
  constexpr unsigned slots = bfs_cuda_tuning::block_queue;
  __shared__ I shared_queue[slots];
  __shared__ unsigned tail;
  __shared__ count64 base;
  for (std::int64_t first = at.begin + std::int64_t{blockIdx.x} * blockDim.x; first < at.end;
       first += std::int64_t{gridDim.x} * blockDim.x) {
    if (threadIdx.x == 0) tail = 0;
    __syncthreads();
    const std::int64_t i = first + threadIdx.x;
    if (i < at.end) {
      const I v = s.queue[i];
      for (O e = s.out_offsets[v]; e < s.out_offsets[std::int64_t{v} + 1]; ++e) {
        const I u = s.out_indices[e];
        if (!claim(s.visited, u)) continue;
        write_found(s, u, v, at.level + 1);
        tally.edges += static_cast<count64>(out_degree_of(s, u));
        ++tally.vertices;
        const unsigned slot = atomicAdd(&tail, 1U);
        if (slot < slots) {
          shared_queue[slot] = u;
        } else {
          s.queue[to.queue_base + static_cast<std::int64_t>(atomicAdd(&to.found->queued, 1ULL))] = u;
        }
      }
    }
    __syncthreads();
    const unsigned kept = tail < slots ? tail : slots;  // the tail counts what was spilled as well
    if (threadIdx.x == 0) base = atomicAdd(&to.found->queued, static_cast<count64>(kept));
    __syncthreads();
    for (unsigned k = threadIdx.x; k < kept; k += blockDim.x) {
      s.queue[to.queue_base + static_cast<std::int64_t>(base) + k] = shared_queue[k];
    }
    __syncthreads();  // before the next round resets the tail
  }
}

// --- Pull ------------------------------------------------------------

// A warp owns a word of the bitmaps, a lane a vertex: no atomics. Each unvisited vertex looks for one neighbour in the
// frontier and stops at the first. Every word of `next` is written.
template <class I, class O>
__device__ void pull(const bfs_search<I, O>& s, std::int64_t level, const unsigned* front, unsigned* next,
                     std::int64_t first_warp, std::int64_t warps, bfs_tally& tally) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t w = first_warp; w < s.words; w += warps) {
    const unsigned seen = s.visited[w];
    if (seen == ~0U) {
      if (lane == 0) next[w] = 0;
      continue;
    }
    bool found = false;
    const std::int64_t v = w * warp_size + lane;
    if ((seen >> lane & 1U) == 0) {  // bits past the last vertex are set from the start
      const auto end = static_cast<std::int64_t>(s.in_offsets[v + 1]);
      for (auto e = static_cast<std::int64_t>(s.in_offsets[v]); e < end; ++e) {
        const auto u = static_cast<std::int64_t>(__ldg(s.in_indices + e));
        if ((front[u >> 5] >> (u & 31) & 1U) != 0) {
          write_found(s, v, u, level + 1);
          tally.edges += static_cast<count64>(out_degree_of(s, v));
          ++tally.vertices;
          found = true;
          break;
        }
      }
    }
    const unsigned mask = __ballot_sync(full_mask, found);
    if (lane == 0) {
      next[w] = mask;
      if (mask != 0) s.visited[w] = seen | mask;
    }
    __syncwarp();
  }
}

// --- Frontier from one form to the other ------------------------------------------------------------

// Sets the bits of the queued frontier in `front`, which is clear.
template <class I, class O>
__device__ void queue_to_bitmap(const bfs_search<I, O>& s, const bfs_position& at, unsigned* front, std::int64_t thread,
                                std::int64_t threads) {
  for (std::int64_t i = at.begin + thread; i < at.end; i += threads) {
    const auto v = static_cast<std::int64_t>(s.queue[i]);
    atomicOr(front + (v >> 5), 1U << (v & 31));
  }
  for (std::int64_t c = at.hub_begin + thread; c < at.hub_end; c += threads) {
    const auto v = static_cast<std::int64_t>(s.hubs[c].vertex);
    if (s.hubs[c].chunk == 0) atomicOr(front + (v >> 5), 1U << (v & 31));
  }
}

// Appends the frontier in `front` to the queue.
template <class I, class O>
__device__ void bitmap_to_queue(const bfs_search<I, O>& s, const bfs_sink<I>& to, const unsigned* front,
                                std::int64_t first_warp, std::int64_t warps) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t w = first_warp; w < s.words; w += warps) {
    const unsigned word = front[w];
    if (word == 0) continue;  // the same for all lanes
    const std::int64_t v = w * warp_size + lane;
    const bool here = (word >> lane & 1U) != 0;
    const std::int64_t degree = here ? out_degree_of(s, v) : 0;
    append_together(s, to, here, v, degree);
  }
}

}  // namespace spargo::detail
