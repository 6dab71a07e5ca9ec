// Matrices with far more rows than entries: answered or refused within seconds, whatever memory the machine has.
#include "input/extent.hpp"

#include "apps/run_app.hpp"
#include "support/suites.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace spargo::apps {
namespace {

using test::expect_failure;
using test::run_app;
using test::scratch;
using test::slurp;

std::string one_entry(const scratch& folder, const std::string& extent) {
  return folder.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n" + extent + " " + extent + " 1\n" +
                                   extent + " " + extent + " 2.5\n");
}

TEST(Extent, OnlyMatricesOfNextToNothingAreRefused) {
  EXPECT_EQ(reason_against_extent(0, 0, 0), "");
  EXPECT_EQ(reason_against_extent(std::int64_t{1} << 28, std::int64_t{1} << 28, 0), "");
  EXPECT_NE(reason_against_extent(std::int64_t{1} << 28, (std::int64_t{1} << 28) + 1, 0), "");
  EXPECT_EQ(reason_against_extent(5'000'000'000, 5'000'000'000, 10'000'000), "");
  EXPECT_EQ(
      reason_against_extent(5'000'000'000, 5'000'001'000, 10'000'000),
      "5,000,000,000 rows and 5,000,001,000 columns for 10,000,000 entries: the vectors alone would take 80 GB of "
      "memory (expected at most 1000 rows and columns per entry, or 536,870,912 in all)");
  EXPECT_NE(reason_against_extent(INT64_MAX, INT64_MAX, 1), "");
}

TEST(Extent, EveryCommandEndsWithinSeconds) {
  const scratch folder;
  for (const char* extent : {"4294967298", "600000000", "9223372036854775807"}) {
    const std::string path = one_entry(folder, extent);
    const auto start = std::chrono::steady_clock::now();
    for (const char* app : {"spmv", "bfs", "info"}) {
      expect_failure(run_app(app, {path}), app, 1, "rows and columns per entry");
    }
    expect_failure(run_app("convert", {path, folder / "m.spg"}), "convert", 1);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40)) << extent;
  }
}

TEST(Extent, WhatNeedsNoVectorIsDone) {
  const scratch folder;
  const std::string path = one_entry(folder, "4294967298");
  ASSERT_EQ(run_app("convert", {path, folder / "out.mtx"}).code, 0);
  EXPECT_EQ(slurp(folder / "out.mtx"), slurp(path));
}

class ExtentOnGpu : public test::device_suite {};

TEST_F(ExtentOnGpu, TheGpuRefusesAsSoon) {
  const scratch folder;
  const std::string path = one_entry(folder, "4294967298");
  const std::vector<std::string> device = {path, "--device", "cuda"};
  expect_failure(run_app("bfs", device), "bfs", 1, "rows and columns per entry");
  for (const char* parse : {"cpu", "gpu"}) {
    std::vector<std::string> flags = device;
    flags.insert(flags.end(), {"--parse", parse});
    expect_failure(run_app("spmv", flags), "spmv", 1, "rows and columns per entry");
  }
}

}  // namespace
}  // namespace spargo::apps
