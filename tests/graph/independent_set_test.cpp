// Maximal independent sets: against the sequential greedy set in an order computed from the definition, on small random
// graphs, on shapes that hurt and on real graphs; bits that do not depend on threads; bounds; the check.
#include <spargo/graph/independent_set.hpp>
#include <spargo/io/generate.hpp>

#include "graph/graph_suite.hpp"
#include "graph/greedy_support.hpp"
#include "graph/known_graphs.hpp"
#include "graph/plan_suite.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::edge_vector;

template <class Space>
struct independent_set_case
    : test::plan_case<independent_set_plan<std::int32_t, std::int64_t, Space>, independent_set_options> {
  static constexpr const char* name = "independent_set";
  static std::vector<independent_set_options> estimated() { return test::every_order<independent_set_options>(); }
};
const test::plan_suite<independent_set_case> every_plan;

// Vertex after vertex, unless a neighbour is in the set.
std::vector<std::int64_t> naive_set(const test::adjacency& neighbours, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> members(neighbours.size());
  for (const std::int64_t v : order) {
    bool joins = true;
    for (const std::int64_t u : neighbours[static_cast<std::size_t>(v)]) {
      joins = joins && members[static_cast<std::size_t>(u)] == 0;
    }
    members[static_cast<std::size_t>(v)] = joins ? 1 : 0;
  }
  return members;
}

// Every order, twice, and the check.
template <class Space, class I, class O>
void expect_sets(const test::raw_graph<I, O>& raw, const edge_vector& edges, int threads = 3) {
  const test::placed_graph<I, O, Space> placed(raw, threads);
  const auto g = placed.view();
  const test::adjacency neighbours = test::both_ways(raw.vertices, edges);
  for (const auto& options : test::every_order<independent_set_options>()) {
    SCOPED_TRACE(test::text_of(options) + ", " + std::to_string(raw.vertices) + " vertices, " +
                 std::to_string(edges.size()) + " edges, " + std::to_string(threads) + " threads");
    const auto expected = naive_set(neighbours, test::naive_order(neighbours, options, greedy_order::smallest_first));
    independent_set_plan<I, O, Space> plan(placed.ctx(), g, options);
    for (int run = 0; run < 2; ++run) {
      plan.run();
      ASSERT_EQ(test::wide(placed.fetch(plan.members())), expected);
      ASSERT_EQ(plan.size(), std::count(expected.begin(), expected.end(), 1));
    }
    const context<host> ctx({.threads = threads});
    ASSERT_EQ(check_independent_set(ctx, raw.view(), placed.fetch(plan.members()), plan.size()), "");
  }
}

template <class Case>
class IndependentSet : public test::threaded_graph_suite<Case> {
 protected:
  void check(std::int64_t n, const edge_vector& edges) {
    using I = typename Case::index;
    using O = typename Case::offset;
    using Space = typename Case::space;
    expect_sets<Space>(test::make_undirected<I, O>(n, edges), edges);
    expect_sets<Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), edges);
  }
};

TYPED_TEST_SUITE(IndependentSet, test::graph_cases);

TYPED_TEST(IndependentSet, SmallShapes) {
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

TYPED_TEST(IndependentSet, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(500); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    const std::int64_t most = seed % 4 == 0 ? 20 * n : 4 * n;
    this->check(n, test::random_edges(random, n, random.below(most + 1), static_cast<int>(random.below(3))));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TYPED_TEST(IndependentSet, SizesAroundBatches) {
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257, 1025, 3000}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    edge_vector edges = test::random_edges(random, n, 4 * n, 1);
    for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

TEST(IndependentSetHost, BitsDoNotDependOnThreads) {
  const context<host> ctx({.threads = 2});
  detail::assume_processors(8);
  for (const char* spec : {"gen:rmat:scale=13,degree=16", "gen:grid2d:n=150", "gen:rmat:scale=10,degree=100"}) {
    SCOPED_TRACE(spec);
    const auto g =
        build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction_kind::undirected});
    for (const auto& options : test::every_order<independent_set_options>()) {
      const auto expected = independent_set(context<host>({.threads = 1}), g, options);
      EXPECT_EQ(check_independent_set(ctx, g, expected.members, expected.size), "");
      for (int threads = 2; threads <= 8; ++threads) {
        const auto found = independent_set(context<host>({.threads = threads}), g, options);
        ASSERT_EQ(test::wide(found.members), test::wide(expected.members)) << threads << " threads";
      }
    }
  }
  detail::assume_processors(0);
}

TEST(IndependentSetDevice, AgreesWithTheHost) {
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
      for (const auto& options : test::every_order<independent_set_options>()) {
        SCOPED_TRACE(test::text_of(options));
        const auto expected = independent_set(ctx, g, options);
        independent_set_plan plan(gpu, there, options);
        for (int run = 0; run < 3; ++run) {
          plan.run();
          ASSERT_EQ(test::wide(to_host(gpu, plan.members())), test::wide(expected.members));
          ASSERT_EQ(plan.size(), expected.size);
        }
      }
    }
  }
}

// --- Quality --------------------------------------------------------------

TEST(IndependentSetData, LargeSets) {
  const context<host> ctx({.threads = 2});
  test::for_each_truth<pattern>("mis_bounds", [&](const auto& known, const auto& truth) {
    const auto g = build_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    for (const auto& options : test::every_order<independent_set_options>()) {
      const auto found = independent_set(ctx, g, options);
      EXPECT_EQ(check_independent_set(ctx, g, found.members, found.size), "");
      const std::int64_t size = found.size + known.absent();  // ids without edges are in every set of the truth
      EXPECT_GE(size, truth["lower"].template get<std::int64_t>());
      EXPECT_LE(size, truth["upper"].template get<std::int64_t>());
      if (options.order != greedy_order::smallest_first) continue;
      // Ties by vertex suit the numbering of meshes; these are at random.
      const auto reference = truth["greedy_min_degree"].template get<double>();
      EXPECT_GE(static_cast<double>(size), 0.7 * reference - 2);
    }
  });
}

// --- The check ------------------------------------------------------------

std::string fault(const std::vector<std::uint8_t>& members, std::int64_t size) {
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(4, {{0, 1}, {2, 1}, {2, 2}}, test::edges_kept::out);
  return check_independent_set(context<host>({.threads = 2}), raw.view(), members, size);
}

TEST(CheckIndependentSet, SaysWhatIsWrong) {
  EXPECT_EQ(fault({1, 0, 1, 1}, 3), "");
  EXPECT_EQ(fault({0, 1, 0, 1}, 2), "");
  EXPECT_EQ(fault({0, 1, 0}, 1), "3 states for 4 vertices");
  EXPECT_EQ(fault({0, 2, 0, 1}, 1), "vertex 1 has state 2 (expected 0 or 1)");
  EXPECT_EQ(fault({1, 0, 1, 1}, 2), "the set has 3 vertices (expected 2)");
  EXPECT_EQ(fault({1, 1, 0, 1}, 3), "vertices 0 and 1 are joined by an edge and both in the set");
  EXPECT_EQ(fault({0, 1, 1, 1}, 3), "vertices 2 and 1 are joined by an edge and both in the set");
  EXPECT_EQ(fault({0, 1, 0, 0}, 1), "vertex 3 is not in the set and has no neighbour that is");
  EXPECT_EQ(fault({1, 0, 0, 1}, 2), "vertex 2 is not in the set and has no neighbour that is");
}

}  // namespace
}  // namespace spargo
