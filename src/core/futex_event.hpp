// An event that one thread waits on.
//
// It uses Linux's futex directly: std::atomic::wait yields four times before it sleeps (libstdc++ 12), and beside other
// busy programs each yield may cost a time slice. A sleeping thread is woken at once.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace spargo::detail {

class futex_event {
 public:
  // Read this before testing the condition: any later `notify` makes `wait` return.
  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_.load(); }

  // One thread at a time. May return early.
  void wait(std::uint32_t epoch) noexcept {
    sleeping_.store(true);
    ::syscall(SYS_futex, &epoch_, FUTEX_WAIT_PRIVATE, epoch, nullptr, nullptr, 0);
    sleeping_.store(false);
  }

  void notify() noexcept {
    epoch_.fetch_add(1);
    if (sleeping_.load()) ::syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  alignas(64) std::atomic<std::uint32_t> epoch_{0};
  std::atomic<bool> sleeping_{false};
};

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace spargo::detail
