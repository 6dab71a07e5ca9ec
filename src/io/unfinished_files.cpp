#include "io/unfinished_files.hpp"

#include <spargo/io/output.hpp>

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace spargo {

namespace {

enum class slot_state { empty, taken, live };

struct slot {
  std::atomic<slot_state> state{slot_state::empty};
  char name[PATH_MAX];
};
static_assert(std::atomic<slot_state>::is_always_lock_free, "a signal handler must not wait for a lock");

constexpr int slots = 64;  // files written at once; one app writes at most three
slot table[slots];
std::atomic<bool> closed{false};

// Blocks all signals in this thread during its lifetime.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() {
    const int kept = errno;
    ::pthread_sigmask(SIG_SETMASK, &old_, nullptr);
    errno = kept;
  }

 private:
  sigset_t old_;
};

int take_slot(const std::string& name) {
  if (name.size() >= sizeof(slot::name)) return -1;
  for (int i = 0; i < slots; ++i) {
    slot_state expected = slot_state::empty;
    if (table[i].state.compare_exchange_strong(expected, slot_state::taken)) return i;
  }
  return -1;
}

}  // namespace

namespace detail {

unfinished_file::~unfinished_file() {
  if (!name_.empty()) ::unlink(name_.c_str());
  keep();
}

int unfinished_file::create(std::string name, mode_t permissions) {
  const signals_blocked blocked;
  const int taken = take_slot(name);
  int descriptor = -1;
  if (closed) {
    errno = EINTR;
  } else {
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
  }
  if (descriptor < 0) {
    if (taken >= 0) table[taken].state = slot_state::empty;
    return descriptor;
  }
  if (taken >= 0) {
    std::memcpy(table[taken].name, name.c_str(), name.size() + 1);
    table[taken].state = slot_state::live;
  }
  slot_ = taken;
  name_ = std::move(name);
  return descriptor;
}

void unfinished_file::keep() noexcept {
  if (slot_ >= 0) table[slot_].state = slot_state::empty;
  slot_ = -1;
  name_.clear();
}

}  // namespace detail

void remove_unfinished_files() noexcept {
  const int kept = errno;
  closed = true;
  for (slot& s : table) {
    while (s.state == slot_state::taken) {  // another thread is creating the file
    }
    if (s.state == slot_state::live) ::unlink(s.name);
  }
  errno = kept;
}

}  // namespace spargo
