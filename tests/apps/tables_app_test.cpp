// Users' tables through the commands: refusals, and the assumptions that reports state.
#include "apps/all_commands.hpp"
#include "apps/run_here.hpp"
#include "support/snapshots.hpp"

#include <fmt/format.h>

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::app_run;
using test::report_of;
using test::run_here;
using test::run_on;
using test::scratch;

TEST(tables, that_are_no_edge_lists_are_refused_by_every_command) {
  const scratch folder;
  const std::string matrix = folder.write("m.csv", ",A,B,C\nA,0,1,0\nB,1,0,1\nC,0,1,0\n");
  const std::string dot = folder.write("g.dot", "digraph G {\n  a -> b;\n}\n");
  const std::string mac = folder.write("mac.el", "# c\r1 2\r2 3\r");
  std::vector<std::string> commands = test::graph_commands();
  commands.emplace_back("info");
  for (const std::string& command : commands) {
    test::expect_failure(run_here(command, {matrix}), command, 1, "m.csv:1:1: an adjacency matrix of 3 vertices");
    test::expect_failure(run_here(command, {dot}), command, 1, "g.dot: a DOT (Graphviz) file is not supported");
    test::expect_failure(run_here(command, {mac}), command, 1, "mac.el:1:4: a line ends in a carriage return alone");
  }
  const std::string out = folder / "out.csv";
  test::expect_failure(run_here("convert", {matrix, out}), "convert", 1, "an adjacency matrix of 3 vertices");
  test::expect_failure(run_here("convert", {dot, out}), "convert", 1, "a DOT (Graphviz) file");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(tables, names_above_names_are_said) {
  const scratch folder;
  const std::string file = folder.write("n.csv", "Person,Friend\nalice,bob\nbob,carol\n");
  const std::string said =
      "the first line, 'Person', 'Friend', is read as an edge (--columns Person,Friend if it names the";
  for (const char* command : {"bfs", "info"}) {
    const app_run run = run_on(command, file);
    EXPECT_NE(run.out.find(said), std::string::npos) << run.out;
    EXPECT_NE(run.err.find("warning: " + file + ": " + said), std::string::npos) << run.err;
    EXPECT_EQ(report_of(command, file).at("columns"),
              json({{"first_line", "edge"}, {"possible_names", {"Person", "Friend"}}}));
  }
  EXPECT_NE(run_on("convert", file, {}).code, 0);
  EXPECT_NE(run_here("convert", {file, folder / "o.el"}).err.find(said), std::string::npos);
  EXPECT_EQ(report_of("bfs", file).at("vertices"), 5);
  EXPECT_EQ(report_of("bfs", file, {"--columns", "Person,Friend"}).at("vertices"), 3);
  const app_run by_number = run_on("bfs", file, {"--columns", "1,2"});
  EXPECT_EQ(by_number.err.find("warning"), std::string::npos) << by_number.err;
  EXPECT_EQ(report_of("bfs", file, {"--columns", "1,2"}).at("vertices"), 5);
  EXPECT_EQ(run_on("bfs", folder.write("e.csv", "alice,bob\nbob,carol\n")).err, "");
}

TEST(tables, files_without_text_are_refused) {
  const scratch folder;
  std::vector<std::string> commands = test::graph_commands();
  commands.emplace_back("info");
  for (const auto& [text, said] :
       {std::pair("", "the file is empty"), std::pair(" \n\n", "the file has only blanks")}) {
    for (const char* name : {"nothing.el", "nothing.csv", "nothing.graph"}) {
      const std::string file = folder.write(name, text);
      for (const std::string& command : commands) {
        test::expect_failure(run_here(command, {file}), command, 1, std::string(name) + ": " + said);
      }
      test::expect_failure(run_here("convert", {file, folder / "o.mtx"}), "convert", 1, said);
      EXPECT_FALSE(std::filesystem::exists(folder / "o.mtx"));
    }
  }
}

TEST(tables, lists_without_edges_are_said) {
  const scratch folder;
  for (const char* text : {"# only a comment\n", "source,target\n", "# Nodes: 5 Edges: 0\n"}) {
    const std::string file = folder.write("n.csv", text);
    const std::string said = "warning: " + file + ": the file lists no edges";
    for (const char* command : {"components", "pagerank", "info"}) {
      EXPECT_NE(run_here(command, {file}).err.find(said), std::string::npos) << command << text;
      EXPECT_EQ(report_of(command, file).at("lists_no_edges"), true);
    }
    EXPECT_NE(run_here("convert", {file, folder / "o.mtx", "--force"}).err.find(said), std::string::npos) << text;
  }
  const std::string counted = folder.write("c.graph", "% METIS\n3 0\n\n\n\n");
  EXPECT_EQ(run_here("components", {counted}).err, "") << "a graph by its header";
  EXPECT_FALSE(report_of("components", folder.write("e.el", "1 2\n")).contains("lists_no_edges"));
}

TEST(tables, edges_that_may_be_a_small_matrix_are_said) {
  const scratch folder;
  const std::string said =
      "3 lines of 3 numbers are read as weighted edges, and may be an adjacency matrix (--columns 1,2,3";
  for (const char* text : {"a,b,c\n0,1,1\n1,0,1\n1,1,0\n", "0 1 1\n1 0 1\n1 1 0\n", "x,y,z\n0,2,3\n2,0,4\n3,4,0\n",
                           "a,b,c\n1,0,0\n0,1,0\n0,0,1\n"}) {
    const std::string file = folder.write("m.csv", text);
    for (const char* command : {"bfs", "info"}) {
      EXPECT_NE(run_on(command, file).err.find("warning: " + file + ": " + said), std::string::npos) << command << text;
      EXPECT_EQ(report_of(command, file).at("columns").at("possible_matrix"), 3) << text;
    }
    EXPECT_EQ(run_on("bfs", file, {"--columns", "1,2,3"}).err, "") << text;
  }
  for (const char* text : {"source,target,weight\n0,1,1\n1,0,1\n1,1,0\n", "1 2 0\n2 3 1\n3 1 1\n",
                           "0 1 5\n1 0 2\n2 1 0\n", "0 1 1\n1 0 1\n", "0 1 1\n1 0 1\n1 1 0\n0 0 1\n", "0,1\n1,0\n"}) {
    EXPECT_EQ(run_on("bfs", folder.write("e.csv", text)).err, "") << text;
  }
}

TEST(tables, columns_of_two_kinds_are_said_and_kept_apart) {
  const scratch folder;
  const std::string file = folder.write("t.csv", "user_id,item_id,rating\n1,1,5\n1,2,3\n2,1,4\n");
  const std::string said =
      "'user_id' and 'item_id' may number different things, but equal ids are one vertex (--columns "
      "user_id,item_id,rating if they are of one kind, --columns bip:user_id,item_id,rating keeps them apart)";
  std::vector<std::string> commands = test::graph_commands();
  commands.emplace_back("info");
  for (const std::string& command : commands) {
    if (command == "subgraph") continue;  // needs to know which
    const app_run run = run_on(command, file);
    EXPECT_NE(run.out.find("may number different things"), std::string::npos) << command << run.out;
    EXPECT_NE(run.err.find("warning: " + file + ": " + said), std::string::npos) << command << run.err;
  }
  const app_run planned = run_here("plan", {"bfs", file});
  EXPECT_NE(planned.out.find("may number different things"), std::string::npos) << planned.out;
  EXPECT_NE(planned.err.find("warning: " + file + ": " + said), std::string::npos) << planned.err;
  EXPECT_EQ(run_here("plan", {"bfs", file, "--columns", "user_id,item_id"}).err, "");
  EXPECT_EQ(report_of("bfs", file).at("columns").at("may_be_two_kinds"), true);
  EXPECT_EQ(report_of("bfs", file).at("vertices"), 2);
  const std::vector<std::string> apart = {"--columns", "bip:user_id,item_id,rating"};
  const json report = report_of("components", file, apart);
  EXPECT_EQ(report.at("vertices"), 4);
  EXPECT_EQ(report.at("edges"), 3);
  EXPECT_EQ(report.at("directed"), false);
  EXPECT_EQ(report.at("right_ids_from"), 3);
  EXPECT_EQ(report_of("sssp", file, {"--columns", apart[1], "--source", "2"}).at("runs").at(0).at("max_distance"), 12);
  const app_run quiet = run_on("bfs", file, apart);
  EXPECT_EQ(quiet.err, "");
  EXPECT_NE(quiet.out.find("left ids as they are, below 3; right vertex k has the id 3 + k"), std::string::npos);
  EXPECT_EQ(run_on("bfs", file, {"--columns", "user_id,item_id"}).err, "");
  EXPECT_NE(run_here("convert", {file, folder / "o.el"}).err.find(said), std::string::npos);
  for (const char* name : {"o.csv", "o.spg", "o.mtx"}) {
    if (!test::can_write(name)) continue;
    ASSERT_EQ(run_here("convert", {file, folder / name, "--columns", apart[1]}).code, 0);
    EXPECT_EQ(report_of("components", folder / name, {"--undirected"}).at("vertices"), 4) << name;
  }
  const std::string names = folder.write("n.csv", "city,person,n\nparis,hector,1\ntroy,paris,2\n");
  EXPECT_NE(run_on("bfs", names)
                .err.find("a name in both columns is one vertex (--columns city,person,n if they are of "
                          "one kind, else different names)"),
            std::string::npos);
}

TEST(tables, weights_with_other_names_are_said) {
  const scratch folder;
  struct unused_column {
    std::string name;
    std::string argument;  // of --columns
    std::string typed;     // in a shell
  };
  const std::vector<unused_column> unused = {
      {"Dist", "source,target,Dist", "source,target,Dist"},
      {"cost_usd", "source,target,cost_usd", "source,target,cost_usd"},
      {"Weight (a.u.)", "source,target,Weight (a.u.)", "'source,target,Weight (a.u.)'"},
      {"driver's", "source,target,driver's", R"('source,target,driver'\''s')"},
      {"cost, usd", "source,target,3", "source,target,3"},
  };
  for (const auto& [name, argument, typed] : unused) {
    const std::string file = folder.write("w.csv", "source,target,\"" + name + "\"\n1,2,0.5\n2,3,4\n");
    const std::string said =
        "column of numbers not used as weights: '" + name + "' (--columns " + typed + " uses '" + name + "')";
    const app_run paths = run_on("sssp", file);
    EXPECT_EQ(paths.out.find("the file has none"), std::string::npos) << paths.out;
    EXPECT_NE(paths.out.find("every edge counts 1; " + said), std::string::npos) << paths.out;
    EXPECT_NE(paths.err.find("w.csv: " + said), std::string::npos) << paths.err;
    EXPECT_EQ(report_of("sssp", file).at("columns").at("unused_numbers"), json({name}));
    EXPECT_EQ(report_of("sssp", file, {"--columns", argument}).at("runs").at(0).at("max_distance"), 4.5);
    EXPECT_EQ(run_on("sssp", file, {"--columns", "source,target"}).err, "") << "as asked for";
    EXPECT_EQ(run_on("sssp", file, {"--weights", "unit"}).err, "");
    EXPECT_NE(run_here("plan", {"sssp", file}).err.find("w.csv: " + said), std::string::npos);
    EXPECT_EQ(run_on("bfs", file).err, "") << "which uses none";
    test::expect_failure(run_here("sssp", {file, "--weights", "file"}), "sssp", 1, said);
    EXPECT_NE(run_here("convert", {file, folder / "o.csv"}).err.find(said), std::string::npos);
    EXPECT_NE(run_on("info", file).out.find("none; " + said), std::string::npos);
  }
  const std::string times = folder.write("t.csv", "source,target,timestamp\n1,2,1082040961\n");
  EXPECT_NE(run_on("sssp", times).out.find("the file has none"), std::string::npos);
  EXPECT_EQ(run_on("sssp", times).err, "");
}

TEST(tables, names_with_blanks_are_quoted_in_a_path) {
  const scratch folder;
  const std::string file = folder.write("p.csv", "from,to\n\"Park, NY\",Times Square\nTimes Square,Wall\n");
  const std::string text = run_on("bfs", file, {"--source", "Park, NY", "--target", "Wall"}).out;
  EXPECT_NE(text.find("\"Park, NY\" \"Times Square\" Wall (2 edges)"), std::string::npos) << text;
}

TEST(tables, excels_separator_line) {
  const scratch folder;
  const std::string file = folder.write("s.csv", "sep=;\nsource;target;weight\n1;2;0,5\n2;3;1\n");
  EXPECT_EQ(report_of("sssp", file).at("runs").at(0).at("max_distance"), 1.5);
  const std::string bad = folder.write("b.csv", "sep=;\nsource;target;weight\n1;2;0,5\n2;3;-1\n");
  test::expect_failure(run_here("sssp", {bad}), "sssp", 1, "b.csv:4:5: the edge from 2 to 3 has weight -1");
  const std::string twice = folder.write("d.csv", "sep=;\nsource;target\n1;2\n1;2\n");
  EXPECT_EQ(report_of("info", twice, {"--check"}).at("check").at("duplicates"), json({{"count", 1}, {"line", 4}}));
}

TEST(tables, names_that_are_no_utf8_stay_different) {
  const scratch folder;
  const std::string file = folder.write("l.csv", "a\xff,b\na\xfe,b\n\"a\\xff\",b\nb,\xc3\xa9\n\xed\xa0\x80,b\n");
  const std::string out = folder / "ranks.json";
  const json report = report_of("pagerank", file, {"--output", out});
  std::vector<std::string> names;
  for (const json& pair : report.at("top")) names.push_back(pair.at(0).get<std::string>());
  std::sort(names.begin(), names.end());
  const std::vector<std::string> expected = {"\\xed\\xa0\\x80", "a\\x5cxff", "a\\xfe", "a\\xff", "b", "\xc3\xa9"};
  EXPECT_EQ(names, expected);
  names.clear();
  std::ifstream written(out);
  for (const json& row : json::parse(written)) names.push_back(row.at("id").get<std::string>());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, expected);
}

TEST(tables, info_says_the_weights_of_the_file) {
  const scratch folder;
  const std::string file = folder.write("d.wel", "1 2 3\n1 2 4\n2 3 1\n2 3 -1\n3 1 0\n");
  const json report = report_of("info", file);
  EXPECT_EQ(report.at("listed_magnitude"), json({{"min", 1.0}, {"max", 4.0}}));
  EXPECT_EQ(report.at("magnitude"), json({{"min", 7.0}, {"max", 7.0}})) << "duplicates are summed";
  EXPECT_EQ(report.at("explicit_zeros"), 2);
  EXPECT_EQ(report.at("duplicates"), 2);
  EXPECT_NE(
      run_on("info", file).out.find("magnitudes 1 to 4, 1 zero, 0 not finite; duplicates summed: magnitudes 7 to 7\n"),
      std::string::npos)
      << run_on("info", file).out;
  const std::string triangle = folder.write(
      "s.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 3\n2 1 4\n3 2 0\n3 3 0\n");
  const json symmetric = report_of("info", triangle);
  EXPECT_EQ(symmetric.at("listed_magnitude"), json({{"min", 2.0}, {"max", 4.0}}));
  EXPECT_EQ(symmetric.at("explicit_zeros"), 3) << "the mirrored one is counted";
}

TEST(tables, convert_writes_tsv_as_csv) {
  const scratch folder;
  const std::string file = folder.write("a.wel", "1 2 3\n2 3 1\n");
  const auto written = [&](const std::string& name, std::vector<std::string> more = {}) {
    const std::string out = folder / name;
    more.insert(more.begin(), {file, out});
    EXPECT_EQ(run_here("convert", more).code, 0);
    std::ifstream read(out);
    return std::string(std::istreambuf_iterator<char>(read), {});
  };
  EXPECT_EQ(written("o.csv"), "source,target,weight\n1,2,3\n2,3,1\n");
  EXPECT_EQ(written("o.tsv"), "source\ttarget\tweight\n1\t2\t3\n2\t3\t1\n");
  EXPECT_EQ(written("o.x", {"--to", "tsv"}), "source\ttarget\tweight\n1\t2\t3\n2\t3\t1\n");
  EXPECT_EQ(written("o.txt"), "# source\ttarget\tweight\n1\t2\t3\n2\t3\t1\n");
  EXPECT_EQ(report_of("sssp", folder / "o.tsv").at("runs").at(0).at("max_distance"), 4.0);
}

TEST(tables, ids_with_leading_zeros_are_said) {
  const scratch folder;
  const std::string file = folder.write("z.csv", "source,target\n1,2\n2,007\n7,1\n");
  const std::string said =
      "line 3: vertex id 007 is read as 7, and both are one vertex (--ids names keeps ids as written)";
  const std::string warning = "warning: " + file + ": " + said;
  std::vector<std::string> commands = test::graph_commands();
  commands.emplace_back("info");
  for (const std::string& command : commands) {
    const app_run run = command == "subgraph" ? run_on(command, file, {"--ego", "7", "--output", folder / "s.el"})
                                              : run_on(command, file);
    EXPECT_NE(run.err.find(warning), std::string::npos) << command << run.err;
  }
  EXPECT_NE(run_here("plan", {"bfs", file}).err.find(warning), std::string::npos);
  EXPECT_EQ(report_of("bfs", file).at("vertices"), 3);
  const app_run named = run_on("components", file, {"--ids", "names"});
  EXPECT_EQ(named.err, "");
  EXPECT_NE(named.out.find("4 vertices"), std::string::npos) << named.out;
  for (int k = 0; k < 2; ++k) {  // parsed, then from the cache
    EXPECT_NE(run_on("bfs", file, {"--cache"}).err.find(warning), std::string::npos) << k;
  }
  for (const char* name : {"o.el", "o.spg", "o.mtx", "o.gml"}) {
    if (!test::can_write(name)) continue;
    EXPECT_NE(run_here("convert", {file, folder / name}).err.find(said), std::string::npos) << name;
  }
  // Below the first 64 KiB; times and weights are no ids.
  std::string text;
  for (int k = 1; k < 9000; ++k) text += fmt::format("{} {} 0.05 007 00:0{}\n", k, k + 1, k % 10);
  const std::string late = folder.write("late.el", text + "1 007 1 0 0\n");
  const std::string late_said = "late.el: line 9000: vertex id 007 is read as 7, and both are one vertex";
  for (const std::string& command : commands) {
    const app_run run = command == "subgraph" ? run_on(command, late, {"--ego", "7", "--output", folder / "s.el"})
                                              : run_on(command, late);
    EXPECT_NE(run.err.find(late_said), std::string::npos) << command << run.err;
  }
  // Other spellings of a number are no ids.
  for (const char* other : {"+7", "7.0", "7e0", "-7"}) {
    const std::string odd = folder.write("o.csv", std::string("1,2\n7,") + other + "\n");
    test::expect_failure(run_here("bfs", {odd}), "bfs", 1, "o.csv:2:3: ");
  }
}

}  // namespace
}  // namespace spargo::apps
