// A step over all vertices by a grid of resident blocks that keep the hot vertices' data in shared memory.
//
// With vertices sorted by degree, a table of the first vertices' states (four bits each) answers most look-ups; every
// other look-up and every term costs one L2 sector. If no count of the previous level exceeds 255, a pull reads one
// word per edge with all four lanes' counts (0 for other levels) and no states. A block's warps take work by tickets
// from the block's share, longest rows first. The tables are from before the step; its additions are never looked up.
#pragma once

#include "graph/betweenness/cuda_dense.cuh"

namespace spargo::detail::betweenness {

inline constexpr std::int64_t most_hot_vertices = std::int64_t{1} << 28;  // a word has a vertex and its four bits
inline constexpr double most_byte = 255;

extern __shared__ int4 hot_table[];

// For four states in the bytes of a word: the lanes that may count, four bits each.
template <dense_step Step>
__device__ __forceinline__ unsigned lanes_that_count(unsigned states, int depth) {
  if constexpr (Step == dense_step::back) return states >> (4 * ((depth + 1) & 1)) & 0x0f0f0f0fU;
  const unsigned differs = states ^ (forward_code(depth) * 0x55555555U);
  unsigned lanes = ~(differs | differs >> 1) & 0x55555555U;
  lanes = (lanes | lanes >> 1) & 0x33333333U;
  return (lanes | lanes >> 2) & 0x0f0f0f0fU;
}

// Fills the table for the first `hot` vertices, two per byte; a whole block calls it. hot % 4 == 0.
template <dense_step Step>
__device__ __forceinline__ void fill_lanes(const unsigned char* states, int depth, unsigned hot) {
  for (unsigned k = threadIdx.x; k < hot / 4; k += blockDim.x) {
    unsigned lanes = lanes_that_count<Step>(reinterpret_cast<const unsigned*>(states)[k], depth);
    lanes = (lanes | lanes >> 4) & 0x00ff00ffU;
    reinterpret_cast<unsigned short*>(hot_table)[k] = static_cast<unsigned short>(lanes | lanes >> 8);
  }
}

// Finds terms by the table's bits or by states. n <= most_hot_vertices.
template <dense_step Step, class I, class O>
struct terms_by_lanes {
  const search<I, O>& s;
  const dense_task& t;
  unsigned hot;

  __device__ __forceinline__ unsigned word_of(I neighbour) const {
    const auto v = static_cast<unsigned>(neighbour);
    const bool here = v < hot;
    unsigned two = 0;
    unsigned state = 0;
    if (here) two = reinterpret_cast<const unsigned char*>(hot_table)[v / 2];
    if (!here && neighbour >= 0) state = s.states[v];
    const unsigned lanes = here ? two >> (v % 2 * 4) : lanes_that_count<Step>(state, t.depth);
    return v << 4 | (lanes & 15U);
  }

  __device__ __forceinline__ double operator()(const I* row, int size, int width, unsigned lanes) const {
    constexpr int rounds = 2;
    const double* const terms = Step == dense_step::pull ? s.numbers : s.quotients;
    const int thread = lane_id();
    const int leader = thread & ~3;
    const auto lane = static_cast<unsigned>(thread) % 4;
    const unsigned mine = lanes & 1U << lane;
    double sum = 0;
    I neighbour[rounds];
    const int first = thread & (width - 1);
#pragma unroll
    for (int q = 0; q < rounds; ++q) neighbour[q] = first + q * width < size ? __ldcs(row + first + q * width) : I{-1};
    for (int at = first; __any_sync(full_mask, at < size);) {
      unsigned word[rounds];
#pragma unroll
      for (int q = 0; q < rounds; ++q) word[q] = word_of(neighbour[q]);
      at += rounds * width;
#pragma unroll
      for (int q = 0; q < rounds; ++q) neighbour[q] = at + q * width < size ? __ldcs(row + at + q * width) : I{-1};
      if (!__any_sync(full_mask, ((word[0] | word[1]) & 15U) != 0)) continue;
      double term[4 * rounds];
#pragma unroll
      for (int k = 0; k < 4 * rounds; ++k) {
        const unsigned its = __shfl_sync(full_mask, word[k / 4], leader + k % 4);
        const auto place = static_cast<entry_of<I>>(its >> 4) * 4 + lane;
        const bool counts = (its & mine) != 0;
        term[k] = counts ? terms[place] : 0;
        if (Step == dense_step::pull && t.marks && counts) s.levels[place] = t.depth | has_successor;
      }
#pragma unroll
      for (int k = 0; k < 4 * rounds; ++k) sum += term[k];
    }
    return width == warp_size ? sum_of_teams(sum) : sum;
  }
};

// Sums counts of at most 255 each. Rows have up to 2^24 edges here; longer ones are in chunks.
template <class I, class O>
struct terms_by_bytes {
  const search<I, O>& s;
  unsigned hot;

  __device__ __forceinline__ double operator()(const I* row, int size, int width, unsigned) const {
    constexpr int rounds = 4;
    const int first = lane_id() & (width - 1);
    unsigned sums[4] = {};
    I neighbour[rounds];
#pragma unroll
    for (int q = 0; q < rounds; ++q) neighbour[q] = first + q * width < size ? __ldcs(row + first + q * width) : I{-1};
    for (int at = first; at < size;) {
      unsigned word[rounds];
#pragma unroll
      for (int q = 0; q < rounds; ++q) {
        const auto v = static_cast<unsigned>(neighbour[q]);
        const bool here = v < hot;
        word[q] = 0;
        if (here) word[q] = reinterpret_cast<const unsigned*>(hot_table)[v];
        if (!here && neighbour[q] >= 0) word[q] = s.bytes[v];
      }
      at += rounds * width;
#pragma unroll
      for (int q = 0; q < rounds; ++q) neighbour[q] = at + q * width < size ? __ldcs(row + at + q * width) : I{-1};
#pragma unroll
      for (int q = 0; q < rounds; ++q) {
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[k] += word[q] >> (8 * k) & 255U;
      }
    }
    __syncwarp();
    for (int step = 1; step < width; step *= 2) {
#pragma unroll
      for (int k = 0; k < 4; ++k) sums[k] += shuffle_xor(sums[k], step);
    }
    const int lane = lane_id() % 4;
    const unsigned low = lane % 2 == 0 ? sums[0] : sums[1];
    const unsigned high = lane % 2 == 0 ? sums[2] : sums[3];
    return lane < 2 ? low : high;
  }
};

// Counts of a level as bytes. Other levels with the same code are not adjacent to any pair still to be found.
template <class I, class O>
__global__ void __launch_bounds__(256) bytes_kernel(const __grid_constant__ search<I, O> s, const int depth) {
  const std::int64_t v = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (v >= s.n) return;
  const unsigned lanes = lanes_that_count<dense_step::pull>(s.states[v], depth) & 15U;
  unsigned word = 0;
  if (lanes != 0) {
    const double2* const four = reinterpret_cast<const double2*>(s.numbers) + 2 * v;
    const double2 low = four[0];
    const double2 high = four[1];
    const double numbers[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if ((lanes >> k & 1) != 0) word |= static_cast<unsigned>(fmin(numbers[k], most_byte)) << (8 * k);
    }
  }
  s.bytes[v] = word;
}

// Bytes: use terms_by_bytes. hot: vertices in the table.
template <dense_step Step, bool Bytes, class I, class O>
__global__ void __launch_bounds__(cuda_tuning::hot_block, 1)
    hot_kernel(const __grid_constant__ search<I, O> s, const dense_task t, const unsigned hot) {
  __shared__ unsigned tickets;
  if (threadIdx.x == 0) tickets = 0;
  if constexpr (Bytes) {
    for (unsigned k = threadIdx.x; k < hot; k += blockDim.x) reinterpret_cast<unsigned*>(hot_table)[k] = s.bytes[k];
  } else {
    fill_lanes<Step>(s.states, t.depth, hot);
  }
  __syncthreads();
  const auto terms = [&] {
    if constexpr (Bytes) {
      return terms_by_bytes<I, O>{s, hot};
    } else {
      return terms_by_lanes<Step, I, O>{s, t, hot};
    }
  }();
  constexpr int at_once = cuda_tuning::hot_chunks;
  constexpr int fine_rows = cuda_tuning::fine_rows;
  const edge_set<I, O>& rows = Step == dense_step::pull ? s.in : s.out;
  const std::int64_t chunk_items = t.ends ? 0 : (rows.chunk_count + at_once - 1) / at_once;
  const std::int64_t fine_items = s.n / cuda_tuning::fine_share / fine_rows;
  const std::int64_t fine_end = fine_items * fine_rows;
  const std::int64_t items = chunk_items + fine_items + (s.n - fine_end + warp_size - 1) / warp_size;
  const int thread = lane_id();
  thread_tally tally;
  for (;;) {
    unsigned ticket = 0;
    if (thread == 0) ticket = atomicAdd(&tickets, 1U);
    std::int64_t item = std::int64_t{__shfl_sync(full_mask, ticket, 0)} * gridDim.x + blockIdx.x;
    if (item >= items) break;
    if (item < chunk_items) {
      const std::int64_t first = item * at_once;
      edge_chunk<I> mine{};
      lane_sets lanes{};
      if (thread < at_once && first + thread < rows.chunk_count) {
        mine = rows.chunks[first + thread];
        lanes = lanes_of<Step>(s, t, mine.vertex);
      }
      for (unsigned rest = __ballot_sync(full_mask, lanes.traversed != 0); rest != 0; rest &= rest - 1) {
        const int owner = __ffs(static_cast<int>(rest)) - 1;
        const edge_chunk<I> chunk{__shfl_sync(full_mask, mine.vertex, owner),
                                  __shfl_sync(full_mask, mine.number, owner)};
        gather_chunk<Step>(s, rows, t, terms, first + owner, chunk, __shfl_sync(full_mask, lanes.all, owner), tally);
      }
      continue;
    }
    item -= chunk_items;
    const bool fine = item < fine_items;
    const std::int64_t base = fine ? item * fine_rows : fine_end + (item - fine_items) * warp_size;
    const std::int64_t end = min(base + (fine ? fine_rows : warp_size), s.n);
    gather_rows<Step>(s, rows, t, terms, base, end, tally);
  }
  if constexpr (Step == dense_step::pull) add_tally(s.control->found.filled(0), tally);
}

}  // namespace spargo::detail::betweenness
