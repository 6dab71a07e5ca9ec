// Bellman-Ford against relaxing all edges of a list, on random graphs with weights of both signs: loops, parallel
// edges, weights of 0, cycles that are negative, positive and of length 0, unreachable ones.
#include <spargo/graph/bellman_ford.hpp>

#include "graph/path_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace spargo {
namespace {

using test::cpu;
using test::graph_form;
using test::message_of;
using test::random_source;
using test::weighted_edges;

template <class Types>
class BellmanFord : public testing::Test {};
TYPED_TEST_SUITE(BellmanFord, test::path_cases);

// Distances after as many rounds over the list as there are vertices; whether one more would change them. Weights are
// multiples of 1/4, so that sums are exact.
template <class W>
std::pair<std::vector<double>, bool> relaxed(std::int64_t n, const weighted_edges<W>& edges,
                                             const std::vector<std::int64_t>& sources) {
  std::vector<double> far(static_cast<std::size_t>(n), INFINITY);
  for (const auto s : sources) far[static_cast<std::size_t>(s)] = 0;
  bool changed = true;
  for (std::int64_t round = 0; changed && round <= n; ++round) {
    changed = false;
    for (const auto& e : edges) {
      const double path = far[static_cast<std::size_t>(e.from)] + static_cast<double>(e.weight);
      double& old = far[static_cast<std::size_t>(e.to)];
      if (path < old) old = path, changed = true;
    }
  }
  return {far, changed};
}

// Mostly edges that potentials of the vertices explain, so that no cycle is negative; `spoiled` makes some shorter.
template <class W>
weighted_edges<W> draw(random_source& random, std::int64_t n, std::int64_t count, bool spoiled) {
  std::vector<std::int64_t> height;
  for (std::int64_t v = 0; v < n; ++v) height.push_back(random.below(100));
  const auto pairs = test::random_edges(random, n, count, static_cast<int>(random.below(2)));
  const std::int64_t slack = 1 + random.below(20);
  return test::with_weights<W>(pairs, [&](std::size_t k) {
    std::int64_t quarters = height[static_cast<std::size_t>(pairs[k].second)] -
                            height[static_cast<std::size_t>(pairs[k].first)] + random.below(slack);
    if (spoiled && random.below(count) == 0) quarters -= 1 + random.below(40);
    return std::is_integral_v<W> ? static_cast<W>(quarters) : static_cast<W>(quarters) / W{4};
  });
}

template <class W>
double weight_of(const weighted_edges<W>& edges, std::int64_t u, std::int64_t v) {
  double least = INFINITY;
  for (const auto& e : edges) {
    if (e.from == u && e.to == v) least = std::min(least, static_cast<double>(e.weight));
  }
  return least;
}

TYPED_TEST(BellmanFord, DistancesParentsAndCycles) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  int with_cycle = 0, without = 0, negative = 0, unreached = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(test::rounds(2000)); ++seed) {
    random_source random(seed);
    const std::int64_t n = 1 + random.below(30);
    const auto edges = draw<W>(random, n, random.below(4 * n), seed % 2 == 1);
    const auto form = seed % 4 == 3 ? graph_form::undirected : graph_form::out_only;
    const auto all = test::followed(edges, form);
    const auto g = test::make_weighted<W, I, O>(n, edges, form);
    std::vector<std::int64_t> sources;
    std::vector<I> given;
    for (std::int64_t k = random.below(3); k >= 0; --k) {
      sources.push_back(random.below(n));
      given.push_back(static_cast<I>(sources.back()));
    }
    const bool from_all = seed % 5 == 0;
    if (from_all) {
      sources.resize(static_cast<std::size_t>(n));
      std::iota(sources.begin(), sources.end(), 0);
    }
    const auto [wanted, is_negative] = relaxed(n, all, sources);
    const auto found =
        from_all ? bellman_ford(cpu(), g.view()) : bellman_ford(cpu(), g.view(), span<const I, host>(given));
    ASSERT_EQ(found.has_negative_cycle(), is_negative) << "seed " << seed;
    if (is_negative) {
      ++with_cycle;
      double sum = 0;
      for (std::int64_t k = 0; k < found.negative_cycle.size(); ++k) {
        sum += weight_of(all, found.negative_cycle[k], found.negative_cycle[(k + 1) % found.negative_cycle.size()]);
      }
      ASSERT_LT(sum, 0) << "seed " << seed;
      continue;
    }
    ++without;
    std::int64_t reached = 0;
    for (std::int64_t v = 0; v < n; ++v) {
      const double far = wanted[static_cast<std::size_t>(v)];
      if (std::isinf(far)) {
        ++unreached;
        ASSERT_EQ(found.distances[v], sssp_unreached<W>);
        ASSERT_EQ(found.parents[v], -1);
        continue;
      }
      ++reached;
      negative += far < 0;
      ASSERT_EQ(static_cast<double>(found.distances[v]), far) << "seed " << seed << " vertex " << v;
      // Parents lead to a source, each by an edge that has the difference of the distances.
      std::int64_t steps = 0;
      std::int64_t u = v;
      while (found.parents[u] != u) {
        const auto parent = static_cast<std::int64_t>(found.parents[u]);
        ASSERT_EQ(wanted[static_cast<std::size_t>(parent)] + weight_of(all, parent, u),
                  wanted[static_cast<std::size_t>(u)]);
        u = parent;
        ASSERT_LT(++steps, n) << "seed " << seed;
      }
      ASSERT_NE(std::find(sources.begin(), sources.end(), u), sources.end());
    }
    ASSERT_EQ(found.reached, reached);
  }
  EXPECT_GT(with_cycle, test::rounds(2000) / 10);
  EXPECT_GT(without, test::rounds(2000) / 4);
  EXPECT_GT(negative, test::rounds(2000));
  EXPECT_GT(unreached, test::rounds(2000) / 4);
}

TYPED_TEST(BellmanFord, HasTheBitsOfSssp) {
  using W = typename TypeParam::weight;
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    random_source random(seed);
    const std::int64_t n = 200;
    const auto edges = test::with_weights<W>(test::random_edges(random, n, 1000, 0), [&](std::size_t) {
      return std::is_integral_v<W> ? static_cast<W>(random.below(1000)) : static_cast<W>(random.below(1000)) / W{7};
    });
    const auto g = test::make_weighted<W, I, O>(n, edges, graph_form::undirected);
    const auto found = bellman_ford(cpu(), g.view(), I{3});
    const auto wanted = sssp(cpu(), g.view(), 3);
    for (std::int64_t v = 0; v < n; ++v) ASSERT_EQ(found.distances[v], wanted.distances[v]) << "seed " << seed;
  }
}

template <class W>
auto small(std::int64_t n, const weighted_edges<W>& edges, graph_form form = graph_form::out_only) {
  return test::make_weighted<W, std::int32_t, std::int32_t>(n, edges, form);
}

TEST(BellmanFordOf, CyclesInTheOrderOfTheirEdges) {
  const auto g = small<int>(5, {{0, 1, 4}, {1, 2, -3}, {2, 3, 1}, {3, 1, 1}, {3, 4, 1}});
  const auto found = bellman_ford(cpu(), g.view(), 0);
  ASSERT_EQ(found.negative_cycle.size(), 3);
  for (std::int64_t k = 0; k < 3; ++k) {
    const int u = found.negative_cycle[k];
    EXPECT_EQ(found.negative_cycle[(k + 1) % 3], u == 3 ? 1 : u + 1);
  }
  EXPECT_FALSE(bellman_ford(cpu(), g.view(), 4).has_negative_cycle());  // not reached from there
  // A loop, an undirected edge, a cycle of length 0.
  EXPECT_EQ(bellman_ford(cpu(), small<int>(2, {{0, 1, 2}, {1, 1, -1}}).view(), 0).negative_cycle.size(), 1);
  EXPECT_EQ(bellman_ford(cpu(), small<int>(2, {{0, 1, -1}}, graph_form::undirected).view(), 0).negative_cycle.size(),
            2);
  EXPECT_FALSE(bellman_ford(cpu(), small<int>(2, {{0, 1, -1}, {1, 0, 1}}).view()).has_negative_cycle());
  EXPECT_EQ(bellman_ford(cpu(), small<int>(0, {}).view()).reached, 0);
}

TEST(BellmanFordOf, ALongChainBackwards) {  // of each round one vertex changes
  constexpr std::int64_t n = 20000;
  weighted_edges<std::int32_t> edges;
  for (std::int64_t v = 1; v < n; ++v) edges.push_back({n - v, n - v - 1, -1});
  edges.push_back({0, n - 1, static_cast<std::int32_t>(n - 1)});
  EXPECT_EQ(bellman_ford(cpu(), small<std::int32_t>(n, edges).view(), n - 1).distances[0], 1 - n);
  edges.back().weight = static_cast<std::int32_t>(n - 2);
  EXPECT_EQ(bellman_ford(cpu(), small<std::int32_t>(n, edges).view(), n - 1).negative_cycle.size(), n);
}

TEST(BellmanFordOf, WhatIsRefused) {
  const auto g = small<double>(3, {{0, 1, 1}, {1, 2, NAN}});
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)bellman_ford(cpu(), g.view(), 0); }),
            "bellman_ford: edge (1, 2) has weight nan (expected a number)");
  const auto down = small<double>(3, {{0, 1, 1}, {1, 2, -INFINITY}});
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)bellman_ford(cpu(), down.view()); }),
            "bellman_ford: edge (1, 2) has weight -inf (expected a number)");
  EXPECT_EQ(bellman_ford(cpu(), small<double>(2, {{0, 1, INFINITY}}).view(), 0).reached, 1);
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)bellman_ford(cpu(), g.view(), 3); }),
            "bellman_ford: vertex 3 is out of range (the graph has 3 vertices)");
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const auto deep = small<std::int64_t>(3, {{0, 1, -most}, {1, 2, -most}});
  EXPECT_EQ(message_of(error_code::unsupported, [&] { (void)bellman_ford(cpu(), deep.view(), 0); }),
            "bellman_ford: a path is too long for int64 (expected more than -2^63)");
  EXPECT_EQ(bellman_ford(cpu(), small<std::int64_t>(3, {{0, 1, most - 1}, {1, 2, 2}}).view(), 0).reached, 2);
  // 2^53 + 1 is rounded to 2^53, and 2^53 - 0.9 to 2^53 - 1: one step, after which nothing gets shorter.
  const auto rounded = small<double>(9, {{0, 1, 0x1p53}, {1, 2, 1.0}, {2, 1, -0.9}});
  EXPECT_THAT(message_of(error_code::unsupported, [&] { (void)bellman_ford(cpu(), rounded.view(), 0); }),
              testing::HasSubstr("rounding shortens the cycle through vertex"));
}

}  // namespace
}  // namespace spargo
