// Betweenness against Boost.Graph, and path counts beyond floating point against 200-bit sums.
#include "graph/betweenness/algorithms.hpp"
#include "graph/betweenness_values.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/betweenness_centrality.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace spargo {
namespace {

using test::both_betweenness;
using test::doubles;
using test::edge_vector;
using test::sources_type;
using test::values_in;
using test::values_of;

// Boost counts every ordered pair of ends.
doubles boost_values(std::int64_t n, const edge_vector& edges) {
  const boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> g(edges.begin(), edges.end(),
                                                                            static_cast<std::size_t>(n));
  doubles values(static_cast<std::size_t>(n));
  const auto index = get(boost::vertex_index, g);
  boost::brandes_betweenness_centrality(g, boost::make_iterator_property_map(values.begin(), index));
  return values;
}

TEST(BetweennessAndBoost, Agree) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 100 + random.below(500);
    const edge_vector edges = test::random_edges(random, n, n / 2 + random.below(5 * n), static_cast<int>(seed % 3));
    const auto raw = test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out);
    const doubles expected = boost_values(n, edges);
    for (const auto algorithm : both_betweenness) {
      ASSERT_LT(test::farthest_off(values_of(raw.view(), {}, {.algorithm = algorithm}), expected), 0) << seed;
    }
  }
}

using precise =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<200, boost::multiprecision::digit_base_2, void,
                                                                       std::int64_t, -1000000, 1000000>>;

// Dependencies of one source by Brandes' recurrence in 200 bits with exponents up to a million, over lists of edges
// between consecutive levels.
doubles precise_dependencies(std::int64_t n, const edge_vector& edges, std::int64_t source) {
  const test::raw_graph<std::int64_t, std::int64_t> g =
      test::make_directed<std::int64_t, std::int64_t>(n, edges, test::edges_kept::out);
  const std::vector<std::int32_t> level = test::naive_levels(g.view(), source);
  std::vector<edge_vector> steps(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) {
    const std::int32_t from = level[static_cast<std::size_t>(u)];
    if (from >= 0 && level[static_cast<std::size_t>(v)] == from + 1) {
      steps[static_cast<std::size_t>(from)].emplace_back(u, v);
    }
  }
  std::vector<precise> count(static_cast<std::size_t>(n), 0);
  count[static_cast<std::size_t>(source)] = 1;
  for (const auto& step : steps) {
    for (const auto& [u, v] : step) count[static_cast<std::size_t>(v)] += count[static_cast<std::size_t>(u)];
  }
  std::vector<precise> dependency(static_cast<std::size_t>(n), 0);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    for (const auto& [from, to] : *step) {
      const auto u = static_cast<std::size_t>(from);
      const auto v = static_cast<std::size_t>(to);
      dependency[u] += count[u] / count[v] * (1 + dependency[v]);
    }
  }
  doubles values;
  for (const precise& d : dependency) values.push_back(static_cast<double>(d));
  values[static_cast<std::size_t>(source)] = 0;
  return values;
}

doubles precise_sums(std::int64_t n, const edge_vector& edges, const sources_type& sources) {
  doubles sums(static_cast<std::size_t>(n));
  for (const std::int64_t s : sources) {
    const doubles own = precise_dependencies(n, edges, s);
    for (std::size_t v = 0; v < own.size(); ++v) sums[v] += own[v];
  }
  return sums;
}

template <class Space>
class BetweennessPaths : public test::space_suite<Space> {
 protected:
  // Values below 2^-400 count as 0.
  template <class I, class O>
  static void expect_values(const test::raw_graph<I, O>& raw, const doubles& expected, const sources_type& sources) {
    const std::vector<I> given(sources.begin(), sources.end());
    for (const auto algorithm : detail::algorithms_on<Space>(detail::betweenness::algorithms)) {
      if (algorithm == betweenness_algorithm::automatic) continue;
      const doubles got = values_in<I, O, Space>(raw, sources, {.algorithm = algorithm});
      EXPECT_EQ(check_betweenness<I>(context<host>({.threads = 2}), raw.view(), got, given), "");
      doubles compared = got;
      for (std::size_t v = 0; v < got.size(); ++v) {
        ASSERT_TRUE(std::isfinite(got[v])) << "vertex " << v;
        if (got[v] < 0x1p-400 && expected[v] < 0x1p-400) compared[v] = expected[v];
      }
      const std::int64_t v = test::farthest_off(compared, expected, 1e-11);
      ASSERT_LT(v, 0) << to_string(algorithm) << ", vertex " << v << ": " << got[static_cast<std::size_t>(v)]
                      << ", expected " << expected[static_cast<std::size_t>(v)];
    }
  }

  // The edges as directed ones and, if given, as those of an undirected graph.
  static void expect_precise(std::int64_t n, const edge_vector& edges, const sources_type& sources,
                             const edge_vector& undirected = {}) {
    const doubles expected = precise_sums(n, edges, sources);
    expect_values(test::make_directed<std::int32_t, std::int32_t>(n, edges, test::edges_kept::out_and_in), expected,
                  sources);
    if (undirected.empty()) return;
    expect_values(test::make_undirected<std::int32_t, std::int64_t>(n, undirected), expected, sources);
  }
};
using spaces = test::suite_types<host, device>;
TYPED_TEST_SUITE(BetweennessPaths, spaces);

// width^layers paths: from 2^60 to 2^4800, beyond 2^53, 2^500, 2^1024 and 2^1500.
TYPED_TEST(BetweennessPaths, AnyNumber) {
  test::random_source random(32);
  for (const auto& [layers, width] :
       {std::pair<std::int64_t, std::int64_t>{15, 16}, {70, 8}, {130, 16}, {350, 16}, {400, 8}, {1600, 8}}) {
    SCOPED_TRACE(std::to_string(layers) + " layers of " + std::to_string(width));
    const edge_vector edges = test::layered_edges(layers, width, random);
    const std::int64_t chain = layers * width;
    this->expect_precise(test::layered_vertices(layers, width), edges, {0, chain, width, 3 * width + 1, chain + 5});
  }
}

// 2^499 paths to a vertex and 2^1501 to its successor, found in either order: exponents that differ by two.
TYPED_TEST(BetweennessPaths, SuccessorsOfFarMorePaths) {
  for (const auto& chains : {sources_type{1501, 499}, sources_type{499, 1501}}) {
    edge_vector edges;
    std::int64_t n = 2;
    for (const std::int64_t doubled : chains) {
      sources_type layer{0};
      for (std::int64_t k = 0; k < 1501; ++k) {
        sources_type above(k < doubled ? 2 : 1);
        for (std::int64_t& v : above) {
          v = n++;
          for (const std::int64_t u : layer) edges.emplace_back(u, v);
        }
        layer = above;
      }
      for (const std::int64_t u : layer) edges.emplace_back(u, 1);
    }
    this->expect_precise(n, edges, {0});
  }
}

// Layers in both directions, where levels turn around.
TYPED_TEST(BetweennessPaths, AnyNumberInACycle) {
  test::random_source random(33);
  for (const std::int64_t layers : {40, 300}) {
    edge_vector edges = test::layered_edges(layers, 32, random);
    for (std::int64_t a = 0; a < 32; ++a) edges.emplace_back((layers - 1) * 32 + a, 31 - a);
    const edge_vector one_way = edges;
    for (const auto& [u, v] : one_way) edges.emplace_back(v, u);
    this->expect_precise(test::layered_vertices(layers, 32), edges, {5, layers * 16, layers * 33 - 1}, one_way);
  }
}

// C(2k, k) paths from corner to corner: 2^1195 for k = 600.
TYPED_TEST(BetweennessPaths, LargeGrids) {
  for (const std::int64_t k : {40, 300, 600}) {
    const edge_vector one_way = test::grid_edges(k, k);
    edge_vector edges = one_way;
    for (const auto& [u, v] : one_way) edges.emplace_back(v, u);
    this->expect_precise(k * k, edges, k > 500 ? sources_type{0} : sources_type{0, k * k / 2 + 3}, one_way);
  }
}

}  // namespace
}  // namespace spargo
