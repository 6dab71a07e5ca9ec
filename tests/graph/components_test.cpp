// Connected components: every algorithm of both backends against naive floods and Boost.Graph, on thousands of small
// random graphs and adversarial shapes; refusals; independence of threads.
#include <spargo/graph/components.hpp>

#include "core/parallel.hpp"
#include "graph/components/algorithms.hpp"
#include "graph/components/shuffled_ids.hpp"
#include "graph/components_support.hpp"
#include "graph/frontier/row_parts.hpp"
#include "graph/graph_suite.hpp"
#include "support/message.hpp"

#include <spargo/graph/boost.hpp>

#include <gtest/gtest.h>
#include <boost/graph/strong_components.hpp>

#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace spargo {
namespace {

using test::edge_vector;
using test::label_vector;
using test::message_of;

enum class in_edges { kept, none };

// Labels in the order in which a recursive search finishes the components.
label_vector finished_order(std::int64_t n, const edge_vector& edges, const label_vector& strong) {
  std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) out[static_cast<std::size_t>(u)].push_back(v);
  std::vector<bool> met(out.size());
  std::vector<std::int64_t> left;  // vertices in the order the search finishes them
  const std::function<void(std::int64_t)> visit = [&](std::int64_t v) {
    met[static_cast<std::size_t>(v)] = true;
    for (const std::int64_t w : out[static_cast<std::size_t>(v)]) {
      if (!met[static_cast<std::size_t>(w)]) visit(w);
    }
    left.push_back(v);
  };
  for (std::int64_t v = 0; v < n; ++v) {
    if (!met[static_cast<std::size_t>(v)]) visit(v);
  }
  std::map<std::int64_t, std::int64_t> last;  // position of each component's last vertex
  for (std::size_t k = 0; k < left.size(); ++k) {
    last[strong[static_cast<std::size_t>(left[k])]] = static_cast<std::int64_t>(k);
  }
  label_vector labels;
  for (const auto label : strong) {
    labels.push_back(std::count_if(last.begin(), last.end(), [&](const auto& l) { return l.second < last[label]; }));
  }
  return labels;
}

// All algorithms for this graph and backend, and both kinds of labels.
template <class I, class O, class Space>
void check_labels(const test::raw_graph<I, O>& raw, const label_vector& weak, const label_vector& strong,
                  int threads = 3) {
  const test::placed_graph<I, O, Space> g(raw, threads);
  for (const auto algorithm : detail::algorithms_on<Space>(detail::components::algorithms)) {
    const bool is_strong = detail::components::finds_strong(algorithm);
    const label_vector& expected = is_strong ? strong : weak;
    SCOPED_TRACE(std::string(to_string(algorithm)) + ", " + std::to_string(raw.vertices) + " vertices, " +
                 std::to_string(raw.indices.size()) + " entries, in-edges " + std::to_string(raw.in_offsets.size()));
    for (const auto labels : {components_labels::smallest_vertex, components_labels::dense}) {
      const components_options options{
          .connection = is_strong ? components_connection::strong : components_connection::weak,
          .labels = labels,
          .algorithm = algorithm};
      components_plan<I, O, Space> plan(g.ctx(), g.view(), options);
      for (int run = 0; run < 2; ++run) {
        plan.run();
        ASSERT_EQ(plan.count(), test::count_of(expected));
        const std::vector<I> got = g.fetch(plan.labels());
        const label_vector want = labels == components_labels::dense ? test::dense(expected) : expected;
        ASSERT_EQ(label_vector(got.begin(), got.end()), want);
        ASSERT_EQ(check_components(context<host>({.threads = 2}), raw.view(), got, options), "");
      }
    }
  }
}

// Directed with and without in-edges, and undirected.
template <class I, class O, class Space>
void check_edges(std::int64_t n, const edge_vector& edges, const label_vector& strong) {
  const label_vector weak = test::naive_weak(n, edges);
  check_labels<I, O, Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out), weak, strong);
  check_labels<I, O, Space>(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), weak, strong);
  check_labels<I, O, Space>(test::make_undirected<I, O>(n, edges), weak, weak);
}

template <class Case>
class Components : public test::threaded_graph_suite<Case> {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;
  using S = typename Case::space;

  void check(std::int64_t n, const edge_vector& edges) { check_edges<I, O, S>(n, edges, test::naive_strong(n, edges)); }
  // For graphs too large for the naive oracle, whose strong components are known.
  void check(std::int64_t n, const edge_vector& edges, const label_vector& strong) {
    check_edges<I, O, S>(n, edges, strong);
  }
};

TYPED_TEST_SUITE(Components, test::graph_cases);

label_vector own_labels(std::int64_t n) {
  label_vector labels(static_cast<std::size_t>(n));
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

TYPED_TEST(Components, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(2, {{1, 0}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}});
  this->check(5, {{4, 3}, {3, 4}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
  this->check(33, test::star_edges(33));
  this->check(64, test::grid_edges(8, 8));
}

TYPED_TEST(Components, SinksFirst) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  using space = typename TypeParam::space;
  components_options options{.connection = components_connection::strong, .labels = components_labels::sinks_first};
  for (std::uint64_t seed = 0; seed < test::rounds_on<space>(400); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(12);
    const edge_vector edges = test::random_edges(random, n, random.below(3 * n), static_cast<int>(random.below(2)));
    const auto raw = test::make_directed<index, offset>(n, edges, test::edges_kept::out);
    const test::placed_graph<index, offset, space> g(raw, 2);
    if constexpr (std::same_as<space, device>) {
      EXPECT_THROW((components_plan<index, offset, space>(g.ctx(), g.view(), options)), error);
      return;
    } else {
      const auto strong = test::naive_strong(n, edges);
      const auto found = components(g.ctx(), g.view(), options);
      ASSERT_EQ(label_vector(found.labels.begin(), found.labels.end()), finished_order(n, edges, strong)) << seed;
      ASSERT_EQ(found.count, test::count_of(strong));
      ASSERT_EQ(found.algorithm, components_algorithm::tarjan);
      ASSERT_EQ(check_components(g.ctx(), raw.view(), found.labels, options), "");
      const auto undirected = test::make_undirected<index, offset>(n, edges);
      const auto weak = components(g.ctx(), undirected.view(), options);
      ASSERT_EQ(label_vector(weak.labels.begin(), weak.labels.end()), test::dense(test::naive_weak(n, edges)));
      ASSERT_EQ(check_components(g.ctx(), undirected.view(), weak.labels, options), "");
      options.algorithm = components_algorithm::forward_backward;
      ASSERT_THROW((void)components(g.ctx(), g.view(), options), error);
      options.algorithm = components_algorithm::automatic;
    }
  }
}

TYPED_TEST(Components, RandomGraphs) {
  for (std::uint64_t k = 0; k < test::rounds_on<typename TypeParam::space>(1500); ++k) {
    test::random_source random(k);
    const std::int64_t n = 1 + random.below(40);
    const edge_vector edges = test::random_edges(random, n, random.below(2 * n + 1), static_cast<int>(random.below(3)));
    this->check(n, edges);
    if (this->HasFatalFailure()) FAIL() << "seed " << k;
  }
}

// Around the sizes of warps, blocks and chunks, sparse enough for many components.
TYPED_TEST(Components, SizesAroundBlocks) {
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257, 511, 513, 2047, 2048, 2049, 6145}) {
    test::random_source random(static_cast<std::uint64_t>(n));
    const edge_vector edges = test::random_edges(random, n, n * 3 / 4, 0);
    edge_vector forward;  // without a cycle
    for (const auto& [u, v] : edges) forward.emplace_back(std::min(u, v), std::max(u, v));
    this->check(n, forward, own_labels(n));
    if (this->HasFatalFailure()) FAIL() << n;
  }
}

TYPED_TEST(Components, LongPathsInBothOrders) {
  constexpr std::int64_t n = test::is_sanitized ? 45000 : 100000;  // at least two of the host's parts of 2^16 units
  edge_vector up = test::path_edges(n);
  this->check(n, up, own_labels(n));
  edge_vector down;
  for (const auto& [u, v] : up) down.emplace_back(n - 1 - u, n - 1 - v);
  this->check(n, down, own_labels(n));
  up.emplace_back(n - 1, 0);
  this->check(n, up, label_vector(n, 0));
  edge_vector scattered;  // a path through all vertices without locality
  for (std::int64_t k = 0; k + 1 < n; ++k) scattered.emplace_back(k * 61813 % n, (k + 1) * 61813 % n);
  this->check(n, scattered, own_labels(n));
}

// Rows longer than a warp handles, and than segments; the hub is also the last vertex.
TYPED_TEST(Components, Hubs) {
  constexpr std::int64_t n = 40000;
  this->check(n, test::star_edges(n), own_labels(n));
  edge_vector edges;
  for (std::int64_t v = 1; v < n - 1; v += 2) edges.emplace_back(n - 1, v);
  for (std::int64_t v = 2; v < 200; v += 2) edges.emplace_back(200, v);
  this->check(n, edges, own_labels(n));
}

// Cycles with chords, disjoint from the parts that a search from one of them finds, and an edge from each to the next.
TYPED_TEST(Components, ManyComponentsInAChain) {
  constexpr std::int64_t n = 60000;
  test::random_source random(3);
  edge_vector edges;
  label_vector labels(n);
  std::vector<std::int64_t> order(n);  // components are not contiguous ranges
  for (std::int64_t k = 0; k < n; ++k) order[static_cast<std::size_t>(k)] = k * 7919 % n;
  for (std::int64_t first = 0; first < n;) {
    const std::int64_t size = std::min(n - first, 1 + random.below(first % 7 == 0 ? 3000 : 5));
    const auto at = [&](std::int64_t k) { return order[static_cast<std::size_t>(first + k)]; };
    std::int64_t smallest = n;
    for (std::int64_t k = 0; k < size; ++k) {
      smallest = std::min(smallest, at(k));
      edges.emplace_back(at(k), at((k + 1) % size));
      edges.emplace_back(at(k), at(random.below(size)));
      if (first > 0 && k % 3 == 0) edges.emplace_back(order[static_cast<std::size_t>(random.below(first))], at(k));
    }
    for (std::int64_t k = 0; k < size; ++k) labels[static_cast<std::size_t>(at(k))] = smallest;
    first += size;
  }
  this->check(n, edges, labels);
}

// The first search's hub is in a component of two; others with equally long rows are left for the later steps.
TYPED_TEST(Components, HubsOutsideTheLargestComponent) {
  constexpr std::int64_t n = 9000;
  edge_vector edges;
  label_vector labels = own_labels(n);
  for (std::int64_t v = 10; v < 3000; ++v) {
    edges.emplace_back(0, v);  // many paths lead through 0, but not back
    edges.emplace_back(3000 + v, 0);
  }
  edges.emplace_back(0, 1);
  edges.emplace_back(1, 0);
  labels[1] = 0;
  for (const std::int64_t hub : {10, 3020}) {  // each with a thousand neighbours on both sides
    for (std::int64_t k = 1; k < 1001; ++k) {
      edges.emplace_back(hub, hub + k);
      edges.emplace_back(hub + k, hub);
      labels[static_cast<std::size_t>(hub + k)] = hub;
    }
  }
  this->check(n, edges, labels);
}

TEST(ShuffledIds, AreAPermutation) {
  const auto check = [](auto zero, std::int64_t n) {
    using index = decltype(zero);
    const detail::components::shuffled_ids<index> order(n);
    std::int64_t most = 1;
    while (most < n) most *= 2;
    std::vector<bool> met(static_cast<std::size_t>(most));
    for (std::int64_t v = 0; v < n; ++v) {
      const index number = order.number(static_cast<index>(v));
      ASSERT_TRUE(number >= 0 && number < most && !met[static_cast<std::size_t>(number)]) << n << ", " << v;
      met[static_cast<std::size_t>(number)] = true;
      ASSERT_EQ(order.vertex(number), v) << n;
    }
  };
  for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 32, 33, 1000, 70000}) {
    check(std::int32_t{}, n);
    check(std::int64_t{}, n);
  }
  const detail::components::shuffled_ids<std::int32_t> most(std::numeric_limits<std::int32_t>::max());
  const detail::components::shuffled_ids<std::int64_t> more(std::int64_t{1} << 40);
  for (const std::int32_t v : {0, 1, 12345, std::numeric_limits<std::int32_t>::max() - 1}) {
    EXPECT_GE(most.number(v), 0);
    EXPECT_EQ(most.vertex(most.number(v)), v);
    EXPECT_EQ(more.vertex(more.number((std::int64_t{1} << 39) + v)), (std::int64_t{1} << 39) + v);
  }
}

TYPED_TEST(Components, DisconnectedCliques) {
  constexpr std::int64_t cliques = 70;
  constexpr std::int64_t size = 30;
  edge_vector edges;
  label_vector labels;
  for (std::int64_t v = 0; v < cliques * size; ++v) {
    labels.push_back(v % cliques);  // members are not adjacent
    for (std::int64_t k = 0; k < size; ++k) edges.emplace_back(v, v % cliques + k * cliques);
  }
  this->check(cliques * size, edges, labels);
}

// The largest tree is found early, and its root is hooked under a smaller vertex late.
TYPED_TEST(Components, LargestTreeJoinsASmallerVertexLast) {
  constexpr std::int64_t n = 9000;
  edge_vector edges;
  for (std::int64_t v = 4; v < n; ++v) {
    for (const std::int64_t far : {1, 2, 3, 5, 7, 11}) edges.emplace_back(v, 4 + (v + far) % (n - 4));
  }
  for (const std::int64_t v : {8990, 8991, 8992, 8993, 8994}) edges.emplace_back(3, v);
  edges.emplace_back(0, 3);
  label_vector strong(n, 4);
  for (std::int64_t v = 0; v < 4; ++v) strong[static_cast<std::size_t>(v)] = v;
  this->check(n, edges, strong);
}

// The tree of vertex 0 joins the largest one only through third neighbours of non-roots: in an undirected graph the
// largest tree gets another root after all of its labels are written.
TYPED_TEST(Components, LargestTreeJoinsASmallerTreeLast) {
  constexpr std::int64_t n = 9000;
  edge_vector edges;
  for (std::int64_t v = 5; v < 8000; ++v) {
    for (const std::int64_t near : {1, 2, 3, 40}) {
      if (v - near >= 4) edges.emplace_back(v, v - near);
    }
  }
  for (std::int64_t v = 8100; v < 8140; ++v) {
    edges.emplace_back(v, 0);
    edges.emplace_back(v, 1);
  }
  edges.emplace_back(8139, 7999);
  this->check(n, edges, own_labels(n));
}

// Pairs of vertices within a chunk; the first leads to a small tree and the second, by its only edge, to the largest. A
// pair is hooked under the small tree first; the second vertex must not count as joined because of that.
TYPED_TEST(Components, OneEdgeOutOfAChunk) {
  constexpr std::int64_t n = 9000;
  edge_vector edges;
  for (std::int64_t v = 5001; v < n; ++v) edges.emplace_back(v, v - 1);
  for (std::int64_t k = 0; k < 200; ++k) {
    const std::int64_t u = 2100 + 2 * k;
    edges.emplace_back(u, u + 1);
    edges.emplace_back(u, k);
    edges.emplace_back(u + 1, 5000 + k);
  }
  this->check(n, edges, own_labels(n));
}

// --- Beyond the naive oracle ----------------------------------------------

label_vector boost_strong(const graph_view<std::int32_t, std::int32_t, host>& g) {
  const auto n = static_cast<std::size_t>(g.vertices());
  std::vector<std::size_t> component(n);
  boost::strong_components(g, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, g)));
  label_vector first(n, -1);
  label_vector labels(n);
  for (std::size_t v = 0; v < n; ++v) {
    if (first[component[v]] < 0) first[component[v]] = static_cast<std::int64_t>(v);
    labels[v] = first[component[v]];
  }
  return labels;
}

template <class Space>
void compare_with_boost() {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 200 + random.below(3000);
    const auto skew = static_cast<int>(seed % 3);
    const edge_vector edges = test::random_edges(random, n, n / 2 + random.below(3 * n), skew);
    const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
    check_edges<std::int32_t, std::int32_t, Space>(n, edges, boost_strong(raw.view()));
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// The halves are joined by edges out of the largest tree, visible only from its side if there are no in-edges: all
// edges must be read, here in several tiles with empty and long rows in between.
TYPED_TEST(Components, EdgesOutOfTheLargestTree) {
  constexpr std::int64_t n = 20000;
  test::random_source random(8);
  for (const bool upwards : {false, true}) {
    edge_vector edges;
    const std::int64_t half = upwards ? 0 : n / 2;  // start of the largest tree
    for (std::int64_t v = 0; v < n / 2; v += 2) {   // odd ones have in-edges only
      for (int k = 0; k < 4; ++k) edges.emplace_back(half + v, half + random.below(n / 2));
      edges.emplace_back(half + v, half + v + 1);
      edges.emplace_back(half + v, half + (v + 2) % (n / 2));
    }
    for (std::int64_t k = 0; k < 5000; ++k) edges.emplace_back(half + 4000, half + random.below(n / 2));
    const std::int64_t other = n / 2 - half;  // stars of three
    for (std::int64_t v = 0; v + 2 < n / 2; v += 3) {
      edges.emplace_back(other + v, other + v + 1);
      edges.emplace_back(other + v, other + v + 2);
    }
    for (const std::int64_t v : {2, 4000, 9998}) edges.emplace_back(half + v, other + v / 3 * 3 + 1);
    const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
    this->check(n, edges, boost_strong(raw.view()));
    if (this->HasFatalFailure()) FAIL() << upwards;
  }
}

TEST(ComponentsAndBoost, AgreeOnTheHost) { compare_with_boost<host>(); }

TEST(ComponentsAndBoost, AgreeOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  compare_with_boost<device>();
}

// The device puts the first eighth of the vertices under their roots first: trees on both sides, and across.
TEST(ComponentsDevice, TreesBeyondTheFirstVertices) {
  SPARGO_TEST_NEEDS_GPU();
  constexpr std::int64_t n = 700000;
  for (const std::int64_t largest : {0, 60000, 350000}) {  // start of the largest tree
    edge_vector edges;
    for (std::int64_t v = largest + 1; v < largest + 300000; ++v) {
      edges.emplace_back(v, v - 1 - (v * 7919) % std::min<std::int64_t>(v - largest, 5000));
    }
    for (std::int64_t v = 1; v < n / 2; v += 5) {  // pairs across, outside the tree or joined to it
      if (v < largest || v >= largest + 300000) edges.emplace_back(n - v, v);
    }
    check_edges<std::int32_t, std::int32_t, device>(n, edges, own_labels(n));
    if (HasFatalFailure()) FAIL() << largest;
  }
}

TEST(ComponentsHost, LabelsDoNotDependOnThreads) {
  test::random_source random(5);
  constexpr std::int64_t n = 60000;
  const edge_vector edges = test::random_edges(random, n, n, 1);
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out_and_in);
  const label_vector weak = test::naive_weak(n, edges);
  const label_vector strong = boost_strong(raw.view());
  detail::assume_processors(16);
  for (const int threads : {1, 2, 5, 16}) {
    for (int k = 0; k < 2; ++k) check_labels<std::int32_t, std::int32_t, host>(raw, weak, strong, threads);
    if (testing::Test::HasFatalFailure()) break;
  }
  detail::assume_processors(0);
}

// However rows are partitioned, every vertex and every edge is visited once.
TEST(ComponentsHost, PartsOfRowsMeetEveryEdgeOnce) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(12);
    const edge_vector edges = test::random_edges(random, n, random.below(30), 2);
    const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
    const auto out = raw.view().out;
    const detail::row_parts<std::int32_t, std::int32_t> shares(out, 1 + random.below(9));
    std::vector<int> met(edges.size());
    std::vector<int> visited(static_cast<std::size_t>(n));
    for (std::int64_t part = 0; part < shares.count(); ++part) {
      shares.for_each(part, [&](std::int32_t v, std::int64_t first, std::int64_t last) {
        visited[static_cast<std::size_t>(v)] = 1;
        for (std::int64_t e = first; e < last; ++e) {
          ASSERT_TRUE(e >= out.offsets[v] && e < out.offsets[v + 1]);
          ++met[static_cast<std::size_t>(e)];
        }
      });
    }
    ASSERT_EQ(met, std::vector<int>(edges.size(), 1)) << "seed " << seed;
    ASSERT_EQ(visited, std::vector<int>(static_cast<std::size_t>(n), 1)) << "seed " << seed;
    std::int64_t next = 0;
    for (std::int64_t part = 0; part < shares.count(); ++part) {
      const auto [first, last] = shares.vertices(part);
      ASSERT_EQ(first, next) << "seed " << seed;
      next = last;
    }
    ASSERT_EQ(next, n) << "seed " << seed;
  }
}

// --- The interface --------------------------------------------------------

TEST(ComponentsChoice, GivesItsReason) {
  const context<host> ctx({.threads = 2});
  const auto small = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const components_plan weak(ctx, small.view());
  EXPECT_EQ(weak.algorithm(), components_algorithm::union_find);
  EXPECT_NE(weak.reason().find("too small"), std::string::npos);
  const components_plan strong(ctx, small.view(), {.connection = components_connection::strong});
  EXPECT_EQ(strong.algorithm(), components_algorithm::tarjan);
  const edge_vector path = test::path_edges(10000);
  const auto large = test::make_directed<std::int32_t, std::int32_t>(10000, path, test::edges_kept::out);
  const components_plan every(ctx, large.view());
  EXPECT_EQ(every.algorithm(), components_algorithm::afforest);
  EXPECT_NE(every.reason().find("without in-edges"), std::string::npos);
  const components_plan hub(ctx, large.view(), {.connection = components_connection::strong});
  EXPECT_EQ(hub.algorithm(), components_algorithm::forward_backward);
  EXPECT_GT(hub.workspace_bytes(), every.workspace_bytes());
  const auto both = test::make_undirected<std::int32_t, std::int32_t>(10000, path);
  const components_plan same(ctx, both.view(), {.connection = components_connection::strong});
  EXPECT_EQ(same.algorithm(), components_algorithm::afforest) << "an undirected graph's are the same";
}

TEST(ComponentsChoice, RefusesWhatDoesNotFit) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const auto plan = [&](const components_options& options) { (void)components_plan(ctx, raw.view(), options); };
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { plan({.algorithm = components_algorithm::tarjan}); })
                .find("tarjan finds strong components"),
            std::string::npos);
  EXPECT_NE(
      message_of(
          error_code::invalid_argument,
          [&] { plan({.connection = components_connection::strong, .algorithm = components_algorithm::afforest}); })
          .find("afforest finds weak components"),
      std::string::npos);
  EXPECT_NE(
      message_of(error_code::invalid_argument, [&] { plan({.algorithm = static_cast<components_algorithm>(99)}); })
          .find("99"),
      std::string::npos);
  graph_view<std::int32_t, std::int32_t, host> g = raw.view();
  g.out.cols = 4;
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)components(ctx, g); }).find("3 x 4"),
            std::string::npos);
  EXPECT_EQ(parse_components_algorithm("afforest"), components_algorithm::afforest);
  EXPECT_NE(
      message_of(error_code::invalid_argument, [] { (void)parse_components_algorithm("kosaraju"); }).find("kosaraju"),
      std::string::npos);
}

TEST(ComponentsChoice, OnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  const test::placed_graph<std::int32_t, std::int32_t, device> g(raw);
  components_options options{.connection = components_connection::strong};
  const components_plan plan(g.ctx(), g.view(), options);
  EXPECT_EQ(plan.algorithm(), components_algorithm::forward_backward);
  EXPECT_NE(plan.reason().find("hub"), std::string::npos);
  EXPECT_GT(plan.workspace_bytes(), components_plan(g.ctx(), g.view()).workspace_bytes());
  options.labels = components_labels::sinks_first;
  EXPECT_NE(message_of(error_code::unsupported, [&] { (void)components(g.ctx(), g.view(), options); })
                .find("sinks first are computed on the host only"),
            std::string::npos);
}

TEST(ComponentsChoice, NaturalCalls) {
  const context<host> ctx({.threads = 2});
  const std::vector<std::int32_t> from{0, 1, 3};
  const std::vector<std::int32_t> to{1, 0, 2};
  const auto g = build_graph<std::int32_t>(ctx, coo_pattern_view<std::int32_t, host>{5, 5, from, to});
  const auto result = components(ctx, g);
  EXPECT_EQ(std::vector<std::int32_t>(result.labels.begin(), result.labels.end()),
            (std::vector<std::int32_t>{0, 0, 2, 2, 4}));
  EXPECT_EQ(result.count, 3);
  EXPECT_EQ(check_components(ctx, g, result.labels), "");
  EXPECT_EQ(component_sizes<std::int32_t>(result.labels), (std::vector<std::int64_t>{2, 2, 1}));
  components_plan plan(ctx, g, {.connection = components_connection::strong});
  plan.run();
  EXPECT_EQ(plan.count(), 4);
}

}  // namespace
}  // namespace spargo
