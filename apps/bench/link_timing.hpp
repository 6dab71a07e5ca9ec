// The link between host and device: pinned memory, host-clock timing, and pinned copy rates, its ceilings.
#pragma once

#include "bench/device_timing.hpp"

namespace spargo::bench {

enum class direction { to_device, to_host };

inline const context<host>& pinned_context() {
  static const context<host> ctx({.resource = &pinned_host_resource()});
  return ctx;
}

// Median seconds of `run` until the stream is idle, by the host clock; `prepare` runs before, untimed.
template <class Prepare, class Run>
double link_seconds(Prepare&& prepare, Run&& run, int runs = 9, int warmups = 2) {
  const auto& ctx = device_context();
  std::vector<double> seconds;
  for (int k = 0; k < warmups + runs; ++k) {
    prepare();
    ctx.synchronize();
    const auto start = std::chrono::steady_clock::now();
    run();
    ctx.synchronize();
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (k >= warmups) seconds.push_back(taken);
  }
  return median(seconds);
}

// Bytes per second of a copy of 1 GiB between pinned and device memory; measured once.
double link_rate(direction way);

}  // namespace spargo::bench
