// `convert --undirected`: graph commands give the answers on OUT that they give on IN with --undirected.
#include "apps/all_commands.hpp"
#include "apps/run_here.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spargo::test {
namespace {

using nlohmann::json;
using words = std::vector<std::string>;

class ConvertUndirected : public testing::Test {
 protected:
  // Different weights in both directions, a duplicate edge, a vertex with only a loop.
  const scratch folder_;
  const std::string weighted_ =
      folder_.write("w.csv", "source,target,weight\n1,2,5\n2,1,3\n2,3,1\n2,3,4\n5,3,2\n6,6,1\n7,1,9\n");
  const std::string bare_ = folder_.write("b.el", "1 2\n2 1\n2 3\n2 3\n5 3\n6 6\n7 1\n");

  static json answers(const std::string& file, const words& direction) {
    json all;
    for (const std::string& command : test::graph_commands()) {
      words flags = {file, "--device", "cpu", "--repeat", "1", "--json", "-"};
      flags.insert(flags.end(), direction.begin(), direction.end());
      if (command == "bfs" || command == "sssp") flags.insert(flags.end(), {"--source", "1"});
      const app_run run = run_here(command, flags);
      if (run.code != 0 && !test::takes_directed(command) && direction.empty()) continue;  // the file may be directed
      EXPECT_EQ(run.code, 0) << run.err;
      json got = run.code == 0 ? run.json() : json::object();
      for (const char* key : {"vertices", "edges", "directed", "components", "sizes", "triangles", "weights"}) {
        if (got.contains(key)) all[command][key] = got[key];
      }
      if (command == "pagerank") continue;  // a loop counts there, and METIS has none
      if (!got.contains("runs")) continue;
      for (const char* key : {"reached", "depth", "levels", "max_distance", "sum_distance"}) {
        if (got["runs"][0].contains(key)) all[command][key] = got["runs"][0][key];
      }
    }
    return all;
  }
};

TEST(ConvertStated, TablesThatSayUndirectedAreWrittenBothWays) {
  const test::scratch folder;
  const std::string table =
      folder.write("g.csv", "Source;Target;Type;Id;Label;Weight\n0;1;Undirected;0;;0,5\n1;2;Undirected;1;;2,5\n");
  const auto farthest = [](const std::string& file) {
    return test::run_app("sssp", {file, "--source", "2", "--json", "-", "--device", "cpu"})
        .json()["runs"][0]["max_distance"];
  };
  EXPECT_EQ(farthest(table), 3.0);
  for (const char* name : {"a.csv", "a.wel"}) {
    ASSERT_EQ(test::run_app("convert", {table, folder / name}).code, 0);
    EXPECT_EQ(farthest(folder / name), 3.0) << name;
  }
  ASSERT_EQ(test::run_app("convert", {table, folder / "a.mtx"}).code, 0);
  EXPECT_NE(test::slurp(folder / "a.mtx").find("symmetric"), std::string::npos);
}

TEST_F(ConvertUndirected, GraphCommandsAnswerAlike) {
  for (const std::string& file : {weighted_, bare_}) {
    const json expected = answers(file, {"--undirected"});
    EXPECT_EQ(expected["components"]["edges"], 4);
    if (file == weighted_) {
      EXPECT_EQ(expected["sssp"]["sum_distance"], 3 + 4 + 6 + 9);
    }
    for (const std::string name : {"o.mtx", "o.wel", "o.csv", "o.txt.gz", "o.graph", "o.spg"}) {
      if (name == "o.spg" && !why_no_snapshots().empty()) continue;
      SCOPED_TRACE(file + " to " + name);
      const std::string out = folder_ / name;
      const app_run run = run_here("convert", {file, out, "--undirected"});
      ASSERT_EQ(run.code, 0) << run.err;
      const bool says_so = !std::set<std::string>{"o.wel", "o.csv", "o.txt.gz"}.contains(name);
      json got = answers(out, says_so ? words{} : words{"--undirected"});
      json wanted = expected;
      for (json& keys : wanted) {
        if (name == "o.wel" && keys.contains("weights")) keys["weights"] = "file";  // ones
      }
      EXPECT_EQ(got, wanted);
      if (!says_so) {
        got = answers(out, {});  // every edge is there both ways
        EXPECT_EQ(got["components"]["edges"], 8);
        EXPECT_EQ(got["bfs"]["levels"], expected["bfs"]["levels"]);
      }
    }
  }
}

TEST_F(ConvertUndirected, EachFormatHasTheEdgesAsHelpSays) {
  const auto written = [&](const std::string& name) {
    EXPECT_EQ(run_here("convert", {weighted_, folder_ / name, "--undirected", "--quiet"}).code, 0);
    return slurp(folder_ / name);
  };
  EXPECT_EQ(written("o.mtx"),
            "%%MatrixMarket matrix coordinate real symmetric\n6 6 5\n2 1 3\n3 2 1\n4 3 2\n5 5 1\n6 1 9\n");
  EXPECT_EQ(written("o.csv"), "source,target,weight\n1,2,3\n1,7,9\n2,1,3\n2,3,1\n3,2,1\n3,5,2\n5,3,2\n6,6,1\n7,1,9\n");
  const app_run to_csv = run_here("convert", {weighted_, folder_ / "p.csv", "--undirected"});
  EXPECT_NE(to_csv.err.find("both directions are listed"), std::string::npos) << to_csv.err;
}

TEST_F(ConvertUndirected, AttributesThatAreLostAreSaid) {
  const auto warned = [&](const std::string& file, const std::string& to, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{file, folder_ / to, "--force"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const app_run run = run_here("convert", arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.err.find(" not kept with --undirected") != std::string::npos;
  };
  const std::string notes = folder_.write("n.csv", "source,target,note\n1,2,x\n2,1,y\n");
  const std::string named = folder_.write("m.csv", "source,target,weight,type\n1,2,3,directed\n");
  const std::string gml =
      folder_.write("g.gml", "graph [ directed 1 node [ id 1 a 5 ] node [ id 2 ] edge [ source 1 target 2 ] ]");
  EXPECT_TRUE(warned(notes, "o.gml", {"--undirected"}));
  EXPECT_FALSE(warned(notes, "o.gml", {}));
  EXPECT_FALSE(warned(notes, "o.csv", {"--undirected"})) << "no format for attributes";
  EXPECT_FALSE(warned(named, "o.gml", {"--undirected"}));
  EXPECT_TRUE(warned(gml, "o.gml", {"--undirected"}));
  EXPECT_FALSE(warned(gml, "o.gml", {}));
}

// Already undirected: nothing changes. A snapshot of a directed graph has its lightest weights in its notes.
TEST_F(ConvertUndirected, TakesEveryInput) {
  const std::string symmetric =
      folder_.write("s.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 4\n3 2 -2\n");
  ASSERT_EQ(run_here("convert", {symmetric, folder_ / "t.mtx", "--undirected"}).code, 0);
  EXPECT_EQ(slurp(folder_ / "t.mtx"), slurp(symmetric));
  const std::string complex =
      folder_.write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n");
  expect_failure(run_here("convert", {complex, folder_ / "d.mtx", "--undirected"}), "convert", 1, "complex");
  const std::string wide = folder_.write("w.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  expect_failure(run_here("convert", {wide, folder_ / "d.mtx", "--undirected"}), "convert", 1, "2 x 3");
  SPARGO_NEEDS_SNAPSHOTS();
  for (const std::string& file : {weighted_, bare_}) {
    ASSERT_EQ(run_here("convert", {file, folder_ / "a.spg"}).code, 0);
    ASSERT_EQ(run_here("convert", {folder_ / "a.spg", folder_ / "b.csv", "--undirected"}).code, 0);
    ASSERT_EQ(run_here("convert", {file, folder_ / "c.csv", "--undirected"}).code, 0);
    EXPECT_EQ(slurp(folder_ / "b.csv"), slurp(folder_ / "c.csv"));
  }
}

}  // namespace
}  // namespace spargo::test
