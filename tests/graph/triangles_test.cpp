// Triangles: every algorithm and output of both backends against counts by a matrix and against Boost.Graph, on
// thousands of small random graphs and adversarial shapes; known counts of large ones; coefficients; refusals;
// independence of threads.
#include <spargo/graph/triangles.hpp>

#include "core/parallel.hpp"
#include "graph/graph_suite.hpp"
#include "graph/triangles/algorithms.hpp"
#include "graph/triangles_support.hpp"
#include "support/message.hpp"

#include <spargo/graph/boost.hpp>

#include <gtest/gtest.h>
#include <boost/graph/clustering_coefficient.hpp>
#include <boost/graph/undirected_graph.hpp>

#include <algorithm>
#include <numeric>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;
using test::triangle_counts;

constexpr triangles_output outputs[] = {triangles_output::total, triangles_output::per_vertex, triangles_output::links};

template <class T>
std::vector<std::int64_t> as_counts(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

// All algorithms and outputs, each twice.
template <class Space = host, class I, class O>
void check_counts(const test::raw_graph<I, O>& raw, const triangle_counts& expected, int threads = 3) {
  const context<host> ctx({.threads = threads});
  const test::placed_graph<I, O, Space> g(raw, threads);
  for (const auto algorithm : detail::algorithms_on<Space>(detail::triangles::algorithms)) {
    for (const auto output : outputs) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", output " + std::to_string(static_cast<int>(output)) + ", " +
                   std::to_string(raw.vertices) + " vertices, " + std::to_string(raw.indices.size()) + " entries");
      triangles_plan<I, O, Space> plan(g.ctx(), g.view(), {.output = output, .algorithm = algorithm});
      for (int run = 0; run < 2; ++run) {
        plan.run();
        ASSERT_EQ(plan.total(), expected.total);
        const bool counts = output != triangles_output::total;
        const bool links = output == triangles_output::links;
        ASSERT_EQ(g.fetch(plan.per_vertex()), counts ? expected.per_vertex : std::vector<std::int64_t>());
        ASSERT_EQ(as_counts(g.fetch(plan.degrees())), counts ? expected.degrees : std::vector<std::int64_t>());
        ASSERT_EQ(g.fetch(plan.links()), links ? expected.links : std::vector<std::int64_t>());
      }
      const auto per_vertex = g.fetch(plan.per_vertex());
      const auto links = g.fetch(plan.links());
      const auto degrees = g.fetch(plan.degrees());
      const triangles_claim<I> claim{plan.total(), per_vertex, links, degrees};
      ASSERT_EQ(check_triangles(ctx, raw.view(), claim), "");
    }
  }
}

// Directed with and without in-edges, and undirected.
template <class I, class O, class Space>
void check_edges(std::int64_t n, const edge_vector& edges, const triangle_counts& directed,
                 const triangle_counts& undirected) {
  check_counts<Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out), directed);
  check_counts<Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), directed);
  check_counts<Space>(test::make_undirected<I, O>(n, edges), undirected);
}

// As the builder makes it: each edge once, ascending, no loops.
edge_vector canonical(edge_vector edges) {
  for (auto& [u, v] : edges) {
    if (u > v) std::swap(u, v);
  }
  std::erase_if(edges, [](const auto& e) { return e.first == e.second; });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

template <class I, class O>
test::raw_graph<I, O> make_canonical(std::int64_t n, const edge_vector& edges) {
  edge_vector both = canonical(edges);
  for (std::size_t k = 0, size = both.size(); k < size; ++k) both.emplace_back(both[k].second, both[k].first);
  std::sort(both.begin(), both.end());
  auto raw = test::make_directed<I, O>(n, both, test::edges_kept::out);
  raw.direction = direction_kind::undirected;
  return raw;
}

template <class Case>
class Triangles : public test::threaded_graph_suite<Case> {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;
  using S = typename Case::space;

  void check(std::int64_t n, const edge_vector& edges) {
    const triangle_counts undirected = test::naive_triangles(n, edges, direction_kind::undirected);
    check_edges<I, O, S>(n, edges, test::naive_triangles(n, edges, direction_kind::directed), undirected);
    check_counts<S>(make_canonical<I, O>(n, edges), undirected);
  }
};

TYPED_TEST_SUITE(Triangles, test::graph_cases);

TYPED_TEST(Triangles, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(2, {{1, 0}});
  this->check(3, {{0, 1}, {1, 2}, {2, 0}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {0, 1}, {0, 2}, {1, 1}});
  this->check(5, {{4, 3}, {3, 4}, {0, 1}, {1, 2}, {2, 0}, {2, 3}, {2, 4}});
  this->check(33, test::star_edges(33));
  this->check(64, test::grid_edges(8, 8));
  this->check(50, test::path_edges(50));
}

TYPED_TEST(Triangles, RandomGraphs) {
  for (std::uint64_t k = 0; k < test::rounds_on<typename TypeParam::space>(1500); ++k) {
    test::random_source random(k);
    const std::int64_t n = 1 + random.below(30);
    this->check(n, test::random_edges(random, n, random.below(6 * n + 1), static_cast<int>(random.below(3))));
    if (this->HasFatalFailure()) FAIL() << "seed " << k;
  }
}

// Around the sizes of vectors, words and bitmap rows.
TYPED_TEST(Triangles, SizesAroundVectors) {
  for (const std::int64_t n : {15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    this->check(n, test::random_edges(random, n, n * 5, 1));
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

TYPED_TEST(Triangles, DenseGraphs) {
  for (const std::int64_t n : {20, 100}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    this->check(n, test::random_edges(random, n, n * n, 0));
    this->check(n, test::clique_edges(0, n));
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

// Vertices of a complete graph are in (n - 1 choose 2) triangles.
TYPED_TEST(Triangles, CompleteGraphsApart) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  using space = typename TypeParam::space;
  constexpr std::int64_t size = 70;
  constexpr std::int64_t copies = 9;
  edge_vector edges;
  for (std::int64_t c = 0; c < copies; ++c) {
    for (const auto& [u, v] : test::clique_edges(0, size)) edges.emplace_back(u * copies + c, v * copies + c);
  }
  triangle_counts expected;
  expected.total = copies * size * (size - 1) * (size - 2) / 6;
  expected.per_vertex.assign(size * copies, (size - 1) * (size - 2) / 2);
  expected.degrees.assign(size * copies, size - 1);
  expected.links = expected.per_vertex;  // each pair is joined one way
  check_counts<space>(test::make_directed<index, offset>(size * copies, edges, test::edges_kept::out), expected);
  for (std::int64_t& links : expected.links) links *= 2;
  check_counts<space>(make_canonical<index, offset>(size * copies, edges), expected);
}

// A hub and a cycle of all others: the hub is in a triangle with every edge of the cycle.
TYPED_TEST(Triangles, Wheels) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  using space = typename TypeParam::space;
  for (const std::int64_t rim : {5, 31, 257, test::is_sanitized ? 6000 : 20000}) {  // a hub with over 4096 neighbours
    for (const std::int64_t hub : {std::int64_t{0}, rim}) {
      const std::int64_t first = hub == 0 ? 1 : 0;
      edge_vector edges;
      for (std::int64_t k = 0; k < rim; ++k) {
        edges.emplace_back(hub, first + k);
        edges.emplace_back(first + k, first + (k + 1) % rim);
      }
      triangle_counts expected;
      expected.total = rim;
      expected.per_vertex.assign(static_cast<std::size_t>(rim + 1), 2);
      expected.per_vertex[static_cast<std::size_t>(hub)] = rim;
      expected.degrees.assign(static_cast<std::size_t>(rim + 1), 3);
      expected.degrees[static_cast<std::size_t>(hub)] = rim;
      expected.links = expected.per_vertex;
      check_counts<space>(test::make_directed<index, offset>(rim + 1, edges, test::edges_kept::out_and_in), expected);
      for (std::int64_t& links : expected.links) links *= 2;
      check_counts<space>(test::make_undirected<index, offset>(rim + 1, edges), expected);
      check_counts<space>(make_canonical<index, offset>(rim + 1, edges), expected);
      if (this->HasFatalFailure()) FAIL() << rim << ", hub " << hub;
    }
  }
}

// --- Beyond the oracle by a matrix ----------------------------------------

triangle_counts boost_triangles(std::int64_t n, const edge_vector& edges) {
  using boost_graph = boost::adjacency_list<boost::hash_setS, boost::vecS, boost::undirectedS>;
  const edge_vector once = canonical(edges);
  const boost_graph g(once.begin(), once.end(), static_cast<std::size_t>(n));
  triangle_counts counts;
  for (std::size_t v = 0; v < static_cast<std::size_t>(n); ++v) {
    counts.per_vertex.push_back(static_cast<std::int64_t>(boost::num_triangles_on_vertex(g, v)));
    counts.degrees.push_back(static_cast<std::int64_t>(out_degree(v, g)));
    counts.links.push_back(2 * counts.per_vertex.back());
    counts.total += counts.per_vertex.back();
  }
  counts.total /= 3;
  return counts;
}

TEST(TrianglesAndBoost, Agree) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 200 + random.below(12000);
    const edge_vector edges = test::random_edges(random, n, n * (1 + random.below(8)), static_cast<int>(seed % 4));
    check_counts(make_canonical<std::int32_t, std::int32_t>(n, edges), boost_triangles(n, edges));
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(TrianglesAndBoost, AgreeOnADevice) {
  SPARGO_TEST_NEEDS_GPU();
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 200 + random.below(12000);
    const edge_vector edges = test::random_edges(random, n, n * (1 + random.below(8)), static_cast<int>(seed % 4));
    check_counts<device>(make_canonical<std::int32_t, std::int32_t>(n, edges), boost_triangles(n, edges));
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(TrianglesHost, CountsDoNotDependOnThreads) {
  test::random_source random(5);
  constexpr std::int64_t n = 20000;
  const edge_vector edges = test::random_edges(random, n, 6 * n, 2);
  const auto raw = make_canonical<std::int32_t, std::int32_t>(n, edges);
  const triangle_counts expected = boost_triangles(n, edges);
  detail::assume_processors(16);
  for (const int threads : {1, 2, 7, 16}) {
    check_counts(raw, expected, threads);
    if (testing::Test::HasFatalFailure()) break;
  }
  detail::assume_processors(0);
}

// Vertices with more than 4096 entries share a bin of the host's order; several of them, of different degrees.
template <class Space>
void check_large_hubs() {
  constexpr std::int64_t n = 14000;
  edge_vector edges;
  for (std::int64_t h = 0; h < 9; ++h) {
    for (std::int64_t v = 9; v < n - h * 700; v += 1 + h % 2) edges.emplace_back(n - 1 - h, v - 9);
  }
  for (std::int64_t v = 0; v < 8000; v += 3) edges.emplace_back(v, v + 1);
  const triangle_counts expected = test::sorted_triangles(n, canonical(edges));
  check_counts<Space>(make_canonical<std::int32_t, std::int32_t>(n, edges), expected);
  check_counts<Space>(test::make_undirected<std::int64_t, std::int64_t>(n, edges), expected);
}
TEST(TrianglesHost, LargeHubs) { check_large_hubs<host>(); }
TEST(TrianglesLargeHubs, OnADevice) {
  SPARGO_TEST_NEEDS_GPU();
  check_large_hubs<device>();
}

// --- Clustering coefficients ----------------------------------------------

// 0 - 1 - 2 a triangle, 3 joined to 2; 4 isolated.
const edge_vector kite{{0, 1}, {1, 2}, {2, 0}, {2, 3}};

TEST(Clustering, OfAnUndirectedGraph) {
  const context<host> ctx({.threads = 2});
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(5, kite);
  const auto counted = triangles(ctx, raw.view(), {.output = triangles_output::links});
  EXPECT_EQ(counted.total, 1);
  const auto local = local_clustering(ctx, counted);
  EXPECT_EQ(std::vector<double>(local.begin(), local.end()), (std::vector<double>{1, 1, 1.0 / 3, 0, 0}));
  const auto by_links = local_clustering(ctx, counted, clustering_counts::links);
  EXPECT_TRUE(std::equal(local.begin(), local.end(), by_links.begin()));
  const auto at_once = local_clustering(ctx, raw.view());
  EXPECT_TRUE(std::equal(local.begin(), local.end(), at_once.begin()));
  EXPECT_DOUBLE_EQ(average_local(local.view()), (2 + 1.0 / 3) / 5);
  EXPECT_DOUBLE_EQ(transitivity(counted), 3.0 / 5);
}

TEST(Clustering, OfADirectedGraphCountsOrderedPairs) {
  const context<host> ctx({.threads = 2});
  edge_vector edges = kite;
  edges.emplace_back(1, 0);  // now 2's neighbours 0 and 1 are joined both ways
  const auto raw = test::make_directed<std::int32_t, std::int64_t>(5, edges, test::edges_kept::out);
  const auto local = local_clustering(ctx, raw.view());
  EXPECT_EQ(std::vector<double>(local.begin(), local.end()), (std::vector<double>{0.5, 0.5, 1.0 / 3, 0, 0}));
}

// The device's coefficients equal the host's bit for bit.
TEST(Clustering, OnADevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 2});
  test::random_source random(1);
  const edge_vector edges = test::random_edges(random, 300, 3000, 1);
  for (const auto& raw : {test::make_directed<std::int32_t, std::int64_t>(300, edges, test::edges_kept::out),
                          test::make_undirected<std::int32_t, std::int64_t>(300, edges)}) {
    const test::placed_graph<std::int32_t, std::int64_t, device> placed(raw);
    const auto expected = local_clustering(ctx, raw.view());
    const auto at_once = local_clustering(placed.ctx(), placed.view());
    EXPECT_EQ(placed.fetch(at_once.view()), std::vector<double>(expected.begin(), expected.end()));
    const triangles_options options{.output = triangles_output::per_vertex};
    const auto pairs = local_clustering(ctx, triangles(ctx, raw.view(), options));
    const auto got = local_clustering(placed.ctx(), triangles(placed.ctx(), placed.view(), options));
    EXPECT_EQ(placed.fetch(got.view()), std::vector<double>(pairs.begin(), pairs.end()));
  }
}

TEST(Clustering, OfNothing) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(0, {});
  const auto counted = triangles(ctx, raw.view(), {.output = triangles_output::per_vertex});
  EXPECT_EQ(average_local(local_clustering(ctx, counted).view()), 0);
  EXPECT_EQ(transitivity(counted), 0);
}

// --- The interface --------------------------------------------------------

TEST(TrianglesChoice, GivesItsReason) {
  const context<host> ctx({.threads = 2});
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(5, kite);
  const triangles_plan plan(ctx, raw.view());
  EXPECT_EQ(plan.algorithm(), triangles_algorithm::bitmap) << "its rows do not ascend";
  EXPECT_NE(plan.reason().find("bitmap"), std::string::npos);
  const auto canonical_kite = make_canonical<std::int32_t, std::int32_t>(5, kite);
  const triangles_plan rows(ctx, canonical_kite.view());
  EXPECT_EQ(rows.algorithm(), triangles_algorithm::merge);
  EXPECT_NE(rows.reason().find("more than 3 neighbours"), std::string::npos);
  EXPECT_LT(rows.workspace_bytes(), plan.workspace_bytes());
  const triangles_plan merged(ctx, raw.view(), {.algorithm = triangles_algorithm::merge});
  EXPECT_EQ(merged.reason(), "asked for");
}

TEST(TrianglesChoice, OnADevice) {
  SPARGO_TEST_NEEDS_GPU();
  const auto loose = test::make_undirected<std::int32_t, std::int32_t>(5, kite);
  const test::placed_graph<std::int32_t, std::int32_t, device> raw(loose);
  const triangles_plan plan(raw.ctx(), raw.view());
  EXPECT_EQ(plan.algorithm(), triangles_algorithm::bitmap) << "its rows do not ascend";
  EXPECT_NE(plan.reason().find("bitmap"), std::string::npos);
  const auto canonical_kite = make_canonical<std::int32_t, std::int32_t>(5, kite);
  const test::placed_graph<std::int32_t, std::int32_t, device> placed(canonical_kite);
  const triangles_plan rows(placed.ctx(), placed.view());
  EXPECT_EQ(rows.algorithm(), triangles_algorithm::merge);
  EXPECT_NE(rows.reason().find("more than 3 neighbours"), std::string::npos);
  EXPECT_LT(rows.workspace_bytes(), plan.workspace_bytes());
  const auto star = make_canonical<std::int32_t, std::int32_t>(400, test::star_edges(400));
  const test::placed_graph<std::int32_t, std::int32_t, device> hub(star);
  EXPECT_EQ(triangles_plan(hub.ctx(), hub.view()).algorithm(), triangles_algorithm::bitmap);
}

TEST(TrianglesChoice, RefusesWhatDoesNotFit) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(5, kite, test::edges_kept::out_and_in);
  const auto refusal = [&](const triangles_options& options) {
    return message_of(error_code::invalid_argument, [&] { (void)triangles(ctx, raw.view(), options); });
  };
  EXPECT_NE(refusal({.algorithm = static_cast<triangles_algorithm>(99)}).find("99"), std::string::npos);
  EXPECT_NE(refusal({.output = static_cast<triangles_output>(7)}).find("output has the number 7"), std::string::npos);
  graph_view<std::int32_t, std::int32_t, host> g = raw.view();
  g.out.cols = 4;
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)triangles(ctx, g); }).find("5 x 4"),
            std::string::npos);
  g = raw.view();
  g.in.indices = g.in.indices.subspan(0, 3);
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)triangles(ctx, g); }).find("3 in-edges"),
            std::string::npos);
  EXPECT_EQ(parse_triangles_algorithm("merge"), triangles_algorithm::merge);
  EXPECT_NE(message_of(error_code::invalid_argument, [] { (void)parse_triangles_algorithm("cubic"); }).find("cubic"),
            std::string::npos);
  const std::vector<std::int64_t> counts{1, 2};
  const std::vector<std::int32_t> degrees{1};
  EXPECT_NE(
      message_of(error_code::invalid_argument, [&] { (void)local_clustering<std::int32_t>(ctx, counts, degrees); })
          .find("2 counts for 1"),
      std::string::npos);
}

TEST(TrianglesChoice, NaturalCalls) {
  const context<host> ctx({.threads = 2});
  const std::vector<std::int32_t> from{0, 1, 2, 2};
  const std::vector<std::int32_t> to{1, 2, 0, 3};
  const coo_pattern_view<std::int32_t, host> pairs{4, 4, from, to};
  const auto g = build_graph<std::int32_t>(ctx, pairs, {.direction = direction_kind::undirected});
  const auto result = triangles(ctx, g, {.output = triangles_output::per_vertex});
  EXPECT_EQ(result.total, 1);
  EXPECT_EQ(std::accumulate(result.per_vertex.begin(), result.per_vertex.end(), std::int64_t{0}), 3);
  EXPECT_EQ(check_triangles(ctx, g, {.total = result.total, .per_vertex = result.per_vertex}), "");
  triangles_plan plan(ctx, g);
  plan.run();
  EXPECT_EQ(plan.total(), 1);
}

}  // namespace
}  // namespace spargo
