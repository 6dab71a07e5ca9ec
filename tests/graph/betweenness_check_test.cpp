// check_betweenness: correct values pass, and every planted error is found and named.
#include <spargo/graph/betweenness.hpp>

#include "graph/betweenness_support.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace spargo {
namespace {

using test::doubles;
using test::edge_vector;

using sources_type = std::vector<std::int32_t>;

std::string fault(const test::raw_graph<std::int32_t, std::int32_t>& raw, const doubles& values,
                  const sources_type& sources = {}, const betweenness_options& options = {}) {
  const context<host> ctx({.threads = 2});
  return check_betweenness(ctx, raw.view(), values, test::all_if_none(sources), options);
}

// 0 - 1 - 2 - 3, and 4 isolated.
test::raw_graph<std::int32_t, std::int32_t> path() {
  return test::make_undirected<std::int32_t, std::int32_t>(5, test::path_edges(4));
}

TEST(CheckBetweenness, TakesRightValues) {
  using normal = betweenness_normalization;
  EXPECT_EQ(fault(path(), {0, 2, 2, 0, 0}), "");
  EXPECT_EQ(fault(path(), {0, 2 * (1 + 5e-10), 2, 0, 0}), "");
  EXPECT_EQ(fault(path(), {0, 2, 1, 0, 0}, {0}), "");
  EXPECT_EQ(fault(path(), {0, 4, 2, 0, 0}, {0, 0}), "");
  EXPECT_EQ(fault(path(), {0, 1, 1, 0, 0}, {}, {.normalization = normal::by_maximum}), "");
  EXPECT_EQ(fault(path(), {0, 1.0 / 3, 1.0 / 3, 0, 0}, {}, {.normalization = normal::pairs}), "");
  EXPECT_EQ(fault(path(), {3, 5, 5, 3, 0}, {}, {.endpoints = betweenness_endpoints::included}), "");
  EXPECT_EQ(fault(test::make_directed<std::int32_t, std::int32_t>(4, test::path_edges(4), test::edges_kept::out),
                  {0, 2, 2, 0}),
            "");
  EXPECT_EQ(fault(test::make_undirected<std::int32_t, std::int32_t>(0, {}), {}), "");
}

TEST(CheckBetweenness, NamesTheVertexThatIsFarthestOff) {
  EXPECT_EQ(fault(path(), {0, 2}), "there are 2 values for 5 vertices");
  EXPECT_EQ(fault(path(), {0, 2, 2.5, 0, 0}), "vertex 2 has the value 2.5 (expected 2)");
  EXPECT_EQ(fault(path(), {0, 2.1, 2.5, 0, 0}), "vertex 2 has the value 2.5 (expected 2)");
  EXPECT_EQ(fault(path(), {0, 2, 2, 0, 1e-30}), "vertex 4 has the value 1e-30 (expected 0)");
  EXPECT_EQ(fault(path(), {0, 2, std::numeric_limits<double>::quiet_NaN(), 0, 0}),
            "vertex 2 has the value nan (expected 2)");
  EXPECT_EQ(fault(path(), {0, 2, 2, 0, std::numeric_limits<double>::infinity()}),
            "vertex 4 has the value inf (expected 0)");
}

TEST(CheckBetweenness, RefusesSourcesThatAreNoVertices) {
  EXPECT_THROW((void)fault(path(), {0, 2, 2, 0, 0}, {5}), error);
  EXPECT_THROW((void)fault(path(), {0, 2, 2, 0, 0}, {0, -1}), error);
}

// The sum of correct values passes with any options; with one wrong value it does not.
TEST(CheckBetweenness, SumsFollowFromDistances) {
  const context<host> ctx({.threads = 2});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    test::random_source random(seed);
    const std::int64_t n = 3 + random.below(300);
    const edge_vector edges = test::random_edges(random, n, 1 + random.below(4 * n), 1);
    const auto raw = seed % 2 == 0 ? test::make_undirected<std::int32_t, std::int32_t>(n, edges)
                                   : test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
    const sources_type some{0, 1, 1, static_cast<std::int32_t>(n - 1)};
    for (const auto normalization : {betweenness_normalization::none, betweenness_normalization::pairs}) {
      for (const auto endpoints : {betweenness_endpoints::excluded, betweenness_endpoints::included}) {
        for (const auto& sources : {sources_type{}, some}) {
          const betweenness_options options{.normalization = normalization, .endpoints = endpoints};
          const auto requested = test::all_if_none(sources);
          auto values = betweenness(ctx, raw.view(), requested, options).values;
          ASSERT_EQ(check_betweenness_sum(ctx, raw.view(), values, requested, options), "");
          std::int64_t largest = 0;
          for (std::int64_t v = 0; v < n; ++v) largest = values[v] > values[largest] ? v : largest;
          if (values[largest] == 0) continue;
          values[largest] *= 1 - 1e-6;
          ASSERT_NE(check_betweenness_sum(ctx, raw.view(), values, requested, options), "");
        }
      }
    }
  }
  EXPECT_EQ(check_betweenness_sum(ctx, path().view(), doubles{0, 2, 2.5, 0, 0}),
            "the values sum to 9 (expected 8 from the distances)");
  EXPECT_THROW((void)check_betweenness_sum(ctx, path().view(), doubles(5), {},
                                           {.normalization = betweenness_normalization::by_maximum}),
               error);
}

// Values for other options are wrong, unless they happen to be equal.
TEST(CheckBetweenness, FindsOtherOptions) {
  test::random_source random(41);
  const edge_vector edges = test::random_edges(random, 30, 70, 1);
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(30, edges);
  const context<host> ctx({.threads = 2});
  const sources_type some{3, 4};
  std::vector<std::pair<sources_type, betweenness_options>> requested;
  for (const auto normalization :
       {betweenness_normalization::none, betweenness_normalization::pairs, betweenness_normalization::by_maximum}) {
    for (const auto endpoints : {betweenness_endpoints::excluded, betweenness_endpoints::included}) {
      for (const auto& sources : {sources_type{}, some}) {
        requested.push_back({sources, {.normalization = normalization, .endpoints = endpoints}});
      }
    }
  }
  for (std::size_t a = 0; a < requested.size(); ++a) {
    const auto result = betweenness(ctx, raw.view(), test::all_if_none(requested[a].first), requested[a].second);
    for (std::size_t b = 0; b < requested.size(); ++b) {
      const std::string wrong =
          check_betweenness(ctx, raw.view(), result.values, test::all_if_none(requested[b].first), requested[b].second);
      EXPECT_EQ(wrong.empty(), a == b) << a << " as " << b << ": " << wrong;
    }
  }
}

// Every vertex's value, a millionth too large or too small, or 0 instead.
TEST(CheckBetweenness, FindsEveryChangeOfOneValue) {
  int planted = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 4 + random.below(12);
    const edge_vector edges = test::random_edges(random, n, n + random.below(2 * n), 0);
    const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
    const doubles right = test::naive_sums<long double>(n, edges, test::all_of(n), betweenness_endpoints::excluded);
    ASSERT_EQ(fault(raw, right), "") << "seed " << seed;
    for (std::size_t v = 0; v < right.size(); ++v) {
      const double value = right[v];
      const doubles wrong_values =
          value > 0 ? doubles{value * (1 + 1e-6), value * (1 - 1e-6), 0, -value} : doubles{1e-6};
      for (const double wrong : wrong_values) {
        doubles values = right;
        values[v] = wrong;
        ASSERT_EQ(fault(raw, values).find("vertex " + std::to_string(v) + " has the value "), 0U) << "seed " << seed;
        ++planted;
      }
    }
  }
  EXPECT_GT(planted, 1000);
}

// Path counts beyond floating point: uses the scaled counts.
TEST(CheckBetweenness, CountsAnyNumberOfPaths) {
  const std::int64_t stages = 3000;  // two paths per stage: 2^3000 in total
  edge_vector edges;
  for (std::int64_t k = 0; k < stages; ++k) {
    for (const std::int64_t way : {1, 2}) {
      edges.emplace_back(3 * k, 3 * k + way);
      edges.emplace_back(3 * k + way, 3 * k + 3);
    }
  }
  const std::int64_t n = 3 * stages + 1;
  const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
  doubles values(static_cast<std::size_t>(n));
  for (std::int64_t v = 1; v < n; ++v) {
    const std::int64_t stage = (v + 2) / 3;  // all later vertices are reached through it, or half of them
    const auto behind = static_cast<double>(n - 1 - 3 * stage);
    values[static_cast<std::size_t>(v)] = v % 3 == 0 ? behind : (behind + 1) / 2;
  }
  EXPECT_EQ(fault(raw, values, {0}), "");
  values[5] *= 1 + 1e-8;
  EXPECT_NE(fault(raw, values, {0}), "");
}

}  // namespace
}  // namespace spargo
