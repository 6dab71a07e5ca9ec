// `coloring` end to end: every graph of the data folder, flags, output, errors.
#include <map>

#include "apps/graph_app.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("coloring");

TEST(ColoringApp, AgreesWithTheTruth) {
  const scratch folder;
  const std::string out = folder / "colors.txt";
  for_each_truth("colouring", 40, [&](const std::string&, const std::string& file, const json& truth, const json&) {
    const json got = run_on(file, {"--undirected", "--order", "smallest-last", "--output", out});
    ASSERT_FALSE(got.empty());
    EXPECT_EQ(got["valid"], true);
    EXPECT_LE(got["colors"], truth["max_core_plus_1"]);
    std::map<std::int64_t, std::int64_t> reported, written;
    for (const auto& pair : got["histogram"]) reported[pair[0]] = pair[1];
    std::istringstream lines(slurp(out));
    for (std::int64_t id = 0, color = 0; lines >> id >> color;) ++written[color];
    EXPECT_EQ(written, reported);
    EXPECT_EQ(static_cast<std::int64_t>(reported.size()), got["colors"]);
  });
}

class ColoringFile : public testing::Test {
 protected:
  const scratch folder_;
  // A triangle with a tail; a loop, a duplicate.
  const std::string edges_ = folder_.write("g.el", "10 20\n20 30\n30 10\n30 40\n40 40\n20 10\n");
};

TEST_F(ColoringFile, EveryKeyOfTheContractIsThere) {
  for (const char* direction : {"--undirected", "--directed"}) {
    const json got = run_on(edges_, {direction});
    expect_graph_keys(got, {"colors", "histogram"});
    EXPECT_EQ(got["colors"], 3);
    EXPECT_EQ(got["valid"], true);
  }
}

TEST_F(ColoringFile, OutputHasIdsAsTheFileWritesThem) {
  const std::string out = folder_ / "colors.csv";
  (void)run_on(edges_, {"--undirected", "--output", out});
  EXPECT_EQ(slurp(out).substr(0, 15), "id,color\n10,1\n2");
  EXPECT_NE(slurp(out).find("\n30,0\n"), std::string::npos);  // the vertex of the highest degree
}

TEST_F(ColoringFile, EveryOrderRuns) {
  for (const char* order : {"auto", "largest-first", "smallest_last", "smallest-first", "random", "random:7"}) {
    const json got = run_on(edges_, {"--undirected", "--order", order});
    EXPECT_EQ(got["valid"], true) << order;
    EXPECT_EQ(got["colors"], 3) << order;
  }
}

TEST_F(ColoringFile, RefusesOrdersThatAreNone) {
  expect_failure(run_app("coloring", {"--order", "sideways", edges_}), "coloring", 2,
                 "--order: sideways is not an order (expected largest-first, smallest-last, smallest-first or "
                 "random[:SEED])");
  expect_failure(run_app("coloring", {"--order", "random:x", edges_}), "coloring", 2, "--order random:x: the seed");
}

TEST(ColoringApp, OnAGpu) {
  SPARGO_TEST_NEEDS_GPU();
  for (const char* direction : {"--undirected", "--directed"}) {
    for (const char* order : {"largest-first", "smallest-last", "random:3"}) {
      auto on = [&](const char* where) {
        return run_app("coloring",
                       {"gen:rmat:scale=14,degree=8", direction, "--json", "-", "--order", order, "--device", where})
            .json();
      };
      const json cpu = on("cpu");
      const json gpu = on("cuda");
      EXPECT_EQ(gpu["device"], "cuda:0");
      EXPECT_EQ(gpu["valid"], true);
      for (const char* key : {"colors", "histogram"}) EXPECT_EQ(gpu[key], cpu[key]) << key;
    }
  }
}

}  // namespace
}  // namespace spargo::test
