// Weights from files to graphs and back: METIS and DIMACS as integers, snapshots with weights, non-integers.
#include <spargo/graph/weighted_graph.hpp>
#include <spargo/io/dimacs.hpp>
#include <spargo/io/metis.hpp>
#include <spargo/io/snapshot.hpp>

#include "graph/graph_support.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

namespace spargo {
namespace {

const context<host>& cpu() {
  static const context<host> ctx({.threads = 3});
  return ctx;
}

class WeightedInput : public testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& path : made_) std::remove(path.c_str());
  }
  std::string path_of(const std::string& name) {
    made_.push_back(std::filesystem::temp_directory_path() / ("spargo-" + std::to_string(::getpid()) + "-" + name));
    return made_.back();
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = path_of(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::vector<std::string> made_;
};

// [from, to] of stored out-edges.
template <class W, class I, class O>
std::map<std::pair<std::int64_t, std::int64_t>, W> weights_of(const weighted_graph_view<W, I, O, host>& g) {
  std::map<std::pair<std::int64_t, std::int64_t>, W> weights;
  for (std::int64_t v = 0; v < g.vertices(); ++v) {
    for (O e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) weights[{v, g.out.indices[e]}] = g.out_weights[e];
  }
  return weights;
}

TEST_F(WeightedInput, MetisWeightsAreIntegers) {
  const auto read = read_metis<std::int32_t>(cpu(), write("g.graph", "3 2 001\n2 5 3 70000\n1 5\n1 70000\n"));
  ASSERT_TRUE(read.weighted);
  const auto weights = integer_weights<std::int32_t>(cpu(), read.triangle.values());
  const coo_view<const double, std::int32_t, host> triangle = read.triangle;
  const auto g = build_weighted_graph<std::int32_t>(cpu(), coo_pattern_view<std::int32_t, host>(triangle), weights,
                                                    {.direction = direction_kind::undirected});
  const std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> expected = {
      {{0, 1}, 5}, {{1, 0}, 5}, {{0, 2}, 70000}, {{2, 0}, 70000}};
  EXPECT_EQ(weights_of(g.view()), expected);
}

// Of duplicate arcs the lightest is kept.
TEST_F(WeightedInput, DimacsWeightsAreIntegers) {
  const auto read =
      read_dimacs<std::int32_t>(cpu(), write("g.gr", "c x\np sp 3 4\na 1 2 7\na 2 1 9\na 1 2 4\na 3 3 1\n"));
  const coo_view<const double, std::int32_t, host> arcs = read.entries;
  const auto g = build_weighted_graph(cpu(), coo_pattern_view<std::int32_t, host>(arcs),
                                      integer_weights<std::int64_t>(cpu(), read.entries.values()));
  const std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> expected = {{{0, 1}, 4}, {{1, 0}, 9}};
  EXPECT_EQ(weights_of(g.view()), expected);
}

template <class W, class O>
void check_round_trip(const std::string& path, direction_kind direction) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(30);
    std::vector<std::int32_t> from, to;
    std::vector<W> weights;
    for (const auto& [u, v] : test::random_edges(random, n, random.below(4 * n), 1)) {
      from.push_back(static_cast<std::int32_t>(u));
      to.push_back(static_cast<std::int32_t>(v));
      weights.push_back(static_cast<W>(random.below(100)) / 8);
    }
    const weighted_graph_options options{.direction = direction, .in_edges = true, .loops = self_loops::keep};
    const auto size = static_cast<std::int32_t>(n);
    const auto g =
        build_weighted_graph<O>(cpu(), coo_pattern_view<std::int32_t, host>{size, size, from, to}, weights, options);
    write_snapshot(cpu(), path, matrix_of(g.view()), {.directed = direction == direction_kind::directed});
    const snapshot stored(cpu(), path);
    EXPECT_EQ(stored.header().directed, direction == direction_kind::directed);
    const auto again = build_weighted_graph<O>(cpu(), stored.matrix<W, std::int32_t, O>(), options);
    EXPECT_EQ(weights_of(again.view()), weights_of(g.view())) << "seed " << seed;
    EXPECT_EQ(again.edges(), g.edges()) << "seed " << seed;
    EXPECT_EQ(test::copy_of(again.view().in_weights), test::copy_of(g.view().in_weights)) << "seed " << seed;
  }
}

TEST_F(WeightedInput, SnapshotsKeepAGraphsWeights) {
  const std::string path = path_of("g.spg");
  try {
    check_snapshots(path);
  } catch (const error& e) {
    GTEST_SKIP() << e.what();
  }
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    check_round_trip<double, std::int32_t>(path, direction);
    check_round_trip<float, std::int64_t>(path, direction);
  }
}

}  // namespace
}  // namespace spargo
