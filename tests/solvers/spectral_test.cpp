// Spectral embeddings against graphs whose Laplacians have known eigenvalues and vectors.
#include "solvers/known_spectra.hpp"
#include "support/data.hpp"
#include "support/message.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/solvers/spectral.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace spargo {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using test::owned_matrix;

template <class V>
owned_matrix<V> graph_of(i32 n, const std::map<std::pair<i32, i32>, double>& edges) {
  std::map<std::pair<i32, i32>, double> both = edges;
  for (const auto& [ends, weight] : edges) both[{ends.second, ends.first}] = weight;
  owned_matrix<V> g{n, n};
  g.offsets.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const auto& [ends, weight] : both) {
    g.indices.push_back(ends.second);
    g.values.push_back(static_cast<V>(weight));
    for (i32 v = ends.first; v < n; ++v) ++g.offsets[static_cast<std::size_t>(v) + 1];
  }
  return g;
}

template <class V>
owned_matrix<V> path(i32 n) {
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
  const owned_matrix<V> g = path<V>(n);
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

// The whole spectrum of small graphs against Laplacians that are written out: L x = lambda x, vectors orthonormal and
// orthogonal to the omitted one, values that add up to the trace.
TEST(SpectralOfReals, AllValuesOfSmallGraphs) {
  const context<host> ctx;
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const auto n = static_cast<i32>(2 + random() % 11);
    const int shape = trial % 5;
    const double scale = trial % 4 == 3 ? std::ldexp(1.0, trial % 8 != 3 ? -1015 : shape < 4 ? 1020 : 1015) : 1;
    std::map<std::pair<i32, i32>, double> edges;
    for (i32 u = 0; u < n; ++u) {
      for (i32 v = 0; v <= u; ++v) {  // complete, cycles, bipartite, without edges, and random with loops
        const bool kept = shape == 0   ? u != v
                          : shape == 1 ? u - v == 1 || (v == 0 && u == n - 1 && u != v)
                          : shape == 2 ? (u - v) % 2 == 1
                          : shape == 3 ? trial > 200 && u == n - 1 && v == 0
                                       : random() % 3 == 0;
        if (kept) edges[{v, u}] = scale * (shape < 4 ? 1.0 : 1.0 + static_cast<double>(random() % 4));
      }
    }
    const owned_matrix<double> g = graph_of<double>(n, edges);
    const auto size = static_cast<std::size_t>(n);
    for (const laplacian_kind kind : {laplacian_kind::combinatorial, laplacian_kind::normalized}) {
      SCOPED_TRACE(testing::Message() << "trial " << trial << ", " << n << " vertices, normalized "
                                      << (kind == laplacian_kind::normalized));
      std::vector<double> a(size * size), degrees(size), q(size), l(size * size);
      for (const auto& [ends, weight] : edges) {
        const auto u = static_cast<std::size_t>(ends.first), v = static_cast<std::size_t>(ends.second);
        a[u * size + v] = a[v * size + u] = weight / scale;
      }
      double total = 0;
      for (std::size_t u = 0; u < size; ++u) {
        for (std::size_t v = 0; v < size; ++v) degrees[u] += a[u * size + v];
        total += degrees[u];
      }
      const bool normalized = kind == laplacian_kind::normalized;
      double trace = 0;
      for (std::size_t u = 0; u < size; ++u) {
        q[u] = normalized && total > 0 ? std::sqrt(degrees[u] / total) : 1 / std::sqrt(n);
        for (std::size_t v = 0; v < size; ++v) {
          const double by = !normalized                        ? 1
                            : degrees[u] > 0 && degrees[v] > 0 ? 1 / std::sqrt(degrees[u] * degrees[v])
                                                               : 0;
          l[u * size + v] = (u != v ? 0 : !normalized ? degrees[u] : degrees[u] > 0 ? 1 : 0) - a[u * size + v] * by;
        }
        trace += l[u * size + u];
      }
      const auto found = spectral_embedding(
          ctx, g.view(), {.dimensions = n - 1, .laplacian = kind, .seed = static_cast<std::uint64_t>(trial)});
      EXPECT_TRUE(found.converged);
      const double unit = normalized ? 1 : scale;
      double sum = 0;
      for (i32 k = 0; k + 1 < n; ++k) {
        const double value = found.values[static_cast<std::size_t>(k)] / unit;
        sum += value;
        const auto x = [&](i32 of, std::size_t v) {
          return found.vectors[static_cast<i64>(of) * n + static_cast<i64>(v)];
        };
        double omitted = 0;
        for (std::size_t u = 0; u < size; ++u) {
          double product = 0;
          for (std::size_t v = 0; v < size; ++v) product += l[u * size + v] * x(k, v);
          EXPECT_NEAR(product, value * x(k, u), 1e-6);
          omitted += q[u] * x(k, u);
        }
        EXPECT_NEAR(omitted, 0, 1e-6) << "vector " << k;
        for (i32 other = 0; other <= k; ++other) {
          double inner = 0;
          for (std::size_t v = 0; v < size; ++v) inner += x(k, v) * x(other, v);
          EXPECT_NEAR(inner, other == k ? 1 : 0, 1e-6);
        }
      }
      EXPECT_NEAR(sum, trace, 1e-6);
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
  const auto message = [&](error_code code, const owned_matrix<double>& g, const spectral_options& options) {
    return test::message_of(code, [&] { (void)spectral_embedding(ctx, g.view(), options); });
  };
  owned_matrix<double> g = path<double>(3);
  EXPECT_EQ(message(error_code::invalid_argument, g, {.dimensions = 3}),
            "spectral_embedding: 3 dimensions of 3 vertices");
  EXPECT_EQ(message(error_code::invalid_argument, g, {.dimensions = 0}),
            "spectral_embedding: 0 dimensions of 3 vertices");
  EXPECT_EQ(message(error_code::invalid_argument, g, {.tolerance = NAN}),
            "spectral_embedding: the tolerance is nan (expected 0 or more)");
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
