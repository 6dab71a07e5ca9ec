// The choice among the device's CSR products for given profiles: no device needed.
#include "sparse/spmv/choice_on_device.hpp"
#include "sparse/spmv/copies/copy.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace spargo::test {
namespace {

using detail::row_profile;
using i64 = std::int64_t;

// Rows of equal length with columns along the diagonal.
row_profile even(i64 rows, i64 length) {
  return {.rows = rows, .nnz = rows * length, .longest = length, .sampled_pairs = 1000, .near_pairs = 1000};
}

// 60 MB, as on an H200.
constexpr i64 cache = i64{60} << 20;
constexpr detail::spmv::gathered_vector small_x{1000, 8, cache};

spmv_algorithm chosen(const row_profile& profile, const detail::spmv::gathered_vector& x = small_x) {
  return detail::spmv::choose_csr_on_device(profile, x).algorithm;
}

TEST(SpmvDeviceChoice, CopiesCheckSharedMemory) {
  device_properties device;
  device.name = "A100";
  device.shared_memory_per_block = i64{163} << 10;
  EXPECT_EQ(detail::spmv::reason_against_device(device, i64{163} << 10), "");
  EXPECT_EQ(detail::spmv::reason_against_device(device, i64{192} << 10),
            "a block needs 192 KiB of shared memory, A100 has 163");
}

TEST(SpmvDeviceChoice, GivesShortRowsAThreadEach) {
  for (const i64 rows : {10, 2000, 10'000'000}) {
    EXPECT_EQ(chosen(even(rows, 8)), spmv_algorithm::row_per_thread) << rows;
    EXPECT_NE(chosen(even(rows, 9)), spmv_algorithm::row_per_thread) << rows;
  }
}

TEST(SpmvDeviceChoice, GivesMatricesInCacheToGroups) {
  const auto of = [](i64 nnz, i64 near_pairs, i64 long_entries) {
    auto profile = even(nnz / 20, 20);
    profile.nnz = nnz;
    profile.near_pairs = near_pairs;
    profile.long_entries = long_entries;
    return profile;
  };
  constexpr detail::spmv::gathered_vector narrow_x{1000, 4, cache};
  for (const auto& [x, local] : {std::pair(narrow_x, i64{1} << 22), std::pair(small_x, i64{1} << 24)}) {
    EXPECT_EQ(chosen(of(local - 1, 500, 0), x), spmv_algorithm::row_per_warp) << x.value_bytes;
    EXPECT_EQ(chosen(of(local, 500, 0), x), spmv_algorithm::row_blocks) << x.value_bytes;
  }
  constexpr i64 scattered = i64{7} << 20;
  EXPECT_EQ(chosen(of(scattered - 1, 499, 0)), spmv_algorithm::row_per_warp);
  EXPECT_EQ(chosen(of(scattered, 499, 0)), spmv_algorithm::merge_path);
  EXPECT_EQ(chosen(of(scattered, 500, 0), narrow_x), spmv_algorithm::row_blocks);
  constexpr i64 irregular = i64{3} << 20;
  for (const i64 near_pairs : {499, 500}) {
    EXPECT_EQ(chosen(of(irregular - 1, near_pairs, irregular / 2)), spmv_algorithm::row_per_warp);
    EXPECT_EQ(chosen(of(irregular, near_pairs, irregular / 2)), spmv_algorithm::merge_path);
  }
}

TEST(SpmvDeviceChoice, GivesLongRowsInSmallMatricesToGroups) {
  for (const i64 longest : {632, 5000, 9000, 70'000, 1'000'000}) {
    auto hub = even(2000, 20);
    hub.nnz += longest;
    hub.longest = longest;
    hub.long_entries = longest;
    EXPECT_EQ(chosen(hub), spmv_algorithm::row_per_warp) << longest;
    const auto choice = detail::spmv::choose_csr_on_device(hub, small_x);
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

TEST(SpmvDeviceChoice, TakesScatteredColumnsOfALargeXInPasses) {
  constexpr i64 rows = 10'000'000;
  auto scattered = even(rows, 16);
  scattered.near_pairs = 499;
  constexpr i64 least = cache / 10 * 6 / 8;
  EXPECT_EQ(chosen(scattered, {least + 1, 8, cache}), spmv_algorithm::column_passes);
  EXPECT_EQ(chosen(scattered, {least - 1, 8, cache}), spmv_algorithm::merge_path);
  EXPECT_EQ(chosen(even(rows, 16), {least + 1, 8, cache}), spmv_algorithm::row_blocks);
  auto hub = even(rows, 16);
  hub.longest = 33 * 16;
  EXPECT_EQ(chosen(hub, {least + 1, 8, cache}), spmv_algorithm::merge_path);
  // Irregular rows, rows with few entries, columns with few entries.
  auto uneven = scattered;
  uneven.longest = 500;
  uneven.long_entries = uneven.nnz / 2;
  EXPECT_EQ(chosen(uneven, {least + 1, 8, cache}), spmv_algorithm::merge_path);
  scattered.nnz = rows * 8;
  EXPECT_EQ(chosen(scattered, {rows, 8, cache}), spmv_algorithm::column_passes);
  scattered.nnz -= 1;
  EXPECT_EQ(chosen(scattered, {rows, 8, cache}), spmv_algorithm::merge_path);
  scattered.nnz = rows * 16;
  EXPECT_EQ(chosen(scattered, {4 * rows, 8, cache}), spmv_algorithm::column_passes);
  EXPECT_EQ(chosen(scattered, {4 * rows + 1, 8, cache}), spmv_algorithm::merge_path);
  const auto choice = detail::spmv::choose_csr_on_device(scattered, {rows, 8, cache});
  EXPECT_NE(choice.reason.find("x of 80 MB exceeds L2"), std::string::npos) << choice.reason;
  EXPECT_NE(choice.reason.find("3 column blocks"), std::string::npos) << choice.reason;
}

TEST(SpmvDeviceChoice, CountsPassesByCacheSize) {
  const auto passes = [](i64 size) { return detail::spmv::column_passes({size, 8, cache}); };
  constexpr i64 part = cache / 10 * 6 / 8;
  EXPECT_EQ(passes(1), 2);
  EXPECT_EQ(passes(2 * part), 2);
  EXPECT_EQ(passes(2 * part + 1), 3);
  EXPECT_EQ(passes(7 * part), 7);
  EXPECT_EQ(passes(1'000 * part), 64);
  EXPECT_EQ(detail::spmv::column_passes({0, 8, 0}), 2);
}

TEST(SpmvDeviceChoice, LoadsWholeLinesOfAnXThatFitsTheCache) {
  constexpr i64 part = cache / 10 * 6 / 8;
  EXPECT_TRUE(detail::spmv::is_kept(4 * part, {part - 1, 8, cache}));
  EXPECT_FALSE(detail::spmv::is_kept(5 * part, {part + 1, 8, cache}));
  EXPECT_TRUE(detail::spmv::is_kept(4000, {1000, 8, cache}));
  EXPECT_FALSE(detail::spmv::is_kept(3999, {1000, 8, cache}));
}

}  // namespace
}  // namespace spargo::test
