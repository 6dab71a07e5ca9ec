// Trusses: against the definition on thousands of small random graphs and on shapes that hurt, against the figures of
// real graphs; numbers that do not depend on threads; what must hold when a graph changes; the check; refusals.
#include <spargo/graph/trusses.hpp>
#include <spargo/io/generate.hpp>

#include "graph/graph_suite.hpp"
#include "graph/known_graphs.hpp"
#include "graph/plan_suite.hpp"
#include "graph/trusses/algorithms.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;
using edge = std::pair<std::int64_t, std::int64_t>;
using truss_map = std::map<edge, std::int64_t>;  // edge, its smaller end first, to its truss number

template <class Space>
struct trusses_case : test::plan_case<trusses_plan<std::int32_t, std::int64_t, Space>, trusses_options> {
  static constexpr const char* name = "trusses";
  static constexpr bool takes_directed = false;
  static std::vector<trusses_options> estimated() { return {{}, {.k = 4}}; }
};
const test::plan_suite<trusses_case> every_plan;

// By the definition: edges in fewer than k - 2 triangles are deleted until there are none, for each k.
truss_map naive_trusses(std::int64_t n, const edge_vector& edges) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::vector<bool>> joined(size, std::vector<bool>(size));
  truss_map numbers;
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    joined[static_cast<std::size_t>(u)][static_cast<std::size_t>(v)] = true;
    joined[static_cast<std::size_t>(v)][static_cast<std::size_t>(u)] = true;
    numbers[{std::min(u, v), std::max(u, v)}] = 2;
  }
  std::vector<edge> left;
  for (const auto& [e, number] : numbers) left.push_back(e);
  for (std::int64_t k = 3; !left.empty(); ++k) {
    for (bool deleted = true; deleted;) {
      deleted = std::erase_if(left, [&](const edge& e) {
                  const auto u = static_cast<std::size_t>(e.first);
                  const auto v = static_cast<std::size_t>(e.second);
                  std::int64_t triangles = 0;
                  for (std::size_t w = 0; w < size; ++w) triangles += joined[u][w] && joined[v][w] ? 1 : 0;
                  if (triangles >= k - 2) return false;
                  joined[u][v] = joined[v][u] = false;
                  return true;
                }) > 0;
    }
    for (const edge& e : left) numbers[e] = k;
  }
  return numbers;
}

std::int64_t max_of(const truss_map& numbers) {
  std::int64_t most = 0;
  for (const auto& [e, number] : numbers) most = std::max(most, number);
  return most;
}

// The edges of a plan's result in their order, with `number` where it has none.
template <class Placed, class Plan>
std::vector<std::pair<edge, std::int64_t>> listed(const Placed& placed, const Plan& plan, std::int64_t number) {
  const auto sources = placed.fetch(plan.sources());
  const auto targets = placed.fetch(plan.targets());
  const auto numbers = placed.fetch(plan.numbers());
  EXPECT_EQ(targets.size(), sources.size());
  EXPECT_EQ(numbers.size(), number == 0 ? sources.size() : 0);
  std::vector<std::pair<edge, std::int64_t>> edges;
  for (std::size_t e = 0; e < sources.size(); ++e) {
    edges.emplace_back(edge(sources[e], targets[e]), number == 0 ? std::int64_t{numbers[e]} : number);
  }
  return edges;
}

// Every algorithm of the space, twice, for all numbers and for each k, or some of them; and the check.
template <class Space, class I, class O>
void expect_trusses(const test::raw_graph<I, O>& raw, const truss_map& expected, int threads = 3,
                    std::int64_t growth = 1) {
  const test::placed_graph<I, O, Space> placed(raw, threads);
  const context<host> cpu({.threads = threads});
  const std::int64_t most = max_of(expected);
  for (const auto algorithm : detail::algorithms_on<Space>(detail::trusses::algorithms)) {
    for (std::int64_t k = 0; k <= most + 1; k = std::max<std::int64_t>(2, growth * k + 1)) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", k " + std::to_string(k) + ", " +
                   std::to_string(raw.vertices) + " vertices, " + std::to_string(expected.size()) + " edges, " +
                   std::to_string(threads) + " threads");
      std::vector<std::pair<edge, std::int64_t>> wanted;
      for (const auto& [e, number] : expected) {
        if (number >= k) wanted.emplace_back(e, k == 0 ? number : k);
      }
      trusses_plan<I, O, Space> plan(placed.ctx(), placed.view(), {.algorithm = algorithm, .k = k});
      for (int run = 0; run < 2; ++run) {
        plan.run();
        ASSERT_EQ(listed(placed, plan, k), wanted);
        ASSERT_EQ(plan.max_k(), k == 0 ? most : wanted.empty() ? 0 : k);
      }
      const auto sources = placed.fetch(plan.sources());
      const auto targets = placed.fetch(plan.targets());
      const auto numbers = placed.fetch(plan.numbers());
      ASSERT_EQ(check_trusses(cpu, raw.view(), {sources, targets, numbers, k}), "");
    }
  }
}

template <class Case>
class Trusses : public test::threaded_graph_suite<Case> {
 protected:
  void check(std::int64_t n, const edge_vector& edges, const truss_map& expected) {
    expect_trusses<typename Case::space>(test::make_undirected<typename Case::index, typename Case::offset>(n, edges),
                                         expected);
  }
  void check(std::int64_t n, const edge_vector& edges) { check(n, edges, naive_trusses(n, edges)); }
};

TYPED_TEST_SUITE(Trusses, test::graph_cases);

TYPED_TEST(Trusses, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(5, {});
  this->check(2, {{1, 0}});
  this->check(2, {{1, 0}, {0, 1}, {1, 0}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 1}, {0, 2}, {1, 0}});
  this->check(6, {{4, 3}, {3, 4}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
  this->check(33, test::star_edges(33));
  this->check(33, test::path_edges(33));
  this->check(64, test::grid_edges(8, 8));
  for (const std::int64_t size : {3, 4, 5, 9, 33}) this->check(size + 1, test::clique_edges(1, size));
}

TYPED_TEST(Trusses, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(600); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(seed % 8 == 0 ? 60 : 24);
    const std::int64_t most = seed % 4 == 0 ? n * n / 2 : 5 * n;
    this->check(n, test::random_edges(random, n, random.below(most + 1), static_cast<int>(random.below(3))));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TYPED_TEST(Trusses, SizesAroundWarpsAndBlocks) {
  for (const std::int64_t n : {31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    edge_vector edges = test::random_edges(random, n, 6 * n, 1);
    for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

// Cliques whose sizes lie apart, joined by paths: most levels are empty.
TYPED_TEST(Trusses, LevelsFarApart) {
  edge_vector edges;
  truss_map expected;
  std::int64_t n = 0;
  for (const std::int64_t size : {3, 8, 9, 40, 41, test::is_sanitized ? 70 : 130}) {
    for (const auto& [u, v] : test::clique_edges(n, size)) {
      edges.emplace_back(u, v);
      expected[{v, u}] = size;
    }
    n += size;
    for (const edge& e : {edge(n - 1, n), edge(n, n + 1)}) {
      edges.push_back(e);
      expected[e] = 2;
    }
    ++n;
  }
  this->check(n + 1, edges, expected);
}

// A strip of triangles, of which each round of level 2 removes the ends: triangles one after the other.
TYPED_TEST(Trusses, LongChains) {
  constexpr std::int64_t n = 4000;
  edge_vector edges;
  truss_map expected;
  const auto add = [&](std::int64_t u, std::int64_t v, std::int64_t number) {
    edges.emplace_back(u, v);
    expected[{u, v}] = number;
  };
  for (std::int64_t v = 0; v + 1 < n; ++v) add(v, v + 1, 3);
  for (std::int64_t v = 0; v + 2 < n; ++v) add(v, v + 2, 3);
  this->check(n, edges, expected);
  // Joined to one vertex more, each edge of the strip has one triangle more; so has each spoke.
  for (auto& [e, number] : expected) number = 4;
  for (std::int64_t v = 0; v < n; ++v) add(v, n, 4);
  this->check(n + 1, edges, expected);
}

// Two hubs with common neighbours: the rows of an edge's ends differ in length by far.
TYPED_TEST(Trusses, HubsAndLeaves) {
  constexpr std::int64_t leaves = 3000;
  edge_vector edges{{0, 1}};
  truss_map expected{{{0, 1}, 3}};
  for (std::int64_t v = 2; v < leaves; ++v) {
    for (const std::int64_t hub : {0, 1}) {
      edges.emplace_back(hub, v);
      expected[{hub, v}] = 3;
    }
  }
  this->check(leaves, edges, expected);
}

// --- Threads --------------------------------------------------------------

// As the definition has it, with sorted rows: each k by a queue of edges that are in too few triangles.
truss_map simple_trusses(std::int64_t n, const edge_vector& edges) {
  std::vector<std::set<std::int64_t>> rows(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    rows[static_cast<std::size_t>(u)].insert(v);
    rows[static_cast<std::size_t>(v)].insert(u);
  }
  truss_map left;  // edge to its triangles
  const auto common = [&](const edge& e, auto&& f) {
    const auto& a = rows[static_cast<std::size_t>(e.first)];
    const auto& b = rows[static_cast<std::size_t>(e.second)];
    for (const std::int64_t w : a.size() < b.size() ? a : b) {
      if ((a.size() < b.size() ? b : a).contains(w)) f(w);
    }
  };
  for (const auto& [u, v] : edges) {
    if (u == v) continue;
    std::int64_t& count = left[{std::min(u, v), std::max(u, v)}];
    count = 0;
    common({u, v}, [&](std::int64_t) { ++count; });
  }
  truss_map numbers;
  for (std::int64_t k = 3; !left.empty(); ++k) {
    std::vector<edge> queue;
    for (const auto& [e, count] : left) {
      if (count < k - 2) queue.push_back(e);
    }
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const edge e = queue[at];
      if (!left.erase(e)) continue;
      numbers[e] = k - 1;
      common(e, [&](std::int64_t w) {
        for (const std::int64_t end : {e.first, e.second}) {
          const edge other(std::min(w, end), std::max(w, end));
          if (--left.at(other) < k - 2) queue.push_back(other);
        }
      });
      rows[static_cast<std::size_t>(e.first)].erase(e.second);
      rows[static_cast<std::size_t>(e.second)].erase(e.first);
    }
  }
  return numbers;
}

edge_vector large_random_graph() {
  test::random_source random(5);
  constexpr std::int64_t n = 3000;
  edge_vector edges = test::random_edges(random, n, 8 * n, 3);
  const edge_vector uniform = test::random_edges(random, n, 6 * n, 0);
  edges.insert(edges.end(), uniform.begin(), uniform.end());
  for (std::int64_t v = 1; v < n; v += 2) edges.emplace_back(v, 17);
  const edge_vector clique = test::clique_edges(40, 90);
  edges.insert(edges.end(), clique.begin(), clique.end());
  return edges;
}

TEST(TrussesHost, NumbersDoNotDependOnThreads) {
  constexpr std::int64_t n = 3000;
  const edge_vector edges = large_random_graph();
  const truss_map expected = simple_trusses(n, edges);
  ASSERT_GT(max_of(expected), 80);
  const auto raw = test::make_undirected<std::int32_t, std::int64_t>(n, edges);
  detail::assume_processors(8);
  for (int threads = 1; threads <= 8 && !testing::Test::HasFatalFailure(); ++threads) {
    expect_trusses<host>(raw, expected, threads, 5);
  }
  detail::assume_processors(0);
}

// Lists of lower neighbours for warps, blocks and several parts of a block's table; copies and counts made again;
// against the host.
TEST(TrussesDevice, AgreesWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 4});
  const context<device> gpu;
  for (const char* spec :
       {"gen:rmat:scale=15,degree=16", "gen:rmat:scale=12,degree=200", "gen:grid2d:n=500",
        "gen:uniform:rows=100000,degree=12", "gen:banded:rows=20000,degree=101", "gen:uniform:rows=3000,degree=1400"}) {
    const auto g =
        build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction_kind::undirected});
    const auto there = to_device(gpu, g.view());
    for (const std::int64_t k : {0, 2, 3, 10, 60}) {
      SCOPED_TRACE(std::string(spec) + ", k " + std::to_string(k));
      const auto expected = trusses(ctx, g, {.k = k});
      trusses_plan plan(gpu, there, {.k = k});
      const graph_shape shape{
          .vertices = g.vertices(), .entries = g.view().out.nnz(), .direction = direction_kind::undirected};
      const auto estimated = decltype(plan)::estimate(shape, {.k = k}).device_bytes;
      EXPECT_LE(plan.workspace_bytes(), estimated);
      EXPECT_GE(static_cast<double>(plan.workspace_bytes()), 0.9 * static_cast<double>(estimated));
      for (int run = 0; run < 2; ++run) {
        plan.run();
        ASSERT_EQ(test::copy_of(to_host(gpu, plan.sources()).view()), test::copy_of(expected.sources.view()));
        ASSERT_EQ(test::copy_of(to_host(gpu, plan.targets()).view()), test::copy_of(expected.targets.view()));
        ASSERT_EQ(test::copy_of(to_host(gpu, plan.numbers()).view()), test::copy_of(expected.numbers.view()));
        ASSERT_EQ(plan.max_k(), expected.max_k);
      }
    }
  }
}

// --- What must hold when a graph changes ----------------------------------

TEST(TrussesChange, OneVertexJoinedToAllRaisesAllByOne) {
  const context<host> ctx({.threads = 3});
  for (std::uint64_t seed = 0; seed < test::rounds(200); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(200);
    edge_vector edges = test::random_edges(random, n, random.below(8 * n), static_cast<int>(random.below(3)));
    const auto numbers = [&](std::int64_t vertices) {
      const auto raw = test::make_undirected<std::int32_t, std::int32_t>(vertices, edges);
      const auto found = trusses(ctx, raw.view());
      truss_map made;
      for (std::int64_t e = 0; e < found.sources.size(); ++e) {
        made[{found.sources[e], found.targets[e]}] = found.numbers[e];
      }
      return made;
    };
    const truss_map before = numbers(n);
    for (std::int64_t v = 0; v < n; ++v) edges.emplace_back(v, n);
    const truss_map after = numbers(n + 1);
    for (const auto& [e, number] : before) ASSERT_EQ(after.at(e), number + 1) << "seed " << seed;
  }
}

// --- The check ------------------------------------------------------------

struct claimed {
  std::vector<std::int32_t> sources, targets, numbers;
};

std::string fault(std::int64_t n, const edge_vector& edges, const claimed& c, std::int64_t k = 0) {
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, edges);
  return check_trusses(context<host>({.threads = 2}), raw.view(), {c.sources, c.targets, c.numbers, k});
}

TEST(CheckTrusses, SaysWhatIsWrong) {
  const edge_vector graph{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 3}};
  const claimed right{{0, 0, 1, 2}, {1, 2, 2, 3}, {3, 3, 3, 2}};
  const auto with = [&](std::vector<std::int32_t> numbers) { return claimed{right.sources, right.targets, numbers}; };
  EXPECT_EQ(fault(0, {}, {}), "");
  EXPECT_EQ(fault(4, graph, right), "");
  EXPECT_EQ(fault(4, graph, with({3, 3, 3})), "4 sources, 4 targets and 3 truss numbers of 4 edges");
  EXPECT_EQ(fault(4, graph, with({3, 3, 3, 1})), "edge (2, 3) has truss number 1 (expected 2 to 4)");
  EXPECT_EQ(fault(4, graph, with({3, 3, 3, 3})),
            "edge (2, 3) has truss number 3 but 0 triangles of edges of that number or more");
  EXPECT_EQ(fault(4, graph, with({2, 2, 2, 2})), "edge (0, 1) has truss number 2 (expected 3 or more)");
  EXPECT_EQ(fault(4, graph, with({3, 2, 3, 2})),
            "edge (0, 1) has truss number 3 but 0 triangles of edges of that number or more");
  EXPECT_EQ(fault(4, graph, {{0, 0, 1, 1}, {1, 2, 2, 3}, {3, 3, 3, 2}}), "edge 3 is (1, 3) (expected (2, 3))");
  EXPECT_EQ(fault(4, graph, {{0, 0, 1, 2}, {1, 3, 2, 3}, {3, 3, 3, 2}}), "edge 1 is (0, 3) (expected (0, 2))");
  EXPECT_EQ(fault(4, graph, {{0, 0, 1}, {1, 2, 2}, {}}, 3), "");
  EXPECT_EQ(fault(4, graph, {{0, 0, 1}, {1, 3, 2}, {}}, 3), "(0, 3) is no edge of the graph, or out of order");
  EXPECT_EQ(fault(4, graph, {}, 4), "");
  EXPECT_EQ(fault(4, graph, {}, 1000), "");
  EXPECT_EQ(fault(4, graph, {}, (std::int64_t{1} << 32) + 3), "");
  EXPECT_EQ(fault(4, graph, {right.sources, right.targets, {}}, 2), "");
  EXPECT_EQ(fault(4, graph, {{0, 0, 1}, {1, 2, 2}, {}}, 2), "edge (2, 3) is missing from the 2-truss");
  EXPECT_EQ(fault(4, graph, {}, 3), "edge (0, 1) is missing from the 3-truss");
  EXPECT_EQ(fault(4, graph, {right.sources, right.targets, {}}, 3),
            "edge (2, 3) is in 0 triangles of the 3-truss (expected 1 or more)");
  EXPECT_EQ(fault(4, graph, {{0, 1, 0}, {1, 2, 2}, {}}, 3), "(0, 2) is no edge of the graph, or out of order");
  EXPECT_EQ(fault(4, graph, {{0}, {1}, {}}, 9), "a 9-truss of 4 vertices");
  EXPECT_EQ(fault(4, graph, {{0}, {1}, {}}, -1), "a -1-truss (expected 2 or more)");
}

// Any other numbers than the truss numbers: of one edge, and of all edges of one number; any other edges of a k-truss.
TEST(CheckTrusses, FindsEveryChange) {
  for (std::uint64_t seed = 0; seed < test::rounds(150); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 7 + random.below(10);
    const edge_vector edges = test::random_edges(random, n, 3 + random.below(60), 0);
    claimed right;
    const truss_map numbers = naive_trusses(n, edges);
    for (const auto& [e, number] : numbers) {
      right.sources.push_back(static_cast<std::int32_t>(e.first));
      right.targets.push_back(static_cast<std::int32_t>(e.second));
      right.numbers.push_back(static_cast<std::int32_t>(number));
    }
    ASSERT_EQ(fault(n, edges, right), "");
    for (std::size_t e = 0; e < right.numbers.size(); ++e) {
      for (std::int32_t other = 1; other < 8; ++other) {
        if (right.numbers[e] == other) continue;
        claimed wrong = right;
        wrong.numbers[e] = other;
        ASSERT_NE(fault(n, edges, wrong), "") << "seed " << seed;
        wrong = right;
        for (auto& number : wrong.numbers) number = number == right.numbers[e] ? other : number;
        ASSERT_NE(fault(n, edges, wrong), "") << "seed " << seed;
      }
    }
    for (std::int64_t k = 2; k < 6; ++k) {
      for (std::size_t changed = 0; changed <= right.numbers.size(); ++changed) {
        claimed truss;
        for (std::size_t e = 0; e < right.numbers.size(); ++e) {
          if ((right.numbers[e] >= k) == (e == changed)) continue;
          truss.sources.push_back(right.sources[e]);
          truss.targets.push_back(right.targets[e]);
        }
        ASSERT_EQ(fault(n, edges, truss, k) == "", changed == right.numbers.size()) << "seed " << seed;
      }
    }
  }
}

// --- The interface --------------------------------------------------------

TEST(TrussesPlan, ReportsItsChoice) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}});
  trusses_plan plan(ctx, raw.view());
  EXPECT_EQ(plan.algorithm(), trusses_algorithm::peel);
  EXPECT_NE(plan.reason(), "");
  EXPECT_EQ(plan.max_k(), 0);
  EXPECT_EQ(trusses_plan(ctx, raw.view(), {.algorithm = trusses_algorithm::peel}).reason(), "asked for");
  EXPECT_GT(plan.workspace_bytes(), 0);
  EXPECT_EQ(parse_trusses_algorithm("peel"), trusses_algorithm::peel);
}

TEST(TrussesPlan, RefusesInvalidOptions) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}});
  for (const std::int64_t k : {-1, 1}) {
    EXPECT_EQ(message_of(error_code::invalid_argument, [&] { trusses_plan plan(ctx, raw.view(), {.k = k}); }),
              "trusses: k is " + std::to_string(k) + " (expected 2 or more)");
  }
  EXPECT_EQ(trusses(ctx, raw.view(), {.k = std::int64_t{1} << 40}).sources.size(), 0);
  const auto directed = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out_and_in);
  EXPECT_EQ(message_of(error_code::unsupported, [&] { (void)trusses(ctx, directed.view()); }),
            "trusses: a directed graph (expected an undirected one)");
  EXPECT_NE(message_of(error_code::invalid_argument, [] { (void)parse_trusses_algorithm("bucket"); }).find("peel"),
            std::string::npos);
}

// --- Real graphs ----------------------------------------------------------

TEST(TrussesData, AgreesWithTheTruth) {
  test::for_each_truth<pattern>("ktruss", [](const auto& known, const nlohmann::json& truth) {
    const context<host> ctx({.threads = 2});
    const auto g = build_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    const auto all = trusses(ctx, g);
    EXPECT_EQ(check_trusses(ctx, g, {all.sources, all.targets, all.numbers}), "");
    EXPECT_EQ(all.max_k, truth["max_k"]);
    const auto largest = trusses(ctx, g, {.k = all.max_k});
    EXPECT_EQ(largest.sources.size(), truth["edges"]);
    EXPECT_EQ(std::count(all.numbers.begin(), all.numbers.end(), all.max_k), truth["edges"]);
    std::set<std::int32_t> vertices(largest.sources.begin(), largest.sources.end());
    vertices.insert(largest.targets.begin(), largest.targets.end());
    EXPECT_EQ(vertices.size(), truth["vertices"]);
  });
}

}  // namespace
}  // namespace spargo
