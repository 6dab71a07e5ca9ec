// Thread block clusters, whose blocks run at the same time and access each other's shared memory (compute capability
// 9.0). On earlier chips each block is its own cluster.
#pragma once

#include <cooperative_groups.h>
#include <nv/target>

namespace spargo::detail {

class block_cluster {
 public:
  [[nodiscard]] __device__ int blocks() const {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (return static_cast<int>(cooperative_groups::this_cluster().num_blocks());),
                      (return 1;))
  }
  [[nodiscard]] __device__ int rank() const {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (return static_cast<int>(cooperative_groups::this_cluster().block_rank());),
                      (return 0;))
  }
  // Barrier over all threads; earlier writes are visible to all.
  __device__ void sync() const {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (cooperative_groups::this_cluster().sync();), (__syncthreads();))
  }
  // The same shared variable in block `rank`.
  template <class T>
  [[nodiscard]] __device__ T* at(T* shared, int rank) const {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (return cooperative_groups::this_cluster().map_shared_rank(shared, rank);),
                      (return shared;))
  }
};

}  // namespace spargo::detail
