// Spectral embeddings against graphs whose Laplacians have known eigenvalues and vectors.
#include "support/data.hpp"
#include "support/message.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/solvers/spectral.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

namespace spargo {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

template <class V>
struct owned_graph {
  i32 n = 0;
  std::vector<i32> offsets{0}, indices{};
  std::vector<V> values{};
  [[nodiscard]] csr_view<const V, i32, i32, host> view() const { return {{n, n, offsets, indices}, values}; }
};

template <class V>
owned_graph<V> graph_of(i32 n, const std::map<std::pair<i32, i32>, double>& edges) {
  std::map<std::pair<i32, i32>, double> both = edges;
  for (const auto& [ends, weight] : edges) both[{ends.second, ends.first}] = weight;
  owned_graph<V> g{n};
  g.offsets.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const auto& [ends, weight] : both) {
    g.indices.push_back(ends.second);
    g.values.push_back(static_cast<V>(weight));
    for (i32 v = ends.first; v < n; ++v) ++g.offsets[static_cast<std::size_t>(v) + 1];
  }
  return g;
}

template <class V>
owned_graph<V> path(i32 n) {
  std::map<std::pair<i32, i32>, double> edges;
  for (i32 v = 1; v < n; ++v) edges[{v - 1, v}] = 1;
  return graph_of<V>(n, edges);
}

template <class V>
class Spectral : public testing::Test {};
using values = testing::Types<float, double>;
TYPED_TEST_SUITE(Spectral, values);

// Of a path: 2 - 2 cos(pi k / n), cos(pi k (v + 1/2) / n); normalized 1 - cos(pi k / (n - 1)).
TYPED_TEST(Spectral, PathsHaveTheValuesAndVectorsOfTheFormula) {
  using V = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<V>::epsilon());
  const i32 n = 40;
  const owned_graph<V> g = path<V>(n);
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    const context<host> ctx({.threads = threads});
    const auto found = spectral_embedding(ctx, g.view(), {.dimensions = 3, .laplacian = laplacian_kind::combinatorial});
    EXPECT_TRUE(found.converged);
    for (std::size_t k = 0; k < 3; ++k) {
      const double angle = std::numbers::pi * static_cast<double>(k + 1) / n;
      EXPECT_NEAR(found.values[k], 2 - 2 * std::cos(angle), 100 * eps);
      double product = 0;
      for (i32 v = 0; v < n; ++v) {
        product += static_cast<double>(found.vectors[static_cast<i64>(k) * n + v]) * std::cos(angle * (v + 0.5)) *
                   std::sqrt(2.0 / n);
      }
      EXPECT_NEAR(std::abs(product), 1, 1e-4);
    }
    if (threads == 1) first = found.values;
    EXPECT_EQ(first, found.values);
    const auto normalized = spectral_embedding(ctx, g.view(), {.dimensions = 2});
    EXPECT_TRUE(normalized.converged);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(normalized.values[k], 1 - std::cos(std::numbers::pi * static_cast<double>(k + 1) / (n - 1)),
                  100 * eps);
      double with_degrees = 0;
      for (i32 v = 0; v < n; ++v) {
        const double root = std::sqrt(v == 0 || v == n - 1 ? 1.0 : 2.0);
        with_degrees += root * static_cast<double>(normalized.vectors[static_cast<i64>(k) * n + v]);
      }
      EXPECT_NEAR(with_degrees, 0, 1e-3);
    }
  }
}

TEST(SpectralOfReals, ComponentsLoopsWeightsAndGraphsWithoutEdges) {
  const context<host> ctx;
  const spectral_options combinatorial{.dimensions = 1, .laplacian = laplacian_kind::combinatorial};
  // Two components: a second value 0, whose vector has one sign on each.
  const auto apart = graph_of<double>(5, {{{0, 1}, 1}, {{1, 2}, 1}, {{3, 4}, 1}});
  const auto found = spectral_embedding(ctx, apart.view(), combinatorial);
  EXPECT_NEAR(found.values[0], 0, 1e-12);
  for (const i64 v : {1, 2}) EXPECT_NEAR(found.vectors[v], found.vectors[0], 1e-7);
  EXPECT_NEAR(found.vectors[4], found.vectors[3], 1e-7);
  EXPECT_LT(found.vectors[0] * found.vectors[3], 0);
  // An edge of weight 3 with a loop: 2 w.
  const auto loop = graph_of<double>(2, {{{0, 1}, 3}, {{0, 0}, 7}});
  EXPECT_NEAR(spectral_embedding(ctx, loop.view(), combinatorial).values[0], 6, 1e-12);
  // Weights whose squares are out of range.
  for (const double weight : {1e-200, 1e200}) {
    std::map<std::pair<i32, i32>, double> edges;
    for (i32 v = 1; v < 30; ++v) edges[{v - 1, v}] = weight;
    const auto far = spectral_embedding(ctx, graph_of<double>(30, edges).view(), combinatorial);
    EXPECT_TRUE(far.converged);
    EXPECT_NEAR(far.values[0] / weight, 2 - 2 * std::cos(std::numbers::pi / 30), 1e-13);
  }
  const auto none = graph_of<double>(3, {});
  for (const laplacian_kind kind : {laplacian_kind::combinatorial, laplacian_kind::normalized}) {
    const auto zero = spectral_embedding(ctx, none.view(), {.dimensions = 2, .laplacian = kind});
    EXPECT_TRUE(zero.converged);
    EXPECT_EQ(zero.values, (std::vector<double>{0, 0}));
  }
}

TEST(SpectralOfReals, Refusals) {
  const context<host> ctx;
  const auto message = [&](error_code code, const owned_graph<double>& g, const spectral_options& options) {
    return test::message_of(code, [&] { (void)spectral_embedding(ctx, g.view(), options); });
  };
  owned_graph<double> g = path<double>(3);
  EXPECT_EQ(message(error_code::invalid_argument, g, {.dimensions = 3}),
            "spectral_embedding: 3 dimensions of 3 vertices");
  EXPECT_EQ(message(error_code::invalid_argument, g, {.dimensions = 0}),
            "spectral_embedding: 0 dimensions of 3 vertices");
  g.values[1] = 2;
  EXPECT_EQ(message(error_code::invalid_data, g, {.dimensions = 1, .laplacian = laplacian_kind::combinatorial}),
            "spectral_embedding: the matrix is not symmetric: (0, 1) and (1, 0) differ (from 0)");
  g.values[1] = -1;
  EXPECT_EQ(message(error_code::invalid_data, g, {.dimensions = 1}),
            "spectral_embedding: the weight -1 in row 1 (from 0; expected 0 or more)");
  g = path<double>(3);
  g.values = {1.5e308, 1.5e308, 1.5e308, 1.5e308};
  for (const laplacian_kind kind : {laplacian_kind::combinatorial, laplacian_kind::normalized}) {
    EXPECT_EQ(message(error_code::invalid_data, g, {.dimensions = 1, .laplacian = kind}),
              "spectral_embedding: the weights of row 1 (from 0) have a sum beyond their type");
  }
}

TEST(SpectralOfReals, TheKarateClub) {
  SPARGO_TEST_NEEDS_DATA();
  const context<host> ctx;
  const auto a =
      to_csr<i32>(ctx, read_matrix_market<double, i32>(ctx, (test::data_directory() / "karate.mtx").string()).view());
  const csr_view<const double, i32, i32, host> view = std::as_const(a).view();
  const auto found = spectral_embedding(ctx, view, {.dimensions = 1, .laplacian = laplacian_kind::combinatorial});
  EXPECT_NEAR(found.values[0], 0.468525, 1e-6);
}

}  // namespace
}  // namespace spargo
