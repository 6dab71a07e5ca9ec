// The message of an expected error.
#pragma once

#include <spargo/core/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace spargo::test {

// The message of the error that `f` throws, which must have this code.
template <class F>
std::string message_of(error_code code, F&& f) {
  try {
    f();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace spargo::test
