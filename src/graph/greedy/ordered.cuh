// Decides vertices in order on a device: warps take the next ranks from counters and wait for what they need.
//
// Ranks form batches of 32, the first `singles` ranks one each; blocks may take the first of these. Warp w of a block
// takes every 8th batch, from a counter that it shares with the warps w of other blocks: one address of all warps would
// take longer than small graphs do. Those that a warp waits for are of lower rank. Of all batches with undecided
// vertices the first is held by a warp, or the warps that share its counter hold decided ones and take it next, and its
// vertex of the lowest rank waits for none. So waiting is safe, however many blocks are resident. Lanes decide short
// rows alone, the warp decides a long row together, after the lanes below it. A decision is one word that says all, so
// no fence is needed.
#pragma once

#include "core/device/warp.cuh"
#include "graph/greedy/order.hpp"

#include <cstdint>

namespace spargo::detail::greedy {

// The rows of a vertex's neighbours; those of an absent side are null.
template <class I, class O>
struct neighbour_rows {
  const O* offsets[2];
  const I* indices[2];

  [[nodiscard]] __device__ std::int64_t degree(std::int64_t v) const {
    std::int64_t sum = 0;
    for (const O* const side : offsets) {
      if (side != nullptr) sum += static_cast<std::int64_t>(side[v + 1]) - static_cast<std::int64_t>(side[v]);
    }
    return sum;
  }
  // f(u) for each neighbour, by one thread.
  template <class F>
  __device__ __forceinline__ void for_each(std::int64_t v, const F& f) const {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (offsets[side] == nullptr) continue;
      const O last = offsets[side][v + 1];
      for (O e = offsets[side][v]; e < last; ++e) f(indices[side][e]);
    }
  }
  // The same by `threads` threads, of which this is number `thread`, Unroll neighbours each at once:
  // f(const I (&u)[Unroll]); -1: none. All threads call f as often.
  template <int Unroll, class F>
  __device__ __forceinline__ void for_each_by(int thread, int threads, std::int64_t v, const F& f) const {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (offsets[side] == nullptr) continue;
      const auto last = static_cast<std::int64_t>(offsets[side][v + 1]);
      for (auto e = static_cast<std::int64_t>(offsets[side][v]); e < last; e += Unroll * threads) {
        I u[Unroll];
#pragma unroll
        for (int q = 0; q < Unroll; ++q) {
          const std::int64_t at = e + q * threads + thread;
          u[q] = at < last ? indices[side][at] : I{-1};
        }
        f(u);
      }
    }
  }
  // By a warp: a neighbour u with is(u), one of the first; -1: none. All lanes get it.
  template <class Is>
  [[nodiscard]] __device__ __forceinline__ I find_by_warp(std::int64_t v, const Is& is) const {
    for (int side = 0; side < 2; ++side) {
      if (offsets[side] == nullptr) continue;
      const auto last = static_cast<std::int64_t>(offsets[side][v + 1]);
      for (auto e = static_cast<std::int64_t>(offsets[side][v]); e < last; e += warp_size) {
        const I u = e + lane_id() < last ? indices[side][e + lane_id()] : I{-1};
        const unsigned lanes = __ballot_sync(full_mask, u >= 0 && is(u));
        if (lanes != 0) return shuffle(u, __ffs(static_cast<int>(lanes)) - 1);
      }
    }
    return I{-1};
  }
  template <int Unroll, class F>
  __device__ __forceinline__ void for_each_by_warp(std::int64_t v, const F& f) const {
    for_each_by<Unroll>(lane_id(), warp_size, v, f);
  }
};

template <class I, class O>
[[nodiscard]] neighbour_rows<I, O> rows_of(const graph_view<I, O, device>& g) {
  neighbour_rows<I, O> rows{};
  const auto sides = sides_of(g);
  for (int side = 0; side < 2; ++side) {
    if (sides[side].offsets.empty()) continue;
    rows.offsets[side] = sides[side].offsets.data();
    rows.indices[side] = sides[side].indices.data();
  }
  return rows;
}

// Read and written while other warps do the same, past the L1 cache.
template <class T>
[[nodiscard]] __device__ __forceinline__ T load_state(const T* state) {
  return *static_cast<const volatile T*>(state);
}
template <class T>
__device__ __forceinline__ void store_state(T* state, T value) {
  *static_cast<volatile T*>(state) = value;
}

// Of warps by their number in the block, and of blocks. All start at 0.
inline constexpr int counters = 8;
struct rank_counters {
  struct alignas(128) line {
    count64 next;
  };
  line warps[counters];
  line blocks;
};

template <class I>
struct vertex_sequence {
  const I* order;
  const I* rank;
  std::int64_t size;
  std::int64_t giants;   // ranks that blocks take, if the algorithm has a function for them
  std::int64_t singles;  // ranks that warps take one by one, the giants among them
  rank_counters* taken;
};

// The first `giants` ranks by blocks, one by one: decide.by_block(v, rank), by all threads.
template <class I, class Decide>
__device__ void decide_giants(const vertex_sequence<I>& s, Decide& decide) {
  __shared__ count64 taken;
  if (s.giants == 0) return;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(&s.taken->blocks.next, 1);
    __syncthreads();
    const auto rank = static_cast<std::int64_t>(taken);
    if (rank >= s.giants) return;
    decide.by_block(s.order[rank], static_cast<I>(rank));
  }
}

// decide.is_short(v); decide.alone(v, rank), by a lane: false, it has to wait; decide.together(v, rank), by the warp.
// Optional: decide.assist(waits, v, rank), by the warp, whose lanes have vertices that may wait: true, it is decided.
template <class I, class Decide>
__device__ __forceinline__ void decide_in_order(const vertex_sequence<I>& s, Decide& decide) {
  const int lane = lane_id();
  const auto counter = static_cast<int>(threadIdx.x) / warp_size % counters;
  for (;;) {
    count64 taken = 0;
    if (lane == 0) taken = atomicAdd(&s.taken->warps[counter].next, 1);
    const std::int64_t claim = s.giants + static_cast<std::int64_t>(shuffle(taken, 0)) * counters + counter;
    const std::int64_t first = claim < s.singles ? claim : s.singles + (claim - s.singles) * warp_size;
    if (first >= s.size) return;
    const std::int64_t rank = first + lane;
    const bool here = claim < s.singles ? lane == 0 : rank < s.size;
    const I v = here ? s.order[rank] : I{0};
    const bool is_long = here && !decide.is_short(v);
    unsigned longs = __ballot_sync(full_mask, is_long);
    for (int below = 0;;) {
      const int stop = longs == 0 ? warp_size : __ffs(static_cast<int>(longs)) - 1;
      bool waits = here && lane >= below && lane < stop;
      while (__any_sync(full_mask, waits)) {
        if (waits) waits = !decide.alone(v, static_cast<I>(rank));
        if constexpr (requires { decide.assist(waits, v, I{}); }) {
          waits = !decide.assist(waits, v, static_cast<I>(rank)) && waits;
        }
      }
      if (longs == 0) break;
      decide.together(shuffle(v, stop), static_cast<I>(first + stop));
      longs &= longs - 1;
      below = stop + 1;
    }
  }
}

}  // namespace spargo::detail::greedy
