// `triangles` end to end: every graph of the data folder against truth.json and truth_more.json, LDBC Graphalytics'
// examples, flags, errors.
#include <map>

#include "apps/graph_app.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on{"triangles", {"--repeat", "1"}};

void expect_close(const json& got, double expected, const std::string& what) {
  EXPECT_NEAR(got.get<double>(), expected, 1e-9 * expected) << what;
}

void check_truth(const std::string& device) {
  const json& more = truth_more();
  int files = 0;
  for (const auto& [name, facts] : truth().items()) {
    if (is_left_out(name)) continue;
    const bool listed = facts.contains("graph_raw_ids");
    if ((!listed && !facts.contains("graph")) || !more.contains(name)) continue;
    SCOPED_TRACE(name);
    const json& graph = facts[listed ? "graph_raw_ids" : "graph"];
    const json& expected = more[name]["clustering"];
    // The averages of the truth include absent ids.
    const double scale = listed ? graph["vertices"].get<double>() / graph["present_vertices"].get<double>() : 1.0;
    for (const char* direction : {"--directed", "--undirected"}) {
      const json got = run_on((data_directory() / name).string(), {direction, "--device", device});
      ASSERT_FALSE(got.empty());
      EXPECT_EQ(got["device"].get<std::string>().substr(0, device.size()), device);
      EXPECT_EQ(got["triangles"], graph["triangles"]);
      expect_close(got["average_local"], scale * expected["average_local"].get<double>(), "average_local");
      expect_close(got["transitivity"], expected["transitivity"].get<double>(), "transitivity");
      EXPECT_EQ(got["valid"], true);
      EXPECT_EQ(got.contains("lcc_average"), got["directed"].get<bool>());
      if (got["directed"].get<bool>()) {
        expect_close(got["lcc_average"], scale * expected["lcc_directed"]["average"].get<double>(), "lcc_average");
      }
    }
    ++files;
  }
  EXPECT_GT(files, used_inputs(40));
}

// The direction matters, even without edges.
TEST(TrianglesApp, DirectedGraphsHaveAnLcc) {
  const scratch folder;
  for (const char* edges : {"# nothing\n", "7 7\n", "1 2\n2 3\n"}) {
    const std::string list = folder.write("g.el", edges);
    const auto report = [&](const char* direction) {
      return run_here("triangles", {list, "--device", "cpu", direction, "--json", "-"}).json();
    };
    EXPECT_EQ(report("--directed").at("lcc_average"), 0.0) << edges;
    EXPECT_FALSE(report("--undirected").contains("lcc_average")) << edges;
  }
}

TEST(TrianglesApp, AgreesWithTheTruthOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_truth("cpu");
}
TEST(TrianglesApp, AgreesWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_truth("cuda");
}

struct output_line {
  std::int64_t triangles;
  double coefficient;
};
std::map<std::int64_t, output_line> lines_in(const std::string& text) {
  std::map<std::int64_t, output_line> lines;
  std::istringstream in(text);
  std::int64_t id = 0;
  for (output_line line{}; in >> id >> line.triangles >> line.coefficient;) lines[id] = line;
  return lines;
}

// The five highest coefficients of each real graph.
TEST(TrianglesApp, OutputAgreesWithTheTruth) {
  SPARGO_TEST_NEEDS_DATA();
  const json& more = truth_more();
  const scratch folder;
  const std::string out = folder / "out.txt";
  for (const std::string name : {"wiki-Vote.txt.gz", "soc-Slashdot0902.txt.gz", "email-Eu-core.wel", "4elt.el"}) {
    SCOPED_TRACE(name);
    const json got = run_on((data_directory() / name).string(), {"--directed", "--output", out});
    const auto lines = lines_in(slurp(out));
    ASSERT_EQ(lines.size(), got["vertices"].get<std::size_t>());
    for (const auto& entry : more[name]["clustering"]["lcc_directed"]["top5"]) {
      EXPECT_DOUBLE_EQ(lines.at(entry[0].get<std::int64_t>()).coefficient, entry[1].get<double>());
    }
    std::int64_t sum = 0;
    for (const auto& [id, line] : lines) sum += line.triangles;
    EXPECT_EQ(sum, 3 * got["triangles"].get<std::int64_t>());
  }
}

// Every example and test graph. Ids without edges are not in the edge list; their coefficient is 0.
void check_ldbc(const std::string& device) {
  const scratch folder;
  const std::string out = folder / "out.txt";
  for (const std::string name :
       {"example-directed", "example-undirected", "test-lcc-directed", "test-lcc-undirected"}) {
    SCOPED_TRACE(name);
    const auto file = data_directory() / "ldbc" / name;
    const std::string edges = folder.write("e.wel", slurp(file.string() + ".e"));
    const char* direction = name.find("undirected") == std::string::npos ? "--directed" : "--undirected";
    (void)run_on(edges, {"--output", out, direction, "--device", device});
    const auto lines = lines_in(slurp(out));
    std::istringstream expected(slurp(file.string() + "-LCC"));
    int vertices = 0;
    double coefficient = 0;
    for (std::int64_t id = 0; expected >> id >> coefficient; ++vertices) {
      const double got = lines.contains(id) ? lines.at(id).coefficient : 0;
      EXPECT_NEAR(got, coefficient, (name.starts_with("test") ? 1e-11 : 1e-15)) << "vertex " << id;
    }
    EXPECT_GT(vertices, 4);
  }
}
TEST(TrianglesApp, AgreesWithLdbcOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_ldbc("cpu");
}
TEST(TrianglesApp, AgreesWithLdbcOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_ldbc("cuda");
}

class TrianglesFile : public testing::Test {
 protected:
  const scratch folder_;
  // 10 20 30 is a triangle, with 20 and 30 joined both ways; 30 40, a loop, a duplicate, two large ids.
  const std::string edges_ =
      folder_.write("g.el", "# c\n30 10\n10 20\n20 30\n30 20\n10 20\n30 30\n30 40\n1000000000000 7\n");
};

TEST_F(TrianglesFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {});
  expect_graph_keys(got, {"triangles", "average_local", "transitivity", "lcc_average"});
  EXPECT_EQ(got["app"], "triangles");
  EXPECT_EQ(got["device"], "cpu");
  EXPECT_EQ(got["vertices"], 6);
  EXPECT_EQ(got["edges"], 6);
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["triangles"], 1);
  EXPECT_DOUBLE_EQ(got["average_local"].get<double>(), (1 + 1 + 1.0 / 3) / 6);
  EXPECT_DOUBLE_EQ(got["transitivity"].get<double>(), 3.0 / 5);
  EXPECT_DOUBLE_EQ(got["lcc_average"].get<double>(), (1.0 + 0.5 + 1.0 / 6) / 6);
  EXPECT_EQ(got["time_ms"]["runs"], 1);
  EXPECT_EQ(got["valid"], true);
  const json undirected = run_on(edges_, {"--undirected"});
  EXPECT_EQ(undirected["edges"], 5);
  EXPECT_EQ(undirected["triangles"], 1);
  EXPECT_FALSE(undirected.contains("lcc_average"));
}

TEST_F(TrianglesFile, OutputHasTrianglesAndCoefficients) {
  const std::string out = folder_ / "out.txt";
  ASSERT_EQ(run_app("triangles", {"--quiet", "--output", out, edges_}).code, 0);
  EXPECT_EQ(slurp(out), "7 0 0\n10 1 1\n20 1 0.5\n30 1 0.16666666666666666\n40 0 0\n1000000000000 0 0\n");
  ASSERT_EQ(run_app("triangles", {"--quiet", "--undirected", "--output", out, edges_}).code, 0);
  EXPECT_EQ(slurp(out), "7 0 0\n10 1 1\n20 1 1\n30 1 0.3333333333333333\n40 0 0\n1000000000000 0 0\n");
}

TEST_F(TrianglesFile, PeopleReadTheFigures) {
  const app_run run = run_app("triangles", {"--device", "cpu", edges_});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("triangles   1\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("transitivity 0.6"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("valid: counted again independently"), std::string::npos) << run.out;
  EXPECT_NE(run_app("triangles", {"--no-validate", edges_}).out.find("not validated"), std::string::npos);
}

}  // namespace
}  // namespace spargo::test
