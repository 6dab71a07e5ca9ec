// Maximal matchings: against the sequential greedy matching in an order computed from the definition, on small random
// graphs, on shapes that hurt and on real graphs; bits that do not depend on threads; bounds; the check.
#include <spargo/graph/matching.hpp>

#include "graph/greedy_suite.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

template <class Space>
struct matching_case : test::plan_case<matching_plan<std::int32_t, std::int64_t, Space>, matching_options> {
  static constexpr const char* name = "matching";
  static std::vector<matching_options> estimated() { return test::every_order<matching_options>(); }
};
const test::plan_suite<matching_case> every_plan;

struct matching_problem {
  static constexpr const char* name = "Matching";
  using options = matching_options;
  static constexpr greedy_order usual = greedy_order::smallest_first;

  // Vertex after vertex takes the first neighbour in the order that is free.
  static std::vector<std::int64_t> naive(const test::adjacency& neighbours, const std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> mates(neighbours.size(), -1);
    std::vector<std::size_t> place(neighbours.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[static_cast<std::size_t>(order[k])] = k;
    for (const std::int64_t v : order) {
      if (mates[static_cast<std::size_t>(v)] >= 0) continue;
      std::size_t first = order.size();
      for (const std::int64_t u : neighbours[static_cast<std::size_t>(v)]) {
        const auto at = static_cast<std::size_t>(u);
        if (u != v && mates[at] < 0) first = std::min(first, place[at]);
      }
      if (first == order.size()) continue;
      mates[static_cast<std::size_t>(v)] = order[first];
      mates[static_cast<std::size_t>(order[first])] = v;
    }
    return mates;
  }
  static std::int64_t naive_count(const std::vector<std::int64_t>& mates) {
    return std::count_if(mates.begin(), mates.end(), [](std::int64_t mate) { return mate >= 0; }) / 2;
  }

  static auto plan(const auto& ctx, const auto& g, const options& o) { return matching_plan(ctx, g, o); }
  static auto values(const auto& plan) { return plan.mates(); }
  static std::int64_t count(const auto& plan) { return plan.size(); }
  static std::string check(const context<host>& ctx, const auto& g, const auto& mates, std::int64_t size) {
    return check_matching(ctx, g, mates, size);
  }
};
const test::greedy_suite<matching_problem> in_every_order;

// --- Quality --------------------------------------------------------------

// Low degrees first leave few without a mate: of trees none that could have one.
TEST(MatchingOrders, LowDegreesFirstMatchPathsWell) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(100, test::path_edges(100));
  EXPECT_GE(matching(ctx, raw.view()).size, 42);
  const auto star = test::make_undirected<std::int32_t, std::int32_t>(100, test::star_edges(100));
  EXPECT_EQ(matching(ctx, star.view()).size, 1);
}

// --- The check ------------------------------------------------------------

std::string fault(const std::vector<std::int32_t>& mates, std::int64_t size) {
  const auto raw =
      test::make_directed<std::int32_t, std::int32_t>(5, {{0, 1}, {2, 1}, {2, 2}, {3, 2}}, test::edges_kept::out);
  return check_matching(context<host>({.threads = 2}), raw.view(), mates, size);
}

TEST(CheckMatching, SaysWhatIsWrong) {
  EXPECT_EQ(fault({1, 0, 3, 2, -1}, 2), "");
  EXPECT_EQ(fault({-1, 2, 1, -1, -1}, 1), "");
  EXPECT_EQ(fault({1, 0, 3, 2}, 2), "4 mates for 5 vertices");
  EXPECT_EQ(fault({1, 0, 3, 2, -1}, 1), "4 vertices have mates (expected 2)");
  EXPECT_EQ(fault({1, 2, 1, -1, -1}, 1), "vertex 0 has mate 1 (expected another vertex whose mate is 0)");
  EXPECT_EQ(fault({-1, 2, 1, -1, 4}, 1), "vertex 4 has mate 4 (expected another vertex whose mate is 4)");
  EXPECT_EQ(fault({-1, 2, 1, -1, 9}, 1), "vertex 4 has mate 9 (expected another vertex whose mate is 4)");
  EXPECT_EQ(fault({-1, 2, 1, -2, -1}, 1), "vertex 3 has mate -2 (expected another vertex whose mate is 3)");
  EXPECT_EQ(fault({1, 0, -1, -1, -1}, 1), "vertices 3 and 2 are joined by an edge and both without a mate");
  EXPECT_EQ(fault({3, 2, 1, 0, -1}, 2), "vertex 0 has mate 3, but no edge joins them");
}

}  // namespace
}  // namespace spargo
