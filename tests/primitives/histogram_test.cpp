// Histograms against loops, on every backend.
#include "support/device.hpp"

#include <spargo/primitives/histogram.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace spargo {
namespace {

const std::vector<std::int64_t> sizes = {0, 1, 2, 31, 32, 33, 255, 256, 257, 32767, 65537, 300001};

template <class T>
std::vector<T> random_values(std::int64_t size, std::int64_t low, std::int64_t high) {
  std::mt19937_64 random(static_cast<std::uint64_t>(size) + 1);
  std::vector<T> values;
  for (std::int64_t i = 0; i < size; ++i) {
    values.push_back(
        static_cast<T>(low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low))));
  }
  return values;
}

template <class T>
std::vector<T> to_vector(const array<T, host>& a) {
  return {a.begin(), a.end()};
}

template <class Key, class Count>
std::vector<Count> naive_histogram(const std::vector<Key>& keys, std::int64_t bins) {
  std::vector<Count> counts(static_cast<std::size_t>(bins), 0);
  for (const Key key : keys) {
    if (key >= 0 && key < static_cast<Key>(bins)) ++counts[static_cast<std::size_t>(key)];
  }
  return counts;
}

template <class Key, class Count>
void expect_histograms() {
  for (const std::int64_t bins : {0, 1, 31, 257, 4096, 40000, 500000}) {
    for (const std::int64_t n : sizes) {
      // Some keys are outside on both sides; half of the time all are equal.
      for (auto keys : {random_values<Key>(n, -3, bins + 3), std::vector<Key>(static_cast<std::size_t>(n), 0)}) {
        const auto expected = naive_histogram<Key, Count>(keys, bins);
        for (const int threads : {1, 2, 7}) {
          const context<host> ctx({.threads = threads});
          array<Count, host> counts(ctx, bins);
          histogram<Key, Count, host>(ctx, keys, counts.view());
          EXPECT_EQ(to_vector(counts), expected) << n << " keys, " << bins << " bins, " << threads << " threads";
        }
      }
    }
  }
}

template <class Key, class Count>
void expect_device_histograms() {
  const context<device> ctx;
  for (const std::int64_t bins : {0, 1, 31, 257, 4096, 40000, 500000}) {
    for (const std::int64_t n : sizes) {
      for (auto keys : {random_values<Key>(n, -3, bins + 3), std::vector<Key>(static_cast<std::size_t>(n), 0)}) {
        const auto there = to_device(ctx, span<const Key, host>(keys));
        array<Count, device> counts(ctx, bins);
        histogram<Key, Count, device>(ctx, there.view(), counts.view());
        EXPECT_EQ(to_vector(to_host(ctx, counts.view())), (naive_histogram<Key, Count>(keys, bins)))
            << n << " keys, " << bins << " bins";
      }
    }
  }
}

TEST(Histogram, HostAnyBinsAnyThreads) {
  expect_histograms<std::int32_t, std::int64_t>();
  expect_histograms<std::int64_t, std::int32_t>();
}

TEST(Histogram, DeviceAnyBins) {
  SPARGO_TEST_NEEDS_GPU();
  expect_device_histograms<std::int32_t, std::int32_t>();
  expect_device_histograms<std::int32_t, std::int64_t>();
  expect_device_histograms<std::int64_t, std::int32_t>();
  expect_device_histograms<std::int64_t, std::int64_t>();
}

}  // namespace
}  // namespace spargo
