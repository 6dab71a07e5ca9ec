// The kernel that peels: every level in one launch, with one grid barrier per level.
//
// Level k removes the vertices of degree k, and every vertex whose degree falls to k meanwhile. Within a level the
// order does not matter: a warp keeps what its decrements removed in a queue in shared memory and goes on with it,
// without a barrier. When it has followed as many edges as `chain` allows, it passes the rest on: a level may have
// further rounds, each behind a barrier, in which the whole grid shares what was passed on. Rows of more than `chunk`
// edges are always passed on, as chunks.
//
// A window is a few levels, [base, end). It begins with a scan of the remaining vertices: those of degree below `end`
// enter the bucket of their degree, the others are scanned again in the next window. A decrement whose result is in the
// window, but above k, enters the vertex into the bucket of that result.
//
// Invariants: degrees only fall, one decrement at a time, so each value is the result of one decrement: a vertex is in
// a bucket once, and one warp removes it: the one whose decrement made it k, or the one that finds it in bucket k not
// yet removed. All that enter a bucket are removed within the window. So no list overflows: a bucket has a slot for
// each vertex of the scan, and a vertex is passed on once. Core numbers are unique, so the order of atomics does not
// matter.
//
// Cost: each row is read once, with one atomic per edge; each remaining vertex is scanned once per window. Sources:
// Matula, Beck, J. ACM 30, 1983; Ahmad, Yuan, Yan, Guo, Zhang, ICDE 2023 (queues of blocks in shared memory); Liu,
// Dong, Gu, Sun, SIGMOD 2025 (chains without barriers).
#pragma once

#include "core/device/cooperative.cuh"
#include "core/device/warp.cuh"
#include "graph/cores/executor.hpp"
#include "graph/frontier/append_chunks.cuh"

#include <spargo/graph/frontier/expansion.cuh>

#include <cooperative_groups.h>

#include <cstdint>

namespace spargo::detail::cores {

struct cuda_tuning {
  static constexpr int block = 512;
  static constexpr int warps = block / warp_size;
  static constexpr int blocks = 2;                  // per SM; the barrier takes longer with more
  static constexpr int unroll = 4;                  // edges in flight per lane
  static constexpr int window = most_levels_ahead;  // at most; in a wider one a vertex enters more buckets
  static constexpr int queue = 64;    // slots of a warp; what does not fit is shared by the grid in the next round
  static constexpr int entries = 64;  // of buckets, that a warp enters together
  static constexpr int chunk = 1024;  // edges: 32 rounds of a warp
  // A warp passes its queue on after `chain` edges, of which a batch counts at least `step`: after 8 batches at the
  // latest, since longer chains leave few warps with all vertices. Grid of 2048^2, H100, chains of 8192, 2048, 1024,
  // 512, 256 and 128 edges: 18.5, 7.9, 6.2, 5.1, 5.5, 6.5 ms; R-MAT 20 of degree 8 from 2048: 3.9, 3.7, 3.5, 3.5, 3.6.
  // Rows prefetched around those of a batch change nothing.
  static constexpr int chain = 512;
  static constexpr int step = 64;
  static constexpr int pool_share = 2;  // bucket slots per vertex of the graph
};

// Counters of a window; three rotate, so that those of the next are cleared while none reads them.
struct window_counters {
  count64 bucket[cuda_tuning::window];
  count64 remaining;  // vertices of degree `end` or more
  count64 closeness;  // far - the least of their degrees
};
// What a round passes on to the next; three rotate.
struct round_counters {
  count64 vertices;
  count64 chunks[2];  // of out- and of in-edges
};
struct control_block {
  window_counters windows[3];
  round_counters rounds[3];
  count64 max_core;
};
inline constexpr count64 far = count64{1} << 62;

template <class I, class O>
struct peeling {
  const O* offsets[2];  // of out- and in-edges; those of an undirected graph: null
  const I* indices[2];
  std::int64_t vertices;
  std::int64_t bucket_slots;  // of all buckets together
  I* degree;                  // towards vertices that are left
  I* core;                    // -1: not yet removed
  I* remaining[2];
  I* buckets;
  I* passed;                 // vertices passed on, of all rounds
  edge_chunk<I>* chunks[2];  // long rows passed on, of all rounds
  control_block* control;
};

// The level, and where it appends. All threads hold the same copy.
template <class I>
struct peel_position {
  I k = 0;
  I base = 0;  // window [base, end)
  I end = 0;
  I* buckets = nullptr;  // bucket b has `capacity` slots from b * capacity on
  std::int64_t capacity = 0;
  window_counters* window = nullptr;
  round_counters* round = nullptr;
  std::int64_t passed = 0;  // in all rounds before: where the round's begin
  std::int64_t chunks[2] = {0, 0};
};

template <class I>
__device__ __forceinline__ I decrement(I* value) {
  if constexpr (sizeof(I) == 4) {
    return atomicAdd(value, -1) - 1;
  } else {
    return static_cast<I>(atomicAdd(reinterpret_cast<count64*>(value), ~count64{0})) - 1;
  }
}

// Enters the lanes' vertices with `wanted` into the buckets of their degrees. All lanes of the warp call it.
template <class I>
__device__ void enter_buckets(const peel_position<I>& at, I v, I degree, bool wanted, int lane) {
  for (unsigned rest = __ballot_sync(full_mask, wanted); rest != 0;) {
    const I one = shuffle(degree, __ffs(static_cast<int>(rest)) - 1);
    const bool enters = wanted && degree == one;
    const unsigned lanes = __ballot_sync(full_mask, enters);
    const auto b = static_cast<std::int64_t>(one - at.base);
    const count64 slot = place_by_warp(&at.window->bucket[b], lanes, lane);
    if (enters) at.buckets[b * at.capacity + static_cast<std::int64_t>(slot)] = v;
    rest &= ~lanes;
  }
}

// A vertex and the degree that it fell to.
template <class I>
struct bucket_entry {
  I vertex;
  I degree;
};

// A warp's shared memory.
template <class I>
struct warp_slots {
  I queue[cuda_tuning::queue];
  bucket_entry<I> entries[cuda_tuning::entries];
};

// A warp that removes vertices. finish() enters the last vertices into buckets.
template <class I, class O>
class remover {
 public:
  __device__ remover(const peeling<I, O>& p, const peel_position<I>& at, warp_slots<I>& slots)
      : p_(p), at_(at), queue_{slots.queue}, entries_{slots.entries}, lane_(lane_id()) {}

  // Removes the lanes' vertices with `here`, and then what follows from it within the limit.
  __device__ void remove(I v, bool here) {
    edges_ = 0;
    remove_batch(v, here, false);
    follow();
  }
  // The same for a part of a row: edges [first, last) of one side.
  __device__ void remove_edges(const I* indices, std::int64_t first, std::int64_t last) {
    edges_ = 0;
    lower_range(last - first, [&](std::int64_t e) { return e < last - first ? indices[first + e] : I{-1}; });
    follow();
  }
  // Vertices that have fallen further meanwhile are in a lower bucket, or will be.
  __device__ void finish() {
    __syncwarp();
    for (int j = 0; j < entries_.count; j += warp_size) {
      const bool in_list = j + lane_ < entries_.count;
      const bucket_entry<I> entry = in_list ? entries_.slots[j + lane_] : bucket_entry<I>{};
      const bool holds = in_list && __ldcg(p_.degree + entry.vertex) == entry.degree;
      enter_buckets(at_, entry.vertex, entry.degree, holds, lane_);
    }
    entries_.count = 0;
    __syncwarp();
  }

 private:
  __device__ void follow() {
    __syncwarp();
    while (queue_.count > 0 && edges_ < cuda_tuning::chain) {
      const int taken = min(queue_.count, warp_size);
      queue_.count -= taken;
      const bool here = lane_ < taken;
      const I v = here ? queue_.slots[queue_.count + lane_] : I{-1};
      __syncwarp();
      const int before = edges_;
      remove_batch(v, here, true);
      edges_ = max(edges_, before + cuda_tuning::step);
      __syncwarp();
    }
    queue_.flush(&at_.round->vertices, lane_, [&](std::int64_t slot, const I& v) { p_.passed[at_.passed + slot] = v; });
  }

  // Long rows are passed on; of the queue's vertices also those beyond the limit, but for the first.
  __device__ void remove_batch(I v, bool here, bool from_queue) {
    O first[2] = {0, 0};
    std::int64_t length[2] = {0, 0};
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (p_.offsets[side] == nullptr || !here) continue;
      first[side] = p_.offsets[side][v];
      length[side] = static_cast<std::int64_t>(p_.offsets[side][v + 1]) - first[side];
    }
    const int both = shared_length(length[0]) + shared_length(length[1]);
    const int sum = warp_inclusive_sum(both, lane_);
    const bool exceeds = from_queue && edges_ + shuffle(sum, warp_size - 1) > cuda_tuning::chain;
    if (exceeds) {
      const bool late = both > 0 && sum > both && edges_ + sum > cuda_tuning::chain;
      append_by_warp(p_.passed + at_.passed, &at_.round->vertices, v, late, lane_);
      if (late) length[0] = length[1] = 0;
    }
    const bool is_side_sum = p_.offsets[1] == nullptr && !exceeds;  // `sum` is that of the one side
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (p_.offsets[side] == nullptr) continue;
      append_chunks(p_.chunks[side] + at_.chunks[side], &at_.round->chunks[side], v, length[side], cuda_tuning::chunk);
      const int degree = shared_length(length[side]);
      const packed_edges<O> edges(first[side], degree, is_side_sum ? sum : warp_inclusive_sum(degree, lane_));
      lower_range(edges.total, [&](int e) {
        const O from = edges.first(edges.owner(e));
        return e < edges.total ? p_.indices[side][from + static_cast<O>(e)] : I{-1};
      });
      edges_ += edges.total;
    }
  }
  // Edges of a row that the warp's lanes share; 0: it is passed on as chunks.
  __device__ static int shared_length(std::int64_t length) {
    return length > cuda_tuning::chunk ? 0 : static_cast<int>(length);
  }

  // Takes an edge from each of neighbour(0) to neighbour(count - 1); beyond these it is -1.
  template <class Count, class Neighbour>
  __device__ void lower_range(Count count, const Neighbour& neighbour) {
    if (count <= warp_size) {  // narrow chains and shared rows: latency counts
      if (count > 0) lower_all<1>([&](int) { return neighbour(static_cast<Count>(lane_)); });
      return;
    }
    for (Count e = 0; e < count; e += cuda_tuning::unroll * warp_size) {
      lower_all<cuda_tuning::unroll>([&](int q) { return neighbour(e + static_cast<Count>(q * warp_size + lane_)); });
    }
  }

  // The same for neighbour(0) to neighbour(Edges - 1) of every lane.
  template <int Edges, class Neighbour>
  __device__ void lower_all(const Neighbour& neighbour) {
    I u[Edges];
    I left[Edges];
#pragma unroll
    for (int q = 0; q < Edges; ++q) u[q] = neighbour(q);
#pragma unroll
    for (int q = 0; q < Edges; ++q) left[q] = u[q] >= 0 ? decrement(p_.degree + u[q]) : I{-1};
#pragma unroll
    for (int q = 0; q < Edges; ++q) {
      const bool removed = u[q] >= 0 && left[q] == at_.k;
      const unsigned lanes = __ballot_sync(full_mask, removed);
      if (removed) p_.core[u[q]] = at_.k;
      if (lanes != 0) {
        if (queue_.count + __popc(lanes) <= cuda_tuning::queue) {
          queue_.add(lanes, removed, u[q], lane_);
        } else {
          append_by_warp(p_.passed + at_.passed, &at_.round->vertices, u[q], removed, lane_);
        }
      }
      const bool enters = u[q] >= 0 && left[q] > at_.k && left[q] < at_.end;
      const unsigned entering = __ballot_sync(full_mask, enters);
      if (entering == 0) continue;
      if (entries_.count > cuda_tuning::entries - warp_size) finish();
      entries_.add(entering, enters, {u[q], left[q]}, lane_);
    }
  }

  const peeling<I, O>& p_;
  const peel_position<I>& at_;
  staged_items<I> queue_;
  staged_items<bucket_entry<I>> entries_;
  int edges_ = 0;
  int lane_;
};

// Sorts the remaining vertices of the last window, or all, into buckets and those that remain.
template <class I, class O>
__device__ void scan_remaining(const peeling<I, O>& p, const peel_position<I>& at, const I* from, std::int64_t count,
                               I* to, warp_slots<I>& slots) {
  const int lane = lane_id();
  staged_items<I> stays{slots.queue};
  count64 closest = 0;
  for (std::int64_t t = grid_warp() * warp_size; t < count; t += grid_warps() * warp_size) {
    const bool in_list = t + lane < count;
    const I v = !in_list ? I{0} : from == nullptr ? static_cast<I>(t + lane) : __ldcg(from + t + lane);
    const bool open = in_list && __ldcg(p.core + v) < 0;
    const I degree = open ? __ldcg(p.degree + v) : I{0};
    enter_buckets(at, v, degree, open && degree < at.end, lane);
    const bool remains = open && degree >= at.end;
    if (remains) closest = max(closest, far - static_cast<count64>(degree));
    const unsigned lanes = __ballot_sync(full_mask, remains);
    if (lanes != 0) stays.add(lanes, remains, v, lane);
    if (stays.count > cuda_tuning::queue - warp_size) {
      stays.flush(&at.window->remaining, lane, [&](std::int64_t slot, const I& u) { to[slot] = u; });
    }
  }
  stays.flush(&at.window->remaining, lane, [&](std::int64_t slot, const I& u) { to[slot] = u; });
  closest = warp_reduce(closest, maximum{});
  if (lane == 0 && closest > 0) atomicMax(&at.window->closeness, closest);
}

// Removes the vertices of a short list: several warps share the rows of each. Long rows are passed on as chunks.
template <class I, class O>
__device__ void share_listed(const peeling<I, O>& p, const peel_position<I>& at, const I* list, std::int64_t count,
                             bool in_bucket, warp_slots<I>& slots) {
  const std::int64_t sharers = min(std::int64_t{warp_size}, grid_warps() / count);
  const std::int64_t sharer = grid_warp() / count;
  if (sharer >= sharers) return;
  const I v = __ldcg(list + grid_warp() % count);
  if (in_bucket) {
    const I core = __ldcg(p.core + v);
    if (core >= 0 && core != at.k) return;
    if (sharer == 0 && lane_id() == 0) {
      p.core[v] = at.k;
      p.control->max_core = static_cast<count64>(at.k);
    }
  }
  remover<I, O> warp(p, at, slots);
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    if (p.offsets[side] == nullptr) continue;
    const auto first = static_cast<std::int64_t>(p.offsets[side][v]);
    const std::int64_t length = static_cast<std::int64_t>(p.offsets[side][v + 1]) - first;
    if (length > sharers * cuda_tuning::chunk) {
      const bool cuts = sharer == 0 && lane_id() == 0;
      append_chunks(p.chunks[side] + at.chunks[side], &at.round->chunks[side], v, cuts ? length : 0,
                    cuda_tuning::chunk);
    } else {
      warp.remove_edges(p.indices[side], first + length * sharer / sharers, first + length * (sharer + 1) / sharers);
    }
  }
  warp.finish();
}

// Removes the vertices of a list: a bucket, of which some may be removed already, or those passed on, whose core
// numbers are set.
template <class I, class O>
__device__ void remove_listed(const peeling<I, O>& p, const peel_position<I>& at, const I* list, std::int64_t count,
                              bool in_bucket, warp_slots<I>& slots) {
  if (count > 0 && 2 * count <= grid_warps()) return share_listed(p, at, list, count, in_bucket, slots);
  remover<I, O> warp(p, at, slots);
  const int lane = lane_id();
  const auto batch = static_cast<int>(min(std::int64_t{warp_size}, (count + grid_warps() - 1) / grid_warps()));
  for (std::int64_t t = grid_warp() * batch; t < count; t += grid_warps() * batch) {
    bool here = lane < batch && t + lane < count;
    const I v = here ? __ldcg(list + t + lane) : I{-1};
    if (in_bucket) {
      here = here && __ldcg(p.core + v) < 0;
      if (here) p.core[v] = at.k;
      if (__any_sync(full_mask, here) && lane == 0) p.control->max_core = static_cast<count64>(at.k);
    }
    warp.remove(v, here);
  }
  warp.finish();
}

template <class I, class O>
__device__ void remove_chunks(const peeling<I, O>& p, const peel_position<I>& at, int side, std::int64_t first,
                              std::int64_t last, warp_slots<I>& slots) {
  remover<I, O> warp(p, at, slots);
  for (std::int64_t t = first + grid_warp(); t < last; t += grid_warps()) {
    const edge_chunk<I> chunk{__ldcg(&p.chunks[side][t].vertex), __ldcg(&p.chunks[side][t].number)};
    const std::int64_t begin = chunk.first(p.offsets[side][chunk.vertex], cuda_tuning::chunk);
    const std::int64_t end = p.offsets[side][chunk.vertex + 1];
    warp.remove_edges(p.indices[side], begin, min(end, begin + cuda_tuning::chunk));
  }
  warp.finish();
}

// The counters of the next round are cleared during a round; the barrier after it makes them visible.
template <class I, class O>
class peel_rounds {
 public:
  __device__ explicit peel_rounds(const peeling<I, O>& p) : p_(p) {}

  __device__ void begin(peel_position<I>& at) const {
    at.round = &p_.control->rounds[number_ % 3];
    if (global_thread() == 0) p_.control->rounds[(number_ + 1) % 3] = {};
  }
  // Returns what the round passed on. All blocks call it, behind the barrier.
  __device__ round_counters end(peel_position<I>& at) {
    const round_counters found{__ldcg(&at.round->vertices),
                               {__ldcg(&at.round->chunks[0]), __ldcg(&at.round->chunks[1])}};
    at.passed += static_cast<std::int64_t>(found.vertices);
#pragma unroll
    for (int side = 0; side < 2; ++side) at.chunks[side] += static_cast<std::int64_t>(found.chunks[side]);
    ++number_;
    return found;
  }

 private:
  const peeling<I, O>& p_;
  unsigned number_ = 0;
};

template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, cuda_tuning::blocks)
    peel_kernel(const __grid_constant__ peeling<I, O> p) {
  __shared__ warp_slots<I> all_slots[cuda_tuning::warps];
  warp_slots<I>& slots = all_slots[threadIdx.x / warp_size];
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  peel_position<I> at;
  peel_rounds<I, O> rounds(p);
  at.buckets = p.buckets;
  std::int64_t remaining = p.vertices;
  for (unsigned w = 0; remaining > 0; ++w) {
    // 1. Scan: a window of as many levels as the buckets have room for.
    at.window = &p.control->windows[w % 3];
    at.capacity = remaining;
    const int levels = static_cast<int>(min(std::int64_t{cuda_tuning::window}, p.bucket_slots / remaining));
    at.end = at.base + static_cast<I>(levels);
    if (global_thread() == 0) p.control->windows[(w + 1) % 3] = {};
    scan_remaining(p, at, w == 0 ? nullptr : p.remaining[w % 2], remaining, p.remaining[(w + 1) % 2], slots);
    grid.sync();
    remaining = static_cast<std::int64_t>(__ldcg(&at.window->remaining));
    // 2. Levels.
    bool any = false;
    for (int b = 0; b < levels; ++b) {
      const auto count = static_cast<std::int64_t>(__ldcg(&at.window->bucket[b]));
      if (count == 0) continue;
      any = true;
      at.k = at.base + static_cast<I>(b);
      rounds.begin(at);
      remove_listed(p, at, at.buckets + b * at.capacity, count, true, slots);
      grid.sync();
      for (round_counters found = rounds.end(at); found.vertices + found.chunks[0] + found.chunks[1] > 0;
           found = rounds.end(at)) {
        rounds.begin(at);
#pragma unroll
        for (int side = 0; side < 2; ++side) {
          const auto chunks = static_cast<std::int64_t>(found.chunks[side]);
          if (chunks > 0) remove_chunks(p, at, side, at.chunks[side] - chunks, at.chunks[side], slots);
        }
        const auto vertices = static_cast<std::int64_t>(found.vertices);
        remove_listed(p, at, p.passed + at.passed - vertices, vertices, false, slots);
        grid.sync();
      }
    }
    // 3. No degree has changed where all buckets are empty: jump to the least.
    at.base = any || remaining == 0 ? at.end : static_cast<I>(far - __ldcg(&at.window->closeness));
  }
}

}  // namespace spargo::detail::cores
