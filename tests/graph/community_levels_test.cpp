// Levels of Louvain and Leiden: which neighbours of a moved node become active, and contraction with and without sums.
#include "graph/communities/contraction.hpp"
#include "graph/partition_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace spargo {
namespace {

namespace communities_detail = detail::communities;
using communities_detail::is_marked_by;
using communities_detail::turn_marked;
using test::cpu;
using level_arrays = communities_detail::level_arrays<std::int32_t, std::int32_t>;

TEST(CommunityLevels, WhoIsMarked) {
  // A node without a turn, and one that had it: if it is in another community than the node will be.
  EXPECT_TRUE(is_marked_by(0, 3, true));
  EXPECT_FALSE(is_marked_by(0, 3, false));
  EXPECT_TRUE(is_marked_by(2, 3, true));
  EXPECT_FALSE(is_marked_by(2, 3, false));
  // One of the same batch, which may have moved elsewhere.
  EXPECT_TRUE(is_marked_by(3, 3, true));
  EXPECT_TRUE(is_marked_by(3, 3, false));
  // One whose turn comes; one that is marked already.
  EXPECT_FALSE(is_marked_by(4, 3, true));
  EXPECT_FALSE(is_marked_by(3 | turn_marked, 3, true));
}

// Every node is joined to those at these distances, both ways, on a ring; large enough for entries to stay apart.
struct ring {
  std::vector<std::int32_t> offsets{0}, neighbours;
  std::vector<std::int64_t> weights, mass;

  ring(std::int32_t nodes, const std::vector<std::int32_t>& distances) {
    for (std::int32_t v = 0; v < nodes; ++v) {
      for (const std::int32_t d : distances) {
        for (const std::int32_t u : {(v + d) % nodes, (v + nodes - d) % nodes}) {
          neighbours.push_back(u);
          weights.push_back(1 + (v ^ u) % 5);
        }
      }
      offsets.push_back(static_cast<std::int32_t>(neighbours.size()));
      mass.push_back(v % 7);
    }
  }
  [[nodiscard]] communities_detail::level_graph<std::int32_t, std::int32_t> level(bool weighted) const {
    return {static_cast<std::int64_t>(mass.size()), offsets.data(), neighbours.data(),
            weighted ? weights.data() : nullptr, mass.data()};
  }
};

// The weights between different groups, sorted and summed.
std::vector<std::array<std::int64_t, 3>> sums_of(const communities_detail::level_graph<std::int32_t, std::int32_t>& g,
                                                 const auto& number) {
  std::vector<std::array<std::int64_t, 3>> all, sums;
  for (std::int32_t v = 0; v < g.nodes; ++v) {
    for (std::int32_t e = g.offsets[v]; e < g.offsets[v + 1]; ++e) {
      const std::int64_t from = number(v), to = number(g.neighbours[e]);
      if (from != to) all.push_back({from, to, g.weight(e)});
    }
  }
  std::sort(all.begin(), all.end());
  for (const auto& [from, to, weight] : all) {
    if (sums.empty() || sums.back()[0] != from || sums.back()[1] != to) sums.push_back({from, to, 0});
    sums.back()[2] += weight;
  }
  return sums;
}

// Groups of `size` nodes beside each other; 1: the entries were summed.
int contract_ring(const ring& from, std::int32_t size, bool weighted) {
  const auto g = from.level(weighted);
  const auto number_of = [&](std::int32_t v) { return v / size; };
  std::vector<std::int32_t> number;
  for (std::int32_t v = 0; v < g.nodes; ++v) number.push_back(number_of(v));
  const std::int64_t count = number.back() + 1;
  communities_detail::weight_tables<std::int32_t> tables(static_cast<std::size_t>(cpu().threads()));
  const level_arrays next = communities_detail::contract<std::int32_t, std::int32_t>(cpu(), g, number, count, tables);
  const auto level = next.view();
  EXPECT_EQ(level.nodes, count);
  EXPECT_TRUE(sums_of(level, std::identity{}) == sums_of(g, number_of));
  std::vector<std::int64_t> mass(static_cast<std::size_t>(count));
  for (std::int32_t v = 0; v < g.nodes; ++v) mass[static_cast<std::size_t>(number_of(v))] += g.mass[v];
  EXPECT_EQ(std::vector(next.mass.begin(), next.mass.end()), mass);
  const bool apart = level.entries() == g.entries();
  EXPECT_TRUE(!apart || (level.weights != nullptr) == weighted);
  return apart ? 0 : 1;
}

TEST(CommunityLevels, EntriesOfLargeLevelsStayApartWhereThatPays) {
  const std::vector<std::int32_t> far{1000, 5002, 20010};
  const ring large(180000, far);
  EXPECT_EQ(contract_ring(large, 2, false), 0);
  EXPECT_EQ(contract_ring(large, 2, true), 0);
  EXPECT_EQ(contract_ring(large, 17, false), 1);                         // few groups
  EXPECT_EQ(contract_ring(ring(180000, {1, 1000, 5002}), 2, false), 1);  // a sixth of the entries is inside
  EXPECT_EQ(contract_ring(ring(170000, far), 2, false), 1);              // fewer than 2^20 entries
}

}  // namespace
}  // namespace spargo
