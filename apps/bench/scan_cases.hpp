// What the scan cases share: their names, their values, and the check of a timed result.
#pragma once

#include "bench/bench.hpp"

#include <spargo/primitives/scan.hpp>

#include <bit>
#include <stdexcept>

namespace spargo::bench {

enum class scan_direction { exclusive, inclusive };

template <class T>
inline constexpr const char* scan_type = std::same_as<T, std::int32_t>   ? "int32"
                                         : std::same_as<T, std::int64_t> ? "int64"
                                         : std::same_as<T, float>        ? "float"
                                                                         : "double";

// scan/inclusive/int32/2^28/BACKEND/ for a power of two.
template <class T>
std::string scan_group(scan_direction direction, std::int64_t size, const std::string& backend) {
  const auto exponent = std::bit_width(static_cast<std::uint64_t>(size)) - 1;
  return std::string("scan/") + (direction == scan_direction::inclusive ? "inclusive/" : "exclusive/") + scan_type<T> +
         "/2^" + std::to_string(exponent) + "/" + backend + "/";
}

// Small whole numbers whose sums are exact in every type and any order: they cancel in pairs, 1..4 and -1..-4.
template <class T>
T scan_value(std::int64_t i) {
  const auto height = static_cast<T>(1 + (i >> 1) % 4);
  return i % 2 == 0 ? height : static_cast<T>(-height);
}

// The sum of the values before `i`.
template <class T>
T scan_before(std::int64_t i) {
  return i % 2 == 0 ? T{0} : scan_value<T>(i - 1);
}

template <class T>
void expect_scanned(scan_direction direction, const T* out, std::int64_t first, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T wanted = scan_before<T>(first + i + (direction == scan_direction::inclusive ? 1 : 0));
    if (out[i] != wanted) throw wrong_result("wrong at element " + std::to_string(first + i));
  }
}

// Every element read once and written once.
template <class T>
void report_scan(benchmark::State& state, std::int64_t size, double seconds, const char* ceiling, double rate) {
  const double bytes = 2.0 * sizeof(T) * static_cast<double>(size);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[ceiling] = bytes / seconds / rate;
}

}  // namespace spargo::bench
