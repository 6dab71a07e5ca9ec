// Stable sorting of unsigned 64-bit keys on the device by a range of their bits.
#pragma once

#include <spargo/core/array.hpp>

namespace spargo::detail {

// Bits [begin, end) of each key, ascending; keys that agree there keep their order. Asynchronous. Scratch: as
// much memory again. Throws `unsupported` for more than 2^32 keys with payloads.
void sort_keys(const context<device>& ctx, array<std::uint64_t, device>& keys, int begin, int end);

// The same, moving payload[i] along with keys[i].
void sort_pairs(const context<device>& ctx, array<std::uint64_t, device>& keys, array<std::uint32_t, device>& payload,
                int begin, int end);

// The first `size` of 32-bit keys and payloads. The spare arrays, of that size at least, are the scratch, and may
// change places with the others; besides, some MB from the context's pool.
void sort_pairs(const context<device>& ctx, std::int64_t size, array<std::uint32_t, device>& keys,
                array<std::uint32_t, device>& payload, array<std::uint32_t, device>& spare_keys,
                array<std::uint32_t, device>& spare_payload, int begin, int end);

// payload[i] = i: then `sort_pairs` gives the permutation that sorts. Throws `unsupported` beyond 2^32.
[[nodiscard]] array<std::uint32_t, device> iota(const context<device>& ctx, std::int64_t size);

}  // namespace spargo::detail
