// Users' edge lists through the commands: columns by name, directions stated by files, and the report of both.
#include "apps/all_commands.hpp"
#include "apps/run_here.hpp"
#include "support/snapshots.hpp"

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::app_run;
using test::report_of;
using test::run_app;
using test::run_here;
using test::run_on;
using test::scratch;

std::string text_of(const std::string& command, const std::string& file, const std::vector<std::string>& more = {}) {
  const app_run run = run_on(command, file, more);
  EXPECT_EQ(run.code, 0) << run.err;
  return run.out + run.err;
}

constexpr const char* with_ids = "id,source,target,weight\n0,10,20,1.5\n1,20,30,2.5\n2,10,30,9\n";

TEST(columns, names_decide_in_every_command) {
  const scratch folder;
  const std::string file = folder.write("ids.csv", with_ids);
  const json paths = report_of("sssp", file);
  EXPECT_EQ(paths.at("vertices"), 3);
  EXPECT_EQ(paths.at("runs").at(0).at("source"), 10);
  EXPECT_EQ(paths.at("runs").at(0).at("first"), json({{20, 1.5}, {30, 4.0}}));
  for (const std::string& command : test::graph_commands()) {
    const json report = report_of(command, file, {});
    EXPECT_EQ(report.at("vertices"), 3) << command;
    EXPECT_EQ(report.at(report.contains("graph_edges") ? "graph_edges" : "edges"), 3) << command;
    EXPECT_EQ(report.at("columns"),
              json({{"source", 2}, {"target", 3}, {"weight", 4}, {"names", {"id", "source", "target", "weight"}}}));
  }
  EXPECT_EQ(run_here("info", {file, "--json", "-"}).json().at("rows"), 3);
}

TEST(columns, the_report_names_what_is_used_and_what_is_not) {
  const scratch folder;
  const std::string text = text_of("bfs", folder.write("ids.csv", with_ids));
  EXPECT_NE(text.find("source 'source', target 'target', weight 'weight'; not used: 'id'"), std::string::npos) << text;
  EXPECT_NE(text.find("header line skipped: id,source,target,weight"), std::string::npos) << text;
  EXPECT_NE(text_of("bfs", folder.write("a.csv", "a,b\n1,2\n")).find("header line skipped: a,b"), std::string::npos);
  EXPECT_NE(text_of("info", folder.write("a.csv", "a,b\n1,2\n")).find("header line skipped: a,b"), std::string::npos);
  EXPECT_EQ(text_of("bfs", folder.write("a.el", "1 2\n")).find("columns"), std::string::npos);
  EXPECT_EQ(report_of("bfs", folder.write("one.csv", "a,b\n")).at("vertices"), 2);
  test::expect_failure(run_here("bfs", {folder.write("odd.csv", "id,a,b\n1,2,3\n")}), "bfs", 1,
                       "odd.csv:1:1: the names of the columns do not say");
}

TEST(columns, the_flag_decides) {
  const scratch folder;
  const std::string file = folder.write("ids.csv", with_ids);
  EXPECT_EQ(report_of("bfs", file, {"--columns", "id,target"}).at("vertices"), 5);
  EXPECT_EQ(report_of("bfs", file, {"--columns", "3,2"}).at("runs").at(0).at("source"), 20);
  EXPECT_EQ(run_here("info", {file, "--columns", "id,target", "--json", "-"}).json().at("rows"), 5);
  test::expect_failure(run_here("bfs", {file, "--columns", "a,b"}), "bfs", 1, "no column is called 'a'");
  test::expect_failure(run_here("bfs", {"gen:path:n=3", "--columns", "1,2"}), "bfs", 1,
                       "--columns: gen:path:n=3 is generated");
}

TEST(columns, convert_writes_the_same_graph) {
  const scratch folder;
  const std::string file = folder.write("ids.csv", with_ids);
  for (const char* to : {"out.wel", "out.csv"}) {
    const std::string out = folder / to;
    ASSERT_EQ(run_here("convert", {file, out}).code, 0);
    EXPECT_EQ(report_of("sssp", out).at("runs").at(0).at("sum_distance"), 5.5) << to;
  }
  const std::string out = folder / "asked.el";
  ASSERT_EQ(run_here("convert", {file, out, "--columns", "target,source"}).code, 0);
  EXPECT_EQ(report_of("bfs", out).at("runs").at(0).at("source"), 20);
}

// Columns besides source, target and weight are attributes where the format has them.
TEST(columns, convert_says_what_it_keeps) {
  const scratch folder;
  const std::string file = folder.write("g.csv", "Source,Target,Type,Weight,note\n1,2,Undirected,2,hello\n");
  const auto report = [&](const std::string& to) { return run_here("convert", {file, folder / to}).out; };
  EXPECT_NE(report("g.gml").find("; kept as attributes: 'note'"), std::string::npos) << report("g.gml");
  EXPECT_NE(test::slurp(folder / "g.gml").find("note \"hello\""), std::string::npos);
  EXPECT_NE(report("g.el").find("; not used: 'note'"), std::string::npos) << report("g.el");
}

TEST(columns, caches_are_of_the_columns_asked_for) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string file = folder.write("ids.csv", with_ids);
  EXPECT_EQ(report_of("bfs", file, {"--cache"}).at("vertices"), 3);
  EXPECT_EQ(report_of("bfs", file, {"--cache", "--columns", "id,target"}).at("vertices"), 5);
  EXPECT_EQ(report_of("bfs", file, {"--cache", "--columns", "id,target"}).at("cache"), "used");
}

TEST(columns, files_say_their_direction) {
  const scratch folder;
  for (const char* text : {"# Undirected graph: a\n1 2\n2 3\n", "% sym unweighted\n1 2\n2 3\n",
                           "source,target,type\n1,2,Undirected\n2,3,Undirected\n"}) {
    const std::string file = folder.write("u.csv", text);
    EXPECT_EQ(report_of("bfs", file, {"--source", "3"}).at("runs").at(0).at("reached"), 3) << text;
    const json report = report_of("bfs", file, {"--source", "3", "--directed"});
    EXPECT_EQ(report.at("directed"), true);
    EXPECT_EQ(report.at("runs").at(0).at("reached"), 3);
    EXPECT_NE(text_of("bfs", file).find("undirected, as the c"), std::string::npos);
    EXPECT_EQ(text_of("bfs", file).find("not used"), std::string::npos) << "the column of types is";
    const std::string text_directed = text_of("bfs", file, {"--directed"});
    EXPECT_NE(text_directed.find("directed, as asked for (the c"), std::string::npos) << text_directed;
    EXPECT_NE(text_directed.find(" says undirected: each edge leads both ways)"), std::string::npos) << text_directed;
  }
  const std::string directed = folder.write("d.txt", "% asym unweighted\n1 2\n");
  EXPECT_EQ(report_of("bfs", directed).at("directed"), true);
  EXPECT_EQ(report_of("bfs", directed, {"--undirected"}).at("directed"), false);
  const std::string mixed = folder.write("m.csv", "Source,Target,Type\n1,2,Directed\n2,3,Undirected\n");
  test::expect_failure(run_here("bfs", {mixed}), "bfs", 1, "m.csv:3:5: an edge of type 'Undirected'");
}

// An undirected graph taken as directed has each edge in both directions, in every format.
TEST(columns, undirected_graphs_as_directed_ones) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string list = folder.write("u.wel", "# Undirected graph: a\n1 2 3\n2 3 5\n3 2 4\n");
  std::vector<std::string> files = {
      list,
      folder.write("u.csv", "Source,Target,Type,Weight\n1,2,Undirected,3\n2,3,Undirected,4\n"),
      folder.write("k.txt", "% sym weighted\n1 2 3\n2 3 4\n"),
      folder.write("u.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 3\n3 2 4\n"),
      folder.write("u.graph", "3 2 1\n2 3\n1 3 3 4\n2 4\n"),
  };
  for (const char* name : {"c.spg", "c.mtx", "c.graph"}) {
    ASSERT_EQ(run_here("convert", {list, folder / name}).code, 0);
    files.push_back(folder / name);
  }
  for (const std::string& file : files) {
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--cache"}}) {
      if (!more.empty() && file.ends_with(".spg")) continue;
      std::vector<std::string> flags = {"--directed", "--source", "3"};
      flags.insert(flags.end(), more.begin(), more.end());
      const json paths = report_of("sssp", file, flags);
      EXPECT_EQ(paths.at("edges"), 4) << file;
      EXPECT_EQ(paths.at("directed"), true) << file;
      EXPECT_EQ(paths.at("runs").at(0).at("max_distance"), 7) << file;
      EXPECT_EQ(report_of("bfs", file, flags).at("runs").at(0).at("levels"), json({1, 1, 1})) << file;
    }
    EXPECT_EQ(report_of("components", file, {"--strong", "--directed"}).at("components"), 1) << file;
    EXPECT_EQ(report_of("info", file, {"--directed"}).at("out_degree").at("max"), 2) << file;
  }
}

TEST(columns, left_and_right_of_a_bipartite_graph) {
  const scratch folder;
  const std::string file = folder.write("out.x", "% bip unweighted\n% 4 3 2\n1 1\n2 1\n2 2\n3 2\n");
  const json report = report_of("components", file);
  EXPECT_EQ(report.at("vertices"), 5);
  EXPECT_EQ(report.at("edges"), 4);
  EXPECT_EQ(report.at("left_vertices"), 3);
  EXPECT_NE(text_of("components", file).find("3 left vertices; right vertex k has the id 3 + k"), std::string::npos);
}

TEST(columns, weights_have_their_place) {
  const scratch folder;
  const std::string file = folder.write("n.csv", "weight,note,source,target\n1,\"a,b\",1,2\n-2,,2,3\n");
  test::expect_failure(run_here("sssp", {file}), "sssp", 1, "n.csv:3:1: the edge from 2 to 3 has weight -2");
  const std::string comma = folder.write("c.csv", "Source;Target;Weight\n1;2;0,5\n2;3;1,25\n");
  EXPECT_EQ(report_of("sssp", comma).at("runs").at(0).at("max_distance"), 1.75);
}

TEST(columns, rounded_integers_are_warned_of) {
  const scratch folder;
  const std::string file = folder.write("a.wel", "1 2 9007199254740993\n2 3 1\n");
  const std::string warning = "1 weight is an integer beyond what float64 holds exactly, rounded to nearest";
  EXPECT_NE(text_of("sssp", file).find(warning), std::string::npos);
  EXPECT_EQ(text_of("bfs", file).find(warning), std::string::npos) << "which does not use them";
  const app_run run = run_here("convert", {file, folder / "out.wel"});
  EXPECT_NE(run.err.find("1 integer exceeds what float64 holds exactly"), std::string::npos) << run.err;
}

TEST(columns, rounded_integers_of_other_formats) {
  const scratch folder;
  const std::string warning = "1 weight is an integer beyond what float64 holds exactly";
  const std::string roads = folder.write("a.gr", "p sp 2 1\na 1 2 9007199254740993\n");
  EXPECT_NE(text_of("sssp", roads).find(warning), std::string::npos);
  const std::string metis = folder.write("a.graph", "2 1 001\n2 9007199254740993\n1 9007199254740993\n");
  EXPECT_NE(text_of("sssp", metis).find(warning), std::string::npos);
  EXPECT_NE(run_here("convert", {roads, folder / "out.wel"}).err.find("1 integer exceeds"), std::string::npos);
}

TEST(columns, counts_of_headers_that_count_twice) {
  const scratch folder;
  const std::string twice = folder.write("a.col", "p edge 2 2\ne 1 2\n");
  EXPECT_EQ(report_of("components", twice).at("edges"), 1);
  EXPECT_NE(text_of("components", twice).find("a.col: the problem line counts every edge twice"), std::string::npos);
  test::expect_failure(run_here("bfs", {folder.write("b.col", "p edge 2 3\ne 1 2\n")}), "bfs", 1,
                       "the file ends after 1 edge (");
  test::expect_failure(run_here("bfs", {folder.write("c.gr", "p sp 2 2\na 1 2 1\n")}), "bfs", 1,
                       "the file ends after 1 arc (");
  test::expect_failure(
      run_here("bfs", {folder.write("a.graph", "4 6\n2\n1 3\n2 4\n3\n")}), "bfs", 1,
      "the file has 3 edges (expected 6, as the first line says, which seems to count every edge twice)");
  // Twice the edges of a dense graph are more than its vertices can have.
  test::expect_failure(
      run_here("bfs", {folder.write("dense.graph", "3 6\n2 3\n1 3\n1 2\n")}), "bfs", 1,
      "the file has 3 edges (expected 6, as the first line says, which seems to count every edge twice)");
}

TEST(columns, negative_weights_of_metis_have_their_place) {
  const scratch folder;
  const std::string file = folder.write("negative.graph", "4 2 001\n4 -5\n3 -2\n2 -2\n1 -5\n");
  test::expect_failure(run_here("sssp", {file}), "sssp", 1,
                       "negative.graph:2:3: the edge from 1 to 4 has weight -5 (expected 0 or more)");
}

TEST(columns, unsigned_integers_of_scipy) {
  const scratch folder;
  const std::string banner = "%%MatrixMarket matrix coordinate unsigned-integer general\n%\n2 2 2\n";
  const json report = report_of("spmv", folder.write("a.mtx", banner + "1 1 3\n2 1 7\n"));
  EXPECT_EQ(report.at("y").at("first"), json({3.0, 7.0}));
  EXPECT_EQ(report.at("field"), "integer");
  test::expect_failure(run_here("spmv", {folder.write("b.mtx", banner + "1 1 3\n2 1 18446744073709551616\n")}), "spmv",
                       1, "b.mtx:5:5: ");
}

}  // namespace
}  // namespace spargo::apps
