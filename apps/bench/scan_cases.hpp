// Shared by the scan cases: names and reporting of times. They scan whole_number(0), (1), ...
#pragma once

#include "bench/bench.hpp"
#include "bench/references.hpp"

#include <spargo/primitives/scan.hpp>

#include <bit>

namespace spargo::bench {

template <class T>
inline constexpr const char* scan_type = std::same_as<T, std::int32_t>   ? "int32"
                                         : std::same_as<T, std::int64_t> ? "int64"
                                         : std::same_as<T, float>        ? "float"
                                                                         : "double";

template <class T>
std::string scan_group(scan_direction direction, std::int64_t size, const std::string& backend) {
  const auto exponent = std::bit_width(static_cast<std::uint64_t>(size)) - 1;
  return std::string("scan/") + (direction == scan_direction::inclusive ? "inclusive/" : "exclusive/") + scan_type<T> +
         "/2^" + std::to_string(exponent) + "/" + backend + "/";
}

// Counts one read and one write per element.
template <class T>
void report_scan(benchmark::State& state, std::int64_t size, double seconds, const char* ceiling, double rate) {
  const double bytes = 2.0 * sizeof(T) * static_cast<double>(size);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[ceiling] = bytes / seconds / rate;
}

}  // namespace spargo::bench
