// Levels of the device multi-source search, buffered before they are written to the result.
//
// Writing levels as they are found would touch each row of the result (256 bytes for 64 sources) several times. Instead
// a level, counted from `base`, is stored in four bit planes with one word per 64 searches, so setting it updates one
// or two words. Every 15 levels, and at the end, the planes are flushed to the rows: a small-world search writes its
// result once, in whole rows. Invariant: planes are zero for searches that did not reach the vertex after `base`.
#pragma once

#include "graph/multi_bfs/cuda_search.cuh"

#include <type_traits>

namespace spargo::detail::multi_bfs {

// Records that new bits were found `depth` (1 to 15) levels after the last flush. Fire-and-forget atomics, since
// several warps may write a vertex (R-MAT 22, 64 sources: 1.52 ms in total instead of 1.65).
template <class I, class O, int W, class Sink>
__device__ void record_level(const search<I, O, W, Sink>& s, std::int64_t v, const search_words<W>& fresh, int depth) {
#pragma unroll
  for (int b = 0; b < cuda_tuning::planes; ++b) {
    if ((depth >> b & 1) == 0) continue;
    count64* const plane = s.planes + (b * s.n + v) * W;
#pragma unroll
    for (int i = 0; i < W; ++i) {
      if (fresh.w[i] != 0) atomicOr(plane + i, fresh.w[i]);
    }
  }
}

// Records new bits of vertex v: their level, or their share of the vertex's sum. `depth` as in record_level; of a sum
// it is the level itself, since nothing is flushed.
template <class I, class O, int W, class Sink>
__device__ void record_bits(const search<I, O, W, Sink>& s, std::int64_t v, const search_words<W>& fresh, int depth) {
  if constexpr (std::is_same_v<Sink, level_sink>) {
    if (s.planes != nullptr) record_level(s, v, fresh, depth);
  } else {
    int found_by = 0;
#pragma unroll
    for (int i = 0; i < W; ++i) found_by += __popcll(fresh.w[i]);
    // Several warps may find a vertex.
    atomicAdd(s.sums + v, static_cast<count64>(found_by * s.rule.weight(depth)));
    if (s.reached != nullptr) atomicAdd(s.reached + v, static_cast<count64>(found_by));
  }
}

// Loads and clears word k % W of vertex k / W in all planes, so that adjacent words map to adjacent groups of 64
// entries of the result. Returns the union.
template <class I, class O, int W, class Sink>
__device__ count64 empty_planes(const search<I, O, W, Sink>& s, std::int64_t k, int depth,
                                count64 (&plane)[cuda_tuning::planes]) {
  count64 known = 0;
#pragma unroll
  for (int b = 0; b < cuda_tuning::planes; ++b) {
    plane[b] = 0;
    if (k >= s.n * W || depth >> b == 0) continue;
    count64* const from = s.planes + b * s.n * W + k;
    plane[b] = *from;
    if (plane[b] != 0) *from = 0;
    known |= plane[b];
  }
  return known;
}

// Expands four adjacent bits of a word into four bytes.
__device__ inline unsigned four_bytes(count64 word, int bit) {
  return static_cast<unsigned>(word >> bit & 15) * 0x00204081U & 0x01010101U;
}

// First flush: writes every entry, 0 for reached without a level, -1 for unreached. A warp loads 32 words and writes
// the entries of two at a time, four per lane.
template <class I, class O, int W, class Sink>
__device__ void write_first_levels(const search<I, O, W, Sink>& s, const search_words<W>* seen, int depth,
                                   std::int64_t warp, std::int64_t warps) {
  constexpr int planes = cuda_tuning::planes;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const int bit = 4 * (lane % 16);
  const bool whole = s.stride % 4 == 0 && s.source_count % 4 == 0;  // rows consist of aligned groups of four
  for (std::int64_t base = warp * warp_size; base < s.n * W; base += warps * warp_size) {
    const std::int64_t k = base + lane;
    count64 plane[planes];
    empty_planes(s, k, depth, plane);
    const count64 has = k < s.n * W ? seen[k / W].w[k % W] : 0;
    for (int pair = 0; pair < warp_size; pair += 2) {
      const int owner = pair + lane / 16;
      unsigned bytes = (four_bytes(__shfl_sync(full_mask, has, owner), bit) ^ 0x01010101U) * 0xffU;
#pragma unroll
      for (int b = 0; b < planes; ++b) {
        if (depth >> b != 0) bytes |= four_bytes(__shfl_sync(full_mask, plane[b], owner), bit) << b;
      }
      const int source = static_cast<int>((base + owner) % W) * 64 + bit;
      if (base + owner >= s.n * W || source >= s.source_count) continue;
      std::int32_t* const to = s.levels + (base + owner) / W * s.stride + source;
      int4 four;
      four.x = static_cast<int>(bytes << 24) >> 24;
      four.y = static_cast<int>(bytes << 16) >> 24;
      four.z = static_cast<int>(bytes << 8) >> 24;
      four.w = static_cast<int>(bytes) >> 24;
      if (whole) {
        *reinterpret_cast<int4*>(to) =
            four;  // streaming stores (__stcs) are slower: 0.38 ms instead of 0.37, 64 sources
      } else {
        to[0] = four.x;
        if (source + 1 < s.source_count) to[1] = four.y;
        if (source + 2 < s.source_count) to[2] = four.z;
        if (source + 3 < s.source_count) to[3] = four.w;
      }
    }
  }
}

// Later flushes write only what was found since: `base_level` plus the 1 to 15 levels in the planes.
template <class I, class O, int W, class Sink>
__device__ void write_later_levels(const search<I, O, W, Sink>& s, std::int32_t base_level, int depth,
                                   std::int64_t warp, std::int64_t warps) {
  constexpr int planes = cuda_tuning::planes;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  for (std::int64_t base = warp * warp_size; base < s.n * W; base += warps * warp_size) {
    count64 plane[planes];
    const count64 known = empty_planes(s, base + lane, depth, plane);
    unsigned rest = __ballot_sync(full_mask, known != 0);
    for (; rest != 0; rest &= rest - 1) {
      const int owner = __ffs(static_cast<int>(rest)) - 1;
      std::int32_t* const row = s.levels + (base + owner) / W * s.stride + (base + owner) % W * 64;
      int low = 0;
      int high = 0;
#pragma unroll
      for (int b = 0; b < planes; ++b) {
        const count64 word = __shfl_sync(full_mask, plane[b], owner);
        low |= static_cast<int>(word >> lane & 1) << b;
        high |= static_cast<int>(word >> (lane + 32) & 1) << b;
      }
      if (low != 0) row[lane] = base_level + low;
      if (high != 0) row[lane + 32] = base_level + high;
    }
  }
}

// Flushes levels up to `depth` after `base` to the rows.
template <class I, class O, int W, class Sink>
__device__ void write_levels(const search<I, O, W, Sink>& s, const search_words<W>* seen, std::int32_t base, int depth,
                             std::int64_t warp, std::int64_t warps) {
  if (base == 0) {
    write_first_levels(s, seen, depth, warp, warps);
  } else {
    write_later_levels(s, base, depth, warp, warps);
  }
}

// Records one lane's vertex with all its new bits; `has` is its new set.
template <class I, class O, int W, class Sink>
__device__ void record_vertex(const search<I, O, W, Sink>& s, std::int64_t v, const search_words<W>& fresh,
                              const search_words<W>& has, int depth, thread_tally& tally) {
  ++tally.vertices;
  tally.edges += static_cast<count64>(out_degree(s, v));
  if (s.in_offsets != nullptr && same(has, s.full)) {
    tally.finished += static_cast<count64>(s.in_offsets[v + 1] - s.in_offsets[v]);
  }
  record_bits(s, v, fresh, depth);
}

}  // namespace spargo::detail::multi_bfs
