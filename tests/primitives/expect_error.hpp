// The error of a call.
#pragma once

#include <spargo/core/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace spargo::test {

// f() throws an error with this code, whose message has this part.
template <class F>
void expect_error(F&& f, const std::string& part, error_code code = error_code::invalid_argument) {
  try {
    f();
    ADD_FAILURE() << "no error; expected one with: " << part;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

}  // namespace spargo::test
