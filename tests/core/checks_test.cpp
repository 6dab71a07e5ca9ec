// Argument checks: overlaps and messages.
#include "core/checks.hpp"

#include <spargo/core/dense.hpp>
#include <spargo/core/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace spargo {
namespace {

using detail::extent_of;
using detail::memory_of;
using detail::overlap;

using matrix = dense_view<float, host>;

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::invalid_argument);
    return e.what();
  }
  return "accepted";
}

class Checks : public testing::Test {
 protected:
  [[nodiscard]] span<float, host> part(std::int64_t first, std::int64_t size) {
    return span<float, host>(data_).subspan(first, size);
  }

 private:
  std::vector<float> data_ = std::vector<float>(100);
};

TEST_F(Checks, RangesOverlap) {
  EXPECT_TRUE(overlap(memory_of(part(0, 5)), memory_of(part(4, 5))));
  EXPECT_TRUE(overlap(memory_of(part(4, 5)), memory_of(part(0, 5))));
  EXPECT_TRUE(overlap(memory_of(part(0, 9)), memory_of(part(4, 1))));
  EXPECT_TRUE(overlap(memory_of(part(4, 5)), memory_of(part(4, 5))));
  EXPECT_FALSE(overlap(memory_of(part(0, 5)), memory_of(part(5, 5))));
  EXPECT_FALSE(overlap(memory_of(part(5, 5)), memory_of(part(0, 5))));
  EXPECT_FALSE(overlap(memory_of(part(4, 0)), memory_of(part(0, 9))));
  EXPECT_FALSE(overlap(memory_of(part(0, 9)), memory_of(part(4, 0))));
}

TEST_F(Checks, MatricesSideBySideDoNotOverlap) {
  const auto of = [&](std::int64_t first, std::int64_t cols, std::int64_t stride) {
    return extent_of(matrix{3, cols, stride, part(first, 40)});
  };
  EXPECT_FALSE(overlap(of(0, 4, 10), of(4, 6, 10)));
  EXPECT_FALSE(overlap(of(4, 6, 10), of(0, 4, 10)));
  EXPECT_FALSE(overlap(of(0, 4, 10), of(14, 6, 10))) << "a row lower";
  EXPECT_TRUE(overlap(of(0, 5, 10), of(4, 6, 10)));
  EXPECT_TRUE(overlap(of(0, 4, 10), of(4, 7, 10)));
  EXPECT_TRUE(overlap(of(0, 4, 10), of(4, 4, 9))) << "rows of other strides";
  EXPECT_FALSE(overlap(of(0, 4, 10), of(24, 4, 9))) << "ranges apart";
  EXPECT_FALSE(overlap(of(0, 0, 10), of(0, 4, 10))) << "no elements";
}

TEST_F(Checks, MessagesNameOperationAndArgument) {
  const auto range = [](span<float, host> r) { return refusal([&] { detail::expect_range("f", "x", r); }); };
  EXPECT_EQ(range(part(0, 3)), "accepted");
  EXPECT_EQ(range({}), "accepted");
  EXPECT_EQ(range({nullptr, 3}), "f: x is null and has 3 elements");
  EXPECT_EQ(range({nullptr, -3}), "f: x has -3 elements (expected 0 or more)");
  EXPECT_EQ(refusal([] { detail::expect_same_size("f", 3, 3); }), "accepted");
  EXPECT_EQ(refusal([] { detail::expect_same_size("f", 3, 4); }), "f: 3 inputs and 4 outputs (expected equal numbers)");
  const auto apart = [&](std::int64_t first) {
    return refusal([&] { detail::expect_apart("f", "y", memory_of(part(first, 5)), "x", memory_of(part(0, 5))); });
  };
  EXPECT_EQ(apart(5), "accepted");
  EXPECT_EQ(apart(4), "f: y overlaps x");
}

TEST_F(Checks, MessagesOfMatrices) {
  const auto check = [](const matrix& m) { return refusal([&] { detail::expect_matrix("f", "X", m); }); };
  EXPECT_EQ(check({3, 4, 5, part(0, 14)}), "accepted");
  EXPECT_EQ(check({3, 0, 0, {}}), "accepted");
  EXPECT_EQ(check({0, 4, 4, {}}), "accepted");
  EXPECT_EQ(check({-3, 4, 4, part(0, 14)}), "f: X is -3 x 4 (expected sizes of 0 or more)");
  EXPECT_EQ(check({3, 4, 3, part(0, 14)}), "f: X has 4 columns and a stride of 3 (expected at least 4)");
  EXPECT_EQ(check({3, 4, 5, part(0, 13)}), "f: X has 13 elements (expected at least 14)");
  EXPECT_EQ(check({3, 4, 5, {nullptr, 14}}), "f: X is null and has 14 elements");
  // One element too many for 2^63 bytes, and the largest size that fits.
  constexpr std::int64_t most = INT64_MAX / 4;
  EXPECT_EQ(check({2, 1, most, part(0, 14)}),
            "f: X is 2 x 1 with a stride of " + std::to_string(most) + ": it exceeds 2^63 bytes");
  EXPECT_EQ(check({2, 1, most - 1, part(0, 14)}),
            "f: X has 14 elements (expected at least " + std::to_string(most) + ")");
  EXPECT_EQ(check({INT64_MAX, INT64_MAX, INT64_MAX, part(0, 14)}),
            "f: X is 9223372036854775807 x 9223372036854775807 with a stride of 9223372036854775807: it exceeds 2^63 "
            "bytes");
}

}  // namespace
}  // namespace spargo
