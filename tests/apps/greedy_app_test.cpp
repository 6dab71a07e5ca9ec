// `independent-set` and `matching` end to end: every graph of the data folder, flags, output, errors.
#include <set>

#include "apps/graph_app.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter choose_on = on_cpu("independent-set");
const reporter match_on = on_cpu("matching");

TEST(IndependentSetApp, AgreesWithTheTruth) {
  const scratch folder;
  const std::string out = folder / "set.txt";
  for_each_truth("mis_bounds", 40, [&](const std::string&, const std::string& file, const json&, const json&) {
    const json got = choose_on(file, {"--undirected", "--output", out});
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["valid"], true);
    std::istringstream lines(slurp(out));
    std::set<std::int64_t> written;
    for (std::int64_t id = 0; lines >> id;) written.insert(id);
    EXPECT_EQ(static_cast<std::int64_t>(written.size()), got["size"]);
  });
}

TEST(MatchingApp, IsValidOnEveryGraph) {
  const scratch folder;
  const std::string out = folder / "pairs.txt";
  for_each_truth("mis_bounds", 40, [&](const std::string&, const std::string& file, const json&, const json&) {
    const json got = match_on(file, {"--undirected", "--output", out});
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["valid"], true);
    std::istringstream lines(slurp(out));
    std::set<std::int64_t> ends;
    for (std::int64_t u = 0, v = 0; lines >> u >> v;) ends.insert({u, v});
    EXPECT_EQ(static_cast<std::int64_t>(ends.size()), 2 * got["edges"].get<std::int64_t>());
  });
}

class GreedyFile : public testing::Test {
 protected:
  const scratch folder_;
  // A path of four with a loop in the middle, a duplicate, and a vertex on its own.
  const std::string edges_ = folder_.write("g.el", "10 20\n20 30\n30 30\n30 40\n20 10\n50 50\n");
};

TEST_F(GreedyFile, EveryKeyOfTheContractIsThere) {
  for (const char* direction : {"--undirected", "--directed"}) {
    const json chosen = choose_on(edges_, {direction});
    expect_graph_keys(chosen, {"size"});
    EXPECT_EQ(chosen["size"], 3);
    const json matched = match_on(edges_, {direction});
    expect_graph_keys(matched, {"graph_edges"});
    EXPECT_EQ(matched["edges"], 2);
    EXPECT_EQ(matched["graph_edges"], matched["directed"].get<bool>() ? 4 : 3);
  }
}

TEST_F(GreedyFile, OutputHasIdsAsTheFileWritesThem) {
  const std::string out = folder_ / "out.csv";
  (void)match_on(edges_, {"--undirected", "--output", out});
  EXPECT_EQ(slurp(out), "source,target\n10,20\n30,40\n");
  (void)choose_on(edges_, {"--undirected", "--output", out});
  EXPECT_EQ(slurp(out).substr(0, 6), "id\n10\n");
  EXPECT_NE(slurp(out).find("\n50\n"), std::string::npos);
}

TEST_F(GreedyFile, EveryOrderRuns) {
  for (const char* order : {"auto", "largest-first", "smallest-last", "smallest-first", "random", "random:7"}) {
    EXPECT_EQ(choose_on(edges_, {"--undirected", "--order", order})["valid"], true) << order;
    EXPECT_EQ(match_on(edges_, {"--undirected", "--order", order})["valid"], true) << order;
  }
  for (const char* command : {"independent-set", "matching"}) {
    expect_failure(run_app(command, {"--order", "sideways", edges_}), command, 2, "--order: sideways is not an order");
  }
}

TEST(GreedyApps, OnAGpu) {
  SPARGO_TEST_NEEDS_GPU();
  for (const char* command : {"independent-set", "matching"}) {
    for (const char* direction : {"--undirected", "--directed"}) {
      auto on = [&](const char* where) {
        return run_app(command, {"gen:rmat:scale=14,degree=8", direction, "--json", "-", "--device", where}).json();
      };
      const json cpu = on("cpu");
      const json gpu = on("cuda");
      EXPECT_EQ(gpu["device"], "cuda:0");
      EXPECT_EQ(gpu["valid"], true);
      const char* const key = gpu.contains("size") ? "size" : "edges";
      EXPECT_EQ(gpu[key], cpu[key]);
    }
  }
}

}  // namespace
}  // namespace spargo::test
