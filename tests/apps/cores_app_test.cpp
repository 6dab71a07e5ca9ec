// `cores` end to end: every graph of the data folder against truth_more.json, the K-core as a graph, flags, errors.
#include <map>

#include "apps/graph_app.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("cores");

// In the truth, ids without edges are vertices with core number 0.
TEST(CoresApp, AgreesWithTheTruth) {
  const scratch folder;
  const std::string out = folder / "cores.txt";
  for_each_truth("core_numbers", 40,
                 [&](const std::string& name, const std::string& file, const json& truth, const json&) {
                   const json got = run_on(file, {"--undirected", "--output", out});
                   ASSERT_FALSE(got.empty());
                   EXPECT_EQ(got["valid"], true);
                   EXPECT_EQ(got["max_core"], truth["max"]);
                   std::map<std::int64_t, std::int64_t> expected, reported, written;
                   for (const auto& pair : truth["histogram"]) expected[pair[0]] = pair[1];
                   for (const auto& pair : got["histogram"]) reported[pair[0]] = pair[1];
                   std::istringstream lines(slurp(out));
                   std::int64_t last = 0;
                   for (std::int64_t id = 0, core = 0; lines >> id >> core; last = id) ++written[core];
                   EXPECT_EQ(written, reported);
                   const auto vertices = got["vertices"].get<std::int64_t>();
                   if (first_id(name) == 0 && last + 1 > vertices) reported[0] += last + 1 - vertices;
                   EXPECT_EQ(reported, expected);
                 });
}

class CoresFile : public testing::Test {
 protected:
  const scratch folder_;
  // A clique of four, an attached triangle, a tail with a large id; a loop, a duplicate.
  const std::string edges_ = folder_.write("g.el",
                                           "10 20\n10 30\n10 40\n20 30\n20 40\n30 40\n40 50\n50 60\n60 40\n10 20\n"
                                           "50 50\n60 1000000000000\n");
};

TEST_F(CoresFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--undirected"});
  expect_graph_keys(got, {"max_core", "histogram"});
  EXPECT_EQ(got["max_core"], 3);
  EXPECT_EQ(got["histogram"], json::parse("[[1,1],[2,2],[3,4]]"));
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["device"], "cpu");
  EXPECT_FALSE(got.contains("k_core"));
}

TEST_F(CoresFile, OutputHasIdsAsTheFileWritesThem) {
  const std::string out = folder_ / "cores.csv";
  (void)run_on(edges_, {"--undirected", "--output", out});
  EXPECT_EQ(slurp(out), "id,core\n10,3\n20,3\n30,3\n40,3\n50,2\n60,2\n1000000000000,1\n");
  (void)run_on(edges_, {"--undirected", "--output", out, "--top", "2"});
  EXPECT_EQ(slurp(out), "id,core\n10,3\n20,3\n");
}

TEST_F(CoresFile, TheKCoreIsAGraphThatCommandsRead) {
  const std::string out = folder_ / "core.csv";
  const json got = run_on(edges_, {"--undirected", "--k", "2", "--output", out});
  EXPECT_EQ(got["k_core"], json::parse(R"({"k":2,"vertices":6,"edges":9})"));
  EXPECT_EQ(slurp(out), "source,target\n10,20\n10,30\n10,40\n20,30\n20,40\n30,40\n40,50\n40,60\n50,60\n");
  const json again = run_on(out, {"--undirected", "--k", "3"});
  EXPECT_EQ(again["histogram"], json::parse("[[2,2],[3,4]]"));
  EXPECT_EQ(again["k_core"], json::parse(R"({"k":3,"vertices":4,"edges":6})"));
  EXPECT_EQ(run_on(edges_, {"--undirected", "--k", "9"})["k_core"], json::parse(R"({"k":9,"vertices":0,"edges":0})"));
}

// In- and out-edges count, and names are written as they were read.
TEST_F(CoresFile, DirectedAndNamed) {
  const std::string named = folder_.write("named.csv", "source,target\nann,bob\nbob,ann\nbob,\"c, d\"\n");
  const std::string out = folder_ / "core.txt";
  const json got = run_on(named, {"--k", "2", "--output", out});
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["histogram"], json::parse("[[1,1],[2,2]]"));
  EXPECT_EQ(slurp(out), "# source\ttarget\nann\tbob\nbob\tann\n");
  const std::string table = folder_ / "core.tsv";  // with a header line, as every other table
  (void)run_on(named, {"--k", "2", "--output", table});
  EXPECT_EQ(slurp(table), "source\ttarget\nann\tbob\nbob\tann\n");
}

TEST_F(CoresFile, ReportsForPeople) {
  const app_run run = run_app("cores", {"--undirected", "--k", "2", edges_});
  ASSERT_EQ(run.code, 0) << run.err;
  expect_texts(run.out, {"largest core number", "3 (4 vertices)", "2-core", "6 vertices, 9 edges", "valid"});
}

TEST_F(CoresFile, RefusesWhatItCannotDo) {
  const auto usage = [&](std::vector<std::string> flags, const std::string& message) {
    flags.push_back(edges_);
    expect_failure(run_app("cores", flags), "cores", 2, message);
  };
  usage({"--k", "2", "--top", "3", "--output", folder_ / "x"},
        "--k: its output is a list of edges (expected no --sort and no --top)");
  usage({"--k", "2", "--output", folder_ / "x.json"},
        "--output " + (folder_ / "x.json") + ": a K-core is an edge list (expected no JSON)");
  EXPECT_EQ(run_app("cores", {"--k", "-1", edges_}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.json"));
}

TEST(Cores, OnAGpu) {
  SPARGO_TEST_NEEDS_GPU();
  for (const char* direction : {"--undirected", "--directed"}) {
    const std::vector<std::string> flags{"gen:rmat:scale=14,degree=8", direction, "--json", "-", "--k", "5"};
    auto on = [&](const char* where) {
      auto all = flags;
      all.insert(all.end(), {"--device", where});
      return run_app("cores", all).json();
    };
    const json cpu = on("cpu");
    const json gpu = on("cuda");
    EXPECT_EQ(gpu["device"], "cuda:0");
    EXPECT_EQ(gpu["valid"], true);
    for (const char* key : {"max_core", "histogram", "k_core"}) EXPECT_EQ(gpu[key], cpu[key]) << key;
  }
}

}  // namespace
}  // namespace spargo::test
