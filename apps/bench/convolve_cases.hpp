// Shared by the convolution benchmarks: reproducible filters, and limits.
#pragma once

#include "bench/bench.hpp"
#include "bench/references.hpp"

#include <spargo/primitives/convolve.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace spargo::bench {

template <class T>
constexpr const char* type_name = std::same_as<T, float> ? "float" : "double";

// `rows` x `cols` taps: random, or of rank 1.
template <class T>
std::vector<T> random_filter(std::int64_t rows, std::int64_t cols) {
  std::mt19937_64 random(1);
  std::vector<T> filter(static_cast<std::size_t>(rows * cols));
  for (T& tap : filter) tap = static_cast<T>(static_cast<double>(random() % 2001) / 1000.0 - 1.0);
  return filter;
}
template <class T>
std::vector<T> outer_filter(std::int64_t width) {
  std::vector<T> filter;
  for (std::int64_t s = 0; s < width; ++s) {
    for (std::int64_t t = 0; t < width; ++t) filter.push_back(static_cast<T>((1 + s) * (2 + t)) / T{64});
  }
  return filter;
}

// Roofline time for a copy rate and an arithmetic rate.
constexpr double arithmetic_limit = 60e12;  // float multiply-adds per second on an H200, counted as 2 operations
inline double convolve_limit(double bytes, double operations, double copy_rate, double operation_rate) {
  return std::max(bytes / copy_rate, operations / operation_rate);
}

// A shape with its filter; a 1-D case has one row and a one-row filter.
template <class T>
struct convolve_case {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t width;
  std::vector<T> filter;

  [[nodiscard]] std::int64_t down() const { return rows == 1 ? 1 : width; }
  [[nodiscard]] double bytes() const { return 2.0 * static_cast<double>(rows * cols) * sizeof(T); }
  [[nodiscard]] double operations() const { return 2.0 * static_cast<double>(rows * cols * down() * width); }
};

}  // namespace spargo::bench
