// Louvain and Leiden on the device, for 64-bit indices.
#include "graph/communities/cuda_executor.cuh"

namespace spargo::detail::communities {

SPARGO_INSTANTIATE_MODULARITY(std::int64_t, std::int64_t)

}  // namespace spargo::detail::communities
