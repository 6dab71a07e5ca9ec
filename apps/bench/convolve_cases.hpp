// What the convolution benchmarks share: inputs and filters that any file can compute again, limits, and checks.
#pragma once

#include "bench/bench.hpp"

#include <spargo/primitives/convolve.hpp>

#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace spargo::bench {

template <class T>
constexpr const char* type_name = std::same_as<T, float> ? "float" : "double";

// A value in [-1, 1) from the element's number alone.
template <class T>
T convolve_input(std::int64_t i) {
  auto x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9U;
  return static_cast<T>(static_cast<double>(x >> 40) / static_cast<double>(1 << 23) - 1.0);
}

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

// The least seconds at a rate of copying and one of arithmetic.
constexpr double arithmetic_limit = 60e12;  // float multiply-adds an H200 does a second, as 2 operations each
inline double convolve_limit(double bytes, double operations, double copy_rate, double operation_rate) {
  return std::max(bytes / copy_rate, operations / operation_rate);
}

// Throws where an output of rows x cols inputs `convolve_input` is not what it should be; at(i) is output i.
template <class T, class At>
void expect_convolved(std::int64_t rows, std::int64_t cols, const std::vector<T>& filter, std::int64_t down,
                      std::int64_t across, At&& at) {
  std::mt19937_64 random(2);
  for (int sample = 0; sample < 600; ++sample) {
    const std::int64_t size = rows * cols;
    const std::int64_t i = sample == 0   ? 0
                           : sample == 1 ? size - 1
                                         : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size));
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t s = 0; s < down; ++s) {
      for (std::int64_t t = 0; t < across; ++t) {
        const std::int64_t y = i / cols + s - down / 2;
        const std::int64_t x = i % cols + t - across / 2;
        if (y < 0 || y >= rows || x < 0 || x >= cols) continue;
        const double term = static_cast<double>(convolve_input<T>(y * cols + x)) *
                            static_cast<double>(filter[static_cast<std::size_t>(s * across + t)]);
        sum += term;
        magnitude += std::abs(term);
      }
    }
    const double bound =
        static_cast<double>(down * across + 8) * static_cast<double>(std::numeric_limits<T>::epsilon());
    if (!(std::abs(static_cast<double>(at(i)) - sum) <= bound * magnitude)) {
      throw wrong_result("output " + std::to_string(i) + " is " + std::to_string(at(i)) + ", not " +
                         std::to_string(sum));
    }
  }
}

// A shape with its filter; a line has one row and a filter of one.
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
