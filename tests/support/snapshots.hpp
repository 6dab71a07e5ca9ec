// For tests of other things that write or read a snapshot on the way: the library may be built without them.
#pragma once

#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace spargo::test {

// Why there are none; empty: there are.
inline std::string why_no_snapshots() try {
  check_snapshots("a snapshot");
  return {};
} catch (const error& e) {
  return e.what();
}

// Whether this build writes the file `name`; says so where it does not, so that a test can pass over it visibly.
inline bool can_write(const std::string& name) {
  if (!name.ends_with(".spg") || why_no_snapshots().empty()) return true;
  std::printf("no snapshots: %s is passed over\n", name.c_str());
  return false;
}

}  // namespace spargo::test

#define SPARGO_NEEDS_SNAPSHOTS() \
  if (!spargo::test::why_no_snapshots().empty()) GTEST_SKIP() << "no snapshots: " << spargo::test::why_no_snapshots()
