// The merge path (Merrill and Garland, SC 2016) consumes rows and entries together: a step per entry up to its row's
// end, then a step for the row. Cutting the path into equal chunks balances any matrix.
#pragma once

#include "core/search.hpp"

#include <spargo/core/types.hpp>

#include <algorithm>

namespace spargo::detail {

struct host_merge_tuning {
  // Least rows + entries per tile: a carry and two searches are negligible beside 4096 products, and 64 tiles per
  // thread on 16 threads balance the load.
  static constexpr std::int64_t smallest_tile = 4096;
  static constexpr std::int64_t most_tiles = 1024;
  // Rows are cut if one is longer than a tile and than this part of all rows + entries, a quarter of the share of each
  // of 64 threads. Cutting costs a single thread 0 to 3 percent (bcsstk13, rajat01, bayer10, one Xeon core).
  static constexpr std::int64_t longest_part = 256;
};

// Rows + entries of a host tile; depends on the matrix only, so that any number of threads gives the same bits.
[[nodiscard]] inline std::int64_t host_merge_tile(std::int64_t rows, std::int64_t nnz) {
  return std::max(host_merge_tuning::smallest_tile, div_up(rows + nnz, host_merge_tuning::most_tiles));
}

// Whether the host cuts rows instead of giving threads whole rows. Must not depend on the number of threads, since the
// two add the entries of a long row in different orders.
[[nodiscard]] inline bool host_cuts_rows(std::int64_t rows, std::int64_t nnz, std::int64_t longest) {
  return longest > std::max(host_merge_tuning::smallest_tile, (rows + nnz) / host_merge_tuning::longest_part);
}

// The number of rows finished after `diagonal` steps; diagonal minus that is the number of entries consumed. `offsets`
// has rows + 1 elements; 0 <= diagonal <= rows + nnz. O(log rows).
template <class O>
[[nodiscard]] SPARGO_HD inline std::int64_t merge_path_row(const O* offsets, std::int64_t rows, std::int64_t nnz,
                                                           std::int64_t diagonal) {
  return first_where(diagonal > nnz ? diagonal - nnz : 0, diagonal < rows ? diagonal : rows, [&](std::int64_t row) {
    return static_cast<std::int64_t>(offsets[row + 1]) > diagonal - row - 1;
  });
}

}  // namespace spargo::detail
