// Contiguous shares of an index range, one per thread, for host loops.
#pragma once

#include <cstdint>

namespace spargo::detail {

// `count` shares of [0, size), in order, equal to within one element. Loops run over shares rather than threads, so a
// smaller team still does all the work.
struct parts {
  std::int64_t size = 0;
  std::int64_t count = 1;

  [[nodiscard]] std::int64_t first(std::int64_t part) const {
    const std::int64_t base = size / count;
    const std::int64_t longer = size % count;
    return base * part + (part < longer ? part : longer);
  }
  [[nodiscard]] std::int64_t last(std::int64_t part) const { return first(part + 1); }
};

// As many shares as threads, but none below `grain` elements (a single share may be).
[[nodiscard]] inline parts split(std::int64_t size, int threads, std::int64_t grain) {
  const std::int64_t most = size / grain;
  return {size, most < 1 ? 1 : (most < threads ? most : threads)};
}

[[nodiscard]] inline parts chunks_of(std::int64_t size, std::int64_t length) {
  return {size, (size + length - 1) / length};
}

}  // namespace spargo::detail
