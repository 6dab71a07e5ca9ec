// Maximal matchings: against the sequential greedy matching in an order computed from the definition, on small random
// graphs, on shapes that hurt and on real graphs; bits that do not depend on threads; bounds; the check.
#include <spargo/graph/matching.hpp>
#include <spargo/io/generate.hpp>

#include "graph/graph_suite.hpp"
#include "graph/greedy_support.hpp"
#include "graph/plan_suite.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::edge_vector;

template <class Space>
struct matching_case : test::plan_case<matching_plan<std::int32_t, std::int64_t, Space>, matching_options> {
  static constexpr const char* name = "matching";
  static std::vector<matching_options> estimated() { return test::every_order<matching_options>(); }
};
const test::plan_suite<matching_case> every_plan;

// Vertex after vertex takes the first neighbour in the order that is free.
std::vector<std::int64_t> naive_matching(const test::adjacency& neighbours, const std::vector<std::int64_t>& order) {
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

// Every order, twice, and the check.
template <class Space, class I, class O>
void expect_matchings(const test::raw_graph<I, O>& raw, const edge_vector& edges, int threads = 3) {
  const test::placed_graph<I, O, Space> placed(raw, threads);
  const auto g = placed.view();
  const test::adjacency neighbours = test::both_ways(raw.vertices, edges);
  for (const auto& options : test::every_order<matching_options>()) {
    SCOPED_TRACE(test::text_of(options) + ", " + std::to_string(raw.vertices) + " vertices, " +
                 std::to_string(edges.size()) + " edges, " + std::to_string(threads) + " threads");
    const auto expected =
        naive_matching(neighbours, test::naive_order(neighbours, options, greedy_order::smallest_first));
    matching_plan<I, O, Space> plan(placed.ctx(), g, options);
    for (int run = 0; run < 2; ++run) {
      plan.run();
      ASSERT_EQ(test::wide(placed.fetch(plan.mates())), expected);
      ASSERT_EQ(2 * plan.size(),
                std::count_if(expected.begin(), expected.end(), [](std::int64_t mate) { return mate >= 0; }));
    }
    const context<host> ctx({.threads = threads});
    ASSERT_EQ(check_matching(ctx, raw.view(), placed.fetch(plan.mates()), plan.size()), "");
  }
}

template <class Case>
class Matching : public test::threaded_graph_suite<Case> {
 protected:
  void check(std::int64_t n, const edge_vector& edges) {
    using I = typename Case::index;
    using O = typename Case::offset;
    using Space = typename Case::space;
    expect_matchings<Space>(test::make_undirected<I, O>(n, edges), edges);
    expect_matchings<Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), edges);
  }
};

TYPED_TEST_SUITE(Matching, test::graph_cases);

TYPED_TEST(Matching, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(5, {});
  this->check(2, {{1, 0}, {0, 1}, {1, 0}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 1}});
  this->check(33, test::star_edges(33));
  this->check(33, test::path_edges(33));
  this->check(64, test::grid_edges(8, 8));
  for (const std::int64_t size : {2, 33, 65, 66}) this->check(size + 1, test::clique_edges(1, size));
}

TYPED_TEST(Matching, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(500); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    const std::int64_t most = seed % 4 == 0 ? 20 * n : 4 * n;
    this->check(n, test::random_edges(random, n, random.below(most + 1), static_cast<int>(random.below(3))));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TYPED_TEST(Matching, SizesAroundBatches) {
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257, 1025, 3000}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    edge_vector edges = test::random_edges(random, n, 4 * n, 1);
    for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

TEST(MatchingHost, BitsDoNotDependOnThreads) {
  const context<host> ctx({.threads = 2});
  detail::assume_processors(8);
  for (const char* spec : {"gen:rmat:scale=13,degree=16", "gen:grid2d:n=150", "gen:rmat:scale=10,degree=100"}) {
    SCOPED_TRACE(spec);
    const auto g =
        build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction_kind::undirected});
    for (const auto& options : test::every_order<matching_options>()) {
      const auto expected = matching(context<host>({.threads = 1}), g, options);
      EXPECT_EQ(check_matching(ctx, g, expected.mates, expected.size), "");
      for (int threads = 2; threads <= 8; ++threads) {
        const auto found = matching(context<host>({.threads = threads}), g, options);
        ASSERT_EQ(test::wide(found.mates), test::wide(expected.mates)) << threads << " threads";
      }
    }
  }
  detail::assume_processors(0);
}

TEST(MatchingDevice, AgreesWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 4});
  const context<device> gpu;
  for (const char* spec : {"gen:rmat:scale=16,degree=16", "gen:rmat:scale=12,degree=300",
                           "gen:uniform:rows=100000,degree=12", "gen:grid2d:n=700"}) {
    for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
      SCOPED_TRACE(spec);
      const auto g =
          build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction, .in_edges = true});
      const auto there = to_device(gpu, g.view());
      for (const auto& options : test::every_order<matching_options>()) {
        SCOPED_TRACE(test::text_of(options));
        const auto expected = matching(ctx, g, options);
        matching_plan plan(gpu, there, options);
        for (int run = 0; run < 3; ++run) {
          plan.run();
          ASSERT_EQ(test::wide(to_host(gpu, plan.mates())), test::wide(expected.mates));
          ASSERT_EQ(plan.size(), expected.size);
        }
      }
    }
  }
}

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
  EXPECT_EQ(fault({1, 2, 1, -1, -1}, 1), "vertex 0 has mate 1, which is no vertex whose mate it is");
  EXPECT_EQ(fault({-1, 2, 1, -1, 4}, 1), "vertex 4 has mate 4, which is no vertex whose mate it is");
  EXPECT_EQ(fault({-1, 2, 1, -1, 9}, 1), "vertex 4 has mate 9, which is no vertex whose mate it is");
  EXPECT_EQ(fault({-1, 2, 1, -2, -1}, 1), "vertex 3 has mate -2, which is no vertex whose mate it is");
  EXPECT_EQ(fault({1, 0, -1, -1, -1}, 1), "vertices 3 and 2 are joined by an edge and both without a mate");
  EXPECT_EQ(fault({3, 2, 1, 0, -1}, 2), "vertex 0 has mate 3, but no edge joins them");
}

}  // namespace
}  // namespace spargo
