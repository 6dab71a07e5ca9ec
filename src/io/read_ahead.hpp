// A byte stream that its own thread decompresses while other threads parse earlier text.
//
// Idea: inflating is sequential and slower than parsing, so it should never wait: a thread fills a few chunks ahead of
// the reader. It is started only for compressed regular files (a pipe may block a read forever, and the thread could
// not be ended) and contexts with more than one thread.
// Invariant: the reader sees the stream's bytes, failures and exceptions in order.
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

  // Block size while a thread reads ahead: small, so that neither waits for a long stretch of the other's work. With
  // blocks of 8 MiB against a ring of 4 the thread idled a fifth of the time.
  static constexpr std::int64_t block_bytes = std::int64_t{2} << 20;

  // Like `byte_stream`: up to `bytes` > 0; 0 at the end or after a failure.
  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes);
  // The failure, once `read` has returned 0.
  [[nodiscard]] const std::string& failure() const noexcept { return stream_->failure(); }
  // Whether a thread reads ahead.
  [[nodiscard]] bool is_ahead() const noexcept { return thread_.joinable(); }
  [[nodiscard]] std::int64_t consumed() const noexcept { return thread_.joinable() ? consumed_ : stream_->consumed(); }

 private:
  struct tuning {
    // A chunk takes some 2 ms to inflate, a wake-up 50 us; eight chunks are four blocks.
    static constexpr std::int64_t chunk_bytes = std::int64_t{1} << 20;
    static constexpr std::size_t chunks = 8;
  };
  struct chunk {
    array<char, host> bytes;
    std::int64_t size = 0;
    std::int64_t consumed = 0;  // bytes of the file when the chunk was filled
  };

  void run() noexcept;
  void fill(chunk& next);

  std::unique_ptr<byte_stream> stream_;
  std::int64_t consumed_ = 0;
  std::int64_t taken_ = 0;  // bytes taken from the first full chunk

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<chunk, tuning::chunks> chunks_;  // ring buffer
  std::size_t first_ = 0;                     // index of the first full chunk
  std::size_t full_ = 0;                      // number of full chunks
  bool ended_ = false;                        // no more chunks will be filled
  bool stop_ = false;
  std::exception_ptr exception_;
  std::thread thread_;
};

}  // namespace spargo::detail
