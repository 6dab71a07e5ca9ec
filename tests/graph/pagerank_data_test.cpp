// PageRank of real graphs against networkx (truth.json), and LDBC Graphalytics' examples against their reference.
#include <spargo/formats/convert.hpp>
#include <spargo/graph/pagerank.hpp>

#include "graph/known_graphs.hpp"
#include "support/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>

namespace spargo {
namespace {

using graph_type = graph<std::int32_t, std::int64_t, host>;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

// The truth files keep self-loops, which the builder drops.
graph_type with_loops(const coo_pattern_view<std::int32_t, host>& pairs) {
  auto out = to_csr<std::int64_t>(cpu(), coo_view<const pattern, std::int32_t, host>{pairs, {}});
  auto in = transpose(cpu(), out);
  return {std::move(out), std::move(in), direction_kind::directed};
}

std::vector<double> ranks_on(host, const graph_type& g, const pagerank_options& options) {
  const auto result = pagerank<double>(cpu(), g, options);
  return {result.ranks.begin(), result.ranks.end()};
}
std::vector<double> ranks_on(device, const graph_type& g, const pagerank_options& options) {
  const context<device> ctx;
  const auto on_device = to_device(ctx, g.view());
  const auto ranks = to_host(ctx, pagerank<double>(ctx, on_device, options).ranks);
  return {ranks.begin(), ranks.end()};
}

template <class Space>
class PageRankData : public testing::Test {
 protected:
  void SetUp() override {
    SPARGO_TEST_NEEDS_DATA();
    if constexpr (std::same_as<Space, device>) SPARGO_TEST_NEEDS_GPU();
  }
};
using spaces = testing::Types<host, device>;
TYPED_TEST_SUITE(PageRankData, spaces);

void expect_truth(const nlohmann::json& truth, const std::vector<double>& ranks) {
  EXPECT_NEAR(std::accumulate(ranks.begin(), ranks.end(), 0.0), truth["sum"].get<double>(), 1e-9);
  for (const auto& entry : truth["top5"]) {
    EXPECT_NEAR(ranks[entry[0].get<std::size_t>()], entry[1].get<double>(), 1e-8 * entry[1].get<double>())
        << "vertex " << entry[0];
  }
  EXPECT_NEAR(*std::min_element(ranks.begin(), ranks.end()), truth["min"].get<double>(),
              1e-8 * truth["min"].get<double>());
}

TYPED_TEST(PageRankData, MatricesAgreeWithNetworkx) {
  std::ifstream file(test::data_directory() / "truth.json");
  const auto truth = nlohmann::json::parse(file);
  int graphs = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (test::is_left_out(name)) continue;
    if (!facts.contains("graph") || !facts["graph"].contains("pagerank_directed")) continue;
    SCOPED_TRACE(name);
    const auto matrix = read_matrix_market<pattern, std::int32_t>(cpu(), (test::data_directory() / name).string());
    const graph_type g = with_loops(matrix.view());
    const auto options = [](pagerank_algorithm algorithm) {
      return pagerank_options{.algorithm = algorithm, .tolerance = 1e-13, .dangling = pagerank_dangling::uniform};
    };
    expect_truth(facts["graph"]["pagerank_directed"], ranks_on(TypeParam{}, g, options(pagerank_algorithm::jacobi)));
    expect_truth(facts["graph"]["pagerank_directed"], ranks_on(TypeParam{}, g, options(pagerank_algorithm::automatic)));
    ++graphs;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(graphs, test::used_inputs(20));
}

// Lines of `id rank`.
std::map<std::int64_t, double> read_ranks(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::map<std::int64_t, double> ranks;
  std::int64_t id = 0;
  for (double rank = 0; file >> id >> rank;) ranks[id] = rank;
  return ranks;
}

TYPED_TEST(PageRankData, LdbcExamples) {
  const auto folder = test::data_directory() / "ldbc";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real inputs: " << folder;
  for (const std::string name : {"example-directed", "example-undirected", "test-pr-directed", "test-pr-undirected"}) {
    SCOPED_TRACE(name);
    const auto list = test::read_known_graph<pattern>((folder / (name + ".e")).string());
    const auto expected = read_ranks(folder / (name + "-PR"));
    ASSERT_EQ(expected.size(), list.ids.size());
    const bool undirected = name.ends_with("undirected");
    const graph_type g = build_graph(
        cpu(), list.edges,
        {.direction = undirected ? direction_kind::undirected : direction_kind::directed, .in_edges = true});
    const pagerank_options options{
        .iterations = test::ldbc_property(folder / (name + ".properties"), "pr.num-iterations"),
        .dangling = pagerank_dangling::uniform};
    ASSERT_GT(options.iterations, 0);
    // References named test* match their number of iterations only to LDBC's tolerance.
    const double tolerance = name.starts_with("test") ? 1e-4 : 1e-9;
    const auto ranks = ranks_on(TypeParam{}, g, options);
    for (std::size_t v = 0; v < list.ids.size(); ++v) {
      EXPECT_NEAR(ranks[v], expected.at(list.ids[v]), tolerance * expected.at(list.ids[v])) << "vertex " << list.ids[v];
    }
  }
}

}  // namespace
}  // namespace spargo
