#include <spargo/core/interruption.hpp>

#include <utility>

namespace spargo {

namespace {
thread_local interruption* innermost = nullptr;
}

interruption::interruption(std::function<void()> ask, clock::duration interval)
    : interruption([asked = std::move(ask)](const operation_progress&) { asked(); }, interval) {}

interruption::interruption(std::function<void(const operation_progress&)> ask, clock::duration interval)
    : ask_(std::move(ask)),
      interval_(interval),
      next_(clock::now() + interval),
      outer_(std::exchange(innermost, this)) {}

interruption::~interruption() { innermost = outer_; }

void interruption::look() {
  interruption* const it = innermost;
  if (it == nullptr) return;
  if (clock::now() < it->next_) return;
  it->ask_(it->progress_);
  it->next_ = clock::now() + it->interval_;
}

void interruption::look(const operation_progress& now) {
  if (innermost == nullptr) return;
  innermost->progress_ = now.done < now.total ? now : operation_progress{};
  look();
}

}  // namespace spargo
