// Louvain and Leiden: options, initial communities, refusals, estimates.
#include <spargo/graph/communities.hpp>

#include "graph/partition_support.hpp"
#include "graph/plan_estimate.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace spargo {
namespace {

using test::both_directions;
using test::both_methods;
using test::build;
using test::cpu;
using test::draw_edges;
using test::drawn;
using test::label_vector;
using test::message_of;
using test::weighted_edges;
using test::widened;

TEST(LouvainLeidenOptions, InitialCommunities) {
  // Two triangles joined by an edge.
  const weighted_edges edges{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {3, 4, 1}, {4, 5, 1}, {5, 3, 1}, {2, 3, 1}};
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(6, edges, direction_kind::undirected);
  for (const auto method : both_methods) {
    const std::vector<std::int32_t> kept{5, 5, 5, 1, 1, 1};
    const auto found = communities(cpu(), g, {.method = method}, kept);
    EXPECT_EQ(widened(std::as_const(found.labels).view()), (label_vector{0, 0, 0, 3, 3, 3})) << to_string(method);
    const std::vector<std::int32_t> wrong{0, 1, 2, 3, 4, 6};
    EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)communities(cpu(), g, {.method = method}, wrong); })
                  .find("vertex 5 has the initial label 6"),
              std::string::npos);
  }
}

// A community of everything is a local optimum for single vertices, and Leiden's refinement leaves it.
TEST(LouvainLeidenOptions, RefinementLeavesAnInitialCommunity) {
  const weighted_edges edges{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {3, 4, 1}, {4, 5, 1}, {5, 3, 1}, {2, 3, 1}};
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(6, edges, direction_kind::undirected);
  const std::vector<std::int32_t> initial(6, 4);
  EXPECT_EQ(communities(cpu(), g, {.method = communities_method::louvain}, initial).count, 1);
  EXPECT_EQ(communities(cpu(), g, {.method = communities_method::leiden}, initial).count, 2);
}

// One level moves vertices only; more join groups of them.
TEST(LouvainLeidenOptions, Levels) {
  const auto path = [] {
    weighted_edges edges;
    for (std::int64_t v = 0; v + 1 < 1000; ++v) edges.push_back({v, v + 1, 1});
    return edges;
  }();
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(1000, path, direction_kind::undirected);
  for (const auto method : both_methods) {
    const auto one = communities(cpu(), g, {.method = method, .iterations = 1, .max_levels = 1});
    const auto all = communities(cpu(), g, {.method = method, .iterations = 1});
    EXPECT_EQ(one.levels, 1);
    EXPECT_GT(all.levels, 2);
    EXPECT_GT(all.modularity, one.modularity + 0.1);
    EXPECT_LT(all.count, one.count);
  }
}

// As many runs as there are levels: each finds unions of the communities of the one before.
TEST(LouvainLeidenOptions, LevelsAreAHierarchy) {
  weighted_edges edges;
  test::random_source random(5);
  for (std::int64_t k = 0; k < 4000; ++k) {
    const std::int64_t u = random.below(1000);
    edges.push_back({u, std::min<std::int64_t>(999, u + random.below(9)), 1});
  }
  const auto g = build<std::int32_t, std::int32_t, std::int32_t>(1000, edges, direction_kind::undirected);
  const auto all = communities(cpu(), g, {.method = communities_method::louvain});
  ASSERT_GT(all.levels, 2);
  label_vector below = test::own_labels(1000);
  double least = -1;
  for (std::int64_t k = 1; k <= all.levels; ++k) {
    const auto found = communities(cpu(), g, {.method = communities_method::louvain, .max_levels = k});
    const auto labels = widened(std::as_const(found.labels).view());
    EXPECT_EQ(found.levels, k);
    EXPECT_GE(found.modularity, least);
    for (std::size_t v = 0; v < labels.size(); ++v)
      EXPECT_EQ(labels[v], labels[static_cast<std::size_t>(below[v])]) << v;
    below = labels;
    least = found.modularity;
  }
  EXPECT_EQ(below, widened(std::as_const(all.labels).view()));
}

TEST(LouvainLeidenOptions, GraphsWithoutEdges) {
  for (const auto method : both_methods) {
    for (const std::int64_t n : {0, 1, 5}) {
      const auto g = build<double, std::int32_t, std::int32_t>(n, {}, direction_kind::undirected);
      const auto found = communities(cpu(), g, {.method = method});
      EXPECT_EQ(widened(std::as_const(found.labels).view()), test::own_labels(n));
      EXPECT_EQ(found.count, n);
      EXPECT_EQ(found.modularity, 0);
    }
    const auto zeros = build<double, std::int32_t, std::int32_t>(2, {{0, 1, 0}}, direction_kind::directed);
    EXPECT_EQ(communities(cpu(), zeros, {.method = method}).count, 2);
  }
}

// Beyond some resolution every vertex is alone, whatever the weights.
TEST(LouvainLeidenOptions, ExtremeResolutions) {
  const auto whole =
      build<std::int32_t, std::int32_t, std::int32_t>(3, {{0, 1, 1}, {1, 2, 1}, {2, 0, 3}}, direction_kind::undirected);
  const auto any =
      build<double, std::int32_t, std::int32_t>(3, {{0, 1, 1e-200}, {1, 2, 1}, {2, 0, 3}}, direction_kind::undirected);
  for (const auto method : both_methods) {
    const auto modularity = [&](double resolution) {
      return communities(cpu(), whole, {.method = method, .resolution = resolution}).count;
    };
    const auto cpm = [&](const auto& g, double resolution) {
      return communities(cpu(), g,
                         {.method = method, .objective = communities_objective::cpm, .resolution = resolution})
          .count;
    };
    for (const double tiny : {0.0, 1e-300}) {
      EXPECT_EQ(modularity(tiny), 1);
      EXPECT_EQ(cpm(whole, tiny), 1);
      EXPECT_EQ(cpm(any, tiny), 1);
    }
    EXPECT_EQ(modularity(1e300), 3);
    EXPECT_EQ(cpm(whole, 1e300), 3);
    EXPECT_EQ(cpm(any, 1e300), 3);
    EXPECT_EQ(message_of(error_code::invalid_argument,
                         [&] { (void)communities(cpu(), any, {.method = method, .resolution = 1e300}); }),
              "communities: resolution 1e+300 is too large for these weights");
  }
}

TEST(LouvainLeidenOptions, Refusals) {
  const auto g = build<double, std::int32_t, std::int32_t>(3, {{0, 1, 1}}, direction_kind::undirected);
  const auto refused = [&](const communities_options& options, error_code code = error_code::invalid_argument) {
    return message_of(code, [&] { (void)communities(cpu(), g, options); });
  };
  constexpr auto leiden = communities_method::leiden;
  EXPECT_EQ(refused({.method = leiden, .resolution = -1}),
            "communities: resolution -1 (expected a finite one, 0 or more)");
  EXPECT_NE(refused({.method = leiden, .resolution = std::numeric_limits<double>::quiet_NaN()}), "");
  EXPECT_EQ(refused({.method = leiden, .tolerance = -1}), "communities: tolerance -1 (expected 0 or more)");
  EXPECT_EQ(refused({.method = leiden, .max_levels = 0}), "communities: 0 levels (expected 1 or more)");
  EXPECT_NE(refused({.method = leiden, .objective = static_cast<communities_objective>(9)}).find("objective"),
            std::string::npos);
  EXPECT_NE(refused({.method = leiden, .algorithm = communities_algorithm::all_vertices}, error_code::unsupported), "");
  for (const double weight :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto bad =
        build<double, std::int32_t, std::int32_t>(3, {{0, 1, 1}, {1, 2, weight}}, direction_kind::directed);
    EXPECT_NE(message_of(error_code::invalid_data, [&] { (void)communities(cpu(), bad, {.method = leiden}); })
                  .find("communities: edge (1, 2) has weight"),
              std::string::npos);
  }
  const auto large =
      build<std::int64_t, std::int32_t, std::int32_t>(3, {{0, 1, 0x1p61}, {1, 2, 0x1p61}}, direction_kind::directed);
  EXPECT_NE(message_of(error_code::invalid_data, [&] { (void)communities(cpu(), large, {.method = leiden}); })
                .find("add up to"),
            std::string::npos);
}

// Without a number of passes small graphs take more than large ones.
TEST(LouvainLeidenOptions, PassesBySize) {
  test::random_source random(9);
  const auto rounds = [&](std::int64_t n, std::int64_t edges, std::int64_t iterations) {
    const auto g = build<std::int32_t, std::int32_t, std::int32_t>(n, draw_edges(random, n, edges, drawn::whole),
                                                                   direction_kind::undirected);
    return communities(cpu(), g, {.method = communities_method::leiden, .iterations = iterations, .tolerance = 0})
        .rounds;
  };
  EXPECT_GT(rounds(2000, 6000, 0), 4);
  EXPECT_LE(rounds(2000, 6000, 0), 60);
  EXPECT_EQ(rounds(2000, 6000, 3), 3);
  EXPECT_EQ(rounds(5000, 2000000, 0), 4);  // 4 million entries
}

// The first pass gains most of the modularity; two passes that gain no more than the tolerance are the last ones.
TEST(LouvainLeidenOptions, ToleranceEndsPasses) {
  test::random_source random(10);
  const weighted_edges edges = draw_edges(random, 500, 1500, drawn::whole);
  for (const auto direction : both_directions) {
    const auto g = build<std::int32_t, std::int32_t, std::int32_t>(500, edges, direction);
    const auto run = [&](std::int64_t iterations, double tolerance) {
      return communities(cpu(), g,
                         {.method = communities_method::leiden, .iterations = iterations, .tolerance = tolerance});
    };
    const double gain = run(1, 0).modularity - test::naive_modularity(500, edges, direction, test::own_labels(500));
    EXPECT_EQ(run(60, 1.001 * gain).rounds, 2);
    EXPECT_EQ(run(60, 0.999 * gain).rounds, 3);
    EXPECT_GT(run(60, 0).rounds, 3);
  }
}

// --- Estimates

// An upper bound: by how much contracted graphs are smaller is not known beforehand (CPM may leave nothing to
// contract).
TEST(LouvainLeidenEstimate, CoversARun) {
  for (const auto& [spec, direction] : {std::pair("gen:rmat:scale=13", direction_kind::undirected),
                                        std::pair("gen:grid2d:n=150", direction_kind::undirected),
                                        std::pair("gen:rmat:scale=13", direction_kind::directed)}) {
    const test::plan_graph t("graph", spec, direction, false);
    const auto covers = [&](const auto& g, const communities_options& options) {
      SCOPED_TRACE(std::string(spec) + " " + std::string(to_string(options.method)));
      test::counting_resource<host> counted(default_host_resource());
      const context<host> ctx({.threads = 2, .resource = &counted});
      communities_plan plan(ctx, g, options);
      EXPECT_LE(plan.workspace_bytes(), counted.live());
      EXPECT_GE(plan.workspace_bytes(), counted.live() - 1024);  // arrays have padding
      plan.run();
      const auto estimate = decltype(plan)::estimate(t.shape(2), options);
      EXPECT_LE(counted.peak(), estimate.host_bytes);
      EXPECT_LE(estimate.host_bytes, 32 * counted.peak());
    };
    const graph_view<std::int32_t, std::int64_t, host>& unweighted = t.g;
    for (const auto method : both_methods) {
      for (const auto objective : {communities_objective::modularity, communities_objective::cpm}) {
        const communities_options options{.method = method, .iterations = 1, .objective = objective};
        covers(t.g, options);
        covers(unweighted, options);
      }
    }
  }
}

// Louvain takes one pass, whatever the option says.
TEST(LouvainLeidenEstimate, GrowsWithThePassesOfLeiden) {
  const graph_shape shape{.vertices = 1000, .entries = 100000};
  const auto seconds = [&](communities_method method, std::int64_t iterations) {
    return estimate(shape, communities_options{.method = method, .iterations = iterations}).host_seconds;
  };
  EXPECT_EQ(seconds(communities_method::louvain, 10), seconds(communities_method::louvain, 1));
  EXPECT_DOUBLE_EQ(seconds(communities_method::leiden, 10), 10 * seconds(communities_method::leiden, 1));
}

// 2^24 divided by the vertices and entries, from 2 to 60.
TEST(LouvainLeidenEstimate, PassesFollowTheSize) {
  const auto passes = [](std::int64_t vertices, std::int64_t entries, direction_kind direction) {
    const graph_shape shape{.vertices = vertices, .entries = entries, .direction = direction};
    const auto seconds = [&](std::int64_t iterations) {
      return estimate(shape, communities_options{.method = communities_method::leiden, .iterations = iterations})
          .host_seconds;
    };
    return seconds(0) / seconds(1);
  };
  EXPECT_DOUBLE_EQ(passes(1000, 10000, direction_kind::undirected), 60);
  EXPECT_DOUBLE_EQ(passes(1 << 16, (1 << 20) - (1 << 16), direction_kind::undirected), 16);
  EXPECT_DOUBLE_EQ(passes(1 << 16, (1 << 19) - (1 << 15), direction_kind::directed), 16);  // entries count both ways
  EXPECT_DOUBLE_EQ(passes(1 << 22, 1 << 26, direction_kind::undirected), 2);
}

}  // namespace
}  // namespace spargo
