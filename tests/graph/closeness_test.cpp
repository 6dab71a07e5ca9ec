// Closeness and harmonic centrality: against the definition on thousands of small random graphs and on shapes that
// hurt; samples of sources; the same bits for any number of threads; wrong values that the check finds; refusals.
#include <spargo/graph/closeness.hpp>
#include <spargo/io/generate.hpp>

#include "graph/closeness/algorithms.hpp"
#include "graph/graph_suite.hpp"
#include "graph/plan_suite.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;

template <class Space>
struct closeness_case : test::plan_case<closeness_plan<std::int32_t, std::int64_t, Space>, closeness_options> {
  static constexpr const char* name = "closeness";

  static void run(auto& p) {
    std::vector<std::int32_t> sources(
        std::min<std::size_t>(256, static_cast<std::size_t>(p.values().size())));  // the time estimated is theirs
    std::iota(sources.begin(), sources.end(), 0);
    p.run(sources);
  }
};
const test::plan_suite<closeness_case> every_plan;

// [from * n + to], n^3 steps; -1: no path.
std::vector<int> all_distances(std::int64_t n, const edge_vector& edges, bool directed) {
  std::vector<int> d(static_cast<std::size_t>(n * n), -1);
  const auto at = [&](std::int64_t u, std::int64_t v) -> int& { return d[static_cast<std::size_t>(u * n + v)]; };
  for (const auto& [u, v] : edges) {
    at(u, v) = 1;
    if (!directed) at(v, u) = 1;
  }
  for (std::int64_t v = 0; v < n; ++v) at(v, v) = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t u = 0; u < n; ++u) {
      if (at(u, k) < 0) continue;
      for (std::int64_t v = 0; v < n; ++v) {
        if (at(k, v) >= 0 && (at(u, v) < 0 || at(u, k) + at(k, v) < at(u, v))) at(u, v) = at(u, k) + at(k, v);
      }
    }
  }
  return d;
}

std::vector<double> naive_values(std::int64_t n, const std::vector<int>& d, const std::vector<std::int64_t>& sources,
                                 const closeness_options& options) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::int64_t v = 0; v < n; ++v) {
    double sum = 0, inverses = 0, reached = 0, others = 0;
    for (const std::int64_t s : sources) {
      if (s == v) continue;
      ++others;
      const int hops = d[static_cast<std::size_t>(s * n + v)];
      if (hops < 0) continue;
      ++reached;
      sum += hops;
      inverses += 1.0 / hops;
    }
    if (reached == 0) continue;
    double& value = values[static_cast<std::size_t>(v)];
    if (options.measure == closeness_measure::harmonic) {
      value = inverses * static_cast<double>(n - 1) / others;
    } else {
      value = reached / sum * (options.scaling == closeness_scaling::none ? 1 : reached / others);
    }
  }
  return values;
}

const std::vector<closeness_options> every_option{
    {},
    {.scaling = closeness_scaling::none},
    {.measure = closeness_measure::harmonic},
};

template <class Space, class I, class O>
void expect_values(const test::raw_graph<I, O>& raw, const std::vector<int>& distances,
                   const std::optional<std::vector<I>>& sources, int threads = 3) {
  const std::int64_t n = raw.view().vertices();
  const test::placed_graph<I, O, Space> placed(raw, threads);
  std::vector<std::int64_t> distinct(static_cast<std::size_t>(n));
  std::iota(distinct.begin(), distinct.end(), 0);
  if (sources.has_value()) {
    distinct.assign(sources->begin(), sources->end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  }
  closeness_sources<I> given;
  if (sources.has_value()) given = *sources;
  for (const closeness_options& options : every_option) {
    SCOPED_TRACE(std::to_string(n) + " vertices, " + std::to_string(distinct.size()) + " sources, measure " +
                 std::string(to_string(options.measure)));
    const std::vector<double> expected = naive_values(n, distances, distinct, options);
    closeness_plan<I, O, Space> plan(placed.ctx(), placed.view(), options);
    for (int run = 0; run < 2; ++run) {
      plan.run(given);
      const std::vector<double> found = placed.fetch(plan.values());
      ASSERT_EQ(std::ssize(found), n);
      for (std::int64_t v = 0; v < n; ++v) {
        const auto k = static_cast<std::size_t>(v);
        ASSERT_NEAR(found[k], expected[k], 1e-13 * expected[k]) << "vertex " << v;
      }
      ASSERT_EQ(check_closeness(context<host>({.threads = threads}), raw.view(), found, n, given, options), "");
    }
  }
}

template <class Case>
class Closeness : public test::threaded_graph_suite<Case> {
 protected:
  void check(std::int64_t n, const edge_vector& edges,
             const std::optional<std::vector<typename Case::index>>& sources = {}) {
    using I = typename Case::index;
    using O = typename Case::offset;
    using Space = typename Case::space;
    expect_values<Space>(test::make_undirected<I, O>(n, edges), all_distances(n, edges, false), sources);
    const std::vector<int> directed = all_distances(n, edges, true);
    for (const auto kept : {test::edges_kept::out, test::edges_kept::out_and_in}) {
      expect_values<Space>(test::make_directed<I, O>(n, edges, kept), directed, sources);
    }
  }
};

TYPED_TEST_SUITE(Closeness, test::graph_cases);

TYPED_TEST(Closeness, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}, {0, 0}});
  this->check(5, {});
  this->check(2, {{1, 0}});
  this->check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 1}});
  this->check(6, {{4, 3}, {3, 4}, {0, 1}, {1, 2}, {2, 0}});
  this->check(33, test::star_edges(33));
  this->check(100, test::path_edges(100));
  this->check(64, test::grid_edges(8, 8));
}

TYPED_TEST(Closeness, RandomGraphs) {
  using I = typename TypeParam::index;
  for (std::uint64_t seed = 0; seed < this->rounds(400); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(seed % 8 == 0 ? 90 : 30);
    const edge_vector edges = test::random_edges(random, n, random.below(4 * n + 1), static_cast<int>(random.below(3)));
    std::optional<std::vector<I>> sources;
    if (seed % 2 == 1) {
      sources.emplace();
      for (std::int64_t k = random.below(n + 2); k > 0; --k) sources->push_back(static_cast<I>(random.below(n)));
    }
    this->check(n, edges, sources);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Batches of 256 sources, the last one not full; rows that several warps pull; deep graphs.
TYPED_TEST(Closeness, SeveralBatches) {
  using I = typename TypeParam::index;
  test::random_source random(3);
  edge_vector edges = test::random_edges(random, 300, 700, 1);
  for (std::int64_t v = 1; v < 300; v += 2) edges.emplace_back(0, v);
  this->check(300, edges);
  this->check(300, test::path_edges(300));
  std::vector<I> sources;
  for (I v = 0; v < 280; ++v) sources.push_back(v);
  this->check(300, edges, sources);
}

TEST(ClosenessHost, TheBitsDoNotDependOnThreads) {
  const context<host> ctx({.threads = 2});
  detail::assume_processors(8);
  const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:rmat:scale=12,degree=8"),
                             {.direction = direction_kind::undirected});
  std::vector<std::int32_t> sources;
  for (std::int32_t v = 0; v < 600; ++v) sources.push_back(7 * v % 4096);
  for (const closeness_options& options : every_option) {
    std::vector<double> first;
    for (int threads = 1; threads <= 8; ++threads) {
      const context<host> some({.threads = threads});
      const auto found = closeness(some, g, span<const std::int32_t, host>(sources), options).values;
      const std::vector<double> values(found.begin(), found.end());
      if (first.empty()) first = values;
      ASSERT_EQ(values, first) << threads;
    }
  }
  detail::assume_processors(0);
}

TEST(ClosenessDevice, TheBitsAreTheHosts) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 2});
  const context<device> gpu;
  for (const char* spec : {"gen:rmat:scale=15,degree=16", "gen:rmat:scale=12,degree=200",
                           "gen:uniform:rows=50000,degree=12", "gen:grid2d:n=150"}) {
    for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
      SCOPED_TRACE(spec);
      const auto g =
          build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction, .in_edges = true});
      const auto there = to_device(gpu, g.view());
      std::vector<std::int32_t> sources;
      for (std::int32_t v = 0; v < 600; ++v) sources.push_back(11 * v % static_cast<std::int32_t>(g.vertices()));
      for (const closeness_options& options : every_option) {
        const auto expected = closeness(ctx, g, span<const std::int32_t, host>(sources), options).values;
        closeness_plan plan(gpu, there, options);
        const graph_shape shape{.vertices = g.vertices(), .entries = g.view().out.nnz(), .direction = direction};
        EXPECT_LE(plan.workspace_bytes(), decltype(plan)::estimate(shape).device_bytes);
        for (int run = 0; run < 2; ++run) {
          plan.run(span<const std::int32_t, host>(sources));
          const auto found = to_host(gpu, plan.values());
          ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
        }
      }
    }
  }
}

// Searches by blocks on the device give up where a frontier or a row is too long, after any number of levels, and take
// back what they added. Sparse graphs with a component whose frontiers stay small, and one with such a place.
TEST(ClosenessDevice, SearchesThatOutgrowABlock) {
  SPARGO_TEST_NEEDS_GPU();
  const std::int64_t path = 3000;
  const auto with_path = [&](std::int64_t n, edge_vector edges) {  // a path to vertex 0 of n, another one apart
    for (std::int64_t k = 0; k < path; ++k) edges.emplace_back(k == 0 ? 0 : n + k - 1, n + k);
    for (std::int64_t k = 1; k < path; ++k) edges.emplace_back(n + path + k - 1, n + path + k);
    return edges;
  };
  edge_vector tree;  // levels of up to 8192 vertices
  for (std::int64_t v = 1; v < 16383; ++v) tree.emplace_back((v - 1) / 2, v);
  const auto fan = [](std::int64_t width) {  // a tree with 10, 100 and `width` vertices below the root
    edge_vector edges;
    for (std::int64_t k = 0; k < 110; ++k) edges.emplace_back(k < 10 ? 0 : 1 + (k - 10) / 10, 1 + k);
    for (std::int64_t k = 0; k < width; ++k) edges.emplace_back(11 + k % 100, 111 + k);
    return edges;
  };
  const auto compare = [&](std::int64_t n, const edge_vector& edges, std::int64_t in_first) {
    SCOPED_TRACE(n);
    const auto raw = test::make_undirected<std::int32_t, std::int64_t>(n + 2 * path, with_path(n, edges));
    const test::placed_graph<std::int32_t, std::int64_t, host> here(raw, 2);
    const test::placed_graph<std::int32_t, std::int64_t, device> there(raw, 2);
    for (const bool mostly_apart : {false, true}) {
      std::vector<std::int32_t> sources;
      for (std::int64_t k = 0; k < in_first; ++k) sources.push_back(static_cast<std::int32_t>(k * (n / in_first)));
      for (std::int64_t k = 0; k < 40; ++k) sources.push_back(static_cast<std::int32_t>(n + 7 * k));
      for (std::int64_t k = 0; mostly_apart && k < 1500; ++k) {
        sources.push_back(static_cast<std::int32_t>(n + path + 2 * k));
      }
      for (const closeness_options& options : every_option) {
        closeness_plan on_host(here.ctx(), here.view(), options);
        closeness_plan on_device(there.ctx(), there.view(), options);
        on_host.run(span<const std::int32_t, host>(sources));
        for (int run = 0; run < 2; ++run) {
          on_device.run(span<const std::int32_t, host>(sources));
          ASSERT_EQ(there.fetch(on_device.values()), here.fetch(on_host.values())) << mostly_apart << ' ' << run;
        }
      }
    }
  };
  compare(16383, tree, 30);
  // Vertex 0 also begins a path: rows of 64 and 65 edges, levels of 4601, 4608, 4609 and 4701 vertices.
  for (const std::int64_t n : {64, 65}) compare(n, test::star_edges(n), 20);
  for (const std::int64_t width : {4600, 4607, 4608, 4700}) compare(111 + width, fan(width), 1);
}

// A share of random samples exceeds the stated error at most as often as stated.
TEST(ClosenessHost, SamplesAreWithinTheStatedError) {
  const context<host> ctx({.threads = 2});
  const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:grid2d:n=20"),
                             {.direction = direction_kind::undirected});
  const auto exact = closeness(ctx, g).values;
  const double bound = closeness_error(50, 400, 0.9) * 38;
  int outside = 0;
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    test::random_source random(seed);
    std::vector<std::int32_t> order(400);
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t k = 0; k < 50; ++k)
      std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(k + random.below(400 - k))]);
    order.resize(50);
    const auto estimated = closeness(ctx, g, span<const std::int32_t, host>(order)).values;
    double largest = 0;
    for (std::int64_t v = 0; v < 400; ++v) largest = std::max(largest, std::abs(1 / estimated[v] - 1 / exact[v]));
    outside += largest > bound ? 1 : 0;
    worst = std::max(worst, largest);
  }
  EXPECT_LE(outside, 10);
  EXPECT_GT(worst, bound / 50);
  EXPECT_EQ(closeness_error(400, 400), 0);
  EXPECT_NEAR(closeness_error(50, 400, 0.9), std::sqrt(std::log(8000.0) / 100), 1e-12);
}

TEST(ClosenessHost, TheCheckFindsWrongValues) {
  const context<host> ctx({.threads = 2});
  const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:grid2d:n=6"),
                             {.direction = direction_kind::undirected});
  for (const closeness_options& options : every_option) {
    auto values = closeness(ctx, g, {}, options).values;
    ASSERT_EQ(check_closeness(ctx, g, values, 36, {}, options), "");
    for (const double wrong : {1.0000001, 0.0, std::numeric_limits<double>::quiet_NaN(), -1.0}) {
      const double right = values[17];
      values[17] *= wrong;
      EXPECT_NE(check_closeness(ctx, g, values, 36, {}, options).find("vertex 17 has "), std::string::npos) << wrong;
      values[17] = right;
    }
    values[5] = 1e6;  // the largest is checked always
    EXPECT_NE(check_closeness(ctx, g, values, 1, {}, options), "");
    EXPECT_EQ(check_closeness(ctx, g, values.view().subspan(0, 35), 36, {}, options), "35 values for 36 vertices");
  }
}

TEST(ClosenessHost, RefusesWhatItCannotDo) {
  const context<host> ctx({.threads = 2});
  const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:grid2d:n=3"),
                             {.direction = direction_kind::undirected});
  closeness_plan plan(ctx, g);
  const std::vector<std::int32_t> none{9};
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { plan.run(none); }).find("9"), std::string::npos);
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] { closeness_plan(ctx, g, {.measure = static_cast<closeness_measure>(7)}); }),
            "closeness: no measure has the number 7");
  EXPECT_EQ(message_of(error_code::invalid_argument,
                       [&] { closeness_plan(ctx, g, {.scaling = static_cast<closeness_scaling>(7)}); }),
            "closeness: no scaling has the number 7");
  EXPECT_EQ(message_of(error_code::invalid_argument, [] { (void)closeness_error(0, 3); }),
            "closeness_error: 0 sources (expected 1 or more)");
  EXPECT_EQ(parse_closeness_measure("harmonic"), closeness_measure::harmonic);
  const auto values = closeness(ctx, g, span<const std::int32_t, host>{}).values;
  EXPECT_EQ(std::count(values.begin(), values.end(), 0.0), 9);
}

}  // namespace
}  // namespace spargo
