#pragma once

#include "core/device/launch.cuh"
#include "core/device/shared_limit.cuh"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

namespace spargo::detail {

// A cooperative kernel and its grid: as many blocks as can be resident together, at most `most` per SM. `operation` is
// named in the error if there are none.
template <class... T>
class cooperative_kernel {
 public:
  cooperative_kernel() = default;
  cooperative_kernel(const context<device>& ctx, void (*kernel)(T...), int threads, const char* operation,
                     std::size_t shared_bytes = 0, int most = std::numeric_limits<int>::max())
      : kernel_(kernel), threads_(threads), shared_bytes_(shared_bytes) {
    int cooperative = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx.ordinal()));
    if (cooperative == 0) {
      throw error(error_code::unsupported, std::string(operation) + ": the device cannot launch cooperative kernels");
    }
    if (shared_bytes > 0) allow_shared(kernel, shared_bytes);
    int resident = 0;
    SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes));
    if (resident == 0) {
      throw error(error_code::unsupported, std::string(operation) + ": no block of the kernel fits a multiprocessor");
    }
    blocks_ = static_cast<unsigned>(std::min(resident, most) * ctx.properties().multiprocessors);
  }

  void launch(const launch_site& at, std::type_identity_t<T>... arguments) const {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
    check_cuda(cudaLaunchCooperativeKernel(kernel_, dim3(blocks_), dim3(static_cast<unsigned>(threads_)), pointers,
                                           shared_bytes_, at.stream),
               "a launch", at.from);
  }

 private:
  void (*kernel_)(T...) = nullptr;
  unsigned blocks_ = 0;
  int threads_ = 0;
  std::size_t shared_bytes_ = 0;
};

// The calling warp's number in the grid. Consecutive warps are in different blocks, so that a few active warps spread
// over the device. Recomputed where needed: kept in a register through a large kernel, it would cause spills.
__device__ inline std::int64_t grid_warp() { return threadIdx.x / warp_size * gridDim.x + blockIdx.x; }
__device__ inline std::int64_t grid_warps() { return std::int64_t{gridDim.x} * (blockDim.x / warp_size); }

}  // namespace spargo::detail
