// Binary search against a linear one.
#include "core/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace spargo::detail {
namespace {

TEST(Search, FindsTheFirstThatHolds) {
  for (const int size : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000}) {
    for (int first = 0; first <= size; ++first) {
      int calls = 0;
      const int found = first_where(0, size, [&](int i) {
        EXPECT_TRUE(i >= 0 && i < size) << i;
        ++calls;
        return i >= first;
      });
      EXPECT_EQ(found, first) << size;
      EXPECT_LE(calls, 11);
    }
  }
  EXPECT_EQ(first_where(5, 3, [](int) { return true; }), 5) << "an empty range";
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(first_where(most - 10, most, [](std::int64_t i) { return i >= most - 3; }), most - 3);
}

template <class T>
class LowerBound : public testing::Test {};
using element_types = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(LowerBound, element_types);

TYPED_TEST(LowerBound, OfAscendingValuesWithRepetitions) {
  using T = TypeParam;
  std::mt19937 random(36);
  for (const int size : {0, 1, 31, 32, 33, 255, 256, 257}) {
    std::vector<T> values(static_cast<std::size_t>(size));
    for (T& v : values) v = static_cast<T>(random() % 100 + 10);
    std::sort(values.begin(), values.end());
    for (std::int64_t wanted = 0; wanted < 120; ++wanted) {
      std::int64_t expected = 0;
      while (expected < size && static_cast<std::int64_t>(values[static_cast<std::size_t>(expected)]) < wanted) {
        ++expected;
      }
      EXPECT_EQ(lower_bound(values.data(), size, wanted), expected) << size << ' ' << wanted;
    }
  }
}

}  // namespace
}  // namespace spargo::detail
