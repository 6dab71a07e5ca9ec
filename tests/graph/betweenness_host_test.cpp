// Betweenness on the host: results independent of threads and of the kind of step, and the choice of the step.
#include "core/parallel.hpp"
#include "graph/betweenness/host_backward.hpp"
#include "graph/betweenness/host_forward.hpp"
#include "graph/betweenness_values.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace spargo {
namespace {

using test::both_betweenness;
using test::doubles;
using test::edge_vector;
using test::sources_type;
using test::values_of;

// Levels large enough to be pulled, pushed together and pushed alone; checked for every source.
TEST(BetweennessHost, LargeGraphs) {
  const context<host> ctx({.threads = 2});
  test::random_source random(31);
  for (const int skew : {0, 2}) {
    const std::int64_t n = 30000;
    const edge_vector edges = test::random_edges(random, n, 300000, skew);
    const auto directed = test::make_directed<std::int32_t, std::int64_t>(n, edges, test::edges_kept::out_and_in);
    const auto undirected = test::make_undirected<std::int32_t, std::int64_t>(n, edges);
    for (const auto& g : {directed.view(), undirected.view()}) {
      const std::vector<std::int32_t> sources{0, 17, 29999, 12345, 6789, 3};
      for (const auto algorithm : both_betweenness) {
        const auto result = betweenness(ctx, g, sources, {.algorithm = algorithm});
        EXPECT_EQ(check_betweenness(ctx, g, result.values, sources), "") << to_string(algorithm);
      }
    }
  }
}

TEST(BetweennessHost, TheSameBitsForAnyNumberOfThreads) {
  test::random_source random(34);
  const edge_vector skewed = test::random_edges(random, 20000, 200000, 2);
  const edge_vector layered = test::layered_edges(300, 40, random);
  const auto small_world = test::make_directed<std::int32_t, std::int64_t>(20000, skewed, test::edges_kept::out_and_in);
  const auto layers = test::make_undirected<std::int32_t, std::int64_t>(test::layered_vertices(300, 40), layered);
  const auto grid = test::make_undirected<std::int32_t, std::int64_t>(40000, test::grid_edges(200, 200));
  for (const auto& g : {small_world.view(), layers.view(), grid.view()}) {
    for (const auto algorithm : both_betweenness) {
      const sources_type sources{1, 9000, 77, 4567, 11999};
      detail::assume_processors(1);
      const doubles alone = values_of(g, sources, {.algorithm = algorithm}, 1);
      detail::assume_processors(16);
      for (const int threads : {2, 7, 16}) {
        EXPECT_TRUE(values_of(g, sources, {.algorithm = algorithm}, threads) == alone) << threads << " threads";
      }
      detail::assume_processors(0);
    }
  }
}

using detail::betweenness::step_kind;

// Every level by one kind of step, where possible.
std::vector<doubles> dependencies_by(const graph_view<std::int32_t, std::int64_t, host>& g,
                                     const std::vector<std::vector<std::int32_t>>& batches,
                                     std::optional<step_kind> only, int threads) {
  const context<host> ctx({.threads = threads});
  detail::betweenness::host_search<std::int32_t, std::int64_t, 4> search(ctx, g.out, g.in, threads);
  std::vector<doubles> found;
  for (const auto& sources : batches) {
    found.emplace_back(static_cast<std::size_t>(g.vertices()));
    const std::int64_t levels =
        detail::betweenness::host_forward<std::int32_t, std::int64_t, 4>(search, only).run(sources);
    detail::betweenness::host_backward<std::int32_t, std::int64_t, 4>(search, 0, found.back().data()).run(levels);
  }
  return found;
}

TEST(BetweennessHost, EveryWayToTakeALevelGivesTheSameBits) {
  test::random_source random(35);
  detail::assume_processors(4);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const bool layered = seed % 3 == 0;
    const std::int64_t n = layered ? test::layered_vertices(150, 20) : 2 + random.below(6000);
    edge_vector edges = layered ? test::layered_edges(150, 20, random)
                                : test::random_edges(random, n, n + random.below(4 * n), static_cast<int>(seed % 3));
    const auto raw = seed % 2 == 0
                         ? test::make_directed<std::int32_t, std::int64_t>(n, edges, test::edges_kept::out_and_in)
                         : test::make_undirected<std::int32_t, std::int64_t>(n, edges);
    std::vector<std::vector<std::int32_t>> batches;
    for (const std::size_t lanes : {4, 1, 3}) {
      batches.emplace_back();
      for (std::size_t k = 0; k < lanes; ++k) batches.back().push_back(static_cast<std::int32_t>(random.below(n)));
    }
    const auto expected = dependencies_by(raw.view(), batches, {}, 1);
    for (const int threads : {1, 3}) {
      for (const auto only : {step_kind::alone, step_kind::together, step_kind::pull}) {
        ASSERT_TRUE(dependencies_by(raw.view(), batches, only, threads) == expected)
            << "seed " << seed << ", " << threads << " threads, step " << static_cast<int>(only);
      }
    }
  }
  detail::assume_processors(0);
}

// Path counts that differ within a layer, whose sums doubles cannot hold exactly, and vertices found in another order
// than their ids: sums in the order of discovery would have other bits.
TEST(BetweennessHost, SumsThatAreNotExactAreFormedInTheOrderOfRows) {
  test::random_source random(36);
  detail::assume_processors(4);
  constexpr std::int64_t layers = 60;
  constexpr std::int64_t width = 9;
  for (int round = 0; round < 40; ++round) {
    std::vector<std::int64_t> name(static_cast<std::size_t>(layers * width));
    std::iota(name.begin(), name.end(), std::int64_t{0});
    for (std::size_t k = name.size(); k > 1; --k) {
      std::swap(name[k - 1], name[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(k)))]);
    }
    const auto at = [&](std::int64_t layer, std::int64_t k) {
      return name[static_cast<std::size_t>(layer * width + k)];
    };
    edge_vector edges;
    for (std::int64_t layer = 0; layer + 1 < layers; ++layer) {
      for (std::int64_t a = 0; a < width; ++a) {
        edges.emplace_back(at(layer, a), at(layer + 1, a));
        for (std::int64_t b = 0; b < width; ++b) {
          if (random.below(3) > 0) edges.emplace_back(at(layer, a), at(layer + 1, b));
        }
      }
    }
    const auto raw = test::make_undirected<std::int32_t, std::int64_t>(layers * width, edges);
    const std::vector<std::vector<std::int32_t>> batches{
        {static_cast<std::int32_t>(at(0, 0)), static_cast<std::int32_t>(at(0, 3))}};
    const auto expected = dependencies_by(raw.view(), batches, step_kind::pull, 1);
    EXPECT_TRUE(dependencies_by(raw.view(), batches, step_kind::alone, 1) == expected) << "round " << round;
    EXPECT_TRUE(dependencies_by(raw.view(), batches, step_kind::together, 3) == expected) << "round " << round;
  }
  detail::assume_processors(0);
}

// By cost: alone for a small frontier; a large one by the remaining edges or by the vertices it will find.
TEST(BetweennessHost, TakesTheCheapestStep) {
  using detail::betweenness::choose_step;
  const auto step = [](int threads, bool exact, double edges, double open, double next) {
    return choose_step({.threads = threads, .exact = exact, .edges = edges, .open = open, .next_edges = next});
  };
  EXPECT_EQ(step(2, true, 1e3, 1e8, 1e5), step_kind::alone);
  EXPECT_EQ(step(2, true, 1e7, 1e7, 1e8), step_kind::pull);
  EXPECT_EQ(step(64, true, 1e6, 1e8, 1e6), step_kind::together);
  EXPECT_EQ(step(1, false, 1e3, 1e8, 1e3), step_kind::together);
  EXPECT_EQ(step(1, false, 1e7, 1e6, 1e7), step_kind::pull);
}

}  // namespace
}  // namespace spargo
