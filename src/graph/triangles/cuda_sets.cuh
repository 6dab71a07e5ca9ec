// Sets of ranks in shared memory: a bitmap of ranks below a limit, or a hash table that is at most half full.
//
// Both are empty when all words are zero. find: 0 if absent; 1 if present, plus 2 if its entry is marked mutual.
#pragma once

#include "graph/triangles/cuda_orient.cuh"

namespace spargo::detail::triangles {

template <bool Links>
struct bit_set {
  unsigned* words;
  unsigned* mutual;  // for links

  __device__ __forceinline__ void insert(rank_t entry) const {
    const rank_t w = rank_of<Links>(entry);
    atomicOr(words + w / 32, 1U << w % 32);
    if (Links && is_mutual(entry) != 0) atomicOr(mutual + w / 32, 1U << w % 32);
  }
  // Clears the rank's whole word; once all inserted ranks are erased, the set is empty.
  __device__ __forceinline__ void erase(rank_t entry) const {
    const rank_t w = rank_of<Links>(entry);
    words[w / 32] = 0;
    if (Links) mutual[w / 32] = 0;
  }
  [[nodiscard]] __device__ __forceinline__ unsigned find(rank_t w) const {
    const unsigned found = __funnelshift_r(words[w / 32], 0, w) & 1;
    if (!Links) return found;
    return found | (__funnelshift_r(mutual[w / 32], 0, w) & 1) << 1;
  }
};

// A slot holds a rank plus 1 and the mutual bit. Linear probing; 2^(32 - shift) slots.
template <bool Links>
struct hash_set {
  rank_t* slots;
  int shift;

  // For this many entries, at least 1 and at most 2^30.
  __device__ __forceinline__ static int shift_for(std::int64_t entries) {
    const int bits = 64 - __clzll(2 * entries - 1);
    return 32 - (bits < 5 ? 5 : bits);
  }
  [[nodiscard]] __device__ __forceinline__ unsigned size() const { return 1U << (32 - shift); }
  [[nodiscard]] __device__ __forceinline__ unsigned first_slot(rank_t w) const { return w * 2654435769U >> shift; }

  __device__ __forceinline__ void insert(rank_t entry) const {
    unsigned slot = first_slot(rank_of<Links>(entry));
    while (atomicCAS(slots + slot, 0U, entry + 1) != 0) slot = (slot + 1) & (size() - 1);
  }
  [[nodiscard]] __device__ __forceinline__ unsigned find(rank_t w) const {
    for (unsigned slot = first_slot(w);; slot = (slot + 1) & (size() - 1)) {
      const rank_t held = slots[slot];
      if (held == 0) return 0;
      if (rank_of<Links>(held) == w + 1) return Links ? 1 + 2 * is_mutual(held) : 1;
    }
  }
};

}  // namespace spargo::detail::triangles
