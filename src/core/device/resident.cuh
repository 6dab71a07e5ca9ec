// Grids of persistent kernels.
#pragma once

#include "core/cuda.cuh"

#include <algorithm>

namespace spargo::detail {

// As many blocks as are resident at once, at least one per SM.
template <class Kernel>
[[nodiscard]] std::int64_t resident_grid(const context<device>& ctx, Kernel kernel, int threads,
                                         std::size_t shared_bytes = 0) {
  int per_sm = 0;
  SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, shared_bytes));
  return std::int64_t{std::max(per_sm, 1)} * ctx.properties().multiprocessors;
}

}  // namespace spargo::detail
