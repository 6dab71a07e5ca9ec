// `forest` end to end: every graph of the data folder against truth_more.json, flags, weights of any sign, errors.
#include "apps/graph_app.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("forest");

TEST(ForestApp, AgreesWithTheTruth) {
  for_each_truth("msf", 40, [](const std::string&, const std::string& file, const json& expected, const json&) {
    const json got = run_on(file);
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["valid"], true);
    EXPECT_EQ(got["edges"], expected["edges"]);
    const double weight = expected["weight"];
    EXPECT_NEAR(got["total_weight"].get<double>(), weight, 1e-9 * std::max(1.0, std::abs(weight)));
  });
}

class ForestFile : public testing::Test {
 protected:
  const scratch folder_;
  // A square with a diagonal, an edge of its own, a loop, a duplicate.
  const std::string edges_ =
      folder_.write("g.el", "10 20 4\n20 30 -1.5\n30 40 2\n40 10 0\n10 30 7\n50 60 3\n20 20 -9\n10 20 6\n");
};

TEST_F(ForestFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {});
  expect_graph_keys(got, {"total_weight", "trees"});
  EXPECT_EQ(got["edges"], 4);
  EXPECT_EQ(got["graph_edges"], 6);
  EXPECT_EQ(got["total_weight"], 3.5);
  EXPECT_EQ(got["trees"], 2);
  EXPECT_EQ(got["objective"], "minimum");
  EXPECT_EQ(got["valid"], true);
  const json heaviest = run_on(edges_, {"--maximum"});
  EXPECT_EQ(heaviest["total_weight"], 18.0);  // 10 20 by its heavier edge
  EXPECT_EQ(heaviest["objective"], "maximum");
  EXPECT_EQ(run_on(edges_, {"--weights", "unit"})["total_weight"], 4);
  EXPECT_EQ(run_on(edges_, {"--algorithm", "boruvka"})["algorithm"], "boruvka");
}

// A snapshot has the lightest of repeated edges' weights beside their sums, but not the heaviest.
TEST_F(ForestFile, MaximumOfASnapshotWithRepeatedEdgesIsRefused) {
  SPARGO_NEEDS_SNAPSHOTS();
  const std::string kept = folder_ / "g.spg";
  ASSERT_EQ(run_here("convert", {edges_, kept}).code, 0);
  EXPECT_EQ(run_on(kept, {})["total_weight"], 3.5);
  expect_failure(run_here("forest", {kept, "--maximum"}), "forest", 1, "the lightest of repeated edges' weights");
  // Also where the sum equals the lightest, finite or not. A snapshot of repeated zeros lacks nothing.
  ASSERT_EQ(run_here("convert", {folder_.write("sum.wel", "1 2 0\n1 2 -3\n2 3 4\n"), kept}).code, 0);
  EXPECT_EQ(run_on(kept, {})["total_weight"], 1);
  expect_failure(run_here("forest", {kept, "--maximum"}), "forest", 1, "the lightest of repeated edges' weights");
  ASSERT_EQ(run_here("convert", {folder_.write("inf.wel", "1 2 -inf\n1 2 5\n2 3 4\n"), kept}).code, 0);
  EXPECT_EQ(run_on(kept, {})["edges"], 2);
  expect_failure(run_here("forest", {kept, "--maximum"}), "forest", 1, "the lightest of repeated edges' weights");
  ASSERT_EQ(run_here("convert", {folder_.write("zeros.wel", "1 2 0\n1 2 0\n2 3 4\n"), kept}).code, 0);
  EXPECT_EQ(run_on(kept, {"--maximum"})["total_weight"], 4);
}

TEST_F(ForestFile, OutputHasIdsAsTheFileWritesThem) {
  const std::string out = folder_ / "tree.csv";
  (void)run_on(edges_, {"--output", out});
  EXPECT_EQ(slurp(out), "source,target,weight\n10,40,0\n20,30,-1.5\n30,40,2\n50,60,3\n");
  (void)run_on(edges_, {"--output", out, "--top", "2"});
  EXPECT_EQ(slurp(out), "source,target,weight\n20,30,-1.5\n10,40,0\n");
  (void)run_on(edges_, {"--maximum", "--output", folder_ / "tree.txt", "--sort"});
  EXPECT_EQ(slurp(folder_ / "tree.txt"), "10 30 7\n10 20 6\n50 60 3\n30 40 2\n");
  const std::string named = folder_.write("named.csv", "source,target,weight\nann,bob,2\nbob,\"c, d\",1\n");
  (void)run_on(named, {"--output", out});
  EXPECT_EQ(slurp(out), "source,target,weight\nann,bob,2\nbob,\"c, d\",1\n");
}

// Entries of a skew-symmetric matrix have opposite signs in both directions: the lighter one counts.
TEST_F(ForestFile, MatricesWithNegativeEntries) {
  const std::string skew =
      folder_.write("skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 1 -2\n");
  EXPECT_EQ(run_on(skew, {})["total_weight"], -6);
  const std::string wide = folder_.write("wide.wel", "1 2 -3000000000\n2 3 5\n");
  const json got = run_on(wide, {});
  EXPECT_EQ(got["total_weight"], -2999999995);
  EXPECT_EQ(got["weight_type"], "int64");
  // Other commands refuse them, cached or not.
  const std::string cached = folder_.write("cached.wel", "1 2 -3\n2 3 5\n");
  (void)run_on(cached, {"--cache"});
  expect_failure(run_app("sssp", {"--cache", cached}), "sssp", 1, "expected 0 or more");
}

TEST_F(ForestFile, ReportsForPeople) {
  const app_run run = run_app("forest", {edges_});
  ASSERT_EQ(run.code, 0) << run.err;
  expect_texts(run.out, {"spanning forest", "4 edges, 2 trees", "total weight", "3.5", "valid"});
  for (const char* edges : {"1 2 inf\n2 3 1\n", "1 2 1.7e308\n2 3 1.7e308\n"}) {
    const app_run infinite = run_app("forest", {folder_.write("inf.wel", edges)});
    EXPECT_EQ(infinite.code, 0) << infinite.err;
    EXPECT_NE(infinite.out.find("total weight     inf"), std::string::npos) << infinite.out;
  }
}

TEST_F(ForestFile, RefusesWhatItCannotDo) {
  expect_failure(run_app("forest", {"--directed", edges_}), "forest", 2,
                 "--directed: spanning forests are of undirected graphs");
  EXPECT_NE(run_app("help", {"forest"}).out.find("refused: the command takes every edge"), std::string::npos);
  const std::string nan = folder_.write("nan.wel", "1 2 3\n2 3 nan\n");
  expect_failure(run_app("forest", {"--output", folder_ / "x", nan}), "forest", 1,
                 nan + ":2:5: the edge from 2 to 3 has weight nan (expected a number)");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
  EXPECT_EQ(run_app("forest", {"--algorithm", "prim", edges_}).code, 2);
}

// A cache holds the lightest of repeated edges and no negative weights; the report says what is not cached.
TEST_F(ForestFile, WhatIsNotCachedIsSaid) {
  SPARGO_NEEDS_SNAPSHOTS();
  const std::string plain = folder_.write("plain.wel", "1 2 5\n2 3 1\n1 2 4\n");
  const std::string negative = folder_.write("negative.wel", "1 2 5\n2 3 -1\n");
  const auto cached = [&](const std::string& file, std::vector<std::string> flags, const std::string& warning) {
    flags.insert(flags.end(), {file, "--cache", "--device", "cpu", "--json", "-"});
    const app_run run = run_here("forest", flags);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err.empty(), warning.empty()) << run.err;
    EXPECT_NE(run.err.find(warning), std::string::npos) << run.err;
    return run.json();
  };
  EXPECT_EQ(cached(plain, {"--maximum"}, "no cache: it would hold the lightest")["cache"], "off");
  EXPECT_EQ(cached(negative, {}, "negative.wel: no cache: negative weights")["cache"], "off");
  EXPECT_EQ(cached(plain, {}, "")["cache"], "written");
  EXPECT_EQ(cached(plain, {"--maximum"}, "no cache: it would hold the lightest")["total_weight"], 6);
  const json again = cached(plain, {}, "");
  EXPECT_EQ(again["cache"], "used");
  EXPECT_EQ(again["total_weight"], 5);
}

}  // namespace
}  // namespace spargo::test
