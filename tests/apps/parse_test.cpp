// --parse: the same result wherever the text is parsed, and a clear error if it cannot be.
#include "run_app.hpp"

namespace spargo {
namespace {

using test::run_app;

class Parse : public testing::Test {
 protected:
  static std::string text() {
    std::string lines = "%%MatrixMarket matrix coordinate real symmetric\n500 500 500\n";
    for (int k = 1; k <= 500; ++k) lines += std::to_string(k) + " " + std::to_string(1 + k / 2) + " 0.25\n";
    return lines;
  }
  static nlohmann::json run(const std::string& where, const std::string& path, const std::string& device) {
    const test::app_run run = run_app("spmv", {"--json", "-", "--parse", where, "--device", device, path});
    EXPECT_EQ(run.code, 0) << run.err;
    return run.json();
  }
  const test::scratch folder_;
  const std::string matrix_ = folder_.write("m.mtx", text());
};

TEST_F(Parse, TheHostParsesWhatTheHostMultiplies) {
  EXPECT_EQ(run("auto", matrix_, "cpu")["parsed_on"], "cpu");
  EXPECT_EQ(run("cpu", matrix_, "cpu")["parsed_on"], "cpu");
}

TEST_F(Parse, WithoutAGpuThereIsNoneToParse) {
  const test::app_run run = run_app("spmv", {"--parse", "gpu", "--device", "cpu", matrix_});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("--parse gpu needs a GPU"), std::string::npos) << run.err;
  EXPECT_EQ(run_app("spmv", {"--parse", "there", matrix_}).code, 2);
}

TEST_F(Parse, TheResultIsTheSameOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  const auto here = run("cpu", matrix_, "cuda");
  const auto there = run("gpu", matrix_, "cuda");
  EXPECT_EQ(here["parsed_on"], "cpu");
  EXPECT_EQ(there["parsed_on"], "gpu");
  EXPECT_EQ(here["y"], there["y"]);
  EXPECT_EQ(here["nnz"], there["nnz"]);
  EXPECT_EQ(there["verified"], true);
  EXPECT_EQ(run("auto", matrix_, "cuda")["parsed_on"], "cpu") << "a small file";
}

}  // namespace
}  // namespace spargo
