// What the programs take: within --max-memory, and within what a control group leaves.
#include "apps/run_app.hpp"
#include "support/cgroup.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

namespace spargo::apps {
namespace {

using test::app_run;
using test::run_shell;
using test::scratch;
using test::slurp;

// An app's exit code and the most memory that it has had resident, in bytes.
struct measured_run {
  int code = -1;
  std::int64_t peak = 0;
};

measured_run measure(const std::string& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = test::command_line(app, arguments);
  const std::vector<char*> argv = test::pointers_to(words);
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::int64_t{used.ru_maxrss} * 1024};
}

// A search of a path of 5 million vertices has as many levels: their sizes take 40 MB.
TEST(max_memory, counts_the_levels_of_a_path) {
  constexpr std::int64_t limit = 300'000'000;
  constexpr std::int64_t besides = 40'000'000;  // the program, its stacks, and what a search cuts into chunks
  const scratch folder;
  std::vector<std::string> arguments = {"gen:path:n=5000000", "--device", "cpu", "--repeat", "1", "--threads", "2"};
  arguments.insert(arguments.end(), {"--max-memory", std::to_string(limit), "--quiet", "--json", folder / "report"});
  const measured_run run = measure("bfs", arguments);
  EXPECT_EQ(run.code, 0);
  EXPECT_LT(run.peak, limit + besides);
  const nlohmann::json report = nlohmann::json::parse(slurp(folder / "report"));
  EXPECT_EQ(report.at("runs").at(0).at("levels").size(), 5'000'000U);
}

// 48 MB of text, 128 MB as a matrix and its entries: in 64 MB it can only be rewritten line by line.
TEST(control_group, that_is_too_small_for_the_matrix_leaves_streaming) {
  const test::control_group group("memory", "memory.limit_in_bytes", "memory.max");
  if (!group.exists()) GTEST_SKIP() << "no control group of memory can be made here";
  const scratch folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n1 4000000 4000000\n";
  for (int k = 1; k <= 4'000'000; ++k) text += "1 " + std::to_string(k) + " 1\n";
  const std::string from = folder.write("a.mtx", text);
  const std::string to = folder / "b.mtx";
  ASSERT_TRUE(group.set(group.is_version_two() ? "memory.max" : "memory.limit_in_bytes", "67108864"));
  const std::string enter = "echo 0 > '" + group.procs() + "' && exec $BIN/";
  const app_run streamed = run_shell(enter + "convert --threads 2 --json - '" + from + "' '" + to + "'");
  ASSERT_EQ(streamed.code, 0) << streamed.err;
  EXPECT_EQ(streamed.json().at("streamed"), true);
  EXPECT_TRUE(slurp(to) == text);
  test::expect_failure(run_shell(enter + "info --threads 2 '" + from + "'"), "info", 1, "limit of ");
}

}  // namespace
}  // namespace spargo::apps
