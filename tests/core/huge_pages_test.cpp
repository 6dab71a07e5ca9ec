// Large host arrays are aligned to huge pages and request them.
#include <spargo/core/array.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace spargo::test {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

// Whether the mapping around an address requests huge pages (flag `hg` of /proc/self/smaps).
bool asked_for_huge_pages(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> first >> dash >> last && dash == '-') inside = first <= wanted && wanted < last;
    if (inside && line.rfind("VmFlags:", 0) == 0) return line.find(" hg") != std::string::npos;
  }
  return false;
}

bool system_has_huge_pages() { return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good(); }

TEST(HugePages, LargeArraysAskForThem) {
  if (!system_has_huge_pages()) GTEST_SKIP() << "no transparent huge pages here";
  const context<host> ctx;
  for (const std::int64_t bytes : {4 * mebibyte, 4 * mebibyte + 1, 7 * mebibyte, 33 * mebibyte}) {
    array<char, host> a(ctx, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % (2 * mebibyte), 0u) << bytes;
    EXPECT_TRUE(asked_for_huge_pages(a.data())) << bytes;
    a[0] = 1;
    a[bytes - 1] = 2;
    EXPECT_EQ(a[0] + a[bytes - 1], 3);
  }
}

// Allocation and release use the same alignment, repeatedly: AddressSanitizer sees a mismatch.
TEST(HugePages, AreAllocatedAndFreed) {
  const context<host> ctx;
  for (std::int64_t bytes = mebibyte; bytes <= 64 * mebibyte; bytes = bytes * 3 / 2 + 7) {
    array<char, host> a(ctx, bytes);
    a[bytes / 2] = 5;
    EXPECT_EQ(a[bytes / 2], 5);
  }
}

}  // namespace
}  // namespace spargo::test
