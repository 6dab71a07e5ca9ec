// `components` end to end: every graph of the data folder against truth.json and truth_more.json, LDBC Graphalytics'
// examples, flags, errors.
#include <map>

#include "apps/graph_app.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on{"components", {"--repeat", "1"}};

// Edge lists: the truth counts ids without edges as components of one vertex.
std::int64_t absent_ids(const json& graph) {
  if (!graph.contains("components_weak_present_only")) return 0;
  return graph["components_weak"].get<std::int64_t>() - graph["components_weak_present_only"].get<std::int64_t>();
}

void check_weak(const std::string& device) {
  int files = 0;
  for (const auto& [name, facts] : truth().items()) {
    if (is_left_out(name)) continue;
    const bool listed = facts.contains("graph_raw_ids");
    if (!listed && !facts.contains("graph")) continue;
    SCOPED_TRACE(name);
    const json& graph = facts[listed ? "graph_raw_ids" : "graph"];
    for (const char* direction : {"--directed", "--undirected"}) {
      const json got = run_on((data_directory() / name).string(), {"--device", device, direction});
      ASSERT_FALSE(got.empty());
      EXPECT_EQ(got["components"].get<std::int64_t>(),
                graph["components_weak"].get<std::int64_t>() - absent_ids(graph));
      EXPECT_EQ(got["largest"], graph["largest_component"]);
      EXPECT_EQ(got["valid"], true);
    }
    ++files;
  }
  EXPECT_GT(files, used_inputs(40));
}

TEST(ComponentsApp, WeakOnesAgreeWithTheTruthOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_weak("cpu");
}

TEST(ComponentsApp, WeakOnesAgreeWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_weak("cuda");
}

void check_strong(const std::string& device) {
  const json& more = truth_more();
  int files = 0;
  for (const auto& [name, facts] : truth().items()) {
    if (is_left_out(name)) continue;
    const bool listed = facts.contains("graph_raw_ids");
    if ((!listed && !facts.contains("graph")) || !more.contains(name)) continue;
    const json& expected = more[name]["strong_components"];
    SCOPED_TRACE(name);
    const std::int64_t absent = absent_ids(facts[listed ? "graph_raw_ids" : "graph"]);
    json sizes = expected["sizes"];
    if (absent > 0 && sizes.back()[0] == 1) {
      sizes.back()[1] = sizes.back()[1].get<std::int64_t>() - absent;
      if (sizes.back()[1] == 0) sizes.erase(sizes.size() - 1);
    }
    const json got = run_on((data_directory() / name).string(), {"--device", device, "--strong", "--directed"});
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["components"].get<std::int64_t>(), expected["count"].get<std::int64_t>() - absent);
    EXPECT_EQ(got["largest"], expected["largest"]);
    EXPECT_EQ(got["sizes"], sizes);
    EXPECT_EQ(got["valid"], true);
    ++files;
  }
  EXPECT_GT(files, used_inputs(40));
}

TEST(ComponentsApp, StrongOnesAgreeWithTheTruthOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_strong("cpu");
}

TEST(ComponentsApp, StrongOnesAgreeWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_strong("cuda");
}

std::map<std::int64_t, std::int64_t> pairs_in(const std::string& text) {
  std::map<std::int64_t, std::int64_t> pairs;
  std::istringstream in(text);
  for (std::int64_t id = 0, label = 0; in >> id >> label;) pairs[id] = label;
  return pairs;
}

// All example and test graphs: labels may differ from the expected ones, if they group vertices in the same way. Ids
// without edges are not in the edge list and form their own components.
void check_ldbc(const std::string& device) {
  const scratch folder;
  const std::string out = folder / "labels.txt";
  int graphs = 0;
  for (const std::string name :
       {"example-directed", "example-undirected", "test-wcc-directed", "test-wcc-undirected"}) {
    SCOPED_TRACE(name);
    const auto file = data_directory() / "ldbc" / name;
    const auto expected = pairs_in(slurp(file.string() + "-WCC"));
    ASSERT_GT(expected.size(), 4U);
    const std::string edges = folder.write("e.wel", slurp(file.string() + ".e"));
    const char* direction = name.find("undirected") == std::string::npos ? "--directed" : "--undirected";
    (void)run_on(edges, {"--device", device, "--output", out, direction});
    auto got = pairs_in(slurp(out));
    for (const auto& [id, label] : expected) got.try_emplace(id, id);
    ASSERT_EQ(got.size(), expected.size());
    std::map<std::int64_t, std::int64_t> ours_of, theirs_of;
    for (const auto& [id, label] : expected) {
      EXPECT_EQ(ours_of.try_emplace(label, got[id]).first->second, got[id]) << "vertex " << id;
      EXPECT_EQ(theirs_of.try_emplace(got[id], label).first->second, label) << "vertex " << id;
    }
    ++graphs;
  }
  EXPECT_EQ(graphs, 4);
}

TEST(ComponentsApp, AgreesWithLdbcOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_ldbc("cpu");
}

TEST(ComponentsApp, AgreesWithLdbcOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_ldbc("cuda");
}

class ComponentsFile : public testing::Test {
 protected:
  const scratch folder_;
  // Weak: 10 20 30 40, and 7 with a large id. Strong: 10 20 30, and three single vertices. A loop, a duplicate.
  const std::string edges_ = folder_.write("g.el", "# c\n30 10\n10 20\n20 30\n10 20\n30 30\n30 40\n1000000000000 7\n");
};

TEST_F(ComponentsFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--device", "cpu"});
  expect_graph_keys(got, {"components", "largest", "sizes"});
  EXPECT_EQ(got["app"], "components");
  EXPECT_EQ(got["vertices"], 6);
  EXPECT_EQ(got["edges"], 5);
  EXPECT_EQ(got["directed"], true);
  EXPECT_EQ(got["components"], 2);
  EXPECT_EQ(got["largest"], 4);
  EXPECT_EQ(got["sizes"], json::parse("[[4, 1], [2, 1]]"));
  EXPECT_EQ(got["time_ms"]["runs"], 1);
  EXPECT_EQ(got["valid"], true);
}

TEST_F(ComponentsFile, StrongOnesFollowTheDirection) {
  const json strong = run_on(edges_, {"--device", "cpu", "--strong"});
  EXPECT_EQ(strong["components"], 4);
  EXPECT_EQ(strong["sizes"], json::parse("[[3, 1], [1, 3]]"));
  const json undirected = run_on(edges_, {"--device", "cpu", "--strong", "--undirected"});
  EXPECT_EQ(undirected["components"], 2);
}

TEST_F(ComponentsFile, OutputHasTheSmallestIds) {
  const std::string out = folder_ / "labels.txt";
  ASSERT_EQ(run_app("components", {"--quiet", "--device", "cpu", "--output", out, edges_}).code, 0);
  EXPECT_EQ(slurp(out), "7 7\n10 10\n20 10\n30 10\n40 10\n1000000000000 7\n");
  ASSERT_EQ(run_app("components", {"--quiet", "--device", "cpu", "--strong", "--output", out, edges_}).code, 0);
  EXPECT_EQ(slurp(out), "7 7\n10 10\n20 10\n30 10\n40 40\n1000000000000 1000000000000\n");
}

TEST_F(ComponentsFile, AtMostTwentySizes) {
  std::string text;  // paths of 2 to 26 vertices
  std::int64_t id = 0;
  for (int size = 2; size <= 26; ++size, ++id) {
    for (int k = 1; k < size; ++k, ++id) text += std::to_string(id) + " " + std::to_string(id + 1) + "\n";
  }
  const json got = run_on(folder_.write("p.el", text), {"--device", "cpu"});
  EXPECT_EQ(got["components"], 25);
  ASSERT_EQ(got["sizes"].size(), 20U);
  EXPECT_EQ(got["sizes"][0], json::parse("[26, 1]"));
  EXPECT_EQ(got["sizes"][19], json::parse("[7, 1]"));
}

TEST_F(ComponentsFile, OtherFormatsGiveTheSame) {
  for (const std::string name : {"h.spg", "h.el.gz", "h.mtx"}) {
    if (!test::can_write(name)) continue;
    const std::string other = folder_ / name;
    ASSERT_EQ(run_app("convert", {"--quiet", "gen:rmat:scale=8,degree=2", other}).code, 0) << name;
    const json got = run_on(other, {"--device", "cpu", "--directed"});
    EXPECT_EQ(got["largest"], run_on("gen:rmat:scale=8,degree=2", {"--device", "cpu"})["largest"]) << name;
  }
}

TEST_F(ComponentsFile, SymmetricMatricesAreUndirected) {
  const std::string symmetric =
      folder_.write("s.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 2\n");
  const json got = run_on(symmetric, {"--device", "cpu", "--strong"});
  EXPECT_EQ(got["directed"], false);
  EXPECT_EQ(got["components"], 2);
  EXPECT_EQ(run_on(symmetric, {"--device", "cpu", "--strong", "--directed"})["components"], 2);
}

TEST_F(ComponentsFile, PeopleReadTheFigures) {
  const app_run run = run_app("components", {"--device", "cpu", edges_});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("2 weak"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("\n  sizes "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("valid: checked edge by edge"), std::string::npos) << run.out;
  EXPECT_NE(run_app("components", {"--device", "cpu", "--no-validate", edges_}).out.find("not validated"),
            std::string::npos);
}

TEST_F(ComponentsFile, StrongOnesOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  const json strong = run_on(edges_, {"--device", "cuda", "--strong"});
  EXPECT_EQ(strong["device"].get<std::string>().substr(0, 4), "cuda");
  EXPECT_EQ(strong["algorithm"], "forward_backward");
  EXPECT_EQ(strong["sizes"], json::parse("[[3, 1], [1, 3]]"));
}

}  // namespace
}  // namespace spargo::test
