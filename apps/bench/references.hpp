// References for the dense cases: plain sequential code, independent of src/, over inputs that any file can recompute.
#pragma once

#include "bench/check.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spargo::bench {

// --- Inputs ----------------------------------------------------------------------------------------------------------

// 2^23 times input i: an integer in [-2^23, 2^23), so that sums of inputs are exact in int64.
SPARGO_HD inline std::int64_t scaled_input(std::int64_t i) {
  auto x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9U;
  return static_cast<std::int64_t>(x >> 40) - (std::int64_t{1} << 23);
}

// A value in [-1, 1), a function of the element's index.
template <class T>
SPARGO_HD T random_input(std::int64_t i) {
  return static_cast<T>(static_cast<double>(scaled_input(i)) / static_cast<double>(1 << 23));
}

// --- Reductions and scans --------------------------------------------------------------------------------------------

enum class scan_direction { exclusive, inclusive };

// The sum of whole_number(i, key) or, for two keys, of the products whole_number(i, k) * whole_number(i, l).
inline std::int64_t whole_sum(std::int64_t size, std::uint64_t key = 0) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += whole_number<std::int64_t>(i, key);
  return sum;
}
inline std::int64_t whole_dot(std::int64_t size, std::uint64_t left, std::uint64_t right) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    sum += whole_number<std::int64_t>(i, left) * whole_number<std::int64_t>(i, right);
  }
  return sum;
}

// Checks a scan of whole numbers, part by part from the first.
template <class T>
class scan_checker {
 public:
  explicit scan_checker(scan_direction direction) : direction_(direction) {}

  void expect(span<const T, host> out) {
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const std::int64_t before = sum_;
      sum_ += whole_number<std::int64_t>(next_);
      expect_equal("element", next_++, out[i], static_cast<T>(direction_ == scan_direction::inclusive ? sum_ : before));
    }
  }

 private:
  scan_direction direction_;
  std::int64_t next_ = 0;
  std::int64_t sum_ = 0;
};

// --- Convolution -----------------------------------------------------------------------------------------------------

template <class T>
void expect_convolved(std::int64_t rows, std::int64_t cols, const std::vector<T>& filter, std::int64_t down,
                      std::int64_t across, span<const T, host> out) {
  std::vector<double> in(static_cast<std::size_t>(down * cols));  // the rows needed at a time, as a ring buffer
  std::vector<double> sums(static_cast<std::size_t>(cols));
  std::vector<double> magnitudes(sums.size());
  const auto load = [&](std::int64_t y) {
    for (std::int64_t x = 0; y < rows && x < cols; ++x) {
      in[static_cast<std::size_t>(y % down * cols + x)] = static_cast<double>(random_input<T>(y * cols + x));
    }
  };
  for (std::int64_t y = 0; y < down / 2; ++y) load(y);
  for (std::int64_t y = 0; y < rows; ++y) {
    load(y + down / 2);
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(magnitudes.begin(), magnitudes.end(), 0.0);
    for (std::int64_t s = 0; s < down; ++s) {
      const std::int64_t from = y + s - down / 2;
      if (from < 0 || from >= rows) continue;
      for (std::int64_t t = 0; t < across; ++t) {
        const double tap = static_cast<double>(filter[static_cast<std::size_t>(s * across + t)]);
        const std::int64_t shift = t - across / 2;
        const double* const row = in.data() + from % down * cols + shift;
        const std::int64_t last = std::min(cols, cols - shift);
        for (std::int64_t x = std::max<std::int64_t>(0, -shift); x < last; ++x) {
          const double term = row[x] * tap;
          sums[static_cast<std::size_t>(x)] += term;
          magnitudes[static_cast<std::size_t>(x)] += std::abs(term);
        }
      }
    }
    for (std::int64_t x = 0; x < cols; ++x) {
      const auto at = static_cast<std::size_t>(x);
      expect_close("output", y * cols + x, out[y * cols + x],
                   {sums[at], rounding_bound<T>(static_cast<double>(down * across), magnitudes[at])});
    }
  }
}

// --- Stencils and windows --------------------------------------------------------------------------------------------

// Averages over up to 2 * radius + 1 inputs; the sums are exact.
template <class T>
void expect_window_averages(std::int64_t radius, span<const T, host> out) {
  const double width = 2.0 * static_cast<double>(radius) + 1;
  std::int64_t sum = 0;
  std::int64_t magnitude = 0;
  const auto take = [&](std::int64_t i, std::int64_t sign) {
    if (i < 0 || i >= out.size()) return;
    const std::int64_t value = scaled_input(i);
    sum += sign * value;
    magnitude += sign * std::abs(value);
  };
  for (std::int64_t i = 0; i < radius; ++i) take(i, 1);
  expect_all("window_average", out, [&](std::int64_t i) {
    take(i + radius, 1);
    take(i - radius - 1, -1);
    const double scale = width * static_cast<double>(1 << 23);
    return bounded{static_cast<double>(sum) / scale, rounding_bound<T>(width, static_cast<double>(magnitude) / scale)};
  });
}

// maxima[i] = the largest of up to `window` values values[i], values[i + stride], ... within `count`.
template <class T>
void slide_maximum(T* values, std::int64_t count, std::int64_t stride, std::int64_t window,
                   std::vector<std::pair<std::int64_t, T>>& falling) {
  falling.clear();  // positions to the right in order of decreasing values, nearest last; `first` drops out
  std::size_t first = 0;
  for (std::int64_t i = count - 1; i >= 0; --i) {
    const T value = values[i * stride];
    while (falling.size() > first && falling.back().second <= value) falling.pop_back();
    falling.emplace_back(i, value);
    while (falling[first].first >= i + window) ++first;
    values[i * stride] = falling[first].second;
  }
}

template <class T>
void expect_window_maxima(std::int64_t window, span<const T, host> out) {
  std::vector<T> right(static_cast<std::size_t>(out.size()));
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = random_input<T>(static_cast<std::int64_t>(i));
  std::vector<std::pair<std::int64_t, T>> falling;
  slide_maximum(right.data(), out.size(), 1, window, falling);
  expect_all("sliding_max", out, [&](std::int64_t i) { return right[static_cast<std::size_t>(i)]; });
}

// For a cube of `side` with cubic windows: along rows, then columns, then planes. Caches the last reference.
template <class T>
void expect_cube_maxima(std::int64_t side, std::int64_t window, span<const T, host> out) {
  static std::pair<std::int64_t, std::int64_t> kept;
  static std::vector<T> right;
  if (kept != std::pair(side, window)) {
    kept = {side, window};
    right.resize(static_cast<std::size_t>(side * side * side));
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = random_input<T>(static_cast<std::int64_t>(i));
    std::vector<std::pair<std::int64_t, T>> falling;
    for (const std::int64_t stride : {std::int64_t{1}, side, side * side}) {
      for (std::int64_t line = 0; line < side * side; ++line) {
        const std::int64_t start = line / stride * stride * side + line % stride;
        slide_maximum(right.data() + start, side, stride, window, falling);
      }
    }
  }
  expect_all("sliding_max", out, [&](std::int64_t i) { return right[static_cast<std::size_t>(i)]; });
}

// For a square of `side`.
template <class T>
void expect_five_point_averages(std::int64_t side, span<const T, host> out) {
  std::vector<T> in(static_cast<std::size_t>(3 * side));
  const auto load = [&](std::int64_t r) {
    for (std::int64_t c = 0; r < side && c < side; ++c) {
      in[static_cast<std::size_t>(r % 3 * side + c)] = random_input<T>(r * side + c);
    }
  };
  load(0);
  const auto at = [&](std::int64_t r, std::int64_t c) { return in[static_cast<std::size_t>(r % 3 * side + c)]; };
  for (std::int64_t r = 0; r < side; ++r) {
    load(r + 1);
    for (std::int64_t c = 0; c < side; ++c) {
      T want = at(r, c);
      if (r > 0 && c > 0 && r + 1 < side && c + 1 < side) {
        want = (((at(r, c - 1) + at(r, c + 1)) + (at(r - 1, c) + at(r + 1, c))) + want) * static_cast<T>(0.2);
      }
      expect_equal("five_point_average", r * side + c, out[r * side + c], want);
    }
  }
}

// For a square of `side` after `sweeps` from `random_input`. Caches the last reference.
template <class T>
void expect_jacobi(std::int64_t side, std::int64_t sweeps, span<const T, host> out) {
  static std::pair<std::int64_t, std::int64_t> kept;
  static std::vector<T> now;
  if (kept != std::pair(side, sweeps)) {
    kept = {side, sweeps};
    now.resize(static_cast<std::size_t>(side * side));
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = random_input<T>(static_cast<std::int64_t>(i));
    std::vector<T> next = now;
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
      for (std::int64_t r = 1; r + 1 < side; ++r) {
        const T* const row = now.data() + r * side;
        T* const to = next.data() + r * side;
        for (std::int64_t c = 1; c + 1 < side; ++c) {
          to[c] = ((row[c - 1] + row[c + 1]) + (row[c - side] + row[c + side])) * static_cast<T>(0.25);
        }
      }
      std::swap(now, next);
    }
  }
  expect_all("jacobi", out, [&](std::int64_t i) { return now[static_cast<std::size_t>(i)]; });
}

// --- Products --------------------------------------------------------------------------------------------------------

// C = A B of n x n, row-major. Caches the last reference, since all cases of a size have the same operands.
template <class T>
void expect_product(std::int64_t n, span<const T, host> a, span<const T, host> b, span<const T, host> c) {
  static std::int64_t kept = 0;
  static std::vector<double> sums, magnitudes;
  if (kept != n) {
    kept = n;
    sums.assign(static_cast<std::size_t>(n * n), 0.0);
    magnitudes.assign(sums.size(), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
      double* const sum = sums.data() + i * n;
      double* const magnitude = magnitudes.data() + i * n;
      for (std::int64_t l = 0; l < n; ++l) {
        const auto left = static_cast<double>(a[i * n + l]);
        const T* const row = b.data() + l * n;
        for (std::int64_t j = 0; j < n; ++j) {
          const double term = left * static_cast<double>(row[j]);
          sum[j] += term;
          magnitude[j] += std::abs(term);
        }
      }
    }
  }
  expect_all("product: element", c, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return bounded{sums[at], rounding_bound<T>(static_cast<double>(n), magnitudes[at])};
  });
}

// Rows of A x, or of A X for X and Y of k columns; x(i, j) is element (i, j) of X.
template <class V, class I, class X>
void expect_sparse_product(std::int64_t rows, std::int64_t k, const I* offsets, const I* indices, const V* values,
                           X&& x, span<const V, host> y) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const double length = static_cast<double>(offsets[row + 1] - offsets[row]);
    for (std::int64_t j = 0; j < k; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (I e = offsets[row]; e < offsets[row + 1]; ++e) {
        const double term = static_cast<double>(values[e]) * static_cast<double>(x(indices[e], j));
        sum += term;
        magnitude += std::abs(term);
      }
      expect_close("y: element", row * k + j, y[row * k + j], {sum, rounding_bound<V>(length, magnitude)});
    }
  }
}

}  // namespace spargo::bench
