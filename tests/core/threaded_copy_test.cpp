// Copies by threads: every byte, sizes around the chunk size, both directions.
#include <spargo/core/threaded_copy.hpp>

#include <gtest/gtest.h>

#include "support/device.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace spargo {
namespace {

TEST(ThreadedCopy, ThereAndBack) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  constexpr std::int64_t mib = std::int64_t{1} << 20;
  for (const int threads : {1, 2, 5, 16}) {
    const context<host> by({.threads = threads});
    for (const std::int64_t size :
         {std::int64_t{0}, std::int64_t{1}, mib, 4 * mib - 1, 4 * mib, 4 * mib + 1, 13 * mib + 5}) {
      array<std::int32_t, host> from(by, size);
      std::iota(from.begin(), from.end(), 17);
      const array<std::int32_t, device> there = to_device_by_threads(ctx, std::as_const(from).view(), by);
      const array<std::int32_t, host> back = to_host_by_threads(ctx, there.view(), by);
      ASSERT_EQ(back.size(), size);
      EXPECT_EQ(size == 0 ? 0 : std::memcmp(from.data(), back.data(), static_cast<std::size_t>(size) * 4), 0)
          << size << " by " << threads;
    }
  }
}

// Work already on the stream runs first.
TEST(ThreadedCopy, KeepsTheOrderOfTheStream) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const context<host> by({.threads = 4});
  constexpr std::int64_t size = std::int64_t{64} << 20;
  array<std::uint8_t, device> there(ctx, size);
  for (int round = 0; round < 5; ++round) {
    detail::fill_bytes(ctx, there.data(), round, static_cast<std::size_t>(size));
    const array<std::uint8_t, host> back = to_host_by_threads(ctx, there.view(), by);
    EXPECT_EQ(std::count(back.begin(), back.end(), static_cast<std::uint8_t>(round)), size);
  }
}

}  // namespace
}  // namespace spargo
