// Thread teams: every part runs once, with late threads and failures.
#include "core/parallel.hpp"
#include "core/busy.hpp"
#include "core/turns.hpp"

#include <spargo/core/array.hpp>
#include <spargo/core/context.hpp>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace spargo {
namespace {

using detail::grain;
using detail::on_threads;
using detail::parallel_for;
using detail::parallel_parts;
using detail::parallel_reduce;
using detail::part_taker;

// Pretends that the machine has this many processors.
class Parallel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { detail::assume_processors(GetParam()); }
  void TearDown() override { detail::assume_processors(0); }
};

// On a busy machine a short loop wakes no thread; a long one does.
TEST(ParallelOnABusyMachine, ShortLoopsWakeNobody) {
  detail::assume_processors(4);
  detail::assume_busy(true);
  const auto threads_of = [](std::int64_t size) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // workers fall asleep
    parallel_for(4, size, 1, [&](std::int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    return seen.size();
  };
  EXPECT_GT(threads_of(64), 1U);
  EXPECT_EQ(threads_of(15), 1U);
  EXPECT_GT(threads_of(16), 1U);
  detail::assume_busy(false);
  EXPECT_GT(threads_of(15), 1U);
  detail::assume_processors(0);
}

TEST_P(Parallel, EveryPartOnce) {
  for (const int threads : {1, 2, 3, 8, 70}) {
    for (const std::int64_t parts : {0, 1, 2, 3, 64, 65, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
      parallel_parts(threads, parts, [&](std::int64_t p) { done[static_cast<std::size_t>(p)].fetch_add(1); });
      for (const auto& times : done) ASSERT_EQ(times.load(), 1) << threads << " threads, " << parts << " parts";
    }
  }
}

TEST_P(Parallel, EveryIndexOnce) {
  for (const std::int64_t size : {0, 1, 31, 4096, 100'003}) {
    std::vector<int> done(static_cast<std::size_t>(size));
    parallel_for(4, size, 100, [&](std::int64_t i) { ++done[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(std::count(done.begin(), done.end(), 1), size);
    const std::int64_t sum = parallel_reduce(
        4, size, 100, std::int64_t{0},
        [](std::int64_t first, std::int64_t last) {
          std::int64_t own = 0;
          for (std::int64_t i = first; i < last; ++i) own += i;
          return own;
        },
        std::plus<>{});
    EXPECT_EQ(sum, size * (size - 1) / 2);
  }
}

// Two threads with the same slot would share scratch.
TEST_P(Parallel, SlotsAreExclusive) {
  constexpr int threads = 4;
  std::vector<std::atomic<int>> inside(threads);
  std::atomic<int> met{0};
  for (int round = 0; round < 2000; ++round) {
    on_threads(threads, 16, [&](part_taker& mine) {
      ASSERT_LT(mine.slot(), threads);
      auto& here = inside[static_cast<std::size_t>(mine.slot())];
      met += here.fetch_add(1);
      for (std::int64_t p; mine.take(p);) detail::pause_thread();
      here.fetch_sub(1);
    });
  }
  EXPECT_EQ(met.load(), 0);
}

TEST_P(Parallel, RegionsInsideOfPartsRunAlone) {
  std::atomic<int> parts{0};
  parallel_parts(4, 8, [&](std::int64_t) {
    const auto me = std::this_thread::get_id();
    parallel_parts(4, 8, [&](std::int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      ++parts;
    });
  });
  EXPECT_EQ(parts.load(), 64);
}

TEST_P(Parallel, ExceptionsAreRethrown) {
  for (const int threads : {1, 4}) {
    for (const std::int64_t bad : {0, 7, 99}) {
      EXPECT_THROW(parallel_parts(threads, 100,
                                  [&](std::int64_t p) {
                                    if (p == bad) throw std::runtime_error("part");
                                  }),
                   std::runtime_error);
      std::atomic<int> after{0};
      parallel_parts(threads, 100, [&](std::int64_t) { ++after; });
      EXPECT_EQ(after.load(), 100);
    }
  }
}

// Every calling thread has its own team.
TEST_P(Parallel, ManyCallers) {
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum{0};
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) parallel_parts(3, 5, [&](std::int64_t p) { sum += p; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 8 * 300 * 10);
}

INSTANTIATE_TEST_SUITE_P(Processors, Parallel, testing::Values(0, 1, 2, 5),
                         [](const auto& p) { return "assumed" + std::to_string(p.param); });

// A forked child lacks the parent's worker threads.
// Late workers find the region closed and do not work on it after its leader has left.
TEST(Regions, AreNotJoinedAfterTheirEnd) {
  detail::assume_processors(4);
  static std::atomic<bool> open{false};
  static std::atomic<int> late{0};
  late = 0;
  for (int i = 0; i < 20'000; ++i) {
    open = true;
    detail::run_region(
        4,
        [](void*, int) {
          late += open ? 0 : 1;
          return true;
        },
        nullptr);
    open = false;
    for (int k = 0; k < i % 64; ++k) detail::pause_thread();
    if (i % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // workers sleep, and wake late
  }
  detail::assume_processors(0);
  EXPECT_EQ(late, 0);
}

// Waiting threads sleep if another takes long, and are woken.
TEST(Turns, AreTakenInOrder) {
  detail::turn_order turns;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (const int i : {3, 1, 2, 0}) {
    threads.emplace_back([&, i] {
      turns.wait_for(i);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      order.push_back(i);
      turns.pass();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Fork, ChildrenWork) {
  detail::assume_processors(2);
  const context<host> ctx({.threads = 2});
  const std::int64_t size = 10'000'000;
  array<int, host> from(ctx, size), to(ctx, size);
  std::iota(from.begin(), from.end(), 0);
  copy<int>(ctx, from.view(), to.view());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);  // a hang becomes a failure
    std::fill(to.begin(), to.end(), 0);
    copy<int>(ctx, from.view(), to.view());
    std::atomic<int> parts{0};
    parallel_parts(2, 100, [&](std::int64_t) { ++parts; });
    _exit(std::equal(from.begin(), from.end(), to.begin()) && parts == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  detail::assume_processors(0);
}

TEST(Context, RefusesMoreThreadsThanItsBound) {
  EXPECT_EQ(context<host>({.threads = context<host>::most_threads}).threads(), context<host>::most_threads);
  for (const int threads : {-1, context<host>::most_threads + 1, 40'000, 1'000'000}) {
    try {
      const context<host> ctx({.threads = threads});
      FAIL() << threads;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("expected 0 to 1024"), std::string::npos) << e.what();
    }
  }
}

TEST(Context, ManyThreadsWork) {
  const context<host> ctx({.threads = context<host>::most_threads});
  std::atomic<int> parts{0};
  parallel_parts(ctx.threads(), ctx.threads(), [&](std::int64_t) { ++parts; });
  EXPECT_EQ(parts.load(), ctx.threads());
}

TEST(Context, DefaultThreadsFollowTheEnvironment) {
  const int all = detail::usable_processors();
  ASSERT_GE(all, 1);
  const auto with = [](const char* name, const char* value) {
    setenv(name, value, 1);
    const int threads = context<host>().threads();
    unsetenv(name);
    return threads;
  };
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    EXPECT_EQ(with(name, "1"), 1);
    EXPECT_EQ(with(name, "1,4"), 1);
    EXPECT_EQ(with(name, "100000"), std::min(all, context<host>::most_threads));
    EXPECT_EQ(with(name, "many"), std::min(all, context<host>::most_threads));
    EXPECT_EQ(with(name, "0"), std::min(all, context<host>::most_threads));
  }
}

// `taskset -c 0`
TEST(Context, DefaultThreadsFollowAffinity) {
  std::thread([] {
    cpu_set_t before, first;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&first);
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++c) {
      if (CPU_ISSET(c, &before)) CPU_SET(c, &first);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    EXPECT_EQ(context<host>().threads(), 1);
    EXPECT_EQ(detail::team_size(8), 1);
  }).join();
}

}  // namespace
}  // namespace spargo
