// `trusses` end to end: every graph of the data folder against truth_more.json, the K-truss as a graph, flags, errors.
#include "apps/graph_app.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("trusses");

TEST(TrussesApp, AgreesWithTheTruth) {
  bool all = false;  // truss numbers of one file, the largest truss alone of the next
  for_each_truth("ktruss", 40, [&](const std::string&, const std::string& file, const json& expected, const json&) {
    all = !all;
    const json got = all ? run_on(file) : run_on(file, {"--k", expected["max_k"].dump()});
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["valid"], true);
    for (const char* key : {"max_k", "edges", "vertices"}) EXPECT_EQ(got[key], expected[key]) << key;
  });
}

class TrussesFile : public testing::Test {
 protected:
  const scratch folder_;
  // A clique of four, an attached triangle, a tail with a large id; a loop, a duplicate.
  const std::string edges_ = folder_.write("g.el",
                                           "10 20\n10 30\n10 40\n20 30\n20 40\n30 40\n40 50\n50 60\n60 40\n10 20\n"
                                           "50 50\n60 1000000000000\n");
};

TEST_F(TrussesFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {});
  expect_graph_keys(got, {"max_k"});
  EXPECT_EQ(got["max_k"], 4);
  EXPECT_EQ(got["edges"], 6);
  EXPECT_EQ(got["vertices"], 4);
  EXPECT_EQ(got["graph_edges"], 10);
  EXPECT_EQ(got["graph_vertices"], 7);
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["directed"], false);
  EXPECT_FALSE(got.contains("k"));
}

TEST_F(TrussesFile, OneKAlone) {
  const json three = run_on(edges_, {"--k", "3"});
  EXPECT_EQ(three["k"], 3);
  EXPECT_EQ(three["max_k"], 3);
  EXPECT_EQ(three["edges"], 9);
  EXPECT_EQ(three["vertices"], 6);
  const json none = run_on(edges_, {"--k", "5"});
  EXPECT_EQ(none["max_k"], json());
  EXPECT_EQ(none["edges"], 0);
  EXPECT_EQ(none["vertices"], 0);
  EXPECT_EQ(run_on(edges_, {"--k", "2"})["edges"], 10);
}

TEST_F(TrussesFile, OutputHasIdsAsTheFileWritesThem) {
  const std::string out = folder_ / "trusses.csv";
  (void)run_on(edges_, {"--output", out});
  EXPECT_EQ(slurp(out),
            "source,target,truss\n10,20,4\n10,30,4\n10,40,4\n20,30,4\n20,40,4\n30,40,4\n40,50,3\n40,60,3\n50,60,3\n"
            "60,1000000000000,2\n");
  (void)run_on(edges_, {"--output", out, "--top", "2"});
  EXPECT_EQ(slurp(out), "source,target,truss\n10,20,4\n10,30,4\n");
}

TEST_F(TrussesFile, TheKTrussIsAGraphThatCommandsRead) {
  for (const char* name : {"truss.csv", "truss.tsv", "truss.el"}) {
    const std::string out = folder_ / name;
    (void)run_on(edges_, {"--k", "3", "--output", out});
    const json again = run_on(out, {});
    EXPECT_EQ(again["graph_edges"], 9) << name;
    EXPECT_EQ(again["graph_vertices"], 6) << name;
    EXPECT_EQ(again["max_k"], 4) << name;
  }
  EXPECT_EQ(slurp(folder_ / "truss.csv").substr(0, 20), "source,target\n10,20\n");
}

// Edges in both directions are one, and names are written as they were read.
TEST_F(TrussesFile, DirectedAndNamed) {
  const std::string named = folder_.write("named.csv", "source,target\nann,bob\nbob,ann\nbob,\"c, d\"\n\"c, d\",ann\n");
  const std::string out = folder_ / "truss.txt";
  const json got = run_on(named, {"--output", out});
  EXPECT_EQ(got["directed"], false);
  EXPECT_EQ(got["max_k"], 3);
  EXPECT_EQ(got["edges"], 3);
}

TEST_F(TrussesFile, ReportsForPeople) {
  const app_run all = run_app("trusses", {edges_});
  ASSERT_EQ(all.code, 0) << all.err;
  expect_texts(all.out, {"largest truss", "k = 4 (4 vertices, 6 edges)", "valid"});
  const app_run one = run_app("trusses", {"--k", "3", edges_});
  EXPECT_NE(one.out.find("6 vertices, 9 edges"), std::string::npos) << one.out;
}

TEST_F(TrussesFile, RefusesInvalidFlags) {
  const auto usage = [&](std::vector<std::string> flags, const std::string& message) {
    flags.push_back(edges_);
    expect_failure(run_app("trusses", flags), "trusses", 2, message);
  };
  usage({"--k", "3", "--top", "3", "--output", folder_ / "x"},
        "--k: its output is a list of edges (expected no --sort and no --top)");
  usage({"--directed"}, "--directed: trusses are of undirected graphs");
  EXPECT_EQ(run_app("trusses", {"--k", "1", edges_}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace spargo::test
