// Sums and maxima against long double loops, on every backend.
#include "support/device.hpp"

#include <spargo/primitives/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

const std::vector<std::int64_t> sizes = {1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 16385, 400001, 5000000};

template <class T>
std::vector<T> random_values(std::int64_t size) {
  std::mt19937_64 random(static_cast<std::uint64_t>(size));
  std::vector<T> values;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto whole = static_cast<std::int64_t>(random() % 2000001) - 900000;
    if constexpr (std::floating_point<T>) {
      values.push_back(static_cast<T>(static_cast<double>(whole) / 700.0));
    } else {
      values.push_back(static_cast<T>(whole));
    }
  }
  return values;
}

// Within the documented bound of the exact sum.
template <class T>
void expect_sum(T sum, long double exact, long double magnitude, std::size_t size) {
  const long double depth = std::log2(static_cast<long double>(size)) + 32;
  EXPECT_LE(std::abs(static_cast<long double>(sum) - exact),
            depth * static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2 * magnitude)
      << size << " values";
}

// Sum within the documented bound, exact for integers; exact maximum.
template <class T>
void expect_reductions(const std::vector<T>& values, T sum, T max) {
  EXPECT_EQ(max, *std::max_element(values.begin(), values.end())) << values.size() << " values";
  if constexpr (std::floating_point<T>) {
    long double exact = 0;
    long double magnitude = 0;
    for (const T v : values) {
      exact += v;
      magnitude += std::abs(static_cast<long double>(v));
    }
    expect_sum(sum, exact, magnitude, values.size());
  } else {
    std::make_unsigned_t<T> exact = 0;
    for (const T v : values) exact += static_cast<std::make_unsigned_t<T>>(v);
    EXPECT_EQ(sum, static_cast<T>(exact)) << values.size() << " values";
  }
}

template <class T>
class Reduce : public testing::Test {};
using reduced = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Reduce, reduced);

TYPED_TEST(Reduce, HostSameBitsForAnyThreads) {
  for (const std::int64_t n : sizes) {
    const auto values = random_values<TypeParam>(n);
    const context<host> one({.threads = 1});
    const TypeParam sum = reduce_sum<TypeParam, host>(one, values);
    expect_reductions(values, sum, reduce_max<TypeParam, host>(one, values));
    for (const int threads : {2, 3, 7}) {
      const context<host> ctx({.threads = threads});
      EXPECT_EQ((reduce_sum<TypeParam, host>(ctx, values)), sum) << n << " values, " << threads << " threads";
    }
  }
}

TYPED_TEST(Reduce, Device) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const std::int64_t n : sizes) {
    const auto values = random_values<TypeParam>(n);
    const auto there = to_device(ctx, span<const TypeParam, host>(values));
    const TypeParam sum = reduce_sum<TypeParam, device>(ctx, there.view());
    expect_reductions(values, sum, reduce_max<TypeParam, device>(ctx, there.view()));
    EXPECT_EQ((reduce_sum<TypeParam, device>(ctx, there.view())), sum);
  }
}

TYPED_TEST(Reduce, EmptyRanges) {
  const context<host> ctx;
  EXPECT_EQ((reduce_sum<TypeParam, host>(ctx, {})), TypeParam{0});
  EXPECT_THROW((void)(reduce_max<TypeParam, host>(ctx, {})), error);
}

template <class Space>
void expect_nan_propagates(const context<Space>& ctx, auto&& upload) {
  for (const std::int64_t n : {1, 40, 50000}) {
    for (const std::int64_t where : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> values(static_cast<std::size_t>(n), -1.0F);
      values[static_cast<std::size_t>(where)] = std::nanf("");
      const auto there = upload(values);
      EXPECT_TRUE(std::isnan(reduce_max<float, Space>(ctx, there.view()))) << n << " values, NaN at " << where;
    }
  }
}

array<float, host> host_copy(const std::vector<float>& values) {
  const context<host> ctx;
  return clone(ctx, span<const float, host>(values));
}

TEST(ReduceMax, NanPropagatesOnTheHost) { expect_nan_propagates(context<host>{}, host_copy); }

TEST(ReduceMax, NanPropagatesOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  expect_nan_propagates(ctx, [&](const auto& values) { return to_device(ctx, span<const float, host>(values)); });
}

// Equal addends are rounded in the same direction, so a running sum drifts far beyond the bound.
template <class T, class Space>
void expect_no_drift(const context<Space>& ctx, auto&& upload) {
  const auto value = static_cast<T>(0.1);
  for (const std::size_t n : {std::size_t{16000}, std::size_t{300000}, std::size_t{5000000}}) {
    const auto there = upload(std::vector<T>(n, value));
    const long double exact = static_cast<long double>(n) * static_cast<long double>(value);
    expect_sum(reduce_sum<T, Space>(ctx, there.view()), exact, exact, n);
  }
}

TEST(ReduceSum, EqualAddendsDoNotDriftOnTheHost) {
  const context<host> ctx;
  const auto upload = [&]<class T>(const std::vector<T>& v) { return clone(ctx, span<const T, host>(v)); };
  expect_no_drift<float>(ctx, upload);
  expect_no_drift<double>(ctx, upload);
}

TEST(ReduceSum, EqualAddendsDoNotDriftOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto upload = [&]<class T>(const std::vector<T>& v) { return to_device(ctx, span<const T, host>(v)); };
  expect_no_drift<float>(ctx, upload);
  expect_no_drift<double>(ctx, upload);
}

// A running sum would stop at 2^24.
TEST(ReduceSum, OnesBeyondTheMantissaAreCountedOnTheHost) {
  const std::vector<float> ones(std::size_t{1} << 26, 1.0F);
  EXPECT_EQ((reduce_sum<float, host>(context<host>{}, ones)), 67108864.0F);
}

TEST(ReduceSum, OnesBeyondTheMantissaAreCountedOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::vector<float> ones(std::size_t{1} << 26, 1.0F);
  const auto there = to_device(ctx, span<const float, host>(ones));
  EXPECT_EQ((reduce_sum<float, device>(ctx, there.view())), 67108864.0F);
}

}  // namespace
}  // namespace spargo
