// Convolution on the device: every rung. Times are CUDA events around one call with a flushed L2 cache. of_limit:
// relative to the roofline max(bytes / rate of a copy in this run, operations / 60 TFLOP/s; 30 for double).
#include "bench/convolve_device.hpp"

#include "primitives/convolve/algorithms.hpp"

namespace spargo::bench {

namespace {

using enum convolve_algorithm;

template <class T>
void add_image(std::int64_t side, std::int64_t width) {
  const std::string group = convolve_group(type_name<T>, side, side, width, "");
  for (const auto algorithm : detail::convolve::algorithms_for<device>(width)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      const convolve_case<T> c{side, side, width, random_filter<T>(width, width)};
      auto& data = cached<convolve_data<T>>(side * side);
      return measure_convolution(state, c, data, [&] {
        convolve<T, device>(device_context(), {side, side, side, data.in.view()}, c.filter,
                            {side, side, side, data.out.view()}, {.algorithm = algorithm});
      });
    });
  }
}

template <class T>
void add_separable(std::int64_t side, std::int64_t width) {
  const std::string group = convolve_group(type_name<T>, side, side, width, "-rank1");
  for (const auto algorithm : {register_tiled, separable, automatic}) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      const convolve_case<T> c{side, side, width, outer_filter<T>(width)};
      auto& data = cached<convolve_data<T>>(side * side);
      return measure_convolution(state, c, data, [&] {
        convolve<T, device>(device_context(), {side, side, side, data.in.view()}, c.filter,
                            {side, side, side, data.out.view()}, {.algorithm = algorithm});
      });
    });
  }
}

template <class T>
void add_line(std::int64_t size, std::int64_t width) {
  const std::string group = convolve_group(type_name<T>, 1, size, width, "");
  for (const auto algorithm : detail::convolve::algorithms_for<device>(width)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      const convolve_case<T> c{1, size, width, random_filter<T>(1, width)};
      auto& data = cached<convolve_data<T>>(size);
      return measure_convolution(state, c, data, [&] {
        convolve<T, device>(device_context(), data.in.view(), c.filter, data.out.view(), {.algorithm = algorithm});
      });
    });
  }
}

void add_all() {
  if (!current_settings().device) return;
  for (const std::int64_t width : {3, 5, 7, 11, 15}) add_image<float>(8192, width);
  for (const std::int64_t width : {3, 7, 15}) add_separable<float>(8192, width);
  for (const std::int64_t width : {3, 7, 15}) add_image<double>(8192, width);
  for (const std::int64_t width : {3, 5, 7, 9, 11, 15}) add_line<float>(std::int64_t{1} << 28, width);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
