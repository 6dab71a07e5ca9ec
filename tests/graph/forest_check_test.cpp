// check_forest: it accepts the forest, rejects every other set of edges, and says what is wrong.
#include "graph/forest_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace spargo {
namespace {

using test::are_same;
using test::graph_form;
using test::naive_forest;
using test::weighted_edge;
using test::weighted_edges;

std::string fault(std::int64_t n, const weighted_edges<double>& edges, const weighted_edges<double>& claimed,
                  forest_objective objective = forest_objective::minimum) {
  const auto raw = test::make_weighted<double, std::int32_t, std::int32_t>(n, edges, graph_form::undirected);
  std::vector<std::int32_t> sources, targets;
  std::vector<double> weights;
  for (const auto& e : claimed) {
    sources.push_back(static_cast<std::int32_t>(e.from));
    targets.push_back(static_cast<std::int32_t>(e.to));
    weights.push_back(e.weight);
  }
  return check_forest(context<host>({.threads = 2}), raw.view(), sources, targets, weights, {.objective = objective});
}

TEST(CheckForest, SaysWhatIsWrong) {
  const weighted_edges<double> triangle{{0, 1, 1}, {1, 2, 2}, {0, 2, 3}};
  EXPECT_EQ(fault(0, {}, {}), "");
  EXPECT_EQ(fault(4, triangle, {{0, 1, 1}, {1, 2, 2}}), "");
  EXPECT_EQ(fault(3, triangle, {{0, 2, 3}, {1, 2, 2}}, forest_objective::maximum), "");
  EXPECT_EQ(fault(3, triangle, {{1, 2, 2}, {0, 2, 3}}, forest_objective::maximum), "");  // in any order
  EXPECT_EQ(fault(3, triangle, {{0, 1, 1}, {0, 2, 3}}),
            "edge (1, 2) with weight 2 comes before edge (0, 2) of the forest with weight 3, which is on the path "
            "between its ends");
  EXPECT_EQ(fault(3, triangle, {{0, 1, 1}}), "the forest does not join 0 and 2, which an edge joins");
  EXPECT_EQ(fault(3, triangle, triangle), "edge (0, 2) of the forest closes a cycle");
  EXPECT_EQ(fault(3, triangle, {{0, 1, 1}, {0, 1, 1}}), "edge (0, 1) of the forest closes a cycle");
  EXPECT_EQ(fault(3, triangle, {{0, 1, 2}}), "edge (0, 1) of the forest with weight 2 is not in the graph");
  EXPECT_EQ(fault(4, triangle, {{0, 3, 1}}), "edge (0, 3) of the forest with weight 1 is not in the graph");
  for (const weighted_edge<double>& bad : weighted_edges<double>{{1, 0, 1}, {0, 0, 1}, {-1, 1, 1}, {0, 3, 1}}) {
    EXPECT_NE(fault(3, triangle, {bad}).find("(expected two vertices, the smaller first)"), std::string::npos);
  }
  // Equal weights: the edges of the smaller ends.
  const weighted_edges<double> equal{{0, 1, 1}, {0, 2, 1}, {1, 2, 1}};
  EXPECT_EQ(fault(3, equal, {{0, 1, 1}, {0, 2, 1}}), "");
  EXPECT_NE(fault(3, equal, {{0, 1, 1}, {1, 2, 1}}), "");
  const auto raw = test::make_weighted<double, std::int32_t, std::int32_t>(3, triangle, graph_form::undirected);
  EXPECT_EQ(check_forest(context<host>(), raw.view(), std::vector<std::int32_t>{0}, std::vector<std::int32_t>{},
                         std::vector<double>{1}),
            "1 sources, 0 targets and 1 weights");
}

// Another edge for one of the forest's.
TEST(CheckForest, FindsEveryExchange) {
  for (std::uint64_t seed = 0; seed < test::rounds(300); ++seed) {
    test::random_source random(seed);
    const auto edges = test::with_weights<double>(
        test::random_edges(random, 9, 4 + random.below(30), 0),
        [&](std::size_t) { return static_cast<double>(random.below(seed % 3 == 0 ? 3 : 50)); });
    const auto right = naive_forest<double>(9, edges, forest_objective::minimum);
    ASSERT_EQ(fault(9, edges, right), "");
    for (std::size_t k = 0; k < right.size(); ++k) {
      auto fewer = right;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      ASSERT_NE(fault(9, edges, fewer), "");
      for (const auto& e : edges) {
        auto other = right;
        other[k] = {std::min(e.from, e.to), std::max(e.from, e.to), e.weight};
        const bool same = std::any_of(right.begin(), right.end(), [&](const auto& of) {
          return of.from == other[k].from && of.to == other[k].to && of.weight == other[k].weight;
        });
        if (same && are_same(other, right)) continue;
        ASSERT_NE(fault(9, edges, other), "") << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace spargo
