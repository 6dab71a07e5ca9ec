// Data of the device convolution benchmarks, and reporting of times.
#pragma once

#include "bench/cached.hpp"
#include "bench/check_device.hpp"
#include "bench/convolve_cases.hpp"

namespace spargo::bench {

// Input and output of one size; the last ones are cached.
template <class T>
struct convolve_data {
  std::int64_t size;
  array<T, device> in;
  array<T, device> out;

  explicit convolve_data(std::int64_t count) : size(count), in(device_context(), count), out(device_context(), count) {
    std::vector<T> values(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = random_input<T>(i);
    copy<T>(device_context(), span<const T, host>(values), in.view());
    device_context().synchronize();
  }
};

// Times run(), checks `out`, and sets the counters. Slow calls run fewer times.
template <class T, class Run>
double measure_convolution(benchmark::State& state, const convolve_case<T>& c, convolve_data<T>& data, Run&& run) {
  const auto& ctx = device_context();
  poison(ctx, data.out.view());
  const double once = device_seconds(ctx, run, 1, 1);
  const int runs = once > 0.05 ? 3 : once > 0.01 ? 9 : 25;
  const double seconds = device_seconds(ctx, run, runs, 2);
  expect_convolved_on_device<T>(c.rows, c.cols, c.filter, c.down(), c.width, std::as_const(data.in).view(),
                                std::as_const(data.out).view());
  state.counters[gbytes_per_second] = c.bytes() / seconds * 1e-9;
  state.counters[gflops] = c.operations() / seconds * 1e-9;
  const double rate = std::same_as<T, float> ? arithmetic_limit : arithmetic_limit / 2;
  const double limit = convolve_limit(c.bytes(), c.operations(), device_copy_rate(), rate);
  if (c.rows == 1) {
    state.counters[fraction_of_copy] = c.bytes() / seconds / device_copy_rate();
  } else {
    state.counters[fraction_of_limit] = limit / seconds;
  }
  return seconds;
}

inline std::string convolve_group(const char* type, std::int64_t rows, std::int64_t cols, std::int64_t width,
                                  const char* kind) {
  return "convolve/" +
         (rows == 1 ? "1d/" + std::string(type) + "/2^28"
                    : "2d/" + std::string(type) + "/" + std::to_string(rows) + "x" + std::to_string(cols)) +
         "/K" + std::to_string(width) + kind + "/cuda/";
}

}  // namespace spargo::bench
