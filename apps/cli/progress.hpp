// An app's current work on one line of standard error; only on a terminal, and only for work that takes over a second.
//
// Idea: long work holds a progress_bar (reading, counted in bytes), a `counted_work` (an operation that reports its
// fraction done) or a `busy` (no measure: seconds so far); the most recent one is shown. A separate thread draws, so a
// reader's callback costs only a lock and a store, and the clock advances even without callbacks. Invariant: the line
// fits the terminal's current width (the smaller of TIOCGWINSZ and COLUMNS, 80 if neither is known) and is erased at
// the end. Terminals that cannot erase a line (TERM=dumb, or none) show nothing.
#pragma once

#include "cli/timing.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/io/options.hpp>

#include <optional>
#include <string>

namespace spargo::apps {

struct measure {
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: unknown
  bool of_bytes = true;    // otherwise of parts, shown as a percentage only
};

// Remaining time at the current rate, `seconds` after the start: "12 s left", "3:07 min left"; empty if unknown.
[[nodiscard]] std::string remaining_time(const measure& progress, double seconds);

// The line for `width` columns, of which the last stays free, since a terminal may wrap after it. Without `progress`,
// only seconds. Parts that do not fit are omitted, the percentage last; a long label loses its beginning.
[[nodiscard]] std::string progress_line(const std::string& label, const std::optional<measure>& progress,
                                        double seconds, int width);

[[nodiscard]] int terminal_width(int descriptor);

// --quiet: shows nothing from here on.
void silence_progress();

// Erases the line before other output to the terminal; it is redrawn if the work continues.
void wipe_progress();

// The same just before the process ends; safe in a signal handler.
void wipe_progress_at_end() noexcept;

// Work without a measure, from constructor to destructor, which erases the line.
class busy {
 public:
  explicit busy(const std::string& label);
  busy(const busy&) = delete;
  busy& operator=(const busy&) = delete;
  ~busy();

 private:
  int id_;
};

class progress_bar {
 public:
  progress_bar(const std::string& label, bool quiet);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar();  // erases the line

  void show(const measure& progress) noexcept;

  // Options that feed this bar; it must outlive the reading.
  [[nodiscard]] read_options options();

 private:
  int id_;  // 0: not shown
};

// An operation on this thread that reports its fraction done.
class counted_work {
 public:
  explicit counted_work(const std::string& label);

 private:
  progress_bar bar_;
  interruption telling_;
};

}  // namespace spargo::apps
