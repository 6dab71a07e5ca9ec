// Hash tables in shared memory, by linear probing: 2^log_size places, at least one of them empty.
#pragma once

#include "sparse/spgemm/device/products.cuh"

namespace spargo::detail::spgemm {

// Multiplicative hashing: the product's upper bits.
template <class K>
__device__ __forceinline__ unsigned first_place(K key, int log_size) {
  auto word = static_cast<unsigned>(key);
  if constexpr (sizeof(K) == 8) word ^= static_cast<unsigned>(static_cast<count64>(key) >> 32) * 0x85ebca6bU;
  return (word * 0x9e3779b1U) >> (32 - log_size);
}

// The key's place, which it gets if it has none.
template <class K>
__device__ __forceinline__ unsigned insert_key(K* keys, K key, K empty, int log_size) {
  unsigned place = first_place(key, log_size);
  while (true) {
    K now = *const_cast<volatile K*>(keys + place);
    if (now == empty) now = atomicCAS(keys + place, empty, key);
    if (now == empty || now == key) return place;
    place = (place + 1) & ((1U << log_size) - 1);
  }
}

// The key's place, or an empty one.
template <class K>
__device__ __forceinline__ unsigned find_key(const K* keys, K key, K empty, int log_size) {
  unsigned place = first_place(key, log_size);
  for (K now = keys[place]; now != key && now != empty; now = keys[place]) {
    place = (place + 1) & ((1U << log_size) - 1);
  }
  return place;
}

// Unsigned, as atomicCAS requires.
template <class I>
using key_of = std::conditional_t<sizeof(I) == 8, count64, unsigned>;

// The at most 32 products of a row, by a warp, one per lane.
template <class I, class O, class Values>
__device__ __forceinline__ auto load_tiny_row(const device_factors<I, O>& f, const Values& values, I row) {
  lane_product<I, typename Values::value> mine{};
  for_each_product<false, product_walk::flattened>(f, values, f.a_offsets[row], f.a_offsets[row + 1], {},
                                                   [&](const auto& p) { mine = p; });
  return mine;
}

// The lanes with this lane's column; no other lanes if it is not active. All lanes call it, active or not.
template <class P>
__device__ __forceinline__ unsigned lanes_of_column(const P& product) {
  using I = decltype(product.column);
  return __match_any_sync(full_mask, product.active ? product.column : static_cast<I>(-1 - lane_id()));
}
[[nodiscard]] __device__ __forceinline__ unsigned lanes_below() { return (1U << lane_id()) - 1; }

}  // namespace spargo::detail::spgemm
