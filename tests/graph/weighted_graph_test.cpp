// The weighted graph builder against a map from pairs to weights, on both backends.
#include <spargo/graph/weighted_graph.hpp>

#include <spargo/graph/bfs.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include "graph/graph_support.hpp"
#include "support/device.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

namespace spargo {
namespace {

using test::edge_vector;

template <class W, class I, class O, class S>
struct weighted_case {
  using weight = W;
  using index = I;
  using offset = O;
  using space = S;
};

// Rows of (u, v) with weights, as CSR in plain vectors.
template <class W, class I, class O>
struct plain_rows {
  std::vector<O> offsets;
  std::vector<I> indices;
  std::vector<W> weights;
  friend bool operator==(const plain_rows&, const plain_rows&) = default;
};

template <class W>
using weight_map = std::map<std::pair<std::int64_t, std::int64_t>, W>;

// The oracle: inserts pair by pair into a map.
template <class W>
weight_map<W> expected_weights(const edge_vector& pairs, const std::vector<W>& weights,
                               const weighted_graph_options& options) {
  const bool undirected = options.direction == direction_kind::undirected;
  weight_map<W> found;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    auto [u, v] = pairs[k];
    if (u == v && options.loops == self_loops::drop) continue;
    if (undirected && u > v) std::swap(u, v);
    const auto [where, is_new] = found.try_emplace({u, v}, weights[k]);
    if (is_new) continue;
    if (options.duplicates == duplicate_weights::sum) where->second = static_cast<W>(where->second + weights[k]);
    if (options.duplicates == duplicate_weights::min && weights[k] < where->second) where->second = weights[k];
    if (options.duplicates == duplicate_weights::max && weights[k] > where->second) where->second = weights[k];
  }
  return found;
}

template <class W>
weight_map<W> turned(const weight_map<W>& edges) {
  weight_map<W> result;
  for (const auto& [pair, weight] : edges) result[{pair.second, pair.first}] = weight;
  return result;
}

template <class W, class I, class O>
plain_rows<W, I, O> rows_of(std::int64_t n, const weight_map<W>& edges) {
  plain_rows<W, I, O> rows;
  rows.offsets.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const auto& [pair, weight] : edges) {
    ++rows.offsets[static_cast<std::size_t>(pair.first) + 1];
    rows.indices.push_back(static_cast<I>(pair.second));
    rows.weights.push_back(weight);
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) rows.offsets[r + 1] += rows.offsets[r];
  return rows;
}

template <class W, class I, class O>
plain_rows<W, I, O> rows_of(const csr_pattern_view<I, O, host>& edges, span<const W, host> weights) {
  return {test::copy_of(edges.offsets), test::copy_of(edges.indices), test::copy_of(weights)};
}

// Builds in a space and copies to the host.
template <class O, class I, class W>
weighted_graph<W, I, O, host> build(host, std::int64_t n, const edge_vector& pairs, const std::vector<W>& weights,
                                    const weighted_graph_options& options, int threads = 3) {
  std::vector<I> from, to;
  for (const auto& [u, v] : pairs) from.push_back(static_cast<I>(u)), to.push_back(static_cast<I>(v));
  const coo_pattern_view<I, host> view{static_cast<I>(n), static_cast<I>(n), from, to};
  return build_weighted_graph<O>(context<host>({.threads = threads}), view, weights, options);
}
template <class O, class I, class W>
weighted_graph<W, I, O, host> build(device, std::int64_t n, const edge_vector& pairs, const std::vector<W>& weights,
                                    const weighted_graph_options& options, int = 0) {
  std::vector<I> from, to;
  for (const auto& [u, v] : pairs) from.push_back(static_cast<I>(u)), to.push_back(static_cast<I>(v));
  const context<device> ctx;
  const auto from_on_device = to_device(ctx, from);
  const auto to_on_device = to_device(ctx, to);
  const auto weights_on_device = to_device(ctx, weights);
  const coo_pattern_view<I, device> view{static_cast<I>(n), static_cast<I>(n), from_on_device, to_on_device};
  return to_host(ctx, build_weighted_graph<O>(ctx, view, weights_on_device, options));
}

constexpr duplicate_weights all_rules[] = {duplicate_weights::min, duplicate_weights::max, duplicate_weights::sum,
                                           duplicate_weights::first};

template <class Case>
class WeightedGraph : public test::space_suite<typename Case::space> {
 protected:
  using weight = typename Case::weight;
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;

  // Sums of these depend on the order if the type is floating-point.
  static std::vector<weight> random_weights(test::random_source& random, std::size_t count) {
    std::vector<weight> weights(count);
    for (weight& w : weights) w = static_cast<weight>(random.below(2001) - 1000) / static_cast<weight>(3);
    return weights;
  }

  static void check_one(std::int64_t n, const edge_vector& pairs, const std::vector<weight>& weights,
                        const weighted_graph_options& options) {
    const auto g = build<offset, index, weight>(space{}, n, pairs, weights, options);
    const weighted_graph_view<weight, index, offset, host> view = g.view();
    weight_map<weight> edges = expected_weights(pairs, weights, options);
    EXPECT_EQ(g.vertices(), n);
    EXPECT_EQ(g.edges(), static_cast<std::int64_t>(edges.size()));
    const weight_map<weight> back = turned(edges);
    if (options.direction == direction_kind::undirected) {
      edges.insert(back.begin(), back.end());
      EXPECT_EQ(view.in.indices.data(), view.out.indices.data());
      EXPECT_EQ(view.in_weights.data(), view.out_weights.data());
    } else {
      EXPECT_EQ(view.has_in_edges(), options.in_edges);
      if (options.in_edges) {
        EXPECT_EQ((rows_of<weight, index, offset>(view.in, view.in_weights)),
                  (rows_of<weight, index, offset>(n, back)));
      }
    }
    EXPECT_EQ((rows_of<weight, index, offset>(view.out, view.out_weights)), (rows_of<weight, index, offset>(n, edges)));
  }

  static void check(std::int64_t n, const edge_vector& pairs, const std::vector<weight>& weights) {
    for (const duplicate_weights rule : all_rules) {
      for (const self_loops loops : {self_loops::drop, self_loops::keep}) {
        SCOPED_TRACE("rule " + std::to_string(static_cast<int>(rule)) + ", loops " +
                     std::to_string(static_cast<int>(loops)));
        check_one(n, pairs, weights, {.duplicates = rule, .loops = loops});
        check_one(n, pairs, weights, {.in_edges = true, .duplicates = rule, .loops = loops});
        check_one(n, pairs, weights, {.direction = direction_kind::undirected, .duplicates = rule, .loops = loops});
      }
    }
  }
};

template <class W, class S>
using narrow = weighted_case<W, std::int32_t, std::int32_t, S>;
template <class W, class S>
using mixed = weighted_case<W, std::int32_t, std::int64_t, S>;
template <class W, class S>
using wide = weighted_case<W, std::int64_t, std::int64_t, S>;
using cases = test::suite_types<
    narrow<std::int32_t, host>, mixed<std::int32_t, host>, wide<std::int32_t, host>, narrow<std::int64_t, host>,
    mixed<std::int64_t, host>, wide<std::int64_t, host>, narrow<float, host>, mixed<float, host>, wide<float, host>,
    narrow<double, host>, mixed<double, host>, wide<double, host>, narrow<std::int32_t, device>,
    mixed<std::int32_t, device>, wide<std::int32_t, device>, narrow<std::int64_t, device>, mixed<std::int64_t, device>,
    wide<std::int64_t, device>, narrow<float, device>, mixed<float, device>, wide<float, device>,
    narrow<double, device>, mixed<double, device>, wide<double, device>>;
TYPED_TEST_SUITE(WeightedGraph, cases);

TYPED_TEST(WeightedGraph, RandomPairsWithLoopsAndDuplicates) {
  test::random_source random(17);
  const std::uint64_t rounds = test::rounds_on<typename TypeParam::space>(40);
  for (std::uint64_t round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::int64_t n = 1 + random.below(30);
    const edge_vector pairs = test::random_edges(random, n, random.below(6 * n), static_cast<int>(round % 3));
    this->check(n, pairs, this->random_weights(random, pairs.size()));
  }
}

TYPED_TEST(WeightedGraph, EdgeCases) {
  using W = typename TestFixture::weight;
  const auto unit = [](std::size_t count) { return std::vector<W>(count, W{1}); };
  this->check(0, {}, {});
  this->check(1, {}, {});
  this->check(5, {}, {});
  this->check(1, {{0, 0}, {0, 0}}, {W{2}, W{1}});
  this->check(3, {{2, 0}}, unit(1));
  this->check(3, {{0, 1}, {1, 0}, {0, 1}, {1, 0}}, {W{4}, W{3}, W{2}, W{5}});
  this->check(300, test::star_edges(257), unit(256));
  this->check(257, test::path_edges(256), unit(255));
}

// Several parts on the host and many blocks on the device; runs of one entry, of 33 and of many thousands.
TYPED_TEST(WeightedGraph, ManyPairs) {
  test::random_source random(18);
  edge_vector pairs = test::random_edges(random, 2000, 70000, 2);
  for (std::int64_t k = 0; k < 40000; ++k) pairs.emplace_back(k % 3, k % 2);
  for (std::int64_t k = 0; k < 33; ++k) pairs.emplace_back(1999, 1998);
  const auto weights = this->random_weights(random, pairs.size());
  std::size_t number = sizeof(typename TestFixture::index) / 4;
  for (const duplicate_weights rule : all_rules) {
    if (test::is_sanitized && number++ % 2 != 0) continue;  // each rule for some widths of indices
    this->check_one(2000, pairs, weights, {.in_edges = true, .duplicates = rule, .loops = self_loops::keep});
    // Most vertices have no edge.
    this->check_one(1 << 17, pairs, weights, {.direction = direction_kind::undirected, .duplicates = rule});
  }
}

// As symmetric files list them: both directions, with the same weight.
TYPED_TEST(WeightedGraph, SymmetricPairsInOrder) {
  using W = typename TestFixture::weight;
  test::random_source random(19);
  weight_map<W> both;
  for (const auto& [u, v] : test::random_edges(random, 200, 3000, 1)) {
    both[{u, v}] = both[{v, u}] = static_cast<W>(random.below(100));
  }
  edge_vector pairs;
  std::vector<W> weights;
  for (const auto& [pair, w] : both) pairs.push_back(pair), weights.push_back(w);
  this->check(200, pairs, weights);
}

// Weights are preserved bit for bit, also where they travel as another type.
TYPED_TEST(WeightedGraph, WeightsKeepTheirBits) {
  using W = typename TestFixture::weight;
  using O = typename TestFixture::offset;
  using I = typename TestFixture::index;
  std::vector<W> weights{std::numeric_limits<W>::lowest(), std::numeric_limits<W>::max(), W{0}, static_cast<W>(-1)};
  if constexpr (std::same_as<W, std::int32_t>) weights.push_back(0x7fa00001);  // a signalling NaN as a float
  if constexpr (std::same_as<W, std::int64_t>) weights.push_back(0x7ff4000000000001);
  if constexpr (std::floating_point<W>) {
    weights.insert(weights.end(), {std::numeric_limits<W>::infinity(), static_cast<W>(-0.0),
                                   std::numeric_limits<W>::denorm_min(), std::numeric_limits<W>::quiet_NaN()});
  }
  const auto n = static_cast<std::int64_t>(weights.size()) + 1;
  const auto bits = [](W w) {
    return std::bit_cast<std::conditional_t<sizeof(W) == 4, std::uint32_t, std::uint64_t>>(w);
  };
  for (const direction_kind direction : {direction_kind::directed, direction_kind::undirected}) {
    const auto g = build<O, I, W>(typename TestFixture::space{}, n, test::star_edges(n), weights,
                                  {.direction = direction, .in_edges = true});
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto leaf = static_cast<std::int64_t>(k) + 1;
      const auto view = g.view();
      EXPECT_EQ(bits(view.out_weights[static_cast<std::int64_t>(k)]), bits(weights[k]));
      EXPECT_EQ(bits(view.in_weights[view.in.offsets[leaf]]), bits(weights[k]));
    }
  }
}

TYPED_TEST(WeightedGraph, RefusesSumsThatDoNotFit) {
  using W = typename TestFixture::weight;
  if constexpr (std::integral<W>) {
    const auto built = [](std::vector<W> weights) {
      return build<typename TestFixture::offset, typename TestFixture::index, W>(
          typename TestFixture::space{}, 4, {{3, 1}, {0, 2}, {0, 2}, {0, 2}}, weights,
          {.duplicates = duplicate_weights::sum});
    };
    constexpr W most = std::numeric_limits<W>::max();
    EXPECT_EQ(built({W{1}, most, W{-1}, W{1}}).view().out_weights[0], most);
    EXPECT_EQ(built({most, most, std::numeric_limits<W>::min(), W{1}}).view().out_weights[0], W{0});
    try {
      (void)built({most, most, W{0}, W{1}});
      FAIL() << "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_data);
      EXPECT_EQ(std::string(e.what()), "build_weighted_graph: the weights of edge (0, 2) overflow " +
                                           std::to_string(8 * sizeof(W)) + " bits in sum");
    }
    EXPECT_THROW((void)built({W{0}, std::numeric_limits<W>::min(), W{0}, W{-1}}), error);
  }
}

TYPED_TEST(WeightedGraph, RefusesPairsOutside) {
  using W = typename TestFixture::weight;
  const auto built = [](std::int64_t n, const edge_vector& pairs) {
    return build<typename TestFixture::offset, typename TestFixture::index, W>(typename TestFixture::space{}, n, pairs,
                                                                               std::vector<W>(pairs.size()), {});
  };
  try {
    (void)built(4, {{0, 1}, {1, 2}, {3, 4}, {-1, 0}});
    FAIL() << "vertex 4 of 4 was accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::invalid_data);
    EXPECT_STREQ(e.what(), "build_weighted_graph: edge 2 is (3, 4) in a graph of 4 vertices");
  }
  EXPECT_THROW((void)built(4, {{0, 1}, {-1, 2}}), error);
  EXPECT_THROW((void)built(0, {{0, 0}}), error);
}

TEST(WeightedGraphHost, RefusesShapesThatDoNotFit) {
  const context<host> ctx;
  const std::vector<std::int32_t> one{0};
  const std::vector<double> weights{1, 2};
  const auto code_of = [&](const coo_pattern_view<std::int32_t, host>& pairs, const std::vector<double>& w) {
    try {
      (void)build_weighted_graph(ctx, pairs, w);
    } catch (const error& e) {
      return e.code();
    }
    return error_code{};
  };
  EXPECT_EQ(code_of({2, 3, one, one}, {1}), error_code::invalid_argument);
  EXPECT_EQ(code_of({2, 2, one, one}, {1, 2}), error_code::invalid_argument);
  EXPECT_EQ(code_of({2, 2, one, {}}, {1}), error_code::invalid_argument);
}

// The same bits for any number of threads: non-associative sums, in runs across parts.
TEST(WeightedGraphHost, ThreadsDoNotChangeTheResult) {
  test::random_source random(20);
  edge_vector pairs = test::random_edges(random, 400, 200000, 3);
  std::vector<float> weights;
  for (std::size_t k = 0; k < pairs.size(); ++k) weights.push_back(1.0F / static_cast<float>(1 + random.below(1000)));
  const auto rows = [&](int threads) {
    const auto g = build<std::int64_t, std::int32_t, float>(
        host{}, 400, pairs, weights, {.direction = direction_kind::undirected, .duplicates = duplicate_weights::sum},
        threads);
    return rows_of<float, std::int32_t, std::int64_t>(g.view().out, g.view().out_weights);
  };
  const auto alone = rows(1);
  for (const int threads : {2, 5, 16}) EXPECT_EQ(rows(threads), alone) << threads << " threads";
}

// A weighted graph's pattern is accepted wherever a graph is.
TEST(WeightedGraphHost, ServesAsAGraph) {
  const context<host> ctx({.threads = 2});
  const auto g = build<std::int64_t, std::int32_t, float>(host{}, 4, test::path_edges(4), {1, 2, 3},
                                                          {.direction = direction_kind::undirected});
  EXPECT_EQ(bfs(ctx, g.view(), 0).levels[3], 3);
}

class WeightedFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("weighted_" + std::to_string(static_cast<long>(::getpid())));
};

TEST_F(WeightedFiles, EdgeListsAndMatrixMarketFilesGiveTheirWeights) {
  const context<host> ctx({.threads = 2});
  const auto list = read_edge_list<std::int32_t>(ctx, write("a.wel", "10 20 2.5\n20 30 -1\n10 20 2\n"));
  ASSERT_TRUE(list.weighted);
  const auto of_list = build_weighted_graph(ctx, list.edges);
  EXPECT_EQ(test::copy_of(of_list.view().out_weights), (std::vector<double>{2, -1}));

  const auto matrix = read_matrix_market<float, std::int32_t>(
      ctx, write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 3 7\n"));
  const auto of_matrix =
      build_weighted_graph(ctx, matrix.view(), {.direction = direction_kind::undirected, .loops = self_loops::keep});
  EXPECT_EQ(of_matrix.edges(), 2);
  EXPECT_EQ(test::copy_of(of_matrix.view().out_weights), (std::vector<float>{0.5F, 0.5F, 7}));
}

template <class Graph>
concept copyable = requires(const context<device>& ctx, const Graph& g) {
  to_device(ctx, g);
};
template <class Graph>
concept fetchable = requires(const context<device>& ctx, const Graph& g) {
  to_host(ctx, g);
};
static_assert(copyable<weighted_graph<double, std::int32_t, std::int64_t, host>>);
static_assert(copyable<graph_view<std::int32_t, std::int64_t, host>>);
static_assert(!copyable<weighted_graph_view<double, std::int32_t, std::int64_t, host>>, "it would lose the weights");
static_assert(fetchable<weighted_graph<double, std::int32_t, std::int64_t, device>>);
static_assert(fetchable<graph_view<std::int32_t, std::int64_t, device>>);
static_assert(!fetchable<weighted_graph_view<double, std::int32_t, std::int64_t, device>>, "it would lose the weights");

TEST(WeightedGraphDevice, TravelsBetweenSpaces) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const direction_kind direction : {direction_kind::directed, direction_kind::undirected}) {
    const auto g = build<std::int32_t, std::int32_t, std::int64_t>(host{}, 4, test::path_edges(4), {1, 2, 3},
                                                                   {.direction = direction, .in_edges = true});
    const auto back = to_host(ctx, to_device(ctx, g));
    EXPECT_EQ(back.edges(), g.edges());
    EXPECT_EQ(test::copy_of(back.view().out_weights), test::copy_of(g.view().out_weights));
    EXPECT_EQ(test::copy_of(back.view().in_weights), test::copy_of(g.view().in_weights));
    EXPECT_EQ(test::copy_of(back.view().in.indices), test::copy_of(g.view().in.indices));
  }
}

}  // namespace
}  // namespace spargo
