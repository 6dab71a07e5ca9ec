// Eccentricities, diameter and radius: against all distances on thousands of small random graphs and on shapes that
// hurt; bounds after few searches; the same for any number of threads; what the check finds; refusals.
#include <spargo/graph/components.hpp>
#include <spargo/graph/eccentricity.hpp>
#include <spargo/io/generate.hpp>

#include "graph/eccentricity/algorithms.hpp"
#include "graph/graph_suite.hpp"
#include "graph/plan_suite.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;
using numbers = std::vector<std::int64_t>;

template <class Space>
struct eccentricity_case : test::plan_case<eccentricity_plan<std::int32_t, std::int64_t, Space>, eccentricity_options> {
  static constexpr const char* name = "eccentricity";

  static std::vector<eccentricity_options> estimated() { return {{.output = eccentricity_output::diameter}}; }
};
const test::plan_suite<eccentricity_case> every_plan;

// Distances from s, -1 where there is no path.
numbers naive_distances(const std::vector<numbers>& lists, std::int64_t s) {
  numbers d(lists.size(), -1);
  std::deque<std::int64_t> queue{s};
  d[static_cast<std::size_t>(s)] = 0;
  for (; !queue.empty(); queue.pop_front()) {
    for (const std::int64_t u : lists[static_cast<std::size_t>(queue.front())]) {
      if (d[static_cast<std::size_t>(u)] >= 0) continue;
      d[static_cast<std::size_t>(u)] = d[static_cast<std::size_t>(queue.front())] + 1;
      queue.push_back(u);
    }
  }
  return d;
}

// [vertex] within the largest (strong) component, the first one of several; -1 outside.
numbers naive_eccentricities(std::int64_t n, const edge_vector& edges, bool directed) {
  std::vector<numbers> lists(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) {
    lists[static_cast<std::size_t>(u)].push_back(v);
    if (!directed) lists[static_cast<std::size_t>(v)].push_back(u);
  }
  std::vector<numbers> d;
  for (std::int64_t s = 0; s < n; ++s) d.push_back(naive_distances(lists, s));
  const auto joined = [&](std::size_t u, std::size_t v) { return d[u][v] >= 0 && d[v][u] >= 0; };
  std::size_t first = 0;
  std::int64_t most = 0;
  for (std::size_t u = 0; u < lists.size(); ++u) {
    std::int64_t size = 0;
    for (std::size_t v = 0; v < lists.size(); ++v) size += joined(u, v) ? 1 : 0;
    if (size <= most) continue;
    most = size;
    first = u;
  }
  numbers ecc(lists.size(), -1);
  for (std::size_t u = 0; u < lists.size(); ++u) {
    if (!joined(first, u)) continue;
    for (std::size_t v = 0; v < lists.size(); ++v) {
      if (joined(first, v)) ecc[u] = std::max(ecc[u], d[u][v]);
    }
  }
  return ecc;
}

void expect_within(const std::vector<std::int32_t>& lower, const std::vector<std::int32_t>& upper,
                   const numbers& expected) {
  for (std::size_t v = 0; v < expected.size(); ++v) {
    ASSERT_LE(lower[v], expected[v]) << "vertex " << v;
    ASSERT_GE(upper[v], expected[v]) << "vertex " << v;
    ASSERT_EQ(lower[v] < 0, expected[v] < 0) << "vertex " << v;
    ASSERT_EQ(upper[v] < 0, expected[v] < 0) << "vertex " << v;
  }
}

// `summary` against the eccentricities.
void expect_summary(const eccentricity_summary& summary, const numbers& expected, eccentricity_output output) {
  std::int64_t size = 0, diameter = 0, radius = std::ssize(expected);
  for (const std::int64_t ecc : expected) {
    if (ecc < 0) continue;
    ++size;
    diameter = std::max(diameter, ecc);
    radius = std::min(radius, ecc);
  }
  ASSERT_EQ(summary.vertices, size);
  if (size == 0) return;
  ASSERT_LE(summary.diameter.lower, diameter);
  ASSERT_GE(summary.diameter.upper, diameter);
  ASSERT_LE(summary.radius.lower, radius);
  ASSERT_GE(summary.radius.upper, radius);
  if (summary.peripheral >= 0) {
    ASSERT_EQ(expected[static_cast<std::size_t>(summary.peripheral)], summary.diameter.lower);
    ASSERT_EQ(expected[static_cast<std::size_t>(summary.central)], summary.radius.upper);
  }
  if (!summary.exact) return;
  ASSERT_TRUE(summary.diameter.are_exact());
  ASSERT_TRUE(output == eccentricity_output::diameter || summary.radius.are_exact());
}

template <class Space, class I, class O>
void expect_eccentricities(const test::raw_graph<I, O>& raw, const numbers& expected, int threads = 3) {
  const test::placed_graph<I, O, Space> placed(raw, threads);
  for (const auto output : {eccentricity_output::all, eccentricity_output::extremes, eccentricity_output::diameter}) {
    for (const std::int64_t most : {-1, 0, 1, 3, 9}) {
      SCOPED_TRACE(std::to_string(expected.size()) + " vertices, " + std::to_string(raw.view().out.nnz()) +
                   " entries, output " + std::to_string(static_cast<int>(output)) + ", searches " +
                   std::to_string(most));
      eccentricity_plan<I, O, Space> plan(placed.ctx(), placed.view(), {.output = output, .max_searches = most});
      for (int run = 0; run < (most < 0 ? 2 : 1); ++run) {
        plan.run();
        const std::vector<std::int32_t> lower = placed.fetch(plan.lower());
        const std::vector<std::int32_t> upper = placed.fetch(plan.upper());
        const eccentricity_summary& summary = plan.summary();
        ASSERT_EQ(lower.size(), expected.size());
        ASSERT_NO_FATAL_FAILURE(expect_within(lower, upper, expected));
        ASSERT_NO_FATAL_FAILURE(expect_summary(summary, expected, output));
        ASSERT_TRUE(most < 0 ? summary.exact : summary.searches <= most);
        ASSERT_TRUE(lower == upper || output != eccentricity_output::all || !summary.exact);
        ASSERT_EQ(check_eccentricities(context<host>({.threads = threads}), raw.view(), lower, upper, summary, 20), "");
      }
    }
  }
}

template <class Case>
class Eccentricity : public test::threaded_graph_suite<Case> {
 protected:
  void check(std::int64_t n, const edge_vector& edges) {
    using I = typename Case::index;
    using O = typename Case::offset;
    using Space = typename Case::space;
    expect_eccentricities<Space>(test::make_undirected<I, O>(n, edges), naive_eccentricities(n, edges, false));
    if (testing::Test::HasFatalFailure()) return;
    const numbers directed = naive_eccentricities(n, edges, true);
    for (const auto kept : {test::edges_kept::out, test::edges_kept::out_and_in}) {
      expect_eccentricities<Space>(test::make_directed<I, O>(n, edges, kept), directed);
    }
  }
};

TYPED_TEST_SUITE(Eccentricity, test::graph_cases);

TYPED_TEST(Eccentricity, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(5, {});
  this->check(2, {{1, 0}});
  this->check(2, {{1, 0}, {0, 1}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 1}});
  this->check(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}});
  this->check(6, {{4, 3}, {3, 4}, {0, 1}, {1, 2}, {2, 0}});
  this->check(33, test::star_edges(33));
  this->check(40, test::path_edges(40));
  this->check(41, test::cycle_edges(41));
  this->check(80, test::cycle_edges(80));
  this->check(64, test::grid_edges(8, 8));
}

TYPED_TEST(Eccentricity, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(200); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(seed % 8 == 0 ? 120 : 40);
    this->check(n, test::random_edges(random, n, random.below(3 * n + 1), static_cast<int>(random.below(3))));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Trees: every vertex with one neighbour follows from that one.
TYPED_TEST(Eccentricity, Trees) {
  for (std::uint64_t seed = 0; seed < this->rounds(40); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 2 + random.below(100);
    edge_vector edges;
    for (std::int64_t v = 1; v < n; ++v)
      edges.emplace_back(v, seed % 2 == 0 ? random.below(v) : v - 1 - random.below(std::min<std::int64_t>(v, 3)));
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Bundles of searches: a cycle, whose bounds hardly meet, and a torus.
TYPED_TEST(Eccentricity, ManyCandidates) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  using Space = typename TypeParam::space;
  constexpr std::int64_t side = 15;
  edge_vector torus;
  for (std::int64_t v = 0; v < side * side; ++v) {
    torus.emplace_back(v, v / side * side + (v + 1) % side);
    torus.emplace_back(v, (v + side) % (side * side));
  }
  expect_eccentricities<Space>(test::make_undirected<I, O>(side * side, torus), numbers(side * side, 14));
  expect_eccentricities<Space>(test::make_directed<I, O>(side * side, torus, test::edges_kept::out),
                               numbers(side * side, 28));
  expect_eccentricities<Space>(test::make_undirected<I, O>(501, test::cycle_edges(501)), numbers(501, 250));
}

TEST(EccentricityHost, NothingDependsOnThreads) {
  const context<host> ctx({.threads = 2});
  detail::assume_processors(8);
  for (const char* spec : {"gen:rmat:scale=12,degree=8", "gen:grid2d:n=60"}) {
    const auto g =
        build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction_kind::undirected});
    for (const std::int64_t most : {-1, 10}) {
      std::vector<std::int32_t> first;
      std::int64_t searches = 0;
      for (int threads = 1; threads <= 8; ++threads) {
        const auto found = eccentricities(context<host>({.threads = threads}), g, {.max_searches = most});
        std::vector<std::int32_t> bounds(found.lower.begin(), found.lower.end());
        bounds.insert(bounds.end(), found.upper.begin(), found.upper.end());
        if (threads == 1) {
          first = bounds;
          searches = found.summary.searches;
        }
        ASSERT_EQ(bounds, first) << spec << ", " << threads;
        ASSERT_EQ(found.summary.searches, searches);
      }
    }
  }
  detail::assume_processors(0);
}

TEST(EccentricityDevice, AgreesWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 2});
  const context<device> gpu;
  for (const char* spec : {"gen:rmat:scale=13,degree=8", "gen:uniform:rows=20000,degree=6", "gen:grid2d:n=100"}) {
    for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
      SCOPED_TRACE(spec);
      const auto g =
          build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction, .in_edges = true});
      for (const auto output : {eccentricity_output::extremes, eccentricity_output::diameter}) {
        for (const std::int64_t most : {-1, 12}) {
          const eccentricity_options options{
              .output = output, .max_searches = most, .max_expected_searches = most < 0 ? 5000 : -1};
          const auto expected = eccentricities(ctx, g, options);
          const auto there = to_device(gpu, g.view());
          eccentricity_plan plan(gpu, there, options);
          plan.run();
          const auto lower = to_host(gpu, plan.lower());
          const auto upper = to_host(gpu, plan.upper());
          ASSERT_TRUE(std::equal(lower.begin(), lower.end(), expected.lower.begin(), expected.lower.end()));
          ASSERT_TRUE(std::equal(upper.begin(), upper.end(), expected.upper.begin(), expected.upper.end()));
          ASSERT_EQ(plan.summary().searches, expected.summary.searches);
          ASSERT_EQ(plan.summary().diameter, expected.summary.diameter);
          ASSERT_EQ(plan.summary().peripheral, expected.summary.peripheral);
          ASSERT_EQ(plan.summary().central, expected.summary.central);
        }
      }
    }
  }
}

// All vertices of a cycle have the same eccentricity, which only searches from them prove.
TEST(EccentricityHost, StopsWhereTooManySearchesAreExpected) {
  const auto raw = test::make_undirected<std::int32_t, std::int64_t>(2400, test::cycle_edges(2400));
  const context<host> ctx({.threads = 2});
  for (const auto output : {eccentricity_output::all, eccentricity_output::extremes, eccentricity_output::diameter}) {
    const auto stopped = eccentricities(ctx, raw.view(), {.output = output, .max_expected_searches = 1000});
    EXPECT_FALSE(stopped.summary.exact);
    EXPECT_EQ(stopped.summary.diameter.lower, 1200);
    EXPECT_GT(stopped.summary.diameter.upper, 1200);
    EXPECT_GE(stopped.summary.searches, 256);
    EXPECT_LE(stopped.summary.searches, 700);
    EXPECT_EQ(check_eccentricities(ctx, raw.view(), stopped.lower, stopped.upper, stopped.summary, 100), "");
    for (const std::int64_t most : {-1, 100000}) {
      const auto found = eccentricities(ctx, raw.view(), {.output = output, .max_expected_searches = most});
      EXPECT_TRUE(found.summary.exact);
      EXPECT_EQ(found.summary.diameter, (eccentricity_bounds{1200, 1200}));
      EXPECT_GT(found.summary.searches, 1000);
    }
  }
  // A cycle short enough is settled before the estimate.
  const auto small = test::make_undirected<std::int32_t, std::int64_t>(200, test::cycle_edges(200));
  EXPECT_TRUE(eccentricities(ctx, small.view(), {.max_expected_searches = 0}).summary.exact);
}

TEST(EccentricityHost, TheCheckFindsWrongBounds) {
  const context<host> ctx({.threads = 2});
  const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:grid2d:n=7"),
                             {.direction = direction_kind::undirected});
  const auto found = eccentricities(ctx, g);
  const auto fault = [&](auto&& spoil) {
    std::vector<std::int32_t> lower(found.lower.begin(), found.lower.end());
    std::vector<std::int32_t> upper(found.upper.begin(), found.upper.end());
    eccentricity_summary summary = found.summary;
    spoil(lower, upper, summary);
    return check_eccentricities(ctx, g, lower, upper, summary, 200);
  };
  EXPECT_EQ(fault([](auto&, auto&, auto&) {}), "");
  EXPECT_NE(fault([](auto& low, auto&, auto&) { ++low[0]; }), "");
  EXPECT_NE(fault([](auto& low, auto& high, auto&) { --low[10], --high[10]; }), "");
  EXPECT_NE(fault([](auto& low, auto& high, auto&) { ++low[11], ++high[11]; }), "");
  EXPECT_NE(fault([](auto& low, auto& high, auto&) { low[5] = high[5] = -1; }), "");
  EXPECT_NE(fault([](auto&, auto&, auto& s) { ++s.diameter.lower, ++s.diameter.upper; }), "");
  EXPECT_NE(fault([](auto&, auto&, auto& s) { --s.diameter.lower, --s.diameter.upper; }), "");
  EXPECT_NE(fault([](auto&, auto&, auto& s) { ++s.radius.lower, ++s.radius.upper; }), "");
  EXPECT_NE(fault([](auto&, auto&, auto& s) { --s.radius.lower, --s.radius.upper; }), "");
  EXPECT_NE(fault([](auto&, auto&, auto& s) { --s.vertices; }), "");
  EXPECT_NE(fault([](auto&, auto&, auto& s) { s.peripheral = s.central; }), "");
  EXPECT_NE(fault([](auto&, auto&, auto& s) { s.central = s.peripheral; }), "");
  EXPECT_EQ(fault([](auto& low, auto&, auto&) { low.pop_back(); }), "48 lower and 49 upper bounds for 49 vertices");
}

// The ends of a path, 4 from the central vertex, whose bounds agree with all searches but their own.
TEST(EccentricityHost, TheCheckSearchesFromTheFarthestVertices) {
  const auto raw = test::make_undirected<std::int32_t, std::int64_t>(9, test::path_edges(9));
  const std::vector<std::int32_t> bounds{7, 7, 6, 5, 4, 5, 6, 7, 7};
  const eccentricity_summary summary{
      .vertices = 9, .diameter = {7, 7}, .radius = {4, 4}, .peripheral = 1, .central = 4, .searches = 9};
  EXPECT_EQ(check_eccentricities(context<host>({.threads = 1}), raw.view(), bounds, bounds, summary, 2),
            "vertex 8 has the bounds 7 and 7 (expected 8)");
}

TEST(EccentricityHost, RefusesOptionsThatDoNotExist) {
  const context<host> ctx({.threads = 2});
  const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:grid2d:n=3"),
                             {.direction = direction_kind::undirected});
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] { eccentricity_plan(ctx, g, {.output = static_cast<eccentricity_output>(7)}); }),
            "eccentricity: no output has the number 7");
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { eccentricity_plan(ctx, g, {.max_searches = -2}); }),
            "eccentricity: at most -2 searches (expected 0 or more, or -1)");
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { eccentricity_plan(ctx, g, {.max_expected_searches = -2}); }),
            "eccentricity: at most -2 expected searches (expected 0 or more, or -1)");
}

}  // namespace
}  // namespace spargo
