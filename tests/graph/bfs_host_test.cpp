// Steps of the host search in every order: each level uses a random kind of step, on graphs so small that the plan
// itself would never share or pull them.
#include "graph/bfs/host_levels.hpp"

#include "graph/graph_support.hpp"

#include <spargo/graph/bfs.hpp>

#include <gtest/gtest.h>

namespace spargo::detail::bfs {
namespace {

enum class step { alone, together, pull, narrow };

// Shares every level, however small, and never stops sharing.
constexpr host_narrow_rule share_all{.share_edges = 1, .enter_edges = 0, .enter_after = -1, .leave_edges = 0};

template <class I, class O>
struct workspace {
  std::vector<std::int32_t> levels;
  std::vector<I> parents, queue, narrow;
  std::vector<host_row_chunk<I, O>> chunks;
  std::vector<host_bins<I>> bins;
  std::vector<std::uint64_t> visited, successor;

  workspace(const graph_view<I, O, host>& g, int threads)
      : levels(static_cast<std::size_t>(g.vertices()), -1),
        parents(levels.size(), -1),
        queue(levels.size()),
        narrow(static_cast<std::size_t>(narrow_entries(threads))),
        chunks(static_cast<std::size_t>(most_chunks(g.out.nnz()))),
        bins(static_cast<std::size_t>(threads)),
        visited((levels.size() + 63) / 64),
        successor(visited.size(), 0x5555) {
    // Bits past the last vertex count as visited.
    if (levels.size() % 64 != 0) visited.back() = ~std::uint64_t{0} << (levels.size() % 64);
  }

  host_search<I, O> search(const graph_view<I, O, host>& g, int threads) {
    return {.out = g.out,
            .in = g.in,
            .levels = levels.data(),
            .parents = parents.data(),
            .visited = visited.data(),
            .successor = successor.data(),
            .queue = queue.data(),
            .bins = bins.data(),
            .chunks = chunks.data(),
            .narrow = narrow.data(),
            .threads = threads};
  }
};

// A search whose level d uses the step `choose(d)`; checks what each step returns. Levels that are not narrow are
// pushed alone if `choose` returns narrow.
template <class I, class O, class Choose>
void search(const graph_view<I, O, host>& g, I source, int threads, Choose&& choose) {
  workspace<I, O> w(g, threads);
  host_search<I, O> s = w.search(g, threads);
  const auto truth = test::naive_levels(g, source);
  std::vector<host_frontier> expected(test::histogram_of(truth).size() + 1);
  for (std::size_t v = 0; v < truth.size(); ++v) {
    if (truth[v] < 0) continue;
    ++expected[static_cast<std::size_t>(truth[v])].end;
    expected[static_cast<std::size_t>(truth[v])].edges += s.degree(static_cast<I>(v));
  }
  s.found(source, source, 0);
  s.queue[0] = source;
  s.visited[source >> 6] |= std::uint64_t{1} << (source & 63);
  host_frontier now{0, 1, s.degree(source)};
  std::int32_t level = 0;
  // Checks the level just found; true while the search continues.
  const auto check = [&](const host_frontier& found) {
    const host_frontier& right = expected[static_cast<std::size_t>(level)];
    EXPECT_EQ(found.size(), right.size()) << "at level " << level;
    EXPECT_EQ(found.edges, right.edges) << "at level " << level;
    return found.size() > 0 && !testing::Test::HasFailure();
  };
  bool pulled = false;
  for (bool more = check(now); more;) {
    const step how = choose(level);
    if (how == step::pull) {
      now = pull_together(s, ++level);
      pulled = true;
      more = check(now);
      continue;
    }
    if (pulled) now = queue_pulled(s, now.edges);
    pulled = false;
    if (how == step::narrow && now.edges < host_narrow_tuning::most_edges) {
      now = push_narrow(
          s, now, level + 1,
          [&](const host_frontier& found) {
            ++level;
            more = check(found);
            return more && choose(level) == step::narrow;
          },
          share_all);
      continue;
    }
    ++level;
    now = how == step::together ? push_together(s, now, level) : push_alone(s, now, level);
    more = check(now);
  }
  ASSERT_EQ(w.levels, truth);
  ASSERT_EQ(test::parent_fault(g, source, truth, w.parents), "");
}

template <class I, class O>
void search_in_every_way(const graph_view<I, O, host>& g, I source, test::random_source& random) {
  for (const int threads : {1, 3}) {
    for (const step only : {step::alone, step::together, step::pull, step::narrow}) {
      search(g, source, threads, [only](std::int32_t) { return only; });
    }
    for (int round = 0; round < 2; ++round) {
      search(g, source, threads, [&random](std::int32_t) { return static_cast<step>(random.below(4)); });
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(BfsHostSteps, AnyOrderOfStepsIsRight) {
  test::random_source random(61);
  for (int round = 0; round < 20; ++round) {
    const std::int64_t n = 1 + random.below(200);
    const auto edges = test::random_edges(random, n, random.below(3 * n), round % 4);
    SCOPED_TRACE("round " + std::to_string(round));
    const auto undirected = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
    search_in_every_way(undirected.view(), static_cast<std::int32_t>(random.below(n)), random);
    const auto directed = test::make_directed<std::int64_t, std::int64_t>(n, edges, test::edges_kept::out_and_in);
    search_in_every_way(directed.view(), random.below(n), random);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Long and thin: many changes of step, and each vertex queued at most once.
TEST(BfsHostSteps, AnyOrderOfStepsOnALongGrid) {
  test::random_source random(62);
  const auto grid = test::make_undirected<std::int32_t, std::int64_t>(150, test::grid_edges(3, 50));
  for (const std::int32_t source : {0, 74, 149}) search_in_every_way(grid.view(), source, random);
}

// Hubs are split: exactly at the limit and beyond it, and several at once, with more neighbours than a buffer holds.
TEST(BfsHostSteps, HubsAreSplitAmongThreads) {
  test::random_source random(63);
  for (const std::int64_t extra : {-1, 0, 1, 1000}) {
    const std::int64_t leaves = host_push_tuning::chunk_edges + extra;
    test::edge_vector edges;
    for (std::int64_t v = 0; v < leaves; ++v) {
      edges.emplace_back(0, 4 + v);
      edges.emplace_back(1, 4 + v);
      edges.emplace_back(2, 4 + (v * 7) % leaves);
      if (v % 2 == 0) edges.emplace_back(3, 4 + v);
    }
    const auto g = test::make_undirected<std::int32_t, std::int32_t>(leaves + 4, edges);
    search_in_every_way(g.view(), std::int32_t{0}, random);
    search_in_every_way(g.view(), std::int32_t{5}, random);
  }
}

// Far more edges than the bins hold, to the vertices of one bin, two, or all: many rounds, each stops within rows.
TEST(BfsHostSteps, BinsFillUp) {
  test::random_source random(65);
  constexpr std::int64_t span = std::int64_t{1} << host_push_tuning::span_bits;
  for (const std::int64_t targets : {span - 1, 2 * span, 70 * span}) {
    const std::int64_t middle = 300;
    test::edge_vector edges;
    for (std::int64_t u = 0; u < middle; ++u) edges.emplace_back(targets, targets + 1 + u);
    for (std::int64_t k = 0; k < 150000; ++k) {
      edges.emplace_back(random.below(targets), targets + 1 + random.below(middle));
    }
    const auto g = test::make_undirected<std::int32_t, std::int32_t>(targets + 1 + middle, edges);
    search_in_every_way(g.view(), static_cast<std::int32_t>(targets), random);
    search_in_every_way(g.view(), std::int32_t{0}, random);
  }
}

// The plan's own choice on a graph large enough for every step, with any number of threads.
TEST(BfsHostPlan, LevelsDoNotDependOnThreads) {
  test::random_source random(64);
  const std::int64_t n = 30000;
  auto edges = test::random_edges(random, n, 400000, 4);
  const auto g = test::make_undirected<std::int32_t, std::int32_t>(n + 1000, edges);
  const auto truth = test::naive_levels(g.view(), 11);
  for (const int threads : {1, 2, 3, 7}) {
    const context<host> ctx({.threads = threads});
    for (const auto algorithm : {bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing}) {
      const auto result = spargo::bfs(ctx, g.view(), 11, {.algorithm = algorithm});
      EXPECT_TRUE(std::equal(truth.begin(), truth.end(), result.levels.begin(), result.levels.end())) << threads;
      EXPECT_EQ(result.level_sizes, test::histogram_of(truth));
    }
  }
}

// Levels truncated at a target or a depth.
std::vector<std::int32_t> cut(std::vector<std::int32_t> levels, const search_limits& limits) {
  std::int64_t last = limits.max_depth < 0 ? std::numeric_limits<std::int32_t>::max() : limits.max_depth;
  if (limits.target >= 0) last = std::min<std::int64_t>(last, levels[static_cast<std::size_t>(limits.target)]);
  for (std::int32_t& level : levels) level = level > last ? -1 : level;
  return levels;
}

// Every level shared, with a limit in between.
template <class I, class O>
void search_together(const graph_view<I, O, host>& g, I source, int threads, bfs_direction allowed,
                     const search_limits& limits) {
  SCOPED_TRACE(testing::Message() << threads << " threads, target " << limits.target << ", depth " << limits.max_depth);
  workspace<I, O> w(g, threads);
  host_search<I, O> s = w.search(g, threads);
  s.counts_edges = allowed == bfs_direction::automatic;
  level_size_list log{.sizes = {context<host>(), g.vertices()}};
  host_levels(s, allowed, limits, log, share_all).run(source);
  const auto expected = cut(test::naive_levels(g, source), limits);
  EXPECT_EQ(w.levels, expected);
  const std::vector<std::int64_t> sizes(log.sizes.begin(), log.sizes.begin() + log.levels);
  EXPECT_EQ(sizes, test::histogram_of(expected));
  EXPECT_EQ(test::parent_fault(g, source, expected, w.parents), "");
}

TEST(BfsHostLevels, EndWhereTheyShould) {
  const auto grid = test::make_undirected<std::int32_t, std::int64_t>(20 * 30, test::grid_edges(20, 30));
  for (const int threads : {1, 3}) {
    for (const auto allowed : {bfs_direction::push, bfs_direction::automatic}) {
      for (const std::int64_t target : {-1, 0, 310, 599}) {
        for (const std::int64_t depth : {-1, 1, 2, 13, 48}) {
          search_together(grid.view(), 310, threads, allowed, {.target = target, .max_depth = depth});
        }
      }
    }
  }
}

TEST(BfsHostLevels, ShareRandomGraphs) {
  test::random_source random(66);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t n = 1 + random.below(300);
    const auto edges = test::random_edges(random, n, random.below(3 * n), round % 4);
    SCOPED_TRACE("round " + std::to_string(round));
    const auto g = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
    const auto source = static_cast<std::int32_t>(random.below(n));
    search_together(g.view(), source, 4, bfs_direction::automatic, {});
    search_together(g.view(), source, 4, bfs_direction::push, {.max_depth = random.below(5)});
  }
}

// The longer the rows, the smaller the frontiers that are pulled; never on a road; and no division by zero vertices.
TEST(BfsHostPullRule, FollowsTheMeanDegree) {
  EXPECT_EQ(host_pull_rule::of(1 << 20, 32 << 20).alpha, 8);
  EXPECT_EQ(host_pull_rule::of(1000, 10000).alpha, 4);
  EXPECT_EQ(host_pull_rule::of(114599, 239332).alpha, 2);
  EXPECT_EQ(host_pull_rule::of(0, 0).alpha, 2);
}

// The plan's own choice on a grid wide enough to be shared.
TEST(BfsHostPlan, NarrowLevels) {
  const std::int64_t side = 560;
  const auto g = test::make_undirected<std::int32_t, std::int32_t>(side * side, test::grid_edges(side, side));
  const auto source = static_cast<std::int32_t>(side * side / 2 + side / 2);
  const auto truth = test::naive_levels(g.view(), source);
  for (const auto algorithm : {bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing}) {
    for (const search_limits limits : {search_limits{}, search_limits{.target = 7, .max_depth = 400}}) {
      bfs_plan<std::int32_t, std::int32_t, host> plan(
          context<host>({.threads = 2}), g.view(),
          {.algorithm = algorithm, .target = limits.target, .max_depth = limits.max_depth});
      const auto expected = cut(truth, limits);
      for (int run = 0; run < 3; ++run) {
        plan.run(source);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), plan.levels().begin()));
        EXPECT_EQ(test::copy_of(plan.level_sizes()), test::histogram_of(expected));
        const std::vector<std::int32_t> parents(plan.parents().begin(), plan.parents().end());
        EXPECT_EQ(test::parent_fault(g.view(), source, expected, parents), "");
      }
    }
  }
}

}  // namespace
}  // namespace spargo::detail::bfs
