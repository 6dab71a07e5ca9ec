// Any bytes as a Matrix Market file: the same outcome read whole and in small blocks and parts.
#include "io/fuzz/fuzz.hpp"

#include "io/matrix_market/detail.hpp"

using namespace spargo;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::memory_file file(data, size);
  const auto read = [&](std::int64_t block, std::int64_t part) {
    return fuzz::outcome([&] {
      matrix_market_summary summary;
      return fuzz::text_of(detail::read_entries<double, std::int32_t>(
          context<host>({.threads = 1}), file.path(), {}, {.input = {.block_bytes = block}, .part_bytes = part},
          detail::triangles::both, summary));
    });
  };
  const std::string whole = read(0, 1 << 20);
  fuzz::expect_same(whole, read(0, 50));
  fuzz::expect_same(whole, read(1 + static_cast<std::int64_t>(size % 64), 7));
  return 0;
}
