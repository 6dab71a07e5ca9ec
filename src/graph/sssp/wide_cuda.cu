// Device SSSP: the executors for weights other than 32-bit integers, in their own file: each takes seconds to compile.
#include "core/instantiate.hpp"
#include "graph/sssp/cuda_executor.cuh"

namespace spargo::detail::sssp {

#define INSTANTIATE_W(W, I, O)                                    \
  template std::unique_ptr<executor<W, I, device>> make_executor( \
      const context<device>&, const weighted_graph_view<W, I, O, device>&, const weight_facts&, const sssp_options&);
#define INSTANTIATE(I, O)           \
  INSTANTIATE_W(std::int64_t, I, O) \
  INSTANTIATE_W(float, I, O)        \
  INSTANTIATE_W(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::sssp
