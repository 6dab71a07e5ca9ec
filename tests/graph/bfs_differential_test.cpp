// Every algorithm, direction and backend against each other and a naive search, on thousands of random graphs with a
// fixed seed, as given (loops, duplicates, unsorted neighbours) and as built by build_graph; Boost's search on its own
// graph verifies the naive one on a subset.
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>

#include "graph/bfs/algorithms.hpp"
#include "graph/graph_suite.hpp"

#include <gtest/gtest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace spargo {
namespace {

using test::edge_vector;
using test::edges_kept;
using test::raw_graph;

// All algorithms, so that a new one is tested automatically.
std::vector<bfs_algorithm> every_algorithm() {
  std::vector<bfs_algorithm> all;
  for (const auto& row : detail::bfs::algorithms) all.push_back(row.value);
  return all;
}

constexpr std::array all_directions{bfs_direction::automatic, bfs_direction::push, bfs_direction::pull};
constexpr std::array all_outputs{bfs_output::levels_and_parents, bfs_output::levels, bfs_output::parents};

// Edges of a random graph and how to build it.
struct recipe {
  std::int64_t n = 0;
  edge_vector edges;
  direction_kind direction = direction_kind::directed;
  edges_kept kept = edges_kept::out;
};

// Shuffles ids, so that hubs and isolated vertices may be anywhere.
void shuffle_ids(test::random_source& random, recipe& r) {
  std::vector<std::int64_t> id(static_cast<std::size_t>(r.n));
  std::iota(id.begin(), id.end(), 0);
  for (std::size_t k = id.size(); k > 1; --k) {
    std::swap(id[k - 1], id[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(k)))]);
  }
  for (auto& [u, v] : r.edges) {
    u = id[static_cast<std::size_t>(u)];
    v = id[static_cast<std::size_t>(v)];
  }
}

// From empty to dense, uniform or with hubs, some with loops, duplicates, long chains and isolated vertices.
recipe random_recipe(test::random_source& random, std::int64_t most_vertices, std::int64_t most_edges) {
  recipe r;
  r.n = 1 + random.below(most_vertices);
  const std::int64_t lively = std::max<std::int64_t>(1, r.n - random.below(2) * random.below(r.n));
  const std::array<std::int64_t, 6> counts{0, lively / 2, lively, 2 * lively, 5 * lively, lively * lively};
  const std::int64_t count = std::min(most_edges, counts[static_cast<std::size_t>(random.below(6))]);
  r.edges = test::random_edges(random, lively, count, static_cast<int>(random.below(5)));
  if (random.below(4) == 0) {
    for (std::int64_t v = random.below(lively); v + 1 < lively; ++v) r.edges.emplace_back(v, v + 1);
  }
  if (random.below(3) == 0) {
    for (std::int64_t v = 0; v < lively; v += 1 + random.below(5)) r.edges.emplace_back(v, v);
  }
  if (random.below(3) == 0 && !r.edges.empty()) {
    const auto size = static_cast<std::int64_t>(r.edges.size());
    for (std::int64_t k = 0; k < size / 2; ++k)
      r.edges.push_back(r.edges[static_cast<std::size_t>(random.below(size))]);
  }
  if (random.below(4) != 0) shuffle_ids(random, r);
  r.direction = random.below(2) == 0 ? direction_kind::directed : direction_kind::undirected;
  r.kept = random.below(3) == 0 ? edges_kept::out : edges_kept::out_and_in;
  return r;
}

template <class I, class O>
raw_graph<I, O> as_given(const recipe& r) {
  return r.direction == direction_kind::undirected ? test::make_undirected<I, O>(r.n, r.edges)
                                                   : test::make_directed<I, O>(r.n, r.edges, r.kept);
}

// Places a test's graphs in a space and copies results back.
template <class Space>
struct place;

template <>
struct place<host> {
  context<host> ctx{{.threads = 3}};

  template <class I, class O>
  graph_view<I, O, host> bring(const raw_graph<I, O>& g) {
    return g.view();
  }
  template <class T>
  std::vector<T> fetch(span<const T, host> values) const {
    return {values.begin(), values.end()};
  }
};

template <>
struct place<device> {
  context<device> ctx;

  template <class I, class O>
  graph<I, O, device> bring(const raw_graph<I, O>& g) {
    return to_device(ctx, g.view());
  }
  template <class T>
  std::vector<T> fetch(span<const T, device> values) const {
    const auto on_host = to_host(ctx, values);
    return {on_host.begin(), on_host.end()};
  }
};

template <class I, class O>
graph_view<I, O, device> view_of(const graph<I, O, device>& g) {
  return g.view();
}
template <class I, class O>
graph_view<I, O, host> view_of(const graph_view<I, O, host>& g) {
  return g;
}

// Boost's levels, on its own graph.
std::vector<std::int32_t> boost_levels(const recipe& r, std::int64_t source) {
  using boost_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  boost_graph g(static_cast<std::size_t>(r.n));
  for (const auto& [u, v] : r.edges) {
    add_edge(static_cast<std::size_t>(u), static_cast<std::size_t>(v), g);
    if (r.direction == direction_kind::undirected)
      add_edge(static_cast<std::size_t>(v), static_cast<std::size_t>(u), g);
  }
  std::vector<std::int32_t> levels(static_cast<std::size_t>(r.n), -1);
  levels[static_cast<std::size_t>(source)] = 0;
  const auto map = boost::make_iterator_property_map(levels.begin(), get(boost::vertex_index, g));
  boost::breadth_first_search(
      g, static_cast<std::size_t>(source),
      boost::visitor(boost::make_bfs_visitor(boost::record_distances(map, boost::on_tree_edge()))));
  return levels;
}

// Counts what ran, so that nothing is skipped silently.
struct run_counts {
  std::map<bfs_algorithm, std::int64_t> runs;
  std::int64_t forced_pulls = 0;
};

template <class Case>
class BfsDifferential : public test::graph_suite<Case> {
 protected:
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;
  using view_type = graph_view<index, offset, space>;
  using plan_type = bfs_plan<index, offset, space>;

  static place<space>& where() {
    static place<space> shared;
    return shared;
  }

  // Runs a plan from each source and compares with naive levels.
  static void check_runs(plan_type& plan, bfs_output output, const graph_view<index, offset, host>& on_host,
                         const std::vector<std::int64_t>& sources,
                         const std::vector<std::vector<std::int32_t>>& expected) {
    for (std::size_t k = 0; k < sources.size(); ++k) {
      SCOPED_TRACE("source " + std::to_string(sources[k]));
      plan.run(static_cast<index>(sources[k]));
      const auto levels = where().fetch(plan.levels());
      const auto parents = where().fetch(plan.parents());
      ASSERT_EQ(levels.empty(), output == bfs_output::parents);
      ASSERT_EQ(parents.empty(), output == bfs_output::levels);
      ASSERT_TRUE(levels.empty() || levels == expected[k]);
      ASSERT_EQ(parents.empty() ? "" : test::parent_fault(on_host, sources[k], expected[k], parents), "");
      const context<host> one({.threads = 1});
      ASSERT_EQ((check_bfs<index, offset>(one, on_host, static_cast<index>(sources[k]), levels, parents)), "");
      ASSERT_EQ(test::copy_of(plan.level_sizes()), test::histogram_of(expected[k]));
      const auto sizes = test::histogram_of(expected[k]);
      ASSERT_EQ(plan.reached(), std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
    }
  }

  // All algorithms and directions. An algorithm of the other backend, or a pull without in-edges, must be refused.
  static void check_all(const raw_graph<index, offset>& raw, const view_type& g,
                        const std::vector<std::int64_t>& sources, std::size_t round, run_counts& counts) {
    static const auto algorithms = every_algorithm();
    std::vector<std::vector<std::int32_t>> expected;
    for (const std::int64_t source : sources) expected.push_back(test::naive_levels(raw.view(), source));
    for (const auto algorithm : algorithms) {
      for (const auto direction : all_directions) {
        const bfs_output output = all_outputs[(round + static_cast<std::size_t>(direction)) % all_outputs.size()];
        SCOPED_TRACE(std::string(to_string(algorithm)) + ", direction " + std::to_string(static_cast<int>(direction)) +
                     ", output " + std::to_string(static_cast<int>(output)));
        try {
          plan_type plan(where().ctx, g, {.algorithm = algorithm, .direction = direction, .output = output});
          check_runs(plan, output, raw.view(), sources, expected);
          ++counts.runs[algorithm];
          counts.forced_pulls += direction == bfs_direction::pull ? 1 : 0;
        } catch (const error& e) {
          ASSERT_EQ(e.code(), error_code::unsupported) << e.what();
        }
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  static void check_recipe(const recipe& r, const std::vector<std::int64_t>& sources, std::size_t round,
                           run_counts& counts) {
    const auto raw = as_given<index, offset>(r);
    const auto placed = where().bring(raw);
    check_all(raw, view_of(placed), sources, round, counts);
  }

  // As build_graph makes it: the same levels, and canonical neighbours.
  static void check_built(const recipe& r, const std::vector<std::int64_t>& sources, std::size_t round,
                          run_counts& counts) {
    std::set<std::pair<std::int64_t, std::int64_t>> distinct;
    std::vector<index> from;
    std::vector<index> to;
    for (const auto& [u, v] : r.edges) {
      from.push_back(static_cast<index>(u));
      to.push_back(static_cast<index>(v));
      if (u == v) continue;
      distinct.emplace(u, v);
      if (r.direction == direction_kind::undirected) distinct.emplace(v, u);
    }
    const auto canonical = test::make_directed<index, offset>(r.n, {distinct.begin(), distinct.end()}, edges_kept::out);
    const auto& ctx = where().ctx;
    const bool pulls = r.kept == edges_kept::out_and_in && r.direction == direction_kind::directed;
    const graph_options options{.direction = r.direction, .in_edges = pulls};
    const auto n = static_cast<index>(r.n);
    if constexpr (std::same_as<space, host>) {
      const auto g = build_graph<offset>(ctx, coo_pattern_view<index, host>{n, n, from, to}, options);
      expect_same_pattern(g.view(), canonical);
      check_all(canonical, g.view(), sources, round, counts);
    } else {
      const auto there_from = to_device(ctx, span<const index, host>(from));
      const auto there_to = to_device(ctx, span<const index, host>(to));
      const auto g =
          build_graph<offset>(ctx, coo_pattern_view<index, device>{n, n, there_from.view(), there_to.view()}, options);
      expect_same_pattern(g.view(), canonical);
      check_all(canonical, g.view(), sources, round, counts);
    }
  }

  // As given and as built by turns; with Boost, the naive levels are compared, too.
  static void check_round(const recipe& r, const std::vector<std::int64_t>& sources, std::size_t round, bool with_boost,
                          run_counts& counts) {
    SCOPED_TRACE("round " + std::to_string(round) + ": " + std::to_string(r.n) + " vertices, " +
                 std::to_string(r.edges.size()) + " pairs");
    if (with_boost) {
      ASSERT_EQ(test::naive_levels(as_given<index, offset>(r).view(), sources[0]), boost_levels(r, sources[0]));
    }
    round % 2 == 0 ? check_recipe(r, sources, round, counts) : check_built(r, sources, round, counts);
  }

  static void expect_same_pattern(const view_type& g, const raw_graph<index, offset>& expected) {
    ASSERT_EQ(where().fetch(g.out.offsets), expected.offsets);
    ASSERT_EQ(where().fetch(g.out.indices), expected.indices);
  }

  static void expect_all_ran(const run_counts& counts) {
    constexpr bool is_host = std::same_as<space, host>;
    for (const auto algorithm :
         {bfs_algorithm::automatic, bfs_algorithm::load_balanced, bfs_algorithm::direction_optimizing,
          is_host ? bfs_algorithm::sequential : bfs_algorithm::automatic}) {
      EXPECT_GT(counts.runs.count(algorithm), 0U) << to_string(algorithm) << " never ran";
    }
    EXPECT_GT(counts.forced_pulls, 0);
  }
};

TYPED_TEST_SUITE(BfsDifferential, test::graph_cases);

TYPED_TEST(BfsDifferential, RandomSmallGraphs) {
  test::random_source random(50);
  run_counts counts;
  for (std::size_t round = 0; round < test::rounds_on<typename TestFixture::space>(1200); ++round) {
    const recipe r = random_recipe(random, 100, 2000);
    const std::vector<std::int64_t> sources{random.below(r.n), random.below(r.n)};
    this->check_round(r, sources, round, round % 8 == 0, counts);
    if (this->HasFatalFailure()) return;
  }
  this->expect_all_ran(counts);
}

// Larger than one thread or one block handles alone.
TYPED_TEST(BfsDifferential, RandomLargerGraphs) {
  test::random_source random(51);
  run_counts counts;
  for (std::size_t round = 0;
       round < (std::same_as<typename TestFixture::space, host> ? (test::is_sanitized ? 8 : 24) : 8); ++round) {
    recipe r = random_recipe(random, 20000, 60000);
    const std::int64_t hub = random.below(r.n);
    for (std::int64_t v = 0; v < r.n; v += 2) r.edges.emplace_back(round % 2 == 0 ? hub : v, round % 2 == 0 ? v : hub);
    const std::vector<std::int64_t> sources{random.below(r.n), hub};
    this->check_round(r, sources, round, true, counts);
    if (this->HasFatalFailure()) return;
  }
  this->expect_all_ran(counts);
}

// Adversarial shapes, in each of the three kinds of graph, given and built, from both ends and the middle.
TYPED_TEST(BfsDifferential, AdversarialShapes) {
  std::vector<std::pair<std::int64_t, edge_vector>> shapes{
      {1, {}},
      {1, {{0, 0}}},
      {2, {{1, 0}}},
      {100, {}},
      {40, {{20, 21}, {21, 19}, {19, 22}}},                                  // first and last rows empty
      {5, {{0, 0}, {0, 0}, {0, 1}, {0, 1}, {1, 1}, {1, 2}, {2, 2}, {4, 4}}}  // loops and duplicates
  };
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257}) {
    shapes.emplace_back(n, test::star_edges(n));
    shapes.emplace_back(n, test::path_edges(n));
    edge_vector dense_row{{n - 1, n / 2}};
    for (std::int64_t v = 0; v < n; ++v) dense_row.emplace_back(n / 2, v);
    shapes.emplace_back(n, dense_row);
    edge_vector parts;
    for (std::int64_t v = 0; v + 2 < n; v += 3) parts.insert(parts.end(), {{v, v + 1}, {v + 1, v + 2}});
    shapes.emplace_back(n, parts);
  }
  run_counts counts;
  std::size_t round = 0;
  for (const auto& [n, edges] : shapes) {
    SCOPED_TRACE(std::to_string(n) + " vertices, " + std::to_string(edges.size()) + " pairs");
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      for (const auto kept : {edges_kept::out, edges_kept::out_and_in}) {
        const recipe r{n, edges, direction, kept};
        const std::vector<std::int64_t> sources{0, n - 1, n / 2};
        this->check_recipe(r, sources, round++, counts);
        this->check_built(r, sources, round, counts);
        if (this->HasFatalFailure()) return;
      }
    }
  }
  this->expect_all_ran(counts);
}

// No vertices, so no source; build and plan must succeed.
TYPED_TEST(BfsDifferential, NoVertices) {
  const auto raw = as_given<typename TestFixture::index, typename TestFixture::offset>(recipe{});
  const auto placed = this->where().bring(raw);
  typename TestFixture::plan_type plan(this->where().ctx, view_of(placed));
  EXPECT_THROW(plan.run(0), error);
}

}  // namespace
}  // namespace spargo
