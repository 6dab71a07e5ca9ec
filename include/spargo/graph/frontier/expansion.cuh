// What the expansions of a frontier on the device have in common: vertices are claimed by a bit, the lanes of a warp
// share their edges evenly, and vertices with very many edges, hubs, are cut into chunks for several warps. Merrill,
// Garland, Grimshaw, PPoPP 2012.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace spargo::detail {

// True for the one caller that sets v's bit. It looks before it asks: most bits are set when a search meets them.
__device__ __forceinline__ bool claim_bit(unsigned* bits, std::int64_t v) {
  const unsigned bit = 1U << (v & 31);
  unsigned* const word = bits + (v >> 5);
  if ((__ldcg(word) & bit) != 0) return false;
  return (atomicOr(word, bit) & bit) == 0;
}

// Lanes have one range each, one behind the other, and `end` is where the calling lane's ends: the lane that has k, or
// the last one where k is behind them all. All lanes of the warp call it.
template <class T>
__device__ __forceinline__ int owner_of(T end, T k) {
  int owner = 0;  // the number of lanes whose ranges end at or before k
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    if (__shfl_sync(0xffffffffU, end, owner + step - 1) <= k) owner += step;
  }
  return owner;
}

// Chunk `number` of the edges of `vertex`: of so many edges each, but for the last.
template <class I>
struct edge_chunk {
  I vertex;
  I number;

  // Its first edge: those of the vertex begin at `begin`, and a chunk has `size` of them.
  template <class O>
  [[nodiscard]] __device__ __forceinline__ O first(O begin, int size) const {
    return begin + static_cast<O>(number) * size;
  }
};

}  // namespace spargo::detail
