// The folder of real inputs: SPARGO_DATA, else ../shared/data beside the project; empty if neither exists.
#pragma once

#include "support/folders.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace spargo::test {

inline std::filesystem::path data_directory() {
  if (const char* named = std::getenv("SPARGO_DATA"); named != nullptr && *named != '\0') return named;
  const std::filesystem::path beside = std::filesystem::path(source_folder()) / ".." / "shared" / "data";
  return std::filesystem::exists(beside) ? beside : std::filesystem::path{};
}

}  // namespace spargo::test

#define SPARGO_TEST_NEEDS_DATA()                                                                   \
  do {                                                                                             \
    if (spargo::test::data_directory().empty()) GTEST_SKIP() << "no real inputs: set SPARGO_DATA"; \
  } while (false)
