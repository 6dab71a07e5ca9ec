// Similarities of given pairs, of edges and of the most similar vertices: against sets, on random graphs with loops and
// duplicates and on shapes that hurt; the same bits for any number of threads and on a device; refusals; the check.
#include <spargo/graph/similarity.hpp>
#include <spargo/io/generate.hpp>

#include "graph/graph_suite.hpp"
#include "graph/plan_suite.hpp"
#include "graph/similarity/algorithms.hpp"
#include "support/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace spargo {
namespace {

using test::edge_vector;
using test::message_of;

template <class Space>
struct similarity_case : test::plan_case<similarity_plan<std::int32_t, std::int64_t, Space>, similarity_options> {
  static constexpr const char* name = "similarity";
  static std::vector<similarity_options> estimated() { return {{}, {.measure = similarity_measure::adamic_adar}}; }
};
const test::plan_suite<similarity_case> every_plan;

// u, v, value.
using scored = std::vector<std::tuple<std::int64_t, std::int64_t, double>>;

// Neighbours as sets, values as networkx defines them.
class naive_graph {
 public:
  naive_graph(std::int64_t n, const edge_vector& edges, direction_kind direction)
      : directed_(direction == direction_kind::directed), sets_(static_cast<std::size_t>(n)) {
    for (const auto& [u, v] : edges) {
      if (u == v) continue;
      sets_[static_cast<std::size_t>(u)].insert(v);
      if (!directed_) sets_[static_cast<std::size_t>(v)].insert(u);
    }
    for (const auto& set : sets_) {
      for (const std::int64_t w : set) ++degrees_[w];
    }
  }

  [[nodiscard]] std::int64_t vertices() const { return std::ssize(sets_); }
  [[nodiscard]] const std::set<std::int64_t>& at(std::int64_t v) const { return sets_[static_cast<std::size_t>(v)]; }

  [[nodiscard]] double value(similarity_measure measure, std::int64_t u, std::int64_t v) const {
    std::set<std::int64_t> either = at(u);
    either.insert(at(v).begin(), at(v).end());
    double common = 0;
    double logs = 0;
    double shares = 0;
    for (const std::int64_t w : at(u)) {
      if (at(v).count(w) == 0) continue;
      const auto d = static_cast<double>(degrees_.at(w));
      ++common;
      logs += d > 1 ? 1 / std::log(d) : 0;
      shares += 1 / d;
    }
    const auto a = static_cast<double>(at(u).size());
    const auto b = static_cast<double>(at(v).size());
    if (common == 0) return 0;
    switch (measure) {
      case similarity_measure::jaccard:
        return common / static_cast<double>(either.size());
      case similarity_measure::overlap:
        return common / std::min(a, b);
      case similarity_measure::sorensen:
        return 2 * common / (a + b);
      case similarity_measure::cosine:
        return common / std::sqrt(a * b);
      case similarity_measure::adamic_adar:
        return logs;
      case similarity_measure::resource_allocation:
        return shares;
      case similarity_measure::common_neighbors:
        return common;
    }
    return -1;
  }
  [[nodiscard]] scored edges(similarity_measure measure) const {
    scored all;
    for (std::int64_t u = 0; u < vertices(); ++u) {
      for (const std::int64_t v : at(u)) {
        if (directed_ || u < v) all.emplace_back(u, v, value(measure, u, v));
      }
    }
    return all;
  }

 private:
  bool directed_;
  std::vector<std::set<std::int64_t>> sets_;
  std::map<std::int64_t, std::int64_t> degrees_;  // how many have it as a neighbour
};

bool has_terms(similarity_measure measure) {
  return measure == similarity_measure::adamic_adar || measure == similarity_measure::resource_allocation;
}

void expect_value(similarity_measure measure, double got, double expected) {
  if (has_terms(measure)) {
    ASSERT_NEAR(got, expected, 1e-12 * expected);
  } else {
    ASSERT_EQ(got, expected);
  }
}

template <class I, class Space>
scored listed(const context<Space>& ctx, const auto& placed, span<const I, Space> sources, span<const I, Space> targets,
              span<const double, Space> values) {
  ctx.synchronize();
  const auto us = placed.fetch(sources);
  const auto vs = placed.fetch(targets);
  const auto xs = placed.fetch(values);
  scored all;
  for (std::size_t k = 0; k < xs.size(); ++k) all.emplace_back(us[k], vs[k], xs[k]);
  return all;
}

// The lists of all vertices: complete, and in order by the values that were found, which are right.
void expect_top(const naive_graph& naive, similarity_measure measure, std::int64_t top, const scored& got) {
  std::size_t k = 0;
  for (std::int64_t u = 0; u < naive.vertices(); ++u) {
    std::vector<std::pair<double, std::int64_t>> all;  // minus the value, vertex
    for (std::int64_t v = 0; v < naive.vertices(); ++v) {
      const double value = v == u ? 0 : naive.value(measure, u, v);
      if (value > 0) all.emplace_back(-value, v);
    }
    std::sort(all.begin(), all.end());
    const std::size_t size = std::min(all.size(), static_cast<std::size_t>(top));
    ASSERT_LE(k + size, got.size());
    for (std::size_t j = 0; j < size; ++j, ++k) {
      const auto [source, target, value] = got[k];
      ASSERT_EQ(source, u);
      ASSERT_NE(target, u);
      expect_value(measure, value, naive.value(measure, u, target));
      expect_value(measure, value, -all[j].first);
      if (!has_terms(measure)) {
        ASSERT_EQ(target, all[j].second);
      }
      if (j > 0) {
        const auto [before_u, before_v, before] = got[k - 1];
        ASSERT_TRUE(value < before || (value == before && before_v < target));
      }
    }
  }
  ASSERT_EQ(k, got.size());
}

template <class I, class Space, class O>
void expect_measure(const test::raw_graph<I, O>& raw, const test::placed_graph<I, O, Space>& placed,
                    const naive_graph& naive, similarity_measure measure, int threads) {
  SCOPED_TRACE(std::string(to_string(measure)));
  const context<host> cpu({.threads = threads});
  const auto check = [&](const scored& got, similarity_pairs kind, const similarity_options& options) {
    std::vector<I> us, vs;
    std::vector<double> xs;
    for (const auto& [u, v, x] : got) {
      us.push_back(static_cast<I>(u));
      vs.push_back(static_cast<I>(v));
      xs.push_back(x);
    }
    ASSERT_EQ(check_similarity(cpu, raw.view(), {us, vs, xs}, kind, options).fault, "");
  };
  const auto run_twice = [&](auto& plan) {
    plan.run();
    const scored first = listed<I, Space>(placed.ctx(), placed, plan.sources(), plan.targets(), plan.values());
    plan.run();
    const scored second = listed<I, Space>(placed.ctx(), placed, plan.sources(), plan.targets(), plan.values());
    EXPECT_EQ(first, second);
    return first;
  };
  const auto expect_listed = [&](const scored& got, const scored& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(std::get<0>(got[k]), std::get<0>(expected[k]));
      ASSERT_EQ(std::get<1>(got[k]), std::get<1>(expected[k]));
      expect_value(measure, std::get<2>(got[k]), std::get<2>(expected[k]));
    }
  };

  similarity_plan<I, O, Space> edges(placed.ctx(), placed.view(), {.measure = measure});
  const scored of_edges = run_twice(edges);
  expect_listed(of_edges, naive.edges(measure));
  check(of_edges, similarity_pairs::edges, {.measure = measure});

  scored wanted;
  const std::int64_t n = naive.vertices();
  std::vector<I> us, vs;
  for (std::int64_t u = n - 1; u >= 0; u -= 1 + n / 20) {
    for (std::int64_t v = 0; v < n; v += 1 + n / 30) {
      us.push_back(static_cast<I>(u));
      vs.push_back(static_cast<I>(v));
      wanted.emplace_back(u, v, naive.value(measure, u, v));
    }
  }
  const auto given = [&] {
    if constexpr (std::same_as<Space, host>) {
      return similarity_plan<I, O, Space>(placed.ctx(), placed.view(), us, vs, {.measure = measure});
    } else {
      const auto sources = to_device(placed.ctx(), span<const I, host>(us));
      const auto targets = to_device(placed.ctx(), span<const I, host>(vs));
      return similarity_plan<I, O, Space>(placed.ctx(), placed.view(), sources.view(), targets.view(),
                                          {.measure = measure});
    }
  };
  auto pairs = given();
  const scored of_pairs = run_twice(pairs);
  expect_listed(of_pairs, wanted);
  check(of_pairs, similarity_pairs::given, {.measure = measure});

  for (const std::int64_t top : {1, 3, 1000}) {
    SCOPED_TRACE("top " + std::to_string(top));
    const similarity_options options{.measure = measure, .top = top};
    similarity_plan<I, O, Space> plan(placed.ctx(), placed.view(), options);
    const scored got = run_twice(plan);
    expect_top(naive, measure, top, got);
    check(got, similarity_pairs::top, options);
  }
}

template <class Case>
class Similarity : public test::threaded_graph_suite<Case> {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;
  using Space = typename Case::space;

  void check(std::int64_t n, const edge_vector& edges, int threads = 3) {
    SCOPED_TRACE(std::to_string(n) + " vertices, " + std::to_string(edges.size()) + " edges");
    check_raw(test::make_undirected<I, O>(n, edges), {n, edges, direction_kind::undirected}, threads);
    check_raw(test::make_directed<I, O>(n, edges, test::edges_kept::out_and_in), {n, edges, direction_kind::directed},
              threads);
  }
  void check_raw(const test::raw_graph<I, O>& raw, const naive_graph& naive, int threads) {
    SCOPED_TRACE(raw.direction == direction_kind::directed ? "directed" : "undirected");
    const test::placed_graph<I, O, Space> placed(raw, threads);
    for (const auto& row : enum_rows<similarity_measure>()) {
      if (!this->HasFatalFailure()) expect_measure<I, Space, O>(raw, placed, naive, row.value, threads);
    }
  }
};

TYPED_TEST_SUITE(Similarity, test::graph_cases);

TYPED_TEST(Similarity, SmallShapes) {
  this->check(0, {});
  this->check(1, {});
  this->check(1, {{0, 0}});
  this->check(3, {});
  this->check(2, {{0, 1}});
  this->check(2, {{1, 0}, {0, 1}, {0, 0}});
  this->check(3, {{0, 1}, {1, 2}, {2, 0}, {0, 1}});
  this->check(4, {{0, 2}, {1, 2}, {0, 3}, {1, 3}});
  this->check(70, test::star_edges(70));
  this->check(40, test::path_edges(40));
  this->check(48, test::grid_edges(6, 8));
}

// A hub that most rows contain, and rows whose lengths differ by more than a search needs.
TYPED_TEST(Similarity, HubsAndLongRows) {
  constexpr std::int64_t n = test::is_sanitized ? 150 : 300;
  edge_vector edges = test::star_edges(n);
  for (std::int64_t v = 2; v < n; v += 3) edges.emplace_back(1, v);
  for (std::int64_t v = n - 50; v < n; ++v) edges.emplace_back(v, 5);
  this->check(n, edges);
}

TYPED_TEST(Similarity, RandomGraphs) {
  for (std::uint64_t round = 0; round < this->rounds(60); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    test::random_source random(round);
    const std::int64_t n = 1 + random.below(60);
    const auto edges = test::random_edges(random, n, random.below(4 * n), static_cast<int>(round % 3));
    this->check(n, edges, static_cast<int>(1 + round % 4));
    if (this->HasFatalFailure()) return;
  }
}

template <class Run>
scored by_threads(int threads, const Run& run) {
  const context<host> ctx({.threads = threads});
  const auto result = run(ctx);
  scored all;
  for (std::int64_t k = 0; k < result.values.size(); ++k) {
    all.emplace_back(result.sources[k], result.targets[k], result.values[k]);
  }
  return all;
}

TEST(SimilarityBits, DoNotDependOnThreads) {
  detail::assume_processors(8);
  const context<host> ctx({.threads = 2});
  const auto g =
      build_graph(ctx, generate(ctx, "gen:rmat:scale=11,degree=12"), {.direction = direction_kind::undirected});
  for (const auto measure : {similarity_measure::cosine, similarity_measure::adamic_adar}) {
    for (const std::int64_t top : {0, 5}) {
      const auto run = [&](const context<host>& threads) {
        return similarity(threads, g, {.measure = measure, .top = top});
      };
      const scored alone = by_threads(1, run);
      EXPECT_GT(alone.size(), 1000U);
      for (const int threads : {2, 3, 5, 8}) EXPECT_EQ(by_threads(threads, run), alone) << threads;
    }
  }
  detail::assume_processors(0);
}

// Terms depend on in-degrees, which are counted where a directed graph has no in-edges.
TEST(SimilarityBits, DoNotDependOnInEdges) {
  const context<host> ctx({.threads = 3});
  for (std::uint64_t seed = 0; seed < test::rounds(40); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(50);
    const edge_vector edges = test::random_edges(random, n, random.below(6 * n), static_cast<int>(random.below(3)));
    const auto both = test::make_directed<std::int32_t, std::int64_t>(n, edges, test::edges_kept::out_and_in);
    const auto out = test::make_directed<std::int32_t, std::int64_t>(n, edges, test::edges_kept::out);
    for (const auto& row : enum_rows<similarity_measure>()) {
      const similarity_options options{.measure = row.value};
      const auto a = similarity(ctx, both.view(), options);
      const auto b = similarity(ctx, out.view(), options);
      ASSERT_TRUE(std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end()));
      ASSERT_TRUE(std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end())) << "seed " << seed;
    }
  }
}

void expect_same_on_a_device(const graph<std::int32_t, std::int64_t, host>& g,
                             const std::vector<similarity_measure>& measures) {
  const context<host> ctx({.threads = 2});
  const context<device> gpu;
  const auto there = to_device(gpu, g.view());
  for (const auto measure : measures) {
    for (const std::int64_t top : {0, 7}) {
      const auto a = similarity(ctx, g, {.measure = measure, .top = top});
      const auto b = similarity(gpu, there, {.measure = measure, .top = top});
      EXPECT_GT(a.values.size(), 1000);
      const auto same = [&](const auto& x, const auto& y) {
        const auto copy = to_host(gpu, y.view());
        EXPECT_TRUE(std::equal(x.begin(), x.end(), copy.begin(), copy.end())) << to_string(measure) << ", top " << top;
      };
      same(a.sources, b.sources);
      same(a.targets, b.targets);
      same(a.values, b.values);
      if (top > 0) continue;
      // The edges as pairs, which share long rows; every other one turned.
      std::vector<std::int32_t> us(a.sources.begin(), a.sources.end());
      std::vector<std::int32_t> vs(a.targets.begin(), a.targets.end());
      for (std::size_t k = 0; k < us.size(); k += 2) std::swap(us[k], vs[k]);
      const auto sources = to_device(gpu, span<const std::int32_t, host>(us));
      const auto targets = to_device(gpu, span<const std::int32_t, host>(vs));
      same(a.values, similarity(gpu, there.view(), sources.view(), targets.view(), {.measure = measure}));
    }
  }
}

// More candidates than a block keeps, and more paths than its hash table takes.
TEST(SimilarityBits, AreTheSameOnADevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 2});
  const auto entries = generate(ctx, "gen:rmat:scale=12,degree=12");
  const auto g = build_graph(ctx, entries, {.direction = direction_kind::undirected});
  std::vector<similarity_measure> all;
  for (const auto& row : enum_rows<similarity_measure>()) all.push_back(row.value);
  expect_same_on_a_device(g, all);
}

// Rows beyond a hash table, over more ids than the shared memory of a block has bits.
TEST(SimilarityBits, AreTheSameOnADeviceForLongRowsOfManyIds) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> ctx({.threads = 2});
  constexpr std::int32_t step = 699;
  constexpr std::int32_t count = 6000;
  std::vector<std::int32_t> us{0, 0, 1};
  std::vector<std::int32_t> vs{1, 2, 2};
  const auto add = [&](std::int32_t u, std::int32_t v) {
    us.push_back(u);
    vs.push_back(v);
  };
  for (std::int32_t k = 0; k < count; ++k) {
    const std::int32_t v = 3 + k * step;
    add(0, v);
    if (k % 2 == 0) add(1, v);
    if (k % 3 == 0) add(2, v);
    if (k % 5 > 0) add(v, v + step);
  }
  const std::int32_t n = 4 + count * step;
  const coo_pattern_view<std::int32_t, host> pairs{n, n, us, vs};
  const auto g = build_graph(ctx, pairs, {.direction = direction_kind::undirected});
  expect_same_on_a_device(g, {similarity_measure::jaccard, similarity_measure::adamic_adar});
}

class SimilarityRefusals : public testing::Test {
 protected:
  const context<host> ctx_{{.threads = 2}};
  const test::raw_graph<std::int32_t, std::int64_t> path_ =
      test::make_undirected<std::int32_t, std::int64_t>(4, test::path_edges(4));

  [[nodiscard]] std::string refusal(error_code code, const similarity_options& options) const {
    return message_of(code, [&] { (void)similarity(ctx_, path_.view(), options); });
  }
  [[nodiscard]] std::string refusal(const std::vector<std::int32_t>& us, const std::vector<std::int32_t>& vs,
                                    const similarity_options& options = {}) const {
    return message_of(error_code::invalid_argument, [&] { (void)similarity(ctx_, path_.view(), us, vs, options); });
  }
};

TEST_F(SimilarityRefusals, NameTheMistake) {
  EXPECT_EQ(refusal(error_code::invalid_argument, {.measure = static_cast<similarity_measure>(44)}),
            "similarity: no measure has the number 44");
  EXPECT_EQ(refusal(error_code::invalid_argument, {.top = -1}), "similarity: top is -1 (expected 0 or more)");
  EXPECT_EQ(refusal({0, 1}, {1, 4}), "similarity: pair 1 is (1, 4) (expected vertices 0 to 3)");
  EXPECT_EQ(refusal({-1}, {1}), "similarity: pair 0 is (-1, 1) (expected vertices 0 to 3)");
  EXPECT_EQ(refusal({0, 1}, {1}), "similarity: 2 sources for 1 targets");
  EXPECT_EQ(refusal({0}, {1}, {.top = 2}), "similarity: top is 2 and pairs are given");
  const auto out_only = test::make_directed<std::int32_t, std::int64_t>(4, test::path_edges(4), test::edges_kept::out);
  EXPECT_EQ(message_of(error_code::unsupported,
                       [&] { (void)similarity_plan(ctx_, out_only.view(), similarity_options{.top = 1}); }),
            "similarity: a directed graph without in-edges (add_in_edges builds them)");
  EXPECT_EQ(similarity(ctx_, out_only.view(), {.top = 1}).values.size(), 0);
}

// Each wrong result is found, and named.
TEST(SimilarityCheck, FindsWrongResults) {
  const context<host> ctx({.threads = 2});
  // Vertices 0 and 1 share 2, 3 and 4; 5 has no edge.
  const auto raw =
      test::make_undirected<std::int32_t, std::int64_t>(6, {{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}, {0, 1}});
  using ids = std::vector<std::int32_t>;
  const auto fault = [&](const ids& us, const ids& vs, const std::vector<double>& xs, similarity_pairs kind,
                         const similarity_options& options = {}) {
    return check_similarity(ctx, raw.view(), {us, vs, xs}, kind, options).fault;
  };
  EXPECT_EQ(fault({0}, {1}, {0.6}, similarity_pairs::given), "");
  EXPECT_EQ(fault({0}, {1}, {0.6000001}, similarity_pairs::given),
            "the similarity of 0 and 1 is 0.6000001 (expected 0.6)");
  EXPECT_EQ(fault({0}, {1}, {HUGE_VAL}, similarity_pairs::given), "the similarity of 0 and 1 is inf (expected 0.6)");
  EXPECT_EQ(fault({0}, {1}, {std::nan("")}, similarity_pairs::given),
            "the similarity of 0 and 1 is nan (expected 0.6)");
  EXPECT_EQ(fault({0, 0}, {5, 0}, {0, 1}, similarity_pairs::given), "");
  EXPECT_EQ(fault({0}, {6}, {0}, similarity_pairs::given), "pair 0 has end 6, which is not a vertex");
  EXPECT_EQ(fault({0}, {1}, {}, similarity_pairs::given), "1 sources, 1 targets and 0 values");
  const auto edges = similarity(ctx, raw.view(), similarity_options{});
  const ids us(edges.sources.begin(), edges.sources.end());
  const ids vs(edges.targets.begin(), edges.targets.end());
  const std::vector<double> xs(edges.values.begin(), edges.values.end());
  EXPECT_EQ(fault(us, vs, xs, similarity_pairs::edges), "");
  EXPECT_EQ(fault(vs, us, xs, similarity_pairs::edges), "pair 0 is not edge (0, 1)");
  EXPECT_EQ(fault(ids(us.begin(), us.end() - 1), ids(vs.begin(), vs.end() - 1),
                  std::vector<double>(xs.begin(), xs.end() - 1), similarity_pairs::edges),
            "pair 6 is not edge (1, 4)");

  // 2, 3 and 4 have the same neighbours, 0 and 1; so each is the most similar of the others.
  const similarity_options top{.top = 1};
  const auto best = similarity(ctx, raw.view(), top);
  const ids from(best.sources.begin(), best.sources.end());
  const ids to(best.targets.begin(), best.targets.end());
  const std::vector<double> of(best.values.begin(), best.values.end());
  ASSERT_EQ(from, (ids{0, 1, 2, 3, 4}));
  ASSERT_EQ(to, (ids{1, 0, 3, 2, 2}));
  EXPECT_EQ(fault(from, to, of, similarity_pairs::top, top), "");
  EXPECT_EQ(fault(from, {1, 0, 4, 2, 2}, of, similarity_pairs::top, top),
            "vertex 2 lacks 3, of similarity 1, in its list");
  EXPECT_EQ(fault({0, 1, 2, 3}, {1, 0, 3, 2}, {of[0], of[1], 1, 1}, similarity_pairs::top, top),
            "vertex 4 lacks 0, of similarity 0.2, in its list");
  EXPECT_EQ(fault({0, 0}, {1, 2}, {of[0], 0.25}, similarity_pairs::top, top), "vertex 0 has 2 similar vertices");
  EXPECT_EQ(fault({0, 0}, {2, 1}, {0.25, of[0]}, similarity_pairs::top, {.top = 2}),
            "vertex 0 has 2 before 1 in its list");
  EXPECT_EQ(fault({1, 0}, {0, 1}, {of[1], of[0]}, similarity_pairs::top, top),
            "vertex 0 lacks 1, of similarity 0.6, in its list");

  // Entries too many: of a pair of an edge list, of the vertex itself, of one without common neighbours, and again.
  const auto with = [](auto list, auto entry, std::ptrdiff_t at) {
    list.insert(at < 0 ? list.end() : list.begin() + at, entry);
    return list;
  };
  EXPECT_EQ(fault(with(us, 0, -1), with(vs, 1, -1), with(xs, xs[0], -1), similarity_pairs::edges),
            "8 pairs for 7 edges");
  EXPECT_EQ(fault(with(from, 5, -1), with(to, 5, -1), with(of, 1.0, -1), similarity_pairs::top, top),
            "vertex 5 is in its own list");
  for (const auto& [value, name] : {std::pair(0.0, "0"), {-0.5, "-0.5"}, {std::nan(""), "nan"}}) {
    EXPECT_EQ(fault(with(from, 5, -1), with(to, 0, -1), with(of, value, -1), similarity_pairs::top, top),
              "vertex 5 lists 0 with similarity " + std::string(name) + " (expected more than 0)");
  }
  const similarity_options more{.top = 9};
  const auto all = similarity(ctx, raw.view(), more);
  const ids all_from(all.sources.begin(), all.sources.end());
  const ids all_to(all.targets.begin(), all.targets.end());
  const std::vector<double> all_of(all.values.begin(), all.values.end());
  EXPECT_EQ(fault(all_from, all_to, all_of, similarity_pairs::top, more), "");
  EXPECT_EQ(fault(with(all_from, 0, 0), with(all_to, 1, 0), with(all_of, 0.6, 0), similarity_pairs::top, more),
            "vertex 0 has 1 before 1 in its list");
  EXPECT_EQ(fault(with(all_from, 0, 0), with(all_to, 1, 0), with(all_of, 0.9, 0), similarity_pairs::top, more),
            "vertex 0 lists 1 twice");
}

}  // namespace
}  // namespace spargo
