// Convolution on the host: every rung.
#include "bench/convolve_cases.hpp"

#include "primitives/convolve/algorithms.hpp"

namespace spargo::bench {

namespace {

using enum convolve_algorithm;

template <class T>
double measure(benchmark::State& state, const convolve_case<T>& c, convolve_algorithm algorithm) {
  const context<host> ctx({.threads = current_settings().threads});
  const std::int64_t size = c.rows * c.cols;
  array<T, host> in(ctx, size);
  array<T, host> out(ctx, size);
  for (std::int64_t i = 0; i < size; ++i) in[i] = random_input<T>(i);
  poison(out.view());
  const auto run = [&] {
    if (c.rows == 1) {
      convolve<T, host>(ctx, in.view(), c.filter, out.view(), {.algorithm = algorithm});
    } else {
      convolve<T, host>(ctx, {c.rows, c.cols, c.cols, in.view()}, c.filter, {c.rows, c.cols, c.cols, out.view()},
                        {.algorithm = algorithm});
    }
  };
  const double seconds = median_seconds(run, algorithm == naive ? 3 : 11, 1);
  expect_convolved<T>(c.rows, c.cols, c.filter, c.down(), c.width, std::as_const(out).view());
  state.counters[gbytes_per_second] = c.bytes() / seconds * 1e-9;
  state.counters[gflops] = c.operations() / seconds * 1e-9;
  return seconds;
}

template <class T>
void add(const std::string& name, const convolve_case<T>& c, const std::vector<convolve_algorithm>& algorithms) {
  for (const auto algorithm : algorithms) {
    add_case("convolve/" + name + "/cpu/" + std::string(to_string(algorithm)),
             [=](benchmark::State& state) { return measure(state, c, algorithm); });
  }
}

template <class T>
void add_type() {
  const std::string type = type_name<T>;
  for (const std::int64_t width : {3, 7, 15}) {
    const std::string image = "2d/" + type + "/2048x2048/K" + std::to_string(width);
    add<T>(image, {2048, 2048, width, random_filter<T>(width, width)}, detail::convolve::algorithms_for<host>(width));
    add<T>(image + "-rank1", {2048, 2048, width, outer_filter<T>(width)}, {register_tiled, separable, automatic});
    add<T>("1d/" + type + "/2^24/K" + std::to_string(width),
           {1, std::int64_t{1} << 24, width, random_filter<T>(1, width)},
           detail::convolve::algorithms_for<host>(width));
  }
}

void add_all() {
  if (!current_settings().host) return;
  add_type<float>();
  add_type<double>();
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
