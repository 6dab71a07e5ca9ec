// Philox4x32-10 against the known answers that Random123 publishes (kat_vectors).
#include "core/philox.hpp"

#include <gtest/gtest.h>

#include <array>

namespace spargo {
namespace {

using detail::below;
using detail::philox;
using words = std::array<std::uint32_t, 4>;

words block(const words& counter, std::uint32_t low_key, std::uint32_t high_key) {
  const auto found =
      philox({{counter[0], counter[1], counter[2], counter[3]}}, low_key | static_cast<std::uint64_t>(high_key) << 32);
  return {found.words[0], found.words[1], found.words[2], found.words[3]};
}

TEST(Philox, GivesTheKnownAnswers) {
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(block({0, 0, 0, 0}, 0, 0), (words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(block({ones, ones, ones, ones}, ones, ones), (words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WordsAreScaledToABound) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(below(most, 7), 6U);
  EXPECT_EQ(below(0, 7), 0U);
  EXPECT_EQ(below(most / 7 + 1, 7), 1U);
  EXPECT_EQ(below(most / 7, 7), 0U);
  EXPECT_EQ(below(most, most), most - 1);
}

}  // namespace
}  // namespace spargo
