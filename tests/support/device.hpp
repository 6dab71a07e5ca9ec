// The device context of a test, or a visible skip.
#pragma once

#include "support/gpu_turn.hpp"

#include <spargo/core/context.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace spargo::test {

inline const device_status& gpu() {
  static const device_status status = query_devices();
  return status;
}

inline bool gpu_required() {
  const char* value = std::getenv("SPARGO_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

}  // namespace spargo::test

// First line of a device test (in the test body or SetUp): skips without a GPU, fails if one is required; waits for the
// program's turn on it.
#define SPARGO_TEST_NEEDS_GPU()                                                                        \
  do {                                                                                                 \
    if (!spargo::test::gpu().usable()) {                                                               \
      if (spargo::test::gpu_required()) FAIL() << "a GPU is required: " << spargo::test::gpu().reason; \
      GTEST_SKIP() << "no GPU: " << spargo::test::gpu().reason;                                        \
    }                                                                                                  \
    spargo::test::take_gpu_turn();                                                                     \
  } while (false)
