// `layout` end to end: positions, the picture in every format, colours, the page, weights, flags and errors.
#include "apps/graph_app.hpp"
#include "cli/picture.hpp"
#include "support/snapshots.hpp"

#include <cmath>
#include <map>

namespace spargo::test {
namespace {

using nlohmann::json;

const reporter run_on = on_cpu("layout");

class LayoutFile : public testing::Test {
 protected:
  const scratch folder_;
  // Two cliques of four, a bridge, a vertex with a large id; a loop, a duplicate.
  const std::string edges_ = folder_.write("g.el",
                                           "10 20 1\n10 30 1\n10 40 1\n20 30 1\n20 40 1\n30 40 1\n40 50 1\n50 60 1\n"
                                           "50 70 1\n50 80 1\n60 70 1\n60 80 1\n70 80 1\n10 20 1\n50 50 1\n"
                                           "60 1000000000000 9\n");

  struct place {
    double x, y;
  };
  static std::map<std::int64_t, place> places(const std::string& file) {
    std::map<std::int64_t, place> found;
    std::istringstream lines(slurp(file));
    place at{};
    for (std::int64_t id = 0; lines >> id >> at.x >> at.y;) found[id] = at;
    return found;
  }
  static double distance(const place& a, const place& b) { return std::hypot(a.x - b.x, a.y - b.y); }
};

TEST_F(LayoutFile, EveryKeyOfTheContractIsThere) {
  const json got = run_on(edges_, {"--undirected", "--iterations", "50"});
  expect_graph_keys(got, {"iterations", "stress"});
  EXPECT_EQ(got["iterations"], 50);
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["device"], "cpu");
  EXPECT_LT(got["stress"], 0.2);
}

// Vertices of a clique are nearer to each other than to those of the other one.
TEST_F(LayoutFile, OutputHasIdsAndPositions) {
  const std::string out = folder_ / "places.txt";
  (void)run_on(edges_, {"--undirected", "--output", out});
  const auto at = places(out);
  ASSERT_EQ(at.size(), 9);
  EXPECT_LT(distance(at.at(10), at.at(20)), distance(at.at(10), at.at(70)));
  EXPECT_LT(distance(at.at(70), at.at(80)), distance(at.at(20), at.at(80)));
  const std::string again = folder_ / "again.txt";
  (void)run_on(edges_, {"--undirected", "--output", again, "--threads", "1"});
  EXPECT_EQ(slurp(again), slurp(out));
  (void)run_on(edges_, {"--undirected", "--output", again, "--seed", "2"});
  EXPECT_NE(slurp(again), slurp(out));
  const std::string table = folder_ / "places.csv";
  (void)run_on(edges_, {"--undirected", "--output", table, "--top", "1"});
  EXPECT_TRUE(slurp(table).starts_with("id,x,y\n"));
}

// A heavy edge is shorter.
TEST_F(LayoutFile, WeightsPull) {
  const std::string out = folder_ / "places.txt";
  (void)run_on(edges_, {"--undirected", "--output", out});
  auto at = places(out);
  const double before = distance(at.at(60), at.at(1'000'000'000'000));
  const json got = run_on(edges_, {"--undirected", "--weights", "file", "--output", out});
  EXPECT_EQ(got["weights"], "file");
  EXPECT_EQ(got["valid"], true);
  at = places(out);
  EXPECT_LT(distance(at.at(60), at.at(1'000'000'000'000)), 0.7 * before);
  const std::string negative = folder_.write("n.wel", "1 2 3\n2 3 -1\n");
  expect_failure(run_here("layout", {negative, "--weights", "file"}), "layout", 1, "n.wel:2");
}

TEST_F(LayoutFile, DrawsInEveryFormat) {
  if (!apps::can_draw()) GTEST_SKIP() << "no Cairo";
  const std::map<std::string, std::string> begins{{"png", "\x89PNG"}, {"svg", "<?xml"}, {"pdf", "%PDF"}};
  for (const auto& [ending, first] : begins) {
    const std::string image = folder_ / ("g." + ending);
    const json got = run_on(edges_, {"--undirected", "--image", image});
    EXPECT_EQ(got["image"], image);
    EXPECT_TRUE(slurp(image).starts_with(first)) << ending;
  }
  // The same file every time; other colours by core number.
  const std::string image = folder_ / "h.png";
  (void)run_on(edges_, {"--undirected", "--image", image});
  EXPECT_TRUE(slurp(image) == slurp(folder_ / "g.png"));
  std::string last = slurp(image);
  for (const char* colours : {"core", "none", "components"}) {
    (void)run_on(edges_, {"--undirected", "--image", image, "--color-by", colours});
    EXPECT_TRUE(slurp(image) != last) << colours;
    last = slurp(image);
  }
}

TEST_F(LayoutFile, DrawsGraphsOfAnySize) {
  if (!apps::can_draw()) GTEST_SKIP() << "no Cairo";
  const std::string image = folder_ / "g.png";
  for (const char* const graph : {"gen:path:n=1", "gen:path:n=2", "gen:rmat:scale=13,degree=4"}) {
    EXPECT_EQ(run_on(graph, {"--undirected", "--image", image, "--iterations", "3"})["valid"], true);
    EXPECT_TRUE(slurp(image).starts_with("\x89PNG")) << graph;
  }
  const std::string empty = folder_.write("e.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n0 0 0\n");
  EXPECT_EQ(run_on(empty, {"--image", image})["stress"], 0);
}

TEST_F(LayoutFile, ThePageHasThePicture) {
  if (!apps::can_draw()) GTEST_SKIP() << "no Cairo";
  const std::string page = folder_ / "page.html";
  (void)run_on(edges_, {"--undirected", "--report", page});
  EXPECT_NE(slurp(page).find("src=\"data:image/png;base64,iVBORw0KGgo"), std::string::npos);
}

TEST_F(LayoutFile, RefusesWhatItCannotDo) {
  const auto usage = [&](std::vector<std::string> flags, const std::string& message) {
    flags.push_back(edges_);
    expect_failure(run_here("layout", flags), "layout", 2, message);
  };
  usage({"--scaling", "0"}, "--scaling: 0 (expected above 0)");
  usage({"--gravity", "-1"}, "--gravity: -1 (expected 0 or more)");
  usage({"--start", "spectral"}, "--start");
  usage({"--color-by", "degree"}, "--color-by");
  if (apps::can_draw()) {
    usage({"--image", folder_ / "a.gif"}, "--image");
    usage({"--image", edges_}, "--image");
    usage({"--image", folder_ / "a.png", "--output", folder_ / "a.png"}, "--image");
  }
  EXPECT_EQ(run_here("layout", {"--iterations", "-1", edges_}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.gif"));
}

TEST(LayoutApp, OnAGpu) {
  SPARGO_TEST_NEEDS_GPU();
  const json gpu = run_app("layout", {"gen:rmat:scale=12,degree=8", "--undirected", "--json", "-", "--iterations", "60",
                                      "--device", "cuda"})
                       .json();
  EXPECT_EQ(gpu["device"], "cuda:0");
  EXPECT_EQ(gpu["valid"], true);
}

}  // namespace
}  // namespace spargo::test
