#include "input/source_line.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

namespace spargo::apps {

namespace {

struct tuning {
  static constexpr std::int64_t width = 72;   // of the text shown
  static constexpr std::int64_t before = 48;  // part of it before the column
};

// Up to `width` bytes of the line from its byte `first`; empty if the file is shorter.
std::string part_of_line(const std::string& path, std::int64_t line, std::int64_t first) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), &::gzclose);
  if (file == nullptr) return {};
  std::vector<char> buffer(std::size_t{1} << 16);
  std::string text;
  std::int64_t number = 1;
  std::int64_t column = 0;
  for (int got = 0; (got = ::gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;) {
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(got))) {
      if (number == line) {
        if (c == '\n' || std::ssize(text) == tuning::width) return text;
        if (column++ >= first) text += c;
      }
      number += c == '\n' ? 1 : 0;
    }
  }
  return text;
}

}  // namespace

std::string source_line(const source_position& position) {
  if (position.line < 1 || position.column < 1 || position.file.empty()) return {};
  const std::int64_t first = std::max<std::int64_t>(0, position.column - 1 - tuning::before);
  std::string text = part_of_line(position.file, position.line, first);
  while (!text.empty() && text.back() == '\r') text.pop_back();
  for (char& c : text) c = c == '\t' ? ' ' : c < ' ' || c > '~' ? '.' : c;
  const std::int64_t caret = position.column - 1 - first;
  if (text.empty() || caret > std::ssize(text)) return {};
  const std::string number = fmt::format("{} | ", position.line);
  return fmt::format("{}{}\n{:>{}}\n", number, text, '^', std::ssize(number) + caret + 1);
}

void show_source_line(const source_position& position) {
  if (::isatty(STDERR_FILENO) != 1) return;
  const std::string text = source_line(position);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace spargo::apps
