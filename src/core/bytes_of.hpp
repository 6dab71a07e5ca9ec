#pragma once

#include <cstdint>

namespace spargo::detail {

template <class... Array>
[[nodiscard]] std::int64_t bytes_of(const Array&... arrays) {
  return ((arrays.size() * static_cast<std::int64_t>(sizeof(*arrays.data()))) + ...);
}

}  // namespace spargo::detail
