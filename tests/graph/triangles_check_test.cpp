// check_triangles: correct counts pass, every planted error is found and named.
#include <spargo/graph/triangles.hpp>

#include "graph/triangles_support.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using counts_type = std::vector<std::int64_t>;
using degrees_type = std::vector<std::int32_t>;

// 0 1 2 and 1 2 3 are triangles, the edge 1 2 goes both ways; a loop, a duplicate, and 5 isolated.
const test::edge_vector edges{{0, 1}, {1, 2}, {2, 1}, {2, 0}, {1, 3}, {3, 2}, {3, 4}, {4, 4}, {0, 1}};

std::string fault(const test::edge_vector& of, direction_kind direction, const triangles_claim<std::int32_t>& claim,
                  std::int64_t n = 6) {
  auto raw = test::make_directed<std::int32_t, std::int32_t>(n, of, test::edges_kept::out);
  if (direction == direction_kind::undirected) raw = test::make_undirected<std::int32_t, std::int32_t>(n, of);
  return check_triangles(context<host>({.threads = 2}), raw.view(), claim);
}

std::string directed(const triangles_claim<std::int32_t>& claim) {
  return fault(edges, direction_kind::directed, claim);
}

const counts_type per_vertex{1, 2, 2, 1, 0, 0};
const counts_type links{2, 2, 2, 2, 0, 0};
const degrees_type degrees{2, 3, 3, 3, 1, 0};

TEST(CheckTriangles, RightCountsPass) {
  EXPECT_EQ(directed({.total = 2}), "");
  EXPECT_EQ(directed({2, per_vertex, links, degrees}), "");
  const counts_type both{2, 4, 4, 2, 0, 0};
  EXPECT_EQ(fault(edges, direction_kind::undirected, {2, per_vertex, both, degrees}), "");
}

TEST(CheckTriangles, NamesWhatIsWrong) {
  EXPECT_EQ(directed({.total = 3}), "there are 3 triangles (expected 2)");
  EXPECT_EQ(directed({.total = 2, .per_vertex = counts_type{1, 2}}), "2 counts for 6 vertices");
  EXPECT_EQ(directed({.total = 2, .per_vertex = counts_type{1, 2, 1, 2, 0, 0}}),
            "vertex 2 is in 1 triangles (expected 2)");
  EXPECT_EQ(directed({.total = 2, .links = counts_type{2, 2, 2, 2, 0, 1}}),
            "1 edges join neighbours of vertex 5 (expected 0)");
  EXPECT_EQ(directed({.total = 2, .degrees = degrees_type{2, 4, 3, 3, 1, 0}}),
            "vertex 1 has 4 neighbours (expected 3)");
}

// Every change of one count, on random graphs.
TEST(CheckTriangles, FindsEveryChangeOfOneCount) {
  int planted = 0;
  const int graphs = test::is_sanitized ? 40 : 150;
  for (int seed = 0; seed < graphs; ++seed) {
    test::random_source random(static_cast<std::uint64_t>(seed));
    const test::edge_vector some = test::random_edges(random, 6, 3 + random.below(20), 0);
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const test::triangle_counts right = test::naive_triangles(6, some, direction);
      const degrees_type right_degrees(right.degrees.begin(), right.degrees.end());
      ASSERT_EQ(fault(some, direction, {right.total, right.per_vertex, right.links, right_degrees}), "") << seed;
      for (const std::int64_t by : {-1, 1, 2}) {
        ASSERT_NE(fault(some, direction, {right.total + by, {}, {}, {}}), "");
        for (std::size_t v = 0; v < 6; ++v) {
          counts_type wrong = right.per_vertex;
          wrong[v] += by;
          ASSERT_NE(fault(some, direction, {right.total, wrong, {}, {}}), "");
          wrong = right.links;
          wrong[v] += by;
          ASSERT_NE(fault(some, direction, {right.total, {}, wrong, {}}), "");
          degrees_type wrong_degrees = right_degrees;
          wrong_degrees[v] += static_cast<std::int32_t>(by);
          ASSERT_NE(fault(some, direction, {right.total, {}, {}, wrong_degrees}), "");
          planted += 3;
        }
      }
    }
  }
  EXPECT_EQ(planted, graphs * 2 * 3 * 6 * 3);
}

// More vertices than the check's core: triangles within, outside, and mixed; edges one way, both ways, twice; a hub.
TEST(CheckTriangles, FindsChangesBeyondTheCore) {
  constexpr std::int64_t n = 9000;
  test::random_source random(3);
  test::edge_vector some;
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t k = 1; k <= 2 + random.below(4); ++k) {
      some.emplace_back(v, (v + k) % n);
      if (random.below(2) == 0) some.emplace_back((v + k) % n, v);
      if (random.below(5) == 0) some.push_back(some.back());
    }
    if (v % 3 == 0) some.emplace_back(v, 4321);
  }
  test::edge_vector both = some;
  for (const auto& [u, v] : some) both.emplace_back(v, u);
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    const test::triangle_counts right = test::set_triangles(n, direction == direction_kind::directed ? some : both);
    const degrees_type right_degrees(right.degrees.begin(), right.degrees.end());
    ASSERT_EQ(fault(some, direction, {right.total, right.per_vertex, right.links, right_degrees}, n), "");
    ASSERT_NE(fault(some, direction, {right.total + 1, right.per_vertex, {}, {}}, n), "");
    for (int round = 0; round < 20; ++round) {
      const auto v = static_cast<std::size_t>(random.below(n));
      counts_type wrong = right.per_vertex;
      ++wrong[v];
      ASSERT_NE(fault(some, direction, {right.total, wrong, {}, {}}, n), "") << v;
      wrong = right.links;
      --wrong[v];
      ASSERT_NE(fault(some, direction, {right.total, {}, wrong, {}}, n), "") << v;
    }
  }
}

}  // namespace
}  // namespace spargo
