// One loop compiled twice: with the popcnt instruction where the processor has it, since x86-64's baseline lacks it.
#include "core/common_bits.hpp"

#include <bit>

namespace spargo::detail {

namespace {

[[gnu::always_inline]] inline std::int64_t count(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t blocks) {
  std::int64_t sum = 0;
  for (; blocks != 0; blocks &= blocks - 1) {
    const std::int64_t first = std::countr_zero(blocks) * bit_block_words;
    for (std::int64_t k = first; k < first + bit_block_words; ++k) sum += std::popcount(a[k] & b[k]);
  }
  return sum;
}

[[gnu::target("popcnt")]] std::int64_t popcnt(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t blocks) {
  return count(a, b, blocks);
}
std::int64_t baseline(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t blocks) {
  return count(a, b, blocks);
}

}  // namespace

std::int64_t common_bits(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t blocks) {
  static const auto chosen = __builtin_cpu_supports("popcnt") != 0 ? popcnt : baseline;
  return chosen(a, b, blocks);
}

}  // namespace spargo::detail
