// PageRank against dense power iteration, on both backends; and its check against planted errors.
#include <spargo/graph/pagerank.hpp>
#include <spargo/io/generate.hpp>

#include "graph/graph_support.hpp"
#include "graph/pagerank/algorithms.hpp"
#include "support/device.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace spargo {
namespace {

using test::edge_vector;
using doubles = std::vector<double>;

constexpr pagerank_dangling all_dangling[] = {pagerank_dangling::uniform, pagerank_dangling::personalization,
                                              pagerank_dangling::drop};

doubles scaled(doubles values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value /= sum;
  return values;
}

// The oracle: multiplies by a step's dense matrix `steps` times.
doubles dense_ranks(std::int64_t n, const edge_vector& edges, const pagerank_options& options, doubles personalization,
                    doubles guess, std::int64_t steps) {
  const auto size = static_cast<std::size_t>(n);
  const doubles even(size, 1.0 / static_cast<double>(n));
  const doubles p = personalization.empty() ? even : scaled(std::move(personalization));
  doubles ranks = guess.empty() ? even : scaled(std::move(guess));
  std::vector<doubles> column(size, doubles(size, 0.0));
  doubles degree(size, 0.0);
  for (const auto& [u, v] : edges) {
    ++column[static_cast<std::size_t>(u)][static_cast<std::size_t>(v)];
    ++degree[static_cast<std::size_t>(u)];
  }
  for (std::size_t u = 0; u < size; ++u) {
    for (double& entry : column[u]) entry = degree[u] == 0 ? 0.0 : entry / degree[u];
    if (degree[u] > 0 || options.dangling == pagerank_dangling::drop) continue;
    column[u] = options.dangling == pagerank_dangling::uniform ? even : p;
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    doubles next(size, 0.0);
    for (std::size_t u = 0; u < size; ++u) {
      for (std::size_t v = 0; v < size; ++v) next[v] += options.damping * column[u][v] * ranks[u];
    }
    for (std::size_t v = 0; v < size; ++v) next[v] += (1 - options.damping) * p[v];
    ranks = std::move(next);
  }
  return ranks;
}

double distance(const doubles& a, const doubles& b) {
  double sum = 0;
  for (std::size_t v = 0; v < a.size(); ++v) sum += std::abs(a[v] - b[v]);
  return sum;
}

struct outcome {
  doubles ranks;
  std::int64_t iterations = 0;
  double residual = 0;
  bool converged = false;
};

template <class V>
outcome outcome_of(const pagerank_result<V, host>& result) {
  return {{result.ranks.begin(), result.ranks.end()}, result.iterations, result.residual, result.converged};
}

template <class V, class I, class O>
outcome run(host, const graph_view<I, O, host>& g, const pagerank_options& options, const doubles& personalization = {},
            const doubles& guess = {}, int threads = 3) {
  const context<host> ctx({.threads = threads});
  const std::vector<V> p(personalization.begin(), personalization.end());
  const std::vector<V> x(guess.begin(), guess.end());
  return outcome_of(pagerank<V>(ctx, g, options, p, x));
}
template <class V, class I, class O>
outcome run(device, const graph_view<I, O, host>& g, const pagerank_options& options,
            const doubles& personalization = {}, const doubles& guess = {}, int = 0) {
  const context<device> ctx;
  const auto on_device = to_device(ctx, g);
  const auto p = to_device(ctx, std::vector<V>(personalization.begin(), personalization.end()));
  const auto x = to_device(ctx, std::vector<V>(guess.begin(), guess.end()));
  const auto result = pagerank<V>(ctx, on_device, options, p.view(), x.view());
  return outcome_of(pagerank_result<V, host>{to_host(ctx, result.ranks), result.iterations, result.residual,
                                             result.converged, result.algorithm});
}

template <class V, class I, class O, class S>
struct pagerank_case {
  using value = V;
  using index = I;
  using offset = O;
  using space = S;
};

template <class Case>
class PageRank : public test::space_suite<typename Case::space> {
 protected:
  using value = typename Case::value;
  using index = typename Case::index;
  using offset = typename Case::offset;
  using space = typename Case::space;
  static constexpr double epsilon = std::numeric_limits<value>::epsilon();

  static std::vector<pagerank_algorithm> algorithms() {
    return detail::algorithms_on<space>(detail::pagerank::algorithms);
  }

  static std::vector<pagerank_copy> copies() {
    if constexpr (std::same_as<space, host>) return {pagerank_copy::automatic};
    return {pagerank_copy::automatic, pagerank_copy::none, pagerank_copy::blocked, pagerank_copy::binned};
  }

  static auto graph_of(std::int64_t n, const edge_vector& edges) {
    return test::make_directed<index, offset>(n, edges, test::edges_kept::out_and_in);
  }

  // Tolerance and number of iterations, every algorithm that supports them, every copy.
  static void check(std::int64_t n, const edge_vector& edges, const pagerank_options& options, const doubles& p = {},
                    const doubles& guess = {}) {
    for (const pagerank_copy copy : copies()) {
      SCOPED_TRACE(std::string(to_string(copy)));
      pagerank_options with_copy = options;
      with_copy.copy = copy;
      check_one(n, edges, with_copy, p, guess);
    }
  }
  static void check_one(std::int64_t n, const edge_vector& edges, pagerank_options options, const doubles& p,
                        const doubles& guess) {
    const auto g = graph_of(n, edges);
    options.iterations = 3;
    const auto fixed = run<value>(space{}, g.view(), options, p, guess);
    EXPECT_EQ(fixed.iterations, 3);
    EXPECT_LE(distance(fixed.ranks, dense_ranks(n, edges, options, p, guess, 3)), 16 * epsilon);
    options.iterations = 0;
    options.tolerance = 32 * epsilon;
    const doubles limit = dense_ranks(n, edges, options, p, {}, 250);
    for (const pagerank_algorithm algorithm : algorithms()) {
      options.algorithm = algorithm;
      const auto result = run<value>(space{}, g.view(), options, p, guess);
      EXPECT_TRUE(result.converged) << result.iterations << " iterations, residual " << result.residual;
      EXPECT_LE(distance(result.ranks, limit), 400 * epsilon) << to_string(algorithm);
    }
  }
};

template <class V, class S>
using narrow = pagerank_case<V, std::int32_t, std::int32_t, S>;
template <class V, class S>
using mixed = pagerank_case<V, std::int32_t, std::int64_t, S>;
template <class V, class S>
using wide = pagerank_case<V, std::int64_t, std::int64_t, S>;
using cases =
    test::suite_types<narrow<float, host>, mixed<float, host>, wide<float, host>, narrow<double, host>,
                      mixed<double, host>, wide<double, host>, narrow<float, device>, mixed<float, device>,
                      wide<float, device>, narrow<double, device>, mixed<double, device>, wide<double, device>>;
TYPED_TEST_SUITE(PageRank, cases);

// Includes loops, duplicates, dangling and isolated vertices.
TYPED_TEST(PageRank, RandomGraphs) {
  test::random_source random(23);
  for (int round = 0;
       round < static_cast<int>(test::rounds_on<typename TestFixture::space>(400)) && !testing::Test::HasFailure();
       ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::int64_t n = 1 + random.below(12);
    const edge_vector edges = test::random_edges(random, n, random.below(3 * n), round % 3);
    doubles p, guess;
    if (round % 2 == 1) {
      for (std::int64_t v = 0; v < n; ++v) p.push_back(static_cast<double>(random.below(3)));
      p[static_cast<std::size_t>(random.below(n))] = 5;
    }
    if (round % 4 >= 2) {
      for (std::int64_t v = 0; v < n; ++v) guess.push_back(static_cast<double>(1 + random.below(9)));
    }
    const auto copies = this->copies();
    const pagerank_copy copy = copies[static_cast<std::size_t>(round / 12) % copies.size()];
    this->check_one(n, edges, {.damping = 0.85, .dangling = all_dangling[round % 3], .copy = copy}, p, guess);
  }
}

TYPED_TEST(PageRank, EdgeCases) {
  for (const pagerank_dangling dangling : all_dangling) {
    const pagerank_options options{.damping = 0.5, .dangling = dangling};
    this->check(1, {}, options);
    this->check(1, {{0, 0}}, options);
    this->check(7, {}, options);
    this->check(3, {{0, 1}, {0, 1}, {1, 0}}, options);
    this->check(300, test::star_edges(257), options);
    this->check(257, test::path_edges(256), options);
    edge_vector inward;
    for (const auto& [u, v] : test::star_edges(257)) inward.emplace_back(v, u);
    this->check(257, inward, options);
  }
  const auto empty = run<typename TestFixture::value>(typename TestFixture::space{}, this->graph_of(0, {}).view(), {});
  EXPECT_TRUE(empty.ranks.empty() && empty.converged);
}

// Rows of every length class, several chunks and many blocks; against the check's own steps.
TYPED_TEST(PageRank, LargeGraphs) {
  using V = typename TestFixture::value;
  test::random_source random(24);
  const std::int64_t n = 9000;
  edge_vector edges = test::random_edges(random, n, 120000, 2);
  for (std::int64_t v = 0; v < 8000; ++v) edges.emplace_back(v, n - 1);
  for (std::int64_t v = 0; v < 300; ++v) edges.emplace_back(v, n - 2);
  const auto g = this->graph_of(n, edges);
  const context<host> ctx({.threads = 2});
  for (const pagerank_dangling dangling : all_dangling) {
    for (const std::int64_t iterations : {0, 1, 20}) {
      for (const pagerank_copy copy : this->copies()) {
        if (copy == pagerank_copy::binned) continue;  // the first star's edges exceed a bin
        const pagerank_options options{.iterations = iterations, .dangling = dangling, .copy = copy};
        const auto result = run<V>(typename TestFixture::space{}, g.view(), options);
        const std::vector<V> ranks(result.ranks.begin(), result.ranks.end());
        EXPECT_EQ(check_pagerank<V>(ctx, g.view(), ranks, options), "")
            << iterations << " iterations, " << to_string(copy);
      }
    }
  }
}

TYPED_TEST(PageRank, EndsAsAskedFor) {
  using V = typename TestFixture::value;
  using S = typename TestFixture::space;
  test::random_source random(25);
  const auto g = this->graph_of(50, test::random_edges(random, 50, 200, 1));
  for (const pagerank_algorithm algorithm : this->algorithms()) {
    const auto short_of = run<V>(S{}, g.view(), {.algorithm = algorithm, .tolerance = 1e-6, .max_iterations = 3});
    EXPECT_EQ(short_of.iterations, 3);
    EXPECT_FALSE(short_of.converged);
    EXPECT_GT(short_of.residual, 1e-6);
    const auto met = run<V>(S{}, g.view(), {.algorithm = algorithm, .tolerance = 1e-4});
    EXPECT_TRUE(met.converged);
    EXPECT_LE(met.residual, 1e-4);
    const auto one_less =
        run<V>(S{}, g.view(), {.algorithm = algorithm, .tolerance = 1e-4, .max_iterations = met.iterations - 1});
    EXPECT_FALSE(one_less.converged);  // so it stopped at the first step within the tolerance
    const auto by_largest =
        run<V>(S{}, g.view(), {.algorithm = algorithm, .tolerance = 1e-4, .norm = pagerank_norm::linf});
    EXPECT_TRUE(by_largest.converged);
    EXPECT_LT(by_largest.iterations, met.iterations);
  }
  const auto fixed = run<V>(S{}, g.view(), {.tolerance = 0.5, .max_iterations = 2, .iterations = 19});
  EXPECT_EQ(fixed.iterations, 19);
  EXPECT_TRUE(fixed.converged);
}

TYPED_TEST(PageRank, ResidualIsTheLastStepsChange) {
  using V = typename TestFixture::value;
  using S = typename TestFixture::space;
  const auto g = this->graph_of(4, {{0, 1}, {1, 2}, {2, 0}, {0, 3}});
  const doubles before = dense_ranks(4, {{0, 1}, {1, 2}, {2, 0}, {0, 3}}, {}, {}, {}, 4);
  const doubles after = dense_ranks(4, {{0, 1}, {1, 2}, {2, 0}, {0, 3}}, {}, {}, {}, 5);
  EXPECT_NEAR(run<V>(S{}, g.view(), {.iterations = 5}).residual, distance(before, after), 1e-6);
  double largest = 0;
  for (std::size_t v = 0; v < 4; ++v) largest = std::max(largest, std::abs(before[v] - after[v]));
  EXPECT_NEAR(run<V>(S{}, g.view(), {.norm = pagerank_norm::linf, .iterations = 5}).residual, largest, 1e-6);
}

TYPED_TEST(PageRank, RefusesWhatIsNoDistribution) {
  using V = typename TestFixture::value;
  using S = typename TestFixture::space;
  const auto g = this->graph_of(3, {{0, 1}, {1, 2}});
  const double infinity = std::numeric_limits<double>::infinity();
  for (const doubles& bad :
       {doubles{1, 1}, doubles{0, 0, 0}, doubles{1, -1, 3}, doubles{1, infinity, 1}, doubles{std::nan(""), 1, 1}}) {
    EXPECT_THROW((void)run<V>(S{}, g.view(), {}, bad), error);
    EXPECT_THROW((void)run<V>(S{}, g.view(), {}, {}, bad), error);
  }
}

// One plan, many runs: a run leaves no trace.
TYPED_TEST(PageRank, PlansServeManyRuns) {
  using V = typename TestFixture::value;
  if constexpr (std::same_as<typename TestFixture::space, host>) {
    test::random_source random(26);
    const auto g = this->graph_of(200, test::random_edges(random, 200, 900, 1));
    const context<host> ctx({.threads = 2});
    pagerank_plan<V, typename TestFixture::index, typename TestFixture::offset, host> plan(
        ctx, g.view(), {.algorithm = pagerank_algorithm::jacobi});
    EXPECT_GT(plan.workspace_bytes(), 0);
    EXPECT_EQ(plan.reason(), "asked for");
    plan.run();
    const auto first = test::copy_of(plan.ranks());
    const std::int64_t iterations = plan.iterations();
    std::vector<V> p(200);
    p[3] = 1;
    plan.run(p);
    EXPECT_NE(test::copy_of(plan.ranks()), first);
    plan.run();
    EXPECT_EQ(test::copy_of(plan.ranks()), first);
    EXPECT_EQ(plan.iterations(), iterations);
    const std::vector<V> guess = first;
    plan.run({}, guess);
    EXPECT_LE(plan.iterations(), 2);
  }
}

// Edges from few vertices to all, and from all to a few whose in-edges the whole device sums.
edge_vector skewed_edges(test::random_source& random, std::int64_t n, std::int64_t count, std::int64_t hub) {
  edge_vector edges;
  for (std::int64_t e = 0; e < count; ++e) {
    const double r = static_cast<double>(random.below(1 << 20)) / (1 << 20);
    edges.emplace_back(static_cast<std::int64_t>(r * r * r * static_cast<double>(n)), random.below(n));
  }
  for (std::int64_t e = 0; e < hub; ++e) edges.emplace_back(random.below(n), n / 2);
  for (std::int64_t e = 0; e < hub / 8; ++e) edges.emplace_back(random.below(n), n / 3);
  for (std::int64_t e = 0; e < hub / 100; ++e) edges.emplace_back(random.below(n), n / 5);
  return edges;
}

template <class V>
class PageRankCopies : public test::device_suite {};
using copied_values = testing::Types<float, double>;
TYPED_TEST_SUITE(PageRankCopies, copied_values);

// Several blocks, cells and gathered edges, strips of every kind of row; one plan for all runs.
TYPED_TEST(PageRankCopies, GiveTheRanksOfTheGraph) {
  using V = TypeParam;
  test::random_source random(31);
  const std::int64_t n = 160001;
  const context<host> cpu({.threads = 2});
  const context<device> ctx;
  for (const pagerank_copy copy : {pagerank_copy::none, pagerank_copy::blocked, pagerank_copy::binned}) {
    SCOPED_TRACE(std::string(to_string(copy)));
    const std::int64_t hub = copy == pagerank_copy::binned ? 3000 : 90000;  // a bin's edges fit shared memory
    const auto g = test::make_directed<std::int32_t, std::int64_t>(n, skewed_edges(random, n, 1500000, hub),
                                                                   test::edges_kept::out_and_in);
    const auto on_device = to_device(ctx, g.view());
    const pagerank_options options{.iterations = 7, .copy = copy};
    pagerank_plan<V, std::int32_t, std::int64_t, device> plan(ctx, on_device.view(), options);
    const auto bits = [&] { return test::copy_of(to_host(ctx, plan.ranks()).view()); };
    plan.run();
    const auto first = bits();
    EXPECT_EQ(check_pagerank<V>(cpu, g.view(), first, options), "");
    std::vector<V> p(static_cast<std::size_t>(n), V{0});
    for (std::size_t v = 0; v < p.size(); v += 7) p[v] = static_cast<V>(v % 5);
    const auto p_on_device = to_device(ctx, p);
    plan.run(p_on_device.view());
    EXPECT_EQ(check_pagerank<V>(cpu, g.view(), bits(), options, p), "");
    plan.run(p_on_device.view(), plan.ranks());  // continues from the last result
    const auto further = bits();
    plan.run();
    EXPECT_EQ(bits(), first);
    pagerank_options longer = options;
    longer.iterations = 14;
    EXPECT_EQ(check_pagerank<V>(cpu, g.view(), further, longer, p), "");
    const pagerank_plan<V, std::int32_t, std::int64_t, device> other = [&] {
      pagerank_plan<V, std::int32_t, std::int64_t, device> again(ctx, on_device.view(), options);
      again.run();
      return again;
    }();
    EXPECT_EQ(test::copy_of(to_host(ctx, other.ranks()).view()), first) << "the same bits from another plan";
  }
}

// The shared-memory limit belongs to the kernel, which all plans launch.
TEST(PageRankCopy, RunsAfterPlansOfSmallerGraphs) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 2});
  const context<device> ctx;
  const auto graph_of = [&](const std::string& spec) {
    const auto pairs = generate<pattern, std::int32_t>(ctx, cpu, spec);
    return build_graph<std::int32_t>(ctx, pairs.view(), {.direction = direction_kind::undirected});
  };
  const auto large = graph_of("gen:uniform:rows=2000000,degree=1");
  const auto small = graph_of("gen:uniform:rows=3000,degree=2");
  const pagerank_options options{.iterations = 3, .copy = pagerank_copy::binned};
  pagerank_plan<double, std::int32_t, std::int32_t, device> plan(ctx, large, options);
  plan.run();
  const auto first = test::copy_of(to_host(ctx, plan.ranks()).view());
  pagerank_plan<double, std::int32_t, std::int32_t, device> other(ctx, small, options);
  other.run();
  plan.run();
  EXPECT_EQ(test::copy_of(to_host(ctx, plan.ranks()).view()), first);
}

TEST(PageRankCopy, AreRefusedWithAReason) {
  const context<host> cpu;
  const auto g = test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}});
  EXPECT_THROW((void)pagerank<float>(cpu, g.view(), {.copy = pagerank_copy::blocked}), error);
  EXPECT_THROW((void)pagerank<float>(cpu, g.view(), {.copy = static_cast<pagerank_copy>(9)}), error);
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto star = test::make_undirected<std::int32_t, std::int32_t>(70001, test::star_edges(70001));
  const auto on_device = to_device(ctx, star.view());
  EXPECT_THROW((void)pagerank<float>(ctx, on_device.view(), {.copy = pagerank_copy::binned}), error);
  const pagerank_plan<float, std::int32_t, std::int32_t, device> plan(ctx, on_device.view(), {});
  EXPECT_NE(plan.reason().find("small"), std::string::npos) << plan.reason();
}

TEST(PageRankCopy, IsChosenByTheGraphAndTheSteps) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 2});
  const context<device> ctx;
  const auto reason_for = [&](const std::string& spec, const pagerank_options& options) {
    const auto pairs = generate<pattern, std::int32_t>(cpu, spec);
    const auto g = build_graph<std::int32_t>(cpu, pairs.view(), {.direction = direction_kind::undirected});
    const auto on_device = to_device(ctx, g.view());
    pagerank_plan<float, std::int32_t, std::int32_t, device> plan(ctx, on_device.view(), options);
    plan.run();
    EXPECT_EQ(check_pagerank<float>(cpu, g.view(), to_host(ctx, plan.ranks()).view(), options), "");
    return plan.reason();
  };
  const auto expect = [&](const std::string& reason, const std::string& words) {
    EXPECT_NE(reason.find(words), std::string::npos) << reason;
  };
  expect(reason_for("gen:rmat:scale=18,degree=16", {.iterations = 20}), "shared memory for");
  expect(reason_for("gen:uniform:rows=1048576,degree=4", {.iterations = 20}), "blocks of sources and");
  expect(reason_for("gen:rmat:scale=18,degree=16", {.iterations = 3}), "too few steps");
  expect(reason_for("gen:grid2d:n=2048", {.iterations = 20}), "sectors of shares");
}

TEST(PageRankHost, JacobiGivesTheSameBitsForAnyNumberOfThreads) {
  test::random_source random(27);
  const auto g = test::make_directed<std::int32_t, std::int64_t>(20000, test::random_edges(random, 20000, 300000, 2),
                                                                 test::edges_kept::out_and_in);
  const auto ranks = [&](int threads) {
    return run<float>(host{}, g.view(), {.algorithm = pagerank_algorithm::jacobi}, {}, {}, threads).ranks;
  };
  const auto alone = ranks(1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(ranks(threads), alone) << threads << " threads";
}

TEST(PageRankHost, GaussSeidelNeedsFewerIterations) {
  test::random_source random(28);
  const auto g = test::make_undirected<std::int32_t, std::int64_t>(5000, test::random_edges(random, 5000, 40000, 2));
  const auto iterations = [&](pagerank_algorithm algorithm) {
    return run<double>(host{}, g.view(),
                       {.algorithm = algorithm, .tolerance = 1e-6, .dangling = pagerank_dangling::drop})
        .iterations;
  };
  EXPECT_LT(iterations(pagerank_algorithm::gauss_seidel), iterations(pagerank_algorithm::jacobi));
}

TEST(PageRankHost, ChoosesByTheEndOfTheIteration) {
  const context<host> ctx;
  const auto g = test::make_undirected<std::int32_t, std::int32_t>(3, {{0, 1}});
  using plan = pagerank_plan<float, std::int32_t, std::int32_t, host>;
  EXPECT_EQ(plan(ctx, g.view()).algorithm(), pagerank_algorithm::gauss_seidel);
  EXPECT_EQ(plan(ctx, g.view(), {.iterations = 2}).algorithm(), pagerank_algorithm::jacobi);
  EXPECT_FALSE(plan(ctx, g.view()).reason().empty());
  const std::int64_t in_place = plan(ctx, g.view()).workspace_bytes();
  EXPECT_EQ(plan(ctx, g.view(), {.iterations = 2}).workspace_bytes() - in_place, std::int64_t{3 * sizeof(float)})
      << "one value per vertex more";
  EXPECT_EQ(parse_pagerank_algorithm("jacobi"), pagerank_algorithm::jacobi);
  EXPECT_THROW((void)parse_pagerank_algorithm("gauss"), error);
}

// Large graphs with a tolerance of 1e-6 or more: single precision between steps, also for vectors that a float cannot
// hold.
TEST(PageRankHost, SharesAreInSinglePrecisionWhereTheToleranceAllows) {
  const context<host> ctx({.threads = 2});
  const std::int64_t n = std::int64_t{1} << 17;
  test::random_source random(29);
  const auto g = test::make_directed<std::int32_t, std::int32_t>(n, test::random_edges(random, n, 3 * n, 2),
                                                                 test::edges_kept::out_and_in);
  doubles p(static_cast<std::size_t>(n)), guess(p.size());
  for (std::size_t v = 0; v < p.size(); ++v) {
    p[v] = 1e-300 * static_cast<double>(v % 3);
    guess[v] = 1e300 * static_cast<double>(v % 5);
  }
  const auto plan_for = [&](double tolerance) {
    return pagerank_plan<double, std::int32_t, std::int32_t, host>(ctx, g.view(), {.tolerance = tolerance});
  };
  auto exact = plan_for(1e-12);
  auto narrow = plan_for(1e-6);
  EXPECT_EQ(exact.reason().find("single"), std::string::npos);
  EXPECT_NE(narrow.reason().find("single precision"), std::string::npos);
  EXPECT_EQ(narrow.workspace_bytes() - exact.workspace_bytes(), 12 * n);
  for (const auto& [preference, start] : {std::pair{doubles{}, doubles{}}, {p, doubles{}}, {p, guess}, {{}, guess}}) {
    exact.run(preference, start);
    narrow.run(preference, start);
    EXPECT_TRUE(narrow.converged());
    EXPECT_EQ(check_pagerank(ctx, g.view(), narrow.ranks(), {.tolerance = 1e-6}, preference), "");
    double apart = 0;
    for (std::int64_t v = 0; v < n; ++v) apart += std::abs(narrow.ranks()[v] - exact.ranks()[v]);
    EXPECT_LT(apart, 1e-5);
    EXPECT_GT(apart, 0);
  }
  p[7] = -1;
  EXPECT_THROW(narrow.run(p), error);
  EXPECT_THROW(narrow.run({}, p), error);
}

// Dividing by a denormal sum would give infinite shares.
TEST(PageRankHost, RefusesAPersonalizationOfNothing) {
  const context<host> ctx;
  const auto g = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}, {1, 2}}, test::edges_kept::out_and_in);
  for (const double tiny : {1e-310, 5e-324, 0.0}) {
    const doubles p{tiny, 0, 0};
    try {
      (void)pagerank(ctx, g.view(), {}, p);
      FAIL() << tiny;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("pagerank: the personalization holds values that sum to"),
                std::string::npos);
    }
    EXPECT_THROW((void)pagerank(ctx, g.view(), {}, {}, p), error);
  }
  const auto least = pagerank(ctx, g.view(), {.tolerance = 1e-12}, doubles{1e-307, 0, 0});
  EXPECT_EQ(check_pagerank(ctx, g.view(), least.ranks, {.tolerance = 1e-12}, doubles{1, 0, 0}), "");
}

TEST(PageRankHost, RefusesOptionsAndGraphs) {
  const context<host> ctx;
  const auto both = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out_and_in);
  const auto code = [&](const graph_view<std::int32_t, std::int32_t, host>& g, const pagerank_options& options) {
    try {
      (void)pagerank<float>(ctx, g, options);
    } catch (const error& e) {
      return e.code();
    }
    return error_code{};
  };
  const auto out_only = test::make_directed<std::int32_t, std::int32_t>(3, {{0, 1}}, test::edges_kept::out);
  EXPECT_THROW((pagerank_plan<float, std::int32_t, std::int32_t, host>(ctx, out_only.view())), error);
  EXPECT_EQ(code(out_only.view(), {}), error_code{});  // a single call builds them
  EXPECT_EQ(code(both.view(), {.algorithm = pagerank_algorithm::gauss_seidel, .iterations = 3}),
            error_code::unsupported);
  EXPECT_EQ(code(both.view(), {.algorithm = static_cast<pagerank_algorithm>(9)}), error_code::invalid_argument);
  EXPECT_EQ(code(both.view(), {.damping = 1}), error_code::invalid_argument);
  EXPECT_EQ(code(both.view(), {.damping = -0.1}), error_code::invalid_argument);
  EXPECT_EQ(code(both.view(), {.tolerance = std::nan("")}), error_code::invalid_argument);
  EXPECT_EQ(code(both.view(), {.max_iterations = 0}), error_code::invalid_argument);
  EXPECT_EQ(code(both.view(), {.iterations = -1}), error_code::invalid_argument);
  auto uneven = both.view();
  uneven.in.indices = {};
  EXPECT_EQ(code(uneven, {}), error_code::invalid_argument);
}

template <class V>
class CheckPageRank : public testing::Test {};
using values = testing::Types<float, double>;
TYPED_TEST_SUITE(CheckPageRank, values);

TYPED_TEST(CheckPageRank, FindsPlantedErrors) {
  using V = TypeParam;
  test::random_source random(29);
  const std::int64_t n = 60;
  const auto g = test::make_directed<std::int32_t, std::int32_t>(n, test::random_edges(random, n, 240, 1),
                                                                 test::edges_kept::out_and_in);
  const context<host> ctx({.threads = 2});
  std::vector<V> p(static_cast<std::size_t>(n), V{1});
  p[7] = 30;
  for (const std::int64_t iterations : {0, 4}) {
    const pagerank_options options{.iterations = iterations};
    const auto result = pagerank<V>(ctx, g.view(), options, p);
    const auto right = test::copy_of(result.ranks.view());
    const auto verdict = [&](const std::vector<V>& ranks) {
      return check_pagerank<V>(ctx, g.view(), ranks, options, p);
    };
    EXPECT_EQ(verdict(right), "");
    for (std::size_t v = 0; v < right.size(); ++v) {
      auto wrong = right;
      wrong[v] *= V{1.01F};
      EXPECT_NE(verdict(wrong), "") << "vertex " << v << " of " << iterations;
    }
    const auto with = [&](std::size_t v, V rank) {
      auto wrong = right;
      wrong[v] = rank;
      return verdict(wrong);
    };
    EXPECT_NE(with(5, V{0}), "");
    EXPECT_EQ(with(5, V{-1}), "vertex 5 has rank -1");
    EXPECT_NE(with(5, std::numeric_limits<V>::quiet_NaN()), "");
    auto swapped = right;
    std::swap(swapped[7], swapped[8]);
    EXPECT_NE(verdict(swapped), "");
    EXPECT_NE(verdict(std::vector<V>(right.begin(), right.end() - 1)), "");
    EXPECT_NE(check_pagerank<V>(ctx, g.view(), right, options), "");  // for another personalization
  }
}

}  // namespace
}  // namespace spargo
