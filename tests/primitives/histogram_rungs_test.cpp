// Every histogram algorithm on both backends, for keys, values and letters, against plain loops.
#include "primitives/histogram/algorithms.hpp"
#include "support/device.hpp"

#include <spargo/primitives/histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace spargo {
namespace {

const std::vector<histogram_algorithm> device_algorithms = detail::algorithms_on<device>(detail::histogram::algorithms);
const std::vector<histogram_algorithm> host_algorithms = detail::algorithms_on<host>(detail::histogram::algorithms);

const std::vector<std::int64_t> sizes = {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1025, 4099, 65537, 300007};

enum class pattern_kind { uniform, skewed, equal, runs };

// Keys in [low, high): uniform, mostly small, all equal, or in long runs.
template <class Key>
std::vector<Key> keys_of(pattern_kind kind, std::int64_t n, std::int64_t low, std::int64_t high) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n) + 17);
  std::vector<Key> keys(static_cast<std::size_t>(n));
  const double width = static_cast<double>(high - low);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    double x = u;
    if (kind == pattern_kind::skewed) x = u * u * u * u;
    if (kind == pattern_kind::equal) x = 0.4;
    if (kind == pattern_kind::runs) x = static_cast<double>(i / 1000 % 7) / 7;
    keys[i] = static_cast<Key>(low + static_cast<std::int64_t>(x * width));
  }
  return keys;
}

template <class Key>
std::vector<std::int64_t> count_keys(const std::vector<Key>& keys, std::int64_t bins) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), 0);
  for (const Key key : keys) {
    if (std::cmp_greater_equal(key, 0) && std::cmp_less(key, bins)) ++counts[static_cast<std::size_t>(key)];
  }
  return counts;
}

template <class Count>
std::vector<std::int64_t> widened(const Count* counts, std::int64_t size) {
  return {counts, counts + size};
}

// Poisoned counts must equal the loop's.
template <class Count, class Run>
void expect_host(const std::vector<std::int64_t>& expected, Run&& run) {
  std::vector<Count> counts(expected.size(), Count{-77});
  run(span<Count, host>(counts));
  EXPECT_EQ(widened(counts.data(), static_cast<std::int64_t>(counts.size())), expected);
}

template <class Count, class Run>
void expect_device(const context<device>& ctx, const std::vector<std::int64_t>& expected, Run&& run) {
  auto counts = to_device(ctx, span<const Count, host>(std::vector<Count>(expected.size(), Count{-77})));
  run(counts.view());
  const auto back = to_host(ctx, std::as_const(counts).view());
  ctx.synchronize();
  EXPECT_EQ(widened(back.data(), back.size()), expected);
}

template <class Key>
class HistogramKeys : public testing::Test {};
using key_types = testing::Types<std::uint8_t, std::int32_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(HistogramKeys, key_types);

// Bins and key ranges, some outside if the type allows it.
template <class Key, class F>
void for_each_case(F&& f) {
  const std::vector<std::int64_t> few = {1, 2, 26, 33, 255, 256};
  const std::vector<std::int64_t> many = {1, 32, 256, 1000, 40001, 65536, 120001};
  for (const std::int64_t bins : sizeof(Key) == 1 ? few : many) {
    const std::int64_t low = std::is_signed_v<Key> ? -3 : 0;
    const std::int64_t high = sizeof(Key) == 1 ? 256 : bins + 5;
    for (const auto kind : {pattern_kind::uniform, pattern_kind::skewed, pattern_kind::equal, pattern_kind::runs}) {
      for (const std::int64_t n : sizes) {
        if (bins > 1000 && n > 1 && n < 65537) continue;
        const auto keys = keys_of<Key>(kind, n, low, high);
        SCOPED_TRACE(std::to_string(n) + " keys, " + std::to_string(bins) + " bins, pattern " +
                     std::to_string(static_cast<int>(kind)));
        f(keys, bins, count_keys(keys, bins));
      }
    }
  }
}

TYPED_TEST(HistogramKeys, Host) {
  using Key = TypeParam;
  const context<host> ctx({.threads = 2});
  for_each_case<Key>([&](const std::vector<Key>& keys, std::int64_t, const std::vector<std::int64_t>& expected) {
    for (const auto algorithm : host_algorithms) {
      SCOPED_TRACE(to_string(algorithm));
      expect_host<std::int32_t>(expected, [&](span<std::int32_t, host> counts) {
        histogram<Key, std::int32_t, host>(ctx, keys, counts, {.algorithm = algorithm});
      });
    }
  });
}

TYPED_TEST(HistogramKeys, Device) {
  using Key = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for_each_case<Key>([&](const std::vector<Key>& keys, std::int64_t, const std::vector<std::int64_t>& expected) {
    const auto there = to_device(ctx, span<const Key, host>(keys));
    for (const auto algorithm : device_algorithms) {
      SCOPED_TRACE(to_string(algorithm));
      expect_device<std::int64_t>(ctx, expected, [&](span<std::int64_t, device> counts) {
        histogram<Key, std::int64_t, device>(ctx, there.view(), counts, {.algorithm = algorithm});
      });
    }
  });
}

TYPED_TEST(HistogramKeys, DeviceUnalignedRanges) {
  using Key = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto keys = keys_of<Key>(pattern_kind::uniform, 70001, 0, 200);
  const auto there = to_device(ctx, span<const Key, host>(keys));
  for (const std::int64_t first : {1, 3, 7, 13}) {
    for (const std::int64_t cut : {0, 1, 5}) {
      const std::vector<Key> part(keys.begin() + first, keys.end() - cut);
      const auto expected = count_keys(part, 200);
      for (const auto algorithm : device_algorithms) {
        SCOPED_TRACE(std::string(to_string(algorithm)) + " from " + std::to_string(first));
        expect_device<std::int32_t>(ctx, expected, [&](span<std::int32_t, device> counts) {
          const auto view = std::as_const(there).view().subspan(first, there.size() - first - cut);
          histogram<Key, std::int32_t, device>(ctx, view, counts, {.algorithm = algorithm});
        });
      }
    }
  }
}

// Counts far above 2^16 in neighbouring bins: packed counters carry into each other all the time.
TEST(HistogramContention, CountsSumToTheElements) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = 20000003;
  const std::int64_t bins = 65536;
  std::vector<std::int32_t> keys(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int32_t>(1000 + i * 2654435761U % 7 % 2);
  keys[5] = 65535;
  const auto expected = count_keys(keys, bins);
  const auto there = to_device(ctx, span<const std::int32_t, host>(keys));
  for (const auto algorithm : device_algorithms) {
    SCOPED_TRACE(to_string(algorithm));
    expect_device<std::int64_t>(ctx, expected, [&](span<std::int64_t, device> counts) {
      histogram<std::int32_t, std::int64_t, device>(ctx, there.view(), counts, {.algorithm = algorithm});
    });
  }
}

// The documented formula, in double.
template <class T>
std::vector<std::int64_t> count_even(const std::vector<T>& values, T lower, T upper, std::int64_t bins) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), 0);
  const double scale = static_cast<double>(bins) / (static_cast<double>(upper) - static_cast<double>(lower));
  for (const T v : values) {
    if (!(v >= lower && v < upper)) continue;
    const auto bin = static_cast<std::int64_t>((static_cast<double>(v) - static_cast<double>(lower)) * scale);
    ++counts[static_cast<std::size_t>(std::min(bin, bins - 1))];
  }
  return counts;
}

template <class T>
std::vector<std::int64_t> count_edges(const std::vector<T>& values, const std::vector<T>& edges) {
  std::vector<std::int64_t> counts(edges.size() - 1, 0);
  for (const T v : values) {
    for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
      if (v >= edges[k] && v < edges[k + 1]) ++counts[k];
    }
  }
  return counts;
}

template <class T>
std::vector<T> values_with_specials(std::int64_t n) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> draw(0, 2);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& v : values) v = static_cast<T>(draw(random));
  const T special[] = {std::numeric_limits<T>::quiet_NaN(),
                       std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity(),
                       T(-4),
                       T(4),
                       T(-0.0),
                       T(0),
                       T(3.9999997)};
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 8); ++i) values[i] = special[i];
  return values;
}

template <class T>
class HistogramValues : public testing::Test {};
using real_types = testing::Types<float, double>;
TYPED_TEST_SUITE(HistogramValues, real_types);

TYPED_TEST(HistogramValues, HostEvenAndEdges) {
  using T = TypeParam;
  const context<host> ctx({.threads = 2});
  for (const std::int64_t n : {0, 1, 8, 1000, 70001}) {
    const auto values = values_with_specials<T>(n);
    for (const std::int64_t bins : {1, 7, 256, 20000}) {
      SCOPED_TRACE(std::to_string(n) + " values, " + std::to_string(bins) + " bins");
      for (const auto algorithm : host_algorithms) {
        expect_host<std::int64_t>(count_even<T>(values, T(-4), T(4), bins), [&](span<std::int64_t, host> counts) {
          histogram_even<T, std::int64_t, host>(ctx, values, T(-4), T(4), counts, {.algorithm = algorithm});
        });
      }
    }
    const std::vector<T> edges = {T(-4), T(-1), T(-1), T(0), T(0.5), T(4)};
    expect_host<std::int32_t>(count_edges(values, edges), [&](span<std::int32_t, host> counts) {
      histogram_edges<T, std::int32_t, host>(ctx, values, edges, counts);
    });
  }
}

TYPED_TEST(HistogramValues, DeviceEvenAndEdges) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::vector<T> edges = {T(-4), T(-1), T(-1), T(0), T(0.5), T(4)};
  const auto device_edges = to_device(ctx, span<const T, host>(edges));
  for (const std::int64_t n : {0, 1, 8, 1000, 70001}) {
    const auto values = values_with_specials<T>(n);
    const auto there = to_device(ctx, span<const T, host>(values));
    for (const auto algorithm : device_algorithms) {
      for (const std::int64_t bins : {1, 7, 256, 20000, 70000}) {
        SCOPED_TRACE(std::to_string(n) + " values, " + std::to_string(bins) + " bins, " +
                     std::string(to_string(algorithm)));
        expect_device<std::int64_t>(
            ctx, count_even<T>(values, T(-4), T(4), bins), [&](span<std::int64_t, device> counts) {
              histogram_even<T, std::int64_t, device>(ctx, there.view(), T(-4), T(4), counts, {.algorithm = algorithm});
            });
      }
      expect_device<std::int32_t>(ctx, count_edges(values, edges), [&](span<std::int32_t, device> counts) {
        histogram_edges<T, std::int32_t, device>(ctx, there.view(), device_edges.view(), counts,
                                                 {.algorithm = algorithm});
      });
    }
  }
}

std::vector<std::int64_t> count_letters(const std::string& text, int group) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>((26 + group - 1) / group), 0);
  for (const char c : text) {
    if (c >= 'a' && c <= 'z') ++counts[static_cast<std::size_t>((c - 'a') / group)];
  }
  return counts;
}

std::string letters(std::int64_t n) {
  std::mt19937 random(9);
  std::string text(static_cast<std::size_t>(n), ' ');
  for (char& c : text) c = static_cast<char>(random() % 256);
  const std::string words = "The quick brown fox, {a`z}";
  text.replace(0, std::min(text.size(), words.size()), words.substr(0, std::min(text.size(), words.size())));
  return text;
}

TEST(HistogramLetters, Host) {
  const context<host> ctx({.threads = 2});
  for (const std::int64_t n : {0, 1, 26, 5000, 100003}) {
    const std::string text = letters(n);
    for (const int group : {1, 2, 4, 5, 26, 40}) {
      for (const auto algorithm : host_algorithms) {
        SCOPED_TRACE(std::to_string(n) + " characters in groups of " + std::to_string(group));
        expect_host<std::int32_t>(count_letters(text, group), [&](span<std::int32_t, host> counts) {
          letter_histogram<char, std::int32_t, host>(ctx, span<const char, host>(text.data(), n), group, counts,
                                                     {.algorithm = algorithm});
        });
      }
    }
  }
}

TEST(HistogramLetters, Device) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const std::int64_t n : {0, 1, 26, 5000, 100003}) {
    const std::string text = letters(n);
    const auto there = to_device(ctx, span<const char, host>(text.data(), n));
    for (const int group : {1, 4, 5, 26}) {
      for (const auto algorithm : device_algorithms) {
        SCOPED_TRACE(std::to_string(n) + " characters in groups of " + std::to_string(group) + " by " +
                     std::string(to_string(algorithm)));
        expect_device<std::int64_t>(ctx, count_letters(text, group), [&](span<std::int64_t, device> counts) {
          letter_histogram<char, std::int64_t, device>(ctx, there.view(), group, counts, {.algorithm = algorithm});
        });
      }
    }
  }
}

void expect_refused(const char* part, const std::function<void()>& call,
                    error_code code = error_code::invalid_argument) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with '" << part << "'";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(HistogramErrors, ThrownBeforeAnythingRuns) {
  const context<host> ctx;
  const std::vector<float> values(10, 1.0F);
  std::vector<std::int32_t> counts(4);
  const span<std::int32_t, host> four(counts);
  const auto even = [&](float lower, float upper) {
    return [&, lower, upper] { histogram_even<float, std::int32_t, host>(ctx, values, lower, upper, four); };
  };
  expect_refused("lower < upper", even(1, 1));
  expect_refused("lower < upper", even(0, std::numeric_limits<float>::quiet_NaN()));
  expect_refused("no bins", [&] {
    histogram_even<float, std::int32_t, host>(ctx, values, 0.0F, 1.0F, span<std::int32_t, host>());
  });
  expect_refused("bins + 1", [&] {
    histogram_edges<float, std::int32_t, host>(ctx, values, std::vector<float>{0, 1}, four);
  });
  expect_refused("ascend", [&] {
    histogram_edges<float, std::int32_t, host>(ctx, values, std::vector<float>{0, 1, 3, 2, 5}, four);
  });
  expect_refused(
      "multi_pass does not run on the host",
      [&] {
        histogram<std::int32_t, std::int32_t, host>(ctx, std::vector<std::int32_t>(3), four,
                                                    {.algorithm = histogram_algorithm::multi_pass});
      },
      error_code::unsupported);
  expect_refused("counts overlaps", [&] {
    histogram<std::int32_t, std::int32_t, host>(ctx, span<const std::int32_t, host>(counts).subspan(2, 2), four);
  });
  expect_refused("null", [&] {
    histogram<std::int32_t, std::int32_t, host>(ctx, span<const std::int32_t, host>(nullptr, 3), four);
  });
  expect_refused("group", [&] { letter_histogram<char, std::int32_t, host>(ctx, span<const char, host>(), 0, four); });
}

// More elements than 32 bits count, almost all in one bin.
TEST(HistogramHuge, ElementsPast2To31) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = (std::int64_t{1} << 31) + 3;
  if (ctx.memory().free_bytes < 2 * n) GTEST_SKIP() << "the device has too little free memory";
  array<std::uint8_t, device> keys(ctx, n);
  detail::fill_bytes(ctx, keys.data(), 9, static_cast<std::size_t>(n));
  const std::vector<std::uint8_t> last = {1, 2, 2};
  copy<std::uint8_t>(ctx, span<const std::uint8_t, host>(last), keys.view().subspan(n - 3, 3));
  std::vector<std::int64_t> expected(256, 0);
  expected[9] = n - 3;
  expected[1] = 1;
  expected[2] = 2;
  for (const auto algorithm : device_algorithms) {
    if (algorithm == histogram_algorithm::global_atomic || algorithm == histogram_algorithm::contiguous_partition) {
      continue;  // 2^31 atomics on one address take seconds
    }
    SCOPED_TRACE(to_string(algorithm));
    expect_device<std::int64_t>(ctx, expected, [&](span<std::int64_t, device> counts) {
      histogram<std::uint8_t, std::int64_t, device>(ctx, std::as_const(keys).view(), counts, {.algorithm = algorithm});
    });
  }
}

}  // namespace
}  // namespace spargo
