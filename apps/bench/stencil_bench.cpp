// Stencils and windows on the host, relative to a triad, counting one read and write per element (and sweep).
#include "bench/cached.hpp"
#include "bench/host_timing.hpp"
#include "bench/stencil_cases.hpp"

#include "primitives/stencil/algorithms.hpp"

namespace spargo::bench {

namespace {

// Input and output of one size; the last ones are cached.
template <class T>
struct stencil_data {
  context<host> ctx{{.threads = current_settings().threads}};
  array<T, host> in;
  array<T, host> out;

  explicit stencil_data(std::int64_t size) : in(ctx, size), out(ctx, size) { refill(); }
  void refill() {
    for (std::int64_t i = 0; i < in.size(); ++i) in[i] = random_input<T>(i);
  }

  [[nodiscard]] span<const T, host> result() const { return out.view(); }

  // The output is poisoned.
  static stencil_data& of(std::int64_t size) {
    auto& kept = cached<stencil_data>(size);
    poison(kept.out.view());
    return kept;
  }
};

template <class T>
void report(benchmark::State& state, std::int64_t size, double seconds) {
  const double bytes = 2.0 * static_cast<double>(size) * sizeof(T);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_triad] = bytes / seconds / host_triad_rate(host_threads());
}

template <class T>
void add_average(std::int64_t side) {
  const std::string group = std::string("stencil/5-point/") + stencil_type<T> + "/" + std::to_string(side) + "^2/cpu/";
  for (const auto algorithm : detail::algorithms_on<host>(detail::stencil::five_point_algorithms)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(side * side);
      const double seconds = median_seconds(
          [&] {
            five_point_average<T, host>(data.ctx, {side, side, side, data.in.view()},
                                        {side, side, side, data.out.view()}, {.algorithm = algorithm});
          },
          11, 1);
      expect_five_point_averages<T>(side, data.result());
      report<T>(state, side * side, seconds);
      return seconds;
    });
  }
}

template <class T>
void add_jacobi(std::int64_t side) {
  const std::string group = std::string("stencil/jacobi/") + stencil_type<T> + "/" + std::to_string(side) + "^2/cpu/";
  for (const auto algorithm : detail::algorithms_on<host>(detail::stencil::jacobi_algorithms)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(side * side);
      const auto sweeps = [&](std::int64_t count) {
        const jacobi_options options{
            .algorithm = algorithm, .tolerance = 0, .max_iterations = count, .check_every = count};
        static_cast<void>(jacobi<T, host>(data.ctx, {side, side, side, data.in.view()}, options));
      };
      const double few = median_seconds([&] { sweeps(9); }, 5, 1);
      const double many = median_seconds([&] { sweeps(9 + 16); }, 5, 1);
      const double seconds = (many - few) / 16;
      data.refill();
      sweeps(9);  // repeats the timed code from known values
      expect_jacobi<T>(side, 9, std::as_const(data.in).view());
      data.refill();
      report<T>(state, side * side, seconds);
      return seconds;
    });
  }
}

template <class T>
void add_lines(std::int64_t size, std::int64_t radius) {
  const std::string average =
      std::string("stencil/window_average/") + stencil_type<T> + "/2^24/r" + std::to_string(radius) + "/cpu/";
  for (const auto algorithm : detail::algorithms_on<host>(detail::stencil::window_average_algorithms)) {
    add_case(average + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(size);
      const double seconds = median_seconds(
          [&] { window_average<T, host>(data.ctx, data.in.view(), radius, data.out.view(), {.algorithm = algorithm}); },
          radius > 64 ? 3 : 7, 1);
      expect_window_averages<T>(radius, data.result());
      report<T>(state, size, seconds);
      return seconds;
    });
  }
  const std::int64_t window = 2 * radius + 1;
  const std::string maximum =
      std::string("stencil/sliding_max/") + stencil_type<T> + "/2^24/w" + std::to_string(window) + "/cpu/";
  for (const auto algorithm : detail::algorithms_on<host>(detail::stencil::sliding_max_algorithms)) {
    add_case(maximum + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& data = stencil_data<T>::of(size);
      const double seconds = median_seconds(
          [&] { sliding_max<T, host>(data.ctx, data.in.view(), window, data.out.view(), {.algorithm = algorithm}); },
          radius > 64 ? 3 : 7, 1);
      expect_window_maxima<T>(window, data.result());
      report<T>(state, size, seconds);
      return seconds;
    });
  }
}

void add_all() {
  if (!current_settings().host) return;
  add_average<float>(8192);
  add_average<double>(4096);
  add_jacobi<float>(8192);
  add_jacobi<double>(4096);
  for (const std::int64_t radius : {1, 2, 4, 8, 16, 32, 128}) add_lines<float>(std::int64_t{1} << 24, radius);
  add_lines<double>(std::int64_t{1} << 24, 8);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
