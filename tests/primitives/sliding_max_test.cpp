// Sliding maxima of lines and volumes against loops over every window, exactly, on every backend.
#include "primitives/expect_error.hpp"
#include "primitives/stencil/algorithms.hpp"
#include "primitives/stencil/sliding_max_backend.hpp"
#include "support/device.hpp"
#include "support/rounds.hpp"

#include <spargo/primitives/sliding_max.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

using enum sliding_max_algorithm;

const std::vector<std::int64_t> sizes = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 10007};
const std::vector<std::int64_t> windows = {1,   2,   3,   7,   8,   9,    15,   16,   17,   31,  32,
                                           33,  63,  64,  65,  127, 128,  129,  255,  256,  257, 511,
                                           512, 513, 514, 768, 769, 1024, 1025, 3000, 50000};

// All negative, to detect a maximum that starts from 0.
template <class T>
std::vector<T> random_values(std::int64_t size) {
  std::mt19937 random(static_cast<unsigned>(size) + 3);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) v = -1 - static_cast<T>(random() % 1000003) / static_cast<T>(64);
  return values;
}

// The larger, or NaN if one of them is.
template <class T>
T larger(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  return std::max(a, b);
}

template <class T>
std::vector<T> every_window(const std::vector<T>& in, std::int64_t window) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<T> out(in.size());
  for (std::int64_t i = 0; i < n; ++i) {
    T largest = in[static_cast<std::size_t>(i)];
    for (std::int64_t j = i + 1; j < std::min(n, i + window); ++j) {
      largest = larger(largest, in[static_cast<std::size_t>(j)]);
    }
    out[static_cast<std::size_t>(i)] = largest;
  }
  return out;
}

template <class T>
std::vector<T> every_window(const std::vector<T>& in, const volume_shape& shape, const volume_shape& window) {
  std::vector<T> out(in.size());
  const auto at = [&](std::int64_t p, std::int64_t r, std::int64_t c) {
    return static_cast<std::size_t>((p * shape.rows + r) * shape.cols + c);
  };
  for (std::int64_t p = 0; p < shape.planes; ++p) {
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      for (std::int64_t c = 0; c < shape.cols; ++c) {
        T largest = in[at(p, r, c)];
        for (std::int64_t a = p; a < std::min(shape.planes, p + window.planes); ++a) {
          for (std::int64_t b = r; b < std::min(shape.rows, r + window.rows); ++b) {
            for (std::int64_t d = c; d < std::min(shape.cols, c + window.cols); ++d) {
              largest = larger(largest, in[at(a, b, d)]);
            }
          }
        }
        out[at(p, r, c)] = largest;
      }
    }
  }
  return out;
}

template <class T>
void expect_same(const std::vector<T>& want, const T* got, const std::string& what) {
  for (std::size_t k = 0; k < want.size(); ++k) {
    ASSERT_TRUE(want[k] == got[k] || (std::isnan(want[k]) && std::isnan(got[k])))
        << what << ", output " << k << ": " << got[k] << ", not " << want[k];
  }
}

// run(in, out) on spans `offset` elements into their arrays; the rest is poisoned.
template <class T, class Run>
std::vector<T> run_on(const context<host>&, const std::vector<T>& in, std::int64_t offset, Run&& run) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<T> from(in.size() + 8, std::numeric_limits<T>::max());
  std::vector<T> to(in.size() + 8, std::numeric_limits<T>::max());
  std::copy(in.begin(), in.end(), from.begin() + offset);
  run(span<const T, host>(from.data() + offset, n), span<T, host>(to.data() + offset, n));
  for (std::int64_t k = 0; k < n + 8; ++k) {
    if (k < offset || k >= offset + n) {
      EXPECT_EQ(to[static_cast<std::size_t>(k)], std::numeric_limits<T>::max());
    }
  }
  return {to.begin() + offset, to.begin() + offset + n};
}
template <class T, class Run>
std::vector<T> run_on(const context<device>& ctx, const std::vector<T>& in, std::int64_t offset, Run&& run) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<T> from(in.size() + 8, std::numeric_limits<T>::max());
  const std::vector<T> poisoned = from;
  std::copy(in.begin(), in.end(), from.begin() + offset);
  const auto there = to_device(ctx, span<const T, host>(from));
  auto out = to_device(ctx, span<const T, host>(poisoned));
  run(there.view().subspan(offset, n), out.view().subspan(offset, n));
  const auto back = to_host(ctx, std::as_const(out).view());
  for (std::int64_t k = 0; k < n + 8; ++k) {
    if (k < offset || k >= offset + n) {
      EXPECT_EQ(back[k], std::numeric_limits<T>::max());
    }
  }
  return {back.begin() + offset, back.begin() + offset + n};
}

template <class T, class Space>
void expect_lines(const context<Space>& ctx) {
  for (const std::int64_t n : sizes) {
    auto in = random_values<T>(n);
    for (const std::int64_t window : windows) {
      const auto want = every_window(in, std::min(window, std::max<std::int64_t>(1, n)));
      for (const auto algorithm : detail::algorithms_on<Space>(detail::stencil::sliding_max_algorithms)) {
        const auto got = run_on(ctx, in, n % 4, [&](span<const T, Space> from, span<T, Space> to) {
          sliding_max<T, Space>(ctx, from, window, to, {.algorithm = algorithm});
        });
        expect_same(
            want, got.data(),
            std::string(to_string(algorithm)) + ", size " + std::to_string(n) + ", window " + std::to_string(window));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <class T, class Space>
void expect_special_values(const context<Space>& ctx) {
  auto in = random_values<T>(4000);
  in[0] = std::numeric_limits<T>::quiet_NaN();
  in[777] = std::numeric_limits<T>::quiet_NaN();
  in[2000] = std::numeric_limits<T>::infinity();
  for (std::size_t k = 2500; k < 3500; ++k) in[k] = -std::numeric_limits<T>::infinity();
  in[3999] = std::numeric_limits<T>::quiet_NaN();
  for (const std::int64_t window : {1, 2, 8, 9, 30, 200, 512, 600, 1500}) {
    const auto want = every_window(in, window);
    for (const auto algorithm : detail::algorithms_on<Space>(detail::stencil::sliding_max_algorithms)) {
      const auto got = run_on(ctx, in, 0, [&](span<const T, Space> from, span<T, Space> to) {
        sliding_max<T, Space>(ctx, from, window, to, {.algorithm = algorithm});
      });
      expect_same(want, got.data(), std::string(to_string(algorithm)) + ", window " + std::to_string(window));
    }
  }
}

struct volume_case {
  volume_shape shape;
  std::vector<volume_shape> windows;
};
const std::vector<volume_case> volumes = {
    {{0, 3, 4}, {{1, 1, 1}, {2, 2, 2}}},
    {{1, 1, 1}, {{1, 1, 1}, {3, 3, 3}}},
    {{1, 1, 300}, {{1, 1, 9}, {2, 2, 40}}},
    {{300, 1, 1}, {{9, 1, 1}, {40, 2, 2}}},
    {{1, 300, 1}, {{1, 9, 1}, {2, 40, 2}}},
    {{2, 3, 5}, {{1, 1, 1}, {2, 2, 2}, {5, 5, 5}, {1, 3, 1}}},
    {{7, 33, 31}, {{1, 1, 4}, {1, 4, 1}, {4, 1, 1}, {3, 3, 3}, {7, 9, 10}, {1, 12, 17}, {100, 100, 100}}},
    {{40, 70, 33}, {{10, 9, 1}, {2, 3, 4}, {9, 1, 9}, {40, 1, 1}, {1, 70, 1}}},
    {{20, 12, 140}, {{3, 3, 3}, {12, 5, 70}, {11, 11, 2}}},
};

template <class T, class Space>
void expect_volumes(const context<Space>& ctx) {
  for (const auto& [shape, all_windows] : volumes) {
    auto in = random_values<T>(shape.planes * shape.rows * shape.cols);
    if (in.size() > 500) in[400] = std::numeric_limits<T>::quiet_NaN();
    for (const volume_shape& window : all_windows) {
      const auto want = every_window(in, shape, window);
      for (const auto algorithm : detail::algorithms_on<Space>(detail::stencil::sliding_max_algorithms)) {
        const auto got = run_on(ctx, in, 1, [&](span<const T, Space> from, span<T, Space> to) {
          sliding_max<T, Space>(ctx, from, shape, window, to, {.algorithm = algorithm});
        });
        expect_same(want, got.data(),
                    std::string(to_string(algorithm)) + ", " + std::to_string(shape.planes) + " x " +
                        std::to_string(shape.rows) + " x " + std::to_string(shape.cols) + ", window " +
                        std::to_string(window.planes) + " x " + std::to_string(window.rows) + " x " +
                        std::to_string(window.cols));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <class T>
class SlidingMax : public testing::Test {};
using real_types = testing::Types<float, double>;
TEST(SlidingMaxChoice, NarrowWindowsAreTiled) {
  using detail::stencil::choose_sliding_max;
  using enum detail::stencil::sliding_direction;
  // As measured on an H200: 640^3 with a window of 3 and of 21; lines of 2^28 with 5 and 33.
  EXPECT_EQ((choose_sliding_max<device, float>(3, line)), tiled);
  EXPECT_EQ((choose_sliding_max<device, float>(3, axis)), tiled);
  EXPECT_EQ((choose_sliding_max<device, float>(5, line)), tiled);
  for (const auto along : {line, axis}) {
    EXPECT_EQ((choose_sliding_max<device, float>(21, along)), van_herk);
    EXPECT_EQ((choose_sliding_max<device, float>(33, along)), van_herk);
  }
  // On two cores.
  EXPECT_EQ((choose_sliding_max<host, float>(17, line)), tiled);
  EXPECT_EQ((choose_sliding_max<host, float>(18, line)), van_herk);
  EXPECT_EQ((choose_sliding_max<host, double>(9, line)), tiled);
  EXPECT_EQ((choose_sliding_max<host, double>(17, line)), van_herk);
  EXPECT_EQ((choose_sliding_max<host, float>(5, axis)), tiled);
  EXPECT_EQ((choose_sliding_max<host, float>(6, axis)), van_herk);
}

TYPED_TEST_SUITE(SlidingMax, real_types);

TYPED_TEST(SlidingMax, HostLines) { expect_lines<TypeParam>(context<host>({.threads = 3})); }
TYPED_TEST(SlidingMax, HostSpecialValues) { expect_special_values<TypeParam>(context<host>()); }
TYPED_TEST(SlidingMax, HostVolumes) {
  for (const int threads : {1, 3}) expect_volumes<TypeParam>(context<host>({.threads = threads}));
}
TYPED_TEST(SlidingMax, DeviceLines) {
  SPARGO_TEST_NEEDS_GPU();
  expect_lines<TypeParam>(context<device>());
}
TYPED_TEST(SlidingMax, DeviceSpecialValues) {
  SPARGO_TEST_NEEDS_GPU();
  expect_special_values<TypeParam>(context<device>());
}
TYPED_TEST(SlidingMax, DeviceVolumes) {
  SPARGO_TEST_NEEDS_GPU();
  expect_volumes<TypeParam>(context<device>());
}

// Maxima of a descending line with one peak, known without a loop over windows.
template <class T, class Space>
void expect_peak(const context<Space>& ctx, const std::vector<sliding_max_algorithm>& algorithms) {
  const std::int64_t n = (1 << (test::is_sanitized ? 22 : 24)) + 3;  // longer than the longest window
  const std::int64_t peak = n - 5000;
  std::vector<T> in(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = static_cast<T>(-1 - i % 1000);
  in[static_cast<std::size_t>(peak)] = 7;
  for (const std::int64_t window : {5, 300, 4000, 3000000}) {
    for (const auto algorithm : algorithms) {
      if (algorithm != van_herk && window > 300) continue;
      const auto got = run_on(ctx, in, 1, [&](span<const T, Space> from, span<T, Space> to) {
        sliding_max<T, Space>(ctx, from, window, to, {.algorithm = algorithm});
      });
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t last = std::min(n, i + window) - 1;
        T want = static_cast<T>(-1 - i % 1000);
        if (last / 1000 > i / 1000) want = -1;
        if (i <= peak && peak <= last) want = 7;
        ASSERT_EQ(got[static_cast<std::size_t>(i)], want) << to_string(algorithm) << ", " << window << ", " << i;
      }
    }
  }
}
TEST(SlidingMaxLarge, Host) { expect_peak<float>(context<host>(), {tiled, van_herk}); }
TEST(SlidingMaxLarge, Device) {
  SPARGO_TEST_NEEDS_GPU();
  expect_peak<float>(context<device>(), {naive, tiled, van_herk});
  expect_peak<double>(context<device>(), {van_herk});
}

TEST(SlidingMaxHuge, Device) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = (std::int64_t{1} << 31) + 3;
  if (ctx.memory().free_bytes < 14 * n) GTEST_SKIP() << "not enough memory for 2^31 + 3 elements three times";
  array<float, device> in(ctx, n);
  array<float, device> out(ctx, n);
  fill_zero(ctx, in.view());
  const std::vector<float> mark = {5.0F};
  const std::int64_t peak = n - 10;
  copy<float>(ctx, span<const float, host>(mark), in.view().subspan(peak, 1));
  ctx.synchronize();
  for (const std::int64_t window : {6, 400, 2000}) {
    sliding_max<float, device>(ctx, in.view(), window, out.view());
    const auto around = to_host(ctx, std::as_const(out).view().subspan(peak - window, window + 2));
    for (std::int64_t k = 0; k < window + 2; ++k) {
      EXPECT_EQ(around[k], k >= 1 && k <= window ? 5.0F : 0.0F) << "window " << window << ", " << k;
    }
  }
  // A volume close to 2^31 elements, a peak near its end.
  const volume_shape shape{1291, 1290, 1289};
  const std::int64_t size = shape.planes * shape.rows * shape.cols;
  ASSERT_LE(size, n);
  ASSERT_GT(size, n - (std::int64_t{1} << 21));
  fill_zero(ctx, in.view());
  const std::int64_t plane = shape.rows * shape.cols;
  const std::int64_t cell = size - 1 - 2 * plane - 2 * shape.cols - 20;
  copy<float>(ctx, span<const float, host>(mark), in.view().subspan(cell, 1));
  ctx.synchronize();
  sliding_max<float, device>(ctx, in.view().subspan(0, size), shape, {10, 2, 12}, out.view().subspan(0, size));
  const auto at = [&](std::int64_t p, std::int64_t r, std::int64_t c) {
    return to_host(ctx, std::as_const(out).view().subspan(cell - p * plane - r * shape.cols - c, 1))[0];
  };
  EXPECT_EQ(at(0, 0, 0), 5.0F);
  EXPECT_EQ(at(9, 1, 11), 5.0F);
  EXPECT_EQ(at(10, 0, 0), 0.0F);
  EXPECT_EQ(at(0, 2, 0), 0.0F);
  EXPECT_EQ(at(0, 0, 12), 0.0F);
  EXPECT_EQ(at(0, 0, -1), 0.0F);
}

TEST(SlidingMaxErrors, All) {
  const context<host> ctx;
  std::vector<float> data(24);
  const span<float, host> all(data);
  const auto line = [&](span<const float, host> in, std::int64_t window, span<float, host> out,
                        sliding_max_algorithm algorithm = automatic) {
    sliding_max<float, host>(ctx, in, window, out, {.algorithm = algorithm});
  };
  const auto in = all.subspan(0, 12);
  const auto out = all.subspan(12, 12);
  test::expect_error([&] { line(in, 0, out); }, "window");
  test::expect_error([&] { line(in, 2, all.subspan(12, 11)); }, "12 inputs");
  test::expect_error([&] { line(in, 2, all.subspan(11, 12)); }, "overlaps");
  test::expect_error([&] { line(span<const float, host>(nullptr, 12), 2, out); }, "null");
  test::expect_error([&] { line(in, 2, out, static_cast<sliding_max_algorithm>(9)); }, "number 9");
  const auto volume = [&](const volume_shape& shape, const volume_shape& window) {
    sliding_max<float, host>(ctx, in, shape, window, out);
  };
  test::expect_error([&] { volume({2, 2, 4}, {1, 1, 1}); }, "12 elements");
  test::expect_error([&] { volume({-2, -2, 3}, {1, 1, 1}); }, "12 elements");
  test::expect_error([&] { volume({std::int64_t{1} << 62, 4, 12}, {1, 1, 1}); }, "12 elements");
  test::expect_error([&] { volume({1, 3, 4}, {1, 0, 1}); }, "rows");
  volume({1, 3, 4}, {1, 2, 2});
}

TEST(SlidingMaxNames, All) {
  EXPECT_EQ(to_string(automatic), "automatic");
  EXPECT_EQ(to_string(naive), "naive");
  EXPECT_EQ(to_string(tiled), "tiled");
  EXPECT_EQ(to_string(van_herk), "van_herk");
  EXPECT_EQ(to_string(static_cast<sliding_max_algorithm>(17)), "unknown");
}

}  // namespace
}  // namespace spargo
