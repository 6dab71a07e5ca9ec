// Software prefetch by address, which may be past the end of the array.
#pragma once

#include <cstdint>

namespace spargo::detail::spmv {

template <class T>
[[gnu::always_inline]] inline void fetch(const T* from, std::int64_t ahead) {
  const auto bytes = static_cast<std::uintptr_t>(ahead) * sizeof(T);
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + bytes));
}

}  // namespace spargo::detail::spmv
