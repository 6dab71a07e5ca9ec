// Convolution beyond plain sums: NaN and infinity, errors, refused allocations, streams, more than 2^31 elements.
#include "primitives/convolve_support.hpp"
#include "support/resource.hpp"

#include <spargo/primitives/reduce.hpp>

namespace spargo {
namespace {

using namespace test;
using enum convolve_algorithm;

// A NaN or infinite input affects exactly the outputs whose window contains it, even through taps of 0.
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

// An infinite tap is not multiplied by the padding, which would give NaN; it gives infinity with an input under it.
template <class Space>
void expect_special_taps(const context<Space>& ctx) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in(20 * 30, 1.0F);
  for (const std::int64_t width : {3, 5, 17}) {
    std::vector<float> filter(static_cast<std::size_t>(width * width), 1.0F);
    filter[0] = infinity;  // multiplies inputs above and to the left
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

// The message of the error thrown by `call`, which must have the code; empty if there was none.
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
  for (const auto algorithm : algorithms_for<device>(3)) {
    if (detail::runs_on<host>(detail::convolve::algorithms, algorithm)) continue;
    const std::string message = refusal(
        [&] {
          (void)convolved_line<float>(ctx, {1, 2, 3}, {1}, algorithm);
        },
        error_code::unsupported);
    EXPECT_NE(message.find(to_string(algorithm)), std::string::npos) << message;
    EXPECT_NE(message.find("host"), std::string::npos) << message;
    EXPECT_NE(refusal(
                  [&] {
                    (void)convolved<float>(ctx, {1, 2, 3}, {1}, {1, 3}, {.algorithm = algorithm});
                  },
                  error_code::unsupported),
              "");
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

// The filter may change as soon as the call returns, and calls on several streams do not interfere.
TEST(ConvolveStreams, EachCallHasItsOwnFilter) {
  SPARGO_TEST_NEEDS_GPU();
  const std::int64_t n = 1 << 20;
  const context<device> first;
  const context<device> second;
  const auto in = to_device(first, span<const float, host>(std::vector<float>(static_cast<std::size_t>(n), 1.0F)));
  for (const auto algorithm : algorithms_for<device>(3)) {
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

// 2^31 + 3 elements and more: a few ones among zeros, so that a few outputs and the sum verify everything; outputs not
// written hold NaN, which the sum shows.
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
  for (const auto algorithm : algorithms_for<device>(3)) {
    detail::fill_bytes(ctx, out.data(), 0xff, static_cast<std::size_t>(size) * 4);
    convolve<float, device>(ctx, in.view().subspan(0, line), std::vector<float>{1, 2, 4}, out.view().subspan(0, line),
                            {.algorithm = algorithm});
    EXPECT_EQ(get(ctx, out, ones[1]), 2.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, ones[1] - 1), 4.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, line - 1), 1.0F) << to_string(algorithm);
    EXPECT_EQ((reduce_sum<float, device>(ctx, out.view().subspan(0, line))), 3.0F + 7.0F) << to_string(algorithm);
  }
  for (const auto algorithm : algorithms_for<device>(3)) {
    detail::fill_bytes(ctx, out.data(), 0xff, static_cast<std::size_t>(size) * 4);
    convolve<float, device>(ctx, {side, side, side, in.view()}, std::vector<float>{1, 2, 4, 8, 16, 32, 64, 128, 0},
                            {side, side, side, out.view()}, {.algorithm = algorithm});
    EXPECT_EQ(get(ctx, out, 0), 16.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, ones[1] - side), 128.0F) << to_string(algorithm);
    EXPECT_EQ(get(ctx, out, size - 1), 16.0F) << to_string(algorithm);
    // The first is in a corner, the others in the last row, the last in its corner: other taps give outputs outside.
    EXPECT_EQ((reduce_sum<float, device>(ctx, std::as_const(out).view())),
              static_cast<float>((1 + 2 + 8 + 16) + (8 + 16 + 32 + 64 + 128 + 0) + (16 + 32 + 128 + 0)))
        << to_string(algorithm);
  }
}

}  // namespace
}  // namespace spargo
