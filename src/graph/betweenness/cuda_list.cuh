// A step over the pairs of a listed level on the device, run by the whole grid.
//
// A team of four threads takes a pair and shares the edges of its vertex, a warp those of a longer row; rows in chunks
// are processed by the warps that loop over all chunks. A step may do two things along a row: find the next level, and
// sum the counts of the previous level (backward: the quotients of the next one). The counts of a level are summed by
// the step after the one that finds it, so narrow levels cost one barrier each.
#pragma once

#include "graph/betweenness/cuda_search.cuh"

namespace spargo::detail::betweenness {

// A step's work along the rows of the pairs of one level.
template <class I>
struct list_task {
  int depth = 0;                            // level of the pairs
  bool marks = false;                       // finds the next level
  bool adds = false;                        // adds a pair's count to those of the next level
  entry_of<I>* to = nullptr;                // list of the next level
  count64* entries = nullptr;               // its length
  const double* from = nullptr;             // terms to sum; null: none
  const std::int32_t* exponents = nullptr;  // exponents of the terms; null: all 0
  bool wide = false;                        // the pairs' own counts have exponents
  bool backward = false;
  bool ends = false;  // there is no level after this one: sums are 0
};

// Sets up sums over the previous level's counts.
template <class I, class O>
__device__ __forceinline__ void sum_numbers(const search<I, O>& s, const position& at, list_task<I>& t) {
  t.depth = at.depth;
  t.from = s.numbers;
  t.exponents = at.depth > at.wide_from ? s.exponents : nullptr;
  t.wide = at.depth >= at.wide_from;
}

// Moves the position to the next level, which has been pushed or marked.
template <class I, class O>
__device__ __forceinline__ void next_level(const search<I, O>& s, position& at) {
  ++at.depth;
  at.open = fmax(0.0, at.open - at.edges / cuda_tuning::lanes);
  at.largest = fmin(at.largest * s.growth, most_paths);
  at.alive = (1U << s.source_count) - 1;
  if (at.wide_from == no_level && at.largest >= number_range::end) at.wide_from = at.depth;
}

// A lane, and the state bits for which an edge's term counts.
struct pair_view {
  int lane;
  unsigned mask;
  unsigned wanted;
};
template <class I>
__device__ __forceinline__ pair_view view_of(const list_task<I>& t, int lane) {
  if (t.backward) return {lane, done_bit(t.depth + 1, lane), done_bit(t.depth + 1, lane)};
  return {lane, 3U << (2 * lane), forward_code(t.depth + 2) << (2 * lane)};  // the code of depth - 1
}

// Tests one edge per thread for a pair of the next level; a whole warp calls it.
template <class I, class O>
__device__ __forceinline__ void mark_edge(const search<I, O>& s, const list_task<I>& t, I neighbour, unsigned state,
                                          int lane, double own, thread_tally& tally) {
  const unsigned code = state >> (2 * lane) & 3;
  const std::int64_t v = neighbour;
  const bool open = neighbour >= 0 && code == 0;
  bool first = false;
  if (open) {
    const O begin = s.out.offsets[v];
    const O end = s.out.offsets[v + 1];
    first = claim_pair(s.states, v, lane, forward_code(t.depth + 1));
    if (first) {
      ++tally.pairs;
      tally.edges += static_cast<count64>(end - begin);
      bool keeps = s.keeps_levels || end - begin > cuda_tuning::chunk;
      if (!s.mirrored) keeps = keeps || s.in.offsets[v + 1] - s.in.offsets[v] > cuda_tuning::chunk;
      if (keeps) s.levels[v * 4 + lane] = t.depth + 1;
    }
  }
  if (t.adds && neighbour >= 0 && (open || code == forward_code(t.depth + 1))) atomicAdd(s.numbers + v * 4 + lane, own);
  append_by_warp(t.to, t.entries, pair_of<I>(v, lane), first, lane_id());
}

// Processes `size` edges, every `width`-th by the calling thread; returns its part of the sum. A whole warp calls it;
// its threads may have different rows.
template <class I, class O>
__device__ __forceinline__ scaled_sum traverse_row(const search<I, O>& s, const list_task<I>& t, const I* row, int size,
                                                   int rank, int width, int lane, double own, thread_tally& tally) {
  const pair_view pair = view_of(t, lane);
  scaled_sum sum;
  for (int at = rank; __any_sync(full_mask, at < size); at += width) {
    const I neighbour = at < size ? row[at] : I{-1};
    const unsigned state = neighbour >= 0 ? __ldcg(s.states + neighbour) : 0U;
    const bool counts = t.from != nullptr && (state & pair.mask) == pair.wanted;
    const entry_of<I> place = pair_of<I>(neighbour, lane);
    const double term = counts ? t.from[place] : 0;  // in flight while the next level is searched
    const int exponent = counts && t.exponents != nullptr ? t.exponents[place] : 0;
    if (t.marks) mark_edge(s, t, neighbour, state, lane, own, tally);
    sum.add(term, t.backward ? -exponent : exponent);
  }
  return sum;
}

// Stores the count or dependency of a pair; called by one thread. own: backward, the pair's count.
template <class I, class O>
__device__ __forceinline__ void finish_pair(const search<I, O>& s, const list_task<I>& t, entry_of<I> pair,
                                            scaled_sum own, scaled_sum sum) {
  if (!t.backward) {
    if (sum.factor >= number_range::end) {
      sum.factor *= number_range::down;
      ++sum.exponent;
    }
    s.numbers[pair] = sum.factor;
    if (t.wide) s.exponents[pair] = sum.exponent;
    return;
  }
  // A successor's count, hence its exponent, is at least the pair's.
  const int up = sum.exponent + own.exponent;
  const double dependency = up == 0    ? own.factor * sum.factor
                            : up == -1 ? own.factor * (sum.factor * number_range::down)
                                       : 0;
  s.quotients[pair] = (1 + dependency) / own.factor;
  s.dependencies[pair] = dependency + s.own;
  const unsigned shift = static_cast<unsigned>(pair / 4 % 4) * 8;
  atomicOr(reinterpret_cast<unsigned*>(s.states) + pair / 16, done_bit(t.depth, static_cast<int>(pair % 4)) << shift);
}

template <class I, class O>
__device__ __forceinline__ scaled_sum own_number(const search<I, O>& s, const list_task<I>& t, entry_of<I> pair) {
  scaled_sum own;
  if (t.adds || t.backward) own.factor = s.numbers[pair];
  if (t.backward && t.wide) own.exponent = s.exponents[pair];
  return own;
}

// Processes the listed pairs [begin, end), except rows in chunks.
template <class I, class O>
__device__ __forceinline__ void run_entries(const search<I, O>& s, const grid_position& my, const list_task<I>& t,
                                            const edge_set<I, O>& rows, std::int64_t begin, std::int64_t end,
                                            thread_tally& tally) {
  constexpr int teams = warp_size / 4;
  const int thread = lane_id();
  for (std::int64_t base = begin + my.warp * teams; base < end; base += my.warps * teams) {
    const std::int64_t place = base + thread / 4;
    entry_of<I> entry = 0;
    O first = 0;
    O degree = 0;
    scaled_sum own;
    if (place < end) {
      entry = s.list[place];
      if (!t.ends) {
        first = rows.offsets[entry / 4];
        degree = rows.offsets[entry / 4 + 1] - first;
      }
      own = own_number(s, t, entry);
    }
    const bool here = place < end && degree <= cuda_tuning::chunk;
    const bool is_long = here && degree > cuda_tuning::team_edges;
    unsigned rest = __ballot_sync(full_mask, is_long && thread % 4 == 0);
    bool mine = here && !is_long;  // has the row being processed
    O from = first;
    int size = mine ? static_cast<int>(degree) : 0;
    entry_of<I> pair = entry;
    scaled_sum its_own = own;
    for (int width = 4;; width = warp_size) {
      const int rank = thread & (width - 1);
      scaled_sum sum =
          traverse_row(s, t, rows.indices + from, size, rank, width, static_cast<int>(pair % 4), its_own.factor, tally);
      if (t.from != nullptr) {
        sum = sum_of(sum, width);
        if (mine && rank == 0) finish_pair(s, t, pair, its_own, sum);
      }
      if (rest == 0) break;
      const int owner = __ffs(static_cast<int>(rest)) - 1;
      rest &= rest - 1;
      mine = true;
      from = __shfl_sync(full_mask, first, owner);
      size = static_cast<int>(__shfl_sync(full_mask, degree, owner));
      pair = __shfl_sync(full_mask, entry, owner);
      its_own = {__shfl_sync(full_mask, own.factor, owner), __shfl_sync(full_mask, own.exponent, owner)};
    }
  }
}

// Stores a chunk's part of a pair's sum. The warp that finishes a vertex last adds all parts, in order.
template <class I, class O>
__device__ __forceinline__ void add_part(const search<I, O>& s, const list_task<I>& t, entry_of<I> pair, scaled_sum own,
                                         std::int64_t chunk, std::int64_t first_chunk, std::int64_t all,
                                         scaled_sum sum) {
  const auto lane = static_cast<int>(pair % 4);
  sum = sum_of(sum, warp_size);
  if (lane_id() == 0) {
    s.partial[chunk * 4 + lane] = sum.factor;
    s.partial_exponents[chunk * 4 + lane] = sum.exponent;
  }
  if (!is_last_of(s.arrived + first_chunk * 4 + lane, static_cast<unsigned>(all))) return;
  scaled_sum parts;
  for (std::int64_t p = lane_id(); p < all; p += warp_size) {
    const std::int64_t place = (first_chunk + p) * 4 + lane;
    parts.add(__ldcg(s.partial + place), __ldcg(s.partial_exponents + place));
  }
  parts = sum_of(parts, warp_size);
  if (lane_id() == 0) finish_pair(s, t, pair, own, parts);
}

// Calls visit(chunk, v, lane) for all chunks of vertices v with pairs at a level; a whole warp calls it.
struct pair_chunk {
  std::int64_t place;
  std::int64_t number;  // index among the vertex's chunks
  std::int64_t all;
  std::int64_t first;  // edge
  int edges;
};
template <class I, class O, class Visit>
__device__ __forceinline__ void for_each_chunk(const search<I, O>& s, const grid_position& my,
                                               const edge_set<I, O>& rows, int depth, Visit visit) {
  constexpr int size = cuda_tuning::chunk;
  for (std::int64_t base = my.warp; base < rows.chunk_count; base += my.warps * warp_size) {
    const std::int64_t mine = base + lane_id() * my.warps;
    edge_chunk<I> chunk{};
    unsigned lanes = 0;
    if (mine < rows.chunk_count) {
      chunk = rows.chunks[mine];
      lanes = lanes_at(s.levels, chunk.vertex, depth);
    }
    for (unsigned rest = __ballot_sync(full_mask, lanes != 0); rest != 0; rest &= rest - 1) {
      const int owner = __ffs(static_cast<int>(rest)) - 1;
      const std::int64_t v = __shfl_sync(full_mask, chunk.vertex, owner);
      const std::int64_t number = __shfl_sync(full_mask, chunk.number, owner);
      const std::int64_t begin = rows.offsets[v];
      const std::int64_t end = rows.offsets[v + 1];
      const std::int64_t first = begin + number * size;
      const pair_chunk its{base + owner * my.warps, number, (end - begin + size - 1) / size, first,
                           static_cast<int>(min(std::int64_t{size}, end - first))};
      for (unsigned set = __shfl_sync(full_mask, lanes, owner); set != 0; set &= set - 1) {
        visit(its, v, __ffs(static_cast<int>(set)) - 1);
      }
    }
  }
}

template <class I, class O>
__device__ __forceinline__ void run_chunks(const search<I, O>& s, const grid_position& my, const list_task<I>& t,
                                           const edge_set<I, O>& rows, thread_tally& tally) {
  for_each_chunk(s, my, rows, t.depth, [&](const pair_chunk& chunk, std::int64_t v, int lane) {
    const entry_of<I> pair = pair_of<I>(v, lane);
    const scaled_sum own = own_number(s, t, pair);
    const scaled_sum sum =
        traverse_row(s, t, rows.indices + chunk.first, chunk.edges, lane_id(), warp_size, lane, own.factor, tally);
    if (t.from != nullptr) add_part(s, t, pair, own, chunk.place, chunk.place - chunk.number, chunk.all, sum);
  });
}

template <class I, class O>
__device__ __forceinline__ void run_list(const search<I, O>& s, const grid_position& my, const list_task<I>& t,
                                         const edge_set<I, O>& rows, std::int64_t begin, std::int64_t end,
                                         thread_tally& tally) {
  if (!t.ends) run_chunks(s, my, t, rows, tally);
  run_entries(s, my, t, rows, begin, end, tally);
}

template <class I, class O>
__device__ void list_level(const search<I, O>& s, const grid_position& my, int depth, entry_of<I>* to,
                           count64* entries) {
  for (std::int64_t base = my.warp * warp_size; base < s.n; base += my.warps * warp_size) {
    const std::int64_t v = base + lane_id();
    const unsigned lanes = v < s.n ? lanes_at(s.levels, v, depth) : 0;
    for (int lane = 0; lane < cuda_tuning::lanes; ++lane)
      append_by_warp(to, entries, pair_of<I>(v, lane), (lanes >> lane & 1) != 0, lane_id());
  }
}

}  // namespace spargo::detail::betweenness
