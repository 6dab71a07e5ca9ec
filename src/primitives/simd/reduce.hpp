// Inner loops of host reductions, one function per operation, source and instruction set.
#pragma once

#include "primitives/reduce/backend.hpp"

namespace spargo::detail::reduce {

inline constexpr std::int64_t block_size = 1 << 14;  // elements, 64 or 128 KiB: the unit of parallel work

// Reduces n <= block_size terms; b is null for values. Same bits for every instruction set.
template <class T>
using block_function = T (*)(const T* a, const T* b, std::int64_t n);

template <class T>
block_function<T> best_block_function(source_kind source, operation op);

// Pairwise fold of values[0 .. n-1], in place; the identity for n = 0.
template <class Op, class T>
T combine_pairwise(T* values, std::int64_t n) {
  if (n == 0) return Op::identity;
  for (; n > 1; n = n / 2 + n % 2) {
    for (std::int64_t i = 0; i < n / 2; ++i) values[i] = Op::apply(values[2 * i], values[2 * i + 1]);
    if (n % 2 != 0) values[n / 2] = values[n - 1];
  }
  return values[0];
}

}  // namespace spargo::detail::reduce
