// Topological order, sides of bipartite graphs, bridges, articulation points and biconnected components against naive
// results, on random graphs with loops and parallel edges.
#include <spargo/graph/properties.hpp>

#include "graph/components_support.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

template <class Case>
class Properties : public testing::Test {};
using cases = testing::Types<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::int64_t>,
                             std::pair<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(Properties, cases);

template <class T>
std::vector<std::int64_t> list(const array<T, host>& values) {
  return {values.begin(), values.end()};
}

bool has_edge(const edge_vector& edges, std::int64_t u, std::int64_t v) {
  return std::find(edges.begin(), edges.end(), std::pair(u, v)) != edges.end();
}

// [vertex] edges of the longest path to it; -1 where a cycle leads to it. n rounds of relaxation.
std::vector<std::int64_t> naive_levels(std::int64_t n, const edge_vector& edges) {
  std::vector<std::int64_t> levels(static_cast<std::size_t>(n), 0);
  const auto at = [&](std::int64_t v) -> std::int64_t& { return levels[static_cast<std::size_t>(v)]; };
  for (std::int64_t round = 0; round <= 2 * n; ++round) {
    for (const auto& [u, v] : edges) at(v) = std::max(at(v), std::min(at(u) + 1, n));
  }
  for (std::int64_t& level : levels) level = level >= n ? -1 : level;
  return levels;
}

edge_vector draw_edges(test::random_source& random, std::int64_t n, bool acyclic) {
  edge_vector edges = test::random_edges(random, n, random.below(2 * n), static_cast<int>(random.below(3)));
  if (!acyclic) return edges;
  std::vector<std::int64_t> shuffled(static_cast<std::size_t>(n));
  for (std::int64_t v = 0; v < n; ++v) shuffled[static_cast<std::size_t>(v)] = (v * 7 + 3) % n;  // a permutation if
  const bool permutes = n % 7 != 0;                                                              // 7 does not divide n
  edge_vector forward;
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    const auto from = std::min(u, v);
    const auto to = std::max(u, v);
    forward.emplace_back(permutes ? shuffled[static_cast<std::size_t>(from)] : from,
                         permutes ? shuffled[static_cast<std::size_t>(to)] : to);
  }
  return forward;
}

TYPED_TEST(Properties, TopologicalOrderHasItsLevels) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  int acyclic = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(30);
    const edge_vector edges = draw_edges(random, n, seed % 2 == 0);
    const auto g = test::make_directed<I, O>(n, edges, test::edges_kept::out);
    const auto found = topological_order(cpu(), g.view());
    const auto levels = naive_levels(n, edges);
    const auto order = list(found.order);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size());
    EXPECT_EQ(static_cast<std::int64_t>(order.size()), n - std::count(levels.begin(), levels.end(), -1));
    const auto offsets = list(found.level_offsets);
    ASSERT_EQ(offsets.back(), found.order.size());
    for (std::size_t k = 0; k + 1 < offsets.size(); ++k) {
      ASSERT_LT(offsets[k], offsets[k + 1]);
      for (std::int64_t p = offsets[k]; p < offsets[k + 1]; ++p) {
        EXPECT_EQ(levels[static_cast<std::size_t>(order[static_cast<std::size_t>(p)])], static_cast<std::int64_t>(k));
      }
    }
    const auto cycle = list(found.cycle);
    EXPECT_EQ(found.is_acyclic(), static_cast<std::int64_t>(order.size()) == n);
    for (std::size_t k = 0; k < cycle.size(); ++k)
      EXPECT_TRUE(has_edge(edges, cycle[k], cycle[(k + 1) % cycle.size()]));
    EXPECT_EQ(std::set(cycle.begin(), cycle.end()).size(), cycle.size());
    acyclic += found.is_acyclic() ? 1 : 0;
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(acyclic, 100);
  EXPECT_LT(acyclic, 390);
}

TEST(PropertiesOf, TopologicalOrderOfSmallGraphs) {
  const auto empty = test::make_directed<std::int32_t, std::int32_t>(0, {}, test::edges_kept::out);
  EXPECT_TRUE(topological_order(cpu(), empty.view()).is_acyclic());
  EXPECT_EQ(list(topological_order(cpu(), empty.view()).level_offsets), std::vector<std::int64_t>{0});
  const auto loop = test::make_directed<std::int32_t, std::int32_t>(2, {{0, 1}, {1, 1}}, test::edges_kept::out);
  EXPECT_EQ(list(topological_order(cpu(), loop.view()).cycle), std::vector<std::int64_t>{1});
  const auto triangle =
      test::make_directed<std::int32_t, std::int32_t>(4, {{0, 2}, {2, 1}, {1, 3}, {3, 2}}, test::edges_kept::out);
  const auto cycle = list(topological_order(cpu(), triangle.view()).cycle);
  EXPECT_EQ(cycle.size(), 3);
  const auto undirected = test::make_undirected<std::int32_t, std::int32_t>(2, {{0, 1}});
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)topological_order(cpu(), undirected.view()); }),
            "topological_order: the graph is undirected (expected a directed one)");
}

// By trying both sides of every vertex until nothing changes: a vertex that gets both is on no side.
bool naive_bipartite(std::int64_t n, const edge_vector& edges) {
  std::vector<std::set<int>> sides(static_cast<std::size_t>(n));
  for (std::int64_t start = 0; start < n; ++start) {
    auto& first = sides[static_cast<std::size_t>(start)];
    if (first.empty()) first.insert(0);
    for (std::int64_t round = 0; round < 2 * n; ++round) {
      for (const auto& [u, v] : edges) {
        auto& of_u = sides[static_cast<std::size_t>(u)];
        auto& of_v = sides[static_cast<std::size_t>(v)];
        for (const int side : std::set(of_u)) of_v.insert(1 - side);
        for (const int side : std::set(of_v)) of_u.insert(1 - side);
      }
    }
  }
  return std::all_of(sides.begin(), sides.end(), [](const auto& s) { return s.size() == 1; });
}

TYPED_TEST(Properties, BipartitionHasSidesOrAnOddCycle) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  int bipartite = 0;
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(16);
    edge_vector edges = test::random_edges(random, n, random.below(n + 4), 0);
    if (seed % 3 == 0) std::erase_if(edges, [](const auto& e) { return (e.first + e.second) % 2 == 0; });
    for (int form = 0; form < 3; ++form) {
      const auto g = form == 0 ? test::make_undirected<I, O>(n, edges)
                               : test::make_directed<I, O>(
                                     n, edges, form == 1 ? test::edges_kept::out : test::edges_kept::out_and_in);
      const auto found = bipartition(cpu(), g.view());
      EXPECT_EQ(found.is_bipartite(), naive_bipartite(n, edges));
      const auto cycle = list(found.odd_cycle);
      if (found.is_bipartite()) {
        for (const auto& [u, v] : edges) EXPECT_EQ(found.sides[u] + found.sides[v], 1);
        for (std::int64_t v = 0; v < n; ++v) {
          const auto touches = [&](const auto& e) { return e.first == v || e.second == v; };
          if (std::none_of(edges.begin(), edges.end(), touches)) {
            EXPECT_EQ(found.sides[v], 0);
          }
        }
        ++bipartite;
      } else {
        EXPECT_EQ(cycle.size() % 2, 1);
      }
      for (std::size_t k = 0; k < cycle.size(); ++k) {
        const std::int64_t next = cycle[(k + 1) % cycle.size()];
        EXPECT_TRUE(has_edge(edges, cycle[k], next) || has_edge(edges, next, cycle[k]));
      }
      EXPECT_EQ(std::set(cycle.begin(), cycle.end()).size(), cycle.size());
    }
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(bipartite, 100);
  EXPECT_LT(bipartite, 650);
}

// Components of the vertices for which `has` holds, without the edge at position `left_out`.
template <class Has>
std::int64_t count_components(std::int64_t n, const edge_vector& edges, std::size_t left_out, const Has& has) {
  edge_vector both;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const auto& [u, v] = edges[k];
    if (k == left_out || !has(u) || !has(v)) continue;
    both.emplace_back(u, v);
    both.emplace_back(v, u);
  }
  const auto lists = test::lists_of(n, both);
  std::vector<bool> seen(static_cast<std::size_t>(n));
  std::int64_t count = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    if (!has(v) || seen[static_cast<std::size_t>(v)]) continue;
    ++count;
    const auto reached = test::flood(lists, v);
    for (std::size_t u = 0; u < reached.size(); ++u) seen[u] = seen[u] || reached[u];
  }
  return count;
}

constexpr std::size_t none = ~std::size_t{0};
constexpr auto all = [](std::int64_t) { return true; };

using pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

void check_blocks(std::int64_t n, const edge_vector& edges, const std::vector<std::set<std::int64_t>>& blocks) {
  std::int64_t sizes = 0;
  for (const auto& block : blocks) {
    sizes += static_cast<std::int64_t>(block.size()) - 1;
    EXPECT_GE(block.size(), 2);
    const auto inside = [&](std::int64_t v) { return block.count(v) > 0; };
    EXPECT_EQ(count_components(n, edges, none, inside), 1);
    for (const std::int64_t gone : block) {
      const auto rest = [&](std::int64_t v) { return v != gone && inside(v); };
      EXPECT_EQ(count_components(n, edges, none, rest), 1) << "without " << gone;
    }
  }
  for (const auto& [u, v] : edges) {
    const auto has_both = [from = u, to = v](const auto& block) {
      return block.count(from) > 0 && block.count(to) > 0;
    };
    if (u != v) {
      EXPECT_EQ(std::count_if(blocks.begin(), blocks.end(), has_both), 1);
    }
  }
  EXPECT_EQ(sizes, n - count_components(n, edges, none, all));  // they are joined as a tree is
}

TYPED_TEST(Properties, BridgesArticulationPointsAndBlocks) {
  using I = typename TypeParam::first_type;
  using O = typename TypeParam::second_type;
  std::size_t bridges_seen = 0;
  std::size_t cuts_seen = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(14);
    const edge_vector edges = test::random_edges(random, n, random.below(2 * n), static_cast<int>(seed % 2));
    const auto g = test::make_undirected<I, O>(n, edges);
    const auto found = biconnectivity(cpu(), g.view());
    const std::int64_t before = count_components(n, edges, none, all);
    pairs bridges;
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const auto& [u, v] = edges[k];
      if (count_components(n, edges, k, all) > before) bridges.emplace_back(std::min(u, v), std::max(u, v));
    }
    pairs reported;
    for (std::int64_t k = 0; k < found.bridge_sources.size(); ++k) {
      reported.emplace_back(found.bridge_sources[k], found.bridge_targets[k]);
    }
    std::sort(bridges.begin(), bridges.end());
    std::sort(reported.begin(), reported.end());
    EXPECT_EQ(reported, bridges);
    std::vector<std::int64_t> cuts;
    for (std::int64_t gone = 0; gone < n; ++gone) {
      const bool alone = count_components(n, edges, none, [&](std::int64_t v) { return v != gone; }) < before;
      if (!alone && count_components(n, edges, none, [&](std::int64_t v) { return v != gone; }) > before) {
        cuts.push_back(gone);
      }
    }
    auto points = list(found.articulation_points);
    std::sort(points.begin(), points.end());
    EXPECT_EQ(points, cuts);
    std::vector<std::set<std::int64_t>> blocks;
    const auto offsets = list(found.component_offsets);
    for (std::size_t k = 0; k + 1 < offsets.size(); ++k) {
      blocks.emplace_back(found.component_vertices.begin() + offsets[k],
                          found.component_vertices.begin() + offsets[k + 1]);
    }
    check_blocks(n, edges, blocks);
    bridges_seen += bridges.size();
    cuts_seen += cuts.size();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(bridges_seen, 200);
  EXPECT_GT(cuts_seen, 100);
}

// A path of a million vertices: no recursion.
TEST(PropertiesOf, LongPathsAreSearched) {
  constexpr std::int32_t n = 1'000'000;
  edge_vector edges;
  for (std::int64_t v = 0; v + 1 < n; ++v) edges.emplace_back(v, v + 1);
  const auto path = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
  const auto found = biconnectivity(cpu(), path.view());
  EXPECT_EQ(found.bridge_sources.size(), n - 1);
  EXPECT_EQ(found.articulation_points.size(), n - 2);
  EXPECT_TRUE(bipartition(cpu(), path.view()).is_bipartite());
  const auto forward = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
  EXPECT_EQ(topological_order(cpu(), forward.view()).level_offsets.size(), n + 1);
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)biconnectivity(cpu(), forward.view()); }),
            "biconnectivity: the graph is directed (expected an undirected one)");
}

}  // namespace
}  // namespace spargo
