// Convolution against plain sums in long double, every algorithm on every backend.
#include "primitives/convolve_support.hpp"

#include <sstream>

namespace spargo {
namespace {

using namespace test;
using enum convolve_algorithm;

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

// More than 2^24 elements: covers every strip, tile and share, and detects 24-bit counters. Sums in double.
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
    // Device algorithms give the same bits; the host's naive one rounds products, and is checked separately.
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
      for (const auto algorithm : algorithms_for<device>(3)) {
        const convolve_options whole{.algorithm = algorithm, .separable = separable_filters::never};
        EXPECT_TRUE(same_bits(image, convolved<T>(ctx, in, filter, l, whole))) << to_string(algorithm) << ' ' << width;
        EXPECT_TRUE(same_bits(line, convolved_line<T>(ctx, in, row, algorithm)))
            << to_string(algorithm) << ' ' << width;
      }
    }
  }
}

// u v^T with each tap rounded once, which the rank-1 test must accept.
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

// A tap that is off by a few units in the last place is not explained by rounding.
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

// The mean of the largest numbers is one of them, also with a sum along rows.
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

// A single 1 gives the filter rotated around it: the filter itself is not flipped.
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

}  // namespace
}  // namespace spargo
