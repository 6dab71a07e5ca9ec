// First touch of memory that several threads then write at random.
#pragma once

#include "core/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace spargo::detail {

// Does not preserve the contents. One thread per huge page: if several hit an untouched page, each clears one.
inline void touch_pages(int threads, void* first, std::int64_t bytes) {
  constexpr std::int64_t page_bytes = std::int64_t{2} << 20;
  constexpr std::int64_t small_page_bytes = 4096;
  char* const data = static_cast<char*>(first);
  const auto in_page = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first) % page_bytes);
  parallel_parts(threads, div_up(in_page + bytes, page_bytes), [&](std::int64_t p) {
    const std::int64_t end = std::min(bytes, (p + 1) * page_bytes - in_page);
    for (std::int64_t at = std::max<std::int64_t>(0, p * page_bytes - in_page); at < end; at += small_page_bytes) {
      data[at] = 0;
    }
  });
}

}  // namespace spargo::detail
