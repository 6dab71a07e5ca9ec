// Label propagation: every algorithm against the rule, on thousands of small random graphs and adversarial shapes;
// initial labels; refusals; independence of threads.
#include <spargo/graph/communities.hpp>

#include "core/parallel.hpp"
#include "graph/communities/algorithms.hpp"
#include "graph/communities/host_count.hpp"
#include "graph/communities_support.hpp"
#include "graph/graph_suite.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spargo {
namespace {

using test::edge_vector;
using test::label_vector;
using test::message_of;

template <class I>
std::vector<I> narrowed(const label_vector& labels) {
  return {labels.begin(), labels.end()};
}

template <class I>
array<I, host> placed(const context<host>& ctx, const std::vector<I>& labels) {
  return clone(ctx, labels);
}
template <class I>
array<I, device> placed(const context<device>& ctx, const std::vector<I>& labels) {
  return to_device(ctx, labels);
}

// All algorithms, twice each. Without initial labels: the vertices themselves.
template <class I, class O, class Space>
void check_labels(const test::raw_graph<I, O>& raw, std::int64_t rounds, const std::vector<I>& initial,
                  const label_vector& expected, int threads = 3) {
  const test::placed_graph<I, O, Space> g(raw, threads);
  const auto start = placed(g.ctx(), initial);
  for (const auto algorithm : detail::algorithms_on<Space>(detail::communities::algorithms)) {
    SCOPED_TRACE(std::string(to_string(algorithm)) + ", " + std::to_string(raw.vertices) + " vertices, " +
                 std::to_string(raw.indices.size()) + " entries, " + std::to_string(rounds) + " rounds, " +
                 (raw.direction == direction_kind::directed ? "directed" : "undirected"));
    const communities_options options{.algorithm = algorithm, .iterations = rounds};
    communities_plan<I, O, Space> plan(g.ctx(), g.view(), options);
    for (int run = 0; run < 2; ++run) {
      plan.run(start);
      const std::vector<I> labels = g.fetch(plan.labels());
      ASSERT_EQ(label_vector(labels.begin(), labels.end()), expected);
      ASSERT_EQ(plan.count(), test::different(expected));
      ASSERT_LE(plan.rounds(), rounds);
      ASSERT_EQ(check_communities(context<host>({.threads = 2}), raw.view(), labels, options, initial), "");
    }
  }
}

// Directed and undirected, with the vertices as labels and with random ones.
template <class I, class O, class Space>
void check_edges(std::int64_t n, const edge_vector& edges, std::int64_t rounds, test::random_source& random) {
  label_vector drawn;
  for (std::int64_t v = 0; v < n; ++v) drawn.push_back(random.below(1 + random.below(n)));
  const label_vector from_vertices = test::naive_cdlp(n, edges, rounds, test::own_labels(n));
  const label_vector from_drawn = test::naive_cdlp(n, edges, rounds, drawn);
  for (const auto& raw :
       {test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), test::make_undirected<I, O>(n, edges)}) {
    check_labels<I, O, Space>(raw, rounds, {}, from_vertices);
    check_labels<I, O, Space>(raw, rounds, narrowed<I>(drawn), from_drawn);
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <class Case>
class Communities : public test::threaded_graph_suite<Case> {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;
  using S = typename Case::space;

  void check(std::int64_t n, const edge_vector& edges, std::int64_t rounds) {
    check_edges<I, O, S>(n, edges, rounds, random_);
  }

 private:
  test::random_source random_{7};
};

TYPED_TEST_SUITE(Communities, test::graph_cases);

TYPED_TEST(Communities, SmallShapes) {
  for (const std::int64_t rounds : {1, 2, 3, 10}) {
    this->check(0, {}, rounds);
    this->check(1, {}, rounds);
    this->check(1, {{0, 0}, {0, 0}}, rounds);
    this->check(2, {{1, 0}}, rounds);
    this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}}, rounds);
    this->check(6, {{4, 3}, {3, 4}, {0, 1}, {1, 2}, {2, 0}, {2, 3}}, rounds);
    this->check(33, test::star_edges(33), rounds);
    this->check(33, test::path_edges(33), rounds);
    this->check(64, test::grid_edges(8, 8), rounds);
  }
}

TYPED_TEST(Communities, RandomGraphs) {
  for (std::uint64_t k = 0; k < test::rounds_on<typename TypeParam::space>(1500); ++k) {
    test::random_source random(k);
    const std::int64_t n = 1 + random.below(40);
    const edge_vector edges = test::random_edges(random, n, random.below(4 * n + 1), static_cast<int>(random.below(3)));
    this->check(n, edges, 1 + random.below(12));
    if (this->HasFatalFailure()) FAIL() << "seed " << k;
  }
}

template <class Space, class I, class O>
label_vector labels_of(const context<host>& ctx, const graph<I, O, host>& g, std::int64_t rounds) {
  if constexpr (std::same_as<Space, host>) {
    const auto found = communities(ctx, g, {.iterations = rounds});
    return {found.labels.begin(), found.labels.end()};
  } else {
    static const context<device> gpu;
    const auto found = to_host(gpu, communities(gpu, to_device(gpu, g.view()), {.iterations = rounds}).labels);
    return {found.begin(), found.end()};
  }
}

// As builders make them: neighbours ascend, which the first round exploits.
TYPED_TEST(Communities, GraphsAsTheyAreBuilt) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  const context<host> ctx({.threads = 3});
  for (std::uint64_t seed = 0; seed < test::rounds_on<typename TypeParam::space>(1000); ++seed) {
    test::random_source random(seed);
    const bool dense = seed % 100 == 0;  // rows for a warp, and for a block
    const std::int64_t n = dense ? 500 : 1 + random.below(40);
    const edge_vector edges =
        test::random_edges(random, n, dense ? 30000 : random.below(4 * n + 1), static_cast<int>(random.below(3)));
    std::vector<index> from, to;
    std::set<std::pair<std::int64_t, std::int64_t>> directed, undirected;
    for (const auto& [u, v] : edges) {
      from.push_back(static_cast<index>(u));
      to.push_back(static_cast<index>(v));
      if (u == v) continue;
      directed.emplace(u, v);
      undirected.emplace(std::min(u, v), std::max(u, v));
    }
    const std::int64_t rounds = 1 + random.below(12);
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const auto g = build_graph<offset>(
          ctx, coo_pattern_view<index, host>{static_cast<index>(n), static_cast<index>(n), from, to},
          {.direction = direction, .in_edges = true});
      const auto& distinct = direction == direction_kind::directed ? directed : undirected;
      const label_vector expected =
          test::naive_cdlp(n, {distinct.begin(), distinct.end()}, rounds, test::own_labels(n));
      const label_vector found = labels_of<typename TypeParam::space>(ctx, g, rounds);
      ASSERT_EQ(found, expected) << "seed " << seed;
    }
  }
}

// Around the sizes of blocks and tables, with rows of about that many neighbours.
TYPED_TEST(Communities, SizesAroundBlocks) {
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257, 2047, 2048, 2049}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    edge_vector edges = test::random_edges(random, n, 2 * n, 1);
    for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
    this->check(n, edges, 5);
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

// Lone edges swap their labels forever, and so do both sides of a star: for any number of rounds.
TYPED_TEST(Communities, LabelsThatAlternate) {
  edge_vector edges;
  for (std::int64_t v = 0; v < 40; v += 2) edges.emplace_back(v, v + 1);
  for (std::int64_t v = 41; v < 60; ++v) edges.emplace_back(40, v);
  for (std::int64_t rounds = 1; rounds < 9; ++rounds) this->check(60, edges, rounds);
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(60, edges);
  const context<host> ctx({.threads = 2});
  for (const std::int64_t rounds : {1000001, 1000002}) {
    const auto expected = test::naive_cdlp(60, edges, 10 + rounds % 2, test::own_labels(60));
    communities_plan plan(ctx, raw.view(), {.iterations = rounds});
    plan.run();
    EXPECT_EQ(label_vector(plan.labels().begin(), plan.labels().end()), expected);
    EXPECT_LE(plan.rounds(), 5);
    EXPECT_EQ(check_communities(ctx, raw.view(), plan.labels(), {.iterations = rounds}), "");
  }
}

// Rows of some 30 to 200 neighbours.
TYPED_TEST(Communities, DenseGraphs) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    test::random_source random(seed);
    this->check(300, test::random_edges(random, 300, 15000, static_cast<int>(seed % 2)), 1 + random.below(4));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Labels spread along a path for many rounds, with a small frontier. Rows of about 60 neighbours with as many labels,
// some of which share a counter.
TYPED_TEST(Communities, ManyLabels) {
  constexpr std::int64_t n = 2000;
  test::random_source random(11);
  edge_vector edges;
  for (std::int64_t k = 0; k < 30 * n; ++k) edges.emplace_back(random.below(n), random.below(n));
  this->check(n, edges, 2);
}

TYPED_TEST(Communities, LongPathsAndManyRounds) {
  const edge_vector path = test::path_edges(3000);
  for (const std::int64_t rounds : {10, 57}) this->check(3000, path, rounds);
  this->check(2500, test::grid_edges(50, 50), 31);
}

// Rows longer than a segment, with neighbours from both directions, duplicates and ties.
TYPED_TEST(Communities, Hubs) {
  constexpr std::int64_t n = test::is_sanitized ? 66000 : 80000;
  static_assert(n / 2 > detail::communities::count_tuning::segment);
  this->check(n / 2 + 1, test::star_edges(n / 2 + 1), 3);
  test::random_source random(11);
  edge_vector edges = test::random_edges(random, n, n / 2, 0);
  for (std::int64_t v = 0; v < n; v += 2) edges.emplace_back(7, v);
  for (std::int64_t v = 0; v < n; ++v) edges.emplace_back(v, n - 1);
  for (std::int64_t k = 0; k < n * 5 / 4; ++k) edges.emplace_back(5000 + random.below(50), 40000);
  this->check(n, edges, 4);
}

// Cliques settle soon, but a hub and its neighbours swap labels forever; rows of all lengths have changed neighbours
// when few vertices still change.
TYPED_TEST(Communities, HubsAmongFewThatChange) {
  constexpr std::int64_t cliques = 18000;
  constexpr std::int64_t leaves = 4300;
  constexpr std::int64_t hub = 4 * cliques;
  edge_vector edges;
  for (std::int64_t k = 0; k < cliques; ++k) {
    for (std::int64_t u = 0; u < 4; ++u) {
      for (std::int64_t v = 0; v < u; ++v) edges.emplace_back(4 * k + u, 4 * k + v);
    }
  }
  for (std::int64_t v = 1; v <= leaves; ++v) edges.emplace_back(hub, hub + v);
  for (std::int64_t size = 1; size <= 600; size = size * 3 / 2 + 1) {
    for (std::int64_t k = 0; k < size; ++k) edges.emplace_back(hub + size, hub + 700 + k * 5);
  }
  this->check(hub + leaves + 1, edges, 9);
}

// --- Counting -------------------------------------------------------------

template <class I>
void check_counters(const label_vector& labels, detail::communities::row_counter<I>& counter) {
  const std::vector<I> own = narrowed<I>(labels);
  const std::int64_t expected = test::naive_most_frequent(labels);
  ASSERT_EQ(counter.most_frequent(own.data(), static_cast<std::int64_t>(own.size())), expected);
  const auto found = counter.table().count(own.data(), static_cast<std::int64_t>(own.size()));
  ASSERT_EQ(found.label, expected);
  ASSERT_EQ(found.count, std::count(labels.begin(), labels.end(), expected));
  std::int64_t total = 0;
  counter.table().for_each([&](I label, auto count) {
    EXPECT_EQ(count, std::count(labels.begin(), labels.end(), label));
    total += static_cast<std::int64_t>(count);
  });
  ASSERT_EQ(total, static_cast<std::int64_t>(labels.size()));
}

TEST(CommunitiesCount, AgreesWithTheNaiveCount) {
  const context<host> ctx;
  detail::communities::row_counter<std::int32_t> narrow(ctx, 300);
  detail::communities::row_counter<std::int64_t> wide(ctx, 300);
  for (std::uint64_t seed = 0; seed < test::rounds(5000); ++seed) {
    test::random_source random(seed);
    label_vector labels;
    const std::int64_t bound = 1 + random.below(1 + random.below(400));
    for (std::int64_t size = 1 + random.below(seed % 2 == 0 ? 16 : 300); size > 0; --size) {
      labels.push_back(random.below(bound) * 7919);
    }
    check_counters(labels, narrow);
    check_counters(labels, wide);
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Of this many labels with similar counts, some share a counter.
TEST(CommunitiesCount, LabelsThatShareACounter) {
  const context<host> ctx;
  detail::communities::row_counter<std::int32_t> counter(ctx, 20000);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::random_source random(seed);
    label_vector labels;
    for (std::int64_t k = 0; k < 2000; ++k) {
      const std::int64_t label = random.below(1 << 30);
      for (std::int64_t times = 1 + random.below(4); times > 0; --times) labels.push_back(label);
    }
    const std::int64_t expected = test::naive_most_frequent(labels);
    const std::vector<std::int32_t> own = narrowed<std::int32_t>(labels);
    ASSERT_EQ(counter.most_frequent(own.data(), static_cast<std::int64_t>(own.size())), expected) << "seed " << seed;
  }
}

TEST(CommunitiesHost, LabelsDoNotDependOnThreads) {
  test::random_source random(5);
  constexpr std::int64_t n = 50000;
  edge_vector edges = test::random_edges(random, n, 4 * n, 2);
  for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(v, 17);
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
  const label_vector expected = test::naive_cdlp(n, edges, 6, test::own_labels(n));
  detail::assume_processors(16);
  for (const int threads : {1, 2, 7, 16}) {
    check_labels<std::int32_t, std::int32_t, host>(raw, 6, {}, expected, threads);
    if (testing::Test::HasFatalFailure()) break;
  }
  detail::assume_processors(0);
}

// --- The interface --------------------------------------------------------

// A neighbour joined both ways counts twice: 1 has neighbours 0, 3, 3.
TEST(CommunitiesRule, MutualNeighboursCountTwice) {
  const context<host> ctx;
  const std::vector<std::int32_t> from{0, 1, 3};
  const std::vector<std::int32_t> to{1, 3, 1};
  const coo_pattern_view<std::int32_t, host> pairs{4, 4, from, to};
  const auto directed = communities(ctx, build_graph(ctx, pairs, {.in_edges = true}), {.iterations = 1});
  EXPECT_EQ(std::vector<std::int32_t>(directed.labels.begin(), directed.labels.end()),
            (std::vector<std::int32_t>{1, 3, 2, 1}));
  const auto undirected =
      communities(ctx, build_graph(ctx, pairs, {.direction = direction_kind::undirected}), {.iterations = 1});
  EXPECT_EQ(std::vector<std::int32_t>(undirected.labels.begin(), undirected.labels.end()),
            (std::vector<std::int32_t>{1, 0, 2, 1}));
}

// Labels are ranks of ids if ids ascend, and ties break alike: a graph numbered by ids with gaps gets the same result.
TEST(CommunitiesRule, AscendingNumbersKeepTies) {
  const context<host> ctx({.threads = 2});
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 2 + random.below(30);
    const edge_vector edges = test::random_edges(random, n, 3 * n, 1);
    std::vector<std::int64_t> ids;
    for (std::int64_t v = 0; v < n; ++v) ids.push_back((v == 0 ? 0 : ids.back()) + 1 + random.below(9));
    edge_vector sparse;
    for (const auto& [u, v] : edges) {
      sparse.emplace_back(ids[static_cast<std::size_t>(u)], ids[static_cast<std::size_t>(v)]);
    }
    const std::int64_t last = ids.back() + 1;
    const label_vector expected = test::naive_cdlp(last, sparse, 10, test::own_labels(last));
    const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
    const auto found = communities(ctx, raw.view());
    for (std::size_t v = 0; v < ids.size(); ++v) {
      const auto label = static_cast<std::size_t>(found.labels[static_cast<std::int64_t>(v)]);
      ASSERT_EQ(ids[label], expected[static_cast<std::size_t>(ids[v])]) << "seed " << seed;
    }
  }
}

TEST(CommunitiesPlan, EndsWhenNothingChanges) {
  const context<host> ctx;
  edge_vector clique;
  for (std::int64_t u = 0; u < 6; ++u) {
    for (std::int64_t v = 0; v < u; ++v) clique.emplace_back(u, v);
  }
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(6, clique);
  communities_plan plan(ctx, raw.view(), {.iterations = 100});
  plan.run();
  EXPECT_EQ(plan.count(), 1);
  EXPECT_EQ(plan.rounds(), 3);  // to 0 except vertex 0 itself, to 0 everywhere, and one without changes
  EXPECT_EQ(plan.algorithm(), communities_algorithm::frontier);
  EXPECT_NE(plan.reason().find("skips"), std::string::npos);
  EXPECT_GT(plan.workspace_bytes(), 0);
}

TEST(CommunitiesPlan, RefusesWhatDoesNotFit) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out_and_in);
  const auto out_only = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const auto refusal = [&](const communities_options& options) {
    return message_of(error_code::invalid_argument, [&] { (void)communities(ctx, raw.view(), options); });
  };
  EXPECT_NE(refusal({.iterations = -1}).find("-1 iterations (expected 0 or more)"), std::string::npos);
  EXPECT_NE(refusal({.algorithm = static_cast<communities_algorithm>(99)}).find("99"), std::string::npos);
  EXPECT_NE(refusal({.method = static_cast<communities_method>(98)}).find("98"), std::string::npos);
  EXPECT_NE(
      message_of(error_code::unsupported, [&] { communities_plan plan(ctx, out_only.view()); }).find("add_in_edges"),
      std::string::npos);
  EXPECT_EQ(communities(ctx, out_only.view()).count, communities(ctx, raw.view()).count);
  auto g = raw.view();
  g.out.cols = 4;
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)communities(ctx, g); }).find("3 x 4"),
            std::string::npos);

  communities_plan plan(ctx, raw.view());
  const auto run_with = [&](const std::vector<std::int32_t>& initial) {
    return message_of(error_code::invalid_argument, [&] { plan.run(initial); });
  };
  EXPECT_NE(run_with({0, 1}).find("2 initial labels for 3 vertices"), std::string::npos);
  EXPECT_NE(run_with({0, 1, 3}).find("vertex 2 has the initial label 3 (expected 0 to 2)"), std::string::npos);
  EXPECT_NE(run_with({0, -1, 3}).find("vertex 1 has the initial label -1"), std::string::npos);
  plan.run();
  EXPECT_EQ(plan.count(), 3);
  EXPECT_NE(
      message_of(error_code::invalid_argument, [] { (void)parse_communities_algorithm("leiden"); }).find("leiden"),
      std::string::npos);
  EXPECT_NE(message_of(error_code::invalid_argument, [] { (void)parse_communities_method("walktrap"); }).find("cdlp"),
            std::string::npos);
}

TEST(CommunitiesPlan, RefusesOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}});
  const test::placed_graph<std::int32_t, std::int32_t, device> g(raw);
  EXPECT_EQ(communities(g.ctx(), g.view()).algorithm, communities_algorithm::frontier);
  const auto wrong = to_device(g.ctx(), std::vector<std::int32_t>{0, 7, 9});
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)communities(g.ctx(), g.view(), {}, wrong); })
                .find("vertex 1 has the initial label 7"),
            std::string::npos);
}

TEST(CommunitiesPlan, NaturalCalls) {
  const context<host> ctx({.threads = 2});
  const std::vector<std::int32_t> from{0, 1, 3};
  const std::vector<std::int32_t> to{1, 2, 4};
  const auto g = build_graph<std::int32_t>(ctx, coo_pattern_view<std::int32_t, host>{6, 6, from, to},
                                           {.direction = direction_kind::undirected});
  const std::vector<std::int32_t> initial{5, 5, 5, 1, 1, 0};
  const auto result = communities(ctx, g, {.iterations = 3}, initial);
  EXPECT_EQ(std::vector<std::int32_t>(result.labels.begin(), result.labels.end()), initial);
  EXPECT_EQ(result.count, 3);
  EXPECT_EQ(result.rounds, 1);
  EXPECT_EQ(check_communities(ctx, g, result.labels, {.iterations = 3}, initial), "");
  communities_plan plan(ctx, g);
  plan.run();
  plan.run(initial);
  EXPECT_EQ(plan.count(), 3);
}

}  // namespace
}  // namespace spargo
