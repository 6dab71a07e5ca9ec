// Numbers for sparse ids, against a std::map.
#include "io/text/id_table.hpp"

#include "core/id_bitmap.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

namespace spargo {
namespace {

// Several threads number ids in rounds, between which the table grows; the ranks must equal those of a set.
template <class I>
void expect_ranks(const std::vector<std::int64_t>& ids, int threads, std::int64_t round) {
  const context<host> ctx({.threads = threads});
  detail::id_table<I> table(ctx);
  const auto size = static_cast<std::int64_t>(ids.size());
  std::vector<std::int64_t> numbers(ids.size());
  for (std::int64_t begin = 0; begin < size; begin += round) {
    const std::int64_t end = std::min(size, begin + round);
    table.reserve(end - begin);
    std::atomic<std::int64_t> taken{begin};
    std::vector<std::thread> numbering;
    for (int t = 0; t < threads; ++t) {
      numbering.emplace_back([&] {
        for (std::int64_t k = taken.fetch_add(100); k < end; k = taken.fetch_add(100)) {
          table.number(ids.data() + k, std::min<std::int64_t>(100, end - k), numbers.data() + k);
        }
      });
    }
    for (std::thread& t : numbering) t.join();
  }
  const std::set<std::int64_t> distinct(ids.begin(), ids.end());
  ASSERT_EQ(table.size(), static_cast<std::int64_t>(distinct.size()));
  array<typename detail::id_table<I>::number_type, host> ranks;
  const std::vector<std::int64_t> sorted = table.ranks(ranks);
  ASSERT_EQ(sorted, std::vector<std::int64_t>(distinct.begin(), distinct.end()));
  for (std::size_t k = 0; k < ids.size(); ++k) {
    ASSERT_EQ(sorted[static_cast<std::size_t>(ranks[numbers[k]])], ids[k])
        << "id " << k << ", " << threads << " threads";
  }
}

TEST(IdTable, RanksAreThoseOfASet) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> ids;
  for (int k = 0; k < 120'000; ++k) ids.push_back(static_cast<std::int64_t>(random() >> 1));
  for (int k = 0; k < 60'000; ++k) ids.push_back(ids[random() % ids.size()]);
  ids.insert(ids.end(), {0, INT64_MAX, 1, INT64_MAX - 1, 0});
  for (const int threads : {1, 2, 3, 5}) {
    for (const std::int64_t round : {1'000, 50'000, 1'000'000}) {
      expect_ranks<std::int32_t>(ids, threads, round);
      expect_ranks<std::int64_t>(ids, threads, round);
    }
  }
}

// The table is never much larger than the ids need, in whatever order they come.
TEST(IdTable, MemoryFollowsTheIds) {
  detail::id_table<std::int32_t> table(context<host>{});
  std::vector<std::int64_t> ids(500), numbers(500);
  for (std::int64_t k = 0; k < 400'000; k += 500) {
    for (std::int64_t i = 0; i < 500; ++i) ids[static_cast<std::size_t>(i)] = (k + i) * 1'000'003;
    table.reserve(500);
    table.number(ids.data(), 500, numbers.data());
    if (k > 10'000) {
      ASSERT_LE(table.bytes(), table.size() * 27) << table.size() << " ids";
    }
    ASSERT_GE(table.bytes(), table.size() * 16);
  }
}

TEST(IdTable, EveryThreadMeetsTheSameIds) {
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < 50'000; ++k) ids.push_back(k % 37 * 1'000'000'000'000);
  expect_ranks<std::int32_t>(ids, 4, 10'000);
}

TEST(IdTable, NoneAtAll) {
  detail::id_table<std::int64_t> table(context<host>{});
  array<std::uint64_t, host> ranks;
  EXPECT_TRUE(table.ranks(ranks).empty());
}

TEST(IdBitmap, RanksAreThoseOfASet) {
  std::mt19937_64 random(2);
  for (const std::int64_t size : {1, 63, 64, 65, 10'000}) {
    std::vector<std::int32_t> sources, targets;
    std::set<std::int64_t> distinct;
    for (std::int64_t k = 0; k < size / 2 + 1; ++k) {
      sources.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(size)));
      targets.push_back(static_cast<std::int32_t>(size - 1 - k % 3 % size));
      distinct.insert({sources.back(), targets.back()});
    }
    const context<host> ctx({.threads = 3});
    detail::id_bitmap<std::int32_t> bitmap;
    EXPECT_EQ(bitmap.limit(), 0);
    const auto largest = *std::max_element(sources.begin(), sources.end());
    bitmap.grow(ctx, largest + 1);
    bitmap.mark(sources.data(), static_cast<std::int64_t>(sources.size()));
    bitmap.grow(ctx, size);
    EXPECT_GE(bitmap.limit(), size);
    bitmap.mark(targets.data(), static_cast<std::int64_t>(targets.size()));
    EXPECT_EQ(bitmap.finish(ctx), std::vector<std::int64_t>(distinct.begin(), distinct.end()));
    std::int64_t rank = 0;
    for (const std::int64_t id : distinct) EXPECT_EQ(bitmap.rank(static_cast<std::int32_t>(id)), rank++);
  }
}

}  // namespace
}  // namespace spargo
