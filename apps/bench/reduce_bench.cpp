// Reductions on the host: against the rate of a triad of the same run.
#include "bench/host_timing.hpp"

#include <spargo/primitives/reduce.hpp>

#include <cmath>
#include <memory>
#include <numeric>

namespace spargo::bench {

namespace {

constexpr std::int64_t size = std::int64_t{1} << 27;

template <class T>
struct host_ranges {
  huge_page_array<T> a{size};
  huge_page_array<T> b{size};

  host_ranges() {
    const std::int64_t n = size;
#pragma omp parallel for num_threads(host_threads()) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) {
      a[i] = static_cast<T>(i % 1000);
      b[i] = static_cast<T>(i % 7);
    }
  }
  static host_ranges& of() {
    static host_ranges kept;
    return kept;
  }
};

template <class Run>
double measure(benchmark::State& state, double bytes, Run&& run) {
  const double seconds = median_seconds(run);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_triad] = bytes / seconds / host_triad_rate(host_threads());
  return seconds;
}

template <class T>
void add_type(const std::string& type) {
  const double bytes = static_cast<double>(size) * sizeof(T);
  for (const auto op : {operation::sum, operation::max}) {
    const std::string group = "reduce/" + std::string(to_string(op)) + "/" + type + "/2^27/cpu/";
    add_case(group + "automatic", [=](benchmark::State& state) {
      const context<host> ctx({.threads = current_settings().threads});
      auto& ranges = host_ranges<T>::of();
      T result{};
      return measure(state, bytes,
                     [&] { benchmark::DoNotOptimize(result = reduce<T, host>(ctx, ranges.a.view(), op)); });
    });
  }
  add_case("reduce/sum/" + type + "/2^27/cpu/std::accumulate", [=](benchmark::State& state) {
    auto& ranges = host_ranges<T>::of();
    state.counters[is_peer] = 1;
    T result{};
    return measure(state, bytes, [&] {
      benchmark::DoNotOptimize(result = std::accumulate(ranges.a.data(), ranges.a.data() + size, T{}));
    });
  });
  add_case("reduce/dot/" + type + "/2^27/cpu/automatic", [=](benchmark::State& state) {
    const context<host> ctx({.threads = current_settings().threads});
    auto& ranges = host_ranges<T>::of();
    T result{};
    return measure(state, 2 * bytes,
                   [&] { benchmark::DoNotOptimize(result = dot<T, host>(ctx, ranges.a.view(), ranges.b.view())); });
  });
}

void add_all() {
  if (!current_settings().host) return;
  add_type<float>("float");
  add_type<double>("double");
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
