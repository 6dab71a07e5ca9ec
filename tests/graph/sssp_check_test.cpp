// check_sssp: correct results pass, every planted error is found and named.
#include <spargo/graph/sssp.hpp>

#include "graph/sssp_support.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::graph_form;

using distances_type = std::vector<std::int64_t>;
using parents_type = std::vector<std::int32_t>;

constexpr std::int64_t none = sssp_unreached<std::int32_t>;

// 0 to 3 via 1 (5) or 2 (5, in two steps), and on to 4, 5 and back over edges of weight 0; 6 leads to all.
const test::weighted_edges<std::int32_t> edges{{0, 1, 2}, {1, 3, 3}, {0, 2, 4}, {2, 3, 1}, {3, 4, 0}, {4, 5, 0},
                                               {5, 4, 0}, {5, 3, 0}, {6, 0, 1}, {1, 1, 0}, {0, 1, 9}};
const distances_type right_distances{0, 2, 4, 5, 5, 5, none};
const parents_type right_parents{0, 0, 0, 1, 3, 4, -1};

std::string fault(const distances_type& distances, const parents_type& parents = {}, const sssp_options& options = {}) {
  const auto g = test::make_weighted<std::int32_t, std::int32_t, std::int32_t>(7, edges, graph_form::out_only);
  return check_sssp(context<host>({.threads = 2}), g.view(), 0, distances, parents, options);
}

template <class T>
std::vector<T> changed(std::vector<T> values, std::size_t at, T to) {
  values[at] = to;
  return values;
}

TEST(CheckSssp, RightResultsPass) {
  EXPECT_EQ(fault(right_distances), "");
  EXPECT_EQ(fault(right_distances, right_parents), "");
  EXPECT_EQ(fault(right_distances, right_parents, {.parents = sssp_parents::smallest}), "");
  EXPECT_EQ(fault(right_distances, changed(right_parents, 3, 2)), "");
  EXPECT_EQ(fault({0, 2, 4, none, none, none, none}, {}, {.cutoff = 4.5}), "");
  EXPECT_EQ(fault({0, 2, none, none, none, none, none}, {}, {.target = 1}), "");
}

TEST(CheckSssp, NamesWhatIsNoResult) {
  EXPECT_EQ(fault({0, 1}), "2 distances for 7 vertices");
  EXPECT_EQ(fault(right_distances, {0, 0}), "2 parents for 7 vertices");
  EXPECT_EQ(fault(changed(right_distances, 0, std::int64_t{1})), "the source 0 has distance 1");
  EXPECT_EQ(fault(changed(right_distances, 4, std::int64_t{-1})),
            "vertex 4 has distance -1 (expected 0 or more, and within the limits)");
  EXPECT_EQ(fault(right_distances, {}, {.cutoff = 4}),
            "vertex 3 has distance 5 (expected 0 or more, and within the limits)");
  EXPECT_EQ(fault(right_distances, {}, {.target = 2}),
            "vertex 3 has distance 5 (expected 0 or more, and within the limits)");
  const auto g = test::make_weighted<double, int, int>(2, {{0, 1, 1}}, graph_form::out_only);
  EXPECT_EQ(check_sssp(context<host>(), g.view(), 0, std::vector<double>{0, std::nan("")}),
            "vertex 1 has distance nan (expected 0 or more, and within the limits)");
  EXPECT_EQ(check_sssp(context<host>(), g.view(), 2, std::vector<double>{0, 1}),
            "the source 2 is not one of 2 vertices");
}

TEST(CheckSssp, NamesAShorterWay) {
  EXPECT_EQ(fault(changed(right_distances, 2, std::int64_t{7})),
            "vertex 2 has distance 7, but an edge of weight 4 leads to it from vertex 0 at 0");
  EXPECT_EQ(fault(changed(right_distances, 5, none)),
            "vertex 5 is not reached, but an edge of weight 0 leads to it from vertex 4 at 5");
}

TEST(CheckSssp, NamesADistanceThatNoPathHas) {
  EXPECT_EQ(fault(changed(right_distances, 1, std::int64_t{1})),
            "vertex 3 has distance 5, but an edge of weight 3 leads to it from vertex 1 at 1");
  EXPECT_EQ(fault({0, 2, 4, 3, 3, 3, none}), "vertex 3 has distance 3, but no path of this length leads to it");
  EXPECT_EQ(fault({0, 2, 3, 4, 4, 4, none}), "vertex 2 has distance 3, but no path of this length leads to it");
}

TEST(CheckSssp, NamesWrongParents) {
  EXPECT_EQ(fault(right_distances, changed(right_parents, 0, 1)), "the source 0 has parent 1");
  EXPECT_EQ(fault(right_distances, changed(right_parents, 6, 0)),
            "vertex 6 is not reached and has parent 0 (expected -1)");
  EXPECT_EQ(fault(right_distances, changed(right_parents, 3, 0)),
            "vertex 3 at distance 5 has parent 0, which no edge of the right weight joins to it");
  EXPECT_EQ(fault(right_distances, changed(right_parents, 3, 99)),
            "vertex 3 at distance 5 has parent 99, which no edge of the right weight joins to it");
  EXPECT_EQ(fault(right_distances, changed(right_parents, 4, 5)), "the parents of vertex 4 form a cycle");
  EXPECT_EQ(fault(right_distances, changed(right_parents, 3, 2), {.parents = sssp_parents::smallest}),
            "vertex 3 has parent 2 (expected 1, the smallest)");
  EXPECT_EQ(fault(right_distances, changed(changed(right_parents, 3, 5), 4, 5)),
            "the parents of vertex 5 form a cycle");
}

// Every change of one distance of a correct result is wrong.
TEST(CheckSssp, FindsEveryChangeOfOneDistance) {
  int planted = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::random_source random(seed);
    const auto some =
        test::with_weights<std::int32_t>(test::random_edges(random, 7, 3 + random.below(14), 0),
                                         [&](std::size_t) { return static_cast<std::int32_t>(random.below(4)); });
    const auto g = test::make_weighted<std::int32_t, std::int32_t, std::int32_t>(7, some, graph_form::out_only);
    const context<host> ctx({.threads = 2});
    auto distances = test::naive_distances(7, some, 0);
    const auto fault_of = [&] { return check_sssp(ctx, g.view(), 0, distances); };
    ASSERT_EQ(fault_of(), "");
    for (std::size_t v = 0; v < distances.size(); ++v) {
      for (const std::int64_t other : {std::int64_t{0}, std::int64_t{1}, distances[v] - 1, std::int64_t{9}, none}) {
        if (other == distances[v]) continue;
        const std::int64_t was = std::exchange(distances[v], other);
        ASSERT_NE(fault_of(), "") << "seed " << seed << ", vertex " << v << ", distance " << other;
        distances[v] = was;
        ++planted;
      }
    }
  }
  EXPECT_GT(planted, 4000);
}

}  // namespace
}  // namespace spargo
