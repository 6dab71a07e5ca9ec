// --join: attributes from a file behind each line of every command's table, and in documents that convert writes.
#include "apps/all_commands.hpp"
#include "apps/run_here.hpp"
#include "io/support/files.hpp"
#include "support/snapshots.hpp"

#include <map>
#include <sstream>

namespace spargo::apps {
namespace {

using test::app_run;
using test::expect_failure;
using test::run_here;
using test::run_on;
using test::scratch;
using test::slurp;

using row = std::vector<std::string>;

std::vector<row> rows_of(const std::string& text) {
  std::vector<row> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    row& cells = rows.emplace_back();
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end + 1;
    }
  }
  return rows;
}

class Join : public testing::Test {
 protected:
  void fails(const std::string& table, const std::string& says, int code = 1) const {
    expect_failure(run_on("pagerank", graph_, {"--join", table}), "pagerank", code, says);
  }

  const scratch folder_;
  const std::string graph_ = folder_.write("g.csv", "source,target,weight\n5,7,1\n7,9,2\n9,5,3\n9,11,1\n");
  const std::string table_ = folder_.write("p.csv", "team,ID,age\nred,7,30\nblue,11,\n,5,1.5\nred,100,4\n");
};

// In every command, the attributes follow what is written without --join.
TEST_F(Join, EveryCommandWithATable) {
  const std::map<std::string, row> expected{
      {"5", {"", "1.5"}}, {"7", {"red", "30"}}, {"9", {"", ""}}, {"11", {"blue", ""}}};
  int of_vertices = 0, of_edges = 0;
  for (const std::string& command :
       test::commands_where([](const command& c) { return c.on_graphs() || c.name == std::string("info"); })) {
    SCOPED_TRACE(command);
    if (command == "subgraph" || command == "walks") {  // no line a vertex
      expect_failure(run_on(command, graph_, {"--join", table_}), command, 2, "--join");
      continue;
    }
    const app_run before = run_on(command, graph_, {"--undirected", "--print", "csv"});
    if (before.code == 2 && before.err.find("unknown flag: --print") != std::string::npos) continue;
    ASSERT_EQ(before.code, 0) << before.err;
    const app_run joined = run_on(command, graph_, {"--undirected", "--print", "csv", "--join", table_});
    ASSERT_EQ(joined.code, 0) << joined.err;
    EXPECT_NE(joined.err.find("no line for 1 of 4 vertices (the first: 9)"), std::string::npos) << joined.err;
    EXPECT_NE(joined.err.find("1 line names no vertex of the graph (the first: 100)"), std::string::npos) << joined.err;
    std::vector<row> wanted = rows_of(before.out);
    const bool edges = wanted.at(0).size() > 1 && wanted[0][1] == "target";
    (edges ? of_edges : of_vertices) += 1;
    for (const char* prefix : edges ? std::vector<const char*>{"source_", "target_"} : std::vector<const char*>{""}) {
      for (const char* name : {"team", "age"}) wanted[0].push_back(std::string(prefix) + name);
    }
    for (std::size_t k = 1; k < wanted.size(); ++k) {
      const row ends(wanted[k].begin(), wanted[k].begin() + (edges ? 2 : 1));
      for (const std::string& id : ends) {
        const row& own = expected.at(id);
        wanted[k].insert(wanted[k].end(), own.begin(), own.end());
      }
    }
    EXPECT_EQ(rows_of(joined.out), wanted) << joined.out;
  }
  EXPECT_GE(of_vertices, 12);
  EXPECT_GE(of_edges, 3);
}

TEST_F(Join, ReportsAndLists) {
  const auto report = test::report_of("pagerank", graph_, {"--join", table_, "--on", "id", "--top", "4"});
  EXPECT_EQ(report.at("join"),
            (nlohmann::json{{"file", table_}, {"on", "ID"}, {"matched", 3}, {"missing", 1}, {"unknown", 1}}));
  std::map<int, nlohmann::json> attributes;
  for (const auto& entry : report.at("top")) attributes[entry.at(0)] = entry.at(2);
  EXPECT_EQ(attributes[7], (nlohmann::json{{"team", "red"}, {"age", 30}}));
  EXPECT_EQ(attributes[5], (nlohmann::json{{"team", nullptr}, {"age", 1.5}}));
  EXPECT_EQ(attributes[9], (nlohmann::json{{"team", nullptr}, {"age", nullptr}}));
  const std::string text = run_on("pagerank", graph_, {"--join", table_}).out;
  EXPECT_NE(text.find("  team=red, age=30\n"), std::string::npos) << text;
  EXPECT_NE(text.find("p.csv on ID: 3 of 4 vertices"), std::string::npos) << text;
}

TEST_F(Join, IsInThePage) {
  ASSERT_EQ(run_on("pagerank", graph_, {"--join", table_, "--report", folder_ / "r.html"}).code, 0);
  const std::string page = slurp(folder_ / "r.html");
  EXPECT_NE(page.find("7, team=red, age=30"), std::string::npos);
}

// Sorted and limited lines have their own attributes.
TEST_F(Join, FollowsTheOrderOfTheLines) {
  const std::string all = folder_.write("all.csv", "id,twice\n5,10\n7,14\n9,18\n11,22\n");
  const auto lines = run_on("pagerank", graph_, {"--print", "json", "--top", "3", "--join", all}).json();
  ASSERT_EQ(lines.size(), 3U);
  for (const auto& line : lines) EXPECT_EQ(line.at("twice"), 2 * line.at("id").get<int>());
}

TEST_F(Join, ColumnsThatClashAreRenamedVisibly) {
  const std::string table = folder_.write("c.csv", "id,rank_2,rank,\n5,a,b,c\n7,,,\n9,,,\n11,,,\n");
  const app_run run = run_on("pagerank", graph_, {"--join", table, "--print", "csv"});
  EXPECT_EQ(run.out.substr(0, run.out.find('\n')), "id,rank,rank_2,rank_3,column_4");
  EXPECT_NE(run.err.find("rank is written as rank_3, since"), std::string::npos) << run.err;
}

TEST_F(Join, TextIsQuotedAndKindsAreThoseOfTheColumn) {
  const std::string table = folder_.write(
      "q.csv", "id;name;zip;flag\r\n5;\"a;\"\"b\"\"\nc\";01234;1\r\n7;\"x y\";5;2.50\r\n9; z ;7;\r\n11;ö;8;1e3\r\n");
  const std::string csv = run_on("cores", graph_, {"--undirected", "--join", table, "--print", "csv"}).out;
  EXPECT_NE(csv.find("5,2,\"a;\"\"b\"\"\nc\",01234,1\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("9,2,z,7,\n"), std::string::npos) << csv;
  const auto lines = run_on("cores", graph_, {"--undirected", "--join", table, "--print", "json"}).json();
  EXPECT_EQ(lines[0], (nlohmann::json{{"id", 5}, {"core", 2}, {"name", "a;\"b\"\nc"}, {"zip", "01234"}, {"flag", 1}}));
  EXPECT_EQ(lines[1].at("zip"), "5");  // text, as the others
  EXPECT_EQ(lines[3].at("flag"), 1000.0);
  const std::string text = run_on("cores", graph_, {"--undirected", "--join", table, "--print", "table"}).out;
  EXPECT_NE(text.find("a;\"b\" c"), std::string::npos) << text;
  run_on("cores", graph_, {"--undirected", "--join", table, "--output", folder_ / "o.txt"});
  EXPECT_NE(slurp(folder_ / "o.txt").find("\n9 2 z 7 \"\"\n"), std::string::npos) << slurp(folder_ / "o.txt");
}

TEST_F(Join, TabsAndCompressedFilesAndNames) {
  const std::string graph = folder_.write("n.csv", "\"Doe, J\",Roe\nRoe,Poe\n");
  const std::string table =
      folder_.write("n.tsv", "\xef\xbb\xbfid\tage\n\"Doe, J\"\t3\nRoe\t4\n\nPoe\t5\n\"\"\"Duke\"\" of\"\t6");
  EXPECT_EQ(run_on("cores", graph, {"--undirected", "--join", table, "--print", "csv"}).out,
            "id,core,age\n\"Doe, J\",1,3\nRoe,1,4\nPoe,1,5\n");
  EXPECT_EQ(test::run_shell("gzip '" + table + "'").code, 0);
  EXPECT_EQ(run_on("cores", graph, {"--undirected", "--join", table + ".gz", "--print", "csv"}).out,
            "id,core,age\n\"Doe, J\",1,3\nRoe,1,4\nPoe,1,5\n");
}

TEST_F(Join, APipeIsReadOnce) {
  const std::string expected = run_on("cores", graph_, {"--join", table_, "--print", "csv"}).out;
  ASSERT_NE(expected.find("7,2,red,30\n"), std::string::npos) << expected;
  EXPECT_EQ(run_on("cores", graph_, {"--join", test::piped(slurp(table_)).path(), "--print", "csv"}).out, expected);
  EXPECT_EQ(run_on("cores", graph_, {"--join", test::piped(test::gzip(slurp(table_))).path(), "--print", "csv"}).out,
            expected);
  const std::string gml = "graph [ node [ id 7 club \"x\" ] ]";
  const std::string joined = run_on("cores", graph_, {"--join", test::piped(gml).path(), "--print", "csv"}).out;
  EXPECT_NE(joined.find("7,2,x\n"), std::string::npos) << joined;
}

TEST_F(Join, BadTablesAreRefusedWithTheirLine) {
  const auto table = [&](const char* text) { return folder_.write("bad.csv", text); };
  fails(table("id,a\n5,1\n\n7,2\n5,3\n"), "bad.csv:5: id has '5' again, as line 2 has");
  fails(table("id,a\n5,1\n05,2\n"), "bad.csv:3: '05' is vertex 5, as is '5'");
  fails(table("id,a\n5,1\n7,2,3\n"), "bad.csv:3:1: 3 fields (expected 2");
  fails(table("id,a\n5,\"1\n"), "bad.csv:2:3: the quotes do not end");
  fails(table("id,a\n5,\"1\"x\n"), "bad.csv:2:6: 'x' follows closing quotes");
  fails(table("id,a,a\n5,1,1\n"), "bad.csv:1:6: a second column a");
  fails(table("id\n5\n"), "bad.csv:1:1: the header line has one column");
  fails(table(""), "bad.csv:1:1: no header line");
  fails(table(" \n\n"), "bad.csv:3:1: no header line");
  fails(folder_.write("wide.csv", std::string("\xff\xfei\0d\0,\0a\0\n\0", 12)), "wide.csv: UTF-16 text");
  fails(folder_.write("b.csv", "BZh91AY&SY"), "b.csv: compressed with bzip2");
  fails(table("name,a\n5,1\n"),
        "--on id: " + folder_ / "bad.csv" + " has no column of this name (expected one of name, a)");
  fails(table("Id,ID,a\n5,1,1\n"), "more than one column");
  fails(folder_ / "none.csv", "none.csv");
  expect_failure(run_on("pagerank", graph_, {"--on", "id"}), "pagerank", 2, "--on");
  expect_failure(run_on("components", graph_, {"--join", table_}), "components", 2,
                 "--join requires --output or --print");
  expect_failure(run_on("cores", graph_, {"--undirected", "--k", "1", "--output", folder_ / "k", "--join", table_}),
                 "cores", 2, "expected no --join");
  expect_failure(run_on("pagerank", graph_, {"--join", table_, "--output", table_}), "pagerank", 2,
                 "this is the input");
}

TEST_F(Join, NodesOfADocument) {
  const std::string gml =
      folder_.write("g.gml",
                    "graph [ node [ id 1 label \"a\" club \"x &amp; y\" size 3 graphics [ x 1.5 ] ] "
                    "node [ id 2 label \"b\" ] edge [ source 1 target 2 since 4 ] ]");
  EXPECT_EQ(run_on("cores", gml, {"--join", gml, "--print", "csv"}).out,
            "id,core,club,size,graphics.x\na,1,\"x & y\",3,1.5\nb,1,,,\n");
}

// --- convert --------------------------------------------------------------------------------------------------------

TEST_F(Join, ConvertWritesAttributes) {
  const std::string edges = folder_.write(
      "e.csv", "Source,Target,Type,Id,Weight,kind\n5,7,Undirected,0,1.5,\"a <b>\"\n7,9,Undirected,1,2,\n");
  for (const std::string format : {"gml", "graphml"}) {
    SCOPED_TRACE(format);
    const std::string to = folder_ / ("out." + format);
    const app_run run = run_here("convert", {edges, to, "--join", table_});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("2 of vertices, 2 of edges"), std::string::npos) << run.out;
    const std::string text = slurp(to);
    EXPECT_NE(text.find("a &lt;b&gt;"), std::string::npos) << text;
    EXPECT_NE(text.find(format == "gml" ? "team \"red\"" : ">red</data>"), std::string::npos) << text;
    EXPECT_EQ(text.find(format == "gml" ? "directed 1" : "edgedefault=\"directed\""), std::string::npos);
    // Nothing is lost from one format to the other and back; attributes are in the order of their first values.
    const auto there_and_back = [&](const std::string& from) {
      const std::string other = folder_ / (format == "gml" ? "other.graphml" : "other.gml");
      const std::string back = folder_ / ("back." + format);
      EXPECT_EQ(run_here("convert", {from, other}).code, 0);
      EXPECT_EQ(run_here("convert", {other, back, "--force"}).code, 0);
      return back;
    };
    const std::string once = slurp(there_and_back(to));
    EXPECT_EQ(slurp(there_and_back(there_and_back(to))), once);
    for (const char* value : {"red", "blue", "30", "1.5", "a &lt;b&gt;"}) {
      EXPECT_EQ(once.find(value) == std::string::npos, text.find(value) == std::string::npos) << value << once;
    }
  }
  expect_failure(run_here("convert", {edges, folder_ / "x.el", "--join", table_}), "convert", 2, "has no attributes");
}

TEST_F(Join, ConvertSaysWhatItDoesNotKeep) {
  const std::string ragged = folder_.write("r.csv", "source,target,kind\n5,7,a\n7,9,b,c\n");
  expect_failure(run_here("convert", {ragged, folder_ / "r.gml"}), "convert", 1, "r.csv:3:7: 'c' is a field too many");
  const app_run run = run_here("convert", {ragged, folder_ / "r.gml", "--columns", "source,target"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("other columns of the edge list are not kept: "), std::string::npos) << run.err;
  const app_run named = run_here("convert", {folder_.write("k.csv", "source,target,a b\n5,7,1\n"), folder_ / "k.gml"});
  EXPECT_NE(named.err.find("the attribute 'a b' gets another name"), std::string::npos) << named.err;
  for (const std::string to : {"k.csv", "k.wel", "k.mtx", "k.spg", "k.graphml"}) {
    if (!test::can_write(to)) continue;
    const app_run away = run_here("convert", {folder_ / "k.gml", folder_ / to});
    ASSERT_EQ(away.code, 0) << away.err;
    EXPECT_EQ(away.err.find("attributes of vertices and edges, except weights, are not kept") == std::string::npos,
              to == "k.graphml")
        << to << ": " << away.err;
  }
}

// Every command gives the same answer on the document as on what it was made of.
TEST_F(Join, ConvertedDocumentsGiveTheSameAnswers) {
  const std::string symmetric = folder_.write(
      "s.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n2 1 1.5\n3 2 2\n3 3 1\n4 3 0.5\n");
  const std::string general =
      folder_.write("d.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 4\n2 1 3\n2 1 4\n1 3 5\n3 3 1\n");
  const std::string isolated =
      folder_.write("i.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 2\n");
  for (const std::string& from : {graph_, symmetric, general, isolated, std::string("gen:grid2d:n=4")}) {
    for (const char* ending : {".gml", ".graphml", ".graphml.gz"}) {
      const std::string to = folder_ / ("c" + std::string(ending));
      const app_run run = run_here("convert", {from, to});
      ASSERT_EQ(run.code, 0) << from << ": " << run.err;
      for (const char* command : {"sssp", "pagerank", "components"}) {
        const auto a = run_on(command, from, {"--print", "csv"}), b = run_on(command, to, {"--print", "csv"});
        EXPECT_EQ(a.out, b.out) << command << ' ' << from << ' ' << ending << a.err << b.err;
      }
    }
  }
  expect_failure(
      run_here("convert", {folder_.write("w.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n"),
                           folder_ / "w.gml"}),
      "convert", 1, "is no graph");
}

}  // namespace
}  // namespace spargo::apps
