#include "io/read_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace spargo::detail {

namespace {

// Waits with a time limit, again and again: std::condition_variable::wait would need libstdc++ of GCC 12, where wheels
// run with that of GCC 11.
template <class Ready>
void wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, const Ready& ready) {
  while (!changed.wait_for(lock, std::chrono::minutes(1), ready)) {
  }
}

}  // namespace

read_ahead::read_ahead(const context<host>& ctx, std::unique_ptr<byte_stream> stream) : stream_(std::move(stream)) {
  if (ctx.threads() == 1 || !stream_->is_compressed() || !stream_->is_regular()) return;
  for (chunk& each : chunks_) each.bytes = array<char, host>(ctx, tuning::chunk_bytes);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no thread available: decompress in the caller
  }
}

read_ahead::~read_ahead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void read_ahead::fill(chunk& next) {
  next.size = 0;
  while (next.size < next.bytes.size()) {
    const std::int64_t got = stream_->read(next.bytes.data() + next.size, next.bytes.size() - next.size);
    if (got == 0) break;
    next.size += got;
  }
  next.consumed = stream_->consumed();
}

void read_ahead::run() noexcept {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    wait_until(changed_, lock, [this] { return stop_ || full_ < chunks_.size(); });
    if (stop_) return;
    chunk& next = chunks_[(first_ + full_) % chunks_.size()];
    lock.unlock();
    std::exception_ptr exception;
    try {
      fill(next);
    } catch (...) {
      exception = std::current_exception();
    }
    lock.lock();
    exception_ = exception;
    ended_ = exception != nullptr || next.size < next.bytes.size();
    if (next.size > 0) ++full_;
    changed_.notify_all();
  }
}

std::int64_t read_ahead::read(char* to, std::int64_t bytes) {
  if (!thread_.joinable()) return stream_->read(to, bytes);
  std::unique_lock lock(mutex_);
  wait_until(changed_, lock, [this] { return full_ > 0 || ended_; });
  if (full_ == 0) {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
    return 0;
  }
  const chunk& now = chunks_[first_];
  lock.unlock();
  const std::int64_t count = std::min(bytes, now.size - taken_);
  std::copy_n(now.bytes.data() + taken_, count, to);
  consumed_ = now.consumed;
  taken_ += count;
  if (taken_ < now.size) return count;
  taken_ = 0;
  lock.lock();
  first_ = (first_ + 1) % chunks_.size();
  --full_;
  changed_.notify_all();
  return count;
}

}  // namespace spargo::detail
