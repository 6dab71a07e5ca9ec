// `betweenness` end to end: graphs of the data folder against truth_more.json, flags, output, errors.
#include "apps/graph_app.hpp"
#include "support/rounds.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on{"betweenness", {}};

void check_truths(const std::string& device) {
  int graphs = 0;
  const auto check = [&](const std::string& name, const std::string& file, const json& expected, const json& facts) {
    std::vector<std::string> flags{"--repeat", "1", "--device", device};
    if (expected["sources"].is_array()) {
      std::string list;
      for (const auto& s : expected["sources"]) list += std::to_string(s.get<std::int64_t>() + first_id(name)) + ",";
      list.pop_back();
      flags.insert(flags.end(), {"--source-list", list});
    } else if (facts.contains("strong_components") &&
               facts["strong_components"]["largest"].get<std::int64_t>() > 1500) {
      return;  // several seconds each; tests/graph has them
    }
    for (const char* direction : {"directed", "undirected"}) {
      if (!expected.contains(direction)) continue;
      // Its shortest paths take 23 s under sanitizers and add no new code paths.
      if (is_sanitized && name == "facebook_combined.txt" && direction == std::string("undirected")) continue;
      SCOPED_TRACE(direction);
      std::vector<std::string> all = flags;
      all.push_back(std::string("--") + direction);
      const json got = run_on(file, all);
      ASSERT_FALSE(got.empty());
      const json& truth = expected[direction];
      EXPECT_NEAR(got["sum"].get<double>(), truth["sum"].get<double>(), 1e-9 * truth["sum"].get<double>());
      EXPECT_NEAR(got["sum_sq"].get<double>(), truth["sum_sq"].get<double>(), 1e-9 * truth["sum_sq"].get<double>());
      for (std::size_t k = 0; k < truth["top5"].size(); ++k) {
        const double value = truth["top5"][k][1].get<double>();
        EXPECT_NEAR(got["top"][k][1].get<double>(), value, 1e-9 * value) << k;
      }
      EXPECT_EQ(got["top"][0][1].get<double>() > 0, truth["top5"][0][1].get<double>() > 0);
      EXPECT_EQ(got["valid"], true);
      EXPECT_TRUE(got["device"].get<std::string>().starts_with(device)) << got["device"];
      ++graphs;
    }
  };
  for_each_truth("betweenness", 20, check);
  EXPECT_TRUE(testing::Test::IsSkipped() || graphs > used_inputs(40)) << graphs;
}

TEST(BetweennessApp, AgreesWithTheTruth) { check_truths("cpu"); }

TEST(BetweennessApp, AgreesWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  check_truths("cuda");
}

TEST(BetweennessApp, SaysWhatTheGpuLacks) {
  SPARGO_TEST_NEEDS_GPU();
  const std::string graph = "gen:rmat:scale=8,degree=4";
  EXPECT_EQ(run_on(graph, {"--algorithm", "by_source", "--sources", "4"})["device"], "cpu");
  expect_failure(run_app("betweenness", {"--device", "cuda", "--algorithm", "by_source", graph}), "betweenness", 1,
                 "by_source does not run on the device");
}

class BetweennessFile : public testing::Test {
 protected:
  const scratch folder_;
  // A path 10 20 30 40, and 7 with a large id. A loop, a duplicate.
  const std::string edges_ = folder_.write("g.el", "# c\n10 20\n20 30\n10 20\n30 30\n30 40\n1000000000000 7\n");
};

TEST_F(BetweennessFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {});
  expect_graph_keys(got, {"sources", "sum", "sum_sq", "top"});
  EXPECT_EQ(got["app"], "betweenness");
  EXPECT_EQ(got["vertices"], 6);
  EXPECT_EQ(got["edges"], 4);
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["sources"], 6);
  EXPECT_EQ(got["sum"], 4.0);
  EXPECT_EQ(got["sum_sq"], 8.0);
  EXPECT_EQ(got["top"], json::parse("[[20, 2.0], [30, 2.0], [7, 0.0], [10, 0.0], [40, 0.0], [1000000000000, 0.0]]"));
  EXPECT_EQ(got["time_ms"]["runs"], 3);
  EXPECT_EQ(got["valid"], true);
}

// From all vertices of an undirected graph each pair counts once; from given ones, once per source.
TEST_F(BetweennessFile, Sources) {
  EXPECT_EQ(run_on(edges_, {"--undirected"})["sum"], 4.0);
  EXPECT_EQ(run_on(edges_, {"--undirected", "--sources", "all"})["sum"], 4.0);
  const json listed = run_on(edges_, {"--undirected", "--source-list", "10,20"});
  EXPECT_EQ(listed["sources"], 2);
  EXPECT_EQ(listed["top"][1], json::parse("[30, 2.0]"));
  EXPECT_EQ(listed["sum"], 4.0);
  EXPECT_EQ(run_on(edges_, {"--undirected", "--source-list", "10", "--source-list", "20"})["sum"], 4.0);
  EXPECT_EQ(run_on(edges_, {"--undirected", "--source-list", "10,20,30,40,7,1000000000000"})["sum"], 8.0);
  // Random sources have out-edges: 10, 20, 30 and the large one.
  const json random = run_on(edges_, {"--sources", "4"});
  EXPECT_EQ(random["sources"], 4);
  EXPECT_EQ(random["sum"], 4.0);
  const std::string graph = "gen:rmat:scale=8,degree=4";
  EXPECT_EQ(run_on(graph, {"--sources", "3"})["top"], run_on(graph, {"--sources", "3", "--seed", "1"})["top"]);
  EXPECT_NE(run_on(graph, {"--sources", "3"})["top"], run_on(graph, {"--sources", "3", "--seed", "2"})["top"]);
}

TEST_F(BetweennessFile, NormalizationsAndEndpoints) {
  EXPECT_EQ(run_on(edges_, {"--normalization", "max"})["top"][0][1], 1.0);
  EXPECT_DOUBLE_EQ(run_on(edges_, {"--normalization", "pairs"})["top"][0][1].get<double>(), 2.0 / (5 * 4));
  const json ends = run_on(edges_, {"--endpoints"});
  EXPECT_EQ(ends["top"][0], json::parse("[20, 5.0]"));
  EXPECT_EQ(ends["endpoints"], true);
}

TEST_F(BetweennessFile, AlgorithmsThreadsAndFormatsGiveTheSame) {
  const std::string graph = "gen:grid2d:n=40";
  const json expected = run_on(graph, {"--sources", "9"});
  for (const char* algorithm : {"by_level", "by_source"}) {
    for (const char* threads : {"1", "2"}) {
      const json got = run_on(graph, {"--sources", "9", "--algorithm", algorithm, "--threads", threads});
      EXPECT_EQ(got["algorithm"], algorithm);
      EXPECT_NEAR(got["sum_sq"].get<double>(), expected["sum_sq"].get<double>(),
                  1e-9 * expected["sum_sq"].get<double>());
      EXPECT_EQ(got["valid"], true);
    }
  }
  for (const std::string name : {"h.spg", "h.el.gz", "h.mtx"}) {
    if (!test::can_write(name)) continue;
    const std::string other = folder_ / name;
    ASSERT_EQ(run_app("convert", {"--quiet", edges_, other}).code, 0) << name;
    EXPECT_EQ(run_on(other, {"--directed"})["sum_sq"], 8.0) << name;
  }
}

TEST_F(BetweennessFile, OutputHasAValueForEveryVertex) {
  const std::string out = folder_ / "values.txt";
  ASSERT_EQ(run_app("betweenness", {"--quiet", "--output", out, edges_}).code, 0);
  EXPECT_EQ(slurp(out), "7 0\n10 0\n20 2\n30 2\n40 0\n1000000000000 0\n");
}

TEST_F(BetweennessFile, PeopleReadTheFigures) {
  const app_run run = run_app("betweenness", {edges_});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("all 6"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("valid: "), std::string::npos) << run.out;
  EXPECT_NE(run_app("betweenness", {"--no-validate", edges_}).out.find("not validated"), std::string::npos);
}

TEST_F(BetweennessFile, ErrorsInOneLine) {
  expect_failure(run_app("betweenness", {"--source-list", "10,11", edges_}), "betweenness", 1,
                 "11: the graph has no such");
  expect_failure(run_app("betweenness", {"--source-list", "10,x", edges_}), "betweenness", 1,
                 "x: the graph has no such");
  expect_failure(run_app("betweenness", {"--source-list", "-3", edges_}), "betweenness", 1);
  expect_failure(run_app("betweenness", {"--sources", "0", edges_}), "betweenness", 2, "--sources: 0");
  expect_failure(run_app("betweenness", {"--sources", "some", edges_}), "betweenness", 2, "--sources: some");
  expect_failure(run_app("betweenness", {"--sources", "3", "--source-list", "10", edges_}), "betweenness", 2);
  expect_failure(run_app("betweenness", {"--normalization", "l2", edges_}), "betweenness", 2, "a normalization");
}

// If checking all sources takes too long, a sample is checked, and the sum of all values.
TEST(BetweennessApp, ChecksASampleAndSaysSo) {
  const std::string graph = "gen:rmat:scale=8,degree=4";
  for (const char* normalization : {"none", "pairs", "max"}) {
    for (const std::string sources : {"all", "40"}) {
      const json got = run_on(graph, {"--device", "cpu", "--undirected", "--sources", sources, "--normalization",
                                      normalization, "--check-sources", "7"});
      EXPECT_EQ(got["checked_sources"], 7);
      EXPECT_EQ(got["sources"], sources == "all" ? 256 : 40);
      EXPECT_EQ(got["valid"], true);
    }
  }
  EXPECT_EQ(run_on(graph, {"--device", "cpu"})["checked_sources"], 256);
  EXPECT_EQ(run_on(graph, {"--device", "cpu", "--check-sources", "1000"})["checked_sources"], 256);
  const app_run said = run_here("betweenness", {"--device", "cpu", "--check-sources", "7", graph});
  EXPECT_NE(said.out.find("from 7 of 256 sources, and the sum of all values"), std::string::npos) << said.out;
  EXPECT_EQ(run_here("betweenness", {"--check-sources", "0", graph}).code, 2);
}

}  // namespace
}  // namespace spargo::test
