// Reductions and prefix sums of blocks of any number of warps, and the last block of a grid, against host loops.
#include "core/device/block.cuh"
#include "core/device/complex.cuh"
#include "support/device.hpp"

#include <spargo/core/array.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace spargo::detail {
namespace {

enum result { sum, in_order, tree, to_all, before, total, warps_before, warps_total, results };

// Affine maps modulo 2^32, x -> factor * x + summand: their composition is associative but not commutative.
struct composition {
  __host__ __device__ std::uint64_t operator()(std::uint64_t f, std::uint64_t g) const {
    const auto factor = static_cast<std::uint32_t>((f >> 32) * (g >> 32));
    const auto summand = static_cast<std::uint32_t>((g >> 32) * static_cast<std::uint32_t>(f) + g);
    return std::uint64_t{factor} << 32 | summand;
  }
};

// Values of a section beyond `size` are 0. out[(section * results + result) * threads + thread].
template <int Warps, class T>
__global__ void block_kernel(const T* in, std::int64_t size, T* out) {
  constexpr int threads = Warps * warp_size;
  __shared__ T memory[results][Warps];
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const T mine = at < size ? in[at] : T{};
  const auto store = [&](int which, T value) {
    out[(std::int64_t{blockIdx.x} * results + which) * threads + threadIdx.x] = value;
  };
  store(sum, block_sum(mine, memory[sum]));
  store(in_order, block_reduce(mine, memory[in_order], maximum{}));
  store(tree, block_reduce_tree(mine, memory[tree], plus{}, T{}));
  store(to_all, fold_warps_to_all(warp_reduce(mine, plus{}), memory[to_all], plus{}));
  const prefix_sum<T> of_thread = block_exclusive_sum(mine, memory[before]);
  store(before, of_thread.before);
  store(total, of_thread.total);
  const prefix_sum<T> of_warp = scan_warps(mine, memory[warps_before]);
  store(warps_before, of_warp.before);
  store(warps_total, of_warp.total);
}

// A block of fewer warps than the memory has room for, twice with the same memory, and values of several words.
__global__ void partial_block_kernel(const std::uint64_t* in, std::uint64_t* out) {
  __shared__ std::uint64_t memory[warp_size];
  __shared__ device_complex<double> pairs[warp_size];
  const int warps = static_cast<int>(blockDim.x / warp_size);
  const std::uint64_t mine = in[threadIdx.x];
  const std::uint64_t all = block_reduce(mine, memory, maximum{}, warps);
  __syncthreads();
  const prefix_sum<std::uint64_t> scanned = block_exclusive_sum(mine, memory, warps);
  const auto as_pair = device_complex<double>{static_cast<double>(mine % 1000), -1.0};
  const auto pair = block_sum(as_pair, pairs, warps);
  __syncthreads();
  // Only lane 0 and the order of the warps count here.
  const std::uint64_t folded = fold_warps(mine, memory, composition{}, warps);
  out[threadIdx.x] = scanned.before;
  out[blockDim.x + threadIdx.x] = scanned.total;
  if (threadIdx.x != 0) return;
  out[2 * blockDim.x] = all;
  out[2 * blockDim.x + 1] = static_cast<std::uint64_t>(pair.re);
  out[2 * blockDim.x + 2] = static_cast<std::uint64_t>(-pair.im);
  out[2 * blockDim.x + 3] = folded;
}

// The last block adds what all have written; `lasts` counts the blocks and the threads that were last.
__global__ void last_block_kernel(std::uint64_t* of_blocks, unsigned* arrived, std::uint64_t* result) {
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = blockIdx.x + 1;
  const bool last = block_arrives_last(arrived, gridDim.x);
  if (last && threadIdx.x == blockDim.x - 1) {
    std::uint64_t all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += __ldcg(of_blocks + b);
    result[0] = all;
    atomicAdd(reinterpret_cast<count64*>(result + 1), count64{1});
  }
  if (threadIdx.x == 0 && arrives_last(arrived + 1, gridDim.x)) {
    atomicAdd(reinterpret_cast<count64*>(result + 2), count64{1});
  }
}

class BlockFunctions : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }
};

template <class T>
class Block : public BlockFunctions {
 protected:
  template <int Warps>
  static void check(const std::vector<T>& values) {
    SCOPED_TRACE(testing::Message() << Warps << " warps, " << values.size() << " values");
    constexpr int threads = Warps * warp_size;
    const context<device> ctx;
    const auto size = static_cast<std::int64_t>(values.size());
    const std::int64_t blocks = std::max<std::int64_t>(1, div_up(size, std::int64_t{threads}));
    const auto in = to_device(ctx, span<const T, host>(values));
    array<T, device> out(ctx, blocks * results * threads);
    block_kernel<Warps><<<static_cast<unsigned>(blocks), threads, 0, ctx.stream()>>>(in.data(), size, out.data());
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    const auto got = to_host(ctx, std::as_const(out).view());
    for (std::int64_t b = 0; b < blocks; ++b) {
      const auto value = [&](int t) {
        const std::int64_t at = b * threads + t;
        return at < size ? values[static_cast<std::size_t>(at)] : T{};
      };
      const auto of = [&](int which, int t) { return got[(b * results + which) * threads + t]; };
      T all{};
      T most = value(0);
      T of_warps{};
      for (int t = 0; t < threads; ++t) {
        ASSERT_EQ(of(before, t), all) << t;
        ASSERT_EQ(of(warps_before, t), [&] {
          T upto{};
          for (int w = 0; w < t / warp_size; ++w) upto = static_cast<T>(upto + value(w * warp_size));
          return upto;
        }()) << t;
        all = static_cast<T>(all + value(t));
        most = std::max(most, value(t));
        if (t % warp_size == 0) of_warps = static_cast<T>(of_warps + value(t));
      }
      EXPECT_EQ(of(sum, 0), all);
      EXPECT_EQ(of(tree, 0), all);
      EXPECT_EQ(of(in_order, 0), most);
      for (int t = 0; t < threads; ++t) {
        ASSERT_EQ(of(to_all, t), all) << t;
        ASSERT_EQ(of(total, t), all) << t;
        ASSERT_EQ(of(warps_total, t), of_warps) << t;
      }
    }
  }
};
using element_types = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Block, element_types);

TYPED_TEST(Block, ReducesAndScans) {
  using T = TypeParam;
  std::mt19937 random(34);
  std::uniform_int_distribution<int> draw(-1000, 1000);  // sums of floats are exact
  for (const int size : {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 5000}) {
    std::vector<T> values(static_cast<std::size_t>(size));
    for (T& v : values) v = static_cast<T>(draw(random));
    if constexpr (std::unsigned_integral<T>) {
      if (size > 40) values[40] = T{1} << (std::numeric_limits<T>::digits - 1);
    }
    this->template check<1>(values);
    this->template check<2>(values);
    this->template check<8>(values);
    this->template check<32>(values);
  }
}

TEST_F(BlockFunctions, UseAPartOfTheMemory) {
  const context<device> ctx;
  std::mt19937_64 random(35);
  for (const int threads : {32, 64, 96, 256, 992, 1024}) {
    SCOPED_TRACE(threads);
    std::vector<std::uint64_t> values(static_cast<std::size_t>(threads));
    for (auto& v : values) v = random();
    const auto in = to_device(ctx, span<const std::uint64_t, host>(values));
    array<std::uint64_t, device> out(ctx, 2 * threads + 4);
    partial_block_kernel<<<1, static_cast<unsigned>(threads), 0, ctx.stream()>>>(in.data(), out.data());
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    const auto got = to_host(ctx, std::as_const(out).view());
    std::uint64_t all = 0;
    std::uint64_t parts = 0;
    std::uint64_t folded = values[0];
    for (int t = 0; t < threads; ++t) {
      ASSERT_EQ(got[t], all) << t;
      all += values[static_cast<std::size_t>(t)];
      parts += values[static_cast<std::size_t>(t)] % 1000;
      if (t > 0 && t % warp_size == 0) folded = composition{}(folded, values[static_cast<std::size_t>(t)]);
    }
    for (int t = 0; t < threads; ++t) ASSERT_EQ(got[threads + t], all) << t;
    EXPECT_EQ(got[2 * threads], *std::max_element(values.begin(), values.end()));
    EXPECT_EQ(got[2 * threads + 1], parts);
    EXPECT_EQ(got[2 * threads + 2], static_cast<std::uint64_t>(threads));
    EXPECT_EQ(got[2 * threads + 3], folded);
  }
}

TEST_F(BlockFunctions, ExactlyOneBlockIsLastOnEveryLaunch) {
  const context<device> ctx;
  array<unsigned, device> arrived(ctx, 2);
  fill_zero(ctx, arrived.view());  // the last one resets the counters
  for (const unsigned blocks : {1U, 2U, 31U, 1000U, 20000U, 3U}) {
    SCOPED_TRACE(blocks);
    array<std::uint64_t, device> of_blocks(ctx, blocks);
    array<std::uint64_t, device> result(ctx, 3);
    fill_zero(ctx, of_blocks.view());
    fill_zero(ctx, result.view());
    last_block_kernel<<<blocks, 64, 0, ctx.stream()>>>(of_blocks.data(), arrived.data(), result.data());
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    const auto got = to_host(ctx, std::as_const(result).view());
    EXPECT_EQ(got[0], std::uint64_t{blocks} * (blocks + 1) / 2);
    EXPECT_EQ(got[1], 1U);
    EXPECT_EQ(got[2], 1U);
    const auto left = to_host(ctx, std::as_const(arrived).view());
    EXPECT_EQ(left[0], 0U);
    EXPECT_EQ(left[1], 0U);
  }
}

}  // namespace
}  // namespace spargo::detail
