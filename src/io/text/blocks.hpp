// Text files as a sequence of blocks of whole lines, the base of every text reader.
//
// Idea: a block is read into a buffer of our own, of a regular file by all threads at once, so that nobody can change
// it while it is looked at; gzip (recognised from the content) and pipes come in order through the same buffer. A
// reader splits each block at line ends and parses the parts in parallel; it keeps pointers only, and asks for line and
// column when something is wrong, so the good case never counts lines.
// Invariant: every block ends with '\n' (added to the last line of a file that lacks it), so '\n' is a sentinel for
// every loop inside a block; only a line longer than the limit is delivered cut, and the next call throws, unless it is
// a comment: of these the rest is dropped, whatever its length.
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

// Whole lines of a regular file that is not compressed: bytes [first, last). All of it where `first` is below 0.
struct file_range {
  std::int64_t first = -1;
  std::int64_t last = -1;
  [[nodiscard]] bool is_all() const { return first < 0; }
};

struct input_tuning {
  // Bytes per block; 0: 4 MiB for each thread (some 8 ms of parsing, against 20 us for a parallel region), 8 to 64 MiB.
  std::int64_t block_bytes = 0;
  // No format here has lines near this; a limit bounds the memory that a line can claim.
  std::int64_t max_line_bytes = std::int64_t{1} << 20;
  file_range range{};
};

class text_source {
 public:
  // Reads `file` from its beginning. Throws `error`: io for a stream that was read already, unsupported for bytes that
  // are known to be no text.
  text_source(const context<host>& ctx, const input_file& file, const read_options& options = {},
              const input_tuning& tuning = {});
  ~text_source();
  text_source(const text_source&) = delete;
  text_source& operator=(const text_source&) = delete;

  // The first characters of lines that are comments, from the next block on.
  void set_comment_marks(std::string_view marks) noexcept { comment_marks_ = marks; }

  // Who goes on reading a source that another has begun: with these threads and this progress.
  void hand_over(const context<host>& ctx, const read_options& options);

  // The next block; empty at the end. It is valid until the next call. Throws `error` (io) where a stream is
  // truncated or corrupt, after everything before that place was delivered.
  [[nodiscard]] std::string_view next();

  // Ends the current block before `line_start`, the first byte of a line in it: the next call begins there.
  void put_back(const char* line_start);

  // Line and column (bytes, from 1) of a byte in the current block, or one past its end. Slow: for errors only.
  [[nodiscard]] source_position position_of(const char* where) const;

  // Throws `error` (parse) at a byte of the current block; or, if that byte's line is longer than the limit (and is no
  // comment, or there is no message), says so instead, so that the message does not depend on where a line was cut.
  [[noreturn]] void fail(const char* where, const std::string& message) const;

  // After the end: throws `error` (parse) at the first position after the text.
  [[noreturn]] void fail_at_end(const std::string& message) const;

  // A reader compares the length of each line, without its '\n', with this, and calls `fail` on a longer one.
  [[nodiscard]] std::int64_t max_line_bytes() const noexcept { return max_line_bytes_; }

  // An upper bound of the bytes not delivered yet, from what is really there; -1 for a stream.
  [[nodiscard]] std::int64_t bytes_left() const noexcept;

  // What is likely to come, judged by how far a compressed file has grown so far; 0 when unknown. Not to be trusted.
  [[nodiscard]] std::int64_t expected_bytes_left() const noexcept;

  // Where in a regular file that is not compressed the next block begins.
  [[nodiscard]] std::int64_t offset() const noexcept { return position_ - (end_ - begin_); }

  // Whether `bytes_left` is known.
  [[nodiscard]] bool has_size() const noexcept { return stream_ == nullptr; }

  // Threads for what the blocks hold: those of the context, less the one that inflates them. A team of all of them
  // while that one waits for room is no help: it spins where the next block is inflated (2.5 s became 4.4 on two busy
  // cores).
  [[nodiscard]] context<host> parsing_context() const;

  // Of a regular file, from its beginning and in blocks of another size if need be; null for what is read once.
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
  std::int64_t mark_bytes_ = 0;  // of a byte-order mark, before the text
  std::int64_t reported_ = -1;

  std::string_view current_;  // the block delivered last
  bool newline_added_ = false;
  bool line_cut_ = false;
  bool dropping_ = false;  // the rest of a comment is not read yet

  std::unique_ptr<read_ahead> stream_;  // null for a regular file that is not compressed
  std::int64_t position_ = 0;           // in that file: what is read next
  std::int64_t last_ = 0;               // where the text ends there
  array<char, host> buffer_;
  std::int64_t begin_ = 0;  // of the buffer: text that is not delivered yet
  std::int64_t end_ = 0;
  std::int64_t lines_before_ = 0;  // the current block, of a stream
  std::int64_t delivered_ = 0;     // bytes of all blocks so far
  bool ended_ = false;             // nothing comes after the buffer
};

// Lines of a text of whole lines. 16 bytes at a time: faster than memory delivers them.
[[nodiscard]] std::int64_t count_newlines(std::string_view text) noexcept;

// The first byte from `at` on, and before `last`, that begins a line; else `last`.
[[nodiscard]] std::int64_t find_line(const opened_file& file, const std::string& path, std::int64_t at,
                                     std::int64_t last);

// Cuts a block into at most `chunks` parts of about equal size, each of whole lines.
[[nodiscard]] std::vector<std::string_view> split_at_lines(std::string_view block, std::int64_t chunks);

// What a message shows of a file's text: at most 32 bytes of the token, quoted, with \xNN for what cannot be printed.
[[nodiscard]] std::string quoted(std::string_view token);

}  // namespace spargo::detail
