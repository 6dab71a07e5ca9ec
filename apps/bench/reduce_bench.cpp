// Reductions on the host, relative to a triad in the same run.
#include "bench/host_timing.hpp"
#include "bench/references.hpp"

#include "primitives/reduce/algorithms.hpp"

#include <spargo/primitives/reduce.hpp>

#include <numeric>

namespace spargo::bench {

namespace {

constexpr std::int64_t size = std::int64_t{1} << 27;

// Position and value of the unique maximum.
constexpr std::int64_t largest_at = size / 3 * 2;
constexpr int largest = 9;

template <class T>
struct host_ranges {
  huge_page_array<T> a{size};
  huge_page_array<T> b{size};

  host_ranges() {
    const std::int64_t n = size;
#pragma omp parallel for num_threads(host_threads()) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) {
      a[i] = whole_number<T>(i);
      b[i] = whole_number<T>(i, 1);
    }
    a[largest_at] = largest;
  }
  static host_ranges& of() {
    static host_ranges kept;
    return kept;
  }
};

std::int64_t expected_sum() {
  static const std::int64_t sum = whole_sum(size) - whole_number<int>(largest_at) + largest;
  return sum;
}
std::int64_t expected_dot() {
  static const std::int64_t sum =
      whole_dot(size, 0, 1) + (largest - whole_number<int>(largest_at)) * whole_number<int>(largest_at, 1);
  return sum;
}

// run(result) stores its result.
template <class T, class Run>
double measure(benchmark::State& state, double bytes, std::int64_t expected, Run&& run) {
  T result{};
  poison(span<T, host>(&result, 1));
  const double seconds = median_seconds([&] {
    run(result);
    benchmark::DoNotOptimize(&result);  // with the value itself, version 1.7 with GCC loses the result
  });
  expect_equal("the result", 0, result, static_cast<T>(expected));
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_triad] = bytes / seconds / host_triad_rate(host_threads());
  return seconds;
}

template <class T>
void add_type(const std::string& type) {
  const double bytes = static_cast<double>(size) * sizeof(T);
  for (const auto op : {operation::sum, operation::max}) {
    const std::string group = "reduce/" + std::string(to_string(op)) + "/" + type + "/2^27/cpu/";
    for (const auto algorithm : detail::algorithms_on<host>(detail::reduce::algorithms)) {
      add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
        const context<host> ctx({.threads = current_settings().threads});
        auto& ranges = host_ranges<T>::of();
        return measure<T>(state, bytes, op == operation::sum ? expected_sum() : largest, [&](T& result) {
          result = reduce<T, host>(ctx, ranges.a.view(), op, {.algorithm = algorithm});
        });
      });
    }
  }
  add_peer_of(1, "reduce/sum/" + type + "/2^27/cpu/std::accumulate", [=](benchmark::State& state) {
    auto& ranges = host_ranges<T>::of();
    return measure<T>(state, bytes, expected_sum(),
                      [&](T& result) { result = std::accumulate(ranges.a.data(), ranges.a.data() + size, T{}); });
  });
  add_case("reduce/dot/" + type + "/2^27/cpu/automatic", [=](benchmark::State& state) {
    const context<host> ctx({.threads = current_settings().threads});
    auto& ranges = host_ranges<T>::of();
    return measure<T>(state, 2 * bytes, expected_dot(),
                      [&](T& result) { result = dot<T, host>(ctx, ranges.a.view(), ranges.b.view()); });
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
