// Maximum matchings of bipartite graphs: sizes by trying augmenting paths one by one, the cover, shapes that hurt.
#include <spargo/graph/bipartite_matching.hpp>
#include <spargo/graph/properties.hpp>

#include "graph/graph_suite.hpp"
#include "graph/known_graphs.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

namespace spargo {
namespace {

using test::edge_vector;

// Augmenting paths by depth-first search, one vertex of the left side after the other (Kuhn); left: [0, left).
std::int64_t naive_size(std::int64_t left, std::int64_t n, const edge_vector& edges) {
  std::vector<std::vector<std::int64_t>> to(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) to[static_cast<std::size_t>(std::min(u, v))].push_back(std::max(u, v));
  std::vector<std::int64_t> mate(static_cast<std::size_t>(n), -1);
  std::vector<bool> seen;
  const std::function<bool(std::int64_t)> try_from = [&](std::int64_t v) {
    for (const std::int64_t u : to[static_cast<std::size_t>(v)]) {
      if (seen[static_cast<std::size_t>(u)]) continue;
      seen[static_cast<std::size_t>(u)] = true;
      std::int64_t& other = mate[static_cast<std::size_t>(u)];
      if (other >= 0 && !try_from(other)) continue;
      other = v;
      return true;
    }
    return false;
  };
  std::int64_t size = 0;
  for (std::int64_t v = 0; v < left; ++v) {
    seen.assign(static_cast<std::size_t>(n), false);
    size += try_from(v) ? 1 : 0;
  }
  return size;
}

template <class Case>
class BipartiteMatching : public testing::Test {
 protected:
  // Every edge joins [0, left) and the rest.
  void check(std::int64_t left, std::int64_t n, const edge_vector& edges) {
    using I = typename Case::index;
    using O = typename Case::offset;
    const context<host> ctx({.threads = 2});
    const std::int64_t expected = naive_size(left, n, edges);
    for (const auto& raw :
         {test::make_undirected<I, O>(n, edges), test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in),
          test::make_directed<I, O>(n, edges, test::edges_kept::out)}) {
      const auto found = maximum_bipartite_matching(ctx, raw.view());
      ASSERT_EQ(found.size, expected);
      ASSERT_EQ(check_bipartite_matching(ctx, raw.view(), found.mates.view(), found.cover.view(), found.size), "");
    }
  }
};

using host_cases = testing::Types<test::graph_case<std::int32_t, std::int32_t, host>,
                                  test::graph_case<std::int32_t, std::int64_t, host>,
                                  test::graph_case<std::int64_t, std::int64_t, host>>;
TYPED_TEST_SUITE(BipartiteMatching, host_cases);

edge_vector random_bipartite(std::uint64_t seed, std::int64_t left, std::int64_t n, std::int64_t count) {
  test::random_source random(seed);
  edge_vector edges;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t u = random.below(left);
    std::int64_t v = left + random.below(n - left);
    if (random.below(2) == 0) std::swap(u, v);
    edges.emplace_back(u, v);
  }
  return edges;
}

TYPED_TEST(BipartiteMatching, SmallShapes) {
  this->check(0, 0, {});
  this->check(1, 1, {});
  this->check(3, 7, {});
  this->check(1, 2, {{0, 1}});
  this->check(1, 2, {{1, 0}, {0, 1}, {0, 1}});
  this->check(1, 6, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}});
  this->check(5, 6, {{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}});
  // What is taken first has to be given up along a path of five edges.
  this->check(3, 6, {{0, 3}, {0, 4}, {1, 3}, {1, 5}, {2, 4}});
  edge_vector complete;
  for (std::int64_t u = 0; u < 9; ++u) {
    for (std::int64_t v = 9; v < 16; ++v) complete.emplace_back(u, v);
  }
  this->check(9, 16, complete);
}

TYPED_TEST(BipartiteMatching, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < test::rounds(2000); ++seed) {
    test::random_source random(seed);
    const std::int64_t left = 1 + random.below(20);
    const std::int64_t n = left + 1 + random.below(20);
    this->check(left, n, random_bipartite(seed, left, n, random.below(3 * n)));
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// One augmenting path through all vertices, which the first choices close.
TYPED_TEST(BipartiteMatching, LongPaths) {
  constexpr std::int64_t left = 3000;
  edge_vector edges;
  for (std::int64_t k = 0; k < left; ++k) {
    if (k + 1 < left) edges.emplace_back(k, left + k + 1);
    edges.emplace_back(k, left + k);
  }
  this->check(left, 2 * left, edges);
}

TYPED_TEST(BipartiteMatching, LargerRandomGraphs) {
  for (const std::int64_t degree : {1, 2, 3, 10}) {
    this->check(800, 1700, random_bipartite(static_cast<std::uint64_t>(degree), 800, 1700, 800 * degree));
  }
}

TEST(BipartiteMatchingData, RealGraphsThatAreBipartite) {
  const context<host> ctx({.threads = 2});
  int bipartite = 0;
  test::for_each_truth<pattern>("bipartite", [&](const auto& known, const auto&) {
    const auto g = build_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    if (!bipartition(ctx, g).is_bipartite()) return;
    ++bipartite;

    const auto found = maximum_bipartite_matching(ctx, g);
    EXPECT_EQ(check_bipartite_matching(ctx, g.view(), found.mates.view(), found.cover.view(), found.size), "");
  });
  EXPECT_TRUE(bipartite > 0 || testing::Test::IsSkipped());
}

TEST(BipartiteMatchingOptions, RefusesOddCycles) {
  const context<host> ctx;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  EXPECT_NE(test::message_of(error_code::invalid_argument, [&] { (void)maximum_bipartite_matching(ctx, raw.view()); })
                .find("is on a cycle of 3 edges (expected a bipartite graph)"),
            std::string::npos);
}

// --- The check ------------------------------------------------------------

std::string fault(const std::vector<std::int32_t>& mates, const std::vector<std::uint8_t>& cover, std::int64_t size) {
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(4, {{0, 2}, {2, 1}, {1, 3}}, test::edges_kept::out);
  return check_bipartite_matching(context<host>(), raw.view(), mates, cover, size);
}

TEST(CheckBipartiteMatching, SaysWhatIsWrong) {
  EXPECT_EQ(fault({2, 3, 0, 1}, {1, 1, 0, 0}, 2), "");
  EXPECT_EQ(fault({2, 3, 0}, {1, 1, 0, 0}, 2), "3 mates and 4 vertices that may be in the cover, for 4 vertices");
  EXPECT_EQ(fault({2, 3, 1, 1}, {1, 1, 0, 0}, 2), "vertex 0 has mate 2 (expected another vertex whose mate is 0)");
  EXPECT_EQ(fault({2, 3, 0, 1}, {1, 1, 0, 0}, 1), "4 vertices have mates (expected 2)");
  EXPECT_EQ(fault({-1, 2, 1, -1}, {1, 1, 0, 0}, 1), "2 vertices cover the edges (expected 1)");
  EXPECT_EQ(fault({-1, 2, 1, -1}, {0, 0, 1, 0}, 1), "no end of the edge from 1 to 3 is in the cover");
  EXPECT_EQ(fault({3, 2, 1, 0}, {1, 1, 0, 0}, 2), "vertex 0 has mate 3, but no edge joins them");
}

}  // namespace
}  // namespace spargo
