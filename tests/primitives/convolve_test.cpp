// Convolution against plain sums in long double, for every algorithm on every backend.
#include "support/device.hpp"
#include "support/resource.hpp"

#include <spargo/primitives/convolve.hpp>
#include <spargo/primitives/reduce.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

using enum convolve_algorithm;

const std::vector<convolve_algorithm> host_algorithms = {automatic, naive, register_tiled};
const std::vector<convolve_algorithm> narrow_device_algorithms = {
    automatic, naive, constant_filter, tiled_halo_output, tiled_halo_input, tiled_cached_halo, register_tiled};
const std::vector<convolve_algorithm> wide_device_algorithms = {automatic, naive, register_tiled};

template <class Space>
std::vector<convolve_algorithm> algorithms_for(std::int64_t width) {
  if (std::same_as<Space, host>) return host_algorithms;
  return width <= 15 ? narrow_device_algorithms : wide_device_algorithms;
}

template <class T>
std::vector<T> random_values(std::int64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) v = static_cast<T>(static_cast<double>(random() % 2000001) / 1000000.0 - 1.0);
  return values;
}

// Memory of `Space` that begins and ends with a margin which nothing may touch.
constexpr std::int64_t margin = 16;

template <class T>
std::vector<T> poisoned(std::int64_t size) {
  std::vector<T> values(static_cast<std::size_t>(size));
  std::memset(values.data(), 0xff, values.size() * sizeof(T));  // NaN in every element
  return values;
}

array<float, host> here(const context<host>& ctx, const std::vector<float>& v) {
  return clone(ctx, span<const float, host>(v));
}
array<double, host> here(const context<host>& ctx, const std::vector<double>& v) {
  return clone(ctx, span<const double, host>(v));
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

std::ostream& operator<<(std::ostream& out, const layout& l) {
  return out << l.rows << " x " << l.cols << ", gaps " << l.in_gap << ", " << l.out_gap << ", offsets " << l.in_offset
             << ", " << l.out_offset;
}

template <class T>
bool is_poison(T value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return std::all_of(bytes, bytes + sizeof(T), [](unsigned char b) { return b == 0xff; });
}

// The rows * cols outputs for an input of rows * cols, laid out in memory as `l` says. Input gaps and margins hold NaN,
// which must not be read; output gaps and margins must stay as they are.
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

// Straight from the definition; a line is an image of one row with a filter of one.
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
constexpr long double unit = static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2;

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

template <class T>
class Convolve : public testing::Test {};
using value_types = testing::Types<float, double>;
TYPED_TEST_SUITE(Convolve, value_types);

const std::vector<std::int64_t> widths = {1, 3, 5, 7, 9, 11, 13, 15, 17, 33};

template <class T, class Space>
void expect_lines(const context<Space>& ctx) {
  for (const std::int64_t width : widths) {
    const auto filter = random_values<T>(width, static_cast<std::uint64_t>(width));
    for (const std::int64_t size : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1021, 1023, 1024, 1025, 2053, 10007}) {
      const auto in = random_values<T>(size, static_cast<std::uint64_t>(size));
      const auto r = expected(in, 1, size, filter, 1, width);
      for (const auto algorithm : algorithms_for<Space>(width)) {
        expect_near(
            convolved_line<T>(ctx, in, filter, algorithm), r, plain_bound<T>(filter.size()),
            std::string(to_string(algorithm)) + ", size " + std::to_string(size) + ", width " + std::to_string(width));
      }
    }
  }
}

TYPED_TEST(Convolve, LinesOnTheHost) { expect_lines<TypeParam>(context<host>({.threads = 2})); }
TYPED_TEST(Convolve, LinesOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_lines<TypeParam>(context<device>());
}

template <class T, class Space>
void expect_unaligned_lines(const context<Space>& ctx) {
  const std::int64_t size = 4099;
  const auto in = random_values<T>(size, 1);
  for (const std::int64_t width : {1, 3, 9, 15, 21}) {
    const auto filter = random_values<T>(width, 2);
    const auto r = expected(in, 1, size, filter, 1, width);
    for (const auto algorithm : algorithms_for<Space>(width)) {
      for (const std::int64_t from : {0, 1, 2, 3}) {
        for (const std::int64_t to : {0, 1, 2, 3}) {
          expect_near(convolved_line<T>(ctx, in, filter, algorithm, from, to), r, plain_bound<T>(filter.size()),
                      std::string(to_string(algorithm)) + " from " + std::to_string(from) + " to " +
                          std::to_string(to) + ", width " + std::to_string(width));
        }
      }
    }
  }
}

TYPED_TEST(Convolve, UnalignedLinesOnTheHost) { expect_unaligned_lines<TypeParam>(context<host>({.threads = 2})); }
TYPED_TEST(Convolve, UnalignedLinesOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_unaligned_lines<TypeParam>(context<device>());
}

const std::vector<layout> layouts = {{0, 0},
                                     {0, 7},
                                     {7, 0},
                                     {1, 1},
                                     {1, 33},
                                     {33, 1},
                                     {2, 2, 2, 2},
                                     {31, 32},
                                     {32, 33, 3, 1, 1, 2},
                                     {33, 31, 1, 1},
                                     {17, 127, 1, 1},
                                     {18, 128},
                                     {19, 129, 3, 7},
                                     {67, 257, 3, 3, 0, 1},
                                     {5, 1025, 7, 3},
                                     {131, 64, 0, 4, 4, 8},
                                     {130, 61, 3, 3, 4, 0}};

template <class T, class Space>
void expect_images(const context<Space>& ctx) {
  for (const std::int64_t width : widths) {
    const auto filter = random_values<T>(width * width, static_cast<std::uint64_t>(width));
    for (const layout& l : layouts) {
      const auto in = random_values<T>(l.rows * l.cols, static_cast<std::uint64_t>(l.rows * 1000 + l.cols));
      const auto r = expected(in, l.rows, l.cols, filter, width, width);
      for (const auto algorithm : algorithms_for<Space>(width)) {
        std::ostringstream what;
        what << to_string(algorithm) << ", " << l << ", width " << width;
        expect_near(convolved<T>(ctx, in, filter, l, {.algorithm = algorithm}), r, plain_bound<T>(filter.size()),
                    what.str());
      }
    }
  }
}

TYPED_TEST(Convolve, ImagesOnTheHost) { expect_images<TypeParam>(context<host>({.threads = 2})); }
TYPED_TEST(Convolve, ImagesOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_images<TypeParam>(context<device>());
}

// More than 2^24 elements: every strip, tile and share is met, and 24-bit counting would show. The plain sum is in
// double, as good as exact for float.
void expect_near_in_double(const std::vector<float>& got, const std::vector<float>& in, std::int64_t rows,
                           std::int64_t cols, const std::vector<float>& filter, std::int64_t down,
                           std::int64_t across) {
  const double factor = static_cast<double>(plain_bound<float>(filter.size())) * (1 + 1e-6);
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t s = 0; s < down; ++s) {
      for (std::int64_t t = 0; t < across; ++t) {
        const std::int64_t y = i / cols + s - down / 2;
        const std::int64_t x = i % cols + t - across / 2;
        if (y < 0 || y >= rows || x < 0 || x >= cols) continue;
        const double term = static_cast<double>(in[static_cast<std::size_t>(y * cols + x)]) *
                            static_cast<double>(filter[static_cast<std::size_t>(s * across + t)]);
        sum += term;
        magnitude += std::abs(term);
      }
    }
    const double error = std::abs(static_cast<double>(got[static_cast<std::size_t>(i)]) - sum);
    ASSERT_LE(error, factor * magnitude) << "element " << i;
  }
}

template <class Space>
void expect_large(const context<Space>& ctx) {
  const std::int64_t rows = 4099;
  const std::int64_t cols = 4097;
  const auto in = random_values<float>(rows * cols, 5);
  const auto square = random_values<float>(9, 6);
  const auto filter = random_values<float>(5, 7);
  const auto from = here(ctx, in);
  auto to = here(ctx, in);
  std::vector<float> image;
  std::vector<float> line;
  for (const auto algorithm : algorithms_for<Space>(3)) {
    detail::fill_bytes(ctx, to.data(), 0xff, in.size() * sizeof(float));
    convolve<float, Space>(ctx, {rows, cols, cols, from.view()}, square, {rows, cols, cols, to.view()},
                           {.algorithm = algorithm});
    auto got = back(ctx, to);
    // The device's rungs give the same bits; the host's naive one rounds products, and is checked on its own.
    if (image.empty() || algorithm == naive) expect_near_in_double(got, in, rows, cols, square, 3, 3);
    if (std::same_as<Space, device> && !image.empty()) {
      EXPECT_EQ(std::memcmp(got.data(), image.data(), got.size() * sizeof(float)), 0) << to_string(algorithm);
    }
    image = std::move(got);
    detail::fill_bytes(ctx, to.data(), 0xff, in.size() * sizeof(float));
    convolve<float, Space>(ctx, from.view(), filter, to.view(), {.algorithm = algorithm});
    got = back(ctx, to);
    if (line.empty() || algorithm == naive) expect_near_in_double(got, in, 1, rows * cols, filter, 1, 5);
    if (std::same_as<Space, device> && !line.empty()) {
      EXPECT_EQ(std::memcmp(got.data(), line.data(), got.size() * sizeof(float)), 0) << to_string(algorithm);
    }
    line = std::move(got);
  }
}

TEST(ConvolveLarge, Host) { expect_large(context<host>({.threads = 2})); }
TEST(ConvolveLarge, Device) {
  SPARGO_TEST_NEEDS_GPU();
  expect_large(context<device>());
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TYPED_TEST(Convolve, SameBitsForAnyThreads) {
  using T = TypeParam;
  const layout l{300, 2100, 3, 1};
  const auto in = random_values<T>(l.rows * l.cols, 8);
  const auto filter = random_values<T>(49, 9);
  std::vector<T> outer(49);
  for (std::size_t i = 0; i < 49; ++i) outer[i] = filter[i / 7] * filter[i % 7];
  const context<host> one({.threads = 1});
  for (const auto& [taps, algorithm] : std::vector<std::pair<std::vector<T>, convolve_algorithm>>{
           {filter, naive}, {filter, register_tiled}, {outer, separable}}) {
    const auto first = convolved<T>(one, in, taps, l, {.algorithm = algorithm});
    for (const int threads : {2, 3, 7}) {
      const context<host> ctx({.threads = threads});
      EXPECT_TRUE(same_bits(first, convolved<T>(ctx, in, taps, l, {.algorithm = algorithm})))
          << to_string(algorithm) << ", " << threads << " threads";
    }
  }
}

TYPED_TEST(Convolve, SameBitsFromEveryNarrowDeviceAlgorithm) {
  SPARGO_TEST_NEEDS_GPU();
  using T = TypeParam;
  const context<device> ctx;
  for (const std::int64_t width : {1, 3, 5, 7, 9, 11, 13, 15}) {
    const auto filter = random_values<T>(width * width, 10);
    const std::vector<T> row(filter.begin(), filter.begin() + width);
    for (const layout& l : {layout{70, 516}, layout{71, 517, 2, 1, 1, 1}}) {
      const auto in = random_values<T>(l.rows * l.cols, 11);
      const auto image = convolved<T>(ctx, in, filter, l, {.algorithm = naive});
      const auto line = convolved_line<T>(ctx, in, row, naive);
      for (const auto algorithm : narrow_device_algorithms) {
        const convolve_options whole{.algorithm = algorithm, .separable = separable_filters::never};
        EXPECT_TRUE(same_bits(image, convolved<T>(ctx, in, filter, l, whole))) << to_string(algorithm) << ' ' << width;
        EXPECT_TRUE(same_bits(line, convolved_line<T>(ctx, in, row, algorithm)))
            << to_string(algorithm) << ' ' << width;
      }
    }
  }
}

// u v^T with each tap rounded once, which is what the test for rank 1 must accept.
template <class T>
std::vector<T> outer_product(std::int64_t width, std::uint64_t seed) {
  const auto down = random_values<T>(width, seed);
  const auto across = random_values<T>(width, seed + 1);
  std::vector<T> filter;
  for (const T u : down) {
    for (const T v : across)
      filter.push_back(static_cast<T>(static_cast<long double>(u) * static_cast<long double>(v)));
  }
  return filter;
}

template <class T, class Space>
void expect_separable(const context<Space>& ctx) {
  for (const std::int64_t width : {1, 3, 5, 7, 9, 11, 13, 15}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const auto filter = outer_product<T>(width, 20 + seed);
      for (const layout& l : {layout{1, 1}, layout{33, 31}, layout{70, 516}, layout{71, 517, 2, 1, 1, 1}}) {
        const auto in = random_values<T>(l.rows * l.cols, seed);
        const auto r = expected(in, l.rows, l.cols, filter, width, width);
        const long double bound = static_cast<long double>(2 * width + 8) * unit<T>;
        expect_near(convolved<T>(ctx, in, filter, l, {.algorithm = separable}), r, bound,
                    "separable, width " + std::to_string(width));
        const auto chosen = convolved<T>(ctx, in, filter, l, {});
        expect_near(chosen, r, std::max(bound, plain_bound<T>(filter.size())), "automatic");
        const auto whole = convolved<T>(ctx, in, filter, l, {.separable = separable_filters::never});
        EXPECT_TRUE(same_bits(whole, convolved<T>(ctx, in, filter, l, {.algorithm = register_tiled})));
        if (width == 15 && l.rows > 1) {
          EXPECT_TRUE(same_bits(chosen, convolved<T>(ctx, in, filter, l, {.algorithm = separable})));
          EXPECT_FALSE(same_bits(chosen, whole)) << "the two algorithms round alike: is one of them not run?";
        }
      }
    }
  }
}

TYPED_TEST(Convolve, SeparableOnTheHost) { expect_separable<TypeParam>(context<host>({.threads = 2})); }
TYPED_TEST(Convolve, SeparableOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_separable<TypeParam>(context<device>());
}

// A tap that is off by a few units in the last place is no rounding of the product.
TYPED_TEST(Convolve, AlmostSeparableIsNot) {
  using T = TypeParam;
  const context<host> ctx;
  const std::vector<T> in(100, T{1});
  for (std::size_t where = 0; where < 25; ++where) {
    auto filter = outer_product<T>(5, 30);
    EXPECT_NO_THROW((void)convolved<T>(ctx, in, filter, {10, 10}, {.algorithm = separable}));
    filter[where] *= 1 + 16 * std::numeric_limits<T>::epsilon();
    EXPECT_THROW((void)convolved<T>(ctx, in, filter, {10, 10}, {.algorithm = separable}), error) << where;
  }
  auto filter = outer_product<T>(5, 30);
  filter[7] = 0;
  EXPECT_THROW((void)convolved<T>(ctx, in, filter, {10, 10}, {.algorithm = separable}), error);
  EXPECT_THROW((void)convolved<T>(ctx, in, std::vector<T>(9, T{0}), {10, 10}, {.algorithm = separable}), error);
}

// The mean of the largest numbers is one of them, also by way of a sum along rows.
template <class T, class Space>
void expect_no_overflow(const context<Space>& ctx) {
  const T most = std::numeric_limits<T>::max();
  const std::vector<T> filter(15 * 15, static_cast<T>(1.0 / 300));
  const auto out = convolved<T>(ctx, std::vector<T>(40 * 40, most), filter, {40, 40}, {.algorithm = separable});
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](T v) { return std::isfinite(v); }));
}

TYPED_TEST(Convolve, SeparableDoesNotOverflowOnTheHost) { expect_no_overflow<TypeParam>(context<host>()); }
TYPED_TEST(Convolve, SeparableDoesNotOverflowOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_no_overflow<TypeParam>(context<device>());
}

// 1 at one place gives the filter turned around that place: the filter itself is not turned.
template <class Space>
void expect_not_flipped(const context<Space>& ctx) {
  for (const auto algorithm : algorithms_for<Space>(3)) {
    const auto line = convolved_line<float>(ctx, {0, 0, 1, 0, 0}, {1, 2, 3}, algorithm);
    EXPECT_EQ(line, (std::vector<float>{0, 3, 2, 1, 0})) << to_string(algorithm);
    const auto image = convolved<float>(ctx, {0, 0, 0, 0, 1, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 10}, {3, 3},
                                        {.algorithm = algorithm});
    EXPECT_EQ(image, (std::vector<float>{10, 8, 7, 6, 5, 4, 3, 2, 1})) << to_string(algorithm);
  }
}

TEST(ConvolveMeaning, NotFlippedOnTheHost) { expect_not_flipped(context<host>()); }
TEST(ConvolveMeaning, NotFlippedOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_not_flipped(context<device>());
}

// A NaN or infinite input reaches its window's outputs and no others, also through taps of 0.
template <class Space>
void expect_special_inputs(const context<Space>& ctx) {
  const std::int64_t n = 300;
  for (const std::int64_t width : {3, 7, 15, 19}) {
    std::vector<float> filter(static_cast<std::size_t>(width * width), 0.0F);
    filter[0] = 1;
    filter[1] = 2;
    for (const std::int64_t where : {std::int64_t{0}, 2 * n + 129, 40 * n - 1}) {
      for (const float special : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
        std::vector<float> in(static_cast<std::size_t>(40 * n), 1.0F);
        in[static_cast<std::size_t>(where)] = special;
        for (const auto algorithm : algorithms_for<Space>(width)) {
          const auto image = convolved<float>(ctx, in, filter, {40, n}, {.algorithm = algorithm});
          const std::vector<float> row(filter.begin(), filter.begin() + width);
          const auto line = convolved_line<float>(ctx, in, row, algorithm);
          for (std::int64_t i = 0; i < 40 * n; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const bool near = std::abs(i / n - where / n) <= width / 2 && std::abs(i % n - where % n) <= width / 2;
            ASSERT_EQ(!std::isfinite(image[at]), near) << to_string(algorithm) << ", width " << width << ", at " << i;
            ASSERT_EQ(!std::isfinite(line[at]), std::abs(i - where) <= width / 2)
                << to_string(algorithm) << ", at " << i;
          }
        }
      }
    }
  }
}

TEST(ConvolveSpecial, InputsOnTheHost) { expect_special_inputs(context<host>()); }
TEST(ConvolveSpecial, InputsOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_special_inputs(context<device>());
}

// An infinite tap does not meet the padding, where it would give NaN; it makes infinity of the ones that it meets.
template <class Space>
void expect_special_taps(const context<Space>& ctx) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in(20 * 30, 1.0F);
  for (const std::int64_t width : {3, 5, 17}) {
    std::vector<float> filter(static_cast<std::size_t>(width * width), 1.0F);
    filter[0] = infinity;  // meets inputs above and to the left
    for (const auto algorithm : algorithms_for<Space>(width)) {
      const auto out = convolved<float>(ctx, in, filter, {20, 30}, {.algorithm = algorithm});
      const auto line = convolved_line<float>(ctx, in, {filter.begin(), filter.begin() + width}, algorithm);
      for (std::int64_t i = 0; i < 20 * 30; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool meets = i / 30 >= width / 2 && i % 30 >= width / 2;
        EXPECT_EQ(out[at] == infinity, meets) << to_string(algorithm) << ", width " << width << ", at " << i;
        EXPECT_FALSE(std::isnan(out[at])) << to_string(algorithm) << ", width " << width << ", at " << i;
        EXPECT_EQ(line[at] == infinity, i >= width / 2) << to_string(algorithm);
        EXPECT_FALSE(std::isnan(line[at]));
      }
    }
  }
}

TEST(ConvolveSpecial, TapsOnTheHost) { expect_special_taps(context<host>()); }
TEST(ConvolveSpecial, TapsOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  expect_special_taps(context<device>());
}

// The message of the error that `call` throws, which has the code; empty when none came.
template <class Call>
std::string refusal(Call&& call, error_code code = error_code::invalid_argument) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "";
}

template <class Space>
void expect_errors(const context<Space>& ctx) {
  using out_image = image_view<float, Space>;
  using in_image = image_view<const float, Space>;
  array<float, Space> memory(ctx, 200);
  fill_zero(ctx, memory.view());
  const auto in = std::as_const(memory).view().subspan(0, 100);
  const auto out = memory.view().subspan(100, 100);
  const std::vector<float> three(3, 1.0F);
  const std::vector<float> nine(9, 1.0F);
  const auto line = [&](auto from, const std::vector<float>& filter, auto to, convolve_algorithm a = automatic) {
    return refusal([&] { convolve<float, Space>(ctx, from, filter, to, {.algorithm = a}); });
  };
  EXPECT_EQ(line(in, three, out), "");
  EXPECT_NE(line(in, {}, out), "");
  EXPECT_NE(line(in, {1, 2}, out), "");
  EXPECT_NE(line(in.subspan(0, 99), three, out), "");
  EXPECT_NE(line(span<const float, Space>(nullptr, 100), three, out), "");
  EXPECT_NE(line(in, three, span<float, Space>(nullptr, 100)), "");
  EXPECT_NE(line(in, three, memory.view().subspan(99, 100)), "");
  EXPECT_NE(line(in, three, memory.view().subspan(0, 100)), "");
  EXPECT_NE(line(in, three, out, separable), "");
  EXPECT_EQ(line(span<const float, Space>(), three, span<float, Space>()), "");
  EXPECT_NE(line(span<const float, Space>(), {1, 2}, span<float, Space>()), "") << "checked for no elements too";

  const auto image = [&](in_image from, const std::vector<float>& filter, out_image to,
                         convolve_algorithm a = automatic) {
    return refusal([&] { convolve<float, Space>(ctx, from, filter, to, {.algorithm = a}); });
  };
  const in_image from{10, 10, 10, in};
  const out_image to{10, 10, 10, out};
  EXPECT_EQ(image(from, nine, to), "");
  EXPECT_NE(image(from, {1, 2, 3, 4}, to), "");
  EXPECT_NE(image(from, {1, 2, 3}, to), "");
  EXPECT_NE(image(from, {}, to), "");
  EXPECT_NE(image({10, 9, 10, in}, nine, to), "");
  EXPECT_NE(image({9, 10, 10, in}, nine, to), "");
  EXPECT_NE(image({10, 10, 9, in}, nine, to), "");
  EXPECT_NE(image({10, 10, 11, in}, nine, to), "") << "108 elements";
  EXPECT_NE(image({-1, 10, 10, in}, nine, {-1, 10, 10, out}), "");
  EXPECT_NE(image({10, 10, 10, {nullptr, 100}}, nine, to), "");
  EXPECT_NE(image(from, nine, {10, 10, 10, memory.view().subspan(50, 100)}), "");
  EXPECT_EQ(image({10, 5, 20, std::as_const(memory).view()}, nine, {10, 5, 20, memory.view().subspan(5, 190)}), "")
      << "side by side";
  EXPECT_NE(image({10, 5, 20, std::as_const(memory).view()}, nine, {10, 5, 20, memory.view().subspan(4, 190)}), "");
  EXPECT_NE(image({10, 5, 20, std::as_const(memory).view()}, nine, {9, 5, 21, memory.view().subspan(5, 190)}), "");
  EXPECT_NE(image(from, {1, 2, 3, 4, 5, 6, 7, 8, 10}, to, separable), "");
  EXPECT_NE(image(from, nine, to, static_cast<convolve_algorithm>(99)), "");
}

TEST(ConvolveErrors, Host) {
  expect_errors(context<host>());
  const context<host> ctx;
  for (const auto algorithm : {constant_filter, tiled_halo_output, tiled_halo_input, tiled_cached_halo}) {
    const std::string message = refusal([&] { (void)convolved_line<float>(ctx, {1, 2, 3}, {1}, algorithm); });
    EXPECT_NE(message.find(to_string(algorithm)), std::string::npos) << message;
    EXPECT_NE(message.find("host"), std::string::npos) << message;
    EXPECT_NE(refusal([&] { (void)convolved<float>(ctx, {1, 2, 3}, {1}, {1, 3}, {.algorithm = algorithm}); }), "");
  }
}

TEST(ConvolveErrors, Device) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  expect_errors(ctx);
  const std::vector<float> wide(17 * 17, 1.0F);
  for (const auto algorithm : {constant_filter, tiled_halo_output, tiled_halo_input, tiled_cached_halo, separable}) {
    EXPECT_NE(refusal(
                  [&] {
                    (void)convolved<float>(ctx, {1, 2, 3}, wide, {1, 3}, {.algorithm = algorithm});
                  },
                  error_code::unsupported),
              "");
  }
}

TEST(ConvolveErrors, AlgorithmsHaveNames) {
  EXPECT_EQ(to_string(automatic), "automatic");
  EXPECT_EQ(to_string(tiled_cached_halo), "tiled_cached_halo");
  EXPECT_EQ(to_string(register_tiled), "register_tiled");
  EXPECT_EQ(to_string(separable), "separable");
  EXPECT_EQ(to_string(static_cast<convolve_algorithm>(-1)), "unknown");
}

TEST(ConvolveMemory, RefusedAllocationsOnTheHost) {
  const std::int64_t requests = test::fail_every_allocation([](const context<host>& ctx) {
    const std::vector<float> in(100, 1.0F);
    std::vector<float> out(100);
    convolve<float, host>(ctx, {10, 10, 10, in}, std::vector<float>(9, 1.0F), {10, 10, 10, out},
                          {.algorithm = separable});
  });
  EXPECT_EQ(requests, 1);
}

TEST(ConvolveMemory, RefusedAllocationsOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const std::int64_t requests = test::fail_every_device_allocation([](const context<device>& ctx) {
    array<float, device> memory(ctx, 200);
    fill_zero(ctx, memory.view());
    convolve<float, device>(ctx, std::as_const(memory).view().subspan(0, 100), std::vector<float>(17, 1.0F),
                            memory.view().subspan(100, 100));
    ctx.synchronize();
  });
  EXPECT_EQ(requests, 2);
}

// The filter may change as soon as the call returns, and calls on several streams do not meet.
TEST(ConvolveStreams, EachCallHasItsOwnFilter) {
  SPARGO_TEST_NEEDS_GPU();
  const std::int64_t n = 1 << 20;
  const context<device> first;
  const context<device> second;
  const auto in = to_device(first, span<const float, host>(std::vector<float>(static_cast<std::size_t>(n), 1.0F)));
  for (const auto algorithm : narrow_device_algorithms) {
    std::vector<array<float, device>> outs;
    for (int k = 0; k < 8; ++k) {
      const auto& ctx = k % 2 == 0 ? first : second;
      outs.emplace_back(ctx, n);
      std::vector<float> filter(3, static_cast<float>(k + 1));
      convolve<float, device>(ctx, in.view(), filter, outs.back().view(), {.algorithm = algorithm});
      std::fill(filter.begin(), filter.end(), -1.0F);
    }
    for (int k = 0; k < 8; ++k) {
      const auto out = back(k % 2 == 0 ? first : second, outs[static_cast<std::size_t>(k)]);
      EXPECT_EQ(out[static_cast<std::size_t>(n / 2)], 3.0F * static_cast<float>(k + 1)) << to_string(algorithm);
    }
  }
}

// 2^31 + 3 elements and more: few ones in zeros, so that a handful of outputs and the sum say whether all is right;
// outputs that were not written hold NaN, which the sum shows.
void put(const context<device>& ctx, array<float, device>& to, std::int64_t at, float value) {
  copy<float>(ctx, span<const float, host>(&value, 1), to.view().subspan(at, 1));
  ctx.synchronize();
}
float get(const context<device>& ctx, const array<float, device>& from, std::int64_t at) {
  return to_host(ctx, from.view().subspan(at, 1))[0];
}

TEST(ConvolveHuge, LinesAndImages) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t side = 46341;
  const std::int64_t size = side * side;  // 2^31 + 4633
  if (ctx.memory().free_bytes < 3 * size * 4) GTEST_SKIP() << "needs " << 3 * size * 4 << " bytes of device memory";
  array<float, device> in(ctx, size);
  array<float, device> out(ctx, size);
  fill_zero(ctx, in.view());
  const std::vector<std::int64_t> ones = {0, (std::int64_t{1} << 31) + 1, size - 1};
  for (const std::int64_t at : ones) put(ctx, in, at, 1.0F);
  const std::int64_t line = (std::int64_t{1} << 31) + 3;
  for (const auto algorithm : narrow_device_algorithms) {
    detail::fill_bytes(ctx, out.data(), 0xff, static_cast<std::size_t>(size) * 4);
    convolve<float, device>(ctx, in.view().subspan(0, line), std::vector<float>{1, 2, 4}, out.view().subspan(0, line),
                            {.algorithm = algorithm});
    EXPECT_EQ(get(ctx, out, ones[1]), 2.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, ones[1] - 1), 4.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, line - 1), 1.0F) << to_string(algorithm);
    EXPECT_EQ((reduce_sum<float, device>(ctx, out.view().subspan(0, line))), 6.0F + 7.0F) << to_string(algorithm);
  }
  for (const auto algorithm : narrow_device_algorithms) {
    detail::fill_bytes(ctx, out.data(), 0xff, static_cast<std::size_t>(size) * 4);
    convolve<float, device>(ctx, {side, side, side, in.view()}, std::vector<float>{1, 2, 4, 8, 16, 32, 64, 128, 0},
                            {side, side, side, out.view()}, {.algorithm = algorithm});
    EXPECT_EQ(get(ctx, out, 0), 16.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, ones[1] + side), 2.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, size - 1), 16.0F) << to_string(algorithm);
    // The window of the first one loses its left and upper taps, of the last its right and lower ones.
    EXPECT_EQ((reduce_sum<float, device>(ctx, std::as_const(out).view())),
              static_cast<float>((1 + 2 + 8 + 16) + 255 + (16 + 32 + 128 + 0)))
        << to_string(algorithm);
  }
}

}  // namespace
}  // namespace spargo
