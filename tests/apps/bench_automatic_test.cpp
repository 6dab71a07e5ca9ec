// bench --check-automatic: which choices it reports as slow, on given measurements and from the command line.
#include "apps/run_app.hpp"
#include "bench/check_automatic.hpp"

#include <gtest/gtest.h>

namespace spargo::bench {
namespace {

using test::run_app;

std::vector<std::string> slow_ones(const std::vector<measured_case>& cases, double percent = 5) {
  std::vector<std::string> found;
  for (const slow_choice& s : slow_choices(cases, percent)) found.push_back(s.group + "/" + s.rung + "<" + s.faster);
  return found;
}

measured_case timed(const char* group, const char* rung, double milliseconds) {
  return {.group = group, .rung = rung, .milliseconds = milliseconds};
}

using names = std::vector<std::string>;

TEST(CheckAutomatic, FindsWhatIsSlowerThanARungOfItsOwn) {
  const std::vector<measured_case> cases = {
      timed("max3d/w3", "naive", 8.3),  timed("max3d/w3", "tiled", 2.75),      timed("max3d/w3", "automatic", 3.93),
      timed("max3d/w21", "tiled", 6.0), timed("max3d/w21", "van_herk", 4.014), timed("max3d/w21", "automatic", 4.013)};
  EXPECT_EQ(slow_ones(cases), names{"max3d/w3/automatic<tiled"});
  EXPECT_EQ(slow_ones(cases, 42), names{"max3d/w3/automatic<tiled"});
  EXPECT_EQ(slow_ones(cases, 43), names{});
  EXPECT_EQ(automatic_cases(cases), 2);
}

TEST(CheckAutomatic, TheLimitItselfIsAllowed) {
  const std::vector<measured_case> cases = {timed("a", "x", 1), timed("a", "automatic", 1.05)};
  EXPECT_EQ(slow_ones(cases, 5), names{});
  EXPECT_EQ(slow_ones(cases, 4.9), names{"a/automatic<x"});
}

TEST(CheckAutomatic, PeersAndFailuresAreNoRungs) {
  std::vector<measured_case> cases = {timed("a", "cub", 1), timed("a", "x", 1), timed("a", "automatic", 2)};
  cases[0].peer = true;
  cases[1].failed = "skipped: out of memory";
  EXPECT_EQ(slow_ones(cases), names{});
  cases[1].failed.clear();
  EXPECT_EQ(slow_ones(cases), names{"a/automatic<x"});
  cases[2].failed = "FAILED: no";
  EXPECT_EQ(slow_ones(cases), names{});
  EXPECT_EQ(automatic_cases(cases), 0);
}

TEST(CheckAutomatic, FormatsAndCopiesAreNotMixed) {
  const std::vector<measured_case> cases = {
      timed("spmv", "csr:automatic", 10), timed("spmv", "csr:automatic_copied", 10),
      timed("spmv", "csr:merge_path", 9.9), timed("spmv", "csr:compressed", 5), timed("spmv", "sell:32", 4)};
  EXPECT_EQ(slow_ones(cases), names{"spmv/csr:automatic_copied<csr:compressed"});
}

TEST(CheckAutomatic, TheTableBeginsWithTheWorst) {
  const std::vector<measured_case> cases = {timed("a", "x", 1), timed("a", "automatic", 1.1), timed("b", "y", 1),
                                            timed("b", "automatic", 3)};
  const std::string table = slow_choices_table(slow_choices(cases, 5));
  EXPECT_LT(table.find("b/automatic"), table.find("a/automatic"));
  EXPECT_NE(table.find("200.0 percent slower"), std::string::npos) << table;
  EXPECT_EQ(slow_choices_table({}), "");
}

TEST(CheckAutomatic, TheProgramFailsOnIt) {
  if (!std::filesystem::exists(test::program_folder() + "/spargo-bench"))
    GTEST_SKIP() << "the benchmarks were not built";
  const std::string quick = "^pipeline/scale/.*host/(whole|automatic)$";
  const auto generous = run_app("bench", {"--check-automatic=1000000000", quick, "--device", "cpu"});
  EXPECT_EQ(generous.code, 0) << generous.err;
  EXPECT_NE(generous.out.find("1 cases of automatic, 0 slower"), std::string::npos) << generous.out;
  EXPECT_EQ(run_app("bench", {"--check-automatic=-1", quick}).code, 2);
  EXPECT_EQ(run_app("bench", {"--check-automatic", "--list", quick}).code, 0) << "FILTER is not its value";
}

TEST(CheckAutomatic, RunsWhatItCompares) {
  if (!std::filesystem::exists(test::program_folder() + "/spargo-bench"))
    GTEST_SKIP() << "the benchmarks were not built";
  const auto listed =
      run_app("bench", {"--check-automatic", "--list", "^(bfs|matmul/double)/.*cpu", "--device", "cpu"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_NE(listed.out.find("/automatic"), std::string::npos) << listed.out;
  EXPECT_EQ(listed.out.find("openblas"), std::string::npos) << "a peer: " << listed.out;
  EXPECT_EQ(listed.out.find("bfs/"), std::string::npos) << "no automatic there: " << listed.out;
  EXPECT_EQ(run_app("bench", {"--check-automatic", "^bfs/"}).code, 2);
}

}  // namespace
}  // namespace spargo::bench
