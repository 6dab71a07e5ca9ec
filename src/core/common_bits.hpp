// Intersection size of two bitmaps.
#pragma once

#include <cstdint>

namespace spargo::detail {

inline constexpr std::int64_t bit_block_words = 8;

// Common bits of two bitmaps, in those blocks of bit_block_words words whose bits are set in `blocks`.
[[nodiscard]] std::int64_t common_bits(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t blocks);

}  // namespace spargo::detail
