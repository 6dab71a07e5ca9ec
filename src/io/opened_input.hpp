// What an `input_file` is: the open file, its first bytes, and how far a stream has been read.
#pragma once

#include "io/text/blocks.hpp"

#include <spargo/io/input.hpp>
#include <spargo/io/matrix_market.hpp>

namespace spargo::detail {

struct opened_input {
  std::string path;
  std::string name;
  std::shared_ptr<const opened_file> file;
  std::string head;             // without a byte-order mark
  std::int64_t mark_bytes = 0;  // of the byte-order mark in a regular file that is not compressed
  bool is_compressed = false;

  // Where there is but one reading, the bytes from the first on; null once someone reads them.
  std::unique_ptr<byte_stream> stream;

  // Of a Matrix Market stream: who has asked for the header goes on from there.
  std::unique_ptr<text_source> begun;
  matrix_market_header header;

  // Whether the bytes are those of the file, and can be read from any place.
  [[nodiscard]] bool is_plain() const { return file->is_regular && file->size > 0 && !is_compressed; }

  // The bytes from the first on. Throws `error` (io) where they are read but once and that was before.
  [[nodiscard]] std::unique_ptr<byte_stream> take_stream();
  [[nodiscard]] std::unique_ptr<byte_stream> take_text() { return is_plain() ? nullptr : take_stream(); }
};

}  // namespace spargo::detail
