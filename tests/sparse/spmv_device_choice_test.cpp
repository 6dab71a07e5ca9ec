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
  constexpr i64 cached = i64{3} << 20;
  EXPECT_EQ(chosen(even((cached - 1) / 20, 20)), spmv_algorithm::row_per_warp);
  EXPECT_EQ(chosen(even(cached / 20 + 1, 20)), spmv_algorithm::row_blocks);
  auto scattered = even(cached / 20 + 1, 20);
  scattered.near_pairs = 499;
  EXPECT_EQ(chosen(scattered), spmv_algorithm::merge_path);
  scattered.near_pairs = 500;
  EXPECT_EQ(chosen(scattered), spmv_algorithm::row_blocks);
}

TEST(SpmvDeviceChoice, GivesRowsThatABlockSumsInTimeToGroups) {
  const auto with = [](i64 rows, i64 longest) {
    auto hub = even(rows, 20);
    hub.longest = hub.long_entries = longest;
    return hub;
  };
  EXPECT_EQ(chosen(with(2000, 8192)), spmv_algorithm::row_per_warp);
  EXPECT_EQ(chosen(with(2000, 8193)), spmv_algorithm::merge_path);
  EXPECT_EQ(chosen(with(150'000, 150'000 * 20 / 64)), spmv_algorithm::row_per_warp);
  const auto choice = detail::choose_csr_on_device(with(2000, 5000));
  EXPECT_NE(choice.reason.find("5000"), std::string::npos) << choice.reason;
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
