// Decides vertices in order on host threads.
//
// Threads take the next few ranks from a shared counter and try them in order. A vertex that has to wait for one of
// lower rank, which another thread holds, is put into the thread's list and retried. The undecided vertex of the lowest
// rank waits for none, so there is always progress. A single thread never waits.
#pragma once

#include "core/parallel.hpp"
#include "graph/greedy/order.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

namespace spargo::detail::greedy {

struct host_tuning {
  static constexpr std::int64_t taken = 256;                     // ranks that a thread takes at once
  static constexpr std::int64_t waiting = 1024;                  // capacity of a thread's list
  static constexpr std::int64_t region = std::int64_t{1} << 20;  // ranks between two checks for interruption
  static constexpr std::int64_t share = std::int64_t{1} << 11;   // ranks that are worth a thread
  static constexpr int retries = 16;                             // without progress, before a thread yields
};

// A single thread needs no ranks and retries nothing, so fewer than `least` threads are slower than one.
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
        if (count > 0) retry(host_tuning::waiting - host_tuning::taken);
      }
      retry(0);
    }
    // Until at most `most` are left; at least once.
    void retry(std::int64_t most) {
      int failed = 0;
      do {
        std::int64_t left = 0;
        for (std::int64_t j = 0; j < count; ++j) {
          if (!attempt(slot, list()[j])) list()[left++] = list()[j];
        }
        failed = left < count ? 0 : failed + 1;
        count = left;
        if (failed > host_tuning::retries) std::this_thread::yield();
      } while (count > most);
    }
    [[nodiscard]] I* list() const { return loop->waiting_.data() + slot * host_tuning::waiting; }
  };

  int threads_;
  array<I, host> waiting_;  // [slot] ranks
  std::atomic<std::int64_t> next_{0};
};

// Base of the executors. Self::attempt<Alone>(slot, rank) decides the vertex of this rank, as above; Alone: on a single
// thread.
template <class Self, class Executor, class T, class I, class O>
class host_executor : public Executor {
 public:
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return n_ * static_cast<std::int64_t>(2 * sizeof(I) + sizeof(T)) + loop_.bytes();
  }

 protected:
  using rows = csr_pattern_view<I, O, host>;

  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, ranking<I, host>&& ranks, int threads)
      : threads_(threads),
        n_(g.vertices()),
        sides_(sides_of(g)),
        ranks_(std::move(ranks)),
        values_(ctx, n_),
        loop_(ctx, threads_) {}

  void decide_all(T undecided) {
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) { values_[v] = undecided; });
    Self& self = static_cast<Self&>(*this);
    if (threads_ == 1) {
      loop_.run(n_,
                [&](int slot, std::int64_t rank) { return self.template attempt<true>(slot, static_cast<I>(rank)); });
    } else {
      loop_.run(n_,
                [&](int slot, std::int64_t rank) { return self.template attempt<false>(slot, static_cast<I>(rank)); });
    }
  }
  // The number of vertices whose value is(value).
  template <class Is>
  [[nodiscard]] std::int64_t count_values(const Is& is) const {
    return parallel_reduce(
        threads_, n_, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          return static_cast<std::int64_t>(std::count_if(values_.data() + first, values_.data() + last, is));
        },
        [](std::int64_t a, std::int64_t b) { return a + b; });
  }

  int threads_;
  std::int64_t n_;
  std::array<rows, 2> sides_;
  ranking<I, host> ranks_;
  array<T, host> values_;  // [vertex]
  ordered_loop<I> loop_;
  std::int64_t count_ = 0;
};

}  // namespace spargo::detail::greedy
