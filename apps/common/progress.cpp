#include "common/progress.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace spargo::apps {

namespace {
struct tuning {
  static constexpr double silent_seconds = 1.0;
  static constexpr double redraw_seconds = 0.1;
  static constexpr int cells = 30;
};
}  // namespace

progress_bar::progress_bar(std::string label, bool quiet)
    : label_(std::move(label)), enabled_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

progress_bar::~progress_bar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

std::string remaining_time(const read_progress& progress, double seconds) {
  if (progress.bytes_total <= 0 || progress.bytes_done <= 0) return {};
  const auto left = static_cast<double>(std::max<std::int64_t>(0, progress.bytes_total - progress.bytes_done));
  const double rest = std::ceil(left * seconds / static_cast<double>(progress.bytes_done));
  const auto whole = static_cast<std::int64_t>(std::min(rest, 1e9));
  if (whole < 60) return fmt::format("{} s left", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min left", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h left", whole / 3600, whole / 60 % 60);
}

void progress_bar::show(const read_progress& progress) noexcept {
  if (!enabled_) return;
  const double now = since_start_.seconds();
  if (now < tuning::silent_seconds || now - last_drawn_ < tuning::redraw_seconds) return;
  last_drawn_ = now;
  drawn_ = true;
  const double megabytes = static_cast<double>(progress.bytes_done) * 1e-6;
  if (progress.bytes_total <= 0) {
    std::fprintf(stderr, "\r%s  %.1f MB  %.0f MB/s\x1b[K", label_.c_str(), megabytes, megabytes / now);
    return;
  }
  const double share =
      std::clamp(static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total), 0.0, 1.0);
  const int full = static_cast<int>(share * tuning::cells);
  std::fprintf(stderr, "\r%s  [", label_.c_str());
  for (int i = 0; i < tuning::cells; ++i) std::fputc(i < full ? '#' : '.', stderr);
  std::fprintf(stderr, "] %3.0f%%  %.1f MB  %.0f MB/s  %s\x1b[K", share * 100, megabytes, megabytes / now,
               remaining_time(progress, now).c_str());
}

read_options progress_bar::options() {
  read_options options;
  if (enabled_) options.progress = [this](const read_progress& progress) { show(progress); };
  return options;
}

}  // namespace spargo::apps
