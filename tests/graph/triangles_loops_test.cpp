// The counting loops of every instruction set this processor supports, against counts by a matrix, and on graphs with
// mostly non-hub vertices, so that lists are looked up too.
#include "core/parallel.hpp"
#include "graph/triangles/executor.hpp"
#include "graph/triangles/simd/loops.hpp"
#include "graph/triangles_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spargo {
namespace {

using detail::triangles::count_loops;

template <class I>
class TriangleLoops : public testing::Test {};
using indices = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(TriangleLoops, indices);

template <class I>
test::triangle_counts count_by(const count_loops<I>& loops, const test::raw_graph<I, std::int64_t>& raw) {
  const context<host> ctx({.threads = 2});
  const auto counted = [&](triangles_output output) {
    auto executor = detail::triangles::make_executor<I, std::int64_t>(
        ctx, raw.view(), {.output = output, .algorithm = triangles_algorithm::bitmap},
        detail::triangles::survey_rows(ctx, raw.view()), &loops);
    executor->run();
    return executor;
  };
  const auto all = counted(triangles_output::links);
  const auto links = all->links();
  const auto some = counted(triangles_output::per_vertex);
  const auto per_vertex = some->per_vertex();
  const auto degrees = all->degrees();
  EXPECT_EQ(counted(triangles_output::total)->total(), all->total());
  EXPECT_EQ(std::vector<std::int64_t>(per_vertex.begin(), per_vertex.end()),
            std::vector<std::int64_t>(all->per_vertex().begin(), all->per_vertex().end()));
  return {all->total(),
          {all->per_vertex().begin(), all->per_vertex().end()},
          {links.begin(), links.end()},
          {degrees.begin(), degrees.end()}};
}

TYPED_TEST(TriangleLoops, AgreeWithAMatrix) {
  for (const auto& loops : detail::triangles::usable_count_loops<TypeParam>()) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      test::random_source random(seed);
      const std::int64_t n = 1 + random.below(150);
      const auto edges = test::random_edges(random, n, random.below(12 * n), static_cast<int>(seed % 3));
      ASSERT_EQ(count_by(loops, test::make_directed<TypeParam, std::int64_t>(n, edges, test::edges_kept::out)),
                test::naive_triangles(n, edges, direction_kind::directed))
          << loops.name << ", seed " << seed;
      ASSERT_EQ(count_by(loops, test::make_undirected<TypeParam, std::int64_t>(n, edges)),
                test::naive_triangles(n, edges, direction_kind::undirected))
          << loops.name << ", seed " << seed;
    }
  }
}

// Random graphs of small degrees with few hubs: all instruction sets agree with merging.
TYPED_TEST(TriangleLoops, AgreeWithMergingBeyondTheHubs) {
  constexpr std::int64_t n = 20000;
  test::random_source random(1);
  test::edge_vector edges = test::random_edges(random, n, 2 * n, 1);
  for (std::int64_t u = 0; u < n; ++u) {  // nearby neighbours, so that there are triangles
    for (std::int64_t k = 1; k < 5; k += 1 + u % 2) edges.emplace_back(u, (u + k) % n);
  }
  const auto raw = test::make_directed<TypeParam, std::int64_t>(n, edges, test::edges_kept::out_and_in);
  auto merged = detail::triangles::make_executor<TypeParam, std::int64_t>(
      context<host>({.threads = 1}), raw.view(),
      {.output = triangles_output::links, .algorithm = triangles_algorithm::merge}, {});
  merged->run();
  const std::vector<std::int64_t> links(merged->links().begin(), merged->links().end());
  for (const auto& loops : detail::triangles::usable_count_loops<TypeParam>()) {
    const test::triangle_counts got = count_by(loops, raw);
    EXPECT_GT(got.total, n);
    EXPECT_EQ(got.total, merged->total()) << loops.name;
    EXPECT_EQ(got.links, links) << loops.name;
  }
}

// All vertices on a ring, joined with those up to `reach` away: more than can be hubs, with long lists. Each triangle
// starts somewhere and continues by two steps that sum to at most `reach`.
TYPED_TEST(TriangleLoops, LongListsBeyondTheHubs) {
  constexpr std::int64_t n = 17500;
  constexpr std::int64_t reach = 270;
  test::raw_graph<TypeParam, std::int64_t> raw;
  raw.vertices = n;
  raw.direction = direction_kind::undirected;
  raw.offsets.push_back(0);
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t k = -reach; k <= reach; ++k) {
      if (k != 0) raw.indices.push_back(static_cast<TypeParam>((v + k + n) % n));
    }
    std::sort(raw.indices.end() - 2 * reach, raw.indices.end());
    raw.offsets.push_back(static_cast<std::int64_t>(raw.indices.size()));
  }
  constexpr std::int64_t total = n * (reach * (reach - 1) / 2);
  const std::vector<std::int64_t> per_vertex(n, 3 * total / n);
  for (const auto& loops : detail::triangles::usable_count_loops<TypeParam>()) {
    const test::triangle_counts got = count_by(loops, raw);
    EXPECT_EQ(got.total, total) << loops.name;
    EXPECT_EQ(got.per_vertex, per_vertex) << loops.name;
  }
}

}  // namespace
}  // namespace spargo
