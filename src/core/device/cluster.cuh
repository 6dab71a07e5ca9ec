// The blocks of a cluster, which run beside each other and reach each other's shared memory (compute capability 9.0).
// In code for earlier chips a block is a cluster of its own.
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
  // Of all threads; what they have written is there for all.
  __device__ void sync() const {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (cooperative_groups::this_cluster().sync();), (__syncthreads();))
  }
  // The same variable of block `rank`.
  template <class T>
  [[nodiscard]] __device__ T* at(T* shared, int rank) const {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (return cooperative_groups::this_cluster().map_shared_rank(shared, rank);),
                      (return shared;))
  }
};

}  // namespace spargo::detail
