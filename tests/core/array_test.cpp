#include "support/device.hpp"
#include "support/resource.hpp"

#include <spargo/core/array.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace spargo {
namespace {

using test::counting_resource;

TEST(Array, MovesWithoutCopyAndFreesOnce) {
  counting_resource<host> resource(default_host_resource());
  const context<host> ctx({.threads = 1, .resource = &resource});
  {
    array<double, host> a(ctx, 100);
    const double* where = a.data();
    array<double, host> b = std::move(a);
    EXPECT_EQ(b.data(), where);
    EXPECT_EQ(a.size(), 0);  // NOLINT: the state after a move is part of the contract
    EXPECT_EQ(resource.live(), 800);
    b = array<double, host>(ctx, 10);
    EXPECT_EQ(resource.live(), 80);
    b.truncate(3);
    EXPECT_EQ(b.size(), 3);
    EXPECT_THROW(b.truncate(4), error);
  }
  EXPECT_EQ(resource.live(), 0);
}

TEST(Array, EmptyAllocatesNothing) {
  counting_resource<host> resource(default_host_resource(), 0);
  const context<host> ctx({.threads = 1, .resource = &resource});
  const array<int, host> a(ctx, 0);
  EXPECT_TRUE(a.empty());
}

TEST(Array, OutOfMemoryNamesTheBytes) {
  const context<host> ctx;
  try {
    const array<double, host> a(ctx, std::int64_t{1} << 58);
    FAIL() << "2^61 bytes were allocated";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("2305843009213693952"), std::string::npos) << e.what();
  }
}

TEST(Array, SizesAreCheckedBeforeTheyOverflow) {
  const context<host> ctx;
  EXPECT_THROW((array<double, host>(ctx, INT64_MAX)), error);
  EXPECT_THROW((array<double, host>(ctx, -1)), error);
}

TEST(Context, ThreadCountIsTheContextsOwn) {
  EXPECT_EQ(context<host>({.threads = 3}).threads(), 3);
  EXPECT_GE(context<host>().threads(), 1);
  EXPECT_THROW(context<host>({.threads = -1}), error);
}

TEST(Array, EveryRefusedRequestSurfaces) {
  const std::int64_t requests = test::fail_every_allocation([](const context<host>& ctx) {
    const array<double, host> a(ctx, 100);
    const auto b = clone(ctx, a.view());
  });
  EXPECT_EQ(requests, 2);
}

TEST(Copy, LargeHostCopyIsComplete) {
  const context<host> ctx({.threads = 2});
  array<std::int32_t, host> a(ctx, (std::int64_t{3} << 20) + 17);
  std::iota(a.begin(), a.end(), 0);
  const auto b = clone(ctx, a.view());
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

TEST(Copy, RefusesUnequalSizes) {
  const context<host> ctx;
  array<int, host> a(ctx, 2);
  array<int, host> b(ctx, 3);
  EXPECT_THROW(copy<int>(ctx, a.view(), b.view()), error);
}

TEST(Error, SaysWhere) {
  EXPECT_STREQ(error(error_code::parse, {"m.mtx", 3, 7}, "bad").what(), "m.mtx:3:7: bad");
  EXPECT_STREQ(error(error_code::io, {"m.mtx"}, "bad").what(), "m.mtx: bad");
}

TEST(DeviceStatus, GivesAReasonEitherWay) { EXPECT_FALSE(query_devices().reason.empty()); }

TEST(DeviceContext, RefusedWithoutADevice) {
  try {
    const context<device> ctx(device_options{.ordinal = 9999});
    FAIL() << "device 9999 exists";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::device_unavailable);
  }
}

TEST(DeviceArray, RoundTripsThroughTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> gpu;
  std::vector<double> there(1000);
  std::iota(there.begin(), there.end(), 0.5);
  const auto d = to_device(gpu, span<const double, host>(there));
  const auto copy_of_d = clone(gpu, d.view());
  const auto back = to_host(gpu, copy_of_d.view());
  EXPECT_TRUE(std::equal(there.begin(), there.end(), back.begin(), back.end()));
}

TEST(DeviceArray, OutlivesItsContextHandle) {
  SPARGO_TEST_NEEDS_GPU();
  array<int, device> a;
  {
    const context<device> gpu;
    a = array<int, device>(gpu, 1000);
  }
  EXPECT_EQ(a.size(), 1000);
}

TEST(DeviceArray, OutOfMemoryNamesTheBytes) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> gpu;
  try {
    const array<double, device> a(gpu, std::int64_t{1} << 43);
    FAIL() << "2^46 bytes were allocated";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("70368744177664"), std::string::npos) << e.what();
  }
  const array<double, device> b(gpu, 1000);  // the context still works
  gpu.synchronize();
}

}  // namespace
}  // namespace spargo
