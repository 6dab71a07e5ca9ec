// Times of repeated runs. A sample is a batch of calls between two synchronisations, to measure microseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

namespace spargo::apps {

class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  [[nodiscard]] double milliseconds() const { return seconds() * 1e3; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct time_summary {
  double min = 0, median = 0, max = 0;  // milliseconds
  std::int64_t runs = 0;
};

[[nodiscard]] inline time_summary summarize(std::vector<double> milliseconds) {
  if (milliseconds.empty()) return {};
  std::sort(milliseconds.begin(), milliseconds.end());
  const std::size_t n = milliseconds.size();
  const double median = n % 2 == 1 ? milliseconds[n / 2] : 0.5 * (milliseconds[n / 2 - 1] + milliseconds[n / 2]);
  return {milliseconds.front(), median, milliseconds.back(), static_cast<std::int64_t>(n)};
}

struct batch_limits {
  double seconds = 200e-6;    // minimum duration of a sample ...
  std::int64_t calls = 1000;  // ... within this number of calls
};

// `warmup` calls, then `runs` samples of `call`; `finish` waits for what `call` started.
template <class Call, class Finish>
[[nodiscard]] time_summary time_calls(std::int64_t warmup, std::int64_t runs, Call call, Finish finish,
                                      batch_limits limits = {}) {
  for (std::int64_t i = 0; i < warmup; ++i) call();
  finish();
  const stopwatch trial;
  call();
  finish();
  const double wanted = std::ceil(limits.seconds / std::max(trial.seconds(), 1e-9));
  const auto batch = static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(limits.calls)));
  std::vector<double> samples;
  for (std::int64_t run = 0; run < runs; ++run) {
    const stopwatch watch;
    for (std::int64_t i = 0; i < batch; ++i) call();
    finish();
    samples.push_back(watch.milliseconds() / static_cast<double>(batch));
  }
  return summarize(std::move(samples));
}

}  // namespace spargo::apps
