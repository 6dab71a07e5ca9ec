// Random walks against walks by the definition, bit by bit, and their distributions against exact probabilities.
#include "core/parallel.hpp"
#include "graph/graph_suite.hpp"
#include "graph/known_graphs.hpp"
#include "graph/plan_suite.hpp"
#include "graph/walks/algorithms.hpp"
#include "graph/walks_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace spargo {
namespace {

template <class Space>
struct walks_case : test::plan_case<walks_plan<std::int32_t, std::int64_t, Space>, walks_options> {
  static constexpr const char* name = "walks";
  static std::vector<walks_options> estimated() {
    return {{.length = 20, .algorithm = walks_algorithm::uniform},
            {.walks = 1000, .length = 10, .p = .5, .q = 2, .algorithm = walks_algorithm::prefix_sums}};
  }
};
const test::plan_suite<walks_case> every_plan;

// Walks of a plan, as rows one after the other.
template <class Plan, class Placed>
auto run_of(Plan&& plan, const Placed& placed) {
  plan.run();
  return placed.fetch(plan.vertices());
}

template <class I, class O>
std::vector<I> naive_run(const test::raw_graph<I, O>& g, const std::vector<double>& weights,
                         const std::vector<I>& starts, const walks_options& options) {
  const test::naive_walks<I, O> oracle(g, weights, options);
  std::vector<I> all;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const auto walk = oracle.walk(static_cast<std::int64_t>(k), starts[k]);
    all.insert(all.end(), walk.begin(), walk.end());
  }
  return all;
}

// Vertex k modulo their number.
template <class I>
std::vector<I> starts_in_order(std::int64_t walks, std::int64_t vertices) {
  std::vector<I> starts;
  for (std::int64_t k = 0; k < (walks > 0 ? walks : vertices); ++k) starts.push_back(static_cast<I>(k % vertices));
  return starts;
}

template <class Space, class W, class I, class O>
void expect_walks(const test::raw_weighted_graph<W, I, O>& raw, const walks_options& options, int threads = 3) {
  const test::placed_weighted<W, I, O, Space> placed(raw, threads);
  const std::vector<I> starts = starts_in_order<I>(options.walks, raw.structure.vertices);
  const std::vector<double> weights(raw.weights.begin(), raw.weights.end());
  const context<host> cpu({.threads = threads});
  const auto view = placed.view();
  const graph_view<I, O, Space>& edges = view;
  SCOPED_TRACE(std::to_string(raw.structure.vertices) + " vertices, p " + std::to_string(options.p) + ", q " +
               std::to_string(options.q));

  const auto uniform = naive_run(raw.structure, {}, starts, options);
  ASSERT_EQ(run_of(walks_plan(placed.ctx(), edges, options), placed), uniform);
  walks_options unweighted = options;
  unweighted.algorithm = walks_algorithm::uniform;
  ASSERT_EQ(run_of(walks_plan(placed.ctx(), view, unweighted), placed), uniform);
  ASSERT_EQ(check_walks(cpu, raw.structure.view(), uniform, options), "");

  const auto weighted = naive_run(raw.structure, weights, starts, options);
  walks_plan plan(placed.ctx(), view, options);
  EXPECT_EQ(plan.algorithm(), walks_algorithm::prefix_sums);
  EXPECT_EQ(plan.walks(), std::ssize(starts));
  for (int run = 0; run < 2; ++run) ASSERT_EQ(run_of(plan, placed), weighted);
  ASSERT_EQ(check_walks(cpu, raw.view(), weighted, options), "");
}

template <class Case>
class Walks : public test::threaded_graph_suite<Case> {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;

  template <class W>
  void check(std::int64_t n, const test::weighted_edges<W>& edges, const walks_options& options) {
    for (const auto form : {test::graph_form::out_only, test::graph_form::undirected}) {
      expect_walks<typename Case::space>(test::make_weighted<W, I, O>(n, edges, form), options);
    }
  }
  void check_both_orders(std::int64_t n, const test::weighted_edges<double>& edges) {
    check(n, edges, {.length = 5});
    check(n, edges, {.walks = 3 * n, .length = 9, .p = .25, .q = 4, .seed = 7});
    check(n, edges, {.walks = 70, .length = 6, .p = 100, .q = .001, .seed = 7});
  }
};

TYPED_TEST_SUITE(Walks, test::graph_cases);

TYPED_TEST(Walks, SmallShapes) {
  this->check(0, test::weighted_edges<double>{}, {.length = 3});
  this->check_both_orders(1, {});
  this->check_both_orders(1, {{0, 0, 2}});
  this->check_both_orders(3, {{0, 1, 0}, {1, 2, 1}});  // a weight of 0: a dead end
  this->check_both_orders(4, {{0, 1, 1}, {0, 2, 0}, {0, 3, 3}, {1, 0, 0}, {2, 3, 1e-300}, {2, 1, 1e300}});
  this->check_both_orders(3, {{2, 2, 1}, {2, 1, 2}, {1, 2, 3}, {2, 1, 4}, {1, 1, 5}});
  this->check(3, test::weighted_edges<double>{{0, 1, 1}}, {.length = 0});
  test::weighted_edges<double> star;
  for (std::int64_t v = 1; v < 300; ++v) star.push_back({0, v, static_cast<double>(v % 7)});
  this->check_both_orders(300, star);
}

TYPED_TEST(Walks, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(150); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(40);
    test::weighted_edges<double> edges;
    for (const auto& [u, v] : test::random_edges(random, n, random.below(6 * n), static_cast<int>(random.below(3)))) {
      edges.push_back({u, v, static_cast<double>(random.below(5)) * (random.below(4) == 0 ? 1e-18 : .3)});
    }
    if (seed % 2 == 0) {  // rows that ascend
      std::stable_sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
    }
    const double factors[] = {1, .5, 4, 1e-4, 1e6};
    const walks_options options{.walks = random.below(200),
                                .length = random.below(12),
                                .p = factors[random.below(5)],
                                .q = factors[random.below(5)],
                                .seed = random.next()};
    this->check(n, edges, options);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

template <class W, class Case>
void expect_weights_of(Walks<Case>&, std::vector<W> values) {
  test::weighted_edges<W> edges;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (const std::int64_t u : {0, 1}) edges.push_back({u, static_cast<std::int64_t>(k), values[k]});
  }
  const auto raw = test::make_weighted<W, typename Case::index, typename Case::offset>(std::ssize(values), edges,
                                                                                       test::graph_form::out_only);
  expect_walks<typename Case::space>(raw, {.walks = 500, .length = 3});
}

TYPED_TEST(Walks, WeightsOfEveryType) {
  expect_weights_of<std::int32_t>(*this, {1, 0, 2147483647, 5});
  expect_weights_of<std::int64_t>(*this, {std::int64_t{1} << 62, 1, std::int64_t{1} << 62, 0, 9007199254740993});
  expect_weights_of<float>(*this, {.1F, 3e38F, 0, 1e-45F, 2e38F});
  expect_weights_of<double>(*this, {5e-324, 0, 1e-310, 3e-310, 2e-320});
  expect_weights_of<double>(*this, {1.7e308, 1.7e308, .1, 1.7e308});
}

TYPED_TEST(Walks, StartWhereTheyAreTold) {
  using index = typename TypeParam::index;
  using Space = typename TypeParam::space;
  const auto raw = test::make_undirected<index, typename TypeParam::offset>(50, test::cycle_edges(50));
  const test::placed_graph<index, typename TypeParam::offset, Space> placed(raw);
  std::vector<index> starts;
  for (int k = 0; k < 130; ++k) starts.push_back(static_cast<index>(k * 7 % 50));
  const auto place = [&](const std::vector<index>& values) {
    if constexpr (std::same_as<Space, host>) {
      return clone(placed.ctx(), span<const index, host>(values));
    } else {
      return to_device(placed.ctx(), span<const index, host>(values));
    }
  };
  const walks_options options{.length = 7, .seed = 3};
  EXPECT_EQ(run_of(walks_plan(placed.ctx(), placed.view(), place(starts).view(), options), placed),
            naive_run(raw, {}, starts, options));
  const auto found = walks(placed.ctx(), placed.view(), place(starts).view(), options);
  EXPECT_EQ(found.walks, 130);
  EXPECT_EQ(placed.fetch(found.vertices.view()), naive_run(raw, {}, starts, options));
  starts[77] = 50;
  const auto refused = [&] { (void)walks(placed.ctx(), placed.view(), place(starts).view(), options); };
  EXPECT_EQ(test::message_of(error_code::invalid_argument, refused),
            "walks: start 77 is 50 (expected a vertex, 0 to 49)");
  starts[5] = -2;
  EXPECT_EQ(test::message_of(error_code::invalid_argument, refused),
            "walks: start 5 is -2 (expected a vertex, 0 to 49)");
}

TYPED_TEST(Walks, RefuseWeightsThatAreNone) {
  using Space = typename TypeParam::space;
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, -1e-300, inf, -inf, std::nan("")}) {
    auto edges = test::weighted_edges<double>{{0, 1, 1}, {2, 3, bad}, {3, 0, bad}};
    const auto raw = test::make_weighted<double, typename TypeParam::index, typename TypeParam::offset>(
        4, edges, test::graph_form::out_only);
    const test::placed_weighted<double, typename TypeParam::index, typename TypeParam::offset, Space> placed(raw);
    EXPECT_THAT(test::message_of(error_code::invalid_data, [&] { (void)walks(placed.ctx(), placed.view()); }),
                testing::AllOf(testing::StartsWith("walks: edge (2, 3) has weight "),
                               testing::EndsWith(" (expected a finite one, 0 or more)")));
  }
}

// --- Distributions --------------------------------------------------------

// Vertices 0 to 9, two triangles, a tail, and weights from .1 to 6.
test::weighted_edges<double> small_graph() {
  return {{0, 1, 1},  {0, 2, 3}, {1, 2, .5}, {2, 3, 2},  {3, 4, 1}, {3, 5, 6},
          {4, 5, .1}, {5, 6, 4}, {6, 7, 1},  {7, 0, .7}, {1, 4, 2}, {2, 6, .3}};
}

TEST(WalksDistribution, OfFirstSteps) {
  const auto raw =
      test::make_weighted<double, std::int32_t, std::int64_t>(8, small_graph(), test::graph_form::undirected);
  const context<host> ctx({.threads = 2});
  const auto& g = raw.structure;
  constexpr std::int64_t walks_count = 80000;
  for (const bool weighted : {false, true}) {
    // Steps 0 and 3 have different halves of a block.
    const walks_options options{.walks = walks_count, .length = 4};
    const auto found = weighted ? walks(ctx, raw.view(), options) : walks(ctx, g.view(), options);
    for (const int step : {0, 3}) {
      std::vector<test::distribution> of_vertex(8);
      for (std::size_t v = 0; v < 8; ++v) {
        double sum = 0;
        for (auto e = static_cast<std::size_t>(g.offsets[v]); e < static_cast<std::size_t>(g.offsets[v + 1]); ++e) {
          sum += weighted ? raw.weights[e] : 1;
        }
        for (auto e = static_cast<std::size_t>(g.offsets[v]); e < static_cast<std::size_t>(g.offsets[v + 1]); ++e) {
          of_vertex[v].expect(g.indices[e], (weighted ? raw.weights[e] : 1) / sum);
        }
      }
      for (std::int64_t k = 0; k < walks_count; ++k) {
        const std::int32_t v = found.vertices[k * 5 + step];
        of_vertex[static_cast<std::size_t>(v)].count(found.vertices[k * 5 + step + 1]);
      }
      for (const auto& each : of_vertex) each.test();
    }
  }
}

// By enumeration of all pairs of steps (t, v), (v, x).
void expect_second_order(double p, double q, bool weighted) {
  SCOPED_TRACE("p " + std::to_string(p) + ", q " + std::to_string(q) + (weighted ? ", weighted" : ""));
  const auto raw =
      test::make_weighted<double, std::int32_t, std::int64_t>(8, small_graph(), test::graph_form::undirected);
  const auto& g = raw.structure;
  std::map<std::pair<std::int64_t, std::int64_t>, double> edges;
  for (const auto& e : small_graph()) edges[{e.from, e.to}] = edges[{e.to, e.from}] = weighted ? e.weight : 1;
  std::map<std::pair<std::int64_t, std::int64_t>, test::distribution> found;
  for (const auto& [tv, unused] : edges) {
    const auto [t, v] = tv;
    std::map<std::int64_t, double> unnormalized;
    double sum = 0;
    for (const auto& [vx, weight] : edges) {
      if (vx.first != v) continue;
      const std::int64_t x = vx.second;
      unnormalized[x] = weight * (x == t ? 1 / p : edges.contains({t, x}) ? 1 : 1 / q);
      sum += unnormalized[x];
    }
    for (const auto& [x, product] : unnormalized) found[tv].expect(x, product / sum);
  }
  const context<host> ctx({.threads = 2});
  const walks_options options{.walks = 8000, .length = 60, .p = p, .q = q, .seed = 5};
  const auto run = weighted ? walks(ctx, raw.view(), options) : walks(ctx, g.view(), options);
  for (std::int64_t k = 0; k < run.walks; ++k) {
    const std::int32_t* const walk = run.vertices.data() + k * 61;
    for (int step = 1; step < 60; ++step) found[{walk[step - 1], walk[step]}].count(walk[step + 1]);
  }
  for (const auto& [tv, each] : found) {
    SCOPED_TRACE(std::to_string(tv.first) + " to " + std::to_string(tv.second));
    each.test();
  }
}

TEST(WalksDistribution, OfSecondSteps) {
  expect_second_order(.25, 4, false);
  expect_second_order(4, .5, false);
  expect_second_order(.5, 2, true);
  // Tries seldom suffice: steps are drawn from all products.
  expect_second_order(.02, 1, true);
  expect_second_order(1, .05, false);
}

// --- Threads, backends, real graphs ---------------------------------------

weighted_graph<double, std::int32_t, std::int64_t, host> rmat_graph() {
  const context<host> ctx({.threads = 2});
  auto entries = generate(ctx, "gen:rmat:scale=12,degree=8");
  for (double& weight : entries.values()) weight = std::abs(weight);
  return build_weighted_graph(ctx, entries, {.direction = direction_kind::undirected});
}

TEST(WalksHost, DoNotDependOnThreads) {
  const auto g = rmat_graph();
  detail::assume_processors(8);
  for (const double q : {1.0, 3.0}) {
    const walks_options options{.walks = 5000, .length = 25, .q = q};
    std::vector<std::int32_t> first;
    for (int threads = 1; threads <= 8; ++threads) {
      const auto found = walks(context<host>({.threads = threads}), g.view(), options);
      if (threads == 1) first = test::copy_of(found.vertices.view());
      ASSERT_EQ(test::copy_of(found.vertices.view()), first) << threads << " threads";
    }
  }
  detail::assume_processors(0);
}

// Long rows, which a warp sums in many tiles; walks of one block and of many.
TEST(WalksDevice, AgreeWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> gpu;
  const context<host> cpu;
  const auto g = rmat_graph();
  const auto placed = to_device(gpu, g);
  for (const walks_options& options : {walks_options{},
                                       {.walks = 100, .length = 101},
                                       {.length = 30, .p = .5, .q = 2},
                                       {.length = 20, .p = 2, .q = 1e-3}}) {
    const auto on_host = walks(cpu, g.view(), options);
    const auto on_device = to_host(gpu, walks(gpu, placed.view(), options).vertices.view());
    ASSERT_EQ(test::copy_of(on_device.view()), test::copy_of(on_host.vertices.view()));
    const graph_view<std::int32_t, std::int64_t, host>& edges = g.view();
    const graph_view<std::int32_t, std::int64_t, device>& edges_there = placed.view();
    const auto uniform = to_host(gpu, walks(gpu, edges_there, options).vertices.view());
    ASSERT_EQ(test::copy_of(uniform.view()), test::copy_of(walks(cpu, edges, options).vertices.view()));
  }
}

TEST(WalksData, StepsAreEdges) {
  test::for_each_truth<double>("msf", [](auto known, const nlohmann::json&) {
    const context<host> ctx({.threads = 2});
    for (double& weight : known.edges.values()) weight = std::isfinite(weight) ? std::abs(weight) : 1;
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const auto g = build_weighted_graph(ctx, known.edges, {.direction = direction, .loops = self_loops::keep});
      for (const double p : {1.0, .5}) {
        const walks_options options{.walks = 500, .length = 20, .p = p};
        EXPECT_EQ(check_walks(ctx, g, walks(ctx, g.view(), options).vertices, options), "");
      }
    }
  });
}

// --- Options and the check ------------------------------------------------

TEST(WalksOptions, AreRefusedOutOfRange) {
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(3, test::path_edges(3));
  const context<host> ctx;
  const auto refused = [&](const walks_options& options, error_code code = error_code::invalid_argument) {
    return test::message_of(code, [&] { (void)walks(ctx, raw.view(), options); });
  };
  EXPECT_EQ(refused({.walks = -1}), "walks: -1 walks (expected 0 or more)");
  EXPECT_EQ(refused({.length = -1}), "walks: length -1 (expected 0 to 4294967294)");
  EXPECT_EQ(refused({.length = std::int64_t{1} << 32}), "walks: length 4294967296 (expected 0 to 4294967294)");
  EXPECT_EQ(refused({.p = 0}), "walks: p is 0 (expected a positive finite number)");
  EXPECT_EQ(refused({.q = -2}), "walks: q is -2 (expected a positive finite number)");
  EXPECT_EQ(refused({.q = std::nan("")}), "walks: q is nan (expected a positive finite number)");
  EXPECT_EQ(refused({.walks = std::int64_t{1} << 62, .length = 9}),
            "walks: 4611686018427387904 walks of 9 steps (expected fewer than 2^63 vertices)");
  EXPECT_EQ(refused({.algorithm = walks_algorithm::prefix_sums}, error_code::unsupported),
            "walks: algorithm prefix_sums for a graph without weights");
  const auto empty = test::make_undirected<std::int32_t, std::int32_t>(0, {});
  EXPECT_EQ(test::message_of(error_code::invalid_argument, [&] { (void)walks(ctx, empty.view(), {.walks = 5}); }),
            "walks: 5 walks in a graph without vertices");
}

TEST(WalksCheck, FindsFaults) {
  // 0 -> 1 -> 2 with weights 1 and 0; 3 alone; the row of 4 does not ascend.
  const auto raw = test::make_weighted<double, std::int32_t, std::int32_t>(
      5, {{0, 1, 1}, {1, 2, 0}, {4, 3, 1}, {4, 1, 1}}, test::graph_form::out_only);
  const context<host> ctx;
  const auto fault = [&](const std::vector<std::int32_t>& walks, bool weighted = false) {
    const walks_options options{.length = 2};
    return weighted ? check_walks(ctx, raw.view(), walks, options)
                    : check_walks(ctx, raw.structure.view(), walks, options);
  };
  EXPECT_EQ(fault({0, 1, 2, 3, -1, -1, 4, 1, 2, 4, 3, -1}), "");
  EXPECT_EQ(fault({0, 1, -1}, true), "");
  EXPECT_EQ(fault({0, 1, -1}), "walk 0 ends at 1, which has out-edges");
  EXPECT_EQ(fault({0, 1, 2}, true), "step 1 of walk 0 goes from 1 to 2, which is no edge");
  EXPECT_EQ(fault({0, 1, 2, 0, 2, -1}), "step 0 of walk 1 goes from 0 to 2, which is no edge");
  EXPECT_EQ(fault({0, 1, 7}), "step 1 of walk 0 goes from 1 to 7, which is no edge");
  EXPECT_EQ(fault({3, -1, 3}), "walk 0 continues with 3 after its end");
  EXPECT_EQ(fault({-1, -1, -1}), "walk 0 starts at -1, which is not a vertex");
  EXPECT_EQ(test::message_of(error_code::invalid_argument,
                             [&] {
                               (void)fault({0, 1});
                             }),
            "check_walks: 2 vertices in walks of 2 steps");
}

}  // namespace
}  // namespace spargo
