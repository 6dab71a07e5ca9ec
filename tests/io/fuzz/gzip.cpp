// Any bytes as a compressed file: the text, and where it ends and why, are the same for any size of blocks.
#include "io/fuzz/fuzz.hpp"

#include "io/input.hpp"

#include <algorithm>

using namespace spargo;

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
      for (std::string_view text = source.next(); !text.empty() && all.size() < enough; text = source.next())
        all += text;
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
