// The choice among the device's CSR products, from profiles given directly: no device needed.
#include "sparse/spmv_device_choice.hpp"

#include <gtest/gtest.h>

namespace spargo::test {
namespace {

using detail::row_profile;
using i64 = std::int64_t;

// Rows of one length whose columns follow the diagonal.
row_profile even(i64 rows, i64 length) {
  return {.rows = rows, .nnz = rows * length, .longest = length, .sampled_pairs = 1000, .near_pairs = 1000};
}

spmv_algorithm chosen(const row_profile& profile) { return detail::choose_csr_on_device(profile).algorithm; }

TEST(SpmvDeviceChoice, GivesShortRowsAThreadEach) {
  for (const i64 rows : {10, 2000, 10'000'000}) {
    EXPECT_EQ(chosen(even(rows, 8)), spmv_algorithm::row_per_thread) << rows;
    EXPECT_NE(chosen(even(rows, 9)), spmv_algorithm::row_per_thread) << rows;
  }
}

TEST(SpmvDeviceChoice, GivesMatricesThatTheCacheHoldsToGroups) {
  const auto of = [](i64 nnz, i64 near_pairs, i64 long_entries) {
    auto profile = even(nnz / 20, 20);
    profile.nnz = nnz;
    profile.near_pairs = near_pairs;
    profile.long_entries = long_entries;
    return profile;
  };
  constexpr i64 local = i64{1} << 22;
  EXPECT_EQ(chosen(of(local - 1, 500, 0)), spmv_algorithm::row_per_warp);
  EXPECT_EQ(chosen(of(local, 500, 0)), spmv_algorithm::row_blocks);
  constexpr i64 scattered = i64{7} << 20;
  EXPECT_EQ(chosen(of(scattered - 1, 499, 0)), spmv_algorithm::row_per_warp);
  EXPECT_EQ(chosen(of(scattered, 499, 0)), spmv_algorithm::merge_path);
  EXPECT_EQ(chosen(of(scattered, 500, 0)), spmv_algorithm::row_blocks);
  constexpr i64 irregular = i64{3} << 20;
  for (const i64 near_pairs : {499, 500}) {
    EXPECT_EQ(chosen(of(irregular - 1, near_pairs, irregular / 2)), spmv_algorithm::row_per_warp);
    EXPECT_EQ(chosen(of(irregular, near_pairs, irregular / 2)), spmv_algorithm::merge_path);
  }
}

TEST(SpmvDeviceChoice, GivesLongRowsAmidFewEntriesToGroups) {
  for (const i64 longest : {632, 5000, 9000, 70'000, 1'000'000}) {
    auto hub = even(2000, 20);
    hub.nnz += longest;
    hub.longest = longest;
    hub.long_entries = longest;
    EXPECT_EQ(chosen(hub), spmv_algorithm::row_per_warp) << longest;
    const auto choice = detail::choose_csr_on_device(hub);
    EXPECT_NE(choice.reason.find(std::to_string(longest)), std::string::npos) << choice.reason;
  }
}

TEST(SpmvDeviceChoice, GivesLargeIrregularMatricesToMergePath) {
  constexpr i64 rows = 1'000'000;
  auto uneven = even(rows, 20);
  uneven.longest = 500;
  uneven.long_entries = uneven.nnz / 10;
  EXPECT_EQ(chosen(uneven), spmv_algorithm::row_blocks);
  uneven.long_entries += 1;
  EXPECT_EQ(chosen(uneven), spmv_algorithm::merge_path);
  auto hub = even(rows, 20);
  hub.longest = 32 * 20;
  EXPECT_EQ(chosen(hub), spmv_algorithm::row_blocks);
  hub.longest += 1;
  EXPECT_EQ(chosen(hub), spmv_algorithm::merge_path);
  auto long_rows = even(rows, 100);
  EXPECT_EQ(chosen(long_rows), spmv_algorithm::row_per_warp);
  long_rows.longest = 64 * (8 * 100 + 32);
  EXPECT_EQ(chosen(long_rows), spmv_algorithm::row_per_warp);
  long_rows.longest += 1;
  EXPECT_EQ(chosen(long_rows), spmv_algorithm::merge_path);
  EXPECT_EQ(chosen(even(rows, 64)), spmv_algorithm::row_blocks);
  EXPECT_EQ(chosen(even(rows, 65)), spmv_algorithm::row_per_warp);
}

}  // namespace
}  // namespace spargo::test
