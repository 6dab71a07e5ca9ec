// Device timing, and the ceilings for device cases, measured once per run.
#pragma once

#include "bench/bench.hpp"

#include <spargo/core/array.hpp>

#include <cuda_runtime_api.h>

#include <stdexcept>

namespace spargo::bench {

inline void expect(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

class event {
 public:
  event() { expect(cudaEventCreate(&event_)); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }  // NOLINT

 private:
  cudaEvent_t event_ = nullptr;
};

inline const context<device>& device_context() {
  static const context<device> ctx;
  return ctx;
}

// Reads 256 MiB on the context's stream, to evict a case's data from the L2 cache.
void flush_l2();

// Median seconds of `runs` calls on the context's stream by CUDA events, each with a flushed L2 cache.
template <class Run>
double device_seconds(const context<device>& ctx, Run&& run, int runs = 25, int warmups = 3) {
  const event start;
  const event stop;
  std::vector<double> seconds;
  for (int k = 0; k < warmups + runs; ++k) {
    flush_l2();
    expect(cudaEventRecord(start, ctx.stream()));
    run();
    expect(cudaEventRecord(stop, ctx.stream()));
    expect(cudaEventSynchronize(stop));
    float milliseconds = 0;
    expect(cudaEventElapsedTime(&milliseconds, start, stop));
    if (k >= warmups) seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
  }
  return median(seconds);
}

// Bytes per second of a device-to-device copy of 1 GiB, read and written.
double device_copy_rate();

// Bytes per second of a read-only kernel over 1 GiB.
double device_read_rate();

}  // namespace spargo::bench
