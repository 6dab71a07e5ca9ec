// Scans on the host, every algorithm, relative to a triad in the same run.
#include "bench/host_timing.hpp"
#include "bench/scan_cases.hpp"

#include "primitives/scan/algorithms.hpp"

#include <numeric>

namespace spargo::bench {

namespace {

template <class T>
struct host_problem {
  huge_page_array<T> in;
  huge_page_array<T> out;

  explicit host_problem(std::int64_t size) : in(size), out(size) {
    for (std::int64_t i = 0; i < size; ++i) {
      in[i] = whole_number<T>(i);
    }
    poison(out.view());
  }
};

template <class T, class Run>
double measure(benchmark::State& state, scan_direction direction, std::int64_t size, Run&& run) {
  const double triad = host_triad_rate(host_threads());
  host_problem<T> p(size);
  const double seconds = median_seconds([&] { run(p); }, size > 1000000 ? 9 : 101, 2);
  scan_checker<T>(direction).expect(std::as_const(p.out).view());
  report_scan<T>(state, size, seconds, fraction_of_triad, triad);
  return seconds;
}

template <class T>
void add_type(scan_direction direction, std::int64_t size) {
  const std::string group = scan_group<T>(direction, size, "cpu");
  for (const auto algorithm : detail::algorithms_on<host>(detail::scan::algorithms)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      const context<host> ctx({.threads = host_threads()});
      return measure<T>(state, direction, size, [&](host_problem<T>& p) {
        const auto in = std::as_const(p.in).view();
        if (direction == scan_direction::inclusive) {
          inclusive_scan<T, host>(ctx, in, p.out.view(), operation::sum, {.algorithm = algorithm});
        } else {
          exclusive_scan<T, host>(ctx, in, p.out.view(), operation::sum, {.algorithm = algorithm});
        }
      });
    });
  }
  add_peer_of(1, group + "std", [=](benchmark::State& state) {
    return measure<T>(state, direction, size, [&](host_problem<T>& p) {
      if (direction == scan_direction::inclusive) {
        std::inclusive_scan(p.in.data(), p.in.data() + size, p.out.data());
      } else {
        std::exclusive_scan(p.in.data(), p.in.data() + size, p.out.data(), T{0});
      }
    });
  });
}

const registration here{[] {
  if (!current_settings().host) return;
  for (const std::int64_t size : {std::int64_t{1} << 16, std::int64_t{1} << 26}) {
    for (const auto direction : {scan_direction::inclusive, scan_direction::exclusive}) {
      add_type<std::int32_t>(direction, size);
      add_type<float>(direction, size);
    }
    add_type<std::int64_t>(scan_direction::exclusive, size);
    add_type<double>(scan_direction::inclusive, size);
  }
}};

}  // namespace

}  // namespace spargo::bench
