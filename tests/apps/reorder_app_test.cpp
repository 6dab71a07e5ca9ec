// `spargo reorder` end to end: bandwidths of real matrices, keys, outputs, refusals.
#include "apps/run_here.hpp"
#include "support/device.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

// "bandwidth" of truth_more.json: as stored, and after SciPy's reverse_cuthill_mckee.
TEST(ReorderApp, BandwidthsAgreeWithTheTruth) {
  SPARGO_TEST_NEEDS_DATA();
  std::ifstream file(data_directory() / "truth_more.json");
  int compared = 0, above = 0;
  const json truths = json::parse(file)["files"];
  for (const auto& [name, facts] : truths.items()) {
    if (!facts.contains("bandwidth")) continue;
    const app_run run = run_here("reorder", {"--json", "-", (data_directory() / name).string()});
    if (!facts["bandwidth"].contains("rcm")) {
      EXPECT_EQ(run.code, 1) << name << ": not square";
      continue;
    }
    ASSERT_EQ(run.code, 0) << name << ": " << run.err;
    const json got = run.json();
    EXPECT_EQ(got["bandwidth"]["before"], facts["bandwidth"]["before"]) << name;
    EXPECT_EQ(got["valid"], true) << name;
    above += got["bandwidth"]["after"] > facts["bandwidth"]["rcm"] ? 1 : 0;
    ++compared;
  }
  EXPECT_GE(compared, 30);
  EXPECT_LE(10 * above, compared);
}

class ReorderFile : public testing::Test {
 protected:
  static std::string matrix(const std::string& kind, const std::string& entries) {
    return "%%MatrixMarket matrix coordinate " + kind + "\n" + entries;
  }
  // The path 4 - 1 - 3 - 2 with loops, as lower triangle.
  const scratch folder_;
  const std::string path_ =
      folder_.write("p.mtx", matrix("integer symmetric", "4 4 5\n1 1 7\n4 1 41\n3 1 31\n3 2 32\n4 4 9\n"));
};

TEST_F(ReorderFile, KeysAndPermutedMatrix) {
  const std::string out = folder_ / "out.mtx";
  const std::string order = folder_ / "order.txt";
  const app_run run = run_here("reorder", {"--json", "-", "--output", out, "--permutation", order, path_});
  ASSERT_EQ(run.code, 0) << run.err;
  const json got = run.json();
  EXPECT_EQ(got["app"], "reorder");
  EXPECT_EQ(got["method"], "rcm");
  EXPECT_EQ(got["bandwidth"], json({{"before", 3}, {"after", 1}}));
  EXPECT_EQ(got["profile"], json({{"before", 5}, {"after", 3}}));
  EXPECT_TRUE(got.contains("time_ms"));
  EXPECT_EQ(slurp(order), "4\n1\n3\n2\n");
  EXPECT_EQ(slurp(out), matrix("integer symmetric", "4 4 5\n1 1 9\n2 1 41\n2 2 7\n3 2 31\n4 3 32\n"));
  EXPECT_EQ(run_here("reorder", {"--json", "-", out}).json()["bandwidth"]["before"], 1);
}

TEST_F(ReorderFile, GeneralComplexAndPatternMatricesKeepTheirValues) {
  const std::string out = folder_ / "out.mtx";
  const std::string complex = folder_.write("c.mtx", matrix("complex general", "3 3 3\n1 2 1 5\n2 1 2 6\n3 3 4 0\n"));
  EXPECT_EQ(run_here("reorder", {"--method", "degree", "--output", out, complex}).code, 0);
  EXPECT_EQ(slurp(out), matrix("complex general", "3 3 3\n1 2 1 5\n2 1 2 6\n3 3 4 0\n"));
  const std::string pattern = folder_.write("q.mtx", matrix("pattern general", "3 3 2\n3 1\n3 2\n"));
  EXPECT_EQ(run_here("reorder", {"--method", "degree", "--output", out, pattern}).code, 0);
  EXPECT_EQ(slurp(out), matrix("pattern general", "3 3 2\n1 2\n1 3\n"));
  const std::string repeated = folder_.write("r.mtx", matrix("pattern general", "3 3 3\n3 1\n3 1\n3 2\n"));
  EXPECT_EQ(run_here("reorder", {"--method", "degree", "--output", out, repeated}).code, 0);
  EXPECT_EQ(slurp(out), matrix("integer general", "3 3 2\n1 2 2\n1 3 1\n"));
  const std::string skew = folder_.write("s.mtx", matrix("real skew-symmetric", "3 3 2\n2 1 1.5\n3 1 2.5\n"));
  EXPECT_EQ(run_here("reorder", {"--method", "random:1", "--output", out, "--permutation", folder_ / "o", skew}).code,
            0);
  // Back by the inverse order: the sum of |values| by the row is that of the row it was.
  std::istringstream order(slurp(folder_ / "o"));
  std::vector<int> row_of(4);
  for (int k = 1, row = 0; order >> row; ++k) row_of[static_cast<std::size_t>(k)] = row;
  std::istringstream text(slurp(out));
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(line, "%%MatrixMarket matrix coordinate real skew-symmetric");
  int rows = 0, cols = 0, count = 0;
  text >> rows >> cols >> count;
  EXPECT_EQ(count, 2);
  int i = 0, j = 0;
  for (double v = 0; text >> i >> j >> v;) {
    const int r = row_of[static_cast<std::size_t>(i)], c = row_of[static_cast<std::size_t>(j)];
    EXPECT_EQ(v, (r > c ? 1 : -1) * (std::max(r, c) == 2 ? 1.5 : 2.5));
  }
}

// Two triangles, of odd and of even vertices, joined by 1 - 2.
TEST_F(ReorderFile, RabbitOrder) {
  const std::string file =
      folder_.write("t.mtx", matrix("pattern symmetric", "6 6 7\n3 1\n5 1\n5 3\n4 2\n6 2\n6 4\n2 1\n"));
  const std::string order = folder_ / "order.txt";
  const app_run run = run_here("reorder", {"--method", "rabbit", "--json", "-", "--permutation", order, file});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["method"], "rabbit");
  EXPECT_EQ(run.json()["bandwidth"]["before"], 4);
  EXPECT_EQ(run.json()["valid"], true);
  std::vector<int> rows;
  std::istringstream text(slurp(order));
  for (int row = 0; text >> row;) rows.push_back(row % 2);
  EXPECT_EQ(rows, (std::vector<int>{1, 1, 1, 0, 0, 0}));
}

TEST_F(ReorderFile, AGpuFindsTheSameOrder) {
  SPARGO_TEST_NEEDS_GPU();
  const std::string order = folder_ / "order.txt";
  for (const char* const file : {"gen:laplacian2d:n=40", "gen:uniform:rows=3000,degree=3", "gen:rmat:scale=10"}) {
    for (const char* const method : {"rcm", "degree", "random:3"}) {
      SCOPED_TRACE(std::string(file) + " " + method);
      std::string of_cpu;
      for (const char* const device : {"cpu", "cuda"}) {
        const app_run run = run_here("reorder", {"--device", device, "--method", method, "--json", "-", "--repeat", "2",
                                                 "--permutation", order, file});
        ASSERT_EQ(run.code, 0) << run.err;
        EXPECT_EQ(run.json()["valid"], true);
        EXPECT_EQ(run.json()["device"], std::string(device) == "cpu" ? "cpu" : "cuda:0");
        if (of_cpu.empty()) of_cpu = slurp(order);
        EXPECT_EQ(slurp(order), of_cpu);
      }
    }
  }
}

TEST_F(ReorderFile, Refusals) {
  const std::string wide = folder_.write("w.mtx", matrix("real general", "2 3 1\n1 1 1\n"));
  expect_failure(run_here("reorder", {wide}), "reorder", 1,
                 "spargo reorder: " + wide + ": a matrix of 2 x 3 (expected a square one)");
  for (const char* const device : {"cuda", "cuda:0"}) {
    expect_failure(run_here("reorder", {path_, "--method", "rabbit", "--device", device}), "reorder", 2,
                   std::string("--device ") + device + ": --method rabbit runs on the CPU (expected auto or cpu)");
  }
  expect_failure(run_here("reorder", {path_, "--method", "amd"}), "reorder", 2,
                 "expected rcm, degree, rabbit or random[:SEED]");
  expect_failure(run_here("reorder", {path_, "--output", path_}), "reorder", 2, "this is the input");
  expect_failure(run_here("reorder", {path_, "--output", folder_ / "a", "--permutation", folder_ / "a"}), "reorder", 2,
                 "--permutation");
}

}  // namespace
}  // namespace spargo::test
