#include "input/input_check.hpp"

#include <spargo/core/error.hpp>

#include <zlib.h>

#include <memory>
#include <string_view>

namespace spargo::apps {

namespace {

constexpr int buffer_bytes = 1 << 16;

// Calls on_line(number, first nonblank character, or '\n') for every line.
template <class OnLine>
void for_each_line(const std::string& path, const OnLine& on_line) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), &::gzclose);
  if (file == nullptr) throw error(error_code::io, source_position{path, 0, 0}, "cannot open again to look for lines");
  std::vector<char> buffer(buffer_bytes);
  std::int64_t line = 1;
  bool at_start = true;  // only blanks so far on this line
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  for (int got = 0; (got = ::gzread(file.get(), buffer.data(), buffer_bytes)) > 0;) {
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(got))) {
      const bool mark = line == 1 && byte_order_mark.find(c) != std::string_view::npos;
      if (at_start && c != ' ' && c != '\t' && c != '\r' && !mark) {
        on_line(line, c);
        at_start = false;
      }
      if (c != '\n') continue;
      at_start = true;
      ++line;
    }
  }
}

}  // namespace

void find_lines(const std::string& path, int lines_before, std::string_view comments, std::vector<oddity>& found) {
  std::int64_t number = -lines_before;  // number among the lines that count
  for_each_line(path, [&](std::int64_t line, char first) {
    if (first == '\n' || comments.find(first) != std::string_view::npos) return;
    for (oddity& each : found) {
      if (number >= 0 && each.entry == number) each.line = line;
    }
    ++number;
  });
}

}  // namespace spargo::apps
