// Spanning forests: every algorithm, edge by edge, against a naive Kruskal, on thousands of small random graphs and on
// shapes that hurt; independence of threads and backends; what must hold when a graph changes; refusals; the weights of
// real graphs.
#include <spargo/graph/forest.hpp>

#include "graph/forest/algorithms.hpp"
#include "graph/forest_support.hpp"
#include "graph/graph_suite.hpp"
#include "graph/known_graphs.hpp"
#include "graph/plan_suite.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spargo {
namespace {

using test::are_same;
using test::graph_form;
using test::message_of;
using test::naive_forest;
using test::weighted_case;
using test::weighted_edge;
using test::weighted_edges;

template <class Space>
struct forest_case : test::plan_case<forest_plan<double, std::int32_t, std::int64_t, Space>, forest_options> {
  static constexpr const char* name = "forest";
  static constexpr bool takes_directed = false;
  static std::vector<forest_options> estimated() {
    return {{}, {.algorithm = forest_algorithm::kruskal}, {.algorithm = forest_algorithm::boruvka}};
  }
};
const test::plan_suite<forest_case> every_plan;

template <class W, class I>
weighted_edges<W> listed(const std::vector<I>& sources, const std::vector<I>& targets, const std::vector<W>& weights) {
  weighted_edges<W> edges;
  for (std::size_t k = 0; k < sources.size(); ++k) edges.push_back({sources[k], targets[k], weights[k]});
  return edges;
}

template <class W>
std::string written(const weighted_edges<W>& edges) {
  std::string text;
  for (const auto& e : edges) {
    text += std::to_string(e.from) + "-" + std::to_string(e.to) + ":" + std::to_string(e.weight) + " ";
  }
  return text;
}

// Against a sum in long double, unless a partial sum of doubles may overflow.
template <class W>
void expect_total(forest_weight<W> total, const weighted_edges<W>& edges) {
  long double sum = 0;
  long double magnitude = 0;
  for (const auto& e : edges) {
    sum += static_cast<long double>(e.weight);
    magnitude += std::abs(static_cast<long double>(e.weight));
  }
  if (std::isfinite(static_cast<double>(magnitude))) {
    EXPECT_LE(std::abs(static_cast<long double>(total) - sum), std::is_integral_v<W> ? 0.0L : magnitude * 1e-13L);
  } else if (!std::isfinite(sum)) {
    EXPECT_EQ(std::isnan(static_cast<double>(total)), std::isnan(sum));
  }
}

template <class Case>
class Forest : public test::threaded_graph_suite<Case> {
 protected:
  using weight = typename Case::weight;
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;

  // Every algorithm, twice, for both objectives.
  static void check_raw(const test::raw_weighted_graph<weight, index, offset>& g, const weighted_edges<weight>& edges,
                        int threads = 3) {
    const std::int64_t n = g.structure.vertices;
    const test::placed_weighted<weight, index, offset, space> placed(g, threads);
    for (const auto objective : {forest_objective::minimum, forest_objective::maximum}) {
      const weighted_edges<weight> expected = naive_forest(n, edges, objective);
      for (const auto algorithm : detail::algorithms_on<space>(detail::forest::algorithms)) {
        SCOPED_TRACE(std::string(to_string(algorithm)) + ", " + std::string(to_string(objective)) + ", " +
                     std::to_string(n) + " vertices, " + std::to_string(edges.size()) + " edges, " +
                     std::to_string(threads) + " threads");
        const forest_options options{algorithm, objective, nan_weights::ignore};
        forest_plan<weight, index, offset, space> plan(placed.ctx(), placed.view(), options);
        for (int run = 0; run < 2; ++run) {
          plan.run();
          const auto sources = placed.fetch(plan.sources());
          const auto targets = placed.fetch(plan.targets());
          const auto weights = placed.fetch(plan.weights());
          const auto found = listed(sources, targets, weights);
          ASSERT_TRUE(are_same(found, expected)) << (n < 100 ? written(found) + "\n" + written(expected) : "");
          ASSERT_EQ(plan.trees(), n - static_cast<std::int64_t>(expected.size()));
          expect_total<weight>(plan.total_weight(), expected);
          ASSERT_EQ(
              check_forest<weight>(context<host>({.threads = threads}), g.view(), sources, targets, weights, options),
              "");
        }
      }
    }
  }
  static void check(std::int64_t n, const weighted_edges<weight>& edges, int threads = 3) {
    check_raw(test::make_weighted<weight, index, offset>(n, edges, graph_form::undirected), edges, threads);
  }
  template <class Weight>
  static void check_pairs(std::int64_t n, const test::edge_vector& pairs, Weight&& weight_of) {
    check(n, test::with_weights<weight>(pairs, weight_of));
  }

  // All edges equal, few values, many, and the extremes of the type; zeros of both signs.
  static weight random_weight(test::random_source& random, std::uint64_t kind) {
    switch (kind % 5) {
      case 0:
        return weight{7};
      case 1:
        return static_cast<weight>(random.below(3)) - weight{1};
      case 2:
        return static_cast<weight>(random.below(1000)) - weight{500};
      case 3: {
        constexpr weight extremes[] = {std::numeric_limits<weight>::lowest(), std::numeric_limits<weight>::max(),
                                       weight{0}, weight{1}};
        // Totals must fit 64 bits.
        if constexpr (std::is_same_v<weight, std::int64_t>) return extremes[random.below(4)] / 64;
        return extremes[random.below(4)];
      }
      default:
        if constexpr (std::is_integral_v<weight>) {
          return static_cast<weight>(static_cast<weight>(random.next() >> 1) / 16384);
        } else {
          const std::int64_t special = random.below(12);
          if (special == 0) return std::numeric_limits<weight>::infinity();
          if (special == 1) return -std::numeric_limits<weight>::infinity();
          if (special == 2) return weight{-0.0};
          if (special == 3) return weight{0};
          if (special == 4) return std::numeric_limits<weight>::quiet_NaN();
          if (special == 5) return -std::numeric_limits<weight>::denorm_min();
          return static_cast<weight>(random.below(1 << 30)) / static_cast<weight>(3) - static_cast<weight>(1e8);
        }
    }
  }
  static weighted_edges<weight> random_weighted(test::random_source& random, std::int64_t n, std::int64_t count,
                                                std::uint64_t kind) {
    return test::with_weights<weight>(test::random_edges(random, n, count, static_cast<int>(random.below(3))),
                                      [&](std::size_t) { return random_weight(random, kind); });
  }
};

using cases = test::suite_types<weighted_case<std::int32_t, std::int32_t, std::int32_t, host>,
                                weighted_case<std::int64_t, std::int32_t, std::int64_t, host>,
                                weighted_case<float, std::int64_t, std::int64_t, host>,
                                weighted_case<double, std::int32_t, std::int64_t, host>,
                                weighted_case<std::int32_t, std::int32_t, std::int32_t, device>,
                                weighted_case<std::int64_t, std::int32_t, std::int64_t, device>,
                                weighted_case<float, std::int64_t, std::int64_t, device>,
                                weighted_case<double, std::int32_t, std::int64_t, device>>;
TYPED_TEST_SUITE(Forest, cases);

TYPED_TEST(Forest, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0, 3}, {0, 0, 1}});
  this->check(5, {});
  this->check(2, {{1, 0, 4}});
  this->check(2, {{1, 0, 4}, {0, 1, 2}, {1, 0, 2}, {1, 1, 0}});
  this->check(3, {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}});
  this->check(6, {{4, 3, 0}, {3, 4, 1}, {0, 1, 5}, {1, 2, 5}, {2, 0, 5}, {2, 3, 5}});
  const auto ascending = [](std::size_t k) { return static_cast<typename TypeParam::weight>(k); };
  const auto descending = [](std::size_t k) { return static_cast<typename TypeParam::weight>(1000 - k); };
  const auto equal = [](std::size_t) { return static_cast<typename TypeParam::weight>(1); };
  for (const std::int64_t n : {2, 31, 33, 64, 65, 257}) {
    this->check_pairs(n, test::star_edges(n), descending);
    this->check_pairs(n, test::path_edges(n), ascending);
    this->check_pairs(n, test::path_edges(n), descending);
    this->check_pairs(n, test::path_edges(n), equal);
  }
  this->check_pairs(64, test::grid_edges(8, 8), equal);
}

TYPED_TEST(Forest, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(1500); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    const std::int64_t most = seed % 4 == 0 ? 20 * n : 4 * n;
    this->check(n, this->random_weighted(random, n, random.below(most + 1), seed / 4));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Rows ascend, parallel edges are merged.
TYPED_TEST(Forest, GraphsAsTheyAreBuilt) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  for (std::uint64_t seed = 0; seed < this->rounds(500); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(60);
    const auto edges = this->random_weighted(random, n, random.below(6 * n), seed);
    std::vector<I> from, to;
    std::vector<W> weights;
    for (const auto& e : edges) {
      from.push_back(static_cast<I>(e.from));
      to.push_back(static_cast<I>(e.to));
      weights.push_back(e.weight);
    }
    const context<host> ctx({.threads = 2});
    const auto built = build_weighted_graph<O>(
        ctx, coo_pattern_view<I, host>{static_cast<I>(n), static_cast<I>(n), from, to}, weights,
        {.direction = direction_kind::undirected, .loops = seed % 2 == 0 ? self_loops::keep : self_loops::drop});
    const auto view = built.view();
    test::raw_weighted_graph<W, I, O> raw;
    raw.structure.vertices = static_cast<I>(n);
    raw.structure.direction = direction_kind::undirected;
    raw.structure.offsets = test::copy_of(view.out.offsets);
    raw.structure.indices = test::copy_of(view.out.indices);
    raw.structure.in_offsets = raw.structure.offsets;
    raw.structure.in_indices = raw.structure.indices;
    raw.weights = raw.in_weights = test::copy_of(view.out_weights);
    weighted_edges<W> distinct;
    for (std::int64_t u = 0; u < n; ++u) {
      for (O e = view.out.offsets[u]; e < view.out.offsets[u + 1]; ++e) {
        if (view.out.indices[e] >= u) distinct.push_back({u, view.out.indices[e], view.out_weights[e]});
      }
    }
    this->check_raw(raw, distinct);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Several batches: more edges than are held at a time. In rows that do not ascend, and of weights that need wide keys.
TYPED_TEST(Forest, BatchesByWeight) {
  using W = typename TypeParam::weight;
  constexpr std::int64_t n = 3000;
  for (const std::uint64_t kind : {0U, 1U, 2U, 4U}) {
    if (test::is_sanitized && kind < 2) continue;  // weights with few values
    test::random_source random(kind);
    auto edges = this->random_weighted(random, n, 130'000, kind);
    this->check(n, edges);
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
      return std::pair(std::min(a.from, a.to), std::max(a.from, a.to)) <
             std::pair(std::min(b.from, b.to), std::max(b.from, b.to));
    });
    for (auto& e : edges) e.weight = static_cast<W>(e.weight + static_cast<W>(kind));
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << "kind " << kind;
  }
}

// Two large components and small ones: what lies outside the largest tree is half of the graph.
TYPED_TEST(Forest, TwoLargeComponents) {
  constexpr std::int64_t half = 2000;
  test::random_source random(9);
  weighted_edges<typename TypeParam::weight> edges;
  for (const std::int64_t first : {std::int64_t{0}, half}) {
    for (auto e : this->random_weighted(random, half, 80'000, 2)) {
      edges.push_back({first + e.from, first + e.to, e.weight});
    }
  }
  for (std::int64_t v = 2 * half; v < 2 * half + 100; v += 2) edges.push_back({v, v + 1, 1});
  this->check(2 * half + 101, edges);
}

// All light edges join a few vertices, so that the rest does not fit one batch.
TYPED_TEST(Forest, RestOfSeveralBatches) {
  using W = typename TypeParam::weight;
  constexpr std::int64_t n = 6000;
  test::random_source random(11);
  weighted_edges<W> edges = test::with_weights<W>(test::random_edges(random, 50, 20'000, 0),
                                                  [&](std::size_t) { return static_cast<W>(random.below(100)); });
  const auto heavy = test::with_weights<W>(test::random_edges(random, n, 200'000, 0),
                                           [&](std::size_t) { return static_cast<W>(1000 + random.below(1'000'000)); });
  edges.insert(edges.end(), heavy.begin(), heavy.end());
  this->check(n, edges);
}

// Trees that hang together by long paths in one round: each vertex takes the edge to its neighbour.
TYPED_TEST(Forest, LongChains) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  constexpr std::int64_t n = 200'000;
  for (const bool ascends : {true, false}) {
    weighted_edges<W> edges;
    for (std::int64_t v = 1; v < n; ++v) edges.push_back({v - 1, v, static_cast<W>(ascends ? v : n - v)});
    const auto raw = test::make_weighted<W, I, O>(n, edges, graph_form::undirected);
    const test::placed_weighted<W, I, O, typename TypeParam::space> placed(raw, 3);
    forest_plan<W, I, O, typename TypeParam::space> plan(placed.ctx(), placed.view(),
                                                         {.algorithm = forest_algorithm::boruvka});
    plan.run();
    EXPECT_EQ(plan.trees(), 1);
    EXPECT_TRUE(are_same(
        listed(placed.fetch(plan.sources()), placed.fetch(plan.targets()), placed.fetch(plan.weights())), edges));
  }
}

TYPED_TEST(Forest, RefusesAndIgnoresNan) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  if constexpr (std::is_floating_point_v<W>) {
    constexpr W nan = std::numeric_limits<W>::quiet_NaN();
    const weighted_edges<W> edges{{0, 1, 2}, {1, 2, nan}, {2, 0, -nan}, {2, 3, 1}};
    const auto raw = test::make_weighted<W, I, O>(4, edges, graph_form::undirected);
    const test::placed_weighted<W, I, O, typename TypeParam::space> placed(raw);
    EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)forest(placed.ctx(), placed.view()); }),
              "forest: edge (0, 2) has weight NaN (expected a number)");
    const auto found = forest(placed.ctx(), placed.view(), {.nan = nan_weights::ignore});
    EXPECT_EQ(found.trees, 2);
    EXPECT_EQ(found.total_weight, 3);
  }
}

// --- Threads and backends -------------------------------------------------

weighted_edges<double> large_random_graph(std::int64_t n) {
  test::random_source random(5);
  auto pairs = test::random_edges(random, n, 8 * n, 3);
  const auto uniform = test::random_edges(random, n, 6 * n, 0);
  pairs.insert(pairs.end(), uniform.begin(), uniform.end());
  for (std::int64_t v = 1; v < n; v += 2) pairs.emplace_back(v, 17);
  return test::with_weights<double>(pairs, [&](std::size_t k) {
    return k % 3 == 0 ? static_cast<double>(random.below(50)) : static_cast<double>(random.below(1 << 30)) / 1e7;
  });
}

TEST(ForestHost, EdgesDoNotDependOnThreads) {
  constexpr std::int64_t n = 40'000;
  const auto edges = large_random_graph(n);
  const auto raw = test::make_weighted<double, std::int32_t, std::int64_t>(n, edges, graph_form::undirected);
  const auto expected = forest(context<host>({.threads = 1}), raw.view(), {.algorithm = forest_algorithm::kruskal});
  ASSERT_EQ(check_forest(context<host>(), raw.view(), expected.sources, expected.targets, expected.weights), "");
  detail::assume_processors(8);
  for (int threads = 1; threads <= 8; threads += test::is_sanitized ? 7 : 1) {
    const context<host> ctx({.threads = threads});
    forest_plan plan(ctx, raw.view(), {.algorithm = forest_algorithm::boruvka});
    for (int run = 0; run < (test::is_sanitized ? 2 : 4); ++run) {
      plan.run();
      ASSERT_EQ(test::copy_of(plan.sources()), test::copy_of(expected.sources.view()));
      ASSERT_EQ(test::copy_of(plan.targets()), test::copy_of(expected.targets.view()));
      ASSERT_EQ(test::copy_of(plan.weights()), test::copy_of(expected.weights.view()));
      ASSERT_EQ(plan.total_weight(), expected.total_weight);  // the same bits
    }
  }
  detail::assume_processors(0);
}

// Few trees are left with many edges between them, of which the heavier ones are set aside.
TEST(ForestDevice, TheSameBitsAsOnTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  constexpr std::int64_t n = 40'000;
  const auto edges = large_random_graph(n);
  const auto raw = test::make_weighted<double, std::int32_t, std::int64_t>(n, edges, graph_form::undirected);
  const test::placed_weighted<double, std::int32_t, std::int64_t, device> placed(raw);
  for (const auto objective : {forest_objective::minimum, forest_objective::maximum}) {
    const auto expected = forest(context<host>(), raw.view(), {.objective = objective});
    const auto found = forest(placed.ctx(), placed.view(), {.objective = objective});
    EXPECT_EQ(placed.fetch(std::as_const(found.sources).view()), test::copy_of(expected.sources.view()));
    EXPECT_EQ(placed.fetch(std::as_const(found.targets).view()), test::copy_of(expected.targets.view()));
    EXPECT_EQ(found.total_weight, expected.total_weight);
  }
}

// --- What must hold when a graph changes ----------------------------------

forest_result<double, std::int32_t, host> forest_of(std::int64_t n, const weighted_edges<double>& edges,
                                                    forest_objective objective = forest_objective::minimum) {
  const auto raw = test::make_weighted<double, std::int32_t, std::int32_t>(n, edges, graph_form::undirected);
  return forest(context<host>({.threads = 3}), raw.view(),
                {.algorithm = forest_algorithm::boruvka, .objective = objective});
}

TEST(ForestChange, ScaledNegatedRelabelledAndWithIsolatedVertices) {
  for (std::uint64_t seed = 0; seed < test::rounds(300); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(200);
    const auto edges = test::with_weights<double>(
        test::random_edges(random, n, random.below(6 * n), 2),
        [&](std::size_t) { return static_cast<double>(random.below(seed % 2 == 0 ? 5 : 1'000'000)) - 2; });
    const auto original = forest_of(n, edges);
    const auto sources = test::copy_of(original.sources.view());
    auto scaled = edges;
    auto negated = edges;
    for (auto& e : scaled) e.weight = 4 * e.weight + 3;  // exact
    for (auto& e : negated) e.weight = -e.weight;
    EXPECT_EQ(test::copy_of(forest_of(n, scaled).sources.view()), sources);
    const auto heaviest = forest_of(n, negated, forest_objective::maximum);
    EXPECT_EQ(test::copy_of(heaviest.sources.view()), sources);
    EXPECT_EQ(heaviest.total_weight, -original.total_weight);
    EXPECT_EQ(forest_of(n + 7, edges).trees, original.trees + 7);
    std::vector<std::int64_t> place(static_cast<std::size_t>(n));
    std::iota(place.begin(), place.end(), 0);
    for (std::int64_t v = n - 1; v > 0; --v) {
      std::swap(place[static_cast<std::size_t>(v)], place[static_cast<std::size_t>(random.below(v + 1))]);
    }
    auto moved = edges;
    for (auto& e : moved) {
      e = {place[static_cast<std::size_t>(e.to)], place[static_cast<std::size_t>(e.from)], e.weight};
    }
    EXPECT_EQ(forest_of(n, moved).total_weight, original.total_weight) << "seed " << seed;  // integers: exact
    EXPECT_EQ(forest_of(n, moved).trees, original.trees);
  }
}

// --- The interface --------------------------------------------------------

TEST(ForestPlan, Says) {
  const context<host> ctx;
  const auto raw = test::make_weighted<float, std::int32_t, std::int32_t>(3, {{0, 1, 1}}, graph_form::undirected);
  EXPECT_EQ(forest_plan(ctx, raw.view()).algorithm(), forest_algorithm::kruskal);
  EXPECT_NE(forest_plan(ctx, raw.view()).reason(), "");
  EXPECT_EQ(forest_plan(ctx, raw.view(), {.algorithm = forest_algorithm::boruvka}).reason(), "asked for");
  EXPECT_GE(forest_plan(ctx, raw.view()).workspace_bytes(), 3 * 16);
  EXPECT_EQ(parse_forest_algorithm("boruvka"), forest_algorithm::boruvka);
}

TEST(ForestPlan, RefusesWhatDoesNotFit) {
  const context<host> ctx;
  const auto directed = test::make_weighted<float, std::int32_t, std::int32_t>(3, {{0, 1, 1}}, graph_form::out_and_in);
  EXPECT_EQ(message_of(error_code::unsupported, [&] { (void)forest(ctx, directed.view()); }),
            "forest: a directed graph (expected an undirected one)");
  const auto raw = test::make_weighted<float, std::int32_t, std::int32_t>(3, {{0, 1, 1}}, graph_form::undirected);
  for (const forest_options& wrong : {forest_options{.algorithm = static_cast<forest_algorithm>(99)},
                                      forest_options{.objective = static_cast<forest_objective>(99)},
                                      forest_options{.nan = static_cast<nan_weights>(99)}}) {
    EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)forest(ctx, raw.view(), wrong); }).find("99"),
              std::string::npos);
  }
  auto g = raw.view();
  g.out_weights = g.out_weights.subspan(0, 1);
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)forest(ctx, g); }).find("1 weights"),
            std::string::npos);
  EXPECT_NE(message_of(error_code::invalid_argument, [] { (void)parse_forest_algorithm("prim"); }).find("kruskal"),
            std::string::npos);
}

// Totals of integers are exact up to 64 bits, and refused beyond.
TEST(ForestPlan, TotalsOfLargeIntegers) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const auto total = [](std::vector<std::int64_t> weights) {
    weighted_edges<std::int64_t> edges;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto v = static_cast<std::int64_t>(k);
      edges.push_back({v, v + 1, weights[k]});
    }
    const auto raw = test::make_weighted<std::int64_t, std::int32_t, std::int32_t>(
        static_cast<std::int64_t>(weights.size()) + 1, edges, graph_form::undirected);
    return forest(context<host>(), raw.view()).total_weight;
  };
  EXPECT_EQ(total({most}), most);
  EXPECT_EQ(total({least}), least);
  EXPECT_EQ(total({most, least, most, 1}), most);
  EXPECT_EQ(total({most - 3, 3}), most);
  EXPECT_EQ(total({-1, -1, -(std::int64_t{1} << 40)}), -(std::int64_t{1} << 40) - 2);
  for (const std::vector<std::int64_t>& beyond :
       {std::vector{most, std::int64_t{1}}, std::vector{least, std::int64_t{-1}}}) {
    EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)total(beyond); }),
              "forest: the total weight exceeds 64 bits");
  }
}

// --- Real graphs ----------------------------------------------------------

TEST(ForestData, AgreesWithTheTruth) {
  test::for_each_truth<double>("msf", [](const auto& known, const nlohmann::json& truth) {
    const context<host> ctx({.threads = 2});
    const auto g = build_weighted_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    const auto found = forest(ctx, g);
    EXPECT_EQ(check_forest(ctx, g, found.sources, found.targets, found.weights), "");
    EXPECT_EQ(found.sources.size(), truth["edges"]);
    const double weight = truth["weight"];
    EXPECT_NEAR(found.total_weight, weight, 1e-9 * std::max(1.0, std::abs(weight)));
  });
}

}  // namespace
}  // namespace spargo
