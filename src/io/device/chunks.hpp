// A file's text, read by several threads and handed on in order, chunk by chunk.
//
// Idea: reading from the page cache is a copy, and one core copies more slowly than the link. So threads take chunks in
// order, read each into its own slot, and hand them on in order. The next one due has always been taken, so no thread
// waits forever. Invariant: the first failure is thrown, and no chunk is handed on after it.
#pragma once

#include "core/parallel.hpp"
#include "core/turns.hpp"
#include "io/device/text.hpp"
#include "io/file.hpp"

#include <spargo/core/context.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <string>

namespace spargo::detail {

// Bytes [first, last) of an open file. If the last byte is not '\n', one is added.
struct text_range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool ended = true;
};

// Reads `bytes` at byte `offset` of a regular file. Throws `error` (io), also if the file has become shorter.
void read_at(const file_handle& file, const std::string& path, char* to, std::int64_t bytes, std::int64_t offset);

// `done(bytes)` is called occasionally, by one thread at a time.
template <class Parser>
void parse_chunks(const context<host>& ctx, const file_handle& file, const std::string& path, const text_range& text,
                  const device_read_tuning& tuning, Parser& parser, const std::function<void(std::int64_t)>& done) {
  const std::int64_t chunks = div_up(text.last - text.first, tuning.chunk_bytes);
  const auto threads =
      static_cast<int>(std::clamp<std::int64_t>(chunks, 1, std::min({ctx.threads(), tuning.threads, tuning.slots})));
  std::atomic<std::int64_t> taken{0};
  std::atomic<bool> failed{false};
  std::exception_ptr exception;
  turn_order turns;
  const auto read = [&](std::int64_t i) {  // returns the number of bytes
    const std::int64_t from = text.first + i * tuning.chunk_bytes;
    std::int64_t bytes = std::min(tuning.chunk_bytes, text.last - from);
    char* const to = parser.slot(i);
    read_at(file, path, to, bytes, from);
    if (i == chunks - 1 && !text.ended) to[bytes++] = '\n';
    return bytes;
  };
  const auto work = [&](std::int64_t i) {
    std::int64_t bytes = 0;
    std::exception_ptr mine;
    turns.wait_for(i - tuning.slots + 1);  // the slot's previous chunk has been handed on
    try {
      if (!failed.load(std::memory_order_relaxed)) bytes = read(i);
    } catch (...) {
      mine = std::current_exception();
    }
    turns.wait_for(i);
    try {
      if (mine != nullptr) std::rethrow_exception(mine);
      if (!failed.load(std::memory_order_relaxed)) {
        parser.submit(i, bytes, text.first + i * tuning.chunk_bytes);
        if (done) done(text.first + i * tuning.chunk_bytes + bytes);
      }
    } catch (...) {
      if (exception == nullptr) exception = std::current_exception();
      failed.store(true, std::memory_order_relaxed);
    }
    turns.pass();
  };
  parallel_parts(threads, threads, [&](std::int64_t) {
    for (std::int64_t i = taken.fetch_add(1); i < chunks; i = taken.fetch_add(1)) work(i);
  });
  if (exception != nullptr) std::rethrow_exception(exception);
}

}  // namespace spargo::detail
