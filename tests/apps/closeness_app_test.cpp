// `closeness` end to end: diameters of every graph of the data folder against truth_more.json, keys, outputs, errors.
#include "apps/graph_app.hpp"
#include "support/rounds.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("closeness");

TEST(ClosenessApp, DiametersAgreeWithTheTruth) {
  const char* key = "diameter_largest_component";
  for_each_truth(key, 25, [](const std::string&, const std::string& file, const json& expected, const json&) {
    if (is_sanitized && std::filesystem::file_size(file) > 200'000) return;  // two of them take a minute
    const json got = run_on(file, {"--undirected", "--diameter"});
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["diameter"], expected);
    EXPECT_EQ(got["exact"], true);
    EXPECT_EQ(got["valid"], true);
  });
}

class ClosenessFile : public testing::Test {
 protected:
  const scratch folder_;
  // A path of four, a triangle at its end; a pair apart.
  const std::string edges_ = folder_.write("g.el", "10 20\n20 30\n30 40\n40 50\n50 60\n60 40\n1 2\n10 10\n10 20\n");
};

TEST_F(ClosenessFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--undirected"});
  expect_graph_keys(got, {"top", "sum"});
  EXPECT_EQ(got["measure"], "closeness");
  EXPECT_EQ(got["sources"], 8);
  EXPECT_EQ(got["error"], 0);
  EXPECT_EQ(got["top"][0][0], 30);                                      // as far from all as 40
  EXPECT_NEAR(got["top"][0][1].get<double>(), 5.0 / 8 * 5 / 7, 1e-12);  // 1 + 1 + 1 + 2 + 3 hops
}

TEST_F(ClosenessFile, HarmonicAndSamples) {
  const json got = run_on(edges_, {"--undirected", "--harmonic"});
  EXPECT_EQ(got["measure"], "harmonic");
  EXPECT_NEAR(got["top"][0][1].get<double>(), 3 + 1.0 / 2 + 1.0 / 3, 1e-12);
  const json sample = run_on(edges_, {"--undirected", "--sources", "3"});
  EXPECT_EQ(sample["sources"], 3);
  EXPECT_GT(sample["error"].get<double>(), 0);
  EXPECT_EQ(sample["valid"], true);
}

TEST_F(ClosenessFile, EccentricitiesOfTheLargestComponent) {
  const std::string out = folder_ / "ecc.csv";
  const json got = run_on(edges_, {"--undirected", "--eccentricity", "--output", out});
  EXPECT_EQ(got["diameter"], 4);
  EXPECT_EQ(got["radius"], 2);
  EXPECT_EQ(got["exact"], true);
  EXPECT_EQ(got["component_vertices"], 6);
  EXPECT_EQ(got["sum"], 4 + 3 + 2 + 3 + 4 + 4);
  EXPECT_EQ(slurp(out), "id,lower,upper\n1,-1,-1\n2,-1,-1\n10,4,4\n20,3,3\n30,2,2\n40,3,3\n50,4,4\n60,4,4\n");
  const json bounded = run_on("gen:grid2d:n=30", {"--undirected", "--diameter", "--sources", "1"});
  EXPECT_EQ(bounded["exact"], false);
  EXPECT_EQ(bounded["diameter"].size(), 2U);
  EXPECT_LE(bounded["diameter"][0].get<int>(), 58);
  EXPECT_GE(bounded["diameter"][1].get<int>(), 58);
  EXPECT_EQ(run_on("gen:grid2d:n=30", {"--undirected", "--diameter"})["diameter"], 58);
  if (is_sanitized) return;  // the next takes a minute
  // Of equal eccentricities, each of which would take a search.
  const json stopped = run_on("gen:uniform:rows=200000,degree=8", {"--undirected", "--diameter"});
  EXPECT_EQ(stopped["exact"], false);
  EXPECT_EQ(stopped["diameter"].size(), 2U);
  EXPECT_LE(stopped["searches"], 2000);
}

// Distances to a vertex; the strong component of two.
TEST_F(ClosenessFile, Directed) {
  const std::string file = folder_.write("d.el", "1 2\n2 1\n2 3\n");
  EXPECT_EQ(run_on(file, {"--directed"})["top"][0][0], 3);
  const json got = run_on(file, {"--directed", "--diameter"});
  EXPECT_EQ(got["component_vertices"], 2);
  EXPECT_EQ(got["diameter"], 1);
}

TEST_F(ClosenessFile, RefusesWhatItCannotDo) {
  expect_failure(run_app("closeness", {"--sources", "0", edges_}), "closeness", 2,
                 "--sources: 0 (expected a number from 1, or all)");
  EXPECT_EQ(run_app("closeness", {"--harmonic", "--diameter", edges_}).code, 2);
}

}  // namespace
}  // namespace spargo::test
