// `sssp` end to end: every graph of the data folder against truth_more.json, LDBC Graphalytics' examples, weights from
// everywhere, flags, errors.
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "apps/graph_app.hpp"
#include "input/weight_position.hpp"
#include "placement/weighted_input.hpp"
#include "support/device.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;
using words = std::vector<std::string>;

const reporter run_on{"sssp", {"--repeat", "1"}};

void expect_close(const json& got, const json& expected) {
  const double right = expected.get<double>();
  EXPECT_NEAR(got.get<double>(), right, 1e-9 * std::abs(right));
}

// `shift`: id in the file of vertex 0 of the truth.
void expect_search(const json& got, const json& expected, std::int64_t shift) {
  EXPECT_EQ(got["source"], expected["source"].get<std::int64_t>() + shift);
  EXPECT_EQ(got["reached"], expected["reached"]);
  EXPECT_EQ(got["valid"], true);
  expect_close(got["max_distance"], expected["max"]);
  expect_close(got["sum_distance"], expected["sum"]);
  ASSERT_EQ(got["first"].size(), expected["first5"].size());
  for (std::size_t k = 0; k < got["first"].size(); ++k) {
    EXPECT_EQ(got["first"][k][0], expected["first5"][k][0].get<std::int64_t>() + shift);
    expect_close(got["first"][k][1], expected["first5"][k][1]);
  }
}

// Every graph of the data folder.
void check_truth(const std::string& device) {
  int searches = 0;
  for_each_truth("sssp", 20, [&](const std::string& name, const std::string& file, const json& truth, const json&) {
    const std::int64_t shift = first_id(name);
    for (const auto& [key, expected] : truth.items()) {
      if (key.ends_with("_0")) continue;  // another source of the same graph: in the library's test
      SCOPED_TRACE(key);
      const std::string direction = key.starts_with("directed") ? "--directed" : "--undirected";
      const std::string source = std::to_string(expected["source"].get<std::int64_t>() + shift);
      const json got = run_on(file, {direction, "--source", source, "--device", device});
      ASSERT_FALSE(got.empty());
      EXPECT_EQ(got["device"], device == "cpu" ? "cpu" : "cuda:0");
      expect_search(got["runs"][0], expected, shift);
      ++searches;
    }
  });
  EXPECT_TRUE(testing::Test::IsSkipped() || searches > used_inputs(80)) << searches;
}

TEST(SsspApp, AgreesWithTheTruthOnTheCpu) { check_truth("cpu"); }

TEST(SsspApp, AgreesWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  check_truth("cuda");
}

// `id distance parent` a line.
std::map<std::int64_t, std::string> distances_in(const std::string& text) {
  std::map<std::int64_t, std::string> distances;
  std::istringstream in(text);
  std::int64_t id = 0;
  std::int64_t parent = 0;
  for (std::string distance; in >> id >> distance >> parent;) distances[id] = distance;
  return distances;
}

void check_ldbc(const std::string& device) {
  const scratch folder;
  const std::string out = folder / "distances.txt";
  int compared = 0;
  for (const std::string name :
       {"example-directed", "example-undirected", "test-sssp-directed", "test-sssp-undirected"}) {
    SCOPED_TRACE(name);
    const auto file = data_directory() / "ldbc" / name;
    const std::string edges = folder.write("e.wel", slurp(file.string() + ".e"));
    const char* direction = name.find("undirected") == std::string::npos ? "--directed" : "--undirected";
    const std::string source = name == "example-undirected" ? "2" : "1";
    (void)run_on(edges, {"--output", out, direction, "--source", source, "--device", device});
    const auto found = distances_in(slurp(out));
    std::ifstream reference(file.string() + "-SSSP");
    std::string length;
    for (std::int64_t id = 0; reference >> id >> length; ++compared) {
      const auto at = found.find(id);
      const std::string got = at == found.end() ? "inf" : at->second;  // without edges: not in the list of edges
      if (length == "infinity") {
        EXPECT_EQ(got, "inf") << "vertex " << id;
      } else {
        EXPECT_NEAR(std::stod(got), std::stod(length), 1e-12) << "vertex " << id;
      }
    }
  }
  EXPECT_GT(compared, 30);
}

TEST(SsspApp, AgreesWithLdbcOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_ldbc("cpu");
}

TEST(SsspApp, AgreesWithLdbcOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_ldbc("cuda");
}

class SsspFile : public testing::Test {
 protected:
  const scratch folder_;
  // Two ways from 10 to 30, the lighter one in two steps; an edge listed twice, a loop, and ids with holes.
  const std::string edges_ =
      folder_.write("g.wel", "10 20 3\n20 30 4\n10 30 9\n20 30 6\n30 1000000000000 1\n30 30 0\n50 10 2\n");

  // The error of a run that fails with this code.
  static std::string failure(words flags, int code) {
    const app_run run = run_app("sssp", flags);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    return run.err;
  }
};

TEST_F(SsspFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--sources", "2"});
  expect_graph_keys(got, {"weights", "delta", "runs"});
  EXPECT_EQ(got["app"], "sssp");
  EXPECT_EQ(got["vertices"], 5);
  EXPECT_EQ(got["edges"], 5);
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["weights"], "file");
  EXPECT_EQ(got["weight_type"], "int32");
  EXPECT_EQ(got["valid"], true);
  ASSERT_EQ(got["runs"].size(), 2U);
  for (const char* key : {"source", "reached", "max_distance", "sum_distance", "first", "time_ms", "mteps", "valid"}) {
    EXPECT_TRUE(got["runs"][0].contains(key)) << key;
  }
}

TEST_F(SsspFile, FindsTheLightestWay) {
  const json got = run_on(edges_, {})["runs"][0];
  EXPECT_EQ(got["source"], 10);
  EXPECT_EQ(got["reached"], 4);
  EXPECT_EQ(got["max_distance"], 8);
  EXPECT_EQ(got["sum_distance"], 18);
  EXPECT_EQ(got["first"], json::parse("[[20,3],[30,7],[1000000000000,8]]"));
  const std::string out = folder_ / "out.txt";
  (void)run_on(edges_, {"--output", out});
  EXPECT_EQ(slurp(out), "10 0 10\n20 3 10\n30 7 20\n50 inf -1\n1000000000000 8 30\n");
  EXPECT_EQ(run_on(edges_, {"--undirected"})["runs"][0]["first"],
            json::parse("[[20,3],[30,7],[50,2],[1000000000000,8]]"));
}

TEST_F(SsspFile, EndsAsAskedFor) {
  EXPECT_EQ(run_on(edges_, {"--target", "30"})["runs"][0]["first"], json::parse("[[20,3],[30,7]]"));
  EXPECT_EQ(run_on(edges_, {"--cutoff", "6.5"})["runs"][0]["first"], json::parse("[[20,3]]"));
  EXPECT_EQ(run_on(edges_, {"--cutoff", "0", "--source", "30"})["runs"][0]["reached"], 1);
  for (const std::string algorithm : {"dijkstra", "delta_stepping"}) {
    const json got = run_on(edges_, {"--algorithm", algorithm, "--delta", "3"});
    EXPECT_EQ(got["algorithm"], algorithm);
    EXPECT_EQ(got["delta"], algorithm == "dijkstra" ? 0 : 2);
    EXPECT_EQ(got["runs"][0]["sum_distance"], 18);
  }
}

// Checked by the test's own search: every reported path leads from source to target along edges whose weights add up to
// the distance; without a path the target is unreachable.
TEST_F(SsspFile, ReportsThePathToATarget) {
  std::mt19937 random(11);
  for (int round = 0; round < 12; ++round) {
    const int vertices = 12;
    std::map<std::pair<int, int>, int> edges;
    std::string text = "# source target weight\n";
    for (int k = 0; k < 24; ++k) {
      const std::pair edge(static_cast<int>(random() % vertices) + 100, static_cast<int>(random() % vertices) + 100);
      const int weight = round % 3 == 0 ? 0 : static_cast<int>(random() % 3);  // many of them 0
      text += std::to_string(edge.first) + " " + std::to_string(edge.second) + " " + std::to_string(weight) + "\n";
      const auto [at, is_new] = edges.try_emplace(edge, weight);
      if (!is_new) at->second = std::min(at->second, weight);
    }
    const std::string file = folder_.write("random.wel", text);
    const int source = edges.begin()->first.first;
    std::map<int, int> distances = {{source, 0}};
    for (int step = 0; step < vertices; ++step) {
      for (const auto& [edge, weight] : edges) {
        const auto from = distances.find(edge.first);
        if (from == distances.end()) continue;
        const int through = from->second + weight;
        const auto [to, is_new] = distances.try_emplace(edge.second, through);
        if (!is_new) to->second = std::min(to->second, through);
      }
    }
    std::set<int> ids;
    for (const auto& [edge, weight] : edges) ids.insert({edge.first, edge.second});
    for (const int target : ids) {
      SCOPED_TRACE(text + std::to_string(source) + " to " + std::to_string(target));
      const json got =
          run_on(file, {"--source", std::to_string(source), "--target", std::to_string(target), "--device", "cpu"});
      const json run = got["runs"][0];
      EXPECT_EQ(got["valid"], true);
      EXPECT_EQ(run["target"], target);
      const auto distance = distances.find(target);
      if (distance == distances.end()) {
        EXPECT_TRUE(run["path"].is_null());
        EXPECT_TRUE(run["distance"].is_null());
        continue;
      }
      const auto path = run["path"].get<std::vector<int>>();
      ASSERT_FALSE(path.empty());
      EXPECT_EQ(path.front(), source);
      EXPECT_EQ(path.back(), target);
      EXPECT_EQ(std::set<int>(path.begin(), path.end()).size(), path.size());
      int length = 0;
      for (std::size_t k = 1; k < path.size(); ++k) {
        ASSERT_TRUE(edges.contains({path[k - 1], path[k]}));
        length += edges.at({path[k - 1], path[k]});
      }
      EXPECT_EQ(length, distance->second);
      EXPECT_EQ(run["distance"], distance->second);
    }
  }
}

TEST_F(SsspFile, ShowsThePathToPeople) {
  const auto says = [&](const words& flags) {
    words all = {edges_, "--device", "cpu"};
    all.insert(all.end(), flags.begin(), flags.end());
    const app_run run = run_app("sssp", all);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out;
  };
  EXPECT_NE(says({"--target", "30"}).find("30 at 7"), std::string::npos);
  EXPECT_NE(says({"--target", "10"}).find("10 (0 edges)"), std::string::npos);
  EXPECT_NE(says({"--target", "10", "--source", "1000000000000"}).find("not reached"), std::string::npos);
  const std::string line = "gen:path:n=100";
  const app_run run = run_app("sssp", {line, "--device", "cpu", "--target", "99"});
  EXPECT_NE(run.out.find("0 1 2 3 4 5 6 7 8 9 10 11 ... 99 (99 edges)"), std::string::npos) << run.out;
  const json path = run_on(line, {"--device", "cpu", "--target", "99"})["runs"][0]["path"];
  ASSERT_EQ(path.size(), 100U);
  EXPECT_EQ(path[57], 57);
}

TEST_F(SsspFile, RunsOnTheGpuOrSaysWhyNot) {
  SPARGO_TEST_NEEDS_GPU();
  const json there = run_on(edges_, {"--device", "cuda", "--target", "30", "--source", "10"});
  EXPECT_EQ(there["device"], "cuda:0");
  EXPECT_EQ(there["algorithm"], "delta_stepping");
  EXPECT_EQ(there["valid"], true);
  EXPECT_EQ(there["runs"][0]["first"], json::parse("[[20,3],[30,7]]"));
  EXPECT_GT(there["workspace_bytes"].get<std::int64_t>(), 0);
  EXPECT_EQ(run_on(edges_, {"--algorithm", "dijkstra"})["device"], "cpu");
  // About 2 s on one CPU thread: worth opening a GPU.
  const std::vector<std::string> long_run = {"--weights", "random", "--undirected", "--threads", "1", "--sources", "8"};
  EXPECT_EQ(run_on("gen:rmat:scale=17,degree=16", long_run)["device"], "cuda:0");
  EXPECT_NE(
      failure({"--device", "cuda", "--algorithm", "dijkstra", edges_}, 1).find("dijkstra does not run on the device"),
      std::string::npos);
}

TEST_F(SsspFile, WeightsAreMadeOnRequest) {
  const json unit = run_on(edges_, {"--weights", "unit"});
  EXPECT_EQ(unit["weights"], "unit");
  EXPECT_EQ(unit["runs"][0]["first"], json::parse("[[20,1],[30,1],[1000000000000,2]]"));
  const json one = run_on(edges_, {"--weights", "random:7"});
  EXPECT_EQ(one["weights"], "random:7");
  EXPECT_EQ(one["runs"][0]["first"], run_on(edges_, {"--weights", "random:7"})["runs"][0]["first"]);
  EXPECT_NE(one["runs"][0]["first"], run_on(edges_, {"--weights", "random:8"})["runs"][0]["first"]);
  EXPECT_EQ(one["runs"][0]["first"][0][1], random_weight(7, 0, 1));
  const std::string bare = folder_.write("bare.el", "1 2\n2 3\n");
  EXPECT_EQ(run_on(bare, {})["weights"], "unit");
  EXPECT_NE(failure({"--weights", "file", bare}, 1).find(bare + ": it has no weights"), std::string::npos);
  EXPECT_EQ(run_on("gen:grid2d:n=20", {"--weights", "random"})["valid"], true);
  EXPECT_EQ(run_on("gen:uniform:rows=100,degree=8", {})["weights"], "unit");
}

TEST(RandomWeights, AreEvenlySpreadAndTheSameBothWays) {
  std::vector<int> counts(256);
  for (std::int64_t u = 0; u < 200; ++u) {
    for (std::int64_t v = 0; v < 200; ++v) {
      const std::int32_t weight = random_weight(3, u, v);
      ASSERT_TRUE(weight >= 1 && weight <= 255);
      ASSERT_EQ(weight, random_weight(3, v, u));
      if (u < v) ++counts[static_cast<std::size_t>(weight)];
    }
  }
  for (std::size_t w = 1; w < counts.size(); ++w) EXPECT_NEAR(counts[w], 19900 / 255.0, 45) << w;
}

// The types of weights, from every format; the smallest of several weights.
TEST_F(SsspFile, WeightsOfEveryFormat) {
  const auto kept = [&](const std::string& name, const std::string& text, const std::string& type,
                        const std::string& first) {
    const json got = run_on(folder_.write(name, text), {});
    EXPECT_EQ(got["weight_type"], type) << name;
    EXPECT_EQ(got["runs"][0]["first"], json::parse(first)) << name;
  };
  kept("a.wel", "1 2 5000000000\n1 2 6000000000\n2 3 1\n", "int64", "[[2,5000000000],[3,5000000001]]");
  kept("b.csv", "source,target,weight\n1,2,0.5\n2,3,0.25\n", "fp64", "[[2,0.5],[3,0.75]]");
  kept("c.wel", "1 2 3.0\n2 3 9007199254740994\n", "fp64", "[[2,3.0],[3,9007199254740996.0]]");
  kept("d.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 4\n3 2 2\n", "int32", "[[1,4],[3,2]]");
  kept("e.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 4.5\n1 2 1.5\n2 3 2\n", "fp64",
       "[[2,1.5],[3,3.5]]");
  kept("f.gr", "c x\np sp 3 2\na 1 2 7\na 2 3 8\n", "int32", "[[2,7],[3,15]]");
  kept("g.graph", "3 2 001\n2 7\n1 7 3 8\n2 8\n", "int32", "[[2,7],[3,15]]");
  const std::string snapshot = folder_ / "h.spg";
  if (!test::can_write(snapshot)) return;
  EXPECT_EQ(run_app("convert", {edges_, snapshot, "--quiet"}).code, 0);
  EXPECT_EQ(run_on(snapshot, {})["runs"][0]["reached"], 4);
}

// A snapshot's matrix has the sums of duplicates; paths still use the smallest weight, also from a copy of it.
TEST_F(SsspFile, SnapshotsKnowTheLightestOfSeveralWeights) {
  SPARGO_NEEDS_SNAPSHOTS();
  const std::string list = folder_.write("parallel.wel", "7 8 5\n7 8 3\n8 9 4\n7 9 9\n9 9 1\n9 9 2\n");
  const std::string snapshot = folder_ / "parallel.spg";
  const std::string copy = folder_ / "copy.spg";
  for (const words& flags : {words{}, {"--cache"}, {"--cache"}}) {
    words all = {list, snapshot, "--quiet"};
    all.insert(all.end(), flags.begin(), flags.end());
    const app_run run = run_app("convert", all);
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.err, "");
    ASSERT_EQ(run_app("convert", {snapshot, copy, "--quiet"}).code, 0);
    for (const std::string& file : {list, snapshot, copy}) {
      EXPECT_EQ(run_on(file, {})["runs"][0]["first"], json::parse("[[8,3],[9,7]]")) << file;
    }
    EXPECT_EQ(run_app("spmv", {copy, "--x", "ones", "--json", "-"}).json()["y"]["sum"], 8 + 4 + 9 + 3);
  }
  const app_run text = run_app("convert", {copy, folder_ / "back.wel"});
  EXPECT_NE(text.err.find("listed more than once"), std::string::npos) << text.err;
}

// The line and column of the weight, in any layout.
TEST_F(SsspFile, RefusesWeightsWithTheirLine) {
  const auto refused = [&](const std::string& name, const std::string& text, const std::string& says) {
    const std::string path = folder_.write(name, text);
    const std::string error = failure({path}, 1);
    EXPECT_NE(error.find(path + says), std::string::npos) << error;
  };
  refused("a.wel", "# x\n1 2 3\n\n1 3  -4\n2 3 -5\n", ":4:6: the edge from 1 to 3 has weight -4 (expected 0 or more)");
  refused("b.csv", "source,target,weight\n7,9,1\n9,7,nan\n", ":3:5: the edge from 9 to 7 has weight nan");
  refused("c.mtx", "%%MatrixMarket matrix coordinate real general\n% x\n2 2 2\n1 2 1\n\n2 1 -0.5\n",
          ":6:5: the edge from 2 to 1 has weight -0.5");
  refused("d.gr", "c x\np sp 3 2\na 1 2 7\nc y\na 2 3 -8\n", ":5:7: the edge from 2 to 3 has weight -8");
  refused("e.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n1\n-1\n0\n",
          ":5:1: the edge from 1 to 2 has weight -1");
  refused("h.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 0\n3 1 0.5\n",
          ":4:5: the edge from 1 to 3 has weight -0.5");
  refused("f.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n", ": its values are complex");
  const app_run piped = run_shell("printf '4 5 1\\n5 4 -1\\n' | $BIN/sssp -");
  EXPECT_EQ(piped.code, 1);
  EXPECT_NE(piped.err.find("<stdin>: the edge from 5 to 4 has weight -1"), std::string::npos) << piped.err;
  const app_run zipped = run_shell("printf '4 5 1\\n5 4 -1\\n' | gzip > " + (folder_ / "z.wel.gz") + "; $BIN/sssp " +
                                   (folder_ / "z.wel.gz"));
  EXPECT_NE(zipped.err.find("z.wel.gz:2:5: the edge from 5 to 4"), std::string::npos) << zipped.err;
  EXPECT_EQ(run_on(folder_.write("g.wel", "1 2 -3\n"), {"--weights", "unit"})["valid"], true);
}

TEST_F(SsspFile, RefusesWhatMakesNoSense) {
  for (const words& flags : {words{"--weights", "heavy"},
                             {"--weights", "random:x"},
                             {"--delta", "-1"},
                             {"--cutoff", "-1"},
                             {"--cutoff", "nan"},
                             {"--algorithm", "astar"},
                             {"--repeat", "0"},
                             {"--directed", "--undirected"},
                             {"--sources", "2", "--output", "x"}}) {
    words all = flags;
    all.push_back(edges_);
    EXPECT_NE(failure(all, 2).find(flags.front()), std::string::npos) << flags.front();
  }
  EXPECT_NE(failure({"--target", "11", edges_}, 1).find("--target 11: the graph has no such vertex"),
            std::string::npos);
  EXPECT_NE(failure({"--source", "11", edges_}, 1).find("--source 11"), std::string::npos);
  EXPECT_EQ(run_app("sssp", {folder_ / "none.el"}).code, 1);
}

// --cache would keep the sums of duplicates.
TEST_F(SsspFile, ACacheOfWeightsIsNotTakenWithoutThem) {
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(run_on(edges_, {"--cache"})["runs"][0]["sum_distance"], 18);
    EXPECT_EQ(run_on(edges_, {"--cache", "--weights", "unit"})["runs"][0]["sum_distance"], 4);
  }
}

}  // namespace
}  // namespace spargo::test
