// Arrays and timing of a device scan case.
#pragma once

#include "bench/check_device.hpp"
#include "bench/scan_cases.hpp"

#include <vector>

namespace spargo::bench {

// Chunk size for filling and checking on the host.
inline constexpr std::int64_t scan_chunk = std::int64_t{1} << 22;

template <class T>
struct device_scan_problem {
  const context<device>& ctx = device_context();
  array<T, device> in;
  array<T, device> out;

  explicit device_scan_problem(std::int64_t size) : in(ctx, size), out(ctx, size) {
    std::vector<T> values(static_cast<std::size_t>(std::min(size, scan_chunk)));
    for (std::int64_t first = 0; first < size; first += scan_chunk) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = whole_number<T>(first + static_cast<std::int64_t>(i));
      }
      copy<T>(ctx, span<const T, host>(values), in.view().subspan(first, static_cast<std::int64_t>(values.size())));
      ctx.synchronize();  // the values are overwritten next
    }
    poison(ctx, out.view());
  }

  void expect_result(scan_direction direction) const {
    scan_checker<T> check(direction);
    std::vector<T> values(static_cast<std::size_t>(std::min(out.size(), scan_chunk)));
    for (std::int64_t first = 0; first < out.size(); first += scan_chunk) {
      copy<T>(ctx, out.view().subspan(first, static_cast<std::int64_t>(values.size())), span<T, host>(values));
      ctx.synchronize();
      check.expect(values);
    }
  }
};

// run(problem) scans its values; the result is checked once.
template <class T, class Run>
double measure_device_scan(benchmark::State& state, scan_direction direction, std::int64_t size, Run&& run) {
  device_scan_problem<T> p(size);
  const double seconds = device_seconds(
      p.ctx, [&] { run(p); }, 15);
  p.expect_result(direction);
  report_scan<T>(state, size, seconds, fraction_of_copy, device_copy_rate());
  return seconds;
}

// add(std::type_identity<T>(), direction, size) for each case: large sizes of every type, and launch-bound ones.
template <class Add>
void for_each_device_scan(Add&& add) {
  for (const auto direction : {scan_direction::inclusive, scan_direction::exclusive}) {
    add(std::type_identity<std::int32_t>(), direction, std::int64_t{1} << 28);
    add(std::type_identity<float>(), direction, std::int64_t{1} << 28);
  }
  add(std::type_identity<std::int64_t>(), scan_direction::exclusive, std::int64_t{1} << 27);
  add(std::type_identity<double>(), scan_direction::inclusive, std::int64_t{1} << 27);
  for (const int exponent : {10, 14, 18, 20, 22, 24}) {
    add(std::type_identity<std::int32_t>(), scan_direction::exclusive, std::int64_t{1} << exponent);
  }
}

}  // namespace spargo::bench
