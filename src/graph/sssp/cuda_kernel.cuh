// The device search: near-far delta-stepping by one persistent grid, without the host between steps.
//
// Idea: vertices whose length is below the threshold are in the near pile, the others that were met in the far pile. A
// step expands the whole near pile into the next one; when none is left, the threshold rises by delta and the far pile
// is split. A wide step is one hop, with a barrier of the grid after it. In a narrow one each block follows its share
// of the pile for several hops by itself, in shared memory, since a barrier takes longer than a hop; what it has not
// expanded by then goes back to the pile. The far pile has room for a share of the vertices: when it has overflowed,
// nothing is put there any more, and all lengths are looked through in its place.
//
// And a bound, as on the host (host_delta.hpp): when the vertices beyond some length hold a small share of the edges,
// paths that are longer are left out; once all below it is final, those beyond it look along their in-edges for what
// they have missed. How many edges are beyond is counted from a sample, in steps that are large anyway.
//
// Invariants: a vertex below the threshold is in the near pile or has been expanded with the length that it has; those
// below `settled` are final. Between steps every block holds the same `search_position`. Counters: a step counts into
// found[turn + 1] while it clears found[turn + 2], which the step before has read; so a counter is cleared, filled and
// read with a barrier between each. It ends: an expansion leaves an empty pile or has lowered some vertex's length, and
// after an empty pile the threshold rises past the least length that is left, or none is left.
// Davidson, Baxter, Garland, Owens, Work-efficient parallel GPU methods for SSSP, IPDPS 2014.
#pragma once

#include "graph/sssp/cuda_search.cuh"

#include <cooperative_groups.h>

namespace spargo::detail::sssp {

// Where a block follows its share by itself. H200, grid 2048 x 2048, weights 1..255: 16 hops 10.7 ms, 32 10.5, 64 8.4.
struct narrow_tuning {
  static constexpr std::int64_t share = 64;  // most entries for each block
  static constexpr int hops = 64;
  static constexpr int entries = 512;  // of a block, and edges out of them: with more it leaves the rest to the grid
  static constexpr int edges = 4096;
};

enum class search_step : int { wide, narrow, split, look_through, pull, end };

// Everything that the next step depends on. All threads hold the same copy.
template <class D>
struct search_position {
  stored_length<D> settled;
  stored_length<D> threshold;
  std::int64_t near;    // entries of the pile to expand,
  std::int64_t chunks;  // and of hubs
  std::int64_t far;
  int turn;      // which near pile is expanded
  int far_turn;  // which far pile is filled
  int far_lost;  // 1: it has overflowed
  int fits;      // 1: what is looked through next will fit it
  search_step step;
  stored_length<D> bound;  // longer paths, and those as long, are left out
  int passed;              // 1: the bound has been passed, and there is none any more
  int samples;             // 1: the step counts edges for a lower bound
};

// length + delta, more than length in any case.
template <class D>
__device__ stored_length<D> step_up(stored_length<D> length, D delta) {
  if (length >= none<D>) return none<D>;
  stored_length<D> up = stored<D>(loaded<D>(length) + delta);
  if (up <= length) up = std::is_same_v<D, double> ? length + 1 : none<D>;  // too small for its digits; wrapped
  return up < none<D> ? up : none<D>;
}

// All below `from` is final. The threshold rises to `from` + delta, and what is below it is collected; or the bound has
// been reached.
template <class W, class D, class I, class O>
__device__ void collect_from(const device_search<W, D, I, O>& s, search_position<D>& at, stored_length<D> from) {
  if (at.bound < s.limit && from >= at.bound) {
    at.settled = at.threshold = at.bound;
    at.far_lost = 1;
    at.fits = 0;
    at.step = search_step::pull;
    return;
  }
  at.settled = from;
  at.threshold = step_up<D>(from, at.passed != 0 ? s.delta_beyond : s.delta);
  if (at.bound < s.limit && at.threshold > at.bound) at.threshold = at.bound;
  at.step = at.far_lost != 0 ? search_step::look_through : search_step::split;
  at.samples = at.far_lost != 0 && s.in.offsets != nullptr && at.passed == 0 ? 1 : 0;
}

// After a step that has counted: the least bound so that the vertices beyond it, by the lengths that they have,
// hold a small share of the edges, if that is lower than the one there is. All lanes of a warp call it.
template <class W, class D, class I, class O>
__device__ void lower_bound(const device_search<W, D, I, O>& s, search_position<D>& at, const counters* c) {
  const int lane = lane_id();
  const count64 late = group_suffix_scan(count64{__ldcg(&c->beyond[warp_size + lane])}, warp_size, plus{});
  const count64 early =
      group_suffix_scan(count64{__ldcg(&c->beyond[lane])}, warp_size, plus{}) + __shfl_sync(full_mask, late, 0);
  const auto most = static_cast<count64>(s.most_beyond) / bound_tuning::sample;
  const unsigned first = __ballot_sync(full_mask, early <= most);
  const unsigned second = __ballot_sync(full_mask, late <= most);
  if (lane != 0 || (first | second) == 0) return;
  const int bin = first != 0 ? __ffs(static_cast<int>(first)) - 1 : warp_size + __ffs(static_cast<int>(second)) - 1;
  const stored_length<D> bound = stored<D>(loaded<D>(at.threshold) + static_cast<D>(bin) * s.delta);
  if (bound >= at.threshold && bound < at.bound) at.bound = bound;
}

template <class W, class D, class I, class O>
__device__ bool is_target_final(const device_search<W, D, I, O>& s, const search_position<D>& at) {
  return s.target >= 0 && __ldcg(s.found + s.target) < at.threshold;
}

// What the step has found decides what is next.
template <class W, class D, class I, class O>
__device__ void advance(const device_search<W, D, I, O>& s, search_position<D>& at, const counters& c) {
  const bool expanded = at.step == search_step::wide || at.step == search_step::narrow;
  const auto near = static_cast<std::int64_t>(c.near);
  const auto chunks = static_cast<std::int64_t>(c.chunks);
  at.samples = 0;
  at.turn ^= 1;
  at.near = near;
  at.chunks = chunks;
  if (expanded) {
    at.far += static_cast<std::int64_t>(c.far);
    if (at.far > s.far_slots) at.far_lost = 1;
  } else {
    at.far_turn ^= 1;
    at.far = static_cast<std::int64_t>(c.far);
    const bool filled = at.step == search_step::split || at.fits != 0;
    at.far_lost = filled && at.far <= s.far_slots ? 0 : 1;
    at.fits = static_cast<std::int64_t>(c.pending) * 2 <= s.far_slots && at.step != search_step::pull ? 1 : 0;
  }
  if (near > s.near_slots || chunks > s.chunk_slots) {  // all below the threshold are expanded once more
    at.far_lost = 1;
    at.fits = 0;
    at.step = search_step::look_through;
    return;
  }
  if (near + chunks > 0) {
    const std::int64_t blocks = gridDim.x;
    const bool narrow = chunks == 0 && near <= blocks * narrow_tuning::share &&
                        static_cast<std::int64_t>(c.edges) <= blocks * narrow_tuning::edges;
    at.step = narrow ? search_step::narrow : search_step::wide;
    return;
  }
  if (at.step == search_step::pull) {
    at.bound = s.limit;
    at.passed = 1;
    collect_from(s, at, at.threshold);
    return;
  }
  const stored_length<D> lowest = c.inverted_lowest != 0 ? static_cast<stored_length<D>>(~c.inverted_lowest) : none<D>;
  const bool bounded = at.bound < s.limit;  // there may be more than is known
  const bool over =
      at.threshold >= s.limit || (!bounded && (expanded ? at.far == 0 && at.far_lost == 0 : lowest == none<D>));
  if (over || is_target_final(s, at)) {
    at.step = search_step::end;
    return;
  }
  collect_from(s, at, expanded ? at.threshold : lowest);
}

// --- Wide steps -------------------------------------------------------------

// Whether the entry's length is the vertex's.
template <class W, class D, class I, class O>
__device__ __forceinline__ bool is_current(const device_search<W, D, I, O>& s, std::int64_t v,
                                           stored_length<D> length) {
  return __ldcg(s.found + v) == length;
}

template <class W, class D, class I, class O>
__device__ void expand_wide(const device_search<W, D, I, O>& s, const search_position<D>& at, piles<W, D, I, O>& to) {
  const bool keeps_far = at.far_lost == 0;
  const stored_length<D> threshold = at.threshold;
  const path_limits<D> limits{at.bound, keeps_far ? none<D> : threshold};
  const auto visit = [&](const lane_edges<W, D, I>& edges, int rounds) {
    const lane_paths<D> paths = relax_all(s, limits, edges);
    int of[cuda_tuning::unroll];
#pragma unroll
    for (int q = 0; q < cuda_tuning::unroll; ++q) of[q] = paths.won[q] ? __ldg(s.classes + edges.target[q]) : 0;
#pragma unroll
    for (int q = 0; q < cuda_tuning::unroll; ++q) {
      if (q >= rounds) break;  // the same for all lanes
      const bool leads = of[q] > 0;
      if (!__any_sync(full_mask, leads)) continue;
      const bool near = paths.path[q] < threshold;
      to.push_near(leads && near, static_cast<std::int64_t>(edges.target[q]), paths.path[q], of[q]);
      if (keeps_far) to.push_far(leads && !near, static_cast<std::int64_t>(edges.target[q]), paths.path[q]);
    }
  };
  const std::int64_t first_warp = grid_warp();
  const std::int64_t warps = grid_warps();
  constexpr int hub = cuda_tuning::hub_degree;
  const int lane = lane_id();
  const hub_chunk<D, I>* const chunks = s.chunks[at.turn];
  for (std::int64_t c = first_warp; c < at.chunks; c += warps) {
    const hub_chunk<D, I> chunk = chunks[c];
    if (!is_current(s, static_cast<std::int64_t>(chunk.edges.vertex), chunk.length)) continue;
    const O begin = chunk.edges.first(s.out.offsets[chunk.edges.vertex], hub);
    const O end = s.out.offsets[std::int64_t{chunk.edges.vertex} + 1];
    // An even share for each lane, as if it were a vertex of its own.
    const int size = static_cast<int>(end - begin < hub ? end - begin : hub);
    const int first = size * lane / warp_size;
    const int past = size * (lane + 1) / warp_size;
    expand_together<D>(s.out, chunk.length, static_cast<O>(begin + first), past - first, visit);
  }
  const auto* const near = s.near[at.turn];
  std::int64_t tile = (at.near + warps - 1) / warps;  // few vertices: a few lanes per warp, but all warps
  tile = tile < 1 ? 1 : (tile > warp_size ? warp_size : tile);
  for (std::int64_t t = first_warp * tile; t < at.near; t += warps * tile) {
    stored_length<D> length = 0;
    O begin = 0;
    int degree = 0;
    if (lane < tile && t + lane < at.near) {
      const auto entry = near[t + lane];
      begin = s.out.offsets[entry.vertex];
      const O end = s.out.offsets[entry.vertex + 1];
      length = static_cast<stored_length<D>>(entry.length);
      degree = is_current(s, static_cast<std::int64_t>(entry.vertex), length) ? static_cast<int>(end - begin) : 0;
    }
    expand_together<D>(s.out, length, begin, degree, visit);
  }
}

// --- Narrow steps -----------------------------------------------------------

// A list of the block in its shared memory: vertices with the lengths they were reached by and the places of their
// edges, so that a hop does not begin with looking these up.
template <class D, class I, class O>
struct block_list {
  static constexpr int slots = 640;
  static constexpr std::size_t bytes = slots * (sizeof(stored_length<D>) + sizeof(I) + sizeof(O) + sizeof(int));
  stored_length<D>* length;
  O* begin;
  I* vertex;
  int* degree;

  __device__ explicit block_list(unsigned char* raw) {
    length = reinterpret_cast<stored_length<D>*>(raw);
    raw += slots * sizeof(stored_length<D>);
    begin = reinterpret_cast<O*>(raw);
    vertex = reinterpret_cast<I*>(raw + slots * sizeof(O));
    degree = reinterpret_cast<int*>(raw + slots * (sizeof(O) + sizeof(I)));
  }
};

// The lanes with `wanted` get places in a list of the block, `slots` or more where there is none. All lanes call it.
__device__ __forceinline__ int place_in(int* size, bool wanted) {
  const unsigned mask = __ballot_sync(full_mask, wanted);
  int first = 0;
  if (lane_id() == 0 && mask != 0) first = atomicAdd(size, __popc(mask));
  return __shfl_sync(full_mask, first, 0) + __popc(mask & ((1U << lane_id()) - 1));
}

// Entries that found no place go to the pile in global memory.
template <class E>
__device__ __forceinline__ void spill(const warp_pile<E>& pile, bool wanted, const E& e) {
  const unsigned mask = __ballot_sync(full_mask, wanted);
  if (mask == 0) return;
  count64 first = 0;
  if (lane_id() == 0) first = atomicAdd(pile.added, static_cast<count64>(__popc(mask)));
  first = __shfl_sync(full_mask, first, 0);
  if (wanted) pile.store(first + static_cast<count64>(__popc(mask & ((1U << lane_id()) - 1))), e);
}

// What a block shares in a narrow step: of hops, in turn, the sizes of their lists and the edges in them.
struct narrow_counts {
  int vertices[3];
  int edges[3];
  int far;
};

// One hop: each vertex of `from` by a group of lanes. An edge's chain is the edge, then the far end's length and
// the place of its edges together, on the chance that it is new.
template <class W, class D, class I, class O>
__device__ void walk_hop(const device_search<W, D, I, O>& s, const search_position<D>& at, piles<W, D, I, O>& to,
                         const block_list<D, I, O>& from, int size, const block_list<D, I, O>& into,
                         pile_entry<D, I>* far, narrow_counts& counts, int next) {
  constexpr int slots = block_list<D, I, O>::slots;
  using length_type = stored_length<D>;
  const int lanes = 1 << s.lanes_log;
  const length_type threshold = at.threshold;
  const length_type bound = at.bound;
  const bool keeps_far = at.far_lost == 0;
  int tally = 0;
  for (int first = static_cast<int>(threadIdx.x) / warp_size * warp_size; first < size * lanes;
       first += cuda_tuning::block) {
    const int k = (first + lane_id()) >> s.lanes_log;
    int degree = 0;
    O begin = 0;
    length_type length = 0;
    bool current = false;
    if (k < size) {
      degree = from.degree[k];
      begin = from.begin[k];
      length = from.length[k];
      current = __ldcg(s.found + from.vertex[k]) == length;
    }
    for (int j = (first + lane_id()) & (lanes - 1); __any_sync(full_mask, j < degree); j += lanes) {
      I v = 0;
      length_type path = none<D>;
      if (j < degree) {
        v = __ldg(s.out.indices + (begin + static_cast<O>(j)));
        path = longer_stored<D>(length, __ldg(s.out.weights + (begin + static_cast<O>(j))));
      }
      bool won = false;
      O place = 0;
      O end = 0;
      if (current && path < bound) {
        const length_type held = atomicMin(s.found + v, path);
        place = __ldg(s.out.offsets + v);
        end = __ldg(s.out.offsets + std::int64_t{v} + 1);
        won = path < held && end - place >= s.least_degree;
      }
      if (!__any_sync(full_mask, won)) continue;
      const auto e = to.entry_of(static_cast<std::int64_t>(v), path);
      const bool near = won && path < threshold;
      const bool hub = near && end - place >= cuda_tuning::hub_degree;
      const int slot = place_in(&counts.vertices[next], near && !hub);
      if (near && !hub) {
        tally += static_cast<int>(end - place);
        if (slot < slots) {
          into.length[slot] = path;
          into.begin[slot] = place;
          into.vertex[slot] = v;
          into.degree[slot] = static_cast<int>(end - place);
        }
      }
      spill(to.near, near && !hub && slot >= slots, e);
      push_hubs(s, to.chunks, &to.filling->chunks, hub, static_cast<std::int64_t>(v), path);
      if (keeps_far && __any_sync(full_mask, won && !near)) {
        const int far_slot = place_in(&counts.far, won && !near);
        if (won && !near && far_slot < slots) far[far_slot] = e;
        spill(to.far, won && !near && far_slot >= slots, e);
      }
    }
  }
  __syncwarp();
  tally = warp_sum(tally);
  if (lane_id() == 0 && tally != 0) atomicAdd(&counts.edges[next], tally);
}

// Entries of the block go to their pile. entry(k) is the k-th. All threads call it.
template <class E, class Entry>
__device__ void flush_local(const warp_pile<E>& pile, int size, Entry&& entry) {
  __shared__ count64 first;
  if (threadIdx.x == 0 && size > 0) first = atomicAdd(pile.added, static_cast<count64>(size));
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < size; k += cuda_tuning::block) {
    pile.store(first + static_cast<count64>(k), entry(k));
  }
  __syncthreads();
}

template <class W, class D, class I, class O>
__device__ void expand_narrow(const device_search<W, D, I, O>& s, const search_position<D>& at, piles<W, D, I, O>& to,
                              unsigned char* raw) {
  using list_type = block_list<D, I, O>;
  using E = pile_entry<D, I>;
  constexpr int slots = list_type::slots;
  static_assert(2 * list_type::bytes + slots * sizeof(E) <= staged_bytes<E>() && list_type::bytes % sizeof(E) == 0);
  __shared__ narrow_counts counts;
  E* const far = reinterpret_cast<E*>(raw + 2 * list_type::bytes);
  // A range of neighbours in the pile: a block has left them there together.
  const std::int64_t first = at.near * blockIdx.x / gridDim.x;
  int size = static_cast<int>(at.near * (blockIdx.x + 1) / gridDim.x - first);
  const list_type start(raw);
  for (int k = static_cast<int>(threadIdx.x); k < size; k += cuda_tuning::block) {
    const E e = s.near[at.turn][first + k];
    start.vertex[k] = static_cast<I>(e.vertex);
    start.length[k] = static_cast<stored_length<D>>(e.length);
    start.begin[k] = s.out.offsets[e.vertex];
    start.degree[k] = static_cast<int>(s.out.offsets[e.vertex + 1] - start.begin[k]);
  }
  if (threadIdx.x == 0) counts.vertices[1] = counts.edges[1] = counts.far = 0;
  __syncthreads();
  for (int hop = 0;; ++hop) {
    const int next = (hop + 1) % 3;
    const list_type from(raw + hop % 2 * list_type::bytes);
    const list_type into(raw + (hop + 1) % 2 * list_type::bytes);
    if (threadIdx.x == 0) counts.vertices[(hop + 2) % 3] = counts.edges[(hop + 2) % 3] = 0;
    walk_hop(s, at, to, from, size, into, far, counts, next);
    __syncthreads();
    size = counts.vertices[next] < slots ? counts.vertices[next] : slots;
    const int ahead = counts.edges[next];
    if (size > 0 && hop + 1 < narrow_tuning::hops && size <= narrow_tuning::entries && ahead <= narrow_tuning::edges)
      continue;
    flush_local(to.near, size,
                [&](int k) { return to.entry_of(static_cast<std::int64_t>(into.vertex[k]), into.length[k]); });
    flush_local(to.far, counts.far < slots ? counts.far : slots, [&](int k) { return far[k]; });
    if (threadIdx.x == 0 && ahead != 0) atomicAdd(&to.filling->edges, static_cast<count64>(ahead));
    return;
  }
}

// --- The next threshold -----------------------------------------------------

// What is pending, as far as a thread has seen it.
struct pending_tally {
  count64 vertices = 0;
  count64 inverted_lowest = 0;
};

// All threads of the block call it.
__device__ inline void add_pending(counters* filling, pending_tally mine) {
  __shared__ pending_tally of_warps[cuda_tuning::warps];
  const int lane = lane_id();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  mine.vertices = warp_reduce_to_first(mine.vertices, plus{});
  mine.inverted_lowest = warp_reduce_to_first(mine.inverted_lowest, maximum{});
  if (lane == 0) of_warps[warp] = mine;
  __syncthreads();
  if (warp != 0) return;
  mine = lane < cuda_tuning::warps ? of_warps[lane] : pending_tally{};
  mine.vertices = warp_reduce_to_first(mine.vertices, plus{});
  mine.inverted_lowest = warp_reduce_to_first(mine.inverted_lowest, maximum{});
  if (lane == 0 && mine.vertices != 0) atomicAdd(&filling->pending, mine.vertices);
  if (lane == 0 && mine.inverted_lowest != 0) atomicMax(&filling->inverted_lowest, mine.inverted_lowest);
}

__device__ __forceinline__ void note_pending(pending_tally& tally, count64 length) {
  ++tally.vertices;
  if (~length > tally.inverted_lowest) tally.inverted_lowest = ~length;
}

// Entries of the far pile below the threshold become near ones, the others go to the other far pile.
template <class W, class D, class I, class O>
__device__ void split_far(const device_search<W, D, I, O>& s, const search_position<D>& at, piles<W, D, I, O>& to,
                          pending_tally& tally) {
  const auto* const far = s.far[at.far_turn];
  for (std::int64_t first = grid_warp() * warp_size; first < at.far; first += grid_warps() * warp_size) {
    const std::int64_t k = first + lane_id();
    std::int64_t v = 0;
    stored_length<D> length = 0;
    bool here = k < at.far;
    if (here) {
      const auto entry = far[k];
      v = static_cast<std::int64_t>(entry.vertex);
      length = static_cast<stored_length<D>>(entry.length);
      here = is_current(s, v, length);
    }
    const bool near = here && length < at.threshold;
    to.push_near(near, v, length, near ? __ldg(s.classes + v) : 0);
    to.push_far(here && !near, v, length);
    if (here && !near) note_pending(tally, length);
  }
}

// Which bin of `beyond` a length at or beyond the threshold is in; the last one has all that is farther.
template <class D>
__device__ int bin_of(stored_length<D> length, stored_length<D> threshold, D delta) {
  if (length >= none<D>) return bound_tuning::bins - 1;
  const D bins = (loaded<D>(length) - loaded<D>(threshold)) / delta;
  return bins < static_cast<D>(bound_tuning::bins - 1) ? static_cast<int>(bins) : bound_tuning::bins - 1;
}

// Counts the out-edges of a sample of the vertices at or beyond the threshold, by length. It decides where the bound
// is, and so how fast the search is, not what it finds: lengths may change meanwhile. All threads of the block call it.
template <class W, class D, class I, class O>
__device__ void count_beyond(const device_search<W, D, I, O>& s, const search_position<D>& at, counters* filling) {
  __shared__ unsigned beyond[bound_tuning::bins];
  for (int k = static_cast<int>(threadIdx.x); k < bound_tuning::bins; k += cuda_tuning::block) beyond[k] = 0;
  __syncthreads();
  for (std::int64_t k = global_thread(); k < s.n / bound_tuning::sample; k += grid_threads()) {
    const std::int64_t group = k / warp_size;
    const auto drawn = static_cast<std::int64_t>(static_cast<unsigned>(group) * 0x9e3779b1U >> 28);
    const std::int64_t v = (group * bound_tuning::sample + drawn) * warp_size + k % warp_size;
    if (v >= s.n) continue;
    const stored_length<D> length = __ldcg(s.found + v);
    if (length < at.threshold) continue;
    const auto edges = static_cast<unsigned>(edges_of_class(__ldg(s.classes + v)));
    if (edges != 0) atomicAdd(&beyond[bin_of<D>(length, at.threshold, s.delta)], edges);
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < bound_tuning::bins; k += cuda_tuning::block) {
    if (beyond[k] != 0) atomicAdd(&filling->beyond[k], beyond[k]);
  }
}

// The same for all vertices that are not settled.
template <class W, class D, class I, class O>
__device__ void look_through(const device_search<W, D, I, O>& s, const search_position<D>& at, piles<W, D, I, O>& to,
                             pending_tally& tally) {
  constexpr int groups = 4;  // of 32 vertices, with the loads of all under way together
  for (std::int64_t first = grid_warp() * groups * warp_size; first < s.n; first += grid_warps() * groups * warp_size) {
    stored_length<D> length[groups];
    int of[groups];
#pragma unroll
    for (int q = 0; q < groups; ++q) {
      const std::int64_t v = first + q * warp_size + lane_id();
      length[q] = v < s.n ? __ldcg(s.found + v) : none<D>;
    }
#pragma unroll
    for (int q = 0; q < groups; ++q) {
      const bool open = length[q] >= at.settled && length[q] < none<D>;
      of[q] = open ? __ldg(s.classes + first + q * warp_size + lane_id()) : 0;
    }
#pragma unroll
    for (int q = 0; q < groups; ++q) {
      const std::int64_t v = first + q * warp_size + lane_id();
      const bool near = of[q] > 0 && length[q] < at.threshold;
      const bool pending = of[q] > 0 && !near;
      to.push_near(near, v, length[q], of[q]);
      if (at.fits != 0) to.push_far(pending, v, length[q]);
      if (pending) note_pending(tally, length[q]);
    }
  }
}

// All below the bound is final: the other vertices learn of the paths that were left out. Each warp lowers its own
// vertices only, and reads lengths below the bound only, which do not change.
template <class W, class D, class I, class O>
__device__ void pull_beyond(const device_search<W, D, I, O>& s, const search_position<D>& at, unsigned char* raw) {
  using length_type = stored_length<D>;
  length_type* const best = reinterpret_cast<length_type*>(raw) + threadIdx.x / warp_size * warp_size;
  const length_type bound = at.bound;
  const int lane = lane_id();
  const auto visit = [&](const lane_edges<W, D, I>& edges, int) {
    length_type held[cuda_tuning::unroll];
#pragma unroll
    for (int q = 0; q < cuda_tuning::unroll; ++q) {
      held[q] = edges.target[q] >= 0 ? __ldcg(s.found + edges.target[q]) : none<D>;
    }
#pragma unroll
    for (int q = 0; q < cuda_tuning::unroll; ++q) {
      if (held[q] >= bound) continue;
      const length_type path = longer_stored<D>(held[q], edges.weight[q]);
      length_type* const mine = best + static_cast<int>(edges.before[q]);  // the owner's lane
      if (path < s.limit && path < *static_cast<volatile length_type*>(mine)) atomicMin(mine, path);
    }
  };
  for (std::int64_t first = grid_warp() * warp_size; first < s.n; first += grid_warps() * warp_size) {
    const std::int64_t v = first + lane;
    const length_type held = v < s.n ? __ldcg(s.found + v) : 0;
    const bool open = v < s.n && held >= bound;
    if (!__any_sync(full_mask, open)) continue;
    O begin = open ? s.in.offsets[v] : O{0};
    O left = open ? s.in.offsets[v + 1] - begin : O{0};
    best[lane] = held;
    __syncwarp();
    while (__any_sync(full_mask, left > 0)) {  // once as a rule: 32 parts fit an int
      constexpr O most = O{1} << 24;
      const O part = left < most ? left : most;
      expand_together<D>(s.in, static_cast<length_type>(lane), begin, static_cast<int>(part), visit);
      begin += part;
      left -= part;
    }
    __syncwarp();
    if (open && best[lane] < held) s.found[v] = best[lane];
    __syncwarp();
  }
}

// --- The kernel -------------------------------------------------------------

__device__ inline void clear_counters(counters* c) {
  constexpr int words = static_cast<int>(sizeof(counters) / sizeof(unsigned));
  for (int k = static_cast<int>(threadIdx.x); k < words; k += cuda_tuning::block) reinterpret_cast<unsigned*>(c)[k] = 0;
}

// Where the step's vertices go: the near pile that is not expanded, and the far pile behind what it has, or the other
// one when it is made anew.
template <class W, class D, class I, class O>
__device__ piles<W, D, I, O> piles_of(const device_search<W, D, I, O>& s, const search_position<D>& at,
                                      counters* filling, unsigned char* raw) {
  using E = pile_entry<D, I>;
  constexpr int bytes = cuda_tuning::staged_bytes;
  unsigned char* const mine = raw + threadIdx.x / warp_size * (2 * bytes);
  const bool expands = at.step == search_step::wide || at.step == search_step::narrow;
  return {s, warp_pile<E>{s.near[1 - at.turn], 0, s.near_slots, &filling->near, reinterpret_cast<E*>(mine)},
          warp_pile<E>{s.far[expands ? at.far_turn : 1 - at.far_turn], expands ? at.far : 0, s.far_slots, &filling->far,
                       reinterpret_cast<E*>(mine + bytes)},
          s.chunks[1 - at.turn], filling};
}

template <class W, class D, class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, 1)
    search_kernel(const __grid_constant__ device_search<W, D, I, O> s) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ search_position<D> at;
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const bool leader = threadIdx.x == 0;
  counters* const found = s.control->found;

  for (std::int64_t v = global_thread(); v < s.n; v += grid_threads()) s.found[v] = v == s.source ? 0 : none<D>;
  if (leader) at = {0, step_up<D>(0, s.delta), 0, 0, 0, 1, 0, 0, 0, search_step::wide, s.limit, 0, 0};
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x < warp_size) {
    auto to = piles_of(s, at, &found[0], raw);
    to.push_near(leader, s.source, 0, leader ? class_of(s.out.offsets[s.source + 1] - s.out.offsets[s.source]) : 0);
    to.near.flush();
  }
  grid.sync();
  for (int turn = 0;; turn = (turn + 1) % 3) {
    if (threadIdx.x < warp_size) {
      const bool counted = at.samples != 0;
      if (counted) lower_bound(s, at, &found[turn]);
      __syncwarp();
    }
    if (leader) advance(s, at, read_counters(&found[turn]));
    __syncthreads();
    if (at.step == search_step::end) return;
    counters* const filling = &found[(turn + 1) % 3];
    if (blockIdx.x == 0) clear_counters(&found[(turn + 2) % 3]);
    auto to = piles_of(s, at, filling, raw);
    if (at.samples != 0) count_beyond(s, at, filling);
    if (at.step == search_step::narrow) {
      expand_narrow(s, at, to, raw);
    } else if (at.step == search_step::pull) {
      pull_beyond(s, at, raw);
    } else {
      pending_tally tally;
      if (at.step == search_step::wide) {
        expand_wide(s, at, to);
      } else if (at.step == search_step::split) {
        split_far(s, at, to, tally);
      } else {
        look_through(s, at, to, tally);
      }
      __syncwarp();
      to.finish();
      if (at.step != search_step::wide) add_pending(filling, tally);
    }
    grid.sync();
  }
}

}  // namespace spargo::detail::sssp
