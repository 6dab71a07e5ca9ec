// Contexts are created only on devices that are used, and the caller's device stays current. The tests run in this
// order, in a program that has touched no device before.
// Own program: no other test may have touched a device.
#include "support/device.hpp"

#include <spargo/primitives/reduce.hpp>

#include <gtest/gtest.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include <vector>

namespace spargo {
namespace {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

// Whether a device has a primary context.
bool has_context(int ordinal) {
  using state_function = CUresult (*)(CUdevice, unsigned*, int*);
  void* function = nullptr;
  EXPECT_EQ(
      cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &function, 12000, cudaEnableDefault, nullptr),
      cudaSuccess);
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(reinterpret_cast<state_function>(function)(ordinal, &flags, &active), CUDA_SUCCESS);
  return active != 0;
}

TEST(DeviceGuard, QueriesCreateNoContext) {
  SPARGO_TEST_NEEDS_GPU();
  EXPECT_TRUE(query_devices().usable());
  for (int d = 0; d < device_count(); ++d) EXPECT_FALSE(has_context(d)) << "device " << d;
}

TEST(DeviceGuard, TheLastDeviceAloneIsUsed) {
  SPARGO_TEST_NEEDS_GPU();
  const int last = test::gpu().ordinals.back();
  const std::vector<float> ones(100'000, 1.0F);
  {
    const context<device> ctx({.ordinal = last});
    const array<float, device> values = to_device(ctx, span<const float, host>(ones.data(), 100'000));
    EXPECT_EQ(reduce<float>(ctx, values.view()), 100'000.0F);
    EXPECT_GT(ctx.memory().free_bytes, 0);
  }
  EXPECT_TRUE(has_context(last));
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  for (int d = 0; d < device_count(); ++d) {
    if (d != last) EXPECT_FALSE(has_context(d)) << "device " << d;
  }
}

TEST(DeviceGuard, TwoDevicesWorkSideBySide) {
  SPARGO_TEST_NEEDS_GPU();
  if (test::gpu().count < 2) GTEST_SKIP() << "needs two GPUs";
  const std::vector<float> ones(100'000, 1.0F);
  const context<device> first({.ordinal = test::gpu().ordinals[0]});
  const context<device> second({.ordinal = test::gpu().ordinals[1]});
  const array<float, device> a = to_device(first, span<const float, host>(ones.data(), 100'000));
  const array<float, device> b = to_device(second, span<const float, host>(ones.data(), 100'000));
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(reduce<float>(second, b.view()), 100'000.0F);
    EXPECT_EQ(reduce<float>(first, a.view()), 100'000.0F);
  }
}

}  // namespace
}  // namespace spargo
