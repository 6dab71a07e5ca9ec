// Louvain and Leiden on the device: the bits that the host finds.
#include <spargo/graph/communities.hpp>

#include "graph/partition_support.hpp"
#include "graph/plan_estimate.hpp"
#include "support/device.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::build;
using test::cpu;
using test::draw_edges;
using test::drawn_for;

// A weighted graph by its owner: to_device copies the structure alone of its view.
template <class Graph>
void expect_same(const Graph& g, const communities_options& options) {
  const context<device> gpu;
  const auto want = communities(cpu(), g, options);
  const auto placed = to_device(gpu, g);
  const auto got = communities(gpu, placed, options);
  const auto labels = to_host(gpu, std::as_const(got.labels).view());
  ASSERT_EQ(std::vector(labels.begin(), labels.end()), std::vector(want.labels.begin(), want.labels.end()));
  ASSERT_EQ(got.modularity, want.modularity);
  ASSERT_EQ(got.count, want.count);
  ASSERT_EQ(got.rounds, want.rounds);
  ASSERT_EQ(got.levels, want.levels);
}

communities_options draw_options(test::random_source& random) {
  communities_options options;
  options.method = random.below(2) == 0 ? communities_method::louvain : communities_method::leiden;
  options.objective = static_cast<communities_objective>(random.below(3) / 2);
  constexpr double resolutions[] = {1, 0.5, 2.3, 0.1, 0};
  options.resolution = resolutions[random.below(5)];
  options.iterations = 1 + random.below(3);
  options.max_levels = 1 + random.below(9);
  options.seed = random.next();
  return options;
}

template <class W, class I, class O>
void random_graphs(std::uint64_t rounds, std::int64_t n, std::int64_t edges) {
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    SCOPED_TRACE(seed);
    test::random_source random(seed);
    const auto direction = seed % 2 == 0 ? direction_kind::undirected : direction_kind::directed;
    const auto drawn = draw_edges(random, n, edges, drawn_for<W>);
    const communities_options options = draw_options(random);
    const auto g = build<W, I, O>(n, drawn, direction);
    expect_same(g, options);
    if (testing::Test::HasFatalFailure()) return;
    if (g.view().direction != direction_kind::undirected) continue;
    const graph_view<I, O, host>& pattern = g.view();
    expect_same(pattern, options);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(LouvainLeidenDevice, SmallGraphs) {
  SPARGO_TEST_NEEDS_GPU();
  for (const std::int64_t n : {1, 2, 31, 33, 400}) random_graphs<std::int32_t, std::int32_t, std::int32_t>(8, n, 3 * n);
}

TEST(LouvainLeidenDevice, LargerGraphs) {
  SPARGO_TEST_NEEDS_GPU();
  random_graphs<std::int32_t, std::int32_t, std::int32_t>(8, 9000, 60000);
  random_graphs<double, std::int32_t, std::int64_t>(8, 20000, 90000);
  random_graphs<float, std::int64_t, std::int64_t>(4, 300, 60000);
}

// Rows of every class: threads, warps, blocks and tables in global memory.
TEST(LouvainLeidenDevice, GeneratedGraphs) {
  SPARGO_TEST_NEEDS_GPU();
  for (const auto& [spec, direction] : {std::pair("gen:rmat:scale=15,degree=16", direction_kind::undirected),
                                        std::pair("gen:rmat:scale=17,degree=8", direction_kind::undirected),
                                        std::pair("gen:rmat:scale=14,degree=16", direction_kind::directed),
                                        std::pair("gen:uniform:rows=131072,degree=8", direction_kind::undirected),
                                        std::pair("gen:grid2d:n=400", direction_kind::undirected)}) {
    const test::plan_graph t("graph", spec, direction, false);
    const graph_view<std::int32_t, std::int64_t, host>& pattern = t.g;
    for (const auto method : {communities_method::louvain, communities_method::leiden}) {
      SCOPED_TRACE(std::string(spec) + " " + std::string(to_string(method)));
      expect_same(pattern, {.method = method, .iterations = 2});
      expect_same(t.graph, {.method = method, .iterations = 1});
      expect_same(pattern,
                  {.method = method, .iterations = 1, .objective = communities_objective::cpm, .resolution = 0.01});
    }
  }
}

TEST(LouvainLeidenDevice, InitialCommunities) {
  SPARGO_TEST_NEEDS_GPU();
  test::random_source random(3);
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(
      12000, draw_edges(random, 12000, 60000, test::drawn::whole), direction_kind::undirected);
  std::vector<std::int32_t> initial;
  for (int v = 0; v < 12000; ++v) initial.push_back(static_cast<std::int32_t>(random.below(50)));
  const context<device> gpu;
  const auto placed = to_device(gpu, g);
  const auto given = to_device(gpu, span<const std::int32_t, host>(initial));
  for (const auto method : {communities_method::louvain, communities_method::leiden}) {
    const auto want = communities(cpu(), g, {.method = method}, initial);
    const auto got = communities(gpu, placed, {.method = method}, given);
    const auto labels = to_host(gpu, std::as_const(got.labels).view());
    EXPECT_EQ(std::vector(labels.begin(), labels.end()), std::vector(want.labels.begin(), want.labels.end()));
  }
}

}  // namespace
}  // namespace spargo
