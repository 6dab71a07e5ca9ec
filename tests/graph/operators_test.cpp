// Host operators: every visit counted, outputs against a loop, and two algorithms written with them against independent
// searches and a union-find.
#include "core/parallel.hpp"

#include <spargo/graph/bfs.hpp>
#include <spargo/graph/operators.hpp>

#include "../../apps/examples/bellman_ford.hpp"
#include "../../apps/examples/label_propagation.hpp"
#include "graph/graph_support.hpp"
#include "support/resource.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace spargo {
namespace {

using test::edge_vector;
using test::edges_kept;
using test::raw_graph;

template <class I, class O>
struct widths {
  using index = I;
  using offset = O;
};

template <class T>
void count(T& counter) {
  std::atomic_ref<T>(counter).fetch_add(1, std::memory_order_relaxed);
}

template <class Widths>
class Operators : public testing::Test {
 protected:
  using index = typename Widths::index;
  using offset = typename Widths::offset;
  using raw = raw_graph<index, offset>;
  using frontier_type = frontier<index, host>;
  using workspace_type = advance_workspace<index, offset, host>;

  static raw directed(std::int64_t n, const edge_vector& edges) {
    return test::make_directed<index, offset>(n, edges, edges_kept::out);
  }
  static raw undirected(std::int64_t n, const edge_vector& edges) {
    return test::make_undirected<index, offset>(n, edges);
  }
  static std::vector<index> contents(const context<host>& ctx, const frontier_type& f) {
    const auto slots = f.slots();
    return {slots.begin(), slots.begin() + size_of(ctx, f)};
  }

  // Vertices with loops, duplicates, hubs, and isolated ones; enough edges for several threads.
  static raw skewed(std::int64_t n, std::int64_t edges) {
    test::random_source random(31);
    edge_vector pairs = test::random_edges(random, n - n / 10, edges, 3);
    for (std::int64_t k = 0; k < edges / 4; ++k) pairs.emplace_back(n / 2, random.below(n));
    return directed(n, pairs);
  }

  // Random `in` with duplicates; output and visits against a loop, for several thread counts.
  static void check_advance_against_a_loop(const raw& g, std::int64_t size) {
    test::random_source random(32);
    std::vector<index> in(static_cast<std::size_t>(size));
    for (index& v : in) v = static_cast<index>(random.below(g.vertices));
    const auto joins = [](index u, index v, offset e) { return (u * 7 + v * 3 + static_cast<index>(e)) % 3 == 0; };
    std::vector<index> expected;
    std::vector<std::int32_t> visits(g.indices.size(), 0);
    for (const index u : in) {
      for (offset e = g.offsets[static_cast<std::size_t>(u)]; e < g.offsets[static_cast<std::size_t>(u) + 1]; ++e) {
        const index v = g.indices[static_cast<std::size_t>(e)];
        ++visits[static_cast<std::size_t>(e)];
        if (joins(u, v, e)) expected.push_back(v);
      }
    }
    for (const int threads : {1, 2, 3, 8}) {
      SCOPED_TRACE(std::to_string(threads) + " threads");
      const context<host> ctx({.threads = threads});
      frontier_type from(ctx, size);
      frontier_type to(ctx, static_cast<std::int64_t>(expected.size()));  // exact capacity
      workspace_type workspace(ctx, g.view());
      assign(ctx, from, in);
      for (int run = 0; run < 2; ++run) {
        std::vector<std::int32_t> seen(visits.size(), 0);
        std::atomic<bool> matches = true;
        advance(ctx, g.view(), from, to, workspace, [&](index u, index v, offset e) {
          const auto at = static_cast<std::size_t>(e);
          if (g.indices[at] != v || e < g.offsets[static_cast<std::size_t>(u)] ||
              e >= g.offsets[static_cast<std::size_t>(u) + 1]) {
            matches = false;
          }
          count(seen[at]);
          return joins(u, v, e);
        });
        EXPECT_TRUE(matches);
        ASSERT_EQ(seen, visits);
        ASSERT_EQ(contents(ctx, to), expected);
      }
    }
  }
};

using cases = testing::Types<widths<std::int32_t, std::int32_t>, widths<std::int32_t, std::int64_t>,
                             widths<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(Operators, cases);

TYPED_TEST(Operators, AdvanceVisitsEachEdgeOnceInOrder) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    SCOPED_TRACE(std::to_string(n) + " vertices");
    this->check_advance_against_a_loop(this->directed(n, test::random_edges(random, n, 3 * n, 1)), n);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Operators, AdvanceSharesALargeFrontier) {
  this->check_advance_against_a_loop(this->skewed(5000, 100000), 3000);
}

// More entries than the graph has vertices.
TYPED_TEST(Operators, AdvanceTakesDuplicates) { this->check_advance_against_a_loop(this->skewed(300, 9000), 2000); }

TYPED_TEST(Operators, AdvanceOverAStar) {
  this->check_advance_against_a_loop(this->undirected(40001, test::star_edges(40000)), 40001);
}

TYPED_TEST(Operators, OnceAdmitsEachVertexOnce) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto g = this->skewed(5000, 100000);
  std::vector<bool> wanted(5000, false);
  for (const I v : g.indices) wanted[static_cast<std::size_t>(v)] = v % 3 != 0;
  for (const int threads : {1, 2, 3, 8}) {
    const context<host> ctx({.threads = threads});
    frontier<I, host> all(ctx, 5000);
    frontier<I, host> to(ctx, 5000);
    advance_workspace<I, O, host> workspace(ctx, g.view());
    assign_all(ctx, all, 5000);
    for (int run = 0; run < 2; ++run) {  // the second run finds a clean bitmap
      advance(ctx, g.view(), all, to, workspace, [](I, I v, O) { return v % 3 != 0; }, {.admit = admission::once});
      std::vector<bool> found(5000, false);
      for (const I v : this->contents(ctx, to)) {
        ASSERT_FALSE(found[static_cast<std::size_t>(v)]) << v << " is there twice";
        found[static_cast<std::size_t>(v)] = true;
      }
      ASSERT_EQ(found, wanted) << threads << " threads, run " << run;
    }
  }
}

TYPED_TEST(Operators, FilterKeepsTheOrder) {
  using I = typename TestFixture::index;
  for (const std::int64_t size : {0, 1, 33, 4095, 4096, 4097, 50000}) {
    test::random_source random(33);
    std::vector<I> in(static_cast<std::size_t>(size));
    for (I& v : in) v = static_cast<I>(random.below(1000));
    std::vector<I> expected;
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](I v) { return v % 5 < 2; });
    for (const int threads : {1, 2, 3, 8}) {
      const context<host> ctx({.threads = threads});
      frontier<I, host> from(ctx, size);
      frontier<I, host> to(ctx, size);
      assign(ctx, from, in);
      std::int64_t calls = 0;
      filter(ctx, from, to, [&](I v) {
        count(calls);
        return v % 5 < 2;
      });
      ASSERT_EQ(this->contents(ctx, to), expected) << size << " vertices, " << threads << " threads";
      EXPECT_EQ(calls, size);
    }
  }
}

TYPED_TEST(Operators, SplitPartsInOrder) {
  using I = typename TestFixture::index;
  for (const std::int64_t size : {0, 1, 33, 4095, 4096, 4097, 50000}) {
    test::random_source random(39);
    std::vector<I> in(static_cast<std::size_t>(size));
    for (I& v : in) v = static_cast<I>(random.below(1000));
    const auto is_near = [](I v) { return v % 5 < 2; };
    std::vector<I> expected_near;
    std::vector<I> expected_far;
    std::partition_copy(in.begin(), in.end(), std::back_inserter(expected_near), std::back_inserter(expected_far),
                        is_near);
    for (const int threads : {1, 2, 3, 8}) {
      const context<host> ctx({.threads = threads});
      frontier<I, host> from(ctx, size);
      frontier<I, host> near(ctx, static_cast<std::int64_t>(expected_near.size()));  // exact capacity
      frontier<I, host> far(ctx, static_cast<std::int64_t>(expected_far.size()));
      assign(ctx, from, in);
      std::int64_t calls = 0;
      split(ctx, from, near, far, [&](I v) {
        count(calls);
        return is_near(v);
      });
      ASSERT_EQ(this->contents(ctx, near), expected_near) << size << " vertices, " << threads << " threads";
      ASSERT_EQ(this->contents(ctx, far), expected_far) << size << " vertices, " << threads << " threads";
      EXPECT_EQ(calls, size);
    }
  }
}

// Breadth-first search: the thread that sets a vertex's level first adds it to the next frontier.
template <class I, class O>
std::vector<std::int32_t> levels_by_operators(const context<host>& ctx, const graph_view<I, O, host>& g, I source) {
  std::vector<std::int32_t> levels(static_cast<std::size_t>(g.vertices()), -1);
  levels[static_cast<std::size_t>(source)] = 0;
  frontier<I, host> now(ctx, g.vertices());
  frontier<I, host> next(ctx, g.vertices());
  advance_workspace<I, O, host> workspace(ctx, g);
  assign(ctx, now, source);
  for (std::int32_t level = 1; size_of(ctx, now) > 0; ++level) {
    advance(ctx, g, now, next, workspace, [&levels, level](I, I v, O) {
      const std::atomic_ref<std::int32_t> held(levels[static_cast<std::size_t>(v)]);
      std::int32_t none = -1;
      return held.load() < 0 && held.compare_exchange_strong(none, level);
    });
    std::swap(now, next);
  }
  return levels;
}

template <class I, class O>
void expect_search(const raw_graph<I, O>& g, I source) {
  const context<host> ctx({.threads = 3});
  const auto levels = levels_by_operators(ctx, g.view(), source);
  ASSERT_EQ(levels, test::naive_levels(g.view(), source));
  const auto searched = bfs(ctx, g.view(), source);
  ASSERT_TRUE(std::equal(levels.begin(), levels.end(), searched.levels.begin()));
}

TYPED_TEST(Operators, BreadthFirstSearch) {
  using I = typename TestFixture::index;
  test::random_source random(34);
  for (int round = 0; round < 200; ++round) {
    const std::int64_t n = 1 + random.below(100);
    const auto edges = test::random_edges(random, n, random.below(4 * n), round % 3);
    expect_search(round % 2 == 0 ? this->directed(n, edges) : this->undirected(n, edges),
                  static_cast<I>(random.below(n)));
    if (this->HasFatalFailure()) return;
  }
  expect_search(this->skewed(5000, 100000), I{2500});
  expect_search(this->undirected(50000, test::star_edges(50000)), I{7});
  expect_search(this->undirected(3000, test::path_edges(3000)), I{0});
  expect_search(this->undirected(90 * 90, test::grid_edges(90, 90)), I{17});
}

// The smallest id of each component, by union-find.
std::vector<std::int64_t> least_ids(std::int64_t n, const edge_vector& edges) {
  std::vector<std::int64_t> root(static_cast<std::size_t>(n));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int64_t v) {
    while (root[static_cast<std::size_t>(v)] != v) v = root[static_cast<std::size_t>(v)];
    return v;
  };
  for (const auto& [u, v] : edges) {
    const std::int64_t a = find(u);
    const std::int64_t b = find(v);
    root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  std::vector<std::int64_t> least(root.size());
  for (std::int64_t v = 0; v < n; ++v) least[static_cast<std::size_t>(v)] = find(v);
  return least;
}

TYPED_TEST(Operators, ConnectedComponents) {
  test::random_source random(35);
  const auto expect_components = [&](std::int64_t n, const edge_vector& edges) {
    const auto expected = least_ids(n, edges);
    for (const int threads : {1, 3}) {
      const auto g = this->undirected(n, edges);
      const auto found = connected_components(context<host>({.threads = threads}), g.view());
      ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()))
          << n << " vertices, " << edges.size() << " edges, " << threads << " threads";
    }
  };
  for (int round = 0; round < 150; ++round) {
    const std::int64_t n = 1 + random.below(200);
    expect_components(n, test::random_edges(random, n, random.below(n + 1), 0));
    if (this->HasFatalFailure()) return;
  }
  expect_components(0, {});
  expect_components(30000, test::random_edges(random, 30000, 40000, 0));
  expect_components(500, test::path_edges(500));
  expect_components(20000, test::star_edges(20000));
}

// Relaxes all edges until nothing changes.
template <class I, class O>
std::vector<double> naive_distances(const raw_graph<I, O>& g, const std::vector<double>& weights, I source) {
  std::vector<double> distance(static_cast<std::size_t>(g.vertices), std::numeric_limits<double>::max());
  distance[static_cast<std::size_t>(source)] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t u = 0; u < distance.size(); ++u) {
      if (distance[u] == std::numeric_limits<double>::max()) continue;
      for (auto e = static_cast<std::size_t>(g.offsets[u]); e < static_cast<std::size_t>(g.offsets[u + 1]); ++e) {
        double& held = distance[static_cast<std::size_t>(g.indices[e])];
        if (distance[u] + weights[e] >= held) continue;
        held = distance[u] + weights[e];
        changed = true;
      }
    }
  }
  return distance;
}

TYPED_TEST(Operators, ShortestPaths) {
  using I = typename TestFixture::index;
  test::random_source random(40);
  const auto expect_distances = [&](const auto& g, I source) {
    std::vector<double> weights(g.indices.size());
    for (double& w : weights) w = static_cast<double>(random.below(100));
    const auto expected = naive_distances(g, weights, source);
    for (const int threads : {1, 3}) {
      ASSERT_EQ(bellman_ford(context<host>({.threads = threads}), g.view(), weights.data(), source), expected)
          << g.vertices << " vertices, " << threads << " threads";
    }
  };
  for (int round = 0; round < 100; ++round) {
    const std::int64_t n = 1 + random.below(200);
    const auto edges = test::random_edges(random, n, random.below(4 * n), round % 3);
    expect_distances(this->directed(n, edges), static_cast<I>(random.below(n)));
    if (this->HasFatalFailure()) return;
  }
  expect_distances(this->skewed(5000, 100000), I{2500});
  expect_distances(this->undirected(90 * 90, test::grid_edges(90, 90)), I{17});
  expect_distances(this->undirected(20000, test::star_edges(20000)), I{7});
}

TYPED_TEST(Operators, ShortestPathsWithNegativeWeights) {
  using I = typename TestFixture::index;
  const context<host> ctx({.threads = 2});
  const auto g = this->directed(4, {{0, 1}, {0, 2}, {1, 3}, {2, 1}, {3, 2}});
  const std::vector<double> fine = {5, 1, 2, -3, 2};  // 1 -> 3 -> 2 -> 1: 2 + 2 - 3
  EXPECT_EQ(bellman_ford(ctx, g.view(), fine.data(), I{0}), (std::vector<double>{0, -2, 1, 0}));
  const std::vector<double> falling = {5, 1, 2, -5, 2};
  EXPECT_THROW(bellman_ford(ctx, g.view(), falling.data(), I{0}), std::runtime_error);
}

TYPED_TEST(Operators, TooManyForTheOutputIsAnError) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  for (const std::int64_t leaves : {100, 30000}) {  // one thread, and several
    const context<host> ctx({.threads = 3});
    const auto g = this->undirected(leaves + 1, test::star_edges(leaves + 1));
    frontier<I, host> in(ctx, leaves + 1);
    frontier<I, host> out(ctx, leaves - 1);
    advance_workspace<I, O, host> workspace(ctx, g.view());
    assign(ctx, in, I{0});
    const auto all = [](I, I, O) { return true; };
    EXPECT_THROW(advance(ctx, g.view(), in, out, workspace, all), error);
    EXPECT_EQ(size_of(ctx, out), 0);
    advance(ctx, g.view(), in, out, workspace, [](I, I v, O) { return v > 1; });  // one fewer: it fits
    EXPECT_EQ(size_of(ctx, out), leaves - 1);
    assign_all(ctx, in, leaves + 1);
    EXPECT_THROW(filter(ctx, in, out, [](I) { return true; }), error);
    EXPECT_EQ(size_of(ctx, out), 0);
    frontier<I, host> other(ctx, leaves + 1);
    for (const bool near : {true, false}) {  // whichever output is too small, both are empty
      assign(ctx, out, I{1});
      assign(ctx, other, I{1});
      EXPECT_THROW(split(ctx, in, near ? out : other, near ? other : out, [&](I v) { return (v != 0) == near; }),
                   error);
      EXPECT_EQ(size_of(ctx, out) + size_of(ctx, other), 0);
    }
  }
}

TYPED_TEST(Operators, MistakesAreRefusedBeforeAnyVisit) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const context<host> ctx({.threads = 2});
  const auto g = this->undirected(10, test::path_edges(10));
  const auto larger = this->undirected(11, test::path_edges(10));
  const auto denser = this->undirected(10, test::grid_edges(2, 5));
  frontier<I, host> in(ctx, 10);
  frontier<I, host> out(ctx, 10);
  frontier<I, host> small(ctx, 9);
  advance_workspace<I, O, host> workspace(ctx, g.view());
  assign_all(ctx, in, 10);
  const auto visit = [](I, I, O) {
    ADD_FAILURE() << "visited";
    return false;
  };
  EXPECT_THROW(advance(ctx, g.view(), in, in, workspace, visit), error);
  EXPECT_THROW(advance(ctx, larger.view(), in, out, workspace, visit), error);
  EXPECT_THROW(advance(ctx, denser.view(), in, out, workspace, visit), error);
  EXPECT_THROW(advance(ctx, g.view(), in, small, workspace, visit, {.admit = admission::once}), error);
  auto torn = g.view();
  torn.out.offsets = torn.out.offsets.subspan(0, 10);
  EXPECT_THROW(advance(ctx, torn, in, out, workspace, visit), error);
  EXPECT_THROW(filter(ctx, in, in, [](I) { return true; }), error);
  EXPECT_THROW(split(ctx, in, in, out, [](I) { return true; }), error);
  EXPECT_THROW(split(ctx, in, out, in, [](I) { return true; }), error);
  EXPECT_THROW(split(ctx, in, out, out, [](I) { return true; }), error);
  EXPECT_THROW(assign_all(ctx, small, 10), error);
  EXPECT_THROW(assign(ctx, small, in.slots()), error);
  EXPECT_THROW((frontier<I, host>(ctx, -1)), error);
}

TYPED_TEST(Operators, NothingIsAllocatedByACall) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::counting_resource<host> memory(default_host_resource());
  const context<host> ctx({.threads = 2, .resource = &memory});
  const auto g = this->skewed(5000, 100000);
  frontier<I, host> in(ctx, 5000);
  frontier<I, host> out(ctx, 5000);
  frontier<I, host> far(ctx, 5000);
  advance_workspace<I, O, host> workspace(ctx, g.view());
  const std::int64_t before = memory.requests();
  assign_all(ctx, in, 5000);
  advance(ctx, g.view(), in, out, workspace, [](I, I, O) { return true; }, {.admit = admission::once});
  filter(ctx, out, in, [](I v) { return v % 2 == 0; });
  EXPECT_GT(size_of(ctx, in), 0);
  split(ctx, out, in, far, [](I v) { return v % 2 == 0; });
  EXPECT_EQ(memory.requests(), before);
}

TEST(OperatorsMemory, EveryAllocationMayFail) {
  const auto g = test::make_undirected<std::int32_t, std::int32_t>(100, test::path_edges(100));
  test::fail_every_allocation([&](const context<host>& ctx) {
    const frontier<std::int32_t, host> f(ctx, 100);
    const advance_workspace<std::int32_t, std::int32_t, host> workspace(ctx, g.view());
  });
}

// --- Functors that throw ------------------------------------------------------------

// The exception is rethrown, with one thread or several, and marks of joined vertices are cleared.
TYPED_TEST(Operators, ExceptionsComeOutAndLeaveTheWorkspaceClean) {
  using vertex = typename TestFixture::index;
  using edge = typename TestFixture::offset;
  const std::int64_t n = 5000;
  const auto g = TestFixture::skewed(n, 60'000);
  detail::assume_processors(4);
  for (const int threads : {1, 4}) {
    const context<host> ctx({.threads = threads});
    frontier<vertex, host> all(ctx, n), out(ctx, n);
    advance_workspace<vertex, edge, host> workspace(ctx, g.view());
    assign_all(ctx, all, n);
    for (const std::int64_t bad : {0, 30'000}) {
      std::atomic<std::int64_t> visits{0};
      const auto visit = [&](vertex, vertex, edge) {
        if (visits.fetch_add(1) == bad) throw std::runtime_error("visit");
        return true;
      };
      EXPECT_THROW(advance(ctx, g.view(), all, out, workspace, visit, {.admit = admission::once}), std::runtime_error);
      EXPECT_EQ(size_of(ctx, out), 0);
      advance(ctx, g.view(), all, out, workspace, [](vertex, vertex, edge) { return true; },
              {.admit = admission::once});
      std::vector<char> has_in_edge(static_cast<std::size_t>(n), 0);
      for (const vertex v : g.view().out.indices) has_in_edge[static_cast<std::size_t>(v)] = 1;
      EXPECT_EQ(size_of(ctx, out), std::count(has_in_edge.begin(), has_in_edge.end(), 1)) << threads << " threads";
    }
    EXPECT_THROW(filter(ctx, all, out,
                        [](vertex v) {
                          if (v == 777) throw std::runtime_error("keep");
                          return true;
                        }),
                 std::runtime_error);
    EXPECT_EQ(size_of(ctx, out), 0);
  }
  detail::assume_processors(0);
}

}  // namespace
}  // namespace spargo
