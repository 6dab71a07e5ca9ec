// The kernels of strong components on the device, which go from one to the next without the host.
//
// 1. Two searches (graph/bfs) have found what a hub reaches and what reaches it; both is its component. They split the
//    other vertices into parts that no component crosses. Those with edges in and out are listed. If a search was given
//    up at its limit on the depth, all vertices are one part.
// 2. One launch, with a barrier of the grid after each step, settles what is listed. It alternates between trimming,
//    where vertices without an edge from or to their part are components of their own, and colouring: every vertex
//    finds the largest number among those of its part that reach it, `in`, and that it reaches, `out`. Where both are
//    the same, it is the number of a vertex of its component. Vertices with different numbers are in different
//    components, so the pairs are parts for the next time.
// 3. Every vertex gets the smallest one of its component.
//
// Colouring sends a number along the edges of the vertices where it has risen, which are queued; and a vertex takes
// over what the vertex of its number has found, so that the ways that numbers have gone double. It also tells them to
// vertices that it knows to reach, or that reach it: those of its other number, and of its component. Numbers are
// shuffled, else a path or a cycle with ascending vertices would have to be gone along in steps. Edges of a warp's
// vertices are shared among its lanes, and those of a hub among warps.
//
// Invariant: in[v] is the number of a vertex that reaches v within its part (v itself at first) and only rises; whoever
// raises it queues v for the next round, in which it is sent along all edges. So numbers are right when the queue is
// empty. ECL-SCC: Alabandi, Sands, Biros, Burtscher, SC 2023; parts by two searches: Fleischer, Hendrickson, Pinar,
// 2000.
#pragma once

#include "core/cuda.cuh"
#include "core/device/warp.cuh"
#include "graph/components/shuffled_ids.hpp"

#include <spargo/core/device_features.cuh>
#include <spargo/graph/frontier/expansion.cuh>

#include <cooperative_groups.h>

#include <limits>

namespace spargo::detail::components {

// By choice: searches leave little of most graphs. H200, R-MAT 22: a round of trimming takes 5.6 microseconds.
struct cuda_strong_tuning {
  static constexpr int split_block = 256;
  static constexpr int split_vertices = 4;  // of a thread: one atomic on the list's end for 1024 vertices
  static constexpr int block = 512;
  static constexpr int blocks = 2;  // of a multiprocessor
  static constexpr int warps = block / warp_size;
  static constexpr int staged = 128;       // slots of a warp in shared memory for what it lists
  static constexpr int unroll = 2;         // edges in flight of a lane
  static constexpr int hub_edges = 512;    // vertices with as many are cut into chunks
  static constexpr int worth_a_round = 8;  // trimming goes on while it takes one in so many of those left
  // Rounds go through the whole list, in which all vertices jump, while one in so many is queued, and after so many
  // rounds for each of so many vertices listed: as long as the rounds before it have taken.
  static constexpr int sweep_share = 8;
  static constexpr int sweep_vertices = 1 << 16;
  static constexpr int jumps = 4;  // of a vertex in a round
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

// A vertex with `hub_edges` edges or more, and the chunks of the hubs listed before it.
template <class I>
struct strong_hub {
  I vertex;
  count64 before;
};

// What a step lists. A hub takes its place in the table and its chunks' numbers by one atomic: entries << 32 | chunks.
struct strong_counts {
  count64 listed;
  count64 out_hubs;
  count64 in_hubs;
};

struct strong_control {
  strong_counts filled[3];  // they take turns: one is filled by a step, while the next one is cleared
  count64 above;            // vertices from the smallest one of the hub's component on, 0 without one
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
  const std::int64_t* reached_left;  // not 0: the search was given up
  const std::int64_t* reaching_left;
  shuffled_ids<I> order;
  I* root;   // [vertex] one of its component, -1: not known yet
  I* least;  // [root] the smallest vertex
  // Of those listed:
  strong_part<I>* part;
  I* in;  // numbers in colouring, marks (below 0) in trimming
  I* out;
  I* home;          // a vertex of the component, the last one of whose number both were
  unsigned* stamp;  // the round for which a vertex is queued << 2 | because of `out` << 1 | because of `in`
  I* lists[3];
  strong_hub<I>* out_hubs;
  strong_hub<I>* in_hubs;
  strong_control* control;
};

__device__ __forceinline__ std::int32_t raise_to(std::int32_t* at, std::int32_t value) { return atomicMax(at, value); }
__device__ __forceinline__ std::int64_t raise_to(std::int64_t* at, std::int64_t value) {
  return static_cast<std::int64_t>(atomicMax(reinterpret_cast<long long*>(at), static_cast<long long>(value)));
}
__device__ __forceinline__ void lower_least(std::int32_t* at, std::int32_t value) { atomicMin(at, value); }
__device__ __forceinline__ void lower_least(std::int64_t* at, std::int64_t value) {
  atomicMin(reinterpret_cast<long long*>(at), static_cast<long long>(value));
}

// --- 1. The hub's component -----------------------------------------------

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
  constexpr int warps = tuning::split_block / warp_size;
  __shared__ unsigned of_warps[warps];
  __shared__ count64 base;
  const std::int64_t first = std::int64_t{blockIdx.x} * (tuning::split_block * count) + threadIdx.x;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const bool whole = *s.reached_left == 0 && *s.reaching_left == 0;

  strong_part<I> part[count];
  bool ends[count];
#pragma unroll
  for (int k = 0; k < count; ++k) {  // nothing but loads
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
    const bool here = v < s.n;
    const bool settled = part[k].in != 0 && part[k].out != 0;
    if (here && settled) {
      s.root[v] = s.pivot;
      above = above < static_cast<count64>(s.n - v) ? static_cast<count64>(s.n - v) : above;
    } else if (here && ends[k]) {
      s.root[v] = static_cast<I>(v);
      s.least[v] = static_cast<I>(v);
    }
    listed[k] = __ballot_sync(full_mask, here && !settled && !ends[k]);
    of_warp += static_cast<unsigned>(__popc(listed[k]));
  }
  above = warp_max(above);
  if (lane_id() == 0) {
    of_warps[warp] = of_warp;
    if (above > __ldcg(&s.control->above)) atomicMax(&s.control->above, above);
  }
  __syncthreads();
  strong_counts* const filled = &s.control->filled[0];
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (int w = 0; w < warps; ++w) {
      const unsigned own = of_warps[w];
      of_warps[w] = sum;
      sum += own;
    }
    base = sum > 0 ? atomicAdd(&filled->listed, count64{sum}) : 0;
  }
  __syncthreads();
  I* to = s.lists[0] + base + of_warps[warp];
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

// --- 2. What is left ------------------------------------------------------

// A warp gathers what it lists in shared memory: one atomic on the list's end for some dozens.
template <class I>
class strong_sink {
 public:
  __device__ strong_sink(I* staged, I* list, count64* filled) : staged_(staged), list_(list), filled_(filled) {}

  // All lanes call it.
  __device__ void append(bool here, I v) {
    const unsigned mask = __ballot_sync(full_mask, here);
    if (mask == 0) return;
    if (here) staged_[count_ + __popc(mask & ((1U << lane_id()) - 1))] = v;
    count_ += __popc(mask);
    if (count_ > cuda_strong_tuning::staged - warp_size) flush();
  }
  __device__ void flush() {
    if (count_ == 0) return;
    __syncwarp();
    count64 first = 0;
    if (lane_id() == 0) first = atomicAdd(filled_, static_cast<count64>(count_));
    first = shuffle(first, 0);
    for (int k = lane_id(); k < count_; k += warp_size) list_[first + static_cast<count64>(k)] = staged_[k];
    count_ = 0;
    __syncwarp();
  }

 private:
  I* staged_;
  I* list_;
  count64* filled_;
  int count_ = 0;
};

// A lane's share of a warp's edges: `degree` from `begin` on, and what is to be said of them.
template <class I, class O>
struct strong_share {
  I vertex = 0;
  strong_part<I> part{};
  I value = 0;
  O begin = 0;
  int degree = 0;
};

// visit(open, vertex, value, neighbour) for every edge of the lanes' shares; `open` where the neighbour is left in the
// vertex's part. All lanes call it, and visit is called by all lanes.
template <class I, class O, class Visit>
__device__ void expand_shares(const strong_search<I, O>& s, const strong_edges<I, O>& edges,
                              const strong_share<I, O>& mine, Visit visit) {
  constexpr int unroll = cuda_strong_tuning::unroll;
  const int last = warp_inclusive_sum(mine.degree);
  const int total = shuffle(last, warp_size - 1);
  const O shift = mine.begin - static_cast<O>(last - mine.degree);
  for (int base = 0; base < total; base += warp_size * unroll) {
    I neighbour[unroll];
    int owner[unroll];
    bool open[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      const int k = base + q * warp_size + lane_id();
      owner[q] = owner_of(last, k);
      const O from = shuffle(shift, owner[q]);
      neighbour[q] = k < total ? __ldg(edges.indices + (from + static_cast<O>(k))) : I{-1};
    }
#pragma unroll
    for (int q = 0; q < unroll; ++q) open[q] = neighbour[q] >= 0 && __ldcg(s.root + neighbour[q]) < 0;
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      const I in = shuffle(mine.part.in, owner[q]);
      const I out = shuffle(mine.part.out, owner[q]);
      if (open[q]) {
        const strong_part<I> other = s.part[neighbour[q]];
        open[q] = other.in == in && other.out == out;
      }
    }
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      visit(open[q], shuffle(mine.vertex, owner[q]), shuffle(mine.value, owner[q]), neighbour[q]);
    }
  }
}

__device__ inline std::int64_t strong_warp() { return threadIdx.x / warp_size * std::int64_t{gridDim.x} + blockIdx.x; }
__device__ inline std::int64_t strong_warps() { return std::int64_t{gridDim.x} * cuda_strong_tuning::warps; }

// visit(here, v) for the vertices of a list by all lanes of a warp, few of a short list and many of a long one.
template <class I, class Visit>
__device__ void for_each_listed(const I* list, std::int64_t size, Visit visit) {
  std::int64_t tile = (size + strong_warps() - 1) / strong_warps();
  tile = tile > warp_size ? warp_size : tile;
  for (std::int64_t t = strong_warp() * tile; t < size; t += strong_warps() * tile) {
    const bool here = lane_id() < tile && t + lane_id() < size;
    visit(here, here ? __ldcg(list + t + lane_id()) : I{-1});
  }
}

// visit(share) for the chunks of the hubs for which active(hub): an even part of the edges for each lane.
template <class I, class O, class Active, class Visit>
__device__ void for_each_chunk(const strong_search<I, O>& s, const strong_edges<I, O>& edges, const strong_hub<I>* hubs,
                               count64 filled, Active active, Visit visit) {
  constexpr std::int64_t size = cuda_strong_tuning::hub_edges;
  const auto chunks = static_cast<std::int64_t>(filled & 0xffffffffU);
  for (std::int64_t c = strong_warp(); c < chunks; c += strong_warps()) {
    std::int64_t low = 0;  // the last hub with its first chunk at or before c
    for (auto high = static_cast<std::int64_t>(filled >> 32); high - low > 1;) {
      const std::int64_t middle = low + (high - low) / 2;
      (static_cast<std::int64_t>(__ldcg(&hubs[middle].before)) <= c ? low : high) = middle;
    }
    const I v = __ldcg(&hubs[low].vertex);
    if (!__any_sync(full_mask, active(v))) continue;  // what other warps change, lanes may see differently
    const std::int64_t first = (c - static_cast<std::int64_t>(__ldcg(&hubs[low].before))) * size;
    const std::int64_t left = edges.degree(v) - first;
    const int here = static_cast<int>(left < size ? left : size);
    const int own = here * lane_id() / warp_size;
    strong_share<I, O> share;
    share.vertex = v;
    share.part = s.part[v];
    share.begin = edges.offsets[v] + static_cast<O>(first + own);
    share.degree = here * (lane_id() + 1) / warp_size - own;
    visit(share);
  }
}

// The edges of v, unless it is a hub.
template <class I, class O>
__device__ void take_edges(const strong_edges<I, O>& edges, I v, strong_share<I, O>& share) {
  const std::int64_t degree = edges.degree(v);
  share.begin = edges.offsets[v];
  share.degree = degree < cuda_strong_tuning::hub_edges ? static_cast<int>(degree) : 0;
}

// Marks both ends of every edge, loops apart, between vertices of a part.
template <class I, class O>
__device__ void mark_ends(const strong_search<I, O>& s, const I* list, const strong_counts& left, I mark) {
  const auto visit = [&](bool open, I v, I, I w) {
    if (!open || w == v) return;
    s.out[v] = mark;
    s.in[w] = mark;
  };
  for_each_chunk(
      s, s.out_edges, s.out_hubs, left.out_hubs, [](I) { return true; },
      [&](const strong_share<I, O>& share) { expand_shares(s, s.out_edges, share, visit); });
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool here, I v) {
    strong_share<I, O> share;
    if (here) {
      share.vertex = v;
      share.part = s.part[v];
      take_edges(s.out_edges, v, share);
    }
    expand_shares(s, s.out_edges, share, visit);
  });
}

// Lists those with both marks.
template <class I, class O>
__device__ void trim(const strong_search<I, O>& s, const I* list, const strong_counts& left, I mark,
                     strong_counts* filled, strong_sink<I> to) {
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool here, I v) {
    const bool stays = here && __ldcg(s.in + v) == mark && __ldcg(s.out + v) == mark;
    if (here && !stays) {
      s.root[v] = v;
      s.least[v] = v;
    }
    if (stays) list_hubs(s, filled, v);
    to.append(stays, v);
  });
  to.flush();
}

template <class I, class O>
__device__ void start_numbers(const strong_search<I, O>& s, const I* list, const strong_counts& left) {
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool here, I v) {
    if (!here) return;
    const I number = s.order.number(v);
    s.in[v] = number;
    s.out[v] = number;
    s.home[v] = v;
    s.least[v] = v;
  });
}

// True for the one that has to queue v, because values[v] (bit 1: `in`, 2: `out`) has risen in this round.
__device__ inline bool queue_for_next(unsigned* stamp, unsigned round, unsigned bit) {
  const unsigned next = (round + 1) << 2;
  const bool fresh = atomicMax(stamp, next) < next;
  atomicOr(stamp, bit);
  return fresh;
}

// Whether values[v] rose to what the vertex of its number has, or that one's.
template <class I>
__device__ bool jump(const shuffled_ids<I>& order, I* values, I v) {
  const I held = __ldcg(values + v);
  I best = held;
  for (int k = 0; k < cuda_strong_tuning::jumps; ++k) {
    const I above = __ldcg(values + order.vertex(best));
    if (above <= best) break;
    best = above;
  }
  return best > held && raise_to(values + v, best) < best;
}

// A round of colouring: `size` vertices of `list`, all of them if it is the first, else those queued for this round.
template <class I, class O>
__device__ void send_numbers(const strong_search<I, O>& s, const I* list, std::int64_t size, const strong_counts& left,
                             unsigned round, bool first, strong_sink<I> to) {
  // Why v is to be sent along its edges. Once it is queued for the next round, nobody knows any more.
  const auto reasons = [&](I v) {
    const unsigned stamp = first ? 0 : __ldcg(s.stamp + v);
    if (first || stamp >> 2 > round) return 3U;
    return stamp >> 2 == round ? stamp & 3U : 0U;
  };
  // Raises values[w] to a number that is right for it, too.
  const auto offer = [&](bool here, I* values, I w, I number, unsigned bit) {
    bool risen = here && number > __ldcg(values + w);
    risen = risen && raise_to(values + w, number) < number;
    to.append(risen && queue_for_next(s.stamp + w, round, bit), w);
  };
  const auto send = [&](I* values, unsigned bit) {
    return [&, values, bit](bool open, I, I value, I w) { offer(open, values, w, value, bit); };
  };
  const auto send_chunk = [&](const strong_edges<I, O>& edges, I* values, unsigned bit) {
    return [&, values, bit](strong_share<I, O> share) {
      share.value = __ldcg(values + share.vertex);
      expand_shares(s, edges, share, send(values, bit));
    };
  };
  for_each_chunk(
      s, s.out_edges, s.out_hubs, left.out_hubs, [&](I v) { return (reasons(v) & 1U) != 0; },
      send_chunk(s.out_edges, s.in, 1U));
  for_each_chunk(
      s, s.in_edges, s.in_hubs, left.in_hubs, [&](I v) { return (reasons(v) & 2U) != 0; },
      send_chunk(s.in_edges, s.out, 2U));
  for_each_listed(list, size, [&](bool here, I v) {
    strong_share<I, O> forward;
    strong_share<I, O> backward;
    I home = -1;
    bool passes = false;  // the vertex of `in` reaches that of `out`, by v
    bool late = false;    // a hub whose numbers have risen by a jump
    if (here) {
      const bool in_jumped = !first && jump(s.order, s.in, v);
      const bool out_jumped = !first && jump(s.order, s.out, v);
      const unsigned why = reasons(v);
      forward.part = backward.part = s.part[v];
      if ((why & 1U) != 0 || in_jumped) take_edges(s.out_edges, v, forward);
      if ((why & 2U) != 0 || out_jumped) take_edges(s.in_edges, v, backward);
      forward.value = __ldcg(s.in + v);
      backward.value = __ldcg(s.out + v);
      if (why != 0 || in_jumped || out_jumped) {
        home = s.home[v];
        passes = forward.value != backward.value;
        if (!passes) s.home[v] = s.order.vertex(forward.value);
      }
      if (in_jumped && s.out_edges.degree(v) >= cuda_strong_tuning::hub_edges) {
        late = queue_for_next(s.stamp + v, round, 1U);
      }
      if (out_jumped && s.in_edges.degree(v) >= cuda_strong_tuning::hub_edges) {
        late = queue_for_next(s.stamp + v, round, 2U) || late;
      }
    }
    to.append(late, v);
    offer(home >= 0, s.in, home, forward.value, 1U);
    offer(home >= 0, s.out, home, backward.value, 2U);
    offer(passes, s.in, s.order.vertex(backward.value), forward.value, 1U);
    offer(passes, s.out, s.order.vertex(forward.value), backward.value, 2U);
    expand_shares(s, s.out_edges, forward, send(s.in, 1U));
    expand_shares(s, s.in_edges, backward, send(s.out, 2U));
  });
  to.flush();
}

// Those whose numbers agree have found their component; the others are listed.
template <class I, class O>
__device__ void settle_numbers(const strong_search<I, O>& s, const I* list, const strong_counts& left,
                               strong_counts* filled, strong_sink<I> to) {
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool here, I v) {
    const strong_part<I> part{here ? __ldcg(s.in + v) : I{0}, here ? __ldcg(s.out + v) : I{0}};
    const bool stays = here && part.in != part.out;
    if (here && !stays) {
      const I root = s.order.vertex(part.in);
      s.root[v] = root;
      if (v < __ldcg(s.least + root)) lower_least(s.least + root, v);
    }
    if (stays) {
      s.part[v] = part;
      list_hubs(s, filled, v);
    }
    to.append(stays, v);
  });
  to.flush();
}

template <class I, class O>
__global__ void __launch_bounds__(cuda_strong_tuning::block,
                                  resident_blocks(cuda_strong_tuning::blocks, cuda_strong_tuning::block))
    settle_kernel(const __grid_constant__ strong_search<I, O> s) {
  using tuning = cuda_strong_tuning;
  namespace cg = cooperative_groups;
  __shared__ I staged[tuning::warps][tuning::staged];
  __shared__ strong_counts found;
  const cg::grid_group grid = cg::this_grid();
  strong_control* const control = s.control;
  unsigned turn = 0;  // the counters filled last

  // A step fills the next counters and ends with counts(). All blocks have read those that it clears, since a barrier
  // was passed after it.
  const auto begin_step = [&] {
    turn = (turn + 1) % 3;
    if (global_thread() == 0) control->filled[(turn + 1) % 3] = {0, 0, 0};
    return &control->filled[turn];
  };
  const auto counts = [&] {
    __syncthreads();  // all have taken over the counts before
    if (threadIdx.x == 0) {
      const strong_counts* const filled = &control->filled[turn];
      found = {__ldcg(&filled->listed), __ldcg(&filled->out_hubs), __ldcg(&filled->in_hubs)};
    }
    __syncthreads();
    return found;
  };
  const auto sink = [&](I* list, strong_counts* filled) {
    return strong_sink<I>(staged[threadIdx.x / warp_size], list, &filled->listed);
  };

  strong_counts left = counts();
  I* list = s.lists[0];
  I* spare = s.lists[1];
  I mark = 0;
  unsigned round = 0;
  while (left.listed > 0) {
    for (bool worth = true; worth && left.listed > 0;) {
      --mark;
      mark_ends(s, list, left, mark);
      grid.sync();
      strong_counts* const filled = begin_step();
      trim(s, list, left, mark, filled, sink(spare, filled));
      grid.sync();
      const count64 before = left.listed;
      left = counts();
      I* const other = list;
      list = spare;
      spare = other;
      worth = (before - left.listed) * tuning::worth_a_round > before;
    }
    if (left.listed == 0) break;

    start_numbers(s, list, left);
    grid.sync();
    I* queue = nullptr;
    I* next_queue = spare;
    count64 queued = left.listed;
    count64 unswept = 0;  // rounds
    for (bool first = true; queued > 0; first = false) {
      strong_counts* const filled = begin_step();
      const bool sweep =
          first || queued * tuning::sweep_share > left.listed || unswept * tuning::sweep_vertices >= left.listed;
      unswept = sweep ? 1 : unswept + 1;
      send_numbers(s, sweep ? list : queue, static_cast<std::int64_t>(sweep ? left.listed : queued), left, ++round,
                   first, sink(next_queue, filled));
      grid.sync();
      queued = counts().listed;
      queue = next_queue;
      next_queue = queue == spare ? s.lists[2] : spare;
    }
    strong_counts* const filled = begin_step();
    settle_numbers(s, list, left, filled, sink(spare, filled));
    grid.sync();
    left = counts();
    I* const other = list;
    list = spare;
    spare = other;
  }
}

// --- 3. Labels ------------------------------------------------------------

// In the place of roots. is_root[v] is written unless it is null.
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
  const unsigned here = static_cast<unsigned>(__popc(__ballot_sync(full_mask, own)));
  if (lane_id() == 0 && here > 0) atomicAdd(&roots, here);
  __syncthreads();
  if (threadIdx.x == 0 && roots > 0) atomicAdd(&s.control->roots, count64{roots});
}

// --- The hub --------------------------------------------------------------

// Ways through a vertex, and the vertex.
struct strong_candidate {
  double ways;
  std::int64_t vertex;

  __device__ void offer(const strong_candidate& other) {
    if (other.ways > ways || (other.ways == ways && other.vertex < vertex)) *this = other;
  }
};

// Each block's best: the smallest vertex of those with the most ways.
template <class I, class O>
__global__ void __launch_bounds__(cuda_strong_tuning::split_block)
    find_hub_kernel(std::int64_t n, strong_edges<I, O> out, strong_edges<I, O> in, strong_candidate* best) {
  __shared__ strong_candidate of_warps[cuda_strong_tuning::split_block / warp_size];
  strong_candidate mine{-1.0, 0};
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    const auto u = static_cast<I>(v);
    mine.offer({static_cast<double>(out.degree(u)) * static_cast<double>(in.degree(u)), v});
  }
  for (int step = warp_size / 2; step > 0; step /= 2) {
    mine.offer({shuffle_xor(mine.ways, step), shuffle_xor(mine.vertex, step)});
  }
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const strong_candidate& other : of_warps) mine.offer(other);
  best[blockIdx.x] = mine;
}

}  // namespace spargo::detail::components
