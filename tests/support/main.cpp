// GoogleTest's main, with the GPU policy: without a usable GPU the device tests skip visibly, and with
// SPARGO_REQUIRE_GPU=1 that skip is a failure.
#include "support/device.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
