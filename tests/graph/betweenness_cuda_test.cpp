// Betweenness on the device beyond the typed tests: dense levels, rows in chunks, every sequence of level kinds, edges
// of large graphs, determinism, and refusals.
#include <spargo/graph/betweenness.hpp>

#include "graph/betweenness_support.hpp"
#include "graph/placed_graph.hpp"
#include "support/message.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spargo {
namespace {

using test::doubles;
using test::edge_vector;

class BetweennessCuda : public test::device_suite {
 protected:
  using index = std::int32_t;
  using offset = std::int64_t;
  using raw_type = test::raw_graph<index, offset>;
  using sources_type = std::vector<index>;

  // Values and edges, from two plans and two runs of one of them.
  static void check(const raw_type& raw, const sources_type& sources, betweenness_options options = {}) {
    const context<host> cpu({.threads = 2});
    const test::placed_graph<index, offset, device> g(raw);
    betweenness_plan<index, offset, device> plan(g.ctx(), g.view(), options);
    plan.run(test::all_if_none(sources));
    const doubles values = g.fetch(plan.values());
    const doubles edges = g.fetch(plan.edges());
    EXPECT_EQ(check_betweenness<index>(cpu, raw.view(), values, test::all_if_none(sources), options, edges), "");
    plan.run(test::all_if_none(sources));
    EXPECT_TRUE(g.fetch(plan.values()) == values);
    EXPECT_TRUE(g.fetch(plan.edges()) == edges);
    betweenness_plan<index, offset, device> other(g.ctx(), g.view(), options);
    other.run(test::all_if_none(sources));
    EXPECT_TRUE(g.fetch(other.values()) == values);
    EXPECT_TRUE(g.fetch(other.edges()) == edges);
  }
  static void check_all(std::int64_t n, const edge_vector& edges, const sources_type& sources,
                        const betweenness_options& options = {}) {
    check(test::make_undirected<index, offset>(n, edges), sources, options);
    check(test::make_directed<index, offset>(n, edges, test::edges_kept::out), sources, options);
    check(test::make_directed<index, offset>(n, edges, test::edges_kept::out_and_in), sources, options);
  }
};

TEST_F(BetweennessCuda, LargeGraphs) {
  test::random_source random(41);
  for (const int skew : {0, 2, 6}) {
    SCOPED_TRACE("skew " + std::to_string(skew));
    check_all(30000, test::random_edges(random, 30000, 300000, skew), {0, 17, 29999, 12345, 6789, 3, 3});
  }
}

TEST_F(BetweennessCuda, EdgesOfLargeGraphs) {
  test::random_source random(42);
  constexpr betweenness_options options{.endpoints = betweenness_endpoints::included,
                                        .edges = betweenness_edges::counted};
  check_all(8000, test::random_edges(random, 8000, 80000, 3), {0, 17, 7999, 1234, 678}, options);
  check_all(test::layered_vertices(200, 16), test::layered_edges(200, 16, random), {0, 17, 3, 0, 1999, 5}, options);
}

// Around the row length from which rows are split: 512.
TEST_F(BetweennessCuda, LongRows) {
  for (const std::int64_t leaves : {63, 64, 65, 511, 512, 513, 1024, 1025, 40000}) {
    SCOPED_TRACE(std::to_string(leaves) + " leaves");
    edge_vector edges;  // two hubs share their leaves, each with an end of its own
    for (std::int64_t k = 0; k < leaves; ++k) {
      edges.emplace_back(0, k + 2);
      edges.emplace_back(k + 2, 1);
    }
    const std::int64_t n = leaves + 4;
    edges.emplace_back(1, n - 2);
    edges.emplace_back(n - 1, 0);
    check_all(n, edges, {0, 1, static_cast<index>(n - 1), 5, 7}, {.edges = betweenness_edges::counted});
  }
}

// A small world between long paths: narrow, then dense, then narrow levels, at other depths for each source; and hubs
// in narrow levels, several of them at the same level modulo 3.
TEST_F(BetweennessCuda, NarrowAndDenseLevelsInTurn) {
  test::random_source random(43);
  constexpr std::int64_t crowd = 6000;
  constexpr std::int64_t tail = 300;
  for (int round = 0; round < 3; ++round) {
    edge_vector edges = test::random_edges(random, crowd, 60000, round);
    for (std::int64_t p = 0; p < 3; ++p) {
      const std::int64_t first = crowd + p * tail;
      edges.emplace_back(first, random.below(crowd));
      edges.emplace_back(random.below(crowd), first);
      for (std::int64_t k = 0; k + 1 < tail; ++k) {
        edges.emplace_back(first + k, first + k + 1);
        edges.emplace_back(first + k + 1, first + k);
      }
    }
    std::int64_t n = crowd + 3 * tail;
    for (const std::int64_t at : {40, 43, 46, 101}) {  // brooms along the first path
      for (std::int64_t k = 0; k < 700; ++k) edges.emplace_back(crowd + at, n++);
    }
    check_all(n, edges,
              {static_cast<index>(crowd + tail - 1), 5, static_cast<index>(crowd + 2 * tail - 1),
               static_cast<index>(crowd + tail / 2), static_cast<index>(crowd + 50)});
  }
}

// Directed cycles of many lengths: edges that lead back over any number of levels.
TEST_F(BetweennessCuda, EdgesThatLeadFarBack) {
  test::random_source random(44);
  for (int round = 0; round < 3; ++round) {
    constexpr std::int64_t n = 1500;
    edge_vector edges = test::path_edges(n);
    for (std::int64_t k = 0; k < 2000; ++k) {
      const std::int64_t u = random.below(n);
      edges.emplace_back(u, random.below(u + 1));
      if (k % 4 == 0) edges.emplace_back(u, std::min(n - 1, u + 1 + random.below(round + 2)));
    }
    check(test::make_directed<index, offset>(n, edges, test::edges_kept::out), {0, 1, 2, 3, 700},
          {.edges = betweenness_edges::counted});
  }
}

// A few vertices have most edges: the device sorts vertices by degree and restores their ids.
TEST_F(BetweennessCuda, FewVerticesWithMostEdges) {
  test::random_source random(47);
  constexpr std::int64_t n = 4000;
  edge_vector edges = test::random_edges(random, n, 8000, 0);
  for (const std::int64_t hub : {3999, 17, 2500}) {
    for (std::int64_t k = 0; k < 900; ++k) edges.emplace_back(hub, random.below(n));
    for (std::int64_t k = 0; k < 600; ++k) edges.emplace_back(random.below(n), hub);
  }
  const sources_type sources{3999, 0, 5, 5, 17, 2499, 2500};
  for (const auto normalization :
       {betweenness_normalization::none, betweenness_normalization::pairs, betweenness_normalization::by_maximum}) {
    check_all(n, edges, sources,
              {.normalization = normalization,
               .endpoints = betweenness_endpoints::included,
               .edges = betweenness_edges::counted});
    check_all(n, edges, sources, {.normalization = normalization});
  }
}

// Sorted by degree, with more vertices than the shared-memory table holds; some isolated, including a source. Path
// counts on both sides of 255, where a pull stops reading bytes.
TEST_F(BetweennessCuda, MoreVerticesThanSharedMemoryHolds) {
  test::random_source random(53);
  constexpr std::int64_t n = 600000;
  for (const std::int64_t shared : {100, 300}) {
    SCOPED_TRACE("common neighbours " + std::to_string(shared));
    edge_vector edges = test::random_edges(random, n - 1000, 1500000, 0);
    for (std::int64_t k = 0; k < 5000; ++k) edges.emplace_back(n / 2, random.below(n - 1000));
    for (std::int64_t k = 0; k < shared; ++k) {
      edges.emplace_back(7, 1000 * k);
      edges.emplace_back(1000 * k, 11);
    }
    check(test::make_undirected<index, offset>(n, edges), {7, n / 2, n - 1, 12345, 11});
    check(test::make_directed<index, offset>(n, edges, test::edges_kept::out), {7, n / 2, n - 1, 12345, 11});
  }
}

TEST_F(BetweennessCuda, AllVerticesOfLargerGraphs) {
  test::random_source random(45);
  const edge_vector edges = test::random_edges(random, 900, 4000, 1);
  check_all(900, edges, {}, {.normalization = betweenness_normalization::pairs});
  check_all(900, edges, {}, {.normalization = betweenness_normalization::by_maximum});
}

// Grids and other graphs with few edges per vertex, whose narrow levels blocks run alone: path counts beyond any
// exponent, more pairs than a block has teams, and wide levels in between.
TEST_F(BetweennessCuda, FewEdgesPerVertex) {
  constexpr betweenness_options options{.endpoints = betweenness_endpoints::included,
                                        .edges = betweenness_edges::counted};
  check_all(160000, test::grid_edges(400, 400), {0, 80200, 159999, 399, 5});
  check_all(24000, test::grid_edges(12, 2000), {0, 23999, 12001, 13}, options);
  test::random_source random(46);
  for (const std::int64_t reach : {3, 20, 200, 20000}) {
    SCOPED_TRACE("reach " + std::to_string(reach));
    constexpr std::int64_t n = 20000;
    std::vector<int> degree(n);
    edge_vector edges;
    for (std::int64_t k = 0; k < 2 * n; ++k) {
      const std::int64_t u = random.below(n);
      const std::int64_t v = std::clamp<std::int64_t>(u + random.below(2 * reach + 1) - reach, 0, n - 1);
      if (std::max(degree[static_cast<std::size_t>(u)], degree[static_cast<std::size_t>(v)]) > 5) continue;
      ++degree[static_cast<std::size_t>(u)];
      ++degree[static_cast<std::size_t>(v)];
      edges.emplace_back(u, v);
    }
    check_all(n, edges, {0, 19999, 10000, 5000, 7}, options);
  }
}

TEST_F(BetweennessCuda, TellsWhatItDoesAndRefusesTheRest) {
  const auto raw = test::make_directed<index, offset>(3, {{0, 1}, {1, 2}}, test::edges_kept::out);
  const test::placed_graph<index, offset, device> g(raw);
  const betweenness_plan<index, offset, device> plan(g.ctx(), g.view());
  EXPECT_EQ(plan.algorithm(), betweenness_algorithm::by_level);
  EXPECT_NE(plan.reason().find("device"), std::string::npos);
  EXPECT_GT(plan.workspace_bytes(), 0);
  using plan_type = betweenness_plan<index, offset, device>;
  EXPECT_EQ(
      test::message_of(error_code::unsupported,
                       [&] { (void)plan_type(g.ctx(), g.view(), {.algorithm = betweenness_algorithm::by_source}); }),
      "betweenness: algorithm by_source does not run on the device (expected one of by_level)");
  EXPECT_THROW((void)betweenness(g.ctx(), g.view(), sources_type{3}), error);
}

}  // namespace
}  // namespace spargo
