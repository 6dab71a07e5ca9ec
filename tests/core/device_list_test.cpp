// Which GPUs are usable, on described machines: no GPU is needed.
#include "core/device_list.hpp"
#include "support/device.hpp"

#include <gtest/gtest.h>

namespace spargo::detail {
namespace {

TEST(DeviceList, MachineCodeRunsWithinItsMajorCapability) {
  EXPECT_TRUE(holds_code_for("80-real", 80));
  EXPECT_TRUE(holds_code_for("80-real", 86));
  EXPECT_FALSE(holds_code_for("86-real", 80));
  EXPECT_FALSE(holds_code_for("80-real", 90));
  EXPECT_FALSE(holds_code_for("90-real", 100));
}

TEST(DeviceList, PtxRunsOnEveryLaterChip) {
  for (const char* list : {"80-virtual", "80"}) {
    EXPECT_FALSE(holds_code_for(list, 75)) << list;
    for (const int capability : {80, 86, 90, 100, 120}) EXPECT_TRUE(holds_code_for(list, capability)) << list;
  }
}

TEST(DeviceList, CodeOfOneChipRunsOnThatChip) {
  EXPECT_TRUE(holds_code_for("90a-real", 90));
  EXPECT_FALSE(holds_code_for("90a-real", 100));
  EXPECT_FALSE(holds_code_for("90a", 120));
  EXPECT_TRUE(holds_code_for("100f", 103));
  EXPECT_FALSE(holds_code_for("100f", 120));
}

TEST(DeviceList, AnyEntryOfAListMayDo) {
  EXPECT_TRUE(holds_code_for("75-real;80-real;90", 120));
  EXPECT_TRUE(holds_code_for("75-real;80-real;90-real", 86));
  EXPECT_FALSE(holds_code_for("75-real;90-real", 86));
  EXPECT_TRUE(holds_code_for("all-major", 86));
  EXPECT_FALSE(holds_code_for("", 90));
}

TEST(DeviceList, TheFirstUsableOneComesFirst) {
  const auto status = usable_devices({{"Old", 70}, {"Busy", 90, true}, {"Big", 90}, {"New", 120}}, "80;90");
  EXPECT_EQ(status.count, 2);
  EXPECT_EQ(status.ordinals, (std::vector<int>{2, 3}));
  EXPECT_EQ(status.reason, "Big");
}

TEST(DeviceList, WithoutAUsableOneTheFirstReasonIsReported) {
  const auto status = usable_devices({{"Old", 75}, {"Busy", 90, true}}, "90");
  EXPECT_FALSE(status.usable());
  EXPECT_TRUE(status.ordinals.empty());
  EXPECT_EQ(status.reason, "the library holds no code for compute capability 7.5");
  EXPECT_EQ(usable_devices({{"Busy", 90, true}}, "90").reason, "device 0 is in compute mode 'prohibited'");
  EXPECT_EQ(usable_devices({}, "90").reason, "no GPU found");
}

TEST(DeviceList, TheMachinesOwnCanBeUsed) {
  SPARGO_TEST_NEEDS_GPU();
  ASSERT_EQ(static_cast<int>(test::gpu().ordinals.size()), test::gpu().count);
  for (const int ordinal : test::gpu().ordinals) {
    const context<device> ctx({.ordinal = ordinal});
    const auto& p = ctx.properties();
    EXPECT_GE(p.code_capability, 75);
    EXPECT_LE(p.code_capability, 10 * p.compute_capability_major + p.compute_capability_minor);
  }
}

}  // namespace
}  // namespace spargo::detail
