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

// Unsigned, as atomicCAS has it.
template <class I>
using key_of = std::conditional_t<sizeof(I) == 8, count64, unsigned>;

// Rows with so few products and entries of A are handled without tables, a lane per product.
constexpr int short_rows = 4;     // at once
constexpr int short_entries = 8;  // of A

// The at most 32 products of a row, by a warp, one per lane.
template <class I, class O, class Values>
__device__ __forceinline__ auto load_tiny_row(const device_factors<I, O>& f, const Values& values, I row) {
  lane_product<I, typename Values::value> mine{};
  for_each_product<false, product_walk::flattened>(f, values, f.a_offsets[row], f.a_offsets[row + 1], {},
                                                   [&](const auto& p) { mine = p; });
  return mine;
}

// The same for four rows of at most 8 entries of A at once, whose loads overlap: use(row of the four, lane_product).
template <class I, class O, class Values, class Use>
__device__ __forceinline__ void for_each_of_short_rows(const device_factors<I, O>& f, const Values& values,
                                                       const I* rows, std::int64_t count, Use use) {
  using D = typename Values::value;
  const int group = lane_id() / short_entries;
  const int entry = lane_id() % short_entries;
  selected_row<O, D> mine;
  if (group < count) {
    const I row = rows[group];
    const O at = f.a_offsets[row] + static_cast<O>(entry);
    if (at < f.a_offsets[row + 1]) mine = select_row<false>(f, values, at, column_range<I>{});
  }
  const auto length = static_cast<unsigned>(mine.length);
  const unsigned upto = group_inclusive_scan(length, short_entries, plus{});
  const O shift = mine.first - static_cast<O>(upto - length);
  lane_product<I, D> products[short_rows];
#pragma unroll
  for (int r = 0; r < short_rows; ++r) {
    const int base = r * short_entries;
    int owner = base;
#pragma unroll
    for (int step = short_entries / 2; step > 0; step /= 2) {
      if (shuffle(upto, owner + step - 1) <= static_cast<unsigned>(lane_id())) owner += step;
    }
    lane_product<I, D>& product = products[r];
    product = {};
    product.active = static_cast<unsigned>(lane_id()) < shuffle(upto, base + short_entries - 1);
    const O at = shuffle(shift, owner) + static_cast<O>(lane_id());
    if (product.active) product.column = f.b_columns[at];
    if constexpr (!std::is_same_v<Values, no_values>) {
      const D factor = shuffle(mine.factor, owner);
      if (product.active) product.value = rounded_product(factor, values.b[at]);
    }
  }
#pragma unroll
  for (int r = 0; r < short_rows; ++r) {
    if (r < count) use(rows[r], products[r]);
  }
}

// The lanes with this lane's column; no other lanes if it is not active.
template <class P>
__device__ __forceinline__ unsigned lanes_of_column(const P& product) {
  using I = decltype(product.column);
  return __match_any_sync(full_mask, product.active ? product.column : static_cast<I>(-1 - lane_id()));
}
[[nodiscard]] __device__ __forceinline__ unsigned lanes_below() { return (1U << lane_id()) - 1; }

}  // namespace spargo::detail::spgemm
