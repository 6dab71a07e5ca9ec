// PageRank over weights against dense power iteration; what it refuses; and its check against planted errors.
#include <spargo/graph/pagerank.hpp>

#include "graph/pagerank/algorithms.hpp"
#include "graph/plan_estimate.hpp"
#include "graph/sssp_support.hpp"
#include "support/message.hpp"
#include "support/suites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace spargo {
namespace {

using doubles = std::vector<double>;
using test::graph_form;

// The oracle: `steps` times the matrix of all pairs. Edges are those that a walk may follow.
template <class W>
doubles dense_weighted_ranks(std::int64_t n, const test::weighted_edges<W>& edges, const pagerank_options& options,
                             doubles p, std::int64_t steps) {
  const auto size = static_cast<std::size_t>(n);
  const doubles even(size, 1.0 / static_cast<double>(n));
  if (p.empty()) p = even;
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= total;
  std::vector<doubles> weight(size, doubles(size, 0.0));
  for (const auto& e : edges) {
    weight[static_cast<std::size_t>(e.from)][static_cast<std::size_t>(e.to)] += static_cast<double>(e.weight);
  }
  doubles ranks = even;
  for (std::int64_t step = 0; step < steps; ++step) {
    doubles next(size);
    for (std::size_t v = 0; v < size; ++v) next[v] = (1 - options.damping) * p[v];
    for (std::size_t u = 0; u < size; ++u) {
      const double sum = std::accumulate(weight[u].begin(), weight[u].end(), 0.0);
      for (std::size_t v = 0; v < size; ++v) {
        double part = sum > 0 ? weight[u][v] / sum : 0;
        if (sum == 0 && options.dangling == pagerank_dangling::uniform) part = even[v];
        if (sum == 0 && options.dangling == pagerank_dangling::personalization) part = p[v];
        next[v] += options.damping * ranks[u] * part;
      }
    }
    ranks = std::move(next);
  }
  return ranks;
}

template <class V>
double distance(const pagerank_result<V, host>& found, const doubles& expected) {
  double sum = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    sum += std::abs(static_cast<double>(found.ranks[static_cast<std::int64_t>(v)]) - expected[v]);
  }
  return sum;
}

template <class V, class W, class I, class O>
struct weighted_case {
  using value = V;
  using weight = W;
  using index = I;
  using offset = O;
};

template <class Case>
class WeightedPageRank : public testing::Test {
 protected:
  using value = typename Case::value;
  using weight = typename Case::weight;
  using index = typename Case::index;
  using offset = typename Case::offset;
  using edges = test::weighted_edges<weight>;
  static constexpr double epsilon = std::numeric_limits<value>::epsilon();

  // Loops, duplicates, weights of 0 and vertices whose weights are all 0.
  static edges random_edges(test::random_source& random, std::int64_t n, std::int64_t count) {
    edges all;
    for (std::int64_t e = 0; e < count; ++e) {
      const std::int64_t from = random.below(n);
      const std::int64_t most = from % 4 == 3 ? 1 : 6;
      const double scale = std::is_integral_v<weight> ? 1.0 : 0.375;
      all.push_back({from, random.below(n), static_cast<weight>(scale * static_cast<double>(random.below(most)))});
    }
    return all;
  }
  static auto graph_of(std::int64_t n, const edges& all, graph_form form) {
    return test::make_weighted<weight, index, offset>(n, all, form);
  }
};

using cases = testing::Types<weighted_case<double, double, std::int32_t, std::int64_t>,
                             weighted_case<double, std::int32_t, std::int32_t, std::int32_t>,
                             weighted_case<float, double, std::int64_t, std::int64_t>,
                             weighted_case<double, std::int64_t, std::int64_t, std::int64_t>,
                             weighted_case<float, float, std::int32_t, std::int64_t>>;
TYPED_TEST_SUITE(WeightedPageRank, cases);

TYPED_TEST(WeightedPageRank, AgreesWithDenseStepsOnRandomGraphs) {
  using V = typename TestFixture::value;
  test::random_source random(91);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(600)) && !testing::Test::HasFailure();
       ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::int64_t n = 1 + random.below(12);
    const auto all = this->random_edges(random, n, random.below(4 * n));
    const graph_form form = test::all_forms[round % 3];
    const auto g = this->graph_of(n, all, form);
    std::vector<V> p;
    if (round % 2 == 1) {
      for (std::int64_t v = 0; v < n; ++v) p.push_back(static_cast<V>(random.below(3)));
      p[static_cast<std::size_t>(random.below(n))] = 5;
    }
    pagerank_options options{.dangling = static_cast<pagerank_dangling>(round / 3 % 3)};
    const context<host> ctx({.threads = 1 + static_cast<int>(round % 3)});
    const doubles wanted(p.begin(), p.end());
    const auto followed = test::followed(all, form);

    options.iterations = 3;
    const auto fixed = pagerank<V>(ctx, g.view(), options, p);
    EXPECT_LE(distance(fixed, dense_weighted_ranks(n, followed, options, wanted, 3)), 32 * this->epsilon);
    EXPECT_EQ(check_pagerank<V>(ctx, g.view(), fixed.ranks.view(), options, p), "");
    options.iterations = 0;
    options.tolerance = 32 * this->epsilon;
    const doubles limit = dense_weighted_ranks(n, followed, options, wanted, 250);
    for (const auto algorithm : {pagerank_algorithm::jacobi, pagerank_algorithm::gauss_seidel}) {
      options.algorithm = algorithm;
      const auto found = pagerank<V>(ctx, g.view(), options, p);
      EXPECT_TRUE(found.converged);
      EXPECT_LE(distance(found, limit), 400 * this->epsilon) << to_string(algorithm);
      EXPECT_EQ(check_pagerank<V>(ctx, g.view(), found.ranks.view(), options, p), "");
    }
  }
}

TYPED_TEST(WeightedPageRank, EqualWeightsGiveTheRanksOfTheGraph) {
  using V = typename TestFixture::value;
  test::random_source random(92);
  const context<host> ctx({.threads = 2});
  for (const graph_form form : test::all_forms) {
    auto all = this->random_edges(random, 3000, 40000);
    for (auto& e : all) e.weight = 3;
    const auto g = this->graph_of(3000, all, form);
    const auto weighted = pagerank<V>(ctx, g.view(), {.iterations = 10});
    const graph_view<typename TestFixture::index, typename TestFixture::offset, host> structure = g.view();
    const auto found = pagerank<V>(ctx, structure, {.iterations = 10});
    EXPECT_LE(distance(weighted, doubles(found.ranks.begin(), found.ranks.end())), 32 * this->epsilon);
  }
}

TYPED_TEST(WeightedPageRank, GivesTheSameBitsForAnyNumberOfThreads) {
  using V = typename TestFixture::value;
  test::random_source random(93);
  const auto g = this->graph_of(20000, this->random_edges(random, 20000, 250000), graph_form::out_and_in);
  const auto run = [&](int threads) {
    const auto found = pagerank<V>(context<host>({.threads = threads}), g.view(), {.iterations = 5});
    return std::vector<V>(found.ranks.begin(), found.ranks.end());
  };
  const auto first = run(1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(run(threads), first) << threads;
}

using doubly = test::weighted_edges<double>;
auto with_weights(const doubly& edges) {
  return test::make_weighted<double, std::int32_t, std::int32_t>(4, edges, graph_form::out_and_in);
}

TEST(WeightedPageRankWeights, OfAnyMagnitude) {
  const context<host> ctx({.threads = 1});
  const doubly edges{{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}, {3, 3, 1}};
  const auto expected = pagerank(ctx, with_weights(edges).view(), {.iterations = 6});
  for (const double scale : {1e-320, 1e-300, 1e-60, 1e60, 1e307}) {
    doubly scaled = edges;
    for (auto& e : scaled) e.weight *= scale;
    const auto found = pagerank(ctx, with_weights(scaled).view(), {.iterations = 6});
    const auto narrow = pagerank<float>(ctx, with_weights(scaled).view(), {.iterations = 6});
    const double allowed = scale == 1e-320 ? 1e-3 : 1e-14;  // few bits are left of denormal numbers
    EXPECT_LE(distance(found, doubles(expected.ranks.begin(), expected.ranks.end())), allowed) << scale;
    EXPECT_LE(distance(narrow, doubles(expected.ranks.begin(), expected.ranks.end())), allowed + 1e-6) << scale;
  }
}

TEST(WeightedPageRankWeights, RefusedByNameOfTheEdge) {
  const context<host> ctx({.threads = 2});
  const auto refusal = [&](double weight) {
    return [&ctx, weight] {
      const auto g = with_weights({{0, 1, 1}, {1, 2, 1}, {1, 3, weight}, {3, 0, -7}});
      const pagerank_plan plan(ctx, g.view());
    };
  };
  const auto names = [](const std::string& what) {
    return testing::ThrowsMessage<error>(testing::HasSubstr("pagerank: edge (1, 3) has weight " + what));
  };
  EXPECT_THAT(refusal(-0.5), names("-0.5 (expected"));
  EXPECT_THAT(refusal(std::nan("")), names("nan"));
  EXPECT_THAT(refusal(std::numeric_limits<double>::infinity()), names("inf"));
  const auto sum = [&] {
    const auto g = with_weights({{2, 0, 1e308}, {2, 1, 1e308}});
    const pagerank_plan plan(ctx, g.view());
  };
  EXPECT_THAT(sum, testing::ThrowsMessage<error>(testing::HasSubstr("from vertex 2 exceed double precision in sum")));
}

// --- On a device, against the host ---------------------------------------------------------------------------------

template <class V, class W, class I, class O>
void expect_device_ranks(std::int64_t n, const test::weighted_edges<W>& edges, graph_form form,
                         const pagerank_options& options) {
  const auto raw = test::make_weighted<W, I, O>(n, edges, form);
  const test::placed_weighted<W, I, O, device> g(raw);
  const context<host> ctx({.threads = 2});
  pagerank_plan<V, I, O, device> plan(g.ctx(), g.view(), options);
  for (int run = 0; run < 2; ++run) {
    plan.run();
    const auto ranks = g.fetch(plan.ranks());
    EXPECT_EQ(check_pagerank<V>(ctx, raw.view(), ranks, options), "") << plan.reason();
    if (options.iterations == 0) continue;
    const auto expected = pagerank<V>(ctx, raw.view(), options);
    for (std::int64_t v = 0; v < n; ++v) {
      const double right = expected.ranks[v];
      EXPECT_NEAR(ranks[static_cast<std::size_t>(v)], right, (sizeof(V) == 4 ? 2e-5 : 1e-12) * right) << v;
    }
  }
}

class WeightedPageRankOnDevice : public test::device_suite {
 protected:
  template <class V, class W, class I, class O>
  static void on_random_graphs(std::int64_t n, std::int64_t count) {
    test::random_source random(94);
    for (const graph_form form : test::all_forms) {
      test::weighted_edges<W> edges;
      for (std::int64_t e = 0; e < count; ++e) {
        const std::int64_t from = e % 5 == 0 ? random.below(std::min<std::int64_t>(n, 3)) : random.below(n);
        edges.push_back({from, random.below(n), static_cast<W>(random.below(from % 4 == 3 ? 1 : 250))});
      }
      expect_device_ranks<V, W, I, O>(n, edges, form, {.iterations = 20});
      expect_device_ranks<V, W, I, O>(n, edges, form, {.tolerance = sizeof(V) == 4 ? 1e-5 : 1e-10});
      expect_device_ranks<V, W, I, O>(n, edges, form, {.iterations = 3, .dangling = pagerank_dangling::drop});
    }
  }
};

TEST_F(WeightedPageRankOnDevice, AgreesWithTheHost) {
  for (const std::int64_t n : {1, 2, 33, 700}) {
    on_random_graphs<double, double, std::int32_t, std::int64_t>(n, 5 * n);
    on_random_graphs<float, std::int32_t, std::int32_t, std::int32_t>(n, 5 * n);
    on_random_graphs<double, std::int64_t, std::int64_t, std::int64_t>(n, 5 * n);
    on_random_graphs<double, float, std::int32_t, std::int32_t>(n, 0);
  }
}

// Large enough for copies of the matrix.
TEST_F(WeightedPageRankOnDevice, AgreesWithTheHostOnLargerGraphs) {
  on_random_graphs<double, std::int32_t, std::int32_t, std::int64_t>(200000, 3000000);
  on_random_graphs<float, double, std::int32_t, std::int64_t>(200000, 3000000);
}

TEST_F(WeightedPageRankOnDevice, WeightsOfAnyMagnitude) {
  for (const double scale : {1e-300, 1e-60, 1e60, 1e307}) {
    doubly edges{{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}, {3, 3, 1}};
    for (auto& e : edges) e.weight *= scale;
    for (const graph_form form : test::all_forms) {
      expect_device_ranks<double, double, std::int32_t, std::int64_t>(4, edges, form, {.iterations = 6});
      expect_device_ranks<float, double, std::int32_t, std::int64_t>(4, edges, form, {.iterations = 6});
    }
  }
}

TEST_F(WeightedPageRankOnDevice, RefusesWeightsByName) {
  const auto refusal = [](const doubly& edges) {
    const auto raw = test::make_weighted<double, std::int32_t, std::int64_t>(4, edges, graph_form::out_only);
    const test::placed_weighted<double, std::int32_t, std::int64_t, device> g(raw);
    return test::message_of(error_code::invalid_data, [&] {
      const pagerank_plan<double, std::int32_t, std::int64_t, device> plan(g.ctx(), g.view());
    });
  };
  EXPECT_THAT(refusal({{0, 1, 1}, {1, 3, -0.5}, {3, 0, -7}}), testing::HasSubstr("edge (1, 3) has weight -0.5"));
  EXPECT_THAT(refusal({{2, 0, 1e308}, {2, 1, 1e308}}),
              testing::HasSubstr("from vertex 2 exceed double precision in sum"));
}

TEST(WeightedPageRankWeights, PlansBuildInEdges) {
  const context<host> ctx;
  const doubly edges{{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}};
  const auto g = test::make_weighted<double, std::int32_t, std::int32_t>(4, edges, graph_form::out_only);
  pagerank_plan plan(ctx, g.view(), {.iterations = 4});
  plan.run();
  const doubles expected = dense_weighted_ranks(4, edges, {}, {}, 4);
  for (std::int64_t v = 0; v < 4; ++v) EXPECT_NEAR(plan.ranks()[v], expected[static_cast<std::size_t>(v)], 1e-15);
}

TEST(WeightedPageRankPlans, KeepTheirEstimates) {
  for (const test::plan_graph& on : test::plan_graphs()) {
    for (const pagerank_options& options : {pagerank_options{}, pagerank_options{.iterations = 5}}) {
      const auto check = [&]<class V>() {
        using plan_type = pagerank_plan<V, std::int32_t, std::int64_t, host>;
        test::expect_estimate(on.name, 1, plan_type::estimate_weighted(on.shape(1), options),
                              [&](const context<host>& ctx, auto&& then) {
                                plan_type plan(ctx, on.g, options);
                                then([&] { plan.run(); });
                              });
      };
      check.template operator()<double>();
      check.template operator()<float>();
    }
  }
}

TEST(WeightedPageRankCheck, FindsRanksOfOtherWeights) {
  const context<host> ctx({.threads = 1});
  const doubly edges{{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}, {3, 0, 1}};
  const auto g = with_weights(edges);
  const graph_view<std::int32_t, std::int32_t, host> structure = g.view();
  for (const std::int64_t iterations : {0, 4}) {
    const pagerank_options options{.iterations = iterations};
    const auto right = pagerank(ctx, g.view(), options);
    const auto unweighted = pagerank(ctx, structure, options);
    EXPECT_EQ(check_pagerank(ctx, g.view(), right.ranks.view(), options), "");
    EXPECT_NE(check_pagerank(ctx, g.view(), unweighted.ranks.view(), options), "");
    EXPECT_NE(check_pagerank(ctx, structure, right.ranks.view(), options), "");
  }
}

}  // namespace
}  // namespace spargo
