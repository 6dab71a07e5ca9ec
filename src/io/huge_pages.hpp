// Large pages for large results.
//
// A reader's result is memory that nobody has touched: with pages of 4 KiB the kernel spends as long clearing and
// mapping them one by one as the reader spends on the text. Where the system offers pages of 2 MiB to those who ask,
// this asks, for the whole pages inside an array; where it does not, nothing happens.
#pragma once

#include <spargo/core/array.hpp>

#include <sys/mman.h>

#include <cstdint>

namespace spargo::detail {

struct huge_page_tuning {
  static constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  // Below this the pages left over at both ends outweigh the gain.
  static constexpr std::int64_t least_bytes = std::int64_t{8} << 20;
};

inline void ask_for_huge_pages(void* data, std::int64_t bytes) noexcept {
  if (bytes < huge_page_tuning::least_bytes) return;
  constexpr std::uintptr_t page = huge_page_tuning::page;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + static_cast<std::uintptr_t>(bytes)) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// An array nobody has touched, in huge pages where it is large.
template <class T>
[[nodiscard]] array<T, host> make_large_array(const context<host>& ctx, std::int64_t size) {
  array<T, host> made(ctx, size);
  ask_for_huge_pages(made.data(), size * static_cast<std::int64_t>(sizeof(T)));
  return made;
}

}  // namespace spargo::detail
