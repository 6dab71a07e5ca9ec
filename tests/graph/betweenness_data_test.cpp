// Betweenness of real graphs against networkx and igraph (truth_more.json).
#include <spargo/formats/convert.hpp>
#include <spargo/graph/betweenness.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include "graph/betweenness_support.hpp"
#include "support/data.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace spargo {
namespace {

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

// A file's edges, and the file's id of each vertex.
struct listed_graph {
  coo_matrix<pattern, std::int32_t, host> edges;
  std::vector<std::int64_t> ids;
};

listed_graph read(const std::string& name) {
  const std::string path = (test::data_directory() / name).string();
  listed_graph listed;
  if (name.find(".mtx") != std::string::npos) {
    listed.edges = read_matrix_market<pattern, std::int32_t>(cpu(), path);
    for (std::int64_t v = 0; v < listed.edges.rows(); ++v) listed.ids.push_back(v);
  } else {
    auto list = read_edge_list<std::int32_t>(cpu(), path);
    const coo_view<const double, std::int32_t, host> entries = list.edges;
    const coo_pattern_view<std::int32_t, host>& pairs = entries;
    listed.edges = {pairs.rows, pairs.cols, clone(cpu(), pairs.row_indices), clone(cpu(), pairs.col_indices), {}};
    listed.ids = {list.ids.begin(), list.ids.end()};
  }
  return listed;
}

void expect_truth(const nlohmann::json& truth, const std::vector<std::int64_t>& ids, span<const double, host> values) {
  std::map<std::int64_t, double> by_id;
  double sum = 0;
  double squares = 0;
  for (std::int64_t v = 0; v < values.size(); ++v) {
    by_id[ids[static_cast<std::size_t>(v)]] = values[v];
    sum += values[v];
    squares += values[v] * values[v];
  }
  EXPECT_NEAR(sum, truth["sum"].get<double>(), 1e-9 * truth["sum"].get<double>());
  EXPECT_NEAR(squares, truth["sum_sq"].get<double>(), 1e-9 * truth["sum_sq"].get<double>());
  for (const auto& entry : truth["top5"]) {
    EXPECT_NEAR(by_id[entry[0].get<std::int64_t>()], entry[1].get<double>(), 1e-9 * entry[1].get<double>())
        << "vertex " << entry[0];
  }
}

TEST(BetweennessData, FilesAgreeWithNetworkxAndIgraph) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(test::data_directory() / "truth_more.json");
  const auto truth = nlohmann::json::parse(file)["files"];
  int graphs = 0;
  for (const auto& [name, facts] : truth.items()) {
    if (test::is_left_out(name)) continue;
    if (!facts.contains("betweenness")) continue;
    const auto& expected = facts["betweenness"];
    const listed_graph listed = read(name);
    std::vector<std::int32_t> sources;
    if (expected["sources"].is_array()) {
      for (std::int64_t v = 0; v < listed.edges.rows(); ++v) {
        for (const auto& s : expected["sources"]) {
          if (s.get<std::int64_t>() == listed.ids[static_cast<std::size_t>(v)]) {
            sources.push_back(static_cast<std::int32_t>(v));
          }
        }
      }
      ASSERT_EQ(sources.size(), expected["sources"].size());
    }
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const char* const key = direction == direction_kind::directed ? "directed" : "undirected";
      if (!expected.contains(key)) continue;
      SCOPED_TRACE(name + ", " + key);
      const auto g = build_graph(cpu(), listed.edges, {.direction = direction});
      // All sources of the larger graphs take seconds each.
      if (sources.empty() && double(g.vertices()) * double(g.view().out.nnz()) > 2e8) continue;
      expect_truth(expected[key], listed.ids, betweenness(cpu(), g, test::all_if_none(sources)).values);
      ++graphs;
    }
  }
  EXPECT_GT(graphs, test::used_inputs(50));
}

}  // namespace
}  // namespace spargo
