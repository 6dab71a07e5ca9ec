// Stencils and sliding windows on the device: every rung. Times are CUDA events around one call with a flushed L2
// cache. of_copy: relative to a copy in this run, counting the bytes of one read and one write per element (and per
// sweep of Jacobi's iteration: above 1 if a pass makes several sweeps).
#include "bench/cached.hpp"
#include "bench/check_device.hpp"
#include "bench/stencil_cases.hpp"

#include "primitives/stencil/algorithms.hpp"

#include <vector>

namespace spargo::bench {

namespace {

// Input and output of one size; the last ones are cached.
template <class T>
struct stencil_data {
  std::int64_t size;
  array<T, device> in;
  array<T, device> out;

  explicit stencil_data(std::int64_t count) : size(count), in(device_context(), count), out(device_context(), count) {
    refill();
  }

  void refill() {
    std::vector<T> values(static_cast<std::size_t>(size));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i)] = random_input<T>(i);
    copy<T>(device_context(), span<const T, host>(values), in.view());
    device_context().synchronize();
  }

  [[nodiscard]] array<T, host> result() const { return to_host(device_context(), out.view()); }

  // The output is poisoned.
  static stencil_data& of(std::int64_t count) {
    auto& kept = cached<stencil_data>(count);
    poison(device_context(), kept.out.view());
    return kept;
  }
};

// Seconds of run(); slow calls run fewer times.
template <class Run>
double seconds_of(Run&& run) {
  const auto& ctx = device_context();
  const double once = device_seconds(ctx, run, 1, 1);
  return device_seconds(ctx, run, once > 0.1 ? 3 : once > 0.01 ? 9 : 25, 2);
}

void report(benchmark::State& state, double bytes, double seconds) {
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_copy] = bytes / seconds / device_copy_rate();
}

template <class T>
double bytes_of(std::int64_t size) {
  return 2.0 * static_cast<double>(size) * sizeof(T);
}

template <class T>
void add_average(std::int64_t side) {
  const std::string group = std::string("stencil/5-point/") + stencil_type<T> + "/" + std::to_string(side) + "^2/cuda/";
  for (const auto algorithm : detail::algorithms_on<device>(detail::stencil::five_point_algorithms)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(side * side);
      const double seconds = seconds_of([&] {
        five_point_average<T, device>(device_context(), {side, side, side, data.in.view()},
                                      {side, side, side, data.out.view()}, {.algorithm = algorithm});
      });
      expect_five_point_averages<T>(side, data.result().view());
      report(state, bytes_of<T>(side * side), seconds);
      return seconds;
    });
  }
}

// Seconds per sweep: the difference between calls (with a test and the copy back) of more and fewer sweeps.
template <class T>
void add_jacobi(std::int64_t side) {
  const std::string group = std::string("stencil/jacobi/") + stencil_type<T> + "/" + std::to_string(side) + "^2/cuda/";
  for (const auto algorithm : detail::algorithms_on<device>(detail::stencil::jacobi_algorithms)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(side * side);
      const auto sweeps = [&](std::int64_t count) {
        const jacobi_options options{
            .algorithm = algorithm, .tolerance = 0, .max_iterations = count, .check_every = count};
        return jacobi<T, device>(device_context(), {side, side, side, data.in.view()}, options).iterations;
      };
      const double few = device_seconds(
          device_context(), [&] { sweeps(25); }, 7, 1);
      const double many = device_seconds(
          device_context(), [&] { sweeps(25 + 96); }, 7, 1);
      const double seconds = (many - few) / 96;
      data.refill();
      sweeps(25);  // repeats the timed code from known values
      expect_jacobi<T>(side, 25, to_host(device_context(), std::as_const(data.in).view()).view());
      data.refill();
      report(state, bytes_of<T>(side * side), seconds);
      return seconds;
    });
  }
}

template <class T>
void add_window_average(std::int64_t size, std::int64_t radius) {
  using enum stencil_algorithm;
  const std::string group =
      std::string("stencil/window_average/") + stencil_type<T> + "/2^28/r" + std::to_string(radius) + "/cuda/";
  for (const auto algorithm : detail::algorithms_on<device>(detail::stencil::window_average_algorithms)) {
    if (radius > 1000 && (algorithm == naive || algorithm == tiled)) continue;  // seconds per call
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(size);
      const double seconds = seconds_of([&] {
        window_average<T, device>(device_context(), data.in.view(), radius, data.out.view(), {.algorithm = algorithm});
      });
      expect_window_averages<T>(radius, data.result().view());
      report(state, bytes_of<T>(size), seconds);
      return seconds;
    });
  }
}

template <class T>
void add_sliding_max(std::int64_t size, std::int64_t window) {
  using enum sliding_max_algorithm;
  const std::string group =
      std::string("stencil/sliding_max/") + stencil_type<T> + "/2^28/w" + std::to_string(window) + "/cuda/";
  for (const auto algorithm : detail::algorithms_on<device>(detail::stencil::sliding_max_algorithms)) {
    if (window > 1000 && (algorithm == naive || algorithm == tiled)) continue;  // seconds per call
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(size);
      const double seconds = seconds_of([&] {
        sliding_max<T, device>(device_context(), data.in.view(), window, data.out.view(), {.algorithm = algorithm});
      });
      expect_window_maxima<T>(window, data.result().view());
      report(state, bytes_of<T>(size), seconds);
      return seconds;
    });
  }
}

// A cube of `side` with cubic windows.
template <class T>
void add_volume(std::int64_t side, std::int64_t window) {
  using enum sliding_max_algorithm;
  const std::string group = std::string("stencil/sliding_max3d/") + stencil_type<T> + "/" + std::to_string(side) +
                            "^3/w" + std::to_string(window) + "/cuda/";
  for (const auto algorithm : detail::algorithms_on<device>(detail::stencil::sliding_max_algorithms)) {
    if (window > 16 && algorithm == naive) continue;  // seconds per call
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(side * side * side);
      const double seconds = seconds_of([&] {
        sliding_max<T, device>(device_context(), data.in.view(), {side, side, side}, {window, window, window},
                               data.out.view(), {.algorithm = algorithm});
      });
      expect_cube_maxima<T>(side, window, data.result().view());
      report(state, bytes_of<T>(side * side * side), seconds);
      return seconds;
    });
  }
}

void add_all() {
  if (!current_settings().device) return;
  add_average<float>(16384);
  add_average<double>(8192);
  add_jacobi<float>(16384);
  add_jacobi<double>(8192);
  const std::int64_t size = std::int64_t{1} << 28;
  for (const std::int64_t radius : {2, 16, 128, 100000}) add_window_average<float>(size, radius);
  add_window_average<double>(size, 16);
  for (const std::int64_t window : {5, 33, 257, 200000}) add_sliding_max<float>(size, window);
  add_sliding_max<double>(size, 33);
  for (const std::int64_t window : {3, 21}) add_volume<float>(640, window);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
