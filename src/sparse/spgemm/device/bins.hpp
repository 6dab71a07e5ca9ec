// Rows grouped by the kernel that handles them.
#pragma once

#include "sparse/spgemm/device/pattern.hpp"

namespace spargo::detail::spgemm {

inline constexpr std::uint8_t no_bin = 255;  // of rows without work

// The rows of each bin, from one byte per row. In a bin, rows are almost in order; which order they have does not
// matter for results. Synchronizes.
template <class I>
[[nodiscard]] row_bins<I> group_rows(const context<device>& ctx, span<const std::uint8_t, device> bins);

}  // namespace spargo::detail::spgemm
