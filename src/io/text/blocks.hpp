// Text files as a sequence of blocks of whole lines: the base of every text reader.
//
// Idea: a block is copied into our own buffer (a regular file by all threads at once), so that nobody can change it
// meanwhile; gzip (recognised from the content) and pipes pass through the same buffer in order. A reader splits each
// block at line ends and parses the parts in parallel. It keeps only pointers, and asks for line and column in case of
// an error, so valid files never pay for counting lines.
// Invariant: every block ends with '\n' (added if the last line of the file lacks it), a sentinel for every loop in a
// block. Only a line longer than the limit is delivered cut, and the next call throws; but the rest of a comment is
// dropped, whatever its length.
// Memory: the buffer, block_bytes + max_line_bytes.
#pragma once

#include "io/file.hpp"
#include "io/read_ahead.hpp"

#include <spargo/core/array.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail {

// Whole lines of an uncompressed regular file: bytes [first, last). All of it if `first` is negative.
struct file_range {
  std::int64_t first = -1;
  std::int64_t last = -1;
  [[nodiscard]] bool is_all() const { return first < 0; }
};

struct input_tuning {
  // Bytes per block; 0: 4 MiB per thread (8 ms of parsing; a parallel region costs 20 us), 8 to 64 MiB.
  std::int64_t block_bytes = 0;
  // Bounds the memory that a line can claim; valid lines are far shorter in all formats.
  std::int64_t max_line_bytes = std::int64_t{1} << 20;
  file_range range{};
};

class text_source {
 public:
  // Reads from the beginning. Throws `error`: io for a stream already read, unsupported for bytes that are not text.
  text_source(const context<host>& ctx, const input_file& file, const read_options& options = {},
              const input_tuning& tuning = {});
  ~text_source();
  text_source(const text_source&) = delete;
  text_source& operator=(const text_source&) = delete;

  // Characters that begin a comment line, from the next block on.
  void set_comment_marks(std::string_view marks) noexcept { comment_marks_ = marks; }

  // Continues a source that another reader has begun, with this context and progress callback.
  void hand_over(const context<host>& ctx, const read_options& options);

  // The next block, valid until the next call; empty at the end. Throws `error` (io) at the point where a stream is
  // truncated or corrupt, after delivering everything before it.
  [[nodiscard]] std::string_view next();

  // Ends the current block before `line_start`, the first byte of a line; the next block begins there.
  void put_back(const char* line_start);

  // Line and column (in bytes, from 1) of a byte in the current block, or one past its end. Slow: for errors only.
  [[nodiscard]] source_position position_of(const char* where) const;

  // Throws `error` (parse) at a byte of the current block. If that byte's line is too long (and not a comment, or
  // without a message), reports that instead, so that the message does not depend on where a line was cut.
  [[noreturn]] void fail(const char* where, const std::string& message) const;

  // Call after the end: throws `error` (parse) at the first position after the text.
  [[noreturn]] void fail_at_end(const std::string& message) const;

  // Readers compare each line's length, without '\n', with this, and call `fail` for a longer one.
  [[nodiscard]] std::int64_t max_line_bytes() const noexcept { return max_line_bytes_; }

  // An upper bound of the bytes not delivered yet, from the actual file size; -1 for a stream.
  [[nodiscard]] std::int64_t bytes_left() const noexcept;

  // The likely rest, estimated from the compression ratio so far; 0 if unknown. Only a hint.
  [[nodiscard]] std::int64_t expected_bytes_left() const noexcept;

  // Offset of the next block in an uncompressed regular file.
  [[nodiscard]] std::int64_t offset() const noexcept { return position_ - (end_ - begin_); }

  // Whether `bytes_left` is known.
  [[nodiscard]] bool has_size() const noexcept { return stream_ == nullptr; }

  // Threads for parsing blocks: those of the context, less the inflating one. A team that includes it would spin while
  // it waits for room, where the next block should be inflated (2.5 s became 4.4 on two busy cores).
  [[nodiscard]] context<host> parsing_context() const;

  // A new source for a regular file, possibly with another block size; null if it can be read only once.
  [[nodiscard]] std::unique_ptr<text_source> again() const;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  text_source(const context<host>& ctx, std::shared_ptr<const opened_file> file, std::string path,
              std::int64_t mark_bytes, std::unique_ptr<byte_stream> stream, const read_options& options,
              const input_tuning& tuning);
  [[nodiscard]] bool fill_buffer(std::int64_t target);
  [[nodiscard]] std::int64_t read_file(char* to, std::int64_t bytes);
  std::string_view deliver_added_newline(std::int64_t bytes);
  [[nodiscard]] bool begins_with_comment(std::string_view line) const;
  void drop_rest_of_line();
  [[nodiscard]] std::int64_t count_lines_before() const;
  void report();

  context<host> ctx_;
  std::shared_ptr<const opened_file> file_;
  std::string path_;
  read_options options_;
  input_tuning tuning_;
  std::string_view comment_marks_;
  std::int64_t block_bytes_ = 0;
  std::int64_t max_line_bytes_ = 0;
  std::int64_t mark_bytes_ = 0;  // size of a byte-order mark before the text
  std::int64_t reported_ = -1;

  std::string_view current_;  // the last block delivered
  bool newline_added_ = false;
  bool line_cut_ = false;
  bool dropping_ = false;  // the rest of a comment is still to be skipped

  std::unique_ptr<read_ahead> stream_;  // null for an uncompressed regular file
  std::int64_t position_ = 0;           // next read position in that file
  std::int64_t last_ = 0;               // end of the text in that file
  array<char, host> buffer_;
  std::int64_t begin_ = 0;  // undelivered text in the buffer
  std::int64_t end_ = 0;
  std::int64_t lines_before_ = 0;  // before the current block of a stream
  std::int64_t delivered_ = 0;     // bytes of all blocks so far
  bool ended_ = false;             // nothing follows the buffer
};

// Lines of a text of whole lines, 16 bytes at a time: faster than memory bandwidth.
[[nodiscard]] std::int64_t count_newlines(std::string_view text) noexcept;

// The first line start in [at, last); else `last`.
[[nodiscard]] std::int64_t find_line(const opened_file& file, const std::string& path, std::int64_t at,
                                     std::int64_t last);

// Cuts a block into at most `chunks` parts of about equal size, each of whole lines.
[[nodiscard]] std::vector<std::string_view> split_at_lines(std::string_view block, std::int64_t chunks);

// Quotes file text for messages: at most 32 bytes of the token, with \xNN for unprintable bytes.
[[nodiscard]] std::string quoted(std::string_view token);

}  // namespace spargo::detail
