// Core numbers: against the definition on thousands of small random graphs and on shapes that hurt, against Boost.Graph
// and the figures of real graphs; numbers that do not depend on threads; what must hold when a graph changes; refusals.
#include <spargo/graph/boost.hpp>
#include <spargo/graph/cores.hpp>
#include <spargo/graph/structure.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>

#include "core/parallel.hpp"
#include "graph/cores/algorithms.hpp"
#include "graph/placed_graph.hpp"
#include "graph/plan_suite.hpp"
#include "support/data.hpp"
#include "support/device.hpp"
#include "support/message.hpp"
#include "support/suite_types.hpp"

#include <gtest/gtest.h>

#include <boost/graph/core_numbers.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;
using core_vector = std::vector<std::int64_t>;

template <class Space>
struct cores_case : test::plan_case<cores_plan<std::int32_t, std::int64_t, Space>, cores_options> {
  static constexpr const char* name = "cores";
};
const test::plan_suite<cores_case> every_plan;

// By the definition: what is left when vertices of fewer than k edges are deleted until there is none, for each k. An
// edge counts at both ends, whatever its direction, as often as it is listed.
core_vector naive_cores(std::int64_t n, const edge_vector& edges) {
  core_vector cores(static_cast<std::size_t>(n), -1);
  std::vector<bool> left(static_cast<std::size_t>(n), true);
  for (std::int64_t k = 0; std::count(left.begin(), left.end(), true) > 0; ++k) {
    for (bool deleted = true; deleted;) {
      deleted = false;
      core_vector degrees(static_cast<std::size_t>(n));
      for (const auto& [u, v] : edges) {
        const auto a = static_cast<std::size_t>(u);
        const auto b = static_cast<std::size_t>(v);
        if (u == v || !left[a] || !left[b]) continue;
        ++degrees[a];
        ++degrees[b];
      }
      for (std::size_t v = 0; v < left.size(); ++v) {
        if (left[v] && degrees[v] < k) {
          left[v] = false;
          deleted = true;
        }
      }
    }
    for (std::size_t v = 0; v < left.size(); ++v) {
      if (left[v]) cores[v] = k;
    }
  }
  return cores;
}

// No loops: Boost counts them.
template <class I, class O>
core_vector boost_cores(graph_view<I, O, host> g) {
  core_vector cores(static_cast<std::size_t>(g.vertices()));
  boost::core_numbers(g, boost::make_iterator_property_map(cores.begin(), boost::identity_property_map()));
  return cores;
}

template <class Numbers>
core_vector wide(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Every algorithm of the space, twice; and the check.
template <class Space, class I, class O>
void expect_cores(const test::raw_graph<I, O>& raw, const core_vector& expected, int threads = 3) {
  const test::placed_graph<I, O, Space> placed(raw, threads);
  const auto g = placed.view();
  for (const auto algorithm : detail::algorithms_on<Space>(detail::cores::algorithms)) {
    SCOPED_TRACE(std::string(to_string(algorithm)) + ", " + std::to_string(expected.size()) + " vertices, " +
                 std::to_string(g.out.nnz()) + " entries, " + std::to_string(threads) + " threads, " +
                 (g.direction == direction_kind::directed ? "directed" : "undirected"));
    cores_plan<I, O, Space> plan(placed.ctx(), g, {.algorithm = algorithm});
    for (int run = 0; run < 2; ++run) {
      plan.run();
      ASSERT_EQ(wide(placed.fetch(plan.cores())), expected);
      ASSERT_EQ(plan.max_core(), expected.empty() ? 0 : *std::max_element(expected.begin(), expected.end()));
    }
    const std::vector<I> numbers = placed.fetch(plan.cores());
    ASSERT_EQ(check_cores(context<host>({.threads = threads}), raw.view(), numbers), "");
  }
}

template <class Case>
void expect_edges(std::int64_t n, const edge_vector& edges, const core_vector& expected, int threads = 3) {
  using I = typename Case::index;
  using O = typename Case::offset;
  using Space = typename Case::space;
  expect_cores<Space>(test::make_undirected<I, O>(n, edges), expected, threads);
  expect_cores<Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), expected, threads);
}

template <class Case>
class Cores : public testing::Test {
 protected:
  static constexpr bool on_device = std::same_as<typename Case::space, device>;

  void SetUp() override {
    if (on_device) SPARGO_TEST_NEEDS_GPU();
    detail::assume_processors(8);
  }
  void TearDown() override { detail::assume_processors(0); }

  void check(std::int64_t n, const edge_vector& edges) { expect_edges<Case>(n, edges, naive_cores(n, edges)); }
  // A plan on a device takes milliseconds.
  static std::uint64_t rounds(std::uint64_t many) { return test::rounds(on_device ? many / 10 : many); }
};

using cases = test::suite_types<
    test::graph_case<std::int32_t, std::int32_t, host>, test::graph_case<std::int32_t, std::int64_t, host>,
    test::graph_case<std::int64_t, std::int64_t, host>, test::graph_case<std::int32_t, std::int32_t, device>,
    test::graph_case<std::int32_t, std::int64_t, device>, test::graph_case<std::int64_t, std::int64_t, device>>;
TYPED_TEST_SUITE(Cores, cases);

edge_vector clique_edges(std::int64_t first, std::int64_t size) {
  edge_vector edges;
  for (std::int64_t u = 0; u < size; ++u) {
    for (std::int64_t v = 0; v < u; ++v) edges.emplace_back(first + u, first + v);
  }
  return edges;
}

TYPED_TEST(Cores, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(5, {});
  this->check(2, {{1, 0}});
  this->check(2, {{1, 0}, {0, 1}, {1, 0}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 1}});
  this->check(6, {{4, 3}, {3, 4}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
  this->check(33, test::star_edges(33));
  this->check(33, test::path_edges(33));
  this->check(64, test::grid_edges(8, 8));
  for (const std::int64_t size : {2, 8, 9, 10, 33}) this->check(size + 1, clique_edges(1, size));
}

TYPED_TEST(Cores, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(3000); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    const std::int64_t most = seed % 4 == 0 ? 20 * n : 4 * n;
    this->check(n, test::random_edges(random, n, random.below(most + 1), static_cast<int>(random.below(3))));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// By the free function, which adds in-edges.
template <class Space, class I, class O>
array<I, host> cores_in(const context<host>& ctx, const graph<I, O, host>& g) {
  if constexpr (std::same_as<Space, host>) {
    return std::move(cores(ctx, g).cores);
  } else {
    const context<device> gpu;
    return to_host(gpu, cores(gpu, to_device(gpu, g.view())).cores.view());
  }
}

// Loops that the builder kept, and those of a view that does not say that it has some.
TYPED_TEST(Cores, GraphsAsTheyAreBuilt) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  const context<host> ctx({.threads = 3});
  for (std::uint64_t seed = 0; seed < this->rounds(1000); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    const edge_vector edges = test::random_edges(random, n, random.below(5 * n + 1), static_cast<int>(random.below(3)));
    std::vector<I> from, to;
    std::set<std::pair<std::int64_t, std::int64_t>> directed, undirected;
    for (const auto& [u, v] : edges) {
      from.push_back(static_cast<I>(u));
      to.push_back(static_cast<I>(v));
      directed.emplace(u, v);
      undirected.emplace(std::min(u, v), std::max(u, v));
    }
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      for (const auto loops : {self_loops::drop, self_loops::keep}) {
        const auto g = build_graph<O>(ctx, coo_pattern_view<I, host>{static_cast<I>(n), static_cast<I>(n), from, to},
                                      {.direction = direction, .loops = loops});
        const auto& distinct = direction == direction_kind::directed ? directed : undirected;
        const auto found = cores_in<typename TypeParam::space>(ctx, g);
        ASSERT_EQ(wide(found), naive_cores(n, {distinct.begin(), distinct.end()})) << "seed " << seed;
        ASSERT_EQ(check_cores(ctx, g, found), "");
      }
    }
  }
}

// Numbers on both sides of a window of levels, and gaps of many windows: cliques whose sizes lie apart, joined by
// paths.
TYPED_TEST(Cores, LevelsFarApart) {
  edge_vector edges;
  core_vector expected;
  std::int64_t previous = 0;
  for (const std::int64_t size : {2, 7, 8, 9, 10, 16, 17, 18, 130}) {
    const auto first = static_cast<std::int64_t>(expected.size());
    const edge_vector clique = clique_edges(first, size);
    edges.insert(edges.end(), clique.begin(), clique.end());
    edges.emplace_back(std::exchange(previous, first), first);
    expected.insert(expected.end(), static_cast<std::size_t>(size), size - 1);
    const auto path = static_cast<std::int64_t>(expected.size());
    for (std::int64_t v = path; v < path + 5; ++v) edges.emplace_back(v - 1, v);
    expected.insert(expected.end(), 5, 1);
  }
  expect_edges<TypeParam>(static_cast<std::int64_t>(expected.size()), edges, expected);
  this->check(static_cast<std::int64_t>(expected.size()), edges);
}

TYPED_TEST(Cores, SizesAroundBatchesAndBlocks) {
  for (const std::int64_t n : {31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    edge_vector edges = test::random_edges(random, n, 2 * n, 1);
    for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

// One vertex at a time, in the end: a path from its ends, a ladder of which only one corner has two edges.
TYPED_TEST(Cores, LongChains) {
  expect_edges<TypeParam>(30000, test::path_edges(30000), core_vector(30000, 1));
  expect_edges<TypeParam>(60000, test::grid_edges(200, 300), core_vector(60000, 2));
  expect_edges<TypeParam>(50001, test::star_edges(50001), core_vector(50001, 1));
}

// A hub whose removal lets more vertices fall to its level than a thread's stack holds.
TYPED_TEST(Cores, StacksOverflow) {
  constexpr std::int64_t leaves = 5000;
  edge_vector edges{{0, 1}};
  for (std::int64_t v = 2; v < leaves; ++v) {
    edges.emplace_back(0, v);
    edges.emplace_back(1, v);
  }
  core_vector expected(leaves, 2);
  expect_edges<TypeParam>(leaves, edges, expected);
}

// --- Threads --------------------------------------------------------------

bool is_loop(const std::pair<std::int64_t, std::int64_t>& edge) { return edge.first == edge.second; }

edge_vector large_random_graph() {
  test::random_source random(5);
  constexpr std::int64_t n = 60000;
  edge_vector edges = test::random_edges(random, n, 8 * n, 3);
  const edge_vector uniform = test::random_edges(random, n, 6 * n, 0);
  edges.insert(edges.end(), uniform.begin(), uniform.end());
  for (std::int64_t v = 1; v < n; v += 2) edges.emplace_back(v, 17);
  std::erase_if(edges, is_loop);
  return edges;
}

TEST(CoresHost, NumbersDoNotDependOnThreads) {
  constexpr std::int64_t n = 60000;
  const edge_vector edges = large_random_graph();
  const auto raw = test::make_undirected<std::int32_t, std::int64_t>(n, edges);
  const core_vector expected = boost_cores(raw.view());
  detail::assume_processors(8);
  for (int threads = 1; threads <= 8; ++threads) {
    for (int repeat = 0; repeat < 5 && !testing::Test::HasFatalFailure(); ++repeat) {
      expect_cores<host>(raw, expected, threads);
    }
  }
  detail::assume_processors(0);
}

// Long rows, full queues of warps, limits of chains, many windows; against the host.
TEST(CoresDevice, AgreesWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 2});
  const context<device> gpu;
  for (const char* spec :
       {"gen:rmat:scale=16,degree=16", "gen:rmat:scale=13,degree=200", "gen:uniform:rows=100000,degree=12",
        "gen:grid2d:n=700", "gen:rmat:scale=14,degree=3", "gen:banded:rows=20000,degree=401"}) {
    for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
      SCOPED_TRACE(spec);
      const auto g =
          build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction, .in_edges = true});
      const auto expected = cores(ctx, g);
      const auto there = to_device(gpu, g.view());
      cores_plan plan(gpu, there);
      const graph_shape shape{.vertices = g.vertices(), .entries = g.view().out.nnz(), .direction = direction};
      const auto estimated = decltype(plan)::estimate(shape).device_bytes;
      EXPECT_LE(plan.workspace_bytes(), estimated);
      EXPECT_GE(static_cast<double>(plan.workspace_bytes()), 0.9 * static_cast<double>(estimated));
      for (int run = 0; run < 3; ++run) {
        plan.run();
        ASSERT_EQ(wide(to_host(gpu, plan.cores())), wide(expected.cores));
        ASSERT_EQ(plan.max_core(), expected.max_core);
      }
    }
  }
}

// Every vertex of a clique has a long row, and all fall in one level.
TEST(CoresDevice, LongRowsOfOneLevel) {
  SPARGO_TEST_NEEDS_GPU();
  for (const std::int64_t size : {1024, 1025, 1026, 2500}) {
    expect_cores<device>(test::make_undirected<std::int32_t, std::int64_t>(size, clique_edges(0, size)),
                         core_vector(static_cast<std::size_t>(size), size - 1));
  }
}

TEST(CoresHost, AgreesWithBoost) {
  for (std::uint64_t seed = 0; seed < test::rounds(300); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(500);
    edge_vector edges = test::random_edges(random, n, random.below(12 * n), static_cast<int>(random.below(3)));
    std::erase_if(edges, is_loop);
    const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
    expect_cores<host>(raw, boost_cores(raw.view()));
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// --- What must hold when a graph changes ----------------------------------

core_vector cores_of(std::int64_t n, const edge_vector& edges) {
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
  return wide(cores(context<host>({.threads = 3}), raw.view()).cores);
}

TEST(CoresChange, OneVertexJoinedToAllRaisesAllByOne) {
  for (std::uint64_t seed = 0; seed < test::rounds(300); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(300);
    std::set<std::pair<std::int64_t, std::int64_t>> distinct;
    for (const auto& [u, v] : test::random_edges(random, n, random.below(6 * n), static_cast<int>(random.below(3)))) {
      distinct.emplace(std::min(u, v), std::max(u, v));
    }
    edge_vector edges(distinct.begin(), distinct.end());
    core_vector expected = cores_of(n, edges);
    for (std::int64_t& core : expected) ++core;
    expected.push_back(*std::max_element(expected.begin(), expected.end()));
    for (std::int64_t v = 0; v < n; ++v) edges.emplace_back(n, v);
    ASSERT_EQ(cores_of(n + 1, edges), expected) << "seed " << seed;
  }
}

TEST(CoresChange, OneEdgeRaisesByAtMostOneAndNeverLowers) {
  for (std::uint64_t seed = 0; seed < test::rounds(1000); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 2 + random.below(60);
    edge_vector edges = test::random_edges(random, n, random.below(5 * n), 1);
    const core_vector before = cores_of(n, edges);
    edges.emplace_back(0, 1 + random.below(n - 1));
    const core_vector after = cores_of(n, edges);
    for (std::size_t v = 0; v < before.size(); ++v) {
      ASSERT_GE(after[v], before[v]) << "seed " << seed;
      ASSERT_LE(after[v], before[v] + 1) << "seed " << seed;
    }
  }
}

TEST(CoresChange, OtherNumbersOfVerticesGiveTheSameCores) {
  for (std::uint64_t seed = 0; seed < test::rounds(300); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(300);
    const edge_vector edges = test::random_edges(random, n, random.below(6 * n), 2);
    std::vector<std::int64_t> place(static_cast<std::size_t>(n));
    std::iota(place.begin(), place.end(), 0);
    for (std::int64_t v = n - 1; v > 0; --v) {
      std::swap(place[static_cast<std::size_t>(v)], place[static_cast<std::size_t>(random.below(v + 1))]);
    }
    edge_vector moved;
    for (const auto& [u, v] : edges) {
      moved.emplace_back(place[static_cast<std::size_t>(u)], place[static_cast<std::size_t>(v)]);
    }
    const core_vector original = cores_of(n, edges);
    const core_vector found = cores_of(n, moved);
    for (std::size_t v = 0; v < original.size(); ++v) {
      ASSERT_EQ(found[static_cast<std::size_t>(place[v])], original[v]) << "seed " << seed;
    }
  }
}

TEST(CoresChange, TheKCoreAsAGraph) {
  const context<host> ctx({.threads = 2});
  for (std::uint64_t seed = 0; seed < test::rounds(200); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(200);
    const edge_vector edges = test::random_edges(random, n, random.below(8 * n), 2);
    const auto raw = test::make_undirected<std::int32_t, std::int64_t>(n, edges);
    const auto found = cores(ctx, raw.view());
    for (std::int32_t k = 0; k <= found.max_core + 1; ++k) {
      const auto vertices = k_core_vertices(ctx, std::as_const(found.cores).view(), k);
      ASSERT_EQ(vertices.size(), std::count_if(found.cores.begin(), found.cores.end(), [&](auto c) { return c >= k; }));
      ASSERT_EQ(vertices.empty(), k > found.max_core);
      const auto inside = cores(ctx, induced_subgraph(ctx, raw.view(), vertices));
      for (std::int64_t j = 0; j < vertices.size(); ++j) {
        ASSERT_EQ(inside.cores[j], found.cores[vertices[j]]) << "seed " << seed << ", k = " << k;
      }
    }
  }
}

// --- The check ------------------------------------------------------------

std::string fault(std::int64_t n, const edge_vector& edges, const std::vector<std::int32_t>& numbers) {
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
  return check_cores(context<host>({.threads = 2}), raw.view(), numbers);
}

TEST(CheckCores, SaysWhatIsWrong) {
  EXPECT_EQ(fault(0, {}, {}), "");
  EXPECT_EQ(fault(2, {}, {0, 0}), "");
  EXPECT_EQ(fault(4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, {2, 2, 2, 1}), "");
  EXPECT_EQ(fault(2, {{0, 1}}, {1}), "1 core numbers for 2 vertices");
  EXPECT_EQ(fault(2, {{0, 1}}, {1, -1}), "vertex 1 has core number -1 (expected 0 or more)");
  EXPECT_EQ(fault(2, {{0, 1}}, {1, 2}), "vertex 1 has core number 2 but 0 neighbours of that number or more");
  EXPECT_EQ(fault(2, {{0, 1}}, {0, 0}), "vertex 0 has core number 0 (expected 1 or more)");
  EXPECT_EQ(fault(4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, {1, 1, 1, 1}),
            "vertex 0 has core number 1 (expected 2 or more)");
  // All too low by one, a fixed point of the iteration of h-indices.
  EXPECT_EQ(fault(3, {{0, 1}, {1, 2}, {2, 0}}, {0, 0, 0}), "vertex 0 has core number 0 (expected 1 or more)");
  EXPECT_EQ(fault(2, {{0, 0}, {0, 1}}, {2, 1}), "vertex 0 has core number 2 but 0 neighbours of that number or more");
}

TEST(CheckCores, BuildsTheInEdgesThatItNeeds) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(2, {{0, 1}}, test::edges_kept::out);
  EXPECT_EQ(check_cores(ctx, raw.view(), std::vector<std::int32_t>{1, 1}), "");
  EXPECT_NE(check_cores(ctx, raw.view(), std::vector<std::int32_t>{1, 0}), "");
}

// Any other numbers than the core numbers: of one vertex, and all of one number.
TEST(CheckCores, FindsEveryChange) {
  for (std::uint64_t seed = 0; seed < test::rounds(400); ++seed) {
    test::random_source random(seed);
    const edge_vector edges = test::random_edges(random, 8, 3 + random.below(30), 0);
    const core_vector right = naive_cores(8, edges);
    const std::vector<std::int32_t> numbers(right.begin(), right.end());
    ASSERT_EQ(fault(8, edges, numbers), "");
    for (std::size_t v = 0; v < 8; ++v) {
      for (std::int32_t other = -1; other < 12; ++other) {
        auto wrong = numbers;
        if (wrong[v] == other) continue;
        wrong[v] = other;
        ASSERT_NE(fault(8, edges, wrong), "") << "seed " << seed;
        auto all = numbers;
        for (std::size_t u = 0; u < 8; ++u) all[u] = all[u] == numbers[v] ? other : all[u];
        ASSERT_NE(fault(8, edges, all), "") << "seed " << seed;
      }
    }
  }
}

// --- The interface --------------------------------------------------------

TEST(CoresPlan, Says) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}});
  EXPECT_EQ(cores_plan(ctx, raw.view()).algorithm(), cores_algorithm::peel);
  EXPECT_NE(cores_plan(ctx, raw.view()).reason(), "");
  EXPECT_EQ(cores_plan(ctx, raw.view(), {.algorithm = cores_algorithm::peel}).reason(), "asked for");
  EXPECT_GE(cores_plan(ctx, raw.view()).workspace_bytes(), 6 * 3 * 4);
  EXPECT_EQ(parse_cores_algorithm("peel"), cores_algorithm::peel);
}

TEST(CoresPlan, RefusesWhatDoesNotFit) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out_and_in);
  const auto out_only = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  EXPECT_NE(message_of(error_code::unsupported, [&] { cores_plan plan(ctx, out_only.view()); }).find("add_in_edges"),
            std::string::npos);
  EXPECT_EQ(wide(cores(ctx, out_only.view()).cores), (core_vector{1, 1, 0}));
  EXPECT_NE(message_of(error_code::invalid_argument,
                       [&] { cores_plan plan(ctx, raw.view(), {.algorithm = static_cast<cores_algorithm>(99)}); })
                .find("99"),
            std::string::npos);
  auto g = raw.view();
  g.out.cols = 4;
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)cores(ctx, g); }).find("3 x 4"), std::string::npos);
  EXPECT_NE(message_of(error_code::invalid_argument, [] { (void)parse_cores_algorithm("bucket"); }).find("peel"),
            std::string::npos);
}

TEST(CoresPlan, OnADevice) {
  SPARGO_TEST_NEEDS_GPU();
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const test::placed_graph<std::int32_t, std::int32_t, device> g(raw);
  EXPECT_NE(message_of(error_code::unsupported, [&] { cores_plan plan(g.ctx(), g.view()); }).find("add_in_edges"),
            std::string::npos);
  const test::raw_graph<std::int32_t, std::int32_t> both =
      test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}});
  const test::placed_graph<std::int32_t, std::int32_t, device> undirected(both);
  cores_plan plan(undirected.ctx(), undirected.view());
  EXPECT_EQ(plan.max_core(), 0);
}

// --- Real graphs ----------------------------------------------------------

using histogram = std::map<std::int64_t, std::int64_t>;

// Ids that do not occur are vertices of the truths', of core number 0.
histogram histogram_of(const coo_pattern_view<std::int32_t, host>& pairs, const std::vector<std::int64_t>& ids) {
  const context<host> ctx({.threads = 2});
  const auto g = build_graph(ctx, pairs, {.direction = direction_kind::undirected});
  const auto found = cores(ctx, g);
  EXPECT_EQ(check_cores(ctx, g, found.cores), "");
  histogram counts;
  for (const std::int32_t core : found.cores) ++counts[core];
  if (!ids.empty() && ids.back() >= static_cast<std::int64_t>(ids.size())) {
    counts[0] += ids.back() + 1 - static_cast<std::int64_t>(ids.size());
  }
  return counts;
}

TEST(CoresData, AgreesWithTheTruth) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(test::data_directory() / "truth_more.json");
  if (!file) GTEST_SKIP() << "no truth_more.json";
  const auto truth = nlohmann::json::parse(file);
  const context<host> ctx({.threads = 2});
  int graphs = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (test::is_left_out(name)) continue;
    if (!facts.contains("core_numbers")) continue;
    SCOPED_TRACE(name);
    const std::string path = (test::data_directory() / name).string();
    histogram expected;
    for (const auto& pair : facts["core_numbers"]["histogram"]) expected[pair[0]] = pair[1];
    if (name.find(".mtx") != std::string::npos) {
      EXPECT_EQ(histogram_of(read_matrix_market<pattern, std::int32_t>(ctx, path).view(), {}), expected);
    } else {
      const auto list = read_edge_list<std::int32_t>(ctx, path);
      EXPECT_EQ(histogram_of(list.edges.view(), list.ids), expected);
    }
    ++graphs;
  }
  EXPECT_GT(graphs, test::used_inputs(40));
}

}  // namespace
}  // namespace spargo
