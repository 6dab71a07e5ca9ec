// Gzip (RFC 1952) as a byte stream in bounded memory, reading and writing.
#pragma once

#include "io/file.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail {

[[nodiscard]] bool looks_like_gzip(std::string_view bytes) noexcept;

// The bytes of a file in order: decompressed if they begin like gzip; without the byte-order mark of a text.
// Concatenated members form one text; zeros may pad the last one. After a truncated or corrupt stream's valid bytes
// `read` returns 0 and `failure` has the message, so that a reader can report an earlier error in the text first.
class byte_stream {
 public:
  byte_stream(std::shared_ptr<const opened_file> file, std::string path);
  ~byte_stream();
  byte_stream(const byte_stream&) = delete;
  byte_stream& operator=(const byte_stream&) = delete;

  // Reads up to `bytes` > 0; 0 at the end or after a failure.
  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes);

  // The next `bytes`, or fewer at the end; `read` still delivers them. Valid until then.
  [[nodiscard]] std::string_view look_ahead(std::int64_t bytes);

  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] std::int64_t consumed() const noexcept { return consumed_; }  // stored bytes of the file
  [[nodiscard]] bool is_compressed() const noexcept { return inflater_ != nullptr; }
  [[nodiscard]] bool is_regular() const noexcept { return file_->is_regular; }

 private:
  struct inflater;
  bool refill();
  bool begin_next_member();
  std::int64_t read_next(char* to, std::int64_t bytes);
  std::int64_t read_plain(char* to, std::int64_t bytes);
  std::int64_t read_gzip(char* to, std::int64_t bytes);

  std::shared_ptr<const opened_file> file_;
  std::int64_t offset_ = 0;  // of the next read from the file
  std::string path_;
  std::string ahead_;  // bytes from look_ahead not yet read, from `ahead_used_` on
  std::size_t ahead_used_ = 0;
  std::vector<char> buffer_;
  std::string_view pending_;  // unused part of the buffer
  std::int64_t consumed_ = 0;
  bool at_end_ = false;
  std::string failure_;
  std::unique_ptr<inflater> inflater_;  // null for uncompressed bytes
};

// Compresses a stream; output comes in chunks.
class gzip_writer {
 public:
  gzip_writer();
  ~gzip_writer();
  gzip_writer(const gzip_writer&) = delete;
  gzip_writer& operator=(const gzip_writer&) = delete;

  // Appends the compressed form of `bytes` to `to`; part of it may come with a later call.
  void compress(std::string_view bytes, std::string& to);
  void finish(std::string& to);

 private:
  struct deflater;
  void run(std::string_view bytes, int flush, std::string& to);
  std::unique_ptr<deflater> deflater_;
};

}  // namespace spargo::detail
