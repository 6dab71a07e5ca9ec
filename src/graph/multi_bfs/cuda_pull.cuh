// Pull step of the device multi-source search, run by the whole grid.
//
// A pull reads `seen` and writes `other`: an in-neighbour's bit that a vertex lacks must be from the last level, so the
// union of the in-neighbours' words is the vertex's next word. The scan of a row ends once all wanted bits are set.
//
// `wanted` excludes searches that found nothing in the last level: they have ended, and vertices they never reach would
// be scanned in full at every level. It also excludes lagging searches, which found very little: most vertices would
// scan all neighbours for their bits in vain. Those are pushed after the pull.
//
// Chains of dependent loads (word, offsets, neighbour, its word) bound a pull, so many are in flight: a lane scans the
// first edges of its vertex, teams of lanes continue where more are needed, warps share the longest rows.
#pragma once

#include "graph/multi_bfs/cuda_levels.cuh"

namespace spargo::detail::multi_bfs {

// Whole warp: merges the words of in-edges [first, last) into `has`; stops once all wanted bits are set.
template <class I, class O, int W, class Sink>
__device__ search_words<W> gather_by_warp(const search<I, O, W, Sink>& s, const search_words<W>* seen,
                                          std::int64_t first, std::int64_t last, const search_words<W>& wanted,
                                          search_words<W> has) {
  constexpr int rounds = cuda_tuning::warp_unroll;
  const std::int64_t lane = threadIdx.x % warp_size;
  for (std::int64_t base = first; base < last && !covers(has, wanted); base += rounds * warp_size) {
    I neighbour[rounds];
#pragma unroll
    for (int q = 0; q < rounds; ++q) {
      const std::int64_t e = base + q * warp_size + lane;
      neighbour[q] = e < last ? s.in_indices[e] : I{-1};
    }
    search_words<W> mine{};
#pragma unroll
    for (int q = 0; q < rounds; ++q) {
      if (neighbour[q] >= 0) unite(mine, seen[neighbour[q]]);
    }
    unite(has, united_by_warp(mine));
  }
  return has;
}

// One lane: merges the words of its in-edges [at, end) into `has`, up to lane_edges; returns where it stopped.
template <class I, class O, int W, class Sink>
__device__ O gather_by_lane(const search<I, O, W, Sink>& s, const search_words<W>* seen, const search_words<W>& wanted,
                            O at, O end, search_words<W>& has) {
  constexpr int unroll = W == 1 ? cuda_tuning::lane_unroll : cuda_tuning::lane_unroll_wide;
  for (int tried = 0; tried < cuda_tuning::lane_edges; tried += unroll) {
    if (at == end || covers(has, wanted)) break;
    I neighbour[unroll];
#pragma unroll
    for (int q = 0; q < unroll; ++q) neighbour[q] = q < end - at ? s.in_indices[at + q] : I{-1};
#pragma unroll
    for (int q = 0; q < unroll; ++q) {
      if (neighbour[q] >= 0) unite(has, seen[neighbour[q]]);
    }
    at = end - at > unroll ? at + unroll : end;
  }
  return at;
}

// Whole warp in teams: continues with the in-edges [at, end) of the lanes' vertices. A team scans a vertex until its
// edges end or all wanted bits are set, then takes the next. Returns the set of the calling lane's vertex.
template <class I, class O, int W, class Sink>
__device__ search_words<W> gather_by_teams(const search<I, O, W, Sink>& s, const search_words<W>* seen,
                                           const search_words<W>& wanted, O at, O end, search_words<W> has) {
  constexpr int team = cuda_tuning::team;
  constexpr int rounds = cuda_tuning::team_rounds;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const int leader = lane / team * team;
  unsigned rest = __ballot_sync(full_mask, at < end && !covers(has, wanted));
  int owner = -1;  // the lane whose vertex this team scans
  O first = 0;
  O last = 0;
  search_words<W> united{};
  for (unsigned idle = full_mask; rest != 0 || idle != full_mask; idle = __ballot_sync(full_mask, owner < 0)) {
    if (idle != 0 && rest != 0) {
      const bool takes = owner < 0;
#pragma unroll
      for (int t = 0; t < warp_size; t += team) {
        if ((idle >> t & 1) == 0) continue;
        if (leader == t) owner = __ffs(static_cast<int>(rest)) - 1;  // -1: none left
        rest &= rest - 1;
      }
      const int from = max(owner, 0);
      const O its_first = __shfl_sync(full_mask, at, from);
      const O its_last = __shfl_sync(full_mask, end, from);
      const search_words<W> its_words = from_lane(has, from);
      if (takes) {
        first = owner < 0 ? O{0} : its_first;
        last = owner < 0 ? O{0} : its_last;
        united = its_words;
      }
    }
    I neighbour[rounds];
#pragma unroll
    for (int q = 0; q < rounds; ++q) {
      const int k = q * team + lane - leader;
      neighbour[q] = k < last - first ? s.in_indices[first + k] : I{-1};
    }
    search_words<W> mine{};
#pragma unroll
    for (int q = 0; q < rounds; ++q) {
      if (neighbour[q] >= 0) unite(mine, seen[neighbour[q]]);
    }
    unite(united, united_by_team<team>(mine));
    first = last - first > rounds * team ? first + rounds * team : last;
    const bool through = owner >= 0 && (first == last || covers(united, wanted));
    const unsigned done = __ballot_sync(full_mask, through);
#pragma unroll
    for (int t = 0; t < warp_size; t += team) {
      if ((done >> t & 1) == 0) continue;
      const int to = __shfl_sync(full_mask, owner, t);
      const search_words<W> all = from_lane(united, t);
      if (lane == to) has = all;
    }
    if (through) {
      owner = -1;
      first = last = 0;
    }
  }
  return has;
}

// Vertices with up to pull_chunk in-edges, 32 adjacent ones per warp.
template <class I, class O, int W, class Sink>
__device__ void pull_vertices(const search<I, O, W, Sink>& s, const search_words<W>* seen, search_words<W>* other,
                              const search_words<W>& wanted, int depth, std::int64_t warp, std::int64_t warps,
                              thread_tally& tally) {
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  for (std::int64_t base = warp * warp_size; base < s.n; base += warps * warp_size) {
    const std::int64_t v = base + lane;
    search_words<W> before = s.full;
    if (v < s.n) before = seen[v];
    O at = 0;
    O end = 0;
    if (!covers(before, wanted)) {
      at = s.in_offsets[v];
      end = s.in_offsets[v + 1];
    }
    const O degree = end - at;
    const bool mine = v < s.n && degree <= cuda_tuning::pull_chunk;
    if (!mine) at = end;
    search_words<W> has = before;
    at = gather_by_lane(s, seen, wanted, at, end, has);
    __syncwarp();
    has = gather_by_teams(s, seen, wanted, at, end, has);
    if (mine) other[v] = has;
    if (!covers(has, wanted)) tally.open += static_cast<count64>(degree);
    const search_words<W> fresh = without(has, before);
    if (!is_zero(fresh)) record_vertex(s, v, fresh, has, depth, tally);
    __syncwarp();
    count_bits(tally, fresh);
  }
}

// Vertices with more in-edges, one chunk per warp. Old bits in `other` are in `seen` as well.
template <class I, class O, int W, class Sink>
__device__ void pull_chunks(const search<I, O, W, Sink>& s, const search_words<W>* seen, search_words<W>* other,
                            const search_words<W>& wanted, int depth, std::int64_t warp, std::int64_t warps,
                            thread_tally& tally) {
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const auto count = static_cast<std::int64_t>(*s.pull_chunk_count);
  for (std::int64_t k = warp; k < count; k += warps) {
    const edge_chunk<I> chunk = s.pull_chunks[k];
    const std::int64_t v = chunk.vertex;
    const auto last = static_cast<std::int64_t>(s.in_offsets[v + 1]);
    const std::int64_t first = chunk.first(static_cast<std::int64_t>(s.in_offsets[v]), cuda_tuning::pull_chunk);
    const std::int64_t stop = min(last, first + cuda_tuning::pull_chunk);
    const search_words<W> before = seen[v];
    search_words<W> found = latest(other[v]);  // so far, by other chunks
    found = from_lane(found, 0);               // one view for the warp: other warps write it concurrently
    if (covers(found, wanted) && covers(found, before)) continue;
    unite(found, before);
    const search_words<W> has = gather_by_warp(s, seen, first, stop, wanted, found);
    search_words<W> fresh{};
    if (lane == 0) {
      search_words<W> old;
#pragma unroll
      for (int i = 0; i < W; ++i) old.w[i] = atomicOr(&other[v].w[i], has.w[i]);
      unite(old, before);
      fresh = without(has, old);
      if (!is_zero(fresh)) {
        ++tally.vertices;
        tally.edges += static_cast<count64>(stop - first);
        record_bits(s, v, fresh, depth);
      }
      search_words<W> now = old;
      unite(now, has);
      if (!same(old, s.full) && same(now, s.full)) tally.finished += static_cast<count64>(last - s.in_offsets[v]);
    }
    fresh = from_lane(fresh, 0);
#pragma unroll
    for (int i = 0; i < W; ++i) {
      if ((fresh.w[i] >> lane & 1) != 0) atomicAdd(tally.found + 64 * i + lane, 1U);
      if ((fresh.w[i] >> (lane + 32) & 1) != 0) atomicAdd(tally.found + 64 * i + 32 + lane, 1U);
    }
  }
}

}  // namespace spargo::detail::multi_bfs
