// The lines of a plain or compressed file, one at a time: lists of ids, vectors.
#pragma once

#include <spargo/core/error.hpp>

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace spargo::apps {

class text_lines {
 public:
  // Throws `error` (io) if the file cannot be opened.
  explicit text_lines(const std::string& path);

  // Sets the next line, without its end; false at the end of the file. Throws `error`: `parse` at a zero byte and at a
  // line longer than 1 MiB, `io` where the file cannot be read.
  [[nodiscard]] bool next(std::string& line);
  [[nodiscard]] source_position at(std::int64_t column) const { return {path_, number_, column}; }

 private:
  static constexpr std::size_t longest = std::size_t{1} << 20;

  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  char buffer_[65536] = {};
  std::int64_t number_ = 0;
  std::int64_t read_ = 0;  // bytes
};

}  // namespace spargo::apps
