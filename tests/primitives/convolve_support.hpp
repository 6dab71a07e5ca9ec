// Shared by the convolution tests: inputs and outputs in any space with guard margins, plain sums, error bounds.
#pragma once

#include "primitives/convolve/algorithms.hpp"
#include "support/device.hpp"

#include <spargo/primitives/convolve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace spargo::test {

using enum convolve_algorithm;

using detail::convolve::algorithms_for;

template <class T>
std::vector<T> random_values(std::int64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) v = static_cast<T>(static_cast<double>(random() % 2000001) / 1000000.0 - 1.0);
  return values;
}

// Memory of `Space` with a margin on both sides that must not be accessed.
inline constexpr std::int64_t margin = 16;

template <class T>
std::vector<T> poisoned(std::int64_t size) {
  std::vector<T> values(static_cast<std::size_t>(size));
  std::memset(values.data(), 0xff, values.size() * sizeof(T));  // NaN in every element
  return values;
}

template <class T>
array<T, host> here(const context<host>& ctx, const std::vector<T>& v) {
  return clone(ctx, span<const T, host>(v));
}
template <class T>
array<T, device> here(const context<device>& ctx, const std::vector<T>& v) {
  return to_device(ctx, span<const T, host>(v));
}
template <class T>
std::vector<T> back(const context<host>&, const array<T, host>& a) {
  return {a.begin(), a.end()};
}
template <class T>
std::vector<T> back(const context<device>& ctx, const array<T, device>& a) {
  const auto values = to_host(ctx, a.view());
  return {values.begin(), values.end()};
}

struct layout {
  std::int64_t rows, cols;
  std::int64_t in_gap = 0, out_gap = 0;        // pitch beyond the columns
  std::int64_t in_offset = 0, out_offset = 0;  // elements past an aligned address
};

inline std::ostream& operator<<(std::ostream& out, const layout& l) {
  return out << l.rows << " x " << l.cols << ", gaps " << l.in_gap << ", " << l.out_gap << ", offsets " << l.in_offset
             << ", " << l.out_offset;
}

template <class T>
bool is_poison(T value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return std::all_of(bytes, bytes + sizeof(T), [](unsigned char b) { return b == 0xff; });
}

// The rows * cols outputs for an input of rows * cols, laid out by `l`. Input gaps and margins hold NaN, which must not
// be read; output gaps and margins must stay unchanged.
template <class T, class Space>
std::vector<T> convolved(const context<Space>& ctx, const std::vector<T>& in, const std::vector<T>& filter,
                         const layout& l, const convolve_options& options) {
  const std::int64_t in_pitch = l.cols + l.in_gap;
  const std::int64_t out_pitch = l.cols + l.out_gap;
  auto in_memory = poisoned<T>(2 * margin + l.in_offset + l.rows * in_pitch);
  for (std::int64_t i = 0; i < l.rows; ++i) {
    for (std::int64_t j = 0; j < l.cols; ++j) {
      in_memory[static_cast<std::size_t>(margin + l.in_offset + i * in_pitch + j)] =
          in[static_cast<std::size_t>(i * l.cols + j)];
    }
  }
  const auto from = here(ctx, in_memory);
  auto to = here(ctx, poisoned<T>(2 * margin + l.out_offset + l.rows * out_pitch));
  const auto extent = [&](std::int64_t pitch) { return l.rows * l.cols == 0 ? 0 : (l.rows - 1) * pitch + l.cols; };
  const auto from_span = from.view().subspan(margin + l.in_offset, extent(in_pitch));
  const auto to_span = to.view().subspan(margin + l.out_offset, extent(out_pitch));
  convolve<T, Space>(ctx, {l.rows, l.cols, in_pitch, from_span}, filter, {l.rows, l.cols, out_pitch, to_span}, options);
  auto memory = back(ctx, to);
  std::vector<T> out;
  for (std::int64_t i = 0; i < l.rows; ++i) {
    for (std::int64_t j = 0; j < l.cols; ++j) {
      T& value = memory[static_cast<std::size_t>(margin + l.out_offset + i * out_pitch + j)];
      out.push_back(value);
      std::memset(&value, 0xff, sizeof(T));
    }
  }
  EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), is_poison<T>)) << "written outside of the output: " << l;
  return out;
}

// The same for lines.
template <class T, class Space>
std::vector<T> convolved_line(const context<Space>& ctx, const std::vector<T>& in, const std::vector<T>& filter,
                              convolve_algorithm algorithm, std::int64_t in_offset = 0, std::int64_t out_offset = 0) {
  const auto size = static_cast<std::int64_t>(in.size());
  auto in_memory = poisoned<T>(2 * margin + in_offset + size);
  std::copy(in.begin(), in.end(), in_memory.begin() + margin + in_offset);
  const auto from = here(ctx, in_memory);
  auto to = here(ctx, poisoned<T>(2 * margin + out_offset + size));
  convolve<T, Space>(ctx, from.view().subspan(margin + in_offset, size), filter,
                     to.view().subspan(margin + out_offset, size), {.algorithm = algorithm});
  auto memory = back(ctx, to);
  const auto first = memory.begin() + margin + out_offset;
  std::vector<T> out(first, first + size);
  memory.erase(first, first + size);
  EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), is_poison<T>)) << "written outside of a line of " << size;
  return out;
}

struct reference {
  std::vector<long double> sum;
  std::vector<long double> magnitude;  // of the sum's terms
};

// By the definition; a line is an image of one row with a one-row filter.
template <class T>
reference expected(const std::vector<T>& in, std::int64_t rows, std::int64_t cols, const std::vector<T>& filter,
                   std::int64_t down, std::int64_t across) {
  reference r;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      long double sum = 0;
      long double magnitude = 0;
      for (std::int64_t y = std::max<std::int64_t>(0, i - down / 2); y <= std::min(rows - 1, i + down / 2); ++y) {
        for (std::int64_t x = std::max<std::int64_t>(0, j - across / 2); x <= std::min(cols - 1, j + across / 2); ++x) {
          const long double term =
              static_cast<long double>(in[static_cast<std::size_t>(y * cols + x)]) *
              static_cast<long double>(
                  filter[static_cast<std::size_t>((y - i + down / 2) * across + x - j + across / 2)]);
          sum += term;
          magnitude += std::abs(term);
        }
      }
      r.sum.push_back(sum);
      r.magnitude.push_back(magnitude);
    }
  }
  return r;
}

template <class T>
inline constexpr long double unit = static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2;

// Within factor * magnitude of the reference; NaN fails.
template <class T>
void expect_near(const std::vector<T>& got, const reference& r, long double factor, const std::string& what) {
  ASSERT_EQ(got.size(), r.sum.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const long double error = std::abs(static_cast<long double>(got[i]) - r.sum[i]);
    ASSERT_LE(error, factor * r.magnitude[i]) << what << ": element " << i << " is " << got[i] << ", not " << r.sum[i];
  }
}

template <class T>
long double plain_bound(std::size_t products) {
  const long double nu = static_cast<long double>(products) * unit<T>;
  return nu / (1 - nu);
}

}  // namespace spargo::test
