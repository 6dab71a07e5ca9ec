// check_communities: correct labels pass, every planted error is found and named.
#include <spargo/graph/communities.hpp>

#include "graph/communities_support.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace spargo {
namespace {

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

}  // namespace
}  // namespace spargo
