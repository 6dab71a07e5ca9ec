// Inner kernel of the host's dense product, one per instruction set.
#pragma once

#include <cstdint>

namespace spargo::detail::matmul {

// A rows x cols rectangle of C from packed panels. `a` holds k columns of `rows` values, `b` k rows of `cols` values;
// the sum of their outer products, in order of k, is stored at sum[i * cols + j].
template <class V>
using micro_function = void (*)(std::int64_t k, const V* a, const V* b, V* sum);

template <class V>
struct micro_kernel {
  int rows = 0;
  int cols = 0;
  micro_function<V> run = nullptr;
};

template <class V>
micro_kernel<V> best_kernel();

}  // namespace spargo::detail::matmul
