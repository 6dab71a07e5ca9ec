// Files written whole or not at all: to a temporary name beside the target, synced, then renamed over it.
//
// Until `commit` returns, an existing file of that name is untouched; without a `commit` (an exception, a full disk)
// the temporary file is removed. A link is followed, an existing file keeps its permissions. A pipe or a device
// (/dev/stdout) cannot be replaced and is written directly. A name that ends in .gz is compressed.
#pragma once

#include "io/file.hpp"
#include "io/gzip.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace spargo::detail {

class output_file {
 public:
  // Throws `error` (io) where no file can be created.
  explicit output_file(const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  // Appends; buffered. Throws `error` (io), naming the target, when the system refuses.
  void write(std::string_view bytes);

  // Makes what was written the file of that name, durably. Nothing may be written after it.
  void commit();

 private:
  void create_temporary();
  void flush();
  void put(std::string_view bytes);

  std::string path_;       // as the caller named it: for messages
  std::string target_;     // with links resolved
  std::string temporary_;  // empty when the target is written directly
  file_handle file_;
  std::unique_ptr<gzip_writer> compressor_;
  std::string buffer_;
  std::string compressed_;
};

}  // namespace spargo::detail
