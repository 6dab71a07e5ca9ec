// Launches the kernel for narrow levels with the largest cluster the device can place.
#pragma once

#include "graph/bfs/cuda_kernel.cuh"

namespace spargo::detail::bfs {

template <class I, class O>
class narrow_launch {
 public:
  narrow_launch() = default;
  explicit narrow_launch(const context<device>& ctx)
      : has_clusters_(ctx.properties().code_capability >= hopper_capability), blocks_(1) {
    allow_shared(kernel, narrow_bytes<I, O>());
    if (!has_clusters_) return;
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (blocks_ = narrow_tuning::blocks; blocks_ > 1; blocks_ /= 2) {
      cudaLaunchAttribute attribute;
      const cudaLaunchConfig_t config = shape(ctx, attribute);
      int clusters = 0;
      SPARGO_CUDA_TRY(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
      if (clusters > 0) return;
    }
  }

  void operator()(const context<device>& ctx, const search<I, O>& s, kernel_part part) const {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = shape(ctx, attribute);
    SPARGO_CUDA_TRY(cudaLaunchKernelEx(&config, kernel, s, part));
  }

  [[nodiscard]] int blocks() const noexcept { return blocks_; }

 private:
  static constexpr auto kernel = &narrow_kernel<I, O>;

  [[nodiscard]] cudaLaunchConfig_t shape(const context<device>& ctx, cudaLaunchAttribute& attribute) const {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(blocks_), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks_));
    config.blockDim = dim3(narrow_tuning::block);
    config.dynamicSmemBytes = narrow_bytes<I, O>();
    config.stream = ctx.stream();
    config.attrs = &attribute;
    config.numAttrs = has_clusters_ ? 1 : 0;
    return config;
  }

  bool has_clusters_ = false;
  int blocks_ = 0;
};

}  // namespace spargo::detail::bfs
