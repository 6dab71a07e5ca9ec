// Loops over the rows of a matrix by groups of 8 lanes. The lanes of a warp stay together, also where a row is empty.
#pragma once

#include "core/device/warp.cuh"

#include <cstdint>

namespace spargo::detail {

inline constexpr int row_lanes = 8;

// f(row, lane in group) for all rows; every lane calls it equally often (row = rows: none).
template <class F>
__device__ __forceinline__ void for_each_row(std::int64_t rows, F f) {
  const std::int64_t groups = grid_threads() / row_lanes;
  const std::int64_t rounds = (rows + groups - 1) / groups;
  std::int64_t row = global_thread() / row_lanes;
  for (std::int64_t k = 0; k < rounds; ++k, row += groups) {
    f(row < rows ? row : rows, static_cast<int>(threadIdx.x % row_lanes));
  }
}

// Which lanes of the group give true, by all lanes of the warp.
__device__ __forceinline__ unsigned group_ballot(bool is_true) {
  return __ballot_sync(full_mask, is_true) >> (lane_id() / row_lanes * row_lanes) & ((1U << row_lanes) - 1);
}

}  // namespace spargo::detail
