// `pagerank` end to end: graphs of the data folder against truth.json (networkx), flags, outputs, errors.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "apps/graph_app.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

app_run rank(std::vector<std::string> words) {
  words.insert(words.begin(), "pagerank");
  return run_app("spargo", words);
}

class PageRankFile : public testing::Test {
 protected:
  const scratch folder_;
  // A cycle of three and a dangling vertex; a duplicate, ids with gaps.
  const std::string edges_ = folder_.write("g.el", "10 20\n20 30\n30 10\n10 1000000000000\n10 20\n");

  std::map<std::int64_t, double> ranks(std::vector<std::string> flags) {
    const std::string out = folder_ / "ranks.txt";
    flags.insert(flags.end(), {"--quiet", "--device", "cpu", "--output", out, edges_});
    const app_run run = rank(flags);
    EXPECT_EQ(run.code, 0) << run.err;
    std::istringstream in(slurp(out));
    std::map<std::int64_t, double> found;
    std::int64_t id = 0;
    for (double value = 0; in >> id >> value;) found[id] = value;
    return found;
  }
};

TEST_F(PageRankFile, EveryKeyOfTheContractIsThere) {
  const json got = rank({"--json", "-", "--device", "cpu", edges_}).json();
  expect_graph_keys(got, {"iterations", "residual", "converged", "top"});
  EXPECT_EQ(got["app"], "pagerank");
  EXPECT_EQ(got["vertices"], 4);
  EXPECT_EQ(got["edges"], 4);
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["converged"], true);
  ASSERT_EQ(got["top"].size(), 4U);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_GE(got["top"][k - 1][1], got["top"][k][1]);
}

// One iteration by hand: 1/4 each; the dangling vertex's share is distributed.
TEST_F(PageRankFile, OutputHasTheFilesOwnIds) {
  const double base = 0.15 / 4 + 0.85 / 16;
  const auto found = ranks({"--iterations", "1"});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_NEAR(found.at(10), base + 0.85 / 4, 1e-12);
  EXPECT_NEAR(found.at(20), base + 0.85 / 8, 1e-12);
  EXPECT_NEAR(found.at(30), base + 0.85 / 4, 1e-12);
  EXPECT_NEAR(found.at(1000000000000), base + 0.85 / 8, 1e-12);
  EXPECT_NEAR(ranks({"--iterations", "1", "--dangling", "drop"}).at(30), 0.15 / 4 + 0.85 / 4, 1e-12);
}

TEST_F(PageRankFile, PersonalizedByIds) {
  const auto found = ranks({"--iterations", "1", "--personalize", "10,30"});
  EXPECT_NEAR(found.at(10), 0.15 / 2 + 0.85 / 4 + 0.85 / 8, 1e-12);  // half of the dangling rank
  EXPECT_NEAR(found.at(20), 0.85 / 8, 1e-12);
  const auto evenly = ranks({"--iterations", "1", "--personalize", "10,30", "--dangling", "uniform"});
  EXPECT_NEAR(evenly.at(20), 0.85 / 8 + 0.85 / 16, 1e-12);
  EXPECT_EQ(ranks({"--iterations", "1", "--personalise", "10,30"}), found) << "the other spelling";
  for (const std::string& help : {run_app("spargo", {"help", "pagerank"}).out, rank({"--help"}).out}) {
    EXPECT_NE(help.find("--personalize"), std::string::npos) << help;
    EXPECT_EQ(help.find("--personalise"), std::string::npos) << "shown once: " << help;
  }
}

// Every value is one of single precision, though not as near to the exact one as a double.
TEST_F(PageRankFile, InSinglePrecision) {
  const auto reports = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--json", "-", "--quiet", "--device", "cpu", edges_});
    const app_run run = rank(flags);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.json();
  };
  EXPECT_EQ(reports({"--precision", "fp32"})["precision"], "fp32");
  EXPECT_EQ(reports({"--precision", "fp32", "--personalize", "10,20"})["valid"], true);
  const json report = reports({"--precision", "fp32"});
  for (const json& entry : report.at("top")) {
    const auto value = entry[1].get<double>();
    EXPECT_EQ(value, std::stod(fmt::format("{:.9g}", value)));
  }
  EXPECT_EQ(reports({})["precision"], "fp64");
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--iterations", "3"},
                                                {"--iterations", "3", "--personalize", "10,30"},
                                                {"--iterations", "3", "--weights", "unit"},
                                                {"--tolerance", "1e-6"}}) {
    auto narrow = flags;
    narrow.insert(narrow.end(), {"--precision", "fp32"});
    const auto expected = ranks(flags), found = ranks(narrow);
    ASSERT_EQ(found.size(), 4U);
    bool differs = false;
    for (const auto& [id, value] : found) {
      EXPECT_EQ(value, std::stod(fmt::format("{:.9g}", value))) << "digits that fp32 does not have";
      EXPECT_NEAR(value, expected.at(id), flags.front() == "--tolerance" ? 1e-5 : 2e-7) << id;
      differs |= value != expected.at(id);
    }
    EXPECT_TRUE(differs);
  }
  expect_failure(rank({"--precision", "half", edges_}), "pagerank", 2, "half is not a precision");
}

class PageRankOverWeights : public testing::Test {
 protected:
  const scratch folder_;

  json of(const std::string& file, std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--json", "-", "--quiet", "--device", "cpu", file});
    const app_run run = rank(flags);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.code == 0 ? run.json() : json();
  }
  static std::map<std::string, double> top(const json& report) {
    std::map<std::string, double> ranks;
    for (const json& row : report["top"]) ranks[row[0].dump()] = row[1];
    return ranks;
  }
};

// By hand: vertex 1 keeps 1 part of 10, 3 + 2 of two lines go to 2, and 4 to 3.
TEST_F(PageRankOverWeights, OfTheFileInProportion) {
  const auto file = folder_.write("w.el", "1 2 3\n1 2 2\n1 3 4\n1 1 1\n2 1 7\n3 1 0.5\n");
  const json report = of(file, {"--weights", "file", "--iterations", "1"});
  EXPECT_EQ(report["weights"], "file");
  EXPECT_EQ(report["valid"], true);
  const auto found = top(report);
  EXPECT_NEAR(found.at("1"), 0.05 + 0.85 / 3 * 2.1, 1e-12);
  EXPECT_NEAR(found.at("2"), 0.05 + 0.85 / 3 * 0.5, 1e-12);
  EXPECT_NEAR(found.at("3"), 0.05 + 0.85 / 3 * 0.4, 1e-12);
  const auto equal = top(of(file, {"--iterations", "1"}));
  EXPECT_NEAR(equal.at("2"), 0.05 + 0.85 / 9, 1e-12) << "weights do not count by default";
  EXPECT_FALSE(of(file, {}).contains("weights"));
  SPARGO_NEEDS_SNAPSHOTS();
  const auto snapshot = folder_ / "w.spg";
  ASSERT_EQ(run_app("spargo", {"convert", "--quiet", file, snapshot}).code, 0);
  EXPECT_NEAR(top(of(snapshot, {"--weights", "file", "--iterations", "1"})).at("2"), found.at("2"), 1e-12);
  for (const char* cache : {"first", "second"}) {  // which writes it, and which might read it
    EXPECT_EQ(top(of(file, {"--weights", "file", "--iterations", "1", "--cache"})), found) << cache;
    EXPECT_EQ(run_app("spargo", {"sssp", "--quiet", "--cache", "--device", "cpu", file}).code, 0);
  }
}

TEST_F(PageRankOverWeights, UndirectedUnitAndRandom) {
  const auto file = folder_.write("w.el", "1 2 8\n2 3 1\n3 4 1\n4 1 2\n");
  const auto both = top(of(file, {"--weights", "file", "--undirected", "--iterations", "1"}));
  EXPECT_NEAR(both.at("1"), 0.0375 + 0.85 / 4 * (8.0 / 9 + 2.0 / 3), 1e-12);
  const auto equal = top(of(file, {}));
  for (const auto& [id, value] : top(of(file, {"--weights", "unit"}))) EXPECT_NEAR(value, equal.at(id), 1e-12) << id;
  const json random = of("gen:rmat:scale=10,degree=8", {"--weights", "random:7"});
  EXPECT_EQ(random["weights"], "random:7");
  EXPECT_EQ(random["valid"], true);
}

TEST_F(PageRankOverWeights, RefusedInOneLine) {
  const auto refusal = [&](const std::string& text, const std::string& weights) {
    const app_run run = rank({"--weights", weights, "--device", "cpu", folder_.write("bad.el", text)});
    EXPECT_NE(run.code, 0);
    EXPECT_TRUE(run.out.empty()) << run.out;
    return run.err;
  };
  EXPECT_THAT(refusal("1 2 3\n2 1 -4\n", "file"), testing::HasSubstr("bad.el:2:"));
  EXPECT_THAT(refusal("1 2 3\n1 2 -1\n", "file"), testing::HasSubstr("weight -1"));
  EXPECT_THAT(refusal("1 2\n2 1\n", "file"), testing::HasSubstr("no weights"));
  EXPECT_THAT(refusal("1 2\n2 1\n", "heavy"), testing::HasSubstr("--weights: heavy"));
  EXPECT_THAT(
      refusal("2 1 1\n1 2 inf\n", "file"),
      testing::HasSubstr("bad.el:2:5: the edge from 1 to 2 has weight inf (expected a finite one of 0 or more)"));
}

// A vertex with a loop keeps a share of its rank, as in networkx.
class PageRankLoops : public testing::Test {
 protected:
  static std::vector<std::string> of(const std::string& file, std::vector<std::string> flags = {}) {
    std::vector<std::string> words{"--json", "-", "--quiet", "--device", "cpu", "--tolerance", "1e-12", file};
    words.insert(words.end(), flags.begin(), flags.end());
    return words;
  }
  static void expect_ranks(const app_run& run, const std::string& what) {
    ASSERT_EQ(run.code, 0) << what << ": " << run.err;
    const json got = run.json();
    EXPECT_EQ(got["edges"], 3) << what;
    EXPECT_EQ(got["valid"], true) << what;
    const double two = 0.128625 / 0.2679375;  // rank(2) = 0.05 + 0.85 (rank(1) + rank(2) / 2)
    const std::map<int, double> expected{{1, 0.0925 + 0.36125 * two}, {2, two}, {3, 0.05 + 0.425 * two}};
    for (const auto& top : got["top"]) EXPECT_NEAR(top[1], expected.at(top[0]), 1e-9) << what;
    EXPECT_EQ(got["top"].size(), 3U) << what;
  }
  const scratch folder_;
  const std::string edges_ = folder_.write("loop.el", "1 2\n2 2\n2 3\n3 1\n");
};

TEST(PageRankApp, ChecksAllowForRounding) {
  for (const char* tolerance : {"1e-15", "0"}) {
    const app_run run = rank({"gen:rmat:scale=13,degree=16", "--device", "cpu", "--repeat", "1", "--tolerance",
                              tolerance, "--max-iterations", "100", "--json", "-"});
    EXPECT_EQ(run.json()["valid"], true) << tolerance << ": " << run.err;
  }
}

TEST_F(PageRankLoops, CountInEveryFormat) {
  expect_ranks(rank(of(edges_)), "el");
  expect_ranks(rank(of(edges_, {"--iterations", "200"})), "jacobi");
  for (const char* name : {"loop.mtx", "loop.spg", "loop.csv"}) {
    if (!can_write(name)) continue;
    const std::string out = folder_ / name;
    const app_run converted = run_app("spargo", {"convert", "--quiet", edges_, out});
    ASSERT_EQ(converted.code, 0) << converted.err;
    const app_run run = rank(of(out));
    expect_ranks(run, name);
  }
}

TEST_F(PageRankLoops, AreInTheReport) {
  const std::string list = folder_.write("loops.el", "1 1\n1 2\n2 3\n3 3\n3 3\n4 2\n");
  for (const char* direction : {"--directed", "--undirected"}) {
    EXPECT_EQ(rank(of(list, {direction})).json().at("self_loops"), 2) << direction;
    const app_run run = rank({list, "--device", "cpu", direction});
    EXPECT_NE(run.out.find("\n  self-loops  2: they count, and are not among the edges\n"), std::string::npos)
        << run.out;
  }
  const std::string none = folder_.write("none.el", "1 2\n2 3\n");
  EXPECT_EQ(rank(of(none)).json().at("self_loops"), 0);
  EXPECT_EQ(rank({none, "--device", "cpu"}).out.find("self-loops"), std::string::npos);
  EXPECT_FALSE(run_app("spargo", {"bfs", list, "--device", "cpu", "--json", "-"}).json().contains("self_loops"));
}

TEST_F(PageRankLoops, OfAnUndirectedGraphCountOnce) {
  const app_run run = rank(of(folder_.write("u.el", "1 2\n2 2\n"), {"--undirected"}));
  ASSERT_EQ(run.code, 0) << run.err;
  const json got = run.json();
  EXPECT_EQ(got["edges"], 1);
  EXPECT_NEAR(got["top"][0][1], (0.075 + 0.85) / 1.425, 1e-9);  // x = 0.075 + 0.85 (1 - x + x / 2)
  EXPECT_EQ(got["top"][0][0], 2);
}

TEST_F(PageRankFile, EndsAsAskedFor) {
  const json three = rank({"--json", "-", "--device", "cpu", "--iterations", "3", edges_}).json();
  EXPECT_EQ(three["iterations"], 3);
  EXPECT_EQ(three["algorithm"], "jacobi");
  const app_run run = rank({"--json", "-", "--device", "cpu", "--tolerance", "1e-12", "--max-iterations", "2", edges_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["converged"], false);
  EXPECT_EQ(run.json()["valid"], true);
  EXPECT_NE(run.err.find("pagerank: warning: not converged after 2 iterations (residual "), std::string::npos)
      << run.err;
  EXPECT_EQ(rank({"--device", "cpu", "--iterations", "3", edges_}).err, "") << "as asked for";
}

TEST_F(PageRankFile, RefusesWhatMakesNoSense) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--damping", "1"},
                                                {"--damping", "-0.5"},
                                                {"--tolerance", "-1"},
                                                {"--iterations", "0"},
                                                {"--dangling", "away"},
                                                {"--personalize", "\"x\"y"},
                                                {"--directed", "--undirected"},
                                                {"--iterations", "3", "--algorithm", "gauss_seidel"}}) {
    std::vector<std::string> words = flags;
    words.push_back(edges_);
    EXPECT_EQ(rank(words).code, 2) << flags.front();
  }
  const app_run nobody = rank({"--device", "cpu", "--personalize", "11", edges_});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_NE(nobody.err.find("11: the graph has no such vertex"), std::string::npos) << nobody.err;
  EXPECT_EQ(rank({folder_ / "none.el"}).code, 1);
}

void check_top(const std::string& device) {
  const auto folder = data_directory();
  int runs = 0;
  for (const auto& [name, facts] : truth().items()) {
    if (is_left_out(name)) continue;
    if (!facts.contains("graph") || facts["kind"] != "mtx") continue;
    if (!facts["graph"].contains("pagerank_directed")) continue;
    const app_run run = rank({"--json", "-", "--quiet", "--device", device, "--directed", "--tolerance", "1e-13",
                              "--repeat", "1", (folder / name).string()});
    ASSERT_EQ(run.code, 0) << name << ": " << run.err;
    const double expected = facts["graph"]["pagerank_directed"]["top5"][0][1].get<double>();
    EXPECT_NEAR(run.json()["top"][0][1].get<double>(), expected, 1e-8 * expected) << name;
    ++runs;
  }
  EXPECT_GT(runs, used_inputs(5));
}

TEST(PageRankApp, AgreesWithTheTruthOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_top("cpu");
}

TEST(PageRankApp, AgreesWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_top("cuda");
}

}  // namespace
}  // namespace spargo::test
