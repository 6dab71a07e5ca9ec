// `bench spmv FILE`: a user's matrix instead of the built-in ones.
#include "apps/bench_app.hpp"

namespace spargo::test {
namespace {

const char* const small_matrix =
    "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 2.5\n2 1 -1\n2 2 3\n3 3 1e-3\n4 1 7\n4 4 0.5\n";

TEST(BenchSpmv, TimesAUsersMatrix) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string file = folder.write("mine.mtx", small_matrix);
  const app_run run =
      run_app("bench", {"spmv", file, "--device", "cpu", "--threads", "2", "--json", folder / "r.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("spmv/mine.mtx/fp64/cpu"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("csr:merge_path"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("laplacian2d"), std::string::npos) << run.out;
  const auto results = nlohmann::json::parse(slurp(folder / "r.json"), nullptr, false);
  ASSERT_FALSE(results.is_discarded());
  for (const auto& entry : results["benchmarks"]) {
    EXPECT_FALSE(entry.value("error_occurred", false)) << entry.dump();
    EXPECT_GT(entry["real_time"].get<double>(), 0) << entry.dump();
  }
}

TEST(BenchSpmv, TakesAGeneratorsSpec) {
  SPARGO_TEST_NEEDS_BENCH();
  const app_run run = run_app("bench", {"^spmv.*fp32/cpu/csr", "gen:banded:rows=500,degree=3", "--device", "cpu"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("gen:banded:rows=500,degree=3/fp32/cpu"), std::string::npos) << run.out;
}

TEST(BenchSpmv, MistakesAreOneLine) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  expect_failure(run_app("bench", {"spmv", folder / "none.mtx"}), "bench", 1, "none.mtx");
  expect_failure(run_app("bench", {"spmv", folder.write("bad.mtx", "hello\n")}), "bench", 1, "bad.mtx:1:1");
  expect_failure(run_app("bench", {"spmv", "gen:nothing:rows=3"}), "bench", 1, "nothing");
  expect_failure(run_app("bench", {"reduce", folder.write("m.mtx", small_matrix)}), "bench", 2, "spmv");
}

// A result that cannot be verified has no time; the other results are written.
TEST(BenchSpmv, AWrongResultEndsWithThree) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string file =
      folder.write("nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n2 2 1\n");
  const app_run run = run_app("bench", {"^spmv.*fp64/cpu/csr", file, "--device", "cpu", "--json", folder / "r.json"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.out.find("WRONG: "), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("bench: a result is wrong"), std::string::npos) << run.err;
  const auto results = nlohmann::json::parse(slurp(folder / "r.json"), nullptr, false);
  ASSERT_FALSE(results.is_discarded());
  EXPECT_TRUE(results["benchmarks"][0].value("error_occurred", false));
}

TEST(BenchSpmv, OnTheDevice) {
  SPARGO_TEST_NEEDS_BENCH();
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  const std::string file = folder.write("mine.mtx", small_matrix);
  const app_run run =
      run_app("bench", {"^spmv.*(csr|cusparse)", file, "--device", "cuda", "--json", folder / "r.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("spmv/mine.mtx/fp32/cuda_graph"), std::string::npos) << run.out;
  const auto results = nlohmann::json::parse(slurp(folder / "r.json"), nullptr, false);
  ASSERT_FALSE(results.is_discarded());
  for (const auto& entry : results["benchmarks"]) EXPECT_FALSE(entry.value("error_occurred", false)) << entry.dump();
}

}  // namespace
}  // namespace spargo::test
