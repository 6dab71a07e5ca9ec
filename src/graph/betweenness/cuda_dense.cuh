// A step over all vertices on the device, as its own kernel: pulls a level, or sums dependencies backward over one.
//
// All lanes share a vertex's row. A team of four threads loads four indices and their states, then processes the four
// neighbours one after the other, one thread per lane: the four counts of a neighbour are one sector. Longer rows get
// all teams of a warp, rows in chunks several warps. Counts have no exponents here.
#pragma once

#include "graph/betweenness/cuda_search.cuh"

namespace spargo::detail::betweenness {

enum class dense_step { pull, back };

struct dense_task {
  int depth;
  unsigned alive = 0;   // lanes that a pull searches
  bool marks = false;   // a pull marks pairs with successors
  bool marked = false;  // backward: the pull has marked pairs,
  bool ends = false;    // or there is no level after this one
};

// What a thread tests along a row, for its lane.
struct lane_view {
  unsigned mask;
  unsigned wanted;
  unsigned code;  // pattern over all lanes. Pull: the two-bit code, repeated; back: the lanes' bits
};

template <dense_step Step>
__device__ __forceinline__ lane_view view_of(int depth, unsigned lanes) {
  const int lane = lane_id() % 4;
  const bool has = (lanes >> lane & 1) != 0;
  constexpr unsigned never = 0x100;
  if constexpr (Step == dense_step::pull) {
    return {3U << (2 * lane), has ? forward_code(depth) << (2 * lane) : never, forward_code(depth) * 0x55U};
  } else {
    return {done_bit(depth + 1, lane), has ? done_bit(depth + 1, lane) : never, 15U << (4 * ((depth + 1) & 1))};
  }
}

// Lanes, as some bits, in which a neighbour may count.
template <dense_step Step>
__device__ __forceinline__ unsigned matches(const lane_view& view, unsigned state) {
  if constexpr (Step == dense_step::back) return state & view.code;
  const unsigned differs = state ^ view.code;
  return ~(differs | differs >> 1) & 0x55U;
}

// Sums the terms of `size` edges for a thread's lane, over the thread's share of the row: every `width`-th index, one
// round ahead. A whole warp calls it; its teams may have different rows. Streaming loads spare the L1 cache.
template <dense_step Step, class I, class O>
__device__ __forceinline__ double gather_row(const search<I, O>& s, const dense_task& t, const I* row, int size,
                                             int rank, int width, const lane_view& view) {
  constexpr int rounds = cuda_tuning::dense_rounds;
  constexpr int together = 2;  // rounds whose terms are in flight together
  const double* const terms = Step == dense_step::pull ? s.numbers : s.quotients;
  const int thread = lane_id();
  const int leader = thread & ~3;
  double sum = 0;
  I neighbours[rounds];
#pragma unroll
  for (int q = 0; q < rounds; ++q) neighbours[q] = rank + q * width < size ? __ldcs(row + rank + q * width) : I{-1};
  for (int at = rank; __any_sync(full_mask, at < size);) {
    unsigned state[rounds];
#pragma unroll
    for (int q = 0; q < rounds; ++q) state[q] = neighbours[q] >= 0 ? s.states[neighbours[q]] : 0U;
    at += rounds * width;
    I next[rounds];
#pragma unroll
    for (int q = 0; q < rounds; ++q) next[q] = at + q * width < size ? __ldcs(row + at + q * width) : I{-1};
    unsigned any = 0;
#pragma unroll
    for (int q = 0; q < rounds; ++q) any |= matches<Step>(view, state[q]);
    if (__any_sync(full_mask, any != 0)) {
#pragma unroll
      for (int q = 0; q < rounds; q += together) {
        double term[4 * together];
#pragma unroll
        for (int k = 0; k < 4 * together; ++k) {
          const I neighbour = __shfl_sync(full_mask, neighbours[q + k / 4], leader + k % 4);
          const unsigned its = __shfl_sync(full_mask, state[q + k / 4], leader + k % 4);
          const entry_of<I> place = pair_of<I>(neighbour, thread % 4);
          const bool counts = (its & view.mask) == view.wanted;
          term[k] = counts ? terms[place] : 0;
          if (Step == dense_step::pull && t.marks && counts) s.levels[place] = t.depth | has_successor;
        }
#pragma unroll
        for (int k = 0; k < 4 * together; ++k) sum += term[k];
      }
    }
#pragma unroll
    for (int q = 0; q < rounds; ++q) neighbours[q] = next[q];
  }
  return sum;
}

// Adds the sums of a warp's teams that shared one row.
__device__ __forceinline__ double sum_of_teams(double sum) {
#pragma unroll
  for (int step = 4; step < warp_size; step *= 2) sum += shuffle_xor(sum, step);
  return sum;
}

// Stores a row's sums, one per thread of a team with `writes`; a whole warp calls it.
template <dense_step Step, class I, class O>
__device__ __forceinline__ void finish_row(const search<I, O>& s, int depth, std::int64_t v, unsigned lanes, double sum,
                                           bool writes, thread_tally& tally) {
  const int lane = lane_id() % 4;
  const std::int64_t place = v * 4 + lane;
  const bool mine = writes && (lanes >> lane & 1) != 0;
  if constexpr (Step == dense_step::pull) {
    const bool found = mine && sum > 0;
    const unsigned set = __ballot_sync(full_mask, found) >> (lane_id() & ~3) & 15;
    if (found) {
      s.numbers[place] = sum;
      s.levels[place] = depth + 1;
      ++tally.found;
      tally.largest = sum > tally.largest ? sum : tally.largest;
    }
    if (!writes || lane != 0) return;
    if (set != 0) {
      const unsigned spread = (set & 1) | (set & 2) << 1 | (set & 4) << 2 | (set & 8) << 3;
      s.states[v] = static_cast<unsigned char>(s.states[v] | spread * forward_code(depth + 1));
      const auto pairs = static_cast<unsigned>(__popc(set));
      tally.pairs += pairs;
      tally.edges += pairs * static_cast<count64>(s.out.offsets[v + 1] - s.out.offsets[v]);
    }
    if (set != lanes) tally.open += static_cast<count64>(s.in.offsets[v + 1] - s.in.offsets[v]);
  } else {
    if (mine) {
      const double number = s.numbers[place];
      const double dependency = number * sum;
      s.quotients[place] = (1 + dependency) / number;
      s.dependencies[place] = dependency + s.own;
    }
    if (writes && lane == 0) {
      s.states[v] = static_cast<unsigned char>(s.states[v] | lanes << (4 * (depth & 1)));
    }
  }
}

// The lanes of a vertex that a step handles, and those whose rows it has to read.
struct lane_sets {
  unsigned all;
  unsigned traversed;
};
template <dense_step Step, class I, class O>
__device__ __forceinline__ lane_sets lanes_of(const search<I, O>& s, const dense_task& t, std::int64_t v) {
  if constexpr (Step == dense_step::back) {
    const unsigned here = lanes_at(s.levels, v, t.depth);
    if (t.ends) return {here, 0};
    if (!t.marked) return {here, here};
    const unsigned leading = lanes_at(s.levels, v, t.depth | has_successor);
    return {here | leading, leading};
  } else {
    const unsigned state = s.states[v];
    const unsigned found = (state | state >> 1) & 0x55U;
    const unsigned open = ~((found & 1) | (found >> 1 & 2) | (found >> 2 & 4) | (found >> 3 & 8)) & t.alive;
    return {open, open};
  }
}

// Finds a row's terms by gathering states. `width` threads share the row: 4 or a warp.
template <dense_step Step, class I, class O>
struct terms_by_states {
  const search<I, O>& s;
  const dense_task& t;

  // Sum of the row for the calling thread's lane; a whole warp calls it.
  __device__ __forceinline__ double operator()(const I* row, int size, int width, unsigned lanes) const {
    const lane_view view = view_of<Step>(t.depth, lanes);
    const double sum = gather_row<Step>(s, t, row, size, lane_id() & (width - 1), width, view);
    return width == warp_size ? sum_of_teams(sum) : sum;
  }
};

// One warp sums a chunk of a vertex for these lanes.
template <dense_step Step, class Terms, class I, class O>
__device__ __forceinline__ void gather_chunk(const search<I, O>& s, const edge_set<I, O>& rows, const dense_task& t,
                                             const Terms& terms, std::int64_t place, const edge_chunk<I>& chunk,
                                             unsigned lanes, thread_tally& tally) {
  constexpr int size = cuda_tuning::chunk;
  const int thread = lane_id();
  const std::int64_t v = chunk.vertex;
  const O begin = rows.offsets[v];
  const O end = rows.offsets[v + 1];
  const O first = chunk.first(begin, size);
  const auto edges = static_cast<int>(min(static_cast<O>(size), end - first));
  const double sum = terms(rows.indices + first, edges, warp_size, lanes);
  if (thread < 4) s.partial[place * 4 + thread] = sum;
  const std::int64_t first_place = place - chunk.number;
  const auto all = static_cast<int>((end - begin + size - 1) / size);
  if (!is_last_of(s.arrived + first_place * 4, static_cast<unsigned>(all))) return;
  double parts = 0;
  for (int p = thread / 4; p < all; p += warp_size / 4) parts += __ldcg(s.partial + (first_place + p) * 4 + thread % 4);
  finish_row<Step>(s, t.depth, v, lanes, sum_of_teams(parts), thread < 4, tally);
}

// A warp processes the rows of up to 32 adjacent vertices that are not in chunks; teams share them.
template <dense_step Step, class Terms, class I, class O>
__device__ __forceinline__ void gather_rows(const search<I, O>& s, const edge_set<I, O>& rows, const dense_task& t,
                                            const Terms& terms, std::int64_t base, std::int64_t end,
                                            thread_tally& tally) {
  __shared__ unsigned char owners[cuda_tuning::hot_block];
  unsigned char* const of_warp = owners + threadIdx.x / warp_size * warp_size;
  const int thread = lane_id();
  const std::int64_t v = base + thread;
  lane_sets lanes{};
  if (v < end) lanes = lanes_of<Step>(s, t, v);
  O first = 0;
  O degree = 0;
  if (lanes.traversed != 0) {
    first = rows.offsets[v];
    degree = rows.offsets[v + 1] - first;
  }
  const bool here = lanes.all != 0 && degree <= cuda_tuning::chunk && (Step == dense_step::back || degree > 0);
  unsigned longs = __ballot_sync(full_mask, here && degree > cuda_tuning::team_edges);
  const unsigned shorts = __ballot_sync(full_mask, here && degree <= cuda_tuning::team_edges);
  const int count = __popc(shorts);
  if ((shorts >> thread & 1) != 0) of_warp[__popc(shorts & ((1U << thread) - 1))] = static_cast<unsigned char>(thread);
  __syncwarp();
  for (int done = 0; done < count || longs != 0;) {
    const bool by_teams = done < count;
    const int at = done + thread / 4;
    const bool mine = !by_teams || at < count;
    int owner = 0;
    if (by_teams) {
      owner = mine ? of_warp[at] : 0;
      done += warp_size / 4;
    } else {
      owner = __ffs(static_cast<int>(longs)) - 1;
      longs &= longs - 1;
    }
    const O from = __shfl_sync(full_mask, first, owner);
    const auto edges = static_cast<int>(__shfl_sync(full_mask, degree, owner));
    const unsigned shared_lanes = __shfl_sync(full_mask, lanes.all, owner);
    const unsigned its_lanes = mine ? shared_lanes : 0;
    const int width = by_teams ? 4 : warp_size;
    const double sum = terms(rows.indices + from, mine ? edges : 0, width, its_lanes);
    finish_row<Step>(s, t.depth, base + owner, its_lanes, sum, mine && (by_teams || thread < 4), tally);
  }
  __syncwarp();
}

template <class I, class O>
std::int64_t dense_chunk_blocks(const edge_set<I, O>& rows, const dense_task& t) {
  return t.ends ? 0 : div_up(rows.chunk_count, std::int64_t{cuda_tuning::dense_block / warp_size});
}
template <class I, class O>
std::int64_t dense_row_blocks(const search<I, O>& s) {
  return div_up(s.n, std::int64_t{cuda_tuning::dense_block} * cuda_tuning::groups);
}

// The first `chunk_blocks` blocks process a chunk per warp, the others rows.
template <dense_step Step, class I, class O>
__global__ void __launch_bounds__(cuda_tuning::dense_block,
                                  resident_blocks(cuda_tuning::dense_blocks, cuda_tuning::dense_block))
    dense_kernel(const __grid_constant__ search<I, O> s, const dense_task t, const unsigned chunk_blocks) {
  constexpr int warps = cuda_tuning::dense_block / warp_size;
  const edge_set<I, O>& rows = Step == dense_step::pull ? s.in : s.out;
  const auto warp = static_cast<std::int64_t>(threadIdx.x) / warp_size;
  const terms_by_states<Step, I, O> terms{s, t};
  thread_tally tally;
  if (blockIdx.x < chunk_blocks) {
    const std::int64_t place = std::int64_t{blockIdx.x} * warps + warp;
    if (place < rows.chunk_count) {
      const edge_chunk<I> chunk = rows.chunks[place];
      const lane_sets lanes = lanes_of<Step>(s, t, chunk.vertex);
      if (lanes.traversed != 0) gather_chunk<Step>(s, rows, t, terms, place, chunk, lanes.all, tally);
    }
  } else {
    // Far apart, since adjacent rows may have similar lengths.
    const std::int64_t row_warps = std::int64_t{gridDim.x - chunk_blocks} * warps;
    std::int64_t group = std::int64_t{blockIdx.x - chunk_blocks} * warps + warp;
    for (int k = 0; k < cuda_tuning::groups; ++k, group += row_warps) {
      gather_rows<Step>(s, rows, t, terms, group * warp_size, s.n, tally);
    }
  }
  if constexpr (Step == dense_step::pull) add_tally(s.control->found.filled(0), tally);
}

}  // namespace spargo::detail::betweenness
