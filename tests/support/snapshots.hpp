// For tests of other things that write or read a snapshot on the way: the library may be built without them.
#pragma once

#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>

#include <string>

namespace spargo::test {

// Why there are none; empty: there are.
inline std::string why_no_snapshots() try {
  check_snapshots("a snapshot");
  return {};
} catch (const error& e) {
  return e.what();
}

}  // namespace spargo::test

#define SPARGO_NEEDS_SNAPSHOTS() \
  if (!spargo::test::why_no_snapshots().empty()) GTEST_SKIP() << "no snapshots: " << spargo::test::why_no_snapshots()
