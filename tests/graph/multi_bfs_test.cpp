// Every width, direction and output of multi-source search against naive searches per source, on both backends.
#include <spargo/graph/multi_bfs.hpp>

#include "graph/graph_suite.hpp"
#include "graph/multi_bfs/common.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace spargo {
namespace {

using test::edge_vector;
using test::edges_kept;
using test::placed_graph;
using test::raw_graph;

// Naive results: levels [vertex * sources + k] and counts.
struct expectation {
  std::vector<std::int32_t> levels;
  std::vector<multi_bfs_counts> counts;
};

template <class I, class O>
expectation search_naively(const raw_graph<I, O>& raw, const std::vector<I>& sources) {
  const auto n = static_cast<std::size_t>(raw.vertices);
  expectation e{std::vector<std::int32_t>(n * sources.size()), std::vector<multi_bfs_counts>(sources.size())};
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const auto levels = test::naive_levels(raw.view(), sources[k]);
    for (std::size_t v = 0; v < n; ++v) {
      e.levels[v * sources.size() + k] = levels[v];
      if (levels[v] < 0) continue;
      ++e.counts[k].reached;
      e.counts[k].distance_sum += levels[v];
      e.counts[k].eccentricity = std::max(e.counts[k].eccentricity, levels[v]);
    }
  }
  return e;
}

std::string describe(const multi_bfs_options& o, std::size_t sources) {
  return std::string(to_string(o.algorithm)) + ", direction " + std::to_string(static_cast<int>(o.direction)) +
         ", output " + std::to_string(static_cast<int>(o.output)) + ", " + std::to_string(sources) + " sources";
}

template <class Case>
class MultiBfs : public test::graph_suite<Case> {
 protected:
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;
  using graph_type = raw_graph<index, offset>;
  using place_type = placed_graph<index, offset, space>;
  using plan_type = multi_bfs_plan<index, offset, space>;
  using source_vector = std::vector<index>;

  // `count` vertices, with repetitions.
  static source_vector draw(test::random_source& random, std::int64_t n, std::int64_t count) {
    source_vector sources;
    for (std::int64_t k = 0; k < count; ++k) sources.push_back(static_cast<index>(random.below(n)));
    return sources;
  }

  // A set of sources and its results, which no option changes.
  struct searches {
    source_vector sources;
    expectation expected;
  };

  static std::vector<searches> search_all_naively(const graph_type& raw, const std::vector<source_vector>& sets) {
    std::vector<searches> all;
    for (const auto& sources : sets) all.push_back({sources, search_naively(raw, sources)});
    return all;
  }

  // One plan, several sets of sources: a plan must not remember an earlier run.
  static void check_plan(const place_type& g, const multi_bfs_options& options, const std::vector<searches>& all) {
    std::size_t most = 1;
    for (const auto& [sources, expected] : all) most = std::max(most, sources.size());
    plan_type plan(g.ctx(), g.view(), static_cast<std::int64_t>(most), options);
    ASSERT_NE(plan.algorithm(), multi_bfs_algorithm::automatic);
    for (const auto& [sources, expected] : all) {
      SCOPED_TRACE(describe(options, sources.size()));
      plan.run(sources);
      ASSERT_EQ(plan.counts().size(), sources.size());
      for (std::size_t k = 0; k < sources.size(); ++k) {
        ASSERT_EQ(plan.counts()[k].reached, expected.counts[k].reached) << "source " << k;
        ASSERT_EQ(plan.counts()[k].distance_sum, expected.counts[k].distance_sum) << "source " << k;
        ASSERT_EQ(plan.counts()[k].eccentricity, expected.counts[k].eccentricity) << "source " << k;
      }
      if (options.output == multi_bfs_output::counts) {
        ASSERT_TRUE(plan.levels().empty());
      } else {
        const auto levels = g.fetch(plan.levels());
        ASSERT_EQ(levels.size(), expected.levels.size());
        const auto wrong = std::mismatch(levels.begin(), levels.end(), expected.levels.begin());
        ASSERT_EQ(wrong.first, levels.end())
            << "place " << wrong.first - levels.begin() << ": " << *wrong.first << ", expected " << *wrong.second;
      }
    }
  }

  static void check_all(const graph_type& raw, const std::vector<source_vector>& sets) {
    const place_type g(raw);
    const std::vector<searches> all = search_all_naively(raw, sets);
    const bool can_pull = raw.direction == direction_kind::undirected || !raw.in_offsets.empty();
    for (const auto algorithm :
         {multi_bfs_algorithm::automatic, multi_bfs_algorithm::one_word, multi_bfs_algorithm::four_words}) {
      for (const auto direction : {bfs_direction::automatic, bfs_direction::push, bfs_direction::pull}) {
        for (const auto output : {multi_bfs_output::counts, multi_bfs_output::counts_and_levels}) {
          const multi_bfs_options options{algorithm, direction, output};
          if (direction != bfs_direction::pull || can_pull) {
            check_plan(g, options, all);
          } else {
            EXPECT_THROW((plan_type(g.ctx(), g.view(), 1, options)), error) << describe(options, 1);
          }
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  // Both widths and outputs, automatic direction.
  static void check_automatic(std::int64_t n, const edge_vector& edges, const std::vector<source_vector>& sets) {
    for (const auto& raw : {test::make_undirected<index, offset>(n, edges),
                            test::make_directed<index, offset>(n, edges, edges_kept::out_and_in)}) {
      const place_type g(raw);
      const std::vector<searches> all = search_all_naively(raw, sets);
      for (const auto algorithm : {multi_bfs_algorithm::one_word, multi_bfs_algorithm::four_words}) {
        for (const auto output : {multi_bfs_output::counts, multi_bfs_output::counts_and_levels}) {
          check_plan(g, {.algorithm = algorithm, .output = output}, all);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  static void check_everywhere(std::int64_t n, const edge_vector& edges, const std::vector<source_vector>& sets) {
    check_all(test::make_undirected<index, offset>(n, edges), sets);
    check_all(test::make_directed<index, offset>(n, edges, edges_kept::out), sets);
    check_all(test::make_directed<index, offset>(n, edges, edges_kept::out_and_in), sets);
  }
};

// A crowd that a search crosses in a few levels, most edges in the last two, with a hub, vertex 0; then two tails of
// `tail` vertices that start at vertices 0 and 1.
edge_vector crowd_with_tails(test::random_source& random, std::int64_t crowd, std::int64_t hub_edges,
                             std::int64_t tail) {
  edge_vector edges;
  for (std::int64_t v = 0; v < crowd; ++v) {
    for (int k = 0; k < 8; ++k) edges.emplace_back(v, random.below(crowd));
  }
  for (std::int64_t k = 0; k < hub_edges; ++k) {
    edges.emplace_back(0, random.below(crowd));
    edges.emplace_back(random.below(crowd), 0);
  }
  for (std::int64_t k = 0; k < 2 * tail; ++k) {
    edges.emplace_back(crowd + k, k % tail == 0 ? k / tail : crowd + k - 1);
  }
  return edges;
}

// A hub, vertex 0, with `leaves` leaves from 1 on; then a tail of `tail` vertices that starts at leaf 1.
edge_vector star_with_tail(std::int64_t leaves, std::int64_t tail) {
  edge_vector edges;
  for (std::int64_t v = 1; v <= leaves; ++v) {
    edges.emplace_back(0, v);
    edges.emplace_back(v, 0);
  }
  for (std::int64_t k = 0; k < tail; ++k) edges.emplace_back(leaves + 1 + k, k == 0 ? 1 : leaves + k);
  return edges;
}

TYPED_TEST_SUITE(MultiBfs, test::graph_cases);

// Random edges include loops and duplicates.
TYPED_TEST(MultiBfs, RandomSmallGraphs) {
  test::random_source random(30);
  for (std::uint64_t round = 0; round < this->rounds(40); ++round) {
    const std::int64_t n = 1 + random.below(70);
    const auto edges = test::random_edges(random, n, random.below(4 * n), static_cast<int>(round % 4));
    SCOPED_TRACE("round " + std::to_string(round));
    this->check_everywhere(n, edges, {this->draw(random, n, 1 + random.below(64)), this->draw(random, n, 3)});
    if (this->HasFatalFailure()) return;
  }
}

// Around the sizes of warps, words, blocks and batches.
TYPED_TEST(MultiBfs, NumbersOfVerticesAndSources) {
  test::random_source random(31);
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257}) {
    const auto edges = test::random_edges(random, n, 2 * n, 1);
    const auto raw = test::make_undirected<typename TestFixture::index, typename TestFixture::offset>(n, edges);
    SCOPED_TRACE(std::to_string(n) + " vertices");
    std::vector<typename TestFixture::source_vector> sets;
    for (const std::int64_t k : {300, 256, 255, 65, 64, 63, 2, 1}) sets.push_back(this->draw(random, n, k));
    this->check_all(raw, sets);
    if (this->HasFatalFailure()) return;
  }
}

// Large enough that levels run in parallel, are pulled, and return to a queue; with hubs. A forced pull reads all edges
// at each level of the tail, so the tail is short.
TYPED_TEST(MultiBfs, SkewedGraphWithHubs) {
  test::random_source random(32);
  auto edges = test::random_edges(random, 20000, 100000, 5);
  for (std::int64_t v = 0; v < 20000; v += 3) edges.emplace_back(7, v);
  for (std::int64_t v = 19000; v < 19040; ++v) edges.emplace_back(v, v + 1);  // a tail, searched by pushes
  this->check_everywhere(20011, edges, {{0, 7, 19000, 19999, 20010, 7}, this->draw(random, 20011, 70)});
}

TYPED_TEST(MultiBfs, Star) { this->check_everywhere(30001, test::star_edges(30000), {{0, 1, 29999, 30000, 0}}); }

// A chain of hubs of degrees around the device's chunk sizes, each with leaves of its own.
TYPED_TEST(MultiBfs, HubsAroundTheSizesOfChunks) {
  edge_vector edges;
  std::int64_t n = 1;
  std::int64_t before = 0;
  const auto join = [&](std::int64_t u, std::int64_t v) {
    edges.emplace_back(u, v);
    edges.emplace_back(v, u);
  };
  for (const std::int64_t degree : {255, 256, 257, 300, 2047, 2048, 2049, 2100, 4097}) {
    const std::int64_t hub = n++;
    join(before, hub);
    for (std::int64_t k = 0; k + 2 < degree; ++k) join(hub, n++);
    before = hub;
  }
  join(before, n);
  this->check_everywhere(n + 1, edges, {{0, static_cast<typename TestFixture::index>(n)}});
}

// Searches lag behind by a tail of any length while others cross the crowd: a level pushes them and pulls the others.
TYPED_TEST(MultiBfs, LaggingSearches) {
  test::random_source random(34);
  const std::int64_t crowd = 20000;
  const std::int64_t tail = 6;
  const auto edges = crowd_with_tails(random, crowd, 3000, tail);
  std::vector<typename TestFixture::source_vector> sets;
  for (std::int64_t k = 0; k < tail; ++k) {
    sets.push_back(this->draw(random, crowd, 3));
    for (const std::int64_t v : {crowd + k, crowd + tail + k, crowd + tail + (k + 1) % tail, crowd + (k + 1) % tail}) {
      sets.back().push_back(static_cast<typename TestFixture::index>(v));
    }
  }
  this->check_automatic(crowd + 2 * tail, edges, sets);
}

// The same with a queue as frontier, of one vertex per search or more; the sources' order decides which search lags.
TYPED_TEST(MultiBfs, LaggingSearchesBesideAStar) {
  const std::int64_t leaves = 4200;
  std::vector<typename TestFixture::source_vector> sets;
  for (typename TestFixture::index k = 0; k < 4; ++k) {
    sets.push_back({static_cast<typename TestFixture::index>(leaves + 1 + k), 2, 7});
    sets.push_back({2, 9, static_cast<typename TestFixture::index>(leaves + 1 + k), 0});
  }
  this->check_automatic(leaves + 5, star_with_tail(leaves, 4), sets);
}

// One level of each kind, for slow tools: pulled, pushed with and without a queue, split, more than bit planes hold.
TYPED_TEST(MultiBfs, OneOfEachLevel) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  test::random_source random(35);
  const std::int64_t crowd = 2100;
  const auto raw = test::make_undirected<I, O>(crowd + 36, crowd_with_tails(random, crowd, 300, 18));
  const typename TestFixture::place_type g(raw);
  const auto every = this->search_all_naively(raw, {{100, static_cast<I>(crowd + 3), static_cast<I>(crowd + 17)}});
  const auto pushed = this->search_all_naively(raw, {{100, 5}});
  for (const auto algorithm : {multi_bfs_algorithm::one_word, multi_bfs_algorithm::four_words}) {
    this->check_plan(g, {.algorithm = algorithm}, every);
    this->check_plan(g, {.algorithm = algorithm, .direction = bfs_direction::push}, pushed);
  }
}

TYPED_TEST(MultiBfs, NoEdges) { this->check_everywhere(100, {}, {{0, 50, 99}, {}}); }

TYPED_TEST(MultiBfs, Complete) {
  edge_vector edges;
  for (std::int64_t u = 0; u < 70; ++u) {
    for (std::int64_t v = 0; v < u; ++v) edges.emplace_back(u, v);
  }
  typename TestFixture::source_vector all(70);
  std::iota(all.begin(), all.end(), typename TestFixture::index{0});
  this->check_everywhere(70, edges, {all});
}

TYPED_TEST(MultiBfs, Disconnected) {
  edge_vector edges;
  for (std::int64_t part = 0; part < 50; ++part) {
    for (std::int64_t k = 0; k < 9; ++k) edges.emplace_back(part * 10 + k, part * 10 + (k + 1) % 10);
  }
  this->check_everywhere(500, edges, {{0, 499, 255, 12}});
}

// Many narrow levels; and a target reached at different depths.
TYPED_TEST(MultiBfs, GridAndPath) {
  test::random_source random(33);
  this->check_everywhere(67 * 45, test::grid_edges(67, 45), {this->draw(random, 67 * 45, 66)});
  this->check_everywhere(700, test::path_edges(700), {{0, 699, 350, 0}});
}

TYPED_TEST(MultiBfs, AGraphWithoutVertices) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto none = test::make_undirected<I, O>(0, {});
  const typename TestFixture::place_type g(none);
  typename TestFixture::plan_type plan(g.ctx(), g.view(), 5);
  plan.run(std::vector<I>{});
  EXPECT_TRUE(plan.counts().empty());
  EXPECT_TRUE(plan.levels().empty());
  EXPECT_THROW(plan.run(std::vector<I>{0}), error);
}

TYPED_TEST(MultiBfs, RefusesWhatItCannotSearch) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto raw = test::make_undirected<I, O>(3, test::path_edges(3));
  const typename TestFixture::place_type g(raw);
  typename TestFixture::plan_type plan(g.ctx(), g.view(), 2);
  for (const I bad : {I{-1}, I{3}, std::numeric_limits<I>::max()}) {
    EXPECT_THROW(plan.run(std::vector<I>{0, bad}), error);
  }
  EXPECT_THROW(plan.run(std::vector<I>{0, 1, 2}), error);
  EXPECT_THROW((typename TestFixture::plan_type(g.ctx(), g.view(), 0)), error);
  plan.run(std::vector<I>{2, 0});
  EXPECT_EQ(g.fetch(plan.levels()), (std::vector<std::int32_t>{2, 0, 1, 1, 0, 2}));
}

TYPED_TEST(MultiBfs, OneCallEqualsThePlanAndPlansMove) {
  using I = typename TestFixture::index;
  using O = typename TestFixture::offset;
  const auto raw = test::make_undirected<I, O>(30, test::path_edges(25));
  const typename TestFixture::place_type g(raw);
  const std::vector<I> sources{3, 24, 29};
  const auto result = multi_bfs<I, O, typename TestFixture::space>(g.ctx(), g.view(), sources);
  const auto expected = search_naively(raw, sources);
  EXPECT_EQ(g.fetch(result.levels.view()), expected.levels);
  EXPECT_EQ(result.counts, expected.counts);
  EXPECT_EQ(result.algorithm, multi_bfs_algorithm::one_word);
  typename TestFixture::plan_type a(g.ctx(), g.view(), 65);
  EXPECT_EQ(a.algorithm(), multi_bfs_algorithm::four_words);
  a.run(std::vector<I>{1});
  auto b = std::move(a);
  EXPECT_EQ(b.counts()[0].reached, 25);
  b.run(sources);
  EXPECT_EQ(g.fetch(b.levels()), expected.levels);
  EXPECT_GT(b.workspace_bytes(), 30 * 65 * 4);
}

// The direction rule at its limits.
TEST(MultiBfsDirection, PullsForALargeShareOfWhatIsLeft) {
  EXPECT_FALSE(detail::multi_bfs::pulls({100, 0, 0}, 4));
  EXPECT_FALSE(detail::multi_bfs::pulls({100, 275, 1000}, 4));
  EXPECT_TRUE(detail::multi_bfs::pulls({100, 276, 1000}, 4));
  EXPECT_TRUE(detail::multi_bfs::pulls({100, 26, 0}, 4));
}

TEST(MultiBfsDirection, SplitsPullsOfAQuarterOfTheEdges) {
  EXPECT_FALSE(detail::multi_bfs::may_split({100, 250, 1000}, 1000));
  EXPECT_TRUE(detail::multi_bfs::may_split({100, 251, 0}, 1000));
}

}  // namespace
}  // namespace spargo
