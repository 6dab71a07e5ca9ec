// A mapped input that is truncated while many threads read it ends the program with one line.
#include "apps/run_app.hpp"
#include "cli/signals.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace spargo::apps {
namespace {

// In a separate process: threads that synchronise, then each read a page that no longer exists.
[[noreturn]] void touch_what_is_gone(const std::string& path, int threads) {
  constexpr std::size_t page = 4096;
  const std::size_t size = page * static_cast<std::size_t>(threads);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (::ftruncate(file, static_cast<off_t>(size)) != 0) ::_exit(99);
  const auto* const bytes = static_cast<const volatile char*>(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0));
  if (::ftruncate(file, 0) != 0) ::_exit(98);
  handle_signals("app");
  std::atomic<int> ready{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (++ready; ready < threads;) std::this_thread::yield();
      (void)bytes[page * static_cast<std::size_t>(t)];
    });
  }
  for (std::thread& each : all) each.join();
  ::_exit(97);
}

// The first thread's line waits for room in a pipe, so that all others fault before the program has ended.
TEST(sigbus, of_many_threads_at_once_is_one_line) {
  const test::scratch folder;
  for (int run = 0; run < 5; ++run) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      const std::string filling(static_cast<std::size_t>(::fcntl(ends[1], F_GETPIPE_SZ)), '.');
      if (::write(STDERR_FILENO, filling.data(), filling.size()) < 0) ::_exit(96);
      touch_what_is_gone(folder / "mapped", 8);
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::string text;
    char chunk[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], chunk, sizeof(chunk))) > 0;) {
      text.append(chunk, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(text.substr(std::min(text.size(), text.find_last_of('.', text.size() - 2) + 1)),
              "app: the input was cut short by another process while it was being read\n");
  }
}

}  // namespace
}  // namespace spargo::apps
