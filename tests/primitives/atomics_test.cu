// Compare-and-swap loops under full contention: exact counts, and maxima against a loop.
#include "support/device.hpp"

#include <spargo/core/array.hpp>
#include <spargo/primitives/atomics.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace spargo {
namespace {

constexpr int threads = 256;
constexpr std::int64_t size = 1 << 14;  // all on one word: rounds grow quadratically

struct alignas(16) pair_count {
  unsigned long long ones;
  unsigned long long threes;
};

template <class T>
__global__ void count_kernel(T* counters, int spread) {
  const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  atomic_update(counters + i % spread, [](T now) { return static_cast<T>(now + T{1}); });
}

// Older chips lack 16-byte swaps; a program for old and new chips contains both paths.
template <class Pair>
__global__ void count_pairs_kernel(Pair* counter) {
  if constexpr (detail::has_wide_atomics) {
    atomic_update(counter, [](Pair now) { return Pair{now.ones + 1, now.threes + 3}; });
  } else {
    atomic_update(&counter->ones, [](unsigned long long now) { return now + 1; });
    atomic_update(&counter->threes, [](unsigned long long now) { return now + 3; });
  }
}

template <class T>
__global__ void extremes_kernel(const T* values, std::int64_t n, T* least, T* largest) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= n) return;
  atomic_min(least, values[i]);
  atomic_max(largest, values[i]);
}

// The block's maximum in shared memory.
template <class T>
__global__ void shared_max_kernel(const T* values, T* of_block) {
  __shared__ T largest;
  if (threadIdx.x == 0) largest = -INFINITY;
  __syncthreads();
  atomic_max(&largest, values[std::int64_t{blockIdx.x} * threads + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) of_block[blockIdx.x] = largest;
}

__global__ void multiply_kernel(std::uint64_t* product) { atomic_multiply(product, std::uint64_t{3}); }

constexpr unsigned blocks = static_cast<unsigned>(size / threads);

template <class T>
class Atomics : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }
  static const context<device>& ctx() {
    static const context<device> kept;
    return kept;
  }
  static void finish() {
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    ctx().synchronize();
  }
};
using counted = testing::Types<std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Atomics, counted);

TYPED_TEST(Atomics, CountsEveryThread) {
  using T = TypeParam;
  for (const int spread : {1, 3, 1000}) {
    array<T, device> counters(this->ctx(), spread);
    fill_zero(this->ctx(), counters.view());
    count_kernel<<<blocks, threads, 0, this->ctx().stream()>>>(counters.data(), spread);
    this->finish();
    const auto back = to_host(this->ctx(), std::as_const(counters).view());
    this->ctx().synchronize();
    for (int k = 0; k < spread; ++k) {
      EXPECT_EQ(back[k], static_cast<T>(size / spread + (k < size % spread ? 1 : 0))) << k << " of " << spread;
    }
  }
}

class AtomicsWide : public Atomics<int> {};

TEST_F(AtomicsWide, TwoCountersInOneStep) {
  array<unsigned long long, device> counter(ctx(), 2);
  fill_zero(ctx(), counter.view());
  count_pairs_kernel<<<blocks, threads, 0, ctx().stream()>>>(reinterpret_cast<pair_count*>(counter.data()));
  finish();
  const auto back = to_host(ctx(), std::as_const(counter).view());
  ctx().synchronize();
  EXPECT_EQ(back[0], static_cast<unsigned long long>(size));
  EXPECT_EQ(back[1], static_cast<unsigned long long>(3 * size));
}

TEST_F(AtomicsWide, ProductsWrapExactly) {
  const std::vector<std::uint64_t> one = {1};
  auto product = to_device(ctx(), span<const std::uint64_t, host>(one));
  multiply_kernel<<<16, threads, 0, ctx().stream()>>>(product.data());
  finish();
  const auto back = to_host(ctx(), std::as_const(product).view());
  ctx().synchronize();
  std::uint64_t expected = 1;
  for (int k = 0; k < 16 * threads; ++k) expected *= 3;
  EXPECT_EQ(back[0], expected);
}

template <class T>
void check_extremes(const context<device>& ctx, const std::vector<T>& values, T least, T largest) {
  const auto there = to_device(ctx, span<const T, host>(values));
  const std::vector<T> start = {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity()};
  auto result = to_device(ctx, span<const T, host>(start));
  const auto grid = static_cast<unsigned>((values.size() + threads - 1) / threads);
  extremes_kernel<<<grid, threads, 0, ctx.stream()>>>(there.data(), there.size(), result.data(), result.data() + 1);
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  const auto back = to_host(ctx, std::as_const(result).view());
  ctx.synchronize();
  if (std::isnan(least)) {
    EXPECT_TRUE(std::isnan(back[0]) && std::isnan(back[1]));
  } else {
    EXPECT_EQ(back[0], least);
    EXPECT_EQ(back[1], largest);
  }
}

template <class T>
void check_floating(const context<device>& ctx) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> draw(-900, -3);  // negative, to detect a maximum that starts from 0
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& v : values) v = static_cast<T>(draw(random));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  check_extremes<T>(ctx, values, *low, *high);
  check_extremes<T>(ctx, {T(-1), T(2), std::numeric_limits<T>::infinity()}, T(-1), std::numeric_limits<T>::infinity());
  values[777] = std::numeric_limits<T>::quiet_NaN();
  check_extremes<T>(ctx, values, values[777], values[777]);

  values[777] = T(-3.5);
  const auto there = to_device(ctx, span<const T, host>(values));
  array<T, device> of_block(ctx, blocks);
  shared_max_kernel<<<blocks, threads, 0, ctx.stream()>>>(there.data(), of_block.data());
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  const auto back = to_host(ctx, std::as_const(of_block).view());
  ctx.synchronize();
  for (unsigned b = 0; b < blocks; ++b) {
    EXPECT_EQ(back[b], *std::max_element(values.begin() + b * threads, values.begin() + (b + 1) * threads)) << b;
  }
}

TEST_F(AtomicsWide, ExtremesOfFloats) { check_floating<float>(ctx()); }
TEST_F(AtomicsWide, ExtremesOfDoubles) { check_floating<double>(ctx()); }

}  // namespace
}  // namespace spargo
