// The graph builder against sets of pairs, on both backends.
#include <spargo/graph/graph.hpp>

#include <spargo/graph/bfs.hpp>

#include "core/backend.hpp"
#include "graph/graph/keys.hpp"
#include "graph/graph_suite.hpp"
#include "support/resource.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace spargo {
namespace {

using test::edge_vector;
using pair_set = std::vector<std::pair<std::int64_t, std::int64_t>>;  // ascending, each once

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

enum class way { chosen, wide };  // build_graph, or the device's fallback when 64-bit keys cannot hold a pair

template <class O, class I, class Space>
graph<I, O, Space> build_by(way how, const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                            const graph_options& options) {
  if constexpr (std::same_as<Space, device> && detail::is_built<device>) {
    if (how == way::wide) return detail::build_wide<O, I>(ctx, pairs, options);
  }
  return build_graph<O>(ctx, pairs, options);
}

// Builds in the test's space and copies the graph to the host.
template <class O, class I>
graph<I, O, host> build(host, std::int64_t n, const edge_vector& edges, const graph_options& options,
                        way how = way::chosen) {
  const pair_arrays<I> pairs(edges);
  const context<host> ctx({.threads = 3});
  return build_by<O, I, host>(how, ctx, {static_cast<I>(n), static_cast<I>(n), pairs.from, pairs.to}, options);
}
template <class O, class I>
graph<I, O, host> build(device, std::int64_t n, const edge_vector& edges, const graph_options& options,
                        way how = way::chosen) {
  const pair_arrays<I> pairs(edges);
  const context<device> ctx;
  const auto from = to_device(ctx, span<const I, host>(pairs.from));
  const auto to = to_device(ctx, span<const I, host>(pairs.to));
  const auto g =
      build_by<O, I, device>(how, ctx, {static_cast<I>(n), static_cast<I>(n), from.view(), to.view()}, options);
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
      pairs.emplace_back(u, g.indices[e]);
    }
  }
  return pairs;
}

pair_set in_order(pair_set pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

pair_set expected_pairs(const edge_vector& edges, direction_kind direction, self_loops loops) {
  pair_set pairs;
  for (const auto& [u, v] : edges) {
    if (u == v && loops == self_loops::drop) continue;
    pairs.emplace_back(u, v);
    if (direction == direction_kind::undirected) pairs.emplace_back(v, u);
  }
  return in_order(std::move(pairs));
}

pair_set turned(const pair_set& pairs) {
  pair_set result;
  for (const auto& [u, v] : pairs) result.emplace_back(v, u);
  return in_order(std::move(result));
}

template <class Case>
class BuildGraph : public test::graph_suite<Case> {
 protected:
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;

  static void check(std::int64_t n, const edge_vector& edges, way how = way::chosen) {
    for (const self_loops loops : {self_loops::drop, self_loops::keep}) check_one(n, edges, how, loops);
  }

 private:
  static void check_one(std::int64_t n, const edge_vector& edges, way how, self_loops loops) {
    SCOPED_TRACE(loops == self_loops::keep ? "with loops" : "without loops");
    const pair_set directed = expected_pairs(edges, direction_kind::directed, loops);
    const pair_set both = expected_pairs(edges, direction_kind::undirected, loops);
    const auto kept =
        std::count_if(directed.begin(), directed.end(), [](auto pair) { return pair.first == pair.second; });

    const auto plain = build<offset, index>(space{}, n, edges, {.loops = loops}, how);
    EXPECT_EQ(plain.vertices(), n);
    EXPECT_EQ(plain.edges(), static_cast<std::int64_t>(directed.size()) - kept);
    EXPECT_EQ(plain.loops(), kept);
    EXPECT_EQ(pairs_of(plain.view().out), directed);
    EXPECT_FALSE(plain.view().has_in_edges());

    const auto turned_too = build<offset, index>(space{}, n, edges, {.in_edges = true, .loops = loops}, how);
    EXPECT_EQ(pairs_of(turned_too.view().out), directed);
    ASSERT_TRUE(turned_too.view().has_in_edges());
    EXPECT_EQ(pairs_of(turned_too.view().in), turned(directed));

    const auto undirected =
        build<offset, index>(space{}, n, edges, {.direction = direction_kind::undirected, .loops = loops}, how);
    EXPECT_EQ(undirected.edges(), (static_cast<std::int64_t>(both.size()) - kept) / 2);
    EXPECT_EQ(undirected.loops(), kept);
    EXPECT_EQ(pairs_of(undirected.view().out), both);
    EXPECT_EQ(undirected.view().in.indices.data(), undirected.view().out.indices.data());
  }
};

TYPED_TEST_SUITE(BuildGraph, test::graph_cases);

TYPED_TEST(BuildGraph, RandomPairsWithLoopsAndDuplicates) {
  test::random_source random(41);
  for (std::uint64_t round = 0; round < this->rounds(60); ++round) {
    const std::int64_t n = 1 + random.below(40);
    SCOPED_TRACE("round " + std::to_string(round));
    this->check(n, test::random_edges(random, n, random.below(5 * n), static_cast<int>(round % 3)));
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(BuildGraph, EdgeCases) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(10, {});
  this->check(3, {{2, 0}});
  this->check(3, {{0, 1}, {1, 0}, {0, 1}, {1, 0}});  // both directions listed already
  this->check(300, test::star_edges(257));
  this->check(257, test::path_edges(256));
}

// Many tiles and several parts per step, rows of every length, including the longest possible.
TYPED_TEST(BuildGraph, ManyPairs) {
  test::random_source random(44);
  edge_vector edges = test::random_edges(random, 3000, 200000, 2);
  for (const auto& [u, v] : test::star_edges(3000)) edges.emplace_back(v, u);
  for (std::int64_t k = 0; k < 20000; ++k) edges.emplace_back(k % 7, k % 5);
  this->check(3000, edges);
  edges.resize(100000);
  this->check(1 << 17, edges);  // most vertices have no edge
}

// Common file orders: sorted, in one or both directions, larger or smaller end first.
TYPED_TEST(BuildGraph, PairsInOrder) {
  test::random_source random(45);
  edge_vector edges = test::random_edges(random, 500, 120000, 2);
  const auto check_all = [&] {
    this->check(500, edges);
    for (auto& [u, v] : edges) std::swap(u, v);
    this->check(500, edges);
  };
  std::sort(edges.begin(), edges.end());
  check_all();
  for (auto& [u, v] : edges) {
    if (v < u) std::swap(u, v);
  }
  std::sort(edges.begin(), edges.end());
  check_all();
  // Sorted within each of three parts, as three threads see them, but not across their boundaries.
  std::rotate(edges.begin(), edges.begin() + 40000, edges.end());
  check_all();
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  check_all();
  // Sorted except for one pair, the last or a middle one.
  std::sort(edges.begin(), edges.end());
  std::swap(edges.front(), edges.back());
  check_all();
}

TYPED_TEST(BuildGraph, PairsWiderThanAKey) {
  test::random_source random(46);
  this->check(300, test::random_edges(random, 300, 5000, 2), way::wide);
  this->check(40, test::random_edges(random, 40, 100, 1), way::wide);
  this->check(3, {}, way::wide);
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

TEST(KeyFormat, HoldsEveryVertexInTheFewestBits) {
  EXPECT_EQ(detail::format_for(0).bits, 0);
  EXPECT_EQ(detail::format_for(1).bits, 0);
  EXPECT_EQ(detail::format_for(2).bits, 1);
  EXPECT_EQ(detail::format_for(256).bits, 8);
  EXPECT_EQ(detail::format_for(257).bits, 9);
  const std::int64_t most = std::int64_t{1} << 32;
  EXPECT_EQ(detail::format_for(most).bits, 32);
  EXPECT_TRUE(detail::fits_keys(most));
  EXPECT_FALSE(detail::fits_keys(most + 1));
  for (const std::int64_t n : {std::int64_t{2}, std::int64_t{257}, most}) {
    const detail::key_format format = detail::format_for(n);
    const auto last = static_cast<std::uint64_t>(n - 1);
    EXPECT_EQ(format.high(format.pack(last, 0)), last);
    EXPECT_EQ(format.low(format.pack(last, 0)), 0);
    EXPECT_EQ(format.low(format.pack(0, last)), last);
    EXPECT_FALSE(format.is_edge(format.pack(last, last)));
    EXPECT_TRUE(detail::format_for(n, self_loops::keep).is_edge(format.pack(last, last)));
    EXPECT_TRUE(format.is_edge(format.pack(last, last - 1)));
  }
}

// Forwards requests and records the peak of live bytes.
class peak_resource final : public memory_resource<host> {
 public:
  void* allocate(std::size_t bytes, stream_handle stream) override {
    live_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, live_);
    return default_host_resource().allocate(bytes, stream);
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override {
    live_ -= static_cast<std::int64_t>(bytes);
    default_host_resource().deallocate(pointer, bytes, stream);
  }
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

TEST(GraphMemory, BuildingTakes24BytesAPair) {
  test::random_source random(48);
  constexpr std::int64_t count = 200000;
  const pair_arrays<std::int32_t> pairs(test::random_edges(random, 1000, count, 0));
  const coo_pattern_view<std::int32_t, host> edges{1000, 1000, pairs.from, pairs.to};
  const auto size = static_cast<std::int64_t>(pairs.from.size());
  peak_resource resource;
  const context<host> ctx({.threads = 2, .resource = &resource});
  (void)build_graph<std::int32_t>(ctx, edges, {.direction = direction_kind::undirected});
  EXPECT_LE(resource.peak(), 24 * size + 65536);  // and the vertices' offsets and the sort's counters
  EXPECT_GT(resource.peak(), 15 * size);          // it measures something
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
