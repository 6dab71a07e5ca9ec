// ForceAtlas2: forces against sums over all pairs on random graphs with loops, duplicates and weights; one step against
// the formulas; translated, scaled and repeated starts; points at one place and far away; stress on real graphs; bits
// for any number of threads; refusals; the check against planted errors.
#include <spargo/graph/layout.hpp>
#include <spargo/io/generate.hpp>

#include "core/parallel.hpp"
#include "graph/graph_suite.hpp"
#include "graph/known_graphs.hpp"
#include "graph/layout/levels.hpp"
#include "graph/plan_suite.hpp"
#include "graph/sssp_support.hpp"
#include "support/device.hpp"
#include "support/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>

namespace spargo {
namespace {

using doubles = std::vector<double>;
using plane = std::complex<double>;
using planes = std::vector<plane>;
using test::graph_form;
using test::message_of;

template <class Space>
struct layout_case : test::plan_case<layout_plan<std::int32_t, std::int64_t, Space>, layout_options> {
  static constexpr const char* name = "layout";
  using base = test::plan_case<layout_plan<std::int32_t, std::int64_t, Space>, layout_options>;
  static std::vector<layout_options> estimated() {
    return {{.iterations = 1}, {.iterations = 1, .start = layout_start::random}};
  }
  // Without the weights; few steps.
  static typename base::plan make(const context<Space>& ctx, const test::plan_view<Space>& g, layout_options o) {
    const graph_view<std::int32_t, std::int64_t, Space>& edges = g;
    o.iterations = std::min<std::int64_t>(o.iterations, 2);
    return typename base::plan(ctx, edges, o);
  }
};
const test::plan_suite<layout_case> every_plan;

// --- Oracles: all pairs, in double precision ------------------------------------------------------------------------

struct problem {
  std::int64_t n = 0;
  std::vector<std::tuple<std::int64_t, std::int64_t, double>> edges;  // each once, loops and duplicates too
};

doubles masses_of(const problem& p) {
  doubles mass(static_cast<std::size_t>(p.n), 1.0);
  for (const auto& [u, v, w] : p.edges) {
    mass[static_cast<std::size_t>(u)] += 1;
    mass[static_cast<std::size_t>(v)] += 1;
  }
  return mass;
}

struct force_parts {
  planes all;
  double size = 0;  // square of what they are made of
};

force_parts naive_forces(const problem& p, const planes& at, const layout_options& o) {
  const doubles mass = masses_of(p);
  const auto n = static_cast<std::size_t>(p.n);
  planes pull(n), all(n);
  for (const auto& [u, v, w] : p.edges) {
    const plane way = at[static_cast<std::size_t>(v)] - at[static_cast<std::size_t>(u)];
    if (way == 0.0) continue;
    const double d = std::abs(way);
    const plane f = o.attraction == layout_attraction::linear ? w * way : w * std::log(1 + d) / d * way;
    pull[static_cast<std::size_t>(u)] += f;
    pull[static_cast<std::size_t>(v)] -= f;
  }
  plane mean = 0;
  for (const plane z : at) mean += z / static_cast<double>(p.n);
  force_parts found;
  for (std::size_t v = 0; v < n; ++v) {
    if (o.dissuades_hubs) pull[v] /= mass[v];
    plane push = 0;
    for (std::size_t u = 0; u < n; ++u) {
      const plane way = at[v] - at[u];
      if (way != 0.0) push += o.scaling_ratio * mass[u] * mass[v] * way / std::norm(way);
    }
    plane gravity = -o.gravity * mass[v] * (at[v] - mean);
    if (o.gravity_kind == layout_gravity::constant && gravity != 0.0) gravity /= std::abs(at[v] - mean);
    all[v] = pull[v] + push + gravity;
    found.size += std::norm(pull[v]) + std::norm(push) + std::norm(gravity);
  }
  found.all = all;
  return found;
}

// The first step from `at`: forces before it are 0.
planes naive_step(const problem& p, const planes& at, const layout_options& o) {
  const doubles mass = masses_of(p);
  const planes force = naive_forces(p, at, o).all;
  const auto n = static_cast<double>(p.n);
  double swing = 0;
  double traction = 0;
  for (std::size_t v = 0; v < at.size(); ++v) {
    swing += mass[v] * std::abs(force[v]);
    traction += 0.5 * mass[v] * std::abs(force[v]);
  }
  planes next = at;
  if (swing == 0) return next;
  const double best = 0.05 * std::sqrt(n);
  double jitter = o.jitter_tolerance * std::max(std::sqrt(best), std::min(10.0, best * traction / (n * n)));
  // swing / traction is 2, not above it
  double speed = 1;
  speed += std::min(jitter * traction / swing - speed, 0.5 * speed);
  for (std::size_t v = 0; v < at.size(); ++v) {
    next[v] += force[v] * (speed / (1 + std::sqrt(speed * mass[v] * std::abs(force[v]))));
  }
  return next;
}

const context<host> cpu({.threads = 2});

planes to_planes(const doubles& xy) {
  planes z;
  for (std::size_t k = 0; k + 1 < xy.size(); k += 2) z.emplace_back(xy[k], xy[k + 1]);
  return z;
}

doubles random_positions(test::random_source& random, std::int64_t n, double side) {
  doubles xy;
  for (std::int64_t k = 0; k < 2 * n; ++k)
    xy.push_back(side * (static_cast<double>(random.below(1 << 20)) / (1 << 20)));
  return xy;
}

layout_options drawn_options(test::random_source& random) {
  return {.iterations = 0,
          .jitter_tolerance = 0.5 + static_cast<double>(random.below(4)),
          .scaling_ratio = 0.5 + static_cast<double>(random.below(4)),
          .gravity = static_cast<double>(random.below(3)),
          .attraction = random.below(2) == 0 ? layout_attraction::linear : layout_attraction::logarithmic,
          .gravity_kind = random.below(2) == 0 ? layout_gravity::constant : layout_gravity::strong,
          .dissuades_hubs = random.below(2) == 0};
}

// --- In each space --------------------------------------------------------------------------------------------------

template <class Case>
class Layout : public test::graph_suite<Case> {
 protected:
  using W = typename Case::weight;
  using I = typename Case::index;
  using O = typename Case::offset;
  using S = typename Case::space;
  using placed = test::placed_weighted<W, I, O, S>;
  using plan_type = layout_plan<I, O, S>;

  struct drawn : problem {
    test::raw_weighted_graph<W, I, O> raw;
  };
  // Loops, duplicates, weights of 0, vertices without edges; vertex 0 has `of_hub` edges more.
  static drawn draw(test::random_source& random, graph_form form, std::int64_t n, std::int64_t edges,
                    std::int64_t of_hub = 0) {
    drawn p;
    p.n = n;
    test::weighted_edges<W> all;
    for (std::int64_t e = 0; e < edges; ++e) {
      all.push_back({random.below(n), random.below(n), static_cast<W>(random.below(4))});
    }
    for (std::int64_t e = 0; e < of_hub; ++e) all.push_back({0, random.below(n), static_cast<W>(random.below(4))});
    p.raw = test::make_weighted<W, I, O>(n, all, form);
    for (const auto& e : all) {
      p.edges.emplace_back(e.from, e.to, static_cast<double>(e.weight));
      // An undirected raw graph stores a loop twice.
      if (form == graph_form::undirected && e.from == e.to) p.edges.push_back(p.edges.back());
    }
    return p;
  }
  static array<double, S> given(const placed& g, const doubles& values) {
    if constexpr (std::same_as<S, host>) {
      return clone(g.ctx(), values);
    } else {
      return to_device(g.ctx(), span<const double, host>(values));
    }
  }
  static layout_result<host> fetch(const placed& g, const plan_type& done) {
    return {clone(cpu, g.fetch(done.positions())), clone(cpu, g.fetch(done.forces())), done.algorithm()};
  }
  static planes positions(const placed& g, const plan_type& done) { return to_planes(g.fetch(done.positions())); }
};

using types = test::suite_types<test::weighted_case<double, std::int32_t, std::int64_t, host>,
                                test::weighted_case<std::int32_t, std::int64_t, std::int64_t, host>,
                                test::weighted_case<double, std::int32_t, std::int64_t, device>,
                                test::weighted_case<std::int32_t, std::int64_t, std::int64_t, device>>;
TYPED_TEST_SUITE(Layout, types);

// From a few vertices to several levels of the tree; evenly spread and in clusters.
TYPED_TEST(Layout, ForcesAreThoseOfAllPairs) {
  test::random_source random(71);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(60)) && !this->HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::int64_t n = 1 + random.below(round % 6 == 0 ? 1500 : 90);
    // A hub of more than 2,048 edges is a block's on a device.
    const std::int64_t of_hub = round % 12 == 0 ? 2049 + random.below(2000) : 0;
    const auto p = this->draw(random, test::all_forms[round % 3], n, random.below(3 * n), of_hub);
    const typename TestFixture::placed g(p.raw, 1 + static_cast<int>(round % 3));
    doubles start = random_positions(random, n, 100);
    if (round % 2 == 0) {
      for (std::size_t k = 0; k < start.size() / 4 * 2; ++k) start[k] = 70 + start[k] / 1024;
    }
    const layout_options options = drawn_options(random);
    typename TestFixture::plan_type plan(g.ctx(), g.view(), options);
    plan.run(this->given(g, start));
    const auto found = this->fetch(g, plan);
    const planes at = to_planes({found.positions.begin(), found.positions.end()});
    for (std::size_t v = 0; v < at.size(); ++v) {
      EXPECT_NEAR(std::abs(at[v] - plane(start[2 * v], start[2 * v + 1])), 0, 1e-2) << v;
    }
    const force_parts expected = naive_forces(p, at, options);
    double error = 0;
    for (std::size_t v = 0; v < at.size(); ++v) {
      const auto k = static_cast<std::int64_t>(2 * v);
      error += std::norm(plane(found.forces[k], found.forces[k + 1]) - expected.all[v]);
    }
    EXPECT_LE(error, 1e-6 * expected.size);
    EXPECT_EQ(check_layout(cpu, p.raw.view(), found, options), "");
  }
}

// Points that follow each other on the curve lie in two dense spots and outside of them: a leaf that has points of both
// is near to all others.
TYPED_TEST(Layout, ForcesBetweenDenseSpots) {
  test::random_source random(80);
  for (const std::int64_t apart : {40, 1000}) {
    const std::int64_t n = 6000;
    const auto p = this->draw(random, graph_form::undirected, n, 2 * n);
    const typename TestFixture::placed g(p.raw);
    doubles start = random_positions(random, n, 1);
    for (std::size_t v = 0; v < 2990; ++v) start[2 * v] += static_cast<double>(apart);
    for (std::size_t v = 5900; v < 6000; ++v) {
      start[2 * v] *= static_cast<double>(apart);
      start[2 * v + 1] *= static_cast<double>(apart);
    }
    for (const std::int64_t steps : {0, 3}) {
      typename TestFixture::plan_type plan(g.ctx(), g.view(), {.iterations = steps});
      plan.run(this->given(g, start));
      EXPECT_EQ(check_layout(cpu, p.raw.view(), this->fetch(g, plan), {.iterations = steps}), "") << apart;
    }
  }
}

TYPED_TEST(Layout, OneStepFollowsTheFormulas) {
  test::random_source random(72);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(60)) && !this->HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::int64_t n = 1 + random.below(200);
    const auto p = this->draw(random, test::all_forms[round % 3], n, random.below(3 * n));
    const typename TestFixture::placed g(p.raw);
    const doubles start = random_positions(random, n, 300);
    layout_options options = drawn_options(random);
    options.iterations = 1;
    typename TestFixture::plan_type plan(g.ctx(), g.view(), options);
    plan.run(this->given(g, start));
    const planes found = this->positions(g, plan);
    const planes expected = naive_step(p, to_planes(start), options);
    for (std::size_t v = 0; v < found.size(); ++v) {
      EXPECT_NEAR(std::abs(found[v] - expected[v]), 0, 2e-2 + 2e-3 * std::abs(expected[v] - to_planes(start)[v])) << v;
    }
  }
}

TYPED_TEST(Layout, FollowsItsStartWhenThatIsMoved) {
  test::random_source random(73);
  const auto p = this->draw(random, graph_form::undirected, 400, 900);
  const typename TestFixture::placed g(p.raw);
  // Multiples of 1/8, so that moving them is exact.
  doubles start;
  for (int k = 0; k < 800; ++k) start.push_back(0.125 * static_cast<double>(random.below(8000)));
  doubles moved = start;
  for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += k % 2 == 0 ? 4096 : -65536;
  typename TestFixture::plan_type plan(g.ctx(), g.view(), {.iterations = 20});
  plan.run(this->given(g, start));
  const planes first = this->positions(g, plan);
  plan.run(this->given(g, moved));
  const planes second = this->positions(g, plan);
  for (std::size_t v = 0; v < first.size(); ++v) {
    EXPECT_NEAR(std::abs(second[v] - first[v] - plane(4096, -65536)), 0, 1e-9) << v;
  }
}

TYPED_TEST(Layout, TakesAnyFiniteStart) {
  test::random_source random(74);
  for (const double side : {0.0, 1e-300, 1e-30, 1.0, 1e15, 1e30, 1e300, std::numeric_limits<double>::max()}) {
    SCOPED_TRACE(side);
    const auto p = this->draw(random, graph_form::undirected, 300, 500);
    const typename TestFixture::placed g(p.raw);
    doubles start = random_positions(random, 300, side);
    for (double& x : start) x = random.below(2) == 0 ? x : -x;
    start[10] = start[12];  // two vertices at one place
    start[11] = start[13];
    typename TestFixture::plan_type plan(g.ctx(), g.view(), {.iterations = 30});
    plan.run(this->given(g, start));
    const planes found = this->positions(g, plan);
    for (const plane z : found) ASSERT_TRUE(std::isfinite(z.real()) && std::isfinite(z.imag())) << z;
    if (side <= 1) {
      EXPECT_NE(found[5], found[6]);
    }
  }
}

TYPED_TEST(Layout, OfAnEmptyGraphAndOfOneVertex) {
  for (const std::int64_t n : {0, 1}) {
    typename TestFixture::drawn p;
    p.raw = test::make_weighted<typename TestFixture::W, typename TestFixture::I, typename TestFixture::O>(
        n, {}, graph_form::out_only);
    const typename TestFixture::placed g(p.raw);
    typename TestFixture::plan_type plan(g.ctx(), g.view());
    plan.run();
    EXPECT_EQ(plan.positions().size(), 2 * n);
    EXPECT_EQ(check_layout(cpu, p.raw.view(), this->fetch(g, plan)), "");
    const auto start = this->given(g, doubles(static_cast<std::size_t>(2 * n), 7.5));
    plan.run(start);
    for (const double x : g.fetch(plan.positions())) EXPECT_EQ(x, 7.5);
  }
}

TYPED_TEST(Layout, RefusesAStartThatIsNone) {
  test::random_source random(75);
  const auto p = this->draw(random, graph_form::undirected, 4, 6);
  const typename TestFixture::placed g(p.raw);
  typename TestFixture::plan_type plan(g.ctx(), g.view());
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { plan.run(this->given(g, doubles(4))); }),
            "layout: 4 coordinates (expected 8, two per vertex)");
  doubles start(8);
  start[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { plan.run(this->given(g, start)); }),
            "layout: vertex 2 starts at y = nan (expected finite)");
}

TYPED_TEST(Layout, RepeatsItsBits) {
  test::random_source random(76);
  const auto p = this->draw(random, graph_form::out_and_in, 3000, 9000);
  std::vector<doubles> found;
  for (const int threads : {1, 2, 3, 8}) {
    const typename TestFixture::placed g(p.raw, threads);
    typename TestFixture::plan_type plan(g.ctx(), g.view(), {.iterations = 20});
    plan.run();
    EXPECT_GT(plan.levels(), 2);
    found.push_back(g.fetch(plan.positions()));
    plan.run();
    found.push_back(g.fetch(plan.positions()));
  }
  for (const doubles& other : found) EXPECT_EQ(other, found[0]);
}

// A grid is unfolded from contracted graphs, and edges are short.
TYPED_TEST(Layout, UnfoldsAGrid) {
  problem p;
  constexpr std::int64_t side = 40;
  p.n = side * side;
  test::weighted_edges<typename TestFixture::W> edges;
  for (std::int64_t v = 0; v < p.n; ++v) {
    if (v % side + 1 < side) edges.push_back({v, v + 1, 1});
    if (v + side < p.n) edges.push_back({v, v + side, 1});
  }
  const auto raw = test::make_weighted<typename TestFixture::W, typename TestFixture::I, typename TestFixture::O>(
      p.n, edges, graph_form::undirected);
  const typename TestFixture::placed g(raw);
  typename TestFixture::plan_type plan(g.ctx(), g.view(), {.iterations = 100});
  plan.run();
  const auto found = this->fetch(g, plan);
  EXPECT_EQ(check_layout(cpu, raw.view(), found, {.iterations = 100}), "");
  test::random_source random(77);
  const doubles scattered = random_positions(random, p.n, 1);
  const double chance = layout_stress(cpu, raw.structure.view(), scattered);
  const double stress = layout_stress(cpu, raw.structure.view(), found.positions.view());
  EXPECT_GT(chance, 0.2);
  EXPECT_LT(stress, 0.1);
}

// --- On the host alone ----------------------------------------------------------------------------------------------

using plain = test::raw_graph<std::int32_t, std::int64_t>;

TEST(LayoutHost, GivesTheSameBitsForAnyNumberOfThreads) {
  detail::assume_processors(8);
  test::random_source random(78);
  test::edge_vector edges;
  for (int e = 0; e < 60000; ++e) edges.emplace_back(random.below(20000), random.below(20000));
  const plain g = test::make_undirected<std::int32_t, std::int64_t>(20000, edges);
  std::vector<array<double, host>> found;
  for (const int threads : {1, 2, 3, 8}) {
    const context<host> ctx({.threads = threads});
    found.push_back(layout(ctx, g.view(), {.iterations = 4}).positions);
  }
  detail::assume_processors(0);
  for (const auto& other : found) EXPECT_TRUE(std::equal(other.begin(), other.end(), found[0].begin()));
}

// In a tenth of the stress of random positions, or half of it where most vertices are neighbours of neighbours.
TEST(LayoutHost, LessStressThanChanceOnRealGraphs) {
  SPARGO_TEST_NEEDS_DATA();
  for (const char* const name : {"karate.mtx", "dolphins.mtx", "1138_bus.mtx", "jagmesh7.mtx", "netscience.mtx",
                                 "road-minnesota.mtx", "p2p-Gnutella08.txt"}) {
    SCOPED_TRACE(name);
    const auto read = test::read_known_graph<pattern>((test::data_directory() / name).string());
    const auto g = build_graph(cpu, read.edges, {.direction = direction_kind::undirected});
    const auto found = layout(cpu, g, {.iterations = 100});
    EXPECT_EQ(check_layout(cpu, g, found), "");
    test::random_source random(79);
    const doubles scattered = random_positions(random, g.vertices(), 1);
    const double chance = layout_stress(cpu, g.view(), scattered);
    EXPECT_LT(layout_stress(cpu, g.view(), found.positions.view()), 0.8 * chance);
  }
}

TEST(LayoutHost, StressOfKnownLayouts) {
  const plain path = test::make_undirected<std::int32_t, std::int64_t>(3, {{0, 1}, {1, 2}});
  EXPECT_EQ(layout_stress(cpu, path.view(), doubles{0, 0, 5, 0, 10, 0}), 0);
  EXPECT_EQ(layout_stress(cpu, path.view(), doubles{1, 1, 1, 1, 1, 1}), 1);
  // Ratios 1, 1 and 0, each seen from both ends: 1 - (2/3)^2 / (2/3).
  EXPECT_NEAR(layout_stress(cpu, path.view(), doubles{0, 0, 1, 0, 0, 0}), 1.0 / 3, 1e-15);
  EXPECT_EQ(message_of(error_code::invalid_argument, [&] { (void)layout_stress(cpu, path.view(), doubles(3)); }),
            "layout_stress: 3 coordinates (expected 6, two per vertex)");
}

// Distances by relaxing all edges until none shortens; loops, duplicates, parts that are not joined; either direction.
TEST(LayoutHost, StressIsThatOfAllPairs) {
  test::random_source random(80);
  for (const graph_form form : test::all_forms) {
    constexpr std::int64_t n = 120;
    test::edge_vector edges;
    for (int e = 0; e < 130; ++e) edges.emplace_back(random.below(n), random.below(n));
    const auto g =
        form == graph_form::undirected
            ? test::make_undirected<std::int32_t, std::int64_t>(n, edges)
            : test::make_directed<std::int32_t, std::int64_t>(
                  n, edges, form == graph_form::out_and_in ? test::edges_kept::out_and_in : test::edges_kept::out);
    const doubles at = random_positions(random, n, 1);
    double pairs = 0, sum = 0, squares = 0;
    for (std::int64_t source = 0; source < n; ++source) {
      std::vector<std::int64_t> depth(n, n);
      depth[static_cast<std::size_t>(source)] = 0;
      for (std::int64_t round = 0; round < n; ++round) {
        for (const auto& [a, b] : edges) {
          std::int64_t& from = depth[static_cast<std::size_t>(a)];
          std::int64_t& to = depth[static_cast<std::size_t>(b)];
          to = std::min(to, from + 1);
          from = std::min(from, to + 1);
        }
      }
      for (std::int64_t v = 0; v < n; ++v) {
        if (v == source || depth[static_cast<std::size_t>(v)] == n) continue;
        const auto k = static_cast<std::size_t>(2 * v);
        const auto j = static_cast<std::size_t>(2 * source);
        const double ratio = std::abs(plane(at[k] - at[j], at[k + 1] - at[j + 1])) /
                             static_cast<double>(depth[static_cast<std::size_t>(v)]);
        pairs += 1;
        sum += ratio;
        squares += ratio * ratio;
      }
    }
    EXPECT_NEAR(layout_stress(cpu, g.view(), at, n), 1 - sum * sum / (pairs * squares), 1e-12);
    const context<host> three({.threads = 3});
    EXPECT_EQ(layout_stress(cpu, g.view(), at, 7, 3), layout_stress(three, g.view(), at, 7, 3));
    EXPECT_EQ(layout_stress(cpu, g.view(), at, 0), 0);
  }
}

// Of many edges a random graph's are left between few groups, those of a mesh are not.
TEST(LayoutHost, LevelsAsDenseAsTheGraphAreNotMade) {
  const context<host> ctx({.threads = 2});
  const auto levels = [&](const char* spec, auto... many) {
    const auto g =
        build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction_kind::undirected});
    const detail::layout::charged_graph<std::int32_t, std::int64_t, host> charged{{{g.view()}, {}, {}}, {}};
    return std::ssize(detail::layout::contract_all(ctx, charged, many...));
  };
  const char* const uniform = "gen:uniform:rows=65536,degree=16";
  EXPECT_GT(levels(uniform), 1);
  EXPECT_EQ(levels(uniform, 2 * 16 * 65500), 0);
  EXPECT_GT(levels(uniform, 2 * 16 * 65536), 1);
  for (const char* spec : {"gen:grid2d:n=60", "gen:rmat:scale=12,degree=16", "gen:path:n=5000", "gen:star:n=5000"}) {
    EXPECT_EQ(levels(spec, 1), levels(spec)) << spec;
    EXPECT_GT(levels(spec), 0) << spec;
  }
}

// Several ranges of groups, joined by several threads.
TEST(LayoutHost, AContractionAddsUpMassesAndEdges) {
  detail::assume_processors(4);
  const context<host> ctx({.threads = 4});
  test::random_source random(81);
  constexpr std::int64_t n = 6000;
  test::edge_vector edges;
  for (int e = 0; e < 15000; ++e) edges.emplace_back(random.below(n), random.below(n));
  for (int v = 0; v < 3000; ++v) edges.emplace_back(0, v);
  const plain g = test::make_undirected<std::int32_t, std::int64_t>(n, edges);
  const auto levels = detail::layout::contract_all(
      ctx, detail::layout::charged_graph<std::int32_t, std::int64_t, host>{{{g.view()}, {}, {}}, {}});
  detail::assume_processors(0);
  ASSERT_GT(levels.size(), 1U);
  const auto& coarse = levels[0];
  ASSERT_GT(coarse.vertices(), 600);
  doubles masses(static_cast<std::size_t>(coarse.vertices()));
  for (std::int64_t v = 0; v < n; ++v) masses[static_cast<std::size_t>(coarse.group_of[v])] += 1;
  std::map<std::pair<std::int64_t, std::int64_t>, double> expected, found;
  const auto rows = g.view().out;
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
      const std::int32_t from = coarse.group_of[v];
      const std::int32_t to = coarse.group_of[rows.indices[e]];
      masses[static_cast<std::size_t>(from)] += rows.indices[e] == v ? 2 : 1;
      if (from != to) expected[{from, to}] += 1;
    }
  }
  for (std::int64_t c = 0; c < coarse.vertices(); ++c) {
    EXPECT_EQ(coarse.masses[c], static_cast<float>(masses[static_cast<std::size_t>(c)]));
    for (std::int64_t e = coarse.offsets[c]; e < coarse.offsets[c + 1]; ++e) {
      EXPECT_TRUE(found.emplace(std::pair(c, coarse.indices[e]), coarse.weights[e]).second);
    }
  }
  EXPECT_EQ(found, expected);
}

TEST(LayoutHost, RefusesOptionsOutOfRange) {
  const plain g = test::make_undirected<std::int32_t, std::int64_t>(2, {{0, 1}});
  const auto refused = [&](const layout_options& o) {
    return message_of(error_code::invalid_argument, [&] { (void)layout(cpu, g.view(), o); });
  };
  EXPECT_EQ(refused({.iterations = -1}), "layout: -1 iterations (expected 0 or more)");
  EXPECT_EQ(refused({.jitter_tolerance = 0}), "layout: jitter_tolerance is 0 (expected a finite number above 0)");
  EXPECT_EQ(refused({.scaling_ratio = -2}), "layout: scaling_ratio is -2 (expected a finite number above 0)");
  EXPECT_EQ(refused({.gravity = -1}), "layout: gravity is -1 (expected a finite number of 0 or more)");
}

TEST(LayoutHost, RefusesWeightsOutOfRange) {
  const auto large = test::make_weighted<double, std::int32_t, std::int64_t>(2, {{0, 1, 1e13}}, graph_form::out_only);
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)layout(cpu, large.view()); }),
            "layout: a weight of 10000000000000 (expected at most 2^40, since forces are single precision)");
  const auto g = test::make_weighted<double, std::int32_t, std::int64_t>(2, {{0, 1, -2.0}}, graph_form::out_only);
  EXPECT_EQ(message_of(error_code::invalid_data, [&] { (void)layout(cpu, g.view()); }),
            "layout: edge (0, 1) has weight -2 (expected finite ones of 0 or more)");
}

TEST(LayoutCheck, FindsPlantedErrors) {
  test::random_source random(80);
  test::edge_vector edges;
  for (int e = 0; e < 300; ++e) edges.emplace_back(random.below(100), random.below(100));
  const plain g = test::make_undirected<std::int32_t, std::int64_t>(100, edges);
  const auto right = layout(cpu, g.view(), {.iterations = 10});
  EXPECT_EQ(check_layout(cpu, g.view(), right), "");
  const auto spoilt = [&](auto&& spoil, const layout_options& o = {}) {
    layout_result<host> wrong{clone(cpu, right.positions), clone(cpu, right.forces), right.algorithm};
    spoil(wrong);
    return check_layout(cpu, g.view(), wrong, o);
  };
  EXPECT_THAT(spoilt([](auto& r) { r.positions[7] = std::nan(""); }), testing::StartsWith("vertex 3 is at nan"));
  EXPECT_THAT(spoilt([](auto& r) {
                for (double& f : r.forces) f = 0;
              }),
              testing::StartsWith("forces differ by"));
  EXPECT_THAT(spoilt([](auto& r) { r.positions[0] += 0.5; }), testing::StartsWith("forces differ by"));
  EXPECT_THAT(spoilt([](auto&) {}, {.gravity = 2}), testing::StartsWith("forces differ by"));
  EXPECT_THAT(spoilt([](auto&) {}, {.scaling_ratio = 2.02}), testing::StartsWith("forces differ by"));
  EXPECT_EQ(spoilt([](auto& r) { r.forces = array<double, host>(cpu, 3); }),
            "200 coordinates and 3 of forces for 100 vertices");
}

// Of more vertices than pairs can be summed over, a sample is compared.
TEST(LayoutCheck, FindsErrorsInASample) {
  if (test::is_sanitized) GTEST_SKIP() << "2^29 pairs";
  constexpr std::int64_t n = 40000;
  test::random_source random(83);
  const test::edge_vector edges = test::random_edges(random, n, 3 * n, 1);
  const auto look = [](const auto& raw) {
    auto found = layout(cpu, raw.view(), {.iterations = 2, .start = layout_start::random});
    EXPECT_EQ(check_layout(cpu, raw.view(), found), "");
    for (double& f : found.forces) f *= 1.01;
    EXPECT_THAT(check_layout(cpu, raw.view(), found), testing::StartsWith("forces differ by 0.0"));
  };
  look(test::make_undirected<std::int32_t, std::int64_t>(n, edges));
  look(test::make_directed<std::int32_t, std::int64_t>(n, edges, test::edges_kept::out_and_in));
}

}  // namespace
}  // namespace spargo
