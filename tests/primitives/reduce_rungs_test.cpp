// Every reduction algorithm on both backends against plain loops in wider arithmetic.
#include "primitives/reduce/algorithms.hpp"
#include "support/device.hpp"
#include "support/message.hpp"

#include <spargo/primitives/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

using test::message_of;

const std::vector<reduce_algorithm> device_algorithms = detail::algorithms_on<device>(detail::reduce::algorithms);
const std::vector<reduce_algorithm> host_algorithms = detail::algorithms_on<host>(detail::reduce::algorithms);
constexpr auto operations = {operation::sum, operation::product, operation::min,
                             operation::max, operation::bit_and, operation::bit_or};

const std::vector<std::int64_t> sizes = {1,    2,    31,   32,   33,   255,   256,   257,   509,    1023,
                                         1024, 1025, 4095, 4097, 8191, 16384, 16385, 65537, 262147, 1048583};

template <class T>
std::vector<T> random_values(std::int64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(size));
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) {
    if constexpr (std::floating_point<T>) {
      v = static_cast<T>(static_cast<double>(random() % 2000001) / 1e6 - 0.9);
    } else {
      v = static_cast<T>(random());
    }
  }
  return values;
}

// The exact result, wrapped for integers, and the quantity that bounds floating-point error.
template <class T>
struct expected {
  long double real = 0;
  long double scale = 0;
  T whole{};
};

template <class T>
expected<T> oracle(const std::vector<T>& values, operation op) {
  expected<T> e;
  if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<T>;
    wide sum = 0;
    wide product = 1;
    for (const T v : values) {
      sum += static_cast<wide>(v);
      product *= static_cast<wide>(v);
    }
    T every = static_cast<T>(-1);
    T any = 0;
    for (const T v : values) {
      every = static_cast<T>(every & v);
      any = static_cast<T>(any | v);
    }
    switch (op) {
      case operation::sum:
        e.whole = static_cast<T>(sum);
        break;
      case operation::product:
        e.whole = static_cast<T>(product);
        break;
      case operation::min:
        e.whole = *std::min_element(values.begin(), values.end());
        break;
      case operation::max:
        e.whole = *std::max_element(values.begin(), values.end());
        break;
      case operation::bit_and:
        e.whole = every;
        break;
      case operation::bit_or:
        e.whole = any;
        break;
    }
  } else {
    if (op == operation::product) e.real = 1;
    for (const T v : values) {
      if (op == operation::sum) e.real += v;
      if (op == operation::product) e.real *= v;
      e.scale += std::abs(static_cast<long double>(v));
    }
    if (op == operation::min) e.real = *std::min_element(values.begin(), values.end());
    if (op == operation::max) e.real = *std::max_element(values.begin(), values.end());
  }
  return e;
}

template <class T>
void expect_result(T got, const std::vector<T>& values, operation op) {
  const auto e = oracle(values, op);
  const auto n = static_cast<long double>(values.size());
  if constexpr (std::integral<T>) {
    EXPECT_EQ(got, e.whole);
  } else {
    const long double half_eps = static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2;
    long double bound = 0;  // of min and max
    if (op == operation::sum) bound = (64 + n / (1 << 23)) * half_eps * e.scale;
    if (op == operation::product) bound = n * half_eps * std::abs(e.real) + std::numeric_limits<T>::min();
    EXPECT_LE(std::abs(static_cast<long double>(got) - e.real), bound);
  }
}

bool defined(operation op, bool whole) { return whole || (op != operation::bit_and && op != operation::bit_or); }

// Values whose product neither underflows nor overflows.
template <class T>
std::vector<T> values_for(std::int64_t size, operation op) {
  auto values = random_values<T>(size, 7);
  if constexpr (std::floating_point<T>) {
    if (op == operation::product) {
      for (T& v : values) v = v < T(0) ? T(1.0625) : T(1) / T(1.0625);
    }
  } else {
    if (op == operation::product) {
      for (T& v : values) v = static_cast<T>(v | 1);
    }
  }
  return values;
}

template <class T>
class ReduceRungs : public testing::Test {};
using reduced = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(ReduceRungs, reduced);

TYPED_TEST(ReduceRungs, HostOperations) {
  using T = TypeParam;
  const context<host> ctx({.threads = 2});
  for (const operation op : operations) {
    if (!defined(op, std::integral<T>)) continue;
    for (const std::int64_t n : sizes) {
      const auto values = values_for<T>(n, op);
      for (const auto algorithm : host_algorithms) {
        SCOPED_TRACE(std::string(to_string(op)) + " of " + std::to_string(n));
        expect_result((reduce<T, host>(ctx, values, op, {.algorithm = algorithm})), values, op);
      }
    }
  }
}

TYPED_TEST(ReduceRungs, DeviceOperations) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const operation op : operations) {
    if (!defined(op, std::integral<T>)) continue;
    for (const std::int64_t n : sizes) {
      const auto values = values_for<T>(n, op);
      const auto there = to_device(ctx, span<const T, host>(values));
      for (const auto algorithm : device_algorithms) {
        SCOPED_TRACE(std::string(to_string(op)) + " of " + std::to_string(n) + " by " +
                     std::string(to_string(algorithm)));
        expect_result((reduce<T, device>(ctx, there.view(), op, {.algorithm = algorithm})), values, op);
      }
    }
  }
}

// dot and max_abs_difference against loops in long double, or in wrapping integers.
template <class T, class Space>
void expect_pairs(const context<Space>& ctx, span<const T, Space> x, span<const T, Space> y, const std::vector<T>& a,
                  const std::vector<T>& b, reduce_algorithm algorithm) {
  const T product = dot<T, Space>(ctx, x, y, {.algorithm = algorithm});
  const T difference = max_abs_difference<T, Space>(ctx, x, y, {.algorithm = algorithm});
  if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<T>;
    wide sum = 0;
    T largest = std::numeric_limits<T>::lowest();
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += static_cast<wide>(a[i]) * static_cast<wide>(b[i]);
      largest = std::max(largest, a[i] < b[i] ? static_cast<T>(b[i] - a[i]) : static_cast<T>(a[i] - b[i]));
    }
    EXPECT_EQ(product, static_cast<T>(sum));
    EXPECT_EQ(difference, largest);
  } else {
    long double sum = 0;
    long double scale = 0;
    T largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const long double p = static_cast<long double>(a[i]) * static_cast<long double>(b[i]);
      sum += p;
      scale += std::abs(p);
      largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    EXPECT_LE(std::abs(static_cast<long double>(product) - sum),
              66 * static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2 * scale);
    EXPECT_EQ(difference, largest);
  }
}

// Small integers, so that differences fit.
template <class T>
std::vector<T> pair_values(std::int64_t n, std::uint64_t seed) {
  auto values = random_values<T>(n, seed);
  if constexpr (std::integral<T>) {
    for (T& v : values) v = static_cast<T>(v % 1000000);
  }
  return values;
}

TYPED_TEST(ReduceRungs, HostPairs) {
  using T = TypeParam;
  const context<host> ctx({.threads = 2});
  for (const std::int64_t n : sizes) {
    const auto a = pair_values<T>(n, 1);
    const auto b = pair_values<T>(n, 2);
    SCOPED_TRACE(n);
    expect_pairs<T, host>(ctx, a, b, a, b, reduce_algorithm::automatic);
  }
}

TYPED_TEST(ReduceRungs, DevicePairs) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const std::int64_t n : sizes) {
    const auto a = pair_values<T>(n, 1);
    const auto b = pair_values<T>(n, 2);
    const auto x = to_device(ctx, span<const T, host>(a));
    const auto y = to_device(ctx, span<const T, host>(b));
    for (const auto algorithm : device_algorithms) {
      SCOPED_TRACE(std::to_string(n) + " by " + std::string(to_string(algorithm)));
      expect_pairs<T, device>(ctx, x.view(), y.view(), a, b, algorithm);
    }
  }
}

// A range aligned to an element only gives the same bits as an aligned one.
TYPED_TEST(ReduceRungs, DeviceUnalignedRanges) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto values = random_values<T>(300007, 3);
  const auto there = to_device(ctx, span<const T, host>(values));
  for (const std::int64_t first : {1, 2, 3}) {
    const std::vector<T> part(values.begin() + first, values.end());
    const auto aligned = to_device(ctx, span<const T, host>(part));
    const auto view = std::as_const(there).view().subspan(first, there.size() - first);
    for (const auto algorithm : device_algorithms) {
      const T got = reduce<T, device>(ctx, view, operation::sum, {.algorithm = algorithm});
      expect_result(got, part, operation::sum);
      const T same = reduce<T, device>(ctx, std::as_const(aligned).view(), operation::sum, {.algorithm = algorithm});
      EXPECT_EQ(std::memcmp(&got, &same, sizeof(T)), 0) << to_string(algorithm) << " from " << first;
    }
  }
}

// The same bits for any number of blocks, in every run, and with the result over the first element.
TYPED_TEST(ReduceRungs, DeviceSameBitsForAnyLaunch) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto values = random_values<T>(3000017, 5);
  const auto there = to_device(ctx, span<const T, host>(values));
  const T once = reduce<T, device>(ctx, there.view());
  for (const int blocks : {1, 2, 7, 132, 1000}) {
    for (int run = 0; run < 3; ++run) {
      const T again = reduce<T, device>(ctx, there.view(), operation::sum,
                                        {.algorithm = reduce_algorithm::single_pass, .blocks = blocks});
      EXPECT_EQ(std::memcmp(&once, &again, sizeof(T)), 0) << blocks << " blocks";
    }
  }
  auto over = clone(ctx, there.view());
  reduce_into<T, device>(ctx, std::as_const(over).view(), over.view().subspan(0, 1));
  const auto back = to_host(ctx, std::as_const(over).view());
  ctx.synchronize();
  EXPECT_EQ(std::memcmp(&once, back.data(), sizeof(T)), 0);
  EXPECT_EQ(back[1], values[1]);
}

// Concurrent streams share nothing.
TEST(ReduceStreams, ResultsDoNotMix) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> one;
  const context<device> two;
  const std::vector<std::int64_t> ones(4000000, 1);
  const std::vector<std::int64_t> threes(4000000, 3);
  const auto a = to_device(one, span<const std::int64_t, host>(ones));
  const auto b = to_device(two, span<const std::int64_t, host>(threes));
  array<std::int64_t, device> sums_one(one, 50);
  array<std::int64_t, device> sums_two(two, 50);
  for (std::int64_t k = 0; k < 50; ++k) {
    reduce_into<std::int64_t, device>(one, a.view(), sums_one.view().subspan(k, 1));
    reduce_into<std::int64_t, device>(two, b.view(), sums_two.view().subspan(k, 1));
  }
  const auto first = to_host(one, std::as_const(sums_one).view());
  const auto second = to_host(two, std::as_const(sums_two).view());
  one.synchronize();
  two.synchronize();
  for (std::int64_t k = 0; k < 50; ++k) {
    EXPECT_EQ(first[k], 4000000);
    EXPECT_EQ(second[k], 12000000);
  }
}

TEST(ReduceSpecialValues, InfinityAndNanOnTheDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t n : {1, 40, 50000}) {
    for (const std::int64_t where : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> values(static_cast<std::size_t>(n), 1.0F);
      const auto check = [&](float special, operation op, auto&& holds) {
        values[static_cast<std::size_t>(where)] = special;
        const auto there = to_device(ctx, span<const float, host>(values));
        for (const auto algorithm : device_algorithms) {
          EXPECT_TRUE(holds(reduce<float, device>(ctx, there.view(), op, {.algorithm = algorithm})))
              << to_string(algorithm) << ' ' << to_string(op) << " of " << n << ", special at " << where;
        }
      };
      const auto nan = [](float x) { return std::isnan(x); };
      check(std::nanf(""), operation::sum, nan);
      check(std::nanf(""), operation::min, nan);
      check(std::nanf(""), operation::max, nan);
      check(infinity, operation::sum, [](float x) { return x == infinity; });
      check(infinity, operation::max, [](float x) { return x == infinity; });
      check(-infinity, operation::min, [](float x) { return x == -infinity; });
    }
  }
}

TEST(ReduceSpecialValues, NanOnTheHost) {
  const context<host> ctx({.threads = 2});
  for (const std::size_t n : {std::size_t{1}, std::size_t{40}, std::size_t{50000}}) {
    for (const std::size_t where : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<double> values(n, 1.0);
      values[where] = std::nan("");
      for (const auto op : {operation::sum, operation::product, operation::min, operation::max}) {
        EXPECT_TRUE(std::isnan(reduce<double, host>(ctx, values, op))) << to_string(op) << " of " << n;
      }
      EXPECT_TRUE(std::isnan(max_abs_difference<double, host>(ctx, values, std::vector<double>(n, 2.0))));
    }
  }
}

template <class T>
void expect_identities() {
  const context<host> ctx;
  EXPECT_EQ((reduce<T, host>(ctx, {}, operation::sum)), T{0});
  EXPECT_EQ((reduce<T, host>(ctx, {}, operation::product)), T{1});
  EXPECT_THROW((void)(reduce<T, host>(ctx, {}, operation::min)), error);
  EXPECT_THROW((void)(reduce<T, host>(ctx, {}, operation::max)), error);
  EXPECT_EQ((dot<T, host>(ctx, {}, {})), T{0});
  EXPECT_EQ((max_abs_difference<T, host>(ctx, {}, {})), T{0});
}

TEST(ReduceErrors, EmptyRanges) {
  expect_identities<std::int32_t>();
  expect_identities<double>();
  EXPECT_EQ((reduce<std::int32_t, host>(context<host>(), {}, operation::bit_and)), -1);
  EXPECT_EQ((reduce<std::int32_t, host>(context<host>(), {}, operation::bit_or)), 0);
}

TEST(ReduceErrors, ThrownBeforeAnythingRuns) {
  const context<host> ctx;
  const std::vector<float> three(3, 1.0F);
  const std::vector<float> four(4, 1.0F);
  std::vector<float> two(2);
  const auto contains = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(message_of(error_code::invalid_argument, [&] { (void)dot<float, host>(ctx, three, four); }),
           "a has 3 elements and b 4");
  contains(message_of(error_code::invalid_argument, [&] { reduce_into<float, host>(ctx, three, two); }),
           "result has 2 elements");
  contains(message_of(error_code::invalid_argument, [&] { (void)reduce<float, host>(ctx, three, operation::bit_or); }),
           "bit_or");
  contains(message_of(error_code::invalid_argument, [&] { (void)reduce<float, host>(ctx, {nullptr, 3}); }), "null");
  contains(
      message_of(
          error_code::unsupported,
          [&] { (void)reduce<float, host>(ctx, three, operation::sum, {.algorithm = reduce_algorithm::coarsened}); }),
      "coarsened does not run on the host (expected one of deterministic)");
  contains(message_of(error_code::invalid_argument,
                      [&] { (void)reduce<float, host>(ctx, three, operation::sum, {.blocks = -1}); }),
           "-1 blocks");
}

// More elements than 32 bits count; the last one differs.
TEST(ReduceHuge, ElementsPast2To31) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = (std::int64_t{1} << 31) + 3;
  if (ctx.memory().free_bytes < 2 * n * 4) GTEST_SKIP() << "the device has too little free memory";
  array<std::int32_t, device> values(ctx, n);
  detail::fill_bytes(ctx, values.data(), 0, static_cast<std::size_t>(n) * 4);
  const std::vector<std::int32_t> tail = {40, 1, 5};
  copy<std::int32_t>(ctx, span<const std::int32_t, host>(tail), values.view().subspan(n - 3, 3));
  copy<std::int32_t>(ctx, span<const std::int32_t, host>(tail).subspan(0, 1), values.view().subspan(0, 1));
  for (const auto algorithm :
       {reduce_algorithm::single_pass, reduce_algorithm::deterministic, reduce_algorithm::warp_shuffle,
        reduce_algorithm::add_on_load, reduce_algorithm::interleaved_strided}) {
    EXPECT_EQ(
        (reduce<std::int32_t, device>(ctx, std::as_const(values).view(), operation::sum, {.algorithm = algorithm})), 86)
        << to_string(algorithm);
  }
  const auto odd = std::as_const(values).view().subspan(1, n - 1);
  EXPECT_EQ((reduce<std::int32_t, device>(ctx, odd)), 46);
}

// Partial sums are powers of two times small integers, hence exact.
TEST(ReduceHuge, FloatOnesAreCountedExactly) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = std::int64_t{1} << 30;
  if (ctx.memory().free_bytes < 2 * n * 4) GTEST_SKIP() << "the device has too little free memory";
  array<float, device> values(ctx, n);
  const std::vector<float> ones(std::size_t{1} << 20, 1.0F);
  copy<float>(ctx, span<const float, host>(ones), values.view().subspan(0, 1 << 20));
  for (std::int64_t done = 1 << 20; done < n; done *= 2) {
    copy<float>(ctx, std::as_const(values).view().subspan(0, done), values.view().subspan(done, done));
  }
  for (const auto algorithm : device_algorithms) {
    EXPECT_EQ((reduce<float, device>(ctx, std::as_const(values).view(), operation::sum, {.algorithm = algorithm})),
              1073741824.0F)
        << to_string(algorithm);
  }
}

}  // namespace
}  // namespace spargo
