// Estimates of plans on the host: at least the peak memory of construction and run, at most 1.5 times as much, and
// times of the right order of magnitude.
#include <spargo/formats/convert.hpp>
#include <spargo/graph/betweenness.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/communities.hpp>
#include <spargo/graph/components.hpp>
#include <spargo/graph/cores.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/pagerank.hpp>
#include <spargo/graph/sssp.hpp>
#include <spargo/graph/triangles.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/sparse/spmv.hpp>

#include "support/resource.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace spargo {
namespace {

using index = std::int32_t;
using offset = std::int64_t;
using view = weighted_graph_view<double, index, offset, host>;

// Fixed memory of small graphs and of threads.
constexpr std::int64_t slack = std::int64_t{64} << 10;

struct test_graph {
  std::string name;
  weighted_graph<double, index, offset, host> graph;
  view g;

  test_graph(std::string called, const char* spec, direction_kind direction, bool in_edges) : name(std::move(called)) {
    const context<host> ctx({.threads = 2});
    auto entries = generate(ctx, spec);
    for (double& weight : entries.values()) weight = std::abs(weight);
    graph = build_weighted_graph(ctx, entries, {.direction = direction, .in_edges = in_edges});
    g = graph.view();
  }
  [[nodiscard]] graph_shape shape(int threads) const {
    std::int64_t longest = 0;
    for (index v = 0; v < g.vertices(); ++v) {
      const auto in = g.has_in_edges() ? g.in.offsets[v + 1] - g.in.offsets[v] : 0;
      const auto both = g.direction == direction_kind::directed ? in : 0;
      longest = std::max<std::int64_t>(longest, g.out.offsets[v + 1] - g.out.offsets[v] + both);
    }
    return {.vertices = g.vertices(),
            .entries = g.out.nnz(),
            .direction = g.direction,
            .has_in_edges = g.has_in_edges(),
            .longest_row = longest,
            .threads = threads};
  }
};

const std::vector<test_graph>& graphs() {
  static const std::vector<test_graph> all = [] {
    std::vector<test_graph> made;
    made.emplace_back("rmat", "gen:rmat:scale=14", direction_kind::undirected, false);
    made.emplace_back("grid", "gen:grid2d:n=200", direction_kind::undirected, false);
    made.emplace_back("directed", "gen:rmat:scale=14", direction_kind::directed, true);
    made.emplace_back("small", "gen:grid2d:n=20", direction_kind::undirected, false);
    return made;
  }();
  return all;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// `make` constructs a plan and passes its run to `then`.
template <class Make>
void expect_estimate(const std::string& what, int threads, const plan_estimate& estimate, Make&& make,
                     double factor = 1.5) {
  SCOPED_TRACE(what + ", " + std::to_string(threads) + " threads");
  test::counting_resource<host> counted(default_host_resource());
  const context<host> ctx({.threads = threads, .resource = &counted});
  double seconds = 0;
  make(ctx, [&](auto&& run) {
    const double before = processor_seconds();
    run();
    seconds = processor_seconds() - before;
  });
  EXPECT_LE(counted.peak(), estimate.host_bytes) << "took more than estimated";
  EXPECT_LE(static_cast<double>(estimate.host_bytes), factor * static_cast<double>(counted.peak()) + slack * threads);
  EXPECT_EQ(estimate.device_bytes > 0, what.find("cores") == std::string::npos);
  // Times only of one thread, which waits for no other, of graphs that are large enough, and of optimised code.
  if (threads == 1 && seconds > 1e-3 && !test::is_sanitized) {
    EXPECT_LT(seconds, 30 * estimate.host_seconds);
    EXPECT_GT(seconds, estimate.host_seconds / 30);
  }
}

// For each graph, with one thread and three.
template <class Body>
void on_all(Body&& body) {
  for (const test_graph& t : graphs()) {
    for (const int threads : {1, 3}) body(t, threads);
  }
}

template <class Plan, class Options, class Run>
void expect_plans(const std::vector<Options>& options, Run&& run) {
  on_all([&](const test_graph& t, int threads) {
    for (std::size_t k = 0; k < options.size(); ++k) {
      expect_estimate(t.name + ", options " + std::to_string(k), threads, Plan::estimate(t.shape(threads), options[k]),
                      [&](const context<host>& ctx, auto&& then) {
                        Plan plan(ctx, t.g, options[k]);
                        then([&] { run(plan); });
                      });
    }
  });
}

TEST(Estimate, Bfs) {
  expect_plans<bfs_plan<index, offset, host>, bfs_options>(
      {{},
       {.output = bfs_output::levels},
       {.algorithm = bfs_algorithm::sequential},
       {.algorithm = bfs_algorithm::load_balanced, .output = bfs_output::parents},
       {.parents = bfs_parents::smallest}},
      [](auto& plan) { plan.run(0); });
}

TEST(Estimate, MultiBfs) {
  const std::vector<index> sources{0, 1, 2, 3, 5};
  on_all([&](const test_graph& t, int threads) {
    for (const multi_bfs_options& options : {multi_bfs_options{}, multi_bfs_options{.output = multi_bfs_output::counts},
                                             multi_bfs_options{.algorithm = multi_bfs_algorithm::four_words}}) {
      using plan_type = multi_bfs_plan<index, offset, host>;
      expect_estimate(t.name, threads, plan_type::estimate(t.shape(threads), 5, options),
                      [&](const context<host>& ctx, auto&& then) {
                        plan_type plan(ctx, t.g, 5, options);
                        then([&] { plan.run(sources); });
                      });
    }
  });
}

TEST(Estimate, Cores) {
  on_all([&](const test_graph& t, int threads) {
    using plan_type = cores_plan<index, offset, host>;
    expect_estimate("cores of " + t.name, threads, plan_type::estimate(t.shape(threads)),
                    [&](const context<host>& ctx, auto&& then) {
                      plan_type plan(ctx, t.g);
                      then([&] { plan.run(); });
                    });
  });
}

TEST(Estimate, Components) {
  expect_plans<components_plan<index, offset, host>, components_options>(
      {{},
       {.labels = components_labels::dense},
       {.connection = components_connection::strong},
       {.algorithm = components_algorithm::union_find}},
      [](auto& plan) { plan.run(); });
}

TEST(Estimate, Pagerank) {
  expect_plans<pagerank_plan<double, index, offset, host>, pagerank_options>({{}, {.iterations = 10}},
                                                                             [](auto& plan) { plan.run(); });
  expect_plans<pagerank_plan<float, index, offset, host>, pagerank_options>({{}, {.iterations = 10}},
                                                                            [](auto& plan) { plan.run(); });
}

TEST(Estimate, Sssp) {
  expect_plans<sssp_plan<double, index, offset, host>, sssp_options>({{},
                                                                      {.output = sssp_output::distances},
                                                                      {.algorithm = sssp_algorithm::dijkstra},
                                                                      {.algorithm = sssp_algorithm::delta_stepping}},
                                                                     [](auto& plan) { plan.run(0); });
}

TEST(Estimate, Betweenness) {
  const std::vector<index> sources{0};
  expect_plans<betweenness_plan<index, offset, host>, betweenness_options>(
      {{},
       {.algorithm = betweenness_algorithm::by_level},
       {.algorithm = betweenness_algorithm::by_source},
       {.edges = betweenness_edges::counted}},
      [&](auto& plan) { plan.run(sources); });
}

TEST(Estimate, Triangles) {
  expect_plans<triangles_plan<index, offset, host>, triangles_options>(
      {{.algorithm = triangles_algorithm::bitmap},
       {.output = triangles_output::per_vertex, .algorithm = triangles_algorithm::bitmap},
       {.output = triangles_output::links, .algorithm = triangles_algorithm::bitmap}},
      [](auto& plan) { plan.run(); });
}

TEST(Estimate, Communities) {
  expect_plans<communities_plan<index, offset, host>, communities_options>({{}, {.iterations = 2}},
                                                                           [](auto& plan) { plan.run(); });
}

// A row longer than a thread's table of labels.
TEST(Estimate, CommunitiesOfAHub) {
  const context<host> ctx({.threads = 2});
  std::vector<index> from(40'000, 0);
  std::vector<index> to(40'000);
  for (index v = 0; v < 40'000; ++v) to[static_cast<std::size_t>(v)] = v + 1;
  const coo_pattern_view<index, host> pairs{40'001, 40'001, from, to};
  const auto star = build_graph<offset>(ctx, pairs, {.direction = direction_kind::undirected});
  graph_shape shape{.vertices = 40'001, .entries = 80'000, .direction = direction_kind::undirected};
  using plan_type = communities_plan<index, offset, host>;
  for (const std::int64_t longest : {40'000, -1}) {
    shape.longest_row = longest;
    expect_estimate("star", 1, plan_type::estimate(shape), [&](const context<host>& counted, auto&& then) {
      plan_type plan(counted, star);
      then([&] { plan.run(); });
    });
  }
  // Device: four labels and a round number.
  EXPECT_GE(plan_type::estimate(shape).device_bytes, 20 * shape.vertices);
}

// A plan that must transpose the graph.
TEST(Estimate, OfMissingInEdges) {
  const test_graph t("directed", "gen:rmat:scale=14", direction_kind::directed, false);
  using plan_type = betweenness_plan<index, offset, host>;
  const std::vector<index> sources{0};
  expect_estimate(t.name, 1, plan_type::estimate(t.shape(1)), [&](const context<host>& ctx, auto&& then) {
    plan_type plan(ctx, t.g);
    then([&] { plan.run(sources); });
  });
}

TEST(Estimate, Products) {
  const context<host> plain({.threads = 2});
  const auto matrix = to_csr<offset>(plain, generate(plain, "gen:rmat:scale=14"));
  using plan_type = spmv_plan<double, index, offset, host>;
  const std::vector<double> x(static_cast<std::size_t>(matrix.cols()), 1.0);
  std::vector<double> y(static_cast<std::size_t>(matrix.rows()));
  for (const int threads : {1, 3}) {
    for (const spmv_options& options : {spmv_options{}, spmv_options{.algorithm = spmv_algorithm::merge_path},
                                        spmv_options{.algorithm = spmv_algorithm::row_per_thread}}) {
      const matrix_shape shape{
          .rows = matrix.rows(), .cols = matrix.cols(), .entries = matrix.nnz(), .threads = threads};
      expect_estimate("matrix", threads, plan_type::estimate(shape, options),
                      [&](const context<host>& ctx, auto&& then) {
                        plan_type plan(ctx, matrix, options);
                        then([&] { plan.run(1.0, x, 0.0, y); });
                      });
    }
  }
}

}  // namespace
}  // namespace spargo
