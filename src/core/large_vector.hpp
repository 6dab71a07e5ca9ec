// A vector in huge pages where available: zeroing small pages faults on each.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace spargo::detail {

template <class T>
[[nodiscard]] std::vector<T> large_vector(std::int64_t size) {
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(size));
  const auto first = (reinterpret_cast<std::uintptr_t>(values.data()) + page - 1) / page * page;
  const auto last = reinterpret_cast<std::uintptr_t>(values.data() + values.capacity()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a hint
  values.resize(static_cast<std::size_t>(size));
  return values;
}

}  // namespace spargo::detail
