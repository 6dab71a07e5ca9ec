// `bfs` end to end: every graph of the data folder against truth.json (networkx), flags, errors.
#include "apps/run_here.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

void check_all(const std::string& device) {
  const auto folder = data_directory();
  int runs = 0;
  for (const auto& [name, facts] : truth().items()) {
    if (!facts.contains("graph")) continue;
    const json& graph = facts["graph"];
    for (const bool directed : {true, false}) {
      const json& expected = graph["bfs"][directed ? "directed_from_first" : "undirected_from_first"];
      const bool matrix = facts["kind"] == "mtx";
      // Vertex r of truth.json is row r + 1 of a Matrix Market file.
      const auto source = expected["source"].get<std::int64_t>() + (matrix ? 1 : 0);
      const app_run run =
          run_here("bfs", {"--json", "-", "--device", device, "--repeat", "1", directed ? "--directed" : "--undirected",
                           "--source", std::to_string(source), (folder / name).string()});
      const std::string what = name + (directed ? " directed" : " undirected");
      ASSERT_EQ(run.code, 0) << what << ": " << run.err;
      const json got = run.json();
      ASSERT_EQ(got["runs"].size(), 1U) << what;
      const json& search = got["runs"][0];
      EXPECT_EQ(search["source"], source) << what;
      EXPECT_EQ(search["reached"], expected["reached"]) << what;
      EXPECT_EQ(search["depth"], expected["max_depth"]) << what;
      EXPECT_EQ(search["levels"], expected["histogram"]) << what;
      EXPECT_EQ(search["valid"], true) << what;
      EXPECT_EQ(got["directed"], directed) << what;
      if (directed) {
        EXPECT_EQ(got["edges"].get<std::int64_t>(),
                  graph["unique_directed_edges"].get<std::int64_t>() - graph["self_loops"].get<std::int64_t>())
            << what;
      } else {
        EXPECT_EQ(got["edges"], graph["undirected_simple_edges"]) << what;
      }
      ++runs;
    }
  }
  EXPECT_EQ(runs, 60);
}

TEST(BfsApp, AgreesWithTheTruthOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_all("cpu");
}

TEST(BfsApp, AgreesWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_all("cuda");
}

class BfsFile : public testing::Test {
 protected:
  const scratch folder_;
  // Two components, a loop, a duplicate, ids with holes.
  const std::string edges_ = folder_.write("g.el", "# c\n10 20\n20 30\n10 20\n30 30\n30 40\n1000000000000 7\n");
};

TEST_F(BfsFile, EveryKeyOfTheContractIsThere) {
  const json got = run_app("bfs", {"--json", "-", "--device", "cpu", edges_}).json();
  for (const char* key : {"app", "file", "vertices", "edges", "directed", "device", "threads", "algorithm", "load_ms",
                          "build_ms", "runs", "mteps_harmonic_mean", "time_ms", "valid"}) {
    EXPECT_TRUE(got.contains(key)) << key;
  }
  for (const char* key : {"source", "reached", "depth", "levels", "time_ms", "mteps", "valid"}) {
    EXPECT_TRUE(got["runs"][0].contains(key)) << key;
  }
  EXPECT_EQ(got["vertices"], 6);
  EXPECT_EQ(got["edges"], 4);
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["runs"][0]["source"], 10) << "the first vertex named in the file";
  EXPECT_EQ(got["runs"][0]["levels"], json({1, 1, 1, 1}));
  EXPECT_EQ(got["time_ms"], got["runs"][0]["time_ms"]);
  EXPECT_EQ(got["valid"], true);
  EXPECT_TRUE(run_app("bfs", {"--json", "-", "--no-validate", edges_}).json()["valid"].is_null());
}

TEST_F(BfsFile, SourcesByName) {
  const auto source = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--json", "-", "--device", "cpu", edges_});
    return run_app("bfs", flags).json()["runs"][0]["source"].get<std::int64_t>();
  };
  EXPECT_EQ(source({"--source", "1000000000000"}), 1000000000000);
  EXPECT_EQ(source({"--undirected", "--source", "max-degree"}), 20);
  EXPECT_EQ(source({"--source", "random:3"}), source({"--source", "random:3"}));
  expect_failure(run_app("bfs", {"--source", "11", edges_}), "bfs", 1, "11");
}

TEST_F(BfsFile, ManySources) {
  const json got = run_app("bfs", {"--json", "-", "--sources", "3", "--device", "cpu", edges_}).json();
  ASSERT_EQ(got["runs"].size(), 3U);
  double least = got["runs"][0]["time_ms"]["min"];
  double most = 0;
  for (const json& run : got["runs"]) {
    EXPECT_GT(run["reached"], 1) << "sources have out-edges";
    least = std::min(least, run["time_ms"]["min"].get<double>());
    most = std::max(most, run["time_ms"]["max"].get<double>());
  }
  EXPECT_EQ(got["time_ms"]["min"], least);
  EXPECT_EQ(got["time_ms"]["max"], most);
  EXPECT_EQ(got["time_ms"]["runs"], 3);
  EXPECT_EQ(got["valid"], true);
}

TEST_F(BfsFile, OutputHasTheFilesOwnIds) {
  const std::string out = folder_ / "levels.txt";
  ASSERT_EQ(run_app("bfs", {"--quiet", "--device", "cpu", "--output", out, edges_}).code, 0);
  std::istringstream lines(slurp(out));
  std::vector<std::vector<std::int64_t>> got;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::vector<std::int64_t> row(3);
    in >> row[0] >> row[1] >> row[2];
    got.push_back(row);
  }
  const std::vector<std::vector<std::int64_t>> expected = {{7, -1, -1}, {10, 0, 10}, {20, 1, 10},
                                                           {30, 2, 20}, {40, 3, 30}, {1000000000000, -1, -1}};
  EXPECT_EQ(got, expected);
}

// The path has as many edges as the target's level, all of them in the file.
TEST_F(BfsFile, ReportsThePathToATarget) {
  const json run =
      run_app("bfs", {"--json", "-", "--device", "cpu", "--source", "10", "--target", "40", edges_}).json()["runs"][0];
  EXPECT_EQ(run["path"], (json{10, 20, 30, 40}));
  EXPECT_EQ(run["valid"], true);
  const json none = run_app("bfs", {"--json", "-", "--device", "cpu", "--target", "7", edges_}).json()["runs"][0];
  EXPECT_EQ(none["target"], 7);
  EXPECT_TRUE(none["path"].is_null());
  const app_run unreached = run_app("bfs", {"--device", "cpu", "--target", "7", edges_});
  EXPECT_NE(unreached.out.find("7 is not reached"), std::string::npos) << unreached.out;
  expect_failure(run_app("bfs", {"--target", "8", edges_}), "bfs", 1, "--target 8");
  expect_failure(run_app("bfs", {"--target", "-1", edges_}), "bfs", 1, "--target -1");
  const json several =
      run_app("bfs", {"--json", "-", "--device", "cpu", "--sources", "3", "--target", "40", edges_}).json()["runs"];
  for (const json& each : several) EXPECT_EQ(each["path"].front(), each["source"]);
}

// 50 is found before 40, and both lead to 99.
TEST(BfsApp, StopsAtADepth) {
  for (const char* graph : {"gen:path:n=50", "gen:rmat:scale=8,degree=4", "gen:grid2d:n=9"}) {
    const auto levels = [&](std::vector<std::string> flags) {
      flags.insert(flags.begin(), {graph, "--device", "cpu", "--repeat", "1", "--json", "-"});
      const app_run run = run_here("bfs", flags);
      EXPECT_EQ(run.code, 0) << run.err;
      const json search = run.json().at("runs").at(0);
      EXPECT_EQ(search.at("valid"), true);
      return search.at("levels").get<std::vector<std::int64_t>>();
    };
    const auto all = levels({});
    for (const std::size_t depth : {std::size_t{0}, std::size_t{1}, std::size_t{3}, all.size() + 5}) {
      const std::vector<std::int64_t> expected(
          all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(depth + 1, all.size())));
      for (const char* algorithm : {"auto", "sequential", "load_balanced"}) {
        EXPECT_EQ(levels({"--max-depth", std::to_string(depth), "--algorithm", algorithm}), expected)
            << graph << " " << algorithm << " " << depth;
      }
    }
  }
  expect_failure(run_here("bfs", {"gen:path:n=5", "--max-depth", "-1"}), "bfs", 2, "--max-depth");
  EXPECT_NE(run_here("help", {"bfs"}).out.find("--max-depth D"), std::string::npos);
}

TEST_F(BfsFile, DeterministicParentsAreTheSmallest) {
  const std::string edges = folder_.write("d.el", "1 3\n1 5\n3 50\n5 40\n50 99\n40 99\n");
  const std::string out = folder_ / "tree.txt";
  const auto found_from = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{"--quiet",    "--device", "cpu", "--algorithm",
                                       "sequential", "--output", out,   edges};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_app("bfs", arguments).code, 0);
    const std::string text = slurp(out);
    return text.substr(text.find("\n99 ") + 1);
  };
  EXPECT_EQ(found_from({}), "99 3 50\n");
  EXPECT_EQ(found_from({"--deterministic"}), "99 3 40\n");
}

TEST_F(BfsFile, EveryAlgorithmAndDirectionAgrees) {
  for (const std::string algorithm : {"sequential", "load_balanced", "direction_optimizing"}) {
    for (const std::string direction : {"auto", "push", "pull"}) {
      if (direction == "pull" && algorithm != "direction_optimizing") continue;
      const app_run run = run_app(
          "bfs", {"--json", "-", "--device", "cpu", "--algorithm", algorithm, "--direction", direction, edges_});
      ASSERT_EQ(run.code, 0) << algorithm << " " << direction << ": " << run.err;
      EXPECT_EQ(run.json()["runs"][0]["levels"], json({1, 1, 1, 1})) << algorithm << " " << direction;
    }
  }
}

TEST_F(BfsFile, MatrixMarketGraphsAreUndirectedWhenSymmetric) {
  const std::string symmetric =
      folder_.write("s.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n");
  const json got = run_app("bfs", {"--json", "-", "--source", "3", symmetric}).json();
  EXPECT_EQ(got["directed"], false);
  EXPECT_EQ(got["edges"], 2);
  EXPECT_EQ(got["runs"][0]["levels"], json({1, 1, 1}));
  const std::string oblong = folder_.write("o.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n2 1\n");
  expect_failure(run_app("bfs", {oblong}), "bfs", 1, "square");
}

TEST_F(BfsFile, ErrorsInOneLine) {
  const auto fails = [&](const std::string& text, const std::string& says) {
    expect_failure(run_app("bfs", {folder_.write("b.el", text)}), "bfs", 1, says);
  };
  fails("1 2\n-3 4\n", "b.el:2:1: ");
  fails("1 2\n3 4.5\n", "b.el:2:3: ");
  fails("1 2\nalice bob\n", "b.el:2:1: ");
  fails("1 9223372036854775808\n", "b.el:1:3: ");
  expect_failure(run_app("bfs", {"--direction", "sideways", edges_}), "bfs", 2);
  expect_failure(run_app("bfs", {"--sources", "0", edges_}), "bfs", 2);
  expect_failure(run_app("bfs", {}), "bfs", 2);
}

TEST_F(BfsFile, ConvertedFilesGiveTheSameSearch) {
  SPARGO_NEEDS_SNAPSHOTS();
  const json expected = run_app("bfs", {"--json", "-", edges_}).json()["runs"][0];
  for (const std::string name : {"h.spg", "h.el.gz", "h.csv"}) {
    const std::string other = folder_ / name;
    ASSERT_EQ(run_app("convert", {"--quiet", edges_, other}).code, 0) << name;
    const json got = run_app("bfs", {"--json", "-", "--source", "10", other}).json()["runs"][0];
    EXPECT_EQ(got["levels"], expected["levels"]) << name;
    EXPECT_EQ(got["source"], 10) << name;
  }
}

TEST(BfsApp, ALongPathIsQuick) {
  const app_run run = run_app("bfs", {"--json", "-", "--device", "cpu", "gen:path:n=200000"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["runs"][0]["depth"], 199999);
  EXPECT_LT(run.json()["runs"][0]["time_ms"]["min"].get<double>(), 1000.0);
}

}  // namespace
}  // namespace spargo::test
