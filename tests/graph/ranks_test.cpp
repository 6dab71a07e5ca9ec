// Eigenvector centrality, Katz centrality and HITS: against dense iterations on random graphs with loops, duplicates
// and weights, on both backends.
#include <spargo/graph/eigenvector.hpp>
#include <spargo/graph/hits.hpp>
#include <spargo/graph/katz.hpp>

#include "graph/graph_suite.hpp"
#include "graph/plan_suite.hpp"
#include "graph/sssp_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace spargo {
namespace {

using doubles = std::vector<double>;
using matrix = std::vector<doubles>;
using test::graph_form;

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

}  // namespace
}  // namespace spargo
