// Louvain and Leiden: modularity, connectedness and numbering against naive code on random graphs; quality; the same
// bits for any number of threads; metamorphic tests.
#include <spargo/graph/communities.hpp>

#include "core/parallel.hpp"
#include "graph/communities/contraction.hpp"
#include "graph/partition_support.hpp"
#include "graph/plan_estimate.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace spargo {
namespace {

using test::both_directions;
using test::both_methods;
using test::build;
using test::cpu;
using test::draw_edges;
using test::drawn;
using test::drawn_for;
using test::label_vector;
using test::message_of;
using test::weighted_edges;
using test::widened;

// Everything that holds for any graph.
template <class Graph>
void expect_right(std::int64_t n, const weighted_edges& edges, direction_kind direction, const Graph& g,
                  const communities_options& options) {
  const auto found = communities(cpu(), g, options);
  const label_vector labels = widened(std::as_const(found.labels).view());
  ASSERT_EQ(static_cast<std::int64_t>(labels.size()), n);
  std::vector<bool> joined(labels.size());
  for (const auto& [u, v, weight] : edges) {
    if (u != v && weight > 0) joined[static_cast<std::size_t>(u)] = joined[static_cast<std::size_t>(v)] = true;
  }
  std::map<std::int64_t, std::int64_t> smallest;
  for (std::int64_t v = n - 1; v >= 0; --v) smallest[labels[static_cast<std::size_t>(v)]] = v;
  for (std::int64_t v = 0; v < n; ++v) {
    const std::int64_t label = labels[static_cast<std::size_t>(v)];
    ASSERT_EQ(smallest[label], label) << "vertex " << v;
    if (joined[static_cast<std::size_t>(v)]) continue;
    ASSERT_EQ(std::count(labels.begin(), labels.end(), label), 1) << "the isolated vertex " << v;
  }
  ASSERT_EQ(found.count, static_cast<std::int64_t>(smallest.size()));
  const bool modularity = options.objective == communities_objective::modularity;
  ASSERT_NEAR(found.modularity,
              test::naive_modularity(n, edges, direction, labels, modularity ? options.resolution : 1), 1e-9);
  const label_vector alone = test::own_labels(n);
  if (modularity) {
    ASSERT_GE(found.modularity, test::naive_modularity(n, edges, direction, alone, options.resolution) - 1e-9);
  } else {
    ASSERT_GE(test::naive_cpm(edges, direction, labels, options.resolution) + 1e-6,
              test::naive_cpm(edges, direction, alone, options.resolution));
  }
  if (options.method == communities_method::leiden) {
    ASSERT_EQ(test::naive_parts(n, edges, labels), found.count);
  }
  ASSERT_EQ(check_partition(cpu(), g, found.labels, found.modularity, options), "");
}

communities_options draw_options(test::random_source& random) {
  communities_options options;
  options.method = both_methods[random.below(2)];
  options.objective = static_cast<communities_objective>(random.below(3) / 2);
  constexpr double resolutions[] = {1, 0.5, 2.3, 0.1, 0};
  options.resolution = resolutions[random.below(5)];
  options.iterations = 1 + random.below(4);
  options.seed = random.next();
  return options;
}

template <class Case>
class LouvainLeiden : public testing::Test {};
template <class W_, class I_, class O_>
struct weighted_case {
  using weight = W_;
  using index = I_;
  using offset = O_;
};
using cases =
    testing::Types<weighted_case<std::int32_t, std::int32_t, std::int32_t>,
                   weighted_case<std::int64_t, std::int32_t, std::int64_t>,
                   weighted_case<float, std::int64_t, std::int64_t>, weighted_case<double, std::int32_t, std::int32_t>>;
TYPED_TEST_SUITE(LouvainLeiden, cases);

TYPED_TEST(LouvainLeiden, RandomGraphs) {
  using weight = typename TypeParam::weight;
  for (std::uint64_t seed = 0; seed < test::rounds(2000); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = random.below(50);
    const weighted_edges edges =
        draw_edges(random, std::max<std::int64_t>(n, 1), n == 0 ? 0 : random.below(4 * n + 1), drawn_for<weight>);
    for (const auto direction : both_directions) {
      const auto g = build<weight, typename TypeParam::index, typename TypeParam::offset>(n, edges, direction);
      expect_right(n, edges, direction, g, draw_options(random));
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
    }
  }
}

// Large enough to move in batches by several threads.
TYPED_TEST(LouvainLeiden, LargerGraphs) {
  using weight = typename TypeParam::weight;
  detail::assume_processors(4);
  for (std::uint64_t seed = 0; seed < test::rounds(16); ++seed) {
    test::random_source random(seed);
    const weighted_edges edges = draw_edges(random, 9000, 40000, drawn_for<weight>);
    const auto direction = both_directions[seed % 2];
    const auto g = build<weight, typename TypeParam::index, typename TypeParam::offset>(9000, edges, direction);
    communities_options options = draw_options(random);
    options.method = both_methods[seed / 2 % 2];
    expect_right(9000, edges, direction, g, options);
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
  detail::assume_processors(0);
}

TYPED_TEST(LouvainLeiden, GraphsWithoutWeights) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  for (std::uint64_t seed = 0; seed < test::rounds(600); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(60);
    weighted_edges edges;
    std::vector<index> from, to;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    const auto direction = both_directions[seed % 2];
    for (auto [u, v] : test::random_edges(random, n, random.below(4 * n), 1)) {
      if (direction == direction_kind::undirected && u > v) std::swap(u, v);
      from.push_back(static_cast<index>(u));
      to.push_back(static_cast<index>(v));
      if (seen.emplace(u, v).second) edges.push_back({u, v, 1});
    }
    const auto size = static_cast<index>(n);
    const auto g = build_graph<offset>(cpu(), coo_pattern_view<index, host>{size, size, from, to},
                                       {.direction = direction, .loops = self_loops::keep});
    expect_right(n, edges, direction, g, draw_options(random));
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Light edges keep their precision beside a heavy one.
TEST(LouvainLeidenWeights, HeavyEdgeAmongLightOnes) {
  test::random_source random(5);
  weighted_edges edges{{0, 1, 1e5}};
  for (int k = 0; k < 20000; ++k) {
    edges.push_back({random.below(2000), random.below(2000), random.below(2) == 0 ? 1.001 : 2.0003});
  }
  for (const auto direction : both_directions) {
    const auto g = build<double, std::int32_t, std::int32_t>(2000, edges, direction);
    for (const auto method : both_methods) expect_right(2000, edges, direction, g, {.method = method});
  }
}

// Refused from 2^59 on, counted exactly: doubles near it are 64 apart.
TEST(LouvainLeidenWeights, LargestSumOfIntegers) {
  for (const std::int64_t ones : {63, 64}) {
    weighted_edges edges{{0, 1, 0x1p59 - 64}};
    for (std::int64_t v = 1; v <= ones; ++v) edges.push_back({v, v + 1, 1});
    const auto g = build<std::int64_t, std::int32_t, std::int32_t>(66, edges, direction_kind::directed);
    const communities_options options{.method = communities_method::leiden};
    if (ones == 63) {
      expect_right(66, edges, direction_kind::directed, g, options);
    } else {
      EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)communities(cpu(), g, options); }),
                "communities: the weights add up to 5.76e+17 (expected less than 2^59)");
    }
  }
}

// --- Quality

// On average at least what moving one vertex at a time finds.
TEST(LouvainLeidenQuality, BetterThanNaiveMoving) {
  double naive = 0, louvain = 0, leiden = 0;
  for (std::uint64_t seed = 0; seed < test::rounds(160); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 5 + random.below(25);
    const auto direction = both_directions[seed % 2];
    const weighted_edges edges = draw_edges(random, n, 2 * n, drawn::whole);
    const auto g = build<double, std::int32_t, std::int32_t>(n, edges, direction);
    naive += test::naive_modularity(n, edges, direction, test::naive_moving(n, edges, direction));
    louvain += communities(cpu(), g, {.method = communities_method::louvain}).modularity;
    leiden += communities(cpu(), g, {.method = communities_method::leiden}).modularity;
  }
  EXPECT_GE(louvain, naive);
  EXPECT_GE(leiden, 0.999 * louvain);
}

// Blocks of vertices joined densely inside and sparsely between them are found, small and large graphs alike.
TEST(LouvainLeidenQuality, PlantedBlocks) {
  for (const std::int64_t n : {300, 12000}) {
    constexpr std::int64_t blocks = 12;
    test::random_source random(static_cast<std::uint64_t>(n));
    label_vector planted;
    for (std::int64_t v = 0; v < n; ++v) planted.push_back(v % blocks);
    weighted_edges edges;
    for (std::int64_t v = 0; v < n; ++v) {
      for (int k = 0; k < 6; ++k) edges.push_back({v, (v + blocks * random.below(n / blocks)) % n, 1});
      edges.push_back({v, random.below(n), 1});
    }
    for (const auto method : both_methods) {
      for (const auto direction : both_directions) {
        const auto g = build<std::int32_t, std::int32_t, std::int32_t>(n, edges, direction);
        const auto found = communities(cpu(), g, {.method = method});
        EXPECT_GT(test::mutual_information(planted, widened(std::as_const(found.labels).view())),
                  method == communities_method::leiden ? 0.99 : 0.85)
            << n << to_string(method);
      }
    }
  }
}

// A ring of cliques: CPM with a resolution between the densities inside and outside finds the cliques; modularity with
// resolution 1 joins pairs of them (its resolution limit).
TEST(LouvainLeidenQuality, RingOfCliques) {
  constexpr std::int64_t cliques = 30;
  constexpr std::int64_t size = 5;
  weighted_edges edges;
  for (std::int64_t c = 0; c < cliques; ++c) {
    for (std::int64_t a = 0; a < size; ++a) {
      for (std::int64_t b = 0; b < a; ++b) edges.push_back({c * size + a, c * size + b, 1});
    }
    edges.push_back({c * size, (c + 1) % cliques * size + 1, 1});
  }
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(cliques * size, edges, direction_kind::undirected);
  const auto cpm = communities(
      cpu(), g, {.method = communities_method::leiden, .objective = communities_objective::cpm, .resolution = 0.5});
  EXPECT_EQ(cpm.count, cliques);
  for (std::int64_t v = 0; v < cliques * size; ++v) EXPECT_EQ(cpm.labels[v], v - v % size);
  EXPECT_LT(communities(cpu(), g, {.method = communities_method::leiden}).count, cliques);
}

// A pair of opposite edges: its CPM is 2 less twice the resolution.
TEST(LouvainLeidenQuality, DirectedCpm) {
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(2, {{0, 1, 1}, {1, 0, 1}}, direction_kind::directed);
  for (const auto& [resolution, count] : {std::pair(0.9, 1), std::pair(1.1, 2)}) {
    const communities_options options{
        .method = communities_method::leiden, .objective = communities_objective::cpm, .resolution = resolution};
    EXPECT_EQ(communities(cpu(), g, options).count, count);
  }
}

// --- The same bits

template <class Graph>
label_vector labels_of(const Graph& g, const communities_options& options, int threads = 3) {
  const context<host> ctx({.threads = threads});
  const auto found = communities(ctx, g, options);
  return widened(std::as_const(found.labels).view());
}

TEST(LouvainLeidenBits, DoNotDependOnThreads) {
  detail::assume_processors(8);
  test::random_source random(3);
  const weighted_edges edges = draw_edges(random, 20000, 90000, drawn::any);
  for (const auto direction : both_directions) {
    const auto g = build<double, std::int32_t, std::int32_t>(20000, edges, direction);
    for (const auto method : both_methods) {
      const communities_options options{.method = method, .iterations = 2};
      const label_vector expected = labels_of(g, options, 1);
      for (const int threads : {8, 2, 3}) {
        if (test::is_sanitized && threads != 8) continue;
        EXPECT_EQ(labels_of(g, options, threads), expected) << threads;
      }
    }
  }
  detail::assume_processors(0);
}

// Levels that threads have contracted are moved in sequence later, where the order of neighbours counts.
TEST(LouvainLeidenBits, DoNotDependOnTheOrderOfContractedRows) {
  detail::assume_processors(8);
  const test::plan_graph grid("grid", "gen:grid2d:n=700", direction_kind::undirected, false);
  const graph_view<std::int32_t, std::int64_t, host>& g = grid.g;
  const communities_options options{.method = communities_method::leiden, .iterations = 2};
  const label_vector expected = labels_of(g, options, 1);
  for (int repeat = test::is_sanitized ? 2 : 0; repeat < 3; ++repeat) EXPECT_EQ(labels_of(g, options, 8), expected);
  detail::assume_processors(0);
}

// A level with nearly as many nodes and entries as are moved in sequence.
TEST(LouvainLeidenBits, ContractedRowsAreSorted) {
  constexpr std::int32_t nodes = 60000;
  std::vector<std::int32_t> offsets(nodes + 1, 6), number(nodes);
  for (std::int32_t v = 0; v < 4; ++v) offsets[static_cast<std::size_t>(v)] = v == 0 ? 0 : v + 2;
  std::iota(number.begin(), number.end(), 0);
  const std::vector<std::int32_t> neighbours{3, 2, 1, 0, 0, 0};
  const std::vector<std::int64_t> weights{30, 20, 10, 10, 20, 30}, mass(nodes, 1);
  const detail::communities::level_graph<std::int32_t, std::int32_t> g{nodes, offsets.data(), neighbours.data(),
                                                                       weights.data(), mass.data()};
  detail::communities::weight_tables<std::int32_t> tables(static_cast<std::size_t>(cpu().threads()));
  const auto next = detail::communities::contract<std::int32_t, std::int32_t>(cpu(), g, number, nodes, tables);
  EXPECT_EQ(std::vector(next.neighbours.begin(), next.neighbours.end()), (std::vector<std::int32_t>{1, 2, 3, 0, 0, 0}));
  EXPECT_EQ(std::vector(next.weights.begin(), next.weights.end()), (std::vector<std::int64_t>{10, 20, 30, 10, 20, 30}));
}

// Node 0 is alone without entries, and finished. Node 1 names the community of node 2, node 3 the group of node 4.
TEST(LouvainLeidenLevels, NodesWithoutEntriesAreFinishedWhenAlone) {
  const std::vector<std::int32_t> offsets{0, 0, 0, 0, 0, 0, 1, 2}, neighbours{6, 5};
  const detail::communities::level_graph<std::int32_t, std::int32_t> g{7, offsets.data(), neighbours.data()};
  const std::vector<std::int32_t> community{0, 1, 1, 3, 3, 5, 5}, group{0, 1, 2, 3, 3, 5, 6};
  std::vector<std::int32_t> number(7);
  const auto count = detail::communities::number_groups<std::int32_t, std::int32_t>(cpu(), g, community, group, number);
  EXPECT_EQ(number, (std::vector<std::int32_t>{-1, 0, -1, 1, 1, 2, 3}));
  EXPECT_EQ(count.groups, 4);
  EXPECT_EQ(count.finished, 2);
}

// Isolated vertices leave the level after the first one, which is moved in sequence then.
TEST(LouvainLeidenLevels, IsolatedVerticesAreFinished) {
  test::random_source random(12);
  const weighted_edges edges = draw_edges(random, 3000, 9000, drawn::whole);
  const auto without = build<std::int32_t, std::int32_t, std::int32_t>(3000, edges, direction_kind::undirected);
  const auto with = build<std::int32_t, std::int32_t, std::int32_t>(90000, edges, direction_kind::undirected);
  for (const auto method : {communities_method::louvain, communities_method::leiden}) {
    const auto small = communities(cpu(), without, {.method = method});
    const auto large = communities(cpu(), with, {.method = method});
    EXPECT_NEAR(large.modularity, small.modularity, 0.02 * small.modularity);
    EXPECT_EQ(check_partition(cpu(), with.view(), large.labels.view(), large.modularity, {.method = method}), "");
    for (std::int32_t v = 3000; v < 90000; ++v) ASSERT_EQ(large.labels[v], v);
  }
}

TEST(LouvainLeidenLevels, LittleGainEndsLargeLevels) {
  detail::communities::pass_progress progress;
  constexpr std::int64_t large = std::int64_t{1} << 21;
  progress.begin_level(1 << 20, large);
  EXPECT_FALSE(progress.is_level_done(1 << 19, 6000));
  EXPECT_FALSE(progress.is_level_done(1 << 19, 200));  // 1/31 of all
  EXPECT_TRUE(progress.is_level_done(1 << 19, 100));
  EXPECT_FALSE(progress.is_level_done(1 << 16, 100));  // fewer moved
  EXPECT_TRUE(progress.is_level_done(1 << 16, 40));
  EXPECT_TRUE(progress.is_level_done(1 << 10, 5000));  // hardly any moved
  EXPECT_FALSE(progress.is_done());
  progress.begin_level(1 << 20, large);
  EXPECT_TRUE(progress.is_level_done(1 << 16, 20));
  EXPECT_TRUE(progress.is_done());
  progress.begin_level(1 << 10, 1 << 12);  // a small level goes on
  EXPECT_FALSE(progress.is_level_done(1 << 9, 1));
  EXPECT_FALSE(progress.is_done());
}

TEST(LouvainLeidenBits, SeedsRepeatAndDiffer) {
  test::random_source random(4);
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(400, draw_edges(random, 400, 1200, drawn::whole),
                                                                 direction_kind::undirected);
  communities_plan plan(cpu(), g, {.method = communities_method::leiden, .seed = 5});
  plan.run();
  const label_vector first = widened(plan.labels());
  plan.run();
  EXPECT_EQ(widened(plan.labels()), first);
  EXPECT_NE(labels_of(g, {.method = communities_method::leiden, .seed = 6}), first);
}

// Weights twice as large, and isolated vertices behind the others, change nothing.
TEST(LouvainLeidenBits, ScaledWeightsAndIsolatedVertices) {
  for (std::uint64_t seed = 0; seed < test::rounds(200); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 2 + random.below(60);
    const weighted_edges edges = draw_edges(random, n, 3 * n, drawn::any);
    weighted_edges doubled = edges;
    for (auto& edge : doubled) edge.weight *= 2;
    const communities_options options{
        .method = both_methods[seed / 2 % 2], .resolution = seed % 3 == 0 ? 1.3 : 1, .seed = seed};
    const auto direction = both_directions[seed % 2];
    const label_vector expected = labels_of(build<double, std::int32_t, std::int32_t>(n, edges, direction), options);
    ASSERT_EQ(labels_of(build<double, std::int32_t, std::int32_t>(n, doubled, direction), options), expected) << seed;
    label_vector more = labels_of(build<double, std::int32_t, std::int32_t>(n + 7, edges, direction), options);
    more.resize(static_cast<std::size_t>(n));
    ASSERT_EQ(more, expected) << seed;
  }
}

// Sums below 2^31 whose gains exceed 64 bits, as the resolution is no small binary fraction.
TEST(LouvainLeidenBits, GainsOfManyBits) {
  test::random_source random(13);
  weighted_edges edges = draw_edges(random, 400, 2000, drawn::whole);
  const communities_options options{.method = communities_method::louvain, .resolution = 2.3};
  const auto small = build<std::int32_t, std::int32_t, std::int32_t>(400, edges, direction_kind::undirected);
  for (auto& edge : edges) edge.weight *= 1 << 14;
  const auto large = build<std::int32_t, std::int32_t, std::int32_t>(400, edges, direction_kind::undirected);
  const auto expected = communities(cpu(), small, options);
  const auto found = communities(cpu(), large, options);
  EXPECT_EQ(widened(found.labels.view()), widened(expected.labels.view()));
}

// Also where sums of weights or 1 / weight exceed double precision.
TEST(LouvainLeidenBits, WeightsOfAnyMagnitude) {
  for (std::uint64_t seed = 0; seed < test::rounds(100); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 2 + random.below(60);
    const auto direction = both_directions[seed % 2];
    const auto objective = static_cast<communities_objective>(seed / 4 % 2);
    const weighted_edges edges = draw_edges(random, n, 3 * n, drawn::any);
    const auto labels_at = [&](double scale) {
      weighted_edges scaled = edges;
      for (auto& edge : scaled) edge.weight *= scale;
      return labels_of(build<double, std::int32_t, std::int32_t>(n, scaled, direction),
                       {.method = both_methods[seed / 2 % 2],
                        .objective = objective,
                        .resolution = objective == communities_objective::cpm ? 0.3 * scale : 1});
    };
    const label_vector expected = labels_at(1);
    for (const double scale : {0x1p-1000, 0x1p1019}) ASSERT_EQ(labels_at(scale), expected) << seed << " " << scale;
  }
}

// Other numbers of the vertices: other ties, the same quality.
TEST(LouvainLeidenBits, RelabelledGraphs) {
  double before = 0, after = 0;
  for (std::uint64_t seed = 0; seed < test::rounds(400); ++seed) {
    test::random_source random(seed);
    constexpr std::int64_t n = 40;
    label_vector moved = test::own_labels(n);
    for (std::int64_t v = n - 1; v > 0; --v) {
      std::swap(moved[static_cast<std::size_t>(v)], moved[static_cast<std::size_t>(random.below(v + 1))]);
    }
    weighted_edges edges = draw_edges(random, n, 100, drawn::whole);
    const communities_options options{.method = both_methods[seed % 2]};
    before +=
        communities(cpu(), build<double, std::int32_t, std::int32_t>(n, edges, direction_kind::undirected), options)
            .modularity;
    for (auto& edge : edges) {
      edge.from = moved[static_cast<std::size_t>(edge.from)];
      edge.to = moved[static_cast<std::size_t>(edge.to)];
    }
    after +=
        communities(cpu(), build<double, std::int32_t, std::int32_t>(n, edges, direction_kind::undirected), options)
            .modularity;
  }
  EXPECT_NEAR(after / before, 1, 0.01);
}

}  // namespace
}  // namespace spargo
