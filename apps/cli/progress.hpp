// What an app is at, on one line of standard error: only on a terminal, and only for work that lasts over a second.
//
// Idea: whoever begins long work holds a progress_bar (reading, whose bytes are counted), a `counted_work` (an
// operation that says how much of it is done) or a `busy` (work without a measure: the seconds so far); the one begun
// last is shown. A thread draws, so that a reader's callback costs a lock and a store, and the clock moves where no
// callback comes. Invariant: the line fits the terminal as wide as it is when it is drawn (the narrower of TIOCGWINSZ
// and COLUMNS, 80 where neither is known), and is wiped at the end. A terminal that cannot wipe a line (TERM=dumb, or
// none) sees nothing.
#pragma once

#include "cli/timing.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/io/options.hpp>

#include <optional>
#include <string>

namespace spargo::apps {

struct measure {
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0 when unknown
  bool of_bytes = true;    // else of parts that only their share is shown of
};

// How long the rest takes at the rate so far, `seconds` after the start: "12 s left", "3:07 min left"; empty when
// unknown.
[[nodiscard]] std::string remaining_time(const measure& progress, double seconds);

// The line for a terminal of `width` columns, of which it fills at most all but the last: a terminal may go on to the
// next line once the last is written. Without `progress`, only the seconds are known. What does not fit is left out,
// the percentage last; a long label loses its beginning.
[[nodiscard]] std::string progress_line(const std::string& label, const std::optional<measure>& progress,
                                        double seconds, int width);

// Columns of the terminal behind a descriptor.
[[nodiscard]] int terminal_width(int descriptor);

// --quiet: nothing is shown from here on.
void silence_progress();

// Wipes the line before something else is written to the terminal; it is drawn again if the work goes on.
void wipe_progress();

// The same where the process is about to end: safe in a signal handler.
void wipe_progress_at_end() noexcept;

// Work without a measure, from the constructor to the destructor, which wipes the line.
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
  ~progress_bar();  // wipes the line

  void show(const measure& progress) noexcept;

  // Options that feed this bar, which must outlive the reading.
  [[nodiscard]] read_options options();

 private:
  int id_;  // 0: not shown
};

// Work of an operation that says how much of it is done, on this thread.
class counted_work {
 public:
  explicit counted_work(const std::string& label);

 private:
  progress_bar bar_;
  interruption telling_;
};

}  // namespace spargo::apps
