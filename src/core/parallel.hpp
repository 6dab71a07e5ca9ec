// Parallel loops on host threads: the only place where the library starts, wakes or waits for threads.
//
// Idea: a thread that calls an operation leads a team. It publishes a region and works on it at once; every worker that
// arrives in time takes parts of it too. A late worker finds the region closed. Nobody waits for a thread that has not
// begun, so a busy core costs only its share of the work. Each thread first takes the parts of its own range (the same
// ones every time, for cache reuse), then steals from others.
//
// Waiting is bounded: a worker polls for the next region for some time, then sleeps on a futex; so does a leader that
// waits for the last part. A worker that was preempted while polling shows that the machine is busy; its team then
// sleeps without polling for a while. Times: apps/bench/results/busy_machine.txt.
//
// Invariants: `slot` is below `threads`, and no two threads have the same slot of a region at a time. A region inside a
// part runs on the thread that opens it. No more threads than processors are woken. A forked child starts afresh.
#pragma once

#include "core/function_ref.hpp"
#include "core/parts.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace spargo::detail {

// Processors that affinity and cgroup quota (rounded up) allow this process; at least 1.
[[nodiscard]] int usable_processors();

// For tests: sets the number of processors; 0 restores the real one.
void assume_processors(int processors);

// A context's default: usable processors, limited by OMP_NUM_THREADS and OMP_THREAD_LIMIT.
[[nodiscard]] int default_threads();

// Hints to the processor that this thread is spinning.
void pause_thread() noexcept;

using region_function = bool (*)(void* self, int slot);  // returns whether there was work for it

// Threads that a region of `threads` would get now, at most one per processor. Asks the thread's `interruption` first.
[[nodiscard]] int team_size(int threads);

// Whether a region wakes sleeping workers. Regions of about 10 us use `unless_busy`.
enum class waking { always, unless_busy };

// Calls function(self, 0) on this thread, and function(self, slot) for slots below `threads` on workers that arrive
// before it has returned; returns when all calls have. The function must not throw. threads: at most team_size().
void run_region(int threads, region_function function, void* self, waking wake = waking::always);

// --- Parts
// ------------------------------------------------------------------------------------------------------------

struct alignas(64) part_cursor {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

// Hands a thread its parts: those of its own range, then those of others.
class part_taker {
 public:
  part_taker(part_cursor* cursors, int count, int slot) : cursors_(cursors), count_(count), slot_(slot) {}

  // This thread's slot within the region, for scratch.
  [[nodiscard]] int slot() const { return slot_; }

  [[nodiscard]] bool has_taken() const { return taken_; }

  // The next part; false when none is left.
  [[nodiscard]] bool take(std::int64_t& part);

 private:
  part_cursor* cursors_;
  int count_;
  int slot_;
  int looked_ = 0;
  bool taken_ = false;
};

// The non-template loops behind those below. Bodies are called once per thread, part or range.
void run_on_threads(int threads, std::int64_t parts, function_ref<void(part_taker&)> body, waking wake);
void run_parts(int threads, std::int64_t parts, function_ref<void(std::int64_t)> body, waking wake);
void run_ranges(int threads, std::int64_t size, std::int64_t least,
                function_ref<void(std::int64_t, std::int64_t)> body);

// body(part_taker&) on up to `threads` threads, each of which takes parts of [0, parts) until none is left. Some slots
// may stay unused. The first exception ends the region and is rethrown here.
template <class Body>
void on_threads(int threads, std::int64_t parts, Body&& body, waking wake = waking::always) {
  run_on_threads(threads, parts, body, wake);
}

// body(part) for every part of [0, parts). For parts of 10 us and more, which are worth waking a thread.
template <class Body>
void parallel_parts(int threads, std::int64_t parts, Body&& body, waking wake = waking::always) {
  run_parts(threads, parts, body, wake);
}

// to = min(to, value), atomically.
inline void lower_to(std::atomic<std::int64_t>& to, std::int64_t value) {
  std::int64_t now = to.load(std::memory_order_relaxed);
  while (value < now && !to.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

// --- Loops
// ------------------------------------------------------------------------------------------------------------

// Minimum number of iterations per thread.
struct grain {
  static constexpr std::int64_t elements = std::int64_t{1} << 15;  // about 1 ns each: fills, copies, sums
  static constexpr std::int64_t rows = std::int64_t{1} << 12;      // about 10 ns each: rows of a few entries
};

// How many of `threads` threads to use so that each has at least `least` of the work.
[[nodiscard]] inline int useful_threads(int threads, std::int64_t work, std::int64_t least) {
  return static_cast<int>(std::clamp<std::int64_t>(work / least, 1, threads));
}

// Several parts per thread, so that a preempted thread delays little.
[[nodiscard]] inline parts split_loop(int threads, std::int64_t size, std::int64_t least) {
  return {size, std::clamp<std::int64_t>(size / least, 1, threads <= 1 ? 1 : std::int64_t{8} * threads)};
}

// body(first, last) for ranges that cover [0, size), none much shorter than `least`.
template <class Body>
void parallel_ranges(int threads, std::int64_t size, std::int64_t least, Body&& body) {
  run_ranges(threads, size, least, body);
}

template <class Body>
void parallel_for(int threads, std::int64_t size, std::int64_t least, Body&& body) {
  parallel_ranges(threads, size, least, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) body(i);
  });
}

// Combines body(first, last) -> R over ranges that cover [0, size), in no fixed order: for integer sums and minima.
template <class R, class Body, class Combine>
[[nodiscard]] R parallel_reduce(int threads, std::int64_t size, std::int64_t least, R start, Body&& body,
                                Combine&& combine) {
  if (size <= 0) return start;
  const parts shares = split_loop(threads, size, least);
  R all = start;
  std::mutex mutex;
  on_threads(threads, shares.count, [&](part_taker& mine) {
    R own = start;
    for (std::int64_t p; mine.take(p);) own = combine(own, body(shares.first(p), shares.last(p)));
    const std::lock_guard lock(mutex);
    all = combine(all, own);
  });
  return all;
}

}  // namespace spargo::detail
