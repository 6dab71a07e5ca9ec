// Any bytes as a compressed file: the text, its end and the reason for it are the same for any block size.
#include "io/fuzz/fuzz.hpp"

#include "io/text/blocks.hpp"

#include <algorithm>

using namespace spargo;

namespace {

// Like a reader: line by line, up to the first that is too long.
void append_lines(const detail::text_source& source, std::string_view text, std::string& all) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    if (static_cast<std::int64_t>(newline) > source.max_line_bytes()) source.fail(text.data(), {});
    all += text.substr(0, newline + 1);
    text.remove_prefix(newline + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string bytes = "\x1f\x8b";
  bytes.append(reinterpret_cast<const char*>(data) + std::min<std::size_t>(size, 2),
               size - std::min<std::size_t>(size, 2));
  const fuzz::memory_file file(bytes.data(), bytes.size());
  constexpr std::int64_t longest_line = 5000;
  constexpr std::size_t enough = std::size_t{1} << 20;  // a few bytes may stand for gigabytes
  const auto read = [&](std::int64_t block, int threads) {
    std::string all;
    const std::string end = fuzz::outcome([&]() -> std::string {
      detail::text_source source(context<host>({.threads = threads}), file.path(), {}, {block, longest_line});
      for (std::string_view text = source.next(); !text.empty() && all.size() < enough; text = source.next()) {
        append_lines(source, text, all);
      }
      return "the end";
    });
    if (all.size() >= enough) return all.substr(0, enough);
    return all + end;
  };
  const std::string whole = read(1 << 16, 1);
  fuzz::expect_same(whole, read(1 + static_cast<std::int64_t>(size % 64), 1));
  fuzz::expect_same(whole, read(1 << 12, 2));
  return 0;
}
