// Graphs whose vertices have names, through every command and back.
#include "apps/run_app.hpp"

#include <spargo/io/snapshot.hpp>

#include <gmock/gmock.h>

namespace spargo::test {
namespace {

using testing::HasSubstr;

const std::string people =
    "\"Doe, Jane\",Roe,2\n"
    "Roe,\"the \"\"Duke\"\"\",0.5\n"
    "\"Doe, Jane\",\"the \"\"Duke\"\"\",4\n"
    "1,2,1\n";

class Names : public testing::Test {
 protected:
  nlohmann::json json_of(const std::string& app, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "-"});
    const app_run run = run_app(app, arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.json();
  }
  std::string output_of(const std::string& app, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--output", folder_ / "out", "--quiet"});
    const app_run run = run_app(app, arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return slurp(folder_ / "out");
  }

  scratch folder_;
  const std::string file_ = folder_.write("people.csv", people);
};

TEST_F(Names, OneLineIsTwoVerticesAndAnEdge) {
  const auto found = json_of("components", {folder_.write("one.csv", "a,b\n")});
  EXPECT_EQ(found["vertices"], 2);
  EXPECT_EQ(found["edges"], 1);
  EXPECT_EQ(found["ids"], "names");
}

TEST_F(Names, SearchesStartAndEndAtNames) {
  EXPECT_EQ(json_of("bfs", {file_})["runs"][0]["source"], "Doe, Jane");
  EXPECT_EQ(json_of("bfs", {file_, "--source", "Roe"})["runs"][0]["reached"], 2);
  EXPECT_EQ(json_of("bfs", {file_, "--source", "1"})["runs"][0]["source"], "1");
  const auto paths = json_of("sssp", {file_, "--target", "the \"Duke\""})["runs"][0];
  EXPECT_EQ(paths["max_distance"], 2.5);
  EXPECT_EQ(paths["first"][0][0], "Roe");
  const std::string first = folder_.write("first.csv", "a,first\nfirst,b\n");
  EXPECT_EQ(json_of("bfs", {first, "--source", "first"})["runs"][0]["source"], "a");
  EXPECT_EQ(json_of("bfs", {first, "--source", "\"first\""})["runs"][0]["source"], "first");
  expect_failure(run_app("bfs", {file_, "--source", "Jane"}), "bfs", 1, "Jane: the graph has no such vertex");
  expect_failure(run_app("sssp", {file_, "--target", "Jane"}), "sssp", 1, "Jane: the graph has no such vertex");
}

TEST_F(Names, EveryOutputHasThem) {
  EXPECT_EQ(
      output_of("bfs", {file_, "--deterministic"}),
      "\"Doe, Jane\" 0 \"Doe, Jane\"\nRoe 1 \"Doe, Jane\"\n\"the \"\"Duke\"\"\" 1 \"Doe, Jane\"\n1 -1 -1\n2 -1 -1\n");
  EXPECT_EQ(output_of("sssp", {file_}),
            "\"Doe, Jane\" 0 \"Doe, Jane\"\nRoe 2 \"Doe, Jane\"\n\"the \"\"Duke\"\"\" 2.5 Roe\n1 inf -1\n2 inf -1\n");
  EXPECT_EQ(output_of("components", {file_}),
            "\"Doe, Jane\" \"Doe, Jane\"\nRoe \"Doe, Jane\"\n\"the \"\"Duke\"\"\" \"Doe, Jane\"\n1 1\n2 1\n");
  EXPECT_THAT(output_of("communities", {file_, "--undirected"}), HasSubstr("Roe "));
  EXPECT_THAT(output_of("triangles", {file_, "--undirected"}), HasSubstr("Roe 1"));
  EXPECT_THAT(output_of("pagerank", {file_}), HasSubstr("\"Doe, Jane\" 0."));
  EXPECT_THAT(output_of("betweenness", {file_}), HasSubstr("Roe "));
}

TEST_F(Names, ListsOfVertices) {
  const auto ranks = json_of("pagerank", {file_, "--personalize", "\"Doe, Jane\",Roe", "--tolerance", "1e-12"});
  EXPECT_EQ(ranks["top"].size(), 5U);
  EXPECT_EQ(ranks["top"][4][1], 0.0);
  const auto central = json_of("betweenness", {file_, "--source-list", "Roe,\"Doe, Jane\""});
  EXPECT_EQ(central["sources"], 2);
  EXPECT_TRUE(central["top"][0][0].is_string());
  expect_failure(run_app("pagerank", {file_, "--personalize", "Doe, Jane"}), "pagerank", 1,
                 "Doe: the graph has no such vertex");
}

TEST_F(Names, AFileOfIntegersStaysOne) {
  std::string text;
  for (int k = 0; k < 30; ++k) text += std::to_string(k) + " " + std::to_string(k + 1) + "\n";
  const std::string integers = folder_.write("integers.el", text + "31 alice\n");
  expect_failure(run_app("bfs", {integers}), "bfs", 1, "integers.el:31:4: 'alice' is not a vertex id");
  EXPECT_THAT(run_app("bfs", {integers}).err, HasSubstr("--ids names"));
  EXPECT_EQ(json_of("bfs", {integers, "--ids", "names", "--source", "alice"})["runs"][0]["source"], "alice");
  expect_failure(run_app("bfs", {file_, "--ids", "integers"}), "bfs", 1,
                 "people.csv:1:2: 'Doe, Jane' is not a vertex id");
  EXPECT_EQ(run_app("bfs", {integers, "--ids", "words"}).code, 2);
  expect_failure(run_app("bfs", {"gen:path:n=4", "--ids", "names"}), "bfs", 1, "not an edge list");
  EXPECT_EQ(json_of("bfs", {folder_.write("quoted.csv", "\"101\",\"102\"\n\"102\",\"7\"\n")})["runs"][0]["source"],
            101);
}

TEST_F(Names, PipesAndCompressedFilesHaveThem) {
  const app_run piped = run_shell("cat '" + file_ + "' | $BIN/bfs - --source Roe --json -");
  EXPECT_EQ(piped.json()["runs"][0]["source"], "Roe");
  const app_run packed = run_shell("gzip -c '" + file_ + "' > '" + folder_ / "people.csv.gz" + "'; $BIN/bfs '" +
                                   folder_ / "people.csv.gz" + "' --source Roe --json -");
  EXPECT_EQ(packed.json()["runs"][0]["source"], "Roe");
}

TEST_F(Names, ConvertedEdgeListsKeepThem) {
  const auto expected = json_of("sssp", {file_})["runs"][0]["first"];
  for (const std::string name : {"out.wel", "out.csv", "out.tsv", "out.csv.gz"}) {
    const app_run run = run_app("convert", {file_, folder_ / name});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err.find("names"), std::string::npos) << run.err;
    EXPECT_EQ(json_of("sssp", {folder_ / name})["runs"][0]["first"], expected) << name;
  }
}

TEST_F(Names, FormatsWithoutNamesSayTheyAreLost) {
  EXPECT_THAT(run_app("convert", {file_, folder_ / "out.mtx"}).err, HasSubstr("names become row numbers"));
  const std::string mutual = folder_.write("mutual.csv", "a,b\nb,a\n");
  EXPECT_THAT(run_app("convert", {mutual, folder_ / "out.graph"}).err, HasSubstr("names become row numbers"));
}

TEST_F(Names, SnapshotsAndCachesKeepThem) {
  try {
    check_snapshots("out.spg");
  } catch (const error&) {
    GTEST_SKIP() << "no xxHash";
  }
  EXPECT_EQ(run_app("convert", {file_, folder_ / "out.spg"}).err, "");
  EXPECT_EQ(json_of("sssp", {folder_ / "out.spg"})["runs"][0]["first"], json_of("sssp", {file_})["runs"][0]["first"]);
  for (const std::string cache : {"written", "used"}) {
    const auto found = json_of("bfs", {file_, "--cache", "--source", "Roe"});
    EXPECT_EQ(found["cache"], cache);
    EXPECT_EQ(found["runs"][0]["source"], "Roe");
  }
  EXPECT_EQ(run_app("convert", {folder_ / "out.spg", folder_ / "back.csv"}).code, 0);
  EXPECT_THAT(slurp(folder_ / "back.csv"), HasSubstr("\"Doe, Jane\",Roe,2\n"));
}

TEST_F(Names, AreReported) {
  EXPECT_THAT(run_app("info", {file_}).out, HasSubstr("vertices have 5 names"));
  EXPECT_THAT(run_app("bfs", {file_}).out, HasSubstr("Doe, Jane to 2"));
  EXPECT_EQ(json_of("info", {file_})["ids"], "names");
}

TEST_F(Names, ABadWeightIsNamedWithItsLine) {
  const std::string bad = folder_.write("bad.csv", "a,b,1\nb,c,-2\n");
  expect_failure(run_app("sssp", {bad}), "sssp", 1, "bad.csv:2:5: the edge from b to c has weight -2");
}

TEST_F(Names, MemoryIsLimited) {
  std::string text;
  for (int k = 0; k < 60000; ++k) text += "a rather long name of a vertex " + std::to_string(k) + ",b\n";
  const app_run run = run_app("bfs", {folder_.write("long.csv", text), "--max-memory", "2M"});
  expect_failure(run, "bfs", 1, "memory");
}

}  // namespace
}  // namespace spargo::test
