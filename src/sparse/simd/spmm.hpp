// The host's inner loops of SpMM, chosen once for the processor.
#pragma once

#include <spargo/core/types.hpp>

#include <vector>

namespace spargo::detail::spmm {

// One product. Strides in elements.
template <class V, class I, class O>
struct product_job {
  const O* offsets;
  const I* indices;
  const V* values;
  const V* x;
  std::int64_t x_stride;
  V* y;
  std::int64_t y_stride;
  std::int64_t columns;
  V alpha;
  V beta;
};

// sums[0 .. columns-1] = sum of value * row of X over `count` entries of a row.
template <class V, class I>
using sum_row = void (*)(const V* values, const I* indices, std::int64_t count, const V* x, std::int64_t x_stride,
                         std::int64_t columns, V* sums);

template <class V, class I, class O>
struct row_loops {
  // Rows first .. last-1 of Y = alpha * A * X + beta * Y; beta = 0 does not read Y.
  void (*rows)(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last);
  sum_row<V, I> sum;
  const char* name;  // "AVX-512", "AVX2" or "16-byte vectors"
};

// All that this processor supports, fastest last.
template <class V, class I, class O>
[[nodiscard]] std::vector<row_loops<V, I, O>> usable_loops();

}  // namespace spargo::detail::spmm
