// Push step of the device multi-source search, run by the whole grid.
//
// front[v] holds the new bits of a queued vertex v. `other`, all zero between pushes, collects the pushed bits; a
// second pass moves them into `seen`. A bit in `marks` prevents queueing a vertex twice. A push of many edges uses no
// queue, since one counter for all warps would cost more than a scan of all vertices. A push after a pull, for lagging
// searches, writes directly into the next `seen`.
#pragma once

#include "graph/frontier/append_chunks.cuh"
#include "graph/multi_bfs/cuda_levels.cuh"

namespace spargo::detail::multi_bfs {

enum class push_kind {
  sparse,  // queues the vertices it reaches
  dense,   // queues nothing; all vertices are scanned afterwards
  late,    // after a pull: new bits are final and counted at once
};

template <class I, int W>
struct push_arrays {
  const search_words<W>* seen;  // before this level
  search_words<W>* other;       // destination of the pushed bits; after a pull, the next `seen`
  I* next_queue;
  count64* queued;
  search_words<W> searches;  // searches to push
  int depth;
};

// Whole warp: records the new bits of a late push. Counts vertices and edges with a vertex's first bits of the level.
template <class I, class O, int W, class Sink>
__device__ void record_late(const search<I, O, W, Sink>& s, const push_arrays<I, W>& to, I v,
                            const search_words<W>& had, const search_words<W>& fresh, thread_tally& tally) {
  if (!is_zero(fresh)) {
    ++tally.vertices;
    if (same(had, to.seen[v])) tally.edges += static_cast<count64>(out_degree(s, static_cast<std::int64_t>(v)));
    record_bits(s, static_cast<std::int64_t>(v), fresh, to.depth);
  }
  __syncwarp();
  count_bits(tally, fresh);
}

// Whole warp: R edges per lane, to the vertices `neighbour` (-1: none); all words of a round are in flight together. A
// dense push hardly tests before its atomics, since it runs early, when most bits are new: a level of 6 million edges
// takes 0.09 ms, 0.17 if it tests `seen` and `other`. With four words per vertex testing `other` pays: 0.39 ms for 18
// million edges, 0.49 without and 0.66 with both tests.
template <push_kind Kind, int R, class I, class O, int W, class Sink>
__device__ void push_edges(const search<I, O, W, Sink>& s, const push_arrays<I, W>& to, const I (&neighbour)[R],
                           const search_words<W>& bits, thread_tally& tally) {
  search_words<W> has[R];
  search_words<W> lacks[R];
#pragma unroll
  for (int q = 0; q < R; ++q) {
    lacks[q] = has[q] = {};
    if (neighbour[q] < 0) continue;
    lacks[q] = bits;
    if constexpr (Kind == push_kind::sparse) lacks[q] = without(bits, to.seen[neighbour[q]]);
    if constexpr (Kind != push_kind::dense || W > 1) has[q] = latest(to.other[neighbour[q]]);
  }
#pragma unroll
  for (int q = 0; q < R; ++q) {
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const count64 pushed = lacks[q].w[i] & ~has[q].w[i];
      if constexpr (Kind == push_kind::late) lacks[q].w[i] = pushed;
      if (pushed == 0) continue;
      const count64 had = atomicOr(&to.other[neighbour[q]].w[i], pushed);
      if constexpr (Kind == push_kind::late) {
        has[q].w[i] = had;
        lacks[q].w[i] = pushed & ~had;
      }
    }
  }
#pragma unroll
  for (int q = 0; q < R; ++q) {
    if constexpr (Kind == push_kind::late) record_late(s, to, neighbour[q], has[q], lacks[q], tally);
    if constexpr (Kind == push_kind::sparse) {
      const bool wanted = !is_zero(lacks[q]) && claim_bit(s.marks, static_cast<std::int64_t>(neighbour[q]));
      __syncwarp();
      append_by_warp(to.next_queue, to.queued, neighbour[q], wanted, static_cast<int>(threadIdx.x % warp_size));
    }
  }
}

// First pass of a push. A warp takes up to 32 vertices and distributes their edges over its lanes: edge t of the
// concatenation belongs to the last vertex whose edges begin at or before t.
template <push_kind Kind, class I, class O, int W, class Sink>
__device__ void push_queue(const search<I, O, W, Sink>& s, const push_arrays<I, W>& to, const I* queue,
                           std::int64_t count, std::int64_t warp, std::int64_t warps, thread_tally& tally) {
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const std::int64_t group = min(std::int64_t{warp_size}, (count + warps - 1) / warps);
  for (std::int64_t base = warp * group; base < count; base += warps * group) {
    const bool any = lane < group && base + lane < count;
    const std::int64_t u = any ? static_cast<std::int64_t>(queue[base + lane]) : 0;
    const std::int64_t first = any ? static_cast<std::int64_t>(s.out_offsets[u]) : 0;
    int degree = 0;
    if (any && out_degree(s, u) <= cuda_tuning::push_chunk) degree = static_cast<int>(out_degree(s, u));
    const int end = warp_inclusive_sum(degree, lane);
    const int all = __shfl_sync(full_mask, end, warp_size - 1);
    const int begin = end - degree;
    for (int t0 = 0; t0 < all; t0 += warp_size) {
      const int t = t0 + lane;
      const int owner = owner_of(end, t);
      const std::int64_t from = __shfl_sync(full_mask, u, owner);
      const std::int64_t e = __shfl_sync(full_mask, first, owner) + t - __shfl_sync(full_mask, begin, owner);
      const bool has_edge = t < all;
      search_words<W> bits{};
      if (has_edge) bits = within(s.front[from], to.searches);
      const I neighbour[1] = {has_edge && !is_zero(bits) ? s.out_indices[e] : I{-1}};
      push_edges<Kind>(s, to, neighbour, bits, tally);
    }
  }
}

// The same for vertices with many out-edges, one chunk per warp.
template <push_kind Kind, class I, class O, int W, class Sink>
__device__ void push_chunks(const search<I, O, W, Sink>& s, const push_arrays<I, W>& to, std::int64_t count,
                            std::int64_t warp, std::int64_t warps, thread_tally& tally) {
  constexpr int size = cuda_tuning::push_chunk;
  constexpr int rounds = W == 1 ? cuda_tuning::push_rounds : 1;
  const std::int64_t lane = threadIdx.x % warp_size;
  for (std::int64_t k = warp; k < count; k += warps) {
    const std::int64_t u = s.push_chunks[k].vertex;
    const search_words<W> bits = within(s.front[u], to.searches);
    if (is_zero(bits)) continue;
    const std::int64_t first = s.push_chunks[k].first(static_cast<std::int64_t>(s.out_offsets[u]), size);
    const std::int64_t last = min(static_cast<std::int64_t>(s.out_offsets[u + 1]), first + size);
    for (std::int64_t base = first; base < last; base += rounds * warp_size) {
      I neighbour[rounds];
#pragma unroll
      for (int q = 0; q < rounds; ++q) {
        const std::int64_t e = base + q * warp_size + lane;
        neighbour[q] = e < last ? s.out_indices[e] : I{-1};
      }
      push_edges<Kind>(s, to, neighbour, bits, tally);
    }
  }
}

// Second pass: moves the pushed bits of the queued vertices into `seen`.
template <class I, class O, int W, class Sink>
__device__ void take(const search<I, O, W, Sink>& s, search_words<W>* seen, search_words<W>* other, const I* queue,
                     std::int64_t count, int depth, count64* chunks, std::int64_t thread, std::int64_t threads,
                     thread_tally& tally) {
  const std::int64_t lane = threadIdx.x % warp_size;
  for (std::int64_t k = thread; k - lane < count; k += threads) {
    search_words<W> fresh{};
    I v{0};
    std::int64_t degree = 0;
    if (k < count) {
      v = queue[k];
      degree = out_degree(s, static_cast<std::int64_t>(v));
      fresh = latest(other[v]);
      other[v] = {};
      search_words<W> has = seen[v];
      unite(has, fresh);
      seen[v] = has;
      s.front[v] = fresh;
      atomicAnd(s.marks + (v >> 5), ~(1U << (v & 31)));
      record_vertex(s, static_cast<std::int64_t>(v), fresh, has, depth, tally);
    }
    __syncwarp();
    append_chunks(s.push_chunks, chunks, v, degree, cuda_tuning::push_chunk);
    count_bits(tally, fresh);
  }
}

// Second pass of a dense push. Like a pull it leaves the new bits as seen & ~other.
template <class I, class O, int W, class Sink>
__device__ void take_all(const search<I, O, W, Sink>& s, search_words<W>* seen, search_words<W>* other,
                         const search_words<W>& wanted, int depth, std::int64_t thread, std::int64_t threads,
                         thread_tally& tally) {
  const std::int64_t lane = threadIdx.x % warp_size;
  for (std::int64_t v = thread; v - lane < s.n; v += threads) {
    search_words<W> fresh{};
    if (v < s.n) {
      const search_words<W> before = seen[v];
      fresh = without(latest(other[v]), before);
      other[v] = before;
      search_words<W> has = before;
      unite(has, fresh);
      if (!is_zero(fresh)) {
        seen[v] = has;
        record_vertex(s, v, fresh, has, depth, tally);
      }
      if (s.in_offsets != nullptr && !covers(has, wanted)) {
        tally.open += static_cast<count64>(s.in_offsets[v + 1] - s.in_offsets[v]);
      }
    }
    __syncwarp();
    count_bits(tally, fresh);
  }
}

enum class queueing {
  before_push,  // clears `other`
  before_pull,
};

// After a pull or a dense push: writes the frontier of `searches` into the queue and `front`.
template <queueing Queueing, class I, class O, int W, class Sink>
__device__ void queue_found(const search<I, O, W, Sink>& s, const search_words<W>* seen, search_words<W>* other,
                            const search_words<W>& searches, I* queue, std::int64_t warp, std::int64_t warps) {
  constexpr int rounds = cuda_tuning::queue_rounds / W;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  for (std::int64_t base = warp * rounds * warp_size; base < s.n; base += warps * rounds * warp_size) {
    search_words<W> bits[rounds];
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const std::int64_t v = base + r * warp_size + lane;
      bits[r] = {};
      if (v < s.n) bits[r] = within(without(seen[v], other[v]), searches);
    }
    unsigned lanes[rounds];
    int count = 0;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const std::int64_t v = base + r * warp_size + lane;
      if constexpr (Queueing == queueing::before_push) {
        if (v < s.n) other[v] = {};
      }
      const bool any = !is_zero(bits[r]);
      if (any) s.front[v] = bits[r];
      lanes[r] = __ballot_sync(full_mask, any);
      count += __popc(lanes[r]);
      if (lanes[r] == 0) continue;
      append_chunks(s.push_chunks, &s.control->converted_chunks, static_cast<I>(v), any ? out_degree(s, v) : 0,
                    cuda_tuning::push_chunk);
    }
    if (count == 0) continue;
    count64 at = 0;
    if (lane == 0) at = atomicAdd(&s.control->converted_queued, static_cast<count64>(count));
    at = __shfl_sync(full_mask, at, 0);
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const unsigned below = lanes[r] & ((1U << lane) - 1);
      if ((lanes[r] >> lane & 1) != 0) {
        queue[at + static_cast<count64>(__popc(below))] = static_cast<I>(base + r * warp_size + lane);
      }
      at += static_cast<count64>(__popc(lanes[r]));
    }
  }
}

}  // namespace spargo::detail::multi_bfs
