// Eigenvector centrality, Katz centrality and HITS: against dense iterations on random graphs with loops, duplicates
// and weights, bits for any number of threads, refusals, the limits of double precision, and the checks against planted
// errors.
#include <spargo/graph/eigenvector.hpp>
#include <spargo/graph/hits.hpp>
#include <spargo/graph/katz.hpp>
#include <spargo/io/generate.hpp>

#include "graph/graph_suite.hpp"
#include "graph/plan_suite.hpp"
#include "graph/sssp_support.hpp"
#include "support/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace spargo {
namespace {

using doubles = std::vector<double>;
using matrix = std::vector<doubles>;
using test::graph_form;
using test::message_of;

template <class Plan, class Options>
struct ranks_case : test::plan_case<Plan, Options> {
  using base = test::plan_case<Plan, Options>;
  // Without the weights.
  static Plan make(const context<typename base::space>& ctx, const test::plan_view<typename base::space>& g,
                   const Options& o) {
    const graph_view<std::int32_t, std::int64_t, typename base::space>& edges = g;
    return Plan(ctx, edges, o);
  }
};
template <class Space>
struct eigenvector_case : ranks_case<eigenvector_plan<std::int32_t, std::int64_t, Space>, eigenvector_options> {
  static constexpr const char* name = "eigenvector";
};
template <class Space>
struct katz_case : ranks_case<katz_plan<std::int32_t, std::int64_t, Space>, katz_options> {
  static constexpr const char* name = "katz";
};
template <class Space>
struct hits_case : ranks_case<hits_plan<std::int32_t, std::int64_t, Space>, hits_options> {
  static constexpr const char* name = "hits";
};
const test::plan_suite<eigenvector_case> every_eigenvector_plan;
const test::plan_suite<katz_case> every_katz_plan;
const test::plan_suite<hits_case> every_hits_plan;

// --- Oracles: dense matrices, following the definitions -------------------------------------------------------------

template <class W>
matrix dense(std::int64_t n, const test::weighted_edges<W>& edges) {
  matrix a(static_cast<std::size_t>(n), doubles(static_cast<std::size_t>(n)));
  for (const auto& e : edges) {
    a[static_cast<std::size_t>(e.from)][static_cast<std::size_t>(e.to)] += static_cast<double>(e.weight);
  }
  return a;
}
doubles times_transposed(const matrix& a, const doubles& x) {
  doubles y(x.size());
  for (std::size_t u = 0; u < x.size(); ++u) {
    for (std::size_t v = 0; v < x.size(); ++v) y[v] += a[u][v] * x[u];
  }
  return y;
}
doubles times(const matrix& a, const doubles& x) {
  doubles y(x.size());
  for (std::size_t u = 0; u < x.size(); ++u) {
    for (std::size_t v = 0; v < x.size(); ++v) y[u] += a[u][v] * x[v];
  }
  return y;
}
double sum_of(const doubles& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double length(const doubles& x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)); }
doubles scaled(doubles x, double by) {
  for (double& value : x) value *= by;
  return x;
}
double change(const doubles& x, const doubles& y) {
  double sum = 0;
  for (std::size_t v = 0; v < x.size(); ++v) sum += std::abs(x[v] - y[v]);
  return sum;
}
doubles from(const array<double, host>& values) { return {values.begin(), values.end()}; }

struct dense_run {
  doubles values;
  std::int64_t iterations = 0;
  double change = 0;
  bool converged = false;
};
template <class Step>
dense_run iterate(doubles x, std::int64_t most, double limit, Step step) {
  dense_run run{std::move(x)};
  while (run.iterations < most && !run.converged) {
    const doubles next = step(run.values);
    run.change = change(next, run.values);
    run.converged = run.change < limit;
    run.values = next;
    ++run.iterations;
  }
  return run;
}
dense_run dense_eigenvector(const matrix& a, const eigenvector_options& o, const doubles& start) {
  const auto n = static_cast<double>(a.size());
  return iterate(scaled(start, 1 / sum_of(start)), o.max_iterations, n * o.tolerance, [&](const doubles& x) {
    doubles next = times_transposed(a, x);
    for (std::size_t v = 0; v < x.size(); ++v) next[v] += x[v];
    return scaled(next, 1 / length(next));
  });
}
dense_run dense_katz(const matrix& a, double alpha, const doubles& beta, const katz_options& o, const doubles& start) {
  const auto n = static_cast<double>(a.size());
  dense_run run = iterate(start, o.max_iterations, n * o.tolerance, [&](const doubles& x) {
    doubles next = scaled(times_transposed(a, x), alpha);
    for (std::size_t v = 0; v < x.size(); ++v) next[v] += beta[v];
    return next;
  });
  const double norm = length(run.values);
  if (o.scale == katz_scale::unit && norm > 0) run.values = scaled(run.values, 1 / norm);
  return run;
}
dense_run dense_hits(const matrix& a, const hits_options& o, const doubles& start) {
  return iterate(scaled(start, 1 / sum_of(start)), o.max_iterations, o.tolerance, [&](const doubles& h) {
    const doubles next = times(a, times_transposed(a, h));
    const double sum = sum_of(next);
    return sum > 0 ? scaled(next, 1 / sum) : next;
  });
}

template <class Result>
void expect_figures(const Result& found, const dense_run& expected, double divisor) {
  EXPECT_EQ(found.iterations, expected.iterations);
  EXPECT_EQ(found.converged, expected.converged);
  EXPECT_NEAR(found.residual, expected.change / divisor, 1e-12 * (1 + expected.change));
}
void expect_values(const array<double, host>& found, const doubles& expected) {
  ASSERT_EQ(found.size(), static_cast<std::int64_t>(expected.size()));
  for (std::int64_t v = 0; v < found.size(); ++v) {
    const double right = expected[static_cast<std::size_t>(v)];
    EXPECT_NEAR(found[v], right, 1e-12 * (1 + right)) << v;
  }
}

const context<host> cpu({.threads = 2});

// --- Random graphs --------------------------------------------------------------------------------------------------

template <class Case>
class Ranks : public test::graph_suite<Case> {
 protected:
  using W = typename Case::weight;
  using I = typename Case::index;
  using O = typename Case::offset;
  using S = typename Case::space;
  using placed = test::placed_weighted<W, I, O, S>;

  struct problem {
    std::int64_t n;
    test::raw_weighted_graph<W, I, O> raw;
    matrix a;        // with the weights
    matrix pattern;  // with each edge as 1
    doubles vector;  // nonnegative, not all 0
  };
  // Loops, duplicates, weights of 0, vertices without edges.
  static problem draw(test::random_source& random, std::int64_t round, std::int64_t most = 14) {
    const std::int64_t n = 1 + random.below(most);
    test::weighted_edges<W> edges;
    const double scale = std::is_integral_v<W> ? 1.0 : 0.375;
    for (std::int64_t e = random.below(4 * n); e > 0; --e) {
      edges.push_back({random.below(n), random.below(n), static_cast<W>(scale * static_cast<double>(random.below(6)))});
    }
    const graph_form form = test::all_forms[round % 3];
    const auto followed = test::followed(edges, form);
    auto ones = followed;
    for (auto& e : ones) e.weight = 1;
    doubles vector;
    for (std::int64_t v = 0; v < n; ++v) vector.push_back(static_cast<double>(random.below(4)));
    vector[static_cast<std::size_t>(random.below(n))] = 2;
    return {n, test::make_weighted<W, I, O>(n, edges, form), dense(n, followed), dense(n, ones), vector};
  }
  static array<double, host> copied(const placed& g, span<const double, S> values) {
    const auto fetched = g.fetch(values);
    return clone(context<host>(), fetched);
  }
  static array<double, S> given(const placed& g, const doubles& values) {
    if constexpr (std::same_as<S, host>) {
      return clone(g.ctx(), values);
    } else {
      return to_device(g.ctx(), span<const double, host>(values));
    }
  }
  static eigenvector_result<host> fetch(const placed& g, const eigenvector_plan<I, O, S>& plan) {
    return {copied(g, plan.values()), plan.iterations(), plan.residual(),
            plan.converged(),         plan.eigenvalue(), plan.algorithm()};
  }
  static katz_result<host> fetch(const placed& g, const katz_plan<I, O, S>& plan) {
    return {copied(g, plan.values()), plan.iterations(), plan.residual(),
            plan.converged(),         plan.alpha(),      plan.algorithm()};
  }
  static hits_result<host> fetch(const placed& g, const hits_plan<I, O, S>& plan) {
    return {copied(g, plan.hubs()), copied(g, plan.authorities()), plan.iterations(), plan.residual(), plan.converged(),
            plan.algorithm()};
  }
};

using types = test::suite_types<test::weighted_case<double, std::int32_t, std::int64_t, host>,
                                test::weighted_case<std::int32_t, std::int32_t, std::int32_t, host>,
                                test::weighted_case<float, std::int64_t, std::int64_t, host>,
                                test::weighted_case<std::int64_t, std::int32_t, std::int64_t, host>,
                                test::weighted_case<double, std::int32_t, std::int64_t, device>,
                                test::weighted_case<std::int32_t, std::int32_t, std::int32_t, device>,
                                test::weighted_case<float, std::int64_t, std::int64_t, device>,
                                test::weighted_case<std::int64_t, std::int32_t, std::int32_t, device>>;
TYPED_TEST_SUITE(Ranks, types);

TYPED_TEST(Ranks, EigenvectorFollowsDenseSteps) {
  test::random_source random(61);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(300)) && !this->HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto p = this->draw(random, round);
    const typename TestFixture::placed g(p.raw, 1 + static_cast<int>(round % 3));
    const eigenvector_options options{.tolerance = round % 2 == 0 ? 1e-6 : 0.0, .max_iterations = 1 + random.below(60)};
    const doubles even(static_cast<std::size_t>(p.n), 1.0);
    eigenvector_plan plan(g.ctx(), g.view(), options);
    plan.run();
    const auto found = this->fetch(g, plan);
    const dense_run expected = dense_eigenvector(p.a, options, even);
    expect_figures(found, expected, static_cast<double>(p.n));
    expect_values(found.values, expected.values);
    EXPECT_EQ(check_eigenvector(cpu, p.raw.view(), found, options), "");

    const graph_view<typename TestFixture::I, typename TestFixture::O, typename TestFixture::S> edges = g.view();
    eigenvector_plan<typename TestFixture::I, typename TestFixture::O, typename TestFixture::S> unweighted(
        g.ctx(), edges, options);
    const auto start = this->given(g, p.vector);
    unweighted.run(start);
    const auto from_start = this->fetch(g, unweighted);
    expect_values(from_start.values, dense_eigenvector(p.pattern, options, p.vector).values);
    EXPECT_EQ(check_eigenvector(cpu, p.raw.structure.view(), from_start, options, p.vector), "");
  }
}

TYPED_TEST(Ranks, KatzFollowsDenseSteps) {
  test::random_source random(62);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(300)) && !this->HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto p = this->draw(random, round);
    const typename TestFixture::placed g(p.raw, 1 + static_cast<int>(round % 3));
    const auto size = static_cast<std::size_t>(p.n);
    const katz_options options{.alpha = round % 4 == 0 ? 0.0 : 0.03125,
                               .beta = 0.5,
                               .scale = round % 2 == 0 ? katz_scale::unit : katz_scale::none,
                               .tolerance = round % 5 == 0 ? 0.0 : 1e-9,
                               .max_iterations = 1 + random.below(400)};
    katz_plan plan(g.ctx(), g.view(), options);
    plan.run();
    const auto found = this->fetch(g, plan);
    const dense_run expected = dense_katz(p.a, found.alpha, doubles(size, 0.5), options, doubles(size));
    if (options.tolerance == 0) {
      EXPECT_EQ(found.iterations, options.max_iterations);
    } else {
      expect_figures(found, expected, static_cast<double>(p.n));
    }
    expect_values(found.values, expected.values);
    EXPECT_EQ(check_katz(cpu, p.raw.view(), found, options), "");

    const graph_view<typename TestFixture::I, typename TestFixture::O, typename TestFixture::S> edges = g.view();
    katz_plan<typename TestFixture::I, typename TestFixture::O, typename TestFixture::S> unweighted(g.ctx(), edges,
                                                                                                    options);
    const auto beta = this->given(g, p.vector);
    unweighted.run(beta, beta);
    const auto with_beta = this->fetch(g, unweighted);
    expect_values(with_beta.values, dense_katz(p.pattern, with_beta.alpha, p.vector, options, p.vector).values);
    EXPECT_EQ(check_katz(cpu, p.raw.structure.view(), with_beta, options, p.vector, p.vector), "");
  }
}

TYPED_TEST(Ranks, AutomaticAlphaConverges) {
  test::random_source random(63);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(300)) && !this->HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto p = this->draw(random, round);
    const typename TestFixture::placed g(p.raw);
    katz_plan plan(g.ctx(), g.view());
    plan.run();
    EXPECT_TRUE(plan.converged());
    // No iterate of A^T grows by more than the bound in the long run.
    const double bound = plan.eigenvalue_bound();
    doubles x(static_cast<std::size_t>(p.n), 1.0);
    double growth = 0;
    for (int k = 0; k < 600; ++k) {
      x = times_transposed(p.a, x);
      const double sum = sum_of(x);
      growth += std::log(sum);
      if (sum == 0) break;
      x = scaled(x, 1 / sum);
    }
    EXPECT_LE(std::exp(growth / 600), 1.02 * bound + 1e-6);
    EXPECT_LE(plan.alpha() * bound, 0.9 * (1 + 1e-12));
  }
}

TYPED_TEST(Ranks, HitsFollowDenseSteps) {
  test::random_source random(64);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(300)) && !this->HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto p = this->draw(random, round);
    const typename TestFixture::placed g(p.raw, 1 + static_cast<int>(round % 3));
    const hits_options options{.tolerance = round % 2 == 0 ? 1e-7 : 0.0, .max_iterations = 1 + random.below(60)};
    const doubles even(static_cast<std::size_t>(p.n), 1.0);
    hits_plan plan(g.ctx(), g.view(), options);
    plan.run();
    const auto found = this->fetch(g, plan);
    const dense_run expected = dense_hits(p.a, options, even);
    expect_figures(found, expected, 1);
    expect_values(found.hubs, expected.values);
    const doubles authorities = times_transposed(p.a, expected.values);
    const double sum = sum_of(authorities);
    expect_values(found.authorities, sum > 0 ? scaled(authorities, 1 / sum) : authorities);
    EXPECT_EQ(check_hits(cpu, p.raw.view(), found, options), "");

    const graph_view<typename TestFixture::I, typename TestFixture::O, typename TestFixture::S> edges = g.view();
    hits_plan<typename TestFixture::I, typename TestFixture::O, typename TestFixture::S> unweighted(g.ctx(), edges,
                                                                                                    options);
    unweighted.run(this->given(g, p.vector));
    const auto from_start = this->fetch(g, unweighted);
    expect_values(from_start.hubs, dense_hits(p.pattern, options, p.vector).values);
    EXPECT_EQ(check_hits(cpu, p.raw.structure.view(), from_start, options, p.vector), "");
  }
}

// Several blocks and chunks; rows of thousands of edges.
TYPED_TEST(Ranks, LargerGraphsPassTheChecks) {
  using weight = typename TestFixture::W;
  test::random_source random(65);
  for (const graph_form form : test::all_forms) {
    const std::int64_t n = test::is_sanitized ? 5000 : 30000;
    test::weighted_edges<weight> edges;
    for (std::int64_t e = 0; e < 8 * n; ++e) {
      const std::int64_t from = e % 7 == 0 ? random.below(3) : random.below(n);
      edges.push_back({from, random.below(n), static_cast<weight>(random.below(9))});
    }
    const auto raw = test::make_weighted<weight, typename TestFixture::I, typename TestFixture::O>(n, edges, form);
    const typename TestFixture::placed g(raw);
    eigenvector_plan eigenvector(g.ctx(), g.view(), {.max_iterations = 12});
    eigenvector.run();
    EXPECT_EQ(check_eigenvector(cpu, raw.view(), this->fetch(g, eigenvector), {.max_iterations = 12}), "");
    katz_plan katz(g.ctx(), g.view());
    katz.run();
    EXPECT_EQ(check_katz(cpu, raw.view(), this->fetch(g, katz)), "");
    hits_plan hits(g.ctx(), g.view());
    for (int run = 0; run < 2; ++run) {  // plans serve many runs
      hits.run();
      EXPECT_EQ(check_hits(cpu, raw.view(), this->fetch(g, hits)), "");
    }
  }
}

TYPED_TEST(Ranks, OfAnEmptyGraph) {
  test::raw_weighted_graph<typename TestFixture::W, typename TestFixture::I, typename TestFixture::O> raw;
  raw.structure.offsets = {0};
  const typename TestFixture::placed g(raw);
  eigenvector_plan eigenvector(g.ctx(), g.view());
  eigenvector.run();
  EXPECT_TRUE(eigenvector.converged());
  EXPECT_EQ(check_eigenvector(cpu, raw.view(), this->fetch(g, eigenvector)), "");
  katz_plan katz(g.ctx(), g.view());
  katz.run();
  EXPECT_EQ(check_katz(cpu, raw.view(), this->fetch(g, katz)), "");
  hits_plan hits(g.ctx(), g.view());
  hits.run();
  EXPECT_EQ(check_hits(cpu, raw.view(), this->fetch(g, hits)), "");
}

// --- On the host alone ----------------------------------------------------------------------------------------------

using doubly = test::weighted_edges<double>;
auto graph_of(std::int64_t n, const doubly& edges, graph_form form = graph_form::out_only) {
  return test::make_weighted<double, std::int32_t, std::int64_t>(n, edges, form);
}

TEST(RanksHost, GiveTheSameBitsForAnyNumberOfThreads) {
  test::random_source random(66);
  doubly edges;
  for (int e = 0; e < 300000; ++e)
    edges.push_back({random.below(40000), random.below(40000), 0.1 * static_cast<double>(random.below(50))});
  const auto g = graph_of(40000, edges);
  std::vector<doubles> first;
  for (const int threads : {1, 2, 3, 8}) {
    const context<host> ctx({.threads = threads});
    const auto e = eigenvector(ctx, g.view(), {.max_iterations = 5});
    const auto k = katz(ctx, g.view());
    const auto h = hits(ctx, g.view(), {.max_iterations = 5});
    const std::vector<doubles> found{from(e.values),
                                     from(k.values),
                                     from(h.hubs),
                                     from(h.authorities),
                                     {e.residual, e.eigenvalue, k.residual, k.alpha, h.residual}};
    if (first.empty()) first = found;
    EXPECT_EQ(found, first) << threads;
  }
}

// 2^22 entries and more, in scattered columns.
TEST(RanksDevice, PatternsAreMultipliedWithoutValues) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx;
  const context<device> gpu;
  const auto expect_near = [&](span<const double, device> found, const auto& expected) {
    const auto values = to_host(gpu, found);
    ASSERT_EQ(values.size(), expected.size());
    for (std::int64_t v = 0; v < values.size(); ++v) ASSERT_NEAR(values[v], expected[v], 1e-12 * expected[v]) << v;
  };
  for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
    const auto g = build_graph(ctx, generate<double, std::int32_t>(ctx, "gen:uniform:rows=300001,degree=16"),
                               {.direction = direction, .in_edges = true});
    const auto there = to_device(gpu, g.view());
    eigenvector_plan eigen(gpu, there);
    EXPECT_NE(eigen.reason().find("without values"), std::string::npos) << eigen.reason();
    eigen.run();
    expect_near(eigen.values(), eigenvector(ctx, g.view()).values);
    hits_plan both(gpu, there, {.max_iterations = 5});
    both.run();
    const auto expected = hits(ctx, g.view(), {.max_iterations = 5});
    expect_near(both.hubs(), expected.hubs);
    expect_near(both.authorities(), expected.authorities);
  }
}

TEST(RanksHost, KnownValues) {
  const context<host> ctx({.threads = 1});
  // A star: the centre has 1 / sqrt(2), the largest eigenvalue is sqrt(4).
  const auto star = graph_of(5, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}}, graph_form::undirected);
  const auto e = eigenvector(ctx, star.view(), {.tolerance = 1e-15, .max_iterations = 500});
  EXPECT_NEAR(e.values[0], std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(e.values[1], std::sqrt(0.125), 1e-12);
  EXPECT_NEAR(e.eigenvalue, 2, 1e-12);
  // A path 0 -> 1 -> 2 with weights 2 and 3: 1, 1 + 2 a, 1 + 3 a (1 + 2 a).
  const auto path = graph_of(3, {{0, 1, 2}, {1, 2, 3}});
  const auto k = katz(ctx, path.view(), {.alpha = 0.5, .scale = katz_scale::none});
  EXPECT_EQ(from(k.values), (doubles{1, 2, 4}));
  // Two hubs of one authority.
  const auto h = hits(ctx, graph_of(3, {{0, 2, 1}, {1, 2, 3}}).view());
  EXPECT_NEAR(h.hubs[0], 0.25, 1e-12);
  EXPECT_NEAR(h.hubs[1], 0.75, 1e-12);
  EXPECT_NEAR(h.authorities[2], 1, 1e-12);
  const auto none = hits(ctx, graph_of(3, {}).view());
  EXPECT_TRUE(none.converged);
  EXPECT_EQ(from(none.hubs), doubles(3));
}

TEST(RanksHost, WeightsOfAnyMagnitude) {
  const context<host> ctx({.threads = 1});
  const doubly edges{{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}, {3, 3, 1}};
  const auto expected = hits(ctx, graph_of(4, edges).view());
  for (const double scale : {1e-300, 1e-160, 1e160, 1e300}) {
    doubly times = edges;
    for (auto& e : times) e.weight *= scale;
    const auto found = hits(ctx, graph_of(4, times).view());
    for (int v = 0; v < 4; ++v) EXPECT_NEAR(found.hubs[v], expected.hubs[v], 1e-7) << scale;
    EXPECT_EQ(check_hits(cpu, graph_of(4, times).view(), found), "") << scale;
    const auto k = katz(ctx, graph_of(4, times).view());
    EXPECT_TRUE(k.converged) << scale;
    EXPECT_EQ(check_katz(cpu, graph_of(4, times).view(), k), "") << scale;
  }
}

// The squares of such values overflow or vanish.
TEST(RanksHost, KatzIsScaledForABetaOfAnyMagnitude) {
  const context<host> ctx({.threads = 1});
  const auto g = graph_of(3, {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {2, 1, 1}});
  for (const double beta : {0x1p-700, 1., 0x1p700}) {
    const auto found = katz(ctx, g.view(), {.beta = beta, .max_iterations = 50});
    double squares = 0;
    for (int v = 0; v < 3; ++v) squares += found.values[v] * found.values[v];
    EXPECT_NEAR(squares, 1, 1e-12) << beta;
  }
}

// Values grow by less than 40 a step, so a step's changes leave the range of double precision in sum before they do so
// per vertex.
TEST(RanksHost, DivergenceIsAResult) {
  const context<host> ctx({.threads = 1});
  doubly path;
  for (std::int32_t v = 0; v + 1 < 40; ++v) {
    path.push_back({v, v + 1, 1});
    path.push_back({v + 1, v, 1});
  }
  const auto g = graph_of(40, path);
  for (const double alpha : {1.5, 2., 3.}) {
    auto found = katz(ctx, g.view(), {.alpha = alpha, .max_iterations = 2000});
    EXPECT_FALSE(found.converged);
    EXPECT_FALSE(std::isfinite(found.residual));
    EXPECT_EQ(check_katz(cpu, g.view(), found, {.alpha = alpha, .max_iterations = 2000}), "") << alpha;
    found.iterations -= 2;
    EXPECT_NE(check_katz(cpu, g.view(), found, {.alpha = alpha, .max_iterations = 2000}), "") << alpha;
  }
}

// Eigenvalue 9 * weight, far above the largest weight.
TEST(RanksHost, AutomaticAlphaOfSmallWeights) {
  const context<host> ctx({.threads = 1});
  for (const double weight : {1e-3, 1e-20, 1e-290}) {
    SCOPED_TRACE(weight);
    doubly edges;
    for (std::int64_t u = 0; u < 10; ++u) {
      for (std::int64_t v = 0; v < u; ++v) edges.push_back({u, v, weight});
    }
    const auto g = graph_of(10, edges, graph_form::undirected);
    katz_plan plan(ctx, g.view(), {.scale = katz_scale::none});
    plan.run();
    EXPECT_TRUE(plan.converged());
    EXPECT_NEAR(plan.eigenvalue_bound() / weight, 9, 1e-6);
    EXPECT_NEAR(plan.values()[3], 10, 1e-3);
  }
}

TEST(RanksHost, DivergenceIsReturned) {
  const context<host> ctx({.threads = 1});
  const auto g = graph_of(3, {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}}, graph_form::undirected);
  const auto slow = katz(ctx, g.view(), {.alpha = 0.6, .max_iterations = 50});
  EXPECT_FALSE(slow.converged);
  EXPECT_EQ(slow.iterations, 50);
  EXPECT_GT(slow.residual, 1);
  EXPECT_EQ(check_katz(cpu, g.view(), slow, {.alpha = 0.6, .max_iterations = 50}), "");
  const katz_options steep{.alpha = 1e10, .max_iterations = 1000};
  const auto infinite = katz(ctx, g.view(), steep);
  EXPECT_FALSE(infinite.converged);
  EXPECT_EQ(infinite.residual, std::numeric_limits<double>::infinity());
  EXPECT_LT(infinite.iterations, 40);
  EXPECT_EQ(check_katz(cpu, g.view(), infinite, steep), "");
  const auto heavy = graph_of(2, {{0, 1, 1e200}}, graph_form::undirected);
  const auto e = eigenvector(ctx, heavy.view());
  EXPECT_FALSE(e.converged);
  katz_plan plan(ctx, g.view(), {.alpha = 0.6});
  EXPECT_NEAR(plan.eigenvalue_bound(), 2, 1e-6);
}

TEST(RanksHost, RefuseBadOptionsWeightsAndVectors) {
  const context<host> ctx({.threads = 2});
  const auto g = graph_of(3, {{0, 1, 1}, {1, 2, 1}});
  const auto refused = [&](auto&& call) { return message_of(error_code::invalid_argument, call); };
  EXPECT_EQ(refused([&] { (void)eigenvector(ctx, g.view(), {.tolerance = -1}); }),
            "eigenvector: tolerance -1 (expected 0 or more)");
  EXPECT_EQ(refused([&] { (void)hits(ctx, g.view(), {.max_iterations = 0}); }),
            "hits: at most 0 iterations (expected 1 or more)");
  EXPECT_EQ(refused([&] { (void)katz(ctx, g.view(), {.alpha = -0.5}); }),
            "katz: alpha -0.5 (expected more than 0, or 0: chosen)");
  EXPECT_EQ(refused([&] { (void)katz(ctx, g.view(), {.beta = std::nan("")}); }), "katz: beta nan (expected 0 or more)");
  const doubles zeros(3);
  const doubles negative{1, -1, 1};
  const doubles infinite{1, std::numeric_limits<double>::infinity(), 1};
  eigenvector_plan plan(ctx, g.view());
  EXPECT_EQ(refused([&] { plan.run(zeros); }),
            "eigenvector: the start holds zeros alone (expected finite values of 0 or more, not all 0)");
  EXPECT_EQ(refused([&] { plan.run(span<const double, host>(zeros).subspan(0, 2)); }),
            "eigenvector: 2 values of the start for 3 vertices");
  katz_plan katz_of(ctx, g.view());
  for (const doubles& beta : {negative, infinite}) {
    EXPECT_EQ(refused([&] { katz_of.run(beta); }),
              "katz: the beta holds a value that is negative or not finite (expected finite values of 0 or more)");
  }
  katz_of.run({}, zeros);
  for (const double weight : {-0.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto bad = graph_of(3, {{0, 1, 1}, {1, 2, weight}, {2, 0, -7}});
    EXPECT_THAT(message_of(error_code::invalid_data, [&] { (void)hits(ctx, bad.view()); }),
                testing::StartsWith("hits: edge (1, 2) has weight "));
    EXPECT_THAT(message_of(error_code::invalid_data, [&] { (void)katz(ctx, bad.view()); }),
                testing::StartsWith("katz: edge (1, 2) has weight "));
    EXPECT_THAT(message_of(error_code::invalid_data, [&] { (void)eigenvector(ctx, bad.view()); }),
                testing::StartsWith("eigenvector: edge (1, 2) has weight "));
  }
}

TEST(RanksCheck, FindsPlantedErrors) {
  const context<host> ctx({.threads = 1});
  const auto g = graph_of(4, {{0, 1, 3}, {0, 2, 1}, {1, 2, 5}, {2, 0, 1}, {2, 3, 2}, {3, 0, 1}});
  const auto spoilt = [](auto compute, auto check, auto spoil) {
    auto found = compute();
    EXPECT_EQ(check(found), "");
    spoil(found);
    EXPECT_NE(check(found), "");
  };
  const auto all = [&](auto compute, auto check, auto values) {
    spoilt(compute, check, [&](auto& found) { values(found)[2] *= 1 + 1e-7; });
    spoilt(compute, check, [&](auto& found) { values(found)[0] = std::nan(""); });
    spoilt(compute, check, [&](auto& found) { values(found).truncate(3); });
    spoilt(compute, check, [](auto& found) { ++found.iterations; });
    spoilt(compute, check, [](auto& found) { --found.iterations; });
    spoilt(compute, check, [](auto& found) { found.iterations = 0; });
    spoilt(compute, check, [](auto& found) { found.residual *= 1.5; });
    spoilt(compute, check, [](auto& found) { found.converged = !found.converged; });
  };
  all([&] { return eigenvector(ctx, g.view()); }, [&](const auto& r) { return check_eigenvector(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.values; });
  all([&] { return katz(ctx, g.view()); }, [&](const auto& r) { return check_katz(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.values; });
  all([&] { return hits(ctx, g.view()); }, [&](const auto& r) { return check_hits(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.hubs; });
  all([&] { return hits(ctx, g.view()); }, [&](const auto& r) { return check_hits(cpu, g.view(), r); },
      [](auto& r) -> auto& { return r.authorities; });
  spoilt([&] { return eigenvector(ctx, g.view()); }, [&](const auto& r) { return check_eigenvector(cpu, g.view(), r); },
         [](auto& r) { r.eigenvalue *= 1.001; });
  spoilt([&] { return katz(ctx, g.view(), {.alpha = 0.1}); },
         [&](const auto& r) { return check_katz(cpu, g.view(), r, {.alpha = 0.1}); }, [](auto& r) { r.alpha = 0.2; });
  // Of other weights, and ended early.
  const graph_view<std::int32_t, std::int64_t, host> edges = g.view();
  EXPECT_NE(check_hits(cpu, edges, hits(ctx, g.view())), "");
  EXPECT_NE(check_eigenvector(cpu, g.view(), eigenvector(ctx, g.view(), {.tolerance = 1e-2})), "");
  EXPECT_THAT(check_eigenvector(cpu, g.view(), eigenvector(ctx, g.view(), {.max_iterations = 3})),
              testing::StartsWith("ended after 3 iterations with a residual of "));
}

// The light edge's values vanish beside those of the path: rounding decides when the last digit does.
TEST(RanksCheck, AllowsForValuesThatVanish) {
  const context<host> ctx({.threads = 1});
  doubly edges{{20, 21, 0.1}};
  for (std::int64_t v = 0; v < 19; ++v) edges.push_back({v, v + 1, 1});
  const auto g = graph_of(22, edges, graph_form::undirected);
  const hits_options options{.tolerance = 0, .max_iterations = 200};
  auto found = hits(ctx, g.view(), options);
  EXPECT_EQ(found.hubs[20], 0);
  for (const auto& [value, fault] : {std::pair(std::numeric_limits<double>::denorm_min(), false), {1e-200, true}}) {
    found.hubs[20] = value;
    EXPECT_EQ(!check_hits(cpu, g.view(), found, options).empty(), fault) << value;
  }
}

}  // namespace
}  // namespace spargo
