// Data sets made by rules: the commands' results follow from the rules.
#include <array>

#include "apps/run_app.hpp"

namespace spargo::apps {
namespace {

// Shortest distances in the town from crossing (1, 1), by relaxing every street until nothing changes.
std::array<std::array<int, 9>, 13> ways_in_town() {
  std::array<std::array<int, 9>, 13> way{};
  for (auto& column : way) column.fill(1 << 20);
  way[1][1] = 0;
  for (int round = 0; round < 96; ++round) {
    const auto relax = [](int& a, int& b, int length) {
      a = std::min(a, b + length);
      b = std::min(b, a + length);
    };
    for (std::size_t x = 1; x <= 12; ++x) {
      for (std::size_t y = 1; y <= 8; ++y) {
        const int along_y = y == 4 || y == 5 ? 80 : 100 + 10 * static_cast<int>((x + y) % 3);
        if (x < 12) relax(way[x][y], way[x + 1][y], along_y);
        if (y < 8 && y != 4) relax(way[x][y], way[x][y + 1], 120 + 10 * static_cast<int>(x * y % 4));
        if (y == 4 && (x == 3 || x == 9)) relax(way[x][4], way[x][5], 150);
      }
    }
  }
  return way;
}

TEST(datasets, shortest_ways_in_the_town) {
  const std::string town = test::source_folder() + "/datasets/town.gr";
  const auto way = ways_in_town();
  const test::scratch folder;
  const auto run = test::run_app("sssp", {town, "--source", "1", "--output", folder / "ways", "--json", "-"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json().at("runs").at(0).at("reached"), 96);
  std::istringstream lines(test::slurp(folder / "ways"));
  std::size_t checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    std::istringstream words(line);
    std::size_t id = 0;
    int length = -1;
    words >> id >> length;
    EXPECT_EQ(length, way.at((id - 1) % 12 + 1).at((id - 1) / 12 + 1)) << "crossing " << id;
  }
  EXPECT_EQ(checked, 96U);
}

TEST(datasets, whole_numbers_link_to_their_divisors) {
  const std::string integers = test::source_folder() + "/datasets/integers.el";
  const auto run = test::run_app("pagerank", {integers, "--json", "-"});
  ASSERT_EQ(run.code, 0) << run.err;
  int links = 0;
  for (int n = 2; n <= 200; ++n) {
    for (int d = 1; d < n; ++d) links += n % d == 0 ? 1 : 0;
  }
  EXPECT_EQ(run.json().at("vertices"), 200);
  EXPECT_EQ(run.json().at("edges"), links);
  EXPECT_EQ(run.json().at("top").at(0).at(0), 1);
  EXPECT_EQ(run.json().at("top").at(1).at(0), 2);
}

}  // namespace
}  // namespace spargo::apps
