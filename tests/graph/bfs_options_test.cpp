// Search options besides levels: smallest parents, targets and depth limits. On both backends against a naive search.
#include "graph/bfs/common.hpp"
#include "graph/graph_suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

namespace spargo {
namespace {

using test::edge_vector;
using test::edges_kept;
using test::raw_graph;

// The result of one search, on the host.
template <class I>
struct found {
  std::vector<std::int32_t> levels;
  std::vector<I> parents;
  std::vector<std::int64_t> level_sizes;
  std::int64_t reached = 0;
  friend bool operator==(const found&, const found&) = default;
};

// A graph in one space, and its searches.
template <class I, class O, class Space>
class searched {
 public:
  explicit searched(const raw_graph<I, O>& g, int threads = 3) : graph_(g, threads) {}
  [[nodiscard]] found<I> operator()(I source, const bfs_options& options) const {
    const auto r = bfs(graph_.ctx(), graph_.view(), source, options);
    return {graph_.fetch(r.levels.view()), graph_.fetch(r.parents.view()), r.level_sizes, r.reached};
  }

 private:
  test::placed_graph<I, O, Space> graph_;
};

// The oracle for parents: every edge proposes its source to its target.
template <class I, class O>
std::vector<I> least_parents(const graph_view<I, O, host>& g, I source, const std::vector<std::int32_t>& level) {
  std::vector<I> parents(level.size(), I{-1});
  parents[static_cast<std::size_t>(source)] = source;
  for (I u = 0; u < g.vertices(); ++u) {
    if (level[static_cast<std::size_t>(u)] < 0) continue;
    for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      const auto v = static_cast<std::size_t>(g.out.indices[e]);
      if (level[v] == level[static_cast<std::size_t>(u)] + 1 && parents[v] == -1) parents[v] = u;  // u ascends
    }
  }
  return parents;
}

std::vector<std::int32_t> cut_below(std::vector<std::int32_t> levels, std::int32_t last) {
  for (auto& l : levels) l = l > last ? -1 : l;
  return levels;
}

template <class Space>
std::vector<bfs_algorithm> algorithms() {
  if (std::same_as<Space, host>) {
    return {bfs_algorithm::automatic, bfs_algorithm::sequential, bfs_algorithm::load_balanced,
            bfs_algorithm::direction_optimizing};
  }
  return {bfs_algorithm::automatic, bfs_algorithm::global_queue, bfs_algorithm::block_queue,
          bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing};
}

// All configurations for a graph that may be pulled, or only pushed.
template <class Space, class Check>
void for_each_way(bool can_pull, Check&& check) {
  for (const auto algorithm : algorithms<Space>()) {
    for (const auto direction : {bfs_direction::automatic, bfs_direction::push, bfs_direction::pull}) {
      const bool may =
          can_pull && (algorithm == bfs_algorithm::automatic || algorithm == bfs_algorithm::direction_optimizing);
      if (direction == bfs_direction::pull && !may) continue;
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", direction " + std::to_string(static_cast<int>(direction)));
      check(algorithm, direction);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class Case>
class BfsOptions : public test::graph_suite<Case> {
 protected:
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;
  using graph_type = raw_graph<index, offset>;

  // Runs `check(raw, source)` on the same edges as undirected, directed, and directed with in-edges.
  template <class Check>
  static void on_every_kind(std::int64_t n, const edge_vector& edges, std::int64_t source, Check&& check) {
    const std::array kinds{test::make_undirected<index, offset>(n, edges),
                           test::make_directed<index, offset>(n, edges, edges_kept::out),
                           test::make_directed<index, offset>(n, edges, edges_kept::out_and_in)};
    for (const auto& raw : kinds) {
      check(raw, static_cast<index>(source));
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  static bool can_pull(const graph_type& raw) {
    return raw.direction == direction_kind::undirected || !raw.in_offsets.empty();
  }

  static void check_smallest(const graph_type& raw, index source) {
    const searched<index, offset, space> search(raw);
    const auto levels = test::naive_levels(raw.view(), source);
    const auto parents = least_parents(raw.view(), source, levels);
    for_each_way<space>(can_pull(raw), [&](bfs_algorithm algorithm, bfs_direction direction) {
      bfs_options options{.algorithm = algorithm, .direction = direction, .parents = bfs_parents::smallest};
      const auto both = search(source, options);
      ASSERT_EQ(both.levels, levels);
      ASSERT_EQ(both.parents, parents);
      options.output = bfs_output::parents;
      const auto alone = search(source, options);
      ASSERT_TRUE(alone.levels.empty());
      ASSERT_EQ(alone.parents, parents);
      options.output = bfs_output::levels;
      ASSERT_TRUE(search(source, options).parents.empty());
    });
  }

  // A search limited to level `last` equals a complete one up to there; with the smallest parents as well.
  static void check_cut(const graph_type& raw, index source, std::int32_t last, bfs_options options) {
    const searched<index, offset, space> search(raw);
    const auto levels = cut_below(test::naive_levels(raw.view(), source), last);
    const auto parents = least_parents(raw.view(), source, levels);
    for_each_way<space>(can_pull(raw), [&](bfs_algorithm algorithm, bfs_direction direction) {
      options.algorithm = algorithm;
      options.direction = direction;
      for (const auto output : {bfs_output::levels_and_parents, bfs_output::levels, bfs_output::parents}) {
        options.output = output;
        options.parents = bfs_parents::any;
        const auto got = search(source, options);
        if (output != bfs_output::parents) {
          ASSERT_EQ(got.levels, levels);
        }
        if (output != bfs_output::levels) {
          ASSERT_EQ(test::parent_fault(raw.view(), source, levels, got.parents), "");
        }
        ASSERT_EQ(got.level_sizes, test::histogram_of(levels));
        ASSERT_EQ(got.reached, std::count_if(levels.begin(), levels.end(), [](std::int32_t l) { return l >= 0; }));
      }
      options.parents = bfs_parents::smallest;
      options.output = bfs_output::parents;
      ASSERT_EQ(search(source, options).parents, parents);
    });
  }

  static void check_target(const graph_type& raw, index source, std::int64_t target) {
    SCOPED_TRACE("target " + std::to_string(target));
    const auto level = test::naive_levels(raw.view(), source)[static_cast<std::size_t>(target)];
    check_cut(raw, source, level < 0 ? std::numeric_limits<std::int32_t>::max() : level, {.target = target});
  }

  static void check_depth(const graph_type& raw, index source, std::int32_t depth) {
    SCOPED_TRACE("depth " + std::to_string(depth));
    check_cut(raw, source, depth, {.max_depth = depth});
  }
};

TYPED_TEST_SUITE(BfsOptions, test::graph_cases);

TYPED_TEST(BfsOptions, SmallestParentsOfSmallGraphs) {
  test::random_source random(71);
  for (std::uint64_t round = 0; round < this->rounds(40); ++round) {
    const std::int64_t n = 1 + random.below(70);
    auto edges = test::random_edges(random, n, random.below(5 * n), static_cast<int>(round % 3));
    if (round % 2 == 0) std::sort(edges.begin(), edges.end());  // rows ascend, or not
    SCOPED_TRACE("round " + std::to_string(round));
    this->on_every_kind(n, edges, random.below(n),
                        [&](const auto& raw, auto source) { this->check_smallest(raw, source); });
    if (this->HasFatalFailure()) return;
  }
}

// Large enough to be shared by threads and pulled, with hubs that are split.
TYPED_TEST(BfsOptions, SmallestParentsOfALargeGraph) {
  test::random_source random(72);
  auto edges = test::random_edges(random, 20000, 200000, 3);
  for (std::int64_t v = 0; v < 20000; v += 3) edges.emplace_back(7, v);
  for (const bool sorted : {false, true}) {
    if (sorted) std::sort(edges.begin(), edges.end());
    this->on_every_kind(20011, edges, 19999, [&](const auto& raw, auto source) { this->check_smallest(raw, source); });
    if (this->HasFatalFailure()) return;
  }
}

// Many vertices have two parents; the larger has more edges and is found first: all edges of the smaller one matter.
TYPED_TEST(BfsOptions, SmallestParentsTakeEveryEdge) {
  constexpr std::int64_t below = 4500;
  edge_vector edges{{0, 1}, {0, 2}};
  for (std::int64_t k = 0; k < 30; ++k) {
    edges.emplace_back(0, 3 + k);
    edges.emplace_back(3 + k, 2);
  }
  for (std::int64_t v = 0; v < below; ++v) {
    edges.emplace_back(1, 33 + v);
    edges.emplace_back(2, 33 + v);
  }
  this->on_every_kind(33 + below, edges, 0, [&](const auto& raw, auto source) { this->check_smallest(raw, source); });
}

TYPED_TEST(BfsOptions, TargetsAndDepthsOfSmallGraphs) {
  test::random_source random(73);
  for (int round = 0; round < (std::same_as<typename TestFixture::space, host> ? 20 : 6); ++round) {
    const std::int64_t n = 1 + random.below(70);
    const auto edges = test::random_edges(random, n, random.below(3 * n), round % 3);
    SCOPED_TRACE("round " + std::to_string(round));
    this->on_every_kind(n, edges, random.below(n), [&](const auto& raw, auto source) {
      this->check_target(raw, source, source);
      for (int k = 0; k < 3; ++k) this->check_target(raw, source, random.below(n));
      for (const std::int32_t depth : {0, 1, 2, 1000}) this->check_depth(raw, source, depth);
    });
    if (this->HasFatalFailure()) return;
  }
}

// Shared and pulled levels, and a target without edges.
TYPED_TEST(BfsOptions, TargetsAndDepthsOfALargeGraph) {
  test::random_source random(74);
  constexpr std::int64_t n = test::is_sanitized ? 10000 : 20000;  // the largest level has over 16384 edges
  const auto edges = test::random_edges(random, n, 15 * n / 2, 3);
  this->on_every_kind(n + 11, edges, 5, [&](const auto& raw, auto source) {
    for (const std::int64_t target : {std::int64_t{5}, std::int64_t{6}, std::int64_t{1000}, n - 10, n + 10}) {
      this->check_target(raw, source, target);
    }
    for (const std::int32_t depth : {0, 1, 2, 3}) this->check_depth(raw, source, depth);
  });
}

// The last level has vertices with many edges, whose chunks wait for a level that does not follow.
TYPED_TEST(BfsOptions, DepthsThatEndAtHubs) {
  constexpr std::int64_t crowd = 20000;
  edge_vector edges;
  for (std::int64_t v = 1; v <= crowd; ++v) {
    edges.emplace_back(0, v);
    edges.emplace_back(v, crowd + 1 + v % 3);
  }
  for (std::int64_t k = 0; k < 2000; ++k) edges.emplace_back(crowd + 1 + k % 3, crowd + 4 + k);
  this->on_every_kind(crowd + 2004, edges, 0, [&](const auto& raw, auto source) {
    for (const std::int32_t depth : {1, 2}) this->check_depth(raw, source, depth);
  });
}

TYPED_TEST(BfsOptions, TargetsAndDepthsOfALongPath) {
  const std::int64_t n = 600;
  this->on_every_kind(n, test::path_edges(n), 10, [&](const auto& raw, auto source) {
    for (const std::int64_t target : {9, 11, 599}) this->check_target(raw, source, target);
    for (const std::int32_t depth : {1, 500, 700}) this->check_depth(raw, source, depth);
  });
}

TYPED_TEST(BfsOptions, TheNearerLimitCounts) {
  const auto raw =
      test::make_undirected<typename TestFixture::index, typename TestFixture::offset>(50, test::path_edges(50));
  this->check_cut(raw, 0, 10, {.target = 10, .max_depth = 20});
  this->check_cut(raw, 0, 10, {.target = 20, .max_depth = 10});
}

// The same parents for any number of threads, in repeated runs of one plan.
TYPED_TEST(BfsOptions, SmallestParentsDoNotDependOnThreads) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::random_source random(75);
  const auto raw = test::make_undirected<I, O>(30000, test::random_edges(random, 30000, 300000, 4));
  const bfs_options options{.parents = bfs_parents::smallest};
  const auto first = searched<I, O, typename TestFixture::space>(raw, 1)(11, options);
  for (const int threads : {2, 3, 7}) {
    const searched<I, O, typename TestFixture::space> search(raw, threads);
    EXPECT_EQ(search(11, options), first);
    EXPECT_EQ(search(11, options), first);
  }
}

TYPED_TEST(BfsOptions, RefusesWhatIsNoVertexOrDepth) {
  using I = typename TestFixture::index;
  const auto raw = test::make_undirected<I, typename TestFixture::offset>(5, test::path_edges(5));
  const searched<I, typename TestFixture::offset, typename TestFixture::space> search(raw);
  const auto code_of = [&](const bfs_options& options) -> std::optional<error_code> {
    try {
      (void)search(0, options);
    } catch (const error& e) {
      return e.code();
    }
    return std::nullopt;
  };
  for (const std::int64_t bad : {std::int64_t{5}, std::int64_t{-2}, std::int64_t{1} << 40}) {
    EXPECT_EQ(code_of({.target = bad}), error_code::invalid_argument) << bad;
  }
  EXPECT_EQ(code_of({.max_depth = -2}), error_code::invalid_argument);
  EXPECT_EQ(code_of({.target = 4, .max_depth = std::int64_t{1} << 40}), std::nullopt);
}

}  // namespace
}  // namespace spargo
