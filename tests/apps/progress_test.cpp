// The progress line on terminals of any width.
#include "cli/progress.hpp"

#include "apps/run_app.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <regex>
#include <thread>

namespace spargo::apps {
namespace {

using test::scratch;

// A terminal's screen: text wraps at the width, \r returns to the beginning of the line, ESC [ K erases to its end.
class screen {
 public:
  explicit screen(std::size_t width) : width_(width), lines_(1) {}

  // A write may arrive in parts: an escape sequence that is cut waits for its rest.
  void take(std::string bytes) {
    bytes.insert(0, cut_);
    cut_.clear();
    if (const std::size_t last = bytes.rfind('\x1b'); last != std::string::npos && bytes.size() - last < 3) {
      cut_ = bytes.substr(last);
      bytes.resize(last);
    }
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      const char c = bytes[k];
      if (c == '\x1b' && bytes.compare(k, 3, "\x1b[K") == 0) {
        lines_.back().resize(std::min(lines_.back().size(), column_));
        k += 2;
      } else if (c == '\r') {
        column_ = 0;
      } else if (c == '\n') {
        new_line();
      } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20) << "control character " << int{c};
        if (column_ == width_) new_line();
        if (lines_.back().size() <= column_) lines_.back().resize(column_ + 1, ' ');
        lines_.back()[column_++] = c;
        widest_ = std::max(widest_, column_);
        seen_ += c;
      }
    }
  }
  void resize(std::size_t width) {
    width_ = width;
    widest_ = 0;
  }
  [[nodiscard]] std::size_t lines() const { return lines_.size(); }
  [[nodiscard]] std::string last() const { return lines_.back(); }
  [[nodiscard]] std::size_t widest() const { return widest_; }
  [[nodiscard]] const std::string& seen() const { return seen_; }

 private:
  void new_line() {
    lines_.emplace_back();
    column_ = 0;
  }
  std::size_t width_;
  std::size_t column_ = 0;
  std::size_t widest_ = 0;
  std::vector<std::string> lines_;
  std::string seen_;
  std::string cut_;
};

// A process with this terminal that does `work`. Several run at the same time: what they do is mostly to wait.
class terminal_process {
 public:
  terminal_process(unsigned short width, const std::function<void()>& work) : shown_(width) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = width;
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ == 0) {
      work();
      ::_exit(0);
    }
  }

  // Waits for its end; calls `look(screen, terminal)` after each write.
  screen finish(const std::function<void(screen&, int)>& look = {}, int expected_status = 0) {
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(terminal_, buffer, sizeof(buffer))) > 0;) {
      shown_.take({buffer, static_cast<std::size_t>(got)});
      if (look) look(shown_, terminal_);
    }
    ::close(terminal_);
    int status = 0;
    ::waitpid(child_, &status, 0);
    EXPECT_EQ(status, expected_status);
    return std::move(shown_);
  }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  screen shown_;
};

screen on_a_terminal(unsigned short width, const std::function<void()>& work,
                     const std::function<void(screen&, int)>& look = {}, int expected_status = 0) {
  return terminal_process(width, work).finish(look, expected_status);
}

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

void set_terminal(const char* term) {
  ::setenv("TERM", term, 1);
  ::unsetenv("COLUMNS");
}

const std::string long_name = "reading /a/rather/long/path/to/where/the/matrices/are/laplacian2d_2000.mtx.gz";

void read_slowly() {
  set_terminal("xterm");
  progress_bar bar(long_name, false);
  for (int k = 1; k <= 9; ++k) {
    bar.show({k * 123'456'789, 1'234'567'890});
    wait_ms(150);
  }
}

TEST(progress, stays_on_one_line_of_any_width_and_is_wiped) {
  const std::array<unsigned short, 6> widths{200, 84, 80, 40, 20, 10};
  std::vector<terminal_process> processes;
  for (const unsigned short width : widths) processes.emplace_back(width, read_slowly);
  for (std::size_t k = 0; k < widths.size(); ++k) {
    const screen shown = processes[k].finish();
    SCOPED_TRACE(widths[k]);
    EXPECT_EQ(shown.lines(), 1U) << shown.seen();
    EXPECT_LT(shown.widest(), widths[k]);
    EXPECT_EQ(shown.last(), "");
    EXPECT_NE(shown.seen().find('%'), std::string::npos) << "nothing was shown";
  }
}

TEST(progress, follows_a_terminal_that_is_made_narrower) {
  bool resized = false;
  const screen shown = on_a_terminal(
      80,
      [] {
        read_slowly();
        read_slowly();
      },
      [&](screen& s, int terminal) {
        if (resized) return;
        resized = true;
        winsize size{};
        size.ws_row = 24;
        size.ws_col = 30;
        ::ioctl(terminal, TIOCSWINSZ, &size);
        wait_ms(300);  // output drawn for the old width meanwhile is ignored
        char buffer[4096];
        s.take({buffer, static_cast<std::size_t>(std::max<ssize_t>(0, ::read(terminal, buffer, sizeof(buffer))))});
        s.resize(80);
      });
  EXPECT_GT(shown.widest(), 15U);
  EXPECT_LT(shown.widest(), 30U);
  EXPECT_EQ(shown.last(), "");
}

TEST(progress, respects_columns_if_they_are_fewer) {
  const screen shown = on_a_terminal(80, [] {
    set_terminal("xterm");
    ::setenv("COLUMNS", "33", 1);
    const busy work("working for a long time on something with a long name");
    wait_ms(1300);
  });
  EXPECT_GT(shown.widest(), 20U);
  EXPECT_LT(shown.widest(), 33U);
}

TEST(progress, is_not_shown_where_it_should_not_be) {
  const auto works = [](int milliseconds) {
    const busy work("working");
    wait_ms(milliseconds);
  };
  const auto on_a_dumb_one = [&](const char* term) {
    return terminal_process(80, [&, term] {
      set_terminal(term);
      works(1300);
    });
  };
  terminal_process dumb = on_a_dumb_one("dumb");
  terminal_process nameless = on_a_dumb_one("");
  terminal_process brief(80, [&] {
    set_terminal("xterm");
    works(700);
  });
  terminal_process silent(80, [&] {
    set_terminal("xterm");
    silence_progress();
    works(1300);
  });
  EXPECT_EQ(dumb.finish().seen(), "") << "a line cannot be wiped there";
  EXPECT_EQ(nameless.finish().seen(), "");
  EXPECT_EQ(brief.finish().seen(), "");
  EXPECT_EQ(silent.finish().seen(), "");
}

// The next step replaces the line of reading, and its clock advances without callbacks.
TEST(progress, names_the_work_that_follows) {
  const screen shown = on_a_terminal(80, [] {
    set_terminal("xterm");
    progress_bar bar("reading a.mtx", false);
    bar.show({97, 100});
    wait_ms(1300);
    const busy building("building CSR");
    wait_ms(2300);
  });
  EXPECT_NE(shown.seen().find(" 97%"), std::string::npos) << shown.seen();
  EXPECT_NE(shown.seen().find("building CSR  1 s"), std::string::npos) << shown.seen();
  EXPECT_NE(shown.seen().find("building CSR  2 s"), std::string::npos) << shown.seen();
  EXPECT_EQ(shown.lines(), 1U);
  EXPECT_EQ(shown.last(), "");
}

// Several steps of under a second are work of over a second.
TEST(progress, is_shown_for_short_steps_after_a_second) {
  const screen shown = on_a_terminal(80, [] {
    set_terminal("xterm");
    {
      const busy building("building CSR");
      wait_ms(800);
    }
    {
      const busy brief("sorting");
      wait_ms(50);
    }
    const busy validating("validating");
    wait_ms(900);
  });
  EXPECT_EQ(shown.seen().find("building CSR"), std::string::npos) << shown.seen();
  EXPECT_EQ(shown.seen().find("sorting"), std::string::npos) << shown.seen();
  EXPECT_NE(shown.seen().find("validating  0 s"), std::string::npos) << shown.seen();
  EXPECT_EQ(shown.last(), "");
}

// The seconds until the first report of a share, then the share.
TEST(progress, shows_the_share_of_counted_work) {
  const screen shown = on_a_terminal(80, [] {
    set_terminal("xterm");
    const counted_work work("validating");
    interruption::look({0, 4});
    wait_ms(1500);
    interruption::look({1, 4});
    wait_ms(1000);
  });
  EXPECT_NE(shown.seen().find("validating  1 s"), std::string::npos) << shown.seen();
  const std::regex three_times_as_long("]   25%  [5-9] s left");
  EXPECT_TRUE(std::regex_search(shown.seen(), three_times_as_long)) << shown.seen();
  EXPECT_EQ(shown.last(), "");
}

TEST(progress_line, fits_every_width) {
  for (const std::string& label : {std::string("x"), long_name, std::string("reading caf\xc3\xa9/\xe2\x82\xac.mtx"),
                                   std::string("reading a\nb\x1b[31m")}) {
    for (int width = 1; width <= 200; ++width) {
      for (const std::optional<measure>& progress :
           {std::optional<measure>(), std::optional<measure>({123'456'789, 0}),
            std::optional<measure>({1, 1'234'567'890}), std::optional<measure>({99, 100}),
            std::optional<measure>({1, 3, false})}) {
        const std::string line = progress_line(label, progress, 12.3, width);
        const auto columns = std::count_if(line.begin(), line.end(),
                                           [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
        EXPECT_LE(columns, std::max(width - 1, 0)) << line;
        EXPECT_TRUE(std::none_of(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\x1b'; })) << line;
        if (width >= 12 && progress.has_value() && progress->total > 0) {
          EXPECT_NE(line.find('%'), std::string::npos) << width << ": " << line;
        }
      }
    }
  }
  EXPECT_EQ(progress_line("reading a.mtx", measure{250'000'000, 1'000'000'000}, 5, 80),
            "reading a.mtx  [######....................]   25%  15 s left  250.0 MB  50 MB/s");
  EXPECT_EQ(progress_line("reading a.mtx", measure{250'000'000, 1'000'000'000}, 5, 41),
            "reading a.mtx   25%  15 s left  250.0 MB");
  EXPECT_EQ(progress_line("building CSR", std::nullopt, 65, 80), "building CSR  1:05 min");
  EXPECT_EQ(progress_line("validating", measure{1, 4, false}, 5, 80),
            "validating  [#######.......................]   25%  15 s left");
  EXPECT_EQ(progress_line("validating", measure{0, 4, false}, 5, 80), "validating  5 s");
}

// An app on a narrow terminal, whose input pauses.
TEST(progress, of_an_app_leaves_the_terminal_as_it_was) {
  const scratch folder;
  const std::string pipe = folder / "slow.el";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream to(pipe);
    to << "1 2\n" << std::flush;
    wait_ms(1500);
    to << "2 3\n";
  });
  const screen shown = on_a_terminal(24, [&] {
    set_terminal("xterm");
    const std::string program = test::words_before("bfs").front();
    ::execl(program.c_str(), program.c_str(), pipe.c_str(), "--json", "/dev/null", "--device", "cpu", nullptr);
    ::_exit(127);
  });
  writer.join();
  EXPECT_NE(shown.seen().find("slow.el  1 s"), std::string::npos) << shown.seen();
}

// The drawing thread may be about to draw when a signal wipes the line.
TEST(progress, is_not_drawn_after_the_last_wipe) {
  const screen shown = on_a_terminal(24, [] {
    set_terminal("xterm");
    progress_bar bar("slow.el", false);
    wait_ms(1300);
    wipe_progress_at_end();
    wait_ms(400);
    ::_exit(0);
  });
  EXPECT_NE(shown.seen().find("slow.el"), std::string::npos) << "nothing was shown";
  EXPECT_EQ(shown.last(), "") << shown.seen();
}

TEST(progress, is_wiped_by_an_interrupt) {
  const scratch folder;
  const std::string pipe = folder / "slow.el";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int held = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);  // open for writing, but nothing is written
  bool interrupted = false;
  const screen shown = on_a_terminal(
      24,
      [&] {
        set_terminal("xterm");
        const std::string program = test::words_before("bfs").front();
        ::execl(program.c_str(), program.c_str(), pipe.c_str(), "--device", "cpu", nullptr);
        ::_exit(127);
      },
      [&](screen& so_far, int terminal) {
        if (interrupted || so_far.seen().find("slow.el") == std::string::npos) return;
        interrupted = ::write(terminal, "\x03", 1) == 1;
      },
      SIGINT);
  ::close(held);
  EXPECT_TRUE(interrupted) << shown.seen();
  EXPECT_EQ(shown.last(), "") << shown.seen();
}

// Until an interrupt: the work itself is shown, whatever it would take.
TEST(progress, of_commands_on_matrices_names_the_work) {
  for (const auto& [command, work] :
       {std::pair("multiply", "multiplying  1 s"), std::pair("reorder", "reordering  1 s")}) {
    SCOPED_TRACE(command);
    bool interrupted = false;
    const screen shown = on_a_terminal(
        60,
        [command = command] {
          set_terminal("xterm");
          ::alarm(120);  // without progress nothing else ends it
          const std::string program = test::words_before("info").front();
          ::execl(program.c_str(), program.c_str(), command, "gen:laplacian2d:n=100", "--repeat", "1000000", nullptr);
          ::_exit(127);
        },
        [&, work = work](screen& so_far, int terminal) {
          if (interrupted || so_far.seen().find(work) == std::string::npos) return;
          interrupted = ::write(terminal, "\x03", 1) == 1;
        },
        SIGINT);
    EXPECT_TRUE(interrupted) << shown.seen();
    EXPECT_EQ(shown.last(), "") << shown.seen();
  }
}

}  // namespace
}  // namespace spargo::apps
