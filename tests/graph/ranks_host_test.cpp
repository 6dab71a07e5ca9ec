// Eigenvector centrality, Katz centrality and HITS: known values, the same bits for any number of threads, refusals,
// the limits of double precision, and the checks against planted errors.
#include <spargo/graph/eigenvector.hpp>
#include <spargo/graph/hits.hpp>
#include <spargo/graph/katz.hpp>
#include <spargo/io/generate.hpp>

#include "graph/sssp_support.hpp"
#include "support/device.hpp"
#include "support/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace spargo {
namespace {

using doubles = std::vector<double>;
using test::graph_form;
using test::message_of;

doubles from(const array<double, host>& values) { return {values.begin(), values.end()}; }

const context<host> cpu({.threads = 2});

using doubly = test::weighted_edges<double>;
auto graph_of(std::int64_t n, const doubly& edges, graph_form form = graph_form::out_only) {
  return test::make_weighted<double, std::int32_t, std::int64_t>(n, edges, form);
}

TEST(RanksHost, GiveTheSameBitsForAnyNumberOfThreads) {
  test::random_source random(66);
  doubly edges;
  for (int e = 0; e < 300000; ++e)
    edges.push_back({random.below(40000), random.below(40000), 0.1 * static_cast<double>(random.below(50))});
  const auto g = graph_of(40000, edges);
  std::vector<doubles> first;
  for (const int threads : {1, 2, 3, 8}) {
    const context<host> ctx({.threads = threads});
    const auto e = eigenvector(ctx, g.view(), {.max_iterations = 5});
    const auto k = katz(ctx, g.view());
    const auto h = hits(ctx, g.view(), {.max_iterations = 5});
    const std::vector<doubles> found{from(e.values),
                                     from(k.values),
                                     from(h.hubs),
                                     from(h.authorities),
                                     {e.residual, e.eigenvalue, k.residual, k.alpha, h.residual}};
    if (first.empty()) first = found;
    EXPECT_EQ(found, first) << threads;
  }
}

// 2^22 entries and more, in scattered columns.
TEST(RanksDevice, PatternsAreMultipliedWithoutValues) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx;
  const context<device> gpu;
  const auto expect_near = [&](span<const double, device> found, const auto& expected) {
    const auto values = to_host(gpu, found);
    ASSERT_EQ(values.size(), expected.size());
    for (std::int64_t v = 0; v < values.size(); ++v) ASSERT_NEAR(values[v], expected[v], 1e-12 * expected[v]) << v;
  };
  for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
    const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:uniform:rows=300001,degree=16"),
                               {.direction = direction, .in_edges = true});
    const auto there = to_device(gpu, g.view());
    eigenvector_plan eigen(gpu, there);
    EXPECT_NE(eigen.reason().find("without values"), std::string::npos) << eigen.reason();
    eigen.run();
    expect_near(eigen.values(), eigenvector(ctx, g.view()).values);
    hits_plan both(gpu, there, {.max_iterations = 5});
    both.run();
    const auto expected = hits(ctx, g.view(), {.max_iterations = 5});
    expect_near(both.hubs(), expected.hubs);
    expect_near(both.authorities(), expected.authorities);
  }
}

TEST(RanksHost, KnownValues) {
  const context<host> ctx({.threads = 1});
  // A star: the centre has 1 / sqrt(2), the largest eigenvalue is sqrt(4).
  const auto star = graph_of(5, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}}, graph_form::undirected);
  const auto e = eigenvector(ctx, star.view(), {.tolerance = 1e-15, .max_iterations = 500});
  EXPECT_NEAR(e.values[0], std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(e.values[1], std::sqrt(0.125), 1e-12);
  EXPECT_NEAR(e.eigenvalue, 2, 1e-12);
  // A path 0 -> 1 -> 2 with weights 2 and 3: 1, 1 + 2 a, 1 + 3 a (1 + 2 a).
  const auto path = graph_of(3, {{0, 1, 2}, {1, 2, 3}});
  const auto k = katz(ctx, path.view(), {.alpha = 0.5, .scale = katz_scale::none});
  EXPECT_EQ(from(k.values), (doubles{1, 2, 4}));
  // Two hubs of one authority.
  const auto h = hits(ctx, graph_of(3, {{0, 2, 1}, {1, 2, 3}}).view());
  EXPECT_NEAR(h.hubs[0], 0.25, 1e-12);
  EXPECT_NEAR(h.hubs[1], 0.75, 1e-12);
  EXPECT_NEAR(h.authorities[2], 1, 1e-12);
  const auto none = hits(ctx, graph_of(3, {}).view());
  EXPECT_TRUE(none.converged);
  EXPECT_EQ(from(none.hubs), doubles(3));
}

TEST(RanksHost, WeightsOfAnyMagnitude) {
  const context<host> ctx({.threads = 1});
  const doubly edges{{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}, {3, 3, 1}};
  const auto expected = hits(ctx, graph_of(4, edges).view());
  for (const double scale : {1e-300, 1e-160, 1e160, 1e300}) {
    doubly times = edges;
    for (auto& e : times) e.weight *= scale;
    const auto found = hits(ctx, graph_of(4, times).view());
    for (int v = 0; v < 4; ++v) EXPECT_NEAR(found.hubs[v], expected.hubs[v], 1e-7) << scale;
    EXPECT_EQ(check_hits(cpu, graph_of(4, times).view(), found), "") << scale;
    const auto k = katz(ctx, graph_of(4, times).view());
    EXPECT_TRUE(k.converged) << scale;
    EXPECT_EQ(check_katz(cpu, graph_of(4, times).view(), k), "") << scale;
  }
}

// The squares of such values overflow or vanish.
TEST(RanksHost, KatzIsScaledForABetaOfAnyMagnitude) {
  const context<host> ctx({.threads = 1});
  const auto g = graph_of(3, {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {2, 1, 1}});
  for (const double beta : {0x1p-700, 1., 0x1p700}) {
    const auto found = katz(ctx, g.view(), {.beta = beta, .max_iterations = 50});
    double squares = 0;
    for (int v = 0; v < 3; ++v) squares += found.values[v] * found.values[v];
    EXPECT_NEAR(squares, 1, 1e-12) << beta;
  }
}

// Values grow by less than 40 a step, so a step's changes leave the range of double precision in sum before they do so
// per vertex.
TEST(RanksHost, DivergenceIsAResult) {
  const context<host> ctx({.threads = 1});
  doubly path;
  for (std::int32_t v = 0; v + 1 < 40; ++v) {
    path.push_back({v, v + 1, 1});
    path.push_back({v + 1, v, 1});
  }
  const auto g = graph_of(40, path);
  for (const double alpha : {1.5, 2., 3.}) {
    auto found = katz(ctx, g.view(), {.alpha = alpha, .max_iterations = 2000});
    EXPECT_FALSE(found.converged);
    EXPECT_FALSE(std::isfinite(found.residual));
    EXPECT_EQ(check_katz(cpu, g.view(), found, {.alpha = alpha, .max_iterations = 2000}), "") << alpha;
    found.iterations -= 2;
    EXPECT_NE(check_katz(cpu, g.view(), found, {.alpha = alpha, .max_iterations = 2000}), "") << alpha;
  }
}

// Eigenvalue 9 * weight, far above the largest weight.
TEST(RanksHost, AutomaticAlphaOfSmallWeights) {
  const context<host> ctx({.threads = 1});
  for (const double weight : {1e-3, 1e-20, 1e-290}) {
    SCOPED_TRACE(weight);
    doubly edges;
    for (std::int64_t u = 0; u < 10; ++u) {
      for (std::int64_t v = 0; v < u; ++v) edges.push_back({u, v, weight});
    }
    const auto g = graph_of(10, edges, graph_form::undirected);
    katz_plan plan(ctx, g.view(), {.scale = katz_scale::none});
    plan.run();
    EXPECT_TRUE(plan.converged());
    EXPECT_NEAR(plan.eigenvalue_bound() / weight, 9, 1e-6);
    EXPECT_NEAR(plan.values()[3], 10, 1e-3);
  }
}

TEST(RanksHost, DivergenceIsReturned) {
  const context<host> ctx({.threads = 1});
  const auto g = graph_of(3, {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}}, graph_form::undirected);
  const auto slow = katz(ctx, g.view(), {.alpha = 0.6, .max_iterations = 50});
  EXPECT_FALSE(slow.converged);
  EXPECT_EQ(slow.iterations, 50);
  EXPECT_GT(slow.residual, 1);
  EXPECT_EQ(check_katz(cpu, g.view(), slow, {.alpha = 0.6, .max_iterations = 50}), "");
  const katz_options steep{.alpha = 1e10, .max_iterations = 1000};
  const auto infinite = katz(ctx, g.view(), steep);
  EXPECT_FALSE(infinite.converged);
  EXPECT_EQ(infinite.residual, std::numeric_limits<double>::infinity());
  EXPECT_LT(infinite.iterations, 40);
  EXPECT_EQ(check_katz(cpu, g.view(), infinite, steep), "");
  const auto heavy = graph_of(2, {{0, 1, 1e200}}, graph_form::undirected);
  const auto e = eigenvector(ctx, heavy.view());
  EXPECT_FALSE(e.converged);
  katz_plan plan(ctx, g.view(), {.alpha = 0.6});
  EXPECT_NEAR(plan.eigenvalue_bound(), 2, 1e-6);
}

TEST(RanksHost, RefuseBadOptionsWeightsAndVectors) {
  const context<host> ctx({.threads = 2});
  const auto g = graph_of(3, {{0, 1, 1}, {1, 2, 1}});
  const auto refused = [&](auto&& call) { return message_of(error_code::invalid_argument, call); };
  EXPECT_EQ(refused([&] { (void)eigenvector(ctx, g.view(), {.tolerance = -1}); }),
            "eigenvector: tolerance -1 (expected 0 or more)");
  EXPECT_EQ(refused([&] { (void)hits(ctx, g.view(), {.max_iterations = 0}); }),
            "hits: at most 0 iterations (expected 1 or more)");
  EXPECT_EQ(refused([&] { (void)katz(ctx, g.view(), {.alpha = -0.5}); }),
            "katz: alpha -0.5 (expected more than 0, or 0: chosen)");
  EXPECT_EQ(refused([&] { (void)katz(ctx, g.view(), {.beta = std::nan("")}); }), "katz: beta nan (expected 0 or more)");
  const doubles zeros(3);
  const doubles negative{1, -1, 1};
  const doubles infinite{1, std::numeric_limits<double>::infinity(), 1};
  eigenvector_plan plan(ctx, g.view());
  EXPECT_EQ(refused([&] { plan.run(zeros); }),
            "eigenvector: the start holds zeros alone (expected finite values of 0 or more, not all 0)");
  EXPECT_EQ(refused([&] { plan.run(span<const double, host>(zeros).subspan(0, 2)); }),
            "eigenvector: 2 values of the start for 3 vertices");
  katz_plan katz_of(ctx, g.view());
  for (const doubles& beta : {negative, infinite}) {
    EXPECT_EQ(refused([&] { katz_of.run(beta); }),
              "katz: the beta holds a value that is negative or not finite (expected finite values of 0 or more)");
  }
  katz_of.run({}, zeros);
  for (const double weight : {-0.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto bad = graph_of(3, {{0, 1, 1}, {1, 2, weight}, {2, 0, -7}});
    EXPECT_THAT(message_of(error_code::invalid_data, [&] { (void)hits(ctx, bad.view()); }),
                testing::StartsWith("hits: edge (1, 2) has weight "));
    EXPECT_THAT(message_of(error_code::invalid_data, [&] { (void)katz(ctx, bad.view()); }),
                testing::StartsWith("katz: edge (1, 2) has weight "));
    EXPECT_THAT(message_of(error_code::invalid_data, [&] { (void)eigenvector(ctx, bad.view()); }),
                testing::StartsWith("eigenvector: edge (1, 2) has weight "));
  }
}

TEST(RanksCheck, FindsPlantedErrors) {
  const context<host> ctx({.threads = 1});
  const auto g = graph_of(4, {{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}, {3, 0, 1}});
  const auto spoilt = [](auto compute, auto check, auto spoil) {
    auto found = compute();
    EXPECT_EQ(check(found), "");
    spoil(found);
    EXPECT_NE(check(found), "");
  };
  const auto all = [&](auto compute, auto check, auto values) {
    spoilt(compute, check, [&](auto& found) { values(found)[2] *= 1 + 1e-7; });
    spoilt(compute, check, [&](auto& found) { values(found)[0] = std::nan(""); });
    spoilt(compute, check, [&](auto& found) { values(found).truncate(3); });
    spoilt(compute, check, [](auto& found) { ++found.iterations; });
    spoilt(compute, check, [](auto& found) { --found.iterations; });
    spoilt(compute, check, [](auto& found) { found.iterations = 0; });
    spoilt(compute, check, [](auto& found) { found.residual *= 1.5; });
    spoilt(compute, check, [](auto& found) { found.converged = !found.converged; });
  };
  all([&] { return eigenvector(ctx, g.view()); }, [&](const auto& r) { return check_eigenvector(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.values; });
  all([&] { return katz(ctx, g.view()); }, [&](const auto& r) { return check_katz(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.values; });
  all([&] { return hits(ctx, g.view()); }, [&](const auto& r) { return check_hits(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.hubs; });
  all([&] { return hits(ctx, g.view()); }, [&](const auto& r) { return check_hits(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.authorities; });
  spoilt([&] { return eigenvector(ctx, g.view()); }, [&](const auto& r) { return check_eigenvector(cpu, g.view(), r); },
         [](auto& r) { r.eigenvalue *= 1.001; });
  spoilt([&] { return katz(ctx, g.view(), {.alpha = 0.1}); },
         [&](const auto& r) { return check_katz(cpu, g.view(), r, {.alpha = 0.1}); }, [](auto& r) { r.alpha = 0.2; });
  // Of other weights, and ended early.
  const graph_view<std::int32_t, std::int64_t, host> edges = g.view();
  EXPECT_NE(check_hits(cpu, edges, hits(ctx, g.view())), "");
  EXPECT_NE(check_eigenvector(cpu, g.view(), eigenvector(ctx, g.view(), {.tolerance = 1e-2})), "");
  EXPECT_THAT(check_eigenvector(cpu, g.view(), eigenvector(ctx, g.view(), {.max_iterations = 3})),
              testing::StartsWith("ended after 3 iterations with a residual of "));
}

// The light edge's values vanish beside those of the path: rounding decides when the last digit does.
TEST(RanksCheck, AllowsForValuesThatVanish) {
  const context<host> ctx({.threads = 1});
  doubly edges{{20, 21, 0.1}};
  for (std::int64_t v = 0; v < 19; ++v) edges.push_back({v, v + 1, 1});
  const auto g = graph_of(22, edges, graph_form::undirected);
  const hits_options options{.tolerance = 0, .max_iterations = 200};
  auto found = hits(ctx, g.view(), options);
  EXPECT_EQ(found.hubs[20], 0);
  for (const auto& [value, fault] : {std::pair(std::numeric_limits<double>::denorm_min(), false), {1e-200, true}}) {
    found.hubs[20] = value;
    EXPECT_EQ(!check_hits(cpu, g.view(), found, options).empty(), fault) << value;
  }
}

}  // namespace
}  // namespace spargo
