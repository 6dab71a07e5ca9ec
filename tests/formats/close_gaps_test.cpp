// Blocks closed up in place and into another array, against a list that is written one entry after the other.
#include "formats/close_gaps.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace spargo::detail {
namespace {

struct blocks_of_numbers {
  std::vector<std::int64_t> starts{0};
  std::vector<std::int64_t> gaps{0};
  std::vector<int> data;
  std::vector<int> expected;

  void add(std::int64_t size, std::int64_t gone) {
    for (std::int64_t k = 0; k < size; ++k) {
      data.push_back(static_cast<int>(data.size()));
      if (k < size - gone) expected.push_back(data.back());
    }
    starts.push_back(starts.back() + size);
    gaps.push_back(gaps.back() + gone);
  }
  [[nodiscard]] shortened_blocks view() const {
    const auto size = static_cast<std::int64_t>(starts.size());
    return {{starts.data(), size}, {gaps.data(), size}};
  }
};

void expect_closed(const blocks_of_numbers& given, int threads) {
  const context<host> ctx({.threads = threads});
  const auto size = static_cast<std::ptrdiff_t>(given.expected.size());
  std::vector<int> copied(given.data.size(), -1);
  copy_blocks(ctx, given.view(), given.data.data(), copied.data());
  EXPECT_EQ(std::vector<int>(copied.begin(), copied.begin() + size), given.expected);
  std::vector<int> moved = given.data;
  close_gaps(ctx, given.view(), split(given.view().count(), threads, 1), moved.data());
  EXPECT_EQ(std::vector<int>(moved.begin(), moved.begin() + size), given.expected) << threads << " threads";
}

TEST(CloseGaps, BlocksOfAnySize) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    blocks_of_numbers given;
    const auto blocks = random() % 40;
    for (unsigned b = 0; b < blocks; ++b) {
      const std::int64_t size = random() % 50;
      given.add(size, random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random()) % (size + 1));
    }
    if (blocks == 0) given.add(0, 0);
    for (const int threads : {1, 2, 3, 8}) expect_closed(given, threads);
  }
}

// What a share holds back reaches over several shares before it.
TEST(CloseGaps, FirstBlockAllButGone) {
  blocks_of_numbers given;
  given.add(1000, 999);
  for (int b = 0; b < 30; ++b) given.add(20, 0);
  for (const int threads : {1, 2, 3, 8, 31}) expect_closed(given, threads);
}

TEST(CloseGaps, NothingRemainsOrNothingGoes) {
  blocks_of_numbers none;
  blocks_of_numbers all;
  for (int b = 0; b < 9; ++b) {
    none.add(7, 7);
    all.add(7, 0);
  }
  for (const int threads : {1, 4}) {
    expect_closed(none, threads);
    expect_closed(all, threads);
  }
}

}  // namespace
}  // namespace spargo::detail
