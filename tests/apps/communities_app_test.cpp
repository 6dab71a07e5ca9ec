// `communities` end to end: every graph of the data folder against truth_more.json, LDBC Graphalytics' examples, flags,
// errors.
#include <map>

#include "apps/graph_app.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

json run_with(const std::string& method, const std::string& file, std::vector<std::string> flags,
              const std::string& device = "cpu") {
  return reporter{"communities", {"--method", method, "--device", device, "--repeat", "1"}}(file, std::move(flags));
}

json run_on(const std::string& file, const std::vector<std::string>& flags, const std::string& device = "cpu") {
  return run_with("cdlp", file, flags, device);
}

std::map<std::int64_t, std::int64_t> pairs_in(const std::string& text) {
  std::map<std::int64_t, std::int64_t> pairs;
  std::istringstream in(text);
  for (std::int64_t id = 0, label = 0; in >> id >> label;) pairs[id] = label;
  return pairs;
}

// In the truth a matrix's first vertex is 0, and ids without edges are vertices labelled by themselves.
void check_truth(const std::string& device) {
  const scratch folder;
  const std::string out = folder / "labels.txt";
  for_each_truth("cdlp", 40, [&](const std::string& name, const std::string& file, const json& truth, const json&) {
    const bool matrix = first_id(name) == 1;
    for (const std::string direction : {"directed", "undirected"}) {
      const json got = run_on(file, {"--" + direction, "--output", out}, device);
      ASSERT_FALSE(got.empty());
      EXPECT_EQ(got["valid"], true);
      const auto labels = pairs_in(slurp(out));
      const auto n = static_cast<std::int64_t>(labels.size());
      ASSERT_EQ(n, got["vertices"].get<std::int64_t>());
      std::int64_t absent = 0;
      std::int64_t extra = matrix ? -n : 0;
      for (std::int64_t id = 0; !matrix && id <= labels.rbegin()->first; ++id) {
        if (labels.count(id) != 0) continue;
        ++absent;
        extra += id;
      }
      const json& expected = truth[direction];
      EXPECT_EQ(got["communities"].get<std::int64_t>() + absent, expected["labels"].get<std::int64_t>());
      EXPECT_EQ(got["label_sum"].get<std::int64_t>() + extra, expected["sum"].get<std::int64_t>());
    }
  });
}

TEST(CommunitiesApp, AgreesWithTheTruthOnTheCpu) { check_truth("cpu"); }

TEST(CommunitiesApp, AgreesWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  check_truth("cuda");
}

// Ids without edges are not in the edge list; they keep their labels.
TEST(CommunitiesApp, AgreesWithLdbc) {
  SPARGO_TEST_NEEDS_DATA();
  const scratch folder;
  const std::string out = folder / "labels.txt";
  const std::map<std::string, std::string> rounds = {{"example-directed", "2"},
                                                     {"example-undirected", "2"},
                                                     {"test-cdlp-directed", "5"},
                                                     {"test-cdlp-undirected", "5"}};
  for (const auto& [name, iterations] : rounds) {
    SCOPED_TRACE(name);
    const auto file = data_directory() / "ldbc" / name;
    const auto expected = pairs_in(slurp(file.string() + "-CDLP"));
    ASSERT_GT(expected.size(), 4U);
    const std::string edges = folder.write("e.wel", slurp(file.string() + ".e"));
    const char* direction = name.find("undirected") == std::string::npos ? "--directed" : "--undirected";
    (void)run_on(edges, {"--output", out, "--iterations", iterations, direction});
    auto got = pairs_in(slurp(out));
    for (const auto& [id, label] : expected) got.try_emplace(id, id);
    EXPECT_EQ(got, expected);
  }
}

class CommunitiesFile : public testing::Test {
 protected:
  const scratch folder_;
  // Two triangles with an edge between them, and a pair with a large id. A loop, a duplicate.
  const std::string edges_ =
      folder_.write("g.el", "# c\n10 20\n20 30\n30 10\n10 20\n30 30\n40 50\n50 60\n60 40\n30 40\n1000000000000 7\n");
};

TEST_F(CommunitiesFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--undirected"});
  expect_graph_keys(got, {"method", "iterations", "rounds", "communities", "largest", "label_sum"});
  EXPECT_EQ(got["app"], "communities");
  EXPECT_EQ(got["vertices"], 8);
  EXPECT_EQ(got["edges"], 8);
  EXPECT_EQ(got["directed"], false);
  EXPECT_EQ(got["method"], "cdlp");
  EXPECT_EQ(got["iterations"], 10);
  EXPECT_EQ(got["time_ms"]["runs"], 1);
  EXPECT_EQ(got["valid"], true);
}

// Worked by hand: after one round 10 has 20 (of 20 and 30), 20 and 30 have 10, 40 has 30, 50 and 60 have 40.
TEST_F(CommunitiesFile, OutputHasIdsAsTheFileWritesThem) {
  const std::string out = folder_ / "labels.txt";
  const json once = run_on(edges_, {"--undirected", "--iterations", "1", "--output", out});
  EXPECT_EQ(slurp(out), "7 1000000000000\n10 20\n20 10\n30 10\n40 30\n50 40\n60 40\n1000000000000 7\n");
  EXPECT_EQ(once["communities"], 6);
  EXPECT_EQ(once["largest"], 2);
  EXPECT_EQ(once["sizes"], json::parse("[[2,2],[1,4]]"));
  EXPECT_EQ(once["label_sum"], 1000000000000 + 20 + 10 + 10 + 30 + 40 + 40 + 7);
  EXPECT_EQ(once["rounds"], 1);
}

// The sizes match the lines written.
TEST_F(CommunitiesFile, SizesAreAHistogram) {
  const std::string out = folder_ / "labels.csv";
  const json got = run_on("gen:rmat:scale=8,degree=4", {"--undirected", "--output", out});
  std::map<std::string, std::int64_t> counts;
  std::istringstream lines(slurp(out));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) ++counts[line.substr(line.find(','))];
  std::map<std::int64_t, std::int64_t, std::greater<>> sizes;
  for (const auto& [label, count] : counts) ++sizes[count];
  json expected = json::array();
  for (const auto& [size, count] : sizes) expected.push_back({size, count});
  ASSERT_LE(expected.size(), 20U);
  EXPECT_EQ(got["sizes"], expected);
  EXPECT_EQ(got["largest"], expected[0][0]);
  const app_run run =
      run_app("communities", {"--device", "cpu", "--undirected", "--method", "cdlp", "--iterations", "1", edges_});
  EXPECT_NE(run.out.find("2 of 2 vertices, 4 of 1"), std::string::npos) << run.out;
}

TEST_F(CommunitiesFile, SumsBeyond64BitsAreRounded) {
  const std::string large = folder_.write("l.el", "9223372036854775806 9223372036854775807\n");
  const json got = run_on(large, {});
  EXPECT_TRUE(got["label_sum"].is_number_float());
  EXPECT_DOUBLE_EQ(got["label_sum"].get<double>(), 2 * 9223372036854775807.0);
}

TEST_F(CommunitiesFile, OtherFormatsGiveTheSame) {
  const json expected = run_on("gen:rmat:scale=8,degree=4", {"--directed"});
  for (const std::string name : {"h.spg", "h.el.gz", "h.mtx"}) {
    if (!test::can_write(name)) continue;
    const std::string other = folder_ / name;
    ASSERT_EQ(run_app("convert", {"--quiet", "gen:rmat:scale=8,degree=4", other}).code, 0) << name;
    const json got = run_on(other, {"--directed"});
    EXPECT_EQ(got["largest"], expected["largest"]) << name;
    EXPECT_EQ(got["edges"], expected["edges"]) << name;
  }
}

TEST_F(CommunitiesFile, PeopleReadTheFigures) {
  const app_run run = run_app(
      "communities", {"--device", "cpu", "--undirected", "--method", "cdlp", "--iterations", "1000000", edges_});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("communities"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("of 1,000,000: more change nothing"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("valid: checked independently, round by round"), std::string::npos) << run.out;
  EXPECT_NE(run_app("communities", {"--device", "cpu", "--no-validate", edges_}).out.find("not validated"),
            std::string::npos);
  const std::string weighted = folder_.write("w.wel", "1 2 0.5\n2 3 1.5\n");
  EXPECT_NE(run_app("communities", {"--device", "cpu", weighted}).out.find("ignored"), std::string::npos);
}

TEST_F(CommunitiesFile, ErrorsInOneLine) {
  const std::string command = "communities";
  expect_failure(run_app(command, {"--iterations", "0", edges_}), command, 2);
  expect_failure(run_app(command, {"--method", "walktrap", edges_}), command, 2, "walktrap is not a method");
  expect_failure(run_app(command, {"--objective", "density", edges_}), command, 2, "density is not an objective");
  expect_failure(run_app(command, {"--resolution", "-1", edges_}), command, 2, "--resolution: -1");
  expect_failure(run_app(command, {"--weights", "heavy", edges_}), command, 2, "--weights: heavy");
  expect_failure(run_app(command, {"--weights", "file", edges_}), command, 1, "it has no weights");
  expect_failure(run_app(command, {"--weights", "file", folder_.write("n.wel", "1 2 3\n2 3 -1\n")}), command, 1,
                 "n.wel:2");
  for (const std::string method : {"louvain", "leiden"}) {
    expect_failure(
        run_app(command, {"--method", method, "--weights", "file", folder_.write("i.wel", "7 9 1\n8 9 inf\n")}),
        command, 1, "i.wel:2:5: the edge from 8 to 9 has weight inf (expected a finite one of 0 or more)");
  }
}

// Leiden by default: the two triangles and the pair, each named by its smallest id. A loop counts: modularity worked by
// hand, of 9 edges (the duplicate is one) 8 are inside, degrees add up to 9 (loop included), 7 and 2.
TEST_F(CommunitiesFile, LeidenIsTheDefault) {
  const std::string out = folder_ / "communities.csv";
  const app_run run =
      run_app("communities", {"--device", "cpu", "--undirected", "--json", "-", "--output", out, edges_});
  ASSERT_EQ(run.code, 0) << run.err;
  const json got = run.json();
  for (const char* key : {"method", "objective", "resolution", "seed", "iterations", "rounds", "communities", "largest",
                          "sizes", "modularity", "levels"}) {
    EXPECT_TRUE(got.contains(key)) << key;
  }
  EXPECT_FALSE(got.contains("label_sum"));
  EXPECT_EQ(got["method"], "leiden");
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["sizes"], json::parse("[[3,2],[2,1]]"));
  EXPECT_NEAR(got["modularity"].get<double>(), 8.0 / 9 - (81 + 49 + 4) / 324.0, 1e-12);
  EXPECT_EQ(slurp(out), "id,community\n7,7\n10,10\n20,10\n30,10\n40,40\n50,40\n60,40\n1000000000000,7\n");
  const app_run seen = run_app("communities", {"--device", "cpu", "--undirected", edges_});
  EXPECT_NE(seen.out.find("every community connected"), std::string::npos) << seen.out;
}

// A path of four whose middle edge is heavy: with weights its ends are together.
TEST_F(CommunitiesFile, WeightsAreAskedFor) {
  const std::string path = folder_.write("p.wel", "1 2 1\n2 3 4\n3 2 4\n3 4 1\n");
  for (const std::string method : {"louvain", "leiden"}) {
    EXPECT_EQ(run_with(method, path, {"--undirected"})["sizes"], json::parse("[[2,2]]"));
    const json weighted = run_with(method, path, {"--undirected", "--weights", "file"});
    EXPECT_EQ(weighted["weights"], "file");
    EXPECT_EQ(weighted["valid"], true);
    // 10 in all, 8 of the middle edge (both of its lines): degrees 1, 9, 9, 1.
    EXPECT_NEAR(weighted["modularity"].get<double>(), 0, 1e-12);
    EXPECT_EQ(weighted["communities"], 1);
    EXPECT_EQ(run_with(method, path, {"--undirected", "--weights", "random:3"})["valid"], true);
  }
}

TEST_F(CommunitiesFile, ObjectivesResolutionsAndSeeds) {
  const std::vector<std::string> cpm{"--undirected", "--objective", "cpm", "--resolution", "0.6"};
  EXPECT_EQ(run_with("leiden", edges_, cpm)["communities"], 3);
  EXPECT_EQ(run_with("leiden", edges_, {"--undirected", "--objective", "cpm", "--resolution", "1.5"})["communities"],
            8);
  EXPECT_EQ(run_with("leiden", edges_, {"--undirected", "--resolution", "0"})["communities"], 2);
  const std::string rmat = "gen:rmat:scale=10,degree=8";
  const json once = run_with("leiden", rmat, {"--undirected", "--seed", "4", "--threads", "1"});
  const json again = run_with("leiden", rmat, {"--undirected", "--seed", "4", "--threads", "3"});
  EXPECT_EQ(once["modularity"], again["modularity"]);
  EXPECT_EQ(once["sizes"], again["sizes"]);
  EXPECT_NE(run_with("leiden", rmat, {"--undirected", "--seed", "5"})["modularity"], once["modularity"]);
  EXPECT_EQ(run_with("louvain", rmat, {"--directed"})["valid"], true);
}

// Within 1 percent of the best that igraph found in several tries, its Leiden run until stable.
TEST(CommunitiesApp, ModularityOfRealGraphs) {
  SPARGO_TEST_NEEDS_DATA();
  const json& more = truth_more();
  int files = 0;
  for (const std::string name : {"karate.mtx", "dolphins.mtx", "netscience.mtx", "facebook_combined.txt",
                                 "email-Eu-core.wel", "PGPgiantcompo.el", "as-caida20071105.csv", "road-minnesota.mtx",
                                 "road-luxembourg-osm.mtx.gz", "ca-CondMat-cc1.txt"}) {
    SCOPED_TRACE(name);
    const json& truth = more.at(name).at("louvain");
    const std::string path = (data_directory() / name).string();
    const double louvain = run_with("louvain", path, {"--undirected"})["modularity"].get<double>();
    const double leiden = run_with("leiden", path, {"--undirected"})["modularity"].get<double>();
    EXPECT_GT(louvain, 0.98 * truth["multilevel"].get<double>());
    EXPECT_GT(leiden, (name == "dolphins.mtx" ? 0.98 : 0.995) * truth["leiden"].get<double>());
    if (name == "karate.mtx") {
      EXPECT_NEAR(leiden, 0.41978961, 1e-8);
    }
    ++files;
  }
  EXPECT_EQ(files, 10);
}

TEST_F(CommunitiesFile, EmptyGraphs) {
  const json none = run_on(folder_.write("n.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n"), {});
  EXPECT_EQ(none["communities"], 3);
  EXPECT_EQ(none["label_sum"], 6);
  const json nothing = run_on(folder_.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n"), {});
  EXPECT_EQ(nothing["communities"], 0);
  EXPECT_EQ(nothing["largest"], 0);
}

}  // namespace
}  // namespace spargo::test
