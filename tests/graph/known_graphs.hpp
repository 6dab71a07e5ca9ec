// Graphs of the data folder, and what truth_more.json says of them.
#pragma once

#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include "support/data.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace spargo::test {

// V: `pattern`, or double: the weights, 1 where the file has none.
template <class V>
struct known_graph {
  coo_matrix<V, std::int32_t, host> edges;
  std::vector<std::int64_t> ids;  // of the vertices of an edge list, ascending; of a matrix: none

  [[nodiscard]] std::int64_t id(std::int64_t v) const { return ids.empty() ? v : ids[static_cast<std::size_t>(v)]; }
  // Ids without edges are no vertices of an edge list, but they are of the truths'.
  [[nodiscard]] std::int64_t absent() const {
    return ids.empty() ? 0 : ids.back() + 1 - static_cast<std::int64_t>(ids.size());
  }
};

template <class V>
[[nodiscard]] known_graph<V> read_known_graph(const std::string& path) {
  const context<host> ctx({.threads = 2});
  if (path.find(".mtx") != std::string::npos) return {read_matrix_market<V, std::int32_t>(ctx, path), {}};
  auto list = read_edge_list<std::int32_t>(ctx, path);
  if constexpr (std::same_as<V, pattern>) {
    auto& all = list.edges;
    return {{all.rows(), all.cols(), std::move(all.row_indices()), std::move(all.col_indices()), {}}, list.ids};
  } else {
    return {std::move(list.edges), list.ids};
  }
}

// Calls check(graph, expected) for each graph with a truth `key`, of which there are more than 25. Skips the test where
// there is no data.
template <class V, class Check>
void for_each_truth(const char* key, const Check& check) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(data_directory() / "truth_more.json");
  if (!file) GTEST_SKIP() << "no truth_more.json";
  const auto truth = nlohmann::json::parse(file);
  int graphs = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (is_left_out(name) || !facts.contains(key)) continue;
    SCOPED_TRACE(name);
    check(read_known_graph<V>((data_directory() / name).string()), facts[key]);
    ++graphs;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(graphs, used_inputs(25));
}

// The number after `key = ` in a properties file of LDBC Graphalytics; -1: none.
[[nodiscard]] inline std::int64_t ldbc_property(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(key + " = ");
    if (at != std::string::npos) return std::stoll(line.substr(at + key.size() + 3));
  }
  return -1;
}

}  // namespace spargo::test
