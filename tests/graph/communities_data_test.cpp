// Label propagation on real graphs against networkx (truth_more.json); LDBC Graphalytics' examples.
#include <spargo/graph/communities.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include "support/data.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <numeric>
#include <set>

namespace spargo {
namespace {

using pairs_view = coo_pattern_view<std::int32_t, host>;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

// [vertex] id of its label.
std::vector<std::int64_t> label_ids(const pairs_view& pairs, const std::vector<std::int64_t>& ids,
                                    direction_kind direction, std::int64_t rounds) {
  const auto g = build_graph(cpu(), pairs, {.direction = direction, .in_edges = true});
  const communities_options options{.iterations = rounds};
  const auto found = communities(cpu(), g, options);
  EXPECT_EQ(check_communities(cpu(), g, found.labels, options), "");
  std::vector<std::int64_t> labels;
  for (const std::int32_t label : found.labels) {
    labels.push_back(ids.empty() ? label : ids[static_cast<std::size_t>(label)]);
  }
  EXPECT_EQ(std::set<std::int64_t>(labels.begin(), labels.end()).size(), static_cast<std::size_t>(found.count));
  return labels;
}

// Ids without edges are vertices in the truth files, each with its own label.
void expect_truth(const nlohmann::json& truth, const pairs_view& pairs, const std::vector<std::int64_t>& ids) {
  std::int64_t absent = 0;
  std::int64_t absent_sum = 0;
  if (!ids.empty()) {
    const std::int64_t last = ids.back();
    absent = last + 1 - static_cast<std::int64_t>(ids.size());
    absent_sum = last * (last + 1) / 2 - std::accumulate(ids.begin(), ids.end(), std::int64_t{0});
  }
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    const auto& expected = truth[direction == direction_kind::directed ? "directed" : "undirected"];
    const auto labels = label_ids(pairs, ids, direction, 10);
    const std::set<std::int64_t> different(labels.begin(), labels.end());
    EXPECT_EQ(static_cast<std::int64_t>(different.size()) + absent, expected["labels"].get<std::int64_t>());
    EXPECT_EQ(std::accumulate(labels.begin(), labels.end(), absent_sum), expected["sum"].get<std::int64_t>());
  }
}

TEST(CommunitiesData, AgreesWithTheTruth) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(test::data_directory() / "truth_more.json");
  const auto truth = nlohmann::json::parse(file);
  int graphs = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (test::is_left_out(name)) continue;
    if (!facts.contains("cdlp")) continue;
    SCOPED_TRACE(name);
    const std::string path = (test::data_directory() / name).string();
    if (name.find(".mtx") != std::string::npos) {
      const auto matrix = read_matrix_market<pattern, std::int32_t>(cpu(), path);
      expect_truth(facts["cdlp"], matrix.view(), {});
    } else {
      const auto list = read_edge_list<std::int32_t>(cpu(), path);
      expect_truth(facts["cdlp"], list.edges.view(), list.ids);
    }
    ++graphs;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(graphs, test::used_inputs(40));
}

// Lines of `id label`.
std::map<std::int64_t, std::int64_t> read_labels(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::map<std::int64_t, std::int64_t> labels;
  for (std::int64_t id = 0, label = 0; file >> id >> label;) labels[id] = label;
  return labels;
}

// The number after `key = ` in a properties file.
std::int64_t property(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (const auto at = line.find(key + " = "); at != std::string::npos)
      return std::stoll(line.substr(at + key.size() + 3));
  }
  return -1;
}

TEST(CommunitiesData, LdbcExamples) {
  SPARGO_TEST_NEEDS_DATA();
  const auto folder = test::data_directory() / "ldbc";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real inputs: " << folder;
  for (const std::string name :
       {"example-directed", "example-undirected", "test-cdlp-directed", "test-cdlp-undirected"}) {
    SCOPED_TRACE(name);
    const auto list = read_edge_list<std::int32_t>(cpu(), (folder / (name + ".e")).string());
    const auto expected = read_labels(folder / (name + "-CDLP"));
    const std::int64_t rounds = property(folder / (name + ".properties"), "cdlp.max-iterations");
    ASSERT_GT(rounds, 0);
    ASSERT_GE(expected.size(), list.ids.size());
    const auto direction = name.ends_with("undirected") ? direction_kind::undirected : direction_kind::directed;
    const auto labels = label_ids(list.edges.view(), list.ids, direction, rounds);
    auto found = expected;
    for (auto& [id, label] : found) label = id;  // vertices without edges
    for (std::size_t v = 0; v < labels.size(); ++v) found[list.ids[v]] = labels[v];
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace spargo
