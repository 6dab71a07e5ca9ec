// A byte stream that a thread of its own decompresses while others parse what came before.
//
// Idea: inflating is sequential and slower than parsing, so it should never wait: a thread fills a few chunks ahead of
// the reader. It is started only where it helps and cannot block forever: for compressed regular files (a pipe may
// keep a read waiting, and nobody could end that thread) and a context of more than one thread.
// Invariant: the reader sees the bytes, failures and exceptions of the stream in the stream's order.
// Cost: `chunks` * `chunk_bytes` of memory, and one copy of the text.
#pragma once

#include "io/gzip.hpp"

#include <spargo/core/array.hpp>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace spargo::detail {

class read_ahead {
 public:
  read_ahead(const context<host>& ctx, std::unique_ptr<byte_stream> stream);
  ~read_ahead();
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;

  // What a reader takes at a time while a thread is ahead: little, so that neither waits for the other to end a long
  // stretch of work. With blocks of 8 MiB against a ring of 4 the thread stood still a fifth of the time.
  static constexpr std::int64_t block_bytes = std::int64_t{2} << 20;

  // As `byte_stream`: up to `bytes` > 0; 0 at the end or after a failure.
  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes);
  // What is wrong, once `read` has returned 0.
  [[nodiscard]] const std::string& failure() const noexcept { return stream_->failure(); }
  // Whether a thread is at work besides the caller.
  [[nodiscard]] bool is_ahead() const noexcept { return thread_.joinable(); }
  [[nodiscard]] std::int64_t consumed() const noexcept { return thread_.joinable() ? consumed_ : stream_->consumed(); }

 private:
  struct tuning {
    // A chunk takes some 2 ms to inflate, a wake-up 50 us; eight of them are four blocks.
    static constexpr std::int64_t chunk_bytes = std::int64_t{1} << 20;
    static constexpr std::size_t chunks = 8;
  };
  struct chunk {
    array<char, host> bytes;
    std::int64_t size = 0;
    std::int64_t consumed = 0;  // of the file, when it was full
  };

  void run() noexcept;
  void fill(chunk& next);

  std::unique_ptr<byte_stream> stream_;
  std::int64_t consumed_ = 0;
  std::int64_t taken_ = 0;  // bytes of the first full chunk

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<chunk, tuning::chunks> chunks_;  // a ring
  std::size_t first_ = 0;                     // full chunk
  std::size_t full_ = 0;                      // chunks
  bool ended_ = false;                        // nothing comes after the full chunks
  bool stop_ = false;
  std::exception_ptr exception_;
  std::thread thread_;
};

}  // namespace spargo::detail
