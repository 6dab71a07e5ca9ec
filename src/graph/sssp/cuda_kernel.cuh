// Device delta-stepping over rows sorted by weight: one persistent grid, no host between steps.
//
// Idea: a step relaxes only edges that lead below a threshold. Rows are sorted by weight, so a row stops at its first
// heavier edge, and its rest goes to the far bucket. Vertices whose length was lowered go to the near bucket and are
// expanded until it is empty. Then the threshold rises by delta, and the rows of the far bucket continue. So few edges
// of a vertex are read at a time, most of them light.
//
// Once the rows left hold many more edges than the unreached vertices, those pull: they scan their in-edges once, and
// the far bucket keeps only the rows of vertices found by the pull.
//
// A wide step is one hop of all vertices of a bucket and a grid barrier. In a narrow step each block runs several hops
// on its share of the near bucket in shared memory, since a barrier takes longer than a hop; unprocessed rows return.
//
// Invariants: with an empty near bucket all lengths below the threshold are final, no other vertex has a length before
// the pull, and every edge that leads to or past the threshold is in the far bucket. Between steps every block holds
// the same `search_position`. Termination: a step empties the near bucket or lowers some length, and with an empty one
// the threshold rises past the least length in the far bucket. Buckets are rebuilt only if lengths were lowered since
// the last rebuild. Davidson, Baxter, Garland, Owens, IPDPS 2014 (near and far); Chakaravarthy et al., IPDPS 2014
// (pull).
#pragma once

#include "graph/sssp/cuda_narrow.cuh"
#include "graph/sssp/cuda_search.cuh"

#include <cooperative_groups.h>

namespace spargo::detail::sssp {

// length + delta; strictly more than length.
template <class D>
__device__ stored_length<D> step_up(stored_length<D> length, D delta) {
  if (length >= none<D>) return none<D>;
  stored_length<D> up = stored<D>(loaded<D>(length) + delta);
  if (up <= length)
    up =
        std::is_same_v<D, double> ? length + 1 : none<D>;  // delta is below the precision of length; or the sum wrapped
  return up < none<D> ? up : none<D>;
}

template <class W, class D, class I, class O>
__device__ void raise(const device_search<W, D, I, O>& s, search_position<D>& at, stored_length<D> from) {
  const stored_length<D> up = step_up<D>(from, at.pulled != 0 ? s.delta_beyond : s.delta);
  at.threshold = up < s.limit ? up : s.limit;
}

// Chooses the next step from the counters of the last one.
template <class W, class D, class I, class O>
__device__ void advance(const device_search<W, D, I, O>& s, search_position<D>& at, const counters& c) {
  const search_step step = at.step;
  const stored_length<D> lowest = c.inverted_lowest != 0 ? static_cast<stored_length<D>>(~c.inverted_lowest) : none<D>;
  at.turn ^= 1;
  at.near = static_cast<std::int64_t>(c.near);
  at.reached_edges += static_cast<std::int64_t>(c.reached_edges);
  if (step == search_step::wide || step == search_step::narrow) {
    at.far += static_cast<std::int64_t>(c.far);
    at.far_edges += static_cast<std::int64_t>(c.far_edges);
    at.lowest = lowest < at.lowest ? lowest : at.lowest;
  } else {
    at.far_turn ^= 1;
    at.far = static_cast<std::int64_t>(c.far);
    at.far_edges = static_cast<std::int64_t>(c.far_edges);
    at.lowest = lowest;
  }
  if (at.near > s.slots || at.far > s.slots) {
    at.step = search_step::rebuild;
    return;
  }
  if (step == search_step::rebuild) {
    at.step = search_step::far;  // with the same threshold
    return;
  }
  if (at.near > 0) {
    const std::int64_t blocks = gridDim.x;
    const bool narrow = at.near <= blocks * narrow_tuning::share &&
                        static_cast<std::int64_t>(c.near_edges) <= blocks * narrow_tuning::edges;
    at.step = narrow ? search_step::narrow : search_step::wide;
    return;
  }
  if (step == search_step::pull) at.pulled = 1;
  // No step relaxes paths below the threshold any more, so all blocks read the same.
  const bool target_settled = s.target >= 0 && __ldcg(s.lengths + s.target) < at.threshold;
  if (at.threshold >= s.limit || at.far == 0 || at.lowest >= s.limit || target_settled) {
    at.step = search_step::end;
    return;
  }
  if (at.pulled == 0 && s.in.offsets != nullptr && (s.edges - at.reached_edges) * s.pull_at <= at.far_edges) {
    at.step = search_step::pull;
    return;
  }
  raise(s, at, at.lowest > at.threshold ? at.lowest : at.threshold);
  at.step = search_step::far;
}

// --- Wide steps -------------------------------------------------------------

// Relaxes the lanes' edges below the threshold. All reads are issued before the first atomic; the atomics overlap with
// loads of the targets' row bounds. All lanes call it.
template <class W, class D, class I, class O>
__device__ __forceinline__ void offer_all(const device_search<W, D, I, O>& s, near_far_buckets<W, D, I, O>& to,
                                          const lane_edges<W, D, I>& edges,
                                          const stored_length<D> (&path)[cuda_tuning::unroll<D>],
                                          const bool (&offered)[cuda_tuning::unroll<D>]) {
  constexpr int unroll = cuda_tuning::unroll<D>;
  stored_length<D> held[unroll];
  O begin[unroll];
  O end[unroll];
#pragma unroll
  for (int q = 0; q < unroll; ++q) held[q] = offered[q] ? __ldcg(s.lengths + edges.target[q]) : 0;
#pragma unroll
  for (int q = 0; q < unroll; ++q) {
    const bool lower = path[q] < held[q];
    held[q] = lower ? atomicMin(s.lengths + edges.target[q], path[q]) : 0;
    begin[q] = lower ? __ldg(s.out.offsets + edges.target[q]) : O{0};
    end[q] = lower ? __ldg(s.out.offsets + std::int64_t{edges.target[q]} + 1) : O{0};
  }
#pragma unroll
  for (int q = 0; q < unroll; ++q) {
    const O degree = end[q] - begin[q];
    if (held[q] == none<D>) to.reached_edges += static_cast<std::make_unsigned_t<O>>(degree);
    const bool leads = path[q] < held[q] && degree >= s.least_degree;
    if (__any_sync(full_mask, leads)) to.push_near(leads, edges.target[q], path[q], begin[q], degree);
  }
}

// Expands the bucket's rows up to the threshold.
template <class W, class D, class I, class O>
__device__ void follow(const device_search<W, D, I, O>& s, const search_position<D>& at,
                       near_far_buckets<W, D, I, O>& to, const bucket_entry<D, I, O>* bucket, std::int64_t size) {
  constexpr int unroll = cuda_tuning::unroll<D>;
  // Edges of a row read in the first round; each round multiplies them by `growth`. H200, uniform 2^22, 2 / 4 / 8
  // edges, in an earlier state: 2.19 / 2.05 / 2.08 ms.
  constexpr int first_edges = 4;
  constexpr int growth = 4;
  const int lane = lane_id();
  const stored_length<D> threshold = at.threshold;
  const std::int64_t warps = grid_warps();
  // Adjacent entries go to different warps, since parts of one row are adjacent.
  const auto entry_of = [&](std::int64_t base) {
    const std::int64_t k = base + lane * warps;
    return k < size ? load_streaming(bucket + k) : bucket_entry<D, I, O>{};
  };
  bucket_entry<D, I, O> next = entry_of(grid_warp());
  for (std::int64_t base = grid_warp(); base < size; base += warps * warp_size) {
    bucket_entry<D, I, O> e = next;
    next = entry_of(base + warps * warp_size);  // prefetch
    stored_length<D> length = none<D>;          // stale entries keep `none`
    if (e.left > 0 && __ldcg(s.lengths + e.vertex) == e.length) length = e.length;
    int ahead = e.left < first_edges ? e.left : first_edges;
    while (__any_sync(full_mask, ahead > 0)) {
      int taken = 0;
      expand_together<W, D, I>(
          s.out, length, e.begin, ahead, [&](const lane_edges<W, D, I>& edges, int first, int past) {
            stored_length<D> path[unroll];
            bool offered[unroll];
#pragma unroll
            for (int q = 0; q < unroll; ++q) {
              path[q] = longer_stored<D>(edges.before[q], edges.weight[q]);
              offered[q] = edges.target[q] >= 0 && edges.before[q] < threshold && path[q] < threshold;
              const unsigned below = __ballot_sync(full_mask, offered[q]);
              const int at_lane = past - first - q * warp_size;
              taken += __popc(below & lanes_below(at_lane) & ~lanes_below(at_lane - ahead));
            }
            offer_all(s, to, edges, path, offered);
          });
      e.begin += static_cast<O>(taken);
      e.left -= taken;
      const int more = ahead * growth;
      ahead = taken < ahead ? 0 : (e.left < more ? e.left : more);
    }
    if (length != e.length) e.left = 0;
    const bool kept = to.keeps(e);
    to.far.push(kept, e);
  }
}

// --- Other steps ------------------------------------------------------------

// Pull of unreached vertices, one per lane (v < 0: none), once all lengths below the threshold are final and no other
// vertex is reached. Each warp lowers only its own vertices and reads only final lengths. In an undirected graph, a
// vertex whose neighbours are all final needs no expansion. All lanes call it.
template <class W, class D, class I, class O>
__device__ void pull_together(const device_search<W, D, I, O>& s, stored_length<D> threshold,
                              near_far_buckets<W, D, I, O>& to, std::int64_t v) {
  using length_type = stored_length<D>;
  __shared__ length_type lengths[cuda_tuning::block];
  __shared__ unsigned char opens[cuda_tuning::block];
  const int first_of_warp = static_cast<int>(threadIdx.x) / warp_size * warp_size;
  length_type* const best = lengths + first_of_warp;
  unsigned char* const open = opens + first_of_warp;
  const int lane = lane_id();
  best[lane] = none<D>;
  open[lane] = 0;
  __syncwarp();
  O begin = v >= 0 ? s.in.offsets[v] : O{0};
  O left = v >= 0 ? s.in.offsets[v + 1] - begin : O{0};
  while (__any_sync(full_mask, left > 0)) {  // usually once; 32 parts fit an int
    constexpr O most = O{1} << 24;
    const O part = left < most ? left : most;
    const auto visit = [&](const lane_edges<W, D, I>& edges, int, int) {
      constexpr int unroll = cuda_tuning::unroll<D>;
      length_type held[unroll];
#pragma unroll
      for (int q = 0; q < unroll; ++q) held[q] = edges.target[q] >= 0 ? __ldcg(s.lengths + edges.target[q]) : 0;
#pragma unroll
      for (int q = 0; q < unroll; ++q) {
        if (edges.target[q] < 0) continue;
        const int owner = static_cast<int>(edges.before[q]);
        if (held[q] >= threshold) {
          open[owner] = 1;
          continue;
        }
        const length_type path = longer_stored<D>(held[q], edges.weight[q]);
        if (path < s.limit && path < *static_cast<volatile length_type*>(best + owner)) atomicMin(best + owner, path);
      }
    };
    expand_together<W, D, I>(s.in, static_cast<length_type>(lane), begin, static_cast<int>(part), visit);
    begin += part;
    left -= part;
  }
  __syncwarp();
  const length_type length = best[lane];
  const bool met = v >= 0 && length < none<D>;
  if (met) s.lengths[v] = length;
  const bool leads = met && (s.mirrored == 0 || open[lane] != 0);
  const O row = leads ? s.out.offsets[v] : O{0};
  const O degree = leads ? s.out.offsets[v + 1] - row : O{0};
  to.push_far(leads && degree >= s.least_degree, static_cast<I>(v), length, row, degree);
  __syncwarp();
}

// Pulls for the unreached vertices, compacted to 32 at a time.
template <class W, class D, class I, class O>
__device__ void pull(const device_search<W, D, I, O>& s, stored_length<D> threshold, near_far_buckets<W, D, I, O>& to) {
  constexpr int groups = 4;  // groups of 32 vertices whose loads are in flight together
  const int lane = lane_id();
  I* const waiting = reinterpret_cast<I*>(to.near.staged.slots);  // up to 64; a pull does not use the near bucket
  int count = 0;
  for (std::int64_t first = grid_warp() * groups * warp_size; first < s.n; first += grid_warps() * groups * warp_size) {
    bool is_unreached[groups];
#pragma unroll
    for (int q = 0; q < groups; ++q) {
      const std::int64_t v = first + q * warp_size + lane;
      is_unreached[q] = v < s.n && __ldcg(s.lengths + v) == none<D>;
    }
#pragma unroll
    for (int q = 0; q < groups; ++q) {
      const std::int64_t v = first + q * warp_size + lane;
      is_unreached[q] = is_unreached[q] && s.in.offsets[v] < s.in.offsets[v + 1];
    }
#pragma unroll
    for (int q = 0; q < groups; ++q) {
      const unsigned mask = __ballot_sync(full_mask, is_unreached[q]);
      if (is_unreached[q])
        waiting[count + __popc(mask & lanes_below(lane))] = static_cast<I>(first + q * warp_size + lane);
      count += __popc(mask);
      if (count < warp_size) continue;
      __syncwarp();
      count -= warp_size;
      const I v = waiting[count + lane];
      __syncwarp();
      pull_together(s, threshold, to, static_cast<std::int64_t>(v));
    }
  }
  __syncwarp();
  const std::int64_t v = lane < count ? static_cast<std::int64_t>(waiting[lane]) : -1;
  __syncwarp();
  if (count > 0) pull_together(s, threshold, to, v);
}

// Refills the far bucket with the rows of all reached vertices.
template <class W, class D, class I, class O>
__device__ void rebuild(const device_search<W, D, I, O>& s, near_far_buckets<W, D, I, O>& to) {
  for (std::int64_t first = grid_warp() * warp_size; first < s.n; first += grid_warps() * warp_size) {
    const std::int64_t v = first + lane_id();
    const stored_length<D> length = v < s.n ? __ldcg(s.lengths + v) : none<D>;
    const O row = length < none<D> ? s.out.offsets[v] : O{0};
    const O degree = length < none<D> ? s.out.offsets[v + 1] - row : O{0};
    to.push_far(degree >= s.least_degree, static_cast<I>(v), length, row, degree);
  }
}

// --- The kernel -------------------------------------------------------------

// Destinations of a step: the other near bucket, and the far bucket, appended to or rebuilt in the other buffer.
template <class D, class I, class O>
struct step_places {
  bucket_place<bucket_entry<D, I, O>> near;
  bucket_place<bucket_entry<D, I, O>> far;
};
template <class W, class D, class I, class O>
__device__ step_places<D, I, O> places_of(const device_search<W, D, I, O>& s, const search_position<D>& at,
                                          counters* filling) {
  const bool adds = at.step == search_step::wide || at.step == search_step::narrow;
  return {{s.near[1 - at.turn], 0, s.slots, &filling->near},
          {s.far[adds ? at.far_turn : 1 - at.far_turn], adds ? at.far : 0, s.slots, &filling->far}};
}

template <class W, class D, class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block, 1)
    search_kernel(const __grid_constant__ device_search<W, D, I, O> s) {
  using E = bucket_entry<D, I, O>;
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ search_position<D> at;
  __shared__ step_places<D, I, O> places;
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const bool leader = threadIdx.x == 0;
  step_counters<counters>& found = s.control->found;
  E* const staged = reinterpret_cast<E*>(raw) + static_cast<int>(threadIdx.x) / warp_size * (2 * s.staged);

  for (std::int64_t v = global_thread(); v < s.n; v += grid_threads()) s.lengths[v] = v == s.source ? 0 : none<D>;
  if (leader) {
    at = {};
    at.turn = 1;
    at.lowest = none<D>;
    at.step = search_step::wide;
    raise(s, at, stored_length<D>{0});
    places = places_of(s, at, found.filled(0));
  }
  __syncthreads();
  {
    near_far_buckets<W, D, I, O> to{s, {places.near, {staged}, s.staged}, {places.far, {staged + s.staged}, s.staged}};
    if (blockIdx.x == 0 && threadIdx.x < warp_size) {
      const O row = s.out.offsets[s.source];
      const O degree = s.out.offsets[s.source + 1] - row;
      if (leader) to.reached_edges = static_cast<std::make_unsigned_t<O>>(degree);
      to.push_near(leader && degree > 0, static_cast<I>(s.source), 0, row, degree);
    }
    to.finish(found.filled(0));
  }
  for (int turn = 0;; turn = next_turn(turn)) {
    grid.sync();
    counters* const filling = found.begin_step(turn);
    if (leader) {
      advance(s, at, load_counters(found.filled(turn)));
      places = places_of(s, at, filling);
    }
    __syncthreads();
    const search_step step = at.step;
    if (step == search_step::end) return;
    near_far_buckets<W, D, I, O> to{s, {places.near, {staged}, s.staged}, {places.far, {staged + s.staged}, s.staged}};
    if (step == search_step::narrow) {
      follow_narrow(s, at, to, raw);
    } else if (step == search_step::pull) {
      pull(s, at.threshold, to);
    } else if (step == search_step::rebuild) {
      rebuild(s, to);
    } else {
      const bool far = step == search_step::far;
      follow(s, at, to, far ? s.far[at.far_turn] : s.near[at.turn], far ? at.far : at.near);
    }
    __syncwarp();
    to.finish(filling);
  }
}

}  // namespace spargo::detail::sssp
