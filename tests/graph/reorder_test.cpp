// Orders of rows against a naive search of levels, and against SciPy's bandwidths of real matrices.
#include "support/data.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/graph/reorder.hpp>
#include <spargo/io/matrix_market.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace spargo {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using adjacency = std::vector<std::set<i32>>;  // without loops, both ways

template <class I, class O>
graph<I, O, host> graph_of(const context<host>& ctx, const adjacency& a) {
  std::vector<I> from, to;
  for (std::size_t u = 0; u < a.size(); ++u) {
    for (const i32 v : a[u]) {
      from.push_back(static_cast<I>(u));
      to.push_back(static_cast<I>(v));
    }
  }
  const coo_pattern_view<I, host> pairs{static_cast<I>(a.size()), static_cast<I>(a.size()), from, to};
  return build_graph<O>(ctx, pairs, {.direction = direction_kind::undirected});
}

adjacency random_graph(std::size_t n, std::size_t edges, unsigned seed) {
  std::mt19937_64 random(seed);
  adjacency a(n);
  for (std::size_t k = 0; k < edges; ++k) {
    const auto u = static_cast<i32>(random() % n), v = static_cast<i32>(random() % n);
    if (u == v) continue;
    a[static_cast<std::size_t>(u)].insert(v);
    a[static_cast<std::size_t>(v)].insert(u);
  }
  return a;
}

std::size_t degree(const adjacency& a, i32 v) { return a[static_cast<std::size_t>(v)].size(); }

// By the definition: a level is sorted by (position of the first neighbour in the level before, degree, number).
std::vector<std::vector<i32>> naive_levels(const adjacency& a, i32 start) {
  std::vector<std::vector<i32>> levels{{start}};
  std::set<i32> seen{start};
  while (!levels.back().empty()) {
    std::vector<std::tuple<std::size_t, std::size_t, i32>> next;
    for (i32 v = 0; v < static_cast<i32>(a.size()); ++v) {
      if (seen.count(v) > 0) continue;
      const auto& before = levels.back();
      const auto parent = std::find_if(before.begin(), before.end(),
                                       [&](i32 u) { return a[static_cast<std::size_t>(u)].count(v) > 0; });
      if (parent != before.end()) next.emplace_back(parent - before.begin(), degree(a, v), v);
    }
    std::sort(next.begin(), next.end());
    levels.emplace_back();
    for (const auto& each : next) levels.back().push_back(std::get<2>(each));
    seen.insert(levels.back().begin(), levels.back().end());
  }
  levels.pop_back();
  return levels;
}

std::vector<i32> joined(const std::vector<std::vector<i32>>& levels) {
  std::vector<i32> all;
  for (const auto& level : levels) all.insert(all.end(), level.begin(), level.end());
  return all;
}

i64 naive_bandwidth(const adjacency& a, const std::vector<i32>& order) {
  i64 width = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (a[static_cast<std::size_t>(order[i])].count(order[j]) > 0) width = std::max(width, static_cast<i64>(i - j));
    }
  }
  return width;
}

std::vector<i32> naive_rcm(const adjacency& a) {
  std::vector<i32> starts(a.size());
  std::iota(starts.begin(), starts.end(), 0);
  std::stable_sort(starts.begin(), starts.end(), [&](i32 v, i32 w) { return degree(a, v) < degree(a, w); });
  std::vector<i32> all;
  for (const i32 start : starts) {
    if (std::find(all.begin(), all.end(), start) != all.end()) continue;
    const auto first = naive_levels(a, start);
    auto levels = first;
    std::vector<i32> best = joined(first);
    const auto far_end = [&] {
      return *std::min_element(levels.back().begin(), levels.back().end(),
                               [&](i32 v, i32 w) { return std::pair(degree(a, v), v) < std::pair(degree(a, w), w); });
    };
    for (std::size_t depth = levels.size();;) {
      levels = naive_levels(a, far_end());
      if (levels.size() <= depth) break;
      depth = levels.size();
    }
    const std::vector<i32> other = joined(levels);
    if (naive_bandwidth(a, other) < naive_bandwidth(a, best)) best = other;
    all.insert(all.end(), best.begin(), best.end());
  }
  std::reverse(all.begin(), all.end());
  return all;
}

template <class I>
std::vector<i32> listed(const array<I, host>& order) {
  return {order.begin(), order.end()};
}

TEST(Reorder, ReverseCuthillMcKeeIsTheNaiveSearchs) {
  const context<host> ctx({.threads = 2});
  for (unsigned seed = 0; seed < test::rounds(60); ++seed) {
    const std::size_t n = 1 + seed % 40;
    const adjacency a = random_graph(n, seed % 7 * n / 3, seed);
    SCOPED_TRACE(seed);
    EXPECT_EQ(listed(reverse_cuthill_mckee(ctx, graph_of<i32, i32>(ctx, a).view())), naive_rcm(a));
    EXPECT_EQ(listed(reverse_cuthill_mckee(ctx, graph_of<i64, i64>(ctx, a).view())), naive_rcm(a));
  }
  EXPECT_TRUE(reverse_cuthill_mckee(ctx, graph_of<i32, i64>(ctx, {}).view()).empty());
}

// By the definition, with dense counts of edges between communities that are added up at each merge.
std::vector<i32> naive_rabbit(const adjacency& a) {
  const std::size_t n = a.size();
  std::vector<std::vector<i64>> edges(n, std::vector<i64>(n));
  std::vector<i64> weight(n);
  i64 total = 0;
  for (std::size_t u = 0; u < n; ++u) {
    for (const i32 v : a[u]) edges[u][static_cast<std::size_t>(v)] = 1;
    weight[u] = static_cast<i64>(a[u].size());
    total += weight[u];
  }
  std::vector<i32> visits(n);
  std::iota(visits.begin(), visits.end(), 0);
  std::sort(visits.begin(), visits.end(),
            [&](i32 v, i32 w) { return std::pair(degree(a, v), -v) < std::pair(degree(a, w), -w); });
  std::vector<std::vector<i32>> trees(n);  // in depth-first order
  for (std::size_t v = 0; v < n; ++v) trees[v] = {static_cast<i32>(v)};
  for (const i32 visited : visits) {
    const auto v = static_cast<std::size_t>(visited);
    edges[v][v] = 0;
    std::size_t best = n;
    i64 most = 0;
    for (std::size_t u = 0; u < n; ++u) {
      const i64 gain = edges[v][u] == 0 ? 0 : edges[v][u] * total - weight[v] * weight[u];
      if (gain > most) {
        most = gain;
        best = u;
      }
    }
    if (best == n) continue;
    for (std::size_t u = 0; u < n; ++u) {
      edges[best][u] += edges[v][u];
      edges[u][best] += edges[u][v];
      edges[u][v] = edges[v][u] = 0;
    }
    weight[best] += weight[v];
    trees[best].insert(trees[best].begin() + 1, trees[v].begin(), trees[v].end());
    trees[v].clear();
  }
  std::vector<i32> all;
  for (const auto& tree : trees) all.insert(all.end(), tree.begin(), tree.end());
  return all;
}

TEST(Reorder, RabbitOrderIsTheNaiveOne) {
  const context<host> ctx({.threads = 2});
  for (unsigned seed = 0; seed < test::rounds(200); ++seed) {
    const std::size_t n = 1 + seed % 60;
    const adjacency a = random_graph(n, (1 + seed % 5) * n / 2, seed);
    SCOPED_TRACE(seed);
    EXPECT_EQ(listed(rabbit_order(ctx, graph_of<i32, i32>(ctx, a).view())), naive_rabbit(a));
    EXPECT_EQ(listed(rabbit_order(ctx, graph_of<i64, i64>(ctx, a).view())), naive_rabbit(a));
  }
  EXPECT_TRUE(rabbit_order(ctx, graph_of<i32, i64>(ctx, {}).view()).empty());
}

// Ten communities of 30 vertices whose numbers alternate: each is in at most two runs of places, of 300 runs before.
TEST(Reorder, RabbitOrderPutsPlantedCommunitiesSideBySide) {
  const context<host> ctx;
  std::mt19937_64 random(5);
  constexpr i32 count = 10, size = 30;
  adjacency a(count * size);
  for (i32 u = 0; u < count * size; ++u) {
    for (i32 v = 0; v < u; ++v) {
      if (random() % 1000 >= (u % count == v % count ? 500U : 5U)) continue;
      a[static_cast<std::size_t>(u)].insert(v);
      a[static_cast<std::size_t>(v)].insert(u);
    }
  }
  const std::vector<i32> order = listed(rabbit_order(ctx, graph_of<i32, i32>(ctx, a).view()));
  int changes = 0;
  for (std::size_t k = 1; k < order.size(); ++k) changes += order[k] % count != order[k - 1] % count;
  EXPECT_LT(changes, 2 * count);
}

// The mean of log2 of the distances between the places of adjacent vertices.
double mean_gap(const csr_pattern_view<i32, i32, host>& a, const std::vector<i32>& order) {
  std::vector<i32> place(order.size(), -1);
  for (std::size_t k = 0; k < order.size(); ++k) place[static_cast<std::size_t>(order[k])] = static_cast<i32>(k);
  double sum = 0;
  for (i32 v = 0; v < a.rows; ++v) {
    for (i32 e = a.offsets[v]; e < a.offsets[v + 1]; ++e) {
      if (a.indices[e] == v) continue;
      const i32 gap = place[static_cast<std::size_t>(v)] - place[static_cast<std::size_t>(a.indices[e])];
      sum += std::log2(std::abs(static_cast<double>(gap)));
    }
  }
  return sum / static_cast<double>(a.nnz());
}

// Against the numbers of the file and a random order; the same for any number of threads.
TEST(Reorder, RabbitOrderShortensTheGapsOfRealGraphs) {
  SPARGO_TEST_NEEDS_DATA();
  for (const char* const name : {"karate.mtx", "dolphins.mtx", "netscience.mtx", "JohnsHopkins55.mtx.gz",
                                 "road-minnesota.mtx", "1138_bus.mtx", "road-luxembourg-osm.mtx.gz"}) {
    SCOPED_TRACE(name);
    const context<host> ctx({.threads = 2});
    const auto entries = read_matrix_market<pattern, i32>(ctx, (test::data_directory() / name).string());
    const auto g =
        build_graph<i32>(ctx, coo_pattern_view<i32, host>(entries.view()), {.direction = direction_kind::undirected});
    const std::vector<i32> order = listed(rabbit_order(ctx, g.view()));
    std::vector<i32> sorted = order, as_given(order.size());
    std::sort(sorted.begin(), sorted.end());
    std::iota(as_given.begin(), as_given.end(), 0);
    ASSERT_EQ(static_cast<i64>(order.size()), i64{g.vertices()});
    ASSERT_EQ(sorted, as_given);
    for (const int threads : {1, 8}) {
      EXPECT_EQ(listed(rabbit_order(context<host>({.threads = threads}), g.view())), order);
    }
    const double gap = mean_gap(g.view().out, order);
    EXPECT_LT(gap, 0.95 * mean_gap(g.view().out, as_given));
    EXPECT_LT(gap, 0.9 * mean_gap(g.view().out, listed(random_order<i32>(ctx, g.vertices(), 1))));
  }
}

TEST(Reorder, AMeshHasTheBandwidthOfItsShortSide) {
  adjacency mesh(12 * 90);
  for (i32 y = 0; y < 90; ++y) {
    for (i32 x = 0; x < 12; ++x) {
      const auto join = [&](i32 u, i32 v) {
        mesh[static_cast<std::size_t>(u)].insert(v);
        mesh[static_cast<std::size_t>(v)].insert(u);
      };
      const i32 v = x * 90 + y;
      if (y + 1 < 90) join(v, v + 1);
      if (x + 1 < 12) join(v, v + 90);
    }
  }
  const context<host> ctx;
  const auto g = graph_of<i32, i32>(ctx, mesh);
  EXPECT_EQ((envelope<i32, i32>(ctx, g.view().out).bandwidth), 90);
  EXPECT_EQ((envelope<i32, i32>(ctx, g.view().out, reverse_cuthill_mckee(ctx, g.view()).view()).bandwidth), 12);
}

// Levels of some 100,000 vertices and a million edges: shared by the threads.
TEST(Reorder, LargeLevelsGiveTheSameOrderForAnyNumberOfThreads) {
  std::mt19937_64 random(4);
  constexpr i32 n = 200'000;
  std::vector<i32> from(1'000'000), to(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) {
    from[k] = static_cast<i32>(random() % n);
    to[k] = static_cast<i32>(random() % n);
  }
  const context<host> one({.threads = 1});
  const auto g =
      build_graph<i32>(one, coo_pattern_view<i32, host>{n, n, from, to}, {.direction = direction_kind::undirected});
  const std::vector<i32> expected = listed(reverse_cuthill_mckee(one, g.view()));
  for (const int threads : {2, 3, 8}) {
    const context<host> ctx({.threads = threads});
    EXPECT_EQ(listed(reverse_cuthill_mckee(ctx, g.view())), expected) << threads;
  }
}

TEST(Reorder, DegreesAndRandomOrders) {
  const context<host> ctx;
  const adjacency a{{1}, {0, 2, 3}, {1, 3}, {1, 2}, {}};
  const auto g = graph_of<i32, i32>(ctx, a);
  EXPECT_EQ(listed(degree_order(ctx, g.view())), (std::vector<i32>{1, 2, 3, 0, 4}));
  std::vector<i32> order = listed(random_order<i32>(ctx, 1000, 7));
  EXPECT_EQ(order, listed(random_order<i64>(ctx, 1000, 7)));
  EXPECT_NE(order, listed(random_order<i32>(ctx, 1000, 8)));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  i64 moved = 0;
  for (i32 k = 0; k < 1000; ++k) moved += std::abs(order[static_cast<std::size_t>(k)] - k);
  EXPECT_NEAR(static_cast<double>(moved), 1000.0 * 1000 / 3, 30'000);
  std::sort(order.begin(), order.end());
  for (i32 k = 0; k < 1000; ++k) EXPECT_EQ(order[static_cast<std::size_t>(k)], k);
}

TEST(Reorder, EnvelopesAgreeWithTheDefinition) {
  const context<host> ctx;
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 30; ++round) {
    const i32 n = 1 + static_cast<i32>(round);
    std::vector<i32> offsets{0}, indices;
    std::vector<std::vector<bool>> dense(static_cast<std::size_t>(n), std::vector<bool>(static_cast<std::size_t>(n)));
    for (i32 i = 0; i < n; ++i) {
      for (unsigned k = 0; k < random() % 4; ++k) {
        const auto j = static_cast<i32>(random() % static_cast<unsigned>(n));
        indices.push_back(j);  // unsorted, with duplicates
        dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = true;
      }
      offsets.push_back(static_cast<i32>(indices.size()));
    }
    const array<i32, host> order = random_order<i32>(ctx, n, round);
    i64 width = 0, profile = 0;
    for (i32 i = 0; i < n; ++i) {
      i32 least = i;
      for (i32 j = 0; j <= i; ++j) {
        const auto r = static_cast<std::size_t>(order[i]), c = static_cast<std::size_t>(order[j]);
        if (!dense[r][c] && !dense[c][r]) continue;
        width = std::max<i64>(width, i - j);
        least = std::min(least, j);
      }
      profile += i - least;
    }
    const csr_pattern_view<i32, i32, host> m{n, n, offsets, indices};
    const matrix_envelope found = envelope<i32, i32>(ctx, m, order.view());
    EXPECT_EQ(found.bandwidth, width);
    EXPECT_EQ(found.profile, profile);
  }
}

TEST(Reorder, Refusals) {
  const context<host> ctx;
  const std::vector<i32> offsets{0, 0, 0}, none, twice{1, 1}, one{0};
  const csr_pattern_view<i32, i32, host> m{2, 2, offsets, none};
  const csr_pattern_view<i32, i32, host> wide{2, 3, offsets, none};
  const auto message = [&](const csr_pattern_view<i32, i32, host>& of, const std::vector<i32>& order) {
    return test::message_of(error_code::invalid_argument, [&] { (void)envelope<i32, i32>(ctx, of, order); });
  };
  EXPECT_EQ(message(wide, {}), "envelope: a matrix of 2 x 3 (expected a square one)");
  EXPECT_EQ(message(m, twice), "envelope: the order has 1 at position 1 (expected each row once)");
  EXPECT_EQ(message(m, one), "envelope: an order of 1 rows for a matrix of 2");
  const graph_view<i32, i32, host> directed{m, {}, direction_kind::directed};
  EXPECT_EQ(test::message_of(error_code::invalid_argument, [&] { (void)reverse_cuthill_mckee(ctx, directed); }),
            "reverse_cuthill_mckee: expected an undirected graph");
  EXPECT_EQ(test::message_of(error_code::invalid_argument, [&] { (void)rabbit_order(ctx, directed); }),
            "rabbit_order: expected an undirected graph");
}

// `bandwidth` of truth_more.json: SciPy's reverse_cuthill_mckee of A + A^T.
TEST(Reorder, BandwidthsOfRealMatricesAreNotAboveSciPys) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(test::data_directory() / "truth_more.json");
  if (!file) GTEST_SKIP() << "no truth_more.json";
  const auto truth = nlohmann::json::parse(file);
  const context<host> ctx({.threads = 2});
  int compared = 0, above = 0, below = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (!facts.contains("bandwidth") || !facts["bandwidth"].contains("rcm")) continue;
    SCOPED_TRACE(name);
    const auto entries = read_matrix_market<pattern, i32>(ctx, (test::data_directory() / name).string());
    const auto a = to_csr<i32>(ctx, entries.view());
    EXPECT_EQ((envelope<i32, i32>(ctx, a.view()).bandwidth), facts["bandwidth"]["before"].get<i64>());
    const auto g =
        build_graph<i32>(ctx, coo_pattern_view<i32, host>(entries.view()), {.direction = direction_kind::undirected});
    const auto order = reverse_cuthill_mckee(ctx, g.view());
    const matrix_envelope after = envelope<i32, i32>(ctx, a.view(), order.view());
    const auto scipys = facts["bandwidth"]["rcm"].get<i64>();
    ++compared;
    above += after.bandwidth > scipys;
    below += after.bandwidth < scipys;
    EXPECT_LE(static_cast<double>(after.bandwidth), 1.1 * static_cast<double>(scipys));
  }
  EXPECT_GE(compared, 30);
  EXPECT_LE(10 * above, compared);
  EXPECT_GE(below, 5);
  RecordProperty("above", above);
  RecordProperty("below", below);
}

}  // namespace
}  // namespace spargo
