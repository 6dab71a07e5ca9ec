// The folder of real inputs: SPARGO_DATA, else ../shared/data beside the project; empty if neither exists.
#pragma once

#include "support/folders.hpp"
#include "support/rounds.hpp"

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

// Sanitized tests leave out the real inputs of over 300 kB (19 of 51), which take most of their time.
inline bool is_left_out(const std::string& name) {
  return is_sanitized && std::filesystem::file_size(data_directory() / name) > 300'000;
}
// A bound on the number of inputs used, of those that all tests but sanitized ones use.
constexpr int used_inputs(int all) { return is_sanitized ? all / 2 : all; }

}  // namespace spargo::test

#define SPARGO_TEST_NEEDS_DATA()                                                                   \
  do {                                                                                             \
    if (spargo::test::data_directory().empty()) GTEST_SKIP() << "no real inputs: set SPARGO_DATA"; \
  } while (false)
