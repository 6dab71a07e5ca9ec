// What holds for every greedy algorithm in an order, registered for one algorithm by a class in its own test:
//   struct coloring_problem {
//     static constexpr const char* name = "Coloring";
//     using options = coloring_options;
//     static constexpr greedy_order usual = greedy_order::largest_first;  // what `automatic` stands for
//     static std::vector<std::int64_t> naive(const adjacency& neighbours, const std::vector<std::int64_t>& order);
//     static std::int64_t naive_count(const std::vector<std::int64_t>& values);
//     static auto plan(const auto& ctx, const auto& g, const options& o);
//     static auto values(const auto& plan);  // one per vertex
//     static std::int64_t count(const auto& plan);
//     static std::string check(const context<host>& ctx, const auto& g, const auto& values, std::int64_t count);
//     static std::int64_t bound(const context<host>& ctx, const auto& g, const options& o);  // of count; optional
//   };
//   const greedy_suite<coloring_problem> in_every_order;
// Equal to the sequential algorithm on small random graphs and on shapes that hurt, for every order, type and backend;
// the same bits for any number of threads, and on a device.
#pragma once

#include "graph/graph_suite.hpp"
#include "graph/greedy_support.hpp"
#include "graph/plan_suite.hpp"

#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace spargo::test {

// Every order, twice, and the check.
template <class Problem, class Space, class I, class O>
void expect_greedy(const raw_graph<I, O>& raw, const edge_vector& edges, int threads = 3) {
  const placed_graph<I, O, Space> placed(raw, threads);
  const auto g = placed.view();
  const adjacency neighbours = both_ways(raw.vertices, edges);
  for (const auto& options : every_order<typename Problem::options>()) {
    SCOPED_TRACE(text_of(options) + ", " + std::to_string(raw.vertices) + " vertices, " + std::to_string(edges.size()) +
                 " edges, " + std::to_string(threads) + " threads");
    const auto expected = Problem::naive(neighbours, naive_order(neighbours, options, Problem::usual));
    auto plan = Problem::plan(placed.ctx(), g, options);
    for (int run = 0; run < 2; ++run) {
      plan.run();
      ASSERT_EQ(wide(placed.fetch(Problem::values(plan))), expected);
      ASSERT_EQ(Problem::count(plan), Problem::naive_count(expected));
    }
    const context<host> ctx({.threads = threads});
    ASSERT_EQ(Problem::check(ctx, raw.view(), placed.fetch(Problem::values(plan)), Problem::count(plan)), "");
    if constexpr (requires { Problem::bound(ctx, raw.view(), options); }) {
      ASSERT_LE(Problem::count(plan), Problem::bound(ctx, raw.view(), options));
    }
  }
}

template <class Problem, class Case>
class greedy_test : public threaded_graph_suite<Case> {
 public:
  using body = void (greedy_test::*)();
  explicit greedy_test(body does) : does_(does) {}

  void small_shapes() {
    check(0, {});
    check(1, {});
    check(1, {{0, 0}, {0, 0}});
    check(5, {});
    check(2, {{1, 0}, {0, 1}, {1, 0}});
    check(3, {{2, 2}, {2, 1}, {1, 2}, {2, 1}, {1, 1}});
    check(33, star_edges(33));
    check(33, path_edges(33));
    check(64, grid_edges(8, 8));
    for (const std::int64_t size : {2, 31, 32, 33, 63, 64, 65, 66}) check(size + 1, clique_edges(1, size));
  }
  void random_graphs() {
    for (std::uint64_t seed = 0; seed < this->rounds(500); ++seed) {
      random_source random(seed);
      const std::int64_t n = 1 + random.below(40);
      const std::int64_t most = seed % 4 == 0 ? 20 * n : 4 * n;
      check(n, random_edges(random, n, random.below(most + 1), static_cast<int>(random.below(3))));
      if (this->HasFatalFailure()) FAIL() << "seed " << seed;
    }
  }
  // A hub, and sizes around those of words, warps and blocks.
  void sizes_around_batches() {
    for (const std::int64_t n : {31, 32, 33, 255, 256, 257, 1025, 3000}) {
      random_source random(static_cast<std::uint64_t>(n));
      edge_vector edges = random_edges(random, n, 4 * n, 1);
      for (std::int64_t v = 1; v < n; ++v) edges.emplace_back(0, v);
      check(n, edges);
      if (this->HasFatalFailure()) FAIL() << n;
    }
    // Few neighbours on average, and rows of every kind.
    edge_vector edges = path_edges(3000);
    for (const auto& [hub, size] : {std::pair{0, 2500}, std::pair{1500, 200}, std::pair{2999, 64}}) {
      for (int k = 0; k < size; ++k) edges.emplace_back(hub, (hub + 7 * k) % 3000);
    }
    check(3000, edges);
  }

 protected:
  void TestBody() override { (this->*does_)(); }

 private:
  static void check(std::int64_t n, const edge_vector& edges) {
    using I = typename Case::index;
    using O = typename Case::offset;
    using Space = typename Case::space;
    expect_greedy<Problem, Space>(make_undirected<I, O>(n, edges), edges);
    expect_greedy<Problem, Space>(make_directed<I, O>(n, edges, edges_kept::out_and_in), edges);
  }

  body does_;
};

template <class Problem>
class greedy_suite {
 public:
  explicit greedy_suite(std::source_location at = std::source_location::current()) : at_(at) {
    add_types(graph_cases());
  }

 private:
  template <class... Case>
  void add_types(testing::Types<Case...>) const {
    int number = 0;
    (add_type<Case>(std::string(Problem::name) + "/" + std::to_string(number++)), ...);
    add(std::string(Problem::name) + "Host", "BitsDoNotDependOnThreads",
        [] { return new called_test(bits_do_not_depend_on_threads, false); });
    add(std::string(Problem::name) + "Device", "AgreesWithTheHost",
        [] { return new called_test(device_agrees_with_the_host, true); });
  }
  template <class Case>
  void add_type(const std::string& suite) const {
    using test = greedy_test<Problem, Case>;
    add(suite, "SmallShapes", [] { return new test(&test::small_shapes); });
    add(suite, "RandomGraphs", [] { return new test(&test::random_graphs); });
    add(suite, "SizesAroundBatches", [] { return new test(&test::sizes_around_batches); });
  }
  template <class Factory>
  void add(const std::string& suite, const char* test, Factory make) const {
    testing::RegisterTest(suite.c_str(), test, nullptr, nullptr, at_.file_name(), static_cast<int>(at_.line()), make);
  }

  static void bits_do_not_depend_on_threads() {
    const context<host> ctx({.threads = 2});
    const context<host> one({.threads = 1});
    detail::assume_processors(8);
    for (const char* spec : {"gen:rmat:scale=13,degree=16", "gen:grid2d:n=150", "gen:rmat:scale=10,degree=100"}) {
      SCOPED_TRACE(spec);
      const auto g =
          build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction_kind::undirected});
      for (const auto& options : every_order<typename Problem::options>()) {
        auto expected = Problem::plan(one, g.view(), options);
        expected.run();
        const auto values = Problem::values(expected);
        EXPECT_EQ(Problem::check(ctx, g.view(), values, Problem::count(expected)), "");
        for (int threads = 2; threads <= 8; ++threads) {
          const context<host> several({.threads = threads});
          auto found = Problem::plan(several, g.view(), options);
          found.run();
          ASSERT_EQ(wide(Problem::values(found)), wide(values)) << threads << " threads";
        }
      }
    }
    detail::assume_processors(0);
  }

  static void device_agrees_with_the_host() {
    const context<host> ctx({.threads = 4});
    const context<device> gpu;
    for (const char* spec : {"gen:rmat:scale=16,degree=16", "gen:rmat:scale=12,degree=300",
                             "gen:uniform:rows=100000,degree=12", "gen:grid2d:n=700"}) {
      for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
        SCOPED_TRACE(spec);
        const auto g =
            build_graph(ctx, generate<double, std::int32_t>(ctx, spec), {.direction = direction, .in_edges = true});
        const auto on_device = to_device(gpu, g.view());
        for (const auto& options : every_order<typename Problem::options>()) {
          SCOPED_TRACE(text_of(options));
          auto expected = Problem::plan(ctx, g.view(), options);
          expected.run();
          auto plan = Problem::plan(gpu, on_device.view(), options);
          for (int run = 0; run < 3; ++run) {
            plan.run();
            ASSERT_EQ(wide(to_host(gpu, Problem::values(plan))), wide(Problem::values(expected)));
            ASSERT_EQ(Problem::count(plan), Problem::count(expected));
          }
        }
      }
    }
  }

  std::source_location at_;
};

}  // namespace spargo::test
