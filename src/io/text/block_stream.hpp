// Streams blocks of text through threads: each part is parsed and formatted by one thread; results are checked and
// written in order. Used by both streaming converters, which differ in how a part becomes text.
#pragma once

#include "core/parallel.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/text/blocks.hpp"

#include <spargo/io/output.hpp>
#include <spargo/io/stream.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

namespace spargo::detail {

struct stream_tuning {
  // Small, since memory holds all parts of one block, parsed and formatted. A part is some 0.5 ms of work.
  std::int64_t block_bytes_a_thread = std::int64_t{1} << 20;
  std::int64_t part_bytes = std::int64_t{128} << 10;
};

// The text made from a part of a block. A bad part is the last one.
struct streamed_text {
  array<char, host> room;
  std::int64_t bytes = 0;
  std::optional<bad_line> bad;
  std::exception_ptr exception;

  // Room for `wanted` bytes; earlier contents are lost.
  [[nodiscard]] char* ensure(const context<host>& ctx, std::int64_t wanted) {
    if (room.size() < wanted) room = {};
    if (room.size() < wanted) room = array<char, host>(ctx, wanted);
    return room.data();
  }
};

[[nodiscard]] inline input_tuning streamed_input(const context<host>& ctx, const stream_tuning& tuning) {
  return {.block_bytes = tuning.block_bytes_a_thread * ctx.threads()};
}

// Calls `make(part, text)` for the parts of the block in parallel. It may throw.
template <class Part, class Make>
void make_texts(const context<host>& ctx, std::string_view block, const stream_tuning& tuning, std::vector<Part>& parts,
                std::vector<streamed_text>& texts, const Make& make) {
  const auto chunks = split_at_lines(block, div_up(static_cast<std::int64_t>(block.size()), tuning.part_bytes));
  parts.resize(chunks.size());
  texts.resize(std::max(texts.size(), chunks.size()));
  const auto count = static_cast<std::int64_t>(chunks.size());
  parallel_parts(ctx.threads(), count, [&](std::int64_t k) {
    const auto i = static_cast<std::size_t>(k);
    streamed_text& text = texts[i];
    text.bytes = 0;
    try {
      parts[i].text = chunks[i];
      make(parts[i], text);
    } catch (bad_line& bad) {
      text.bad = std::move(bad);
    } catch (...) {
      text.exception = std::current_exception();
    }
  });
}

inline void write_text(output_file& out, const streamed_text& text) {
  out.write({text.room.data(), static_cast<std::size_t>(text.bytes)});
}

}  // namespace spargo::detail
