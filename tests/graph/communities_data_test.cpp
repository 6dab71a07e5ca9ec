// Label propagation on real graphs against networkx (truth_more.json); LDBC Graphalytics' examples.
#include <spargo/graph/communities.hpp>

#include "graph/known_graphs.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <numeric>
#include <set>

namespace spargo {
namespace {

using known_graph = test::known_graph<pattern>;

const context<host>& cpu() {
  static const context<host> ctx({.threads = 2});
  return ctx;
}

// [vertex] id of its label.
std::vector<std::int64_t> label_ids(const known_graph& known, direction_kind direction, std::int64_t rounds) {
  const auto g = build_graph(cpu(), known.edges, {.direction = direction, .in_edges = true});
  const communities_options options{.iterations = rounds};
  const auto found = communities(cpu(), g, options);
  EXPECT_EQ(check_communities(cpu(), g, found.labels, options), "");
  std::vector<std::int64_t> labels;
  for (const std::int32_t label : found.labels) labels.push_back(known.id(label));
  EXPECT_EQ(std::set<std::int64_t>(labels.begin(), labels.end()).size(), static_cast<std::size_t>(found.count));
  return labels;
}

// Ids without edges are vertices in the truth files, each with its own label.
void expect_truth(const known_graph& known, const nlohmann::json& truth) {
  const std::vector<std::int64_t>& ids = known.ids;
  const std::int64_t last = ids.empty() ? 0 : ids.back();
  const std::int64_t absent_sum = last * (last + 1) / 2 - std::accumulate(ids.begin(), ids.end(), std::int64_t{0});
  for (const auto direction : {direction_kind::directed, direction_kind::undirected}) {
    const auto& expected = truth[direction == direction_kind::directed ? "directed" : "undirected"];
    const auto labels = label_ids(known, direction, 10);
    const std::set<std::int64_t> different(labels.begin(), labels.end());
    EXPECT_EQ(static_cast<std::int64_t>(different.size()) + known.absent(), expected["labels"].get<std::int64_t>());
    EXPECT_EQ(std::accumulate(labels.begin(), labels.end(), absent_sum), expected["sum"].get<std::int64_t>());
  }
}

TEST(CommunitiesData, AgreesWithTheTruth) { test::for_each_truth<pattern>("cdlp", expect_truth); }

// Lines of `id label`.
std::map<std::int64_t, std::int64_t> read_labels(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::map<std::int64_t, std::int64_t> labels;
  for (std::int64_t id = 0, label = 0; file >> id >> label;) labels[id] = label;
  return labels;
}

TEST(CommunitiesData, LdbcExamples) {
  SPARGO_TEST_NEEDS_DATA();
  const auto folder = test::data_directory() / "ldbc";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real inputs: " << folder;
  for (const std::string name :
       {"example-directed", "example-undirected", "test-cdlp-directed", "test-cdlp-undirected"}) {
    SCOPED_TRACE(name);
    const known_graph list = test::read_known_graph<pattern>((folder / (name + ".e")).string());
    const auto expected = read_labels(folder / (name + "-CDLP"));
    const std::int64_t rounds = test::ldbc_property(folder / (name + ".properties"), "cdlp.max-iterations");
    ASSERT_GT(rounds, 0);
    ASSERT_GE(expected.size(), list.ids.size());
    const auto direction = name.ends_with("undirected") ? direction_kind::undirected : direction_kind::directed;
    const auto labels = label_ids(list, direction, rounds);
    auto found = expected;
    for (auto& [id, label] : found) label = id;  // vertices without edges
    for (std::size_t v = 0; v < labels.size(); ++v) found[list.ids[v]] = labels[v];
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace spargo
