// Apps that are killed, or cannot write, in the middle of a file: the old one stays whole and nothing else is left.
#include "apps/run_app.hpp"
#include "cli/picture.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <thread>

namespace spargo::apps {
namespace {

using test::scratch;
using test::slurp;

// A running app. `limit_file_size`: bytes, 0 for none.
class running_app {
 public:
  running_app(const std::string& app, const std::vector<std::string>& arguments, const std::string& err,
              rlim_t limit_file_size = 0) {
    std::vector<std::string> words = test::command_line(app, arguments);
    const std::vector<char*> argv = test::pointers_to(words);
    child_ = ::fork();
    if (child_ != 0) return;
    const int null = ::open("/dev/null", O_RDWR);
    const int errors = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(null, 0);
    ::dup2(null, 1);
    ::dup2(errors, 2);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (limit_file_size > 0) {
      const rlimit limit{limit_file_size, limit_file_size};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  running_app(const running_app&) = delete;
  running_app& operator=(const running_app&) = delete;
  ~running_app() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      (void)wait();
    }
  }

  // Waits for the condition; false if the app ended first.
  [[nodiscard]] bool reaches(const std::function<bool()>& condition) {
    while (!condition()) {
      if (::waitpid(child_, &status_, WNOHANG) != 0) {
        child_ = 0;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
  }
  void send(int signal) const { ::kill(child_, signal); }

  // The signal that ended it, or minus the exit code.
  [[nodiscard]] int wait() {
    if (child_ > 0) ::waitpid(child_, &status_, 0);
    child_ = 0;
    return WIFSIGNALED(status_) ? WTERMSIG(status_) : -WEXITSTATUS(status_);
  }
  [[nodiscard]] pid_t id() const { return child_; }

 private:
  pid_t child_ = 0;
  int status_ = 0;
};

std::vector<std::string> names_in(const scratch& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_writing(const scratch& folder) {
  for (const std::string& name : names_in(folder)) {
    std::error_code gone;
    if (name.ends_with(".tmp") && std::filesystem::file_size(folder.path() / name, gone) > 0 && !gone) return true;
  }
  return false;
}

constexpr const char* graph = "gen:rmat:scale=15,degree=16";

// The graph's file when written without interruption.
const std::string& whole_file(const std::string& name) {
  static std::map<std::string, std::string> known;
  std::string& contents = known[name];
  if (contents.empty()) {
    const scratch folder;
    EXPECT_EQ(test::run_app("convert", {graph, folder / name, "--quiet"}).code, 0);
    contents = slurp(folder / name);
  }
  return contents;
}

struct ending {
  int signal;
  const char* name;
};

class ended_by : public testing::TestWithParam<ending> {};

TEST_P(ended_by, leaves_the_old_file_or_the_new_one_and_nothing_else) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const scratch others;
  int old = 0;
  for (const char* name : {"out.mtx", "out.el.gz", "out.spg"}) {
    const std::string path = folder / name;
    const std::string whole = whole_file(name);
    for (const int wait_ms : {0, 4}) {
      test::spill(path, "old");
      running_app app("convert", {graph, path, "--threads", "2"}, others / "err");
      if (!app.reaches([&] { return is_writing(folder); })) continue;  // too fast for us
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      app.send(GetParam().signal);
      const int how = app.wait();
      EXPECT_TRUE(how == GetParam().signal || how == 0) << how << ": " << slurp(others / "err");
      const std::string now = slurp(path);
      EXPECT_TRUE(now == whole || (now == "old" && how != 0)) << now.size() << " bytes after " << wait_ms << " ms";
      EXPECT_EQ(names_in(folder), std::vector<std::string>{name}) << "after " << wait_ms << " ms";
      old += now == "old" ? 1 : 0;
    }
    std::filesystem::remove(path);
  }
  EXPECT_GT(old, 0) << "no signal came in time";
}

INSTANTIATE_TEST_SUITE_P(signals, ended_by,
                         testing::Values(ending{SIGINT, "interrupt"}, ending{SIGTERM, "terminate"},
                                         ending{SIGHUP, "hangup"}, ending{SIGQUIT, "quit"},
                                         ending{SIGXCPU, "processor_time"}, ending{SIGUSR1, "user"},
                                         ending{SIGUSR2, "second_user"}, ending{SIGALRM, "alarm"},
                                         ending{SIGPIPE, "pipe"}, ending{SIGABRT, "abort"}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(signals, that_are_ignored_stay_so) {
  const scratch folder;
  ::signal(SIGHUP, SIG_IGN);  // as nohup does
  running_app app("convert", {graph, folder / "out.mtx"}, folder / "err");
  ::signal(SIGHUP, SIG_DFL);
  if (app.reaches([&] { return is_writing(folder); })) app.send(SIGHUP);
  EXPECT_EQ(app.wait(), 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "out.mtx"));
}

// A full disk, for every app that writes and every kind of file.
TEST(failing_write, leaves_the_old_file_and_nothing_else) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const scratch errors;
  const std::string small = "gen:rmat:scale=12,degree=8";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"convert", small, "out.mtx"},
                                                  {"convert", small, "out.mtx.gz"},
                                                  {"convert", small, "out.wel"},
                                                  {"convert", small, "out.spg"},
                                                  {"bfs", small, "--output", "out.txt"},
                                                  {"spmv", small, "--output", "out.mtx"},
                                                  {"info", "gen:path:n=400000", "--spy", "out.png"}}) {
    if (command.back() == "out.png" && !can_draw()) continue;
    const std::string path = folder.write(command.back(), "old");
    std::vector<std::string> arguments(command.begin() + 1, command.end());
    arguments.back() = path;
    arguments.push_back("--quiet");
    running_app app(command[0], arguments, errors / "err", 512);
    EXPECT_EQ(app.wait(), -1) << command.back();
    EXPECT_EQ(slurp(errors / "err"), test::called(command[0]) + ": " + path + ": cannot write: File too large\n");
    EXPECT_EQ(slurp(path), "old");
    EXPECT_EQ(names_in(folder), std::vector<std::string>{command.back()});
    std::filesystem::remove(path);
  }
}

TEST(failing_write, of_a_full_device_is_one_line) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  test::expect_failure(test::run_app("bfs", {"gen:path:n=20", "--output", "/dev/full"}), "bfs", 1, "No space left");
  test::expect_failure(test::run_app("info", {"gen:path:n=20", "--json", "/dev/full", "--quiet"}), "info", 1,
                       "No space left");
}

// Root may write anywhere, so as root a missing folder replaces a read-only one.
TEST(failing_write, in_a_folder_that_refuses_is_one_line) {
  const scratch folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0500));
  const std::string path = ::geteuid() == 0 ? folder / "none/out.mtx" : folder / "out.mtx";
  test::expect_failure(test::run_app("convert", {"gen:path:n=20", path}), "convert", 1, path + ": cannot create");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0700));
  EXPECT_EQ(names_in(folder), std::vector<std::string>{});
}

}  // namespace
}  // namespace spargo::apps
