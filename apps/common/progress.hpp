// A progress bar on standard error: only on a terminal, and only for work that lasts over a second.
#pragma once

#include "common/timing.hpp"

#include <spargo/io/options.hpp>

#include <string>

namespace spargo::apps {

// How long the rest takes at the rate so far, `seconds` after the start: "12 s left", "3:07 min left"; empty when
// unknown.
[[nodiscard]] std::string remaining_time(const read_progress& progress, double seconds);

class progress_bar {
 public:
  progress_bar(std::string label, bool quiet);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar();  // wipes the line

  void show(const read_progress& progress) noexcept;

  // Options that feed this bar, which must outlive the reading.
  [[nodiscard]] read_options options();

 private:
  std::string label_;
  bool enabled_;
  bool drawn_ = false;
  stopwatch since_start_;
  double last_drawn_ = 0;
};

}  // namespace spargo::apps
