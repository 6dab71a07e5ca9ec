// Shortest paths: every algorithm against Bellman-Ford and Boost.Graph, on thousands of small random graphs and
// adversarial shapes; targets, cutoffs, parents; independence of threads.
#include <spargo/graph/sssp.hpp>

#include "graph/graph_suite.hpp"
#include "graph/sssp/algorithms.hpp"
#include "graph/sssp/host_bins.hpp"
#include "graph/sssp_support.hpp"

#include <gtest/gtest.h>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

namespace spargo {
namespace {

using test::graph_form;
using test::weighted_case;
using test::weighted_edges;

template <class Space = host>
std::vector<sssp_algorithm> algorithms() {
  return detail::algorithms_on<Space>(detail::sssp::algorithms);
}

// Expected paths, limited as the options say.
template <class W>
struct expected_paths {
  std::vector<sssp_distance<W>> distances;
  std::vector<std::int64_t> smallest;
};

template <class W>
expected_paths<W> expect_paths(std::int64_t n, const weighted_edges<W>& all, std::int64_t source,
                               const sssp_options& options) {
  expected_paths<W> expected;
  expected.distances = test::naive_distances(n, all, source);
  auto& distances = expected.distances;
  const auto farthest = options.target < 0 ? sssp_unreached<W> : distances[static_cast<std::size_t>(options.target)];
  for (auto& distance : distances) {
    if (distance > farthest || static_cast<double>(distance) > options.cutoff) distance = sssp_unreached<W>;
  }
  expected.smallest = test::naive_smallest_parents(n, all, source, distances);
  return expected;
}

template <class Case>
class Sssp : public test::threaded_graph_suite<Case> {
 protected:
  using W = typename Case::weight;
  using I = typename Case::index;
  using O = typename Case::offset;
  using S = typename Case::space;

  static void check_form(std::int64_t n, const weighted_edges<W>& edges, std::int64_t source, graph_form form,
                         sssp_options options, int threads) {
    const auto g = test::make_weighted<W, I, O>(n, edges, form);
    const test::placed_weighted<W, I, O, S> placed(g, threads);
    const auto expected = expect_paths(n, test::followed(edges, form), source, options);
    const context<host> ctx({.threads = threads});
    for (const auto algorithm : algorithms<S>()) {
      options.algorithm = algorithm;
      for (const auto parents : {sssp_parents::any, sssp_parents::smallest}) {
        options.parents = parents;
        SCOPED_TRACE(std::string(to_string(algorithm)) + ", form " + std::to_string(static_cast<int>(form)) + ", " +
                     std::to_string(n) + " vertices, " + std::to_string(edges.size()) + " edges, source " +
                     std::to_string(source) + ", delta " + std::to_string(options.delta));
        sssp_plan<W, I, O, S> plan(placed.ctx(), placed.view(), options);
        plan.run(static_cast<I>((source + 1) % n));  // leaves traces
        plan.run(static_cast<I>(source));
        const auto distances = placed.fetch(plan.distances());
        ASSERT_EQ(distances, expected.distances);
        ASSERT_EQ(plan.reached(),
                  n - std::count(expected.distances.begin(), expected.distances.end(), sssp_unreached<W>));
        const auto found = placed.fetch(plan.parents());
        ASSERT_EQ(check_sssp(ctx, g.view(), source, distances, found, options), "");
        if (parents == sssp_parents::any) continue;
        ASSERT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), expected.smallest);
      }
    }
  }

  static void check_nothing() {
    const auto g = test::make_weighted<W, I, O>(0, {}, graph_form::out_only);
    const test::placed_weighted<W, I, O, S> placed(g);
    sssp_plan<W, I, O, S> plan(placed.ctx(), placed.view());
    EXPECT_TRUE(plan.distances().empty());
    EXPECT_THROW(plan.run(0), error);
  }

  static void check(std::int64_t n, const weighted_edges<W>& edges, std::int64_t source,
                    const sssp_options& options = {}, int threads = 3) {
    for (const graph_form form : test::all_forms) {
      check_form(n, edges, source, form, options, threads);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};

using cases = test::suite_types<
    weighted_case<std::int32_t, std::int32_t, std::int32_t, host>,
    weighted_case<std::int32_t, std::int64_t, std::int64_t, host>,
    weighted_case<std::int64_t, std::int32_t, std::int64_t, host>,
    weighted_case<float, std::int32_t, std::int32_t, host>, weighted_case<float, std::int32_t, std::int64_t, host>,
    weighted_case<double, std::int32_t, std::int32_t, host>, weighted_case<double, std::int64_t, std::int64_t, host>,
    weighted_case<std::int32_t, std::int32_t, std::int32_t, device>,
    weighted_case<std::int32_t, std::int64_t, std::int64_t, device>,
    weighted_case<std::int64_t, std::int32_t, std::int64_t, device>,
    weighted_case<float, std::int32_t, std::int32_t, device>,
    weighted_case<double, std::int64_t, std::int64_t, device>>;
TYPED_TEST_SUITE(Sssp, cases);

// Small integers, including 0, so that many paths have equal length; for floating point some fractions.
template <class W>
W draw_weight(test::random_source& random, std::int64_t most) {
  if (std::is_floating_point_v<W> && random.below(2) == 0) {
    return static_cast<W>(random.below(1 << 20)) / static_cast<W>(777);
  }
  return static_cast<W>(random.below(most + 1));
}

template <class W>
weighted_edges<W> random_weighted(test::random_source& random, std::int64_t n, std::int64_t count, int skew,
                                  std::int64_t most) {
  return test::with_weights<W>(test::random_edges(random, n, count, skew),
                               [&](std::size_t) { return draw_weight<W>(random, most); });
}

// Includes loops, duplicates, isolated vertices, zero and equal weights, targets, cutoffs and widths.
TYPED_TEST(Sssp, RandomGraphs) {
  using weight_type = typename TypeParam::weight;
  for (std::uint64_t seed = 0; seed < this->rounds(1200); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(30);
    constexpr std::int64_t ranges[] = {0, 1, 3, 20, 1000};
    const auto edges = random_weighted<weight_type>(random, n, random.below(4 * n + 1), static_cast<int>(seed % 3),
                                                    ranges[random.below(5)]);
    sssp_options options;
    if (random.below(3) == 0) options.target = random.below(n);
    if (random.below(3) == 0) options.cutoff = static_cast<double>(random.below(30));
    constexpr double widths[] = {0, 1, 2, 64, 1e9};
    options.delta = widths[random.below(5)];
    this->check(n, edges, random.below(n), options);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TYPED_TEST(Sssp, SmallShapes) {
  using weight_type = typename TypeParam::weight;
  this->check(1, {}, 0);
  this->check(1, {{0, 0, weight_type{3}}}, 0);
  this->check(2, {{0, 1, weight_type{0}}}, 0);
  this->check(2, {{0, 1, weight_type{0}}}, 1);
  this->check(3, {{0, 1, weight_type{5}}, {0, 1, weight_type{2}}, {1, 2, weight_type{2}}, {0, 2, weight_type{4}}}, 0);
  // A ring of zero weights off the path: apart from the entrance its vertices only reach each other.
  this->check(5,
              {{0, 3, weight_type{7}},
               {3, 2, weight_type{0}},
               {2, 1, weight_type{0}},
               {1, 4, weight_type{0}},
               {4, 3, weight_type{0}},
               {4, 2, weight_type{0}}},
              0);
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257}) {
    const auto weight = [](std::size_t k) { return static_cast<weight_type>(k * 7 % 13); };
    this->check(n, test::with_weights<weight_type>(test::path_edges(n), weight), 0);
    this->check(n, test::with_weights<weight_type>(test::star_edges(n), weight), 0);
    this->check(n, test::with_weights<weight_type>(test::star_edges(n), weight), n - 1);
    if (this->HasFatalFailure()) FAIL() << n;
  }
  this->check(400,
              test::with_weights<weight_type>(test::grid_edges(20, 20),
                                              [](std::size_t k) { return static_cast<weight_type>(k % 5); }),
              210);
}

TYPED_TEST(Sssp, NothingIsNoSource) { this->check_nothing(); }

// On the device: hubs in chunks, and more entries per vertex at once than the buckets hold.
TYPED_TEST(Sssp, HubsAndManyEdgesAtOnce) {
  using weight_type = typename TypeParam::weight;
  for (const std::int64_t n : {3, 40}) {
    for (const double delta : {1.0, 16.0, 1e6}) {
      weighted_edges<weight_type> edges;
      for (std::int64_t k = 0; k < 3000; ++k) {
        edges.push_back({k % 2, 1 + k % (n - 1), static_cast<weight_type>(4000 - k)});
        edges.push_back({1, 2, static_cast<weight_type>(1500 + 7 * k % 3000)});
      }
      this->check(n, edges, 0, {.delta = delta});
      if (this->HasFatalFailure()) FAIL() << n << " vertices, delta " << delta;
    }
  }
  this->check(5000,
              test::with_weights<weight_type>(test::star_edges(5000),
                                              [](std::size_t k) { return static_cast<weight_type>(k * 7 % 131); }),
              77);
}

// A crowd of vertices with many edges, and a path away from it: on the device the pull finds the path's first vertex,
// and rows of pulled vertices the rest.
TYPED_TEST(Sssp, ACrowdWithATail) {
  using weight_type = typename TypeParam::weight;
  constexpr std::int64_t crowd = 60;
  constexpr std::int64_t tail = 40;
  weighted_edges<weight_type> edges;
  for (std::int64_t u = 0; u < crowd; ++u) {
    for (std::int64_t v = 0; v < crowd; ++v) {
      edges.push_back({u, v, static_cast<weight_type>(1 + (u * 7 + v * 3) % 50)});
    }
  }
  for (std::int64_t k = 0; k < tail; ++k) {
    edges.push_back({k == 0 ? 5 : crowd + k - 1, crowd + k, static_cast<weight_type>(100 + k % 7)});
    if (k % 5 == 0) edges.push_back({crowd + k, crowd + (k * 3) % tail, static_cast<weight_type>(900)});
  }
  for (const double delta : {1.0, 8.0, 512.0}) {
    this->check(crowd + tail, edges, 3, {.delta = delta});
    this->check(crowd + tail, edges, crowd + tail / 2, {.delta = delta});
    if (this->HasFatalFailure()) FAIL() << "delta " << delta;
  }
}

// Levels of equally near vertices, far more than a block has threads.
TYPED_TEST(Sssp, ManyEdgesThatAddNothing) {
  using weight_type = typename TypeParam::weight;
  const auto zero = [](std::size_t) { return weight_type{0}; };
  this->check(900, test::with_weights<weight_type>(test::grid_edges(30, 30), zero), 465);
  this->check(700, test::with_weights<weight_type>(test::path_edges(700), zero), 3);
  this->check(1500, test::with_weights<weight_type>(test::star_edges(1500), zero), 1499);
}

// Edges far longer than the slots of buckets cover, and buckets that wrap around the slots many times.
TYPED_TEST(Sssp, BucketsFarAhead) {
  using weight_type = typename TypeParam::weight;
  test::random_source random(3);
  for (const double delta : {1.0, 4.0}) {
    const std::int64_t n = 120;
    auto edges = random_weighted<weight_type>(random, n, 500, 0, 3000);
    for (std::int64_t v = 0; v + 1 < n; v += 2) edges.push_back({v, v + 1, weight_type{100000}});
    edges.push_back({0, 7, weight_type{0}});
    this->check(n, edges, 0, {.delta = delta});
    const auto path = test::with_weights<weight_type>(
        test::path_edges(200), [](std::size_t k) { return static_cast<weight_type>(k % 40 == 0 ? 5000 : 30); });
    this->check(200, path, 0, {.delta = delta});
    if (this->HasFatalFailure()) return;
  }
}

// --- Beyond the naive oracle ----------------------------------------------

template <class W, class I, class O>
std::vector<sssp_distance<W>> boost_distances(const weighted_graph_view<W, I, O, host>& g, I source) {
  using D = sssp_distance<W>;
  struct edge_weight {
    D weight;
  };
  using boost_graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, edge_weight>;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<edge_weight> weights;
  for (I u = 0; u < g.vertices(); ++u) {
    for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      pairs.emplace_back(static_cast<std::size_t>(u), static_cast<std::size_t>(g.out.indices[e]));
      weights.push_back({static_cast<D>(g.out_weights[e])});
    }
  }
  const boost_graph copied(boost::edges_are_sorted, pairs.begin(), pairs.end(), weights.begin(),
                           static_cast<std::size_t>(g.vertices()));
  std::vector<D> distances(static_cast<std::size_t>(g.vertices()));
  const auto index = get(boost::vertex_index, copied);
  boost::dijkstra_shortest_paths(copied, static_cast<std::size_t>(source),
                                 boost::weight_map(get(&edge_weight::weight, copied))
                                     .distance_map(boost::make_iterator_property_map(distances.begin(), index))
                                     .distance_inf(sssp_unreached<W>));
  return distances;
}

template <class Space>
std::vector<int> numbers_of_threads() {
  if (std::is_same_v<Space, device>) return {3};
  return {1, 2, 7};
}

// Large enough for several threads, many chunks and, with long rows, the bound.
template <class Space, class W>
void compare_with_boost(std::int64_t n, const weighted_edges<W>& edges, double delta = 0) {
  for (const graph_form form : test::all_forms) {
    const auto g = test::make_weighted<W, std::int32_t, std::int32_t>(n, edges, form);
    for (const std::int32_t source : {0, 17}) {
      const auto expected = boost_distances(g.view(), source);
      for (const int threads : numbers_of_threads<Space>()) {
        const test::placed_weighted<W, std::int32_t, std::int32_t, Space> placed(g, threads);
        for (const auto parents : {sssp_parents::any, sssp_parents::smallest}) {
          const sssp_options options{.algorithm = sssp_algorithm::delta_stepping, .delta = delta, .parents = parents};
          sssp_plan<W, std::int32_t, std::int32_t, Space> plan(placed.ctx(), placed.view(), options);
          plan.run(source);
          const auto distances = placed.fetch(plan.distances());
          ASSERT_EQ(distances, expected) << "threads " << threads;
          ASSERT_EQ(check_sssp(context<host>({.threads = threads}), g.view(), source, distances,
                               placed.fetch(plan.parents()), options),
                    "");
        }
      }
    }
  }
}

template <class Space>
class SsspAndBoost : public test::threaded_graph_suite<test::graph_case<void, void, Space>> {};
using spaces = test::suite_types<host, device>;
TYPED_TEST_SUITE(SsspAndBoost, spaces);

TYPED_TEST(SsspAndBoost, AgreeOnGraphsOfSmallDiameter) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 6000;
    const auto skew = static_cast<int>(seed % 3);
    compare_with_boost<TypeParam>(n, random_weighted<std::int32_t>(random, n, 14 * n, skew, 255));
    compare_with_boost<TypeParam>(n, random_weighted<double>(random, n, 9 * n, skew, 1), 8);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TYPED_TEST(SsspAndBoost, AgreeOnGrids) {
  test::random_source random(5);
  const auto grid = test::grid_edges(130, 90);
  for (const double delta : {0.0, 1.0, 100000.0}) {
    compare_with_boost<TypeParam>(
        130 * 90,
        test::with_weights<std::int32_t>(grid,
                                         [&](std::size_t) { return static_cast<std::int32_t>(1 + random.below(255)); }),
        delta);
    compare_with_boost<TypeParam>(
        130 * 90,
        test::with_weights<float>(grid, [&](std::size_t) { return static_cast<float>(random.below(1000)) / 1000.0F; }),
        delta / 64);
  }
}

TYPED_TEST(SsspAndBoost, AgreeWithinLimitsBelowTheBound) {
  test::random_source random(6);
  const std::int64_t n = 5000;
  const auto edges = random_weighted<std::int32_t>(random, n, 16 * n, 1, 255);
  for (const graph_form form : test::all_forms) {
    const auto g = test::make_weighted<std::int32_t, std::int32_t, std::int32_t>(n, edges, form);
    const auto all = boost_distances(g.view(), 0);
    const test::placed_weighted<std::int32_t, std::int32_t, std::int32_t, TypeParam> placed(g);
    const context<host> ctx({.threads = 3});
    const auto expect_found = [&](const std::vector<std::int64_t>& expected, const sssp_options& options) {
      const auto result = sssp(placed.ctx(), placed.view(), 0, options);
      const auto distances = placed.fetch(span<const std::int64_t, TypeParam>(result.distances.view()));
      ASSERT_EQ(distances, expected);
      const auto parents = placed.fetch(span<const std::int32_t, TypeParam>(result.parents.view()));
      ASSERT_EQ(check_sssp(ctx, g.view(), 0, distances, parents, options), "");
    };
    for (const double cutoff : {0.0, 10.0, 25.0, 60.0, 90.0, 150.0, 1e18}) {
      const sssp_options options{.algorithm = sssp_algorithm::delta_stepping, .delta = 4, .cutoff = cutoff};
      auto expected = all;
      for (auto& d : expected) d = static_cast<double>(d) > cutoff ? sssp_unreached<std::int32_t> : d;
      expect_found(expected, options);
      if (this->HasFatalFailure()) FAIL() << cutoff;
    }
    for (std::int64_t target = 0; target < n; target += 271) {
      const sssp_options options{.algorithm = sssp_algorithm::delta_stepping, .delta = 4, .target = target};
      auto expected = all;
      const auto farthest = all[static_cast<std::size_t>(target)];
      for (auto& d : expected) d = d > farthest ? sssp_unreached<std::int32_t> : d;
      expect_found(expected, options);
      if (this->HasFatalFailure()) FAIL() << target;
    }
  }
}

// Many paths of equal length, and rows enough for several threads.
TEST(SsspParents, SmallestDoNotDependOnThreads) {
  test::random_source random(9);
  const std::int64_t n = 40000;
  const auto edges = random_weighted<std::int32_t>(random, n, 6 * n, 0, 2);
  detail::assume_processors(8);
  for (const graph_form form : test::all_forms) {
    const auto g = test::make_weighted<std::int32_t, std::int32_t, std::int32_t>(n, edges, form);
    for (const int threads : {1, 2, 7}) {
      const context<host> ctx({.threads = threads});
      const sssp_options options{.parents = sssp_parents::smallest};
      sssp_plan<std::int32_t, std::int32_t, std::int32_t, host> plan(ctx, g.view(), options);
      for (int run = 0; run < 3; ++run) {
        plan.run(5);
        ASSERT_EQ(check_sssp(ctx, g.view(), 5, plan.distances(), plan.parents(), options), "");
      }
    }
  }
  detail::assume_processors(0);
}

// --- Bins -----------------------------------------------------------------

using bins_type = detail::sssp::thread_bins<std::int32_t, std::uint32_t>;
using pool_type = detail::sssp::chunk_pool<std::int32_t, std::uint32_t>;

TEST(SsspBins, HandOutBucketsInOrderRoundTheSlots) {
  const context<host> ctx;
  pool_type pool(ctx, 1000, 1);
  bins_type bins(pool);
  for (const std::int64_t base : {0, 1, 63, 64, 200, 255, 256, 1000, 1023}) {
    bins.set_base(base);
    for (const std::int64_t ahead : {255, 0, 64, 63, 1, 128}) bins.push(base + ahead, 7, 9);
    EXPECT_EQ(bins.dropped(), detail::sssp::no_bucket);
    for (const std::int64_t ahead : {0, 1, 63, 64, 128, 255}) {
      EXPECT_EQ(bins.first_bucket(), base + ahead) << base;
      auto* const list = bins.take(base + ahead);
      ASSERT_NE(list, nullptr);
      EXPECT_EQ(list->size, 1);
      EXPECT_EQ(list->next, nullptr);
      bins.recycle(list);
    }
    EXPECT_EQ(bins.first_bucket(), detail::sssp::no_bucket);
  }
}

TEST(SsspBins, RememberTheFirstBucketTheyLost) {
  const context<host> ctx;
  pool_type pool(ctx, 1, 1);  // a chunk per slot and one more
  bins_type bins(pool);
  bins.set_base(10);
  bins.push(10 + 256 + 5, 1, 1);
  EXPECT_EQ(bins.dropped(), 10 + 256 + 5);
  bins.push(10 + 256, 1, 1);
  EXPECT_EQ(bins.dropped(), 10 + 256);
  const std::int64_t held = pool.size() * detail::sssp::host_bins_tuning::chunk_entries;
  for (std::int64_t k = 0; k < held; ++k) bins.push(12, 1, 1);
  EXPECT_EQ(bins.dropped(), 10 + 256);
  bins.push(12, 1, 1);
  EXPECT_EQ(bins.dropped(), 12);
  EXPECT_EQ(bins.first_bucket(), 12);
  bins.clear();
  pool.reset();
  EXPECT_EQ(bins.first_bucket(), detail::sssp::no_bucket);
  bins.push(11, 1, 1);
  EXPECT_EQ(bins.first_bucket(), 11);
}

}  // namespace
}  // namespace spargo
