// Shortest paths: weights at the limits of their types, the choice of an algorithm, refusals.
#include <spargo/graph/sssp.hpp>

#include "core/parallel.hpp"
#include "graph/sssp/algorithms.hpp"
#include "graph/sssp_support.hpp"
#include "support/device.hpp"
#include "support/message.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::graph_form;
using test::message_of;
using test::weighted_edges;

template <class Space>
std::vector<sssp_algorithm> algorithms() {
  return detail::algorithms_on<Space>(detail::sssp::algorithms);
}

template <class Space, class W>
std::string weight_message(std::vector<W> weights) {
  weighted_edges<W> edges;
  for (std::size_t k = 0; k < weights.size(); ++k) edges.push_back({static_cast<std::int64_t>(k), 0, weights[k]});
  const auto g =
      test::make_weighted<W, int, int>(static_cast<std::int64_t>(weights.size()), edges, graph_form::out_only);
  const test::placed_weighted<W, int, int, Space> placed(g);
  return message_of(error_code::invalid_data, [&] { (void)sssp(placed.ctx(), placed.view(), 0); });
}

template <class Space>
class SsspWeights : public testing::Test {
 protected:
  void SetUp() override {
    if (std::is_same_v<Space, device>) SPARGO_TEST_NEEDS_GPU();
    detail::assume_processors(8);
  }
  void TearDown() override { detail::assume_processors(0); }
};
using spaces = test::suite_types<host, device>;
TYPED_TEST_SUITE(SsspWeights, spaces, );

TYPED_TEST(SsspWeights, NegativeOnesAreRefusedByName) {
  EXPECT_EQ((weight_message<TypeParam, int>({1, 2, -3, 4, -5})),
            "sssp: edge (2, 0) has weight -3 (expected 0 or more)");
  EXPECT_EQ((weight_message<TypeParam, std::int64_t>({1, -2})), "sssp: edge (1, 0) has weight -2 (expected 0 or more)");
  EXPECT_EQ((weight_message<TypeParam, double>({0, -0.5})), "sssp: edge (1, 0) has weight -0.5 (expected 0 or more)");
  EXPECT_EQ((weight_message<TypeParam, float>({0, 1, std::nanf("")})),
            "sssp: edge (2, 0) has weight nan (expected 0 or more)");
  std::vector<int> many(200000, 1);
  many[150000] = many[170000] = -1;
  EXPECT_EQ((weight_message<TypeParam, int>(many)), "sssp: edge (150000, 0) has weight -1 (expected 0 or more)");
}

// A search with smallest parents, checked.
template <class Space, class W>
std::pair<std::vector<sssp_distance<W>>, std::vector<int>> search(const test::raw_weighted_graph<W, int, int>& g,
                                                                  sssp_algorithm algorithm) {
  const sssp_options options{.algorithm = algorithm, .parents = sssp_parents::smallest};
  const test::placed_weighted<W, int, int, Space> placed(g);
  sssp_plan<W, int, int, Space> plan(placed.ctx(), placed.view(), options);
  plan.run(0);
  auto distances = placed.fetch(plan.distances());
  auto parents = placed.fetch(plan.parents());
  EXPECT_EQ(check_sssp(context<host>(), g.view(), 0, distances, parents, options), "");
  EXPECT_EQ(plan.reached(), std::count_if(parents.begin(), parents.end(), [](int parent) { return parent >= 0; }));
  return {std::move(distances), std::move(parents)};
}

TYPED_TEST(SsspWeights, PathsTooLongForTheTypeAreNone) {
  constexpr std::int64_t half = std::int64_t{1} << 62;
  const auto g = test::make_weighted<std::int64_t, int, int>(
      4, {{0, 1, half}, {1, 2, half - 2}, {2, 3, 1}, {1, 3, half}}, graph_form::out_only);
  const auto narrow = test::make_weighted<int, int, int>(
      4, {{0, 1, 2000000000}, {1, 2, 2000000000}, {2, 3, 2000000000}}, graph_form::out_only);
  const double inf = std::numeric_limits<double>::infinity();
  const auto wide = test::make_weighted<double, int, int>(4, {{0, 1, 1e308}, {1, 2, 1e308}, {0, 3, inf}, {0, 2, -0.0}},
                                                          graph_form::out_only);
  for (const auto algorithm : algorithms<TypeParam>()) {
    EXPECT_EQ((search<TypeParam>(g, algorithm).first),
              (std::vector<std::int64_t>{0, half, 2 * (half - 1), sssp_unreached<std::int64_t>}));
    EXPECT_EQ((search<TypeParam>(narrow, algorithm).first),
              (std::vector<std::int64_t>{0, 2000000000, 4000000000, 6000000000}));
    EXPECT_EQ((search<TypeParam>(wide, algorithm).first), (std::vector<double>{0, 1e308, 0, inf}));
  }
}

// 1e-30 is lost in 1: vertices 2 and 3 are as near as 1, and 3's smallest neighbour is not nearer.
TYPED_TEST(SsspWeights, EdgesThatAddNothingMakeNoCycles) {
  const auto g = test::make_weighted<double, int, int>(
      5, {{0, 4, 1}, {4, 2, 1e-30}, {2, 3, 1e-30}, {3, 2, 1e-30}, {3, 1, 0}, {1, 3, 0}}, graph_form::out_only);
  for (const auto algorithm : algorithms<TypeParam>()) {
    const auto found = search<TypeParam>(g, algorithm);
    EXPECT_EQ(found.first, (std::vector<double>{0, 1, 1, 1, 1}));
    EXPECT_EQ(found.second, (std::vector<int>{0, 3, 4, 2, 0}));
  }
}

// Bucket widths lost in rounding, and the largest finite lengths.
TYPED_TEST(SsspWeights, FarAboveTheWidthOfABucket) {
  const auto g = test::make_weighted<double, int, int>(
      5, {{0, 1, 1e300}, {1, 2, 1e285}, {1, 3, 1e286}, {3, 4, 1e308}, {2, 4, 1.7e308}}, graph_form::out_only);
  const test::placed_weighted<double, int, int, TypeParam> placed(g);
  for (const double delta : {1e-200, 1e-3, 1e284, 1e308}) {
    sssp_plan<double, int, int, TypeParam> plan(placed.ctx(), placed.view(),
                                                {.algorithm = sssp_algorithm::delta_stepping, .delta = delta});
    plan.run(0);
    EXPECT_EQ(placed.fetch(plan.distances()),
              (std::vector<double>{0, 1e300, 1e300 + 1e285, 1e300 + 1e286, 1e300 + 1e286 + 1e308}))
        << delta;
  }
}

class SsspThere : public test::device_suite {};

TEST_F(SsspThere, DeviceGivesItsReasonAndRefuses) {
  const auto g = test::make_weighted<int, int, int>(
      9000, test::with_weights<int>(test::path_edges(9000), [](std::size_t) { return 100; }), graph_form::undirected);
  const test::placed_weighted<int, int, int, device> placed(g);
  const sssp_plan<int, int, int, device> plan(placed.ctx(), placed.view());
  EXPECT_EQ(plan.algorithm(), sssp_algorithm::delta_stepping);
  EXPECT_EQ(plan.reason(), "the device has no other algorithm");
  EXPECT_GE(plan.delta(), 128);
  const sssp_plan<int, int, int, device> with_delta(placed.ctx(), placed.view(),
                                                    {.delta = 100, .output = sssp_output::distances});
  EXPECT_EQ(with_delta.delta(), 96);
  EXPECT_TRUE(with_delta.parents().empty());
  EXPECT_GT(with_delta.workspace_bytes(), 9000 * 12);
  EXPECT_GT(plan.workspace_bytes(), with_delta.workspace_bytes() + 9000 * 4);
  const auto refusal = [&](const sssp_options& options) {
    return message_of(error_code::invalid_argument, [&] { (void)sssp(placed.ctx(), placed.view(), 0, options); });
  };
  EXPECT_NE(refusal({.algorithm = static_cast<sssp_algorithm>(77)}).find("number 77"), std::string::npos);
  EXPECT_EQ(message_of(error_code::unsupported,
                       [&] { (void)sssp(placed.ctx(), placed.view(), 0, {.algorithm = sssp_algorithm::dijkstra}); }),
            "sssp: algorithm dijkstra does not run on the device (expected one of delta_stepping)");
  EXPECT_NE(refusal({.cutoff = -1}).find("cutoff -1"), std::string::npos);
  EXPECT_NE(refusal({.target = 9000}).find("target 9000"), std::string::npos);
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)sssp(placed.ctx(), placed.view(), 9000); })
                .find("source 9000"),
            std::string::npos);
}

TEST(SsspChoice, GivesItsReason) {
  const context<host> ctx({.threads = 2});
  const auto small = test::make_weighted<int, int, int>(3, {{0, 1, 4}}, graph_form::out_only);
  const sssp_plan<int, int, int, host> few(ctx, small.view());
  EXPECT_EQ(few.algorithm(), sssp_algorithm::dijkstra);
  EXPECT_NE(few.reason().find("too small"), std::string::npos);
  EXPECT_EQ(few.delta(), 0);
  const auto large = test::make_weighted<int, int, int>(
      9000, test::with_weights<int>(test::path_edges(9000), [](std::size_t) { return 100; }), graph_form::undirected);
  const sssp_plan<int, int, int, host> many(ctx, large.view());
  EXPECT_EQ(many.algorithm(), sssp_algorithm::delta_stepping);
  EXPECT_GE(many.delta(), 128);
  EXPECT_GT(many.workspace_bytes(), 9000 * 8);
  const sssp_plan<int, int, int, host> with_delta(ctx, large.view(), {.delta = 100, .output = sssp_output::distances});
  EXPECT_EQ(with_delta.delta(), 64);
  EXPECT_LT(with_delta.workspace_bytes(), many.workspace_bytes());
  EXPECT_TRUE(with_delta.parents().empty());
}

TEST(SsspChoice, RefusesWhatMakesNoSense) {
  const context<host> ctx;
  const auto raw = test::make_weighted<int, int, int>(3, {{0, 1, 4}}, graph_form::out_only);
  const auto refusal = [&](const sssp_options& options) {
    return message_of(error_code::invalid_argument, [&] { (void)sssp(ctx, raw.view(), 0, options); });
  };
  EXPECT_NE(refusal({.algorithm = static_cast<sssp_algorithm>(99)}).find("99"), std::string::npos);
  EXPECT_NE(refusal({.delta = -1}).find("delta -1"), std::string::npos);
  EXPECT_NE(refusal({.delta = std::nan("")}).find("delta nan"), std::string::npos);
  EXPECT_NE(refusal({.cutoff = -1}).find("cutoff -1"), std::string::npos);
  EXPECT_NE(refusal({.cutoff = std::nan("")}).find("cutoff nan"), std::string::npos);
  EXPECT_NE(refusal({.target = 3}).find("target 3"), std::string::npos);
  EXPECT_NE(refusal({.target = -2}).find("target -2"), std::string::npos);
  for (const std::int64_t source : {-1, 3}) {
    EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)sssp(ctx, raw.view(), source); })
                  .find("source " + std::to_string(source)),
              std::string::npos);
  }
  auto g = raw.view();
  g.out_weights = {};
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)sssp(ctx, g, 0); }).find("0 weights of 1 out-edges"),
            std::string::npos);
  g = raw.view();
  g.out.cols = 4;
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)sssp(ctx, g, 0); }).find("3 x 4"), std::string::npos);
  EXPECT_EQ(parse_sssp_algorithm("delta_stepping"), sssp_algorithm::delta_stepping);
  EXPECT_NE(message_of(error_code::invalid_argument, [] { (void)parse_sssp_algorithm("astar"); }).find("astar"),
            std::string::npos);
}

TEST(SsspChoice, NaturalCalls) {
  const context<host> ctx({.threads = 2});
  const std::vector<std::int32_t> from{0, 1, 0, 3};
  const std::vector<std::int32_t> to{1, 2, 2, 2};
  const std::vector<float> weights{0.5F, 0.25F, 1.0F, 2.0F};
  const auto g = build_weighted_graph<std::int32_t>(ctx, coo_pattern_view<std::int32_t, host>{5, 5, from, to}, weights);
  const auto result = sssp(ctx, g, 0);
  const double inf = sssp_unreached<float>;
  EXPECT_EQ(test::copy_of(result.distances.view()), (std::vector<double>{0, 0.5, 0.75, inf, inf}));
  EXPECT_EQ(test::copy_of(result.parents.view()), (std::vector<std::int32_t>{0, 0, 1, -1, -1}));
  EXPECT_EQ(result.reached, 3);
  EXPECT_EQ(result.source, 0);
  EXPECT_EQ(check_sssp(ctx, g, 0, result.distances, result.parents), "");
  sssp_plan plan(ctx, g, {.target = 1});
  plan.run(0);
  EXPECT_EQ(plan.reached(), 2);
}

}  // namespace
}  // namespace spargo
