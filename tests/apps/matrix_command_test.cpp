// What the commands on a matrix share.
#include "apps/run_here.hpp"

#include <gtest/gtest.h>

#include <string>

namespace spargo::test {
namespace {

class matrix_command : public testing::TestWithParam<const char*> {};

// 2^53 + 1 is no double.
TEST_P(matrix_command, WarnsOfRoundedIntegers) {
  const scratch folder;
  const std::string head = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 1\n2 2 ";
  const std::string output = folder / "out.mtx";
  const app_run exact =
      run_here(GetParam(), {folder.write("exact.mtx", head + "9007199254740992\n"), "--output", output});
  EXPECT_EQ(exact.err, "");
  const app_run rounded =
      run_here(GetParam(), {folder.write("rounded.mtx", head + "9007199254740993\n"), "--output", output});
  EXPECT_NE(rounded.err.find("rounded.mtx: 1 integer exceeds what float64 holds exactly, rounded to nearest"),
            std::string::npos)
      << rounded.err;
}

TEST_P(matrix_command, ReportsWhatAllDo) {
  const app_run run = run_here(GetParam(), {"gen:laplacian2d:n=3", "--device", "cpu", "--json", "-"});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto report = run.json();
  EXPECT_EQ(report["app"], GetParam());
  EXPECT_EQ(report["file"], "gen:laplacian2d:n=3");
  EXPECT_EQ(report["rows"], 9);
  EXPECT_EQ(report["valid"], true);
  EXPECT_GT(report["validate_ms"], 0.0);
  EXPECT_EQ(report["time_ms"]["runs"], 1);
}

INSTANTIATE_TEST_SUITE_P(all, matrix_command, testing::Values("eigs", "multiply", "reorder", "solve"));

}  // namespace
}  // namespace spargo::test
