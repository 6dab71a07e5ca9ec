// A step over all vertices on the device, as a function of a whole grid: one that pulls a level, or goes back over one.
//
// All lanes share the row of a vertex. A team of four threads reads four indices and their states, and then looks at
// each of the four together, a thread for its lane: the four numbers of a neighbour are one sector. Longer rows have
// all teams of a warp, and rows that are cut into chunks several warps. Numbers here have no exponents.
#pragma once

#include "graph/betweenness/cuda_search.cuh"

namespace spargo::detail::betweenness {

enum class dense_step { pull, back };

struct dense_task {
  int depth;
  unsigned alive = 0;   // the lanes that a pull looks for
  bool marks = false;   // a pull: who leads on
  bool marked = false;  // on the way back: the pull behind has done so,
  bool ends = false;    // or no level is behind
};

// What a thread looks for along a row, for its lane.
struct lane_view {
  unsigned mask;
  unsigned wanted;
  unsigned any;  // bits of a state, one at least of which such a neighbour has
};

template <dense_step Step>
__device__ __forceinline__ lane_view view_of(int depth, unsigned lanes) {
  const int lane = lane_id() % 4;
  const bool has = (lanes >> lane & 1) != 0;
  constexpr unsigned never = 0x100;
  if constexpr (Step == dense_step::pull) {
    return {3U << (2 * lane), has ? forward_code(depth) << (2 * lane) : never, 0xffU};
  } else {
    return {done_bit(depth + 1, lane), has ? done_bit(depth + 1, lane) : never, 15U << (4 * ((depth + 1) & 1))};
  }
}

// The terms of the edges [first, last) for the calling thread's lane, of which its team has some; by a whole warp,
// whose teams may have different rows. A thread reads every `width`-th index.
template <dense_step Step, class I, class O>
__device__ __forceinline__ double gather_row(const search<I, O>& s, const dense_task& t, std::int64_t first,
                                             std::int64_t last, int rank, int width, const lane_view& view) {
  const I* const indices = Step == dense_step::pull ? s.in.indices : s.out.indices;
  const double* const terms = Step == dense_step::pull ? s.numbers : s.quotients;
  constexpr int rounds = cuda_tuning::dense_rounds;
  const int thread = lane_id();
  const int leader = thread & ~3;
  double sum = 0;
  for (std::int64_t at = first + rank; __any_sync(full_mask, at < last); at += rounds * width) {
    I near[rounds];
    unsigned state[rounds];
#pragma unroll
    for (int q = 0; q < rounds; ++q) near[q] = at + q * width < last ? indices[at + q * width] : I{-1};
#pragma unroll
    for (int q = 0; q < rounds; ++q) state[q] = near[q] >= 0 ? s.states[near[q]] : 0U;
#pragma unroll
    for (int q = 0; q < rounds; ++q) {
      if (!__any_sync(full_mask, (state[q] & view.any) != 0)) continue;
      double term[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const I neighbour = __shfl_sync(full_mask, near[q], leader + k);
        const unsigned its = __shfl_sync(full_mask, state[q], leader + k);
        const std::int64_t place = std::int64_t{neighbour} * 4 + thread % 4;
        const bool counts = (its & view.mask) == view.wanted;
        term[k] = counts ? terms[place] : 0;
        if (Step == dense_step::pull && t.marks && counts) s.levels[place] = t.depth | level_kind::leads_on;
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) sum += term[k];
    }
  }
  return sum;
}

// A whole warp's teams have summed up one row.
__device__ __forceinline__ double sum_of_teams(double sum) {
#pragma unroll
  for (int step = 4; step < warp_size; step *= 2) sum += shuffle_xor(sum, step);
  return sum;
}

// A row's sums are known, one in each thread of a team that `writes`; by a whole warp.
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
      const auto pairs = static_cast<count64>(__popc(set));
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

// The lanes of a vertex that a step is about, and those of them whose rows it has to look at.
struct lane_sets {
  unsigned all;
  unsigned walked;
};
template <dense_step Step, class I, class O>
__device__ __forceinline__ lane_sets lanes_of(const search<I, O>& s, const dense_task& t, std::int64_t v) {
  if constexpr (Step == dense_step::back) {
    const unsigned here = lanes_at(s.levels, v, t.depth);
    if (t.ends) return {here, 0};
    if (!t.marked) return {here, here};
    const unsigned leading = lanes_at(s.levels, v, t.depth | level_kind::leads_on);
    return {here | leading, leading};
  } else {
    const unsigned state = s.states[v];
    const unsigned found = (state | state >> 1) & 0x55U;
    const unsigned open = ~((found & 1) | (found >> 1 & 2) | (found >> 2 & 4) | (found >> 3 & 8)) & t.alive;
    return {open, open};
  }
}

// All chunks of vertices that a step is about.
template <dense_step Step, class I, class O>
__device__ __forceinline__ void gather_chunks(const search<I, O>& s, const walker& my, const edge_set<I, O>& rows,
                                              const dense_task& t, thread_tally& tally) {
  constexpr int size = cuda_tuning::chunk;
  const int thread = lane_id();
  for (std::int64_t base = my.warp; base < rows.chunk_count; base += my.warps * warp_size) {
    const std::int64_t mine = base + thread * my.warps;
    edge_chunk<I> chunk{};
    lane_sets lanes{};
    if (mine < rows.chunk_count) {
      chunk = rows.chunks[mine];
      lanes = lanes_of<Step>(s, t, std::int64_t{chunk.vertex});
    }
    for (unsigned rest = __ballot_sync(full_mask, lanes.walked != 0); rest != 0; rest &= rest - 1) {
      const int owner = __ffs(static_cast<int>(rest)) - 1;
      const std::int64_t v = __shfl_sync(full_mask, chunk.vertex, owner);
      const std::int64_t number = __shfl_sync(full_mask, chunk.number, owner);
      const unsigned its_lanes = __shfl_sync(full_mask, lanes.all, owner);
      const std::int64_t place = base + owner * my.warps;
      const std::int64_t begin = rows.offsets[v];
      const std::int64_t end = rows.offsets[v + 1];
      const std::int64_t first = begin + number * size;
      const double sum = sum_of_teams(
          gather_row<Step>(s, t, first, min(end, first + size), thread, warp_size, view_of<Step>(t.depth, its_lanes)));
      if (thread < 4) s.partial[place * 4 + thread] = sum;
      const std::int64_t all = (end - begin + size - 1) / size;
      if (!is_last_of(s.arrived + (place - number) * 4, static_cast<unsigned>(all))) continue;
      double parts = 0;
      for (std::int64_t p = thread / 4; p < all; p += warp_size / 4) {
        parts += __ldcg(s.partial + (place - number + p) * 4 + thread % 4);
      }
      finish_row<Step>(s, t.depth, v, its_lanes, sum_of_teams(parts), thread < 4, tally);
    }
  }
}

// All others. A warp looks at 32 neighbouring vertices, and its teams take those that the step is about.
template <dense_step Step, class I, class O>
__device__ __forceinline__ void gather_rows(const search<I, O>& s, const walker& my, const edge_set<I, O>& rows,
                                            const dense_task& t, thread_tally& tally) {
  __shared__ unsigned char owners[cuda_tuning::block];
  unsigned char* const of_warp = owners + threadIdx.x / warp_size * warp_size;
  const int thread = lane_id();
  for (std::int64_t base = my.warp * warp_size; base < s.n; base += my.warps * warp_size) {
    const std::int64_t v = base + thread;
    lane_sets lanes{};
    if (v < s.n) lanes = lanes_of<Step>(s, t, v);
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (lanes.walked != 0) {
      first = rows.offsets[v];
      last = rows.offsets[v + 1];
    }
    const std::int64_t degree = last - first;
    const bool here = lanes.all != 0 && degree <= cuda_tuning::chunk && (Step == dense_step::back || degree > 0);
    unsigned longs = __ballot_sync(full_mask, here && degree > cuda_tuning::team_edges);
    const unsigned shorts = __ballot_sync(full_mask, here && degree <= cuda_tuning::team_edges);
    const int count = __popc(shorts);
    if ((shorts >> thread & 1) != 0)
      of_warp[__popc(shorts & ((1U << thread) - 1))] = static_cast<unsigned char>(thread);
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
      const std::int64_t from = __shfl_sync(full_mask, first, owner);
      const std::int64_t past = __shfl_sync(full_mask, last, owner);
      const unsigned shared_lanes = __shfl_sync(full_mask, lanes.all, owner);
      const unsigned its_lanes = mine ? shared_lanes : 0;
      const int width = by_teams ? 4 : warp_size;
      double sum = gather_row<Step>(s, t, from, mine ? past : from, thread & (width - 1), width,
                                    view_of<Step>(t.depth, its_lanes));
      if (!by_teams) sum = sum_of_teams(sum);
      finish_row<Step>(s, t.depth, base + owner, its_lanes, sum, mine && (by_teams || thread < 4), tally);
    }
    __syncwarp();
  }
}

template <dense_step Step, class I, class O>
__device__ __forceinline__ void run_dense(const search<I, O>& s, const walker& my, const dense_task& t,
                                          thread_tally& tally) {
  const edge_set<I, O>& rows = Step == dense_step::pull ? s.in : s.out;
  if (!t.ends) gather_chunks<Step>(s, my, rows, t, tally);
  gather_rows<Step>(s, my, rows, t, tally);
}

}  // namespace spargo::detail::betweenness
