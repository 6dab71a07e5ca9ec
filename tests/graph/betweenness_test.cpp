// Betweenness: every algorithm of both backends against the definition, on thousands of small random graphs and
// adversarial shapes; edges; refusals.
#include "core/parallel.hpp"
#include "graph/betweenness/algorithms.hpp"
#include "graph/betweenness_values.hpp"
#include "graph/graph_suite.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace spargo {
namespace {

using test::device_values;
using test::doubles;
using test::edge_vector;
using test::message_of;
using test::sources_type;
using test::values_in;
using test::values_of;

template <class Case>
class Betweenness : public test::threaded_graph_suite<Case> {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;
  using Space = typename Case::space;

  static inline const auto algorithms = [] {
    auto all = detail::algorithms_on<Space>(detail::betweenness::algorithms);
    std::erase(all, betweenness_algorithm::automatic);
    return all;
  }();

  // `edges`: in the direction of paths.
  static void check(const test::raw_graph<I, O>& raw, const edge_vector& edges, const sources_type& sources,
                    betweenness_options options) {
    const std::int64_t n = raw.vertices;
    const bool undirected = raw.direction == direction_kind::undirected;
    const doubles sums =
        test::naive_sums<long double>(n, edges, sources.empty() ? test::all_of(n) : sources, options.endpoints);
    const doubles expected = test::normalized(sums, undirected, sources, options);
    const std::vector<I> given(sources.begin(), sources.end());
    const context<host> ctx({.threads = 3});
    const test::placed_graph<I, O, Space> g(raw);
    for (const auto algorithm : algorithms) {
      options.algorithm = algorithm;
      betweenness_plan<I, O, Space> plan(g.ctx(), g.view(), options);
      for (int run = 0; run < 2; ++run) {
        plan.run(test::all_if_none(given));
        const doubles got = g.fetch(plan.values());
        const std::int64_t v = test::farthest_off(got, expected);
        ASSERT_LT(v, 0) << to_string(algorithm) << ", run " << run << ", vertex " << v << " of " << n << ": "
                        << got[static_cast<std::size_t>(v)] << ", expected " << expected[static_cast<std::size_t>(v)];
        ASSERT_EQ(check_betweenness<I>(ctx, raw.view(), got, test::all_if_none(given), options), "");
      }
    }
  }

  // Directed with and without in-edges, and undirected.
  static void check_all(std::int64_t n, const edge_vector& edges, const sources_type& sources,
                        const betweenness_options& options) {
    check(test::make_directed<I, O>(n, edges, test::edges_kept::out), edges, sources, options);
    check(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), edges, sources, options);
    edge_vector mirrored = edges;
    for (const auto& [u, v] : edges) mirrored.emplace_back(v, u);
    check(test::make_undirected<I, O>(n, edges), mirrored, sources, options);
  }
};

TYPED_TEST_SUITE(Betweenness, test::graph_cases);

constexpr betweenness_normalization normalizations[] = {
    betweenness_normalization::none, betweenness_normalization::pairs, betweenness_normalization::by_maximum};
constexpr betweenness_endpoints ends[] = {betweenness_endpoints::excluded, betweenness_endpoints::included};

// Includes loops, duplicates, isolated vertices and repeated sources.
TYPED_TEST(Betweenness, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < test::rounds_on<typename TypeParam::space>(1200); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(14);
    const edge_vector edges = test::random_edges(random, n, random.below(3 * n), static_cast<int>(seed % 3));
    sources_type sources;
    for (std::int64_t k = 0; seed % 2 == 1 && k <= static_cast<std::int64_t>(seed % 11); ++k) {
      sources.push_back(random.below(n));
    }
    this->check_all(n, edges, sources,
                    {.normalization = normalizations[seed / 2 % 3], .endpoints = ends[seed / 6 % 2]});
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TYPED_TEST(Betweenness, SmallShapes) {
  for (const auto normalization : normalizations) {
    for (const auto endpoints : ends) {
      const betweenness_options options{.normalization = normalization, .endpoints = endpoints};
      this->check_all(0, {}, {}, options);
      this->check_all(1, {}, {}, options);
      this->check_all(1, {{0, 0}, {0, 0}}, {0}, options);
      this->check_all(2, {{1, 0}}, {}, options);
      this->check_all(2, {{1, 0}}, {1, 1, 1}, options);
      this->check_all(3, {{2, 2}, {2, 1}, {1, 0}, {2, 1}}, {}, options);
      this->check_all(9, {{0, 1}, {1, 2}, {0, 3}, {3, 2}, {5, 6}, {6, 7}, {7, 5}}, {7, 0, 8}, options);
    }
  }
}

TYPED_TEST(Betweenness, ShapesAroundPowersOfTwo) {
  for (const std::int64_t n : {31, 32, 33, 63, 64, 65}) {
    this->check_all(n, test::star_edges(n), {}, {});
    this->check_all(n, test::path_edges(n), {}, {.endpoints = betweenness_endpoints::included});
    edge_vector cycle = test::path_edges(n);
    cycle.emplace_back(n - 1, 0);
    this->check_all(n, cycle, {0, n / 2, n - 1, 1, 2}, {});
    this->check_all(n, {}, {}, {});
  }
  this->check_all(64, test::grid_edges(8, 8), {}, {.normalization = betweenness_normalization::pairs});
}

// Known values: a vertex of a path is between those before and those after it, the hub of a star between all pairs.
TYPED_TEST(Betweenness, LongPathsAndLargeStars) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  const auto values = [](const auto& raw, const sources_type& sources, betweenness_algorithm algorithm) {
    return values_in<index, offset, typename TypeParam::space>(raw, sources, {.algorithm = algorithm});
  };
  for (const std::int64_t n : {255, 256, 257, 5000}) {
    const sources_type some = n > 300 ? sources_type{0, n / 2, n - 1} : sources_type{};
    const auto path = test::make_undirected<index, offset>(n, test::path_edges(n));
    const auto star = test::make_directed<index, offset>(n, test::star_edges(n), test::edges_kept::out);
    for (const auto algorithm : this->algorithms) {
      const doubles got = values(path, some, algorithm);
      for (std::int64_t v = 0; v < n; ++v) {
        double expected = static_cast<double>(v) * static_cast<double>(n - 1 - v);
        if (!some.empty()) {
          expected = 0;
          for (const std::int64_t s : some) expected += static_cast<double>(v < s ? v : v > s ? n - 1 - v : 0);
        }
        ASSERT_EQ(got[static_cast<std::size_t>(v)], expected) << n << ", vertex " << v;
      }
      EXPECT_EQ(values(star, some, algorithm), doubles(static_cast<std::size_t>(n)));
      const auto round = test::make_undirected<index, offset>(n, test::star_edges(n));
      const doubles hub = values(round, {1, 2, n - 1}, algorithm);
      EXPECT_EQ(hub[0], 3 * static_cast<double>(n - 2));
      EXPECT_EQ(std::accumulate(hub.begin(), hub.end(), 0.0), hub[0]);
    }
  }
}

// --- Edges ------------------------------------------------------------------

template <class I, class O>
edge_vector listed_edges(const test::raw_graph<I, O>& raw) {
  edge_vector edges;
  for (std::int64_t u = 0; u < raw.vertices; ++u) {
    for (O e = raw.offsets[static_cast<std::size_t>(u)]; e < raw.offsets[static_cast<std::size_t>(u + 1)]; ++e) {
      edges.emplace_back(u, raw.indices[static_cast<std::size_t>(e)]);
    }
  }
  return edges;
}

// Includes loops, duplicates and repeated sources.
TYPED_TEST(Betweenness, EdgesOfRandomGraphs) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  for (std::uint64_t seed = 0; seed < test::rounds_on<typename TypeParam::space>(400); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(14);
    const edge_vector some = test::random_edges(random, n, random.below(3 * n), static_cast<int>(seed % 3));
    sources_type sources;
    for (std::int64_t k = 0; seed % 2 == 1 && k <= static_cast<std::int64_t>(seed % 7); ++k) {
      sources.push_back(random.below(n));
    }
    const bool undirected = seed / 2 % 2 == 1;
    const auto raw = undirected ? test::make_undirected<index, offset>(n, some)
                                : test::make_directed<index, offset>(n, some, test::edges_kept::out);
    const edge_vector edges = listed_edges(raw);
    const betweenness_options options{.normalization = normalizations[seed / 4 % 3],
                                      .edges = betweenness_edges::counted};
    const doubles expected =
        test::normalized_edges(test::naive_edge_sums(n, edges, sources.empty() ? test::all_of(n) : sources), n,
                               undirected, sources, options.normalization);
    const context<host> ctx({.threads = 3});
    const std::vector<index> given(sources.begin(), sources.end());
    const test::placed_graph<index, offset, typename TypeParam::space> g(raw);
    betweenness_plan<index, offset, typename TypeParam::space> plan(g.ctx(), g.view(), options);
    ASSERT_EQ(plan.algorithm(), betweenness_algorithm::by_level);
    for (int run = 0; run < 2; ++run) {
      plan.run(test::all_if_none(given));
      const doubles values = g.fetch(plan.values());
      const doubles got = g.fetch(plan.edges());
      ASSERT_LT(test::farthest_off(got, expected), 0) << "run " << run;
      ASSERT_EQ(check_betweenness<index>(ctx, raw.view(), values, test::all_if_none(given), options, got), "");
      for (std::size_t e = 0; e < got.size(); ++e) {
        doubles wrong = got;
        wrong[e] = got[e] > 0 ? got[e] * (1 + 1e-6) : 1e-6;
        ASSERT_EQ(check_betweenness<index>(ctx, raw.view(), values, test::all_if_none(given), options, wrong)
                      .find("the edge from " + std::to_string(edges[e].first) + " to "),
                  0U);
      }
    }
  }
}

// Path counts beyond 2^500, several threads, and shared levels.
TEST(BetweennessEdges, OfLargeGraphs) {
  test::random_source random(37);
  const auto layers = test::make_directed<std::int32_t, std::int64_t>(
      test::layered_vertices(200, 16), test::layered_edges(200, 16, random), test::edges_kept::out_and_in);
  const auto skewed =
      test::make_undirected<std::int32_t, std::int64_t>(20000, test::random_edges(random, 20000, 200000, 2));
  const std::vector<std::int32_t> sources{0, 17, 3, 0, 1999, 5};
  constexpr betweenness_options options{.edges = betweenness_edges::counted};
  for (const auto& g : {layers.view(), skewed.view()}) {
    detail::assume_processors(16);
    const context<host> many({.threads = 7});
    const auto result = betweenness(many, g, sources, options);
    detail::assume_processors(0);
    EXPECT_EQ(check_betweenness(many, g, result.values, sources, options, result.edges), "");
    const auto alone = betweenness(context<host>({.threads = 1}), g, sources, options);
    EXPECT_TRUE(std::equal(alone.edges.begin(), alone.edges.end(), result.edges.begin(), result.edges.end()));
  }
}

// As in networkx: 0 - 1 - 2, and 2 - 3 - 4 - 2.
TEST(BetweennessEdges, OfAnUndirectedGraphCountEachPairOnce) {
  const context<host> ctx({.threads = 2});
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 2}});
  const auto result = betweenness(ctx, raw.view(), {}, {.edges = betweenness_edges::counted});
  const edge_vector edges = listed_edges(raw);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [low, high] = std::minmax(edges[e].first, edges[e].second);
    const double expected = low == 0 ? 4 : low == 1 ? 6 : low == 2 ? 3 : 1;
    EXPECT_EQ(result.edges[static_cast<std::int64_t>(e)], expected) << low << " - " << high;
  }
}

// --- The interface ---------------------------------------------------------

// Values of networkx 3.6.1, betweenness_centrality(path_graph(5), ...).
TEST(BetweennessNormalization, AsNetworkxHasIt) {
  const edge_vector edges = test::path_edges(5);
  const auto undirected = test::make_undirected<std::int32_t, std::int32_t>(5, edges);
  const auto directed = test::make_directed<std::int32_t, std::int32_t>(5, edges, test::edges_kept::out);
  using normal = betweenness_normalization;
  const auto expect = [](const doubles& got, const doubles& expected) {
    EXPECT_LT(test::farthest_off(got, expected, 1e-15), 0) << testing::PrintToString(got);
  };
  expect(values_of(undirected.view(), {}, {}), {0, 3, 4, 3, 0});
  expect(values_of(undirected.view(), {}, {.normalization = normal::pairs}), {0, 0.5, 2.0 / 3, 0.5, 0});
  expect(values_of(undirected.view(), {}, {.normalization = normal::by_maximum}), {0, 0.75, 1, 0.75, 0});
  expect(values_of(undirected.view(), {}, {.endpoints = betweenness_endpoints::included}), {4, 7, 8, 7, 4});
  expect(
      values_of(undirected.view(), {}, {.normalization = normal::pairs, .endpoints = betweenness_endpoints::included}),
      {0.4, 0.7, 0.8, 0.7, 0.4});
  expect(values_of(directed.view(), {}, {}), {0, 3, 4, 3, 0});
  expect(values_of(directed.view(), {}, {.normalization = normal::pairs}), {0, 0.25, 1.0 / 3, 0.25, 0});
  expect(values_of(undirected.view(), {0, 1}, {}), {0, 3, 4, 2, 0});
  expect(values_of(undirected.view(), {0, 1}, {.normalization = normal::pairs}), {0, 1, 2.0 / 3, 1.0 / 3, 0});
  expect(values_of(undirected.view(), {1}, {.normalization = normal::pairs}), {0, 0, 2.0 / 3, 1.0 / 3, 0});
}

TEST(BetweennessChoice, GivesItsReason) {
  const context<host> ctx({.threads = 2});
  const auto small = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const betweenness_plan few(ctx, small.view());
  EXPECT_EQ(few.algorithm(), betweenness_algorithm::by_source);
  EXPECT_NE(few.reason().find("too small"), std::string::npos);
  const auto long_path = test::make_undirected<std::int32_t, std::int32_t>(300000, test::path_edges(300000));
  const betweenness_plan deep(ctx, long_path.view());
  EXPECT_EQ(deep.algorithm(), betweenness_algorithm::by_source);
  EXPECT_NE(deep.reason().find("narrow levels"), std::string::npos);
  test::random_source random(36);
  const auto large =
      test::make_undirected<std::int32_t, std::int32_t>(20000, test::random_edges(random, 20000, 200000, 0));
  const betweenness_plan many(ctx, large.view());
  EXPECT_EQ(many.algorithm(), betweenness_algorithm::by_level);
  EXPECT_NE(many.reason().find("large enough"), std::string::npos);
  const betweenness_plan requested(ctx, large.view(), {.algorithm = betweenness_algorithm::by_source});
  EXPECT_EQ(requested.algorithm(), betweenness_algorithm::by_source);
  EXPECT_EQ(requested.reason(), "asked for");
  EXPECT_GT(requested.workspace_bytes(), 0);
  EXPECT_GT(many.workspace_bytes(), 0);
  for (const auto& row : detail::betweenness::algorithms) {
    EXPECT_EQ(parse_betweenness_algorithm(to_string(row.value)), row.value);
  }
}

TEST(BetweennessChoice, RefusesWhatDoesNotFit) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const auto refused = [&](const betweenness_options& options) {
    return message_of(error_code::invalid_argument, [&] { (void)betweenness_plan(ctx, raw.view(), options); });
  };
  EXPECT_NE(refused({.algorithm = static_cast<betweenness_algorithm>(99)}).find("99"), std::string::npos);
  EXPECT_NE(refused({.normalization = static_cast<betweenness_normalization>(98)}).find("98"), std::string::npos);
  EXPECT_NE(refused({.endpoints = static_cast<betweenness_endpoints>(97)}).find("97"), std::string::npos);
  EXPECT_NE(refused({.edges = static_cast<betweenness_edges>(96)}).find("96"), std::string::npos);
  EXPECT_NE(message_of(error_code::unsupported,
                       [&] {
                         (void)betweenness_plan(
                             ctx, raw.view(),
                             {.edges = betweenness_edges::counted, .algorithm = betweenness_algorithm::by_source});
                       })
                .find("only by_level"),
            std::string::npos);
  EXPECT_EQ(check_betweenness(ctx, raw.view(), doubles{0, 0, 0}, {}, {}, doubles{1, 2}),
            "there are 2 values for 1 edges");
  for (const std::int32_t bad : {-1, 3}) {
    const std::vector<std::int32_t> sources{0, bad};
    EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)betweenness(ctx, raw.view(), sources); }),
              "betweenness: source " + std::to_string(bad) + " is not a vertex (expected 0 to 2)");
  }
  graph_view<std::int32_t, std::int32_t, host> g = raw.view();
  g.out.cols = 4;
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)betweenness(ctx, g); }).find("3 x 4"),
            std::string::npos);
  EXPECT_NE(
      message_of(error_code::invalid_argument, [] { (void)parse_betweenness_algorithm("brandes"); }).find("brandes"),
      std::string::npos);
}

// An empty list of sources differs from none given.
TEST(BetweennessChoice, OfNoSourceIsNothing) {
  const context<host> ctx({.threads = 2});
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(4, test::path_edges(4));
  const std::vector<std::int32_t> none;
  for (const auto normalization :
       {betweenness_normalization::none, betweenness_normalization::pairs, betweenness_normalization::by_maximum}) {
    const betweenness_options options{.normalization = normalization, .edges = betweenness_edges::counted};
    betweenness_plan plan(ctx, raw.view(), options);
    plan.run();
    EXPECT_GT(plan.values()[1], 0);
    plan.run(none);
    EXPECT_EQ(test::copy_of(plan.values()), doubles(4, 0.0));
    EXPECT_EQ(test::copy_of(plan.edges()), doubles(6, 0.0));
    EXPECT_EQ(check_betweenness(ctx, raw.view(), plan.values(), none, options, plan.edges()), "");
    EXPECT_NE(check_betweenness(ctx, raw.view(), plan.values(), {}, options, plan.edges()), "");
  }
  EXPECT_EQ(betweenness(ctx, raw.view(), span<const std::int32_t, host>()).values[1], 0);
  EXPECT_EQ(betweenness(ctx, raw.view(), none, {.algorithm = betweenness_algorithm::by_source}).values[2], 0);
}

TEST(BetweennessChoice, NaturalCalls) {
  const context<host> ctx({.threads = 2});
  const std::vector<std::int32_t> from{0, 1, 2};
  const std::vector<std::int32_t> to{1, 2, 3};
  const auto g = build_graph<std::int32_t>(ctx, coo_pattern_view<std::int32_t, host>{4, 4, from, to});
  const auto result = betweenness(ctx, g);
  EXPECT_EQ(doubles(result.values.begin(), result.values.end()), (doubles{0, 2, 2, 0}));
  EXPECT_EQ(check_betweenness(ctx, g, result.values), "");
  betweenness_plan plan(ctx, g, {.normalization = betweenness_normalization::by_maximum});
  plan.run(std::vector<std::int32_t>{0});
  EXPECT_EQ(test::copy_of(plan.values()), (doubles{0, 1, 0.5, 0}));
  EXPECT_EQ(check_betweenness(ctx, g, plan.values(), std::vector<std::int32_t>{0},
                              {.normalization = betweenness_normalization::by_maximum}),
            "");
}

}  // namespace
}  // namespace spargo
