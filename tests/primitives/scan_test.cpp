// Scans against a loop, for every backend, algorithm, type and operation.
#include "primitives/scan/algorithms.hpp"
#include "support/device.hpp"

#include <spargo/primitives/reduce.hpp>
#include <spargo/primitives/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

enum class kind { exclusive, inclusive };

const std::vector<scan_algorithm> host_algorithms = detail::algorithms_on<host>(detail::scan::algorithms);
const std::vector<scan_algorithm> device_algorithms = detail::algorithms_on<device>(detail::scan::algorithms);

const std::vector<operation> float_operations = {operation::sum, operation::product, operation::min, operation::max};

template <class T>
std::vector<operation> operations() {
  std::vector<operation> all = float_operations;
  if (std::integral<T>) all.insert(all.end(), {operation::bit_and, operation::bit_or});
  return all;
}

// Around warps, blocks, sections of the block algorithms (512 and 1024) and their squares, host blocks, device tiles.
const std::vector<std::int64_t> sizes = {0,     1,     2,     31,    32,    33,    255,    256,
                                         257,   1023,  1024,  1025,  4099,  8209,  11263,  11264,
                                         11265, 16384, 32769, 22528, 22529, 65537, 262145, 300007};

// Independent of src/: T's identity and the operation, applied one element at a time.
template <class T>
T identity_of(operation op) {
  switch (op) {
    case operation::product:
      return T{1};
    case operation::min:
      return std::floating_point<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    case operation::max:
      return std::floating_point<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::min();
    case operation::bit_and:
      return static_cast<T>(-1);
    default:
      return T{0};
  }
}

template <class T>
T applied(operation op, T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (op == operation::sum) return a + b;
    if (op == operation::product) return a * b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if (op == operation::sum) return static_cast<T>(x + y);
    if (op == operation::product) return static_cast<T>(x * y);
    if (op == operation::bit_and) return static_cast<T>(x & y);
    if (op == operation::bit_or) return static_cast<T>(x | y);
  }
  return op == operation::min ? std::min(a, b) : std::max(a, b);
}

template <class T>
std::vector<T> naive_scan(const std::vector<T>& in, operation op, kind k) {
  std::vector<T> out;
  out.reserve(in.size());
  T so_far = identity_of<T>(op);
  for (const T value : in) {
    const T with = applied(op, so_far, value);
    out.push_back(k == kind::inclusive ? with : so_far);
    so_far = with;
  }
  return out;
}

// Values whose prefixes are exact in T in any order, so that results are compared exactly. Integers wrap. Float sums
// are of small integers; range products of powers of two are h(end) / h(begin) with h in [1, 256].
template <class T>
std::vector<T> exact_values(std::int64_t size, operation op) {
  std::mt19937_64 random(static_cast<std::uint64_t>(size) * 7 + static_cast<std::uint64_t>(op));
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(size));
  int height = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint64_t r = random();
    if constexpr (std::integral<T>) {
      switch (op) {
        case operation::product:
          values.push_back(static_cast<T>(r | 1));
          break;
        case operation::bit_and:  // a bit is lost now and then, so that prefixes keep changing
          values.push_back(r % 997 == 0 ? static_cast<T>(~(std::uint64_t{1} << (r % 61))) : static_cast<T>(-1));
          break;
        case operation::bit_or:
          values.push_back(r % 997 == 0 ? static_cast<T>(std::uint64_t{1} << (r % 61)) : T{0});
          break;
        default:
          values.push_back(static_cast<T>(r));
      }
    } else if (op == operation::product) {
      const int next = static_cast<int>(r % 9);
      values.push_back(std::ldexp(r % 2 == 0 ? T{1} : T{-1}, next - height));
      height = next;
    } else if (op == operation::sum) {
      values.push_back(static_cast<T>(static_cast<int>(r % 17) - 8));
    } else {
      values.push_back(static_cast<T>(static_cast<std::int64_t>(r % 2000003) - 1000001) / T{3});
    }
  }
  return values;
}

template <class T>
void poison(std::vector<T>& out) {
  if (!out.empty()) std::memset(out.data(), 0xA5, out.size() * sizeof(T));
}

// Reports the first difference only: vectors are long.
template <class T>
testing::AssertionResult same(const std::vector<T>& got, const std::vector<T>& wanted) {
  if (got.size() != wanted.size()) return testing::AssertionFailure() << got.size() << " elements";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool both_nan = std::floating_point<T> && got[i] != got[i] && wanted[i] != wanted[i];
    if (got[i] != wanted[i] && !both_nan) {
      return testing::AssertionFailure() << "element " << i << " of " << got.size() << " is " << got[i] << ", not "
                                         << wanted[i];
    }
  }
  return testing::AssertionSuccess();
}

template <class T, class Space>
void scan_into(const context<Space>& ctx, span<const T, Space> in, span<T, Space> out, operation op, kind k,
               scan_algorithm algorithm) {
  if (k == kind::exclusive) {
    exclusive_scan<T, Space>(ctx, in, out, op, {.algorithm = algorithm});
  } else {
    inclusive_scan<T, Space>(ctx, in, out, op, {.algorithm = algorithm});
  }
}

// Host vectors in and out, `shift` elements into their memory, on either backend.
template <class T>
std::vector<T> scanned(const context<host>& ctx, const std::vector<T>& in, operation op, kind k,
                       scan_algorithm algorithm, std::int64_t in_shift = 0, std::int64_t out_shift = 0) {
  const auto n = static_cast<std::int64_t>(in.size());
  std::vector<T> from(static_cast<std::size_t>(n + in_shift));
  std::copy(in.begin(), in.end(), from.begin() + in_shift);
  std::vector<T> to(static_cast<std::size_t>(n + out_shift));
  poison(to);
  scan_into<T, host>(ctx, span<const T, host>(from).subspan(in_shift, n), span<T, host>(to).subspan(out_shift, n), op,
                     k, algorithm);
  return {to.begin() + out_shift, to.end()};
}

template <class T>
std::vector<T> scanned(const context<device>& ctx, const std::vector<T>& in, operation op, kind k,
                       scan_algorithm algorithm, std::int64_t in_shift = 0, std::int64_t out_shift = 0) {
  const auto n = static_cast<std::int64_t>(in.size());
  array<T, device> from(ctx, n + in_shift);
  array<T, device> to(ctx, n + out_shift);
  copy<T>(ctx, span<const T, host>(in), from.view().subspan(in_shift, n));
  detail::fill_bytes(ctx, to.data(), 0xA5, static_cast<std::size_t>(to.size()) * sizeof(T));
  scan_into<T, device>(ctx, std::as_const(from).view().subspan(in_shift, n), to.view().subspan(out_shift, n), op, k,
                       algorithm);
  std::vector<T> out(in.size());
  copy<T>(ctx, std::as_const(to).view().subspan(out_shift, n), span<T, host>(out));
  ctx.synchronize();
  return out;
}

template <class T>
std::vector<T> scanned_in_place(const context<host>& ctx, std::vector<T> values, operation op, kind k,
                                scan_algorithm algorithm) {
  scan_into<T, host>(ctx, span<const T, host>(values), span<T, host>(values), op, k, algorithm);
  return values;
}

template <class T>
std::vector<T> scanned_in_place(const context<device>& ctx, const std::vector<T>& values, operation op, kind k,
                                scan_algorithm algorithm) {
  auto there = to_device(ctx, span<const T, host>(values));
  scan_into<T, device>(ctx, std::as_const(there).view(), there.view(), op, k, algorithm);
  const auto back = to_host(ctx, std::as_const(there).view());
  return {back.begin(), back.end()};
}

std::string label(std::int64_t n, operation op, kind k, scan_algorithm algorithm) {
  return std::string(to_string(algorithm)) + (k == kind::inclusive ? ", inclusive " : ", exclusive ") +
         std::string(to_string(op)) + " of " + std::to_string(n);
}

template <class T, class Space>
void expect_exact(const std::vector<context<Space>>& contexts, const std::vector<scan_algorithm>& algorithms,
                  const std::vector<std::int64_t>& lengths) {
  for (const std::int64_t n : lengths) {
    for (const operation op : operations<T>()) {
      const auto in = exact_values<T>(n, op);
      for (const kind k : {kind::exclusive, kind::inclusive}) {
        const auto wanted = naive_scan(in, op, k);
        for (const auto algorithm : algorithms) {
          SCOPED_TRACE(label(n, op, k, algorithm));
          for (const auto& ctx : contexts) {
            EXPECT_TRUE(same(scanned(ctx, in, op, k, algorithm), wanted));
            EXPECT_TRUE(same(scanned_in_place(ctx, in, op, k, algorithm), wanted)) << "in place";
          }
        }
      }
    }
  }
}

// Integers: the last element of an inclusive scan is the reduction.
template <class T, class Space>
void expect_last_is_reduction(const context<Space>& ctx, const std::vector<scan_algorithm>& algorithms) {
  for (const std::int64_t n : {1, 1000, 20000, 300007}) {
    for (const operation op : operations<T>()) {
      const auto in = exact_values<T>(n, op);
      array<T, Space> values(ctx, n);
      if constexpr (std::same_as<Space, device>) {
        copy<T>(ctx, span<const T, host>(in), values.view());
      } else {
        std::copy(in.begin(), in.end(), values.begin());
      }
      const T all = reduce<T, Space>(ctx, std::as_const(values).view(), op);
      for (const auto algorithm : algorithms) {
        EXPECT_EQ(scanned(ctx, in, op, kind::inclusive, algorithm).back(), all)
            << label(n, op, kind::inclusive, algorithm);
      }
    }
  }
}

// Longest chain of additions behind an element, as documented in scan.hpp.
template <class T>
double depth(scan_algorithm algorithm, std::int64_t n) {
  const auto size = static_cast<double>(n);
  switch (algorithm) {
    case scan_algorithm::sequential:
      return size;
    case scan_algorithm::chained_blocks:
      return size / 16384 + 2200;
    case scan_algorithm::decoupled_lookback:
      return size / (1 << 18) + 130;
    default:
      return 100;
  }
}

template <class T, class Space>
void expect_bounded_sums(const context<Space>& ctx, const std::vector<scan_algorithm>& algorithms, std::int64_t n) {
  std::mt19937_64 random(99);
  std::vector<T> in(static_cast<std::size_t>(n));
  std::uniform_real_distribution<T> values(T{-1}, T{2});
  for (T& v : in) v = values(random);
  for (const auto algorithm : algorithms) {
    if (algorithm == scan_algorithm::automatic) continue;
    SCOPED_TRACE(label(n, operation::sum, kind::inclusive, algorithm));
    const auto out = scanned(ctx, in, operation::sum, kind::inclusive, algorithm);
    const double allowed = depth<T>(algorithm, n) * static_cast<double>(std::numeric_limits<T>::epsilon());
    long double exact = 0;
    long double magnitude = 0;
    std::int64_t outside = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      exact += in[i];
      magnitude += std::abs(in[i]);
      if (!(std::abs(out[i] - exact) <= allowed * magnitude)) ++outside;
    }
    EXPECT_EQ(outside, 0);
  }
}

template <class T, class Space>
void expect_nan_and_infinity(const context<Space>& ctx, const std::vector<scan_algorithm>& algorithms) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const std::int64_t n = 70001;
  for (const operation op : float_operations) {
    auto in = exact_values<T>(n, op);
    in[20000] = infinity;
    in[35001] = -infinity;
    in[60003] = std::numeric_limits<T>::quiet_NaN();
    for (const kind k : {kind::exclusive, kind::inclusive}) {
      const auto wanted = naive_scan(in, op, k);
      ASSERT_NE(wanted.back(), wanted.back());
      for (const auto algorithm : algorithms) {
        EXPECT_TRUE(same(scanned(ctx, in, op, k, algorithm), wanted)) << label(n, op, k, algorithm);
      }
    }
  }
}

template <class T>
class Scan : public testing::Test {};
using scanned_types = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Scan, scanned_types);

TYPED_TEST(Scan, HostEveryAlgorithmAndOperation) {
  const std::vector<context<host>> contexts = {context<host>({.threads = 1}), context<host>({.threads = 2}),
                                               context<host>({.threads = 5})};
  expect_exact<TypeParam>(contexts, host_algorithms, sizes);
}

TYPED_TEST(Scan, DeviceEveryAlgorithmAndOperation) {
  SPARGO_TEST_NEEDS_GPU();
  expect_exact<TypeParam>(std::vector<context<device>>(1), device_algorithms, sizes);
}

TYPED_TEST(Scan, HostLarge) {
  const std::int64_t n = (std::int64_t{1} << 24) + 43;  // large enough to bypass the caches
  const context<host> ctx({.threads = 3});
  const auto in = exact_values<TypeParam>(n, operation::sum);
  const kind k = std::integral<TypeParam> ? kind::exclusive : kind::inclusive;
  const auto wanted = naive_scan(in, operation::sum, k);
  EXPECT_TRUE(same(scanned(ctx, in, operation::sum, k, scan_algorithm::chained_blocks), wanted));
  EXPECT_TRUE(same(scanned(ctx, in, operation::sum, k, scan_algorithm::automatic, 1, 1), wanted)) << "unaligned";
  EXPECT_TRUE(same(scanned_in_place(ctx, in, operation::sum, k, scan_algorithm::automatic), wanted)) << "in place";
}

TYPED_TEST(Scan, DeviceLarge) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = (std::int64_t{1} << 24) + 43;
  const auto in = exact_values<TypeParam>(n, operation::sum);
  const kind k = sizeof(TypeParam) == 4 ? kind::exclusive : kind::inclusive;
  const auto wanted = naive_scan(in, operation::sum, k);
  for (const auto algorithm : device_algorithms) {
    if (algorithm == scan_algorithm::automatic) continue;
    EXPECT_TRUE(same(scanned(ctx, in, operation::sum, k, algorithm), wanted)) << to_string(algorithm);
  }
  EXPECT_TRUE(same(scanned_in_place(ctx, in, operation::sum, k, scan_algorithm::automatic), wanted)) << "in place";
}

TYPED_TEST(Scan, HostLastIsTheReduction) {
  if constexpr (std::integral<TypeParam>) {
    expect_last_is_reduction<TypeParam>(context<host>({.threads = 2}), host_algorithms);
  }
}

TYPED_TEST(Scan, DeviceLastIsTheReduction) {
  SPARGO_TEST_NEEDS_GPU();
  if constexpr (std::integral<TypeParam>) expect_last_is_reduction<TypeParam>(context<device>(), device_algorithms);
}

TYPED_TEST(Scan, HostAnyAlignment) {
  const context<host> ctx({.threads = 2});
  const auto in = exact_values<TypeParam>(70001, operation::sum);
  const auto wanted = naive_scan(in, operation::sum, kind::exclusive);
  for (const auto algorithm : host_algorithms) {
    for (std::int64_t shift = 1; shift < 4; ++shift) {
      EXPECT_TRUE(same(scanned(ctx, in, operation::sum, kind::exclusive, algorithm, shift, 0), wanted));
      EXPECT_TRUE(same(scanned(ctx, in, operation::sum, kind::exclusive, algorithm, 0, shift), wanted));
    }
  }
}

TYPED_TEST(Scan, DeviceAnyAlignment) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto in = exact_values<TypeParam>(70001, operation::sum);
  const auto wanted = naive_scan(in, operation::sum, kind::exclusive);
  for (const auto algorithm : device_algorithms) {
    for (std::int64_t shift = 1; shift < 4; ++shift) {
      EXPECT_TRUE(same(scanned(ctx, in, operation::sum, kind::exclusive, algorithm, shift, 0), wanted));
      EXPECT_TRUE(same(scanned(ctx, in, operation::sum, kind::exclusive, algorithm, 0, shift), wanted));
      EXPECT_TRUE(same(scanned(ctx, in, operation::sum, kind::exclusive, algorithm, shift, shift), wanted));
    }
  }
}

template <class T>
class FloatScan : public testing::Test {};
using float_types = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatScan, float_types);

TYPED_TEST(FloatScan, HostErrorIsWithinTheBound) {
  expect_bounded_sums<TypeParam>(context<host>({.threads = 2}), host_algorithms, 1000003);
}

TYPED_TEST(FloatScan, DeviceErrorIsWithinTheBound) {
  SPARGO_TEST_NEEDS_GPU();
  expect_bounded_sums<TypeParam>(context<device>(), device_algorithms, 1000003);
}

TYPED_TEST(FloatScan, HostNanAndInfinity) {
  expect_nan_and_infinity<TypeParam>(context<host>({.threads = 3}), host_algorithms);
}

TYPED_TEST(FloatScan, DeviceNanAndInfinity) {
  SPARGO_TEST_NEEDS_GPU();
  expect_nan_and_infinity<TypeParam>(context<device>(), device_algorithms);
}

// Inexact sums, so that another order shows.
template <class T>
std::vector<T> rounding_values(std::int64_t n) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<T> values(T{-1}, T{1.5});
  std::vector<T> in(static_cast<std::size_t>(n));
  for (T& v : in) v = values(random);
  return in;
}

TYPED_TEST(FloatScan, HostSameBitsForAnyThreadsAndAlignment) {
  const auto in = rounding_values<TypeParam>(sizeof(TypeParam) == 4 ? 8400001 : 4200001);  // streamed
  for (const auto algorithm : {scan_algorithm::automatic, scan_algorithm::sequential, scan_algorithm::chained_blocks}) {
    const auto first = scanned(context<host>({.threads = 1}), in, operation::sum, kind::exclusive, algorithm);
    for (const int threads : {2, 5}) {
      const context<host> ctx({.threads = threads});
      EXPECT_EQ(scanned(ctx, in, operation::sum, kind::exclusive, algorithm), first) << to_string(algorithm);
      EXPECT_EQ(scanned(ctx, in, operation::sum, kind::exclusive, algorithm, 1, 1), first) << to_string(algorithm);
      EXPECT_EQ(scanned_in_place(ctx, in, operation::sum, kind::exclusive, algorithm), first) << to_string(algorithm);
    }
  }
}

TYPED_TEST(FloatScan, DeviceSameBitsEveryTimeAndForAnyAlignment) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto in = rounding_values<TypeParam>(3000011);
  for (const auto algorithm : device_algorithms) {
    const auto first = scanned(ctx, in, operation::sum, kind::exclusive, algorithm);
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(scanned(ctx, in, operation::sum, kind::exclusive, algorithm), first) << to_string(algorithm);
    }
    EXPECT_EQ(scanned(ctx, in, operation::sum, kind::exclusive, algorithm, 1, 1), first) << to_string(algorithm);
  }
}

// Many scans in a row, of varying lengths: scratch left by one must not be used by the next.
TEST(ScanOnTheDevice, ManyInARow) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (int k = 0; k < 60; ++k) {
    const std::int64_t n = 1 + (k * 7919 * 31) % 500000;
    const std::vector<std::int32_t> in(static_cast<std::size_t>(n), k + 1);
    const auto out = scanned(ctx, in, operation::sum, kind::inclusive, scan_algorithm::automatic);
    EXPECT_EQ(out.back(), (k + 1) * n) << n << " elements";
    EXPECT_EQ(out[out.size() / 2], (k + 1) * (n / 2 + 1)) << n << " elements";
  }
}

// Blocks of one scan must not starve another's.
TEST(ScanOnTheDevice, ManyStreamsAtOnce) {
  SPARGO_TEST_NEEDS_GPU();
  const std::int64_t n = 3000000;
  std::vector<context<device>> contexts(6);
  std::vector<array<std::int64_t, device>> values;
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(n), 1);
  for (auto& ctx : contexts) values.push_back(to_device(ctx, span<const std::int64_t, host>(ones)));
  for (int k = 0; k < 4; ++k) {
    for (std::size_t c = 0; c < contexts.size(); ++c) {
      auto& v = values[c];
      inclusive_scan<std::int64_t, device>(contexts[c], std::as_const(v).view(), v.view());
    }
  }
  for (std::size_t c = 0; c < contexts.size(); ++c) {
    const auto back = to_host(contexts[c], std::as_const(values[c]).view());
    // Four repeated sums of ones are binomial(i + 4, 4), which wraps later on: there fourth differences are checked.
    EXPECT_EQ(back[0], 1);
    EXPECT_EQ(back[1], 5);
    EXPECT_EQ(back[999], std::int64_t{1000} * 1001 / 2 * 1002 / 3 * 1003 / 4);
    for (const std::int64_t i : {std::int64_t{5000}, n / 2, n - 1}) {
      const auto at = [&](std::int64_t j) { return static_cast<std::uint64_t>(back[j]); };
      EXPECT_EQ(at(i) - 4 * at(i - 1) + 6 * at(i - 2) - 4 * at(i - 3) + at(i - 4), 1U);
    }
  }
}

// More than 2^31 elements; the values' period divides nothing, and a few positions are checked.
TEST(ScanOnTheDevice, Huge) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = (std::int64_t{1} << 31) + 3;
  if (ctx.memory().free_bytes < n * 4 + (std::int64_t{1} << 30)) GTEST_SKIP() << "not enough device memory";
  array<std::int32_t, device> values(ctx, n);
  for (const auto algorithm :
       {scan_algorithm::decoupled_lookback, scan_algorithm::brent_kung, scan_algorithm::kogge_stone}) {
    detail::fill_bytes(ctx, values.data(), 0, static_cast<std::size_t>(n) * sizeof(std::int32_t));
    const std::vector<std::int64_t> places = {0, 12345, (std::int64_t{1} << 30) + 7, (std::int64_t{1} << 31) - 1,
                                              n - 1};
    for (const std::int64_t p : places) {
      const std::int32_t one = static_cast<std::int32_t>(p % 1000 + 1);
      copy<std::int32_t>(ctx, span<const std::int32_t, host>(&one, 1), values.view().subspan(p, 1));
      ctx.synchronize();
    }
    inclusive_scan<std::int32_t, device>(ctx, std::as_const(values).view(), values.view(), operation::sum,
                                         {.algorithm = algorithm});
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
      std::int32_t around[2] = {-1, -1};
      const std::int64_t first = std::max<std::int64_t>(places[k] - 1, 0);
      const std::int64_t count = places[k] - first + 1;
      copy<std::int32_t>(ctx, std::as_const(values).view().subspan(first, count),
                         span<std::int32_t, host>(around, count));
      ctx.synchronize();
      if (count == 2) {
        EXPECT_EQ(around[0], sum) << "before " << places[k] << ", " << to_string(algorithm);
      }
      sum += static_cast<std::int32_t>(places[k] % 1000 + 1);
      EXPECT_EQ(around[count - 1], sum) << "at " << places[k] << ", " << to_string(algorithm);
    }
  }
}

template <class T, class F>
void expect_refused(F&& call, const std::string& part, error_code code = error_code::invalid_argument) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected: " << part;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TYPED_TEST(Scan, RefusesWhatItCannotDo) {
  using T = TypeParam;
  const context<host> ctx;
  std::vector<T> x(8);
  const span<T, host> all(x);
  const span<T, host> null(nullptr, 3);
  const auto refused = [&](span<const T, host> in, span<T, host> out, operation op, scan_algorithm algorithm,
                           const std::string& part) {
    const error_code code =
        algorithm == scan_algorithm::automatic ? error_code::invalid_argument : error_code::unsupported;
    expect_refused<T>([&] { exclusive_scan<T, host>(ctx, in, out, op, {.algorithm = algorithm}); },
                      "exclusive_scan: " + part, code);
    expect_refused<T>([&] { inclusive_scan<T, host>(ctx, in, out, op, {.algorithm = algorithm}); },
                      "inclusive_scan: " + part, code);
  };
  const auto sum = operation::sum;
  const auto automatic = scan_algorithm::automatic;
  refused(all.subspan(0, 3), all.subspan(4, 4), sum, automatic, "3 inputs and 4 outputs");
  refused(all.subspan(0, 4), all.subspan(1, 4), sum, automatic, "the output overlaps the input");
  refused(all.subspan(3, 4), all.subspan(0, 4), sum, automatic, "the output overlaps the input");
  refused(null, all.subspan(0, 3), sum, automatic, "the input is null and has 3 elements");
  refused(all.subspan(0, 3), null, sum, automatic, "the output is null and has 3 elements");
  for (const auto algorithm : {scan_algorithm::kogge_stone, scan_algorithm::kogge_stone_double_buffered,
                               scan_algorithm::brent_kung, scan_algorithm::decoupled_lookback}) {
    refused(all, all, sum, algorithm, "algorithm " + std::string(to_string(algorithm)) + " does not run on the host");
    refused(all.subspan(0, 0), all.subspan(0, 0), sum, algorithm, "algorithm");
  }
  if (std::floating_point<T>) refused(all, all, operation::bit_or, automatic, "operation bit_or is not defined");
  EXPECT_NO_THROW((exclusive_scan<T, host>(ctx, all.subspan(0, 4), all.subspan(4, 4))));  // neighbours
  EXPECT_NO_THROW((exclusive_scan<T, host>(ctx, span<const T, host>(), span<T, host>())));
}

TEST(ScanOnTheDevice, RefusesHostAlgorithms) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  array<float, device> x(ctx, 8);
  for (const auto algorithm : {scan_algorithm::sequential, scan_algorithm::chained_blocks}) {
    expect_refused<float>(
        [&] {
          inclusive_scan<float, device>(ctx, std::as_const(x).view(), x.view(), operation::sum,
                                        {.algorithm = algorithm});
        },
        "algorithm " + std::string(to_string(algorithm)) + " does not run on the device", error_code::unsupported);
  }
}

}  // namespace
}  // namespace spargo
