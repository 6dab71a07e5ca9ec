#include "input/text_lines.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace spargo::apps {

text_lines::text_lines(const std::string& path) : path_(path), file_(::gzopen(path.c_str(), "rb"), &::gzclose) {
  if (file_ == nullptr)
    throw error(error_code::io, source_position{path, 0, 0},
                fmt::format("cannot open for reading: {}", std::strerror(errno)));
}

bool text_lines::next(std::string& line) {
  line.clear();
  ++number_;
  while (::gzgets(file_.get(), buffer_, sizeof buffer_) != nullptr) {
    const std::string_view text = buffer_;
    // gzgets reads on after a zero byte, so the text would continue with the next line.
    if (static_cast<std::int64_t>(text.size()) != ::gztell(file_.get()) - read_)
      throw error(error_code::parse, at(1), "a zero byte (expected text)");
    read_ = ::gztell(file_.get());
    line += text;
    if (line.size() > longest) throw error(error_code::parse, at(1), "a line longer than 1 MiB");
    if (!line.ends_with('\n')) continue;
    line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }
  int code = 0;
  const char* const text = ::gzerror(file_.get(), &code);
  if (code < 0 && code != Z_BUF_ERROR) throw error(error_code::io, source_position{path_, 0, 0}, text);
  if (code == Z_BUF_ERROR)
    throw error(error_code::io, source_position{path_, 0, 0}, "the compressed data is cut short");
  return !line.empty();
}
}  // namespace spargo::apps
