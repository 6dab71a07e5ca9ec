// Real graphs: edges counted, searched and validated against networkx (truth.json). The files are read line by line
// here, independently of the library's readers.
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>

#include "support/data.hpp"
#include "support/device.hpp"

#include <gtest/gtest.h>

#include <zlib.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <string>
#include <vector>

namespace spargo {
namespace {

// Calls f for each line of a plain or gzipped file.
template <class F>
void for_each_line(const std::filesystem::path& path, F&& f) {
  gzFile file = gzopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr) << path;
  std::array<char, 4096> line{};
  while (gzgets(file, line.data(), static_cast<int>(line.size())) != nullptr) f(std::string(line.data()));
  gzclose(file);
}

struct pair_list {
  std::vector<std::int32_t> from, to;
  void add(long long u, long long v) {
    from.push_back(static_cast<std::int32_t>(u));
    to.push_back(static_cast<std::int32_t>(v));
  }
};

// Two integers with any separator.
bool two_numbers(const std::string& line, long long& u, long long& v) {
  const char* at = line.c_str();
  char* end = nullptr;
  u = std::strtoll(at, &end, 10);
  if (end == at) return false;
  while (*end == ',' || *end == ';') ++end;
  at = end;
  v = std::strtoll(at, &end, 10);
  return end != at;
}

pair_list read_edges(const std::filesystem::path& path) {
  pair_list pairs;
  for_each_line(path, [&](const std::string& line) {
    long long u = 0;
    long long v = 0;
    if (line[0] != '#' && line[0] != '%' && two_numbers(line, u, v)) pairs.add(u, v);
  });
  return pairs;
}

// Coordinate files; every symmetry except `general` is mirrored.
pair_list read_matrix(const std::filesystem::path& path) {
  pair_list pairs;
  bool mirrored = false;
  bool size_seen = false;
  for_each_line(path, [&](const std::string& line) {
    if (line.starts_with("%%")) {
      mirrored = line.find("general") == std::string::npos;
      return;
    }
    long long u = 0;
    long long v = 0;
    if (line[0] == '%' || !two_numbers(line, u, v)) return;
    if (!size_seen) {
      size_seen = true;
      return;
    }
    pairs.add(u - 1, v - 1);
    if (mirrored && u != v) pairs.add(v - 1, u - 1);
  });
  return pairs;
}

using graph_type = graph<std::int32_t, std::int64_t, host>;

constexpr std::array host_algorithms{bfs_algorithm::sequential, bfs_algorithm::load_balanced,
                                     bfs_algorithm::direction_optimizing};

constexpr std::array device_algorithms{bfs_algorithm::block_queue, bfs_algorithm::load_balanced,
                                       bfs_algorithm::direction_optimizing};

void search_on_host(const graph_type& g, std::int32_t source, const std::vector<std::int64_t>& histogram) {
  const context<host> ctx({.threads = 2});
  for (const auto algorithm : host_algorithms) {
    SCOPED_TRACE(std::string(to_string(algorithm)) + " from " + std::to_string(source));
    const auto result = bfs(ctx, g.view(), source, {.algorithm = algorithm});
    EXPECT_EQ(result.level_sizes, histogram);
    EXPECT_EQ(check_bfs(ctx, g.view(), source, result.levels.view(), result.parents.view()), "");
  }
}

void search_on_device(const graph_type& g, std::int32_t source, const std::vector<std::int64_t>& histogram) {
  static const context<device> ctx;
  const auto on_device = to_device(ctx, g.view());
  for (const auto algorithm : device_algorithms) {
    SCOPED_TRACE(std::string(to_string(algorithm)) + " from " + std::to_string(source));
    const auto result = bfs(ctx, on_device.view(), source, {.algorithm = algorithm});
    EXPECT_EQ(result.level_sizes, histogram);
    const auto levels = to_host(ctx, result.levels.view());
    const auto parents = to_host(ctx, result.parents.view());
    EXPECT_EQ(check_bfs(context<host>({.threads = 2}), g.view(), source, levels.view(), parents.view()), "");
  }
}

using search_function = void (*)(const graph_type&, std::int32_t, const std::vector<std::int64_t>&);

void check_graph(const nlohmann::json& truth, const pair_list& pairs, search_function search) {
  const context<host> ctx({.threads = 2});
  const auto n = truth["vertices"].get<std::int32_t>();
  const coo_pattern_view<std::int32_t, host> edges{n, n, pairs.from, pairs.to};
  const auto directed = build_graph<std::int64_t>(ctx, edges, {.in_edges = true});
  const auto undirected = build_graph<std::int64_t>(ctx, edges, {.direction = direction_kind::undirected});
  EXPECT_EQ(directed.edges(),
            truth["unique_directed_edges"].get<std::int64_t>() - truth["self_loops"].get<std::int64_t>());
  EXPECT_EQ(undirected.edges(), truth["undirected_simple_edges"].get<std::int64_t>());
  for (const auto& [name, facts] : truth["bfs"].items()) {
    SCOPED_TRACE(name);
    search(name.starts_with("un") ? undirected : directed, facts["source"].get<std::int32_t>(),
           facts["histogram"].get<std::vector<std::int64_t>>());
  }
}

void check_every_file(search_function search) {
  const auto directory = test::data_directory();
  std::ifstream file(directory / "truth.json");
  const auto truth = nlohmann::json::parse(file);
  int graphs = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (test::is_left_out(name)) continue;
    SCOPED_TRACE(name);
    if (facts.contains("graph")) {
      check_graph(facts["graph"], read_matrix(directory / name), search);
    } else if (facts.contains("graph_raw_ids")) {
      check_graph(facts["graph_raw_ids"], read_edges(directory / name), search);
    } else {
      continue;
    }
    ++graphs;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(graphs, test::used_inputs(40));
}

TEST(RealGraphs, HistogramsOfNetworkx) {
  SPARGO_TEST_NEEDS_DATA();
  check_every_file(search_on_host);
}

TEST(RealGraphs, HistogramsOfNetworkxOnTheDevice) {
  SPARGO_TEST_NEEDS_DATA();
  SPARGO_TEST_NEEDS_GPU();
  check_every_file(search_on_device);
}

}  // namespace
}  // namespace spargo
