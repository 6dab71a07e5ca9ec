// Fixtures of tests that run in a memory space: those on a device skip where there is no GPU.
#pragma once

#include "support/device.hpp"

#include <gtest/gtest.h>

#include <concepts>

namespace spargo::test {

template <class Space>
class space_suite : public testing::Test {
 protected:
  void SetUp() override {
    if constexpr (std::same_as<Space, device>) SPARGO_TEST_NEEDS_GPU();
  }
};

using device_suite = space_suite<device>;

}  // namespace spargo::test
