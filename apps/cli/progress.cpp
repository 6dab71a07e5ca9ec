#include "cli/progress.hpp"

#include "cli/cli.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

namespace spargo::apps {

namespace {

struct tuning {
  static constexpr double silent_seconds = 1.0;  // of all work of the process
  static constexpr double brief_seconds = 0.3;   // work so short would flicker
  static constexpr std::chrono::milliseconds redraw{100};
  static constexpr int cells = 30;        // most cells of a bar
  static constexpr int fewest_cells = 8;  // below this there is no bar
  static constexpr int default_width = 80;
};

constexpr char wiping[] = "\r\x1b[K";
std::atomic<bool> line_is_drawn{false};

// The last wipe, by a signal's handler, and the drawing thread: one of them sees the other's flag. The thread blocks
// signals, so the handler never interrupts it.
std::atomic<bool> has_ended{false};
std::atomic<bool> is_drawing{false};

int columns_of(const std::string& text) { return static_cast<int>(characters_of(text)); }

// The last `columns` characters, after "..." if shortened; control characters are replaced.
std::string shortened(std::string text, int columns) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  int surplus = columns_of(text) - columns;
  if (surplus <= 0) return text;
  const std::string dots(static_cast<std::size_t>(std::clamp(columns, 0, 3)), '.');
  surplus += static_cast<int>(dots.size());
  auto at = text.cbegin();
  while (at != text.cend() && !(begins_character(*at) && surplus-- == 0)) ++at;
  return dots + std::string(at, text.cend());
}

std::string clock_text(std::int64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02} h", seconds / 3600, seconds / 60 % 60);
}

bool can_be_drawn_on() {
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

// The status line, and the thread that draws it while there is work.
class status_line {
 public:
  // Never destroyed: work may end in a later destructor.
  static status_line& instance() {
    static status_line* const only = new status_line;
    return *only;
  }

  void silence() {
    const std::lock_guard lock(mutex_);
    silent_ = true;
  }

  void wipe() {
    const std::lock_guard lock(mutex_);
    wipe_drawn();
  }

  // Returns 0 if nothing will be shown.
  int begin(const std::string& label) {
    const std::lock_guard lock(mutex_);
    if (silent_ || !can_be_drawn_on()) return 0;
    if (!since_first_.has_value()) since_first_.emplace();
    entries_.push_back({++last_id_, label, std::nullopt, {}});
    if (!thread_.joinable()) thread_ = std::thread([this] { draw_until_done(); });
    return last_id_;
  }

  void update(int id, const measure& progress) {
    const std::lock_guard lock(mutex_);
    for (entry& e : entries_) {
      if (e.id == id) e.progress = progress;
    }
  }

  void end(int id) {
    std::thread done;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(entries_, [id](const entry& e) { return e.id == id; });
      wipe_drawn();
      if (entries_.empty()) done = std::move(thread_);
    }
    if (!done.joinable()) return;
    changed_.notify_all();
    done.join();
  }

 private:
  struct entry {
    int id;
    std::string label;
    std::optional<measure> progress;
    stopwatch since_start;
  };

  void draw_until_done() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::unique_lock lock(mutex_);
    while (!entries_.empty()) {
      draw();
      changed_.wait_for(lock, tuning::redraw);
    }
  }

  void draw() {
    const entry& top = entries_.back();
    const double seconds = top.since_start.seconds();
    if (seconds < tuning::brief_seconds || since_first_->seconds() < tuning::silent_seconds) return;
    const std::string line = progress_line(top.label, top.progress, seconds, terminal_width(STDERR_FILENO));
    is_drawing = true;
    if (!has_ended) {
      line_is_drawn = true;
      std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
      std::fflush(stderr);
    }
    is_drawing = false;
  }

  void wipe_drawn() {
    if (!line_is_drawn) return;
    std::fputs(wiping, stderr);
    std::fflush(stderr);
    line_is_drawn = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<entry> entries_;
  std::optional<stopwatch> since_first_;  // of the first work
  std::thread thread_;
  int last_id_ = 0;
  bool silent_ = false;
};

}  // namespace

std::string remaining_time(const measure& progress, double seconds) {
  if (progress.total <= 0 || progress.done <= 0) return {};
  const auto left = static_cast<double>(std::max<std::int64_t>(0, progress.total - progress.done));
  const double rest = std::ceil(left * seconds / static_cast<double>(progress.done));
  return clock_text(static_cast<std::int64_t>(std::min(rest, 1e9))) + " left";
}

std::string progress_line(const std::string& label, const std::optional<measure>& progress, double seconds, int width) {
  const int room = width - 1;
  const int wanted = columns_of(label);
  const int least = std::min(wanted, 12);  // minimum width of the label before optional parts are added
  std::vector<std::string> parts;          // most important first
  std::optional<double> share;
  if (!progress.has_value() || (!progress->of_bytes && progress->done == 0)) {
    parts.push_back(clock_text(static_cast<std::int64_t>(seconds)));
  } else {
    if (progress->total > 0) {
      share = std::clamp(static_cast<double>(progress->done) / static_cast<double>(progress->total), 0.0, 1.0);
      parts.push_back(fmt::format("{:3.0f}%", *share * 100));
      if (std::string left = remaining_time(*progress, seconds); !left.empty()) parts.push_back(std::move(left));
    }
    if (progress->of_bytes) {
      const double megabytes = static_cast<double>(progress->done) * 1e-6;
      parts.push_back(fmt::format("{:.1f} MB", megabytes));
      parts.push_back(fmt::format("{:.0f} MB/s", megabytes / std::max(seconds, 1e-9)));
    }
  }
  std::string tail;
  for (const std::string& part : parts) {
    const int space = tail.empty() && room < least + 2 + static_cast<int>(part.size()) ? 0 : 2;
    if (static_cast<int>(tail.size() + part.size()) + space + (tail.empty() ? 0 : least) > room) continue;
    tail += std::string(static_cast<std::size_t>(space), ' ') + part;
  }
  int left = room - static_cast<int>(tail.size());
  std::string text = shortened(label, std::max(left, 0));
  left -= columns_of(text);
  if (share.has_value() && left >= tuning::fewest_cells + 4) {
    const int cells = std::min(left - 4, tuning::cells);
    const int full = static_cast<int>(*share * cells);
    text += fmt::format("  [{}{}]", std::string(static_cast<std::size_t>(full), '#'),
                        std::string(static_cast<std::size_t>(cells - full), '.'));
  }
  return text + tail;
}

int terminal_width(int descriptor) {
  winsize size{};
  std::int64_t width = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  std::int64_t columns = 0;
  const char* const text = std::getenv("COLUMNS");
  if (text != nullptr && parse_integer(text, columns) && columns > 0) {
    width = width > 0 ? std::min(width, columns) : columns;
  }
  return width > 0 ? static_cast<int>(std::min<std::int64_t>(width, 1 << 12)) : tuning::default_width;
}

void silence_progress() { status_line::instance().silence(); }

void wipe_progress() { status_line::instance().wipe(); }

void wipe_progress_at_end() noexcept {
  has_ended = true;
  constexpr timespec moment{0, 1'000'000};
  for (int wait = 0; is_drawing && wait < 200; ++wait) ::nanosleep(&moment, nullptr);  // the terminal may be stopped
  if (line_is_drawn.exchange(false)) std::ignore = ::write(STDERR_FILENO, wiping, sizeof(wiping) - 1);
}

busy::busy(const std::string& label) : id_(status_line::instance().begin(label)) {}
busy::~busy() {
  if (id_ != 0) status_line::instance().end(id_);
}

progress_bar::progress_bar(const std::string& label, bool quiet)
    : id_(quiet ? 0 : status_line::instance().begin(label)) {}
progress_bar::~progress_bar() {
  if (id_ != 0) status_line::instance().end(id_);
}

void progress_bar::show(const measure& progress) noexcept {
  if (id_ != 0) status_line::instance().update(id_, progress);
}

read_options progress_bar::options() {
  read_options options;
  if (id_ != 0) {
    options.progress = [this](const read_progress& now) { show({now.bytes_done, now.bytes_total}); };
  }
  return options;
}

counted_work::counted_work(const std::string& label)
    : bar_(label, false), telling_([this](const operation_progress& now) {
        bar_.show({now.done, now.total, false});
      }) {}

}  // namespace spargo::apps
