// Every algorithm, direction and output against a naive search, on both backends.
#include <spargo/graph/bfs.hpp>

#include "graph/graph_suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spargo {
namespace {

using test::edge_vector;
using test::edges_kept;
using test::placed_graph;
using test::raw_graph;

constexpr std::array all_algorithms{bfs_algorithm::automatic,     bfs_algorithm::sequential,
                                    bfs_algorithm::global_queue,  bfs_algorithm::block_queue,
                                    bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing};
constexpr std::array all_directions{bfs_direction::automatic, bfs_direction::push, bfs_direction::pull};
constexpr std::array all_outputs{bfs_output::levels_and_parents, bfs_output::levels, bfs_output::parents};

template <class Space>
bool runs_on(bfs_algorithm algorithm) {
  if (std::same_as<Space, device>) return algorithm != bfs_algorithm::sequential;
  return algorithm != bfs_algorithm::global_queue && algorithm != bfs_algorithm::block_queue;
}

template <class Space>
bool allowed(const bfs_options& o, bool can_pull) {
  if (!runs_on<Space>(o.algorithm)) return false;
  if (o.direction != bfs_direction::pull) return true;
  return can_pull && (o.algorithm == bfs_algorithm::automatic || o.algorithm == bfs_algorithm::direction_optimizing);
}

std::string describe(const bfs_options& o, std::int64_t source) {
  return std::string(to_string(o.algorithm)) + ", direction " + std::to_string(static_cast<int>(o.direction)) +
         ", output " + std::to_string(static_cast<int>(o.output)) + ", source " + std::to_string(source);
}

template <class Case>
class Bfs : public test::graph_suite<Case> {
 protected:
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;
  using graph_type = raw_graph<index, offset>;
  using searcher_type = placed_graph<index, offset, space>;
  using plan_type = bfs_plan<index, offset, space>;

  // A source and its naive levels.
  struct expectation {
    std::int64_t source;
    std::vector<std::int32_t> levels;
  };
  static std::vector<expectation> expect_levels(const graph_type& raw, const std::vector<std::int64_t>& sources) {
    std::vector<expectation> all;
    for (const std::int64_t source : sources) all.push_back({source, test::naive_levels(raw.view(), source)});
    return all;
  }

  // One plan, several sources: a plan must not remember an earlier run.
  static void check_plan(const graph_type& raw, const searcher_type& g, const bfs_options& options,
                         const std::vector<expectation>& expectations) {
    plan_type plan(g.ctx(), g.view(), options);
    ASSERT_NE(plan.algorithm(), bfs_algorithm::automatic);
    for (const auto& [source, expected] : expectations) {
      SCOPED_TRACE(describe(options, source));
      plan.run(static_cast<index>(source));
      const auto levels = g.fetch(plan.levels());
      const auto parents = g.fetch(plan.parents());
      if (options.output == bfs_output::parents) {
        EXPECT_TRUE(levels.empty());
      } else {
        ASSERT_EQ(levels, expected);
      }
      if (options.output == bfs_output::levels) {
        EXPECT_TRUE(parents.empty());
      } else {
        ASSERT_EQ(test::parent_fault(raw.view(), source, expected, parents), "");
      }
      ASSERT_EQ(test::copy_of(plan.level_sizes()), test::histogram_of(expected));
      ASSERT_EQ(plan.reached(), std::count_if(expected.begin(), expected.end(), [](std::int32_t l) { return l >= 0; }));
    }
  }

  static void check_all(const graph_type& raw, const std::vector<std::int64_t>& sources) {
    const searcher_type g(raw);
    const auto expectations = expect_levels(raw, sources);
    const bool can_pull = raw.direction == direction_kind::undirected || !raw.in_offsets.empty();
    for (const auto algorithm : all_algorithms) {
      for (const auto direction : all_directions) {
        for (const auto output : all_outputs) {
          const bfs_options options{algorithm, direction, output};
          if (allowed<space>(options, can_pull)) {
            check_plan(raw, g, options, expectations);
          } else {
            EXPECT_THROW((plan_type(g.ctx(), g.view(), options)), error) << describe(options, 0);
          }
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  static void check_everywhere(std::int64_t n, const edge_vector& edges, const std::vector<std::int64_t>& sources) {
    check_all(test::make_undirected<index, offset>(n, edges), sources);
    check_all(test::make_directed<index, offset>(n, edges, edges_kept::out), sources);
    check_all(test::make_directed<index, offset>(n, edges, edges_kept::out_and_in), sources);
  }

  // Only what is linear on thousands of levels; a forced pull is not.
  static void check_long(const graph_type& raw, const std::vector<std::int64_t>& sources) {
    const searcher_type g(raw);
    const auto expectations = expect_levels(raw, sources);
    for (const auto algorithm : all_algorithms) {
      const bfs_options options{.algorithm = algorithm};
      if (allowed<space>(options, true)) check_plan(raw, g, options, expectations);
    }
  }
};

TYPED_TEST_SUITE(Bfs, test::graph_cases);

TYPED_TEST(Bfs, RandomSmallGraphs) {
  test::random_source random(20);
  for (std::uint64_t round = 0; round < this->rounds(60); ++round) {
    const std::int64_t n = 1 + random.below(70);
    const auto edges = test::random_edges(random, n, random.below(4 * n), static_cast<int>(round % 4));
    SCOPED_TRACE("round " + std::to_string(round));
    this->check_everywhere(n, edges, {random.below(n), 0, random.below(n)});
    if (this->HasFatalFailure()) return;
  }
}

// Around the sizes of warps, blocks and bitmap words; loops and duplicates are in the random edges.
TYPED_TEST(Bfs, SizesAroundPowersOfTwo) {
  test::random_source random(21);
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1025}) {
    SCOPED_TRACE(std::to_string(n) + " vertices");
    this->check_everywhere(n, test::random_edges(random, n, 2 * n, 1), {0, n - 1, n / 2});
    if (this->HasFatalFailure()) return;
  }
}

// Large enough that levels run in parallel and are pulled, with hubs that are split.
TYPED_TEST(Bfs, SkewedGraphWithHubs) {
  test::random_source random(22);
  constexpr std::int64_t n = test::is_sanitized ? 10000 : 20000;  // the hub's row, of over 2048 edges, is split
  auto edges = test::random_edges(random, n, 10 * n, 5);
  for (std::int64_t v = 0; v < n; v += 3) edges.emplace_back(7, v);
  this->check_everywhere(n + 11, edges, {0, 7, n - 1, n + 10});
}

TYPED_TEST(Bfs, Star) {
  // One thread handles a level of 16384 edges alone; on a device one of the queues' threads follows all edges of a hub.
  constexpr bool on_device = std::same_as<typename TestFixture::space, device>;
  constexpr std::int64_t n = on_device ? 5000 : test::is_sanitized ? 20000 : 50000;
  this->check_everywhere(n + 1, test::star_edges(n), {0, 1, n - 1, n});
}

TYPED_TEST(Bfs, NoEdges) { this->check_everywhere(100, {}, {0, 50, 99}); }

TYPED_TEST(Bfs, OnlyLoopsAndDuplicates) {
  this->check_everywhere(5, {{0, 0}, {0, 0}, {0, 1}, {0, 1}, {1, 1}, {1, 2}, {1, 2}, {1, 2}, {4, 4}}, {0, 1, 2, 3, 4});
}

TYPED_TEST(Bfs, Disconnected) {
  edge_vector edges;
  for (std::int64_t part = 0; part < 50; ++part) {
    for (std::int64_t k = 0; k < 9; ++k) edges.emplace_back(part * 10 + k, part * 10 + (k + 1) % 10);
  }
  this->check_everywhere(500, edges, {0, 499, 255, 12});
}

// A cycle of low ids and a path out of it: levels differ from ids, frontiers shrink and grow.
TYPED_TEST(Bfs, Grid) { this->check_everywhere(67 * 45, test::grid_edges(67, 45), {0, 67 * 45 - 1, 1000}); }

TYPED_TEST(Bfs, LongPath) {
  // On a device levels beyond the 4096th are counted otherwise, and each costs two barriers of the grid.
  const std::int64_t n = std::same_as<typename TestFixture::space, device> ? 20000 : 200000;
  this->check_long(
      test::make_undirected<typename TestFixture::index, typename TestFixture::offset>(n, test::path_edges(n)),
      {0, n / 2});
}

TYPED_TEST(Bfs, WideGrid) {
  this->check_long(test::make_undirected<typename TestFixture::index, typename TestFixture::offset>(
                       300 * 300, test::grid_edges(300, 300)),
                   {0, 45150});
}

TYPED_TEST(Bfs, RefusesASourceThatIsNoVertex) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  using Space = typename TestFixture::space;
  const auto one = test::make_undirected<I, O>(1, {});
  const auto none = test::make_undirected<I, O>(0, {});
  const placed_graph<I, O, Space> g(one);
  const placed_graph<I, O, Space> empty(none);
  for (const I bad : {I{-1}, I{1}, std::numeric_limits<I>::max()}) {
    bfs_plan<I, O, Space> plan(g.ctx(), g.view());
    EXPECT_THROW(plan.run(bad), error);
    EXPECT_THROW((void)bfs(g.ctx(), g.view(), bad), error);
  }
  bfs_plan<I, O, Space> plan(empty.ctx(), empty.view());
  EXPECT_THROW(plan.run(I{0}), error);
  EXPECT_THROW((void)bfs(empty.ctx(), empty.view(), I{0}), error);
}

TYPED_TEST(Bfs, OneCallEqualsThePlan) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto raw = test::make_undirected<I, O>(30, test::path_edges(25));
  const placed_graph<I, O, typename TestFixture::space> g(raw);
  const auto result = bfs(g.ctx(), g.view(), I{3});
  const auto expected = test::naive_levels(raw.view(), 3);
  EXPECT_EQ(g.fetch(result.levels.view()), expected);
  EXPECT_EQ(test::parent_fault(raw.view(), 3, expected, g.fetch(result.parents.view())), "");
  EXPECT_EQ(result.source, 3);
  EXPECT_EQ(result.reached, 25);
  EXPECT_EQ(result.level_sizes, test::histogram_of(expected));
  EXPECT_NE(result.algorithm, bfs_algorithm::automatic);
  const auto only = bfs(g.ctx(), g.view(), I{3}, {.output = bfs_output::parents});
  EXPECT_TRUE(only.levels.empty());
  EXPECT_EQ(only.parents.size(), 30);
}

TYPED_TEST(Bfs, PlansMove) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto raw = test::make_undirected<I, O>(30, test::path_edges(30));
  const placed_graph<I, O, typename TestFixture::space> g(raw);
  bfs_plan<I, O, typename TestFixture::space> a(g.ctx(), g.view());
  a.run(0);
  auto b = std::move(a);
  EXPECT_EQ(b.reached(), 30);
  b.run(29);
  EXPECT_EQ(g.fetch(b.levels())[0], 29);
  EXPECT_FALSE(b.reason().empty());
  EXPECT_GT(b.workspace_bytes(), 0);
}

}  // namespace
}  // namespace spargo
