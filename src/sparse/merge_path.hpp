// The merge path (Merrill and Garland, SC 2016): rows and entries are consumed together, one entry per step until its
// row's end is reached, then a step for the row. Cutting the path into equal chunks balances any matrix.
#pragma once

#include <spargo/core/types.hpp>

#include <algorithm>

namespace spargo::detail {

struct host_merge_tuning {
  // Rows + entries per tile, at least: a carry and two searches are lost in 4096 products, and 64 tiles per thread on
  // 16 threads leave no one waiting.
  static constexpr std::int64_t smallest_tile = 4096;
  static constexpr std::int64_t most_tiles = 1024;
  // A row of more than this part of all rows + entries, a quarter of the share of each of 64 threads, and of more than
  // a tile is cut. Cutting costs a thread by itself 0 to 3 percent (bcsstk13, rajat01, bayer10, one Xeon core).
  static constexpr std::int64_t longest_part = 256;
};

// Rows + entries of a tile on the host. Tiles depend on the matrix alone, so that sums of rows that several tiles share
// have the same bits for any number of threads.
[[nodiscard]] inline std::int64_t host_merge_tile(std::int64_t rows, std::int64_t nnz) {
  return std::max(host_merge_tuning::smallest_tile, div_up(rows + nnz, host_merge_tuning::most_tiles));
}

// Whether a host cuts rows into parts rather than give whole rows to threads. It must not depend on the number of
// threads: the two add the entries of a long row in different orders.
[[nodiscard]] inline bool host_cuts_rows(std::int64_t rows, std::int64_t nnz, std::int64_t longest) {
  return longest > std::max(host_merge_tuning::smallest_tile, (rows + nnz) / host_merge_tuning::longest_part);
}

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
