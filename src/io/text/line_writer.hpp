// Lines of text from numbered items: threads format chunks, which are written in order.
//
// Idea: a thread that has formatted a chunk waits until earlier chunks are written, writes its own, and formats the
// next while others write. The text depends on the items only. Memory: a bounded buffer per thread. Numbers are the
// shortest that read back to the same bits (std::to_chars: Adams, "Ryu", PLDI 2018).
#pragma once

#include "core/parallel.hpp"
#include "core/turns.hpp"

#include <spargo/core/array.hpp>
#include <spargo/io/output.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <complex>
#include <cstdint>
#include <exception>
#include <limits>
#include <vector>

namespace spargo::detail {

struct line_writer_tuning {
  // Items per chunk: about 0.5 MiB of text, some ms of work.
  static constexpr std::int64_t chunk = std::int64_t{1} << 14;
  // Two 64-bit integers of at most 19 digits, two numbers of at most 24, four separators.
  static constexpr std::int64_t longest_line = 2 * 19 + 2 * 24 + 4;
};

// NaN without its sign, which has no meaning.
template <class T>
[[nodiscard]] char* put_number(char* to, T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) value = std::numeric_limits<T>::quiet_NaN();
  }
  return std::to_chars(to, to + 24, value).ptr;
}

// Writes a real that is a 64-bit integer; 2^63, to which 2^63 - 1 is rounded, as 2^63 - 1.
[[nodiscard]] inline char* put_integer(char* to, double value) noexcept {
  constexpr double limit = 9223372036854775808.0;
  return put_number(to, value >= limit ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(value));
}

[[nodiscard]] inline char* put_unsigned(char* to, double value) noexcept {
  constexpr double limit = 18446744073709551616.0;
  if (value < 0) return put_integer(to, value);
  return put_number(to, value >= limit ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(value));
}

// Writes `count` lines: line k is what `put_line(to, k)` writes at `to`, returning the position after it, and a '\n'.
// `put_line` must not throw. No line exceeds `longest` bytes without '\n'.
template <class PutLine>
void write_lines(const context<host>& ctx, output_file& out, std::int64_t count, const PutLine& put_line,
                 std::int64_t longest = line_writer_tuning::longest_line - 1) {
  using tuning = line_writer_tuning;
  const std::int64_t chunk =
      std::clamp<std::int64_t>(tuning::chunk * tuning::longest_line / (longest + 1), 1, tuning::chunk);
  const std::int64_t chunks = div_up(count, chunk);
  const auto threads = static_cast<int>(std::min<std::int64_t>(ctx.threads(), chunks));
  std::vector<array<char, host>> texts;
  for (int t = 0; t < threads; ++t) texts.emplace_back(ctx, chunk * (longest + 1));
  std::atomic<std::int64_t> taken{0};
  turn_order turn;
  std::exception_ptr failure;  // the first one; its chunk ends the text
  const auto write = [&](std::string_view text) {
    try {
      if (!failure) out.write(text);
    } catch (...) {
      failure = std::current_exception();
      taken.store(chunks);
    }
  };
  if (threads == 0) return;
  parallel_parts(threads, threads, [&](std::int64_t slot) {
    char* const text = texts[static_cast<std::size_t>(slot)].data();
    for (std::int64_t i = taken.fetch_add(1); i < chunks; i = taken.fetch_add(1)) {
      char* to = text;
      const std::int64_t last = std::min(count, (i + 1) * chunk);
      for (std::int64_t k = i * chunk; k < last; ++k) {
        to = put_line(to, k);
        *to++ = '\n';
      }
      turn.wait_for(i);
      write({text, static_cast<std::size_t>(to - text)});
      turn.pass();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace spargo::detail
