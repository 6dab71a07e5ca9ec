// `info` and `convert` end to end.
#include "apps/run_app.hpp"
#include "cli/picture.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

class InfoFile : public testing::Test {
 protected:
  const scratch folder_;
  const std::string matrix_ =
      folder_.write("m.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 2\n3 1 -1\n3 2 4\n4 4 0.5\n");
};

TEST_F(InfoFile, SaysWhatIsInAFile) {
  const app_run run = run_app("info", {matrix_});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* says : {"4 x 4", "6 entries", "symmetric", "components", "suggested"}) {
    EXPECT_NE(run.out.find(says), std::string::npos) << says << " in: " << run.out;
  }
  const json got = run_app("info", {"--json", "-", matrix_}).json();
  EXPECT_EQ(got["rows"], 4);
  EXPECT_EQ(got["nnz"], 6);
}

// The format follows the name's ending; with a wrong name nothing is read.
TEST_F(InfoFile, DrawsPictures) {
  const std::string none = "gen:path:n=2000000000000";
  for (const std::string flag : {"--spy", "--degrees"}) {
    expect_failure(run_app("info", {flag, folder_ / "a.jpg", none}), "info", 2, "expected .png, .svg or .pdf");
    if (!apps::can_draw()) {
      expect_failure(run_app("info", {flag, folder_ / "a.png", none}), "info", 1, flag + ": this build has no Cairo");
    }
  }
  if (!apps::can_draw()) GTEST_SKIP() << "no Cairo";
  const std::map<std::string, std::string> begins = {
      {"", "\x89PNG\r\n\x1a\n"}, {".png", "\x89PNG\r\n\x1a\n"}, {".svg", "<?xml"}, {".pdf", "%PDF-1."}};
  for (const auto& [ending, begin] : begins) {
    const std::string spy = folder_ / ("spy" + ending), degrees = folder_ / ("degrees" + ending);
    ASSERT_EQ(run_app("info", {"--quiet", "--spy", spy, "--degrees", degrees, matrix_}).code, 0);
    EXPECT_TRUE(slurp(spy).starts_with(begin)) << spy;
    EXPECT_TRUE(slurp(degrees).starts_with(begin)) << degrees;
    EXPECT_NE(slurp(spy), slurp(degrees));
    const std::string again = folder_ / ("again" + ending);
    ASSERT_EQ(run_app("info", {"--quiet", "--spy", again, "--degrees", degrees, matrix_}).code, 0);
    EXPECT_TRUE(slurp(again) == slurp(spy)) << spy;
  }
}

// Each irregularity twice, with comments and blank lines in between; the first one must be reported.
TEST_F(InfoFile, ExplainsWhatIsOdd) {
  const std::string odd =
      folder_.write("odd.mtx",
                    "%%MatrixMarket matrix coordinate real symmetric\n% two lines\n\n9 9 9\n"
                    "2 1 5\n% between\n3 1 0\n1 4 1\n2 1 5\n\n5 5 inf\n3 1 1\n6 6 nan\n5 7 0\n8 3 1\n");
  const auto expect = [&](const json& got, const char* key, int count, const json& line) {
    EXPECT_EQ(got["check"][key]["count"], count) << key;
    EXPECT_EQ(got["check"][key]["line"], line) << key;
  };
  const json got = run_app("info", {"--check", "--json", "-", odd}).json();
  expect(got, "duplicates", 2, 9);
  expect(got, "explicit_zeros", 2, 7);
  expect(got, "not_finite", 2, 11);
  expect(got, "above_diagonal", 2, 8);
  expect(got, "unsorted", 3, 8);
  expect(got, "self_loops", 2, 11);
  expect(got, "isolated", 1, nullptr);
  EXPECT_NE(run_app("info", {"--check", odd}).out.find("entries at the place of an earlier entry: 2, first on line 9"),
            std::string::npos);

  const std::string by_columns =
      folder_.write("c.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n2 1\n3 1\n1 2\n1 3\n");
  EXPECT_EQ(run_app("info", {"--check", "--json", "-", by_columns}).json()["check"]["unsorted"]["count"], 0);
  const json clean = run_app("info", {"--check", "--json", "-", matrix_}).json()["check"];
  for (const char* key : {"duplicates", "explicit_zeros", "not_finite", "above_diagonal", "unsorted", "isolated"}) {
    EXPECT_EQ(clean[key]["count"], 0) << key;
    EXPECT_TRUE(clean[key]["line"].is_null()) << key;
  }
  const std::string edges = folder_.write("e.el", "# one\n7 8\n8 9\n\n9 9\n% x\n7 8\n");
  const json graph = run_app("info", {"--check", "--json", "-", edges}).json();
  expect(graph, "duplicates", 1, 7);
  expect(graph, "self_loops", 1, 5);
  expect(graph, "unsorted", 1, 7);
  EXPECT_FALSE(run_app("info", {"--json", "-", edges}).json().contains("check"));
}

// 0 - 1 - 2 - 3 - 4, and 5 - 6 apart, both ways; vertex 7 alone. By hand: distances from 0 sum to 10, from 1 to 7, from
// 2 to 6, within five vertices, and from 5 to 1.
TEST_F(InfoFile, MeasuresDistances) {
  const std::string path = folder_.write("path.mtx",
                                         "%%MatrixMarket matrix coordinate pattern symmetric\n8 8 5\n"
                                         "2 1\n3 2\n4 3\n5 4\n7 6\n");
  const json got = run_app("info", {"--distances", "100", "--json", "-", path}).json()["distances"];
  EXPECT_EQ(got["sources"], 7);
  EXPECT_EQ(got["exact"], true);
  EXPECT_EQ(got["eccentricity"], (json{{"min", 1}, {"median", 3}, {"max", 4}}));
  EXPECT_NEAR(got["mean_distance"].get<double>(), (10 + 7 + 6 + 7 + 10 + 1 + 1) / 22.0, 1e-12);
  EXPECT_NEAR(got["mean_reached"].get<double>(), (5 * 5 + 2 * 2) / 7.0, 1e-12);
  const auto closeness = [](double met, double sum) { return met / 7 * (met / sum); };
  EXPECT_NEAR(got["closeness"]["max"].get<double>(), closeness(4, 6), 1e-12);
  EXPECT_NEAR(got["closeness"]["min"].get<double>(), closeness(1, 1), 1e-12);
  const double all = 2 * closeness(4, 10) + 2 * closeness(4, 7) + closeness(4, 6) + 2 * closeness(1, 1);
  EXPECT_NEAR(got["closeness"]["mean"].get<double>(), all / 7, 1e-12);
  const std::string says = run_app("info", {"--distances", "100", path}).out;
  EXPECT_NE(says.find("the diameter is 4"), std::string::npos) << says;

  const json some = run_app("info", {"--distances", "3", "--json", "-", path}).json()["distances"];
  EXPECT_EQ(some["sources"], 3);
  EXPECT_EQ(some["exact"], false);
  EXPECT_NE(run_app("info", {"--distances", "3", path}).out.find("at least"), std::string::npos);
  EXPECT_FALSE(run_app("info", {"--json", "-", path}).json().contains("distances"));
}

// Along the edges' direction: 0 reaches all four, 3 only itself.
TEST_F(InfoFile, DistancesFollowDirections) {
  const std::string edges = folder_.write("d.el", "0 1\n1 2\n2 3\n");
  const json got = run_app("info", {"--distances", "64", "--json", "-", edges}).json()["distances"];
  EXPECT_EQ(got["sources"], 3);
  EXPECT_EQ(got["eccentricity"], (json{{"min", 1}, {"median", 2}, {"max", 3}}));
  EXPECT_NEAR(got["mean_distance"].get<double>(), (6 + 3 + 1) / 6.0, 1e-12);
  const std::string none = folder_.write("n.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n");
  EXPECT_EQ(run_app("info", {"--distances", "5", "--json", "-", none}).json()["distances"]["sources"], 0);
}

TEST_F(InfoFile, RefusesDistancesOfWhatIsNoGraph) {
  const std::string wide = folder_.write("w.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  expect_failure(run_app("info", {"--distances", "4", wide}), "info", 1, "2 x 3");
  expect_failure(run_app("info", {"--distances", "0", matrix_}), "info", 2);
}

// 1 and 2 are joined in both directions, 3 is only a target, 9 has only a loop.
class InfoGraph : public testing::Test {
 protected:
  const scratch folder_;
  const std::string edges_ = folder_.write("g.csv", "source,target\n1,2\n2,1\n1,3\n2,3\n9,9\n1,3\n");
};

TEST_F(InfoGraph, CountsDegreesInAndOut) {
  const json got = run_app("info", {"--json", "-", edges_}).json();
  EXPECT_EQ(got["vertices"], 4);
  EXPECT_EQ(got["edges"], 4);
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["self_loops"], 1);
  EXPECT_EQ(got["isolated"], 1);
  EXPECT_EQ(got["out_degree"]["max"], 2);
  EXPECT_EQ(got["out_degree"]["empty"], 2);
  EXPECT_EQ(got["in_degree"]["max"], 2);
  EXPECT_EQ(got["in_degree"]["empty"], 1);
  EXPECT_DOUBLE_EQ(got["in_degree"]["mean"].get<double>(), 1.0);
  EXPECT_FALSE(got.contains("degree"));
  const json both = run_app("info", {"--json", "-", "--undirected", edges_}).json();
  EXPECT_EQ(both["directed"], false);
  EXPECT_EQ(both["edges"], 3);
  EXPECT_EQ(both["degree"]["max"], 2);
  EXPECT_EQ(both["degree"]["min"], 0);
  EXPECT_FALSE(both.contains("out_degree"));
}

TEST_F(InfoGraph, WritesDegrees) {
  const auto written = [&](const std::string& name, const std::vector<std::string>& flags) {
    std::vector<std::string> all = {edges_, "--quiet", "--output", folder_ / name};
    all.insert(all.end(), flags.begin(), flags.end());
    const app_run run = run_app("info", all);
    EXPECT_EQ(run.code, 0) << run.err;
    return slurp(folder_ / name);
  };
  EXPECT_EQ(written("d.csv", {}), "id,out_degree,in_degree\n1,2,1\n2,2,1\n3,0,2\n9,0,0\n");
  EXPECT_EQ(written("d.txt", {"--sort"}), "1 2 1\n2 2 1\n3 0 2\n9 0 0\n");
  EXPECT_EQ(written("u.tsv", {"--undirected"}), "id\tdegree\n1\t2\n2\t2\n3\t2\n9\t0\n");
  EXPECT_EQ(json::parse(written("u.json", {"--undirected", "--top", "1"})), json::parse(R"([{"id":1,"degree":2}])"));
  // With --output a symmetric matrix is an undirected graph, unless a flag says otherwise.
  const std::string matrix =
      folder_.write("m.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
  const std::string degrees = folder_ / "m.csv";
  ASSERT_EQ(run_app("info", {matrix, "--output", degrees}).code, 0);
  EXPECT_EQ(slurp(degrees), "id,degree\n1,1\n2,1\n3,0\n");
  ASSERT_EQ(run_app("info", {matrix, "--output", degrees, "--directed"}).code, 0);
  EXPECT_EQ(slurp(degrees), "id,out_degree,in_degree\n1,1,1\n2,1,1\n3,0,0\n");
  const std::string wide = folder_.write("w.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  expect_failure(run_app("info", {wide, "--output", degrees}), "info", 1, "2 x 3 (expected a square one");
}

// The degrees are those of the graph in the graph commands.
TEST_F(InfoGraph, AgreesWithTheGraphCommands) {
  for (const std::string direction : {"--directed", "--undirected"}) {
    const json info = run_app("info", {"gen:rmat:scale=9,degree=5", direction, "--json", "-"}).json();
    const json graph =
        run_app("components", {"gen:rmat:scale=9,degree=5", direction, "--json", "-", "--device", "cpu"}).json();
    for (const char* key : {"vertices", "edges", "directed", "components"}) EXPECT_EQ(info[key], graph[key]) << key;
    const json reached = run_app("info", {edges_, direction, "--distances", "9", "--json", "-"}).json()["distances"];
    EXPECT_EQ(reached["sources"], 3);
    EXPECT_EQ(reached["eccentricity"]["max"], 1);
  }
  const json both =
      run_app("info", {folder_.write("p.el", "1 2\n3 2\n"), "--undirected", "--distances", "9", "--json", "-"})
          .json()["distances"];
  EXPECT_EQ(both["sources"], 3);
  EXPECT_EQ(both["eccentricity"]["max"], 2);
}

TEST_F(InfoGraph, SpeaksOfVerticesAndEdges) {
  const auto contains_any = [](const std::string& text, const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return text.find(word) != std::string::npos; });
  };
  const std::vector<std::string> of_matrices = {"row", "entries", "nonzero", "diagonal", " x ", "ELL"};
  const std::string graph = run_app("info", {edges_}).out;
  EXPECT_FALSE(contains_any(graph, of_matrices)) << graph;
  for (const char* word : {"4 vertices, 4 directed edges (6 listed), 1 self-loop", "out-degree", "in-degree"}) {
    EXPECT_TRUE(contains_any(graph, {word})) << word << " in " << graph;
  }
  const std::string matrix =
      folder_.write("m.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
  const std::string described = run_app("info", {matrix}).out;
  EXPECT_TRUE(contains_any(described, {"3 x 3"}) && contains_any(described, {"row lengths"})) << described;
  const std::string converted = run_app("convert", {edges_, folder_ / "x.wel"}).out;
  EXPECT_FALSE(contains_any(converted, of_matrices)) << converted;
  EXPECT_TRUE(contains_any(converted, {"4 vertices, 6 directed edges"})) << converted;
  EXPECT_TRUE(contains_any(run_app("convert", {matrix, folder_ / "y.mtx"}).out, {"3 x 3, 2 entries"}));
}

TEST_F(InfoFile, ErrorsInOneLine) {
  expect_failure(run_app("info", {folder_ / "missing"}), "info", 1, "No such file");
  expect_failure(run_app("info", {}), "info", 2);
  expect_failure(run_app("info", {"--spy", folder_ / "no/such.png", matrix_}), "info", 1, "No such file");
}

// Both take --device like every app, but work on the CPU, and say so.
TEST_F(InfoFile, TakesADeviceAndSaysWhatWorked) {
  SPARGO_NEEDS_SNAPSHOTS();
  const auto expect = [](const std::vector<std::string>& arguments, const std::string& app, bool warns) {
    const app_run run = run_app(app, arguments);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json()["device"], "cpu");
    EXPECT_EQ(run.json()["threads"], 2);
    EXPECT_EQ(run.err.find("changes nothing here") != std::string::npos, warns) << run.err;
  };
  for (const std::string device : {"auto", "cpu", "cuda", "cuda:3"}) {
    const bool warns = device.starts_with("cuda");
    expect({"--device", device, "--threads", "2", "--json", "-", matrix_}, "info", warns);
    expect({"--device", device, "--threads", "2", "--json", "-", matrix_, folder_ / "a.spg"}, "convert", warns);
    expect({"--quiet", "--device", device, "--threads", "2", "--json", "-", matrix_}, "info", false);
  }
  expect_failure(run_app("info", {"--device", "gpu", matrix_}), "info", 2, "gpu is not a device");
  expect_failure(run_app("convert", {"--device", "cuda:x", matrix_, folder_ / "a.spg"}), "convert", 2, "cuda:x");
}

TEST_F(InfoFile, ConversionsKeepTheMatrix) {
  SPARGO_NEEDS_SNAPSHOTS();
  const json expected = run_app("spmv", {"--json", "-", "--x", "reciprocal", matrix_}).json()["y"];
  for (const std::string name : {"a.spg", "a.mtx", "a.mtx.gz"}) {
    const std::string other = folder_ / name;
    const app_run run = run_app("convert", {"--quiet", matrix_, other});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run_app("spmv", {"--json", "-", "--x", "reciprocal", other}).json()["y"], expected) << name;
  }
}

TEST_F(InfoFile, AFailedConversionKeepsTheOldFile) {
  SPARGO_NEEDS_SNAPSHOTS();
  const std::string broken = folder_.write("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n");
  const std::string target = folder_.write("t.spg", "old");
  expect_failure(run_app("convert", {broken, target}), "convert", 1, "b.mtx:");
  EXPECT_EQ(slurp(target), "old");
  expect_failure(run_app("convert", {matrix_}), "convert", 2);
}

}  // namespace
}  // namespace spargo::test
