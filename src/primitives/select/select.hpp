// Stable compaction on the device: keeps the flagged elements, in order. One pass over flags and elements.
#pragma once

#include <spargo/core/array.hpp>

#include <cstdint>

namespace spargo::detail {

// Flags: 0 or not, one byte per element. Results have the size of the selection, in memory for all elements.
// Synchronizes.
[[nodiscard]] array<std::uint64_t, device> select_flagged(const context<device>& ctx,
                                                          span<const std::uint64_t, device> values,
                                                          span<const std::uint8_t, device> flags);
// The positions of the flags that are set, ascending.
[[nodiscard]] array<std::int64_t, device> positions_of(const context<device>& ctx,
                                                       span<const std::uint8_t, device> flags);

}  // namespace spargo::detail
