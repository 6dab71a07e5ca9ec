// `bench bfs FILE` and similar: a user's graph instead of the built-in ones, and the figures of a case with many
// searches.
#include "apps/all_commands.hpp"
#include "apps/bench_app.hpp"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

namespace spargo::test {
namespace {

// All timed cases, ordered by name, and rates that follow from the times.
void expect_figures(const std::string& json, std::size_t cases, double edges, double pairs) {
  const auto results = nlohmann::json::parse(slurp(json), nullptr, false);
  ASSERT_FALSE(results.is_discarded());
  ASSERT_GE(results["benchmarks"].size(), cases);
  for (const auto& entry : results["benchmarks"]) {
    SCOPED_TRACE(entry.dump());
    EXPECT_FALSE(entry.value("error_occurred", false));
    EXPECT_EQ(entry["searches"].get<double>(), 64);
    const double least = entry["least_ms"].get<double>();
    const double greatest = entry["greatest_ms"].get<double>();
    EXPECT_GT(least, 0);
    EXPECT_LE(least, entry["first_quartile_ms"].get<double>());
    EXPECT_LE(entry["first_quartile_ms"].get<double>(), entry["real_time"].get<double>());
    EXPECT_LE(entry["real_time"].get<double>(), entry["third_quartile_ms"].get<double>());
    EXPECT_LE(entry["third_quartile_ms"].get<double>(), greatest);
    // Every search reaches all edges, so a harmonic mean lies between the rates of the slowest and the fastest.
    const double rate = entry["MTEPS"].get<double>();
    EXPECT_GE(rate, edges / greatest * 1e-3 * 0.999);
    EXPECT_LE(rate, edges / least * 1e-3 * 1.001);
    EXPECT_GE(entry["MTEPS_error"].get<double>(), 0);
    EXPECT_NEAR(entry["Graph500_MTEPS"].get<double>() / rate, pairs / edges, 1e-6);
  }
}

// A cycle of five with a loop and an edge twice: seven pairs of a graph of five edges, each reached by every search.
TEST(BenchBfs, TimesAUsersMatrix) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string file = folder.write(
      "mine.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 7\n1 2\n2 3\n3 4\n4 5\n5 1\n2 2\n3 4\n");
  const app_run run =
      run_app("bench", {"^bfs", file, "--device", "cpu", "--threads", "2", "--json", folder / "r.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("bfs/mine.mtx/cpu"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("direction_optimizing+parents"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" quartiles, "), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("rmat_20"), std::string::npos) << run.out;
  expect_figures(folder / "r.json", 6, 5, 7);
}

TEST(BenchBfs, TimesAnEdgeList) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string file = folder.write("ring.el", "10 20\n20 30\n30 10\n");
  const app_run run = run_app("bench", {"^bfs.*/direction", file, "--device", "cpu", "--json", folder / "r.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("bfs/ring.el/cpu"), std::string::npos) << run.out;
  expect_figures(folder / "r.json", 2, 3, 3);
}

// The generator lists both directions of an undirected graph's edges: they count once.
TEST(BenchBfs, TakesAGeneratorsSpec) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const app_run run =
      run_app("bench", {"^bfs.*/sequential$", "gen:grid2d:n=20", "--device", "cpu", "--json", folder / "r.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("bfs/gen:grid2d:n=20/cpu"), std::string::npos) << run.out;
  expect_figures(folder / "r.json", 1, 760, 760);
}

// Every command on graphs has one; on a GPU, those that run there.
TEST(BenchGraphs, EveryAlgorithmTakesAUsersFile) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string file = folder.write("ring.el", "10 20\n20 30\n30 10\n");
  const auto groups = [&](const std::string& device) {
    const app_run run = run_app("bench", {".", file, "--list", "--device", device});
    EXPECT_EQ(run.code, 0) << run.err;
    std::set<std::string> listed;
    std::istringstream lines(run.out);
    for (std::string name; std::getline(lines, name);) {
      EXPECT_NE(name.find("/ring.el/"), std::string::npos) << name;
      listed.insert(name.substr(0, name.find('/')));
    }
    return listed;
  };
  const std::vector<std::string> commands = graph_commands();
  EXPECT_THAT(groups("cpu"), testing::IsSupersetOf(commands));
  if (config::has_cuda) {
    EXPECT_THAT(groups("cuda"), testing::IsSupersetOf({"bfs", "multi_bfs", "strong_components", "communities"}));
  }
}

// They take long on a machine with GPUs, so a filter for an algorithm excludes them.
TEST(BenchRanks, AreWantedByName) {
  SPARGO_TEST_NEEDS_BENCH();
  if (!config::has_cuda) GTEST_SKIP() << "built without CUDA";
  const scratch folder;
  const std::string file = folder.write("ring.el", "10 20\n20 30\n30 10\n");
  const auto listed = [&](const std::string& filter) {
    const app_run run = run_app("bench", {filter, file, "--list", "--device", "cuda"});
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out;
  };
  EXPECT_EQ(listed("bfs").find("ranks/"), std::string::npos);
  std::istringstream lines(listed("^ranks/(bfs|pagerank|components)"));
  int count = 0;
  for (std::string name; std::getline(lines, name); ++count) {
    EXPECT_EQ(name.rfind("ranks/", 0), 0U) << name;
    EXPECT_NE(name.find("/ring.el/"), std::string::npos) << name;
  }
  EXPECT_GE(count, 9);
}

TEST(BenchRanks, AreCheckedAndTimed) {
  SPARGO_TEST_NEEDS_BENCH();
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  for (const auto& [filter, input] : {std::pair("^ranks/(bfs|pagerank|components)", "gen:grid2d:n=20"),
                                      std::pair("^ranks/spmv", "gen:uniform:rows=3000,degree=5")}) {
    const app_run run = run_app("bench", {filter, input, "--device", "cuda", "--json", folder / "r.json"});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto results = nlohmann::json::parse(slurp(folder / "r.json"), nullptr, false);
    ASSERT_GE(results["benchmarks"].size(), 9U);
    for (const auto& entry : results["benchmarks"]) EXPECT_GT(entry["real_time"].get<double>(), 0) << entry.dump();
  }
}

// A square with one diagonal, its edges listed once: two triangles, directed or not.
TEST(BenchGraphs, TrianglesAndPathsOfAUsersGraph) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string directed = folder.write("square.el", "1 2\n2 3\n3 4\n4 1\n1 3\n");
  const std::string symmetric = folder.write(
      "square.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 5\n2 1\n3 2\n4 3\n4 1\n3 1\n");
  for (const std::string& file : {directed, symmetric}) {
    const app_run run = run_app("bench", {"^triangles", file, "--device", "cpu", "--json", folder / "r.json"});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto results = nlohmann::json::parse(slurp(folder / "r.json"), nullptr, false);
    ASSERT_EQ(results["benchmarks"].size(), 3U);
    for (const auto& entry : results["benchmarks"]) EXPECT_EQ(entry["triangles"].get<double>(), 2) << entry.dump();
    const app_run paths = run_app("bench", {"^sssp.*/(dijkstra|delta_stepping)", file, "--device", "cpu"});
    EXPECT_EQ(paths.code, 0) << paths.err;
    const app_run searches = run_app("bench", {"^multi_bfs.*/64_", file, "--device", "cpu"});
    EXPECT_EQ(searches.code, 0) << searches.err;
  }
}

TEST(BenchBfs, MistakesAreOneLine) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  expect_failure(run_app("bench", {"^bfs", folder / "none.mtx"}), "bench", 1, "none.mtx");
  expect_failure(run_app("bench", {"^bfs", folder / "none.el"}), "bench", 1, "none.el");
  expect_failure(run_app("bench", {"^bfs", "gen:nothing:rows=3"}), "bench", 1, "nothing");
  expect_failure(run_app("bench", {"scan", folder.write("m.el", "1 2\n")}), "bench", 2, "bfs");
}

TEST(BenchBfs, AGraphWithoutEdgesFails) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string file =
      folder.write("loops.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n2 2\n");
  const app_run run = run_app("bench", {"^bfs.*/sequential$", file, "--device", "cpu"});
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_NE(run.out.find("has no edges"), std::string::npos) << run.out;
}

TEST(BenchBfs, OnTheDevice) {
  SPARGO_TEST_NEEDS_BENCH();
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  const app_run run = run_app("bench", {"^bfs", "gen:grid2d:n=20", "--device", "cuda", "--json", folder / "r.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("bfs/gen:grid2d:n=20/cuda"), std::string::npos) << run.out;
  expect_figures(folder / "r.json", 8, 760, 760);
}

}  // namespace
}  // namespace spargo::test
