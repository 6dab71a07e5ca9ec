// Colourings: against the sequential greedy algorithm in an order computed from the definition, on small random graphs,
// on shapes that hurt and on real graphs; bits that do not depend on threads; bounds; refusals; the check.
#include <spargo/graph/coloring.hpp>
#include <spargo/graph/cores.hpp>
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
struct coloring_case : test::plan_case<coloring_plan<std::int32_t, std::int64_t, Space>, coloring_options> {
  static constexpr const char* name = "coloring";
  static std::vector<coloring_options> estimated() { return test::every_order<coloring_options>(); }
};
const test::plan_suite<coloring_case> every_plan;

// The smallest colour that no neighbour has, vertex after vertex.
std::vector<std::int64_t> naive_coloring(const test::adjacency& neighbours, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> colors(neighbours.size(), -1);
  for (const std::int64_t v : order) {
    std::set<std::int64_t> taken;
    for (const std::int64_t u : neighbours[static_cast<std::size_t>(v)]) {
      if (u != v) taken.insert(colors[static_cast<std::size_t>(u)]);
    }
    std::int64_t color = 0;
    while (taken.count(color) > 0) ++color;
    colors[static_cast<std::size_t>(v)] = color;
  }
  return colors;
}

// Every order, twice, and the check.
template <class Space, class I, class O>
void expect_colorings(const test::raw_graph<I, O>& raw, const edge_vector& edges, int threads = 3) {
  const test::placed_graph<I, O, Space> placed(raw, threads);
  const auto g = placed.view();
  const test::adjacency neighbours = test::both_ways(raw.vertices, edges);
  for (const coloring_options& options : test::every_order<coloring_options>()) {
    SCOPED_TRACE(test::text_of(options) + ", " + std::to_string(raw.vertices) + " vertices, " +
                 std::to_string(edges.size()) + " edges, " + std::to_string(threads) + " threads");
    const auto expected =
        naive_coloring(neighbours, test::naive_order(neighbours, options, greedy_order::largest_first));
    coloring_plan<I, O, Space> plan(placed.ctx(), g, options);
    for (int run = 0; run < 2; ++run) {
      plan.run();
      ASSERT_EQ(test::wide(placed.fetch(plan.colors())), expected);
      ASSERT_EQ(plan.count(), expected.empty() ? 0 : *std::max_element(expected.begin(), expected.end()) + 1);
    }
    const context<host> ctx({.threads = threads});
    ASSERT_EQ(check_coloring(ctx, raw.view(), placed.fetch(plan.colors()), plan.count()), "");
    if (options.order == greedy_order::smallest_last) {
      ASSERT_LE(plan.count(), raw.vertices == 0 ? 0 : cores(ctx, raw.view()).max_core + 1);
    }
  }
}

template <class Case>
class Coloring : public test::threaded_graph_suite<Case> {
 protected:
  void check(std::int64_t n, const edge_vector& edges) {
    using I = typename Case::index;
    using O = typename Case::offset;
    using Space = typename Case::space;
    expect_colorings<Space>(test::make_undirected<I, O>(n, edges), edges);
    expect_colorings<Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), edges);
  }
};

TYPED_TEST_SUITE(Coloring, test::graph_cases);

TYPED_TEST(Coloring, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(5, {});
  this->check(2, {{1, 0}, {0, 1}, {1, 0}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 1}});
  this->check(33, test::star_edges(33));
  this->check(33, test::path_edges(33));
  this->check(64, test::grid_edges(8, 8));
  for (const std::int64_t size : {2, 31, 32, 33, 63, 64, 65, 66}) this->check(size + 1, test::clique_edges(1, size));
}

TYPED_TEST(Coloring, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(500); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    const std::int64_t most = seed % 4 == 0 ? 20 * n : 4 * n;
    this->check(n, test::random_edges(random, n, random.below(most + 1), static_cast<int>(random.below(3))));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// A hub, and sizes around those of words, warps and blocks.
TYPED_TEST(Coloring, SizesAroundBatches) {
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257, 1025, 3000}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    edge_vector edges = test::random_edges(random, n, 4 * n, 1);
    for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

// More colours than a window of marks holds.
TYPED_TEST(Coloring, ManyColors) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  const edge_vector edges = test::clique_edges(0, 1100);
  expect_colorings<typename TypeParam::space>(test::make_undirected<I, O>(1101, edges), edges);
}

TEST(ColoringHost, BitsDoNotDependOnThreads) {
  const context<host> ctx({.threads = 2});
  detail::assume_processors(8);
  for (const char* spec : {"gen:rmat:scale=13,degree=16", "gen:grid2d:n=150", "gen:rmat:scale=10,degree=100"}) {
    SCOPED_TRACE(spec);
    const auto g =
        build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction_kind::undirected});
    for (const coloring_options& options : test::every_order<coloring_options>()) {
      const auto expected = coloring(context<host>({.threads = 1}), g, options);
      EXPECT_EQ(check_coloring(ctx, g, expected.colors, expected.count), "");
      for (int threads = 2; threads <= 8; ++threads) {
        const auto found = coloring(context<host>({.threads = threads}), g, options);
        ASSERT_EQ(test::wide(found.colors), test::wide(expected.colors)) << threads << " threads";
      }
    }
  }
  detail::assume_processors(0);
}

TEST(ColoringDevice, AgreesWithTheHost) {
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
      for (const coloring_options& options : test::every_order<coloring_options>()) {
        SCOPED_TRACE(test::text_of(options));
        const auto expected = coloring(ctx, g, options);
        coloring_plan plan(gpu, there, options);
        for (int run = 0; run < 3; ++run) {
          plan.run();
          ASSERT_EQ(test::wide(to_host(gpu, plan.colors())), test::wide(expected.colors));
          ASSERT_EQ(plan.count(), expected.count);
        }
      }
    }
  }
}

// --- Quality --------------------------------------------------------------

TEST(ColoringData, FewColors) {
  const context<host> ctx({.threads = 2});
  test::for_each_truth<pattern>("colouring", [&](const auto& known, const auto& truth) {
    const auto g = build_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    const auto by = [&](greedy_order order) {
      const auto found = coloring(ctx, g, {.order = order});
      EXPECT_EQ(check_coloring(ctx, g, found.colors, found.count), "");
      return found.count;
    };
    EXPECT_LE(by(greedy_order::smallest_last), truth["max_core_plus_1"]);
    // Ties by vertex suit the numbering of meshes; these are at random.
    const auto reference = truth["greedy_largest_first"].template get<std::int64_t>();
    EXPECT_LE(by(greedy_order::largest_first), 2 * reference + 1);
    EXPECT_GE(by(greedy_order::random), by(greedy_order::smallest_last) / 2);
  });
}

TEST(ColoringOrders, BipartiteShapesTakeTwoColors) {
  const context<host> ctx;
  for (const auto& [n, edges] :
       {std::pair{std::int64_t{101}, test::star_edges(101)}, std::pair{std::int64_t{100}, test::path_edges(100)}}) {
    const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
    EXPECT_EQ(coloring(ctx, raw.view(), {.order = greedy_order::smallest_last}).count, 2);
  }
}

TEST(ColoringOptions, RefusesAnOrderThatIsNone) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(2, {{0, 1}});
  EXPECT_EQ(test::message_of(error_code::invalid_argument,
                             [&] { (void)coloring(ctx, raw.view(), {.order = static_cast<greedy_order>(9)}); }),
            "coloring: no order has the number 9");
  EXPECT_EQ(parse_greedy_order("smallest-last"), greedy_order::smallest_last);
  EXPECT_EQ(parse_greedy_order("smallest_last"), greedy_order::smallest_last);
}

// --- The check ------------------------------------------------------------

std::string fault(const std::vector<std::int32_t>& colors, std::int32_t count) {
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}, {2, 1}, {2, 2}}, test::edges_kept::out);
  return check_coloring(context<host>({.threads = 2}), raw.view(), colors, count);
}

TEST(CheckColoring, SaysWhatIsWrong) {
  EXPECT_EQ(fault({0, 1, 0}, 2), "");
  EXPECT_EQ(fault({2, 1, 0}, 3), "");
  EXPECT_EQ(fault({0, 1}, 2), "2 colours for 3 vertices");
  EXPECT_EQ(fault({0, 1, 0}, 4), "4 colours are used by 3 vertices");
  EXPECT_EQ(fault({0, 1, -1}, 2), "vertex 2 has colour -1 (expected 0 to 1)");
  EXPECT_EQ(fault({0, 2, 0}, 2), "vertex 1 has colour 2 (expected 0 to 1)");
  EXPECT_EQ(fault({0, 1, 0}, 3), "no vertex has colour 2 of 3");
  EXPECT_EQ(fault({0, 0, 1}, 2), "vertices 0 and 1 are joined by an edge and both have colour 0");
  EXPECT_EQ(fault({0, 1, 1}, 2), "vertices 2 and 1 are joined by an edge and both have colour 1");
}

}  // namespace
}  // namespace spargo
