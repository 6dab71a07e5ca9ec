// What the stencil benchmarks share: inputs that any file can compute again, and checks of a few outputs against plain
// loops.
#pragma once

#include "bench/bench.hpp"

#include <spargo/primitives/jacobi.hpp>
#include <spargo/primitives/sliding_max.hpp>
#include <spargo/primitives/stencil.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace spargo::bench {

template <class T>
constexpr const char* stencil_type = std::same_as<T, float> ? "float" : "double";

// A value in [-1, 1) from the element's number alone.
template <class T>
T stencil_input(std::int64_t i) {
  auto x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9U;
  return static_cast<T>(static_cast<double>(x >> 40) / static_cast<double>(1 << 23) - 1.0);
}

inline void expect_output(bool is_right, const std::string& what, std::int64_t at) {
  if (!is_right) throw wrong_result(what + ": wrong output at " + std::to_string(at));
}

// f(i) for a thousand places of [0, size), the ends among them.
template <class F>
void for_samples(std::int64_t size, F&& f) {
  const std::int64_t samples = std::min<std::int64_t>(size, 1000);
  for (std::int64_t k = 0; k < samples; ++k) f(samples == 1 ? 0 : (size - 1) / (samples - 1) * k);
  f(size - 1);
}

// Throws where an output is not the average over its window of `stencil_input`; at(i) is output i.
template <class T, class At>
void expect_window_averages(std::int64_t size, std::int64_t radius, At&& at) {
  for_samples(size, [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t j = std::max<std::int64_t>(0, i - radius); j < std::min(size, i + radius + 1); ++j) {
      sum += static_cast<double>(stencil_input<T>(j));
    }
    const double width = 2.0 * static_cast<double>(radius) + 1;
    const double bound = (width + 2) * static_cast<double>(std::numeric_limits<T>::epsilon());
    expect_output(std::abs(static_cast<double>(at(i)) - sum / width) <= bound, "window_average", i);
  });
}

template <class T, class At>
void expect_window_maxima(std::int64_t size, std::int64_t window, At&& at) {
  for_samples(size, [&](std::int64_t i) {
    T largest = stencil_input<T>(i);
    for (std::int64_t j = i; j < std::min(size, i + window); ++j) largest = std::max(largest, stencil_input<T>(j));
    expect_output(at(i) == largest, "sliding_max", i);
  });
}

// A square of `side`.
template <class T, class At>
void expect_five_point_averages(std::int64_t side, At&& at) {
  const auto in = [&](std::int64_t r, std::int64_t c) { return stencil_input<T>(r * side + c); };
  for_samples(side * side, [&](std::int64_t i) {
    const std::int64_t r = i / side;
    const std::int64_t c = i % side;
    T want = in(r, c);
    if (r > 0 && c > 0 && r + 1 < side && c + 1 < side) {
      want = (((in(r, c - 1) + in(r, c + 1)) + (in(r - 1, c) + in(r + 1, c))) + in(r, c)) * static_cast<T>(0.2);
    }
    expect_output(at(i) == want, "five_point_average", i);
  });
}

// A square of `side` after `sweeps` from `stencil_input`, in the 20 x 20 cells at its middle and at its corner.
template <class T, class At>
void expect_jacobi(std::int64_t side, std::int64_t sweeps, At&& at) {
  const std::int64_t wide = 20;
  for (const std::int64_t corner : {std::int64_t{0}, side / 2}) {
    const std::int64_t first = std::max<std::int64_t>(0, corner - sweeps);  // of cells that have a say
    const std::int64_t count = std::min(side, corner + wide + sweeps) - first;
    std::vector<T> u(static_cast<std::size_t>(count * count));
    for (std::int64_t k = 0; k < count * count; ++k) {
      u[static_cast<std::size_t>(k)] = stencil_input<T>((first + k / count) * side + first + k % count);
    }
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
      const auto old = u;
      for (std::int64_t r = 1; r + 1 < count; ++r) {
        for (std::int64_t c = 1; c + 1 < count; ++c) {
          const auto k = static_cast<std::size_t>(r * count + c);
          const auto down = static_cast<std::size_t>(count);
          u[k] = ((old[k - 1] + old[k + 1]) + (old[k - down] + old[k + down])) * static_cast<T>(0.25);
        }
      }
    }
    for (std::int64_t k = 0; k < wide * wide; ++k) {
      const std::int64_t r = corner + k / wide;
      const std::int64_t c = corner + k % wide;
      expect_output(at(r * side + c) == u[static_cast<std::size_t>((r - first) * count + c - first)], "jacobi",
                    r * side + c);
    }
  }
}

}  // namespace spargo::bench
