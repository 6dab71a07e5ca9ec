// Front ends of shortest paths against naive results on random graphs: loops, parallel edges, weights of 0, equal ones,
// unreachable vertices, directed graphs with and without in-edges.
#include <spargo/graph/paths.hpp>

#include "graph/path_cases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace spargo {
namespace {

using test::cpu;
using test::graph_form;
using test::message_of;
using test::random_source;
using test::weighted_edges;

template <class Types>
class Paths : public testing::Test {};
TYPED_TEST_SUITE(Paths, test::path_cases);

// Weights of some kind: all 1, with zeros, or any.
template <class W>
weighted_edges<W> draw(random_source& random, std::int64_t n, std::int64_t count) {
  const auto pairs = test::random_edges(random, n, count, static_cast<int>(random.below(2)));
  const std::int64_t kind = random.below(3);
  return test::with_weights<W>(pairs, [&](std::size_t) {
    if (kind == 0) return W{1};
    if (kind == 1) return static_cast<W>(random.below(3));
    return std::is_integral_v<W> ? static_cast<W>(random.below(1000)) : static_cast<W>(random.below(1000)) / W{7};
  });
}

// The sum along the lightest edges in the order of the path; -1 where an edge is missing or a vertex repeats.
template <class W, class I>
double length_along(const weighted_edges<W>& edges, const std::vector<I>& path) {
  using D = sssp_distance<W>;
  D sum = 0;
  for (std::size_t k = 1; k < path.size(); ++k) {
    D lightest = sssp_unreached<W>;
    for (const auto& e : edges) {
      if (e.from == path[k - 1] && e.to == path[k]) lightest = std::min(lightest, static_cast<D>(e.weight));
    }
    if (lightest == sssp_unreached<W>) return -1;
    sum += lightest;
  }
  return std::set<I>(path.begin(), path.end()).size() == path.size() ? static_cast<double>(sum) : -1;
}

TYPED_TEST(Paths, OfOnePair) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  int found_some = 0;
  int found_none = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::rounds(1000)); ++seed) {
    random_source random(seed);
    const std::int64_t n = 1 + random.below(24);
    const auto edges = draw<W>(random, n, random.below(3 * n));
    const auto form = test::all_forms[seed % 3];
    const auto g = test::make_weighted<W, I, O>(n, edges, form);
    const auto all = test::followed(edges, form);
    path_finder<W, I, O> finder(cpu(), g.view());
    for (int pair = 0; pair < 6; ++pair) {
      const std::int64_t s = random.below(n);
      const std::int64_t t = random.below(n);
      const auto lengths = test::naive_distances(n, all, s);
      const auto wanted = lengths[static_cast<std::size_t>(t)];
      const auto found = finder.find(static_cast<I>(s), static_cast<I>(t));
      ASSERT_EQ(found.exists(), wanted != sssp_unreached<W>) << "seed " << seed;
      (found.exists() ? found_some : found_none)++;
      const graph_view<I, O, host>& pattern = g.view();
      const auto levels = test::naive_distances(n,
                                                test::with_weights<std::int32_t>(
                                                    [&] {
                                                      test::edge_vector pairs;
                                                      for (const auto& e : all) pairs.emplace_back(e.from, e.to);
                                                      return pairs;
                                                    }(),
                                                    [](std::size_t) { return 1; }),
                                                s);
      const auto few = shortest_path(cpu(), pattern, static_cast<I>(s), static_cast<I>(t));
      ASSERT_EQ(has_path(cpu(), pattern, static_cast<I>(s), static_cast<I>(t)), found.exists());
      if (!found.exists()) {
        EXPECT_EQ(found.length, sssp_unreached<W>);
        EXPECT_TRUE(few.empty());
        continue;
      }
      EXPECT_EQ(static_cast<std::int64_t>(few.size()) - 1, levels[static_cast<std::size_t>(t)]) << "seed " << seed;
      EXPECT_GE(length_along(all, few), 0);
      ASSERT_EQ(found.vertices.front(), s);
      ASSERT_EQ(found.vertices.back(), t);
      ASSERT_EQ(few.front(), s);
      ASSERT_EQ(few.back(), t);
      EXPECT_EQ(length_along(all, found.vertices), static_cast<double>(found.length)) << "seed " << seed;
      EXPECT_NEAR(static_cast<double>(found.length), static_cast<double>(wanted), 1e-12 * static_cast<double>(wanted));
    }
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(found_some, test::rounds(1000));
  EXPECT_GT(found_none, test::rounds(1000) / 10);
}

TYPED_TEST(Paths, ByCoordinatesHaveTheBitsOfSssp) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::rounds(1000)); ++seed) {
    random_source random(seed);
    const std::int64_t n = 1 + random.below(30);
    const bool globe = seed % 2 == 0;
    std::vector<double> at;
    for (std::int64_t v = 0; v < n; ++v) {
      at.push_back(static_cast<double>(random.below(360)) - 180);
      at.push_back(static_cast<double>(random.below(181)) - 90);
    }
    // Lengths of roads: the distance of the ends and up to twice as much; sometimes less than the distance suggests.
    const auto pairs = test::random_edges(random, n, random.below(4 * n), 0);
    const auto edges = test::with_weights<W>(pairs, [&](std::size_t k) {
      const auto u = static_cast<std::size_t>(pairs[k].first) * 2;
      const auto v = static_cast<std::size_t>(pairs[k].second) * 2;
      const double straight = std::hypot(at[u] - at[v], at[u + 1] - at[v + 1]);
      return static_cast<W>(std::ceil(straight * (1 + static_cast<double>(random.below(100)) / 100)));
    });
    const auto form = test::all_forms[seed % 3];
    const auto g = test::make_weighted<W, I, O>(n, edges, form);
    path_options options{.coordinates = at, .metric = globe ? path_metric::great_circle : path_metric::euclidean};
    if (!globe && seed % 4 == 1) options.scale = 1;
    path_finder<W, I, O> finder(cpu(), g.view(), options);
    for (int pair = 0; pair < 5; ++pair) {
      const auto s = static_cast<I>(random.below(n));
      const auto t = static_cast<I>(random.below(n));
      const auto wanted = test::naive_distances(n, test::followed(edges, form), s)[static_cast<std::size_t>(t)];
      const auto found = finder.find(s, t);
      ASSERT_EQ(found.length, wanted) << "seed " << seed;
      if (!found.exists()) continue;
      ASSERT_EQ(length_along(test::followed(edges, form), found.vertices), static_cast<double>(found.length));
    }
  }
}

// Vertex (x, y) of a square grid is y * side + x.
template <class W>
weighted_edges<W> grid(std::int64_t side) {
  weighted_edges<W> edges;
  for (std::int64_t v = 0; v < side * side; ++v) {
    if (v % side + 1 < side) edges.push_back({v, v + 1, static_cast<W>(10 + v % 3)});
    if (v + side < side * side) edges.push_back({v, v + side, static_cast<W>(10 + v % 5)});
  }
  return edges;
}

TEST(PathsOf, ASearchExpandsLittle) {
  constexpr std::int64_t side = 60;
  const auto g = test::make_weighted<std::int32_t, std::int32_t, std::int32_t>(side * side, grid<std::int32_t>(side),
                                                                               graph_form::undirected);
  std::vector<double> at;
  for (std::int64_t v = 0; v < side * side; ++v) {
    at.push_back(static_cast<double>(v % side));
    at.push_back(static_cast<double>(v / side));
  }
  const auto s = static_cast<std::int32_t>(30 * side + 20);
  const auto t = static_cast<std::int32_t>(30 * side + 40);
  path_finder<std::int32_t, std::int32_t, std::int32_t> both(cpu(), g.view());
  path_finder<std::int32_t, std::int32_t, std::int32_t> guided(cpu(), g.view(), {.coordinates = at});
  EXPECT_EQ(both.find(s, t).length, guided.find(s, t).length);
  EXPECT_EQ(guided.scale(), 10);
  EXPECT_EQ(both.scale(), 0);
  EXPECT_LT(guided.expanded(), 250);  // some 40 along the row and what competes with it
  EXPECT_LT(both.expanded(), 900);    // two disks of half the radius
  EXPECT_GT(both.expanded(), guided.expanded());
}

TEST(PathsOf, DistancesOnASphere) {
  // A quarter, an eighth and a half of a great circle, each of weight 10.
  const auto g = test::make_weighted<double, std::int32_t, std::int32_t>(2, {{0, 1, 10.0}}, graph_form::out_only);
  const std::vector<std::vector<double>> places{{0, 0, 90, 0}, {20, 0, 20, 45}, {-170, 30, 10, -30}};
  const std::vector<double> parts{4, 8, 2};
  for (std::size_t k = 0; k < places.size(); ++k) {
    path_finder<double, std::int32_t, std::int32_t> finder(
        cpu(), g.view(), {.coordinates = places[k], .metric = path_metric::great_circle});
    EXPECT_NEAR(finder.scale(), 10 / (2 * std::acos(-1.0) / parts[k]), 1e-6);
  }
}

TYPED_TEST(Paths, LengthsOfPairsAndAllDistances) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  using D = sssp_distance<W>;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::rounds(500)); ++seed) {
    random_source random(seed);
    const std::int64_t n = 1 + random.below(24);
    const auto edges = draw<W>(random, n, random.below(3 * n));
    const auto form = test::all_forms[seed % 3];
    const auto g = test::make_weighted<W, I, O>(n, edges, form);
    std::vector<std::vector<D>> distances;
    for (std::int64_t s = 0; s < n; ++s) distances.push_back(test::naive_distances(n, test::followed(edges, form), s));
    std::vector<I> sources;
    std::vector<I> targets;
    for (std::int64_t k = random.below(20); k > 0; --k) {
      sources.push_back(static_cast<I>(random.below(n)));
      targets.push_back(static_cast<I>(random.below(n)));
    }
    const auto lengths = path_lengths(cpu(), g.view(), sources, targets);
    ASSERT_EQ(lengths.size(), sources.size());
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      ASSERT_EQ(lengths[k], distances[static_cast<std::size_t>(sources[k])][static_cast<std::size_t>(targets[k])]);
    }
    std::int64_t expected = 0;
    const auto rows = sources.empty() ? n : static_cast<std::int64_t>(sources.size());
    const std::int64_t bytes = 1 + random.below(4 * n * static_cast<std::int64_t>(sizeof(D)));
    all_distances<W, I, O>(cpu(), g.view(), sources, bytes, [&](std::int64_t first, span<const D, host> found) {
      ASSERT_EQ(first, expected);
      ASSERT_TRUE(found.size() == n || found.size() * static_cast<std::int64_t>(sizeof(D)) <= bytes);
      for (std::int64_t k = 0; k < found.size(); ++k) {
        const auto row = static_cast<std::size_t>(first + k / n);
        const std::int64_t source = sources.empty() ? first + k / n : std::int64_t{sources[row]};
        ASSERT_EQ(found[k], distances[static_cast<std::size_t>(source)][static_cast<std::size_t>(k % n)]);
      }
      expected += found.size() / n;
    });
    ASSERT_EQ(expected, rows);
    // The levels.
    expected = 0;
    auto ones = test::followed(edges, form);
    for (auto& e : ones) e.weight = 1;
    const graph_view<I, O, host> pattern = g.view();
    all_distances<I, O>(cpu(), pattern, sources, bytes, [&](std::int64_t first, span<const std::int32_t, host> found) {
      ASSERT_EQ(first, expected);
      for (std::int64_t row = 0; row < found.size() / n; ++row) {
        const std::int64_t source =
            sources.empty() ? first + row : std::int64_t{sources[static_cast<std::size_t>(first + row)]};
        const auto wanted = test::naive_distances(n, ones, source);
        for (std::int64_t v = 0; v < n; ++v) {
          const auto level = wanted[static_cast<std::size_t>(v)];
          ASSERT_EQ(found[row * n + v], level == sssp_unreached<W> ? -1 : static_cast<std::int32_t>(level));
        }
      }
      expected += found.size() / n;
    });
    ASSERT_EQ(expected, rows);
  }
}

// All simple paths, by depth-first search, as their vertices.
template <class W, class I>
void find_simple_paths(const weighted_edges<W>& edges, std::vector<I>& path, I target, std::set<std::vector<I>>& all) {
  if (path.back() == target) {
    all.insert(path);
    return;
  }
  for (const auto& e : edges) {
    const auto next = static_cast<I>(e.to);
    if (e.from != path.back() || std::find(path.begin(), path.end(), next) != path.end()) continue;
    path.push_back(next);
    find_simple_paths(edges, path, target, all);
    path.pop_back();
  }
}

TYPED_TEST(Paths, ShortestSimpleOnes) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  std::size_t most = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::rounds(1000)); ++seed) {
    random_source random(seed);
    const std::int64_t n = 1 + random.below(8);
    const auto edges = draw<W>(random, n, random.below(3 * n));
    const auto form = test::all_forms[seed % 3];
    const auto g = test::make_weighted<W, I, O>(n, edges, form);
    const auto all = test::followed(edges, form);
    const auto s = static_cast<I>(random.below(n));
    const auto t = static_cast<I>(random.below(n));
    std::set<std::vector<I>> simple;
    std::vector<I> path{s};
    find_simple_paths(all, path, t, simple);
    std::vector<double> lengths;
    for (const auto& vertices : simple) lengths.push_back(length_along(all, vertices));
    std::sort(lengths.begin(), lengths.end());
    const std::int64_t count = seed % 2 == 0 ? 1000 : 1 + random.below(6);
    const auto found = k_shortest_paths(cpu(), g.view(), s, t, count);
    ASSERT_EQ(found.size(), std::min(simple.size(), static_cast<std::size_t>(count))) << "seed " << seed;
    std::set<std::vector<I>> distinct;
    for (std::size_t k = 0; k < found.size(); ++k) {
      ASSERT_TRUE(simple.contains(found[k].vertices)) << "seed " << seed;
      distinct.insert(found[k].vertices);
      ASSERT_EQ(static_cast<double>(found[k].length), length_along(all, found[k].vertices));
      ASSERT_EQ(static_cast<double>(found[k].length), lengths[k]) << "seed " << seed << ", path " << k;
    }
    ASSERT_EQ(distinct.size(), found.size());
    most = std::max(most, found.size());
    EXPECT_TRUE(k_shortest_paths(cpu(), g.view(), s, t, 0).empty());
  }
  EXPECT_GT(most, 20U / static_cast<unsigned>(test::rounds_over));
}

TEST(PathsOf, EdgesOfInfiniteWeightDoNotCount) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const weighted_edges<double> edges{{0, 1, infinity}, {0, 2, 1}};
  for (const auto form : test::all_forms) {
    const auto g = test::make_weighted<double, std::int32_t, std::int32_t>(3, edges, form);
    EXPECT_FALSE((path_finder<double, std::int32_t, std::int32_t>(cpu(), g.view()).find(0, 1).exists()));
    EXPECT_TRUE(k_shortest_paths(cpu(), g.view(), 0, 1, 3).empty());
    const std::vector<std::int32_t> source{0};
    const std::vector<std::int32_t> target{1};
    EXPECT_EQ(path_lengths(cpu(), g.view(), source, target).front(), infinity);
  }
}

TEST(PathsOf, WrongArgumentsAreRefused) {
  using finder = path_finder<double, std::int32_t, std::int32_t>;
  const auto g =
      test::make_weighted<double, std::int32_t, std::int32_t>(3, {{0, 1, 2.0}, {1, 2, 3.0}}, graph_form::out_only);
  const auto refusal = [&](auto&& call) { return message_of(error_code::invalid_argument, call); };
  EXPECT_EQ(refusal([&] { (void)finder(cpu(), g.view()).find(0, 3); }),
            "path_finder: vertex 3 is out of range (the graph has 3 vertices)");
  EXPECT_EQ(refusal([&] {
              (void)shortest_path(cpu(), static_cast<const graph_view<std::int32_t, std::int32_t, host>&>(g.view()), -1,
                                  0);
            }),
            "shortest_path: vertex -1 is out of range (the graph has 3 vertices)");
  const std::vector<double> at{0, 0, 4, 0, 8, 0};
  EXPECT_EQ(refusal([&] { (void)finder(cpu(), g.view(), {.coordinates = at, .scale = 1}); }),
            "path_finder: edge (0, 1) has weight 2, and 1 times the distance of its ends is 4 (expected no edge to be "
            "shorter)");
  EXPECT_EQ(refusal([&] { (void)finder(cpu(), g.view(), {.coordinates = at, .dimensions = 3}); }),
            "path_finder: 6 coordinates of 3 vertices (expected 3 each)");
  const std::vector<double> lost{0, 0, 4, std::nan(""), 8, 0};
  EXPECT_EQ(refusal([&] { (void)finder(cpu(), g.view(), {.coordinates = lost}); }),
            "path_finder: vertex 1 has a coordinate nan (expected a finite number)");
  EXPECT_EQ(refusal([&] { (void)k_shortest_paths(cpu(), g.view(), 0, 1, -1); }),
            "k_shortest_paths: -1 paths (expected 0 or more)");
  const std::vector<std::int32_t> one{0};
  const std::vector<std::int32_t> two{0, 1};
  EXPECT_EQ(refusal([&] { (void)path_lengths(cpu(), g.view(), one, two); }),
            "path_lengths: 1 sources and 2 targets (expected pairs)");
  const auto negative =
      test::make_weighted<double, std::int32_t, std::int32_t>(2, {{0, 1, -1.0}}, graph_form::out_only);
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)finder(cpu(), negative.view()); }),
            "sssp: edge (0, 1) has weight -1 (expected 0 or more)");
}

}  // namespace
}  // namespace spargo
