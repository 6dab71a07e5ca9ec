// Betweenness of real graphs against networkx and igraph (truth_more.json).
#include <spargo/graph/betweenness.hpp>

#include "graph/betweenness_support.hpp"
#include "graph/known_graphs.hpp"

#include <gtest/gtest.h>

#include <map>

namespace spargo {
namespace {

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

void expect_values(const nlohmann::json& truth, const test::known_graph<pattern>& known,
                   span<const double, host> values) {
  std::map<std::int64_t, double> by_id;
  double sum = 0;
  double squares = 0;
  for (std::int64_t v = 0; v < values.size(); ++v) {
    by_id[known.id(v)] = values[v];
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
  int graphs = 0;
  test::for_each_truth<pattern>("betweenness", [&](const auto& known, const nlohmann::json& truth) {
    std::vector<std::int32_t> sources;
    if (truth["sources"].is_array()) {
      for (std::int32_t v = 0; v < known.edges.rows(); ++v) {
        for (const auto& s : truth["sources"]) {
          if (s.get<std::int64_t>() == known.id(v)) sources.push_back(v);
        }
      }
      ASSERT_EQ(sources.size(), truth["sources"].size());
    }
    for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
      const char* const key = direction == direction_kind::directed ? "directed" : "undirected";
      if (!truth.contains(key)) continue;
      SCOPED_TRACE(key);
      const auto g = build_graph(cpu(), known.edges, {.direction = direction});
      // All sources of the larger graphs take seconds each.
      if (sources.empty() && double(g.vertices()) * double(g.view().out.nnz()) > 2e8) continue;
      expect_values(truth[key], known, betweenness(cpu(), g, test::all_if_none(sources)).values);
      ++graphs;
    }
  });
  EXPECT_TRUE(testing::Test::IsSkipped() || graphs > test::used_inputs(50)) << graphs;
}

}  // namespace
}  // namespace spargo
