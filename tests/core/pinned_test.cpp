// Page-locked memory: blocks in use never overlap, from any thread, although freed blocks are kept for reuse.
#include <spargo/core/error.hpp>
#include <spargo/core/memory.hpp>

#include "support/device.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace spargo {
namespace {

struct block {
  unsigned char* data;
  std::size_t bytes;
  unsigned char mark;
};

block take(std::size_t bytes, unsigned char mark) {
  auto* const data = static_cast<unsigned char*>(pinned_host_resource().allocate(bytes, nullptr));
  std::memset(data, mark, bytes);
  return {data, bytes, mark};
}
bool whole(const block& b) {
  return std::all_of(b.data, b.data + b.bytes, [&](unsigned char byte) { return byte == b.mark; });
}
void give(const block& b) { pinned_host_resource().deallocate(b.data, b.bytes, nullptr); }

// Allocates and frees blocks around the sizes that are kept, a dozen at a time. False if two blocks overlapped.
bool churn(unsigned seed) {
  constexpr std::size_t sizes[] = {1, 8, 4095, 4096, 4097, 8192, 8300, 65535, 65536, 65537, 200'000};
  std::vector<block> mine;
  bool good = true;
  for (unsigned round = 0; round < 200; ++round) {
    mine.push_back(take(sizes[(round * 7 + seed) % std::size(sizes)], static_cast<unsigned char>(round + 31 * seed)));
    if (mine.size() < 12) continue;
    const std::size_t victim = (round * 5 + seed) % mine.size();
    good = good && whole(mine[victim]);
    give(mine[victim]);
    mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(victim));
  }
  for (const block& b : mine) {
    good = good && whole(b);
    give(b);
  }
  return good;
}

TEST(Pinned, BlocksInUseDoNotOverlap) {
  SPARGO_TEST_NEEDS_GPU();
  EXPECT_TRUE(churn(0));
}

TEST(Pinned, ThreadsDoNotShareBlocks) {
  SPARGO_TEST_NEEDS_GPU();
  std::vector<char> good(4, 0);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < good.size(); ++t) threads.emplace_back([&good, t] { good[t] = churn(t) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<char>(4, 1));
}

TEST(Pinned, SmallBlocksAreKept) {
  SPARGO_TEST_NEEDS_GPU();
  const block first = take(5000, 1);
  give(first);
  const block second = take(8192, 2);
  EXPECT_EQ(second.data, first.data);
  const block third = take(8192, 3);
  EXPECT_NE(third.data, second.data);
  give(second);
  give(third);
}

TEST(Pinned, NeedsAGpu) {
  if (test::gpu().usable()) GTEST_SKIP() << "there is a GPU";
  for (const std::size_t bytes : {8U, 100'000U}) {
    try {
      (void)pinned_host_resource().allocate(bytes, nullptr);
      ADD_FAILURE() << bytes;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::device_unavailable);
    }
  }
}

}  // namespace
}  // namespace spargo
