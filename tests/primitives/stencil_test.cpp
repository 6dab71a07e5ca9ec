// Window averages against long double sums, five-point averages against the formula, on every backend.
#include "primitives/expect_error.hpp"
#include "primitives/stencil/algorithms.hpp"
#include "support/device.hpp"

#include <spargo/primitives/stencil.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

using enum stencil_algorithm;

template <class T>
constexpr T poison = static_cast<T>(-12345.678);

template <class T>
std::vector<T> random_values(std::int64_t size, unsigned seed = 1) {
  std::mt19937 random(seed + static_cast<unsigned>(size));
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) v = static_cast<T>(static_cast<int>(random() % 200001) - 120000) / static_cast<T>(733);
  return values;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// --- Lines ----------------------------------------------------------------------------------------------------------

const std::vector<std::int64_t> sizes = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 10007};
const std::vector<std::int64_t> radii = {0,  1,   2,   3,   4,   7,   8,   15,   16,   17,
                                         40, 127, 128, 129, 255, 256, 300, 1000, 20000};

// Each output within (N + 1) u / (1 - (N + 1) u) * sum |x| / (2 radius + 1), N terms in its window.
template <class T>
void expect_averages(const std::vector<T>& in, std::int64_t radius, const T* out, const std::string& what) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<long double> sums(in.size() + 1);
  std::vector<long double> magnitudes(in.size() + 1);
  for (std::size_t i = 0; i < in.size(); ++i) {
    sums[i + 1] = sums[i] + static_cast<long double>(in[i]);
    magnitudes[i + 1] = magnitudes[i] + std::abs(static_cast<long double>(in[i]));
  }
  const long double divisor = 2 * static_cast<long double>(radius) + 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto first = static_cast<std::size_t>(std::max<std::int64_t>(0, i - radius));
    const auto last = static_cast<std::size_t>(std::min(n, i + radius + 1));
    const long double u = static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2;
    const long double terms = static_cast<long double>(last - first + 1) * u;
    // The oracle's running sums have an error proportional to the whole line's magnitude in long double.
    const long double own = 4e-19L * static_cast<long double>(n) * magnitudes.back();
    const long double bound = (terms / (1 - terms) * (magnitudes[last] - magnitudes[first]) + own) / divisor;
    const long double exact = (sums[last] - sums[first]) / divisor;
    ASSERT_LE(std::abs(static_cast<long double>(out[i]) - exact), bound)
        << what << ", size " << n << ", radius " << radius << ", output " << i;
  }
}

template <class T>
std::vector<T> averaged(const context<host>& ctx, const std::vector<T>& in, std::int64_t radius,
                        stencil_algorithm algorithm, std::int64_t offset = 0) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<T> from(in.size() + 8, poison<T>);
  std::vector<T> to(in.size() + 8, poison<T>);
  std::copy(in.begin(), in.end(), from.begin() + offset);
  window_average<T, host>(ctx, span<const T, host>(from.data() + offset, n), radius,
                          span<T, host>(to.data() + offset, n), {.algorithm = algorithm});
  for (std::int64_t k = 0; k < n + 8; ++k) {
    if (k < offset || k >= offset + n) {
      EXPECT_EQ(to[static_cast<std::size_t>(k)], poison<T>) << k;
    }
  }
  return {to.begin() + offset, to.begin() + offset + n};
}

template <class T>
std::vector<T> averaged(const context<device>& ctx, const std::vector<T>& in, std::int64_t radius,
                        stencil_algorithm algorithm, std::int64_t offset = 0) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<T> from(in.size() + 8, poison<T>);
  std::copy(in.begin(), in.end(), from.begin() + offset);
  const auto there = to_device(ctx, span<const T, host>(from));
  const std::vector<T> poisoned(in.size() + 8, poison<T>);
  auto result = to_device(ctx, span<const T, host>(poisoned));
  window_average<T, device>(ctx, there.view().subspan(offset, n), radius, result.view().subspan(offset, n),
                            {.algorithm = algorithm});
  const auto back = to_host(ctx, std::as_const(result).view());
  for (std::int64_t k = 0; k < n + 8; ++k) {
    if (k < offset || k >= offset + n) {
      EXPECT_EQ(back[k], poison<T>) << k;
    }
  }
  return {back.begin() + offset, back.begin() + offset + n};
}

template <class T, class Space>
void expect_all_averages(const context<Space>& ctx) {
  for (const std::int64_t n : sizes) {
    const auto in = random_values<T>(n);
    for (const std::int64_t radius : radii) {
      for (const auto algorithm : detail::algorithms_on<Space>(detail::stencil::window_average_algorithms)) {
        const auto out = averaged(ctx, in, radius, algorithm, n % 4);
        expect_averages(in, radius, out.data(), std::string(to_string(algorithm)));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// A NaN or infinity affects exactly the outputs whose window contains it.
template <class T, class Space>
void expect_spread(const context<Space>& ctx) {
  for (const T special : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    auto in = random_values<T>(3000);
    in[1234] = special;
    for (const std::int64_t radius : {0, 3, 8, 20, 100, 400}) {
      for (const auto algorithm : detail::algorithms_on<Space>(detail::stencil::window_average_algorithms)) {
        const auto out = averaged(ctx, in, radius, algorithm);
        for (std::int64_t i = 0; i < 3000; ++i) {
          ASSERT_EQ(std::isfinite(out[static_cast<std::size_t>(i)]), std::abs(i - 1234) > radius)
              << to_string(algorithm) << ", radius " << radius << ", output " << i;
        }
      }
    }
  }
}

// --- Images ---------------------------------------------------------------------------------------------------------

struct shape {
  std::int64_t rows, cols, pitch, offset;
};
const std::vector<shape> shapes = {{1, 1, 1, 0},        {1, 7, 7, 0},       {7, 1, 1, 0},        {2, 2, 2, 0},
                                   {3, 3, 3, 1},        {3, 3, 8, 0},       {5, 31, 32, 0},      {31, 33, 33, 0},
                                   {64, 119, 120, 0},   {65, 120, 120, 0},  {33, 121, 124, 4},   {70, 128, 128, 0},
                                   {70, 129, 129, 3},   {130, 255, 256, 0}, {67, 257, 300, 0},   {200, 640, 640, 0},
                                   {19, 1025, 1028, 2}, {300, 17, 17, 0},   {257, 1024, 1024, 0}};

template <class T>
std::vector<T> naive_average(const std::vector<T>& in, const shape& s) {
  auto out = std::vector<T>(in.size(), poison<T>);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < s.cols; ++j) {
      const auto at = [&](std::int64_t r, std::int64_t c) {
        return in[static_cast<std::size_t>(s.offset + r * s.pitch + c)];
      };
      T value = at(i, j);
      if (i > 0 && j > 0 && i + 1 < s.rows && j + 1 < s.cols) {
        const T across = at(i, j - 1) + at(i, j + 1);
        const T down = at(i - 1, j) + at(i + 1, j);
        const T sum = (across + down) + at(i, j);
        value = sum * static_cast<T>(0.2);
        const long double exact =
            (static_cast<long double>(at(i, j - 1)) + at(i, j + 1) + at(i - 1, j) + at(i + 1, j) + at(i, j)) / 5;
        const long double magnitude = (std::abs(static_cast<long double>(at(i, j - 1))) + std::abs(at(i, j + 1)) +
                                       std::abs(at(i - 1, j)) + std::abs(at(i + 1, j)) + std::abs(at(i, j))) /
                                      5;
        const long double u = static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2;
        EXPECT_LE(std::abs(static_cast<long double>(value) - exact), 6 * u / (1 - 6 * u) * magnitude);
      }
      out[static_cast<std::size_t>(s.offset + i * s.pitch + j)] = value;
    }
  }
  return out;
}

template <class T>
std::int64_t storage(const shape& s) {
  return s.offset + s.rows * s.pitch + 5;
}

template <class T>
void expect_same(const std::vector<T>& want, const T* got, const shape& s, const std::string& what) {
  for (std::size_t k = 0; k < want.size(); ++k) {
    ASSERT_TRUE(same_bits(want[k], got[k])) << what << ": " << s.rows << " x " << s.cols << ", pitch " << s.pitch
                                            << ", element " << k << ": " << got[k] << ", not " << want[k];
  }
}

template <class T, class Space>
image_view<T, Space> view_of(span<T, Space> data, const shape& s) {
  return {s.rows, s.cols, s.pitch, data.subspan(s.offset, (s.rows - 1) * s.pitch + s.cols)};
}

template <class T>
class Stencil : public testing::Test {};
using real_types = testing::Types<float, double>;
TYPED_TEST_SUITE(Stencil, real_types);

TYPED_TEST(Stencil, HostLines) { expect_all_averages<TypeParam>(context<host>({.threads = 3})); }

TYPED_TEST(Stencil, HostLinesSpreadSpecialValues) { expect_spread<TypeParam>(context<host>()); }

TYPED_TEST(Stencil, HostLinesSameBitsForAnyThreads) {
  const auto in = random_values<TypeParam>(200003);
  for (const std::int64_t radius : {2, 30, 1000, 70000}) {
    for (const auto algorithm : {automatic, tiled, register_marched}) {
      if (algorithm == tiled && radius > 1000) continue;
      const auto one = averaged(context<host>({.threads = 1}), in, radius, algorithm);
      for (const int threads : {2, 5}) {
        EXPECT_EQ(averaged(context<host>({.threads = threads}), in, radius, algorithm), one) << radius;
      }
    }
  }
}

TYPED_TEST(Stencil, HostImages) {
  for (const int threads : {1, 3}) {
    const context<host> ctx({.threads = threads});
    for (const shape& s : shapes) {
      const auto in = random_values<TypeParam>(storage<TypeParam>(s));
      const auto want = naive_average(in, s);
      for (const auto algorithm : detail::algorithms_on<host>(detail::stencil::five_point_algorithms)) {
        std::vector<TypeParam> out(in.size(), poison<TypeParam>);
        five_point_average<TypeParam, host>(ctx, view_of(span<const TypeParam, host>(in), s),
                                            view_of(span<TypeParam, host>(out), s), {.algorithm = algorithm});
        expect_same(want, out.data(), s, std::string(to_string(algorithm)));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Stencil, DeviceLines) {
  SPARGO_TEST_NEEDS_GPU();
  expect_all_averages<TypeParam>(context<device>());
}

TYPED_TEST(Stencil, DeviceLinesSpreadSpecialValues) {
  SPARGO_TEST_NEEDS_GPU();
  expect_spread<TypeParam>(context<device>());
}

TYPED_TEST(Stencil, DeviceImages) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const shape& s : shapes) {
    const auto in = random_values<TypeParam>(storage<TypeParam>(s));
    const auto want = naive_average(in, s);
    const auto there = to_device(ctx, span<const TypeParam, host>(in));
    for (const auto algorithm : detail::algorithms_on<device>(detail::stencil::five_point_algorithms)) {
      const std::vector<TypeParam> poisoned(in.size(), poison<TypeParam>);
      auto out = to_device(ctx, span<const TypeParam, host>(poisoned));
      five_point_average<TypeParam, device>(ctx, view_of(there.view(), s), view_of(out.view(), s),
                                            {.algorithm = algorithm});
      const auto back = to_host(ctx, std::as_const(out).view());
      expect_same(want, back.data(), s, std::string(to_string(algorithm)));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(Stencil, DeviceLargeAgreesWithHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const context<host> here;
  const std::int64_t n = (1 << 24) + 3;
  const auto in = random_values<TypeParam>(n);
  const auto there = to_device(ctx, span<const TypeParam, host>(in));
  array<TypeParam, device> out(ctx, n);
  for (const std::int64_t radius : {5, 200, 3000, 2000000}) {
    window_average<TypeParam, device>(ctx, there.view(), radius, out.view());
    const auto back = to_host(ctx, std::as_const(out).view());
    expect_averages(in, radius, back.data(), "large");
  }
  const shape s{4099, 4093, 4093, 0};
  std::vector<TypeParam> want(in.size(), poison<TypeParam>);
  five_point_average<TypeParam, host>(here, view_of(span<const TypeParam, host>(in), s),
                                      view_of(span<TypeParam, host>(want), s), {.algorithm = naive});
  for (const auto algorithm : detail::algorithms_on<device>(detail::stencil::five_point_algorithms)) {
    five_point_average<TypeParam, device>(ctx, view_of(there.view(), s), view_of(out.view(), s),
                                          {.algorithm = algorithm});
    const auto back = to_host(ctx, std::as_const(out).view());
    EXPECT_EQ(std::memcmp(back.data(), want.data(), sizeof(TypeParam) * static_cast<std::size_t>(s.rows * s.cols)), 0)
        << to_string(algorithm);
  }
}

TEST(StencilHuge, Device) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = (std::int64_t{1} << 31) + 3;
  if (ctx.memory().free_bytes < 20 * n / 2) GTEST_SKIP() << "not enough memory for 2^31 + 3 elements twice";
  array<float, device> in(ctx, n);
  array<float, device> out(ctx, n);
  fill_zero(ctx, in.view());
  const std::vector<float> mark = {5.0F};
  copy<float>(ctx, span<const float, host>(mark), in.view().subspan(n - 2, 1));
  ctx.synchronize();
  window_average<float, device>(ctx, in.view(), 2, out.view());
  const auto end = to_host(ctx, std::as_const(out).view().subspan(n - 5, 5));
  EXPECT_EQ((std::vector<float>(end.begin(), end.end())), (std::vector<float>{0, 1, 1, 1, 1}));
  window_average<float, device>(ctx, in.view(), 500, out.view());
  const auto wide = to_host(ctx, std::as_const(out).view().subspan(n - 504, 504));
  for (std::int64_t k = 0; k < 504; ++k) EXPECT_EQ(wide[k], k < 2 ? 0.0F : 5.0F / 1001.0F) << k;
  // Fewer than 2^31 + 3 elements, by at most one row of 32771 columns.
  const std::int64_t cols = 32771;
  const std::int64_t rows = n / cols;
  const std::int64_t cell = (rows - 2) * cols + 7;
  fill_zero(ctx, in.view());
  copy<float>(ctx, span<const float, host>(mark), in.view().subspan(cell, 1));
  ctx.synchronize();
  five_point_average<float, device>(ctx, {rows, cols, cols, in.view()}, {rows, cols, cols, out.view()});
  const auto around = to_host(ctx, std::as_const(out).view().subspan(cell - 1, 3));
  EXPECT_EQ((std::vector<float>(around.begin(), around.end())), (std::vector<float>{1, 1, 1}));
  const auto below = to_host(ctx, std::as_const(out).view().subspan(cell + cols, 1));
  EXPECT_EQ(below[0], 0.0F);
}

TEST(StencilErrors, Lines) {
  const context<host> ctx;
  std::vector<float> data(20);
  const span<float, host> all(data);
  test::expect_error([&] { window_average<float, host>(ctx, all.subspan(0, 5), -1, all.subspan(5, 5)); }, "radius");
  test::expect_error([&] { window_average<float, host>(ctx, all.subspan(0, 5), 1, all.subspan(5, 6)); }, "5 inputs");
  test::expect_error([&] { window_average<float, host>(ctx, all.subspan(0, 5), 1, all.subspan(4, 5)); }, "overlaps");
  test::expect_error(
      [&] { window_average<float, host>(ctx, span<const float, host>(nullptr, 5), 1, all.subspan(4, 5)); }, "null");
  test::expect_error(
      [&] {
        window_average<float, host>(ctx, all.subspan(0, 5), 1, all.subspan(5, 5),
                                    {.algorithm = static_cast<stencil_algorithm>(9)});
      },
      "number 9");
}

TEST(StencilErrors, Images) {
  const context<host> ctx;
  std::vector<float> data(40);
  const span<float, host> all(data);
  const image_view<const float, host> in{3, 4, 4, all.subspan(0, 12)};
  const auto run = [&](image_view<float, host> out, stencil_algorithm algorithm = automatic) {
    five_point_average<float, host>(ctx, in, out, {.algorithm = algorithm});
  };
  test::expect_error([&] { run({3, 4, 3, all.subspan(12, 20)}); }, "stride of 3");
  test::expect_error([&] { run({4, 3, 4, all.subspan(12, 20)}); }, "3 x 4");
  test::expect_error([&] { run({3, 4, 8, all.subspan(12, 19)}); }, "expected at least 20");
  test::expect_error([&] { run({3, 4, 4, all.subspan(11, 12)}); }, "overlaps");
  test::expect_error([&] { run({3, 4, 4, span<float, host>(nullptr, 12)}); }, "null");
  test::expect_error(
      [&] {
        run({3, 4, 4, all.subspan(12, 12)}, register_marched);
      },
      "register_marched", error_code::unsupported);
  // Side by side in rows of one pitch: no overlap.
  five_point_average<float, host>(ctx, {3, 4, 8, all.subspan(0, 20)}, {3, 4, 8, all.subspan(4, 20)});
}

TEST(StencilNames, All) {
  EXPECT_EQ(to_string(automatic), "automatic");
  EXPECT_EQ(to_string(naive), "naive");
  EXPECT_EQ(to_string(tiled), "tiled");
  EXPECT_EQ(to_string(register_marched), "register_marched");
  EXPECT_EQ(to_string(static_cast<stencil_algorithm>(17)), "unknown");
}

}  // namespace
}  // namespace spargo
