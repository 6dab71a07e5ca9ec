// Ranks of short rows, by this processor's widest instructions and portably, against counting.
#include "formats/rows/simd/row_ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace spargo::detail::convert {
namespace {

class RowRanks : public testing::TestWithParam<rank_row> {};

TEST_P(RowRanks, AreCountsOfSmallerColumns) {
  std::mt19937 random(3);
  for (int n = 2; n <= most_ranked; ++n) {
    for (const std::uint32_t limit : {40U, 1000U, 0x7fffffffU}) {
      std::set<std::uint32_t> chosen;
      while (chosen.size() < static_cast<std::size_t>(n)) chosen.insert(static_cast<std::uint32_t>(random()) % limit);
      std::vector<std::uint32_t> cols(chosen.begin(), chosen.end());
      for (int order = 0; order < 4; ++order) {  // ascending, descending, two others
        if (order == 1) std::reverse(cols.begin(), cols.end());
        if (order > 1) std::shuffle(cols.begin(), cols.end(), random);
        ranked_row row;
        ASSERT_TRUE(GetParam()(cols.data(), n, row));
        for (std::size_t i = 0; i < cols.size(); ++i) {
          ASSERT_EQ(row.cols[i], cols[i]);
          ASSERT_EQ(row.ranks[i], std::count_if(cols.begin(), cols.end(), [&](auto c) { return c < cols[i]; })) << n;
        }
      }
    }
  }
}

TEST_P(RowRanks, DetectEqualColumns) {
  for (int n = 2; n <= most_ranked; ++n) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        std::vector<std::uint32_t> cols(static_cast<std::size_t>(n));
        for (int k = 0; k < n; ++k) cols[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(k * 7 % 37);
        cols[static_cast<std::size_t>(i)] = cols[static_cast<std::size_t>(j)];
        ranked_row row;
        ASSERT_FALSE(GetParam()(cols.data(), n, row)) << n << ": " << j << " and " << i;
      }
    }
  }
  const std::vector<std::uint32_t> zeros(most_ranked);
  ranked_row row;
  EXPECT_FALSE(GetParam()(zeros.data(), most_ranked, row));
}

INSTANTIATE_TEST_SUITE_P(Processor, RowRanks, testing::Values(best_rank_row(), &rank_anywhere));

}  // namespace
}  // namespace spargo::detail::convert
