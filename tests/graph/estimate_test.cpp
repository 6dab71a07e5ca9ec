// Estimates of plans on the host that no case of plan_suite.hpp has.
#include "graph/plan_estimate.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/graph/betweenness.hpp>
#include <spargo/graph/communities.hpp>
#include <spargo/graph/pagerank.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace spargo {
namespace {

using index = std::int32_t;
using offset = std::int64_t;
using test::expect_estimate;

TEST(Estimate, PagerankOfFloats) {
  using plan_type = pagerank_plan<float, index, offset, host>;
  for (const test::plan_graph& t : test::plan_graphs()) {
    for (const pagerank_options& options : {pagerank_options{}, pagerank_options{.iterations = 10}}) {
      expect_estimate(t.name, 1, plan_type::estimate(t.shape(1), options), [&](const context<host>& ctx, auto&& then) {
        const graph_view<index, offset, host> without_weights = t.g;
        plan_type plan(ctx, without_weights, options);
        then([&] { plan.run(); });
      });
    }
  }
}

// Large enough for shares of single precision.
TEST(Estimate, PagerankInSinglePrecision) {
  const test::plan_graph t("sparse", "gen:uniform:rows=140000,degree=1", direction_kind::undirected, false);
  using plan_type = pagerank_plan<double, index, offset, host>;
  for (const double tolerance : {1e-6, 1e-7}) {
    const pagerank_options options{.tolerance = tolerance, .max_iterations = 10};
    expect_estimate(t.name, 1, plan_type::estimate(t.shape(1), options), [&](const context<host>& ctx, auto&& then) {
      const graph_view<index, offset, host> without_weights = t.g;
      plan_type plan(ctx, without_weights, options);
      then([&] { plan.run(); });
    });
  }
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
  const test::plan_graph t("directed", "gen:rmat:scale=14", direction_kind::directed, false);
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

// By their arrays: a blocked copy has a value and 8 bytes per entry, a binned one also a product.
TEST(Estimate, CopiesOfMatricesOnADevice) {
  const matrix_shape shape{.rows = 1'000'000, .cols = 1'000'000, .entries = 16'000'000};
  const auto bytes = [&]<class V>(V, const spmv_options& options) {
    return spmv_plan<V, index, index, device>::estimate(shape, options).device_bytes;
  };
  const auto expect_room = [&](auto value) {
    const std::int64_t size = sizeof(value);
    const std::int64_t blocked = bytes(value, {.algorithm = spmv_algorithm::blocked});
    const std::int64_t binned = bytes(value, {.algorithm = spmv_algorithm::binned});
    EXPECT_GE(blocked, shape.entries * (size + 8) + 4 * shape.rows);
    EXPECT_GE(binned, shape.entries * (2 * size + 8) + 4 * shape.rows);
    EXPECT_LE(blocked, 2 * shape.entries * (size + 8));
    EXPECT_LE(binned, 2 * shape.entries * (2 * size + 8));
    EXPECT_EQ(bytes(value, {.storage = spmv_storage::copied}), std::max(blocked, binned));
    EXPECT_LT(bytes(value, {}), shape.entries);
  };
  expect_room(float{});
  expect_room(double{});
}

}  // namespace
}  // namespace spargo
