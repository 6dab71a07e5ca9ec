// The merge path (Merrill and Garland, SC 2016): rows and entries are consumed together, an entry a step until its
// row's end is reached, then a step for the row. Cutting the path into equal pieces balances any matrix.
#pragma once

#include <spargo/core/types.hpp>

namespace spargo::detail {

// After `diagonal` steps, how many rows are finished; diagonal minus that is the number of entries consumed.
// `offsets` has rows + 1 elements; 0 <= diagonal <= rows + nnz. O(log rows).
template <class O>
[[nodiscard]] SPARGO_HD inline std::int64_t merge_path_row(const O* offsets, std::int64_t rows, std::int64_t nnz,
                                                           std::int64_t diagonal) {
  std::int64_t low = diagonal > nnz ? diagonal - nnz : 0;
  std::int64_t high = diagonal < rows ? diagonal : rows;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<std::int64_t>(offsets[middle + 1]) <= diagonal - middle - 1) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace spargo::detail
