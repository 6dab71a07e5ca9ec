// Waits for a word that another thread is about to change.
//
// Spins first, since a wakeup takes longer than most waits, then sleeps on a futex: the other may be preempted.
#pragma once

#include "core/parallel.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace spargo::detail {

// Waits until the word, a std::atomic or std::atomic_ref, differs from `old`; returns its new value. The other thread
// calls notify_all(). Scan of 2^26 int32, two threads of a Xeon: 43 ms sleeping at once, 18 ms spinning first.
template <class Word, class T>
T await_change(const Word& word, T old) {
  using clock = std::chrono::steady_clock;
  constexpr clock::duration looking = std::chrono::microseconds(100);
  constexpr int looks = 16;  // between readings of the clock
  T now = word.load(std::memory_order_acquire);
  if (now != old) return now;
  for (const clock::time_point end = clock::now() + looking; clock::now() < end;) {
    for (int k = 0; k < looks; ++k) {
      pause_thread();
      now = word.load(std::memory_order_acquire);
      if (now != old) return now;
    }
  }
  for (; now == old; now = word.load(std::memory_order_acquire)) word.wait(old, std::memory_order_acquire);
  return now;
}

// Tickets 0, 1, 2, ...; each holder passes on to the next.
class turn_order {
 public:
  // Waits until the turns before i have been passed on.
  void wait_for(std::int64_t i) const noexcept {
    for (std::int64_t now = turn_.load(std::memory_order_acquire); now < i;) now = await_change(turn_, now);
  }
  void pass() noexcept {
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
  }

 private:
  std::atomic<std::int64_t> turn_{0};
};

}  // namespace spargo::detail
