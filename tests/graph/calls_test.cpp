// Calls as people write them: graphs, vectors of sources and sources of any type, and no type named.
#include <spargo/formats/convert.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/operators.hpp>

#include <gtest/gtest.h>

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

// A source beyond the index type is refused, not cut down to one within it.
TEST(Calls, SourceBeyondTheIndexType) {
  const auto g = build_graph(ctx, path<std::int32_t>());
  EXPECT_THROW((void)bfs(ctx, g, std::int64_t{1} << 32), error);
  const auto tree = bfs(ctx, g, 0);
  EXPECT_THROW((void)check_bfs(ctx, g, std::int64_t{1} << 32, tree.levels, tree.parents), error);
}

// Compiled and linked only: without a GPU there is no context to call it with.
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
