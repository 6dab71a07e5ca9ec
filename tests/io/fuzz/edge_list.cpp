// Any bytes as an edge list: the same outcome read whole and in small blocks and parts.
#include "io/fuzz/fuzz.hpp"

#include "io/edge_list/read.hpp"

using namespace spargo;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::memory_file file(data, size);
  const auto read = [&](std::int64_t block, std::int64_t part) {
    return fuzz::outcome([&] {
      detail::edge_list_tuning tuning;
      tuning.input.block_bytes = block;
      tuning.part_bytes = part;
      const auto list =
          detail::read_edge_list_with<std::int32_t>(context<host>({.threads = 1}), file.path(), {}, tuning);
      std::string text = fuzz::text_of(list.edges);
      for (const std::int64_t id : list.ids) text += " " + std::to_string(id);
      return text;
    });
  };
  const std::string whole = read(0, 1 << 20);
  fuzz::expect_same(whole, read(0, 50));
  fuzz::expect_same(whole, read(1 + static_cast<std::int64_t>(size % 64), 7));
  return 0;
}
