// Decides vertices in order on host threads.
//
// Threads take the next few ranks from a shared counter and try them in order. A vertex that has to wait for one of
// lower rank, which another thread holds, goes into the thread's list and is tried again later. The undecided vertex of
// the lowest rank waits for none, so somebody always gets on. One thread never waits.
#pragma once

#include "core/parallel.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

namespace spargo::detail::greedy {

struct host_tuning {
  static constexpr std::int64_t taken = 256;                     // ranks that a thread takes at once
  static constexpr std::int64_t waiting = 1024;                  // of a thread, at most
  static constexpr std::int64_t region = std::int64_t{1} << 20;  // ranks between two looks for an interruption
  static constexpr std::int64_t share = std::int64_t{1} << 11;   // ranks that are worth a thread
  static constexpr int looks = 16;                               // in vain, before a thread yields
};

// One thread needs no ranks and tries nothing twice: fewer than `least` are slower than one.
[[nodiscard]] inline int threads_from(const context<host>& ctx, int least) {
  return ctx.threads() < least ? 1 : ctx.threads();
}

template <class I>
class ordered_loop {
 public:
  ordered_loop(const context<host>& ctx, int threads)
      : threads_(threads), waiting_(ctx, threads_ == 1 ? 0 : threads_ * host_tuning::waiting) {}

  // attempt(slot, rank) decides the vertex of this rank, or returns false: it has to wait. Must not throw.
  template <class Attempt>
  void run(std::int64_t size, const Attempt& attempt) {
    for (std::int64_t first = 0; first < size; first += host_tuning::region) {
      const std::int64_t last = std::min(size, first + host_tuning::region);
      const int team = useful_threads(threads_, last - first, host_tuning::share);
      next_ = first;
      on_threads(team, team, [&](part_taker& mine) {
        worker<Attempt> own{this, attempt, mine.slot(), last};
        for (std::int64_t part; mine.take(part);) own.take_all();
      });
    }
  }
  [[nodiscard]] std::int64_t bytes() const { return waiting_.size() * std::int64_t{sizeof(I)}; }

 private:
  template <class Attempt>
  struct worker {
    ordered_loop* loop;
    const Attempt& attempt;
    int slot;
    std::int64_t end;
    std::int64_t count = 0;  // waiting

    void take_all() {
      for (;;) {
        const std::int64_t first = loop->next_.fetch_add(host_tuning::taken, std::memory_order_relaxed);
        if (first >= end) break;
        const std::int64_t last = std::min(end, first + host_tuning::taken);
        for (std::int64_t rank = first; rank < last; ++rank) {
          if (!attempt(slot, rank)) list()[count++] = static_cast<I>(rank);
        }
        if (count > 0) try_again(host_tuning::waiting - host_tuning::taken);
      }
      try_again(0);
    }
    // Until at most `most` are left; at least once.
    void try_again(std::int64_t most) {
      int vain = 0;
      do {
        std::int64_t left = 0;
        for (std::int64_t j = 0; j < count; ++j) {
          if (!attempt(slot, list()[j])) list()[left++] = list()[j];
        }
        vain = left < count ? 0 : vain + 1;
        count = left;
        if (vain > host_tuning::looks) std::this_thread::yield();
      } while (count > most);
    }
    [[nodiscard]] I* list() const { return loop->waiting_.data() + slot * host_tuning::waiting; }
  };

  int threads_;
  array<I, host> waiting_;  // [slot] ranks
  std::atomic<std::int64_t> next_{0};
};

}  // namespace spargo::detail::greedy
