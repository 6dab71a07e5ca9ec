#include "graph/bfs/direction.hpp"

#include "graph/bfs/common.hpp"

#include <gtest/gtest.h>

namespace spargo::detail::bfs {
namespace {

constexpr auto push = bfs_direction::push;
constexpr auto pull = bfs_direction::pull;

TEST(NextDirection, PullsOnceTheFrontierHoldsAFifteenthOfTheUnexploredEdges) {
  frontier_facts f{.vertices = 1000, .previous = 1, .next = 10, .next_edges = 100, .unexplored_edges = 1500};
  EXPECT_EQ(next_direction(push, f), push);
  f.next_edges = 101;
  EXPECT_EQ(next_direction(push, f), pull);
}

TEST(NextDirection, PushesAgainOnlyWhenSmallAndShrinking) {
  frontier_facts f{.vertices = 1800, .previous = 200, .next = 100};
  EXPECT_EQ(next_direction(pull, f), push);
  f.next = 101;  // shrinking, still large
  EXPECT_EQ(next_direction(pull, f), pull);
  f = {.vertices = 1800, .previous = 100, .next = 100};  // small, not shrinking
  EXPECT_EQ(next_direction(pull, f), pull);
}

TEST(NextDirection, FollowsItsRuleAndIsConstexpr) {
  constexpr frontier_facts f{.vertices = 100, .previous = 9, .next = 3, .next_edges = 11, .unexplored_edges = 100};
  static_assert(next_direction(push, f, {.alpha = 9, .beta = 18}) == push);
  static_assert(next_direction(push, f, {.alpha = 10, .beta = 18}) == pull);
  static_assert(next_direction(pull, f, {.alpha = 15, .beta = 50}) == pull);
  static_assert(next_direction(pull, f, {.alpha = 15, .beta = 33}) == push);
}

TEST(NextDirection, NeverPullsForFewerEdgesThanTheBitmapHasWords) {
  EXPECT_EQ(next_direction(push, {.vertices = 6400, .next = 20, .next_edges = 100, .unexplored_edges = 200}), push);
  EXPECT_EQ(next_direction(push, {.vertices = 6400, .next = 20, .next_edges = 101, .unexplored_edges = 200}), pull);
}

// A frontier without edges stays in push, even when nothing is left to explore.
TEST(NextDirection, NothingLeftStaysInPush) { EXPECT_EQ(next_direction(push, {.vertices = 5, .next = 1}), push); }

constexpr graph_facts large{.vertices = 100000, .edges = 1000000, .can_pull = true};
constexpr graph_facts large_push{.vertices = 100000, .edges = 1000000, .can_pull = false};
constexpr graph_facts tiny{.vertices = 10, .edges = 20, .can_pull = true};

TEST(ChooseBfs, Automatic) {
  EXPECT_EQ(choose(backend_kind::host, large, {}).algorithm, bfs_algorithm::direction_optimizing);
  EXPECT_EQ(choose(backend_kind::host, large, {}).direction, bfs_direction::automatic);
  EXPECT_EQ(choose(backend_kind::host, large_push, {}).algorithm, bfs_algorithm::load_balanced);
  EXPECT_EQ(choose(backend_kind::host, tiny, {}).algorithm, bfs_algorithm::sequential);
  EXPECT_EQ(choose(backend_kind::device, large, {}).algorithm, bfs_algorithm::direction_optimizing);
  EXPECT_EQ(choose(backend_kind::device, large_push, {}).algorithm, bfs_algorithm::load_balanced);
  EXPECT_EQ(choose(backend_kind::device, tiny, {}).algorithm, bfs_algorithm::direction_optimizing);
  EXPECT_FALSE(choose(backend_kind::host, large, {}).reason.empty());
}

TEST(ChooseBfs, ForcedDirections) {
  const auto pushed = choose(backend_kind::host, large, {.direction = push});
  EXPECT_EQ(pushed.algorithm, bfs_algorithm::load_balanced);
  EXPECT_EQ(pushed.direction, push);
  const auto pulled = choose(backend_kind::host, tiny, {.direction = pull});
  EXPECT_EQ(pulled.algorithm, bfs_algorithm::direction_optimizing);
  EXPECT_EQ(pulled.direction, pull);
  // Without in-edges an automatic direction pushes.
  const auto cannot = choose(backend_kind::host, large_push, {.algorithm = bfs_algorithm::direction_optimizing});
  EXPECT_EQ(cannot.algorithm, bfs_algorithm::direction_optimizing);
  EXPECT_EQ(cannot.direction, push);
}

void expect_unsupported(backend_kind backend, const graph_facts& facts, const bfs_options& options, const char* part) {
  try {
    (void)choose(backend, facts, options);
    FAIL() << "accepted: " << part;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(ChooseBfs, Refusals) {
  expect_unsupported(backend_kind::host, large_push, {.direction = pull}, "without in-edges");
  expect_unsupported(backend_kind::host, large, {.algorithm = bfs_algorithm::load_balanced, .direction = pull},
                     "load_balanced only pushes");
  expect_unsupported(backend_kind::host, large, {.algorithm = bfs_algorithm::global_queue},
                     "global_queue does not run on the host");
  expect_unsupported(backend_kind::host, large, {.algorithm = bfs_algorithm::block_queue},
                     "block_queue does not run on the host");
  expect_unsupported(backend_kind::device, large, {.algorithm = bfs_algorithm::sequential},
                     "sequential does not run on the device");
}

}  // namespace
}  // namespace spargo::detail::bfs
