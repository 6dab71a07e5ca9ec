// Runs a command in the test's own process, for tests that run hundreds. A GPU's context is opened once. Under
// AddressSanitizer the start and end of a program take 60 ms of processor time (80 MB of globals are registered and
// searched for pointers), without it 6; the work on a small file takes about 3. Leaks are found when the test ends.
#pragma once

#include "apps/run_app.hpp"
#include "commands/table.hpp"

#include <csignal>
#include <cstdio>

namespace spargo::test {

// Redirects `descriptor` to a file during its lifetime.
class redirected {
 public:
  redirected(int descriptor, const std::string& path) : descriptor_(descriptor), before_(::dup(descriptor)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT_TRUE(before_ >= 0 && file >= 0 && ::dup2(file, descriptor_) >= 0) << path;
    ::close(file);
  }
  redirected(const redirected&) = delete;
  redirected& operator=(const redirected&) = delete;
  ~redirected() {
    ::dup2(before_, descriptor_);
    ::close(before_);
  }

 private:
  int descriptor_, before_;
};

// A pipe with a text, as the shell's <(...) gives.
class piped {
 public:
  explicit piped(const std::string& text) {
    EXPECT_EQ(::pipe(ends_), 0);
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends_[1]);
  }
  piped(const piped&) = delete;
  piped& operator=(const piped&) = delete;
  ~piped() { ::close(ends_[0]); }

  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {};
};

// Restores the signal handlers, which a command sets until its process ends.
class signals_kept {
 public:
  signals_kept() {
    for (int s = 1; s < count; ++s) ::sigaction(s, nullptr, &before_[s]);
  }
  signals_kept(const signals_kept&) = delete;
  signals_kept& operator=(const signals_kept&) = delete;
  ~signals_kept() {
    for (int s = 1; s < count; ++s) ::sigaction(s, &before_[s], nullptr);
  }

 private:
  static constexpr int count = 32;
  struct sigaction before_[count] = {};
};

// Like run_app, but not for --quiet and --max-memory, whose effect would last.
inline app_run run_here(const std::string& app, std::vector<std::string> arguments) {
  const apps::command* const wanted = apps::find_command(app);
  if (wanted == nullptr || wanted->helper != nullptr) {
    ADD_FAILURE() << app << " is not to be run here";
    return {};
  }
  const scratch folder;
  arguments.insert(arguments.begin(), app);
  const int count = static_cast<int>(arguments.size());
  std::vector<char*> argv = pointers_to(arguments);
  app_run run;
  std::fflush(nullptr);
  {
    const redirected out(STDOUT_FILENO, folder / "out");
    const redirected err(STDERR_FILENO, folder / "err");
    const signals_kept signals;
    run.code = apps::run_command(*wanted, called(app), count, argv.data());
    std::fflush(nullptr);
  }
  run.out = slurp(folder / "out");
  run.err = slurp(folder / "err");
  return run;
}

// The command on the CPU, with a file and flags.
inline app_run run_on(const std::string& command, const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{file, "--device", "cpu"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_here(command, arguments);
}

// The JSON report of a run that succeeds.
inline nlohmann::json report_of(const std::string& command, const std::string& file,
                                std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--json", "-"});
  const app_run run = run_on(command, file, more);
  EXPECT_EQ(run.code, 0) << command << ' ' << file << ": " << run.err;
  return run.code == 0 ? run.json() : nlohmann::json::object();
}

}  // namespace spargo::test
