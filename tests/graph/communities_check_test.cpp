// check_communities and check_partition: correct labels pass, every planted error is found and named.
#include <spargo/graph/communities.hpp>

#include "graph/communities_support.hpp"
#include "graph/partition_support.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace spargo {
namespace {

using test::build;
using test::cpu;
using test::weighted_edges;

using labels_type = std::vector<std::int32_t>;

std::string fault(const test::edge_vector& edges, const labels_type& labels, std::int64_t iterations,
                  const labels_type& initial = {}) {
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out_and_in);
  return check_communities(context<host>({.threads = 2}), raw.view(), labels, {.iterations = iterations}, initial);
}

TEST(CheckCommunities, RightLabelsPass) {
  EXPECT_EQ(fault({}, {}, 3), "");
  EXPECT_EQ(fault({}, {0, 1}, 3), "");
  EXPECT_EQ(fault({{0, 1}, {1, 2}}, {1, 0, 1}, 1), "");
  EXPECT_EQ(fault({{0, 1}, {1, 2}}, {0, 1, 0}, 2), "");
  EXPECT_EQ(fault({{0, 1}, {1, 2}}, {1, 0, 1}, 1000000001), "");
  EXPECT_EQ(fault({{0, 1}, {1, 2}}, {2, 2, 2}, 1, {2, 2, 2}), "");
}

TEST(CheckCommunities, NamesTheFirstVertexWithAnotherLabel) {
  EXPECT_EQ(fault({{0, 1}, {1, 2}}, {1, 2, 0}, 1), "vertex 1 has label 2 (expected 0)");
  EXPECT_EQ(fault({{0, 1}}, {1, 0, -1}, 1), "vertex 2 has label -1 (expected 2)");
  EXPECT_EQ(fault({{0, 1}}, {1, 0, 7}, 1), "vertex 2 has label 7 (expected 2)");
  EXPECT_EQ(fault({{0, 1}, {0, 1}}, {1, 0}, 2), "vertex 0 has label 1 (expected 0)");
}

TEST(CheckCommunities, RefusesWhatIsNoQuestion) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(2, {{0, 1}}, test::edges_kept::out_and_in);
  EXPECT_EQ(check_communities(ctx, raw.view(), labels_type{0}), "1 labels for 2 vertices");
  EXPECT_THROW((void)check_communities(ctx, raw.view(), labels_type{0, 0}, {}, labels_type{0}), error);
  EXPECT_THROW((void)check_communities(ctx, raw.view(), labels_type{0, 0}, {}, labels_type{0, 2}), error);
  EXPECT_THROW((void)check_communities(ctx, raw.view(), labels_type{0, 0}, {}, labels_type{-1, 0}), error);
}

TEST(CheckCommunities, BuildsTheInEdgesThatItNeeds) {
  const context<host> ctx;
  const auto out_only = test::make_directed<std::int32_t, std::int32_t>(2, {{0, 1}}, test::edges_kept::out);
  EXPECT_EQ(check_communities(ctx, out_only.view(), labels_type{1, 0}, {.iterations = 1}), "");
  EXPECT_NE(check_communities(ctx, out_only.view(), labels_type{0, 0}, {.iterations = 1}), "");
}

TEST(CheckCommunities, FindsEveryChangeOfOneLabel) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::random_source random(seed);
    const test::edge_vector edges = test::random_edges(random, 7, 3 + random.below(12), 0);
    const std::int64_t rounds = 1 + random.below(8);
    const auto right = test::naive_cdlp(7, edges, rounds, test::own_labels(7));
    labels_type labels(right.begin(), right.end());
    ASSERT_EQ(fault(edges, labels, rounds), "");
    for (std::int32_t& label : labels) {
      for (std::int32_t other = 0; other < 7; ++other) {
        if (other == label) continue;
        const std::int32_t was = std::exchange(label, other);
        ASSERT_NE(fault(edges, labels, rounds), "") << "seed " << seed;
        label = was;
      }
    }
  }
}

// --- Partitions by Louvain and Leiden

TEST(PartitionCheck, NamesTheFault) {
  const weighted_edges edges{{0, 1, 1}, {1, 2, 1}, {3, 4, 1}};
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(5, edges, direction_kind::undirected);
  const auto fault = [&](const std::vector<std::int32_t>& labels, double modularity, communities_method method) {
    return check_partition(cpu(), g, labels, modularity, {.method = method});
  };
  constexpr auto louvain = communities_method::louvain;
  constexpr auto leiden = communities_method::leiden;
  EXPECT_EQ(fault({0, 0, 0, 3, 3}, 4.0 / 9, leiden), "");
  EXPECT_EQ(fault({0, 0, 0, 3, 3}, 0.44, leiden), "modularity 0.44 (expected 0.4444444444444444)");
  EXPECT_NE(fault({0, 0, 0, 3, 3}, 4.0 / 9 + 2e-9, leiden), "");
  EXPECT_EQ(fault({0, 0, 0, 3}, 4.0 / 9, leiden), "4 labels for 5 vertices");
  EXPECT_NE(fault({1, 1, 1, 3, 3}, 4.0 / 9, leiden).find("vertex 0 has label 1"), std::string::npos);
  EXPECT_NE(fault({0, 0, 0, 3, 9}, 4.0 / 9, leiden).find("vertex 4 has label 9"), std::string::npos);
  EXPECT_NE(fault({0, 0, 1, 3, 3}, 0, leiden).find("vertex 2 has label 1"), std::string::npos);
  EXPECT_EQ(fault({0, 0, 0, 0, 0}, 0, louvain), "");
  EXPECT_EQ(fault({0, 0, 0, 0, 0}, 0, leiden),
            "vertices 0 and 3 are in one community without a path between them inside it");
}

// Weights inside communities are rounded down by nearly as much as can be, those between them up.
TEST(PartitionCheck, AllowsForRoundedWeights) {
  constexpr std::int64_t copies = 700000;
  constexpr double unit = 0x1p-27;  // the fixed point of weights that add up to nearly 2^22
  const std::vector<std::int64_t> offsets{0, copies, 3 * copies, 5 * copies, 6 * copies};
  std::vector<std::int32_t> ends;
  std::vector<double> weights;
  const auto add = [&](std::int32_t end, double weight) {
    ends.insert(ends.end(), copies, end);
    weights.insert(weights.end(), copies, weight);
  };
  const double inside = 0.984375 + 0.49 * unit;
  add(1, inside);
  add(0, inside);
  add(2, 0.984375 - 0.49 * unit);
  add(1, 0.984375 - 0.49 * unit);
  add(3, inside);
  add(2, inside);
  weighted_graph_view<double, std::int32_t, std::int64_t, host> g{};
  g.out = {4, 4, offsets, ends};
  g.direction = direction_kind::undirected;
  g.out_weights = weights;
  const communities_options options{.method = communities_method::leiden};
  const auto found = communities(cpu(), g, options);
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(check_partition(cpu(), g, found.labels, found.modularity, options), "");
  EXPECT_NE(check_partition(cpu(), g, found.labels, found.modularity + 2e-8, options), "");
}

}  // namespace
}  // namespace spargo
