// State of an `input_file`: the open file, its first bytes, and the position in a stream.
#pragma once

#include "io/text/blocks.hpp"

#include <spargo/io/edge_table.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/matrix_market.hpp>

#include <optional>

namespace spargo::detail {

struct opened_input {
  std::string path;
  std::string name;
  std::shared_ptr<const opened_file> file;
  std::string head;             // without a byte-order mark
  std::int64_t mark_bytes = 0;  // size of the byte-order mark in an uncompressed regular file
  bool is_compressed = false;

  // For inputs that can be read only once: their bytes from the first on; null once taken.
  std::unique_ptr<byte_stream> stream;

  // For a Matrix Market stream whose header was read: reading continues from here.
  std::unique_ptr<text_source> begun;
  matrix_market_header header;

  std::optional<padded_id> padded;  // of the edge list, once it was read to its end

  // Whether the text is the file's bytes, readable at any offset.
  [[nodiscard]] bool is_plain() const { return file->is_regular && file->size > 0 && !is_compressed; }

  // The bytes from the first on. Throws `error` (io) if they can be read only once and were taken before.
  [[nodiscard]] std::unique_ptr<byte_stream> take_stream();
  [[nodiscard]] std::unique_ptr<byte_stream> take_text() { return is_plain() ? nullptr : take_stream(); }
};

}  // namespace spargo::detail
