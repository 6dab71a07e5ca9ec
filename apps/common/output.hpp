// A file written whole or not at all: under a temporary name beside the target, synced, then renamed. What stood
// there before stays until then. A name that ends in .gz is compressed. A target that exists and is no regular file
// (a terminal, a pipe, /dev/null) is written in place.
#pragma once

#include <string>
#include <string_view>

namespace spargo::apps {

class output_file {
 public:
  // Throws `error` (io), naming the file, when it cannot be created.
  explicit output_file(std::string path);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();  // removes what was not committed

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  void flush();
  void write_raw(const char* data, std::size_t size);

  std::string path_;
  std::string temporary_;  // empty: written in place, or committed
  std::string buffer_;
  int descriptor_ = -1;
  void* gzip_ = nullptr;
};

}  // namespace spargo::apps
