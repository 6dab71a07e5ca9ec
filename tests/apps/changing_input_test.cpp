// Inputs that another process rewrites or shortens while they are read: the old result, or one line; never a signal.
#include "apps/run_app.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

namespace spargo::apps {
namespace {

using test::scratch;

// Some 12 MB: half a second of reading beside other work.
std::string lines(const std::string& line, std::int64_t count) {
  std::string text;
  for (std::int64_t k = 0; k < count; ++k) text += line;
  return text;
}

// Rewrites a file in place and in chunks, like an editor or rsync --inplace.
void overwrite(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY);
  for (std::size_t at = 0; at < text.size(); at += std::size_t{1} << 20) {
    const std::string_view chunk = text.substr(at, std::size_t{1} << 20);
    if (::pwrite(file, chunk.data(), chunk.size(), static_cast<off_t>(at)) < 0) ADD_FAILURE() << "cannot write";
  }
  ::close(file);
}

// Runs the app repeatedly and applies `change` to its input at varying times.
template <class Restore, class Change>
void expect_no_signal(const std::string& app, const std::vector<std::string>& arguments, int runs,
                      const Restore& restore, const Change& change) {
  std::mt19937 random(7);
  int failures = 0;
  double longest = 0.02;  // seconds that a run took
  for (int run = 0; run < runs; ++run) {
    restore();
    const auto start = std::chrono::steady_clock::now();
    test::app_run ran;
    std::thread running([&] { ran = test::run_app(app, arguments); });
    const double share = std::uniform_real_distribution<double>(0, 1)(random);
    std::this_thread::sleep_for(std::chrono::duration<double>(share * longest));
    change(run);
    running.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    longest = std::min(0.5, std::max(longest, took.count()));
    EXPECT_TRUE(ran.code == 0 || ran.code == 1) << "code " << ran.code << " in run " << run << ": " << ran.err;
    if (ran.code == 0) continue;
    ++failures;
    EXPECT_TRUE(ran.err.starts_with(test::called(app) + ": ")) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  EXPECT_GT(failures, 0) << "no change came in time";
}

class changing : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const bool edges = std::string(GetParam()) == "a.el";
    const std::string line = edges ? "12345 678\n" : "123 45 6.5\n";
    const std::int64_t count = 1'000'000;
    old_ = (edges ? std::string() : "%%MatrixMarket matrix coordinate real general\n999 999 1000000\n") +
           lines(line, count);
  }

  std::string old_;
  scratch folder_;
};

TEST_P(changing, rewritten_in_place_is_an_error) {
  const std::string path = folder_.write(GetParam(), old_);
  const std::vector<std::string> others = {std::string(old_.size(), '1'), lines("1 2 3\n", std::ssize(old_) / 6),
                                           std::string(old_.size(), '\n'), lines("9 9\n", std::ssize(old_) / 4)};
  expect_no_signal(
      "info", {path, "--threads", "2", "--quiet"}, 24, [&] { test::spill(path, old_); },
      [&](int run) { overwrite(path, others[static_cast<std::size_t>(run) % others.size()]); });
}

TEST_P(changing, cut_short_is_an_error) {
  const std::string path = folder_.write(GetParam(), old_);
  expect_no_signal(
      "info", {path, "--threads", "2", "--quiet"}, 8, [&] { test::spill(path, old_); },
      [&](int run) { std::filesystem::resize_file(path, static_cast<std::uintmax_t>(run) * 4096); });
}

INSTANTIATE_TEST_SUITE_P(text, changing, testing::Values("a.el", "a.mtx"),
                         [](const auto& of) { return std::string(of.param).substr(2); });

// A snapshot is mapped: many threads read pages that no longer exist.
TEST(changing_snapshot, cut_short_is_an_error) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string path = folder / "a.spg";
  ASSERT_EQ(test::run_app("convert", {"gen:rmat:scale=16,degree=12", path, "--quiet"}).code, 0);
  const std::string whole = test::slurp(path);
  for (const char* threads : {"2", "8"}) {
    expect_no_signal(
        "bfs", {path, "--threads", threads, "--quiet", "--device", "cpu"}, 12, [&] { test::spill(path, whole); },
        [&](int run) { std::filesystem::resize_file(path, static_cast<std::uintmax_t>(run % 4) * 4096); });
  }
}

// Data written over a snapshot after its verification must not lead a thread out of its arrays.
TEST(changing_snapshot, rewritten_in_place_is_no_crash) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string path = folder / "a.spg";
  ASSERT_EQ(test::run_app("convert", {"gen:rmat:scale=16,degree=12", path, "--quiet"}).code, 0);
  const std::string whole = test::slurp(path);
  const std::string other(whole.size(), '\x7f');
  expect_no_signal(
      "bfs", {path, "--threads", "2", "--quiet", "--device", "cpu"}, 12, [&] { test::spill(path, whole); },
      [&](int) { overwrite(path, other); });
}

}  // namespace
}  // namespace spargo::apps
