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

class bell {
 public:
  // Read this before testing the condition: any later ring makes `sleep` return.
  [[nodiscard]] std::uint32_t heard() const noexcept { return rung_.load(); }

  // One thread at a time. May return early.
  void sleep(std::uint32_t heard) noexcept {
    sleeps_.store(true);
    ::syscall(SYS_futex, &rung_, FUTEX_WAIT_PRIVATE, heard, nullptr, nullptr, 0);
    sleeps_.store(false);
  }

  void ring() noexcept {
    rung_.fetch_add(1);
    if (sleeps_.load()) ::syscall(SYS_futex, &rung_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  alignas(64) std::atomic<std::uint32_t> rung_{0};
  std::atomic<bool> sleeps_{false};
};

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace spargo::detail
