// Tensor-core products against a triple loop in double: exact on small integers, within the documented bound on random
// values, with NaN around every operand to detect reads outside it.
#include <spargo/primitives/matmul_tensor.hpp>

#include "support/device.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace spargo {

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

// --- bfloat16 -------------------------------------------------------------------------------------------------------

float from_pattern(std::uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(Bfloat16, HoldsTheUpperHalfOfAFloat) {
  EXPECT_EQ(bfloat16(1.0F).bits, 0x3f80);
  EXPECT_EQ(bfloat16(-2.5F).bits, 0xc020);
  EXPECT_EQ(bfloat16(0.0F).bits, 0x0000);
  EXPECT_EQ(bfloat16(-0.0F).bits, 0x8000);
  EXPECT_EQ(static_cast<float>(bfloat16::from_bits(0x4049)), 3.140625F);
  EXPECT_EQ(bfloat16().bits, 0);
}

TEST(Bfloat16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(bfloat16(from_pattern(0x3f808000U)).bits, 0x3f80);  // tie, lower neighbour even
  EXPECT_EQ(bfloat16(from_pattern(0x3f818000U)).bits, 0x3f82);  // tie, upper neighbour even
  EXPECT_EQ(bfloat16(from_pattern(0x3f808001U)).bits, 0x3f81);
  EXPECT_EQ(bfloat16(from_pattern(0x3f807fffU)).bits, 0x3f80);
  EXPECT_EQ(bfloat16(from_pattern(0x00008000U)).bits, 0x0000);  // subnormal, tie
  EXPECT_EQ(bfloat16(from_pattern(0x00008001U)).bits, 0x0001);
}

TEST(Bfloat16, KeepsInfinityAndNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bfloat16(infinity).bits, 0x7f80);
  EXPECT_EQ(bfloat16(-infinity).bits, 0xff80);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);  // overflows
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(nan_value))));
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(from_pattern(0x7f800001U)))));  // NaN by its low bits only
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(from_pattern(0xffffffffU)))));
}

TEST(Bfloat16, EveryValueSurvivesConversionToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto value = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
    if (std::isnan(static_cast<float>(value))) continue;
    ASSERT_EQ(bfloat16(static_cast<float>(value)).bits, bits);
  }
}

// --- The product ----------------------------------------------------------------------------------------------------

enum class input_kind { floats_as_tf32, floats_as_bf16, bfloat16s };
constexpr input_kind kinds[] = {input_kind::floats_as_tf32, input_kind::floats_as_bf16, input_kind::bfloat16s};

struct problem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  transpose_kind op_a = transpose_kind::none;
  transpose_kind op_b = transpose_kind::none;
  float alpha = 1;
  float beta = 0;
  std::int64_t pad = 0;    // of every stride
  std::int64_t shift = 0;  // elements before the first one of each operand
};

std::string describe(const problem& p, input_kind kind) {
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + ", op_a " +
         std::to_string(static_cast<int>(p.op_a)) + ", op_b " + std::to_string(static_cast<int>(p.op_b)) + ", alpha " +
         std::to_string(p.alpha) + ", beta " + std::to_string(p.beta) + ", pad " + std::to_string(p.pad) + ", shift " +
         std::to_string(p.shift) + ", inputs " + std::to_string(static_cast<int>(kind));
}

// A matrix stored on the host with NaN in all gaps.
struct stored {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t stride;
  std::int64_t shift;
  std::vector<float> data;

  stored(std::int64_t r, std::int64_t c, const problem& p)
      : rows(r),
        cols(c),
        stride(c + p.pad),
        shift(p.shift),
        data(static_cast<std::size_t>(shift + r * stride + 1), nan_value) {}

  float& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(shift + i * stride + j)]; }
  float at(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(shift + i * stride + j)]; }

  template <class Next>
  void fill(Next&& next) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) at(i, j) = next();
    }
  }
};

template <class T>
dense_view<T, device> view_of(const stored& from, span<T, device> there) {
  return {from.rows, from.cols, from.stride, there.subspan(from.shift, there.size() - from.shift)};
}

array<float, device> send(const context<device>& ctx, const stored& from) {
  return to_device(ctx, span<const float, host>(from.data));
}

array<bfloat16, device> send_rounded(const context<device>& ctx, const stored& from) {
  std::vector<bfloat16> rounded;
  for (const float value : from.data) rounded.push_back(bfloat16(value));
  return to_device(ctx, span<const bfloat16, host>(rounded));
}

// The whole array of C after the product, so that writes outside C show.
std::vector<float> multiply(const context<device>& ctx, const problem& p, input_kind kind, const stored& a,
                            const stored& b, const stored& c) {
  auto result = send(ctx, c);
  const auto c_view = view_of(c, result.view());
  matmul_tensor_options options{.inputs = tensor_inputs::bf16, .op_a = p.op_a, .op_b = p.op_b};
  if (kind == input_kind::bfloat16s) {
    const auto device_a = send_rounded(ctx, a);
    const auto device_b = send_rounded(ctx, b);
    matmul_tensor(ctx, p.alpha, view_of(a, device_a.view()), view_of(b, device_b.view()), p.beta, c_view, options);
  } else {
    if (kind == input_kind::floats_as_tf32) options.inputs = tensor_inputs::tf32;
    const auto device_a = send(ctx, a);
    const auto device_b = send(ctx, b);
    matmul_tensor(ctx, p.alpha, view_of(a, device_a.view()), view_of(b, device_b.view()), p.beta, c_view, options);
  }
  std::vector<float> back(c.data.size());
  copy<float>(ctx, std::as_const(result).view(), span<float, host>(back));
  ctx.synchronize();
  return back;
}

// Expected value and sum of magnitudes of one element.
struct expected {
  double value = 0;
  double magnitude = 0;
};

expected element_of(const problem& p, const stored& a, const stored& b, std::int64_t i, std::int64_t j) {
  expected e;
  for (std::int64_t l = 0; l < p.k; ++l) {
    const double x = p.op_a == transpose_kind::none ? a.at(i, l) : a.at(l, i);
    const double y = p.op_b == transpose_kind::none ? b.at(l, j) : b.at(j, l);
    e.value += x * y;
    e.magnitude += std::abs(x * y);
  }
  return e;
}

// Multiplies operands filled by `next` and checks each element of C against `allowed(expected, beta * c)`.
template <class Next, class Allowed>
void check_product(const problem& p, input_kind kind, Next&& next, Allowed&& allowed) {
  const context<device> ctx;
  const bool a_turned = p.op_a == transpose_kind::transpose;
  const bool b_turned = p.op_b == transpose_kind::transpose;
  stored a(a_turned ? p.k : p.m, a_turned ? p.m : p.k, p);
  stored b(b_turned ? p.n : p.k, b_turned ? p.k : p.n, p);
  stored c(p.m, p.n, p);
  a.fill(next);
  b.fill(next);
  if (p.beta != 0) c.fill(next);
  const auto back = multiply(ctx, p, kind, a, b, c);
  stored got = c;
  got.data = back;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < p.m && wrong < 5; ++i) {
    for (std::int64_t j = 0; j < p.n && wrong < 5; ++j) {
      const expected e = element_of(p, a, b, i, j);
      const double added = p.beta == 0 ? 0.0 : static_cast<double>(p.beta) * static_cast<double>(c.at(i, j));
      const double want = static_cast<double>(p.alpha) * e.value + added;
      const double error = std::abs(static_cast<double>(got.at(i, j)) - want);
      if (!(error <= allowed(e, added))) {
        ++wrong;
        ADD_FAILURE() << describe(p, kind) << ": C(" << i << ", " << j << ") is " << got.at(i, j) << ", not " << want;
      }
    }
  }
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) got.at(i, j) = nan_value;
  }
  for (const float value : got.data) ASSERT_TRUE(std::isnan(value)) << describe(p, kind) << ": written outside of C";
}

auto small_integers() {
  return [generator = std::mt19937(7)]() mutable { return static_cast<float>(static_cast<int>(generator() % 9) - 4); };
}

// Small integers are exact in every precision, as are sums below 2^24.
void check_exactly(const problem& p, input_kind kind) {
  check_product(p, kind, small_integers(), [](const expected&, double) { return 0.0; });
}

constexpr transpose_kind both_ops[] = {transpose_kind::none, transpose_kind::transpose};

TEST(MatmulTensor, IsExactOnSmallIntegersAtSizesAroundTiles) {
  SPARGO_TEST_NEEDS_GPU();
  for (const input_kind kind : kinds) {
    for (const std::int64_t size : {1, 2, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}) {
      check_exactly({.m = size, .n = size, .k = size}, kind);
    }
  }
}

TEST(MatmulTensor, IsExactOnRectanglesUnderEveryTranspose) {
  SPARGO_TEST_NEEDS_GPU();
  for (const input_kind kind : kinds) {
    for (const transpose_kind op_a : both_ops) {
      for (const transpose_kind op_b : both_ops) {
        for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
                 {1, 300, 70}, {300, 1, 70}, {130, 250, 1}, {17, 519, 129}, {640, 40, 97}, {256, 256, 512}}) {
          check_exactly({.m = m, .n = n, .k = k, .op_a = op_a, .op_b = op_b}, kind);
        }
      }
    }
  }
}

TEST(MatmulTensor, TakesAnyStrideAndAlignment) {
  SPARGO_TEST_NEEDS_GPU();
  for (const input_kind kind : kinds) {
    for (const transpose_kind op : both_ops) {
      for (const std::int64_t pad : {0, 1, 2, 4, 8}) {
        for (const std::int64_t shift : {0, 1, 2, 4, 8}) {
          check_exactly({.m = 136, .n = 264, .k = 72, .op_a = op, .op_b = op, .pad = pad, .shift = shift}, kind);
        }
      }
    }
  }
}

TEST(MatmulTensor, ScalesAndAdds) {
  SPARGO_TEST_NEEDS_GPU();
  for (const input_kind kind : kinds) {
    for (const float alpha : {0.0F, 1.0F, -2.0F}) {
      for (const float beta : {0.0F, 1.0F, 0.5F}) {
        check_exactly({.m = 200, .n = 300, .k = 100, .alpha = alpha, .beta = beta}, kind);
        check_exactly({.m = 256, .n = 512, .k = 64, .alpha = alpha, .beta = beta, .pad = 1}, kind);
      }
    }
  }
}

TEST(MatmulTensor, AlphaZeroReadsNeitherInput) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const problem p{.m = 40, .n = 50, .k = 60, .alpha = 0, .beta = 2};
  const stored a(p.m, p.k, p);  // all NaN
  const stored b(p.k, p.n, p);
  stored c(p.m, p.n, p);
  c.fill([] { return 3.0F; });
  for (const input_kind kind : kinds) {
    stored got = c;
    got.data = multiply(ctx, p, kind, a, b, c);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) ASSERT_EQ(got.at(i, j), 6.0F);
    }
  }
}

// Every block has several tiles, so that the ring of tiles wraps and all bands are processed.
TEST(MatmulTensor, WalksOverMoreTilesThanBlocks) {
  SPARGO_TEST_NEEDS_GPU();
  for (const input_kind kind : kinds) check_exactly({.m = 128 * 21 + 5, .n = 256 * 9 + 3, .k = 40}, kind);
}

TEST(MatmulTensor, EmptySizes) {
  SPARGO_TEST_NEEDS_GPU();
  for (const input_kind kind : kinds) {
    check_exactly({.m = 0, .n = 5, .k = 3}, kind);
    check_exactly({.m = 5, .n = 0, .k = 3}, kind);
    check_exactly({.m = 33, .n = 65, .k = 0}, kind);
    check_exactly({.m = 33, .n = 65, .k = 0, .beta = 2, .pad = 3}, kind);
    check_exactly({.m = 0, .n = 0, .k = 0}, kind);
  }
}

// The header's bound, with the rounding of inputs.
TEST(MatmulTensor, ErrorOnRandomValuesIsWithinTheBound) {
  SPARGO_TEST_NEEDS_GPU();
  for (const input_kind kind : kinds) {
    const double rounding = kind == input_kind::floats_as_tf32 ? 0x1p-11 : 0x1p-8;
    for (const std::int64_t k : {5, 257, 1500}) {
      auto next = [generator = std::mt19937(11), kind]() mutable {
        const float value = std::uniform_real_distribution<float>(-1, 1)(generator);
        return kind == input_kind::bfloat16s ? static_cast<float>(bfloat16(value)) : value;
      };
      const double inputs = kind == input_kind::bfloat16s ? 0 : 2.01 * rounding;
      check_product({.m = 150, .n = 270, .k = k, .op_b = transpose_kind::transpose, .alpha = 0.7F, .beta = -1.3F}, kind,
                    next, [&](const expected& e, double added) {
                      return (inputs + static_cast<double>(k + 2) * 0x1p-22) * 0.7 * e.magnitude +
                             0x1p-22 * std::abs(added) + 1e-30;
                    });
    }
  }
}

// The bit below the kept ones decides: truncation, the chip's treatment of a float passed as TF32, would fail.
TEST(MatmulTensor, RoundsFloatsToNearest) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const auto& [inputs, step] : {std::pair{tensor_inputs::tf32, 0x1p-10F}, {tensor_inputs::bf16, 0x1p-7F}}) {
    for (const transpose_kind op : both_ops) {
      const float high = 1 + 0.75F * step;
      const float low = 1 + 0.25F * step;
      const auto a = to_device(ctx, span<const float, host>(std::vector<float>{high, low}));
      const auto b = to_device(ctx, span<const float, host>(std::vector<float>{1, 0, 0, 1}));
      array<float, device> c(ctx, 2);
      const dense_view<const float, device> a_view =
          op == transpose_kind::none ? dense_view<const float, device>{1, 2, 2, std::as_const(a).view()}
                                     : dense_view<const float, device>{2, 1, 1, std::as_const(a).view()};
      matmul_tensor(ctx, 1, a_view, {2, 2, 2, std::as_const(b).view()}, 0, {1, 2, 2, c.view()},
                    {.inputs = inputs, .op_a = op});
      const auto got = to_host(ctx, std::as_const(c).view());
      EXPECT_EQ(got[0], 1 + step) << to_string(inputs);
      EXPECT_EQ(got[1], 1.0F) << to_string(inputs);
    }
  }
}

TEST(MatmulTensor, NanAndInfinityReachTheirRowAndColumnOnly) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const input_kind kind : kinds) {
    const problem p{.m = 140, .n = 270, .k = 90};
    stored a(p.m, p.k, p);
    stored b(p.k, p.n, p);
    const stored c(p.m, p.n, p);
    a.fill([] { return 1.0F; });
    b.fill([] { return 1.0F; });
    a.at(131, 80) = nan_value;
    b.at(7, 260) = std::numeric_limits<float>::infinity();
    stored got = c;
    got.data = multiply(ctx, p, kind, a, b, c);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        if (i == 131) {
          ASSERT_TRUE(std::isnan(got.at(i, j))) << i << ", " << j;
        } else {
          ASSERT_EQ(got.at(i, j), j == 260 ? std::numeric_limits<float>::infinity() : 90.0F) << i << ", " << j;
        }
      }
    }
  }
}

TEST(MatmulTensor, EveryRunGivesTheSameBits) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const problem p{.m = 700, .n = 900, .k = 1100};
  std::mt19937 generator(3);
  const auto next = [&] { return std::uniform_real_distribution<float>(-1, 1)(generator); };
  stored a(p.m, p.k, p);
  stored b(p.k, p.n, p);
  stored c(p.m, p.n, p);
  a.fill(next);
  b.fill(next);
  c.fill([] { return 0.0F; });
  for (const input_kind kind : kinds) {
    auto first = multiply(ctx, p, kind, a, b, c);
    auto second = multiply(ctx, p, kind, a, b, c);
    first.pop_back();  // the NaN after the last element
    second.pop_back();
    ASSERT_EQ(first, second);
  }
}

// Offsets above 2^31 elements in C; with a row and a column of ones all elements of a row are equal.
TEST(MatmulTensor, HugeC) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t m = (std::int64_t{1} << 16) + 1;
  const std::int64_t n = (std::int64_t{1} << 15) + 3;
  if (ctx.memory().free_bytes < m * n * 4 + (std::int64_t{1} << 30)) GTEST_SKIP() << "needs 10 GB of device memory";
  std::vector<float> rows(static_cast<std::size_t>(m));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 127);
  const auto a = to_device(ctx, span<const float, host>(rows));
  const auto b = to_device(ctx, span<const float, host>(std::vector<float>(static_cast<std::size_t>(n), 1.0F)));
  array<float, device> c(ctx, m * n);
  matmul_tensor(ctx, 1, {m, 1, 1, std::as_const(a).view()}, {1, n, n, std::as_const(b).view()}, 0, {m, n, n, c.view()},
                {.inputs = tensor_inputs::bf16});
  for (const std::int64_t i : {std::int64_t{0}, m / 2, m - 2, m - 1}) {
    const auto row = to_host(ctx, std::as_const(c).view().subspan(i * n, n));
    for (const float value : row) ASSERT_EQ(value, static_cast<float>(i % 127)) << "row " << i;
  }
}

// Offsets above 2^31 elements in A: zeros, and ones in its last row.
template <class T>
void check_huge_a() {
  const context<device> ctx;
  const std::int64_t m = (std::int64_t{1} << 16) + 1;
  const std::int64_t k = (std::int64_t{1} << 15) + 8;
  if (ctx.memory().free_bytes < m * k * 10) GTEST_SKIP() << "needs 22 GB of device memory";
  const std::vector<T> ones(static_cast<std::size_t>(k), T(1.0F));
  const auto b = to_device(ctx, span<const T, host>(ones));
  array<T, device> a(ctx, m * k);
  fill_zero(ctx, a.view());
  copy<T>(ctx, span<const T, host>(ones), a.view().subspan((m - 1) * k, k));
  array<float, device> c(ctx, m);
  matmul_tensor(ctx, 1, {m, k, k, std::as_const(a).view()}, {k, 1, 1, std::as_const(b).view()}, 0, {m, 1, 1, c.view()},
                {.inputs = tensor_inputs::bf16});
  const auto got = to_host(ctx, std::as_const(c).view());
  for (std::int64_t i = 0; i < m - 1; ++i) ASSERT_EQ(got[i], 0.0F) << "row " << i;
  EXPECT_EQ(got[m - 1], static_cast<float>(k));
}

TEST(MatmulTensor, HugeAOfBfloat16) {
  SPARGO_TEST_NEEDS_GPU();
  check_huge_a<bfloat16>();
}

TEST(MatmulTensor, HugeAOfFloat) {
  SPARGO_TEST_NEEDS_GPU();
  check_huge_a<float>();
}

// --- Errors ---------------------------------------------------------------------------------------------------------

// Checks do not use the device, but a context requires one.
template <class F>
void expect_refused(error_code code, const std::string& part, F&& f) {
  try {
    f();
    ADD_FAILURE() << "not refused: " << part;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(MatmulTensor, RefusesWrongArguments) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  array<float, device> data(ctx, 1000);
  array<float, device> out(ctx, 1000);
  const auto in = std::as_const(data).view();
  using input = dense_view<const float, device>;
  using output = dense_view<float, device>;
  const auto refused = [&](const std::string& part, const input& a, const input& b, const output& c) {
    expect_refused(error_code::invalid_argument, part, [&] { matmul_tensor(ctx, 1, a, b, 0, c); });
  };
  refused("op(A) is 4 x 5, op(B) is 6 x 7", {4, 5, 5, in}, {6, 7, 7, in}, {4, 7, 7, out.view()});
  refused("C is 4 x 8", {4, 5, 5, in}, {5, 7, 7, in}, {4, 8, 8, out.view()});
  refused("stride of 4", {4, 5, 4, in}, {5, 7, 7, in}, {4, 7, 7, out.view()});
  refused("B has 34 elements", {4, 5, 5, in}, {5, 7, 7, in.subspan(0, 34)}, {4, 7, 7, out.view()});
  refused("C is -1 x 7", {4, 5, 5, in}, {5, 7, 7, in}, {-1, 7, 7, out.view()});
  refused("A is null", {4, 5, 5, {nullptr, 20}}, {5, 7, 7, in}, {4, 7, 7, out.view()});
  refused("overlaps", {4, 5, 5, in}, {5, 7, 7, in.subspan(100, 35)}, {4, 7, 7, data.view().subspan(134, 28)});
  refused("exceeds 2^63 bytes", {INT64_MAX, 5, 5, in}, {5, 7, 7, in}, {4, 7, 7, out.view()});
  expect_refused(error_code::unsupported, "at most", [&] {
    const std::int64_t n = std::int64_t{1} << 31;
    matmul_tensor(ctx, 1, input{0, 0, 0, in}, input{0, n, n, in}, 0, output{0, n, n, out.view()});
  });
  array<bfloat16, device> narrow(ctx, 100);
  const auto narrow_in = std::as_const(narrow).view();
  expect_refused(error_code::invalid_argument, "expected options.inputs bf16", [&] {
    matmul_tensor(ctx, 1, dense_view<const bfloat16, device>{4, 5, 5, narrow_in}, {5, 7, 7, narrow_in}, 0,
                  output{4, 7, 7, out.view()}, {.inputs = tensor_inputs::tf32});
  });
}

TEST(MatmulTensor, NamesOfInputs) {
  EXPECT_EQ(to_string(tensor_inputs::tf32), "tf32");
  EXPECT_EQ(to_string(tensor_inputs::bf16), "bf16");
}

}  // namespace

}  // namespace spargo
