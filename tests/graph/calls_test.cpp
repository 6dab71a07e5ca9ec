// Natural calls: graphs, vectors of sources and sources of any type, without explicit template arguments.
#include <spargo/formats/convert.hpp>
#include <spargo/graph/betweenness.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>
#include <spargo/graph/communities.hpp>
#include <spargo/graph/components.hpp>
#include <spargo/graph/derived.hpp>
#include <spargo/graph/eigenvector.hpp>
#include <spargo/graph/hits.hpp>
#include <spargo/graph/katz.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/operators.hpp>
#include <spargo/graph/pagerank.hpp>
#include <spargo/graph/paths.hpp>
#include <spargo/graph/similarity.hpp>
#include <spargo/graph/triangles.hpp>
#include <spargo/graph/walks.hpp>
#include <spargo/graph/weighted_graph.hpp>
#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace spargo {
namespace {

const context<host> ctx({.threads = 2});

template <class I>
coo_matrix<pattern, I, host> path() {
  return {3, 3, clone(ctx, std::vector<I>{0, 1}), clone(ctx, std::vector<I>{1, 2}), {}};
}

template <class I>
void expect_searches() {
  const auto pairs = path<I>();
  const auto g = build_graph(ctx, pairs, {.direction = direction_kind::undirected});
  EXPECT_EQ(build_graph(ctx, pairs.view()).edges(), 2);
  const auto tree = bfs(ctx, g, 0);
  EXPECT_EQ(tree.reached, 3);
  EXPECT_EQ(bfs(ctx, g.view(), std::int64_t{2}).levels[0], 2);
  EXPECT_EQ(check_bfs(ctx, g, tree), "");
  EXPECT_EQ(check_bfs(ctx, g.view(), tree), "");
  EXPECT_EQ(check_bfs(ctx, g, 0, tree.levels, tree.parents), "");
  EXPECT_NE(check_bfs(ctx, g.view(), 1, tree.levels, tree.parents), "");
  bfs_plan plan(ctx, g);
  plan.run(1);
  EXPECT_EQ(plan.reached(), 3);
  EXPECT_EQ(check_bfs(ctx, g, 1, plan.levels(), plan.parents()), "");

  using graph_type = graph<I, std::int64_t, host>;
  static_assert(!std::constructible_from<bfs_plan<I, std::int64_t, host>, const context<host>&, graph_type>,
                "a plan outlives a temporary");

  const std::vector<I> sources{0, 2};
  EXPECT_EQ(multi_bfs(ctx, g, sources).counts[1].distance_sum, 3);
  EXPECT_EQ(multi_bfs(ctx, g.view(), sources).counts[1].reached, 3);
  multi_bfs_plan many(ctx, g, 2);
  many.run(sources);
  EXPECT_EQ(many.counts()[0].eccentricity, 2);

  frontier<I, host> now(ctx, 3);
  frontier<I, host> next(ctx, 3);
  advance_workspace<I, std::int64_t, host> workspace(ctx, g);
  assign(ctx, now, 0);
  advance(ctx, g, now, next, workspace, [](I, I, std::int64_t) { return true; });
  EXPECT_EQ(size_of(ctx, next), 1);
}

TEST(Calls, Searches32) { expect_searches<std::int32_t>(); }
TEST(Calls, Searches64) { expect_searches<std::int64_t>(); }

TEST(Calls, AWeightedGraphAndItsView) {
  const std::vector<std::int32_t> from{0, 1}, to{1, 2}, starts{1};
  const std::vector<double> weights{0.5, 2};
  const auto g = build_weighted_graph(ctx, coo_pattern_view<std::int32_t, host>{3, 3, from, to}, weights);
  EXPECT_EQ(walks(ctx, g, {.length = 2}).vertices[2], 2);
  EXPECT_EQ(walks(ctx, g, starts, {.length = 1}).vertices[1], 2);
  EXPECT_EQ(components(ctx, g.view()).count, 1);
}

// Kept loops count for PageRank only.
TEST(Calls, LoopsChangeNothingButRanks) {
  const std::vector<std::int32_t> from{0, 0, 1, 1, 2, 3, 3, 4, 2};
  const std::vector<std::int32_t> to{0, 1, 1, 2, 0, 3, 4, 4, 2};
  const coo_pattern_view<std::int32_t, host> pairs{5, 5, from, to};
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    const auto plain = build_graph(ctx, pairs, {.direction = direction, .in_edges = true});
    const auto looped = build_graph(ctx, pairs, {.direction = direction, .in_edges = true, .loops = self_loops::keep});
    EXPECT_EQ(looped.edges(), plain.edges());
    EXPECT_EQ(looped.loops(), 5);
    const std::vector<double> weights(from.size(), 2.0);
    const auto weighted =
        build_weighted_graph(ctx, pairs, weights, {.direction = direction, .loops = self_loops::keep});
    EXPECT_EQ(weighted.view().loops, 5);
    EXPECT_EQ(weighted.edges(), plain.edges() + 5);
    const auto same = [&](const auto& of) {
      const auto a = of(plain);
      const auto b = of(looped);
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    EXPECT_TRUE(same([](const auto& g) { return bfs(ctx, g, 0).levels; }));
    EXPECT_TRUE(same([](const auto& g) { return bfs(ctx, g, 0, {.direction = bfs_direction::pull}).levels; }));
    EXPECT_TRUE(same([](const auto& g) { return multi_bfs(ctx, g, std::vector<std::int32_t>{0, 3}).levels; }));
    EXPECT_TRUE(same([](const auto& g) { return components(ctx, g).labels; }));
    EXPECT_TRUE(
        same([](const auto& g) { return components(ctx, g, {.connection = components_connection::strong}).labels; }));
    EXPECT_TRUE(same([](const auto& g) { return betweenness(ctx, g).values; }));
    EXPECT_TRUE(same([](const auto& g) { return triangles(ctx, g).per_vertex; }));
    EXPECT_TRUE(same([](const auto& g) { return communities(ctx, g).labels; }));
    EXPECT_EQ(check_communities(ctx, looped, communities(ctx, plain).labels), "");
    EXPECT_FALSE(same([](const auto& g) { return pagerank(ctx, g).ranks; }));
  }
}

// Without template arguments and in-edges: a single call builds those it needs.
template <class I>
void expect_answers_of_a_directed_graph() {
  const auto g = build_graph(ctx, path<I>());
  ASSERT_FALSE(g.view().has_in_edges());
  const auto ranks = pagerank(ctx, g, {.tolerance = 1e-12});
  static_assert(std::same_as<std::remove_cvref_t<decltype(ranks)>, pagerank_result<double, host>>);
  const double one = 1 / (3 + 2 * 0.85 + 0.85 * 0.85);  // ranks 1, 1 + d, 1 + d + d^2 in proportion
  EXPECT_NEAR(ranks.ranks[0], one, 1e-12);
  EXPECT_NEAR(ranks.ranks[1], one * 1.85, 1e-12);
  EXPECT_EQ(check_pagerank(ctx, g, ranks.ranks, {.tolerance = 1e-12}), "");
  EXPECT_NEAR(pagerank<float>(ctx, g.view()).ranks[0], one, 1e-6);
  EXPECT_EQ(bfs(ctx, g, 0, {.direction = bfs_direction::pull}).reached, 3);
  EXPECT_EQ(multi_bfs(ctx, g, std::vector<I>{0, 2}, {.direction = bfs_direction::pull}).counts[0].distance_sum, 3);
  const auto found = communities(ctx, g);
  EXPECT_EQ(check_communities(ctx, g, found.labels), "");
  EXPECT_EQ(components(ctx, g, {.connection = components_connection::strong}).count, 3);
  EXPECT_EQ(betweenness(ctx, g).values[1], 1);
  EXPECT_EQ(triangles(ctx, g).total, 0);

  // A plan borrows; it refuses and names the remedy.
  try {
    pagerank_plan plan(ctx, g);
    FAIL() << "in-edges out of nowhere";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
    EXPECT_STREQ(e.what(), "pagerank: a directed graph without in-edges (add_in_edges builds them)");
  }
  auto whole = build_graph(ctx, path<I>(), {.in_edges = true});
  pagerank_plan plan(ctx, whole, {.iterations = 2});
  plan.run();
  EXPECT_EQ(plan.iterations(), 2);
}

TEST(Calls, OfDirectedGraphs32) { expect_answers_of_a_directed_graph<std::int32_t>(); }
TEST(Calls, OfDirectedGraphs64) { expect_answers_of_a_directed_graph<std::int64_t>(); }

template <class Graph>
concept has_unweighted_path = requires(const Graph& g) {
  shortest_path(ctx, g, 0, 1);
};

// Owning graphs in place of views, vectors in place of spans.
template <class I>
void expect_answers_of_owning_graphs() {
  const auto g = build_graph(ctx, path<I>(), {.direction = direction_kind::undirected});
  const std::vector<I> from{0, 1};
  const std::vector<I> to{2, 0};
  const auto similar = similarity(ctx, g, from, to);  // both ends of the path have the neighbour 1 only
  EXPECT_EQ(similar[0], 1);
  EXPECT_EQ(similar[1], 0);
  similarity_plan plan(ctx, g, from, to);
  plan.run();
  EXPECT_EQ(check_similarity(ctx, g, {from, to, plan.values()}, similarity_pairs::given).fault, "");

  EXPECT_TRUE(classify_tree(ctx, g).tree);
  EXPECT_EQ(isolated_vertices(ctx, g).size(), 0);
  EXPECT_EQ(degree_centrality(ctx, g)[1], 1);
  EXPECT_EQ(complement(ctx, g).edges(), 1);
  EXPECT_EQ(ego_graph(ctx, g, 0, 1).vertices(), 2);
  EXPECT_EQ(bfs_tree(ctx, g, 0).edges(), 2);
  const auto directed = build_graph(ctx, path<I>());
  EXPECT_EQ(reciprocity(ctx, directed), 0);
  EXPECT_EQ(bfs(ctx, reverse(ctx, directed), 2).reached, 3);

  EXPECT_EQ(shortest_path(ctx, g, 0, 2), (std::vector<I>{0, 1, 2}));
  static_assert(has_unweighted_path<decltype(g)> && has_unweighted_path<graph_view<I, std::int64_t, host>>);
  static_assert(!has_unweighted_path<weighted_graph<double, I, std::int64_t, host>> &&
                    !has_unweighted_path<weighted_graph_view<double, I, std::int64_t, host>>,
                "weights are not ignored silently");

  const std::vector<double> lengths{1.5, 2};
  const auto weighted = build_weighted_graph(ctx, path<I>().view(), lengths, {.direction = direction_kind::undirected});
  std::vector<double> rows;
  all_distances(ctx, weighted, from, 1, [&](std::int64_t, span<const double, host> found) {
    rows.insert(rows.end(), found.begin(), found.end());
  });
  EXPECT_EQ(rows, (std::vector<double>{0, 1.5, 3.5, 1.5, 0, 2}));
  std::int64_t levels = 0;
  all_distances(ctx, g, from, 1, [&](std::int64_t, span<const std::int32_t, host> found) { levels += found[2]; });
  EXPECT_EQ(levels, 3);

  EXPECT_EQ(check_eigenvector(ctx, g, eigenvector(ctx, g)), "");
  EXPECT_EQ(check_katz(ctx, weighted, katz(ctx, weighted)), "");
  EXPECT_EQ(check_hits(ctx, weighted, hits(ctx, weighted)), "");
  EXPECT_EQ(check_pagerank(ctx, weighted, pagerank(ctx, weighted).ranks), "");
}

TEST(Calls, OfOwningGraphs32) { expect_answers_of_owning_graphs<std::int32_t>(); }
TEST(Calls, OfOwningGraphs64) { expect_answers_of_owning_graphs<std::int64_t>(); }

TEST(Calls, ReadersNeedNoTypes) {
  const auto entries = generate(ctx, "gen:grid2d:n=4");
  static_assert(std::same_as<std::remove_cvref_t<decltype(entries)>, coo_matrix<double, std::int32_t, host>>);
  EXPECT_EQ(pagerank(ctx, build_graph(ctx, entries)).ranks.size(), 16);
}

// A source beyond the index type is refused, not truncated.
TEST(Calls, SourceBeyondTheIndexType) {
  const auto g = build_graph(ctx, path<std::int32_t>());
  EXPECT_THROW((void)bfs(ctx, g, std::int64_t{1} << 32), error);
  const auto tree = bfs(ctx, g, 0);
  EXPECT_THROW((void)check_bfs(ctx, g, std::int64_t{1} << 32, tree.levels, tree.parents), error);
}

// Compiled and linked only: without a GPU there is no context.
[[maybe_unused]] void on_a_device(const context<device>& gpu) {
  auto g = to_device(gpu, build_graph(ctx, path<std::int32_t>()));
  add_in_edges(gpu, g);
  const auto tree = bfs(gpu, g, 0);
  const auto levels = to_host(gpu, tree.levels);
  (void)multi_bfs(gpu, g, std::vector<std::int32_t>{0});
  (void)to_host(gpu, g);
}

}  // namespace
}  // namespace spargo
