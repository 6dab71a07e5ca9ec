#include "core/common_bits.hpp"

#include <bit>

namespace spargo::detail {

std::int64_t common_bits(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t blocks) {
  std::int64_t sum = 0;
  for (; blocks != 0; blocks &= blocks - 1) {
    const std::int64_t first = std::countr_zero(blocks) * bit_block_words;
    for (std::int64_t k = first; k < first + bit_block_words; ++k) sum += std::popcount(a[k] & b[k]);
  }
  return sum;
}

}  // namespace spargo::detail
