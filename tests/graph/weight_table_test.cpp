// Sums by community against a map: rows of all lengths, levels of both kinds, tables used again.
#include "graph/communities/weight_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace spargo {
namespace {

using table = detail::communities::weight_table<std::int32_t>;

// Weights of 0 count as entries, too.
void expect_sums(table& sums, std::mt19937_64& random, std::int64_t row, std::int64_t nodes) {
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  std::map<std::int32_t, std::int64_t> expected;
  std::vector<std::int32_t> order;
  sums.begin(std::min(row, nodes), nodes);
  EXPECT_EQ(sums.size(), 0);
  for (std::int64_t k = 0; k < row; ++k) {
    // Every other entry repeats a community, most likely.
    const bool repeats = !order.empty() && k % 2 == 1;
    const std::int64_t place = repeats ? below(static_cast<std::int64_t>(order.size())) : below(nodes);
    const auto community = repeats ? order[static_cast<std::size_t>(place)] : static_cast<std::int32_t>(place);
    const std::int64_t weight = below(3);
    if (expected.find(community) == expected.end()) order.push_back(community);
    expected[community] += weight;
    sums.add(community, weight);
  }
  ASSERT_EQ(sums.size(), static_cast<std::int64_t>(order.size())) << row << " entries, " << nodes << " nodes";
  for (std::int64_t k = 0; k < sums.size(); ++k) {
    const auto [community, weight] = sums[k];
    ASSERT_EQ(community, order[static_cast<std::size_t>(k)]);
    ASSERT_EQ(weight, expected[community]);
  }
}

TEST(WeightTable, SumsByCommunity) {
  std::mt19937_64 random(7);
  table sums;
  bool hashed = false;
  bool direct = false;
  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t nodes : {1, 5, 1000, 1 << 17, (1 << 17) + 1, 1 << 20}) {
      for (const std::int64_t row : {0, 1, 2, 31, 64, 65, 1000}) {
        expect_sums(sums, random, row, nodes);
        (sums.is_hashed() ? hashed : direct) = true;
      }
    }
  }
  EXPECT_TRUE(hashed && direct);
}

}  // namespace
}  // namespace spargo
