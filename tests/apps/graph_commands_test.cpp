// Common to all graph commands: the report's keys, refusals, graphs without edges, memory that does not suffice, and
// outputs of a run that is interrupted.
#include <csignal>
#include <filesystem>
#include <regex>

#include "apps/all_commands.hpp"
#include "apps/run_app.hpp"
#include "apps/run_here.hpp"

namespace spargo::apps {
namespace {

using test::app_run;
using test::run_app;
using test::run_shell;
using test::scratch;

// Of the graph, where `edges` and `vertices` are those of the result.
std::int64_t edges_of(const nlohmann::json& report) {
  return report.contains("graph_edges") ? report.at("graph_edges") : report.at("edges");
}
std::int64_t vertices_of(const nlohmann::json& report) {
  return report.contains("graph_vertices") ? report.at("graph_vertices") : report.at("vertices");
}

class graph_command : public testing::TestWithParam<std::string> {};

TEST_P(graph_command, reports_the_keys_that_all_have) {
  const app_run run =
      run_app(GetParam(), {"gen:rmat:scale=10,degree=8", "--device", "cpu", "--repeat", "2", "--json", "-"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto report = run.json();
  EXPECT_EQ(report.at("app"), GetParam());
  EXPECT_EQ(report.at("file"), "gen:rmat:scale=10,degree=8");
  EXPECT_EQ(vertices_of(report), 1024);
  EXPECT_EQ(report.at("directed"), test::takes_directed(GetParam()));
  EXPECT_GT(edges_of(report), 1024);
  EXPECT_EQ(report.at("device"), "cpu");
  EXPECT_GE(report.at("threads").get<int>(), 1);
  EXPECT_FALSE(report.at("algorithm").get<std::string>().empty());
  const double before = report.at("load_ms").get<double>() + report.at("build_ms").get<double>();
  EXPECT_GT(before, 0);
  EXPECT_GT(report.at("total_ms").get<double>(), before);
  const auto& timed = report.contains("runs") ? report.at("runs").at(0) : report;
  EXPECT_EQ(timed.at("time_ms").at("runs"), 2);
  EXPECT_LE(timed.at("time_ms").at("min").get<double>(), timed.at("time_ms").at("max").get<double>());
  EXPECT_EQ(timed.at("valid"), true);
}

TEST_P(graph_command, refuses_a_matrix_that_is_not_square) {
  const scratch folder;
  const std::string path = folder.write("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  test::expect_failure(run_app(GetParam(), {path}), GetParam(), 1,
                       path + ": the matrix is 2 x 3 (expected a square one, whose rows are vertices)");
}

// "1 edge", not "1 edges": reports, plans and warnings on graphs with one of everything.
TEST_P(graph_command, says_one_of_one_thing) {
  const scratch folder;
  const std::regex many(
      "(^|[^0-9.,:/a-z-])1 ((?!integer |weight |entry )[a-z-]+ )?(?!ms\\b|converges\\b|process\\b)[a-z-]+s\\b");
  for (const std::string& file :
       {folder.write("a.el", "1 2\n"), folder.write("b.wel", "1 2 9007199254740993\n"), folder.write("c.el", "1 1\n"),
        folder.write("d.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n"),
        folder.write("e.csv", "\"x y\",z\n"), folder.write("f.el", "1 2\n2 3\n1 3\n")}) {
    for (const std::vector<std::string>& line :
         {std::vector<std::string>{GetParam(), file, "--threads", "1"}, {"plan", GetParam(), file, "--ranks", "1"}}) {
      const app_run run = test::run_here(line[0], {line.begin() + 1, line.end()});
      const std::string text = run.out + run.err;
      for (std::sregex_iterator found(text.begin(), text.end(), many), end; found != end; ++found) {
        ADD_FAILURE() << found->str() << " of " << file << "\n" << text;
      }
    }
  }
}

TEST_P(graph_command, fails_in_one_line) {
  const scratch folder;
  const std::string edges = folder.write("h.el", "1 2\n2 3\n");
  const auto fails = [&](int code, const std::string& says, const std::vector<std::string>& arguments) {
    test::expect_failure(run_app(GetParam(), arguments), GetParam(), code, says);
  };
  fails(1, "b.el:2:3: ", {folder.write("b.el", "1 2\n3 4.5\n")});
  fails(1, "none.el", {folder / "none.el"});
  fails(2, "--directed", {"--directed", "--undirected", edges});
  fails(2, "--repeat", {"--repeat", "0", edges});
  fails(2, "FILE", {});
}

// Only isolated vertices, or none at all: a result, or one line with the reason.
TEST_P(graph_command, takes_graphs_without_edges) {
  const scratch folder;
  const std::string isolated =
      folder.write("isolated.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n");
  const std::string loops = folder.write("loops.el", "7 7\n9 9\n");
  const std::string nothing = folder.write("nothing.el", "# nothing\n");
  for (const std::string& file : {isolated, loops, nothing}) {
    const app_run run = run_app(GetParam(), {file, "--device", "cpu", "--json", "-"});
    if (run.code != 0) {
      test::expect_failure(run, GetParam(), 1, file + ": the graph has no vertices");
      continue;
    }
    const auto report = run.json();
    EXPECT_EQ(report.at("edges"), 0) << file;
    EXPECT_EQ(vertices_of(report), file == isolated ? 3 : file == loops ? 2 : 0);
  }
}

// Two components and an isolated vertex: unreached vertices are part of the result.
TEST_P(graph_command, takes_graphs_in_several_parts) {
  const scratch folder;
  const std::string file = folder.write("parts.wel", "1 2 3\n2 3 1\n3 1 1\n10 11 5\n20 20 1\n");
  for (const std::string direction : {"--directed", "--undirected"}) {
    const app_run run = run_app(GetParam(), {file, direction, "--device", "cpu", "--json", "-"});
    if (direction == "--directed" && !test::takes_directed(GetParam())) {
      test::expect_failure(run, GetParam(), 2, "undirected graphs");
      continue;
    }
    ASSERT_EQ(run.code, 0) << run.err;
    const auto report = run.json();
    EXPECT_EQ(vertices_of(report), 6);
    EXPECT_EQ(edges_of(report), 4);
    const auto& checked = report.contains("runs") ? report.at("runs").at(0) : report;
    EXPECT_EQ(checked.at("valid"), true);
    EXPECT_EQ(checked.value("reached", 3), 3);
    EXPECT_EQ(report.value("components", 3), 3);
    EXPECT_EQ(report.value("triangles", 1), 1);
  }
}

TEST_P(graph_command, says_that_memory_does_not_suffice) {
  const app_run run = run_app(GetParam(), {"gen:rmat:scale=16,degree=16", "--device", "cpu", "--max-memory", "4M"});
  test::expect_failure(run, GetParam(), 1, "--max-memory");
}

TEST_P(graph_command, leaves_no_part_of_an_output_when_it_is_interrupted) {
  const scratch folder;
  const std::string out = folder / "out.txt";
  const std::string line = "timeout --signal INT 0.4 $BIN/" + GetParam() +
                           " gen:rmat:scale=19,degree=16 --quiet --repeat 1000 --output '" + out + "'";
  const app_run run = run_shell(line);
  EXPECT_NE(run.code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "")) << "left behind by " << GetParam();
}

TEST(graph_commands, name_a_vertex_that_the_file_lacks) {
  const scratch folder;
  const std::string file = folder.write("a.el", "1 2\n2 3\n");
  for (const auto& [command, flag] :
       {std::pair("bfs", "--source"), std::pair("sssp", "--source"), std::pair("sssp", "--target"),
        std::pair("betweenness", "--source-list"), std::pair("pagerank", "--personalize")}) {
    const app_run run = run_app(command, {file, flag, "99", "--device", "cpu"});
    test::expect_failure(run, command, 1, flag);
    EXPECT_NE(run.err.find("99"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("vertex"), std::string::npos) << run.err;
    test::expect_failure(run_app(command, {file, flag, "x", "--device", "cpu"}), command, 1, flag);
  }
}

INSTANTIATE_TEST_SUITE_P(all, graph_command, testing::ValuesIn(test::graph_commands()),
                         [](const auto& named) { return test::test_name(named.param); });

}  // namespace
}  // namespace spargo::apps
