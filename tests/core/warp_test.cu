// Reductions and scans of warps and lane groups against host loops; asynchronous copies; errors of refused launches.
#include "core/device/async_copy.cuh"
#include "core/device/bulk_copy.cuh"
#include "core/device/complex.cuh"
#include "core/device/early_launch.cuh"
#include "core/device/warp.cuh"
#include "support/device.hpp"

#include <spargo/core/array.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace spargo::detail {
namespace {

constexpr int threads = 3 * warp_size;
constexpr int widths[] = {1, 2, 4, 8, 16, 32};

enum result { sum, least, most, first, inclusive, shifted, fast_sum, fast_most, exclusive, united, whole };
enum group_result { group_total, group_upto, group_onwards, of_group };
constexpr int results = whole + of_group * static_cast<int>(std::size(widths));

// out[result * threads + thread].
template <class T>
__global__ void warp_kernel(const T* in, T* out) {
  const T mine = in[threadIdx.x];
  const auto store = [&](int result, T value) { out[result * threads + threadIdx.x] = value; };
  store(sum, warp_reduce(mine, plus{}));
  store(least, warp_reduce(mine, minimum{}));
  store(most, warp_reduce(mine, maximum{}));
  store(first, warp_reduce_to_first(mine, plus{}));
  const T upto = warp_inclusive_sum(mine);
  store(inclusive, upto);
  store(shifted, shift_up(upto, T{7}));
  if constexpr (std::integral<T>) {
    store(fast_sum, warp_sum(mine));
    store(fast_most, warp_max(mine));
    store(exclusive, warp_exclusive_sum(mine));
  }
  if constexpr (std::unsigned_integral<T>) store(united, warp_or(mine));
  int at = whole;
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    store(at + group_total, group_sum(mine, lanes));
    store(at + group_upto, group_inclusive_scan(mine, lanes, plus{}));
    store(at + group_onwards, group_suffix_scan(mine, lanes, plus{}));
    at += of_group;
  }
}

// Affine maps modulo 2^32, x -> factor * x + summand: their composition is associative but not commutative.
struct composition {
  __host__ __device__ std::uint64_t operator()(std::uint64_t f, std::uint64_t g) const {
    const auto factor = static_cast<std::uint32_t>((f >> 32) * (g >> 32));
    const auto summand = static_cast<std::uint32_t>((g >> 32) * static_cast<std::uint32_t>(f) + g);
    return std::uint64_t{factor} << 32 | summand;
  }
};

__global__ void composition_kernel(const std::uint64_t* in, std::uint64_t* out) {
  const std::uint64_t mine = in[threadIdx.x];
  out[threadIdx.x] = warp_inclusive_scan(mine, composition{});
  out[threads + threadIdx.x] = group_inclusive_scan(mine, 8, composition{});
  out[2 * threads + threadIdx.x] = group_suffix_scan(mine, 8, composition{});
}

__global__ void complex_kernel(const device_complex<double>* in, device_complex<double>* out) {
  out[threadIdx.x] = group_sum(in[threadIdx.x], 16);
  out[threads + threadIdx.x] = shuffle(in[threadIdx.x], 5);
}

constexpr int copied = 4 * threads;  // words

// Through shared memory by 16-byte copies, one group for each half.
__global__ void async_copy_kernel(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ alignas(16) std::uint32_t words[2 * copied];
  const int at = 4 * static_cast<int>(threadIdx.x);
  copy_line_async(words + at, in + at);
  commit_copies();
  for (int k = at; k < at + 4; ++k) copy_async(words + copied + k, in + copied + k);
  commit_copies();
  wait_for_groups<1>();
  for (int k = at; k < at + 4; ++k) out[k] = words[k] + 1;
  wait_for_copies();
  for (int k = at; k < at + 4; ++k) out[copied + k] = words[copied + k] + 2;
}

// Two phases of a barrier; ordinary copies on chips without bulk copies.
__global__ void bulk_copy_kernel(const std::uint32_t* in, std::uint32_t* out) {
  if constexpr (has_hopper_blocks) {
    __shared__ alignas(16) std::uint32_t words[copied];
    __shared__ shared_barrier loaded;
    __shared__ shared_barrier changed;
    if (threadIdx.x == 0) {
      loaded.init(1);
      changed.init(threads);
      mbarrier_init_fence();
    }
    __syncthreads();
    for (unsigned phase = 0; phase < 2; ++phase) {
      if (threadIdx.x == 0) {
        loaded.expect_tx(sizeof(words));
        bulk_copy(words, in + phase * copied, sizeof(words), loaded);
      }
      loaded.wait(phase);
      for (int k = static_cast<int>(threadIdx.x); k < copied; k += threads) words[k] += phase + 1;
      fence_for_bulk_copies();
      changed.arrive();
      if (threadIdx.x == 0) {
        while (!changed.try_wait(phase)) {
        }
        bulk_store(out + phase * copied, words, sizeof(words));
        wait_for_bulk_reads();
      }
      __syncthreads();
    }
  } else {
    for (int k = static_cast<int>(threadIdx.x); k < 2 * copied; k += threads) out[k] = in[k] + 1 + k / copied;
  }
}

__global__ void idle_kernel() {}

class WarpCopies : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }

  // The output of one block of `threads` for `values`.
  template <class T, class Kernel>
  static std::vector<T> run(Kernel kernel, const std::vector<T>& values, int size) {
    static const context<device> ctx;
    const auto in = to_device(ctx, span<const T, host>(values));
    array<T, device> out(ctx, size);
    fill_zero(ctx, out.view());
    kernel<<<1, threads, 0, ctx.stream()>>>(in.data(), out.data());
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    const auto back = to_host(ctx, std::as_const(out).view());
    ctx.synchronize();
    return {back.data(), back.data() + size};
  }
};

template <class T>
class Warp : public WarpCopies {};
using element_types = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Warp, element_types);

// Small integers of both signs, so that sums of floats are exact; for unsigned types also one with the top bit set.
template <class T>
std::vector<T> some_values() {
  std::mt19937 random(8);
  std::uniform_int_distribution<int> draw(-1000, 1000);
  std::vector<T> values(threads);
  for (T& v : values) v = static_cast<T>(draw(random));
  if constexpr (std::unsigned_integral<T>) values[40] = T{1} << (std::numeric_limits<T>::digits - 1);
  return values;
}

TYPED_TEST(Warp, ReductionsAndScans) {
  using T = TypeParam;
  const std::vector<T> values = some_values<T>();
  const std::vector<T> got = this->run(warp_kernel<T>, values, results * threads);
  const auto total = [&](int begin, int end) {
    T all{};
    for (int k = begin; k < end; ++k) all = static_cast<T>(all + values[k]);
    return all;
  };
  for (int t = 0; t < threads; ++t) {
    SCOPED_TRACE(t);
    const auto of = [&](int result) { return got[result * threads + t]; };
    const int begin = t / warp_size * warp_size;
    const int end = begin + warp_size;
    EXPECT_EQ(of(sum), total(begin, end));
    EXPECT_EQ(of(least), *std::min_element(values.begin() + begin, values.begin() + end));
    EXPECT_EQ(of(most), *std::max_element(values.begin() + begin, values.begin() + end));
    if (t == begin) EXPECT_EQ(of(first), total(begin, end));
    EXPECT_EQ(of(inclusive), total(begin, t + 1));
    EXPECT_EQ(of(shifted), t == begin ? T{7} : total(begin, t));
    if constexpr (std::integral<T>) {
      EXPECT_EQ(of(fast_sum), of(sum));
      EXPECT_EQ(of(fast_most), of(most));
      EXPECT_EQ(of(exclusive), total(begin, t));
    }
    if constexpr (std::unsigned_integral<T>) {
      T bits{};
      for (int k = begin; k < end; ++k) bits |= values[k];
      EXPECT_EQ(of(united), bits);
    }
    int at = whole;
    for (const int lanes : widths) {
      const int group = t / lanes * lanes;
      EXPECT_EQ(of(at + group_total), total(group, group + lanes)) << lanes;
      EXPECT_EQ(of(at + group_upto), total(group, t + 1)) << lanes;
      EXPECT_EQ(of(at + group_onwards), total(t, group + lanes)) << lanes;
      at += of_group;
    }
  }
}

TEST_F(WarpCopies, ScansKeepTheOrderOfOperands) {
  std::mt19937_64 random(9);
  std::vector<std::uint64_t> values(threads);
  for (auto& v : values) v = random();
  const auto got = run(composition_kernel, values, 3 * threads);
  const auto all = [&](int begin, int end) {
    std::uint64_t map = values[begin];
    for (int k = begin + 1; k < end; ++k) map = composition{}(map, values[k]);
    return map;
  };
  for (int t = 0; t < threads; ++t) {
    EXPECT_EQ(got[t], all(t / warp_size * warp_size, t + 1)) << t;
    EXPECT_EQ(got[threads + t], all(t / 8 * 8, t + 1)) << t;
    EXPECT_EQ(got[2 * threads + t], all(t, t / 8 * 8 + 8)) << t;
  }
}

TEST_F(WarpCopies, ComplexValues) {
  std::vector<device_complex<double>> values(threads);
  for (int t = 0; t < threads; ++t) values[t] = {1.0 * t, -2.0 * t};
  const auto got = run(complex_kernel, values, 2 * threads);
  for (int t = 0; t < threads; ++t) {
    const int group = t / 16 * 16;
    const double total = 16.0 * group + 120.0;
    EXPECT_EQ(got[t], (device_complex<double>{total, -2 * total})) << t;
    EXPECT_EQ(got[threads + t], values[t / warp_size * warp_size + 5]) << t;
  }
}

TEST_F(WarpCopies, AsynchronousCopies) {
  std::vector<std::uint32_t> values(2 * copied);
  for (int k = 0; k < 2 * copied; ++k) values[k] = 3U * static_cast<unsigned>(k);
  std::vector<std::uint32_t> expected = values;
  for (int k = 0; k < 2 * copied; ++k) expected[k] += k < copied ? 1 : 2;
  EXPECT_EQ(run(async_copy_kernel, values, 2 * copied), expected);
  EXPECT_EQ(run(bulk_copy_kernel, values, 2 * copied), expected);
}

// The error names the line of the launch, not that of the library, and the runtime's error state is cleared.
TEST_F(WarpCopies, RefusedLaunchesNameTheirLine) {
  const context<device> ctx;
  const auto expect_refusal = [](int line, const auto& launch) {
    try {
      launch();
      ADD_FAILURE() << "no error from line " << line;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::device_failure);
      EXPECT_TRUE(std::string(e.what()).ends_with(" at warp_test.cu:" + std::to_string(line))) << e.what();
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  };
  expect_refusal(__LINE__, [&] { launch_kernel(ctx, {1, 4096}, idle_kernel); });
  expect_refusal(__LINE__, [&] { launch_kernel(ctx, {0, 32}, idle_kernel); });
  expect_refusal(__LINE__, [&] { launch_kernel({ctx, ctx.stream()}, {1, dim3(32, 64)}, idle_kernel); });
  expect_refusal(__LINE__, [&] { launch_kernel(ctx, {1, 32, 1 << 20}, idle_kernel); });
  expect_refusal(__LINE__, [&] { launch_early(ctx, {1, 4096}, idle_kernel); });
  const auto refused = [](void*, std::size_t&) { return cudaErrorInvalidValue; };
  expect_refusal(__LINE__, [&] { with_temporary_storage(ctx, refused); });
  launch_kernel(ctx, {1, 32, 1 << 10}, idle_kernel);
  ctx.synchronize();
}

TEST(Launch, GridsHaveTheirLimit) {
  const std::int64_t most = (std::int64_t{1} << 31) - 1;
  EXPECT_EQ(launch_shape(most, 32).blocks.x, most);
  EXPECT_THROW(launch_shape(most + 1, 32), error);
  EXPECT_THROW((void)one_thread_each(64 * most, 32), error);
}

}  // namespace
}  // namespace spargo::detail
