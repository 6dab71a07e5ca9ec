// What the shell shows: --print, `info`'s next commands, `help formats`, and guesses at what was meant.
#include "apps/run_here.hpp"
#include "cli/vertex_table.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::app_run;
using test::expect_failure;
using test::run_app;
using test::run_here;
using test::run_on;
using test::run_shell;
using test::scratch;
using test::slurp;

class print : public testing::Test {
 protected:
  const scratch folder_;
  const std::string edges_ = folder_.write("g.el", "1 2\n2 3\n3 1\n3 100\n100 11\n20 21\n");
  const std::string names_ = folder_.write("n.el", "anna bo\nbo \u00e9mile\nanna \u00e9mile\n");
};

TEST_F(print, aligns_a_table) {
  EXPECT_EQ(run_on("components", edges_, {"--print", "table"}).out,
            " id  component\n"
            "  1          1\n"
            "  2          1\n"
            "  3          1\n"
            " 11          1\n"
            " 20         20\n"
            " 21         20\n"
            "100          1\n");
  EXPECT_EQ(run_on("cores", names_, {"--undirected", "--print", "table", "--top", "2"}).out,
            "id    core\n"
            "anna     2\n"
            "bo       2\n");
  // Characters are aligned, not bytes.
  EXPECT_EQ(run_on("bfs", names_, {"--print", "table"}).out,
            "id     level  parent\n"
            "anna       0  anna\n"
            "bo         1  anna\n"
            "\u00e9mile      1  anna\n");
}

TEST_F(print, rounds_in_a_table_only) {
  const std::string table = run_on("pagerank", edges_, {"--print", "table", "--top", "3"}).out;
  EXPECT_TRUE(std::regex_match(table, std::regex(" *id +rank\n( *[0-9]+  0\\.[0-9]{1,6}\n){3}"))) << table;
  const std::string csv = folder_ / "r.csv", objects = folder_ / "r.json";
  ASSERT_EQ(run_on("pagerank", edges_, {"--output", csv, "--top", "3"}).code, 0);
  ASSERT_EQ(run_on("pagerank", edges_, {"--output", objects, "--top", "3"}).code, 0);
  EXPECT_EQ(run_on("pagerank", edges_, {"--print", "csv", "--top", "3"}).out, slurp(csv));
  EXPECT_EQ(run_on("pagerank", edges_, {"--print", "json", "--top", "3"}).out, slurp(objects));
  EXPECT_TRUE(run_on("pagerank", edges_, {"--print", "report"}).out.starts_with("pagerank "));
}

TEST_F(print, is_of_every_command_with_lines) {
  for (const char* command : {"bfs", "sssp", "betweenness", "closeness", "communities", "eigenvector", "katz", "hits",
                              "triangles", "trusses", "forest", "similarity", "info"}) {
    SCOPED_TRACE(command);
    const app_run run = run_on(command, edges_, {"--print", "csv"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.substr(0, run.out.find('\n')).find(','), std::string::npos) << run.out;
    EXPECT_FALSE(run_on(command, edges_, {"--print", "json"}).json().empty());
  }
}

TEST_F(print, is_refused_where_it_has_no_meaning) {
  expect_failure(run_on("pagerank", edges_, {"--print", "xml"}), "pagerank", 2,
                 "xml is not a form (expected report, table, csv or json)");
  expect_failure(run_on("pagerank", edges_, {"--print", "csv", "--output", folder_ / "x"}), "pagerank", 2, "--output");
  expect_failure(run_on("pagerank", edges_, {"--print", "csv", "--json", "-"}), "pagerank", 2, "the same output");
  expect_failure(run_on("cores", edges_, {"--k", "1", "--print", "json"}), "cores", 2, "--print json");
  expect_failure(run_on("components", edges_, {"--sort"}), "components", 2, "--sort requires --output or --print");
  expect_failure(run_on("components", edges_, {"--top", "2"}), "components", 2, "--top requires --output or --print");
  EXPECT_EQ(run_on("components", edges_, {"--sort", "--print", "csv"}).code, 0);
}

TEST_F(print, lists_the_highest_below_each_other) {
  const std::string report = run_on("pagerank", edges_, {"--undirected", "--top", "3"}).out;
  EXPECT_TRUE(
      std::regex_search(report, std::regex("\n  highest       3  0\\.2[0-9]+\n              100  0\\.1[0-9]+\n")))
      << report;
}

// --- matrices, walks, parts -----------------------------------------------------------------------------------------

class print_lines : public testing::Test {
 protected:
  static std::string mtx(const std::string& kind, const std::string& lines) {
    return "%%MatrixMarket matrix coordinate " + kind + "\n" + lines;
  }
  const scratch folder_;
  const std::string upper_ = folder_.write("u.mtx", mtx("real general", "2 2 3\n1 1 1\n1 2 2\n2 2 3\n"));
  const std::string diagonal_ = folder_.write("d.mtx", mtx("real symmetric", "3 3 3\n1 1 2\n2 2 5\n3 3 1\n"));
  const std::string complex_ = folder_.write("c.mtx", mtx("complex general", "2 2 2\n1 1 1 2\n2 2 0 -1\n"));
  const std::string path_ = folder_.write("p.wel", "1 2 0.5\n2 30 3\n30 4 1\n");
};

TEST_F(print_lines, of_a_product_are_its_entries) {
  const std::string written = folder_ / "c.out.mtx";
  EXPECT_EQ(run_on("multiply", upper_, {"--print", "csv", "--output", written}).out,
            "row,column,value\n1,1,1\n1,2,8\n2,2,9\n");
  EXPECT_NE(slurp(written).find("1 2 8\n"), std::string::npos);
  EXPECT_EQ(run_on("multiply", upper_, {"--print", "table", "--top", "2"}).out,
            "row  column  value\n  1       1      1\n  1       2      8\n");
  EXPECT_EQ(run_on("multiply", complex_, {"--print", "csv"}).out, "row,column,real,imaginary\n1,1,-3,4\n2,2,-1,0\n");
  expect_failure(run_on("multiply", "gen:laplacian2d:n=200", {"--print", "csv", "--max-workspace", "1M"}), "multiply",
                 1, "--print needs all of it");
}

TEST_F(print_lines, of_a_vector_are_its_elements) {
  EXPECT_EQ(run_on("spmv", upper_, {"--print", "csv"}).out, "row,value\n1,3\n2,3\n");
  EXPECT_EQ(run_on("spmv", upper_, {"--print", "csv", "--transpose", "--top", "1"}).out, "column,value\n1,1\n");
  const std::string tenth = folder_.write("t.mtx", mtx("real general", "1 1 1\n1 1 0.1\n"));
  EXPECT_EQ(run_on("spmv", tenth, {"--print", "csv", "--precision", "fp32"}).out, "row,value\n1,0.1\n");
  EXPECT_EQ(run_on("spmv", complex_, {"--print", "csv"}).out, "row,real,imaginary\n1,1,2\n2,0,-1\n");
  const json x = run_on("solve", diagonal_, {"--print", "json"}).json();
  ASSERT_EQ(x.size(), 3U);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(x[k]["row"], k + 1);
    EXPECT_NEAR(x[k]["value"].get<double>(), 1, 1e-7);
  }
  // Of a system that does not converge the last x, and exit status 3.
  const app_run early = run_on("solve", "gen:laplacian2d:n=9", {"--print", "csv", "--max-iterations", "1"});
  EXPECT_EQ(early.code, 3);
  EXPECT_EQ(std::count(early.out.begin(), early.out.end(), '\n'), 82) << early.out;
}

TEST_F(print_lines, of_every_format_are_its_figures) {
  const json formats = run_on("spmv", upper_, {"--format", "all", "--print", "json"}).json();
  ASSERT_EQ(formats.size(), 4U);
  for (const json& each : formats) {
    EXPECT_EQ(each["verified"], true) << each;
    EXPECT_TRUE(each["refused"].is_null()) << each;
    EXPECT_GT(each["time_ms"].get<double>(), 0) << each;
  }
  EXPECT_EQ(formats[0]["format"], "csr");
  EXPECT_EQ(formats[3]["format"], "sell");
}

TEST_F(print_lines, of_eigenvalues) {
  const std::array<double, 3> expected{5, 2, 1};
  const json found = run_on("eigs", diagonal_, {"--print", "json"}).json();
  ASSERT_EQ(found.size(), 3U);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(found[k]["number"], k + 1);
    EXPECT_NEAR(found[k]["value"].get<double>(), expected.at(static_cast<std::size_t>(k)), 1e-9);
    EXPECT_LT(found[k]["residual"].get<double>(), 1e-6);
  }
  const std::string first = run_on("eigs", diagonal_, {"--print", "csv", "--top", "1"}).out;
  EXPECT_TRUE(std::regex_match(first, std::regex("number,value,residual\n1,[^\n]*\n"))) << first;
}

TEST_F(print_lines, of_an_order) {
  const std::string order = folder_ / "order.txt";
  const json rows =
      run_on("reorder", "gen:grid2d:n=4", {"--method", "random:3", "--print", "json", "--permutation", order}).json();
  std::string same;
  for (const json& each : rows) same += std::to_string(each["row"].get<int>()) + "\n";
  EXPECT_EQ(same, slurp(order));
  EXPECT_EQ(rows.size(), 16U);
  EXPECT_EQ(rows[15]["number"], 16);
}

TEST_F(print_lines, of_walks) {
  EXPECT_EQ(run_on("walks", path_, {"--print", "csv"}).out, "1,2,30,4\n2,30,4\n4\n30,4\n");
  EXPECT_EQ(run_on("walks", path_, {"--print", "json", "--top", "2"}).out, "[\n[1,2,30,4],\n[2,30,4]\n]\n");
  EXPECT_EQ(run_on("walks", path_, {"--print", "table", "--top", "3"}).out,
            "walk  vertices\n   1  1 2 30 4\n   2  2 30 4\n   3  4\n");
}

TEST_F(print_lines, of_a_subgraph_are_its_edges) {
  EXPECT_EQ(run_on("subgraph", path_, {"--print", "csv"}).out, "source,target,weight\n1,2,0.5\n2,30,3\n30,4,1\n");
  EXPECT_EQ(run_on("subgraph", path_, {"--print", "table", "--ego", "2", "--undirected"}).out,
            "source  target  weight\n     1       2     0.5\n     2      30       3\n");
  const std::string plain = folder_.write("n.el", "a b\nb c\nc d\n");
  const std::string wanted = folder_.write("ids", "a\nb\nd\n");
  const app_run part = run_on("subgraph", plain, {"--ids", wanted, "--print", "json"});
  EXPECT_EQ(part.json(), json::parse(R"([{"source":"a","target":"b"}])"));
  EXPECT_NE(part.err.find("1 vertex has no edges in the subgraph, and no line"), std::string::npos) << part.err;
  expect_failure(run_on("subgraph", path_, {"--print", "csv", "--to", "mtx"}), "subgraph", 2, "--to");
}

TEST_F(print_lines, do_not_go_where_something_else_does) {
  for (const char* command : {"multiply", "solve", "eigs", "reorder", "spmv"}) {
    SCOPED_TRACE(command);
    expect_failure(run_on(command, diagonal_, {"--top", "2"}), command, 2, "--top requires --print");
    expect_failure(run_on(command, diagonal_, {"--print", "csv", "--json", "-"}), command, 2, "the same output");
    EXPECT_TRUE(run_on(command, diagonal_, {"--print", "report"}).out.starts_with(command));
    expect_failure(run_on(command, diagonal_, {"--print", "report", "--top", "2"}), command, 2, "--top requires");
  }
  expect_failure(run_on("walks", path_, {"--print", "csv", "--output", folder_ / "x"}), "walks", 2, "--output");
}

// --- info -----------------------------------------------------------------------------------------------------------

std::vector<std::string> suggestions(const std::string& report) {
  std::vector<std::string> all;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("spargo ");
    const bool indented = line.find_first_not_of(' ') == at || line.starts_with("  next ");
    if (at != std::string::npos && indented) all.push_back(line.substr(at + 7));
  }
  return all;
}

TEST(info, suggests_commands_that_work) {
  const scratch folder;
  const std::string connected = folder.write("a b.el", "1 2\n2 3\n");
  const std::string apart = folder.write("it's.csv", "when,who,whom\n1,x,y\n2,z,w\n");
  const std::string matrix =
      folder.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 3\n2 3 4\n");
  for (const auto& [file, flags, first] :
       {std::tuple(connected, std::vector<std::string>{"--undirected"}, "pagerank"),
        std::tuple(apart, std::vector<std::string>{"--columns", "who,whom"}, "pagerank"),
        std::tuple(matrix, std::vector<std::string>{}, "spmv"),
        std::tuple(std::string("gen:grid2d:n=3"), std::vector<std::string>{}, "pagerank")}) {
    const app_run run = run_on("info", file, flags);
    ASSERT_EQ(run.code, 0) << run.err;
    const std::vector<std::string> next = suggestions(run.out);
    ASSERT_GE(next.size(), 2U) << run.out;
    EXPECT_TRUE(next.front().starts_with(first)) << next.front();
    for (const std::string& each : next) {
      const app_run tried = run_shell("cd '" + folder.path().string() + "' && $BIN/" + each);
      EXPECT_EQ(tried.code, 0) << each << ": " << tried.err;
    }
  }
  // Of a matrix what suits it.
  const std::string spd =
      folder.write("spd.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n");
  const std::string holes =
      folder.write("h.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n1 2 1\n");
  const auto commands_for = [&](const std::string& file) {
    std::string words;
    for (const std::string& each : suggestions(run_on("info", file).out)) {
      words += each.substr(0, each.find(' ')) + " ";
      const app_run tried = run_shell("cd '" + folder.path().string() + "' && $BIN/" + each);
      EXPECT_EQ(tried.code, 0) << each << ": " << tried.err;
    }
    return words;
  };
  EXPECT_EQ(commands_for(spd), "spmv solve eigs reorder multiply info pagerank ");
  for (const auto& [symmetry, fitting] : {std::pair("symmetric", "spmv solve reorder multiply info pagerank "),
                                          {"hermitian", "spmv solve eigs reorder multiply info pagerank "}}) {
    const std::string head = std::string("%%MatrixMarket matrix coordinate complex ") + symmetry;
    EXPECT_EQ(commands_for(folder.write("complex.mtx", head + "\n2 2 3\n1 1 4 0\n2 1 0 1\n2 2 3 0\n")), fitting);
  }
  EXPECT_EQ(commands_for(holes), "spmv reorder multiply info pagerank ");
  EXPECT_EQ(commands_for(matrix), "spmv multiply info ");
  EXPECT_NE(run_on("info", apart, {"--columns", "who,whom"}).out.find("spargo components"), std::string::npos);
  EXPECT_TRUE(suggestions(run_shell("$BIN/info - < '" + connected + "'").out).empty());
  EXPECT_TRUE(suggestions(run_on("info", connected, {"--json", "-"}).out).empty());
  EXPECT_TRUE(suggestions(run_on("info", connected, {"--print", "csv"}).out).empty());
}

// --- help -----------------------------------------------------------------------------------------------------------

TEST(help, explains_formats_and_generators) {
  const std::string formats = run_here("help", {"formats"}).out;
  for (const char* part : {"Matrix Market", "METIS", "DIMACS", ".spg", "--output FILE", "--print FORM"}) {
    EXPECT_NE(formats.find(part), std::string::npos) << part;
  }
  const std::string generators = run_here("help", {"generators"}).out;
  EXPECT_NE(generators.find("gen:rmat:scale=20"), std::string::npos);
  for (const std::string& text : {formats, generators}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
  expect_failure(run_here("help", {"format"}), "help", 2, "did you mean formats?");
  expect_failure(run_here("help", {"generator"}), "help", 2, "did you mean generators?");
}

TEST(unknown_command, is_known_by_other_names) {
  for (const auto& [word, guess] :
       {std::pair("dijkstra", "sssp"), std::pair("mst", "forest"), std::pair("louvain", "communities --method louvain"),
        std::pair("kcore", "cores"), std::pair("scc", "components --strong"), std::pair("page-rank", "pagerank"),
        std::pair("plot", "layout --image"), std::pair("version", "--version")}) {
    expect_failure(run_app("spargo", {word}), "spargo", 2, "(did you mean " + std::string(guess) + "?");
  }
}

TEST(unknown_command, may_be_a_file) {
  const scratch folder;
  const std::string file = folder.write("my graph.el", "1 2\n");
  expect_failure(run_app("spargo", {file}), "spargo", 2,
                 "no command before " + file + " (expected one, as in spargo info '" + file + "')");
}

}  // namespace
}  // namespace spargo::apps
