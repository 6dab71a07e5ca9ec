// `walks` end to end: graphs of the data folder, keys, output in every form, the same walks on every run, errors.
#include <sstream>

#include "apps/graph_app.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("walks");

TEST(WalksApp, WalksOnEveryGraph) {
  for_each_truth("core_numbers", 40, [](const std::string&, const std::string& file, const json&, const json&) {
    const json got = run_on(file, {"--walkers", "200", "--length", "10", "--weights", "random:3", "--q", "2"});
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["walks"], 200);
    EXPECT_EQ(got["valid"], true);
  });
}

class WalksFile : public testing::Test {
 protected:
  const scratch folder_;
  // A path from 30 to 10 to 20 to 40, where it ends; 50 and 60 with each other, and a heavy edge to a dead end.
  const std::string edges_ = folder_.write("g.wel", "30 10 1\n10 20 1\n20 40 2\n50 60 1\n60 50 0\n60 40 9\n");
  const std::string out_ = folder_ / "walks.txt";
};

TEST_F(WalksFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--length", "5", "--seed", "4", "--p", "2", "--q", "0.5", "--output", out_});
  expect_graph_keys(got, {"walks", "steps", "ended", "length", "p", "q", "seed", "output"});
  EXPECT_EQ(got["walks"], 6);
  EXPECT_EQ(got["length"], 5);
  EXPECT_EQ(got["algorithm"], "uniform");
  EXPECT_EQ(got["valid"], true);
  std::istringstream lines(slurp(out_));
  std::int64_t words = 0;
  for (std::string word; lines >> word;) ++words;
  EXPECT_EQ(got["steps"], words - 6);
}

TEST_F(WalksFile, OutputInEveryForm) {
  const std::vector<std::string> path{"--weights", "file", "--length", "3"};
  const auto written = [&](const std::string& name, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), path.begin(), path.end());
    flags.insert(flags.end(), {"--output", folder_ / name});
    const json got = run_on(edges_, flags);
    EXPECT_EQ(got["algorithm"], "prefix_sums");
    EXPECT_EQ(got["ended"], 5);  // not that of three steps
    EXPECT_EQ(got["weights"], "file");
    return slurp(folder_ / name);
  };
  // The edge from 60 to 50 has weight 0.
  EXPECT_EQ(written("a.txt"), "10 20 40\n20 40\n30 10 20 40\n40\n50 60 40\n60 40\n");
  EXPECT_EQ(written("a.csv"), "10,20,40\n20,40\n30,10,20,40\n40\n50,60,40\n60,40\n");
  EXPECT_EQ(written("a.tsv"), "10\t20\t40\n20\t40\n30\t10\t20\t40\n40\n50\t60\t40\n60\t40\n");
  EXPECT_EQ(written("a.json"), "[\n[10,20,40],\n[20,40],\n[30,10,20,40],\n[40],\n[50,60,40],\n[60,40]\n]\n");
  const std::string named = folder_.write("named.csv", "source,target\nann,\"b, c\"\n");
  (void)run_on(named, {"--length", "2", "--output", folder_ / "n.json"});
  EXPECT_EQ(slurp(folder_ / "n.json"), "[\n[\"ann\",\"b, c\"],\n[\"b, c\"]\n]\n");
}

TEST_F(WalksFile, TheSameOnEveryRun) {
  const std::string graph = "gen:rmat:scale=10,degree=8";
  const auto walks = [&](const std::string& seed, const std::string& threads, const std::string& q) {
    const json got = run_on(
        graph, {"--undirected", "--walkers", "300", "--seed", seed, "--threads", threads, "--q", q, "--output", out_});
    EXPECT_EQ(got["walks"], 300);
    EXPECT_EQ(got["ended"], 0);  // walkers start at vertices with edges
    return slurp(out_);
  };
  for (const char* q : {"1", "3"}) {
    const std::string first = walks("5", "1", q);
    EXPECT_EQ(walks("5", "2", q), first);
    EXPECT_NE(walks("6", "2", q), first);
  }
  EXPECT_NE(walks("5", "1", "1"), walks("5", "1", "3"));
}

TEST_F(WalksFile, ReportsForPeople) {
  const app_run run = run_app("walks", {edges_, "--weights", "file", "--length", "3"});
  EXPECT_EQ(run.code, 0) << run.err;
  expect_texts(run.out, {"6, 9 steps", "ended early", "every step looked up"});
}

TEST_F(WalksFile, Errors) {
  const auto refused = [&](std::vector<std::string> flags, int code, const std::string& message) {
    flags.push_back(edges_);
    expect_failure(run_here("walks", flags), "walks", code, message);
  };
  refused({"--walkers", "none"}, 2, "none is not a number of walkers (expected 1 or more, or all)");
  refused({"--walkers", "0"}, 2, "0 is not a number of walkers (expected 1 or more, or all)");
  refused({"--p", "0"}, 2, "--p: 0 (expected a positive number)");
  refused({"--q", "-1"}, 2, "--q: -1 (expected a positive number)");
  refused({"--q", "nan"}, 2, "--q: nan (expected a positive number)");
  for (const char* bad : {"-1", "nan", "inf"}) {
    const std::string file = folder_.write("bad.wel", std::string("1 2 1\n2 3 ") + bad + "\n");
    expect_failure(run_here("walks", {"--weights", "file", file}), "walks", 1, file + ":2:5: ");
  }
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
}  // namespace spargo::test
