// Shared by device frontier expansions: bits claim vertices, a warp's lanes share their edges evenly, discoveries are
// appended in batches with one atomic, hubs are split into chunks. Merrill, Garland, Grimshaw, PPoPP 2012.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace spargo::detail {

// True for the one caller that sets v's bit. Loads before the atomic, since most bits are already set.
__device__ __forceinline__ bool claim_bit(unsigned* bits, std::int64_t v) {
  const unsigned bit = 1U << (v & 31);
  unsigned* const word = bits + (v >> 5);
  if ((__ldcg(word) & bit) != 0) return false;
  return (atomicOr(word, bit) & bit) == 0;
}

// Lanes own consecutive ranges; `end` is the end of the calling lane's. Returns the lane that owns k, or the last lane
// if k is past all ranges. All lanes of the warp call it.
template <class T>
__device__ __forceinline__ int owner_of(T end, T k) {
  int owner = 0;  // number of lanes whose ranges end at or before k
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    if (__shfl_sync(0xffffffffU, end, owner + step - 1) <= k) owner += step;
  }
  return owner;
}

// The packed edges of a warp's lanes: each lane has `degree` edges from `begin`, all lanes `total`; edge k of the
// concatenation belongs to lane owner(k). `last` is the inclusive prefix sum of the degrees.
template <class O>
struct packed_edges {
  int last;
  int total;
  O shift;  // edge k of the concatenation is edge shift + k of the graph

  __device__ __forceinline__ packed_edges(O begin, int degree, int inclusive_sum)
      : last(inclusive_sum),
        total(__shfl_sync(0xffffffffU, inclusive_sum, 31)),
        shift(begin - static_cast<O>(inclusive_sum - degree)) {}

  // All lanes of the warp call these.
  [[nodiscard]] __device__ __forceinline__ int owner(int k) const { return owner_of(last, k); }
  [[nodiscard]] __device__ __forceinline__ O first(int owner) const { return __shfl_sync(0xffffffffU, shift, owner); }
};

// Reserves one slot at a list's end for each lane in `lanes` (a ballot), with one atomic; other lanes' results are
// meaningless. All lanes of the warp call it.
template <class Count>
__device__ __forceinline__ Count place_by_warp(Count* end, unsigned lanes, int lane) {
  Count first = 0;
  if (lane == 0 && lanes != 0) first = atomicAdd(end, static_cast<Count>(__popc(lanes)));
  return __shfl_sync(0xffffffffU, first, 0) + static_cast<Count>(__popc(lanes & ((1U << lane) - 1)));
}

// Appends the items of the lanes with `wanted`. All lanes of the warp call it.
template <class T, class Count>
__device__ __forceinline__ void append_by_warp(T* list, Count* end, T item, bool wanted, int lane) {
  const unsigned lanes = __ballot_sync(0xffffffffU, wanted);
  if (lanes == 0) return;
  const Count at = place_by_warp(end, lanes, lane);
  if (wanted) list[at] = item;
}

// A warp's staging buffer in front of a list: items wait in the warp's slots of shared memory, so that one atomic on
// the list's end serves many. All lanes of the warp call these.
template <class T>
struct staged_items {
  T* slots;
  int count = 0;  // uniform across the warp

  // Adds the items of the lanes with `here`; `lanes` is their ballot, not 0.
  __device__ __forceinline__ void add(unsigned lanes, bool here, const T& item, int lane) {
    if (here) slots[count + __popc(lanes & ((1U << lane) - 1))] = item;
    count += __popc(lanes);
  }
  // Calls store(k, item) for each item with its position k in the list.
  template <class Count, class Store>
  __device__ __forceinline__ void flush(Count* end, int lane, const Store& store) {
    if (count == 0) return;
    __syncwarp();
    Count first = 0;
    if (lane == 0) first = atomicAdd(end, static_cast<Count>(count));
    first = __shfl_sync(0xffffffffU, first, 0);
    for (int k = lane; k < count; k += 32) store(static_cast<std::int64_t>(first) + k, slots[k]);
    count = 0;
    __syncwarp();
  }
};

// Chunk `number` of the edges of `vertex`; all chunks but the last have the same size.
template <class I>
struct edge_chunk {
  I vertex;
  I number;

  // Its first edge; the vertex's edges begin at `begin`, and a chunk has `size` of them.
  template <class O>
  [[nodiscard]] __device__ __forceinline__ O first(O begin, int size) const {
    return begin + static_cast<O>(number) * size;
  }
};

}  // namespace spargo::detail
