// The builder against sets of pairs, on both backends.
#include <spargo/graph/graph.hpp>

#include <spargo/graph/bfs.hpp>

#include "graph/graph_support.hpp"
#include "support/device.hpp"
#include "support/resource.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace spargo {
namespace {

using test::edge_vector;
using pair_set = std::set<std::pair<std::int64_t, std::int64_t>>;

template <class I, class O, class S>
struct graph_case {
  using index = I;
  using offset = O;
  using space = S;
};

template <class I>
struct pair_arrays {
  std::vector<I> from, to;
  explicit pair_arrays(const edge_vector& edges) {
    for (const auto& [u, v] : edges) {
      from.push_back(static_cast<I>(u));
      to.push_back(static_cast<I>(v));
    }
  }
};

// Builds in the space of the test and brings the graph to the host.
template <class O, class I>
graph<I, O, host> build(host, std::int64_t n, const edge_vector& edges, const graph_options& options) {
  const pair_arrays<I> pairs(edges);
  const context<host> ctx({.threads = 3});
  return build_graph<O>(ctx, coo_pattern_view<I, host>{static_cast<I>(n), static_cast<I>(n), pairs.from, pairs.to},
                        options);
}
template <class O, class I>
graph<I, O, host> build(device, std::int64_t n, const edge_vector& edges, const graph_options& options) {
  const pair_arrays<I> pairs(edges);
  const context<device> ctx;
  const auto from = to_device(ctx, span<const I, host>(pairs.from));
  const auto to = to_device(ctx, span<const I, host>(pairs.to));
  const auto g = build_graph<O>(
      ctx, coo_pattern_view<I, device>{static_cast<I>(n), static_cast<I>(n), from.view(), to.view()}, options);
  return to_host(ctx, g.view());
}

// The rows of a canonical CSR as pairs; fails on anything that is not ascending and distinct.
template <class I, class O>
pair_set pairs_of(const csr_pattern_view<I, O, host>& g) {
  pair_set pairs;
  EXPECT_EQ(g.offsets.size(), g.rows + 1);
  EXPECT_EQ(g.offsets[0], 0);
  EXPECT_EQ(g.offsets[g.rows], g.indices.size());
  for (I u = 0; u < g.rows; ++u) {
    for (O e = g.offsets[u]; e < g.offsets[u + 1]; ++e) {
      if (e > g.offsets[u]) {
        EXPECT_LT(g.indices[e - 1], g.indices[e]) << "row " << u;
      }
      pairs.emplace(u, g.indices[e]);
    }
  }
  return pairs;
}

pair_set expected_pairs(const edge_vector& edges, direction_kind direction) {
  pair_set pairs;
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    pairs.emplace(u, v);
    if (direction == direction_kind::undirected) pairs.emplace(v, u);
  }
  return pairs;
}

pair_set turned(const pair_set& pairs) {
  pair_set result;
  for (const auto& [u, v] : pairs) result.emplace(v, u);
  return result;
}

template <class Case>
class BuildGraph : public testing::Test {
 protected:
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;

  void SetUp() override {
    if constexpr (std::same_as<space, device>) SPARGO_TEST_NEEDS_GPU();
  }

  static void check(std::int64_t n, const edge_vector& edges) {
    const pair_set directed = expected_pairs(edges, direction_kind::directed);
    const pair_set both = expected_pairs(edges, direction_kind::undirected);

    const auto plain = build<offset, index>(space{}, n, edges, {});
    EXPECT_EQ(plain.vertices(), n);
    EXPECT_EQ(plain.edges(), static_cast<std::int64_t>(directed.size()));
    EXPECT_EQ(pairs_of(plain.view().out), directed);
    EXPECT_FALSE(plain.view().has_in_edges());

    const auto turned_too = build<offset, index>(space{}, n, edges, {.in_edges = true});
    EXPECT_EQ(pairs_of(turned_too.view().out), directed);
    ASSERT_TRUE(turned_too.view().has_in_edges());
    EXPECT_EQ(pairs_of(turned_too.view().in), turned(directed));

    const auto undirected = build<offset, index>(space{}, n, edges, {.direction = direction_kind::undirected});
    EXPECT_EQ(undirected.edges(), static_cast<std::int64_t>(both.size()) / 2);
    EXPECT_EQ(pairs_of(undirected.view().out), both);
    EXPECT_EQ(undirected.view().in.indices.data(), undirected.view().out.indices.data());
  }
};

template <class I, class O>
using on_host = graph_case<I, O, host>;
template <class I, class O>
using on_device = graph_case<I, O, device>;
using cases = testing::Types<on_host<std::int32_t, std::int32_t>, on_host<std::int32_t, std::int64_t>,
                             on_host<std::int64_t, std::int64_t>, on_device<std::int32_t, std::int32_t>,
                             on_device<std::int32_t, std::int64_t>, on_device<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(BuildGraph, cases);

TYPED_TEST(BuildGraph, RandomPairsWithLoopsAndDuplicates) {
  test::random_source random(41);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t n = 1 + random.below(40);
    SCOPED_TRACE("round " + std::to_string(round));
    this->check(n, test::random_edges(random, n, random.below(5 * n), round % 3));
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(BuildGraph, EdgeCases) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(10, {});
  this->check(3, {{2, 0}});
  this->check(3, {{0, 1}, {1, 0}, {0, 1}, {1, 0}});  // both ways listed already
  this->check(300, test::star_edges(257));
  this->check(257, test::path_edges(256));
}

TYPED_TEST(BuildGraph, RefusesPairsOutside) {
  const auto built = [](std::int64_t n, const edge_vector& edges) {
    return build<typename TestFixture::offset, typename TestFixture::index>(typename TestFixture::space{}, n, edges,
                                                                            {});
  };
  try {
    (void)built(4, {{0, 1}, {1, 2}, {3, 4}, {-1, 0}});
    FAIL() << "vertex 4 of 4 was accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::invalid_data);
    EXPECT_STREQ(e.what(), "build_graph: edge 2 is (3, 4) in a graph of 4 vertices");
  }
  EXPECT_THROW((void)built(4, {{0, 1}, {-1, 2}}), error);
  EXPECT_THROW((void)built(0, {{0, 0}}), error);
}

TEST(BuildGraphHost, RefusesARectangle) {
  const context<host> ctx;
  const std::vector<std::int32_t> one{0};
  EXPECT_THROW((void)(build_graph<std::int32_t>(ctx, coo_pattern_view<std::int32_t, host>{2, 3, one, one})), error);
}

TEST(BuildGraphHost, InEdgesAreAddedOnceAndOnlyToDirectedGraphs) {
  const context<host> ctx({.threads = 2});
  auto g = build<std::int32_t, std::int32_t>(host{}, 5, {{0, 1}, {0, 2}, {4, 2}}, {});
  add_in_edges(ctx, g);
  EXPECT_EQ(pairs_of(g.view().in), (pair_set{{1, 0}, {2, 0}, {2, 4}}));
  const auto* where = g.view().in.indices.data();
  add_in_edges(ctx, g);
  EXPECT_EQ(g.view().in.indices.data(), where);
  auto u = build<std::int32_t, std::int32_t>(host{}, 5, {{0, 1}}, {.direction = direction_kind::undirected});
  add_in_edges(ctx, u);
  EXPECT_EQ(u.view().in.indices.data(), u.view().out.indices.data());
}

TEST(BuildGraphHost, TheSameForAnyThreadCount) {
  test::random_source random(42);
  const pair_arrays<std::int32_t> pairs(test::random_edges(random, 5000, 60000, 2));
  const coo_pattern_view<std::int32_t, host> edges{5000, 5000, pairs.from, pairs.to};
  const auto build_with = [&](int threads) {
    const context<host> ctx({.threads = threads});
    return build_graph<std::int64_t>(ctx, edges, {.direction = direction_kind::undirected});
  };
  const auto reference = build_with(1);
  for (const int threads : {2, 3, 7}) {
    const auto other = build_with(threads);
    const auto a = reference.view().out;
    const auto b = other.view().out;
    EXPECT_TRUE(std::equal(a.offsets.begin(), a.offsets.end(), b.offsets.begin(), b.offsets.end())) << threads;
    EXPECT_TRUE(std::equal(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end())) << threads;
  }
}

TEST(GraphMemory, EveryRefusedAllocationIsAnError) {
  test::random_source random(43);
  const pair_arrays<std::int32_t> pairs(test::random_edges(random, 300, 2000, 1));
  const coo_pattern_view<std::int32_t, host> edges{300, 300, pairs.from, pairs.to};
  for (const graph_options& options :
       {graph_options{.direction = direction_kind::undirected}, graph_options{.in_edges = true}, graph_options{}}) {
    const auto requests = test::fail_every_allocation(
        [&](const context<host>& ctx) { (void)build_graph<std::int32_t>(ctx, edges, options); });
    EXPECT_GT(requests, 2);
  }
}

TEST(BfsMemory, EveryRefusedAllocationIsAnErrorAndRunsNeedNone) {
  const auto raw = test::make_undirected<std::int32_t, std::int64_t>(3000, test::star_edges(2900));
  for (const auto algorithm :
       {bfs_algorithm::sequential, bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing}) {
    const auto requests = test::fail_every_allocation([&](const context<host>& ctx) {
      bfs_plan<std::int32_t, std::int64_t, host> plan(ctx, raw.view(), {.algorithm = algorithm});
      auto& resource = static_cast<test::counting_resource<host>&>(ctx.resource());
      const auto before = resource.requests();
      for (const std::int32_t source : {0, 1, 2999}) plan.run(source);
      EXPECT_EQ(resource.requests(), before);
    });
    EXPECT_GT(requests, 2);
  }
}

}  // namespace
}  // namespace spargo
