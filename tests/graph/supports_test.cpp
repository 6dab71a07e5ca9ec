// Supports of edges on a device: against the definition, on graphs with short rows and with hubs, in the cases of large
// graphs: ranks beyond the bitmap, lists in several parts, several segments of edges above a rank.
#include "core/backend.hpp"
#include "graph/placed_graph.hpp"
#include "graph/triangles/executor.hpp"
#include "graph/triangles/ranked.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace spargo {
namespace {

using detail::triangles::support_limits;
using test::edge_vector;

constexpr support_limits limits[] = {{}, {.bits = 0}, {.bits = 40, .part = 7}, {.bits = 100, .part = 1}};

struct edge_supports {
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> targets;
  std::vector<std::int64_t> supports;
  bool operator==(const edge_supports&) const = default;
};

// For every edge (u, v), u < v, the common neighbours.
edge_supports naive_supports(std::int64_t n, const edge_vector& edges) {
  std::vector<std::set<std::int64_t>> neighbours(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    neighbours[static_cast<std::size_t>(u)].insert(v);
    neighbours[static_cast<std::size_t>(v)].insert(u);
  }
  edge_supports of;
  for (std::int64_t u = 0; u < n; ++u) {
    const auto& mine = neighbours[static_cast<std::size_t>(u)];
    for (const std::int64_t v : mine) {
      if (v < u) continue;
      const auto& theirs = neighbours[static_cast<std::size_t>(v)];
      of.sources.push_back(u);
      of.targets.push_back(v);
      of.supports.push_back(std::count_if(mine.begin(), mine.end(), [&](auto w) { return theirs.contains(w); }));
    }
  }
  return of;
}

template <class T>
std::vector<std::int64_t> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

template <class I, class O>
void check_types(std::int64_t n, const edge_vector& edges, const edge_supports& expected) {
  if constexpr (config::has_cuda) {
    namespace triangles = detail::triangles;
    const auto raw = test::make_undirected<I, O>(n, edges);
    const test::placed_graph<I, O, device> placed(raw);
    const context<device>& ctx = placed.ctx();
    const auto survey = triangles::survey_rows(ctx, placed.view());
    ASSERT_TRUE(survey.canonical);
    const auto count = static_cast<std::int64_t>(expected.supports.size());
    array<int, device> memory[] = {{ctx, n + 1},     {ctx, n + 1}, {ctx, 2 * count},
                                   {ctx, 2 * count}, {ctx, count}, {ctx, count + triangles::ranked_padding},
                                   {ctx, count},     {ctx, count}};
    const auto at = [&](int k) { return memory[k].data(); };
    const triangles::ranked_rows rows{n, count, at(0), at(1), at(2), at(3), at(4), at(5), at(6)};
    array<I, device> sources(ctx, count);
    array<I, device> targets(ctx, count);
    triangles::fill_ranked(ctx, placed.view().out, survey.longest, sources.data(), targets.data(), rows);
    const auto places = placed.fetch(std::as_const(memory[6]).view());
    for (const support_limits& limit : limits) {
      SCOPED_TRACE("at most " + std::to_string(limit.bits) + " bits, parts of " + std::to_string(limit.part));
      triangles::support_counter counter(ctx, count, limit);
      for (int run = 0; run < 2; ++run) {
        counter.run(rows, at(7));
        const auto by_number = placed.fetch(std::as_const(memory[7]).view());
        edge_supports found{widened(placed.fetch(std::as_const(sources).view())),
                            widened(placed.fetch(std::as_const(targets).view())),
                            std::vector<std::int64_t>(places.size(), -1)};
        for (std::size_t e = 0; e < places.size(); ++e) {
          found.supports[static_cast<std::size_t>(places[e])] = by_number[e];
        }
        ASSERT_EQ(found, expected);
      }
    }
  }
}

class Supports : public test::device_suite {
 protected:
  static void check(std::int64_t n, edge_vector edges) {
    SCOPED_TRACE(std::to_string(n) + " vertices, " + std::to_string(edges.size()) + " edges");
    for (auto& [u, v] : edges) {
      if (u > v) std::swap(u, v);
    }
    std::sort(edges.begin(), edges.end());  // rows ascend
    const edge_supports expected = naive_supports(n, edges);
    check_types<std::int32_t, std::int32_t>(n, edges, expected);
    check_types<std::int32_t, std::int64_t>(n, edges, expected);
    check_types<std::int64_t, std::int64_t>(n, edges, expected);
  }
};

TEST_F(Supports, CompleteGraphs) {
  // Rows of threads, warps and blocks.
  for (const std::int64_t n : {2, 3, 5, 9, 10, 33, 64, 66, 129, 131, 200}) check(n, test::clique_edges(0, n));
}

TEST_F(Supports, HubsWithManySpokes) {
  // Both hubs and a third one are joined with all others, which are a circle: several segments of edges above a hub.
  constexpr std::int64_t n = 5000;
  edge_vector edges = {{0, 1}, {0, 2}, {1, 2}};
  for (std::int64_t v = 3; v < n; ++v) {
    for (std::int64_t hub = 0; hub < 3; ++hub) edges.emplace_back(hub, v);
    edges.emplace_back(v, v + 1 < n ? v + 1 : 3);
  }
  check(n, edges);
}

TEST_F(Supports, RandomGraphs) {
  std::mt19937 random(2026);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t n = 3 + static_cast<std::int64_t>(random() % (round % 2 == 0 ? 60 : 700));
    const std::int64_t count = n * static_cast<std::int64_t>(1 + random() % 12);
    std::set<std::pair<std::int64_t, std::int64_t>> edges = {{0, 1}};
    for (std::int64_t e = 0; e < count; ++e) {
      // Squared: low ids are hubs.
      const double x = static_cast<double>(random()) * 0x1p-32;
      const auto u = static_cast<std::int64_t>((round % 3 == 0 ? x : x * x * x) * static_cast<double>(n));
      const auto v = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      if (u != v) edges.emplace(std::min(u, v), std::max(u, v));
    }
    check(n, {edges.begin(), edges.end()});
  }
}

}  // namespace
}  // namespace spargo
