// Strong components on the device: settles the vertices left by the hub's searches (cuda_strong.cuh) in one launch,
// with a grid barrier after each step.
//
// It alternates between two steps. Trimming: a vertex without an edge from or to its part is a component of its own.
// Colouring: every vertex finds the largest number of a vertex in its part that reaches it, `in`, and that it reaches,
// `out`. If both are equal, it is the number of a vertex of its component. Vertices with different pairs are in
// different components, so the pairs are the parts of the next iteration (ECL-SCC: Alabandi, Sands, Biros, Burtscher,
// SC 2023).
//
// Colouring sends a number along the edges of queued vertices, those whose number has risen. A vertex also adopts the
// numbers found by the vertex its own number belongs to (pointer jumping), so distances double per round; and it sends
// its numbers to vertices known to reach it or to be reached by it: those of its other number and of its component.
// Numbers are shuffled; otherwise a path or cycle with ascending ids would take one step per vertex. A warp's lanes
// share the edges of its vertices, warps share the edges of a hub.
//
// Invariant: in[v] is the number of a vertex that reaches v within its part (initially v itself) and only rises;
// whoever raises it queues v for the next round, which sends it along all edges. An empty queue: numbers are final.
#pragma once

#include "core/device/cooperative.cuh"
#include "core/search.hpp"
#include "graph/components/cuda_strong.cuh"

#include <spargo/graph/frontier/expansion.cuh>

#include <cooperative_groups.h>

namespace spargo::detail::components {

__device__ __forceinline__ std::int32_t raise_to(std::int32_t* at, std::int32_t value) { return atomicMax(at, value); }
__device__ __forceinline__ std::int64_t raise_to(std::int64_t* at, std::int64_t value) {
  return static_cast<std::int64_t>(atomicMax(reinterpret_cast<long long*>(at), static_cast<long long>(value)));
}
__device__ __forceinline__ void lower_least(std::int32_t* at, std::int32_t value) { atomicMin(at, value); }
__device__ __forceinline__ void lower_least(std::int64_t* at, std::int64_t value) {
  atomicMin(reinterpret_cast<long long*>(at), static_cast<long long>(value));
}

// A warp's output list of vertices, staged in shared memory.
template <class I>
class strong_sink {
 public:
  __device__ strong_sink(I* slots, I* list, count64* filled) : staged_{slots}, list_(list), filled_(filled) {}

  // All lanes call it.
  __device__ void append(bool active, I v) {
    const unsigned mask = __ballot_sync(full_mask, active);
    if (mask == 0) return;
    staged_.add(mask, active, v, lane_id());
    if (staged_.count > cuda_strong_tuning::staged - warp_size) flush();
  }
  __device__ void flush() {
    staged_.flush(filled_, lane_id(), [this](std::int64_t k, I v) { list_[k] = v; });
  }

 private:
  staged_items<I> staged_;
  I* list_;
  count64* filled_;
};

// A lane's share of a warp's edges: `degree` edges from `begin`, and the value to send along them.
template <class I, class O>
struct strong_share {
  I vertex = 0;
  strong_part<I> part{};
  I value = 0;
  O begin = 0;
  int degree = 0;
};

// Calls visit(open, vertex, value, neighbour) for every edge of the lanes' shares; `open`: the neighbour is still in
// the vertex's part. All lanes call it; all lanes call visit.
template <class I, class O, class Visit>
__device__ void expand_shares(const strong_search<I, O>& s, const strong_edges<I, O>& edges,
                              const strong_share<I, O>& mine, Visit visit) {
  constexpr int unroll = cuda_strong_tuning::unroll;
  const packed_edges<O> packed(mine.begin, mine.degree, warp_inclusive_sum(mine.degree));
  const int total = packed.total;
  for (int base = 0; base < total; base += warp_size * unroll) {
    I neighbour[unroll];
    int owner[unroll];
    bool open[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      const int k = base + q * warp_size + lane_id();
      owner[q] = packed.owner(k);
      const O from = packed.first(owner[q]);
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

// Calls visit(active, v) for the vertices of a list with all lanes of a warp; a short list is spread over all warps.
template <class I, class Visit>
__device__ void for_each_listed(const I* list, std::int64_t size, Visit visit) {
  std::int64_t tile = (size + grid_warps() - 1) / grid_warps();
  tile = tile > warp_size ? warp_size : tile;
  for (std::int64_t t = grid_warp() * tile; t < size; t += grid_warps() * tile) {
    const bool active = lane_id() < tile && t + lane_id() < size;
    visit(active, active ? __ldcg(list + t + lane_id()) : I{-1});
  }
}

// Calls visit(share) for the chunks of hubs with active(hub): an equal part of the edges per lane.
template <class I, class O, class Active, class Visit>
__device__ void for_each_chunk(const strong_search<I, O>& s, const strong_edges<I, O>& edges, const strong_hub<I>* hubs,
                               count64 filled, Active active, Visit visit) {
  constexpr std::int64_t size = cuda_strong_tuning::hub_edges;
  const auto chunks = static_cast<std::int64_t>(filled & 0xffffffffU);
  for (std::int64_t c = grid_warp(); c < chunks; c += grid_warps()) {
    // The last hub whose first chunk is at or before c.
    const std::int64_t hub =
        first_where(std::int64_t{1}, static_cast<std::int64_t>(filled >> 32),
                    [&](std::int64_t h) { return static_cast<std::int64_t>(__ldcg(&hubs[h].before)) > c; }) -
        1;
    const I v = __ldcg(&hubs[hub].vertex);
    if (!__any_sync(full_mask, active(v))) continue;  // lanes may read different values while other warps write
    const std::int64_t first = (c - static_cast<std::int64_t>(__ldcg(&hubs[hub].before))) * size;
    const std::int64_t left = edges.degree(v) - first;
    const int edges_of_chunk = static_cast<int>(left < size ? left : size);
    const int own = edges_of_chunk * lane_id() / warp_size;
    strong_share<I, O> share;
    share.vertex = v;
    share.part = s.part[v];
    share.begin = edges.offsets[v] + static_cast<O>(first + own);
    share.degree = edges_of_chunk * (lane_id() + 1) / warp_size - own;
    visit(share);
  }
}

// The edges of v, unless v is a hub.
template <class I, class O>
__device__ void take_edges(const strong_edges<I, O>& edges, I v, strong_share<I, O>& share) {
  const std::int64_t degree = edges.degree(v);
  share.begin = edges.offsets[v];
  share.degree = degree < cuda_strong_tuning::hub_edges ? static_cast<int>(degree) : 0;
}

// Marks both ends of every edge within a part, except self-loops.
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
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool active, I v) {
    strong_share<I, O> share;
    if (active) {
      share.vertex = v;
      share.part = s.part[v];
      take_edges(s.out_edges, v, share);
    }
    expand_shares(s, s.out_edges, share, visit);
  });
}

// Keeps the vertices with both marks; the others are components.
template <class I, class O>
__device__ void trim(const strong_search<I, O>& s, const I* list, const strong_counts& left, I mark,
                     strong_counts* filled, strong_sink<I> to) {
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool active, I v) {
    const bool stays = active && __ldcg(s.in + v) == mark && __ldcg(s.out + v) == mark;
    if (active && !stays) {
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
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool active, I v) {
    if (!active) return;
    const I number = s.order.number(v);
    s.in[v] = number;
    s.out[v] = number;
    s.member[v] = v;
    s.least[v] = v;
  });
}

// Queues v because values[v] (bit 1: `in`, 2: `out`) has risen; true for the one caller that must append it.
__device__ inline bool queue_for_next(unsigned* stamp, unsigned round, unsigned bit) {
  const unsigned next = (round + 1) << 2;
  const bool fresh = atomicMax(stamp, next) < next;
  atomicOr(stamp, bit);
  return fresh;
}

// Pointer jumping: raises values[v] to that of the vertex it names, up to `jumps` times; returns whether it rose.
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

// One round of colouring: `size` vertices of `list`, which is the whole list in the first round and in sweeps,
// otherwise the queue of this round.
template <class I, class O>
__device__ void send_numbers(const strong_search<I, O>& s, const I* list, std::int64_t size, const strong_counts& left,
                             unsigned round, bool first, strong_sink<I> to) {
  // Which values of v to send. Unknown once v is queued for the next round: then send both.
  const auto reasons = [&](I v) {
    const unsigned stamp = first ? 0 : __ldcg(s.stamp + v);
    if (first || stamp >> 2 > round) return 3U;
    return stamp >> 2 == round ? stamp & 3U : 0U;
  };
  // Raises values[w] to a number that is valid for w, too.
  const auto offer = [&](bool active, I* values, I w, I number, unsigned bit) {
    bool risen = active && number > __ldcg(values + w);
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
  for_each_listed(list, size, [&](bool active, I v) {
    strong_share<I, O> forward;
    strong_share<I, O> backward;
    I member = -1;
    bool passes = false;  // the vertex of `in` reaches the vertex of `out` through v
    bool late = false;    // a hub whose numbers a jump has raised
    if (active) {
      const bool in_jumped = !first && jump(s.order, s.in, v);
      const bool out_jumped = !first && jump(s.order, s.out, v);
      const unsigned why = reasons(v);
      forward.part = backward.part = s.part[v];
      if ((why & 1U) != 0 || in_jumped) take_edges(s.out_edges, v, forward);
      if ((why & 2U) != 0 || out_jumped) take_edges(s.in_edges, v, backward);
      forward.value = __ldcg(s.in + v);
      backward.value = __ldcg(s.out + v);
      if (why != 0 || in_jumped || out_jumped) {
        member = s.member[v];
        passes = forward.value != backward.value;
        if (!passes) s.member[v] = s.order.vertex(forward.value);
      }
      if (in_jumped && s.out_edges.degree(v) >= cuda_strong_tuning::hub_edges) {
        late = queue_for_next(s.stamp + v, round, 1U);
      }
      if (out_jumped && s.in_edges.degree(v) >= cuda_strong_tuning::hub_edges) {
        late = queue_for_next(s.stamp + v, round, 2U) || late;
      }
    }
    to.append(late, v);
    offer(member >= 0, s.in, member, forward.value, 1U);
    offer(member >= 0, s.out, member, backward.value, 2U);
    offer(passes, s.in, s.order.vertex(backward.value), forward.value, 1U);
    offer(passes, s.out, s.order.vertex(forward.value), backward.value, 2U);
    expand_shares(s, s.out_edges, forward, send(s.in, 1U));
    expand_shares(s, s.in_edges, backward, send(s.out, 2U));
  });
  to.flush();
}

// Vertices whose two numbers agree join that component; the others are listed again.
template <class I, class O>
__device__ void settle_numbers(const strong_search<I, O>& s, const I* list, const strong_counts& left,
                               strong_counts* filled, strong_sink<I> to) {
  for_each_listed(list, static_cast<std::int64_t>(left.listed), [&](bool active, I v) {
    const strong_part<I> part{active ? __ldcg(s.in + v) : I{0}, active ? __ldcg(s.out + v) : I{0}};
    const bool stays = active && part.in != part.out;
    if (active && !stays) {
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

  // A step fills the next counters, ends with counts(), and clears the ones after those, which all blocks have read.
  const auto begin_step = [&] {
    turn = (turn + 1) % 3;
    if (global_thread() == 0) control->filled[(turn + 1) % 3] = {0, 0, 0};
    return &control->filled[turn];
  };
  const auto counts = [&] {
    __syncthreads();  // all threads have used the previous counts
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
  const auto exchange_lists = [&] {
    I* const other = list;
    list = spare;
    spare = other;
  };
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
      exchange_lists();
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
    exchange_lists();
  }
}

}  // namespace spargo::detail::components
