// The orders that the host and `single_pass` promise, against an independent implementation: the same bits.
#include "support/device.hpp"

#include <spargo/primitives/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

template <class T>
T halved(std::vector<T> values) {
  for (std::size_t half = values.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) values[i] += values[i + half];
  }
  return values[0];
}

// The values of a block's 512 threads: warps by halves, then these by halves of 32.
template <class T>
T sum_of_block(const std::vector<T>& values) {
  std::vector<T> warps(32, T{0});
  for (std::size_t w = 0; w < 16; ++w) {
    warps[w] = halved(std::vector<T>(values.begin() + 32 * w, values.begin() + 32 * (w + 1)));
  }
  return halved(warps);
}

// Tiles of 512 threads; a thread has 8 vectors of 16 bytes, 512 apart: its vectors by halves, item by item, then the
// items by halves. 512 threads take the tiles' values round-robin and add 8 by halves at a time.
template <class T>
T sum_by_tiles(const std::vector<T>& x) {
  constexpr std::size_t width = 16 / sizeof(T);
  const auto at = [](const std::vector<T>& from, std::size_t i) { return i < from.size() ? from[i] : T{0}; };
  std::vector<T> tiles;
  for (std::size_t first = 0; first < x.size(); first += 512 * 8 * width) {
    std::vector<T> threads;
    for (std::size_t t = 0; t < 512; ++t) {
      std::vector<T> items;
      for (std::size_t k = 0; k < width; ++k) {
        std::vector<T> loads;
        for (std::size_t j = 0; j < 8; ++j) loads.push_back(at(x, first + (j * 512 + t) * width + k));
        items.push_back(halved(loads));
      }
      threads.push_back(halved(items));
    }
    tiles.push_back(sum_of_block(threads));
  }
  if (tiles.size() == 1) return tiles[0];
  std::vector<T> threads(512, T{0});
  for (std::size_t first = 0; first < tiles.size(); first += 8 * 512) {
    for (std::size_t t = 0; t < 512 && first + t < tiles.size(); ++t) {
      std::vector<T> batch;
      for (std::size_t j = 0; j < 8; ++j) batch.push_back(at(tiles, first + j * 512 + t));
      threads[t] += halved(batch);
    }
  }
  return sum_of_block(threads);
}

template <class T>
T neighbours(std::vector<T> values) {
  while (values.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i < values.size(); i += 2) {
      next.push_back(i + 1 < values.size() ? static_cast<T>(values[i] + values[i + 1]) : values[i]);
    }
    values = next;
  }
  return values[0];
}

// Blocks of 16384, of chunks of 16 times 128 bytes, of lanes.
template <class T>
T sum_by_blocks(const std::vector<T>& x) {
  constexpr std::size_t lanes = 128 / sizeof(T);
  std::vector<T> blocks;
  for (std::size_t block = 0; block < x.size(); block += 16384) {
    std::vector<T> chunks;
    const std::size_t end = std::min<std::size_t>(block + 16384, x.size());
    for (std::size_t chunk = block; chunk < end; chunk += 16 * lanes) {
      std::vector<T> lane(lanes, T{0});
      for (std::size_t i = chunk; i < std::min(chunk + 16 * lanes, end); ++i) lane[(i - chunk) % lanes] += x[i];
      chunks.push_back(halved(lane));
    }
    blocks.push_back(neighbours(chunks));
  }
  return neighbours(blocks);
}

template <class T>
std::uint64_t bits(T value) {
  std::uint64_t to = 0;
  std::memcpy(&to, &value, sizeof(T));
  return to;
}

template <class T>
std::vector<T> random_values(std::int64_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) v = static_cast<T>(static_cast<double>(random() % 2000001) / 700.0 - 1300.0);
  return values;
}

// A range that starts `shift` elements after an aligned address.
template <class T>
struct placed {
  array<T, device> memory;
  std::int64_t shift;

  placed(const context<device>& ctx, const std::vector<T>& values, std::int64_t after)
      : memory(ctx, static_cast<std::int64_t>(values.size()) + after), shift(after) {
    copy<T>(ctx, span<const T, host>(values), memory.view().subspan(shift, memory.size() - shift));
    ctx.synchronize();
  }
  [[nodiscard]] span<const T, device> view() const { return memory.view().subspan(shift, memory.size() - shift); }
};

template <class T>
class ReduceOrder : public testing::Test {};
using floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ReduceOrder, floats);

TYPED_TEST(ReduceOrder, HostSameBitsAsTheOrderSays) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 255, 511, 16384, 16385, 49999, 1000003}) {
    const std::vector<T> x = random_values<T>(n, 1);
    const std::vector<T> y = random_values<T>(n, 2);
    std::vector<T> products(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) products[i] = x[i] * y[i];
    for (const int threads : {1, 2, 3, 7}) {
      const context<host> ctx({.threads = threads});
      EXPECT_EQ(bits(reduce<T, host>(ctx, x)), bits(sum_by_blocks(x))) << n << " values, " << threads << " threads";
      EXPECT_EQ(bits(dot<T, host>(ctx, x, y)), bits(sum_by_blocks(products))) << n << " products, " << threads;
    }
  }
}

TYPED_TEST(ReduceOrder, DeviceSameBitsAsTheOrderSays) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const std::int64_t n : {1, 511, 8192, 8193, 16384, 16385, 16388, 32768, 49999, 1000003, 5000000}) {
    const std::vector<T> values = random_values<T>(n, 3);
    const std::uint64_t expected = bits(sum_by_tiles(values));
    for (const std::int64_t shift : {0, 1, 2, 3}) {
      const placed<T> there(ctx, values, shift);
      for (const int blocks : {0, 1, 2, 7, 132, 1000, 70000}) {
        const reduce_options options{.algorithm = reduce_algorithm::single_pass, .blocks = blocks};
        EXPECT_EQ(bits(reduce<T, device>(ctx, there.view(), operation::sum, options)), expected)
            << n << " values, " << blocks << " blocks, shift " << shift;
      }
    }
  }
}

// Rounded products, then the order of a sum, for any alignment of either range.
TYPED_TEST(ReduceOrder, DeviceProductsAreRoundedBeforeTheyAreAdded) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const std::int64_t n : {5, 16384, 20011, 1000003}) {
    const std::vector<T> x = random_values<T>(n, 4);
    const std::vector<T> y = random_values<T>(n, 5);
    std::vector<T> products(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) products[i] = x[i] * y[i];
    const placed<T> rounded(ctx, products, 0);
    for (const auto algorithm : {reduce_algorithm::single_pass, reduce_algorithm::deterministic}) {
      const reduce_options options{.algorithm = algorithm};
      const std::uint64_t expected = bits(reduce<T, device>(ctx, rounded.view(), operation::sum, options));
      for (const std::int64_t a : {0, 1, 3}) {
        for (const std::int64_t b : {0, 1, 2}) {
          const placed<T> left(ctx, x, a);
          const placed<T> right(ctx, y, b);
          EXPECT_EQ(bits(dot<T, device>(ctx, left.view(), right.view(), options)), expected)
              << to_string(algorithm) << " of " << n << " products, shifts " << a << " and " << b;
        }
      }
    }
  }
}

// Bytes around a range do not affect the result, and the result may be in the range.
TYPED_TEST(ReduceOrder, DeviceReadsNothingElse) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  for (const std::int64_t n : {16384, 16385, 65536, 300003}) {
    std::vector<T> all(static_cast<std::size_t>(n) + 8, std::numeric_limits<T>::quiet_NaN());
    std::fill(all.begin() + 3, all.begin() + 3 + n, T{1});
    const placed<T> there(ctx, all, 0);
    EXPECT_EQ((reduce<T, device>(ctx, there.view().subspan(3, n))), static_cast<T>(n));
    array<T, device> own = clone(ctx, there.view());
    reduce_into<T, device>(ctx, std::as_const(own).view().subspan(3, n), own.view().subspan(5, 1));
    const auto back = to_host(ctx, std::as_const(own).view());
    EXPECT_EQ(back[5], static_cast<T>(n));
    EXPECT_EQ(back[4], T{1});
    EXPECT_EQ(back[6], T{1});
  }
}

TEST(ReduceOrderHuge, DeviceRangesPast2To31OfAnyAlignment) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = (std::int64_t{1} << 31) + 3;
  if (ctx.memory().free_bytes < 5 * n) GTEST_SKIP() << "the device has too little free memory";
  array<std::int32_t, device> values(ctx, n);
  fill_zero(ctx, values.view());
  const std::vector<std::int32_t> ends = {40, 1000};
  copy<std::int32_t>(ctx, span<const std::int32_t, host>(ends), values.view().subspan(0, 2));
  copy<std::int32_t>(ctx, span<const std::int32_t, host>(ends), values.view().subspan(n - 2, 2));
  ctx.synchronize();
  const auto whole = std::as_const(values).view();
  EXPECT_EQ((reduce<std::int32_t, device>(ctx, whole)), 2080);
  EXPECT_EQ((reduce<std::int32_t, device>(ctx, whole.subspan(1, n - 1))), 2040);
  EXPECT_EQ((reduce<std::int32_t, device>(ctx, whole.subspan(1, n - 2))), 1040);
  EXPECT_EQ((max_abs_difference<std::int32_t, device>(ctx, whole.subspan(1, n - 1), whole.subspan(0, n - 1))), 1000);
}

}  // namespace
}  // namespace spargo
