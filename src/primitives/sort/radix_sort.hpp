// Stable device sort of unsigned keys by a range of their bits.
#pragma once

#include <spargo/core/array.hpp>

namespace spargo::detail {

// Sorts by bits [begin, end), ascending and stable. Asynchronous. Scratch: as much memory again. Throws `unsupported`
// for more than 2^32 keys with payloads.
void sort_keys(const context<device>& ctx, array<std::uint64_t, device>& keys, int begin, int end);

// Moves payload[i] with keys[i].
void sort_pairs(const context<device>& ctx, array<std::uint64_t, device>& keys, array<std::uint32_t, device>& payload,
                int begin, int end);

// Sorts the first `size` 32-bit keys and payloads. The spare arrays, at least that long, are scratch and may be swapped
// with the others; plus some MB from the context's pool.
void sort_pairs(const context<device>& ctx, std::int64_t size, array<std::uint32_t, device>& keys,
                array<std::uint32_t, device>& payload, array<std::uint32_t, device>& spare_keys,
                array<std::uint32_t, device>& spare_payload, int begin, int end);

// The same for arrays of 32-bit numbers of any type, by their bits: where the sorted keys and payloads are.
struct in_spare {
  bool keys;
  bool payload;
};
[[nodiscard]] in_spare sort_words(const context<device>& ctx, std::int64_t size, std::uint32_t* keys,
                                  std::uint32_t* payload, std::uint32_t* spare_keys, std::uint32_t* spare_payload,
                                  int begin, int end);

// payload[i] = i: `sort_pairs` then gives the sorting permutation. Throws `unsupported` beyond 2^32.
[[nodiscard]] array<std::uint32_t, device> iota(const context<device>& ctx, std::int64_t size);

// places[order[k]] = k, of a permutation. Asynchronous. T: 32-bit or std::int64_t.
template <class T>
void invert_permutation(const context<device>& ctx, span<const std::uint32_t, device> order, T* places);

}  // namespace spargo::detail
