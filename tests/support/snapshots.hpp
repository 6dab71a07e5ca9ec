// For tests that use snapshots in passing: the library may be built without them.
#pragma once

#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace spargo::test {

// The reason why snapshots are missing; empty if they work.
inline std::string why_no_snapshots() try {
  check_snapshots("a snapshot");
  return {};
} catch (const error& e) {
  return e.what();
}

// Whether this build can write the file `name`; prints a note if not.
inline bool can_write(const std::string& name) {
  if (!name.ends_with(".spg") || why_no_snapshots().empty()) return true;
  std::printf("no snapshots: %s is skipped\n", name.c_str());
  return false;
}

}  // namespace spargo::test

#define SPARGO_NEEDS_SNAPSHOTS() \
  if (!spargo::test::why_no_snapshots().empty()) GTEST_SKIP() << "no snapshots: " << spargo::test::why_no_snapshots()
