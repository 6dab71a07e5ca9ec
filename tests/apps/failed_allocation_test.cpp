// If any allocation fails, a command ends with its result or with one line, never by a signal.
//
// Own program: it replaces operator new.
#include "apps/run_here.hpp"
#include "cli/cli.hpp"
#include "support/refusing_new.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

namespace spargo::test {
namespace {

// Runs a command in its own process; its k-th allocation fails and, with `onwards`, all later ones. `requests`: number
// of allocations.
app_run run_refused(const std::string& app, std::vector<std::string> arguments, std::int64_t k, bool onwards,
                    const scratch& folder) {
  arguments.insert(arguments.begin(), app);
  const std::string name = called(app);
  const std::vector<char*> argv = pointers_to(arguments);
  const pid_t child = ::fork();
  if (child == 0) {
    const redirected out(STDOUT_FILENO, folder / "out");
    const redirected err(STDERR_FILENO, folder / "err");
    allocator.refused = k;
    allocator.onwards = onwards;
    allocator.armed = true;
    // As in main.
    const int code = apps::guard_program(name.c_str(), [&] {
      return apps::run_command(*apps::find_command(app), name, static_cast<int>(arguments.size()),
                               const_cast<char**>(argv.data()));
    });
    allocator.armed = false;
    std::fflush(nullptr);
    spill(folder / "requests", std::to_string(allocator.requests));
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(folder / "out"),
          slurp(folder / "err")};
}

struct small_run {
  std::string app;
  std::vector<std::string> arguments;
  std::int64_t step;  // between the allocations tried
};

class failed_allocation : public testing::TestWithParam<bool> {};

TEST_P(failed_allocation, ends_in_a_line) {
  const bool onwards = GetParam();
  const scratch folder;
  const std::string list = folder.write("a.wel", "1 2 3\n2 3 4\n3 1 5\n3 4 1\n");
  const std::string matrix =
      folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n");
  const std::string bad = folder.write("bad.el", "1 2\n2 x\n");
  const std::vector<std::string> one = {"--device", "cpu", "--threads", "1", "--repeat", "1"};
  for (small_run run : {small_run{"sssp", {list, "--json", folder / "report"}, 1}, small_run{"bfs", {list}, 7},
                        small_run{"pagerank", {list, "--output", folder / "ranks"}, 7}, small_run{"spmv", {matrix}, 7},
                        small_run{"components", {bad}, 7}, small_run{"bfs", {list, "--nonsense"}, 7},
                        small_run{"plan", {"bfs", list}, 29}}) {
    if (run.app != "plan") run.arguments.insert(run.arguments.end(), one.begin(), one.end());
    const app_run whole = run_refused(run.app, run.arguments, -1, onwards, folder);
    ASSERT_LE(whole.code, 2) << whole.err;
    const std::int64_t requests = std::stoll(slurp(folder / "requests"));
    ASSERT_GT(requests, 100) << run.app;
    const std::int64_t step = run.step * static_cast<std::int64_t>(rounds_over) * (onwards ? 5 : 1);
    for (std::int64_t k = 0; k < requests; k += step) {
      const app_run refused = run_refused(run.app, run.arguments, k, onwards, folder);
      SCOPED_TRACE(run.app + ", allocation " + std::to_string(k) + " of " + std::to_string(requests));
      ASSERT_LE(refused.code, 2) << refused.out << refused.err;
      if (refused.code == 0) continue;
      ASSERT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
      ASSERT_TRUE(refused.err.starts_with("spargo ") || refused.err.starts_with(called(run.app) + ": ")) << refused.err;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, failed_allocation, testing::Values(false, true),
                         [](const auto& of) { return of.param ? "and_all_later_ones" : "alone"; });

}  // namespace
}  // namespace spargo::test
