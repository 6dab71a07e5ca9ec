// Binary search on the host and in kernels, O(log(last - first)) calls of the predicate.
#pragma once

#include <spargo/core/types.hpp>

#include <cstdint>

namespace spargo::detail {

// The first i in [first, last) for which holds(i) is true; `last` if there is none. Once true, holds stays true for all
// larger i. To find the last i for which something holds, search for the first one for which it does not.
template <class Index, class Predicate>
[[nodiscard]] SPARGO_HD inline Index first_where(Index first, Index last, Predicate holds) {
  while (first < last) {
    const Index middle = first + (last - first) / 2;
    if (holds(middle)) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

// The first i in [0, size] with i == size or values[i] >= wanted, for ascending values.
template <class T>
[[nodiscard]] SPARGO_HD inline std::int64_t lower_bound(const T* values, std::int64_t size, std::int64_t wanted) {
  return first_where(std::int64_t{0}, size, [&](std::int64_t i) { return !(values[i] < wanted); });
}

}  // namespace spargo::detail
