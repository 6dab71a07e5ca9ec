// Selection of flagged elements and positions on the device against a loop.
#include "primitives/select/select.hpp"
#include "support/device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace spargo::detail {
namespace {

class Select : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }

  static void check(const context<device>& ctx, const std::vector<std::uint8_t>& flags) {
    std::mt19937_64 random(37);
    std::vector<std::uint64_t> values(flags.size());
    for (auto& v : values) v = random();
    std::vector<std::uint64_t> expected;
    std::vector<std::int64_t> positions;
    for (std::size_t k = 0; k < flags.size(); ++k) {
      if (flags[k] == 0) continue;
      expected.push_back(values[k]);
      positions.push_back(static_cast<std::int64_t>(k));
    }
    const auto device_values = to_device(ctx, span<const std::uint64_t, host>(values));
    const auto device_flags = to_device(ctx, span<const std::uint8_t, host>(flags));
    const auto got = to_host(ctx, select_flagged(ctx, device_values.view(), device_flags.view()).view());
    const auto places = to_host(ctx, positions_of(ctx, device_flags.view()).view());
    EXPECT_EQ(std::vector<std::uint64_t>(got.begin(), got.end()), expected);
    EXPECT_EQ(std::vector<std::int64_t>(places.begin(), places.end()), positions);
  }
};

TEST_F(Select, KeepsFlaggedElementsInOrder) {
  const context<device> ctx;
  std::mt19937 random(38);
  for (const int size : {0, 1, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 1 << 20, (1 << 20) + 7}) {
    for (const unsigned one_in : {1U, 2U, 100U}) {
      SCOPED_TRACE(std::to_string(size) + " elements, one in " + std::to_string(one_in));
      std::vector<std::uint8_t> flags(static_cast<std::size_t>(size));
      for (auto& f : flags) f = static_cast<std::uint8_t>(random() % one_in == 0 ? 1 + random() % 255 : 0);
      check(ctx, flags);
    }
    check(ctx, std::vector<std::uint8_t>(static_cast<std::size_t>(size)));
    if (size == 0) continue;
    std::vector<std::uint8_t> ends(static_cast<std::size_t>(size));
    ends.front() = ends.back() = 255;
    check(ctx, ends);
  }
}

TEST_F(Select, RefusesFlagsOfAnotherNumber) {
  const context<device> ctx;
  const array<std::uint64_t, device> values(ctx, 3);
  const array<std::uint8_t, device> flags(ctx, 4);
  EXPECT_THROW((void)select_flagged(ctx, values.view(), flags.view()), error);
}

}  // namespace
}  // namespace spargo::detail
