// Shortest paths on real graphs against networkx (truth_more.json); LDBC Graphalytics' examples.
#include <spargo/graph/sssp.hpp>

#include "graph/known_graphs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace spargo {
namespace {

using graph_type = weighted_graph<double, std::int32_t, std::int64_t, host>;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

// A graph and its vertices' ids.
struct named_graph {
  graph_type g;
  std::vector<std::int64_t> ids;

  [[nodiscard]] std::int64_t vertex(std::int64_t id) const {
    return std::lower_bound(ids.begin(), ids.end(), id) - ids.begin();
  }
};

named_graph build(const test::known_graph<double>& known, direction_kind direction) {
  named_graph named{build_weighted_graph(cpu(), known.edges, {.direction = direction}), {}};
  for (std::int64_t v = 0; v < named.g.vertices(); ++v) named.ids.push_back(known.id(v));
  return named;
}

void expect_truth(const nlohmann::json& truth, const named_graph& named) {
  const auto source = named.vertex(truth["source"].get<std::int64_t>());
  for (const auto algorithm : {sssp_algorithm::dijkstra, sssp_algorithm::delta_stepping}) {
    const auto found = sssp(cpu(), named.g, source, {.algorithm = algorithm});
    EXPECT_EQ(found.reached, truth["reached"].get<std::int64_t>());
    double sum = 0;
    double most = 0;
    for (const double d : found.distances) {
      if (d == sssp_unreached<double>) continue;
      sum += d;
      most = std::max(most, d);
    }
    EXPECT_NEAR(sum, truth["sum"].get<double>(), 1e-9 * sum);
    EXPECT_NEAR(most, truth["max"].get<double>(), 1e-9 * most);
    for (const auto& entry : truth["first5"]) {
      const double d = entry[1].get<double>();
      EXPECT_NEAR(found.distances[named.vertex(entry[0].get<std::int64_t>())], d, 1e-9 * d) << "vertex " << entry[0];
    }
    EXPECT_EQ(check_sssp(cpu(), named.g, source, found.distances, found.parents), "");
  }
}

TEST(SsspData, AgreesWithNetworkx) {
  int searches = 0;
  test::for_each_truth<double>("sssp", [&](const auto& known, const nlohmann::json& truth) {
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const named_graph named = build(known, direction);
      const std::string wanted = direction == direction_kind::directed ? "directed_from" : "undirected_from";
      for (const auto& [key, paths] : truth.items()) {
        if (!key.starts_with(wanted)) continue;
        SCOPED_TRACE(key);
        expect_truth(paths, named);
        ++searches;
      }
    }
  });
  EXPECT_TRUE(testing::Test::IsSkipped() || searches > test::used_inputs(100)) << searches;
}

TEST(SsspData, LdbcExamples) {
  SPARGO_TEST_NEEDS_DATA();
  const auto folder = test::data_directory() / "ldbc";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real inputs: " << folder;
  for (const std::string name :
       {"example-directed", "example-undirected", "test-sssp-directed", "test-sssp-undirected"}) {
    SCOPED_TRACE(name);
    const bool undirected = name.ends_with("undirected");
    const named_graph named = build(test::read_known_graph<double>((folder / (name + ".e")).string()),
                                    undirected ? direction_kind::undirected : direction_kind::directed);
    const std::int64_t source = test::ldbc_property(folder / (name + ".properties"), "sssp.source-vertex");
    const auto found = sssp(cpu(), named.g, named.vertex(source));
    std::ifstream reference(folder / (name + "-SSSP"));
    std::size_t compared = 0;
    std::string length;
    for (std::int64_t id = 0; reference >> id >> length;) {
      const double expected = length == "infinity" ? sssp_unreached<double> : std::stod(length);
      const auto v = static_cast<std::size_t>(named.vertex(id));
      if (v == named.ids.size() || named.ids[v] != id) {  // without edges, hence not in the list
        EXPECT_EQ(expected, sssp_unreached<double>) << "vertex " << id;
      } else if (expected == sssp_unreached<double>) {
        EXPECT_EQ(found.distances[static_cast<std::int64_t>(v)], expected) << "vertex " << id;
      } else {
        EXPECT_NEAR(found.distances[static_cast<std::int64_t>(v)], expected, 1e-12 * expected) << "vertex " << id;
      }
      ++compared;
    }
    EXPECT_GE(compared, named.ids.size());
    EXPECT_GT(compared, 5U);
  }
}

}  // namespace
}  // namespace spargo
