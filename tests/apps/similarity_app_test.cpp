// `similarity` end to end: every graph of the data folder against truth_more.json, pairs of a file, the most similar
// vertices, output, errors.
#include "apps/graph_app.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("similarity");

TEST(SimilarityApp, AgreesWithTheTruth) {
  for_each_truth("jaccard", 40,
                 [](const std::string& name, const std::string& file, const json& expected, const json&) {
                   const json got = run_on(file, {"--undirected", "--no-validate"});
                   ASSERT_FALSE(got.empty());
                   EXPECT_EQ(got["pairs"], got["edges"]);
                   ASSERT_EQ(got["first"].size(), expected.size());
                   for (std::size_t k = 0; k < expected.size(); ++k) {
                     EXPECT_EQ(got["first"][k][0], expected[k][0].get<std::int64_t>() + first_id(name));
                     EXPECT_EQ(got["first"][k][1], expected[k][1].get<std::int64_t>() + first_id(name));
                     EXPECT_NEAR(got["first"][k][2].get<double>(), expected[k][2].get<double>(), 1e-9);
                   }
                 });
}

class SimilarityFile : public testing::Test {
 protected:
  const scratch folder_;
  // 10 and 20 share 30 and 40; a loop, a duplicate, a vertex with one edge.
  const std::string edges_ = folder_.write("g.el", "10 30\n10 40\n20 30\n20 40\n10 20\n50 40\n20 20\n30 10\n");
};

TEST_F(SimilarityFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--undirected"});
  expect_graph_keys(got, {"measure", "pairs", "sum", "first"});
  EXPECT_EQ(got["pairs"], 6);
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["measure"], "jaccard");
  EXPECT_EQ(got["first"], json::parse("[[10,20,0.5],[10,30,0.25],[10,40,0.2],[20,30,0.25],[20,40,0.2]]"));
  EXPECT_NEAR(got["sum"].get<double>(), 1.4, 1e-15);
  const json directed = run_on(edges_, {"--directed"});
  EXPECT_EQ(directed["pairs"], 7);
  EXPECT_EQ(directed["valid"], true);
  EXPECT_EQ(run_on(edges_, {"--undirected", "--measure", "adamic-adar"})["valid"], true);
}

TEST_F(SimilarityFile, PairsOfAFile) {
  const std::string pairs = folder_.write("p.el", "# candidates\n50 10\n30 40\n30 40\n50 50\n");
  const std::string out = folder_ / "values.csv";
  const json got = run_on(edges_, {"--undirected", "--pairs", pairs, "--output", out});
  EXPECT_EQ(got["pairs"], 4);
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(slurp(out),
            "source,target,value\n50,10,0.3333333333333333\n30,40,0.6666666666666666\n"
            "30,40,0.6666666666666666\n50,50,1\n");
  const std::string named = folder_.write("named.csv", "source,target\nann,cid\nbob,cid\nbob,\"d, e\"\n");
  const std::string names = folder_.write("np.csv", "source,target\nann,bob\n");
  (void)run_on(named, {"--undirected", "--pairs", names, "--output", out});
  EXPECT_EQ(slurp(out), "source,target,value\nann,bob,0.5\n");
}

TEST_F(SimilarityFile, MostSimilarVertices) {
  const std::string out = folder_ / "top.txt";
  const json got = run_on(edges_, {"--undirected", "--top", "1", "--output", out});
  EXPECT_EQ(got["algorithm"], "rows");
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(slurp(out),
            "10 20 0.5\n20 10 0.5\n30 40 0.6666666666666666\n40 30 0.6666666666666666\n"
            "50 10 0.3333333333333333\n");
  const json all = run_on(edges_, {"--undirected", "--top", "9"});
  EXPECT_EQ(all["pairs"], 16);
  EXPECT_EQ(all["first"][0], json::parse("[10,20,0.5]"));
  EXPECT_EQ(all["first"][1], json::parse("[10,30,0.25]"));
  (void)run_on(edges_, {"--undirected", "--output", out, "--sort"});
  EXPECT_EQ(slurp(out), "10 20 0.5\n10 30 0.25\n20 30 0.25\n10 40 0.2\n20 40 0.2\n40 50 0\n");
}

TEST_F(SimilarityFile, ReportsForPeople) {
  const app_run run = run_app("similarity", {edges_, "--undirected"});
  ASSERT_EQ(run.code, 0) << run.err;
  expect_texts(run.out, {"jaccard of 6 pairs", "10 20 0.5", "valid", "6 values computed again"});
}

TEST_F(SimilarityFile, RefusesWhatItCannotDo) {
  const std::string pairs = folder_.write("p.el", "10 20\n10 77\n");
  const std::string out = folder_ / "x";
  expect_failure(run_app("similarity", {edges_, "--pairs", pairs, "--output", out}), "similarity", 1,
                 "--pairs " + pairs + ": vertex 77: the graph has no such vertex (expected one of the 5 ids");
  EXPECT_FALSE(std::filesystem::exists(out));
  const std::string bad = folder_.write("bad.el", "10 20\n10 x\n");
  expect_failure(run_app("similarity", {edges_, "--pairs", bad}), "similarity", 1, bad);
  expect_failure(run_app("similarity", {edges_, "--pairs", folder_ / "none"}), "similarity", 1, "none");
  expect_failure(run_app("similarity", {edges_, "--pairs", pairs, "--top", "3"}), "similarity", 2, "--top and --pairs");
  EXPECT_EQ(run_app("similarity", {edges_, "--measure", "euclid"}).code, 2);
  EXPECT_EQ(run_app("similarity", {edges_, "--top", "0"}).code, 2);
}

}  // namespace
}  // namespace spargo::test
